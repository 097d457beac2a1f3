"""The store of a collector: an append-only DuckDB file of tokens and reports, and refusal counts.

A batch is one transaction: all of it is written or nothing.  The file is open only while a batch is written or reports
are counted.  A lock file beside it admits one writer or several readers, and the others wait.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from curador.errors import CollectorFailed
from curador.local.collect.intake import MessageBatch
from curador.local.collect.wire import Reason

KEPT = "what was accepted before is kept"
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "512MB",
    "threads": 2,
    "autoinstall_known_extensions": False,
}
PAUSE = 0.005
SILENT = 2.0
"""The seconds after which waiting for another process is reported."""

Got = TypeVar("Got")

_BROKEN = duckdb.CatalogException, duckdb.SerializationException
_SIGNS = "not a valid DuckDB", "Corrupt database file", "Could not read enough bytes"

_SCHEMA = """
CREATE TABLE state (task VARCHAR NOT NULL, accepted UBIGINT NOT NULL);
CREATE TABLE refused (reason VARCHAR PRIMARY KEY, messages UBIGINT NOT NULL);
CREATE TABLE reports (token_high UBIGINT NOT NULL, token_low UBIGINT NOT NULL, report BLOB NOT NULL);
"""


@dataclass(frozen=True)
class ReportStore:
    """The reports on the task named ``task``, in the file ``path``.

    Assumes: a local disk, on which locks work.

    >>> import tempfile
    >>> from curador.local import KRR
    >>> from curador.local.collect.intake import Intake
    >>> from curador.local.collect.wire import messages
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> batch = Intake(task).read(messages(task, task.randomize(["a", "b"])))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = ReportStore.create(Path(folder) / "reports.duckdb", task.id)
    ...     store.add(batch), store.add(batch), store.totals()
    (0, 2, (2, {'replayed': 2}))
    """

    path: Path
    task: str
    patience: float = 600.0
    """The seconds to wait for another process."""
    notice: Callable[[str], None] | None = None
    """A callback that receives a sentence when the store waits for another process."""

    @classmethod
    def create(cls, path: Path, task: str) -> ReportStore:
        """Create a file without reports; it gets its name when it is complete."""
        aside = path.with_suffix(".new")
        for left in (aside, aside.with_suffix(".new.wal")):  # left by a process that was killed
            left.unlink(missing_ok=True)
        with _translate_errors(path), duckdb.connect(str(aside), config=CONFIG) as connection:
            connection.execute(_SCHEMA)
            connection.execute("INSERT INTO state VALUES (?, 0)", [task])
        aside.rename(path)
        made = cls(path, task)
        with made._lock(fcntl.LOCK_EX):  # the lock file exists from now on, also for users who may only read
            return made

    def add(self, batch: MessageBatch) -> int:
        """Write the reports with new tokens and the refusal counts; return the number of repeated tokens.

        Guarantee: once it returns, all of it survives a crash of the process; if it does not return, all of it is
            written or nothing.
        """
        with self._open() as connection:
            return _add(connection, batch)

    def totals(self) -> tuple[int, Mapping[Reason, int]]:
        """Count the reports accepted, and the messages refused by reason."""
        with self._open(read_only=True) as connection:
            (accepted,) = _row(connection, "SELECT accepted FROM state")
            refused = connection.execute("SELECT reason, messages FROM refused ORDER BY reason").fetchall()
        return accepted, dict(refused)

    def pieces(self, rows: int, size: int) -> Iterator[tuple[float, NDArray[np.uint8]]]:
        """Yield the reports of ``size`` bytes, ``rows`` at a time, each with the fraction read after it."""
        with self._open(read_only=True) as connection:
            last, there, accepted = _row(
                connection, "SELECT COALESCE(MAX(rowid), -1), COUNT(*), (SELECT accepted FROM state) FROM reports"
            )
            if there != accepted:
                raise _damaged(self.path)
            for start in range(0, last + 1, rows):
                piece = "SELECT report FROM reports WHERE rowid >= ? AND rowid < ?"
                found = connection.execute(piece, [start, start + rows]).fetchnumpy()["report"]
                data = b"".join(found)
                if len(data) != len(found) * size:
                    raise _damaged(self.path)
                yield min(1.0, (start + rows) / (last + 1)), np.frombuffer(data, np.uint8).reshape(len(found), size)

    @contextmanager
    def _open(self, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        if not self.path.is_file():  # DuckDB would create an empty file, and the reports would seem lost
            raise CollectorFailed(
                f"{self.path.name} is missing.", fix="Restore the collector's folder from a copy.", cost=KEPT
            )
        with self._lock(fcntl.LOCK_SH if read_only else fcntl.LOCK_EX), _translate_errors(self.path):
            connection = self._wait_for(lambda: _try_connect(self.path, read_only))
            try:
                if _row(connection, "SELECT task FROM state") != (self.task,):
                    raise CollectorFailed(
                        "The reports in this folder are on another task.",
                        fix="Restore the folder from a copy; nothing was read or written.",
                        cost=KEPT,
                    )
                yield connection
            finally:
                connection.close()

    @contextmanager
    def _lock(self, how: int) -> Iterator[None]:
        """Hold the lock, exclusive or shared; the system releases it when the process is killed."""
        try:
            file = os.open(self.path.with_suffix(".lock"), os.O_RDONLY | os.O_CREAT, 0o600)
        except OSError as error:
            raise _failure(self.path, os.strerror(error.errno or 0)) from None
        try:
            self._wait_for(lambda: _try_lock(file, how))
            yield
        finally:
            os.close(file)

    def _wait_for(self, attempt: Callable[[], Got | None]) -> Got:
        since, said = time.monotonic(), self.notice is None
        while (got := attempt()) is None:
            waited = time.monotonic() - since
            if self.notice is not None and not said and waited > SILENT:
                self.notice(f"Waiting for another program that uses {self.path.name}, {self.patience:g} s at most.")
                said = True
            if waited > self.patience:
                raise CollectorFailed(
                    "Another process is using these reports.", fix="Try again when it is done.", cost=KEPT
                )
            time.sleep(PAUSE)
        return got


def _try_lock(file: int, how: int) -> bool | None:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return True


def _try_connect(path: Path, read_only: bool) -> duckdb.DuckDBPyConnection | None:
    try:
        return duckdb.connect(str(path), read_only=read_only, config=CONFIG)
    except duckdb.IOException as error:
        if "lock on file" in str(error):  # another program reads the reports
            return None
        raise


def _add(connection: duckdb.DuckDBPyConnection, batch: MessageBatch) -> int:
    tokens = {"token_high": batch.tokens[:, 0].copy(), "token_low": batch.tokens[:, 1].copy()}
    connection.begin()
    try:
        connection.register("piece", {**tokens, "i": np.arange(len(batch.tokens))})
        # A scan of all tokens beats an index of random keys: faster, a tenth of its size, bounded memory.
        known = connection.execute("SELECT i FROM piece SEMI JOIN reports USING (token_high, token_low)").fetchnumpy()
        new = np.ones(len(batch.tokens), bool)
        new[known["i"]] = False
        reports = np.empty(int(new.sum()), object)
        reports[:] = np.ascontiguousarray(batch.reports[new]).view(f"V{batch.reports.shape[1]}").ravel().tolist()
        connection.register("fresh", {**{name: x[new] for name, x in tokens.items()}, "report": reports})
        if reports.size:
            connection.execute("INSERT INTO reports SELECT token_high, token_low, report::BLOB FROM fresh")
        connection.execute("UPDATE state SET accepted = accepted + ?", [reports.size])
        replayed = len(new) - reports.size
        for reason, n in (batch.refused + Counter[Reason]({"replayed": replayed})).items():
            upsert = "INSERT INTO refused VALUES (?, ?) ON CONFLICT (reason) DO UPDATE SET messages = messages + ?"
            connection.execute(upsert, [reason, n, n])
        connection.commit()
    except BaseException:
        _roll_back(connection)
        raise
    return replayed


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # the connection may be unusable; then nothing was committed either
        connection.rollback()


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(query).fetchone()
    return found or ()


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Translate DuckDB's errors into ours, without paths."""
    try:
        yield
    except duckdb.Error as error:
        said = str(error).splitlines()[0].replace(f"{path.parent}{os.sep}", "")
        if isinstance(error, _BROKEN) or any(sign in said for sign in _SIGNS):
            raise _damaged(path) from None
        raise _failure(path, said) from None


def _failure(path: Path, reason: str) -> CollectorFailed:
    return CollectorFailed(
        f"{path.name} cannot be read or written: {reason}",
        fix="Make room on the disk or allow access to the folder, then collect again: what is in is not counted twice.",
        cost=KEPT,
    )


def _damaged(path: Path) -> CollectorFailed:
    return CollectorFailed(
        f"{path.name} is not a store of reports, or is damaged.",
        fix="Restore the collector's folder from a copy.",
        cost=KEPT,
    )
