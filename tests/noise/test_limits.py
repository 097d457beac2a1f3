"""The ends of the range: tiny scales and huge ones are exact or refused, and no machine word ever wraps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, RoundedLaplace
from curador.noise.arrays import ARRAY_MOST, SATURATED, flip, saturate
from tests import exact
from tests.exact import AskedForMore, Script, Stream, measured

ONES = (1 << 64) - 1
TINY = [Fraction(1, 3), Fraction(1, 10), Fraction(1, 46), Fraction(1, 1000), Fraction(1, 10**6), Fraction(1, 10**300)]
NOT_SCALES = [0, -1, Fraction(-1, 3), float("nan"), float("inf"), "one", None, True]
LAWS = [DiscreteLaplace, DiscreteGaussian, RoundedLaplace, RoundedGaussian]
Law = type[DiscreteLaplace] | type[DiscreteGaussian] | type[RoundedLaplace] | type[RoundedGaussian]


def zero_by_prefix(noise: DiscreteLaplace | DiscreteGaussian, prefix: int) -> bool | None:
    """Whether 192 bits give zero; the outcomes are in order, zero first."""
    try:
        return noise.draw(Script(*[(prefix >> (64 * k)) & ONES for k in (2, 1, 0)])) == 0
    except AskedForMore:
        return None


@pytest.mark.parametrize("scale", TINY)
def test_tiny_discrete_laws_are_exact(scale: Fraction) -> None:
    """The chance of zero, measured over 192-bit prefixes, is that of the law, however near to 1 it is."""
    laplace = measured(lambda p: zero_by_prefix(DiscreteLaplace(scale), p), 192)
    assert exact.within(exact.discrete_laplace(scale, 0), *laplace)
    gaussian = measured(lambda p: zero_by_prefix(DiscreteGaussian(scale), p), 192)
    assert exact.within(exact.discrete_gaussian(scale, 0), *gaussian)
    for low, high in (laplace, gaussian):
        assert high - low <= Fraction(4, 1 << 192)


@pytest.mark.parametrize("scale", TINY)
@pytest.mark.parametrize("law", LAWS[:3])
def test_tiny_scales_fill_arrays(law: Law, scale: Fraction) -> None:
    """Nothing fails and nothing warns; where anything but zero has no chance to be seen, all is zero."""
    noise = law(scale)
    samples = noise.sample(20_000, Stream(3))
    assert (samples.size, noise.sample(0).size) == (20_000, 0)
    assert np.abs(samples).max() <= 40 * scale + 1
    assert (samples == 0).all() == (scale < Fraction(1, 40))


def test_a_tiny_scale_can_still_give_more_than_zero() -> None:
    """The tail is not cut: enough words of ones and the outcome is 1 (chance about 2**-1443)."""
    noise = DiscreteLaplace(Fraction(1, 1000))
    depth = 23  # 1 - U is 2**-1472, where 2 exp(-1000) is 2**-1441.7 and 2 exp(-2000) far less
    assert noise.draw(Script(*[ONES] * depth, 0)) == -1
    assert noise.sample(1, Script([65535], [ONES], *[ONES] * (depth - 1), 0)).tolist() == [-1]


@pytest.mark.parametrize("variance", [Fraction(99, 100), Fraction(1, 10**6), Fraction(1, 10**300)])
def test_rounded_gaussians_finer_than_the_integers_are_refused(variance: Fraction) -> None:
    with pytest.raises(InvalidParameter, match="finer"):
        RoundedGaussian(variance)
    RoundedGaussian(Fraction(1)).sample(10)


@pytest.mark.parametrize("law", LAWS)
def test_huge_scales_are_drawn_one_by_one_and_refused_in_arrays(law: Law) -> None:
    power = 2 if law in (DiscreteGaussian, RoundedGaussian) else 1
    for scale in (Fraction(ARRAY_MOST) * 16, Fraction(1 << 62), Fraction(1 << 80), Fraction(1 << 300, 7)):
        noise = law(scale**power)
        assert abs(noise.draw()) < 1000 * scale
        assert {type(noise.draw())} == {int}
        with pytest.raises(InvalidParameter, match="64-bit"):
            noise.sample(3, Script())


@pytest.mark.parametrize("law", LAWS)
def test_the_largest_array_scales_fit(law: Law) -> None:
    """At the limit itself, even the largest high part below an outlier with every low bit set does not wrap."""
    power = 2 if law in (DiscreteGaussian, RoundedGaussian) else 1
    limit = Fraction(ARRAY_MOST) ** power
    noise = law(limit / 4 if law is RoundedGaussian else limit)
    samples = noise.sample(10_000)
    assert np.abs(samples).max() > ARRAY_MOST
    split = noise._split
    assert split is not None
    assert (((1 << 14) - 1) << split.low) + (1 << split.low) <= SATURATED
    with pytest.raises(InvalidParameter):
        law(limit + 1).sample(1, Script())


@pytest.mark.parametrize("scale", [Fraction(1 << 80), Fraction(10**40, 3)])
def test_huge_draws_have_their_law(scale: Fraction) -> None:
    """High part, low part and sign of a single draw far beyond 64 bits, from scripted bits."""
    noise = DiscreteLaplace(scale)
    split = noise._split
    assert split is not None
    low = split.low
    tau = scale / (1 << low)
    assert low > 64
    u = 0xFEDCBA9876543210
    high = int(exact.MP.floor(-exact.MP.log(1 - exact.MP.ldexp(u, -64)) * exact.real(tau)))
    offset = (0xABCDEF << (low - 24)) + 5
    for sign in (0, 1):
        word = (7 << (low + 1)) | (sign << low) | offset
        g = (high << low) + offset + sign
        assert noise.draw(Script(u, word)) == (-g if sign else g)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", NOT_SCALES)
def test_what_is_no_scale_is_refused(law: Law, scale: object) -> None:
    with pytest.raises(InvalidParameter):
        law(scale)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [1, 10**6])
def test_negative_counts_are_refused(law: Law, scale: int) -> None:
    with pytest.raises(InvalidParameter):
        law(Fraction(scale)).sample(-1, Script())
    assert law(Fraction(scale)).sample(0, Script()).shape == (0,)


def test_flip_and_saturate() -> None:
    top = (1 << 62) + (1 << 61)
    out = np.array([5, 5, 0, 0, top, top], np.int64)
    flip(out, np.array([0, -1, 0, -1, 0, -1]))
    assert out.tolist() == [5, -5, 0, 0, top, -top]
    held = saturate(np.zeros(5, np.int64), {0: 1 << 62, 1: (1 << 62) + 1, 2: -(1 << 200), 4: -7})
    assert held.tolist() == [1 << 62, 1 << 62, -(1 << 62), 0, -7]
