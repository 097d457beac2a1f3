"""Files that stay open: opening costs more than what is done with them."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any


class ReopenedFile:
    """A file that is opened once, and again where its name has come to mean another file or this process is a fork.

    Locks belong to an open file and not to a process, so a child that used its parent's would share its locks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     held = ReopenedFile(Path(folder) / "queue", os.O_RDWR | os.O_CREAT)
    ...     first = held.descriptor()
    ...     again = held.descriptor()
    ...     held.close()
    >>> first == again
    True
    """

    def __init__(self, path: Path, flags: int) -> None:
        self._path, self._flags = os.fspath(path), flags | os.O_CLOEXEC
        self._file: tuple[int, int, int] | None = None
        self._open = -1
        self._closing: weakref.finalize[..., Any] = weakref.finalize(self, int)  # nothing yet

    def descriptor(self) -> int:
        """The open file; FileNotFoundError where there is none and the flags do not make one."""
        if self._file is None or self._file != self._named():
            self.close()
            self._open = os.open(self._path, self._flags, 0o600)
            self._closing = weakref.finalize(self, os.close, self._open)
            self._file = _identity(os.fstat(self._open))
        return self._open

    def _named(self) -> tuple[int, int, int] | None:
        try:
            return _identity(os.stat(self._path))
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Let go of it, until it is asked for again."""
        self._closing()
        self._file = None


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return os.getpid(), found.st_dev, found.st_ino
