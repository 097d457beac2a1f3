"""A ledger in one SQLite file: durable at every commit, shared by threads and by processes of one machine."""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from curador.errors import LedgerBroken, LedgerFailed
from curador.ledger.anchor import Anchor
from curador.ledger.keep import sync_folder
from curador.ledger.stores.file_queue import FileQueue
from curador.ledger.stores.rows import TABLES, UNSURE, RowTable
from curador.ledger.stores.sql import SqlStore, create_tables
from curador.ledger.stores.unit_of_work import Database

TYPES = {int: "INTEGER", str: "TEXT", bytes: "BLOB"}

PATIENCE = 60
"""Seconds to wait for another program's lock, such as a backup's; among ledgers the queue decides."""


def _options(table: RowTable) -> str:
    """STRICT, so that no float is stored in an integer column; WITHOUT ROWID, so that a lookup reads one B-tree."""
    numbered = table.key == 1 and table.columns[0][1] is int
    return " STRICT" if numbered else " STRICT, WITHOUT ROWID"


class _Transaction:
    """A transaction, rolled back at the end unless it was committed."""

    def __init__(self, connection: sqlite3.Connection, begin: str) -> None:
        self._connection, self._begin = connection, begin

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute(self._begin)
        return self._connection

    def __exit__(self, *failure: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class SqliteStore(SqlStore):
    """A SQLite file as a store.

    Guarantee: a commit is on the disk before its result is returned (a write-ahead log with synchronous=FULL; NORMAL
    would lose the last charges in a power cut, and so give budget back).
    Assumes: a local disk that honours syncs; SQLite's locks do not hold on network disks.
    """

    def __init__(self, path: Path, anchor: Anchor) -> None:
        self.path, self._name = path, os.fspath(path)
        self._connections: dict[str, sqlite3.Connection] = {}
        self._queue = FileQueue(path.with_name(path.name + "-queue"))
        self._file: tuple[int, int] | None = None
        super().__init__(anchor)

    def create(self, genesis: bytes) -> None:
        """Create the tables, unless they exist."""
        with self._writing, self._translating, self._turn():
            with _Transaction(self._connection("write", fresh=True), "BEGIN IMMEDIATE") as connection:
                if not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                    create_tables(connection, TYPES, _options, genesis)
                    for table in (t for t in TABLES if t.append_only):
                        for act in ("UPDATE", "DELETE"):
                            connection.execute(
                                f"CREATE TRIGGER {table.name}_{act.lower()} BEFORE {act} ON {table.name} "
                                f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END"
                            )
                connection.execute("COMMIT")
            sync_folder(self.path.parent)

    def damage(self) -> str | None:
        with self._looking, self._translating, self._reader("look") as database:
            found = database.execute("PRAGMA integrity_check(1)", ()).fetchone()[0]
        return None if found == "ok" else f"The file of this ledger is damaged: {found}."

    def _writer(self) -> AbstractContextManager[Database]:
        return _Transaction(self._connection("write"), "BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._connections["write"].execute("COMMIT")

    def _reader(self, use: str) -> AbstractContextManager[Database]:
        return _Transaction(self._connection(use), "BEGIN")

    def _turn(self) -> AbstractContextManager[Any]:
        return self._queue.turn()

    def _connection(self, use: str, fresh: bool = False) -> sqlite3.Connection:
        self._same_file(fresh)
        if use not in self._connections:
            mode = "rwc" if fresh else "rw"
            made = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=PATIENCE,
                isolation_level=None,  # no transaction is begun or ended but by this class
                check_same_thread=False,  # one thread at a time, by the locks above
            )
            self._connections[use] = made
            if made.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = FULL")
            self._same_file()
        return self._connections[use]

    def _same_file(self, fresh: bool = False) -> None:
        """Refuse a file that was removed or replaced: writes to it succeed, and every charge would be lost with it."""
        try:
            now = os.stat(self._name)
        except FileNotFoundError:
            if fresh:
                return
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

    def _disconnect(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()
        self._queue.close()

    def _translated(self, error: Exception) -> LedgerFailed | None:
        if not isinstance(error, sqlite3.Error | OSError):
            return None
        return LedgerFailed(
            f"The ledger {self.path.name} cannot be read or written: {error}.",
            fix="Check the disk, the file's permissions and its folder; then ask again.",
            cost=UNSURE,
            code="ledger-unavailable",
        )
