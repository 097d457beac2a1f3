"""The models: what they spend, what they converge to, how error falls, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from curador.accounting.events import PureLoss
from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, InvalidValue
from curador.local.learn import LocalLinearRegression, LocalLinearSVC, LocalLogisticRegression
from curador.local.learn.losses import Hinge
from curador.local.learn.randomizers import MECHANISMS
from curador.privacy import Neighbors, PureDP
from tests.exact import Stream
from tests.local.learn.people import Floats, answers, labels, people, watched

NAMES = sorted(MECHANISMS)
CLASSIFIERS = [LocalLogisticRegression, LocalLinearSVC]


def linear(epsilon: Any = 2, **options: Any) -> LocalLinearRegression:
    return LocalLinearRegression(**{"epsilon": epsilon, "bounds": (-1, 1), "target": (-1, 1), **options})


def logistic(epsilon: Any = 2, **options: Any) -> LocalLogisticRegression:
    return LocalLogisticRegression(**{"epsilon": epsilon, "bounds": (-1, 1), "classes": [0, 1], **options})


def svc(epsilon: Any = 2, **options: Any) -> LocalLinearSVC:
    return LocalLinearSVC(**{"epsilon": epsilon, "bounds": (-1, 1), "classes": [0, 1], **options})


# ---- what a person spends


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("form", "reports"), [("once", 1), ("every", 12)])
def test_everybody_spends_epsilon(name: str, form: str, reports: int) -> None:
    X, y = answers(240)
    with watched() as spent:
        model = linear("0.7", mechanism=name, participation=form, rounds=12).fit(X, y, entropy=Stream(1))
    assert dict(spent) == dict.fromkeys(X[:, 0].tolist(), Fraction(7, 10))
    assert model.epsilon_ == Fraction(7, 10) == pure_epsilon(model.event_)
    assert model.privacy_ == PureDP(0.7)
    assert model.schedule_.reports_each == reports
    assert model.schedule_.randomizer.epsilon == Fraction(7, 10 * reports)
    assert model.n_iter_ == 12 == len(model.users_)
    assert sum(model.users_) == 240 * reports
    assert model.path_.shape == (13, 5)


def test_events_speak_of_a_person_replaced() -> None:
    X, y = answers(60)
    model = linear(1, mechanism="duchi", rounds=3).fit(X, y)
    assert pure_epsilon(model.event_) == pure_epsilon(PureLoss(Fraction(1), Neighbors.REPLACE))
    assert model.schedule_.randomizer.event.neighbors is Neighbors.REPLACE


def test_all_randomness_is_the_entropys() -> None:
    X, y = answers(300)
    one, same, other = (linear(rounds=10).fit(X, y, entropy=Stream(seed)).coef_ for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).all()
    assert (linear(rounds=10).fit(X, y).coef_ != linear(rounds=10).fit(X, y).coef_).all()


def test_no_parameter_is_read_from_the_data() -> None:
    """Outside the bounds a value counts as the bound: how far outside makes no difference."""
    X, y = answers(300)
    far, aim = np.where(np.abs(X) > 0.5, 100 * X, X), np.where(np.abs(y) > 0.2, 9 * y, y)
    narrow = {"bounds": (-0.5, 0.5), "target": (-0.2, 0.2), "rounds": 5}
    one, other = (linear(**narrow).fit(*data, entropy=Stream(1)) for data in ((X, y), (far, aim)))
    assert (one.path_ == other.path_).all()


# ---- what they converge to without privacy

HUGE: dict[str, Any] = {"epsilon": 800_000, "mechanism": "piecewise", "participation": "every", "rounds": 400}


def test_linear_regression_tends_to_ridge() -> None:
    """In the units of the data, with bounds that differ by feature."""
    X, y = answers(500, noise=0.2)
    X, y = X * [1, 10, 0.1, 3] + [0, 5, 0, -2], 100 * y + 40
    bounds = [(-1, 1), (-5, 15), (-0.1, 0.1), (-5, 1)]
    model = LocalLinearRegression(bounds=bounds, target=(-60, 140), clip=9, alpha=0.05, **HUGE).fit(
        X, y, entropy=Stream(1)
    )
    halves = np.array([1, 10, 0.1, 3])
    ridge = Ridge(alpha=500 * 0.05 / 2).fit((X - [0, 5, 0, -2]) / halves, (y - 40) / 100)
    assert model.coef_ * halves / 100 == pytest.approx(ridge.coef_, abs=2e-3)
    wanted = 40 + 100 * ridge.predict((X - [0, 5, 0, -2]) / halves)
    assert np.abs(model.predict(X) - wanted).max() < 0.5
    plain = Ridge(alpha=0).fit((X - [0, 5, 0, -2]) / halves, (y - 40) / 100)
    assert np.abs(model.coef_ * halves / 100 - plain.coef_).max() > 5e-3  # the penalty is seen


def test_logistic_regression_tends_to_scikit_learns() -> None:
    X, y = labels(500)
    model = logistic(alpha=0.02, step=6, **HUGE).fit(X, y, entropy=Stream(1))
    known = LogisticRegression(C=1 / (500 * 0.02), tol=1e-10).fit(X, y)
    assert model.coef_ == pytest.approx(known.coef_, abs=5e-3)
    assert model.intercept_ == pytest.approx(known.intercept_, abs=5e-3)
    assert model.predict_proba(X) == pytest.approx(known.predict_proba(X), abs=3e-3)
    other = LogisticRegression(C=2 / (500 * 0.02), tol=1e-10).fit(X, y)
    assert np.abs(model.coef_ - other.coef_).max() > 0.1


def objective(model: Any, X: Floats, y: NDArray[Any], alpha: float) -> float:
    scores = model.decision_function(X)
    return float(Hinge().value(scores, 2.0 * y - 1).mean() + alpha / 2 * np.square(model.coef_).sum())


def test_the_support_vector_machine_tends_to_scikit_learns() -> None:
    X, y = labels(500)
    model = svc(alpha=0.05, **HUGE).fit(X, y, entropy=Stream(1))
    known = SVC(kernel="linear", C=1 / (500 * 0.05), tol=1e-8).fit(X, y)
    least = objective(known, X, y, 0.05)
    assert least - 1e-6 <= objective(model, X, y, 0.05) < least + 2e-3
    assert objective(logistic(alpha=0.02, step=6, **HUGE).fit(X, y, entropy=Stream(1)), X, y, 0.05) > least + 2e-3


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_learns_when_reporting_once(name: str) -> None:
    X, y = answers(40_000)
    model = linear(50, mechanism=name).fit(X, y, entropy=Stream(1))
    best = Ridge(alpha=0).fit(X, y)
    assert model.score(X, y) > best.score(X, y) - 0.05 > 0.8


def test_clipping_may_bias() -> None:
    """Skewed answers: least squares finds their mean, clipped gradients something between mean and median."""
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (400, 1)), np.where(np.arange(400) < 300, -1.0, 1.0)
    free = linear(clip=10, **HUGE).fit(X, y, entropy=Stream(1))
    clipped = linear(**HUGE).fit(X, y, entropy=Stream(1))
    assert free.predict([[0.0]])[0] == pytest.approx(-0.5, abs=0.05)
    # 300 min(1, 2 (b + 1)) = 100 min(1, 2 (1 - b)) has the root b = -5/6.
    assert clipped.predict([[0.0]])[0] == pytest.approx(-5 / 6, abs=0.05)


# ---- error falls with people and epsilon


def error(model: LocalLinearRegression, n: int, epsilon: Any, runs: int = 6) -> float:
    """Mean squared error beyond the best model's, on people nobody asked, averaged over a few trainings."""
    X, y = answers(n)
    fresh, truth = answers(20_000, seed=77)
    best = float(np.square(Ridge(alpha=0).fit(X, y).predict(fresh) - truth).mean())
    fits = (model.set_params(epsilon=epsilon).fit(X, y, entropy=Stream(seed)) for seed in range(runs))
    return float(np.mean([np.square(one.predict(fresh) - truth).mean() for one in fits])) - best


@pytest.mark.slow
def test_error_falls_with_people_and_with_epsilon() -> None:
    few, many, more = error(linear(), 8_000, 2), error(linear(), 80_000, 2), error(linear(), 80_000, 8)
    assert few > 2 * many
    assert many > 2 * more


@pytest.mark.parametrize("make", [logistic, svc])
def test_classification_error_falls_with_epsilon(make: Any) -> None:
    X, y = labels(20_000)
    wrong = [
        np.mean([1 - make(epsilon, rounds=15).fit(X, y, entropy=Stream(seed)).score(X, y) for seed in range(6)])
        for epsilon in ("0.1", "0.8", 8)
    ]
    best = 1 - LogisticRegression(C=1e4).fit(X, y).score(X, y)
    assert wrong[0] - best > 2 * (wrong[1] - best)
    assert wrong[1] - best > 2 * (wrong[2] - best)


def test_reporting_once_beats_reporting_in_every_round() -> None:
    once, every = (error(linear(participation=form, rounds=20), 20_000, 2) for form in ("once", "every"))
    assert every > 2 * once


def test_averaging_steadies_the_answer() -> None:
    X, y = answers(20_000)

    def scatter(average: bool) -> float:
        fits = [linear(1, rounds=40, average=average).fit(X, y, entropy=Stream(seed)).coef_ for seed in range(12)]
        return float(np.var(fits, axis=0).sum())

    assert scatter(False) > 1.3 * scatter(True)


# ---- what is refused


@pytest.mark.parametrize("make", [linear, logistic, svc])
def test_bad_data_are_refused(make: Any) -> None:
    X, y = people(50)[0], np.arange(50) % 2
    cases: list[tuple[Any, Any]] = [
        (np.where(X > 0.9, np.nan, X), y),
        (np.where(X > 0.9, np.inf, X), y),
        (X[:0], y[:0]),
        (X[:, :0], y),
        (X[:1], y[:1]),
        (X[:, 0], y),
        (X, y[:-1]),
        (X, np.column_stack([y, y])),
        (X, np.where(y, np.nan, 0.0)),
        ([["a"] * 4] * 50, y),
    ]
    for values, told in cases:
        with pytest.raises(InvalidValue):
            make(rounds=5).fit(values, told)
    fitted = make(rounds=5).fit(X, y)
    for values in (X[:, :3], np.where(X > 0.9, np.nan, X), X[0]):
        with pytest.raises(InvalidValue):
            fitted.predict(values)


@pytest.mark.parametrize("make", [linear, logistic, svc])
@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": None},
        {"bounds": (1, -1)},
        {"bounds": None},
        {"bounds": [(-1, 1)] * 3},
        {"bounds": [(-1, 1, 2)] * 4},
        {"bounds": (0, float("inf"))},
        {"mechanism": "gaussian"},
        {"participation": "sometimes"},
        {"rounds": 0},
        {"alpha": -1},
        {"step": 0},
        {"clip": 0},
    ],
)
def test_bad_parameters_are_refused(make: Any, bad: dict[str, Any]) -> None:
    X, y = people(50)[0], np.arange(50) % 2
    with pytest.raises(InvalidParameter):
        make(**{"rounds": 5, **bad}).fit(X, y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_are_declared(kind: Any) -> None:
    X, y = people(50)[0], np.arange(50) % 2
    model = kind(epsilon=1, bounds=(-1, 1), classes=["yes", "no"], rounds=5)
    named = np.array(["no", "yes"])[y]
    assert model.fit(X, named).classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) <= {"no", "yes"}
    for some in (y, np.where(named == "no", "maybe", named), np.arange(50) % 3, np.linspace(0, 1, 50)):
        with pytest.raises(InvalidValue):
            model.fit(X, some)
    for classes in ([0], [0, 0], [0, 1, 2], [], None, 2):
        with pytest.raises(InvalidParameter, match="two different classes"):
            kind(epsilon=1, bounds=(-1, 1), classes=classes, rounds=5).fit(X, y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_class_that_nobody_has_is_no_error(kind: Any) -> None:
    """No collector could know it."""
    X = people(400)[0]
    model = kind(epsilon=20, bounds=(-1, 1), classes=[0, 1], rounds=5).fit(X, np.ones(400, int), entropy=Stream(1))
    assert model.predict(X).mean() > 0.9


def test_too_few_people_are_told_how_many_it_takes() -> None:
    X, y = answers(500)
    with pytest.raises(InvalidValue, match="500 people are too few to learn 5 coefficients at epsilon = 1/2") as one:
        linear("0.5").fit(X, y)
    assert "at least" in one.value.what
    assert "rounds=" in one.value.fix
