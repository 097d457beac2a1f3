"""What was decided about budgets, read back from the entries: who opened, raised, closed, renewed or restored them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import singledispatch

from curador.ledger.book import Book
from curador.ledger.contract import Ledger
from curador.ledger.entries import Entry, Granted, Json, Opened, Registered, Restored, Revoked, read
from curador.ledger.stores.rows import ENTRY, Rows
from curador.privacy import Guarantee, guarantee_from_json


@dataclass(frozen=True, slots=True)
class Decision:
    """Something that was decided about a budget, beside what was bought from it.

    ``kind`` is opened, raised, closed, renewed or restored; ``budget`` is what the scope promised from then on, and
    ``name`` what was tied to the scope anew.  A restore is about all scopes, and names none.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> _ = ledger.grant("people", PureDP(1), because="the second wave")
    >>> [(d.kind, d.budget, d.because) for d in decisions(ledger)]
    [('opened', PureDP(epsilon=1.0), ''), ('raised', PureDP(epsilon=2.0), 'the second wave')]
    """

    at: str
    kind: str
    scope: str
    budget: Guarantee | None = None
    because: str = ""
    name: str = ""

    def to_json(self) -> dict[str, object]:
        """A plain dictionary."""
        return {
            "at": self.at,
            "decided": self.kind,
            "scope": self.scope,
            "budget": None if self.budget is None else self.budget.to_json(),
            "name": self.name,
            "because": self.because,
        }


def decisions(ledger: Ledger) -> tuple[Decision, ...]:
    """All decisions, oldest first."""
    found = (_decided(entry, at) for entry, at in _entries(ledger, ""))
    return tuple(decision for decision in found if decision is not None)


def had(ledger: Ledger, scopes: Collection[str], budget: Guarantee) -> bool:
    """Whether one of these scopes promised this at any time.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> _ = ledger.grant("people", PureDP(2))
    >>> [had(ledger, ["people"], PureDP(epsilon)) for epsilon in (1, 2, 3)]
    [True, False, True]
    """

    def work(rows: Rows) -> bool:
        found = (_decided(*read(line)) for _, line, _ in rows.scan(ENTRY) if '"definition":' in line)
        return any(d is not None and d.scope in scopes and d.budget == budget for d in found)

    # Within the transaction, so that it ends where it is found: mostly at the beginning, however long the history is.
    return isinstance(ledger, Book) and ledger._store.read(work)


def scopes_of(ledger: Ledger, name: str) -> tuple[str, ...]:
    """Every scope that a name was ever tied to, oldest first.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("old", PureDP(1)), ledger.open("new", PureDP(1))
    >>> _ = ledger.register("people", "people.csv", scope="old")
    >>> _ = ledger.renew("people", "new", because="other people")
    >>> scopes_of(ledger, "people")
    ('old', 'new')
    """
    tied = (entry for entry, _ in _entries(ledger, f'"name":{json.dumps(name)}') if isinstance(entry, Registered))
    return tuple(dict.fromkeys(entry.scope for entry in tied if entry.name == name))


def _entries(ledger: Ledger, part: str) -> Iterator[tuple[Entry, str]]:
    """The entries whose line has this part, oldest first; most lines are charges, and reading JSON is slow."""
    if not isinstance(ledger, Book):  # a ledger of another make tells nothing but what the contract asks of it
        return

    def work(rows: Rows) -> list[str]:
        return [line for _, line, _ in rows.scan(ENTRY) if part in line]

    yield from map(read, ledger._store.read(work))


@singledispatch
def _decided(entry: Entry, at: str) -> Decision | None:
    return None


@_decided.register
def _(entry: Opened, at: str) -> Decision:
    return Decision(at, "opened", entry.scope, _promise(entry.definition))


@_decided.register
def _(entry: Granted, at: str) -> Decision:
    return Decision(at, "raised", entry.scope, _promise(entry.definition), entry.because)


@_decided.register
def _(entry: Revoked, at: str) -> Decision:
    return Decision(at, "closed", entry.scope, because=entry.because)


@_decided.register
def _(entry: Registered, at: str) -> Decision | None:
    # Without a reason it was found again, renamed or reloaded, and kept its budget.
    return Decision(at, "renewed", entry.scope, None, entry.because, entry.name) if entry.because else None


@_decided.register
def _(entry: Restored, at: str) -> Decision:
    return Decision(at, "restored", "", because=entry.because)


def _promise(definition: Json) -> Guarantee:
    return guarantee_from_json(definition["promise"])
