"""The rows of a batch of transactions: each is read at most once, and written once, when the whole batch is done.

A batch of many charges touches the same few balances again and again, and a statement costs more than the arithmetic
between two of them.  So jobs work on rows cached here.  The writes of a refused job are rolled back here, and never
reach the database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol

from curador.errors import LedgerBroken
from curador.ledger.entries import Reserved
from curador.ledger.stores.rows import (
    ANSWER,
    ENTRY,
    PAID,
    QUESTION,
    TABLES,
    AnchorNeed,
    DbRow,
    DbValue,
    Head,
    RowTable,
)

CachedRows = defaultdict[RowTable, dict[DbRow, DbRow | None]]
"""Rows by their keys, as they are in the database; None where there is none."""

MOST_CACHED = 20_000
"""The most rows that are kept in the cache from one batch to the next."""

PASSING = (ENTRY, PAID)
"""Tables whose rows are seldom needed after their transaction."""

SETTLED = frozenset({ANSWER, QUESTION})
"""Tables whose rows are seldom needed either; that there is none is, when a charge is settled."""

FEW, MOST_TOGETHER = 8, 64
"""So few rows are written one by one, as is quickest then; and so many at most by one statement."""

_UNREAD: DbRow = ("not read yet",)


class Database(Protocol):
    """A connection within a transaction; statements have ? where a value goes."""

    def execute(self, statement: str, values: Sequence[DbValue], /) -> Any: ...

    def executemany(self, statement: str, rows: Iterable[DbRow], /) -> Any: ...


@lru_cache
def select(
    table: RowTable,
    given: int,
    limited: bool = False,
    newest: bool = False,
    below: bool = False,
    after: bool = False,
    prefix: str = "",
) -> str:
    """The statement that reads the rows whose key begins with ``given`` values; ``newest`` from the last key on.

    ``below``: only rows whose key goes on with something lower than a value; ``after``: only rows behind the rest of a
    key.

    >>> from curador.ledger.stores.rows import ENTRY, PAID, QUESTION
    >>> select(QUESTION, 1)
    'SELECT fingerprint, charge FROM question WHERE fingerprint = ?'
    >>> select(PAID, 1, limited=True, newest=True)
    'SELECT scope, charge, entry FROM paid WHERE scope = ? ORDER BY scope DESC, charge DESC LIMIT ?'
    >>> select(PAID, 0, after=True)
    'SELECT scope, charge, entry FROM paid WHERE (scope, charge) > (?, ?) ORDER BY scope, charge'
    """
    tests = [f"{name} = ?" for name in table.names[:given]] + [f"{table.names[given]} < ?"] * below
    if after:
        rest = table.names[given : table.key]
        tests.append(f"({', '.join(rest)}) > ({', '.join('?' * len(rest))})" if rest[1:] else f"{rest[0]} > ?")
    where = " AND ".join(tests)
    down = " DESC" if newest else ""
    order = "" if given == table.key else f" ORDER BY {', '.join(n + down for n in table.names[: table.key])}"
    limit = " LIMIT ?" if limited else ""
    return f"SELECT {', '.join(table.names)} FROM {prefix}{table.name}{' WHERE ' * bool(tests)}{where}{order}{limit}"


@lru_cache
def insert(table: RowTable, prefix: str = "", rows: int = 1) -> str:
    """The statement that writes so many rows, each over the one with its key unless the table is append-only.

    >>> from curador.ledger.stores.rows import ENTRY, ANSWER
    >>> insert(ANSWER)
    'INSERT INTO answer (charge, bytes) VALUES (?, ?)'
    >>> insert(ANSWER, rows=2)
    'INSERT INTO answer (charge, bytes) VALUES (?, ?), (?, ?)'
    """
    marks = ", ".join([f"({', '.join('?' * len(table.names))})"] * rows)
    keys, rest = ", ".join(table.names[: table.key]), table.names[table.key :]
    over = f" ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in rest)}"
    into = f"{prefix}{table.name} ({', '.join(table.names)})"
    return f"INSERT INTO {into} VALUES {marks}{'' if table.append_only else over}"


@lru_cache
def inserts(prefix: str) -> Mapping[RowTable, str]:
    """The statement that writes one row, of every table: one lookup for all that a transaction writes."""
    return {table: insert(table, prefix) for table in TABLES}


_PAYMENTS = (
    "SELECT sequence, body FROM (SELECT charge, entry FROM {0}paid WHERE scope = ? {1}ORDER BY charge DESC LIMIT ?) "
    "AS payment JOIN {0}entry ON sequence = entry ORDER BY charge DESC"
)
_CHARGES = (
    "SELECT number, body, answer.charge IS NOT NULL FROM {0}charge JOIN {0}entry ON sequence = entry "
    "LEFT JOIN {0}answer ON answer.charge = number WHERE number IN ({1})"
)


class ReadView:
    """The rows of a database within a read-only transaction; ``depends`` is the newest entry its result reveals."""

    def __init__(self, database: Database, head: Head, prefix: str = "") -> None:
        self.head, self.depends = head, -1  # on none
        self.begun = head
        self._database, self._prefix = database, prefix

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        row: DbRow | None = self._database.execute(select(table, len(key), prefix=self._prefix), key).fetchone()
        return row

    def put(self, table: RowTable, *row: DbValue) -> None:
        raise TypeError("a read-only view cannot write")

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None, after: DbRow = ()) -> Iterator[DbRow]:
        limit = () if most is None else (most,)
        statement = select(table, len(prefix), bool(limit), after=bool(after), prefix=self._prefix)
        yield from self._database.execute(statement, (*prefix, *after, *limit))

    def tail(self, table: RowTable, *prefix: DbValue, most: int, before: DbValue = None) -> Sequence[DbRow]:
        below = () if before is None else (before,)
        statement = select(table, len(prefix), limited=True, newest=True, below=bool(below), prefix=self._prefix)
        return list(self._database.execute(statement, (*prefix, *below, most)))[::-1]

    def count(self, table: RowTable, *prefix: DbValue) -> int:
        where = " AND ".join(f"{name} = ?" for name in table.names[: len(prefix)])
        statement = f"SELECT count(*) FROM {self._prefix}{table.name}{' WHERE ' * bool(prefix)}{where}"
        return int(self._database.execute(statement, prefix).fetchone()[0])

    def payments(self, scope: str, most: int, before: int | None) -> Sequence[DbRow]:
        statement = _PAYMENTS.format(self._prefix, "" if before is None else "AND charge < ? ")
        values = (scope, most) if before is None else (scope, before, most)
        return list(self._database.execute(statement, values))[::-1]

    def charges(self, numbers: Sequence[int]) -> Mapping[int, DbRow]:
        if not numbers:
            return {}
        statement = _CHARGES.format(self._prefix, ", ".join("?" * len(numbers)))
        found = self._database.execute(statement, numbers)
        return {number: (line, bool(answered)) for number, line, answered in found}

    def append(self, head: Head, line: str, entry: Any) -> None:
        raise TypeError("a read-only view cannot write")

    def require(self, need: AnchorNeed) -> None:
        raise TypeError("a read-only view cannot require an anchor write")

    def depends_on(self, entry: int) -> None:
        self.depends = max(self.depends, entry)


class UnitOfWork(ReadView):
    """The rows of a database as a batch of jobs will leave them.

    ``cache`` holds rows as they are in the database when the transaction begins.  All that is read and written here is
    added to it, so that it agrees with the database again once the transaction is committed, and only then.
    """

    def __init__(self, database: Database, head: Head, cache: CachedRows, prefix: str = "") -> None:
        self.head = self.begun = head
        self._database, self._prefix = database, prefix  # as of a view, without a call: it is often
        self.anchored = False
        """Whether the anchor must cover what was written here before a result is returned."""
        self.made: list[tuple[int, str, bytes, Any]] = []
        """The entries that were written so far, with what they say."""
        self.settled: list[tuple[RowTable, Iterable[DbRow]]] = []
        """Keys of rows of such tables that are there."""
        self._cache = cache
        self._written: defaultdict[RowTable, dict[DbRow, DbRow]] = defaultdict(dict)
        self._undo: list[tuple[RowTable, DbRow, DbRow | None, bool]] = []
        self._head, self._kept = head, 0

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        cached = self._cache[table]
        try:
            return cached[key]
        except KeyError:
            cached[key] = row = ReadView.get(self, table, *key)
            if row is not None and table in SETTLED:
                self.settled.append((table, (key,)))
            return row

    def put(self, table: RowTable, *row: DbValue) -> None:
        key = row[: table.key]
        cached, written = self._cache[table], self._written[table]
        again = key in written
        if again and table.append_only:  # one that is in the database already is refused there
            raise LedgerBroken(
                f"The table {table.name} refuses {row!r:.200}.", fix="Report this.", code="ledger-defect"
            )
        self._undo.append((table, key, cached.get(key, _UNREAD), again))
        cached[key] = written[key] = row

    def append(self, head: Head, line: str, entry: Any) -> None:
        # SQLite's driver takes a bytearray as it is, and looks for an adapter of bytes in three places each time.
        sequence, charges, mac, at = head
        self.put(ENTRY, sequence, charges, at, bytearray(mac), line)
        self.head = head
        self.made.append((sequence, line, mac, entry))
        if type(entry) is Reserved:  # of a charge that is new: it is not looked up when it is settled
            self._cache[ANSWER][(entry.charge,)] = None

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None, after: DbRow = ()) -> Iterator[DbRow]:
        self._flush_before_scan()
        return super().scan(table, *prefix, most=most, after=after)

    def tail(self, table: RowTable, *prefix: DbValue, most: int, before: DbValue = None) -> Sequence[DbRow]:
        self._flush_before_scan()
        return super().tail(table, *prefix, most=most, before=before)

    def _flush_before_scan(self) -> None:
        if self._undo:
            raise TypeError("a job scans tables before it writes to them")
        self.flush()

    def require(self, need: AnchorNeed) -> None:
        self.anchored = True

    def depends_on(self, entry: int) -> None:
        self.anchored = True

    def savepoint(self) -> None:
        """Keep every write so far, unless the transaction fails."""
        self._undo = []
        self._head, self._kept = self.head, len(self.made)

    def rollback(self) -> None:
        """Undo every write since the last savepoint."""
        for table, key, row, again in reversed(self._undo):
            if row is _UNREAD:
                del self._cache[table][key]
            else:
                self._cache[table][key] = row
            if again and row is not None:  # what is written is what is cached
                self._written[table][key] = row
            else:
                del self._written[table][key]
            if not self._written[table]:
                del self._written[table]
        self._undo.clear()
        self.head = self._head
        del self.made[self._kept :]

    def flush(self) -> None:
        """Send every kept write to the database.

        Fails: LedgerBroken for rows without an entry: other processes notice a write by the head it moves.
        """
        if self._written and ENTRY not in self._written:
            raise LedgerBroken("Rows would be written without an entry.", fix="Report this.", code="ledger-defect")
        database, statements = self._database, inserts(self._prefix)
        for table, rows in self._written.items():
            if table in SETTLED:
                self.settled.append((table, rows))
            if len(rows) == 1:
                (row,) = rows.values()
                database.execute(statements[table], row)
            elif len(rows) < FEW:
                database.executemany(statements[table], rows.values())
            else:
                self._write_together(table, list(rows.values()))
        self._written = defaultdict(dict)

    def _write_together(self, table: RowTable, rows: Sequence[DbRow]) -> None:
        """Write many rows with few statements.

        A driver lets other threads run during each statement, and then waits for its turn: with a group's hundreds of
        rows, that is most of what it does.
        """
        first = 0
        while rest := len(rows) - first:
            count = min(MOST_TOGETHER, 1 << rest.bit_length() - 1)  # powers of two: few statements are kept compiled
            part = chain.from_iterable(rows[first : first + count])
            self._database.execute(insert(table, self._prefix, count), [*part])
            first += count


def empty_cache() -> CachedRows:
    """A cache for a database that others may have written to."""
    return defaultdict(dict)


def carry_over(rows: UnitOfWork, cache: CachedRows) -> CachedRows:
    """The part of a batch's cache that the next one may use if no other process writes in between.

    Rows of ``PASSING`` and ``SETTLED`` tables are dropped, and everything if it is more than ``MOST_CACHED`` rows.
    """
    for table in PASSING:
        cache[table].clear()
    for table, keys in rows.settled:
        kept = cache[table]
        for key in keys:
            kept.pop(key, None)
    return cache if sum(map(len, cache.values())) <= MOST_CACHED else empty_cache()
