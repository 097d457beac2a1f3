"""Private folders for intermediate results that do not fit memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from curador.forks import has_ended, process, process_name

PREFIX = "curador-spill-"


class SpillFolders:
    """Folders for the databases of an engine, one each.

    They lie below ``home``, by default the system's temporary folder.

    Guarantee: only its owner may open a folder, whatever the umask.  All are removed by :meth:`remove`, at the latest
    when the engine is dropped or its process ends.  Folders of a killed process are removed when another makes one in
    the same place.  A forked child leaves its parent's folders alone.

    >>> folders = SpillFolders()
    >>> made = folders.new()
    >>> oct(os.stat(made).st_mode & 0o777)
    '0o700'
    >>> folders.remove()
    >>> os.path.exists(made)
    False
    """

    def __init__(self, home: str | Path | None = None) -> None:
        self._home = str(home or tempfile.gettempdir())
        self._made: list[tuple[tuple[int, int], str]] = []
        weakref.finalize(self, _remove, self._made)

    def new(self) -> str:
        """Make a folder; an empty text where that is impossible: then results that exceed memory fail."""
        try:
            _remove_left_behind(self._home)
            owner = process_name().replace(":", "-")
            made = tempfile.mkdtemp(prefix=f"{PREFIX}{owner}-", dir=self._home)
        except OSError:
            return ""
        self._made.append((process(), made))
        return made

    def remove(self) -> None:
        """Remove the folders that this process made."""
        _remove(self._made)


def _remove(made: list[tuple[tuple[int, int], str]]) -> None:
    for maker, folder in made:
        if maker == process():
            shutil.rmtree(folder, ignore_errors=True)
    made.clear()


def _remove_left_behind(home: str) -> None:
    with os.scandir(home) as entries:
        found = [e.path for e in entries if e.name.startswith(PREFIX)]
    for folder in found:
        owner = os.path.basename(folder).removeprefix(PREFIX).rpartition("-")[0].replace("-", ":")
        with suppress(OSError):  # another engine may have been faster
            if has_ended(owner) and os.lstat(folder).st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
