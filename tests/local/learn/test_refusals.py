"""What the models refuse: one clear error each, with nobody's values in it, and nothing left that claims a fit."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from curador.errors import CuradorError, InvalidParameter, InvalidValue
from curador.local.learn import LocalLinearRegression, LocalLinearSVC, LocalLogisticRegression
from curador.local.learn.rounds import Round
from tests.exact import Stream
from tests.local.learn.people import people

CLASSIFIERS: list[Any] = [LocalLogisticRegression, LocalLinearSVC]
X, Y = people(50)[0], np.arange(50) % 2


def make(kind: Any, **options: Any) -> Any:
    own = {"target": (-1, 1)} if kind is LocalLinearRegression else {"classes": [0, 1]}
    return kind(**{"epsilon": 1, "bounds": (-1, 1), "rounds": 5, **own, **options})


MODELS: list[Any] = [LocalLinearRegression, *CLASSIFIERS]
SECRET = "secret-7319"
NUMBER = 73.19


def mixed(*some: Any) -> Any:
    """Labels of several kinds, in turn."""
    return np.array((some * 50)[:50], dtype=object)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "data",
    [
        (scipy.sparse.csr_matrix(X), Y),
        (scipy.sparse.coo_array(X), Y),
        ([[SECRET] * 4] * 50, Y),
        (np.where(X > 0.9, SECRET, X.astype(object)), Y),
        (np.full(50, NUMBER), Y),
        (NUMBER, Y),
        (X + NUMBER * 1j, Y),
        ([[NUMBER], [NUMBER, NUMBER]], Y),
        (np.where(X > 0.9, np.nan, NUMBER), Y),
        (np.where(X > 0.9, None, X.astype(object)), Y),  # type: ignore[call-overload]
        (np.where(X > 0.9, 10**400, X.astype(object)), Y),
        ([[{SECRET: NUMBER}] * 4] * 50, Y),
        (X, mixed(SECRET, 0)),
        (X, mixed(SECRET, "other", None)),
        (X, mixed(0, 1, None)),
        (X, mixed(0, SECRET, 1.5)),
        (X, mixed([NUMBER], {SECRET})),
        (X, [SECRET] * 50),
        (X, np.where(Y, np.nan, NUMBER)),
        (X, np.full((50, 2), NUMBER)),
        (X, None),
        (None, Y),
    ],
)
def test_refusals_do_not_quote(kind: Any, data: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidValue) as refusal:
        make(kind).fit(*data)
    told: BaseException | None = refusal.value
    while told is not None:  # what a log of the whole chain would show
        assert SECRET not in str(told)
        assert str(NUMBER) not in str(told)
        told = told.__cause__ or told.__context__


@pytest.mark.parametrize("kind", MODELS)
def test_predicting_refuses_without_quoting(kind: Any) -> None:
    fitted = make(kind).fit(X, Y)
    for bad in ([[SECRET] * 4], np.full(4, NUMBER), [[NUMBER, np.nan, 0, 0]], scipy.sparse.csr_matrix(X), [[NUMBER]]):
        with pytest.raises(InvalidValue) as refusal:
            fitted.predict(bad)
        assert SECRET not in str(refusal.value)
        assert str(NUMBER) not in str(refusal.value)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    "classes",
    [[[0, 1]], [[0], [1]], np.array([[0, 1]]), [None, 1], [0, "a"], [0, np.nan], [0, np.inf], ["a", None], "ab",
     [0, 1j], [{0}, {1}], [0, 0.0], [True, 1], 7, {}],
)  # fmt: skip
def test_classes_are_two_texts_or_two_numbers(kind: Any, classes: Any) -> None:
    with pytest.raises(InvalidParameter, match="two different classes"):
        make(kind, classes=classes).fit(X, Y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    "classes", [[0, 1], (1, 0), np.array([0, 1]), [0.0, 1.0], [False, True], np.array([True, False])]
)
def test_classes_may_be_written_in_several_ways(kind: Any, classes: Any) -> None:
    assert make(kind, classes=classes).fit(X, Y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "bad",
    [{"clip": 1e300}, {"clip": "1e400"}, {"alpha": "1e400"}, {"alpha": 1e300}, {"epsilon": "1e400"},
     {"epsilon": "1e-400"}, {"step": "1e400"}, {"step": 1e300}, {"bounds": (0, 5e-324)}, {"bounds": (0, "1e400")},
     {"bounds": [(0, 1), (0, 1), (0, 1), (5, 5)]}, {"bounds": [(0, 1), (0, 1, 2), (0, 1), (0, 1)]}, {"bounds": "ab"},
     {"mechanism": None}, {"mechanism": ["duchi"]}],
)  # fmt: skip
def test_parameters_out_of_all_proportion_are_refused(kind: Any, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        make(kind, **bad).fit(X, Y)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("kind", MODELS)
def test_at_the_edge_of_all_parameters_everything_stays_finite(kind: Any) -> None:
    edge = 2**127
    bounds = [(-edge, edge), (0, 1 / edge), (-edge, 0), (-1, 1)]
    options = {"bounds": bounds, "clip": edge, "step": edge, "alpha": 0, "epsilon": "1e-3"}
    options |= {"target": (-edge, edge)} if kind is LocalLinearRegression else {}
    with np.errstate(all="raise"):
        model = make(kind, **options).fit(X, Y, entropy=Stream(1))
    assert np.isfinite(model.path_).all()
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


# ---- no fitted attribute tells of a fit that failed


def fitted_names(model: Any) -> list[str]:
    return [name for name in vars(model) if name.endswith("_")]


def crashes_late(model: Any) -> None:
    """A fit that breaks in its third round."""
    calls, report = [0], Round.report

    def broken(self: Round, *args: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return report(self, *args, **options)

    with patch.object(Round, "report", broken), pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], Y)
    assert calls[0] == 3


def fails_early(model: Any) -> None:
    with pytest.raises(CuradorError):
        model.fit(np.full((50, 2), np.nan), Y)


def fails_in_the_middle(model: Any) -> None:
    rounds, model.rounds = model.rounds, None
    with pytest.raises(InvalidValue, match="too few"):
        model.fit(X[:, :2], Y)
    model.rounds = rounds


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("failing", [fails_early, fails_in_the_middle, crashes_late])
@pytest.mark.parametrize("before", [True, False])
def test_after_a_failed_fit_nothing_is_fitted(kind: Any, failing: Any, before: bool) -> None:
    model = make(kind)
    if before:
        model.fit(X, Y)
        assert {"coef_", "epsilon_", "event_", "n_features_in_"} <= set(fitted_names(model))
    failing(model)
    assert fitted_names(model) == []
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit(X[:, :3], Y).n_features_in_ == 3
