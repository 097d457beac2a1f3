"""Whom a charge falls on, what it costs there, and whether it fits: arithmetic that reads and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from curador.accounting import filters
from curador.accounting.events import NOTHING, Event, event_from_json
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Currency, Rule, cost
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.ledger.entries import Texts, plain
from curador.numbers import up
from curador.privacy import Guarantee, Neighbors

LONGEST_NAME = 200

MOST_REMEMBERED = 10_000
"""The most paths, and the most prices, that a ledger remembers."""

LARGEST = 2**63 - 1
"""The largest number in a balance: the largest 64-bit integer of a database."""


def name_of(name: object, what: str = "scope", longest: int = LONGEST_NAME) -> str:
    """The name of a scope, a table, a source or a request; refused if it is not short printable text.

    >>> name_of("adult")
    'adult'
    """
    if not isinstance(name, str) or not name.strip() or len(name) > longest or not name.isprintable():
        raise InvalidParameter(
            f"A {what} is named by printable text of 1 to {longest} characters, got {str(name)[:40]!r}.",
            fix="Rename it.",
            code="name-unprintable",
            facts={"most": longest},
        )
    return name


def lineage(scopes: str | Sequence[str], parent: Callable[[str], str | None]) -> tuple[str, ...]:
    """Every scope a charge falls on: those named and all their ancestors, each once, parents before children.

    >>> above = {"visits": "people", "people": None, "bills": "people"}
    >>> lineage(["visits", "bills"], above.__getitem__)
    ('people', 'bills', 'visits')
    """
    named = [scopes] if isinstance(scopes, str) else list(scopes)
    if not named:
        raise InvalidParameter("A charge falls on at least one scope.", fix="Name the table it is about.")
    depth: dict[str, int] = {}
    for name in named:
        path = [name]
        while (above := parent(path[-1])) is not None:
            path.append(above)
        depth |= {scope: level for level, scope in enumerate(reversed(path))}
    # One order for all buyers: stores that lock scopes one by one cannot deadlock.
    return tuple(sorted(depth, key=lambda scope: (depth[scope], scope)))


# ---- prices ------------------------------------------------------------------------------------------------------


def price(state: Filter, event: Event, guarantee: Guarantee | None = None, scope: str = "") -> Cost:
    """The cost of an event in a scope's currency; where the currency cannot express it, the cost of its promise.

    Assumes: the event keeps the promise.
    Fails: InvalidParameter for other neighbours than the scope's; NotPromised where neither can be expressed.

    >>> from curador.accounting.events import GaussianNoise
    >>> from curador.privacy import ApproxDP
    >>> state = filters.open_filter(ApproxDP(1, 1e-6))
    >>> price(state, GaussianNoise(sigma=10, sensitivity=1), ApproxDP("0.4", 1e-6))
    (400000000000, 1000000000000)
    """
    if event != NOTHING and event.neighbors is not state.neighbors:
        raise InvalidParameter(
            f"This budget is about {state.neighbors.value} neighbours, the event about {event.neighbors.value}.",
            fix="Declare the same neighbours for the budget and for its tables.",
            code="neighbors-differ",
            facts={"budget": state.neighbors.value, "event": event.neighbors.value},
        )
    for what in (event, guarantee):
        try:
            if what is not None:
                return cost(what, state.currency)
        except NotPromised:
            continue
    counts, whose = " and ".join(state.currency.names[:2]), f"The budget of {scope!r}" if scope else "This budget"
    raise NotPromised(
        f"{whose} counts {counts}, and cannot express what this release costs.",
        fix=_FIXES.get(state.currency.rule, "Ask for noise that has a finite cost at the budget's orders."),
        code="delta-not-granted" if state.currency.rule is Rule.PURE else "cost-not-expressible",
        facts={"rule": state.currency.rule.value, "scope": scope},
    )


def prices(states: Mapping[str, Filter], event: Event, guarantee: Guarantee | None = None) -> dict[str, Cost]:
    """The cost of an event in each of these scopes; scopes of one currency share one computation.

    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> prices({"people": filters.open_filter(PureDP(1))}, PureLoss("0.25"))
    {'people': (250000000000,)}
    """
    found: dict[tuple[Currency, Neighbors], Cost] = {}
    for scope, state in states.items():
        kind = state.currency, state.neighbors
        if kind not in found:
            found[kind] = price(state, event, guarantee, scope)
    return {scope: found[state.currency, state.neighbors] for scope, state in states.items()}


@dataclass(frozen=True, slots=True)
class Terms:
    """What an event costs in each scope of a path, and how all of it is written down."""

    costs: Mapping[str, Cost]
    paid: tuple[Cost, ...]
    event: Mapping[str, object]
    promised: Mapping[str, object] | None
    texts: Texts


class PriceList:
    """Paths and prices, remembered: the same things are bought again and again.

    ``fixed`` gives what never changes about a scope: its parent, and a filter with its currency and neighbours.

    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> above = {"visits": "people", "people": None}
    >>> known = PriceList(lambda scope: (above[scope], filters.open_filter(PureDP(1))))
    >>> known.terms(known.path(("visits",)), PureLoss("0.25"), None).costs
    {'people': (250000000000,), 'visits': (250000000000,)}
    """

    def __init__(self, fixed: Callable[[str], tuple[str | None, Filter]]) -> None:
        self._fixed = fixed
        self._paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._terms: dict[tuple[tuple[str, ...], Event, Guarantee | None], Terms] = {}
        self._last: tuple[tuple[str, ...], Event, Guarantee | None, Terms] | None = None

    def path(self, scopes: tuple[str, ...]) -> tuple[str, ...]:
        """Every scope that a charge to these falls on."""
        found = self._paths.get(scopes)
        if found is None:
            found = lineage(scopes, lambda scope: self._fixed(scope)[0])
            if len(self._paths) >= MOST_REMEMBERED:
                self._paths.clear()
            self._paths[scopes] = found
        return found

    def terms(self, path: tuple[str, ...], event: Event, guarantee: Guarantee | None) -> Terms:
        """What an event costs along a path."""
        if (last := self._last) is not None and last[0] is path and last[1] is event and last[2] is guarantee:
            return last[3]  # without hashing an event, which may be a long sum
        found = self._terms.get((path, event, guarantee))
        if found is None:
            costs = prices({scope: self._fixed(scope)[1] for scope in path}, event, guarantee)
            paid, bought = tuple(costs.values()), _readable(event)
            promised = None if guarantee is None else guarantee.to_json()
            texts = Texts(plain(paid), plain(bought), plain(promised), "{}", plain(path))
            found = Terms(costs, paid, bought, promised, texts)
            if len(self._terms) >= MOST_REMEMBERED:
                self._terms.clear()
            self._terms[path, event, guarantee] = found
        self._last = path, event, guarantee, found
        return found


def _readable(event: Event) -> dict[str, object]:
    """An event as it is written; refused unless it is read back as it was: nobody could open the ledger any more."""
    written = event.to_json()
    with suppress(InvalidParameter, ValueError, RecursionError):
        text = plain(written)
        if plain(event_from_json(json.loads(text)).to_json()) == text:
            return written
    raise InvalidParameter(
        "This event cannot be kept: it would not be read back as it is.",
        fix="Round its numbers, to a few hundred digits at most.",
        code="event-unreadable",
    )


_FIXES = {
    Rule.PURE: "Ask with epsilon alone, with public keys; or let the holder of the budget grant it a delta.",
    Rule.APPROXIMATE: "Ask with epsilon, or with epsilon and delta.",
    Rule.ZCDP: "Ask with rho, or with epsilon.",
}


# ---- whether a charge fits ---------------------------------------------------------------------------------------


def covers(rule: Rule, ceiling: Cost, spent: Cost, amount: Cost) -> bool:
    """Whether a charge fits: the filter's own rule, and numbers that a database can hold.

    >>> covers(Rule.APPROXIMATE, (10, 10), (9, 10), (1, 0)), covers(Rule.APPROXIMATE, (10, 10), (9, 10), (1, 1))
    (True, False)
    >>> covers(Rule.RENYI_ANY, (10, 10), (9, 10), (1, 1)), covers(Rule.RENYI_ANY, (10, 10), (9, 10), (1, LARGEST))
    (True, False)
    """
    after = tuple(s + a for s, a in zip(spent, amount, strict=True))
    # An order that a renyi-any rule no longer needs may grow without bound; an integer column may not.
    return filters.within(after, ceiling, rule) and max(after) <= LARGEST


def charged(scope: str, state: Filter, amount: Cost) -> Filter:
    """A scope's filter after a charge; refused if the charge does not fit.

    >>> from curador.privacy import PureDP
    >>> charged("people", filters.open_filter(PureDP(1)), (2 * 10**12,))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.BudgetExceeded: The budget of 'people' does not cover this: asked epsilon 2, spent epsilon 0, ...
    """
    if not covers(state.currency.rule, state.ceiling, state.spent, amount):
        raise exceeded(scope, state, amount)
    return filters.charge_cost(state, amount)


def exceeded(scope: str, state: Filter, amount: Cost) -> BudgetExceeded:
    """The refusal of a charge that does not fit, with what was asked, spent and remaining in its facts.

    >>> from curador.privacy import PureDP
    >>> dict(exceeded("people", filters.open_filter(PureDP(1)), (2 * 10**12,)).facts)["remaining"]
    {'kind': 'pure', 'epsilon': 1.0}
    """
    parts = zip(state.currency.names, amount, state.currency.units, strict=True)
    asked = tuple(min(x, unit) if name == "delta" else x for name, x, unit in parts)  # a delta is a probability
    return BudgetExceeded(
        f"The budget of {scope!r} does not cover this: asked {amounts(state, amount)}, "
        f"spent {amounts(state, state.spent)}, remaining {amounts(state, left(state))}.",
        fix="Ask for less, or ask the owner of the budget for more.",
        code="budget-exceeded",
        facts={
            "scope": scope,
            "asked": filters.as_guarantee(state.currency, asked, up).to_json(),
            "spent": filters.spent(state).to_json(),
            "remaining": filters.remaining(state).to_json(),
        },
    )


def left(state: Filter) -> Cost:
    """The difference between a filter's ceiling and what is spent, number by number.

    >>> from curador.privacy import PureDP
    >>> left(filters.open_filter(PureDP(1)))
    (1000000000000,)
    """
    return tuple(c - s for c, s in zip(state.ceiling, state.spent, strict=True))


# ---- amounts as text ---------------------------------------------------------------------------------------------


def exact_text(amount: int, unit: int) -> str:
    """An amount as a decimal with all its digits: a cost is never rounded down, a remainder never up.

    >>> exact_text(121_262_500_000, 10**12), exact_text(10**12, 10**18), exact_text(333_333_333_334, 10**12)
    ('0.1212625', '1e-06', '0.333333333334')
    """
    text = repr(amount / unit).removesuffix(".0")
    if Fraction(text) == Fraction(amount, unit):
        return text
    return str(Decimal(f"{amount}e-{len(str(unit)) - 1}"))  # a double has 17 digits, an amount up to 19


def amounts(state: Filter, amount: Cost) -> str:
    """A cost as text, with the names of its numbers.

    >>> from curador.privacy import ApproxDP
    >>> amounts(filters.open_filter(ApproxDP(1, 1e-6)), (10**11, 10**12))
    'epsilon 0.1 and delta 1e-06'
    """
    parts = zip(state.currency.names, amount, state.currency.units, strict=True)
    shown = [f"{name} {exact_text(x, unit)}" for name, x, unit in parts]
    return " and ".join(shown) if len(shown) < 3 else ", ".join(shown)
