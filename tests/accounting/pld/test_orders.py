"""Which law is whose: pairs are composed order by order, so under replace one pair has to do for both orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador import accounting as acc
from curador.accounting import events, theorems
from curador.accounting.pld import IncrementalPLD
from curador.accounting.pld.cells import Atoms, Cells, connect, merge
from curador.accounting.pld.extremes import in_both_orders
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.rules import orders
from curador.accounting.theorems.group_samples import GroupSampled
from curador.accounting.theorems.law_pair import FinitePair, replace_special
from curador.errors import NotPromised
from curador.privacy import Neighbors

ev: Any = events  # every parameter may be an int, a float, text or a fraction
th: Any = theorems
UNEVEN = (
    [Fraction(1, 401), Fraction(200, 401), Fraction(200, 401)],
    [Fraction(1, 61), Fraction(10, 61), Fraction(50, 61)],
)
Law = tuple[Fraction, ...]


def stick(p: list[Fraction], q: list[Fraction], y: Fraction) -> Fraction:
    return sum((max(Fraction(0), a - y * b) for a, b in zip(p, q, strict=True)), start=Fraction(0))


def worst_orientation(pairs: list[tuple[Law, Law]], y: Fraction) -> Fraction:
    """The largest delta of a composition in which the neighbours of each event may be in either order."""
    found = Fraction(0)
    for swaps in product((False, True), repeat=len(pairs)):
        p, q = [Fraction(1)], [Fraction(1)]
        for (a, b), swap in zip(pairs, swaps, strict=True):
            one, two = (b, a) if swap else (a, b)
            p, q = [x * z for x in p for z in one], [x * z for x in q for z in two]
        found = max(found, stick(p, q, y))
    return found


masses = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(sum)
laws = masses.map(lambda xs: tuple(Fraction(x, sum(xs)) for x in xs))


@settings(max_examples=12)
@given(laws, laws, laws, laws, st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(5), Fraction(15)]))
def test_under_replace_every_orientation_is_covered(a: Law, b: Law, c: Law, d: Law, y: Fraction) -> None:
    one, two = th.LawPair(a, b, "replace"), th.LawPair(c, d, "replace")
    true, epsilon = float(worst_orientation([(a, b), (a, b), (c, d)], y)), math.log(y)
    assert true <= acc.delta(2 * one + two, epsilon).upper * (1 + 1e-9) + 1e-12
    assert float(worst_orientation([(a, b)], y)) == pytest.approx(acc.delta(one, epsilon).upper, rel=2e-3, abs=1e-9)


def test_an_uneven_pair_may_meet_itself_the_other_way_round() -> None:
    """M1 answers x by p and x' by q, M2 the other way round: each is a (p, q) in one of the two orders."""
    p, q = UNEVEN
    event, y = th.LawPair(p, q, "replace"), Fraction(381, 25)
    both = acc.FiniteMechanism([p, q]).beside(acc.FiniteMechanism([q, p]))
    true = both.delta(math.log(y))
    assert true == pytest.approx(0.00194595, rel=1e-5)
    for made in (
        2 * event,
        ev.Parallel((event, event)),
        ev.PoissonSampled(2 * event, 1),
        event + th.ShuffledBatches(event, 5),
    ):
        assert acc.delta(made, math.log(y)).upper >= true
    history = IncrementalPLD(1e-3).add(event).add(event).epsilon()
    for bracket in (acc.epsilon(2 * event, 1e-3), history):
        assert both.delta(bracket.upper) <= 1e-3
    # From below it is some mechanism of the two orders that were given.
    assert acc.delta(2 * event, math.log(y)).lower <= true


def test_a_sample_of_an_uneven_pair_is_covered_in_both_orders() -> None:
    p, q = UNEVEN
    sampled = ev.PoissonSampled(th.LawPair(p, q, "replace"), "0.5")
    shown = ([Fraction(1, 2), *(x / 2 for x in p)], [Fraction(1, 2), *(x / 2 for x in q)])
    y = Fraction(381, 25)
    true = worst_orientation([(tuple(shown[0]), tuple(shown[1]))] * 2, y)
    assert float(true) <= acc.delta(2 * sampled, math.log(y)).upper
    aligned = [[x * z for x in law for z in law] for law in shown]
    assert float(stick(aligned[0], aligned[1], y)) < 0.5 * float(true)


def test_under_add_remove_p_is_with_the_unit() -> None:
    """The unit adds an output that nobody else causes: with it first, k runs show it with chance 1 - (1 - s)**k."""
    s = Fraction(1, 1000)
    event = th.LawPair((s, 1 - s), (0, 1))
    assert acc.delta(2 * event, 1).upper == pytest.approx(float(1 - (1 - s) ** 2), rel=1e-9)
    one, two = orders(event)
    assert one[0].infinite == pytest.approx(0.001)
    assert two[0].infinite == 0
    sampled = orders(ev.PoissonSampled(ev.LaplaceNoise(1, 1), "0.1"))
    assert sampled[0][0].ends().top > sampled[1][0].ends().top  # the unit is in the first database first, there too


# ---- every event with a pair -------------------------------------------------------------------------------------

R = Neighbors.REPLACE
GAUSS, LAPLACE = ev.GaussianNoise(2, 1, R), ev.LaplaceNoise(2, 1, R)
UNEQUAL = th.LawPair(*UNEVEN, R)
EXAMPLES: dict[type, list[Any]] = {
    ev.LaplaceNoise: [LAPLACE],
    ev.DiscreteLaplaceNoise: [ev.DiscreteLaplaceNoise(2, 3, R)],
    ev.TruncatedLaplaceNoise: [ev.TruncatedLaplaceNoise(1, 1, 3, R), ev.TruncatedLaplaceNoise(1, 4, 3, R)],
    ev.GaussianNoise: [GAUSS],
    ev.DiscreteGaussianNoise: [ev.DiscreteGaussianNoise(2, 1, 1, R)],
    ev.ExponentialChoice: [ev.ExponentialChoice(1, R)],
    ev.RandomizedAnswer: [ev.RandomizedAnswer(4, "0.6", R)],
    ev.PureLoss: [ev.PureLoss(1, R)],
    ev.ApproxLoss: [ev.ApproxLoss(1, "0.01", R)],
    ev.PoissonSampled: [ev.PoissonSampled(e, "0.2") for e in (GAUSS, LAPLACE, UNEQUAL)],
    ev.FixedSizeSampled: [ev.FixedSizeSampled(e, 2, 10) for e in (GAUSS, LAPLACE)],
    ev.Composed: [3 * GAUSS],
    ev.Parallel: [ev.Parallel((GAUSS, GAUSS))],
    th.LawPair: [UNEQUAL, replace_special(10, "0.7", R)],
    th.ShuffledBatches: [th.ShuffledBatches(GAUSS, 4), th.ShuffledBatches(UNEQUAL, 4)],
    th.BallsInBins: [th.BallsInBins(GAUSS, 4), th.BallsInBins(UNEQUAL, 4)],
    th.TruncatedPoissonSampled: [th.TruncatedPoissonSampled(e, "0.2", 3, 10) for e in (GAUSS, LAPLACE)],
    GroupSampled: [GroupSampled(GAUSS, Fraction(1, 5), 3)],
}


def profile(pair: Pair, form: Callable[[Cells], Atoms], y: float) -> float:
    found = form(pair.cells(4000, 1e-12))
    less = np.maximum(0.0, 1 - y * np.exp(-found.losses))
    return float((found.masses * less).sum()) + found.infinite - (y * found.other if form is merge else 0.0)


@pytest.mark.parametrize("kind", [k for k in orders.registry if k is not events.Event and k is not object])
def test_under_replace_one_pair_dominates_in_both_orders(kind: type) -> None:
    """H(y) = 1 - y + y H(1/y) for all y: the pair is equal to its exchange; a new rule without an example fails."""
    for event in EXAMPLES[kind]:
        assert event.neighbors is R
        found = orders(event)
        worst = found[0][0]
        assert all(above == worst for above, _ in found)
        for y in (0.1, 0.4, 0.7, 0.9, 1.1, 1.5, 2.7, 8.0):
            here = profile(worst, merge, y), profile(worst, connect, y)
            there = (1 - y + y * profile(worst, form, 1 / y) for form in (merge, connect))
            low, high = there
            assert here[0] <= high + 1e-6, (event, y)
            assert low <= here[1] + 1e-6, (event, y)
            assert here[1] - here[0] < 1e-4  # narrow enough for the test to see a difference


def test_pairs_that_differ_under_replace_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(events.Event, kind="odd"):
        neighbors = R

    forward = FinitePair(tuple(zip(*UNEVEN, strict=True)))
    backward = FinitePair(tuple((b, a) for a, b in forward.masses))
    with monkeypatch.context() as patch:
        patch.delitem(events.base.KINDS, "odd")
        orders.register(Odd)(lambda _: ((forward, forward), (backward, backward)))
        try:
            with pytest.raises(NotPromised, match="both orders"):
                in_both_orders(Odd())
        finally:  # no way to take a rule back: one that refuses, as if there were none
            orders.register(Odd)(orders.dispatch(object))
