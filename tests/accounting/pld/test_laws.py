"""What must hold for every event: laws, refusals, the growing ledger and calibration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curador.accounting import events
from curador.accounting.events import NOTHING, Event, compose
from curador.accounting.pld import (
    Bracket,
    IncrementalPLD,
    calibrate,
    delta,
    epsilon,
    solve,
    upper_epsilon,
)
from curador.accounting.pld import (
    window as plan,
)
from curador.accounting.pld.cells import merge
from curador.accounting.pld.rules import orders, parts
from curador.accounting.rules.profiles import delta as closed_delta
from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, NotPromised
from curador.privacy import ApproxDP, Neighbors
from tests.strategies import events_by_class, simple_events

ev: Any = events

SINGLE: list[Any] = [
    ev.LaplaceNoise(3, 1),
    ev.DiscreteLaplaceNoise("4.5", 3),
    ev.TruncatedLaplaceNoise(2, 1, 60),
    ev.GaussianNoise(2, 1),
    ev.DiscreteGaussianNoise(6, 1),
    ev.ExponentialChoice("0.8"),
    ev.RandomizedAnswer(3, "0.6", "add-remove"),
    ev.PureLoss("0.4"),
    ev.ApproxLoss("0.3", "1e-8"),
    ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.1"),
    ev.PoissonSampled(ev.LaplaceNoise(1, 1), "0.1"),
    ev.PoissonSampled(ev.PureLoss(1), "0.2"),
    ev.PoissonSampled(ev.DiscreteLaplaceNoise(2, 2), "0.3"),
]
LOOSE = (events.ExponentialChoice, events.FixedSizeSampled)  # bounded above and below by different pairs


def overlap(a: Bracket, b: Bracket) -> bool:
    return a.lower <= b.upper and b.lower <= a.upper


# ---- laws ------------------------------------------------------------------------------------------------------


@pytest.mark.thin(13)
@pytest.mark.parametrize("event", SINGLE, ids=lambda e: e.kind)
@pytest.mark.parametrize("d", [1e-3, 1e-7])
def test_delta_and_epsilon_agree(event: Event, d: float) -> None:
    b = epsilon(4 * event, d)
    at = delta(4 * event, b.upper)
    assert at.lower <= d
    if b.lower > 0:
        assert delta(4 * event, b.lower).upper >= d


@pytest.mark.parametrize("event", SINGLE, ids=lambda e: e.kind)
def test_one_event_agrees_with_its_closed_form(event: Event) -> None:
    """The closed forms share no code with this; they are upper bounds to the last digit."""
    for e in (0.0, 0.1, 0.25):
        exact, b = closed_delta(event, e), delta(event, e)
        assert b.lower <= exact
        assert b.upper >= exact * (1 - 1e-12)
        assert type(event) in LOOSE or b.upper <= exact * 1.002 + 1e-300


@given(st.lists(st.tuples(st.sampled_from(SINGLE), st.integers(1, 4)), min_size=1, max_size=4), st.randoms())
@settings(max_examples=15)
def test_order_and_grouping_do_not_matter(chosen: list[tuple[Event, int]], order: Any) -> None:
    one = compose(*(n * e for e, n in chosen))
    singles = [e for e, n in chosen for _ in range(n)]
    order.shuffle(singles)
    other: Event = NOTHING
    for e in singles:
        other = other + e
    assert epsilon(one, 1e-5, 1e-2) == epsilon(other, 1e-5, 1e-2)


@pytest.mark.parametrize("event", SINGLE, ids=lambda e: e.kind)
def test_more_of_it_never_costs_less(event: Event) -> None:
    found = [epsilon(n * event, 1e-6, 1e-3) for n in (1, 2, 5, 40)]
    for fewer, more in itertools.pairwise(found):
        assert fewer.lower <= more.upper
    deltas = [epsilon(5 * event, d, 1e-3) for d in (1e-2, 1e-4, 1e-7)]
    for larger, smaller in itertools.pairwise(deltas):
        assert larger.lower <= smaller.upper


@pytest.mark.parametrize(
    "make",
    [
        lambda x: ev.LaplaceNoise(x, 1),
        lambda x: ev.GaussianNoise(x, 1),
        lambda x: ev.DiscreteLaplaceNoise(x, 2),
        lambda x: ev.DiscreteGaussianNoise(x, 4),
        lambda x: ev.PoissonSampled(ev.GaussianNoise(x, 1), "0.05"),
        lambda x: ev.PoissonSampled(ev.LaplaceNoise(x, 1), "0.05"),
        lambda x: ev.PoissonSampled(ev.GaussianNoise(1, 1), 1 / (x + 1)),
    ],
)
def test_more_noise_and_smaller_samples_never_cost_more(make: Any) -> None:
    found = [epsilon(20 * make(Fraction(x)), 1e-6) for x in (1, 2, 5, 12)]
    for less_noise, more_noise in itertools.pairwise(found):
        assert more_noise.upper < less_noise.lower


@pytest.mark.parametrize("event", SINGLE, ids=lambda e: e.kind)
def test_bounded_by_the_sum_of_pure_epsilons(event: Event) -> None:
    limit = pure_epsilon(5 * event)
    assert epsilon(5 * event, 1e-9).upper <= float(limit) * (1 + 1e-9)
    b = epsilon(5 * event, 0)
    assert b.upper <= float(limit) * (1 + 1e-9)
    if type(event) not in LOOSE:
        assert b.lower >= float(limit) * (1 - 1e-9) if limit < math.inf else b.lower == math.inf


def test_a_tighter_tolerance_stays_inside() -> None:
    event = 30 * ev.PoissonSampled(ev.LaplaceNoise(1, 1), "0.1") + 3 * ev.GaussianNoise(9, 1)
    coarse, fine, finest = (epsilon(event, 1e-6, t) for t in (1e-2, 1e-3, 1e-5))
    assert coarse.lower <= finest.lower <= finest.upper <= coarse.upper
    assert fine.lower <= finest.lower <= finest.upper <= fine.upper
    assert fine.width <= 1e-3 * finest.upper
    assert finest.width <= 1e-5 * finest.upper


def test_upper_bounds_that_are_none_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With merged cells on both sides the "upper" bound falls below the true answer; the tests above would fail."""
    event = 200 * ev.PoissonSampled(ev.LaplaceNoise("0.5", 1), "0.2") + ev.GaussianNoise(2, 1)
    true = epsilon(event, 1e-6, 1e-6)
    monkeypatch.setattr(plan, "_ROUGH", 8)
    assert epsilon(event, 1e-6, 0.3).upper > true.upper
    monkeypatch.setattr(solve, "connect", merge)
    assert epsilon(event, 1e-6, 0.3).upper < true.lower


# ---- events made of events ---------------------------------------------------------------------------------------


def test_parallel_parts() -> None:
    parallel = ev.Parallel((ev.LaplaceNoise(4, 1), ev.LaplaceNoise(2, 1), ev.LaplaceNoise(3, 1)))
    assert epsilon(3 * parallel, 1e-6) == epsilon(3 * ev.LaplaceNoise(2, 1), 1e-6)
    moved = ev.Parallel(tuple(ev.GaussianNoise(s, 1, "replace") for s in (1, 2, 3)))
    both = ev.GaussianNoise(1, 1, "replace") + ev.GaussianNoise(2, 1, "replace")
    assert epsilon(moved, 1e-6) == epsilon(both, 1e-6)
    same = ev.Parallel((ev.DiscreteLaplaceNoise(2, 3),) * 5)
    assert epsilon(same, 1e-6) == epsilon(ev.DiscreteLaplaceNoise(2, 3), 1e-6)
    assert epsilon(ev.Parallel(()), 1e-6) == Bracket(0, 0)
    nested = ev.Parallel((2 * ev.PureLoss(1), 2 * ev.PureLoss(1)))
    assert parts(nested) == ((ev.PureLoss(1), 2),)


def test_samples_of_samples_and_of_several_gaussians() -> None:
    inner = ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.2")
    assert epsilon(9 * ev.PoissonSampled(inner, "0.5"), 1e-6) == epsilon(
        9 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.1"), 1e-6
    )
    four = ev.PoissonSampled(4 * ev.GaussianNoise(2, 1), "0.1")
    assert overlap(epsilon(9 * four, 1e-6), epsilon(9 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.1"), 1e-6))
    assert epsilon(ev.PoissonSampled(ev.PureLoss(1), 1), 1e-6) == epsilon(ev.PureLoss(1), 1e-6)
    assert epsilon(7 * ev.PoissonSampled(ev.GaussianNoise(1, 1), 0), 1e-6) == Bracket(0, 0)
    whole = ev.FixedSizeSampled(ev.PureLoss(1, "replace"), 10, 10)
    assert epsilon(whole, 1e-6) == epsilon(ev.PureLoss(1, "replace"), 1e-6)


def test_both_orders_of_a_sample_count() -> None:
    """At a large delta taking the unit away shows more, at a small one adding it never does better than -log(1 - q)."""
    event = ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.3")
    with_unit, without = orders(event)
    assert with_unit != without
    assert epsilon(5 * event, 1e-12).lower > -5 * math.log(0.7)


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        ev.ZCDPLoss("0.1"),
        ev.DiscreteGaussianNoise(4, 4, dimension=2),
        ev.FixedSizeSampled(ev.PureLoss(1), 10, 10),
        ev.PoissonSampled(ev.PureLoss(1) + ev.GaussianNoise(1, 1), "0.1"),
        ev.PoissonSampled(ev.ZCDPLoss(1), "0.1"),
        ev.Parallel((ev.PureLoss(1), ev.GaussianNoise(1, 1))),
        ev.Parallel((ev.DiscreteLaplaceNoise(1, 1), ev.DiscreteLaplaceNoise(2, 1))),
        ev.FixedSizeSampled(ev.FixedSizeSampled(ev.PureLoss(1, "replace"), 1, 5), 5, 10),
    ],
)
def test_what_no_theorem_covers_is_refused(event: Event) -> None:
    with pytest.raises(NotPromised):
        epsilon(2 * event, 1e-6)
    with pytest.raises(NotPromised):
        delta(event, 1)
    with pytest.raises(NotPromised):
        IncrementalPLD().add(event)


@pytest.mark.parametrize("bad", [-0.1, 1, 1.5, math.nan, math.inf, "one"])
def test_impossible_deltas(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        epsilon(ev.PureLoss(1), bad)


def test_other_impossible_requests() -> None:
    for bad in (-1, math.nan, math.inf):
        with pytest.raises(InvalidParameter):
            delta(ev.PureLoss(1), bad)
    for bad in (0, -1e-3, math.inf, math.nan):
        with pytest.raises(InvalidParameter):
            epsilon(ev.PureLoss(1), 1e-6, tolerance=bad)
    with pytest.raises(InvalidParameter):
        Bracket(1.0, 0.5)
    with pytest.raises(InvalidParameter):
        Bracket(math.nan, 1.0)
    with pytest.raises(InvalidParameter):
        IncrementalPLD(delta=0)


def test_no_finite_epsilon() -> None:
    infinite = Bracket(math.inf, math.inf)
    assert epsilon(ev.GaussianNoise(1, 1), 0) == infinite
    assert epsilon(ev.RandomizedAnswer(2, 1), 0.5) == infinite
    assert epsilon(10 * ev.ApproxLoss(1, "1e-6"), 5e-6) == infinite
    assert epsilon(ev.TruncatedLaplaceNoise(1, 1, 5), 1e-9) == infinite
    assert epsilon(NOTHING, 0) == Bracket(0, 0)
    assert delta(NOTHING, 0) == Bracket(0, 0)
    assert delta(ev.RandomizedAnswer(2, 1), 3).upper == 1


KINDS = [kind for kind in events.KINDS.values() if kind.__module__.startswith(events.__name__)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("about", Neighbors)
def test_every_event_has_a_bracket_or_a_refusal(kind: Any, about: Neighbors) -> None:
    """Whatever its parameters: no warning, no crash, lower <= upper."""

    @given(events_by_class(about)[kind], st.sampled_from([0, 1e-30, 1e-6, 0.2]))
    @settings(max_examples=6)
    def check(event: Event, d: float) -> None:
        try:
            b = epsilon(event, d, 1e-2)
        except NotPromised:
            return
        assert b.lower <= b.upper

    check()


def test_every_single_event_has_a_rule_but_one() -> None:
    refused = set()
    for kind in simple_events(Neighbors.ADD_REMOVE):
        found = [event for event in SINGLE if type(event) is kind]
        if not found:
            refused.add(kind)
        assert all(epsilon(event, 1e-3).upper < math.inf for event in found)
    assert refused == {events.ZCDPLoss}


# ---- the ledger --------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(SINGLE), st.integers(1, 30)), min_size=1, max_size=6))
@example([(ev.RandomizedAnswer(3, Fraction(3, 5)), 30)])
@example([(ev.PoissonSampled(ev.PureLoss(1), "0.2"), 26)])
@settings(max_examples=10)
def test_the_ledger_agrees_with_the_batch(added: list[tuple[Event, int]]) -> None:
    ledger = IncrementalPLD(delta=1e-5, tolerance=1e-3)
    total: Event = NOTHING
    for event, count in added:
        ledger, total = ledger.add(event, count), compose(total, count * event)
        assert overlap(ledger.epsilon(), epsilon(total, 1e-5, 1e-3))
    if not any(type(event) in LOOSE for event, _ in added):
        inner = [event.event if isinstance(event, ev.PoissonSampled) else event for event, _ in added]
        lumpy = any(isinstance(event, ev.RandomizedAnswer | ev.PureLoss) for event in inner)  # few points, far apart
        assert ledger.epsilon().width <= (1e-2 if lumpy else 4e-3) * max(1, ledger.epsilon().upper)
    assert overlap(ledger.epsilon(1e-3), epsilon(total, 1e-3, 1e-3))


def test_a_ledger_is_never_changed() -> None:
    empty = IncrementalPLD()
    assert empty.epsilon() == Bracket(0, 0)
    one = empty.add(ev.PureLoss(1))
    two = one.add(ev.GaussianNoise(1, 1), 3)
    assert empty.epsilon() == Bracket(0, 0)
    assert one.epsilon() == one.epsilon()
    assert overlap(one.epsilon(), epsilon(ev.PureLoss(1), 1e-6))
    assert overlap(two.epsilon(), epsilon(ev.PureLoss(1) + 3 * ev.GaussianNoise(1, 1), 1e-6))
    assert two.add(ev.PureLoss(1), 0) is two
    assert dict(two.counts) == {ev.PureLoss(1): 1, ev.GaussianNoise(1, 1): 3}


def test_a_ledger_that_gets_long_keeps_few_numbers() -> None:
    ledger, events_ = IncrementalPLD(delta=1e-6), [ev.LaplaceNoise(150, 1), ev.GaussianNoise(90, 1)]
    for i in range(400):
        ledger = ledger.add(events_[i % 2])
        if i == 60:
            early = len(ledger._orders[0].total.above.phi)
    b = ledger.epsilon()
    assert overlap(b, epsilon(200 * events_[0] + 200 * events_[1], 1e-6))
    assert b.width < 1e-5
    assert len(ledger._orders[0].total.above.phi) <= 2 * early < 1000


def test_a_ledger_takes_up_the_second_order_when_it_is_needed() -> None:
    ledger = IncrementalPLD(delta=1e-6, tolerance=1e-3).add(ev.GaussianNoise(3, 1), 2)
    assert len(ledger._orders) == 1
    sample = ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.1")
    for _ in range(3):
        ledger = ledger.add(sample)
    assert len(ledger._orders) == 2
    assert overlap(ledger.epsilon(), epsilon(2 * ev.GaussianNoise(3, 1) + 3 * sample, 1e-6))


def test_a_ledger_of_events_without_a_finite_epsilon() -> None:
    ledger = IncrementalPLD(delta=1e-6).add(ev.ApproxLoss(1, "1e-3"))
    assert ledger.epsilon() == Bracket(math.inf, math.inf)
    assert overlap(ledger.epsilon(0.01), epsilon(ev.ApproxLoss(1, "1e-3"), 0.01))
    assert ledger.add(ev.RandomizedAnswer(2, 1, "add-remove")).epsilon() == Bracket(math.inf, math.inf)


# ---- calibration -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (lambda s: ev.GaussianNoise(s, 1), ApproxDP(1, 1e-5)),
        (lambda s: 100 * ev.LaplaceNoise(s, 1), ApproxDP(1, 1e-6)),
        (lambda s: ev.LaplaceNoise(s, 1), ApproxDP(0.5, 0)),
        (lambda s: 12 * ev.DiscreteLaplaceNoise(s, 1), ApproxDP(0.1, 1e-9)),
        (lambda s: 10_000 * ev.PoissonSampled(ev.GaussianNoise(s, 1), "0.01"), ApproxDP(1, 1e-5)),
        (lambda s: ev.PoissonSampled(ev.GaussianNoise(s, 1), "0.01"), ApproxDP(1, 1e-5)),
    ],
)
def test_calibration_from_the_safe_side(make: Any, target: ApproxDP) -> None:
    x = calibrate(make, target)
    assert upper_epsilon(make(x), target.delta, 1e-7) <= target.epsilon
    assert epsilon(make(x * Fraction(997, 1000)), target.delta, 1e-5).lower > target.epsilon
    assert len(str(float(x))) < 12  # a short decimal


def test_published_calibrations() -> None:
    sgd = calibrate(lambda s: 10_000 * ev.PoissonSampled(ev.GaussianNoise(s, 1), "0.01"), ApproxDP(1, 1e-5))
    assert 3.8128 < sgd <= 3.81327
    once = calibrate(lambda s: ev.PoissonSampled(ev.GaussianNoise(s, 1), "0.01"), ApproxDP(1, 1e-5), tolerance=1e-5)
    assert 0 <= float(once) - 0.67379294682 < 2e-5


def test_calibrations_that_cannot_be() -> None:
    for target in (ApproxDP(0, 1e-6), ApproxDP(math.inf, 1e-6)):
        with pytest.raises(InvalidParameter):
            calibrate(lambda s: ev.GaussianNoise(s, 1), target)
    with pytest.raises(InvalidParameter):
        calibrate(lambda s: ev.GaussianNoise(s, 1), ApproxDP(1, 0))  # no noise is enough
    with pytest.raises(InvalidParameter):
        calibrate(lambda s: ev.PureLoss(1), ApproxDP(2, 1e-6))  # any is
    with pytest.raises(InvalidParameter):
        calibrate(lambda s: ev.GaussianNoise(s, 1), ApproxDP(1, 1e-6), start=0)
