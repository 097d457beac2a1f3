"""What every ledger does, whatever it is stored in: the contract, and the arithmetic all stores share.

Scopes form a tree.  Its root is the population whose units are protected; below it are tables, groups, analysts.  A
charge names the scopes it is about and is checked against every one of their ancestors, all or nothing, each scope
once.  It is spent when it is reserved, before any data is read.  What is stored is the event and, for each scope, an
integer cost in the scope's own currency, rounded up; a balance never goes down.

A store keeps rows and locks them.  What a charge costs, whether it fits and what a refusal says is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Protocol

from curador.accounting import filters
from curador.accounting.costs import Cost, Rule, cost
from curador.accounting.events import NOTHING, Event
from curador.accounting.filters import Filter
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.privacy import Guarantee, Neighbors
from curador.rational import Number, down

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Charge:
    """One event bought: from which scopes, at what cost in each, and whether its answer has been stored.

    ``scopes`` lists every scope that was charged, parents before children, and ``costs`` lines up with it.  ``note``
    is what the buyer wants to find again, such as the question; it never holds anything read from data.

    >>> from curador.ledger.memory import MemoryLedger
    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> charge = ledger.reserve("people", PureLoss("0.25"))
    >>> charge.id, charge.scopes, charge.costs, charge.settled
    ('1', ('people',), ((250000000000,),), False)
    """

    id: str
    scopes: tuple[str, ...]
    costs: tuple[Cost, ...]
    event: Event
    promise: Guarantee | None = None
    note: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Balance:
    """One scope as it stands.

    ``spent`` is what was charged to this scope, ``remaining`` what can still be charged here: no more than any
    ancestor that counts in the same currency has left.  ``parent`` is the balance of the scope above.

    >>> from curador.privacy import PureDP
    >>> from curador.accounting.filters import open_filter
    >>> top = Balance("people", open_filter(PureDP(1)))
    >>> Balance("visits", open_filter(PureDP(5)), parent=top).remaining
    PureDP(epsilon=1.0)
    """

    scope: str
    state: Filter
    parent: Balance | None = None

    @property
    def budget(self) -> Guarantee:
        return self.state.promise

    @property
    def neighbors(self) -> Neighbors:
        return self.state.neighbors

    @property
    def spent(self) -> Guarantee:
        return filters.spent(self.state)

    @property
    def remaining(self) -> Guarantee:
        if self.state.currency.rule is Rule.RENYI_ANY:  # one open order is enough, so a least one means nothing
            return filters.remaining(self.state)
        left = _left(self.state)
        above = self.parent
        while above is not None:
            if above.state.currency == self.state.currency:
                left = tuple(map(min, left, _left(above.state)))
            above = above.parent
        used = tuple(c - x for c, x in zip(self.state.ceiling, left, strict=True))
        return filters.remaining(replace(self.state, spent=used))

    def __str__(self) -> str:
        return f"{self.scope}: {_amounts(self.state, self.state.spent)} spent, {_worded(self.remaining)} remaining"


class Ledger(Protocol):
    """A store of scopes and charges that may be shared by threads, processes and machines."""

    def open(
        self,
        scope: str,
        budget: Guarantee,
        *,
        parent: str | None = None,
        neighbors: Neighbors | str | None = None,
        rule: Rule | str | None = None,
        aside: Number = 0,
        orders: Iterable[float] = (),
    ) -> Balance:
        """Make a scope with a ceiling, whose currency never changes; refused if the name is taken.

        A scope below another is about the same neighbours.
        """
        ...

    def reserve(
        self,
        scopes: str | Sequence[str],
        event: Event,
        *,
        promise: Guarantee | None = None,
        note: Mapping[str, object] = ...,
    ) -> Charge:
        """Spend an event in these scopes and in all above them, durably, or refuse and spend nothing."""
        ...

    def settle(self, charge: str, answer: bytes) -> None:
        """Keep the noised answer of a charge; once, and only of a charge that was reserved."""
        ...

    def answer(self, charge: str) -> bytes | None:
        """The bytes that a charge was settled with; None if it never was."""
        ...

    def balance(self, scope: str) -> Balance:
        """What a scope has spent and has left."""
        ...

    def history(self, scope: str | None = None) -> tuple[Charge, ...]:
        """The charges of a scope, or all of them, oldest first."""
        ...


# ---- what stores share -------------------------------------------------------------------------------------------


def scope_name(name: object) -> str:
    """Refuse what cannot name a scope.

    >>> scope_name("adult")
    'adult'
    """
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidParameter(
            f"A scope is named by printable text of 1 to {LONGEST_NAME} characters, got {str(name)[:40]!r}.",
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
        with suppress(NotPromised):
            if what is not None:
                return cost(what, state.currency)
    raise NotPromised(
        f"A budget that counts {' and '.join(state.currency.names[:2])} cannot express what this release costs.",
        fix=_FIXES.get(state.currency.rule, "Ask for noise that has a finite cost at the budget's orders."),
    )


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
    try:
        return filters.charge_cost(state, amount)
    except BudgetExceeded:
        raise BudgetExceeded(
            f"The budget of {scope!r} does not cover this: asked {_amounts(state, amount)}, "
            f"spent {_amounts(state, state.spent)}, remaining {_amounts(state, _left(state))}.",
            fix="Ask for less, or ask whoever holds the budget for more.",
        ) from None


def unknown_scope(scope: str) -> InvalidParameter:
    return InvalidParameter(f"No budget is called {scope!r}.", fix="Open it first, or check the name.")


def unknown_charge(charge: str) -> InvalidParameter:
    return InvalidParameter(f"No charge has the id {charge!r}.", fix="Use the id of a charge that was reserved.")


def settled_twice(charge: str) -> InvalidParameter:
    return InvalidParameter(f"Charge {charge!r} has its answer already.", fix="Read it; a new answer is a new charge.")


def _left(state: Filter) -> Cost:
    return tuple(c - s for c, s in zip(state.ceiling, state.spent, strict=True))


def _amounts(state: Filter, amount: Cost) -> str:
    parts = zip(state.currency.names, amount, state.currency.units, strict=True)
    shown = [f"{name} {down(Fraction(x, unit)):.12g}" for name, x, unit in parts]
    return " and ".join(shown) if len(shown) < 3 else ", ".join(shown)


def _worded(promise: Guarantee) -> str:
    return ", ".join(f"{name} {value}" for name, value in promise.to_json().items() if name != "kind")
