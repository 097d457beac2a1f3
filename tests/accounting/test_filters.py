"""Filters against analysts who choose each next mechanism, and its cost, by the answers: every game is enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from curador.accounting import events
from curador.accounting.filters import (
    ODOMETER_ORDERS,
    Filter,
    charge,
    charge_cost,
    fits,
    odometer,
    open_filter,
    remaining,
    spent,
)
from curador.accounting.rules.costs import DELTA_UNIT, LOSS_UNIT, Currency, Rule, cost
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP

# ---- games: every path of answers, with its chance about D and about its neighbour ------------------------------


@dataclass(frozen=True)
class Ending:
    here: float
    there: float
    state: Filter
    worst_gap: float
    """How far the loss rose above the odometer's reading at some moment of the path."""


Pair = tuple[Sequence[float], Sequence[float]]
Strategy = Callable[[tuple[int, ...]], int]


def response(epsilon: float, delta: float = 0.0) -> Pair:
    """The worst (epsilon, delta)-DP pair."""
    e = math.exp(epsilon)
    a, b = (1 - delta) * e / (1 + e), (1 - delta) / (1 + e)
    return ((delta, a, b, 0.0), (0.0, b, a, delta)) if delta else ((a, b), (b, a))


def play(
    state: Filter,
    menu: Sequence[tuple[Guarantee, Pair]],
    strategy: Strategy,
    rounds: int,
    reading: Callable[[Filter], float] = lambda _: math.inf,
) -> list[Ending]:
    """All paths of a game in which the strategy picks from the menu by the history, until refused."""

    def go(now: Ending, history: tuple[int, ...]) -> list[Ending]:
        choice = strategy(history)
        if len(history) == rounds or choice >= len(menu):
            return [now]
        guarantee, (p, q) = menu[choice]
        if not fits(now.state, guarantee):
            return [now]
        after = charge(now.state, guarantee)
        paths = []
        for answer, (a, b) in enumerate(zip(p, q, strict=True)):
            here, there = now.here * a, now.there * b
            if here or there:
                loss = math.inf if not there else -math.inf if not here else math.log(here / there)
                gap = max(now.worst_gap, loss - reading(after))
                paths += go(Ending(here, there, after, gap), (*history, answer))
        return paths

    return go(Ending(1.0, 1.0, state, -math.inf), ())


def hockey_stick(paths: list[Ending], epsilon: float) -> float:
    return math.fsum(max(0.0, x.here - math.exp(epsilon) * x.there) for x in paths)


def renyi(paths: list[Ending], order: float) -> float:
    return math.log(math.fsum(x.here**order * x.there ** (1 - order) for x in paths)) / (order - 1)


def strategies(choices: int, answers: int, rounds: int) -> st.SearchStrategy[Strategy]:
    """Any function from histories to choices (or to stopping), as a table."""
    nodes = sum(answers**i for i in range(rounds + 1))

    def from_table(table: list[int]) -> Strategy:
        def strategy(history: tuple[int, ...]) -> int:
            node = 0
            for answer in history:
                node = node * answers + answer + 1
            return table[node]

        return strategy

    return st.lists(st.integers(0, choices), min_size=nodes, max_size=nodes).map(from_table)


EPSILONS = (0.2, 0.5, 1.0)


def renyi_of_response(epsilon: float, order: float) -> float:
    p, q = response(epsilon)
    return math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


@given(strategies(3, 2, 5))
def test_pure_filter(strategy: Strategy) -> None:
    menu = [(PureDP(e), response(e)) for e in EPSILONS]
    paths = play(open_filter(PureDP(1.7)), menu, strategy, 5, lambda s: odometer(s).epsilon)
    assert max(abs(math.log(x.here / x.there)) for x in paths) <= 1.7 + 1e-12
    assert max(x.worst_gap for x in paths) <= 1e-12  # the running sum is never exceeded, at any moment


@given(strategies(3, 4, 3))
@settings(max_examples=50)
def test_approximate_filter(strategy: Strategy) -> None:
    choices = [(0.2, 0.01), (0.5, 0.02), (1.0, 0.001)]
    menu = [(ApproxDP(e, d), response(e, d)) for e, d in choices]
    paths = play(open_filter(ApproxDP(1.2, 0.035)), menu, strategy, 3)
    assert hockey_stick(paths, 1.2) <= 0.035 + 1e-12


@given(strategies(3, 2, 5))
def test_zcdp_filter(strategy: Strategy) -> None:
    menu = [(PureDP(e), response(e)) for e in EPSILONS]
    paths = play(open_filter(ZCDP(0.6)), menu, strategy, 5)
    for order in (1.01, 2.0, 5.0, 40.0):
        assert renyi(paths, order) <= 0.6 * order + 1e-9


@given(strategies(3, 2, 5))
def test_zcdp_filter_for_an_approximate_budget(strategy: Strategy) -> None:
    menu = [(PureDP(e), response(e)) for e in EPSILONS]
    paths = play(open_filter(ApproxDP(1.5, 0.05), rule="zcdp"), menu, strategy, 5)
    assert hockey_stick(paths, 1.5) <= 0.05 + 1e-12


@given(strategies(3, 2, 5))
def test_renyi_filters(strategy: Strategy) -> None:
    orders = (2.0, 4.0, 16.0)
    menu = [(RenyiDP({a: renyi_of_response(e, a) for a in orders}), response(e)) for e in EPSILONS]
    every = play(open_filter(RenyiDP({2.0: 0.5, 4.0: 0.7, 16.0: 1.2})), menu, strategy, 5)
    for order, ceiling in ((2.0, 0.5), (4.0, 0.7), (16.0, 1.2)):
        assert renyi(every, order) <= ceiling + 1e-9
    some = play(open_filter(ApproxDP(1.5, 0.05), rule="renyi-any", orders=orders), menu, strategy, 5)
    assert hockey_stick(some, 1.5) <= 0.05 + 1e-12


@given(strategies(3, 2, 5), st.sampled_from([0.5, 0.1, 0.01]))
@settings(max_examples=40)
def test_odometers_hold_at_all_moments_at_once(strategy: Strategy, delta: float) -> None:
    orders = (2.0, 4.0, 16.0)
    curves = [(RenyiDP({a: renyi_of_response(e, a) for a in orders}), response(e)) for e in EPSILONS]
    pure: list[tuple[Guarantee, Pair]] = [(PureDP(e), response(e)) for e in EPSILONS]
    for state, menu in ((open_filter(RenyiDP(dict.fromkeys(orders, 9.0))), curves), (open_filter(ZCDP(9)), pure)):
        paths = play(state, menu, strategy, 5, lambda s: odometer(s, delta).epsilon)
        assert math.fsum(x.here for x in paths if x.worst_gap > 0) <= delta


# ---- why a privacy-loss distribution is not a filter -------------------------------------------------------------


def _delta(losses: list[tuple[Fraction, Fraction]], ratio: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - ratio * q) for p, q in losses), Fraction(0))


def _product(a: list[tuple[Fraction, Fraction]], b: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    return [(p * r, q * s) for (p, q), (r, s) in itertools.product(a, b)]


def pld_filter_game() -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """A two-round game, exactly: what each path's distribution promises at e**eps = 4, and what the game really has.

    Round one is randomised response with ratio 2.  After the answer that speaks for D the analyst asks A (ratio 4),
    after the other one B, which gives everything away with a small chance.
    """
    ratio = Fraction(4)
    first = [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]
    a = [(Fraction(4, 5), Fraction(1, 5)), (Fraction(1, 5), Fraction(4, 5))]
    delta = _delta(_product(first, a), ratio)
    b = [(delta, Fraction(0)), (1 - delta, 1 - delta), (Fraction(0), delta)]
    adaptive = [(first[0][0] * p, first[0][1] * q) for p, q in a] + [(first[1][0] * p, first[1][1] * q) for p, q in b]
    return delta, _delta(_product(first, a), ratio), _delta(_product(first, b), ratio), _delta(adaptive, ratio)


def test_composing_distributions_along_each_path_is_not_a_valid_filter() -> None:
    delta, with_a, with_b, adaptive = pld_filter_game()
    assert with_a == delta
    assert with_b <= delta  # a filter that composed distributions would accept both second rounds ...
    assert adaptive == delta * Fraction(4, 3)  # ... and break its promise by a third


def test_the_page_shows_that_game() -> None:
    page = (Path(__file__).parents[2] / "docs" / "adaptive.md").read_text()
    _, with_a, with_b, adaptive = pld_filter_game()
    assert f"round one and A, fixed in advance | {with_a} |" in page
    assert f"round one and B, fixed in advance | {with_b} |" in page
    assert f"what the analyst really does | {adaptive}, a third more |" in page
    for name in Rule:
        assert f"| `{name.value}` |" in page


def test_our_filters_refuse_that_game() -> None:
    """At the same (epsilon, delta), the sums never let a path through that the game needs."""
    delta, *_ = pld_filter_game()
    state = open_filter(ApproxDP(math.log(4), float(delta)))
    after = charge(state, PureDP(math.log(2)))
    assert not fits(after, PureDP(math.log(4)))
    assert fits(after, ApproxDP(0, float(delta)))


# ---- integers ----------------------------------------------------------------------------------------------------


def test_ten_tenths_are_one() -> None:
    state = open_filter(PureDP(1))
    for _ in range(10):
        state = charge(state, events.LaplaceNoise(Fraction(10), Fraction(1)))
    assert spent(state) == PureDP(1)
    assert remaining(state) == PureDP(0)
    with pytest.raises(BudgetExceeded, match="does not fit"):
        charge(state, PureDP(1e-12))
    assert charge(state, PureDP(0)) == state
    assert charge(state, events.NOTHING) == state


positive_losses = st.fractions(Fraction(1, 10**15), 5)
small_deltas = st.fractions(0, Fraction(1, 100))


@given(positive_losses, small_deltas)
def test_costs_round_up_and_ceilings_down(loss: Fraction, delta: Fraction) -> None:
    (units,) = cost(events.PureLoss(loss), Currency(Rule.PURE))
    assert Fraction(units, LOSS_UNIT) >= loss
    e, d = cost(events.ApproxLoss(loss, delta), Currency(Rule.APPROXIMATE))
    assert loss <= Fraction(e, LOSS_UNIT) < loss + Fraction(1, LOSS_UNIT)
    assert delta <= Fraction(d, DELTA_UNIT) < delta + Fraction(1, DELTA_UNIT)
    budget = ZCDP(float(loss), float(delta))
    for top, exact, unit in zip(
        open_filter(budget).ceiling, (budget.rho, budget.delta), (LOSS_UNIT, DELTA_UNIT), strict=True
    ):
        assert Fraction(top, unit) <= rational(exact)


@given(st.lists(st.sampled_from([0.1, 0.25, 1 / 3, 1e-13, 0.7]), max_size=8), st.randoms())
def test_the_order_of_charges_does_not_matter(losses: list[float], random: object) -> None:
    shuffled = list(losses)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    state = open_filter(ApproxDP(100, 0.5))
    one, two = state, state
    for x, y in zip(losses, shuffled, strict=True):
        one, two = charge(one, ApproxDP(x, x / 1000)), charge(two, ApproxDP(y, y / 1000))
    assert one == two


class Ledger(RuleBasedStateMachine):
    """A filter that is charged and refused: balances only grow and never pass the ceiling."""

    budgets = (
        open_filter(PureDP(2)),
        open_filter(ApproxDP(2, 1e-3)),
        open_filter(ZCDP(1, 1e-3)),
        open_filter(RenyiDP({2.0: 1.0, 8.0: 3.0})),
        open_filter(ApproxDP(3, 1e-3), rule="renyi-any", orders=[4.0, 8.0, 32.0]),
    )

    @initialize(which=st.integers(0, 4))
    def opened(self, which: int) -> None:
        self.state = self.first = self.budgets[which]
        self.paid = [0] * len(self.state.spent)

    @rule(epsilon=st.sampled_from([1e-13, 0.01, 0.3, 1.0, 2.5]), delta=st.sampled_from([0.0, 1e-20, 1e-4]))
    def pay(self, epsilon: float, delta: float) -> None:
        guarantee = ApproxDP(epsilon, delta)
        try:
            amount = cost(guarantee, self.state.currency)
        except NotPromised:
            assert delta > 0
            return
        before = self.state
        if fits(before, guarantee):
            self.state = charge(before, guarantee)
            self.paid = [a + b for a, b in zip(self.paid, amount, strict=True)]
            assert all(b >= a for a, b in zip(before.spent, self.state.spent, strict=True))
            assert all(x > 0 for x in amount[:1])
        else:
            with pytest.raises(BudgetExceeded, match="does not fit"):
                charge(before, guarantee)

    @invariant()
    def books_balance(self) -> None:
        if not hasattr(self, "state"):
            return
        assert list(self.state.spent) == self.paid
        assert self.state.ceiling == self.first.ceiling
        inside = [s <= c for s, c in zip(self.state.spent, self.state.ceiling, strict=True)]
        assert any(inside) if self.state.currency.rule is Rule.RENYI_ANY else all(inside)
        assert remaining(self.state) is not None


TestLedger = Ledger.TestCase
TestLedger.settings = settings(max_examples=40, stateful_step_count=25)


def test_what_remains_can_be_spent_to_the_last_unit() -> None:
    state = charge(open_filter(PureDP(1)), PureDP(1 / 3))
    assert spent(charge(state, remaining(state))) == PureDP(1)
    approx = charge(open_filter(ApproxDP(1, 1e-6)), ApproxDP(0.25, 1e-7))
    assert remaining(approx) == ApproxDP(0.75, 9e-7)
    assert fits(approx, remaining(approx))


# ---- what each currency can say ------------------------------------------------------------------------------------


def test_currencies() -> None:
    gauss = events.GaussianNoise(Fraction(2), Fraction(1))
    zcdp, approximate = Currency(Rule.ZCDP), Currency(Rule.APPROXIMATE)
    assert cost(4 * gauss, zcdp) == (LOSS_UNIT // 2, 0)
    assert cost(events.DiscreteGaussianNoise(Fraction(4), 1), zcdp) == (LOSS_UNIT // 8, 0)
    assert cost(events.ExponentialChoice(Fraction(2)), zcdp) == (LOSS_UNIT // 2, 0)
    assert cost(ZCDP(0.5, 1e-6), zcdp) == (LOSS_UNIT // 2, 10**12)
    rho, delta = cost(events.ApproxLoss(Fraction(1), Fraction(1, 100)), zcdp)
    assert rho / LOSS_UNIT == pytest.approx(math.tanh(0.5), abs=1e-11)
    assert delta == DELTA_UNIT // 100
    assert cost(events.PureLoss(Fraction(1)) + gauss, Currency(Rule.RENYI, (8.0,)))[0] > LOSS_UNIT
    epsilon, paid = cost(gauss, approximate, delta=1e-6)
    assert paid == 10**12
    exact = events.GaussianNoise(Fraction(2), Fraction(1))
    from curador.accounting.rules.profiles import delta as profile

    assert profile(exact, Fraction(epsilon, LOSS_UNIT)) <= 1e-6 < profile(exact, Fraction(epsilon - 10, LOSS_UNIT))


def test_parallel_parts_cost_the_largest_or_the_two_largest() -> None:
    for neighbors, rho in ((Neighbors.ADD_REMOVE, 0.5), (Neighbors.REPLACE, 0.625)):
        parts = tuple(events.GaussianNoise(Fraction(s), Fraction(1), neighbors) for s in (1, 2, 2))
        assert cost(events.Parallel(parts), Currency(Rule.ZCDP)) == (int(rho * LOSS_UNIT), 0)
    assert cost(events.Parallel(()), Currency(Rule.APPROXIMATE)) == (0, 0)


@pytest.mark.parametrize(
    ("state", "charged"),
    [
        (open_filter(PureDP(9)), events.GaussianNoise(Fraction(1), Fraction(1))),
        (open_filter(PureDP(9)), ApproxDP(1, 1e-9)),
        (open_filter(PureDP(9)), ZCDP(1)),
        (open_filter(PureDP(9)), RenyiDP({2.0: 1.0})),
        (open_filter(ApproxDP(9, 0.1)), events.GaussianNoise(Fraction(1), Fraction(1))),
        (
            open_filter(ZCDP(9, 0.1)),
            events.PoissonSampled(events.GaussianNoise(Fraction(1), Fraction(1)), Fraction(1, 9)),
        ),
        (open_filter(ZCDP(9, 0.1)), RenyiDP({2.0: 1.0})),
        (open_filter(RenyiDP({2.0: 9.0})), events.ApproxLoss(Fraction(1), Fraction(1, 10**9))),
        (open_filter(RenyiDP({2.0: 9.0})), ZCDP(1, 1e-9)),
        (open_filter(RenyiDP({4.0: 9.0})), RenyiDP({2.0: 0.1})),
        (open_filter(ZCDP(9)), PureDP(math.inf)),
        (open_filter(ApproxDP(9, 0.1)), ApproxDP(math.inf, 0)),
    ],
)
def test_a_scope_refuses_what_it_cannot_express(state: Filter, charged: events.Event | Guarantee) -> None:
    with pytest.raises(NotPromised):
        charge(state, charged)


def test_a_larger_order_serves_a_smaller_one() -> None:
    state = open_filter(RenyiDP({2.0: 1.0, 4.0: 1.0}))
    assert charge(state, RenyiDP({3.0: 0.25, 8.0: 0.5})).spent == (LOSS_UNIT // 4, LOSS_UNIT // 2)


def test_neighbours_must_agree() -> None:
    state = open_filter(PureDP(1), Neighbors.REPLACE)
    with pytest.raises(InvalidParameter, match="replace"):
        charge(state, events.PureLoss(Fraction(1, 2)))
    assert charge(state, events.PureLoss(Fraction(1, 2), Neighbors.REPLACE)).spent == (LOSS_UNIT // 2,)
    assert charge(state, events.NOTHING) == state


@pytest.mark.parametrize(
    "call",
    [
        lambda: open_filter(PureDP(math.inf)),
        lambda: open_filter(PureDP(1), rule="zcdp"),
        lambda: open_filter(PureDP(1), rule="pld"),
        lambda: open_filter(ApproxDP(1, 1e-6), rule="zcdp", reserved_delta=1e-6),
        lambda: open_filter(ApproxDP(1, 1e-6), rule="renyi-any"),
        lambda: open_filter(ApproxDP(1, 1e-6), orders=[2.0]),
        lambda: open_filter(ApproxDP(1, 1e-6), rule="renyi-any", orders=[1.0]),
        lambda: open_filter(RenyiDP({2.0: 1.0, math.inf: 1.0})),
        lambda: charge_cost(open_filter(PureDP(1)), (-1,)),
        lambda: charge_cost(open_filter(PureDP(1)), (1, 1)),
        lambda: charge(open_filter(PureDP(1)), "half"),  # type: ignore[arg-type]
        lambda: cost(PureDP(1), Currency(Rule.PURE), delta=1e-6),
        lambda: odometer(open_filter(ZCDP(1))),
        lambda: replace(open_filter(PureDP(1)), spent=(0.5,)),  # type: ignore[arg-type]
        lambda: replace(open_filter(PureDP(1)), spent=(10**13,)),
        lambda: replace(open_filter(PureDP(1)), spent=(-1,)),
        lambda: replace(open_filter(PureDP(1)), spent=(0, 0)),
    ],
)
def test_impossible_states_and_charges(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter):
        call()


def test_orders_that_cannot_reach_the_budget_are_refused() -> None:
    with pytest.raises(NotPromised, match="No Rényi order"):
        open_filter(ApproxDP(0.1, 1e-9), rule="renyi-any", orders=[2.0, 3.0])
    with pytest.raises(NotPromised, match="beside"):
        odometer(charge(open_filter(ZCDP(1, 1e-3)), ApproxDP(0.1, 1e-4)), 1e-6)


def test_each_of_several_orders_is_converted_at_its_share_of_delta() -> None:
    """The ceiling at an order is the most that converts to (epsilon, delta / m) [CKS20]."""
    orders, epsilon, delta = (4.0, 16.0, 64.0), 2.0, 1e-6
    state = open_filter(ApproxDP(epsilon, delta), rule="renyi-any", orders=orders)

    def converted(units: int, a: float) -> mpmath.mpf:
        tau = mpmath.mpf(units) / LOSS_UNIT
        return mpmath.exp((a - 1) * (tau - epsilon)) / (a - 1) * (1 - mpmath.mpf(1) / a) ** a

    with mpmath.workdps(40):
        share = mpmath.mpf("1e-6") / len(orders)
        for top, a in zip(state.ceiling, orders, strict=True):
            assert converted(top, a) <= share < converted(top + 1, a)


def test_delta_put_aside_pays_for_approximate_events() -> None:
    state = open_filter(ApproxDP(1, 1e-5), rule="zcdp", reserved_delta=4e-6)
    assert state.ceiling[1] == 4 * 10**12
    assert state.ceiling[0] < open_filter(ApproxDP(1, 1e-5), rule="zcdp").ceiling[0]
    assert fits(state, ApproxDP(0.01, 4e-6))
    assert not fits(state, ApproxDP(0.01, 5e-6))


def test_odometers_pay_for_each_of_their_orders() -> None:
    """The smallest S(a) + ln(m / delta) / (a - 1), with m the number of orders."""
    state = charge(open_filter(RenyiDP({2.0: 9.0, 16.0: 9.0})), RenyiDP({2.0: 0.25, 16.0: 1.5}))
    exact = min(0.25 + math.log(2 / 1e-6), 1.5 + math.log(2 / 1e-6) / 15)
    assert odometer(state, 1e-6).epsilon == pytest.approx(exact, rel=1e-12)
    assert odometer(state, 1e-6).epsilon >= exact * (1 - 1e-15)
    rho = charge(open_filter(ZCDP(1)), ZCDP(0.125))
    exact = min(a * 0.125 + math.log(len(ODOMETER_ORDERS) / 1e-6) / (a - 1) for a in ODOMETER_ORDERS)
    assert odometer(rho, 1e-6).epsilon == pytest.approx(exact, rel=1e-12)


def test_approximate_odometer_reads_the_ceiling_of_delta() -> None:
    state = charge(open_filter(ApproxDP(2, 1e-3)), ApproxDP(0.5, 1e-6))
    assert odometer(state).delta == 2e-3
    assert odometer(state).epsilon == pytest.approx(0.5 + math.log(2), rel=1e-12)
    assert odometer(state, 0.5).epsilon == pytest.approx(0.5 - math.log(1 - 1e-3 / 0.5), rel=1e-12)
    assert odometer(charge(open_filter(ApproxDP(2, 0)), PureDP(0.5))) == ApproxDP(0.5, 0)
    for delta in (1e-3, 1e-6):
        with pytest.raises(NotPromised, match="the ceiling of delta"):
            odometer(state, delta)


def hardly_above(epsilon: float, delta: float, t: float) -> Pair:
    """An (epsilon, delta)-DP pair whose loss is epsilon + t as often as that allows."""
    here = min(delta / -math.expm1(-t), 0.5)
    there = here * math.exp(-epsilon - t)
    return (here, 1 - here), (there, 1 - there)


@given(strategies(4, 4, 3), st.sampled_from([0.0, 0.02, 0.5, 0.9]))
@settings(max_examples=40)
def test_approximate_odometers_hold_at_all_moments_at_once(strategy: Strategy, delta: float) -> None:
    """Losses pass the sum of epsilons far more often than the ceiling says; the reading counts that in."""
    state = open_filter(ApproxDP(9, 0.01))
    chance = odometer(state, delta).delta
    reach = -math.log1p(-0.01 / chance)
    pairs = [hardly_above(0.5, 0.01, reach * 1.001), hardly_above(0.3, 0.005, 0.01), response(0.4, 0.004), response(1)]
    menu: list[tuple[Guarantee, Pair]] = [
        (ApproxDP(e, d), pair)
        for (e, d), pair in zip([(0.5, 0.01), (0.3, 0.005), (0.4, 0.004), (1, 0)], pairs, strict=True)
    ]
    paths = play(state, menu, strategy, 3, lambda s: odometer(s, delta).epsilon)
    assert math.fsum(x.here for x in paths if x.worst_gap > 0) <= chance + 1e-12


def test_the_sum_of_epsilons_alone_is_no_odometer() -> None:
    """One release that is (1, 0.0005)-DP, and whose loss is above 1 half of the time."""
    (here, _), (there, _) = hardly_above(1, 0.0005, 0.001)
    assert here == pytest.approx(0.5, rel=1e-2)
    assert here - math.e * there <= 0.0005
    assert math.log(here / there) > 1
    state = charge(open_filter(ApproxDP(1, 0.0005)), ApproxDP(1, 0.0005))
    assert math.log(here / there) <= odometer(state, 0.49).epsilon < 1.0011


# ---- states that contradict their promise -------------------------------------------------------------------------


def test_a_ceiling_above_the_promise_is_refused() -> None:
    for fresh in (
        open_filter(PureDP(1)),
        open_filter(ApproxDP(1, 1e-6)),
        open_filter(ZCDP(1, 1e-6)),
        open_filter(RenyiDP({2: 1, 8: 2})),
        open_filter(ApproxDP(1, 1e-6), rule="zcdp"),
        open_filter(ApproxDP(1, 1e-6), rule="renyi-any", orders=[16, 64]),
    ):
        assert replace(fresh, ceiling=tuple(x - 1 if x else 0 for x in fresh.ceiling))
        for i in range(len(fresh.ceiling)):
            more = tuple(x + (10**12 if i == j else 0) for j, x in enumerate(fresh.ceiling))
            with pytest.raises(InvalidParameter, match=r"allows|cannot be reserved"):
                replace(fresh, ceiling=more)


def test_a_rule_that_does_not_count_the_promise_is_refused() -> None:
    budgets: list[tuple[Guarantee, str]] = [(PureDP(1), "zcdp"), (ZCDP(1), "approximate"), (ApproxDP(1, 1e-6), "pure")]
    for budget, name in budgets:
        currency = Currency(Rule(name))
        width = len(currency.names)
        with pytest.raises(InvalidParameter):
            Filter(currency, budget, Neighbors.ADD_REMOVE, (1,) * width, (0,) * width)


def test_some_delta_may_be_reserved() -> None:
    fresh = open_filter(ApproxDP(1, 1e-6), rule="zcdp", reserved_delta="5e-7")
    assert replace(fresh, spent=(1, 1)).ceiling == fresh.ceiling
