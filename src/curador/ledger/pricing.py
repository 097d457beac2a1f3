"""The arithmetic every store shares: whom a charge falls on, what it costs there, whether it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from curador.accounting import filters
from curador.accounting.events import NOTHING, Event
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Currency, Rule, cost
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.numbers import down
from curador.privacy import Guarantee, Neighbors

LONGEST_NAME = 200

LARGEST = 2**63 - 1
"""The largest number in a balance: what the 64-bit integers of databases hold."""


def name_of(name: object, what: str = "scope", longest: int = LONGEST_NAME) -> str:
    """Refuse what cannot name a scope, a table, a source or a request.

    >>> name_of("adult")
    'adult'
    """
    if not isinstance(name, str) or not name.strip() or len(name) > longest or not name.isprintable():
        raise InvalidParameter(
            f"A {what} is named by printable text of 1 to {longest} characters, got {str(name)[:40]!r}.",
            fix="Rename it.",
        )
    return name


def lineage(scopes: str | Sequence[str], parent: Callable[[str], str | None]) -> tuple[str, ...]:
    """Every scope a charge falls on: those named and all above them, each once, parents before children.

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
        while (up := parent(path[-1])) is not None:
            path.append(up)
        depth |= {scope: level for level, scope in enumerate(reversed(path))}
    # One order for all buyers: stores that lock scopes one by one cannot wait for each other in a ring.
    return tuple(sorted(depth, key=lambda scope: (depth[scope], scope)))


def price(state: Filter, event: Event, promise: Guarantee | None = None) -> Cost:
    """What an event costs in a scope's currency; where the currency cannot express it, what its promise costs.

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
        )
    for what in (event, promise):
        try:
            if what is not None:
                return cost(what, state.currency)
        except NotPromised:
            continue
    raise NotPromised(
        f"A budget that counts {' and '.join(state.currency.names[:2])} cannot express what this release costs.",
        fix=_FIXES.get(state.currency.rule, "Ask for noise that has a finite cost at the budget's orders."),
    )


def prices(states: Mapping[str, Filter], event: Event, promise: Guarantee | None = None) -> dict[str, Cost]:
    """What an event costs in each of these scopes; scopes that count alike are worked out once.

    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> prices({"people": filters.open_filter(PureDP(1))}, PureLoss("0.25"))
    {'people': (250000000000,)}
    """
    found: dict[tuple[Currency, Neighbors], Cost] = {}
    for state in states.values():
        kind = state.currency, state.neighbors
        if kind not in found:
            found[kind] = price(state, event, promise)
    return {scope: found[state.currency, state.neighbors] for scope, state in states.items()}


_FIXES = {
    Rule.PURE: "Ask with epsilon alone: public keys, and Laplace noise.",
    Rule.APPROXIMATE: "Ask with epsilon, or with epsilon and delta.",
    Rule.ZCDP: "Ask with rho, or with epsilon.",
}


def charged(scope: str, state: Filter, amount: Cost) -> Filter:
    """A scope's filter after a charge, or a refusal that says what was asked, spent and left.

    >>> from curador.privacy import PureDP
    >>> charged("people", filters.open_filter(PureDP(1)), (2 * 10**12,))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.BudgetExceeded: The budget of 'people' does not cover this: asked epsilon 2, spent epsilon 0, ...
    """
    with suppress(BudgetExceeded):
        after = filters.charge_cost(state, amount)
        if max(after.spent) <= LARGEST:  # an order that a Rényi rule no longer needs may grow past all bounds
            return after
    raise BudgetExceeded(
        f"The budget of {scope!r} does not cover this: asked {amounts(state, amount)}, "
        f"spent {amounts(state, state.spent)}, remaining {amounts(state, left(state))}.",
        fix="Ask for less, or ask whoever holds the budget for more.",
        facts={"remaining": amounts(state, left(state))},
    )


def covers(ceiling: Cost, spent: Cost, amount: Cost, every: bool) -> bool:
    """Whether a charge fits, number by number: what :func:`charged` decides, without making filters to decide it.

    ``every`` says whether every number must stay below its ceiling, or one.

    >>> covers((10, 10), (9, 10), (1, 0), every=True), covers((10, 10), (9, 10), (1, 1), every=True)
    (True, False)
    >>> covers((10, 10), (9, 10), (1, 1), every=False)
    True
    """
    after = [s + a for s, a in zip(spent, amount, strict=True)]
    fitting = [x <= c for x, c in zip(after, ceiling, strict=True)]
    return (all(fitting) if every else any(fitting)) and max(after) <= LARGEST


def left(state: Filter) -> Cost:
    """What a filter's ceiling leaves, number by number.

    >>> from curador.privacy import PureDP
    >>> left(filters.open_filter(PureDP(1)))
    (1000000000000,)
    """
    return tuple(c - s for c, s in zip(state.ceiling, state.spent, strict=True))


def amounts(state: Filter, amount: Cost) -> str:
    """A cost in words.

    >>> from curador.privacy import ApproxDP
    >>> amounts(filters.open_filter(ApproxDP(1, 1e-6)), (10**11, 10**12))
    'epsilon 0.1 and delta 1e-06'
    """
    parts = zip(state.currency.names, amount, state.currency.units, strict=True)
    shown = [f"{name} {down(Fraction(x, unit)):.12g}" for name, x, unit in parts]
    return " and ".join(shown) if len(shown) < 3 else ", ".join(shown)
