"""The interval of a score: it holds as often as it says, at every size of a table and of a budget."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from curador.learn.score import ModelScore, _beyond, _tail
from curador.mechanisms.laplace import IntegerLaplace


def law(epsilon: float, least: float) -> dict[int, float]:
    """Integer Laplace noise: every value of chance at least ``least``."""
    q = math.exp(-epsilon)
    middle = (1 - q) / (1 + q)
    most = max(0, math.floor(math.log(least / middle) / math.log(q)))
    return {x: middle * q ** abs(x) for x in range(-most, most + 1)}


def test_a_large_table_has_a_narrow_interval() -> None:
    score = ModelScore(187142, 12382, IntegerLaplace(1, 1), "1")
    low, high = score.interval()
    assert low < score.accuracy < high < low + 4e-5
    assert str(score) == "93.7942 % (93.7928 % … 93.7957 %)"
    assert str(ModelScore(85, 15, IntegerLaplace(1, "0.1"), "1")) == "85 % (63 % … 100 %)"


@pytest.mark.thin(4)
@pytest.mark.parametrize("rows", [10**2, 10**4, 10**6])
@pytest.mark.parametrize("share", ["1/2", "0.8", "0.94"])
@pytest.mark.parametrize("epsilon", [1, 10])
def test_the_interval_covers_as_often_as_it_says(rows: int, share: str, epsilon: float) -> None:
    """By the law of the noise itself, nothing drawn: what is left out of it counts as missed, or as covered."""
    right, noise = int(rows * Fraction(share)), IntegerLaplace(1, epsilon)
    weights = law(epsilon, 1e-5)
    covered = tried = 0.0
    for (x, p), (y, q) in itertools.product(weights.items(), weights.items()):
        if p * q < 1e-6:
            continue
        low, high = ModelScore(right + x, rows - right + y, noise, "1").interval()
        tried += p * q
        covered += p * q * (low <= right / rows <= high)
    assert covered >= 0.945
    assert covered + 1 - tried <= 0.97 or epsilon == 10


@pytest.mark.slow
@pytest.mark.parametrize("rows", [10**2, 10**4, 10**6])
@pytest.mark.parametrize("share", ["1/2", "0.8", "0.94"])
def test_the_interval_covers_with_much_noise(rows: int, share: str) -> None:
    """Of 6,000 scores, the same every time; their share is off by .0028 as a rule."""
    rng, right, q = np.random.default_rng(29), int(rows * Fraction(share)), math.exp(-0.1)
    off = rng.geometric(1 - q, (6000, 2)) - rng.geometric(1 - q, (6000, 2))
    noise, covered = IntegerLaplace(1, "0.1"), 0
    for x, y in off.tolist():
        low, high = ModelScore(right + x, rows - right + y, noise, "1").interval()
        covered += low <= right / rows <= high
    assert 0.945 <= covered / len(off) <= 0.97


@pytest.mark.parametrize(("share", "scale"), [(0.0, 1.0), (0.3, 2.0), (0.5, 0.4), (0.999, 10.0)])
def test_the_tail_is_that_of_the_two_noises(share: float, scale: float) -> None:
    weights = law(1 / scale, 1e-16)
    x, p = np.array(list(weights)), np.array(list(weights.values()))
    sums = (1 - share) * x[:, None] - share * x
    for least in (0.25, scale, 3 * scale + 0.1):
        exact = float(np.outer(p, p)[sums >= least - 1e-9].sum())
        assert _tail(share, least, scale) == pytest.approx(exact, rel=1e-9)


def test_a_wide_noise_is_summed_in_pieces_that_only_add() -> None:
    weights = law(1 / 640, 1e-14)
    x, p = np.array(list(weights)), np.array(list(weights.values()))
    last = np.append(np.cumsum(p[::-1])[::-1], 0.0)
    for share, least in ((0.1, 1000.5), (0.5, 700.5)):
        needed = np.clip(np.ceil((least - share * x) / (1 - share)) - x[0], 0, len(x)).astype(int)
        exact = float((p * last[needed]).sum())
        assert exact * (1 - 1e-9) <= _tail(share, least, 640.0) <= 1.01 * exact


def test_the_tail_falls_away_from_the_best_share() -> None:
    """So that an end is found by bisection: of whole counts that are not below zero (docs/proofs/learn.md, 7)."""
    scale, shares = 3.0, np.linspace(0, 1, 301)
    for right, wrong in ((0, 9), (5, 7), (20, 3)):
        best = right / (right + wrong)
        tails = [_tail(float(p), abs((1 - p) * right - p * wrong) - 1e-9, scale) for p in shares]
        below = [t for p, t in zip(shares, tails, strict=True) if p <= best]
        above = [t for p, t in zip(shares, tails, strict=True) if p >= best]
        more = _beyond(right + wrong, scale) + 1e-12
        assert all(a <= b + more for a, b in itertools.pairwise(below))
        assert all(a + more >= b for a, b in itertools.pairwise(above))


@pytest.mark.parametrize(
    ("right", "wrong", "ends"),
    [(0, 0, (0, 1)), (-20, -20, (0, 1)), (85, -60, (0.73, 1)), (-60, 85, (0, 0.27)), (3, -3, (0, 1))],
)
def test_counts_below_zero_are_read_with_care(right: int, wrong: int, ends: tuple[float, float]) -> None:
    found = ModelScore(right, wrong, IntegerLaplace(1, "0.1"), "1").interval()
    assert found == pytest.approx(ends, abs=0.01)
