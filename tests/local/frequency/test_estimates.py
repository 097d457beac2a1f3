"""Intervals that cover for certain, found by exact convolution; the projection, by its optimality condition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from curador.errors import NotPromised
from curador.local import KRR, OUE, Hadamard, SubsetSelection, Tally
from curador.local.frequency.estimates import Frequencies, on_simplex


def support_law(users: int, own: int, p: float, q: float) -> Any:
    """The law of how many reports support a key that ``own`` of the users have."""
    return np.convolve(stats.binom.pmf(range(own + 1), own, p), stats.binom.pmf(range(users - own + 1), users - own, q))


def coverage(task: Any, users: int, own: int, wald: bool = False) -> float:
    """How often the interval of one key covers its frequency, exactly."""
    yes = np.arange(users + 1)
    # One key's limits depend on its own support alone, so all supports are tried at once.
    found = Frequencies(tuple(range(users + 1)), Tally(users, yes), task.p, task.q)
    low, high = found.interval(0.95, simultaneous=False)
    if wald:
        reach = 1.96 * np.sqrt(found.variance)
        low, high = found.values - reach, found.values + reach
    inside = (low <= own / users) & (own / users <= high)
    return float(support_law(users, own, float(task.p), float(task.q))[inside].sum())


@pytest.mark.parametrize(
    "task",
    [KRR(2, 1), KRR(2, 7), KRR(10, 3), OUE(5, 4), Hadamard(9, "1/2"), SubsetSelection(5, 6, chosen=4)],
    ids=lambda task: type(task).__name__,
)
@pytest.mark.parametrize("users", [1, 2, 7, 40])
def test_intervals_cover_for_every_data_set(task: Any, users: int) -> None:
    assert min(coverage(task, users, own) for own in range(users + 1)) >= 0.95


def test_the_textbook_interval_does_not() -> None:
    assert min(coverage(KRR(10, 3), 40, own, wald=True) for own in range(41)) < 0.95


def test_simultaneous_limits_share_the_misses() -> None:
    found = KRR(10, 2).estimate(np.arange(1000) % 10)
    low, high = found.interval(0.95)
    alone_low, alone_high = found.interval(0.995, simultaneous=False)
    assert np.allclose(low, alone_low, rtol=0, atol=1e-9)
    assert np.allclose(high, alone_high, rtol=0, atol=1e-9)
    with pytest.raises(NotPromised):
        found.interval(0.4)


def test_error_foretells_the_interval() -> None:
    for task in (KRR(4, 1), OUE(50, 2), Hadamard(50, 1)):
        n = 5000
        foretold = task.error(n, 0.9)
        for seed in range(5):
            values = np.random.default_rng(seed).integers(0, task.size, n)
            found = task.estimate(task.randomize(values))
            low, high = found.interval(0.9)
            reach = np.maximum(found.values - low, high - found.values)[(low > 0) & (high < 1)]
            assert (reach <= 1.001 * foretold).all()
            assert reach.max(initial=0) > 0.5 * foretold or not reach.size
    assert KRR(2, 1).error(40_000) == pytest.approx(KRR(2, 1).error(10_000) / 2, rel=0.02)


def test_an_interval_is_about_the_formulas_deviation() -> None:
    """For a rare key the exact interval is as wide as 1.96 deviations of the formula, to a few per cent."""
    task = OUE(20, 1)
    support = np.array([round(20_000 * task.p), *[round(20_000 * task.q)] * 19])  # as expected, if all have the first
    found = task.estimate(Tally(20_000, support))
    low, high = (limits[1:] for limits in found.interval(0.95, simultaneous=False))
    wide = float((high - found.values[1:]).mean())
    mean_reach = 1.96 * float(np.sqrt(task.variance(20_000)))
    assert wide == pytest.approx(mean_reach, rel=0.03)
    assert low.shape == high.shape


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_the_projection_is_the_nearest_point(values: list[float]) -> None:
    x = np.array(values)
    y = on_simplex(x)
    assert y.min() >= 0
    assert abs(y.sum() - 1) < 1e-9
    # y is nearest if and only if no corner of the simplex lies at an acute angle to x - y, seen from y.
    assert all((x - y) @ (corner - y) <= 1e-9 for corner in np.eye(x.size))


def test_a_projection_says_that_it_is_biased() -> None:
    task = KRR(["a", "b", "c"], "1/2")
    found = task.estimate(task.randomize(["a"] * 50))
    assert found.projected().biased
    assert found.projected().keys == ("a", "b", "c")
    assert found.values.sum() == pytest.approx(1)
    assert found.counts.sum() == pytest.approx(50)
    assert isinstance(found.p, Fraction)
