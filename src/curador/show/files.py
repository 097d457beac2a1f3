"""Files: written whole or not at all, given to their folder's owner, and synced to the disk."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from curador.errors import InvalidParameter

_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)  # macOS, whose fsync leaves data in the drive's own cache
_UNSUPPORTED = {errno.ENOTSUP, errno.ENOTTY, errno.EINVAL}


def sync(file: int, *, data_only: bool = False) -> None:
    """Write an open file, or the names in an open folder, to the disk, past the drive's cache.

    ``data_only`` saves the write of times and owners where the system can tell them apart; macOS has no ``fdatasync``.
    """
    if _FULL_SYNC is not None:
        try:
            fcntl.fcntl(file, _FULL_SYNC)
            return
        except OSError as error:
            if error.errno not in _UNSUPPORTED:  # some network file systems
                raise
    (getattr(os, "fdatasync", os.fsync) if data_only else os.fsync)(file)


def give(made: int | Path, folder: Path) -> None:
    """Let what root makes belong to the folder's owner, who would else not open it any more.

    A root that may not give away, as in some containers, or to a user it has no name for, keeps it.
    """
    if os.geteuid() == 0:
        owner = folder.stat()
        with suppress(OSError):
            if isinstance(made, int):
                os.chown(made, owner.st_uid, owner.st_gid)
            else:
                os.lchown(made, owner.st_uid, owner.st_gid)  # never what a link leads to


def write_atomically(path: Path, content: bytes, mode: int = 0o644) -> Path:
    """Write a file under a temporary name and rename it: it replaces an older file whole or not at all.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "x.txt", b"all of it").read_text()
    'all of it'
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)  # the open file, not its name, which the folder's owner may give to another
            give(file.fileno(), path.parent)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def write_or_refuse(path: Path, content: bytes) -> Path:
    """The same, where the name is a person's: what the system refuses is refused in our words."""
    try:
        return write_atomically(path, content)
    except OSError as error:
        raise InvalidParameter(
            f"{path.name} cannot be written: {os.strerror(error.errno or 0)}.", fix="Choose another place."
        ) from None


def create(path: Path, lines: Iterable[str]) -> Path:
    """Write a new text file; an existing file is left as it is, and one that cannot be finished is removed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = create(Path(folder) / "x.txt", ["a\\n", "b\\n"])
    ...     try:
    ...         create(made, ["c\\n"])
    ...     except InvalidParameter as refusal:
    ...         print(refusal.what, made.read_text().split())
    x.txt exists already. ['a', 'b']
    """
    try:
        with path.open("x", encoding="utf-8") as target:
            try:
                target.writelines(lines)
                target.flush()
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise InvalidParameter(f"{path.name} exists already.", fix="Choose another file, or remove it first.") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise InvalidParameter(f"{path.name} cannot be written: {reason}.", fix="Choose another place.") from None
    return path
