"""The law of a weighted sum of sums of noises: between points worked out, a little above, never below."""

from __future__ import annotations

import numpy as np
import pytest

from curador.mechanisms.gaussian import IntegerGaussian
from curador.mechanisms.intervals import NoiseSum, SumTest, repeated, repeated_error
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates.base import Array
from curador.query.aggregates.ratios import Room, SumsTest, by_test, kept_between, ratio_bounds

LAPLACE = (
    NoiseSum(((1.0, IntegerLaplace(500_000, 1), 20),)),
    NoiseSum(((1.0, IntegerLaplace(10_000, 1), 20),)),
    NoiseSum(((0.5, IntegerLaplace(200, 1), 40),)),
)
GAUSS = (
    NoiseSum(((1.0, IntegerGaussian(sigma=500_000, sensitivity=1), 20),)),
    NoiseSum(((1.0, IntegerGaussian(sigma=10_000, sensitivity=1), 20),)),
    NoiseSum(((0.5, IntegerGaussian(sigma=200, sensitivity=1), 40),)),
)
MOST = (1.0, 100.0, 5000.0)


@pytest.mark.parametrize("noises", [LAPLACE, GAUSS], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("miss", [0.05, 0.001])
def test_a_sum_of_sums_is_kept_up_to_its_error_and_little_beyond(
    noises: tuple[NoiseSum, NoiseSum, NoiseSum], miss: float
) -> None:
    test = SumsTest(noises, MOST, miss)
    rng = np.random.default_rng(5)
    weights = [np.ones(60), rng.uniform(0, MOST[1], 60), rng.uniform(0, MOST[2], 60)]
    weights[1][:3], weights[2][1:4] = (0, MOST[1], 0), (0, MOST[2], 0)
    errors = [
        repeated_error(repeated(list(zip(each, noises, strict=True))), 1 - miss)
        for each in zip(*(w.tolist() for w in weights), strict=True)
    ]
    # Steps of integers are small here; what they add, at small scales, is another matter.
    assert test.keeps(np.array(errors) * 0.985, weights).all()
    assert not test.keeps(np.array(errors) * 1.03, weights).any()


def test_what_was_moved_to_a_grid_is_added() -> None:
    moved = tuple(NoiseSum(noise.terms, rounded=7.0) for noise in LAPLACE)
    weights = [np.ones(1), np.full(1, 20.0), np.full(1, 300.0)]
    low, high = 0.0, 1e9
    for _ in range(60):
        middle = (low + high) / 2
        kept = bool(SumsTest(LAPLACE, MOST, 0.05).keeps(np.array([middle]), weights)[0])
        low, high = (middle, high) if kept else (low, middle)
    assert SumsTest(moved, MOST, 0.05).keeps(np.array([low + 0.99 * 7 * 321]), weights).all()
    assert not SumsTest(moved, MOST, 0.05).keeps(np.array([high + 1.01 * 7 * 321]), weights).any()


# ---- the search for the ends -----------------------------------------------------------------------------------------

NOISES = {
    "laplace": (IntegerLaplace(75_000, "0.3"), IntegerLaplace(15, "0.3")),
    "gaussian": (IntegerGaussian(75_000, sigma=100_000), IntegerGaussian(15, sigma=20)),
}


def halved(room: Room, guess: float, end: float) -> float:
    """The first value beyond what is kept, by sixty halvings of one place."""
    inside, outside = guess, end
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if room(np.array([middle]))[0] >= 0 else (inside, middle)
    return outside


def rooms(name: str, x: float, y: float) -> Room:
    top, bottom = NOISES[name]
    test = SumTest((top, bottom), 0.05)
    return lambda r: test.room(np.abs(x - r * y), [np.ones_like(r), r])


@pytest.mark.parametrize("name", NOISES)
def test_the_ends_of_ratios_are_those_of_halving(name: str) -> None:
    """Known to 2**-40 of the range; each end is the limit, or a value that is not kept."""
    rng = np.random.default_rng(7)
    x, y = rng.integers(-(10**7), 10**7, 40).astype(float), rng.integers(1, 20_000, 40).astype(float)
    low, high = ratio_bounds(x, NOISES[name][0], y, NOISES[name][1], 5000.0, 0.05)
    searched = 0
    for i in range(40):
        room, guess = rooms(name, x[i], y[i]), float(np.clip(x[i] / y[i], -5000, 5000))
        for found, end in ((low[i], -5000.0), (high[i], 5000.0)):
            if found in (end, guess):
                continue
            searched += 1
            assert room(np.array([found]))[0] < 0
            assert abs(found - halved(room, guess, end)) <= abs(end - guess) * 2.0**-39
    assert searched > 30


@pytest.mark.parametrize("name", NOISES)
def test_an_end_does_not_depend_on_other_groups(name: str) -> None:
    rng = np.random.default_rng(8)
    x, y = rng.integers(-(10**7), 10**7, 30), rng.integers(1, 20_000, 30)
    together = ratio_bounds(x, NOISES[name][0], y, NOISES[name][1], 5000.0)
    for i in range(30):
        alone = ratio_bounds(x[i : i + 1], NOISES[name][0], y[i : i + 1], NOISES[name][1], 5000.0)
        assert (alone[0][0], alone[1][0]) == pytest.approx((together[0][i], together[1][i]), rel=1e-12)


@pytest.mark.parametrize("shape", ["straight", "by test", "flat", "steep", "infinite"])
def test_a_search_ends_in_one_step_more_than_halving_whatever_the_room_is_like(shape: str) -> None:
    at, calls = np.array([1e-9, 0.3, 0.999999, 0.5]), 0

    def room(r: Array) -> Array:
        nonlocal calls
        calls += 1
        off = at - np.abs(r)
        if shape == "by test":
            return by_test(lambda v: np.abs(v) <= at)(r)
        if shape == "flat":
            return np.asarray(np.sign(off) * np.abs(off) ** 9)
        if shape == "steep":
            return np.asarray(np.sign(off) * np.abs(off) ** 0.05)
        return np.where(off < 0, -np.inf, off) if shape == "infinite" else off

    low, high = kept_between(room, np.zeros(4), np.ones(4, bool), np.full(4, -1.0), np.ones(4))
    assert calls <= 1 + 41
    assert (high > at).all()
    assert (high - at <= 2.0**-40 + 2.0**-52).all()
    assert (low == -high).all()
    if shape == "straight":
        assert calls <= 12
