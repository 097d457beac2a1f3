"""Intervals for combinations: exact laws against quadrature, coverage, convexity, no ends where there are none."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import curador as cu
from curador.errors import InvalidParameter
from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.intervals import SumTest, gaussian_distance, laplace_distance, repeated_error
from curador.mechanisms.laws.sums import laplace_sum_error
from curador.mechanisms.laws.tails import laplace_tail
from tests.seeded import examples

MISSES = [0.05, 1e-9, 1e-17, 1e-40, 1e-200]
"""Also those that no confidence in doubles leaves: a share of the misses of a confidence near one."""


@pytest.mark.parametrize("miss", MISSES)
def test_the_reach_of_one_noise_is_that_of_its_law_however_few_the_misses(miss: float) -> None:
    with mpmath.workdps(50):
        assert cu.Laplace(1, scale=3).reach(miss) == pytest.approx(float(-3 * mpmath.log(miss)), rel=1e-8)
        z = float(
            mpmath.sqrt(2) * mpmath.findroot(lambda x: mpmath.log(mpmath.erfc(x) / miss), math.sqrt(-math.log(miss)))
        )
        assert cu.Gaussian(1, sigma=3).reach(miss) == pytest.approx(3 * z, rel=1e-8)

        def tail(weight: Callable[[int], mpmath.mpf], k: int) -> mpmath.mpf:
            beyond = mpmath.fsum(weight(x) for x in range(k + 1, k + 300))
            whole = mpmath.fsum(weight(x) for x in range(-300, 301))
            return 2 * beyond / whole

        for noise, weight in (
            (cu.IntegerLaplace(1, scale=2), lambda x: mpmath.exp(-mpmath.mpf(abs(x)) / 2)),
            (cu.IntegerGaussian(1, sigma=Fraction(1, 5)), lambda x: mpmath.exp(-mpmath.mpf(x * x) * 25 / 2)),
            (cu.IntegerGaussian(1, sigma=3), lambda x: mpmath.exp(-mpmath.mpf(x * x) / 18)),
        ):
            reach = int(noise.reach(miss))
            assert tail(weight, reach) <= miss
            assert reach == 0 or tail(weight, reach - 1) > miss * 0.999


@pytest.mark.parametrize("miss", MISSES)
@pytest.mark.parametrize("noise", [cu.Laplace(1, 1), cu.IntegerLaplace(1, 1), cu.Gaussian(1, sigma=2)])
def test_a_sum_is_bounded_however_few_the_misses(noise: AdditiveNoise, miss: float) -> None:
    both = float(SumTest((noise, noise), miss).reach([1.0, 1.0]))
    assert noise.reach(miss) < both <= 2 * noise.reach(miss / 2)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 3.0), (1.0, 1.0 + 1e-7), (100.0, 0.5)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_two_laplaces_by_quadrature(a: float, b: float, confidence: float) -> None:
    reach = cu.combined_error([(1, cu.Laplace(1, scale=a)), (-1, cu.Laplace(1, scale=b))], confidence)
    with mpmath.workdps(30):

        def beyond(x: float) -> mpmath.mpf:
            def tail(y: mpmath.mpf) -> mpmath.mpf:  # P(A > y)
                return mpmath.exp(-y / a) / 2 if y > 0 else 1 - mpmath.exp(y / a) / 2

            return 2 * mpmath.quad(
                lambda y: mpmath.exp(-abs(y) / b) / (2 * b) * tail(x - y),
                [-mpmath.inf, -b, 0, min(x, b), x, mpmath.inf],
            )

        assert float(beyond(reach)) == pytest.approx(1 - confidence, rel=1e-6)


@pytest.mark.parametrize(
    "scales", [(1.0, 1.0, 1.0), (3.0, 1.0, 0.2), (1.0, 1.00001, 2.0), (5.0, 5.0, 1e-6), (1.0,) * 5]
)
def test_the_tail_of_several_laplaces_is_that_of_their_characteristic_function(scales: tuple[float, ...]) -> None:
    for x in (0.5, 3.0, 12.0):
        with mpmath.workdps(20):

            def wave(t: mpmath.mpf, x: float = x) -> mpmath.mpf:
                return mpmath.sin(x * t) / t / mpmath.fprod(1 + (a * t) ** 2 for a in scales)

            steps = [n * mpmath.pi / x for n in range(40)] + [mpmath.inf]
            exact = float(1 - 2 / mpmath.pi * mpmath.quad(wave, steps))
        found = float(laplace_tail(np.array(x), scales))
        assert exact * (1 - 1e-9) <= found  # never below
        assert found <= exact * (1 + (0.06 if len(scales) > 3 else 1e-3))


@pytest.mark.parametrize("sigma", ["1/20", "1/4", "1/2", "1", "3/2", "3", "10", "63"])
def test_integer_gaussian_noise_is_near_continuous_noise(sigma: str) -> None:
    s = mpmath.mpf(Fraction(sigma).numerator) / Fraction(sigma).denominator
    miss = 1e-5
    apart = gaussian_distance(cu.IntegerGaussian(1, sigma=Fraction(sigma)), miss)
    with mpmath.workdps(40):
        f = [mpmath.exp(-(mpmath.mpf(j) ** 2) / (2 * s**2)) for j in range(int(30 * s) + 20)]
        whole = 2 * mpmath.fsum(f) - 1

        def integer(m: int) -> mpmath.mpf:
            return mpmath.fsum(f[m:]) / whole

        def real(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(x / (s * mpmath.sqrt(2))) / 2

        for m in range(1, int(8 * s) + 4):
            assert real(m) <= integer(m) <= real(m - 1)  # the lemma: a distance of 1 always does
        for m in range(1, len(f) - 1):
            assert real(m - 1 + apart) <= integer(m) <= real(m - apart)
            if 2 * integer(m) <= miss:
                break
    assert 0.5 < apart <= 1
    assert apart < 0.75 or s < 1


def test_integer_laplace_noise_is_near_continuous_noise() -> None:
    for scale in ("1/10", "1", "7", "1000"):
        noise = cu.IntegerLaplace(1, scale=Fraction(scale))
        t = float(noise.scale)
        shift = t * math.log(2 / (1 + math.exp(-1 / t)))
        assert 1 - shift == pytest.approx(laplace_distance(noise), rel=1e-9)
        for k in (1, 2, 5):  # |X| is the whole part of t E + shift
            p = 2 * math.exp(-k / t) / (1 + math.exp(-1 / t))
            assert math.exp(-(k - shift) / t) == pytest.approx(p, rel=1e-9)


def _law(noise: AdditiveNoise, reach: int) -> NDArray[np.float64]:
    """The chances of -reach … reach, from an integer mechanism's own law."""
    k = np.arange(-reach, reach + 1)
    if isinstance(noise, cu.IntegerLaplace):
        found = np.exp(-np.abs(k) / float(noise.scale))
    else:
        assert isinstance(noise, cu.IntegerGaussian)
        found = np.exp(-(k**2) / (2 * float(noise.sigma_squared)))
    return np.asarray(found / found.sum())


@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.9995, 1 - 1e-7])
@pytest.mark.parametrize("count", [3, 6, 40])
@pytest.mark.parametrize(
    ("noise", "most"),
    [(cu.IntegerLaplace(1, 0.1), 1.1), (cu.IntegerLaplace(1, 1), 2.2), (cu.IntegerGaussian(1, sigma=3), 2)],
)
def test_many_integer_noises_by_their_convolution(
    noise: AdditiveNoise, most: float, count: int, confidence: float
) -> None:
    """The exact law of a sum of integers: the error stated covers, and is not much wider than it must be."""
    one = _law(noise, 400)
    law = one
    for _ in range(count - 1):
        law = np.convolve(law, one)
    middle = len(law) // 2
    inside = np.cumsum(np.concatenate([[law[middle]], law[middle + 1 :] + law[middle - 1 :: -1]]))
    reach = repeated_error([(2.5, noise, count)], confidence) / 2.5
    assert inside[min(math.floor(reach), middle)] >= confidence - 1e-9
    needed = int(np.searchsorted(inside, confidence))
    assert reach <= (most if 0.9 < confidence < 0.99 and count < 40 else 3) * needed


@pytest.mark.thin(4)
@pytest.mark.parametrize("scales", [[(1.0, 1), (3.0, 1), (0.2, 1)], [(1.0, 5)], [(0.99, 1), (0.01, 30)], [(1.0, 200)]])
@pytest.mark.parametrize("miss", [0.4, 0.05, 0.002])
def test_sums_of_laplaces_by_quadrature(scales: list[tuple[float, int]], miss: float) -> None:
    """Gil-Pelaez's integral, by another method and to more digits."""
    reach = laplace_sum_error(scales, miss)
    with mpmath.workdps(20):

        def wave(t: mpmath.mpf) -> mpmath.mpf:
            falls = mpmath.mpf(1)
            for s, n in scales:
                falls *= (1 + (s * t) ** 2) ** -n
            return mpmath.sin(t * reach) / t * falls

        inside = 2 / mpmath.pi * mpmath.quad(wave, mpmath.linspace(0, 60, 241))
    assert miss * 0.97 <= 1 - float(inside) + 1e-4 <= miss + 2e-4


def test_gaussians_add_in_quadrature() -> None:
    three, four = cu.Gaussian(1, sigma=3), cu.Gaussian(1, sigma=4)
    assert cu.combined_error([(1, three), (1, four)]) == pytest.approx(cu.Gaussian(1, sigma=5).error(), rel=1e-9)
    assert cu.combined_error([(2, three)]) == pytest.approx(2 * three.error(), rel=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (cu.Laplace(1, 1), cu.Laplace(1, 0.2)),
        (cu.IntegerLaplace(1, 1), cu.Laplace(1, 0.2)),
        (cu.IntegerLaplace(1, 2), cu.IntegerLaplace(1, 3)),
        (cu.Gaussian(1, sigma=2), cu.Laplace(1, 1)),
        (cu.IntegerGaussian(1, sigma=2), cu.Gaussian(1, sigma=2)),
    ],
)
def test_combined_error_covers(x: AdditiveNoise, y: AdditiveNoise) -> None:
    n, confidence = 4000, 0.9
    reach = cu.combined_error([(1.0, x), (-2.0, y)], confidence)
    off = np.array([x.release(0) - 2 * y.release(0) for _ in range(n)], np.float64)
    # Six standard deviations: false alarms below 1e-8.
    assert (np.abs(off) <= reach).mean() >= confidence - 6 * math.sqrt(0.09 / n)


@examples(200)
@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(-50, 50), st.floats(0.01, 5), st.floats(0.5, 0.999))
def test_error_is_convex_in_the_ratio(a: float, b: float, ratio: float, gap: float, confidence: float) -> None:
    """What makes a ratio's interval an interval."""
    x, y = cu.Laplace(1, scale=a), cu.Laplace(1, scale=b)
    low, middle, high = (cu.combined_error([(1, x), (-r, y)], confidence) for r in (ratio - gap, ratio, ratio + gap))
    assert low + high >= 2 * middle * (1 - 1e-8)


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        (cu.Laplace(100, 0.5), cu.Laplace(1, 0.5)),
        (cu.Gaussian(100, sigma=150), cu.Gaussian(1, sigma=2)),
        (cu.Laplace(100, 0.5), cu.IntegerLaplace(1, 0.5)),
        (cu.Gaussian(100, sigma=150), cu.Laplace(1, 0.5)),
    ],
)
@pytest.mark.parametrize("count", [5, 40, 1000])
def test_ratio_interval_covers(top: AdditiveNoise, bottom: AdditiveNoise, count: int) -> None:
    runs, confidence, mean = 400, 0.9, 37.0
    inside = 0
    for _ in range(runs):
        s, c = top.release(mean * count), bottom.release(count)
        low, high = cu.ratio_interval(s, top, c, bottom, confidence)
        inside += low <= mean <= high
    assert inside / runs >= confidence - 6 * math.sqrt(0.09 / runs)


def test_ratio_interval_is_not_needlessly_wide() -> None:
    top, bottom = cu.Laplace(100, 0.5), cu.Laplace(1, 0.5)
    low, high = cu.ratio_interval(37_000.0, top, 1000.0, bottom)
    linear = cu.combined_error([(1, top), (-37, bottom)]) / 1000
    assert (high - low) / 2 == pytest.approx(linear, rel=0.02)


def test_a_denominator_that_may_be_zero_has_no_ends() -> None:
    top, bottom = cu.Laplace(1, 1), cu.Laplace(1, 1)
    for c in (0.0, 2.0, -1.5):
        assert cu.ratio_interval(10.0, top, c, bottom) == (-math.inf, math.inf)


def test_refusals() -> None:
    with pytest.raises(InvalidParameter):
        cu.combined_error([])
    with pytest.raises(InvalidParameter):
        cu.combined_error([(0, cu.Laplace(1, 1))])
    with pytest.raises(InvalidParameter):
        cu.combined_error([(math.nan, cu.Laplace(1, 1)), (1, cu.Laplace(1, 1))])
    with pytest.raises(InvalidParameter):
        cu.ratio_interval(math.nan, cu.Laplace(1, 1), 10.0, cu.Laplace(1, 1))
    with pytest.raises(InvalidParameter):
        cu.ratio_interval(1.0, cu.Laplace(1, 1), 10.0, cu.Laplace(1, 1), confidence=1.0)


@pytest.mark.parametrize("power", [-250, -155, 155, 160, 250])
def test_noises_whose_squares_are_beyond_doubles_are_combined(power: int) -> None:
    size = Fraction(10) ** power
    kinds: list[list[tuple[float, AdditiveNoise, int]]] = [[(1.0, cu.Laplace(size, 1), n)] for n in (2, 3)]
    units: list[list[tuple[float, AdditiveNoise, int]]] = [[(1.0, cu.Laplace(1, 1), n)] for n in (2, 3)]
    if power > 0:  # such small Gaussian noise is refused
        kinds += [
            [(1.0, cu.Gaussian(1, sigma=size), 3)],
            [(1.0, cu.Gaussian(1, sigma=size), 3), (1.0, cu.Laplace(size, 1), 3)],
        ]
        units += [[(1.0, cu.Gaussian(1, sigma=1), 3)], [(1.0, cu.Gaussian(1, sigma=1), 3), (1.0, cu.Laplace(1, 1), 3)]]
    for terms, unit in zip(kinds, units, strict=True):
        assert repeated_error(terms) / float(size) == pytest.approx(repeated_error(unit), rel=1e-4)


def test_a_scale_below_all_doubles_adds_nothing() -> None:
    """Its weight, beside one that is larger by 600 digits, is 0 as a double."""
    one = cu.Laplace(1, 1)
    found = cu.combined_error([(2.0**1000, one), (-5e-324, one)])
    assert 1 <= found / (2.0**1000 * one.error(0.95)) < 1.001
