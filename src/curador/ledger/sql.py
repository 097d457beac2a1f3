"""What the two databases share: the tables as SQL, rows within a transaction, and the way a batch is committed."""

from __future__ import annotations

import os
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock, Thread
from typing import Any

from curador.errors import CuradorError, LedgerBroken
from curador.ledger.faults import RESTORE
from curador.ledger.group import GroupCommit, Job
from curador.ledger.keep import Anchor, Mark
from curador.ledger.posting import totals
from curador.ledger.rows import FORMAT, HEAD, TABLES, Cell, Head, Need, Row, Rows, T, Table

Execute = Callable[[str, Sequence[Cell]], Any]

WORTH_A_THREAD = 0.001
"""Seconds a sync must take before it is worth its own thread."""


# ---- statements, written with ? where a value goes -----------------------------------------------------------------


def create(table: Table, types: Mapping[type, str], how: str = "") -> str:
    """The statement that makes a table, and ``how`` in a database's own words.

    >>> from curador.ledger.rows import QUESTION
    >>> create(QUESTION, {int: "INTEGER", str: "TEXT"}, " STRICT")
    'CREATE TABLE question (fingerprint TEXT, charge INTEGER, PRIMARY KEY (fingerprint)) STRICT'
    """
    columns = [f"{name} {types[kind]}" for name, kind in table.columns]
    check = [f"CHECK ({table.check})"] if table.check else []
    return f"CREATE TABLE {table.name} ({', '.join([*columns, f'PRIMARY KEY ({_keys(table)})', *check])}){how}"


@lru_cache
def select(table: Table, given: int, limited: bool = False) -> str:
    """The statement that reads the rows whose key begins with so many given values."""
    where = " AND ".join(f"{name} = ?" for name in table.names[:given])
    order = "" if given == table.key else f" ORDER BY {_keys(table)}"
    limit = " LIMIT ?" if limited else ""
    return f"SELECT {', '.join(table.names)} FROM {table.name}{' WHERE ' * bool(given)}{where}{order}{limit}"


@lru_cache
def insert(table: Table) -> str:
    """The statement that writes a row, over the one with its key unless the table is kept."""
    marks = ", ".join("?" * len(table.names))
    rest = table.names[table.key :]
    over = f" ON CONFLICT ({_keys(table)}) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in rest)}"
    return f"INSERT INTO {table.name} ({', '.join(table.names)}) VALUES ({marks}){'' if table.kept else over}"


def _keys(table: Table) -> str:
    return ", ".join(table.names[: table.key])


@dataclass
class SqlRows:
    """Rows of a database within a transaction."""

    execute: Execute
    head: Head
    needs: set[Need] = field(default_factory=set)

    def get(self, table: Table, *key: Cell) -> Row | None:
        row: Row | None = self.execute(select(table, len(key)), key).fetchone()
        return row

    def put(self, table: Table, *row: Cell) -> None:
        self.execute(insert(table), row)

    def scan(self, table: Table, *prefix: Cell, most: int | None = None) -> Iterator[Row]:
        limit = () if most is None else (most,)
        yield from self.execute(select(table, len(prefix), bool(limit)), (*prefix, *limit))

    def require(self, need: Need) -> None:
        self.needs.add(need)


# ---- transactions ------------------------------------------------------------------------------------------------


class SqlStore(ABC):
    """A database as a store: batches of work in one transaction each, and an anchor beside them.

    Connections are closed before this process forks and opened again when they are next needed: neither database
    survives a connection that two processes share.
    """

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self._seen = -1
        self._unmarked, self._sync = False, 0.0
        self._fresh()
        os.register_at_fork(
            before=_weakly(self._before_fork),
            after_in_parent=_weakly(self._after_fork),
            after_in_child=_weakly(self._fresh),
        )

    # -- what each database does its own way

    @abstractmethod
    def _writer(self) -> AbstractContextManager[Execute]:
        """A transaction beside which nobody writes; undone at the end unless :meth:`_commit` was called."""

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _reader(self) -> AbstractContextManager[Execute]:
        """A transaction that sees one moment."""

    @abstractmethod
    def _telling(self) -> AbstractContextManager[None]:
        """Turns the database's errors into LedgerFailed."""

    @abstractmethod
    def _turn(self) -> AbstractContextManager[Any]:
        """Waits for this process's turn."""

    @abstractmethod
    def _disconnect(self) -> None: ...

    @abstractmethod
    def create(self, genesis: bytes) -> None:
        """Make the tables, unless they are there."""

    @abstractmethod
    def damage(self) -> str | None: ...

    # -- the store

    def write(self, work: Callable[[Rows], T]) -> T:
        done: T = self._group.run(work)
        return done

    def read(self, work: Callable[[Rows], T]) -> T:
        if self._unmarked:  # an answer may be there that the anchor does not cover yet
            self.write(lambda rows: rows.require(Need.AFTER))
        with self._reading, self._telling(), self._reader() as execute:
            return work(SqlRows(execute, _head(execute)))

    def close(self) -> None:
        with self._writing, self._reading:
            self._disconnect()

    def _perform(self, batch: Sequence[Job]) -> None:
        with self._writing, self._telling(), self._turn():
            with self._writer() as execute:
                before = _head(execute)
                if before.sequence < self._seen:
                    raise LedgerBroken("This ledger has lost entries since it was opened.", fix=RESTORE)
                rows = SqlRows(execute, before)
                outcomes = [_attempt(job, rows) for job in batch]
                # Spent never falls, so what is spent now is no less than what was spent where the history stood.
                spent = totals(rows) if rows.needs or self._unmarked else None
                if rows.head != before:
                    rows.put(HEAD, 1, FORMAT, rows.head.sequence, rows.head.charges, rows.head.mac)
                with self._marking(Mark(before, spent) if Need.BEFORE in rows.needs or self._unmarked else None):
                    self._commit()
            self._seen = rows.head.sequence
            if Need.AFTER in rows.needs:
                self._mark(Mark(rows.head, spent))
        for job, (result, error) in zip(batch, outcomes, strict=True):
            job.finish(result, error)

    @contextmanager
    def _marking(self, mark: Mark | None) -> Iterator[None]:
        """Moves the anchor, while the block runs where syncs are slow: two at once take about the time of one."""
        if mark is None or self._sync < WORTH_A_THREAD:
            if mark is not None:
                self._mark(mark)
            yield
            return
        self._unmarked = True  # until the mark is there, nobody may read what the commit stores
        failures: list[Exception] = []
        thread = Thread(target=self._try_mark, args=(mark, failures))
        thread.start()
        try:
            yield
        finally:
            thread.join()
        if failures:
            raise failures[0]

    def _try_mark(self, mark: Mark, failures: list[Exception]) -> None:
        try:
            self._mark(mark)
        except Exception as error:  # noqa: BLE001  told by the thread that waits
            failures.append(error)

    def _mark(self, mark: Mark) -> None:
        start = time.perf_counter()
        try:
            self.anchor.advance(mark)
        except BaseException:
            self._unmarked = True
            raise
        self._unmarked, self._sync = False, time.perf_counter() - start

    # -- forks

    def _fresh(self) -> None:
        self._writing, self._reading = Lock(), Lock()
        self._group = GroupCommit(self._perform)

    def _before_fork(self) -> None:
        self._writing.acquire()
        self._reading.acquire()
        self._disconnect()

    def _after_fork(self) -> None:
        self._reading.release()
        self._writing.release()


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call that does not keep its store alive."""
    found = weakref.WeakMethod(method)

    def call() -> None:
        if (alive := found()) is not None:
            alive()

    return call


def _head(execute: Execute) -> Head:
    row = execute(select(HEAD, 1), (1,)).fetchone()
    if row is None or row[1] != FORMAT:
        raise LedgerBroken("This database is no ledger that this version can read.", fix="Check its address.")
    return Head(row[2], row[3], bytes(row[4]))


def _attempt(job: Job, rows: SqlRows) -> tuple[Any, CuradorError | None]:
    """The outcome of one job; refused, it leaves nothing behind and does not stop the others of its batch."""
    before = rows.head
    rows.execute("SAVEPOINT job", ())
    result, refusal = None, None
    try:
        result = job.work(rows)
    except CuradorError as error:
        rows.head, refusal = before, error
        rows.execute("ROLLBACK TO SAVEPOINT job", ())
    rows.execute("RELEASE SAVEPOINT job", ())
    return result, refusal


def make(execute: Execute, types: Mapping[type, str], how: Callable[[Table], str], genesis: bytes) -> None:
    """Make the tables of a new ledger."""
    for table in TABLES:
        execute(create(table, types, how(table)), ())
    execute(insert(HEAD), (1, FORMAT, 0, 0, genesis))
