"""Group privacy against chains of databases that really are k steps apart."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting import events
from curador.accounting.account import delta
from curador.accounting.events import Event
from curador.accounting.rules.groups import for_group, group, stable
from curador.accounting.theorems.batches import TruncatedPoissonSampled
from curador.errors import InvalidParameter, NotPromised
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.thresholded import ThresholdedGaussian, ThresholdedLaplace
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, PureDP, RenyiDP


def test_approximate_is_the_exact_geometric_sum() -> None:
    with mpmath.workdps(40):
        for epsilon, delta, k in itertools.product((0.001, 0.5, 2.0), (1e-9, 1e-6), (2, 3, 7)):
            e, d = mpmath.mpf(str(epsilon)), mpmath.mpf(str(delta))
            exact = mpmath.fsum(d * mpmath.exp(i * e) for i in range(k))
            got = group(ApproxDP(epsilon, delta), k)
            assert isinstance(got, ApproxDP)
            assert got.epsilon == float(rational(epsilon) * k)
            assert exact <= mpmath.mpf(str(got.delta)) <= exact * (1 + mpmath.mpf(2) ** -50)


def _delta(p: list[Fraction], q: list[Fraction], ratio: Fraction) -> Fraction:
    return sum((max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)), Fraction(0))


def _worst_chain(ratio: Fraction, delta: Fraction, k: int) -> list[Fraction]:
    """Chances of one output along a chain of databases, each as far below the last as (epsilon, delta) allows."""
    chain = [Fraction(0)]
    for _ in range(k):
        chain.append(ratio * chain[-1] + delta)
    return chain[::-1]


@given(
    st.fractions(1, 4, max_denominator=20), st.fractions(0, Fraction(1, 50), max_denominator=10_000), st.integers(1, 5)
)
def test_a_chain_reaches_the_geometric_sum_and_not_more(ratio: Fraction, delta: Fraction, k: int) -> None:
    """An event whose chance falls to 0 in k steps: delta (1 + r + ... + r**(k-1)) is attained, so it is tight."""
    chain = _worst_chain(ratio, delta, k)
    if chain[0] > Fraction(1, 2):
        return
    laws = [[c, 1 - c] for c in chain]
    for p, q in itertools.pairwise(laws):
        assert _delta(p, q, ratio) <= delta
        assert _delta(q, p, ratio) <= delta
    reached = _delta(laws[0], laws[-1], ratio**k)
    assert reached == delta * sum(ratio**i for i in range(k))
    got = group(ApproxDP(math.log(ratio), float(delta)), k)
    assert isinstance(got, ApproxDP)
    assert reached <= Fraction(got.delta) * (1 + Fraction(1, 10**9))
    assert got.delta <= float(reached) * (1 + 1e-6)


def test_the_printed_constant_understates() -> None:
    """k e**k delta (thesis, Proposition 3.3.2) is below what a real chain reaches at epsilon = 2, k = 3."""
    ratio, delta, k = Fraction(738905609893065, 10**14), Fraction(1, 10**4), 3
    reached = _delta([_worst_chain(ratio, delta, k)[0]], [Fraction(0)], ratio**k)
    assert float(reached) > k * math.exp(k) * float(delta)
    got = group(ApproxDP(2, 1e-4), 3)
    assert isinstance(got, ApproxDP)
    assert got.delta >= float(reached) * (1 - 1e-12)


def test_far_groups_saturate_without_overflow() -> None:
    assert group(ApproxDP(1, 1e-6), 10_000) == ApproxDP(10_000, 1)
    assert group(ApproxDP(1, 0), 10_000) == ApproxDP(10_000, 0)
    assert group(ApproxDP(math.inf, 1e-6), 2) == ApproxDP(math.inf, 1)
    assert group(ApproxDP(0, 0.01), 5) == ApproxDP(0, 0.05)
    assert group(ApproxDP(1e300, 1e-300), 2) == ApproxDP(2e300, 1)
    deep = group(ApproxDP(100, 1e-300), 5)
    assert isinstance(deep, ApproxDP)
    assert deep.delta == pytest.approx(1e-300 * math.exp(400), rel=1e-12)


def _renyi_laplace(order: float, shift: float) -> float:
    a = order
    return math.log(a / (2 * a - 1) * math.exp((a - 1) * shift) + (a - 1) / (2 * a - 1) * math.exp(-a * shift)) / (
        a - 1
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("scale", [0.5, 2.0, 20.0])
def test_renyi_group_bounds_the_laplace_mechanism_moved_k_steps(k: int, scale: float) -> None:
    orders = [2.0, 3.5, 8.0, 16.0, 64.0]
    one = RenyiDP({a: _renyi_laplace(a, 1 / scale) for a in orders})
    for order, epsilon in group(one, k).curve:  # type: ignore[attr-defined]
        assert _renyi_laplace(order, k / scale) <= epsilon * (1 + 1e-12)


@given(st.floats(1e-3, 10), st.integers(1, 40))
def test_zcdp_group_is_exact_for_the_gaussian(sigma: float, k: int) -> None:
    rho = 1 / (2 * sigma**2)
    got = group(ZCDP(rho), k)
    assert isinstance(got, ZCDP)
    assert got.rho == pytest.approx(k**2 * rho, rel=1e-12)
    assert rational(got.rho) >= k**2 * rational(rho)


def test_orders_below_the_condition_are_left_out() -> None:
    curve = RenyiDP({3.0: 0.1, 4.0: 0.2, math.inf: 1.0})
    assert group(curve, 2) == RenyiDP({2.0: 0.6, math.inf: 2.0})
    assert group(curve, 1) == curve
    assert stable(curve, 0) == curve
    assert stable(RenyiDP({math.inf: 1.0}), 2) == RenyiDP({math.inf: 4.0})
    with pytest.raises(NotPromised, match="at least 4"):
        group(RenyiDP({3.0: 0.1}), 2)
    with pytest.raises(NotPromised, match="delta"):
        group(ZCDP(1, 1e-6), 2)
    with pytest.raises(InvalidParameter):
        group(PureDP(1), 0)


def test_events_keep_their_noise_and_move_further() -> None:
    laplace = for_group(events.LaplaceNoise(2, 1), 3)  # type: ignore[arg-type]
    assert laplace == events.LaplaceNoise(2, 3)  # type: ignore[arg-type]
    cases: list[tuple[Event, Event]] = [
        (events.DiscreteLaplaceNoise(Fraction(2), 1), events.DiscreteLaplaceNoise(Fraction(2), 3)),
        (
            events.TruncatedLaplaceNoise(Fraction(1), Fraction(1), Fraction(9)),
            events.TruncatedLaplaceNoise(Fraction(1), Fraction(3), Fraction(9)),
        ),
        (events.GaussianNoise(Fraction(2), Fraction(1)), events.GaussianNoise(Fraction(2), Fraction(3))),
        (events.DiscreteGaussianNoise(Fraction(2), 2, 5), events.DiscreteGaussianNoise(Fraction(2), 18, 5)),
        (events.ExponentialChoice(Fraction(1)), events.ExponentialChoice(Fraction(3))),
        (events.PureLoss(Fraction(1)), events.PureLoss(Fraction(3))),
        (events.ZCDPLoss(Fraction(1)), events.ZCDPLoss(Fraction(9))),
        (events.NOTHING, events.NOTHING),
    ]
    for one, three in cases:
        assert for_group(one, 3) == three
        assert for_group(2 * one, 3) == 2 * three
        assert for_group(one, 1) == one
    response = events.RandomizedAnswer(2, Fraction(3, 4))
    assert for_group(response, 3) == 3 * response
    approx = for_group(events.ApproxLoss(Fraction(2), Fraction(1, 10**6)), 3)
    assert isinstance(approx, events.ApproxLoss)
    told = group(ApproxDP(2, 1e-6), 3)
    assert isinstance(told, ApproxDP)
    assert approx.delta <= rational(told.delta)


def test_the_group_of_an_event_is_never_dearer_than_the_group_of_its_guarantee() -> None:
    event = for_group(events.LaplaceNoise(Fraction(2), Fraction(1)), 5)
    assert isinstance(event, events.LaplaceNoise)
    told = group(PureDP(0.5), 5)
    assert isinstance(told, PureDP)
    assert event.epsilon == rational(told.epsilon)


@pytest.mark.parametrize(
    "event",
    [
        events.FixedSizeSampled(events.GaussianNoise(Fraction(1), Fraction(1)), 1, 10),
        events.Parallel((events.PureLoss(Fraction(1)), events.PureLoss(Fraction(2)))),
    ],
)
def test_sampled_and_parallel_events_are_refused(event: Event) -> None:
    with pytest.raises(NotPromised, match="not its sensitivity"):
        for_group(event, 2)
    with pytest.raises(NotPromised):
        for_group(event + events.PureLoss(Fraction(1)), 2)


# ---- a failure beside noise ----------------------------------------------------------------------------------------


def _shown(mechanism: ThresholdedLaplace, people: int) -> float:
    """The chance that a key which so many people have, and nobody else, is shown."""
    q = math.exp(-1 / mechanism.scale)
    return q ** (mechanism.threshold - people) / (1 + q)


def test_a_failure_beside_noise_has_no_group_of_its_own() -> None:
    """Read part by part, five people would see a key of theirs with chance 5 delta: it is six times as much."""
    mechanism = ThresholdedLaplace(1, 1e-6)
    assert _shown(mechanism, 1) <= 1e-6
    assert _shown(mechanism, 5) > 6 * (5 * 1e-6)
    together = group(ApproxDP(1, 1e-6), 5)
    assert isinstance(together, ApproxDP)
    assert _shown(mechanism, 5) <= together.delta
    failing = [mechanism.event, ThresholdedGaussian(1e-6, sigma=4).event, OptimalKeys(1, 1e-6, groups=2).event]
    for event in failing:
        with pytest.raises(NotPromised, match="a failure beside other events"):
            for_group(event, 5)
        assert for_group(event, 1) == event
        # A unit that pushes another out of a batch moves it by two: a group of two.
        with pytest.raises(NotPromised):
            delta(events.FixedSizeSampled(event, 5, 100), 1)
        with pytest.raises(NotPromised):
            delta(TruncatedPoissonSampled(event, Fraction(1, 10), 5, 100), 1)
    alone = for_group(OptimalKeys(1, 1e-6).event, 5)  # one decision, which is (epsilon, delta)-DP at every count
    assert isinstance(alone, events.ApproxLoss)
    assert float(alone.delta) == pytest.approx(together.delta, rel=1e-12)


def test_coins_of_several_steps_are_not_dominated_by_fewer_of_more() -> None:
    """Three people in two groups each may move three counts by two: more than two counts by three."""

    def apart(steps: tuple[int, ...]) -> Fraction:
        laws = [(Fraction(1), Fraction(1))]
        for s in steps:
            odds = Fraction(2) ** s
            coin = [(odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))]
            laws = [(p * a, q * b) for (p, q), (a, b) in itertools.product(laws, coin)]
        return sum((max(Fraction(0), p - q) for p, q in laws), Fraction(0))

    assert apart((2, 2, 2)) > apart((3, 3))


@pytest.mark.parametrize("split", [(2, 2, 2), (3, 2, 1), (1, 1, 2, 2)])
@pytest.mark.parametrize("step", ["0.3", "1", "3"])
def test_choices_of_several_steps_are_dominated_by_fewer_of_more(split: tuple[int, ...], step: str) -> None:
    """Three people, each in two groups: six steps in all, at most three in one (docs/proofs/selection.md, 8).

    The densities of the proof, summed on a grid of losses: the laws are what the accountant lays out, not its bounds.
    """
    r = float(step)
    half = 300  # cells of one step
    width = r / half

    def profile(ranges: tuple[int, ...], epsilons: list[float]) -> list[float]:
        weight = np.ones(1)  # the square root of both laws' product: uniform for one choice
        for m in ranges:
            weight = np.convolve(weight, np.ones(2 * m * half) / (2 * m * half))
        loss = (np.arange(weight.size) - (weight.size - 1) / 2) * width
        p = weight * np.exp(loss / 2)
        p /= p.sum()
        return [float((p * np.maximum(0.0, -np.expm1(e - loss))).sum()) for e in epsilons]

    epsilons = [6 * r * x / 20 for x in range(20)]
    several, fewer = profile(split, epsilons), profile((3, 3), epsilons)
    assert all(a <= b * (1 + 1e-9) for a, b in zip(several, fewer, strict=True))
    assert several[0] < fewer[0]
    choice = events.ExponentialChoice(rational(step))
    assert for_group(2 * choice, 3) == 2 * events.ExponentialChoice(3 * rational(step))
    bracket = delta(for_group(2 * choice, 3), epsilons[5])  # and the profile is the accountant's
    assert bracket.upper >= fewer[5] * (1 - 1e-4)
    assert bracket.upper == pytest.approx(fewer[5], rel=1e-3)
