"""A fair lock between processes: first come, first served; processes that die in the queue leave it.

SQLite's busy handler polls, and a waiter may starve for seconds.  Here every writer draws a ticket number, locks the
byte with that number in a file, and waits until no lower byte is locked.  The system drops the locks of a process that
ends; one that was stopped keeps its own, and is waited for for a moment, once.  Who finds nobody there may try SQLite's
lock at once.  Only fairness depends on this, never a balance: SQLite's own lock is taken as well.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from curador.ledger.stores.reopened_file import LockTimeout, ReopenedFile, patiently

# Locks of an open file, not of a process: two ledgers of one process queue like those of two.  Linux only: elsewhere a
# range is laid out in another way, and SQLite decides who is next.
_TRY: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform == "linux" else None
_LOOK: int | None = getattr(fcntl, "F_OFD_GETLK", None) if sys.platform == "linux" else None


def _range(kind: int, start: int, length: int = 1) -> bytes:
    """A lock on bytes of a file; a length of 0 goes on for ever."""
    return struct.pack("hhqqixxxx", kind, os.SEEK_SET, start, length, 0)


# Byte 0 is the dispenser, locked while a number is drawn; number n is byte n + 1.
_DISPENSER, _DRAWN, _NONE = _range(fcntl.F_WRLCK, 0), _range(fcntl.F_UNLCK, 0), _range(fcntl.F_UNLCK, 0, 0)
_ANYBODY = _range(fcntl.F_WRLCK, 0, 0)
_NOBODY = struct.pack("h", fcntl.F_UNLCK)


TURN = 2
"""Seconds to wait for those before: turns take milliseconds, so that after these one of them has stopped."""

LAST = 2**62
"""A number below which all tickets are: the system's locks end at twice this."""


class FileQueue:
    """A queue of all who open the same file; one queue object is used by one thread at a time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     queue = FileQueue(Path(folder) / "queue")
    ...     for _ in range(2):
    ...         leave = queue.leaving()
    ...         try:
    ...             print(queue.wait())
    ...         finally:
    ...             _ = leave()
    0
    1
    """

    def __init__(self, path: Path) -> None:
        self._reopened = ReopenedFile(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)  # root may open what others own
        self._file, self._passed = -1, 0

    def leaving(self) -> Callable[[], object]:
        """What ends a turn, to be called first thing in ``finally``.

        It is a built-in call: Python would raise a signal's exception at the beginning of a function of ours, and the
        lock would never be released.
        """
        if _TRY is None:
            return int
        self._file = self._reopened.held()  # if its name meant another file by now, only fairness would suffer
        return partial(fcntl.fcntl, self._file, _TRY, _NONE)

    def is_empty(self) -> bool:
        """Whether nobody waits or has the turn, so that whoever comes now passes nobody over."""
        if _LOOK is None:
            return True
        return fcntl.fcntl(self._reopened.held(), _LOOK, _ANYBODY).startswith(_NOBODY)

    def wait(self) -> int:
        """Wait for this writer's turn, which lasts until it leaves; the ticket number.

        Whoever has waited for too long goes on out of turn, and does not wait for the same ones again.
        """
        number = 0
        if _TRY is None:
            return number
        take = partial(fcntl.fcntl, self._file, _TRY)
        with suppress(LockTimeout):
            patiently(partial(take, _DISPENSER), TURN)
            number = int.from_bytes(os.pread(self._file, 8, 0), "little") % LAST  # a damaged one costs fairness alone
            patiently(partial(take, _range(fcntl.F_WRLCK, number + 1)), TURN)
            os.pwrite(self._file, (number + 1).to_bytes(8, "little"), 0)
            take(_DRAWN)
            passed = self._passed if self._passed < number else 0  # of a file that was made anew
            if number > passed:
                self._passed = number  # unless they leave
                before = _range(fcntl.F_RDLCK, 1 + passed, number - passed)  # had once all of them have left
                patiently(partial(take, before), TURN)
                self._passed = passed
        return number

    def close(self) -> None:
        """Release the file; the next turn opens it again."""
        self._reopened.close()
