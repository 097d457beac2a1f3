"""Limits against exact numbers: round-off goes outwards, however many people there are and however close the bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.local import Duchi, DuchiVector, Hybrid, LocalLaplace, Piecewise, Range, Record
from curador.local.task.limits import bernstein, beta_margin, checked_miss, farthest_coins, mean_chance
from curador.local.task.tally import Tally
from curador.local.unlisted.evidence import chance_of_more
from tests.mechanisms.branches import MP

CROWDS = [  # found by attack: the tail at the limit was above miss/2, by up to 5e-7 of itself
    (238_935_667, 199_452_654, 2.98e-09, "high"),
    (1_136_097_159, 11_360_971, 5.96e-20, "low"),
    (734_444, 667_512, 5.96e-23, "high"),
    (32_589_683, 5_360_488, 1e-12, "low"),
]


def tail(users: int, yes: int, chance: Any) -> Any:
    """P(at least ``yes`` of ``users`` coins), to thirty digits; above the mean, where terms fall."""
    p = MP.mpf(chance)
    q = MP.mpf(1) - p
    term = MP.exp(
        MP.loggamma(users + 1)
        - MP.loggamma(yes + 1)
        - MP.loggamma(users - yes + 1)
        + yes * MP.log(p)
        + (users - yes) * MP.log(q)
    )
    total, odds, i = MP.mpf(0), p / q, yes
    while term > total * MP.mpf(10) ** -15:
        total += term
        term *= odds * (users - i) / (i + 1)
        i += 1
    return total


@pytest.mark.parametrize(("users", "yes", "miss", "end"), CROWDS)
def test_limits_of_large_crowds_are_outside_the_exact_ones(users: int, yes: int, miss: float, end: str) -> None:
    low, high = mean_chance(np.array([yes]), users, miss)
    found = tail(users, yes, float(low[0])) if end == "low" else tail(users, users - yes, 1 - MP.mpf(float(high[0])))
    assert 0.99 < found / (MP.mpf(miss) / 2) <= 1


def test_a_bound_on_a_tail_of_a_large_crowd_is_above_it() -> None:
    users, yes, miss, _ = CROWDS[1]
    chance = float(mean_chance(np.array([yes]), users, miss)[0][0])
    assert tail(users, yes, chance) <= chance_of_more(users, chance, yes) <= miss


def test_margins_of_many_crowds_at_once() -> None:
    assert beta_margin(np.array([1, 10**9])).tolist() == [beta_margin(1), beta_margin(10**9)]
    assert beta_margin(10**100) == beta_margin(2**40) < 2e-8
    low, high = mean_chance(np.array([10, 10**8]), np.array([100, 10**9]), 0.05)  # type: ignore[arg-type]
    assert [low[1], high[1]] == [end[0] for end in mean_chance(np.array([10**8]), 10**9, 0.05)]


def test_more_users_are_never_farther_away() -> None:
    found = [farthest_coins(0.25, 0.75, 10**k, 0.05) for k in (*range(1, 16), 30, 100)]
    assert found == sorted(found, reverse=True)


# ---- means -----------------------------------------------------------------------------------------------------------

FAR = Fraction(2**40)


@pytest.mark.parametrize("users", [10**4, 10**9, 10**12])
@pytest.mark.parametrize("bounds", [(FAR - 1, FAR), (-FAR, 1 - FAR), (Fraction(1, 3), Fraction(2, 3)), (0, 1)])
def test_an_interval_of_coins_holds_the_exact_one(bounds: Any, users: int) -> None:
    bottom, top = bounds
    one, several = Duchi(bottom, top, 8), DuchiVector(bottom, top, 8, 2)
    counts = np.array([users // 2 + 1, users // 3])
    chances = mean_chance(counts, users, checked_miss(0.95))
    low, high = several.estimate(Tally(users, counts)).interval(0.95, simultaneous=False)
    for i in range(2):
        exact = [one.low + one.half + one.half * (2 * Fraction(float(c[i])) - 1) / one.lean for c in chances]
        ends = one.estimate(Tally(users, counts[i : i + 1])).interval(0.95)
        assert Fraction(ends[0]) <= exact[0] or ends[0] == float(one.low)
        assert Fraction(ends[1]) >= exact[1] or ends[1] == float(one.high)
        exact = [one.low + one.half + one.half * (2 * Fraction(float(c[i])) - 1) * several.reach for c in chances]
        assert Fraction(float(low[i])) <= exact[0] or low[i] == float(one.low)
        assert Fraction(float(high[i])) >= exact[1] or high[i] == float(one.high)


@pytest.mark.parametrize("kind", [LocalLaplace, Piecewise, Hybrid])
def test_an_interval_of_sums_holds_the_exact_one(kind: Any) -> None:
    task, users = kind(FAR - 1, FAR, 8), 10**13
    found = task.estimate(task.tally(task.randomize(np.array([float(FAR) - 0.5] * 9))))
    many = task.estimate(Tally(users, np.array(found.sums, np.int64) * (users // 9)))
    exact = task.low + task.half + task.half * task._unit(users, np.array(many.sums, np.int64))
    reach = task.half * Fraction(bernstein(task.worst_variance, task.tail, users, checked_miss(0.95)))
    low, high = many.interval(0.95)
    assert Fraction(low) <= max(task.low, min(task.high, exact - reach))
    assert Fraction(high) >= min(task.high, max(task.low, exact + reach))


# ---- bounds beyond the root of the largest double --------------------------------------------------------------------

WIDE = ("-1e200", "1e200")


def test_bounds_whose_square_is_no_double_are_estimated_all_the_same() -> None:
    task = Record({"a": Range(*WIDE), "b": ["x", "y"]}, 1)
    found = task.estimate(task.randomize({"a": [1e200, -1e200, 0.0] * 9, "b": ["x", "y", "x"] * 9}))
    assert len(found.summaries()) == 2
    several = DuchiVector(*WIDE, 1, 3)
    made = several.estimate(several.randomize(np.zeros((4, 3)))).summaries()[0]
    assert made.error == (math.inf,) * 3
    assert made.low is not None
    assert all(math.isfinite(x) for x in made.low)
    assert several.variance(5) == Duchi(*WIDE, 1).variance(5) == Duchi(*WIDE, 1).variance(5, 0) == math.inf
