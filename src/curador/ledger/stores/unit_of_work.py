"""The rows of a batch of work: each is read at most once, and written once, when all of the work is done.

A batch of many charges touches the same few balances again and again, and a statement costs more than the arithmetic
between two of them.  So jobs work on rows held here.  What a refused job wrote is taken back here, and never reaches
the database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from curador.errors import LedgerBroken
from curador.ledger.stores.rows import TABLES, AnchorNeed, DbRow, DbValue, Head, RowTable

CachedRows = defaultdict[RowTable, dict[DbRow, DbRow | None]]
"""Rows by their keys, as they stand in a database; None where there is none."""

MOST_KNOWN = 20_000
"""How many rows are remembered from one batch to the next."""

_KEPT = tuple(table for table in TABLES if table.kept)


class Database(Protocol):
    """A connection within a transaction; statements have ? where a value goes."""

    def execute(self, statement: str, values: Sequence[DbValue], /) -> Any: ...

    def executemany(self, statement: str, rows: Iterable[DbRow], /) -> Any: ...


@lru_cache
def select(table: RowTable, given: int, limited: bool = False) -> str:
    """The statement that reads the rows whose key begins with so many given values.

    >>> from curador.ledger.stores.rows import QUESTION
    >>> select(QUESTION, 1)
    'SELECT fingerprint, charge FROM question WHERE fingerprint = ?'
    """
    where = " AND ".join(f"{name} = ?" for name in table.names[:given])
    order = "" if given == table.key else f" ORDER BY {', '.join(table.names[: table.key])}"
    limit = " LIMIT ?" if limited else ""
    return f"SELECT {', '.join(table.names)} FROM {table.name}{' WHERE ' * bool(given)}{where}{order}{limit}"


@lru_cache
def insert(table: RowTable) -> str:
    """The statement that writes a row, over the one with its key unless the table is kept.

    >>> from curador.ledger.stores.rows import ANSWER
    >>> insert(ANSWER)
    'INSERT INTO answer (charge, bytes) VALUES (?, ?)'
    """
    marks = ", ".join("?" * len(table.names))
    keys, rest = ", ".join(table.names[: table.key]), table.names[table.key :]
    over = f" ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in rest)}"
    return f"INSERT INTO {table.name} ({', '.join(table.names)}) VALUES ({marks}){'' if table.kept else over}"


class ReadView:
    """The rows of a database within a transaction that only reads."""

    def __init__(self, database: Database, head: Head) -> None:
        self.head, self.rest = head, -1  # on nothing
        self._database = database

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        row: DbRow | None = self._database.execute(select(table, len(key)), key).fetchone()
        return row

    def put(self, table: RowTable, *row: DbValue) -> None:
        raise TypeError("what only reads does not write")

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None) -> Iterator[DbRow]:
        limit = () if most is None else (most,)
        yield from self._database.execute(select(table, len(prefix), bool(limit)), (*prefix, *limit))

    def require(self, need: AnchorNeed) -> None:
        raise TypeError("what only reads says what it rests on")

    def rests_on(self, entry: int) -> None:
        self.rest = max(self.rest, entry)


class UnitOfWork(ReadView):
    """The rows of a database as a batch of jobs will leave them.

    ``known`` are rows that are as they stand in the database where the transaction begins; all that is read and written
    here is added to it, so that it is right again when the transaction is committed, and only then.
    """

    def __init__(self, database: Database, head: Head, known: CachedRows) -> None:
        super().__init__(database, head)
        self.needs: set[AnchorNeed] = set()
        self._start = head
        self._known = known
        self._written: defaultdict[RowTable, dict[DbRow, DbRow]] = defaultdict(dict)
        self.keep()

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        known = self._known[table]
        try:
            return known[key]
        except KeyError:
            known[key] = row = super().get(table, *key)
            return row

    def put(self, table: RowTable, *row: DbValue) -> None:
        key = row[: table.key]
        known, written = self._known[table], self._written[table]
        if table.kept and key in written:  # one that is in the database already is refused there
            raise LedgerBroken(f"The table {table.name} refuses {row!r:.200}.", fix="Report this.")
        self._before.append((table, key, key in known, known.get(key), written.get(key)))
        known[key] = written[key] = row

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None) -> Iterator[DbRow]:
        if self._before:
            raise TypeError("a job looks through tables before it writes to them")
        self.flush()
        return super().scan(table, *prefix, most=most)

    def require(self, need: AnchorNeed) -> None:
        self.needs.add(need)

    def rests_on(self, entry: int) -> None:
        self.needs.add(AnchorNeed.AFTER)

    def keep(self) -> None:
        """What was written until now stays, unless the transaction fails."""
        self._before: list[tuple[RowTable, DbRow, bool, DbRow | None, DbRow | None]] = []
        self._head = self.head

    def undo(self) -> None:
        """Go back to what was last kept."""
        for table, key, seen, row, written in reversed(self._before):
            if seen:
                self._known[table][key] = row
            else:
                del self._known[table][key]
            if written is None:
                del self._written[table][key]
            else:
                self._written[table][key] = written
            if not self._written[table]:
                del self._written[table]
        self._before.clear()
        self.head = self._head

    def flush(self) -> None:
        """Write what was kept.

        Fails: LedgerBroken for rows without an entry, since others see by the head that something was written.
        """
        if self._written and self.head == self._start:
            raise LedgerBroken("Rows would be written without an entry.", fix="Report this.")
        for table, rows in self._written.items():
            self._database.executemany(insert(table), rows.values())
        self._written.clear()


def nothing_known() -> CachedRows:
    """What is known of a database that somebody else may have written to."""
    return defaultdict(dict)


def remembered(known: CachedRows) -> CachedRows:
    """What is worth knowing in the next batch, if nobody writes in between: no answers and no lines, and not too much.

    >>> from curador.ledger.stores.rows import ENTRY, QUESTION
    >>> known = nothing_known()
    >>> known[QUESTION]["f",], known[ENTRY][1,] = ("f", 1), (1, "{}", b"")
    >>> remembered(known)[QUESTION], remembered(known)[ENTRY]
    ({('f',): ('f', 1)}, {})
    """
    for table in _KEPT:
        known.pop(table, None)
    return known if sum(map(len, known.values())) <= MOST_KNOWN else nothing_known()
