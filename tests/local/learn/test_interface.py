"""The models among scikit-learn's tools: its own checks, clones, pipelines, cross-validation, grid search, pickles."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from curador.errors import InvalidValue
from curador.local.learn import LocalLinearRegression, LocalLinearSVC, LocalLogisticRegression
from tests.exact import Stream
from tests.local.learn.people import Floats, answers, labels

CALM: dict[str, Any] = {
    "epsilon": 60_000, "bounds": (-5, 5), "mechanism": "piecewise", "participation": "every", "rounds": 30,
}  # fmt: skip
MODELS = [
    LocalLinearRegression(target=(-300, 300), **CALM),
    LocalLogisticRegression(classes=[0, 1], **CALM),
    LocalLinearSVC(classes=[0, 1], **CALM),
]
FRESH_COINS = {"check_fit_idempotent", "check_supervised_y_2d"}
"""Checks that want two fits to agree to the last digit; coins are fresh in each, and there is no public seed."""
DECLARED = {"check_estimators_dtypes", "check_classifier_data_not_an_array", "check_classifiers_classes",
            "check_fit2d_1feature"}  # fmt: skip
"""Checks with other classes than the two declared ones, which are refused."""
OWN_WORDS = {"check_dtype_object"}
"""A check that wants numpy's own TypeError for a cell that is no number; ours is an InvalidValue, as for all data."""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_scikit_learns_own_checks_pass(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks are there to provoke them
        found = check_estimator(model, on_fail=None, on_skip=None)
    assert len(found) > 40
    failed = {one["check_name"] for one in found if one["status"] == "failed"}
    assert failed - FRESH_COINS == OWN_WORDS | (DECLARED if is_classifier(model) else set())
    for one in found:
        if one["check_name"] in OWN_WORDS:
            assert isinstance(one["exception"], InvalidValue)
        if one["check_name"] in DECLARED & failed:
            assert "none of the classes [0, 1]" in str(one["exception"])


def test_kinds() -> None:
    assert [is_regressor(model) for model in MODELS] == [True, False, False]
    assert [is_classifier(model) for model in MODELS] == [False, True, True]
    assert not hasattr(LocalLinearSVC, "predict_proba")  # a hinge says nothing about chances


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_clones_have_the_same_parameters_and_nothing_learned(model: Any) -> None:
    fitted = clone(model).fit(*labels(60))
    again = clone(fitted)
    assert again.get_params() == model.get_params()
    assert not [name for name in vars(again) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        again.predict([[0.0] * 4])
    kept = pickle.loads(pickle.dumps(fitted))
    X = labels(20, seed=3)[0]
    assert (kept.predict(X) == fitted.predict(X)).all()
    assert kept.event_ == fitted.event_


def ten_times(values: Floats) -> Floats:
    return 10 * values


def test_pipeline_and_cross_validation() -> None:
    X, y = labels(3000)
    model = LocalLogisticRegression(epsilon=100, bounds=(-10, 10), classes=[0, 1], rounds=20)
    steps = make_pipeline(FunctionTransformer(ten_times), model)
    assert steps.fit(X, y).score(X, y) > 0.8
    scores = cross_val_score(steps, X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.8


def test_grid_search() -> None:
    X, y = answers(3000)
    model = LocalLinearRegression(epsilon=50, bounds=(-1, 1), target=(-1, 1), rounds=20)
    grid = GridSearchCV(model, {"step": [1e-4, 1.0], "mechanism": ["duchi", "piecewise"]}, cv=2).fit(X, y)
    assert grid.best_params_["step"] == 1.0
    assert grid.best_estimator_.n_features_in_ == 4


def test_the_number_and_names_of_features_are_kept() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = labels(200)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = clone(MODELS[1]).fit(frame, y, entropy=Stream(1))
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert model.decision_function(frame) == pytest.approx(X @ model.coef_[0] + model.intercept_[0])
    assert (model.predict(frame) == (model.predict_proba(frame)[:, 1] > 0.5)).all()


def test_without_scikit_learn_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['sklearn'] = None\nimport curador.local\nimport curador.local.learn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install '.[learn]'" in done.stderr


def test_local_itself_does_not_load_scikit_learn() -> None:
    code = "import sys, curador.local; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
