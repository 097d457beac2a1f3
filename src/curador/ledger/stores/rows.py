"""The tables of a ledger, declared once, and what a store must do with their rows.

Entries and answers are kept for ever.  All other tables follow from the entries (:mod:`curador.ledger.posting`) and are
there so that a charge reads a few rows, however long the history is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

from curador.errors import LedgerBroken

DbValue = int | str | bytes | None
DbRow = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """A table: columns with their types, of which the first ``key`` tell rows apart.

    ``kept`` says that a row, once written, is never changed or taken away.

    >>> ENTRY.names, ENTRY.kept
    (('sequence', 'body', 'mac'), True)
    """

    name: str
    columns: tuple[tuple[str, type], ...]
    key: int = 1
    kept: bool = False
    check: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


def _table(called: str, /, key: int = 1, kept: bool = False, check: str = "", **columns: type) -> RowTable:
    return RowTable(called, tuple(columns.items()), key, kept, check)


ENTRY = _table("entry", kept=True, sequence=int, body=str, mac=bytes)
ANSWER = _table("answer", kept=True, charge=int, bytes=bytes)
HEAD = _table("head", one=int, format=int, sequence=int, charges=int, mac=bytes)
SCOPE = _table("scope", name=str, parent=str, definition=str, expires=str, closed=int)
BALANCE = _table(
    "balance",
    key=2,
    check="spent >= 0 AND (every = 0 OR spent <= ceiling)",  # the last wall: no code above can pass it
    scope=str,
    part=int,
    spent=int,
    ceiling=int,
    every=int,
)
CHARGE = _table("charge", number=int, entry=int, request=str, fingerprint=str)
PAID = _table("paid", key=2, scope=str, charge=int, entry=int)
QUESTION = _table("question", fingerprint=str, charge=int)
REQUEST = _table("request", request=str, fingerprint=str, charge=int)
NAMED = _table("named", name=str, data=int, source=str)
SOURCED = _table("sourced", source=str, data=int)
DATA = _table("data", number=int, scope=str, version=int)

DERIVED = (SCOPE, BALANCE, CHARGE, PAID, QUESTION, REQUEST, NAMED, SOURCED, DATA)
"""Tables that can be made again from the entries."""

TABLES = (ENTRY, ANSWER, HEAD, *DERIVED)

FORMAT = 1


class Head(NamedTuple):
    """Where the history ends: the last entry's number and seal, and how many charges there were."""

    sequence: int
    charges: int
    mac: bytes


class AnchorNeed(Enum):
    """What must be marked outside the database before a piece of work may be told.

    ``BEFORE``: the history it stands on, as for an answer, whose charge is older; it is said with the work, so that the
    mark can be made meanwhile.  ``AFTER``: the work itself.
    """

    BEFORE = "before"
    AFTER = "after"


class Rows(Protocol):
    """The rows of a ledger within one transaction."""

    head: Head

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        """The row with this key."""
        ...

    def put(self, table: RowTable, *row: DbValue) -> None:
        """Write a row; in a kept table only a new one."""
        ...

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None) -> Iterator[DbRow]:
        """The rows whose key begins so, in the order of their keys."""
        ...

    def require(self, need: AnchorNeed) -> None:
        """Say, in the midst of the work, what must be marked before it may be told."""
        ...

    def rests_on(self, entry: int) -> None:
        """Say that what is told rests on an entry, which must be marked before."""
        ...


class LedgerStore(Protocol):
    """Transactions on a ledger's rows, one after another."""

    def write(self, work: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        """Do all of a piece of work, durably, or nothing of it."""
        ...

    def read(self, work: Callable[[Rows], T]) -> T:
        """Look at one moment."""
        ...

    def damage(self) -> str | None:
        """What the database itself says is wrong with it, and what its anchor says; None if nothing."""
        ...

    def close(self) -> None: ...


class MemoryRows:
    """Rows in dictionaries, which remember how to go back.

    >>> rows = MemoryRows(b"")
    >>> rows.put(QUESTION, "f", 1)
    >>> rows.get(QUESTION, "f"), list(rows.scan(QUESTION))
    (('f', 1), [('f', 1)])
    >>> rows.undo(); rows.get(QUESTION, "f")
    """

    def __init__(self, genesis: bytes) -> None:
        self.head = Head(0, 0, genesis)
        self._tables: dict[str, dict[DbRow, DbRow]] = {table.name: {} for table in TABLES}
        self.keep()

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        return self._tables[table.name].get(key)

    def put(self, table: RowTable, *row: DbValue) -> None:
        key = row[: table.key]
        old = self._tables[table.name].get(key)
        if (table.kept and old is not None) or (table is BALANCE and not _within(row)):
            raise LedgerBroken(f"The table {table.name} refuses {row!r:.200}.", fix="Report this.")
        self._before.append((table.name, key, old))
        self._tables[table.name][key] = row

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None) -> Iterator[DbRow]:
        rows = self._tables[table.name]
        found = sorted(key for key in rows if key[: len(prefix)] == prefix)
        yield from (rows[key] for key in found[:most])

    def require(self, need: AnchorNeed) -> None:
        pass  # nothing of it outlives the process

    def rests_on(self, entry: int) -> None:
        pass

    def keep(self) -> None:
        """What was written until now stays."""
        self._before: list[tuple[str, DbRow, DbRow | None]] = []
        self._head = self.head

    def undo(self) -> None:
        """Go back to what was last kept."""
        for name, key, old in reversed(self._before):
            if old is None:
                del self._tables[name][key]
            else:
                self._tables[name][key] = old
        self.head = self._head
        self._before.clear()


def _within(row: DbRow) -> bool:
    """As the check of BALANCE says."""
    _, _, spent, ceiling, every = row
    return bool(spent >= 0 and (every == 0 or spent <= ceiling))
