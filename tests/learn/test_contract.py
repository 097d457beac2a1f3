"""scikit-learn's own checks; each that fails does so for a reason, which is privacy."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator

from curador.learn import AdditiveClassifier, LinearSVC, LogisticRegression

DECLARED = "classes are declared, never read from the labels"
VALUES = "an error that depends on a value would say who is in the data"
NOISE = "two fits have different noise"
EXPECTED = {
    "check_classifiers_classes": DECLARED,
    "check_classifiers_train": DECLARED,
    "check_classifiers_regression_target": VALUES,
    "check_dtype_object": VALUES,
    "check_estimators_empty_data_messages": VALUES,
    "check_fit_idempotent": NOISE,
    "check_methods_subset_invariance": NOISE,
    "check_supervised_y_2d": NOISE,
    "check_supervised_y_no_nan": VALUES,
}


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, AdditiveClassifier])
def test_checks_of_scikit_learn(kind: Any) -> None:
    model = kind(1000, 1e-5, bounds=(-100, 100), classes=[0, 1])
    found = check_estimator(model, on_fail=None, on_skip=None, expected_failed_checks=EXPECTED)
    failed = {x["check_name"]: x["exception"] for x in found if x["status"] == "failed"}
    assert failed == {}
    really = {x["check_name"] for x in found if x["status"] == "xfail" and x["exception"] is not None}
    assert really <= set(EXPECTED)
    assert sum(x["status"] == "passed" for x in found) > 35
