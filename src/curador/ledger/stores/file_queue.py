"""A fair lock between processes: first come, first served; processes that die in the queue leave it.

SQLite's busy handler polls, and a waiter may starve for seconds.  Here every writer draws a ticket number, locks the
byte with that number in a file, and waits until no lower byte is locked.  The system drops the locks of a process that
ends.  Only fairness depends on this, never a balance: SQLite's own lock is taken as well.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curador.ledger.stores.reopened_file import ReopenedFile

# Locks of an open file, not of a process: two ledgers of one process queue like those of two.  Linux only.
_WAIT: int | None = getattr(fcntl, "F_OFD_SETLKW", None)
_DISPENSER = 0  # the byte locked while a number is drawn; number n is byte n + 1


class FileQueue:
    """A queue of all who open the same file; one queue object is used by one thread at a time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     queue = FileQueue(Path(folder) / "queue")
    ...     with queue.turn() as first:
    ...         pass
    ...     with queue.turn() as second:
    ...         second - first
    1
    """

    def __init__(self, path: Path) -> None:
        self._reopened = ReopenedFile(path, os.O_RDWR | os.O_CREAT)

    @contextmanager
    def turn(self) -> Iterator[int]:
        """Wait for this writer's turn, and hold it until the end of the block; the ticket number."""
        if _WAIT is None:
            yield 0
            return
        file = self._reopened.descriptor()
        try:
            _lock(file, fcntl.F_WRLCK, _DISPENSER)
            number = int.from_bytes(os.pread(file, 8, 0), "little")
            _lock(file, fcntl.F_WRLCK, number + 1)
            os.pwrite(file, (number + 1).to_bytes(8, "little"), 0)
            _lock(file, fcntl.F_UNLCK, _DISPENSER)
            if number:
                _lock(file, fcntl.F_RDLCK, 1, number)  # granted when all lower numbers are free
            yield number
        finally:
            _lock(file, fcntl.F_UNLCK, 0, 0)

    def close(self) -> None:
        """Release the file; the next turn opens it again."""
        self._reopened.close()


def _lock(file: int, kind: int, start: int, length: int = 1) -> None:
    assert _WAIT is not None
    fcntl.fcntl(file, _WAIT, struct.pack("hhqqixxxx", kind, os.SEEK_SET, start, length, 0))
