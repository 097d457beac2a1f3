"""Brackets against exact answers: closed forms and finite sums in high precision that share no code with the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from curador.accounting import events
from curador.accounting.events import Event
from curador.accounting.pld import Bracket, delta, epsilon
from curador.accounting.pld.incremental import IncrementalPLD
from curador.accounting.pld.solve import upper_deltas, upper_epsilon
from curador.accounting.theorems import LawPair
from curador.privacy import Neighbors

ev: Any = events  # events read ints, strings and decimals; their fields are typed as the fractions these become
MP = mpmath.mp.clone()
MP.dps = 50
Real = Any
Profile = Callable[[Real], Real]
"""delta as a function of epsilon, both of the context above."""


def mp(x: Fraction | int | float) -> Real:
    """A float stands for the decimal that it prints as."""
    f = Fraction(repr(x)) if isinstance(x, float) else Fraction(x)
    return MP.mpf(f.numerator) / f.denominator


# ---- exact profiles --------------------------------------------------------------------------------------------


def gaussian(mu: Real) -> Profile:
    return lambda e: MP.ncdf(mu / 2 - e / mu) - MP.exp(e) * MP.ncdf(-mu / 2 - e / mu)


def times(a: dict[Any, Real], b: dict[Any, Real]) -> dict[Any, Real]:
    out: dict[Any, Real] = {}
    for i, x in a.items():
        for j, y in b.items():
            k = tuple(map(sum, zip(i, j, strict=True)))
            out[k] = out.get(k, MP.mpf(0)) + x * y
    return out


def listed(losses: list[Real], masses: list[Real], count: int, infinite: Real = 0) -> Profile:
    """Losses with given P-masses, ``count`` times over, by counting how often each of them occurs."""
    unit = [tuple(int(i == j) for j in range(len(losses))) for i in range(len(losses))]
    total: dict[Any, Real] = {tuple(0 for _ in losses): MP.mpf(1)}
    power = dict(zip(unit, masses, strict=True))
    n = count
    while n:
        if n & 1:
            total = times(total, power)
        n >>= 1
        power = times(power, power) if n else power
    sums = [(sum((k * x for k, x in zip(key, losses, strict=True)), MP.mpf(0)), mass) for key, mass in total.items()]
    never = 1 - (1 - infinite) ** count
    return lambda e: never + sum((m * (1 - MP.exp(e - x)) for x, m in sums if x > e), MP.mpf(0))


def lattice(step: Real, masses: dict[int, Real], count: int) -> Profile:
    """Losses that are multiples of one step, ``count`` times over, by convolution."""
    total, power, n = {(0,): MP.mpf(1)}, {(k,): m for k, m in masses.items()}, count
    while n:
        if n & 1:
            total = times(total, power)
        n >>= 1
        power = times(power, power) if n else power
    return lambda e: sum((m * (1 - MP.exp(e - k * step)) for (k,), m in total.items() if k * step > e), MP.mpf(0))


def larger(*profiles: Profile) -> Profile:
    return lambda e: max(f(e) for f in profiles)


def response(event: events.RandomizedAnswer, count: int) -> Profile:
    t, o = mp(event.truth), mp((1 - event.truth) / (event.categories - 1))
    return listed([MP.log(t / o), MP.log(o / t), MP.mpf(0)], [t, o, 1 - t - o], count)


def pure(e0: Fraction, d: Fraction, count: int) -> Profile:
    x, gone = mp(e0), mp(d)
    return listed([x, -x], [(1 - gone) / (1 + MP.exp(-x)), (1 - gone) / (1 + MP.exp(x))], count, gone)


def discrete_laplace(scale: Fraction, shift: int, count: int) -> Profile:
    r = MP.exp(-1 / mp(scale))
    masses = {shift: 1 / (1 + r), -shift: r**shift / (1 + r)}
    masses |= {shift - 2 * j: (1 - r) / (1 + r) * r**j for j in range(1, shift)}
    return lattice(1 / mp(scale), masses, count)


def discrete_gaussian(variance: Fraction, shift: int, count: int) -> Profile:
    v, far = mp(variance), 15 * math.isqrt(int(variance) + 1) + 9
    weight = {x: MP.exp(-(x * x) / (2 * v)) for x in range(-far, far + 1)}
    total = MP.fsum(weight.values())
    return lattice(shift / (2 * v), {2 * y + shift: w / total for y, w in weight.items()}, count)


def sampled_pure(e0: Fraction, rate: Fraction, count: int) -> Profile:
    """Both orders: with the unit first, then without it first."""
    x, q = mp(e0), mp(rate)
    high, low = MP.log(1 - q + q * MP.exp(x)), MP.log(1 - q + q * MP.exp(-x))
    rare, often = 1 / (1 + MP.exp(x)), 1 / (1 + MP.exp(-x))
    with_unit = listed([high, low], [rare * MP.exp(high), often * MP.exp(low)], count)
    return larger(with_unit, listed([-high, -low], [rare, often], count))


# ---- the check -------------------------------------------------------------------------------------------------


def holds(exact: Profile, event: Event, d: float, tolerance: float = 1e-4) -> Bracket:
    """epsilon(event, d) has the exact answer inside, and is as narrow as it was asked to be."""
    bracket = epsilon(event, d, tolerance)
    target = mp(d)
    assert exact(mp(bracket.upper)) <= target, (bracket, "understates")
    assert bracket.lower == 0 or exact(mp(bracket.lower)) >= target, (bracket, "claims too much")
    assert bracket.width <= tolerance * max(1, bracket.upper)
    return bracket


deltas = st.floats(-40, -2).map(lambda x: float(f"{10**x:.3g}"))
counts = st.sampled_from([1, 2, 3, 7, 20, 60])
tenths = st.integers(3, 400).map(lambda n: Fraction(n, 10))


@given(tenths, counts, deltas)
@settings(max_examples=40)
def test_gaussians(sigma: Fraction, count: int, d: float) -> None:
    holds(gaussian(MP.sqrt(count) / mp(sigma)), count * ev.GaussianNoise(sigma, 1), d)


def test_a_hundred_gaussians_down_to_1e_40() -> None:
    for d, published in ((1e-14, 7.868736), (1e-20, None), (1e-40, 13.610921)):
        bracket = holds(gaussian(MP.mpf(1)), 100 * ev.GaussianNoise(10, 1), d, tolerance=1e-7)
        assert published in (None, round(bracket.lower, 6))


@given(st.integers(2, 6), st.integers(1, 999), st.sampled_from([1, 2, 5, 16]), deltas)
@settings(max_examples=20)
def test_randomized_response(categories: int, thousandths: int, count: int, d: float) -> None:
    event = ev.RandomizedAnswer(categories, Fraction(thousandths, 1000))
    holds(response(event, count), count * event, d)


@given(st.integers(1, 300), st.sampled_from([0, 3, 6, 9, 12]), counts, deltas)
@settings(max_examples=25)
def test_the_worst_approximate_mechanism(hundredths: int, digits: int, count: int, d: float) -> None:
    e0, d0 = Fraction(hundredths, 100), Fraction(0) if digits == 0 else Fraction(1, 10**digits)
    exact = pure(e0, d0, count)
    if mp(d) > (1 - (1 - mp(d0)) ** count) * (1 + MP.mpf(10) ** -9):
        holds(exact, count * ev.ApproxLoss(e0, d0), d)
    elif mp(d) < 1 - (1 - mp(d0)) ** count:
        assert epsilon(count * ev.ApproxLoss(e0, d0), d) == Bracket(math.inf, math.inf)


@given(st.integers(1, 6), st.integers(5, 100), st.sampled_from([1, 2, 5, 20]), deltas)
@settings(max_examples=25)
def test_discrete_laplace(shift: int, scale: int, count: int, d: float) -> None:
    event = ev.DiscreteLaplaceNoise(Fraction(scale, 10), shift)
    holds(discrete_laplace(event.scale, shift, count), count * event, d)


@pytest.mark.parametrize(("variance", "shift"), [("0.3", 1), ("4", 1), ("4", 3), ("30", 2)])
@pytest.mark.parametrize("count", [1, 3])
def test_discrete_gaussian(variance: str, shift: int, count: int) -> None:
    event = ev.DiscreteGaussianNoise(Fraction(variance), shift**2)
    for d in (1e-3, 1e-9):
        holds(discrete_gaussian(Fraction(variance), shift, count), count * event, d)


@given(st.integers(1, 300), st.integers(1, 999), st.sampled_from([1, 3, 30, 100]), deltas)
@settings(max_examples=15)
def test_sampled_pure_loss_in_both_orders(hundredths: int, thousandths: int, count: int, d: float) -> None:
    e0, rate = Fraction(hundredths, 100), Fraction(thousandths, 1000)
    holds(sampled_pure(e0, rate, count), count * ev.PoissonSampled(ev.PureLoss(e0), rate), d)


def test_ten_thousand_pure_losses_and_the_optimal_theorem() -> None:
    """Kairouz, Oh and Viswanath's value where a published implementation overflows, and two of its smaller ones."""
    assert 4.885516 in epsilon(10_000 * ev.PureLoss("0.01"), 1e-6)
    for total, published in ((0.06, 22), (0.1, 20)):
        bracket = holds(pure(Fraction(1), Fraction(1, 1000), 30), 30 * ev.ApproxLoss(1, "0.001"), total)
        assert bracket.upper <= published  # theirs is the next of a few epsilons for which the theorem is stated


def test_many_laplace() -> None:
    bracket = epsilon(10_000 * ev.LaplaceNoise(100, 1), 1e-6)
    assert 4.876251 <= bracket.lower <= bracket.upper <= 4.876258  # steps of 1e-4, bounded from both sides


def test_never_more_than_connected_dots_with_steps_of_1e_4() -> None:
    """What dp_accounting 0.6 answers at that step; all are upper bounds."""
    sgd = ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01")
    for event, d, theirs in (
        (10_000 * sgd, 1e-5, 6.187744975808358),
        (500 * ev.LaplaceNoise(20, 1) + 500 * ev.GaussianNoise(50, 1), 1e-6, 5.975671148454685),
        (10_000 * ev.LaplaceNoise(100, 1), 1e-6, 4.876258),
    ):
        assert epsilon(event, d).upper < theirs


# ---- one noise, any delta --------------------------------------------------------------------------------------


def laplace(e0: Real) -> Profile:
    return lambda e: 1 - MP.exp((e - e0) / 2) if e < e0 else MP.mpf(0)


def amplified(inner: Profile, q: Real) -> Profile:
    """[BBG18]: for epsilon >= 0 sampling turns (e', d) into (log(1 + q (exp(e') - 1)), q d)."""
    return lambda e: q * inner(MP.log(1 + MP.expm1(e) / q))


@given(st.integers(1, 80), st.floats(-4, -0.5))
@settings(max_examples=20)
def test_laplace_alone(tenth: int, log_d: float) -> None:
    e0 = Fraction(tenth, 10)
    holds(laplace(mp(e0)), ev.LaplaceNoise(1, e0), float(f"{10**log_d:.3g}"))


@pytest.mark.parametrize("d", [1e-2, 1e-5, 1e-9])
def test_sampled_laplace_alone(d: float) -> None:
    for e0, q in ((1, "0.1"), (3, "0.4"), (Fraction(1, 2), "0.01")):
        event = ev.PoissonSampled(ev.LaplaceNoise(1, e0), q)
        # With the unit first.  The other order costs less: its losses are bounded by -log(1 - q).
        holds(amplified(laplace(mp(Fraction(e0))), mp(Fraction(q))), event, d)


def sampled_gaussian(mu: Real, q: Real) -> tuple[Profile, Profile]:
    """One step, for any real epsilon: with the unit first, and without it first."""

    def first(e: Real) -> Real:
        y = MP.exp(e)
        if y <= 1 - q:
            return 1 - y
        z = MP.log((y - 1 + q) / q) / mu + mu / 2  # outputs beyond this one count
        return (1 - q - y) * MP.ncdf(-z) + q * MP.ncdf(mu - z)

    def second(e: Real) -> Real:
        y = MP.exp(e)
        if 1 / y <= 1 - q:
            return MP.mpf(0)
        z = MP.log((1 / y - 1 + q) / q) / mu + mu / 2  # outputs below this one count
        return MP.ncdf(z) - y * ((1 - q) * MP.ncdf(z) + q * MP.ncdf(z - mu))

    return first, second


def after(step: Profile, losses: Iterable[tuple[Real, Real]]) -> Profile:
    """A step after others with the listed losses and masses: the mean of its profile at epsilon less the loss."""
    known = list(losses)
    return lambda e: MP.fsum(p * step(e - x) for x, p in known)


def two_steps(mu: float, q: float, h: float) -> Callable[[float], float]:
    """Two steps in both orders, in double precision: the trapezoidal rule with step h over the first output."""
    z = np.arange(-12.0, 12.0 + 2 * mu, h)
    ratio, weight = 1 - q + q * np.exp(mu * z - mu * mu / 2), h * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def first(y: Any) -> Any:
        at = np.log(np.maximum(y - 1 + q, 1e-300) / q) / mu + mu / 2
        return np.where(y <= 1 - q, 1 - y, q * ndtr(mu - at) - (y - 1 + q) * ndtr(-at))

    def second(y: Any) -> Any:
        at = np.log(np.maximum(1 / y - 1 + q, 1e-300) / q) / mu + mu / 2
        return np.where(1 / y <= 1 - q, 0.0, (1 - y * (1 - q)) * ndtr(at) - y * q * ndtr(at - mu))

    def profile(e: float) -> float:
        y = math.exp(e)
        return max(float(weight * ratio @ first(y / ratio)), float(weight @ second(y * ratio)))

    return profile


@given(st.integers(3, 50), st.integers(1, 999), deltas)
@settings(max_examples=15)
def test_one_sampled_gaussian(tenth: int, thousandths: int, d: float) -> None:
    sigma, q = Fraction(tenth, 10), Fraction(thousandths, 1000)
    exact = larger(*sampled_gaussian(1 / mp(sigma), mp(q)))
    bracket = epsilon(ev.PoissonSampled(ev.GaussianNoise(sigma, 1), q), d)
    assert exact(mp(bracket.upper)) <= mp(d)
    assert bracket.lower == 0 or exact(mp(bracket.lower)) >= mp(d)
    at = delta(ev.PoissonSampled(ev.GaussianNoise(sigma, 1), q), 0.3)
    assert mp(at.lower) <= exact(mp(0.3)) <= mp(at.upper)


@pytest.mark.parametrize(("sigma", "q"), [("1", "0.01"), ("0.7", "0.2"), ("3", "0.5"), ("0.5", "0.003")])
def test_two_sampled_gaussians(sigma: str, q: str) -> None:
    exact, coarser = (two_steps(1 / float(sigma), float(q), h) for h in (2**-14, 2**-13))
    for d in (1e-3, 1e-6, 1e-11):
        bracket = epsilon(2 * ev.PoissonSampled(ev.GaussianNoise(sigma, 1), q), d)
        assert bracket.width <= 1e-4 * max(1, bracket.upper)
        assert exact(bracket.upper) == pytest.approx(coarser(bracket.upper), rel=1e-10)
        assert exact(bracket.upper) <= d * (1 + 1e-10)
        assert bracket.lower == 0 or exact(bracket.lower) >= d * (1 - 1e-10)


def test_private_gradient_descent() -> None:
    """sigma 1, rate 0.01, 10,000 steps: between what two independent accountants can prove from each side."""
    bracket = epsilon(10_000 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01"), 1e-5)
    assert 6.187712 in Bracket(round(bracket.lower, 6), round(bracket.upper, 6))
    assert bracket.width < 2e-3
    assert bracket.upper <= 6.1877127  # connected dots with steps of 1e-5
    assert bracket.upper >= 6.1877119  # a lower bound with steps of 1e-5
    small = epsilon(10_000 * ev.PoissonSampled(ev.GaussianNoise("0.8", 1), "0.004"), 1e-5)
    assert small.upper <= 3.534822
    assert small.lower >= 3.534761
    assert small.width < 1e-4
    long = epsilon(100_000 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01"), 1e-5)
    assert long.upper <= 25.573109
    assert long.upper >= 25.573104


# ---- the rest: against the closed form of a single event --------------------------------------------------------


def truncated(event: events.TruncatedLaplaceNoise) -> Profile:
    """By integrating (P - exp(epsilon) Q)+ over the pieces on which the loss is a constant or a straight line."""
    b, s, t = mp(event.scale), mp(event.sensitivity), mp(event.bound)
    total = 2 * b * (1 - MP.exp(-t / b))

    def density(x: Real) -> Real:
        return MP.exp(-abs(x) / b) / total if -t <= x <= t else MP.mpf(0)

    def profile(e: Real) -> Real:
        cuts = sorted({-t, t, s - t, s + t, MP.mpf(0), s, (s - e * b) / 2})
        inside = [x for x in cuts if -t <= x <= t]
        return MP.fsum(
            MP.quad(lambda x: max(MP.mpf(0), density(x) - MP.exp(e) * density(x - s)), [lo, hi])
            for lo, hi in pairwise(inside)
        )

    return profile


@pytest.mark.parametrize(("bound", "shift"), [("20", "1"), ("2", "1"), ("0.7", "1"), ("5", "0.1")])
def test_truncated_laplace(bound: str, shift: str) -> None:
    event = ev.TruncatedLaplaceNoise(1, Fraction(shift), Fraction(bound))
    exact = truncated(event)
    for e in (0.0, 0.05, 0.5, 2.0):
        at = delta(event, e)
        assert mp(at.lower) <= exact(mp(e)) <= mp(at.upper)
        assert at.upper - at.lower <= 1e-3 * at.upper + 1e-300


def test_exponential_choice_lies_between_its_worst_pair_and_one_that_it_attains() -> None:
    e0 = MP.mpf(1)

    def single(e: Real) -> Real:
        return (1 - MP.exp((e - e0) / 2)) ** 2 / (1 - MP.exp(-e0))

    for e in (0.0, 0.2, 0.7):
        at = delta(ev.ExponentialChoice(1), e)
        assert mp(at.lower) <= single(mp(e)) <= mp(at.upper) <= single(mp(e)) * (1 + MP.mpf(10) ** -3)
        # Two outcomes of which one becomes exp(1/2) times as likely and the other that much less.
        assert mp(at.lower) <= pure(Fraction(1, 2), Fraction(0), 1)(mp(e)) * (1 + MP.mpf(10) ** -20)


def test_replace_neighbours_of_a_poisson_sample_know_whether_they_were_taken() -> None:
    mu, q = MP.mpf(1), MP.mpf("0.2")
    event = ev.PoissonSampled(ev.GaussianNoise(1, 1, Neighbors.REPLACE), "0.2")
    holds(lambda e: q * gaussian(mu)(e), event, 1e-5)
    # Two steps: both taken, or one of them, or none.
    holds(lambda e: q * q * gaussian(MP.sqrt(2))(e) + 2 * q * (1 - q) * gaussian(mu)(e), 2 * event, 1e-5)


def test_a_fixed_size_sample_is_amplified_for_positive_epsilon() -> None:
    event = ev.FixedSizeSampled(ev.GaussianNoise(1, 1, Neighbors.REPLACE), 2, 10)
    exact = amplified(gaussian(MP.mpf(1)), MP.mpf("0.2"))
    for e in (0.0, 0.3, 1.0):
        at = delta(event, e)
        assert mp(at.lower) <= exact(mp(e)) <= mp(at.upper) <= exact(mp(e)) * (1 + MP.mpf(10) ** -2)


def test_huge_integer_scales_cost_what_real_noise_costs() -> None:
    fine, real = 50 * ev.DiscreteLaplaceNoise(2**40, 2**38), 50 * ev.LaplaceNoise(4, 1)
    assert abs(epsilon(fine, 1e-6).upper - epsilon(real, 1e-6).upper) < 1e-9
    fine, real = 50 * ev.DiscreteGaussianNoise(2**80, 2**74), 50 * ev.GaussianNoise(8, 1)
    assert abs(epsilon(fine, 1e-6).upper - epsilon(real, 1e-6).upper) < 1e-3
    sample = 50 * ev.PoissonSampled(ev.DiscreteGaussianNoise(2**80, 2**80), "0.1")
    a, b = epsilon(sample, 1e-6), epsilon(50 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.1"), 1e-6)
    assert a.lower <= b.upper
    assert b.lower <= a.upper


def test_mixtures() -> None:
    """Losses with atoms, one after another, and then Gaussian noise, whose profile is known for every epsilon."""
    e0, gone = MP.mpf("0.05"), MP.mpf(10) ** -7
    laws = [([e0, -e0], [1 / (1 + MP.exp(-e0)), 1 / (1 + MP.exp(e0))], 3)]
    laws.append(([e0 / 2, -e0 / 2], [(1 - gone) / (1 + MP.exp(-e0 / 2)), (1 - gone) / (1 + MP.exp(e0 / 2))], 2))
    r = MP.exp(-MP.mpf(1) / 9)
    laws.append(([MP.mpf(2) / 9, MP.mpf(0), -MP.mpf(2) / 9], [1 / (1 + r), (1 - r) / (1 + r) * r, r * r / (1 + r)], 1))
    known = [(MP.mpf(0), MP.mpf(1))]
    for losses, masses, count in laws:
        for _ in range(count):
            known = [(x + y, p * m) for x, p in known for y, m in zip(losses, masses, strict=True)]
    infinite = 1 - (1 - gone) ** 2
    finite = after(gaussian(MP.sqrt(2) / 6), known)
    event = (
        3 * ev.PureLoss("0.05")
        + 2 * ev.ApproxLoss("0.025", 1e-7)
        + ev.DiscreteLaplaceNoise(9, 2)
        + 2 * ev.GaussianNoise(6, 1)
    )
    for d in (1e-2, 1e-4, 3e-7):
        holds(lambda e: infinite + finite(e), event, d, tolerance=1e-6)
    assert epsilon(event, 1e-7) == Bracket(math.inf, math.inf)


def test_brackets_stay_narrow_where_exp_of_epsilon_leaves_floats() -> None:
    event = events.TruncatedLaplaceNoise(Fraction(1, 3), Fraction(8, 3), Fraction(5))
    bracket = epsilon(100 * event, "0.05", tolerance=1e-3)
    assert bracket.lower > 709
    assert bracket.width < 1e-3 * bracket.lower


# ---- chances that no double holds ------------------------------------------------------------------------------

RARE = Fraction(1, 10**400)
LOST = {
    "approximate": ev.ApproxLoss(1, RARE),
    "pair of laws": LawPair((1 - RARE, RARE), (Fraction(1), Fraction(0))),
    "sample": ev.PoissonSampled(ev.ApproxLoss(1, "1e-300"), "1e-99"),
}


@pytest.mark.parametrize("event", LOST.values(), ids=LOST)
def test_a_chance_that_no_double_holds_is_not_lost(event: Event) -> None:
    """It is far below every delta that is asked for, but it is not 0: no epsilon promises the event with delta 0."""
    for some in (event, 2 * event, event + ev.LaplaceNoise(1, 1)):
        assert delta(some, 5).upper > 0
        assert upper_deltas(some, [5.0, 6.0])[0] > 0
        assert epsilon(some, 0).upper == upper_epsilon(some, 0) == math.inf
        assert IncrementalPLD(counts={some: 1}).epsilon(0).upper == math.inf
        assert epsilon(some, 1e-9).upper < 3
    almost = LawPair((Fraction(1, 2) + RARE, Fraction(1, 2) - RARE), (Fraction(1, 2), Fraction(1, 2)))
    assert epsilon(2 * almost, 0).upper > 0
    for pure in (2 * ev.LaplaceNoise(1, 1), 3 * ev.PureLoss(1), ev.DiscreteLaplaceNoise(1, 2)):
        assert delta(pure, 4).upper == 0
        assert epsilon(pure, 0).upper < 3.01


@pytest.mark.parametrize("sigma", ["0.03", "0.05", "0.07"])
@pytest.mark.parametrize("e", [100, 550, 700, 1000, 3000])
def test_bounds_hold_where_probabilities_underflow(sigma: str, e: int) -> None:
    variance = Fraction(sigma) ** 2
    near = [(MP.exp(-mp(x * x / (2 * variance))), MP.exp(-mp((x - 1) ** 2 / (2 * variance)))) for x in range(-12, 13)]
    true = sum(max(MP.mpf(0), p - MP.exp(e) * q) for p, q in near) / sum(p for p, _ in near)
    found = delta(ev.DiscreteGaussianNoise(variance, 1), e)
    assert found.lower <= true <= found.upper
