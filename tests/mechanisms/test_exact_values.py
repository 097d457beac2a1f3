"""Values reach the noise exactly, whatever type carries them: a rounding before the noise is charged to nobody.

Around every power of two up to a mechanism's limits, two neighbours meet the same noise, and each answer is the one
rounding of its own exact sum.
"""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from curador.errors import InvalidValue
from curador.local import Duchi, DuchiVector
from curador.mechanisms.base import LARGEST, AdditiveNoise, real_array, real_scalar
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.selection import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import ThresholdedGaussian, ThresholdedLaplace
from curador.mechanisms.tree import ContinualCount
from tests.exact import Stream

REAL = (Laplace(1, 1), Laplace(1, scale=2**20), Gaussian(1, sigma=1), Gaussian(1, sigma=2**20))
INTEGER = (IntegerLaplace(1, 1), IntegerLaplace(1, scale=2**20), IntegerGaussian(1, sigma=3, coordinates=64))
DRAWS = 24


def around(power: int) -> list[int]:
    """Neighbours (each next to another) at a power of two, and half a step of its doubles beyond it."""
    half = max(1, 2 ** (power - 53))
    return [s * (2**power + at) for s in (1, -1) for at in (-1, 0, 1, half, half + 1)]


def noised(mechanism: AdditiveNoise, value: Any) -> Any:
    return mechanism.release(value, entropy=Stream(7))


def carried(x: int) -> list[Any]:
    """One integer, many times, in every type that holds it."""
    found: list[Any] = [[x] * DRAWS, (x,) * DRAWS, [x, 0.5] * (DRAWS // 2), [[x, x]] * (DRAWS // 2)]
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= x <= np.iinfo(kind).max:
            found.append(np.full(DRAWS, x, kind))
    if int(np.longdouble(x)) == x:
        found.append(np.full(DRAWS, x, np.longdouble))
    return found


@pytest.mark.thin(90)
@pytest.mark.parametrize("mechanism", REAL, ids=repr)
@pytest.mark.parametrize("power", [*range(0, 66), 100, 1000])
def test_a_real_array_is_rounded_once_after_the_noise(mechanism: Any, power: int) -> None:
    """docs/proofs/noise.md, section 8: what is released is a function of value + noise alone."""
    noise = [Fraction(n) for n in noised(mechanism, np.zeros(DRAWS))]  # below 2**53 steps: itself, exactly
    for x in around(power):
        for values in carried(x):
            numbers = np.array(values, object).ravel()
            right = [float(real_scalar(v) + n) for v, n in zip(numbers, noise, strict=True)]
            assert np.ravel(noised(mechanism, values)).tolist() == right


def test_the_neighbours_of_the_attack_share_their_answers() -> None:
    """2**62 + 512 and 2**62 + 513 gave answers that always differed by 1,024."""
    mechanism = Laplace(1, scale=2**20, coordinates=2000)
    near, next_to = (noised(mechanism, np.full(2000, x)) for x in (2**62 + 512, 2**62 + 513))
    assert np.count_nonzero(near != next_to) < 20  # where a sum passes the middle of two doubles: 1 in 1,024


@pytest.mark.thin(80)
@pytest.mark.parametrize("mechanism", INTEGER, ids=repr)
@pytest.mark.parametrize("power", range(0, 66))
def test_an_integer_array_is_clamped_and_otherwise_exact(mechanism: Any, power: int) -> None:
    noise = [int(x) for x in noised(mechanism, np.zeros(DRAWS, np.int64))]
    for x in around(power):
        held = max(-LARGEST, min(LARGEST, x))
        right = [max(-LARGEST, min(LARGEST, held + n)) for n in noise]
        whole: list[Any] = [[x] * DRAWS, [np.uint64(x) if 0 <= x < 2**64 else x] * DRAWS]
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= x <= np.iinfo(kind).max:
                whole.append(np.full(DRAWS, x, kind))
        for values in whole:
            assert noised(mechanism, values).tolist() == right
    mixed = [2**64, -(2**64), 5, np.uint64(2**63), np.int64(-3)]
    assert np.abs(noised(IntegerLaplace(1, 1000), mixed) - [LARGEST, -LARGEST, 5, LARGEST, -3]).max() == 0


@pytest.mark.thin(80)
@pytest.mark.parametrize("mechanism", REAL[:1] + REAL[2:3] + INTEGER[:1], ids=repr)
@pytest.mark.parametrize("power", [*range(0, 66), 200])
def test_a_single_value_is_exact(mechanism: Any, power: int) -> None:
    noise = Fraction(noised(mechanism, 0))
    for x in around(power):
        got = noised(mechanism, x)
        assert got == (float(x + noise) if isinstance(got, float) else x + noise)
        if int(np.longdouble(x)) == x and isinstance(got, float):
            assert noised(mechanism, np.longdouble(x)) == got


SELECTIONS = (ExponentialMechanism(1, 1), PermuteAndFlip(1, 1), ReportNoisyMax(1, 1))


@pytest.mark.thin(80)
@pytest.mark.parametrize("mechanism", SELECTIONS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("power", range(0, 66))
def test_scores_that_differ_by_one_differ_by_one_step_of_the_grid(mechanism: Any, power: int) -> None:
    one = mechanism.grid.steps
    for x in around(power):
        kinds: list[Any] = [[x, x + 1, x - 1], [x, x + 1, float(x - 1)] if float(x - 1) == x - 1 else [x, x + 1, x - 1]]
        if -(2**63) < x < 2**63 - 1:
            kinds.append(np.array([x, x + 1, x - 1]))
        if power < 62:
            kinds.append(np.array([x, x + 1, x - 1], np.longdouble))
        for scores in kinds:
            assert mechanism.grid.gaps(scores).tolist() == [one, 0, 2 * one]


def test_counts_beyond_a_word_are_held_and_neighbours_stay_next_to_each_other() -> None:
    """Every other mechanism takes counts: each is monotone and moves by no more than its value does."""
    for power in range(0, 66):
        for x in around(power):
            count = max(0, x)
            for keys in (
                OptimalKeys(1, 1e-6),
                ThresholdedLaplace(1, 1e-6),
                ThresholdedGaussian(groups=1, rho=1, delta=1e-6),
            ):
                held = [keys.keep([c], entropy=Stream(7)).tolist() for c in (count, count + 1)]
                assert held[0] <= held[1]
            watch = [AboveThreshold(x, 1, 1).release([v], entropy=Stream(7))[0] for v in (x - 1, x, x + 1)]
            assert watch == sorted(watch)
    middle = Quantiles([0.5], 0, 2**62, epsilon=1, step=2**40)
    assert middle.release([2**62 + 1, 2**62, 3 * 2**70], entropy=Stream(7)) <= 2**62


def test_a_running_count_is_exact_in_python_integers() -> None:
    stream = ContinualCount(4, epsilon=1).open(entropy=Stream(7))
    still = ContinualCount(4, epsilon=1).open(entropy=Stream(7))
    for x in (2**53 + 1, 1, 2**60 + 1, 3):
        far, near = stream.add(x), still.add(0)
    assert far - near == 2**53 + 1 + 1 + 2**60 + 1 + 3


def test_numbers_that_are_none_are_refused_in_every_type() -> None:
    hostile: list[Any] = [
        [True, 1.5],
        [math.nan, 1],
        [1, math.inf],
        np.array([np.longdouble("inf")]),
        ["1", 2],
        [None, 1.0],
    ]
    for values in hostile:
        with pytest.raises(InvalidValue):
            Laplace(1, 1).release(values)
    huge = np.longdouble("1e400")
    if np.isfinite(huge):
        assert Laplace(1, 1).release(np.array([huge]), entropy=Stream(7))[0] == np.finfo(np.float64).max
        assert real_scalar(huge) > 10**399
    assert real_array(np.array([1.5, 2.5]), 2)[1] == {}


@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_integers_beyond_doubles_are_held_at_the_ends_in_lists_and_arrays_too(value: int) -> None:
    """An error would show that one was there."""
    mechanism = Gaussian(1, sigma=3, coordinates=2)
    end = np.finfo(np.float64).max * (1 if value > 0 else -1)
    for given in ([value, 0.5], (value, 1), np.array([value, 2], object)):
        assert mechanism.release(given)[0] == mechanism.release(value) == end


class Quotient:
    """A rational number of another library."""

    denominator = 1

    def __init__(self, numerator: int) -> None:
        self.numerator = numerator

    def __float__(self) -> float:
        return float(self.numerator)


numbers.Rational.register(Quotient)


def test_numbers_of_other_libraries_are_exact_or_refused() -> None:
    assert [real_scalar(Quotient(2**62 + at)) - 2**62 for at in (512, 513)] == [512, 513]
    with mpmath.workprec(200):
        long = mpmath.mpf(2) ** 62 + 513  # a Real, of which a double holds 2**62 + 1024
    for mechanism in REAL:
        with pytest.raises(InvalidValue, match="known exactly"):
            mechanism.release(long)
        with pytest.raises(InvalidValue, match="known exactly"):
            mechanism.release([long])


@pytest.mark.parametrize("kind", [np.int64, np.uint8, object, np.float64])
def test_a_mask_hides_nothing_from_a_mechanism_and_is_refused(kind: Any) -> None:
    """The hidden number was released."""
    plain = np.array([5, 7], kind)
    hiding, shown = np.ma.masked_array(plain, [True, False]), np.ma.masked_array(plain, [False, False])
    square = np.ma.masked_array([plain, plain], [[False, False], [True, False]])
    refused: list[Any] = [hiding, square, [hiding, hiding], hiding[0]]
    for values in refused:
        with pytest.raises(InvalidValue):
            Laplace(1, scale=1, coordinates=4).release(values)
        with pytest.raises(InvalidValue):
            IntegerLaplace(1, scale=1).release(values)
    assert Laplace(1, scale=1, coordinates=2).release(shown).shape == (2,)
    with pytest.raises(InvalidValue, match="mask hides"):
        Duchi(0, 9, 1).randomize(hiding)
    with pytest.raises(InvalidValue, match="mask hides"):
        DuchiVector(0, 9, 1, 2).randomize([hiding, hiding])
