"""What every ledger does, whatever it is stored in.

Scopes form a tree.  Its root is the population whose units are protected; below it are tables, groups, analysts.  A
charge names the scopes it is about and is checked against every one of their ancestors, all or nothing, each scope
once.  It is spent when it is reserved, before any data is read.  What is stored is the event and, for each scope, an
integer cost in the scope's own currency, rounded up; a balance never goes down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from curador.accounting import filters
from curador.accounting.events import Event
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Rule
from curador.ledger.pricing import amounts, left
from curador.numbers import Number
from curador.privacy import Guarantee, Neighbors

EMPTY: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Charge:
    """One event bought: from which scopes, at what cost in each, and whether its answer has been stored.

    ``scopes`` lists every scope that was charged, parents before children, and ``costs`` lines up with it.  ``note``
    is what the buyer wants to find again, such as the question; it never holds anything read from data.

    A charge that is ``repeated`` was answered before: its answer is there, no data is to be touched, and ``scopes`` are
    only those that had not paid for it yet.

    >>> from curador.ledger.stores.memory import MemoryLedger
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
    note: Mapping[str, object] = field(default_factory=lambda: EMPTY, hash=False)
    settled: bool = False
    repeated: bool = False
    receiver: str | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class Balance:
    """One scope as it stands.

    ``spent`` is what was charged to this scope, ``remaining`` what can still be charged here: no more than any
    ancestor that counts in the same currency has left, and nothing where this scope or one above is closed (revoked or
    expired).  ``parent`` is the balance of the scope above.

    >>> from curador.privacy import PureDP
    >>> from curador.accounting.filters import open_filter
    >>> top = Balance("people", open_filter(PureDP(1)))
    >>> Balance("visits", open_filter(PureDP(5)), parent=top).remaining
    PureDP(epsilon=1.0)
    """

    scope: str
    state: Filter
    parent: Balance | None = None
    closed: bool = False
    expires: datetime | None = None

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
        path: list[Balance] = [self]
        while (above := path[-1].parent) is not None:
            path.append(above)
        if any(balance.closed for balance in path):
            return filters.remaining(replace(self.state, spent=tuple(max(0, c) for c in self.state.ceiling)))
        if self.state.currency.rule is Rule.RENYI_ANY:  # one open order is enough, so a least one means nothing
            return filters.remaining(self.state)
        rest = left(self.state)
        for balance in path[1:]:
            if balance.state.currency == self.state.currency:
                rest = tuple(map(min, rest, left(balance.state)))
        used = tuple(c - x for c, x in zip(self.state.ceiling, rest, strict=True))
        return filters.remaining(replace(self.state, spent=used))

    def __str__(self) -> str:
        return f"{self.scope}: {amounts(self.state, self.state.spent)} spent, {_worded(self.remaining)} remaining"


def _worded(promise: Guarantee) -> str:
    return ", ".join(f"{name} {value}" for name, value in promise.to_json().items() if name != "kind")


@dataclass(frozen=True, slots=True)
class Registration:
    """What a table's name stands for: data with its scope and version, whatever it is called and wherever it lies.

    The version is a number that the ledger counts up, never a digest of the content, which would tell about the data.
    It belongs into the fingerprint of a question: an answer is repeated only for the same version.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> first = ledger.register("visits", "visits.parquet", scope="people")
    >>> moved = ledger.register("visits", "visits-2.parquet")
    >>> moved.scope, moved.version
    ('people', 2)
    """

    table: str
    source: str
    scope: str
    version: int
    data: int


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
        reserved_delta: Number = 0,
        orders: Iterable[float] = (),
        expires: datetime | None = None,
    ) -> Balance:
        """Make a scope with a ceiling, whose currency never changes; refused if the name is taken.

        A scope below another is about the same neighbours.  After ``expires`` nothing can be bought there.

        A budget for a period is a scope for that period, such as ``"visits 2026-11"``, that expires when it ends.  It
        promises for each period apart.  Somebody who is in the data in several periods has lost the sum of them all,
        unless the unit is the pair of an id and a period; a scope above them all bounds that sum.
        """
        ...

    def delegate(
        self, scope: str, to: str, budget: Guarantee, *, reserved_delta: Number = 0, expires: datetime | None = None
    ) -> Balance:
        """Let somebody spend a part of a scope: a new scope below it, in its currency, with no more than it has left.

        What is spent there is spent in the scope too; what is not spent there is not kept from others.
        """
        ...

    def grant(self, scope: str, more: Guarantee, *, because: str = "") -> Balance:
        """Raise a ceiling by so much, for ever.

        Guarantee: the raised budget.  Whether to raise may not depend on answers beyond the largest budget that could
        have been granted: that one is what is promised.
        """
        ...

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        """Close a scope and all below it, for ever; what it spent stays spent above it."""
        ...

    def reserve(
        self,
        scopes: str | Sequence[str],
        event: Event,
        *,
        promise: Guarantee | None = None,
        note: Mapping[str, object] = ...,
        key: str | None = None,
        fingerprint: str | None = None,
        receiver: str | None = None,
    ) -> Charge:
        """Spend an event in these scopes and in all above them, durably, or refuse and spend nothing.

        ``receiver`` is the scope of the analyst or group that gets the answer; it pays too.  ``fingerprint`` stands for
        the question, its cost and the versions of its data.  If that was answered before, nothing is bought: the charge
        comes back as ``repeated``, and only the scopes of a receiver that has not paid for this answer yet pay now.

        ``key`` names one request: sent again with the same fingerprint it gets the answer it got, with another
        fingerprint it is refused.  A charge that was never settled answers nothing: asking again is a new charge.
        """
        ...

    def settle(self, charge: str, answer: bytes) -> bytes:
        """Keep the noised answer of a charge; once, and only of a charge that was reserved.

        Returns the bytes to release: these, or those that another charge under the same key was settled with before.
        """
        ...

    def answer(self, charge: str) -> bytes | None:
        """The bytes that a charge was settled with; None if it never was."""
        ...

    def balance(self, scope: str) -> Balance:
        """What a scope has spent and has left."""
        ...

    def scopes(self) -> tuple[str, ...]:
        """The names that are taken, in order."""
        ...

    def history(self, scope: str | None = None) -> tuple[Charge, ...]:
        """The charges of a scope, or all of them, oldest first."""
        ...

    def register(self, table: str, source: str, *, scope: str | None = None, reloaded: bool = False) -> Registration:
        """Tie a table's name and source to a scope, or find what they are tied to.

        A known name with another source was reloaded, a known source with another name renamed: the budget is kept.
        The version grows with each of these, and when ``reloaded`` says that the content changed.
        """
        ...

    def registered(self, table: str, source: str) -> Registration | None:
        """What a name or a source is tied to; None if both are new.  Changes nothing."""
        ...

    def renew(self, table: str, scope: str, *, because: str) -> Registration:
        """Decide that a table's data is new people, under another scope from now on; the reason is kept.

        Assumes: no unit of the old data is in the new data; otherwise what it lost is the sum of both.
        """
        ...

    def verify(self) -> int:
        """Read everything again and raise LedgerBroken unless it is all as it was written; the number of entries."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
