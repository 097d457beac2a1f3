"""Every estimator of curador.learn keeps what it declares, with one row more of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from curador.audit.replay.fits import replay_fit
from curador.learn import (
    PCA,
    AdditiveClassifier,
    GaussianNB,
    KMeans,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
)

_rng = np.random.default_rng(1)
ROWS = _rng.uniform(0, 10, (30, 3))
LABELS = (ROWS[:, 0] > 5).astype(int)
LABELLED: dict[str, Any] = {"bounds": (0, 10), "classes": [0, 1]}
SGD: dict[str, Any] = {
    "solver": "sgd",
    "rows": 30,
    "steps": 12,
    "sample_rate": "1/8",
    "noise_multiplier": 2,
    "delta": 1e-5,
}

MODELS: dict[str, tuple[Callable[[], Any], float]] = {
    "logistic": (lambda: LogisticRegression(1, 1e-5, steps=4, **LABELLED), 0.5),
    "three classes": (lambda: LogisticRegression(1, 1e-5, steps=4, bounds=(0, 10), classes=[0, 1, 2]), 0.9),
    "DP-SGD": (lambda: LogisticRegression(**SGD, **LABELLED), 0.9),
    "support vectors": (lambda: LinearSVC(1, 1e-5, steps=4, **LABELLED), 0.9),
    "additive": (lambda: AdditiveClassifier(1, 1e-5, steps=4, **LABELLED), 0.3),
    "Bayes": (lambda: GaussianNB(1, **LABELLED), 1.0),
    "Bayes, Gaussian": (lambda: GaussianNB(1, 1e-5, **LABELLED), 1.0),
    "steps by rows": (lambda: LogisticRegression(4, 1e-5, **LABELLED), 0.5),
    "mean alone": (lambda: LinearRegression(epsilon=1, bounds=(0, 10), label_bounds=(0, 1)), 0.9),
    "mean, then moments": (lambda: LinearRegression(epsilon=100, bounds=(0, 10), label_bounds=(0, 1)), 0.9),
    "mean, then steps": (lambda: LinearRegression(rho=100, bounds=(0, 10), label_bounds=(0, 1)), 0.9),
    "linear": (lambda: LinearRegression(rho=1, steps=5, bounds=(0, 10), label_bounds=(0, 1)), 0.9),
    "ridge": (lambda: Ridge(rho=1, steps=5, bounds=(0, 10), label_bounds=(0, 1)), 0.9),
    "means": (lambda: KMeans(n_clusters=3, epsilon=1, bounds=(0, 10)), 1.0),
    "components": (lambda: PCA(n_components=2, rho=1, bounds=(0, 10)), 0.5),
}


@pytest.mark.parametrize("name", MODELS)
def test_no_violation_is_found(name: str) -> None:
    make, reach = MODELS[name]
    labelled = name not in ("means", "components")
    few = name in ("additive", "DP-SGD")  # which take longer
    labels: tuple[Any, ...] = ((1, 7) if few else (0, 1, 7, None)) if labelled else (None,)
    found = replay_fit(make, ROWS, LABELS if labelled else None, labels=labels)
    assert not found.violated, found.sentence()
    assert found.samples == 8 * len(labels) + 2
    assert found.details["reach"] >= reach  # type: ignore[operator]


def test_an_event_that_is_too_cheap_is_found() -> None:
    cheap = GaussianNB(0.5, **LABELLED).fit(ROWS, LABELS).privacy_.event
    found = replay_fit(lambda: GaussianNB(1, **LABELLED), ROWS, LABELS, labels=[1], charged=cheap)
    assert found.violated
    assert found.details["kind"] == "undercharged"
    assert found.floor == pytest.approx(1)
