"""Privacy-loss distributions against numbers computed in other ways: closed forms, exact binomials, quadrature."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting import pld
from curador.accounting.events import (
    ApproxLoss,
    Event,
    GaussianNoise,
    LaplaceNoise,
    PoissonSampled,
    PureLoss,
    RandomizedAnswer,
    compose,
)
from curador.accounting.rules.gaussian import gaussian_delta, gaussian_epsilon


def gaussian(sigma: int | str | Fraction) -> GaussianNoise:
    return GaussianNoise(Fraction(sigma), Fraction(1))


def laplace(scale: int) -> LaplaceNoise:
    return LaplaceNoise(Fraction(scale), Fraction(1))


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-14", "1e-20", "1e-40"])
@pytest.mark.parametrize(("sigma", "count"), [(10, 100), (1, 1), (3, 7), (100, 10_000)])
def test_gaussians_compose_to_one_gaussian(sigma: int, count: int, delta: str) -> None:
    exact = gaussian_epsilon(Fraction(sigma), Fraction(math.isqrt(count)) if count != 7 else Fraction(7) ** 1, delta)
    if count == 7:  # √7 is irrational: seven releases at σ are one at σ/√7, bracketed by fractions
        low, high = (gaussian_epsilon(sigma, Fraction(root, 10**12), delta) for root in (2645751311064, 2645751311065))
    else:
        low = high = exact
    found = pld.epsilon(count * gaussian(sigma), delta, 1e-5)
    assert found.lower <= high * (1 + 1e-9)
    assert found.upper >= low * (1 - 1e-9)
    assert found.width < 1e-4 * max(1, found.upper)


def binomial_delta(epsilon0: Fraction, count: int, epsilon: float) -> mpmath.mpf:
    """delta(epsilon) of ``count`` binary randomized responses, from the binomial law itself."""
    with mpmath.workdps(60):
        e0 = mpmath.mpf(epsilon0.numerator) / epsilon0.denominator
        p = 1 / (1 + mpmath.exp(-e0))
        total = mpmath.mpf(0)
        for k in range(count + 1):
            loss = (count - 2 * k) * e0
            if loss > epsilon:
                mass = mpmath.binomial(count, k) * p ** (count - k) * (1 - p) ** k
                total += mass * (1 - mpmath.exp(epsilon - loss))
        return total


@settings(max_examples=60)
@given(st.fractions(Fraction(1, 100), 2, max_denominator=100), st.integers(1, 60), st.floats(0.05, 0.95))
def test_pure_losses_are_binomial(epsilon0: Fraction, count: int, share: float) -> None:
    epsilon = share * float(epsilon0) * count
    exact = binomial_delta(epsilon0, count, epsilon)
    found = pld.delta(count * PureLoss(epsilon0), epsilon)
    assert found.lower <= float(exact) * (1 + 1e-9)
    assert found.upper >= float(exact) * (1 - 1e-9)


def test_randomized_response_repeats_what_it_is() -> None:
    # The peer's `count=` gives 1.0 for ten of these where ten single ones give 9.998.
    event = RandomizedAnswer(2, Fraction(3, 4))
    many, one_by_one = 10 * event, compose(*[event] * 10)
    assert many == one_by_one
    found = pld.epsilon(many, "1e-9", 1e-5)
    assert found.lower <= 10 * math.log(3)
    assert found.upper >= 10 * math.log(3) * 0.9


@pytest.mark.parametrize(("delta", "published"), [("0.06", 22), ("0.1", 20)])
def test_kairouz_oh_viswanath(delta: str, published: int) -> None:
    found = pld.epsilon(30 * ApproxLoss(Fraction(1), Fraction(1, 1000)), delta)
    assert found.upper <= published + 1e-6  # the published numbers are corners at or above the optimum
    assert found.lower > published - 1


def test_one_laplace() -> None:
    for epsilon in (0.0, 0.3, 0.9):
        found = pld.delta(laplace(1), epsilon, 1e-6)
        exact = -math.expm1((epsilon - 1) / 2)
        assert found.lower <= exact <= found.upper
        assert found.width < 1e-5


def sampled_loss(q: float, sigma: float, x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(1 - q + q * mpmath.exp((2 * x - 1) / (2 * sigma**2)))


def sampled_delta(q: float, sigma: float, epsilon: mpmath.mpf, remove: bool) -> mpmath.mpf:
    """delta of one Poisson-sampled Gaussian at any real epsilon, in one direction, from its densities."""

    def tail(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.erfc(z / mpmath.sqrt(2)) / 2

    if remove:  # P = (1-q) N(0) + q N(1) against Q = N(0): the loss grows with x
        if mpmath.exp(epsilon) <= 1 - q:
            return 1 - mpmath.exp(epsilon)
        x = sigma**2 * mpmath.log((mpmath.exp(epsilon) - 1 + q) / q) + mpmath.mpf(1) / 2
        p = (1 - q) * tail(x / sigma) + q * tail((x - 1) / sigma)
        return p - mpmath.exp(epsilon) * tail(x / sigma)
    # add: P = N(0) against the mixture; the loss falls with x and stays below -log(1-q)
    if mpmath.exp(-epsilon) <= 1 - q:
        return mpmath.mpf(0)
    x = sigma**2 * mpmath.log((mpmath.exp(-epsilon) - 1 + q) / q) + mpmath.mpf(1) / 2
    p = 1 - tail(x / sigma)
    mixture = (1 - q) * (1 - tail(x / sigma)) + q * (1 - tail((x - 1) / sigma))
    return p - mpmath.exp(epsilon) * mixture


@pytest.mark.thin(4)
@pytest.mark.parametrize(("q", "sigma"), [("0.01", "1"), ("0.2", "0.8"), ("0.5", "2")])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.5])
def test_one_sampled_gaussian(q: str, sigma: str, epsilon: float) -> None:
    exact = max(sampled_delta(float(q), float(sigma), mpmath.mpf(epsilon), r) for r in (True, False))
    found = pld.delta(PoissonSampled(gaussian(sigma), Fraction(q)), epsilon, 1e-6)
    assert found.lower <= float(exact) * (1 + 1e-9) + 1e-300
    assert found.upper >= float(exact) * (1 - 1e-9)


@pytest.mark.parametrize(("q", "sigma", "epsilon"), [(0.1, 1.0, 0.5), (0.3, 0.9, 1.0)])
def test_two_sampled_gaussians_by_quadrature(q: float, sigma: float, epsilon: float) -> None:
    """delta of two is the mean, over the first's loss, of the delta of one at what is left of epsilon."""
    with mpmath.workdps(25):

        def density(x: mpmath.mpf, remove: bool) -> mpmath.mpf:
            without, with_one = mpmath.npdf(x, 0, sigma), mpmath.npdf(x, 1, sigma)
            return (1 - q) * without + q * with_one if remove else without

        def left(x: mpmath.mpf, remove: bool) -> mpmath.mpf:
            loss = sampled_loss(q, sigma, x)
            return epsilon - (loss if remove else -loss)

        exact = max(
            mpmath.quad(
                lambda x, r=remove: density(x, r) * sampled_delta(q, sigma, left(x, r), r),
                [-12, -6, -3, -1, 0, 0.5, 1, 2, 4, 7, 13],
            )
            for remove in (True, False)
        )
    event = 2 * PoissonSampled(gaussian(str(sigma)), Fraction(str(q)))
    found = pld.delta(event, epsilon, 1e-6)
    assert found.lower <= float(exact) * (1 + 1e-7)
    assert found.upper >= float(exact) * (1 - 1e-7)
    assert found.width < 1e-4


@pytest.mark.parametrize(
    ("event", "delta", "low", "high"),
    [
        (10_000 * PoissonSampled(gaussian(1), Fraction(1, 100)), "1e-5", 6.1877119, 6.1877127),
        (100_000 * PoissonSampled(gaussian(1), Fraction(1, 100)), "1e-5", 25.573104, 25.573109),
        (10_000 * PoissonSampled(gaussian("0.8"), Fraction(4, 1000)), "1e-5", 3.534761, 3.534822),
        (10_000 * laplace(100), "1e-6", 4.876251, 4.876258),
        (100 * gaussian(10), "1e-40", 13.610920, 13.610922),
    ],
)
def test_brackets_meet_those_of_an_independent_accountant(event: Event, delta: str, low: float, high: float) -> None:
    found = pld.epsilon(event, delta)
    assert found.lower <= high
    assert found.upper >= low
    assert found.width < 0.002


def test_sgd_bracket_contains_the_number_and_is_narrow() -> None:
    found = pld.epsilon(10_000 * PoissonSampled(gaussian(1), Fraction(1, 100)), "1e-5")
    assert 6.187712 in pld.Bracket(found.lower - 5e-7, found.upper + 5e-7)  # the number is rounded to six places
    assert found.width < 0.002


def test_rounding_losses_to_nearest_would_be_caught() -> None:
    """A deliberately wrong accountant: Gaussian losses on a coarse grid, rounded to nearest, understate."""
    step, sigma = 0.5, 2.0
    with mpmath.workdps(30):
        mean = 1 / (2 * sigma**2)
        grid = range(-20, 21)
        mass = [
            mpmath.ncdf((k + 0.5) * step, mean, 1 / sigma) - mpmath.ncdf((k - 0.5) * step, mean, 1 / sigma)
            for k in grid
        ]
        # One release already shows it: the wrong delta is below the exact one, and so below our lower end.
        epsilon = 0.74
        wrong = sum(
            m * (1 - mpmath.exp(epsilon - k * step)) for k, m in zip(grid, mass, strict=True) if k * step > epsilon
        )
    found = pld.delta(gaussian(2), epsilon, 1e-6)
    assert float(wrong) < found.lower or float(wrong) > found.upper
    assert found.lower <= gaussian_delta(2, 1, "0.74") * (1 + 1e-9)
