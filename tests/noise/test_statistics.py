"""End to end, with the system's entropy: the claimed laws pass, scales off by a tenth fail (tests/stat.py says how
surely).  Statistics come last: the exact tests beside this file prove each decision."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from curador.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    RoundedLaplace,
    bernoulli,
    bernoulli_array,
    bernoulli_exp,
    bernoulli_exp_array,
    choose,
    grid_exponent,
    real_gaussian,
    real_gaussian_one,
    real_laplace,
    real_laplace_one,
    uniform_below,
    uniform_below_array,
)
from tests.stat import Cdf, Floats, check, check_samples, miss

N = 1_000_000
FEW = 60_000  # for single draws


def discrete_laplace(scale: float) -> Callable[[float], Cdf]:
    def at(factor: float) -> Cdf:
        t = scale * factor
        q = math.exp(-1 / t)

        def cdf(x: Floats) -> Floats:
            k = np.floor(x)
            below, above = np.exp(np.minimum(k, 0) / t) / (1 + q), np.exp(-(np.maximum(k, 0) + 1) / t) / (1 + q)
            return np.where(k < 0, below, 1 - above)

        return cdf

    return at


def discrete_gaussian(sigma: float) -> Callable[[float], Cdf]:
    def at(factor: float) -> Cdf:
        s = sigma * factor
        reach = int(40 * s) + 2
        weights = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * s * s))
        cumulated = np.cumsum(weights) / weights.sum()
        return lambda x: np.asarray(cumulated[np.clip(np.floor(x).astype(int) + reach, 0, 2 * reach)])

    return at


def laplace(scale: float, half: float = 0.0) -> Callable[[float], Cdf]:
    """Continuous Laplace; ``half`` a step added, the chance that the rounding is at most x."""

    def at(factor: float) -> Cdf:
        t = scale * factor
        return lambda x: np.where(
            x + half < 0, np.exp(np.minimum(x + half, 0) / t) / 2, 1 - np.exp(-np.maximum(x + half, 0) / t) / 2
        )

    return at


def gaussian(sigma: float, half: float = 0.0) -> Callable[[float], Cdf]:
    return lambda factor: lambda x: np.asarray(ndtr((x + half) / (sigma * factor)))


def integers(spread: float) -> Floats:
    """Every integer within six times this spread, or some thousand of them."""
    return np.unique(np.rint(np.linspace(-6 * spread - 3, 6 * spread + 3, 4001)))


@pytest.mark.parametrize("scale", [0.4, 1, 10, 24, 25, 1000, 1 << 16, 1 << 17, 1 << 30, 1 << 50])
def test_discrete_laplace(scale: float) -> None:
    """Table, split with 32-bit words, split with 64-bit words."""
    samples = DiscreteLaplace(Fraction(scale)).sample(N)
    check_samples(samples, discrete_laplace(scale), integers(scale), 40)


@pytest.mark.parametrize("sigma", [0.7, 1, 10, 64, 65, 1000])
def test_discrete_gaussian(sigma: float) -> None:
    samples = DiscreteGaussian(Fraction(sigma) ** 2).sample(N)
    check_samples(samples, discrete_gaussian(sigma), integers(sigma), 40)


@pytest.mark.parametrize("bits", [18, 19, 30, 49])
def test_wide_discrete_gaussian(bits: int) -> None:
    """So wide that the sum up to k is the integral up to k + 1/2, to 2**-40."""
    samples = DiscreteGaussian(Fraction(4) ** bits).sample(N)
    check_samples(samples, gaussian(2.0**bits, 0.5), integers(2.0**bits), 40)


@pytest.mark.parametrize("scale", [0.5, 3, 10**4, 1 << 40])
def test_rounded_laplace(scale: float) -> None:
    samples = RoundedLaplace(Fraction(scale)).sample(N)
    check_samples(samples, laplace(scale, 0.5), integers(scale), 40)


@pytest.mark.parametrize("sigma", [1000, 1 << 17, 1 << 40])
def test_rounded_gaussian(sigma: int) -> None:
    samples = RoundedGaussian(Fraction(sigma) ** 2).sample(N)
    check_samples(samples, gaussian(sigma, 0.5), integers(sigma), 40)


def test_narrow_rounded_gaussian() -> None:
    """Where the filter leaves all to exact integers."""
    samples = RoundedGaussian(Fraction(4)).sample(FEW)
    check_samples(samples, gaussian(2, 0.5), integers(2), 16)


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (DiscreteLaplace(Fraction(3)).draw, discrete_laplace(3)),
        (DiscreteLaplace(Fraction(40)).draw, discrete_laplace(40)),
        (DiscreteGaussian(Fraction(9)).draw, discrete_gaussian(3)),
        (DiscreteGaussian(Fraction(80**2)).draw, discrete_gaussian(80)),
        (RoundedLaplace(Fraction(40)).draw, laplace(40, 0.5)),
        (RoundedGaussian(Fraction(80**2)).draw, gaussian(80, 0.5)),
        (lambda: real_laplace_one(Fraction(0), Fraction(3), -39), laplace(3)),
        (lambda: real_gaussian_one(Fraction(0), Fraction(3), -39), gaussian(3)),
    ],
)
def test_single_draws(draw: Callable[[], float], law: Callable[[float], Cdf]) -> None:
    samples = np.array([draw() for _ in range(FEW)], np.float64)
    check_samples(samples, law, integers(100), 12)


@pytest.mark.parametrize("scale", [1, Fraction(1, 3), 10**6, Fraction(1, 10**9)])
def test_real_noise(scale: Fraction) -> None:
    t = Fraction(scale)
    e = grid_exponent(t)
    for samples, law in (
        (real_laplace(np.full(N, 0.25 * float(t)), t, e), laplace(float(t))),
        (real_gaussian(np.full(N, 0.25 * float(t)), t, e), gaussian(float(t))),
    ):
        check_samples(samples - 0.25 * float(t), law, np.linspace(-8, 8, 4001) * float(t), 40)


# ---- low bits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda: DiscreteLaplace(Fraction(1 << 12)).sample(N),
        lambda: DiscreteLaplace(Fraction(10**14, 3)).sample(N),
        lambda: DiscreteGaussian(Fraction(10**8)).sample(N),
        lambda: DiscreteGaussian(Fraction(10**27, 7)).sample(N),
        lambda: (real_laplace(np.zeros(N), Fraction(1), -40) * 2.0**40).astype(np.int64),
        lambda: (real_gaussian(np.full(N, 1 / 3), Fraction(1), -40) * 2.0**40).astype(np.int64),
    ],
)
def test_low_bits_are_uniform(draw: Callable[[], NDArray[np.int64]]) -> None:
    """Residues of 16 (of a scale of 4,096 steps and more: uniform to 2**-16), against a coin off by 2 % in each bit."""
    counts = np.bincount(draw() & 15, minlength=16)
    wrong = {
        f"bit {bit} off by 2 %": np.array([(1 + (0.02 if k >> bit & 1 else -0.02)) / 16 for k in range(16)])
        for bit in range(4)
    }
    check(counts, np.full(16, 1 / 16), wrong)


# ---- coins and choices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 6, 100])
def test_uniform_integers(n: int) -> None:
    uniform = np.full(n, 1 / n)
    tilted = uniform * (1 + 0.1 * np.where(np.arange(n) < n // 2, n - n // 2, -(n // 2)) / (n / 2))
    wrong = {"a tenth more on the lower half": tilted / tilted.sum()}
    check(np.bincount(uniform_below_array(n, N), minlength=n), uniform, wrong)
    if n < 100:
        check(np.bincount([uniform_below(n) for _ in range(FEW)], minlength=n), uniform, wrong)


def coin(p: float) -> Floats:
    return np.array([1 - p, p])


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)])
def test_coins(p: Fraction) -> None:
    wrong = {"times 0.9": coin(float(p) * 0.9), "times 1.1": coin(float(p) * 1.1)}
    check(np.bincount(bernoulli_array(p, N), minlength=2), coin(float(p)), wrong)
    check(np.bincount([bernoulli(p) for _ in range(FEW)], minlength=2), coin(float(p)), wrong)


@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(1), Fraction(3, 2)])
def test_exponential_coins(x: Fraction) -> None:
    p, wrong = math.exp(-x), {f"times {f}": coin(math.exp(-x * f)) for f in (0.9, 1.1)}
    check(np.bincount(bernoulli_exp_array(np.full(N, 7), x / 7), minlength=2), coin(p), wrong)
    check(np.bincount([bernoulli_exp(x) for _ in range(FEW)], minlength=2), coin(p), wrong)


def test_choices() -> None:
    gaps, sizes = np.array([0, 4, 1, 9, 2, 2]), np.array([3, 40, 5, 2000, 4, 8])

    def law(rate: float) -> Floats:
        weights = sizes * np.exp(-gaps * rate)
        return np.asarray(weights / weights.sum())

    counts = np.bincount([choose(gaps, Fraction(3, 5), sizes) for _ in range(FEW)], minlength=6)
    check(counts, law(0.6), {f"times {f}": law(0.6 * f) for f in (0.9, 1.1)})


# ---- the tests themselves ------------------------------------------------------------------------------------


def test_a_wrong_law_fails() -> None:
    """Samples of a scale off by a tenth, either way, do not pass for the claimed one."""
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        with pytest.raises(AssertionError, match="not the claimed law"):
            check_samples(DiscreteLaplace(100 * factor).sample(N), discrete_laplace(100), integers(100), 40)


def test_too_few_samples_are_no_test() -> None:
    with pytest.raises(AssertionError, match="too few samples"):
        check_samples(DiscreteLaplace(Fraction(100)).sample(5000), discrete_laplace(100), integers(100), 40)
    assert miss(100, coin(0.5), coin(0.51)) == 1.0
