"""The curator's own log: what really went wrong behind the constant error that everybody else sees."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from curador.errors import EngineFailed, InvalidParameter


def on_error(path: Path) -> Callable[[Exception], None]:
    """Appends errors to a file that its owner alone may read: a database's error may quote rows.

    Made before anything is bought, so that a log that cannot be written is told while that is free.
    """
    try:
        handle = _opened(path)
        shared = os.fstat(handle).st_mode & 0o077
        os.close(handle)
    except OSError as error:
        raise InvalidParameter(
            f"The log {path.name} cannot be written: {error.strerror}.", fix="Name another file with --log."
        ) from None
    if shared:
        raise InvalidParameter(
            f"Others may read or write the log {path.name}, and it may quote rows.", fix=f"Run: chmod 600 {path}"
        )

    def write(error: Exception) -> None:
        if isinstance(error, EngineFailed):  # its words are constant, and its reason is in the file already
            return
        lines = traceback.format_exception(error)
        with os.fdopen(_opened(path), "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {''.join(lines).rstrip()}\n\n")

    return write


def _opened(path: Path) -> int:
    """The file for appending, made with no rights for anybody else; never through a link that somebody else laid."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
