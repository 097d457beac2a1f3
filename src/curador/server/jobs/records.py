"""What is kept of a job, in a small file that the processes of one machine share.

Nothing here is a source of truth: what a job bought is in the ledger, and sending its request again under the same key
finds it there.  So the file needs no backup, and a machine that never saw a job only cannot say how far it is.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from curador.errors import InvalidParameter
from curador.forks import has_ended, process_name, runs
from curador.server.gate.refusals import refused
from curador.server.small_file import SmallFile

UNFINISHED = ("waiting", "running")

KEPT_EACH = 50
"""How many jobs of one owner are remembered."""

KEPT_FOR = 24 * 3600.0
"""Seconds for which a job that ended is remembered; one of a process that nothing is known of, too."""

_TABLE = (
    "id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, key TEXT, asked TEXT NOT NULL, "
    "process TEXT NOT NULL, made REAL NOT NULL, state TEXT NOT NULL, progress REAL, "
    "stage TEXT, leaves REAL, outcome TEXT"
)
_END = "UPDATE jobs SET state = 'done', progress = NULL, stage = NULL, outcome = ?, leaves = ? WHERE id = ?"
_COLUMNS = "id, owner, kind, key, asked, process, made, state, progress, stage, leaves, outcome"


@dataclass(frozen=True)
class ServedJob:
    """A job: who asked for what, how far it is, and how it ended.

    ``leaves`` is the tick at which an analyst may know that it ended; ``outcome`` has a ``result`` or an ``error``.
    """

    id: str
    owner: str
    kind: str
    key: str | None
    asked: str
    process: str
    made: float
    state: str = "waiting"
    progress: float | None = None
    stage: str | None = None
    leaves: float | None = None
    outcome: Mapping[str, Any] | None = None

    def open_at(self, now: float) -> bool:
        """Whether it has not ended as far as its owner may know: also a limit on jobs must not tell before the tick."""
        # Not where the clock was set back to before it was made: it would be unfinished for as long as that.
        return self.state in UNFINISHED or (self.leaves is not None and self.leaves > now >= self.made)


class JobRecords:
    """The jobs of a study on one machine.

    ``most`` may be unfinished at a time, and ``each`` of one owner.

    Guarantee: bounded in number, age and size; only its owner may read the file.
    """

    def __init__(self, path: Path, *, most: int, each: int, stopped: Mapping[str, Any]) -> None:
        self._most, self._each, self._stopped = most, each, dict(stopped)
        self._file = SmallFile(path, "jobs", _TABLE, code="jobs-unwritable")

    def add(self, job: ServedJob) -> tuple[ServedJob, bool]:
        """Keep a new job; or the one that the same request under the same key made before, and False.

        Fails: refused where the key was another request's, or too much is unfinished.
        """
        with self._file.writing() as rows:
            known, now = self._tidied(rows), time.time()
            if job.key is not None and (same := [o for o in known if (o.owner, o.key) == (job.owner, job.key)]):
                if same[-1].asked != job.asked:
                    raise InvalidParameter(
                        "The key belongs to another request.", fix="Use a key once.", code="key-reused"
                    )
                if same[-1].open_at(now) or "result" in (same[-1].outcome or {}):
                    return same[-1], False
            waiting = [one for one in known if one.open_at(now)]
            if len(waiting) >= self._most or sum(one.owner == job.owner for one in waiting) >= self._each:
                raise refused("There are too many jobs.", "Wait until one has ended, or cancel one.", "too-many")
            made = replace(job, process=process_name())
            values = (made.id, made.owner, made.kind, made.key, made.asked, made.process, made.made, made.state)
            rows.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL)", values)
        return made, True

    def begin(self, id: str) -> bool:
        """Take a job that waits; False if it was cancelled."""
        with self._file.writing() as rows:
            done = rows.execute("UPDATE jobs SET state = 'running' WHERE id = ? AND state = 'waiting'", (id,))
            return done.rowcount == 1

    def moved(self, id: str, progress: float | None, stage: str) -> None:
        """Note how far a job is: the stage it is in, and the part of that stage that is done, where it is known."""
        with self._file.writing() as rows:
            said = (progress, stage, id)
            rows.execute("UPDATE jobs SET progress = ?, stage = ? WHERE id = ? AND state = 'running'", said)

    def end(self, id: str, outcome: Mapping[str, Any], leaves: float) -> None:
        """Note how a job ended."""
        with self._file.writing() as rows:
            said = (json.dumps(dict(outcome)), leaves, id)
            rows.execute(_END, said)

    def cancel(self, id: str) -> bool:
        """End a job that has not begun; False if it has."""
        with self._file.writing() as rows:
            done = rows.execute("UPDATE jobs SET state = 'cancelled' WHERE id = ? AND state = 'waiting'", (id,))
            return done.rowcount == 1

    def stop(self, ids: Iterable[str]) -> None:
        """End jobs that will not be begun any more."""
        for id in ids:
            if self.cancel(id):
                self.end(id, self._stopped, time.time())

    def all(self) -> list[ServedJob]:
        """Every job that is remembered, oldest first."""
        with self._file.writing() as rows:
            return self._tidied(rows)

    def _tidied(self, rows: sqlite3.Connection) -> list[ServedJob]:
        """All jobs, without the too old and the too many; those of a process that has ended have ended with it."""
        now = time.time()
        every = [_job(row) for row in rows.execute(f"SELECT {_COLUMNS} FROM jobs ORDER BY made, id")]
        # One that runs here stays, however long it takes, and wherever the clock was set meanwhile.
        found = [one for one in every if one.made >= now - KEPT_FOR or (one.state in UNFINISHED and runs(one.process))]
        rows.executemany("DELETE FROM jobs WHERE id = ?", [(one.id,) for one in every if one not in found])
        left = Counter(one.owner for one in found)
        kept: list[ServedJob] = []
        for one in found:
            if one.state in UNFINISHED and has_ended(one.process):
                one = replace(one, state="done", progress=None, stage=None, outcome=self._stopped, leaves=now)
                said = (json.dumps(self._stopped), now, one.id)
                rows.execute(_END, said)
            if left[one.owner] > KEPT_EACH and one.state not in UNFINISHED:
                left[one.owner] -= 1
                rows.execute("DELETE FROM jobs WHERE id = ?", (one.id,))
            else:
                kept.append(one)
        return kept


def _job(row: tuple[Any, ...]) -> ServedJob:
    found = ServedJob(*row)
    return found if found.outcome is None else replace(found, outcome=json.loads(row[-1]))
