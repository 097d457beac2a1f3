"""Small SQLite files beside the study, of which nothing is a source of truth: a damaged one is begun anew."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from curador.errors import InvalidParameter
from curador.show.files import give

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

TRIES = 5
"""How often it is tried to open one: several processes may find it damaged at once."""


class SmallFile:
    """One table in a file that the processes of a machine share.

    Guarantee: only its owner may read it.  What a power cut leaves of it, and a table of another version, is removed.
    Fails: InvalidParameter with the given code where it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "x.names").write_bytes(bytes(4096))
    ...     file = SmallFile(Path(folder) / "x.names", "names", "name TEXT PRIMARY KEY", code="names-unwritable")
    ...     with file.writing() as rows:
    ...         rows.execute("SELECT COUNT(*) FROM names").fetchone()
    4096
    (0,)
    """

    def __init__(self, path: Path, table: str, columns: str, *, code: str) -> None:
        self._path, self._table = path, f"CREATE TABLE IF NOT EXISTS {table} ({columns})"
        try:
            self._make()
        except OSError as error:
            raise InvalidParameter(
                f"The list of {table}, {path.name}, cannot be written: {error.strerror}.",
                fix="Let the server write into the folder of the study.",
                code=code,
            ) from None
        wanted = [column.split()[0] for column in columns.split(",")]
        for left in reversed(range(TRIES)):
            try:
                self._begin(table, wanted)
                break
            except sqlite3.DatabaseError:  # replaced where it is damaged, by this process or by others that start, too
                if not left:
                    raise

    def _begin(self, table: str, wanted: list[str]) -> None:
        with self.writing() as rows:
            known = [row[1] for row in rows.execute(f"PRAGMA table_info({table})")]
            if known != wanted:
                rows.execute(f"DROP TABLE {table}")
                rows.execute(self._table)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The file, for one statement after the other."""
        found = self._number()
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=rw", 30, uri=True)) as rows:
                rows.isolation_level = None  # no transaction is begun but here
                rows.execute(self._table)
                yield rows
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED and self._number() == found:
                self._make(over=True)
            raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone in the file."""
        with self.reading() as rows:
            rows.execute("PRAGMA synchronous = OFF")  # what a crash of the machine loses is gone with it, or done again
            rows.execute("BEGIN IMMEDIATE")
            yield rows
            rows.execute("COMMIT")

    def _number(self) -> int:
        """Of the file that is there; it is made where it was removed."""
        with suppress(FileNotFoundError):
            return self._path.stat().st_ino
        self._make()
        return self._path.stat().st_ino

    def _make(self, *, over: bool = False) -> None:
        """Make an empty file of its owner's alone; under another name first, so that nobody opens it half made."""
        if self._path.exists() and not over:
            return
        file, name = mkstemp(prefix=f"{self._path.name}.", suffix=".new", dir=self._path.parent)
        temporary = Path(name)
        try:
            give(file, self._path.parent)
            os.close(file)
            if over:
                temporary.replace(self._path)
                Path(f"{self._path}-journal").unlink(missing_ok=True)
            else:
                with suppress(FileExistsError):
                    os.link(temporary, self._path)
        finally:
            temporary.unlink(missing_ok=True)
