"""The study as its file is now: what is declared while the server runs is served from the next request on.

Each process looks at the file before a request; so all of them serve a new table at once, and none has to be told.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from curador import Curator, Ledger
from curador.curator.study.file import Study, read_study
from curador.errors import CuradorError
from curador.server.gate.metrics import LOG

OpenCurator = Callable[[Ledger | None], Curator]
"""Opens the curator of a study; with an open ledger, on that one."""

Reread = Callable[[Path, Study], None]

Stamp = tuple[int, int, int] | None


class ServedStudy:
    """The curator of a study file, opened again when the file declares something else; all share one ledger.

    Guarantee: a curator never changes what it declares, so what was planned by one is bought from the same one; who
    still holds the one before goes on with it to the end.
    Fails: a file that would not open, or that names another ledger, is logged, and what was declared before is served.
    """

    def __init__(self, open_curator: OpenCurator, reread: Reread = lambda file, study: None) -> None:
        """``reread`` is told what the file says whenever it was read again."""
        self._open, self._reread, self._reopening = open_curator, reread, Lock()
        self._first = self.curator = open_curator(None)
        self._file = self.curator.study_file
        self._seen, self._given_up = self._stamp(), False
        self._stated = None if self._file is None else read_study(self._file)
        if self._stated is not None and not self.curator.declares(self._stated):  # it changed while it was opened
            self._seen, self._stated = None, None

    def changed(self) -> bool:
        """Whether the file is another one than was last looked at, or a table's file that was missing has come.

        One question to the file system, and one for each table that is missing.
        """
        return self._stamp() != self._seen or (not self._given_up and self.curator.outdated)

    def reopened(self) -> Curator:
        """The curator of the file as it is now."""
        with self._reopening:
            stamp = self._stamp()  # before it is read: if it changes meanwhile, it is read again
            if self.changed() and self._file is not None:
                try:
                    self._renew(self._file)
                    self._given_up = False
                except Exception as error:  # noqa: BLE001  a file may hold anything: whatever it is, others are served
                    code = error.code if isinstance(error, CuradorError) else ""
                    LOG.error(json.dumps({"study": "not reopened", "because": code or type(error).__name__}))
                    self._given_up = True  # until the study's file changes
                self._seen = stamp
            return self.curator

    def _renew(self, file: Path) -> None:
        found = read_study(file)
        if self._stated is not None and _ledger(found) != _ledger(self._stated):
            LOG.error(json.dumps({"study": "not reopened", "because": "another ledger, which needs a restart"}))
            return
        if self._stated is None or _declared(found) != _declared(self._stated) or self.curator.outdated:
            self.curator = self._open(self._first.ledger)
            self.curator.close_unheld()
            LOG.info(json.dumps({"study": "reopened", "tables": len(found.tables)}))
        self._stated = found
        self._reread(file, found)

    def _stamp(self) -> Stamp:
        """What tells one version of the file from another; None while there is none."""
        try:
            found = None if self._file is None else self._file.stat()
        except OSError:
            found = None
        return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)

    def close(self) -> None:
        """Close what was opened; the ledger last, which is the first curator's."""
        if self.curator is not self._first:
            self.curator.close()
        self._first.close()


def _ledger(study: Study) -> object:
    return study.ledger, study.keep


def _declared(study: Study) -> object:
    """What a curator is made of; how the study is served takes a restart."""
    return study.tables, study.budget, study.policy, study.analysts
