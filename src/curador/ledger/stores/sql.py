"""The store that SQLite and PostgreSQL share: tables as SQL, batches committed with an anchor, and fork safety."""

from __future__ import annotations

import os
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from threading import Lock
from typing import Any

from curador.errors import CuradorError, LedgerBroken, LedgerFailed
from curador.ledger.anchor import Anchor
from curador.ledger.stores.group_commit import GroupCommit, Job
from curador.ledger.stores.rows import (
    ENTRY,
    FORMAT,
    HEAD,
    RESTORE,
    TABLES,
    AnchorNeed,
    DbRow,
    Head,
    Rows,
    RowTable,
    T,
    paged,
)
from curador.ledger.stores.unit_of_work import (
    CachedRows,
    Database,
    ReadView,
    UnitOfWork,
    carry_over,
    empty_cache,
    insert,
    select,
)

MOST_UNMARKED = 1000
"""The most entries that are kept for the next mark; if there are more, it reads them."""

WORTH_A_THREAD = 0.0003
"""Seconds an anchor write must take to be worth another thread: a hand-over takes about as long as a quick sync."""


def create(table: RowTable, types: Mapping[type, str], options: str = "") -> str:
    """The statement that creates a table, with the database's own options behind it.

    >>> from curador.ledger.stores.rows import QUESTION
    >>> create(QUESTION, {int: "INTEGER", str: "TEXT"}, " STRICT")
    'CREATE TABLE question (fingerprint TEXT, charge INTEGER, PRIMARY KEY (fingerprint)) STRICT'
    """
    columns = [f"{name} {types[kind]}" for name, kind in table.columns]
    keys = ", ".join(table.names[: table.key])
    check = [] if table.check is None else [f"CHECK ({table.check.sql})"]
    return f"CREATE TABLE {table.name} ({', '.join([*columns, f'PRIMARY KEY ({keys})', *check])}){options}"


# ---- transactions ------------------------------------------------------------------------------------------------


class TranslatedErrors:
    """Raises a driver's errors as LedgerFailed."""

    def __init__(self, translated: Callable[[Exception], LedgerFailed | None]) -> None:
        self._translated = translated

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if isinstance(error, Exception) and (ours := self._translated(error)) is not None:
            raise ours from None


class SqlStore(ABC):
    """A database as a store: each batch of jobs is one transaction, and an anchor is written beside it.

    Connections are closed before this process forks and opened again when they are next needed: neither database
    survives a connection that two processes share.

    Guarantee: the anchor covers every entry that a returned result reveals.
    """

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self.checking = False  # until its opening has compared it with the anchor, or taken an older copy into use
        # The last head seen here, and the newest mark that its history is known to contain.
        self._known: tuple[Head | None, Head | None] = None, None
        self._translating = TranslatedErrors(self._translated)
        self._sync = 0.0
        self._memory: tuple[Head | None, CachedRows] = None, empty_cache()
        # Entries of this process up to the head that its last batch left, and the number of the entry before them.
        self._unmarked: tuple[int, list[DbRow]] = 0, []
        self._helper: ThreadPoolExecutor | None = None
        self._fresh()
        os.register_at_fork(
            before=_weakly(self._before_fork),
            after_in_parent=_weakly(self._after_fork),
            after_in_child=_weakly(self._fresh),
        )

    # -- what each database implements

    @abstractmethod
    def _writer(self) -> AbstractContextManager[Database]:
        """An exclusive write transaction; rolled back at the end unless :meth:`_commit` was called."""

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _reader(self, use: str) -> AbstractContextManager[Database]:
        """A read transaction on one snapshot, on the connection for this use."""

    @abstractmethod
    def _translated(self, error: Exception) -> LedgerFailed | None:
        """A driver's error as ours; None for any other."""

    @abstractmethod
    def _turn(self) -> AbstractContextManager[Any]:
        """Waits until it is this process's turn to write."""

    @abstractmethod
    def _disconnect(self) -> None: ...

    @abstractmethod
    def create(self, genesis: bytes) -> None:
        """Create the tables, unless they exist."""

    @abstractmethod
    def damage(self) -> str | None: ...

    # -- the store

    def write(self, transaction: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        result: T = self._group.run(transaction, need)
        return result

    def read(self, query: Callable[[Rows], T], long: bool = False) -> T:
        turn = self._looking if long else self._reading
        with turn, self._translating, ExitStack() as transaction:
            known, mark = self._known, self._newest()  # older than the snapshot, which must contain both
            database = transaction.enter_context(self._reader("look" if long else "read"))
            rows = ReadView(database, _head(database))
            self._require_continued(rows, known, mark)
            result = query(rows)
            if rows.depends > self.anchor.reached:
                self._cover(rows)
            return result

    def close(self) -> None:
        with self._writing, self._reading, self._looking:
            self._disconnect()
            self.anchor.close()
            if self._helper is not None:
                self._helper.shutdown()
                self._helper = None

    def _perform(self, batch: Sequence[Job]) -> None:
        with self._writing, self._translating, self._turn(), ExitStack() as held:
            with self._writer() as database:
                before = _head(database)
                mark = self._newest()  # of a committed head, so that it is never ahead of this one
                self._require_continued(ReadView(database, before), self._known, mark)
                if self._memory[0] != before:
                    self._unmarked = before.sequence, []
                cache = self._recall(before)
                rows = UnitOfWork(database, before, cache)
                beside = after = None
                if any(job.need is AnchorNeed.BEFORE for job in batch) and before.sequence > self.anchor.reached:
                    beside = self._begin_mark(held, before, *self._since(rows, held.enter_context(self.anchor.hold())))
                outcomes = [_attempt(job, rows) for job in batch]
                rows.flush()
                if AnchorNeed.AFTER in rows.needs and rows.head.sequence > self.anchor.reached:
                    # From here on until it is written nobody else marks: the entries since the newest mark are these.
                    own = rows.appended, True
                    after = own if beside else self._since(rows, held.enter_context(self.anchor.hold()))
                if rows.head != before:
                    database.execute(insert(HEAD), (1, FORMAT, *rows.head))
                self._commit()
            self._known = rows.head, mark
            self._memory = rows.head, carry_over(cache)
            self._unmarked[1].extend(rows.appended)
            if beside is not None:
                beside()
                self._known, self._unmarked = (rows.head, before), (before.sequence, rows.appended)
            if after is not None:
                self._mark(rows.head, *after)
                self._known, self._unmarked = (rows.head, rows.head), (rows.head.sequence, [])
            if len(self._unmarked[1]) > MOST_UNMARKED:
                self._unmarked = rows.head.sequence, []
        for job, (result, error) in zip(batch, outcomes, strict=True):
            job.finish(result, error)

    def _newest(self) -> Head | None:
        return self.anchor.newest() if self.checking else None

    def _since(self, rows: UnitOfWork, mark: Head) -> tuple[list[DbRow], bool]:
        """The entries since a mark, and whether all of them are known here; otherwise they are read."""
        first, known = self._unmarked
        if first <= mark.sequence:
            return [entry for entry in (*known, *rows.appended) if entry[0] > mark.sequence], True
        return list(paged(rows, ENTRY, (mark.sequence,))), False

    def _cover(self, rows: ReadView) -> None:
        """Mark what a read reveals: it may have been settled by a process that has not come so far yet."""
        with self.anchor.hold() as mark:
            if mark.sequence >= rows.depends:
                self.anchor.append(mark, ())
                return
            self._require_continued(rows, (None, None), mark)
            self.anchor.append(rows.head, paged(rows, ENTRY, (mark.sequence,)))

    def _require_continued(self, rows: ReadView, known: tuple[Head | None, Head | None], mark: Head | None) -> None:
        """Refuse a history that lacks the last head seen here or the anchor's mark: the database was put back.

        A head's seal stands for all entries before it.  So nothing is looked up where nobody else has written.
        """
        seen, contained = known
        unsure = {head for head in (seen, None if mark == contained else mark) if head not in (None, rows.head)}
        for head in unsure:
            if head is not None and head.sequence and not contains(rows, head):
                raise LedgerBroken(
                    f"This ledger ends with entry {rows.head.sequence} and lacks entry {head.sequence}, which was seen "
                    "before: it was put back while it was in use.",
                    fix=RESTORE,
                    code="ledger-lost-entries",
                    facts={"entries": rows.head.sequence, "seen": head.sequence},
                )

    def _recall(self, head: Head) -> CachedRows:
        """The last batch's cache, if the history still ends where that batch left it: every writer moves the head.

        It is dropped here and set again after the commit, so that nothing is kept of a transaction that may have
        failed.
        """
        left, cache = self._memory
        self._memory = None, empty_cache()
        return cache if left == head else empty_cache()

    def _begin_mark(self, held: ExitStack, head: Head, entries: list[DbRow], own: bool) -> Callable[[], None]:
        """Mark a head in another thread, since concurrent syncs overlap; at once where syncs are quick.

        What is returned waits until it is done; the anchor is ``held`` until then in any case.
        """
        if self._sync >= WORTH_A_THREAD:
            if self._helper is None:
                self._helper = ThreadPoolExecutor(1, "curador anchor")
            with suppress(RuntimeError):  # this process is exiting, and no thread can be started
                marked = self._helper.submit(self._mark, head, entries, own)
                held.callback(marked.exception)
                return marked.result
        self._mark(head, entries, own)
        return lambda: None

    def _mark(self, head: Head, entries: list[DbRow], own: bool) -> None:
        start = time.perf_counter()
        self.anchor.append(head, entries, own=own)
        self._sync = time.perf_counter() - start

    # -- forks

    def _fresh(self) -> None:
        self._writing, self._reading, self._looking = Lock(), Lock(), Lock()
        self.anchor.after_fork()
        self._group = GroupCommit(self._perform)
        self._helper = None

    def _before_fork(self) -> None:
        self._writing.acquire()
        self._reading.acquire()
        self._looking.acquire()
        self._disconnect()

    def _after_fork(self) -> None:
        self._looking.release()
        self._reading.release()
        self._writing.release()


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call to a method that does not keep its object alive."""
    found = weakref.WeakMethod(method)

    def call() -> None:
        if (alive := found()) is not None:
            alive()

    return call


def _head(database: Database) -> Head:
    row = database.execute(select(HEAD, 1), (1,)).fetchone()
    if row is None or row[1] != FORMAT:
        raise LedgerBroken(
            "This database is not a ledger that this version can read.",
            fix="Check its address.",
            code="ledger-format-unknown",
        )
    return Head(row[2], row[3], bytes(row[4]), row[5])


def contains(rows: Rows, head: Head) -> bool:
    """Whether a history has this entry, by its seal; the beginning is in every history."""
    entry = rows.get(ENTRY, head.sequence)
    return head.sequence == 0 or (entry is not None and bytes(entry[2]) == head.mac)


def _attempt(job: Job, rows: UnitOfWork) -> tuple[Any, CuradorError | None]:
    """The outcome of one job; a refused one leaves nothing behind and does not stop the others of its batch."""
    try:
        result = job.transaction(rows)
    except CuradorError as error:
        rows.rollback()
        return None, error
    rows.savepoint()
    return result, None


def create_tables(
    database: Database, types: Mapping[type, str], options: Callable[[RowTable], str], genesis: bytes
) -> None:
    """Create the tables of a new ledger."""
    for table in TABLES:
        database.execute(create(table, types, options(table)), ())
    database.execute(insert(HEAD), (1, FORMAT, 0, 0, genesis, ""))
