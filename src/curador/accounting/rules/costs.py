"""The cost of events in the currency of a filter: whole numbers of small units, rounded up.

A loss (epsilon, rho, Rényi divergence) is counted in units of 1e-12 and a delta in units of 1e-18.  So balances are
integers that a database can store and compare, and an epsilon typed as 0.1 is counted exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import singledispatch

from curador.accounting import events as ev
from curador.accounting.convert import pure_to_zcdp_tight
from curador.accounting.precise import sum_above
from curador.accounting.rules.profiles import delta as profile_delta
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi import renyi
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, probability, rational, set_fields
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP

LOSS_UNIT = 10**12
"""Units in an epsilon, a rho or a Rényi divergence of 1: ten charges of 0.1 are exactly 1."""

DELTA_UNIT = 10**18
"""Units in a delta of 1; a full balance still fits the 64-bit integers of databases."""

Cost = tuple[int, ...]
"""One integer per balance, in the order of :attr:`Currency.names`."""


class Rule(StrEnum):
    """The ways a filter adds up; :mod:`curador.accounting.filters` explains why each rule holds."""

    PURE = "pure"
    APPROXIMATE = "approximate"
    ZCDP = "zcdp"
    RENYI = "renyi"
    RENYI_ANY = "renyi-any"


@dataclass(frozen=True, slots=True)
class Currency:
    """The quantities a filter adds up: its rule, and for Rényi rules the orders, fixed when it is opened.

    >>> Currency(Rule.RENYI, (2.0, 8.0)).names
    ('order 2', 'order 8')
    """

    rule: Rule
    orders: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        orders = tuple(sorted(float(rational(a, "order")) for a in self.orders))
        set_fields(self, rule=Rule(self.rule), orders=orders)
        curve = self.rule in (Rule.RENYI, Rule.RENYI_ANY)
        if curve != bool(self.orders) or len(set(self.orders)) < len(self.orders) or any(a <= 1 for a in self.orders):
            raise InvalidParameter(
                f"The rule {self.rule.value!r} cannot count at the orders {list(self.orders)}.",
                fix="Give distinct finite orders above 1 to Rényi rules, and none to others.",
            )

    @property
    def names(self) -> tuple[str, ...]:
        plain = {Rule.PURE: ("epsilon",), Rule.APPROXIMATE: ("epsilon", "delta"), Rule.ZCDP: ("rho", "delta")}
        return plain.get(self.rule) or tuple(f"order {a:g}" for a in self.orders)

    @property
    def units(self) -> tuple[int, ...]:
        return tuple(DELTA_UNIT if name == "delta" else LOSS_UNIT for name in self.names)


# ---- the cost of an event ---------------------------------------------------------------------------------------


def cost(charged: ev.Event | Guarantee, currency: Currency, delta: Number | None = None) -> Cost:
    """The cost of an event, or of a guarantee, in the currency of a filter: integers, rounded up.

    In the approximate currency an event without a pure epsilon (Gaussian noise) has a whole curve of costs; ``delta``
    chooses the point of the curve.

    Fails: refused where the currency cannot express the event, such as Gaussian noise in a pure filter.

    >>> cost(PureDP(0.1), Currency(Rule.PURE))
    (100000000000,)
    >>> cost(ev.GaussianNoise(sigma=2, sensitivity=1), Currency(Rule.ZCDP))
    (125000000000, 0)
    >>> cost(ev.GaussianNoise(sigma=10, sensitivity=1), Currency(Rule.APPROXIMATE), delta=1e-6)
    (396857..., 1000000000000)
    """
    if delta is not None and currency.rule is not Rule.APPROXIMATE:
        raise InvalidParameter("Only the approximate currency pays at a chosen delta.", fix="Leave delta out.")
    at = None if delta is None else probability(delta, "delta")
    found = losses(charged, currency, at)
    if any(x == math.inf for x in found):
        raise NotPromised(
            f"The {currency.rule.value} currency cannot express {charged!r}.",
            fix="Use a filter with another rule, or an event with a finite cost in this one.",
        )
    return tuple(math.ceil(rational(x) * unit) for x, unit in zip(found, currency.units, strict=True))


Losses = tuple[Fraction | float, ...]


@singledispatch
def losses(charged: object, currency: Currency, delta: Fraction | None) -> Losses:
    """The cost before it is rounded up to whole units; infinite where it cannot be expressed."""
    raise InvalidParameter(f"{charged!r} is neither an event nor a guarantee.", fix="Charge one of the two.")


@losses.register
def _(charged: ev.Event, currency: Currency, delta: Fraction | None) -> Losses:
    return _RULES[currency.rule](charged, currency, delta)


@losses.register
def _(charged: PureDP, currency: Currency, delta: Fraction | None) -> Losses:
    if charged.epsilon in (0, math.inf):
        return (charged.epsilon,) * len(currency.names)
    return losses(ev.PureLoss(rational(charged.epsilon)), currency, delta)


@losses.register
def _(charged: ApproxDP, currency: Currency, delta: Fraction | None) -> Losses:
    if charged.epsilon == math.inf:
        return (math.inf,) * len(currency.names)
    return losses(ev.ApproxLoss(rational(charged.epsilon), rational(charged.delta)), currency, delta)


@losses.register
def _(charged: ZCDP, currency: Currency, delta: Fraction | None) -> Losses:
    if currency.rule is Rule.ZCDP:
        return charged.rho, charged.delta
    if charged.delta or charged.rho == math.inf:
        return (math.inf,) * len(currency.names)
    return losses(ev.ZCDPLoss(rational(charged.rho)), currency, delta) if charged.rho else (0.0,) * len(currency.names)


@losses.register
def _(charged: RenyiDP, currency: Currency, delta: Fraction | None) -> Losses:
    # Divergences grow with the order, so a promise at a larger order serves a smaller one.
    return tuple(min((e for a, e in charged.curve if a >= order), default=math.inf) for order in currency.orders) or (
        math.inf,
    ) * len(currency.names)


def _pure(event: ev.Event, currency: Currency, delta: Fraction | None) -> Losses:
    return (pure_epsilon(event),)


def _approximate(event: ev.Event, currency: Currency, delta: Fraction | None) -> Losses:
    if delta is None:
        return plain_sum(event)
    return Fraction(_cheapest(event, delta), LOSS_UNIT), delta


def _cheapest(event: ev.Event, delta: Fraction) -> int:
    """The fewest loss units at which the event's delta is at most the paid one; delta falls with epsilon."""
    low, high = -1, LOSS_UNIT
    while profile_delta(event, Fraction(high, LOSS_UNIT)) > delta:
        low, high = high, 2 * high
        if high > 10**6 * LOSS_UNIT:
            raise NotPromised(f"No epsilon below a million reaches delta {float(delta):g}.", fix="Pay a larger delta.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if profile_delta(event, Fraction(middle, LOSS_UNIT)) <= delta else (middle, high)
    return high


@singledispatch
def plain_sum(event: ev.Event) -> Losses:
    """The (epsilon, delta) that an event names by itself; both add up under composition [DKMMN06].

    >>> plain_sum(10 * ev.ApproxLoss("0.1", "1e-7"))
    (Fraction(1, 1), Fraction(1, 1000000))
    """
    return pure_epsilon(event), Fraction(0)


@plain_sum.register
def _(event: ev.ApproxLoss) -> Losses:
    return event.epsilon, event.delta


@plain_sum.register(ev.PoissonSampled)
@plain_sum.register(ev.FixedSizeSampled)
def _(event: ev.PoissonSampled | ev.FixedSizeSampled) -> Losses:
    if isinstance(event, ev.PoissonSampled):
        everyone = event.rate == 1
    else:  # with one unit more than the batch has, it may take the place of another: a move of two
        everyone = event.batch == event.population and event.neighbors is Neighbors.REPLACE
    return plain_sum(event.event) if everyone else (pure_epsilon(event), Fraction(0))


@plain_sum.register
def _(event: ev.Composed) -> Losses:
    return _sum(event, plain_sum)


@plain_sum.register
def _(event: ev.Parallel) -> Losses:
    return _largest(event, plain_sum)


def _zcdp(event: ev.Event, currency: Currency, delta: Fraction | None) -> Losses:
    return _rho(event)


@singledispatch
def _rho(event: ev.Event) -> Losses:
    """The rho of an event, with a delta if it is zCDP only up to a delta."""
    epsilon = pure_epsilon(event)
    # [BS16]: any epsilon-DP event; the best constant is epsilon tanh(epsilon / 2).
    return (rational(pure_to_zcdp_tight(epsilon)) if 0 < epsilon < math.inf else epsilon), Fraction(0)


@_rho.register
def _(event: ev.GaussianNoise) -> Losses:
    return event.sensitivity**2 / (2 * event.sigma**2), Fraction(0)


@_rho.register
def _(event: ev.DiscreteGaussianNoise) -> Losses:
    return event.sensitivity_squared / (2 * event.variance), Fraction(0)  # [CKS20]


@_rho.register
def _(event: ev.ExponentialChoice) -> Losses:
    return event.epsilon**2 / 8, Fraction(0)  # bounded range [CR21]


@_rho.register
def _(event: ev.ZCDPLoss) -> Losses:
    return event.rho, Fraction(0)


@_rho.register
def _(event: ev.ApproxLoss) -> Losses:
    # Up to delta the event is an epsilon-DP one [KOV15], which has a rho [BS16].
    rho = rational(pure_to_zcdp_tight(event.epsilon)) if event.epsilon else Fraction(0)
    return rho, event.delta


@_rho.register
def _(event: ev.Composed) -> Losses:
    return _sum(event, _rho)


@_rho.register
def _(event: ev.Parallel) -> Losses:
    return _largest(event, _rho)


def _renyi(event: ev.Event, currency: Currency, delta: Fraction | None) -> Losses:
    return tuple(renyi(event, order) for order in currency.orders)


def _sum(event: ev.Composed, rule: Callable[[ev.Event], Losses]) -> Losses:
    found = [(count, rule(part)) for part, count in event.parts]
    return tuple(sum_above((count, pair[i]) for count, pair in found) for i in range(2))


def _largest(event: ev.Parallel, rule: Callable[[ev.Event], Losses]) -> Losses:
    """The largest of each number, or the two largest together under replace, as composition.parallel."""
    take = 2 if event.neighbors is Neighbors.REPLACE else 1
    columns = zip(*map(rule, event.parts), strict=True) if event.parts else ((), ())
    return tuple(sum(sorted(column, reverse=True)[:take], start=Fraction(0)) for column in columns)


_RULES: Mapping[Rule, Callable[[ev.Event, Currency, Fraction | None], Losses]] = {
    Rule.PURE: _pure,
    Rule.APPROXIMATE: _approximate,
    Rule.ZCDP: _zcdp,
    Rule.RENYI: _renyi,
    Rule.RENYI_ANY: _renyi,
}
