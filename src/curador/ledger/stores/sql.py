"""The store that SQLite and PostgreSQL share: tables as SQL, batches committed with an anchor, and fork safety."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from operator import attrgetter
from threading import RLock

from curador.errors import CuradorError, InvalidParameter, LedgerBroken, LedgerFailed
from curador.forks import after_fork
from curador.ledger.anchor.log import Anchor
from curador.ledger.anchor.summary import Newer, OwnEntries, StoredEntries
from curador.ledger.entries import Sealed
from curador.ledger.stores.group_commit import GroupCommit, Job
from curador.ledger.stores.rows import (
    ANSWER,
    BEFORE,
    ENTRY,
    FORMAT,
    HEAD,
    RESTORE,
    TABLES,
    AnchorNeed,
    Head,
    Rows,
    RowTable,
    T,
    as_bytes,
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

SYNCS = 4
"""The least of so many anchor writes says how long one takes: a single one may have waited for the processor."""

WORTH_A_THREAD = 0.0003
"""Seconds an anchor write must take to be worth another thread: a hand-over takes about as long as a quick sync."""


def create(table: RowTable, types: Mapping[type, str], options: str = "", prefix: str = "") -> str:
    """The statement that creates a table, with the database's own options behind it.

    >>> from curador.ledger.stores.rows import QUESTION
    >>> create(QUESTION, {int: "INTEGER", str: "TEXT"}, " STRICT")
    'CREATE TABLE question (fingerprint TEXT, charge INTEGER, PRIMARY KEY (fingerprint)) STRICT'
    """
    needed = " NOT NULL" if table in (ENTRY, ANSWER, HEAD) else ""
    columns = [f"{name} {types[kind]}{needed}" for name, kind in table.columns]
    keys = ", ".join(table.names[: table.key])
    check = [] if table.check is None else [f"CHECK ({table.check.sql})"]
    return f"CREATE TABLE {prefix}{table.name} ({', '.join([*columns, f'PRIMARY KEY ({keys})', *check])}){options}"


_NEED = attrgetter("need")

_NOTHING: tuple[None, CachedRows] = None, empty_cache()
"""What is remembered of a batch that may have failed."""


# ---- transactions ------------------------------------------------------------------------------------------------


class TranslatedErrors:
    """Raises a driver's errors as LedgerFailed."""

    def __init__(self, translated: Callable[[Exception], LedgerFailed | LedgerBroken | None]) -> None:
        self._translated = translated

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if isinstance(error, Exception):
            self.refuse(error)

    def refuse(self, error: Exception) -> None:
        """Raise an error as ours, if it is a driver's."""
        if isinstance(error, UnicodeEncodeError):
            raise not_text() from None
        if (ours := self._translated(error)) is not None:
            raise ours from None


class SqlStore(ABC):
    """A database as a store: each batch of jobs is one transaction, and an anchor is written beside it.

    A child of this process has connections, files and locks of its own: neither database survives a connection that
    two processes share.

    Guarantee: the anchor covers every entry that a returned result reveals.  An exception raised at any instant, as by
    a signal, ends the transaction, and leaves this process and all others able to go on.
    """

    prefix = ""
    """What stands before the name of a table in every statement."""

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self.checking = False  # until its opening has compared it with the anchor, or taken an older copy into use
        self._compare: Callable[[Rows], None] | None = None
        self._unmarkable = False  # whether the last mark failed
        # The last head seen here, and the newest mark that its history is known to contain.
        self._known: tuple[Head | None, Head | None] = None, None
        self._translating = TranslatedErrors(self._translated)
        self._syncs = deque([0.0], maxlen=SYNCS)
        self._genesis = b""  # the seal before the first entry, once the tables are there
        self._read_head = (
            f"SELECT {', '.join(Head._fields)} FROM {self.prefix}{ENTRY.name} ORDER BY sequence DESC LIMIT 1"
        )
        self._helper: ThreadPoolExecutor | None
        self._memory: tuple[Head | None, CachedRows]
        # Entries of this process up to the head that its last batch left, and the head before them.
        self._unmarked: tuple[Head, list[Sealed]]
        self.made_anew()
        after_fork(self)

    # -- what each database implements

    @abstractmethod
    def _in_write(self, work: Callable[[Database], T]) -> T:
        """Run work in an exclusive transaction, when it is this process's turn.

        It is committed by :meth:`_commit`, and rolled back if anything is raised before that, at whatever instant.
        """

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _in_read(self, work: Callable[[Database], T], long: bool = False) -> T:
        """Run work in a read transaction on one snapshot; ``long``, on a connection that no other work waits for."""

    @abstractmethod
    def _translated(self, error: Exception) -> LedgerFailed | LedgerBroken | None:
        """A driver's error as ours; None for any other."""

    @abstractmethod
    def _disconnect(self) -> None: ...

    @abstractmethod
    def create(self, genesis: bytes) -> None:
        """Create the tables, unless they exist."""

    @abstractmethod
    def damage(self) -> str | None: ...

    # -- the store

    def watch(self, compare: Callable[[Rows], None]) -> None:
        """From now on ``compare`` balances with the anchor where the database may have been written past this class."""
        self._compare = compare

    def write(self, transaction: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        result: T = self._group.run(transaction, need)
        return result

    def read(self, query: Callable[[Rows], T], long: bool = False) -> T:
        known, mark = self._known, self._newest()  # older than the snapshot, which must contain both

        def answer(database: Database) -> T:
            rows = ReadView(database, self._head(database), self.prefix)
            self._require_continued(rows, known, mark)
            if known == self._known and (known[0] is None or known[0].sequence < rows.head.sequence):
                self._known = rows.head, mark  # also what was only read must stay
            result = query(rows)
            if rows.depends > self.anchor.reached and mark is not None:
                # It may have been settled by a process that has not marked it yet.
                newer = rows.depends > mark.sequence
                since = StoredEntries(list(paged(rows, ENTRY, (mark.sequence,)))) if newer else StoredEntries(())
                self.anchor.mark(rows.head if newer else mark, since)
            return result

        with self._translating:
            return self._in_read(answer, long)

    def close(self) -> None:
        with self._group.lead, self._writing, self._reading:
            self._disconnect()
            self.anchor.close()
            if self._helper is not None:
                self._helper.shutdown()
                self._helper = None

    def _perform(self, batch: Sequence[Job]) -> None:
        try:
            rows, cache, mark, after = self._in_write(lambda database: self._transact(database, batch))
            self._known = rows.head, mark
            self._memory = rows.head, carry_over(rows, cache)
            if after is not None:
                self._mark(rows.head, after)
                self._known, self._unmarked = (rows.head, rows.head), (rows.head, [])
        except Exception as error:
            self._translating.refuse(error)
            raise
        for job in batch:
            job.done = True

    def _transact(
        self, database: Database, batch: Sequence[Job]
    ) -> tuple[UnitOfWork, CachedRows, Head | None, Newer | None]:
        before = self._head(database)
        answers = before.sequence > self.anchor.reached and BEFORE in map(_NEED, batch)
        quick = answers and min(self._syncs) < WORTH_A_THREAD
        # The newest mark is of a committed head, so that it is never ahead of this one.  What marks at once looks at it
        # there, under its lock.
        mark = self._known[1] if quick else self._newest()
        if self._memory[0] != before:  # others have written, or it is not known what this process did last
            self._unmarked = before, []
        cache = self._recall(before)
        rows = UnitOfWork(database, before, cache, self.prefix)
        self._require_continued(rows, self._known, mark)
        self._require_sound(rows)
        if self._unmarkable and not answers:  # nothing is sold whose answer could not leave
            self._mark(before, self._since(rows, mark))
        marked = self._begin_mark(before, self._since(rows, mark), quick) if answers else None
        try:
            for job in batch:
                _attempt(job, rows)
            rows.flush()
            if answers:
                mark, self._unmarked = before, (before, [])
            later = rows.anchored and rows.head.sequence > self.anchor.reached
            after = self._since(rows, mark) if later else None
            unmarked = self._unmarked[1]
            unmarked.extend(rows.made)
            if len(unmarked) > MOST_UNMARKED:
                self._unmarked = rows.head, []
            self._commit()
        finally:
            failure = None if marked is None else marked.exception()  # waits
        if failure is not None:
            raise failure
        return rows, cache, mark, after

    def _begin(self, database: Database, genesis: bytes) -> None:
        """Refuse tables of another format or another key's; at every opening, before anything else is read."""
        row = database.execute(select(HEAD, 1, prefix=self.prefix), (1,)).fetchone()
        if row is None or row[1] != FORMAT:
            raise LedgerBroken(
                "This database is not a ledger that this version can read.",
                fix="Check its address.",
                code="ledger-format-unknown",
            )
        if as_bytes(row[2]) != genesis:
            raise LedgerBroken("The key of this ledger is another ledger's.", fix=RESTORE, code="ledger-key-mismatch")
        self._genesis = genesis

    def _head(self, database: Database) -> Head:
        row = database.execute(self._read_head, ()).fetchone()
        if row is None:
            return Head(0, 0, self._genesis)
        if (known := self._known[0]) is not None and known == row:
            return known
        head = Head(*row)
        return head if type(head.mac) is bytes else head._replace(mac=as_bytes(head.mac))

    def _newest(self) -> Head | None:
        return self.anchor.newest() if self.checking else None

    def _since(self, rows: UnitOfWork, mark: Head | None) -> Newer:
        """The entries since a mark; they are read, unless this process has written all of them."""
        end = mark or self.anchor.newest()
        assert end is not None
        before, known = self._unmarked
        if before.sequence <= end.sequence:
            return OwnEntries(before, [*known, *rows.made])
        return StoredEntries(list(paged(rows, ENTRY, (end.sequence,))))

    def _require_continued(self, rows: ReadView, known: tuple[Head | None, Head | None], mark: Head | None) -> None:
        """Refuse a history that lacks the last head seen here or the anchor's mark: the database was put back.

        A head's seal stands for all entries before it.  So nothing is looked up where nobody else has written.
        """
        if known == (rows.head, mark):
            return
        seen, contained = known
        for head in (seen, None if mark == contained else mark):
            if head is not None and head != rows.head and not contains(rows, head):
                raise _lost(rows.head, head)

    def _require_sound(self, rows: Rows) -> None:  # noqa: B027  a server's files are nobody else's
        """Compare balances with the anchor where the database may have been written past this class."""

    def _recall(self, head: Head) -> CachedRows:
        """The last batch's cache, if the history still ends where that batch left it: every writer moves the head.

        It is dropped here and set again after the commit, so that nothing is kept of a transaction that may have
        failed.
        """
        (left, cache), self._memory = self._memory, _NOTHING
        return cache if left == head else empty_cache()

    def _begin_mark(self, head: Head, entries: Newer, quick: bool) -> Future[Head] | None:
        """Mark a head in another thread, since concurrent syncs overlap; where they are ``quick``, here and at once."""
        if not quick:
            if self._helper is None:
                self._helper = ThreadPoolExecutor(1, "curador anchor")
            with suppress(RuntimeError):  # this process is exiting, and no thread can be started
                return self._helper.submit(self._mark, head, entries)
        if (newest := self._mark(head, entries)) != head:  # nobody else can have written
            raise _lost(head, newest)
        return None

    def _mark(self, head: Head, entries: Newer) -> Head:
        start = time.perf_counter()
        self._unmarkable = True  # stays so if it fails
        newest = self.anchor.mark(head, entries)
        self._unmarkable = False
        self._syncs.append(time.perf_counter() - start)
        return newest

    def made_anew(self) -> None:
        """Make anew what a process cannot have in common with its parent; of a batch that was cut off, nothing."""
        self._writing, self._reading = RLock(), RLock()
        self._group = GroupCommit(self._perform)
        self._memory, self._unmarked = _NOTHING, (Head(0, 0, b""), [])
        self._helper = None
        self.anchor.after_fork()


def contains(rows: Rows, head: Head) -> bool:
    """Whether a history has this entry, by its seal; the beginning is in every history."""
    entry = rows.get(ENTRY, head.sequence)
    return head.sequence == 0 or (entry is not None and as_bytes(entry[3]) == head.mac)


def _lost(end: Head, seen: Head) -> LedgerBroken:
    return LedgerBroken(
        f"This ledger ends with entry {end.sequence} and lacks entry {seen.sequence}, which was seen before: it "
        "was put back while it was in use.",
        fix=RESTORE,
        code="ledger-lost-entries",
        facts={"entries": end.sequence, "seen": seen.sequence},
    )


def not_text() -> InvalidParameter:
    """The refusal of a name with half a surrogate pair, which no database holds."""
    return InvalidParameter("This name is not a text of Unicode characters.", fix="Check the name.", code="not-text")


def _attempt(job: Job, rows: UnitOfWork) -> None:
    """Run one job; a refused one leaves nothing behind and does not stop the others of its batch."""
    try:
        job.result = job.transaction(rows)
    except CuradorError as error:
        rows.rollback()
        job.error = error
    except UnicodeEncodeError:
        rows.rollback()
        job.error = not_text()
    else:
        rows.savepoint()


def create_tables(
    database: Database, types: Mapping[type, str], options: Callable[[RowTable], str], genesis: bytes, prefix: str = ""
) -> None:
    """Create the tables of a new ledger."""
    for table in TABLES:
        database.execute(create(table, types, options(table), prefix), ())
    database.execute(insert(HEAD, prefix), (1, FORMAT, genesis))
