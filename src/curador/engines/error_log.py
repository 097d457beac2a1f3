"""The curator's private log of the errors behind the constant error that analysts see."""

from __future__ import annotations

import os
import traceback
from datetime import UTC, datetime
from pathlib import Path

from curador.errors import EngineFailed, InvalidParameter


class ErrorLog:
    """Append errors, with their tracebacks, to a file that only its owner may read.

    Pass it as ``on_error=``.

    Guarantee: the file is created with mode 600, and is never opened through a symbolic link.  It is refused where
    others may read or write it: a database's error may quote rows.
    Fails: at construction, before anything is bought, where the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = ErrorLog(Path(folder) / "errors.log")
    ...     log(ValueError("row 7 is broken"))
    ...     log.path.read_text().endswith("ValueError: row 7 is broken\\n\\n")
    True
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            handle = self._open()
            shared = os.fstat(handle).st_mode & 0o077
            os.close(handle)
        except OSError as error:
            raise InvalidParameter(
                f"The log {self.path.name} cannot be written: {error.strerror}.",
                fix="Name another file.",
                code="log-unwritable",
            ) from None
        if shared:
            raise InvalidParameter(
                f"Others may read or write the log {self.path.name}, and it may quote rows.",
                fix=f"Run: chmod 600 {self.path}",
                code="log-shared",
            )

    def __call__(self, error: Exception) -> None:
        """Append an error; the constant error itself is left out, since its cause was logged before."""
        if isinstance(error, EngineFailed):
            return
        lines = traceback.format_exception(error)
        with os.fdopen(self._open(), "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {''.join(lines).rstrip()}\n\n")

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
