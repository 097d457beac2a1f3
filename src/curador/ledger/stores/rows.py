"""The door to the stores: the tables of a ledger, declared once, and what a store does with their rows.

Entries and answers are append-only.  All other tables are derived from the entries (:mod:`curador.ledger.posting`), so
that a charge reads a few rows, however long the history is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

from curador.errors import LedgerBroken

UNSURE = "nothing was released; a charge that was already written stays spent"
"""The cost of a failed write: it may have been committed before it failed."""

RESTORE = "Find out why; then restore it as docs/how-to/restore-a-ledger.md says."
"""The fix for a ledger that is not as it was written."""

PAGE = 1000
"""Rows that are read at once."""

DbValue = int | str | bytes | bytearray | None
DbRow = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowCheck:
    """A condition on every row of a table, as SQL and as Python."""

    sql: str
    holds: Callable[[DbRow], bool]


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """A table: columns with their types, of which the first ``key`` form the primary key.

    A row of an ``append_only`` table is never changed or removed.

    >>> ENTRY.names, ENTRY.append_only
    (('sequence', 'charges', 'at', 'mac', 'body'), True)
    """

    name: str
    columns: tuple[tuple[str, type], ...]
    key: int = 1
    append_only: bool = False
    check: RowCheck | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


def _table(
    called: str, /, key: int = 1, append_only: bool = False, check: RowCheck | None = None, **columns: type
) -> RowTable:
    return RowTable(called, tuple(columns.items()), key, append_only, check)


def _within_ceiling(balance: DbRow) -> bool:
    _, _, spent, ceiling, every = balance
    return bool(spent >= 0 and (every == 0 or spent <= ceiling))


# Its first columns are what a head is: the last entry says where the history ends, and no other row has to.
ENTRY = _table("entry", append_only=True, sequence=int, charges=int, at=str, mac=bytes, body=str)
ANSWER = _table("answer", append_only=True, charge=int, bytes=bytes)
# One row, written once: the format, and the seal before the first entry.  PostgreSQL's writers lock it.
HEAD = _table("head", one=int, format=int, mac=bytes)
SCOPE = _table("scope", name=str, parent=str, definition=str, expires=str, closed=int)
BALANCE = _table(
    "balance",
    key=2,
    # The last wall, number by number, that no code above can pass; the whole rule is accounting.filters.within.
    check=RowCheck("spent >= 0 AND (every = 0 OR spent <= ceiling)", _within_ceiling),
    scope=str,
    part=int,
    spent=int,
    ceiling=int,
    every=int,
)
CHARGE = _table("charge", number=int, entry=int, request=str, fingerprint=str)
PAID = _table("paid", key=2, scope=str, charge=int, entry=int)
QUESTION = _table("question", fingerprint=str, charge=int)
RUNNING = _table("running", fingerprint=str, charge=int, owner=str)
REQUEST = _table("request", request=str, fingerprint=str, charge=int)
NAMED = _table("named", name=str, data=int, source=str)
SOURCED = _table("sourced", source=str, data=int)
DATA = _table("data", number=int, scope=str, version=int, unit=str)
FORMER = _table("former", key=2, name=str, scope=str, before=str)
PROMISED = _table("promised", key=2, scope=str, budget=str, entry=int)
ACCESS = _table(
    "access",
    token=str,
    role=str,
    who=str,
    label=str,
    expires=str,
    once=int,
    charge=str,
    login=str,
    secret=str,
    ended=int,
)

DERIVED = (SCOPE, BALANCE, CHARGE, PAID, QUESTION, RUNNING, REQUEST, NAMED, SOURCED, DATA, FORMER, PROMISED, ACCESS)
"""Tables that can be computed again from the entries."""

TABLES = (ENTRY, ANSWER, HEAD, *DERIVED)

FORMAT = 5


class Head(NamedTuple):
    """The end of the history: the last entry's number, seal and time, and the number of charges so far."""

    sequence: int
    charges: int
    mac: bytes
    at: str = ""


def row_of_entry(head: Head, line: str) -> DbRow:
    """The row of an entry that the history ends with."""
    return head.sequence, head.charges, head.at, head.mac, line


class AnchorNeed(Enum):
    """Which anchor write must be durable before a transaction's result may be returned.

    ``BEFORE``: one of the history that the transaction started from, as for an answer, whose charge is older.  It is
    requested with the transaction, so that the write can run at the same time.  ``AFTER``: one of the transaction's
    own entries.
    """

    BEFORE = "before"
    AFTER = "after"


BEFORE, AFTER = AnchorNeed  # looked up in an enumeration, a name costs as much as a small function


class Rows(Protocol):
    """The rows of a ledger within one transaction, which began when the history ended with ``begun``."""

    head: Head

    @property
    def begun(self) -> Head: ...

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        """The row with this primary key."""
        ...

    def put(self, table: RowTable, *row: DbValue) -> None:
        """Write a row; over the one with its key, unless the table is append-only."""
        ...

    def append(self, head: Head, line: str, entry: Any) -> None:
        """Write the row of an entry, which is the head then, and remember what it says for the next mark."""
        ...

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None, after: DbRow = ()) -> Iterator[DbRow]:
        """The rows whose key has this prefix, in the order of their keys; with ``most`` only the first.

        ``after`` is the rest of a key: only rows behind it.
        """
        ...

    def tail(self, table: RowTable, *prefix: DbValue, most: int, before: DbValue = None) -> Sequence[DbRow]:
        """The last rows whose key has this prefix, in the order of their keys, without reading those before.

        With ``before`` the last of those whose key goes on with something lower.
        """
        ...

    def count(self, table: RowTable, *prefix: DbValue) -> int:
        """How many rows have a key with this prefix."""
        ...

    def payments(self, scope: str, most: int, before: int | None) -> Sequence[DbRow]:
        """The number and body of the entries by which a scope paid, for its last charges (below one), oldest first."""
        ...

    def charges(self, numbers: Sequence[int]) -> Mapping[int, DbRow]:
        """By number of a charge: the body of the entry that bought it, and whether it has an answer."""
        ...

    def require(self, need: AnchorNeed) -> None:
        """Request an anchor write from within a transaction."""
        ...

    def depends_on(self, entry: int) -> None:
        """Declare that the result reveals an entry, which the anchor must cover before it is returned."""
        ...


def as_bytes(value: DbValue) -> bytes:
    """The bytes of a row.

    Fails: LedgerBroken where there are none: another program has removed them.
    """
    if not isinstance(value, bytes | bytearray | memoryview):
        raise LedgerBroken(
            "This ledger was changed by another program: a seal or an answer is missing.",
            fix=RESTORE,
            code="ledger-tampered",
        )
    return bytes(value)


def row_of(rows: Rows, table: RowTable, *key: DbValue) -> DbRow:
    """A row that must be there.

    Fails: LedgerBroken if it is not: another program has removed it.
    """
    row = rows.get(table, *key)
    if row is None:
        raise LedgerBroken(
            f"This ledger was changed by another program: the table {table.name} lacks the row of {key[0]!r}.",
            fix=RESTORE,
            code="ledger-tampered",
            facts={"table": table.name},
        )
    return row


def paged(rows: Rows, table: RowTable, after: DbRow = ()) -> Iterator[DbRow]:
    """All rows of a table behind a key, in order, a page at a time: of a long table only a page is in memory."""
    while True:
        page = list(rows.scan(table, most=PAGE, after=after))
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1][: table.key]


class LedgerStore(Protocol):
    """Serial transactions on a ledger's rows."""

    def write(self, transaction: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        """Run a transaction: committed durably as a whole, or not at all."""
        ...

    def read(self, query: Callable[[Rows], T], long: bool = False) -> T:
        """Run a query on one snapshot; a ``long`` one, which reads much, lets others read meanwhile.

        A query may be run again from the beginning.
        """
        ...

    def damage(self) -> str | None:
        """Damage that the database itself reports; None if there is none."""
        ...

    def close(self) -> None:
        """Release files and connections; they are opened again when next needed."""
        ...
