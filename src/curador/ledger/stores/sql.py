"""What the two databases share: their tables as SQL, and the way a batch is committed."""

from __future__ import annotations

import os
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any

from curador.errors import CuradorError, LedgerBroken, LedgerFailed
from curador.ledger.anchor import Anchor, Mark
from curador.ledger.faults import RESTORE
from curador.ledger.posting import totals
from curador.ledger.stores.group_commit import GroupCommit, Job
from curador.ledger.stores.rows import FORMAT, HEAD, TABLES, AnchorNeed, Head, Rows, RowTable, T
from curador.ledger.stores.unit_of_work import (
    CachedRows,
    Database,
    ReadView,
    UnitOfWork,
    insert,
    nothing_known,
    remembered,
    select,
)

WORTH_A_THREAD = 0.0003
"""Seconds a mark must take before it is worth another thread: to hand it over takes about as long as a quick sync."""


def create(table: RowTable, types: Mapping[type, str], how: str = "") -> str:
    """The statement that makes a table, and ``how`` in a database's own words.

    >>> from curador.ledger.stores.rows import QUESTION
    >>> create(QUESTION, {int: "INTEGER", str: "TEXT"}, " STRICT")
    'CREATE TABLE question (fingerprint TEXT, charge INTEGER, PRIMARY KEY (fingerprint)) STRICT'
    """
    columns = [f"{name} {types[kind]}" for name, kind in table.columns]
    keys = ", ".join(table.names[: table.key])
    check = [f"CHECK ({table.check})"] if table.check else []
    return f"CREATE TABLE {table.name} ({', '.join([*columns, f'PRIMARY KEY ({keys})', *check])}){how}"


# ---- transactions ------------------------------------------------------------------------------------------------


class Telling:
    """Turns a database's errors into LedgerFailed."""

    def __init__(self, told: Callable[[Exception], LedgerFailed | None]) -> None:
        self._told = told

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if isinstance(error, Exception) and (ours := self._told(error)) is not None:
            raise ours from None


class SqlStore(ABC):
    """A database as a store: batches of work in one transaction each, and an anchor beside them.

    Connections are closed before this process forks and opened again when they are next needed: neither database
    survives a connection that two processes share.
    """

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self._seen = -1
        self._telling = Telling(self._told)
        self._sync = 0.0
        self._memory: tuple[Head | None, CachedRows] = None, nothing_known()
        self._helper: ThreadPoolExecutor | None = None
        self._fresh()
        os.register_at_fork(
            before=_weakly(self._before_fork),
            after_in_parent=_weakly(self._after_fork),
            after_in_child=_weakly(self._fresh),
        )

    # -- what each database does its own way

    @abstractmethod
    def _writer(self) -> AbstractContextManager[Database]:
        """A transaction beside which nobody writes; undone at the end unless :meth:`_commit` was called."""

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _reader(self) -> AbstractContextManager[Database]:
        """A transaction that sees one moment."""

    @abstractmethod
    def _told(self, error: Exception) -> LedgerFailed | None:
        """The database's own error in our words; None for any other."""

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

    def write(self, work: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        done: T = self._group.run(work, need)
        return done

    def read(self, work: Callable[[Rows], T]) -> T:
        with self._reading, self._telling, self._reader() as database:
            rows = ReadView(database, _head(database))
            done = work(rows)
            if rows.rest > self.anchor.reached:
                self.anchor.advance(Mark(rows.head, totals(rows)))
            return done

    def close(self) -> None:
        with self._writing, self._reading:
            self._disconnect()
            self.anchor.close()
            if self._helper is not None:
                self._helper.shutdown()
                self._helper = None

    def _perform(self, batch: Sequence[Job]) -> None:
        with self._writing, self._telling, self._turn():
            with self._writer() as database:
                before = _head(database)
                if before.sequence < self._seen:
                    raise LedgerBroken("This ledger has lost entries since it was opened.", fix=RESTORE)
                known = self._recall(before)
                rows = UnitOfWork(database, before, known)
                answers = any(job.need is AnchorNeed.BEFORE for job in batch)
                with self._marking(Mark(before, totals(rows))) if answers else nullcontext():
                    outcomes = [_attempt(job, rows) for job in batch]
                    rows.flush()
                    spent = totals(rows) if rows.needs else None
                    if rows.head != before:
                        database.execute(insert(HEAD), (1, FORMAT, *rows.head))
                    self._commit()
            self._seen = rows.head.sequence
            self._memory = rows.head, remembered(known)
            if AnchorNeed.AFTER in rows.needs:
                self._mark(Mark(rows.head, spent))
        for job, (result, error) in zip(batch, outcomes, strict=True):
            job.finish(result, error)

    def _recall(self, head: Head) -> CachedRows:
        """What the last batch knew, if the history still ends where it left it: every writer moves the head.

        Forgotten until it is told again, so that nothing is remembered of a transaction that may have failed.
        """
        left, known = self._memory
        self._memory = None, nothing_known()
        return known if left == head else nothing_known()

    @contextmanager
    def _marking(self, mark: Mark) -> Iterator[None]:
        """Moves the anchor while the block runs, unless syncs are quick: two at once take about the time of one."""
        if self._sync < WORTH_A_THREAD:
            self._mark(mark)
            yield
            return
        if self._helper is None:
            self._helper = ThreadPoolExecutor(1, "curador anchor")
        try:
            marked = self._helper.submit(self._mark, mark)
        except RuntimeError:  # this process is ending, and no thread can be had
            self._mark(mark)
            yield
            return
        try:
            yield
        finally:
            failure = marked.exception()  # waits
        if failure is not None:
            raise failure

    def _mark(self, mark: Mark) -> None:
        start = time.perf_counter()
        if self.anchor.advance(mark):
            self._sync = time.perf_counter() - start

    # -- forks

    def _fresh(self) -> None:
        self._writing, self._reading = Lock(), Lock()
        self._group = GroupCommit(self._perform)
        self._helper = None

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


def _head(database: Database) -> Head:
    row = database.execute(select(HEAD, 1), (1,)).fetchone()
    if row is None or row[1] != FORMAT:
        raise LedgerBroken("This database is no ledger that this version can read.", fix="Check its address.")
    return Head(row[2], row[3], bytes(row[4]))


def _attempt(job: Job, rows: UnitOfWork) -> tuple[Any, CuradorError | None]:
    """The outcome of one job; refused, it leaves nothing behind and does not stop the others of its batch."""
    try:
        result = job.work(rows)
    except CuradorError as error:
        rows.undo()
        return None, error
    rows.keep()
    return result, None


def make(database: Database, types: Mapping[type, str], how: Callable[[RowTable], str], genesis: bytes) -> None:
    """Make the tables of a new ledger."""
    for table in TABLES:
        database.execute(create(table, types, how(table)), ())
    database.execute(insert(HEAD), (1, FORMAT, 0, 0, genesis))
