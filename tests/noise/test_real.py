"""Real-valued noise: the grid, one rounding of the exact sum, and nothing else that depends on the value."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.noise import (
    RoundedGaussian,
    RoundedLaplace,
    grid_exponent,
    real_gaussian,
    real_gaussian_one,
    real_laplace,
    real_laplace_one,
    step,
)
from curador.noise.real import EXTREME, GRID_BITS, STEPS_BITS, _add, _nearest, _on_grid
from tests.exact import Script, Stream

LARGEST = sys.float_info.max
FURTHEST = EXTREME + GRID_BITS
exponents = st.integers(-FURTHEST, FURTHEST)
Draw = Callable[..., NDArray[np.float64]]
doubles = st.floats(allow_nan=False, allow_infinity=False)


def nearest_double(x: Fraction) -> float:
    """The correctly rounded double, held at the largest."""
    try:
        return float(x)
    except OverflowError:
        return LARGEST if x > 0 else -LARGEST


# ---- the grid ------------------------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9) | st.integers(1, 10**200).map(Fraction))
@example(Fraction(1))
@example(Fraction((1 << 53) - 1, 1 << 53))
def test_the_grid_is_far_below_the_scale(scale: Fraction) -> None:
    """A step costs less than 2**-39 of the scale, and the scale is few enough steps for exact doubles."""
    unit = step(scale)
    assert unit == Fraction(2) ** grid_exponent(scale)
    assert 1 << GRID_BITS <= scale / unit < 1 << (GRID_BITS + 1) <= 1 << STEPS_BITS


def test_extreme_scales_are_refused() -> None:
    for scale in (Fraction(2) ** (EXTREME + 1), Fraction(1, 2 ** (EXTREME + 1))):
        with pytest.raises(InvalidParameter):
            grid_exponent(scale)
    assert grid_exponent(Fraction(2) ** EXTREME) == EXTREME - GRID_BITS
    assert grid_exponent(Fraction(1, 2**EXTREME)) == -EXTREME - GRID_BITS


@given(doubles, exponents)
@example(LARGEST, FURTHEST)
@example(5e-324, -FURTHEST)
@example(5e-324, FURTHEST)
@example(0.5, 0)
@example(1.5, 0)
@example(2.0**52 - 0.5, 0)
@example(-(2.0**52) - 1, 0)
def test_values_are_put_on_the_nearest_grid_point(x: float, e: int) -> None:
    """Half-way cases go to the even point, in arrays and alone; large values are on the grid already."""
    found = float(_on_grid(np.array([x, 0.0]), e)[0])
    unit = Fraction(2) ** e
    assert Fraction(found) == round(Fraction(x) / unit) * unit
    assert abs(Fraction(found) - Fraction(x)) <= unit / 2
    assert _nearest(Fraction(x), 0, e) == found


# ---- one rounding --------------------------------------------------------------------------------------------

noises = st.integers(-(1 << 53), 1 << 53)


@given(doubles, noises, exponents)
@example(LARGEST, 1 << 53, FURTHEST)
@example(-LARGEST, -(1 << 53), FURTHEST)
@example(LARGEST, -(1 << 53), FURTHEST)
@example(LARGEST, 1 << 30, FURTHEST)  # half a unit in the last place: just overflows
@example(LARGEST, (1 << 30) - 1, FURTHEST)  # just does not
@example(0.0, 0, -40)
@example(-0.0, 0, -40)
@example(-1e-30, 0, -40)
def test_the_sum_is_rounded_once(x: float, noise: int, e: int) -> None:
    """The array's addition is the correctly rounded double of the exact sum on the grid, never infinite, never -0."""
    unit = Fraction(2) ** e
    exact = (round(Fraction(x) / unit) + noise) * unit
    found = float(_add(np.array([x]), np.array([noise]), {}, e)[0])
    assert found == nearest_double(exact) == _nearest(Fraction(x), noise, e)
    assert math.copysign(1.0, found) == (1.0 if exact >= 0 else -1.0)


@given(
    st.integers(-(1 << 52), 1 << 52),
    st.integers(-(1 << 52), 1 << 52),
    st.integers(-(1 << 52), 1 << 52),
    st.integers(-1000, 800),
)
def test_equal_sums_give_equal_outputs(total: int, n1: int, n2: int, e: int) -> None:
    """The output is a function of the exact sum alone [Haney22]: which value and which noise made it cannot matter."""
    assume(abs(e) <= EXTREME)
    x = np.array([(total - n) * 2.0**e for n in (n1, n2)])
    first, second = _add(x, np.array([n1, n2]), {}, e).tolist()
    assert first == second


@given(
    st.integers(-(1 << 52), 1 << 52), noises, st.integers(-(1 << 20), 1 << 20), st.integers(0, 30), st.integers(-40, 40)
)
def test_equal_sums_of_large_values_give_equal_outputs(m: int, n1: int, move: int, coarse: int, e: int) -> None:
    """The same where the value is so large that the sum must be rounded."""
    n2 = n1 - (move << coarse)
    assume(abs(n2) <= 1 << 53)
    x = np.array([m * 2.0 ** (e + coarse), (m + move) * 2.0 ** (e + coarse)])
    first, second = _add(x, np.array([n1, n2]), {}, e).tolist()
    assert first == second


def test_noise_that_is_no_double_would_be_rounded_twice() -> None:
    """Why arrays refuse more than 2**42 steps: beyond 2**53, equal sums could give different outputs."""
    odd = (1 << 53) + 1
    values, noise = np.array([0.0, odd - 1.0]), np.array([odd, 1])
    first, second = _add(values, noise, {}, 0).tolist()
    assert first == second  # both 2**53 here, as the tie goes to even …
    values, noise = np.array([1.0, 2.0]), np.array([odd, odd - 1])
    first, second = _add(values, noise, {}, 0).tolist()
    assert first != second  # … but not here


@pytest.mark.parametrize("draw", [real_laplace, real_gaussian])
def test_too_fine_a_grid_is_refused(draw: Draw) -> None:
    one = np.zeros(1)
    assert draw(one, Fraction(1 << STEPS_BITS), 0).shape == (1,)
    for scale, e in ((Fraction((1 << STEPS_BITS) + 1), 0), (Fraction(1, 1 << 960), -961), (Fraction(1 << 960), 941)):
        with pytest.raises(InvalidParameter):
            draw(one, scale, e)


def test_all_noise_but_outliers_is_an_exact_double() -> None:
    """The largest number of steps that is not an outlier, at the largest scale allowed."""
    largest = (1 << 14) - 1
    for low in (
        RoundedLaplace(Fraction(1 << STEPS_BITS))._split.low,
        RoundedGaussian(Fraction(1 << (2 * STEPS_BITS)))._split.low,
    ):
        half_steps = (largest << low) + (1 << low) - 1
        assert (half_steps + 1) >> 1 <= 1 << 53


# ---- what can come out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [real_laplace, real_gaussian])
def test_neighbouring_values_reach_the_same_outputs(draw: Draw) -> None:
    """For 0, 1/3 and 1e-17 all outputs are multiples of the step: no holes, no low bits to compare [Mir12, Jin22]."""
    for x in (0.0, 1 / 3, 1e-17, -123.456):
        out = draw(np.full(20000, x), Fraction(1), -40, Stream(1))
        assert (np.rint(out * 2.0**40) == out * 2.0**40).all()
        steps = (out * 2.0**40).astype(np.int64)
        # Both parities, and every residue of 64, occur from every value.
        assert np.unique(steps & 63).size == 64


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.integers(-(1 << 51), 1 << 51))
def test_what_one_value_reaches_another_reaches(x: float, y: float, n: int) -> None:
    """Precision [Haney22]: an output of x with n steps is an output of y, with the steps that make up for it."""
    unit = Fraction(1, 1 << 40)
    m = n + round(Fraction(x) / unit) - round(Fraction(y) / unit)
    assume(abs(m) <= 1 << 53)
    first, second = _add(np.array([x, y]), np.array([n, m]), {}, -40).tolist()
    assert first == second


@pytest.mark.parametrize("x", [LARGEST, -LARGEST, LARGEST / 2])
def test_nothing_overflows(x: float) -> None:
    """Next to the largest double the output is held there; no infinity, no NaN, no warning."""
    for scale, e in ((Fraction(2) ** EXTREME, EXTREME - GRID_BITS), (Fraction(2) ** (FURTHEST + 42), FURTHEST)):
        for draw in (real_laplace, real_gaussian):
            out = draw(np.full(1000, x), scale, e, Stream(2))
            assert np.isfinite(out).all()
            held = np.abs(out) == LARGEST
            assert held.any() == (abs(x) == LARGEST)
            assert held.all() == (abs(x) == LARGEST and e < FURTHEST)  # a scale of 2**982 is felt even there
    assert real_laplace_one(Fraction(2) ** 1030, Fraction(1), -40) == LARGEST
    assert real_gaussian_one(-(Fraction(2) ** 1030), Fraction(1), -40) == -LARGEST


@pytest.mark.parametrize("steps", [1 << 53, (1 << 53) + 1, -(1 << 60) - 3, 1 << 200, -(1 << 1100)])
def test_outliers_are_rounded_once_too(steps: int) -> None:
    """A number of steps that is no exact double is added in integers."""
    for x in (0.0, 1 / 3, -1e300):
        out = _add(np.array([1.0, x, 2.0]), np.zeros(3, np.int64), {1: steps}, -40)
        exact = (round(Fraction(x) * 2**40) + steps) * Fraction(1, 1 << 40)
        assert out.tolist() == [1.0, nearest_double(exact), 2.0]


@pytest.mark.parametrize(("draw", "law"), [(real_laplace, RoundedLaplace), (real_gaussian, RoundedGaussian)])
def test_outliers_go_all_the_way(draw: Draw, law: Callable[[Fraction], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of ones, with the limit for outliers lowered to 100: the output is the exact sum, rounded once."""
    monkeypatch.setattr("curador.noise.table.OUTLIER", 100)
    ones = (1 << 64) - 1
    steps = Fraction(1 << 40) if law is RoundedLaplace else Fraction(1 << 80)
    attempts = 1 if law is RoundedLaplace else 5  # a Gaussian makes a few more than it needs
    finish, rest = 1, [0] * attempts
    after: list[int | list[int]] = [finish, rest] if law is RoundedLaplace else [rest, finish]
    script: list[int | list[int]] = [[65535, *[0] * (attempts - 1)], [ones], 0, *after]
    noise, outliers = law(steps).sample_with_outliers(1, Script(*script))
    assert set(outliers) == {0}
    n = outliers[0]
    assert n > 1 << 42
    for x in (1 / 3, -1e17):
        out = draw(np.array([x]), Fraction(1), -40, Script(*script))
        assert out.tolist() == [nearest_double((round(Fraction(x) * 2**40) + n) * Fraction(1, 1 << 40))]
        assert noise.shape == out.shape


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    values = np.ones(shape)
    assert real_laplace(values, Fraction(1), -40).shape == shape
    assert real_gaussian(values, Fraction(1), -40).shape == shape
    assert (values == 1).all()


def test_a_transposed_array_keeps_its_places() -> None:
    values = (np.arange(6.0).reshape(2, 3) * 2.0**50).T
    assert np.abs(real_laplace(values, Fraction(1), -40) - values).max() < 1000


# ---- one value -----------------------------------------------------------------------------------------------


@given(st.fractions(min_value=-(10**9), max_value=10**9), st.integers(0, 1000))
def test_one_value_is_exact(value: Fraction, seed: int) -> None:
    """The single draw is the nearest double of the value on the grid plus the steps that the same bits draw."""
    unit = Fraction(1, 1 << 40)
    for one, steps in (
        (real_laplace_one, RoundedLaplace(Fraction(1 << 40))),
        (real_gaussian_one, RoundedGaussian(Fraction(1 << 80))),
    ):
        n = steps.draw(Stream(seed))
        assert one(value, Fraction(1), -40, Stream(seed)) == nearest_double((round(value / unit) + n) * unit)
