"""The files that a path or a glob stands for: listed here alone, so that those that are charged for are those read."""

from __future__ import annotations

import glob
import os
import re
from pathlib import PurePath

FILE = "inode:"
"""The prefix of a file's number."""


def anchored(pattern: str) -> str:
    """The same files from whatever folder they are named: from the root, through no link on the way to a pattern.

    The last part stays as it is, also where it is a link: its ending says how the file is written.
    """
    folder, rest = _parted(pattern)
    return os.path.join(glob.escape(os.path.realpath(folder)), *rest)


def located(pattern: str) -> str:
    """Where the files are, for the ledger: as :func:`anchored`, and a link to a file is that file."""
    folder, rest = _parted(pattern)
    last = _plain(rest[0]) if len(rest) == 1 else None
    return anchored(pattern) if last is None else glob.escape(os.path.realpath(os.path.join(folder, last)))


def listed(pattern: str) -> list[str]:
    """The paths of the files, each from the root through no link, in order; a path that is no glob may not be there.

    A file that a glob finds by several paths is listed once.
    """
    folder, rest = _parted(pattern)
    last = _plain(rest[0]) if len(rest) == 1 else None
    if last is not None:
        return [os.path.join(os.path.realpath(folder), last)]
    found: dict[str, str] = {}
    for path in sorted(glob.glob(anchored(pattern), recursive=True)):
        beside, name = os.path.split(path)
        found.setdefault(os.path.realpath(path), os.path.join(os.path.realpath(beside), name))
    return sorted(found.values())


def number_of(path: str) -> str | None:
    """The number that the disk gives a file, the same through hard links and moves; None if it is not there."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return f"{FILE}{about.st_dev}:{about.st_ino}"


def _parted(pattern: str) -> tuple[str, list[str]]:
    """The folder before the first part that is a glob, and the rest, which is at least the last part.

    >>> _parted("data/[[]2024]/*/x.csv"), _parted("x.csv")
    (('data/[2024]', ['*', 'x.csv']), ('', ['x.csv']))
    """
    *parts, last = PurePath(pattern).parts or (pattern,)
    folder = ""
    for at, part in enumerate(parts):
        if (plain := _plain(part)) is None:
            return folder, [*parts[at:], last]
        folder = os.path.join(folder, plain)
    return folder, [last]


def _plain(part: str) -> str | None:
    """The name that a part of a path stands for; None if it is a glob.

    >>> _plain("[[]2024]"), _plain("[2024]"), _plain("a*")
    ('[2024]', None, None)
    """
    plain = re.sub(r"\[([*?[])\]", r"\1", part)
    return plain if not glob.has_magic(part) or glob.escape(plain) == part else None
