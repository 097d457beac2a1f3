"""Privacy filters: budgets that hold although each query and its cost may depend on earlier answers.

A filter is a state: a rule fixed when it is opened, a ceiling, and the amount spent.  It is immutable and holds
integers only, so a ledger can store it, replay it and compare it.  A loss is counted in units of 1e-12, a delta in
units of 1e-18.  Costs are rounded up, ceilings down, and nothing is ever given back.

The rules, and why each holds for adaptively chosen costs (docs/adaptive.md):

* ``pure``: the sum of epsilons.
* ``approximate``: the sums of epsilons and deltas, each below its own ceiling [RRUV16].
* ``zcdp``: the sum of rho, and beside it a sum of deltas for approximate events [WRRW22].
* ``renyi``: the sums at orders fixed in advance, every one below its ceiling [FZ21].
* ``renyi-any``: the same sums, at least one below its ceiling.  The ceilings convert to (epsilon, delta / number of
  orders) [FZ21, Lec21]: a union bound pays for not naming the order beforehand.

A privacy-loss distribution is not among them: it is not valid here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, singledispatch

from curador.accounting.convert import zcdp_rho
from curador.accounting.events import NOTHING, Event
from curador.accounting.precise import dec, digits
from curador.accounting.rules.costs import DELTA_UNIT, LOSS_UNIT, Cost, Currency, Rule, cost
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.numbers import Number, down, probability, rational, shown_down, shown_up, up
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP

ODOMETER_ORDERS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 256.0, 512.0)
"""The orders at which a zCDP odometer reads: fixed here, because choosing one afterwards would not be valid."""

OpenedFilter = tuple[Currency, Sequence[Fraction | float]]


@dataclass(frozen=True, slots=True)
class Filter:
    """A budget in use: its guarantee, its neighbours, its ceiling and the amount spent, both in integers.

    Guarantee: everything charged to it, however chosen, is together within ``guarantee``.
    """

    currency: Currency
    guarantee: Guarantee
    neighbors: Neighbors
    ceiling: Cost
    spent: Cost

    def __post_init__(self) -> None:
        width = len(self.currency.names)
        if not all(len(v) == width and all(type(x) is int for x in v) for v in (self.ceiling, self.spent)):
            raise InvalidParameter(
                f"A {self.currency.rule.value} filter has {width} whole-number balances, got {self.ceiling} and "
                f"{self.spent}.",
                fix="Open it with open_filter().",
            )
        most = _most(self.guarantee, self.currency, self.ceiling[-1])
        if any(have > most_ for have, most_ in zip(self.ceiling, most, strict=True)):
            raise InvalidParameter(
                f"{self.guarantee!r} allows no ceiling of {self.ceiling} in {', '.join(self.currency.names)}.",
                fix="Open it with open_filter().",
            )
        if any(x < 0 for x in self.spent) or not within(self.spent, self.ceiling, self.currency.rule):
            raise InvalidParameter(
                f"Spent {self.spent} is not within the ceiling {self.ceiling}.", fix="Check where this state came from."
            )


@lru_cache(maxsize=256)
def _most(guarantee: Guarantee, currency: Currency, beside: int) -> Cost:
    """The highest ceiling of a filter of this currency for a promise, with a delta of ``beside`` units."""
    approximate = isinstance(guarantee, ApproxDP)
    reserved = Fraction(beside, DELTA_UNIT) if approximate and currency.rule is Rule.ZCDP else Fraction(0)
    orders = currency.orders if currency.rule is Rule.RENYI_ANY else ()
    found, ceiling = _open(guarantee, currency.rule if approximate else None, reserved, orders)
    if found != currency or math.inf in ceiling:
        raise InvalidParameter(
            f"The rule {currency.rule.value!r} does not count {guarantee!r}.", fix="Open it with open_filter()."
        )
    return tuple(math.floor(rational(x) * u) for x, u in zip(ceiling, currency.units, strict=True))


def within(balance: Cost, ceiling: Cost, rule: Rule) -> bool:
    """Whether a balance is within a ceiling: in every number, or with ``renyi-any`` in at least one.

    >>> within((9, 10), (10, 10), Rule.APPROXIMATE), within((9, 11), (10, 10), Rule.APPROXIMATE)
    (True, False)
    >>> within((9, 11), (10, 10), Rule.RENYI_ANY)
    True
    """
    fitting = [b <= c for b, c in zip(balance, ceiling, strict=True)]
    return any(fitting) if rule is Rule.RENYI_ANY else all(fitting)


# ---- opening -----------------------------------------------------------------------------------------------------


def open_filter(
    budget: Guarantee,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    *,
    rule: Rule | str | None = None,
    reserved_delta: Number = 0,
    orders: Iterable[float] = (),
) -> Filter:
    """Open a filter for a budget.  Its rule follows from the kind of budget and is never changed.

    An ApproxDP budget adds up epsilons and deltas, unless another rule is named now.  ``"zcdp"`` counts rho, with
    ``reserved_delta`` of the delta kept for approximate events.  ``"renyi-any"`` counts Rényi divergences at the
    ``orders``.

    Guarantee: the budget, under fully adaptive choice of queries and costs.

    >>> open_filter(PureDP(1)).ceiling
    (1000000000000,)
    >>> open_filter(ApproxDP(1, 1e-6), rule="zcdp").currency.names
    ('rho', 'delta')
    >>> open_filter(ApproxDP(1, 1e-6), rule="renyi-any", orders=[16, 64]).ceiling
    (282133920051, 851466219584)
    """
    kept = probability(reserved_delta, "reserved_delta")
    currency, ceiling = _open(budget, None if rule is None else _read_rule(rule), kept, tuple(orders))
    if any(x == math.inf for x in ceiling):
        raise InvalidParameter("An infinite budget promises nothing.", fix="Open a filter with a finite ceiling.")
    floors = tuple(math.floor(rational(x) * u) for x, u in zip(ceiling, currency.units, strict=True))
    if not any(x >= 0 for x in floors):
        raise NotPromised(
            f"No Rényi order among {list(currency.orders)} can promise {budget!r}.",
            fix="Use larger orders, a larger delta or a larger epsilon.",
        )
    return Filter(currency, budget, Neighbors(neighbors), floors, (0,) * len(floors))


def exact_ceiling(budget: Guarantee) -> OpenedFilter:
    """The currency of a budget and its ceiling in that currency, before rounding to whole units.

    >>> exact_ceiling(ZCDP("1/3"))[1]
    (0.33333333333333337, 0.0)
    """
    return _open(budget, None, Fraction(0), ())


def _read_rule(rule: Rule | str) -> Rule:
    try:
        return Rule(rule)
    except ValueError:
        raise InvalidParameter(f"No rule is called {rule!r}.", fix=f"Use one of {[r.value for r in Rule]}.") from None


@singledispatch
def _open(budget: Guarantee, rule: Rule | None, reserved_delta: Fraction, orders: tuple[float, ...]) -> OpenedFilter:
    a_number = isinstance(budget, int | float | Fraction | Decimal | str)
    raise InvalidParameter(
        f"{budget!r} is not a budget.",
        fix=f"Write PureDP({budget!r}) for that epsilon." if a_number else "Use PureDP, ApproxDP, ZCDP or RenyiDP.",
    )


@_open.register
def _(budget: PureDP, rule: Rule | None, reserved_delta: Fraction, orders: tuple[float, ...]) -> OpenedFilter:
    _only(Rule.PURE, rule, reserved_delta, orders)
    return Currency(Rule.PURE), (budget.epsilon,)


@_open.register
def _(budget: ZCDP, rule: Rule | None, reserved_delta: Fraction, orders: tuple[float, ...]) -> OpenedFilter:
    _only(Rule.ZCDP, rule, reserved_delta, orders)
    return Currency(Rule.ZCDP), (budget.rho, budget.delta)


@_open.register
def _(budget: RenyiDP, rule: Rule | None, reserved_delta: Fraction, orders: tuple[float, ...]) -> OpenedFilter:
    _only(Rule.RENYI, rule, reserved_delta, orders)
    return Currency(Rule.RENYI, tuple(a for a, _ in budget.curve)), tuple(e for _, e in budget.curve)


@_open.register
def _(budget: ApproxDP, rule: Rule | None, reserved_delta: Fraction, orders: tuple[float, ...]) -> OpenedFilter:
    if rule in (None, Rule.APPROXIMATE) or budget.epsilon == math.inf:
        _only(Rule.APPROXIMATE, rule, reserved_delta, orders)
        return Currency(Rule.APPROXIMATE), (budget.epsilon, budget.delta)
    epsilon, left = rational(budget.epsilon), rational(budget.delta) - reserved_delta
    if left <= 0:
        raise InvalidParameter(
            f"Of a delta of {budget.delta:g}, {float(reserved_delta):g} cannot be reserved.",
            fix="Keep some delta for the conversion.",
        )
    if rule is Rule.ZCDP and not orders:
        # delta-approximate rho-zCDP is (epsilon, delta + delta') wherever rho-zCDP is (epsilon, delta') [BS16].
        return Currency(Rule.ZCDP), (zcdp_rho(epsilon, left), reserved_delta)
    _only(Rule.RENYI_ANY, rule, reserved_delta, ())
    currency = Currency(Rule.RENYI_ANY, orders)
    return currency, [_order_ceiling(epsilon, left / len(orders), a) for a in currency.orders]


def _only(right: Rule, rule: Rule | None, reserved_delta: Fraction, orders: tuple[float, ...]) -> None:
    if rule not in (None, right) or reserved_delta or orders:
        raise InvalidParameter(
            f"This budget is counted by the rule {right.value!r} without reserved_delta and without orders.",
            fix="Leave the options out, or open an ApproxDP budget.",
        )


def _order_ceiling(epsilon: Fraction, delta: Fraction, order: float) -> Fraction:
    """The largest Rényi divergence at an order that keeps (epsilon, delta), from below.

    The conversion is that of [CKS20, BBGHS20].
    """
    a = rational(order)
    with digits():
        top = dec(delta).ln() + dec(a - 1).ln() - dec(a) * (dec(a - 1) / dec(a)).ln()
        return epsilon + Fraction(top / dec(a - 1)) - Fraction(1, 10**30)


# ---- spending ----------------------------------------------------------------------------------------------------


def fits(state: Filter, charged: Event | Guarantee, delta: Number | None = None) -> bool:
    """Whether a charge would be accepted.

    >>> fits(open_filter(PureDP(1)), PureDP(2))
    False
    """
    after = _after(state, cost(_about(state, charged), state.currency, delta))
    return within(after, state.ceiling, state.currency.rule)


def charge(state: Filter, charged: Event | Guarantee, delta: Number | None = None) -> Filter:
    """Return the state after a charge; refuse a charge that does not fit, with nothing spent.

    >>> spent(charge(open_filter(PureDP(1)), PureDP(0.25)))
    PureDP(epsilon=0.25)
    """
    return charge_cost(state, cost(_about(state, charged), state.currency, delta))


def charge_cost(state: Filter, amount: Cost) -> Filter:
    """Return the state after a charge of known cost, as when a ledger is replayed.

    >>> charge_cost(open_filter(PureDP(1)), (10**12,)).spent
    (1000000000000,)
    """
    if len(amount) != len(state.spent) or any(type(x) is not int or x < 0 for x in amount):
        raise InvalidParameter(f"{amount} is not a cost in {state.currency.names}.", fix="Use cost().")
    after = _after(state, amount)
    if not within(after, state.ceiling, state.currency.rule):
        raise BudgetExceeded(
            f"The charge of {_amounts_text(state, amount, shown_up)} does not fit: "
            f"{_amounts_text(state, _amount_left(state), shown_down)} remains.",
            fix="Ask for a cheaper release, or a larger budget.",
        )
    return replace(state, spent=after)


def _about(state: Filter, charged: Event | Guarantee) -> Event | Guarantee:
    neighbors = getattr(charged, "neighbors", state.neighbors)
    if neighbors is not state.neighbors and charged != NOTHING:
        raise InvalidParameter(
            f"This budget is about {state.neighbors.value} neighbours, the event about {neighbors.value}.",
            fix="Restate the event's sensitivity for the budget's neighbours.",
        )
    return charged


def _after(state: Filter, amount: Cost) -> Cost:
    return tuple(s + x for s, x in zip(state.spent, amount, strict=True))


def _amount_left(state: Filter) -> Cost:
    return tuple(c - s for c, s in zip(state.ceiling, state.spent, strict=True))


def _amounts_text(state: Filter, amount: Cost, shown: Callable[[Fraction], str]) -> str:
    named = zip(state.currency.names, amount, state.currency.units, strict=True)
    return ", ".join(f"{name} {shown(Fraction(x, unit))}" for name, x, unit in named)


# ---- reading -----------------------------------------------------------------------------------------------------


def spent(state: Filter) -> Guarantee:
    """The amount spent, as a guarantee of the filter's kind.

    This is a book entry; for a guarantee see :func:`odometer`.

    >>> spent(charge(open_filter(ZCDP(1)), ZCDP(0.5)))
    ZCDP(rho=0.5, delta=0.0)
    """
    return as_guarantee(state.currency, state.spent, up)


def remaining(state: Filter) -> Guarantee:
    """The amount left; a filter that needs only one Rényi order shows the orders still open.

    >>> remaining(charge(open_filter(PureDP(1)), PureDP(0.25)))
    PureDP(epsilon=0.75)
    """
    return as_guarantee(state.currency, _amount_left(state), down)


def as_guarantee(currency: Currency, balance: Cost, rounded: Callable[[Fraction], float]) -> Guarantee:
    """Write a balance as a guarantee of its currency's kind, rounded by ``up`` or ``down``.

    >>> as_guarantee(Currency(Rule.PURE), (250_000_000_000,), up)
    PureDP(epsilon=0.25)
    """
    numbers = [rounded(Fraction(x, unit)) for x, unit in zip(balance, currency.units, strict=True)]
    if currency.orders:
        return RenyiDP({a: x for a, x in zip(currency.orders, numbers, strict=True) if x >= 0})
    kinds: dict[Rule, type[PureDP | ApproxDP | ZCDP]] = {
        Rule.PURE: PureDP,
        Rule.APPROXIMATE: ApproxDP,
        Rule.ZCDP: ZCDP,
    }
    return kinds[currency.rule](*numbers)


def odometer(state: Filter, delta: Number = 0) -> ApproxDP:
    """Bound the loss so far at all times at once, also at a time chosen because of the reading.

    With a chance of at least 1 - delta over all the answers, the loss never exceeds the epsilon read at any time.  For
    Rényi sums S(a), epsilon is the smallest S(a) + ln(m / delta)/(a - 1) over the m orders fixed beforehand.  Here
    exp((a - 1)(loss - S(a))) is a supermartingale, and Ville's inequality holds at all times [WRRW22].  For an
    approximate filter, epsilon is the sum of epsilons and -ln(1 - d/delta), d the ceiling of its deltas
    (docs/adaptive.md).  By default ``delta`` is then twice that ceiling.

    Fails: for a zCDP filter that has spent some of the delta beside it.  Also for a delta that is not above the ceiling
        of an approximate filter.  Both are refused.

    >>> state = charge(open_filter(ZCDP(1)), ZCDP(0.125))
    >>> odometer(state, 1e-6)
    ApproxDP(epsilon=3.008..., delta=1e-06)
    """
    if state.currency.rule is Rule.PURE:
        return ApproxDP(up(Fraction(state.spent[0], LOSS_UNIT)), 0)
    if state.currency.rule is Rule.APPROXIMATE:
        return _approximate_odometer(state, probability(delta, "delta"))
    chance = probability(delta, "delta")
    if not 0 < chance < 1:
        raise InvalidParameter("This odometer needs a chance to be wrong.", fix="Pass delta, such as 1e-6.")
    if state.currency.rule is Rule.ZCDP:
        if state.spent[1]:
            raise NotPromised("An odometer beside a spent delta is not proved here.", fix="Read the filter's promise.")
        sums = [(a, rational(a) * Fraction(state.spent[0], LOSS_UNIT)) for a in ODOMETER_ORDERS]
    else:
        pairs = zip(state.currency.orders, state.spent, strict=True)
        sums = [(a, Fraction(x, LOSS_UNIT)) for a, x in pairs]
    with digits():
        tail = (dec(len(sums) / chance)).ln()
        reading = min(total + Fraction(tail / dec(rational(a) - 1)) for a, total in sums)
    return ApproxDP(up(reading + Fraction(1, 10**30)), up(chance))


def _approximate_odometer(state: Filter, delta: Fraction) -> ApproxDP:
    # The answers determine which deltas are spent; only their ceiling is a chance [RRUV16].
    total, lost = Fraction(state.spent[0], LOSS_UNIT), Fraction(state.ceiling[1], DELTA_UNIT)
    if not lost:
        return ApproxDP(up(total), 0)
    chance = delta or min(Fraction(1), 2 * lost)
    if not lost < chance:
        raise NotPromised(
            f"The loss passes the sum of epsilons with more than a chance of {float(lost):g}, the ceiling of delta.",
            fix="Pass a larger delta, such as twice the ceiling.",
        )
    with digits():
        beyond = Fraction(-(dec(1 - lost / chance)).ln())
    return ApproxDP(up(total + beyond + Fraction(1, 10**30)), up(chance))
