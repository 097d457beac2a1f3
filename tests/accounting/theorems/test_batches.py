"""Batches as they are trained, held against the sampler run in all its ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import mpmath
import numpy as np
import pytest

from curador import accounting as acc
from curador.accounting import events, theorems
from curador.accounting.rules.renyi import renyi
from curador.accounting.theorems.allocation import allocated_renyi
from curador.accounting.theorems.batches import upper_tail
from curador.errors import InvalidParameter
from curador.privacy import ApproxDP, Neighbors
from tests.accounting.theorems import reference as ref

ev: Any = events  # every parameter may be an int, a float, text or a fraction
BallsInBins: Any = theorems.BallsInBins
ShuffledBatches: Any = theorems.ShuffledBatches
TruncatedPoissonSampled: Any = theorems.TruncatedPoissonSampled
Pairs = Sequence[tuple[Sequence[int], Sequence[int]]]
EPSILONS = (0.0, 0.5, 1.5)


def check(event: events.Event, sampler: ref.Sampler, pairs: Pairs, sigma: float, *, tight: bool) -> None:
    for e in EPSILONS:
        true = ref.worst_delta(sampler, pairs, sigma, e)
        found = acc.delta(event, e)
        assert true <= found.upper * (1 + ref.WRONG) + 1e-12, (e, true, found)
        assert found.lower <= true * (1 + ref.WRONG) + 1e-12, (e, true, found)
        if tight:
            assert true == pytest.approx(found.upper, rel=1e-4), e


# ---- a fixed size under add-remove ----------------------------------------------------------


@pytest.mark.parametrize(("batch", "population"), [(1, 2), (2, 4), (3, 4)])
def test_fixed_size_under_add_remove_is_exact(batch: int, population: int) -> None:
    noise = ev.GaussianNoise("1.5", 1)
    pairs = ref.databases((-1, 1), population)  # every database of values -1 and 1
    check(
        ev.FixedSizeSampled(noise, batch, population),
        lambda units: ref.summed(ref.fixed_size(units, batch)),
        pairs,
        1.5,
        tight=True,
    )


def test_a_rate_or_a_move_too_small_would_be_seen() -> None:
    pairs = ref.databases((-1, 1), 4)
    for wrong in (
        ev.PoissonSampled(ev.GaussianNoise("1.5", 1), "0.5"),
        ev.PoissonSampled(ev.GaussianNoise("1.5", 2), "0.4"),
    ):
        with pytest.raises(AssertionError):
            check(wrong, lambda units: ref.summed(ref.fixed_size(units, 2)), pairs, 1.5, tight=False)


# ---- a cap on Poisson samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "cap"), [(Fraction(1, 2), 1), (Fraction(1, 4), 2), (Fraction(1, 5), 3)])
def test_truncated_poisson_covers_every_small_database(rate: Fraction, cap: int) -> None:
    event = TruncatedPoissonSampled(ev.GaussianNoise("1.5", 1), rate, cap, 4)
    pairs = ref.databases((-1, 0, 1), 4)
    check(event, lambda units: ref.summed(ref.truncated(units, rate, cap)), pairs, 1.5, tight=False)


def test_a_cap_costs_more_than_none() -> None:
    """A full batch moves by two units: without that term the promise would be false."""
    rate, pairs = Fraction(1, 2), ref.databases((-1, 1), 4)
    with pytest.raises(AssertionError):
        check(
            ev.PoissonSampled(ev.GaussianNoise("1.5", 1), rate),
            lambda units: ref.summed(ref.truncated(units, rate, 1)),
            pairs,
            1.5,
            tight=False,
        )


def test_a_high_cap_costs_nothing() -> None:
    noise = ev.GaussianNoise(1, 1)
    plain = acc.epsilon(1000 * ev.PoissonSampled(noise, "0.01"), 1e-5)
    high = acc.epsilon(1000 * TruncatedPoissonSampled(noise, "0.01", 200, 10_000), 1e-5)
    assert plain.lower <= high.upper <= plain.upper + 2e-4
    never = TruncatedPoissonSampled(noise, "0.01", 10_000, 10_000)
    assert never.overflow == 0
    assert acc.epsilon(1000 * never, 1e-5) == plain
    low = [
        acc.epsilon(1000 * TruncatedPoissonSampled(noise, "0.01", cap, 10_000), 1e-5).upper for cap in (50, 130, 160)
    ]
    assert low == sorted(low, reverse=True)
    assert renyi(TruncatedPoissonSampled(noise, "0.01", 130, 10_000), 4) > renyi(ev.PoissonSampled(noise, "0.01"), 4)


def test_a_cap_under_replace() -> None:
    """A unit that is replaced pushes nobody out, but one that enters a part of the data does: both are covered."""
    sampler = lambda units: ref.summed(ref.truncated(units, Fraction(1, 2), 1))  # noqa: E731
    pairs = [((*rest, x), (*rest, y)) for rest in product((-1, 0, 1), repeat=2) for x in (-1, 1) for y in (-1, 0)]
    half = TruncatedPoissonSampled(ev.GaussianNoise(2, 2, Neighbors.REPLACE), "0.5", 1, 3)
    for e in EPSILONS:
        assert ref.worst_delta(sampler, pairs, 2.0, e) <= acc.delta(half, e).upper * (1 + ref.WRONG)


@pytest.mark.parametrize(
    ("n", "rate", "least"), [(10, "1/2", 9), (100, "1/10", 25), (10**6, "1/1000", 1200), (5, "1/3", 6)]
)
def test_the_tail_of_a_binomial_is_from_above(n: int, rate: str, least: int) -> None:
    with mpmath.workdps(60):
        p = mpmath.mpf(Fraction(rate).numerator) / Fraction(rate).denominator
        true = mpmath.betainc(least, n - least + 1, 0, p, regularized=True) if least <= n else mpmath.mpf(0)
        assert true <= float(upper_tail(n, Fraction(rate), least)) <= true * 2


# ---- an epoch, shuffled ---------------------------------------------------------------------------------------------


def shuffled(units: Sequence[int], size: int) -> ref.Mixture:
    ways = list(permutations(units))
    cut = range(0, len(units), size)
    return ref.mixture((Fraction(1, len(ways)), tuple(float(sum(way[i : i + size])) for i in cut)) for way in ways)


@pytest.mark.parametrize("size", [1, 2])
def test_shuffled_batches_lie_in_their_bracket(size: int) -> None:
    """Two batches; a unit that is not there leaves a blank, which adds 0."""
    event = ShuffledBatches(ev.GaussianNoise("1.5", 1), 2)
    rests = [rest for rest in product((-1, 1), repeat=2 * size - 1) if list(rest) == sorted(rest)]
    for e in EPSILONS:
        true = ref.worst_delta(lambda units: shuffled(units, size), [((*r, 1), (*r, 0)) for r in rests], 1.5, e)
        found = acc.delta(event, e)
        assert found.lower <= true * (1 + 1e-3) + 1e-12
        assert true <= found.upper * (1 + 1e-3) + 1e-12


def test_shuffling_is_worth_less_than_poisson() -> None:
    """The finding of the paper: what shuffled batches leak is above what Poisson batches would."""
    noise = ev.GaussianNoise(1, 1)
    epochs = acc.epsilon(10 * ShuffledBatches(noise, 100), 1e-5)
    assert epochs.lower > 5 * acc.epsilon(1000 * ev.PoissonSampled(noise, "0.01"), 1e-5).upper
    assert epochs.upper == pytest.approx(acc.epsilon(10 * noise, 1e-5).upper, rel=1e-4)


# ---- balls in bins ----------------------------------------------------------


NOBODY: ref.Mixture = {(0.0, 0.0): Fraction(1)}


def allocated(units: Sequence[int], batches: int) -> ref.Mixture:
    ways = list(product(range(batches), repeat=len(units)))
    return ref.mixture(
        (
            Fraction(1, len(ways)),
            tuple(float(sum(u for u, w in zip(units, way, strict=True) if w == b)) for b in range(batches)),
        )
        for way in ways
    )


def test_balls_in_bins_lie_in_their_bracket() -> None:
    event = BallsInBins(ev.GaussianNoise("1.5", 1), 2)
    for e in EPSILONS:
        pairs = [((*rest, 1), rest) for rest in ((), (1,), (-1,), (-1, 1))]
        true = max(
            ref.worst_delta(lambda units: allocated(units, 2) if units else NOBODY, [pair], 1.5, e) for pair in pairs
        )
        found = acc.delta(event, e)
        assert found.lower <= true * (1 + 1e-3) + 1e-12
        assert true <= found.upper * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize("alpha", [Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4)])
def test_the_curve_of_an_allocation_against_quadrature(alpha: Fraction) -> None:
    """Two batches, as an integral over the plane; whole orders are exact, the others by convexity."""
    one, none = allocated([1], 2), NOBODY
    true = max(ref.renyi(one, none, 1.5, float(alpha)), ref.renyi(none, one, 1.5, float(alpha)))
    found = allocated_renyi(1 / 1.5, 2, alpha)
    assert true * (1 - 1e-6) <= found <= true * (1.0001 if alpha.denominator == 1 else 1.35)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("batches", [2, 5, 1000])
def test_the_second_moment_is_known(mu: float, batches: int) -> None:
    assert allocated_renyi(mu, batches, Fraction(2)) == pytest.approx(
        math.log1p(math.expm1(mu * mu) / batches), rel=1e-4
    )


@pytest.mark.parametrize(("mu", "batches", "m"), [(1.0, 3, 1.0), (0.5, 50, 7.0), (2.0, 10, 2.5)])
def test_negative_moments_against_their_transform(mu: float, batches: int, m: float) -> None:
    """E[S**-m] by Gauss and Hermite's rule inside and the trapezoidal rule outside, neither of which is used there."""
    from curador.accounting.theorems.allocation import _without_unit

    z, weight = np.polynomial.hermite_e.hermegauss(150)
    ratio = np.exp(mu * z - mu * mu / 2)
    x = np.linspace(-25 / m, math.log(m) + 12, 20_001)
    f = np.exp(-np.exp(x)[:, None] / batches * ratio) @ (weight / math.sqrt(2 * math.pi))
    inside = float(np.trapezoid(np.exp(m * x) * f**batches, x))
    true = math.log(inside / math.gamma(m)) / m
    found = _without_unit(mu, batches, Fraction(m) + 1)
    assert true - 1e-7 <= found <= true * 1.001 + 1e-6


@pytest.mark.parametrize(
    ("mu", "batches", "m"), [(1.0, 2, 20), (0.5, 3, 60), (0.3, 2, 100), (2.0, 2, 8), (1.0, 2, 0.5)]
)
def test_negative_moments_of_high_order_are_bounded_from_above(mu: float, batches: int, m: float) -> None:
    """The same integral in logarithms: it lies where incomplete gamma functions vanish or cancel, and f with them."""
    from curador.accounting.theorems.allocation import _without_unit

    z = np.linspace(-50, 15, 6001)
    log_w = -z * z / 2 - math.log(math.sqrt(2 * math.pi)) + math.log(z[1] - z[0])
    x = np.linspace(-30, 60, 901)
    log_f = np.array([np.logaddexp.reduce(log_w - np.exp(t - math.log(batches) + mu * z - mu * mu / 2)) for t in x])
    true = (np.logaddexp.reduce(m * x + batches * log_f) + math.log(x[1] - x[0]) - math.lgamma(m)) / m
    assert true - 1e-9 <= _without_unit(mu, batches, Fraction(m) + 1) <= 1.05 * true


def test_balls_in_bins_come_close_to_poisson() -> None:
    noise = ev.GaussianNoise(1, 1)
    found = acc.epsilon(10 * BallsInBins(noise, 100), 1e-5)
    poisson = acc.epsilon(1000 * ev.PoissonSampled(noise, "0.01"), 1e-5).upper
    assert found.upper < 1.2 * poisson
    assert 0.5 * poisson < found.lower < found.upper
    assert acc.renyi(BallsInBins(ev.LaplaceNoise(1, 1), 10), 4) == acc.renyi(ev.LaplaceNoise(1, 1), 4)


# ---- every batch ----------------------------------------------------------


@pytest.mark.parametrize("neighbors", Neighbors)
def test_batches_are_written_and_read(neighbors: Neighbors) -> None:
    noise = ev.GaussianNoise(2, 1, neighbors)
    for event in (BallsInBins(noise, 7), ShuffledBatches(noise, 7), TruncatedPoissonSampled(noise, "0.1", 5, 20)):
        assert ev.event_from_json(event.to_json()) == event
        assert event.neighbors is neighbors
        assert acc.epsilon(event + event, 1e-5).upper < math.inf
        assert 0 < acc.renyi(event, 2) < math.inf
        assert acc.keeps(event, ApproxDP(20, 1e-5))


def test_wrong_batches_are_refused() -> None:
    noise = ev.GaussianNoise(1, 1)
    wrong: list[Callable[[], object]] = [
        lambda: ShuffledBatches(noise, 0),
        lambda: BallsInBins("noise", 2),
        lambda: TruncatedPoissonSampled(noise, 2, 1, 1),
        lambda: BallsInBins(2 * ev.FixedSizeSampled(noise, 1, 10), 2),
        lambda: ShuffledBatches(BallsInBins(noise, 2), 2),
        lambda: TruncatedPoissonSampled(noise, "0.1", 0, 1),
    ]
    for make in wrong:
        with pytest.raises(InvalidParameter):
            make()


@pytest.mark.parametrize("rate", [1 - Fraction(1, 10**30), Fraction(1, 10**90), Fraction(1, 10**400)])
def test_tails_of_rates_that_no_double_tells_from_0_or_1(rate: Fraction) -> None:
    for n, least in ((5, 5), (9, 3)):
        true = sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(least, n + 1))
        assert true <= upper_tail(n, rate, least) <= 1
    if rate > Fraction(1, 10**100):
        event = TruncatedPoissonSampled(ev.GaussianNoise(1, 1), rate, 5, 6)
        assert acc.epsilon(event, 1e-5).upper < acc.epsilon(ev.GaussianNoise(1, 2), 1e-5).upper + 0.001
