"""A file kept open across uses, because opening it costs more than its use; and locks, waited for for a while."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from curador.forks import after_fork
from curador.show.files import give

PATIENCE = 60
"""Seconds to wait for another's lock: a process that is stopped, or frozen with its container, keeps what it holds."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.002
"""Seconds between two tries; a turn lasts as long as a sync or two."""


class LockTimeout(TimeoutError):
    """Another has kept its lock for too long; not what a signal's handler raises."""


def patiently(attempt: Callable[[], object], seconds: float | None = None) -> None:
    """Try to take a lock, again and again while another has it.

    Fails: LockTimeout after so many seconds, or ``PATIENCE``.
    """
    pause, end = _FIRST_PAUSE, 0.0
    while True:
        try:
            attempt()
        except (BlockingIOError, PermissionError):  # the system says one or the other
            patience = PATIENCE if seconds is None else seconds
            end = end or time.monotonic() + patience
            if time.monotonic() > end:
                raise LockTimeout(f"another process has kept its lock for {patience} seconds") from None
        else:
            return
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


class ReopenedFile:
    """A file that is opened once, and again if its name now means another file or this process is a fork.

    Locks belong to an open file and not to a process: a child that used its parent's would share its locks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ReopenedFile(Path(folder) / "queue", os.O_RDWR | os.O_CREAT)
    ...     first = file.descriptor()
    ...     again = file.descriptor()
    ...     file.close()
    >>> first == again
    True
    """

    def __init__(self, path: Path, flags: int) -> None:
        self._path, self._flags = os.fspath(path), flags | os.O_CLOEXEC
        self.identity: tuple[int, int] | None = None
        """The device and number of the file that is open."""
        self._open = -1
        self._closing: weakref.finalize[..., Any] = weakref.finalize(self, int)  # nothing yet
        after_fork(self)

    def descriptor(self) -> int:
        """The open file; FileNotFoundError if there is none and the flags do not create one."""
        if not self.is_named():
            self.close()
            new = bool(self._flags & os.O_CREAT) and not os.path.exists(self._path)
            self._open = os.open(self._path, self._flags, 0o600)
            if new:
                give(self._open, Path(self._path).parent)
            self._closing = weakref.finalize(self, os.close, self._open)
            found = os.fstat(self._open)
            self.identity = found.st_dev, found.st_ino
        return self._open

    def held(self) -> int:
        """The open file, whatever its name means now; it is opened if it is not open."""
        return self.descriptor() if self.identity is None else self._open

    def is_named(self) -> bool:
        """Whether a file is open, and still the one that its name means."""
        if (known := self.identity) is None:
            return False
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == known

    def close(self) -> None:
        """Close it; the next use opens it again."""
        self.identity = None  # first: whoever is interrupted here opens it again, and uses no number that is closed
        self._closing()

    def made_anew(self) -> None:
        """In a forked child: its parent's file is not its own."""
        self.close()


def content_of(file: int) -> bytes:
    """All that an open file holds."""
    return os.pread(file, os.fstat(file).st_size, 0)


def written_after(file: int, start: int) -> bytes:
    """What was written behind a place, which is little, where the rest of a file, however long, is zeros."""
    found = b""
    while piece := os.pread(file, 4096, start + len(found)):
        text, end, _ = piece.partition(b"\0")
        found += text
        if end:
            break
    return found
