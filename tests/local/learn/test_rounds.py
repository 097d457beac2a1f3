"""One round and the descent through them, against sums written out by hand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from curador.accounting.events import Event
from curador.errors import InvalidParameter, InvalidValue
from curador.local import LocalLaplace
from curador.local.learn.losses import Logistic, Squared
from curador.local.learn.randomizers import Corners, GradientRandomizer
from curador.local.learn.rounds import Round, Scale, descend, settled
from curador.local.learn.schedule import Every, Once
from curador.local.task.task import Task
from curador.noise import Entropy
from tests.exact import Stream
from tests.local.learn.people import Floats, answers

UNIT = Scale.between([(-1, 1)])


@dataclass(frozen=True)
class Told(GradientRandomizer):
    """No noise at all: shows what the descent does with what it is told."""

    @cached_property
    def task(self) -> Task:
        return LocalLaplace(-1, 1, 1)

    @property
    def event(self) -> Event:
        raise NotImplementedError

    @property
    def worst_variance(self) -> float:
        return 0.0

    def _reports(self, gradients: Floats, entropy: Entropy) -> Floats:
        return gradients

    def mean(self, reports: Any) -> Floats:
        return np.asarray(reports.mean(axis=0))


def test_values_are_clamped_to_declared_bounds() -> None:
    scale = Scale.between([(0, 10), ("1/3", "2/3"), (-5, -4)])
    found = scale.unit(np.array([[-1e308, 0.5, -4.5], [10.0, 1e308, -4.25]]))
    assert found == pytest.approx(np.array([[-1, 0, 0], [1, 1, 0.5]]))
    assert np.abs(scale.unit(np.random.default_rng(1).normal(0, 100, (500, 3)))).max() <= 1


@pytest.mark.parametrize(
    "bad",
    [
        (1, 1),
        (2, 1),
        (float("nan"), 1),
        (0, float("inf")),
        ("x", 1),
        ("0", "1e400"),
        (True, 2),
        (0, 5e-324),
        (-1.7e308, 1.7e308),
        (1, 1 + 2**-41),
        (1, 2, 3),
        7,
        None,
    ],
)
def test_bad_bounds_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        Scale.between([bad])


def test_wide_and_narrow_bounds_do_not_overflow() -> None:
    wide, narrow = Scale.between([(-(2**127), 2**127)]), Scale.between([(0, 2.0**-127)])
    assert wide.unit(np.array([[1.7e308], [0.0], [-(2.0**126)]])).ravel().tolist() == [1, 0, -0.5]
    assert narrow.unit(np.array([[1.7e308], [0.0], [2.0**-128]])).ravel().tolist() == [1, -1, 0]


def test_a_gradient_is_clipped_in_every_coordinate() -> None:
    asked = Round(Squared(), Scale.between([(0, 10)]), UNIT, Told(Fraction(1), 2), np.array([0.5, 0.0]))
    # Rows (x, 1) on the scale are (-1, 1), (0.2, 1); residuals -0.5 - 1 and 0.1 + 1.
    found = asked.clipped(np.array([[0.0], [6.0]]), np.array([1.0, -1.0]))
    assert found == pytest.approx(np.array([[1.0, -1.0], [0.44, 1.0]]))  # from 3, -3 and 0.44, 2.2
    wider = Round(Squared(), Scale.between([(0, 10)]), UNIT, Told(Fraction(1), 2, Fraction(5, 2)), asked.beta)
    assert wider.clipped(np.array([[6.0]]), np.array([-1.0])) == pytest.approx(np.array([[0.44, 2.2]]))


@pytest.mark.parametrize("beta", [1e308, -1e308, 5e-324])
@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_no_beta_makes_a_device_refuse(beta: float, loss: Any) -> None:
    """A refusal that depends on the data would tell about them."""
    asked = Round(loss, Scale.between([(-1, 1)] * 2), UNIT, Corners(Fraction(1), 3), np.array([beta, beta, -beta]))
    values = np.array([[0.0, 0.0], [1.0, -1.0], [0.3, 0.9], [np.nan, 1.0]])
    assert np.isfinite(asked.clipped(values, np.ones(4))).all()
    assert len(asked.report(values, np.ones(4), entropy=Stream(1))) == 4


def test_the_descent_written_out() -> None:
    X, y = answers(60, 2)
    plan = Every.of(60, 3, Fraction(1), lambda epsilon: Told(epsilon, 3))
    first = Round(Squared(), Scale.between([(-1, 1)] * 2), UNIT, plan.randomizer)
    path, users = descend(first, plan, X, y, step=0.7, alpha=0.2)
    rows, beta = np.column_stack([X, np.ones(60)]), np.zeros(3)
    for t in (1, 2, 3):
        each = np.clip(2 * (rows @ beta - y)[:, None] * rows, -1, 1)
        moved, size = path[t], 0.7 / t**0.5
        # The penalty's gradient at the new beta: moved = beta - size (mean + alpha moved), but for the intercept.
        assert moved == pytest.approx(beta - size * (each.mean(axis=0) + 0.2 * moved * [1, 1, 0]))
        beta = moved
    assert path[0].tolist() == [0, 0, 0]
    assert users == (60, 60, 60)


def test_a_huge_penalty_leaves_the_intercept_alone() -> None:
    X, y = answers(60, 2)
    plan = Every.of(60, 50, Fraction(1), lambda epsilon: Told(epsilon, 3))
    first = Round(Squared(), Scale.between([(-1, 1)] * 2), UNIT, plan.randomizer)
    path, _ = descend(first, plan, X, y + 0.5, step=1.0, alpha=1e9)
    assert np.abs(path[:, :2]).max() < 1e-8
    assert 0.3 < path[-1, 2] < 0.7


def test_each_round_is_asked_at_the_beta_of_the_one_before() -> None:
    X, y = answers(40, 2)
    plan = Once.of(40, 4, Fraction(1), lambda epsilon: Told(epsilon, 3))
    first = Round(Squared(), Scale.between([(-1, 1)] * 2), UNIT, plan.randomizer)
    path, users = descend(first, plan, X, y, step=1.0, alpha=0.0, entropy=Stream(1))
    assert users == (10, 10, 10, 10)
    for t, group in enumerate(plan.groups(Stream(1)), start=1):
        asked = Round(Squared(), first.features, UNIT, plan.randomizer, path[t - 1])
        moved = asked.clipped(X[group], y[group]).mean(axis=0)
        assert path[t] == pytest.approx(path[t - 1] - moved / t**0.5)


def test_a_schedule_for_others_is_refused() -> None:
    plan = Once.of(40, 4, Fraction(1), lambda epsilon: Told(epsilon, 3))
    first = Round(Squared(), Scale.between([(-1, 1)] * 2), UNIT, plan.randomizer)
    with pytest.raises(InvalidValue, match="another number of people"):
        descend(first, plan, np.zeros((41, 2)), np.zeros(41), step=1.0, alpha=0.0)


@pytest.mark.parametrize(("steps", "mean"), [(1, 1.0), (2, 2.0), (3, 2.5), (4, 3.5), (9, 7.0)])
def test_the_last_half_is_averaged(steps: int, mean: float) -> None:
    """The last ceil(T/2) of T iterates; the start is never one of them."""
    assert settled(np.arange(steps + 1.0)[:, None]).tolist() == [mean]
