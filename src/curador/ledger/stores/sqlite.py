"""A ledger in one SQLite file: durable at every commit, shared by threads and by processes of one machine."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock

from curador.errors import CuradorError, LedgerBroken, LedgerFailed
from curador.forks import has_ended, process_name
from curador.ledger.anchor.keep import create as create_file
from curador.ledger.anchor.keep import sync_folder
from curador.ledger.anchor.log import Anchor
from curador.ledger.stores.connections import FORKS, OPEN, SqliteConnection, index_in_use
from curador.ledger.stores.file_queue import FileQueue
from curador.ledger.stores.reopened_file import PATIENCE
from curador.ledger.stores.rows import RESTORE, TABLES, UNSURE, DbRow, DbValue, Rows, RowTable, T
from curador.ledger.stores.sql import SqlStore, create_tables
from curador.ledger.stores.unit_of_work import Database

TYPES = {int: "INTEGER", str: "TEXT", bytes: "BLOB"}

PAGE_BYTES = 2048
"""Bytes of a page: a pair of transactions changes a dozen pages, in each of them some hundred bytes."""

CACHE_KILOBYTES = 16_000
"""Of pages that a connection keeps: fingerprints are in no order, and each is looked up in a page of its own."""

CHECKPOINT_EVERY = 64
"""Commits after which a process has SQLite write its log into the file."""

LONG_LOG = 4 << 20
"""Bytes of a log that is written into the file by whoever meets it, however little this process has committed."""

FIRST_GRACE = 0.02
"""Seconds that a fork gives a long read that was interrupted before; then twice as many, so that it ends some time."""

CHECKPOINT_PATIENCE = 0.5
"""Seconds to wait for another process that writes the log into the file."""

PAUSE = 0.001
"""Seconds between two tries, in which this process can fork."""


Stamp = tuple[int, int, int]
"""The size of a file, and when its content and its entry in the folder were changed last, as the system says."""


def _stamp(file: os.stat_result) -> Stamp:
    return file.st_size, file.st_mtime_ns, file.st_ctime_ns


def _options(table: RowTable) -> str:
    """STRICT, so that no float is stored in an integer column; WITHOUT ROWID, so that a lookup reads one B-tree."""
    numbered = table.key == 1 and table.columns[0][1] is int
    return " STRICT" if numbered else " STRICT, WITHOUT ROWID"


class _Interrupted(Exception):
    """A long read stops, because its process wants to fork."""


class _Busy(Exception):
    """Another program, or a ledger of another process, has the write lock."""

    def __init__(self, error: sqlite3.OperationalError) -> None:
        super().__init__(error)
        self.error = error


class _Interruptible:
    """A connection for a long read, which stops between two statements; SQLite itself stops in the midst of one."""

    def __init__(self, connection: sqlite3.Connection, store: SqliteStore) -> None:
        self._connection, self._store = connection, store

    def execute(self, statement: str, values: Sequence[DbValue], /) -> sqlite3.Cursor:
        if self._store.interrupting:
            raise _Interrupted
        return self._connection.execute(statement, values)

    def executemany(self, statement: str, rows: Iterable[DbRow], /) -> None:
        raise TypeError("a read-only view cannot write")


class SqliteStore(SqlStore):
    """A SQLite file as a store.

    Guarantee: a commit is on the disk before its result is returned (a write-ahead log with synchronous=FULL; NORMAL
    would lose the last charges in a power cut, and so give budget back).
    Assumes: a local disk that honours syncs; SQLite's locks do not hold on network disks.

    The file is written by checkpoints alone.  One that was copied over it leaves the log, with the newest entries, and
    the pages that the log does not hold are then the copy's, with older balances.  So wherever it was changed by others
    than processes of this ledger, which note beside the anchor how they leave it, balances are compared with the
    anchor, on a connection that remembers no page.

    Nothing in this process may open and close the file but SQLite: the system would drop SQLite's locks with it, and
    another process that leaves would remove the log under this one.  Where that happened, nothing is written any more.
    """

    def __init__(self, path: Path, anchor: Anchor) -> None:
        self.path, self._name = path, os.fspath(path)
        self._connections: dict[str, SqliteConnection] = {}
        self._queue = FileQueue(path.with_name(path.name + "-queue"))
        self._file: tuple[int, int] | None = None
        self._index_name = os.path.realpath(path) + "-shm"  # beside the file itself, where this is a link to it
        self._stamps: dict[str, Stamp | None] = {}  # of the file when each connection was opened
        self._sound: Stamp | None = None  # of the file when it was compared last
        self._commits, self._grace = -1, 0.0  # the first commit, and that one alone, counts as none
        super().__init__(anchor)
        weakref.finalize(self, FORKS.drop, self._connections).atexit = False  # other threads may use it to the end
        with FORKS.making:
            FORKS.stores.add(self)

    def create(self, genesis: bytes) -> None:
        """Create the tables, unless they exist."""

        def create_unless_there(database: Database) -> None:
            if not database.execute("SELECT 1 FROM sqlite_schema LIMIT 1", ()).fetchone():
                create_tables(database, TYPES, _options, genesis)
                for table in (t for t in TABLES if t.append_only):
                    for act in ("UPDATE", "DELETE"):
                        database.execute(
                            f"CREATE TRIGGER {table.name}_{act.lower()} BEFORE {act} ON {table.name} "
                            f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END",
                            (),
                        )
            self._begin(database, genesis)

        with self._group.lead, self._translating:
            if not self.path.exists():  # its owner's alone, and so are the log and the index that SQLite makes
                create_file(Path(os.path.realpath(self.path)), b"")  # where a link to it leads
            self._in_write(create_unless_there, fresh=True)
            sync_folder(self.path.parent)

    def damage(self) -> str | None:
        def check_pages(database: Database) -> str:
            return str(database.execute("PRAGMA integrity_check(1)", ()).fetchone()[0])

        with self._translating:
            found = self._in_read(check_pages, long=True)
        return None if found == "ok" else f"The file of this ledger is damaged: {found}."

    def _in_write(self, work: Callable[[Database], T], fresh: bool = False) -> T:
        # Opening always queues: of several that make one file a write-ahead log at once, SQLite refuses all but one.
        if not fresh and self._queue.is_empty():
            try:
                return self._try_write(work, fresh)
            except _Busy:
                pass
        leave = self._queue.leaving()
        try:
            self._queue.wait()
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    return self._try_write(work, fresh)
                except _Busy as busy:
                    if time.monotonic() > end:
                        raise busy.error from None
                time.sleep(PAUSE)
        finally:
            leave()

    def _try_write(self, work: Callable[[Database], T], fresh: bool) -> T:
        # A connection is built in: its exit rolls back, whatever was raised and at whatever instant, also between a
        # BEGIN that succeeded and the next line.
        with self._writing, self._connection("write", fresh) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                raise _Busy(error) from None
            self._require_index()
            return work(connection)

    def _require_index(self) -> None:
        """Refuse to write where the log's index was removed: others use another one, and do not see these locks."""
        index = self._present_index()
        if index is None or index != self._connections["write"].index:
            raise LedgerBroken(
                f"The log of the ledger {self.path.name} was removed while it was in use.",
                fix="Close it all over this process, then open it again; let nothing but SQLite open its file.",
                cost=UNSURE,
                code="ledger-log-removed",
                facts={"file": self.path.name},
            )

    def _present_index(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._index_name)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _commit(self) -> None:
        self._connections["write"].execute("COMMIT")
        self._require_index()  # again: what went to a log without a name is neither marked nor acknowledged
        if self._compare is None:
            return  # at an opening nothing is written into a file before it is compared
        self._commits += 1
        if self._commits >= CHECKPOINT_EVERY or (not self._commits and self._log_is_long()):
            self._commits = 0
            with suppress(sqlite3.Error, CuradorError, OSError):  # it is committed; the log is written another time
                self._checkpoint()

    def _log_is_long(self) -> bool:
        """Whether processes that each wrote little, beside one that keeps the file open, have left a long log."""
        try:
            return os.stat(f"{os.path.realpath(self._name)}-wal").st_size > LONG_LOG
        except OSError:
            return False

    def _checkpoint(self) -> None:
        if self._compare is None or self._same_file() != self._sound:
            return  # not compared yet; that is done first, by the opening or the next transaction
        self._note_file(process_name())
        self._connections["write"].execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._take_as_sound(_stamp(os.stat(self._name)))
        self._note_file("")

    def _note_file(self, by: str) -> None:
        """Note how the file is: after a checkpoint, or before that of a process."""
        if self._file is not None and self._sound is not None:
            with suppress(OSError):  # without it others compare
                self.anchor.note("file", [*self._file, *self._sound, by])

    def _after_checkpoint(self, stamp: Stamp) -> Stamp:
        """The stamp of a file that was changed; if by another process of this ledger, from what was sound, it still is.

        Comparing takes the longer the more scopes there are, and every process writes its log into the file now and
        then.  Another's checkpoint is waited for, unless that process has ended or takes too long.
        """
        end = time.monotonic() + CHECKPOINT_PATIENCE
        while self._file is not None and self._sound is not None:
            noted = self.anchor.noted("file")
            if noted == [*self._file, *stamp, ""]:
                self._take_as_sound(stamp)
                break
            begun = noted is not None and noted[:-1] == [*self._file, *self._sound] and noted[-1]
            if not begun or noted[-1] == process_name() or has_ended(noted[-1]) or time.monotonic() > end:
                break
            time.sleep(PAUSE)
            stamp = _stamp(os.stat(self._name))
        return stamp

    def _take_as_sound(self, stamp: Stamp) -> None:
        """The file was written by a process of this ledger, from what it knew to be sound."""
        self._sound = stamp
        for use in tuple(self._stamps):
            self._stamps[use] = stamp

    # -- what others wrote to the file

    def watch(self, compare: Callable[[Rows], None]) -> None:
        self._sound = self._stamps.get("long")  # by which it was compared at its opening
        super().watch(compare)

    def read(self, query: Callable[[Rows], T], long: bool = False) -> T:
        if self._compare is not None:
            with self._translating:
                changed = self._same_file() != self._sound
            if changed:  # compared in a turn of its own: a snapshot may be older than the anchor
                self.write(lambda rows: None)
        return super().read(query, long)

    def _require_sound(self, rows: Rows) -> None:
        if self._compare is not None and (stamp := self._stamps["write"]) != self._sound:
            self._compare(rows)
            self._sound = stamp

    def _in_read(self, work: Callable[[Database], T], long: bool = False) -> T:
        if not long:
            with self._reading, self._connection("read") as connection:
                connection.execute("BEGIN")
                return work(connection)
        while True:
            with self._forking:  # not held while it works: a process that wants to fork interrupts it
                pass
            with self._reading_long:
                try:
                    with self._connection("long") as connection:
                        connection.execute("BEGIN")
                        found = work(_Interruptible(connection, self))
                    self._grace = 0.0
                    return found
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                        raise
                except _Interrupted:
                    pass
                self._grace = max(FIRST_GRACE, 2 * self._grace)

    def _connection(self, use: str, fresh: bool = False) -> SqliteConnection:
        stamp, old = self._same_file(fresh), self._connections.get(use)
        inherited = FORKS.inherited and any(one.file == self._file for one in FORKS.inherited)
        if inherited or self._process != os.getpid():
            raise LedgerFailed(
                "This process was forked while the ledger was in use, and its connections cannot be told apart.",
                fix="Fork from a thread that is not interrupted, or open the ledger in a new process.",
                code="ledger-forked",
            )
        if old is None or (self._compare is not None and self._stamps[use] != stamp):
            made = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=PATIENCE,
                isolation_level=None,  # no transaction is begun or ended but by this class
                check_same_thread=False,  # one thread at a time, by the locks above
                factory=SqliteConnection,
            )
            try:
                if fresh:
                    made.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a file that has no page yet
                if made.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    made.execute("PRAGMA journal_mode = WAL")
                made.execute("PRAGMA synchronous = FULL")
                made.execute("PRAGMA fullfsync = ON")  # macOS: past the drive's cache; of no effect elsewhere
                made.execute(f"PRAGMA cache_size = {-CACHE_KILOBYTES}")
                made.execute("PRAGMA wal_autocheckpoint = 0")
                made.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()  # from here on it uses the log's index
                if use == "write":
                    made.execute("PRAGMA busy_timeout = 0")  # the queue decides who waits, not SQLite's polling
                self._same_file()
            except BaseException:  # of a damaged file: not open until it is collected
                made.close()
                raise
            made.process, made.file = os.getpid(), self._file
            made.index = index_in_use(self._file) or self._present_index()
            OPEN.add(made)
            self._connections[use], self._stamps[use] = made, stamp
            if old is not None:
                old.close()  # now: if it were the last one for a moment, SQLite would write its log into this file
        return self._connections[use]

    def _same_file(self, fresh: bool = False) -> Stamp | None:
        """Refuse a file that was removed or replaced: writes to it succeed, and every charge would be lost with it.

        Returns its stamp; None before there is a file.
        """
        try:
            now = os.stat(self._name)
        except FileNotFoundError:
            if fresh:
                return None
            raise LedgerFailed(
                f"The ledger {self.path.name} is gone.",
                fix="Bring it back; then open it again.",
                cost=UNSURE,
                code="ledger-gone",
                facts={"file": self.path.name},
            ) from None
        if self._file is None:
            self._file = now.st_dev, now.st_ino
        if self._file != (now.st_dev, now.st_ino):
            raise LedgerBroken(
                f"The ledger {self.path.name} is another file than the one that was opened.",
                fix="Open it again.",
                code="ledger-replaced",
                facts={"file": self.path.name},
            )
        stamp = now.st_size, now.st_mtime_ns, now.st_ctime_ns
        return self._after_checkpoint(stamp) if self._compare is not None and stamp != self._sound else stamp

    def _disconnect(self) -> None:
        with self._reading_long:
            self._drop_connections()
        self._queue.close()

    def _drop_connections(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()

    # -- forks: SQLite counts its locks by process, so that no connection may be open when a process forks

    def before_fork(self) -> None:
        """Hold everything, and close all connections."""
        for lock in (self._forking, self._writing, self._reading):
            lock.acquire()
        if not self._reading_long.acquire(timeout=self._grace):
            self.interrupting = True
            while not self._reading_long.acquire(timeout=0.01):
                if "long" in self._connections:
                    self._connections["long"].interrupt()  # it begins anew afterwards
        self._drop_connections()

    def after_fork(self) -> None:
        """Release what this thread holds: less than all if it was interrupted above."""
        self.interrupting = False
        for lock in (self._reading_long, self._reading, self._writing, self._forking):
            with suppress(RuntimeError):
                lock.release()

    def made_anew(self) -> None:
        super().made_anew()
        self._forking, self._reading_long, self.interrupting = RLock(), RLock(), False
        self._queue.close()  # a child must not keep its parent's place
        if not self._connections:  # else the child cannot use the file, see _connection
            self._process = os.getpid()

    def _translated(self, error: Exception) -> LedgerFailed | LedgerBroken | None:
        if not isinstance(error, sqlite3.Error | OSError):
            return None
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LedgerBroken(
                f"The file of this ledger is damaged: {error}.", fix=RESTORE, cost=UNSURE, code="ledger-damaged"
            )
        return LedgerFailed(
            f"The ledger {self.path.name} cannot be read or written: {error}.",
            fix="Check the disk, the file's permissions and its folder; then ask again.",
            cost=UNSURE,
            code="ledger-unavailable",
        )
