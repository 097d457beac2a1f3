"""Defaults of linear classifiers: steps and clipping follow from the budget and from a noisy number of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from curador import ApproxDP, Curator, Table
from curador.curator.study.file import read_study
from curador.learn import LinearSVC, LogisticRegression
from tests.learn.models.test_sums_on_adult import BOUNDS

ROOT = Path(__file__).parents[3]
DECLARED: dict[str, Any] = {"bounds": (0, 10), "classes": [0, 1]}
SOME = np.random.default_rng(3)
X = SOME.uniform(0, 10, (6000, 5))
Y = (X @ [1, 1, 1, 0, 0] + SOME.normal(0, 3, 6000) > 15).astype(int)


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_a_larger_budget_gets_more_steps_and_clips_less(kind: Any) -> None:
    little, more, most = (kind(epsilon, 1e-5, **DECLARED).fit(X, Y) for epsilon in ("0.01", "0.1", 10))
    assert 8 <= little.n_iter_ < more.n_iter_ < most.n_iter_ == 128
    assert little.clip_ < more.clip_ < most.clip_ == pytest.approx(6**0.5, abs=0.01)
    assert kind(10, 1e-5, **DECLARED).fit(X[:300], Y[:300]).n_iter_ < 128


def test_rows_are_those_of_the_noisy_moments() -> None:
    """What is chosen changes with the noise, on the same rows: it is not their number."""
    found = {LogisticRegression("0.1", 1e-5, **DECLARED).fit(X, Y).clip_ for _ in range(20)}
    assert len(found) > 1


def test_what_is_given_is_taken() -> None:
    given = LogisticRegression(1, 1e-5, steps=5, clip=2, **DECLARED).fit(X, Y)
    assert (given.n_iter_, given.clip_) == (5, 2.0)
    half = LogisticRegression(1, 1e-5, steps=5, **DECLARED).fit(X, Y)
    assert half.n_iter_ == 5
    assert half.clip_ != 2.0
    model = LogisticRegression(1, 1e-5, **DECLARED)
    assert model.get_params()["steps"] is None
    assert clone(model.fit(X, Y)).get_params() == model.get_params()  # what was chosen is no parameter


def test_an_explanation_says_what_will_be_chosen() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "y": Y})
    columns = {"a": {"type": "real", "bounds": [0, 10]}, "y": {"type": "integer", "keys": [0, 1]}}
    curator = Curator({"t": Table(frame, columns=columns, size=6000)}, budget=ApproxDP(1, 1e-3))

    def note(**more: Any) -> dict[str, Any]:
        run = curator.training(LogisticRegression(1, 1e-5, **more), "t", features=["a"], label="y")
        return dict(run.learner.notes(6000)[0])

    assert note() == {"code": "fit-whitened-by-rows", "rows": "6,000", "columns": 2, "steps": 113, "clip": "1.41"}
    assert note(steps=5, clip=2) == {"code": "fit-whitened", "columns": 2, "steps": 5, "clip": "2"}
    text = curator.training(LogisticRegression(1, 1e-5), "t", features=["a"], label="y").explain()
    assert "noisy number of rows" in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "least"), [(1, 0.899), (10, 0.9025)])
def test_logistic_regression_on_adult_uses_its_budget(epsilon: float, least: float) -> None:
    """On the test part, which no setting was chosen on: 16 steps and a clip of 3 reached .8990 and .9006."""
    if not (ROOT / "data" / "adult_data.csv").is_file():
        pytest.skip("Adult is not here; run `make data`")
    train, test = (pd.read_csv(ROOT / "data" / f"adult_{part}.csv") for part in ("data", "test"))
    columns = read_study(ROOT / "examples" / "adult_learning.toml").tables["adult"].columns
    keys = {name: list(c.keys) for name, c in columns.items() if c.keys and name != "income"}
    numbers = {name: pair for name, pair in BOUNDS.items() if name != "fnlwgt"}
    model = LogisticRegression(epsilon, 1e-5, bounds=numbers, keys=keys, classes=["<=50K", ">50K"])
    names = [*numbers, *keys]
    found = []
    for _ in range(5):
        model.fit(train[names], train["income"])
        found.append(roc_auc_score(test["income"] == ">50K", model.decision_function(test[names])))
    assert np.mean(found) >= least
