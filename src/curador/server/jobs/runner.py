"""Jobs run one after the other, in threads of the process that took them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from curador.errors import CuradorError
from curador.server.access.auth import Caller, new_name
from curador.server.gate.clock import TickClock
from curador.server.gate.metrics import LOG
from curador.server.gate.problems import document
from curador.server.gate.refusals import not_found, unforeseen
from curador.server.jobs.records import JobRecords, ServedJob


class Told(Protocol):
    """Is told the part of a stage that is done, from 0 to 1; below 0 where it is unknown."""

    def __call__(self, part: float, stage: str = "") -> None: ...


Task = Callable[[Told], Mapping[str, Any]]
"""What a job does: small plain values; what is large is kept elsewhere, and named."""

TOLD_EVERY = 0.5
"""Seconds between two notes of how far a job is."""

ENDINGS = 3
"""How often it is tried to note how a job ended."""


@dataclass
class JobRunner:
    """Takes jobs, runs them, and shows them to those who may see them.

    Guarantee: an analyst sees that a job waits or is done, and that from the tick after it ended; how far it is depends
    on rows, and is the curator's to see.  Their own jobs are all that others than the curator see.
    """

    records: JobRecords
    clock: TickClock
    threads: int
    _pool: ThreadPoolExecutor = field(init=False)
    _taken: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="job")

    def take(
        self, caller: Caller, kind: str, asked: Mapping[str, Any], task: Task, key: str | None = None
    ) -> ServedJob:
        """Let a task wait for its turn; the same request under the same key is the same job."""
        said = hashlib.sha256(json.dumps([kind, asked], sort_keys=True, default=str).encode()).hexdigest()
        job, new = self.records.add(ServedJob(new_name(), owner_of(caller), kind, key, said, "", time.time()))
        if new:
            self._taken.add(job.id)
            self._pool.submit(self._run, job, task)
        return job

    def _run(self, job: ServedJob, task: Task) -> None:
        self.clock.wait()  # when the job before it ended would be seen by when this one is charged
        self._taken.discard(job.id)
        if not self.records.begin(job.id):
            return
        last, before = 0.0, ""

        def tell(part: float, stage: str = "") -> None:
            nonlocal last, before
            stage = stage or before or job.kind
            if stage != before or time.monotonic() - last > TOLD_EVERY:
                last, before = time.monotonic(), stage
                with suppress(sqlite3.Error):  # how far it is, is nobody's answer
                    self.records.moved(job.id, min(part, 1.0) if part >= 0 else None, stage)

        outcome: Mapping[str, Any]
        try:
            outcome = {"result": dict(task(tell))}
        except CuradorError as error:
            outcome = {"error": document(error, job.id)}
        except Exception as error:  # noqa: BLE001  its text and its frames may quote rows: only its kind is logged
            LOG.error(json.dumps({"job": job.kind, "failed": type(error).__name__}))
            outcome = {"error": document(unforeseen(), job.id)}
        self._end(job, outcome)

    def _end(self, job: ServedJob, outcome: Mapping[str, Any]) -> None:
        """Note how a job ended; again where the file is damaged, and was begun anew, or is kept by another."""
        for _ in range(ENDINGS):
            with suppress(sqlite3.Error):
                self.records.end(job.id, outcome, self.clock.next(time.time()))
                return
        LOG.error(json.dumps({"job": job.kind, "failed": "its end cannot be written"}))

    def seen(self, caller: Caller) -> list[dict[str, Any]]:
        """The jobs that a caller may see, oldest first."""
        return [shown(one, caller) for one in self.records.all() if _may_see(one, caller)]

    def one(self, caller: Caller, id: str) -> dict[str, Any]:
        """One job; not found alike where there is none and where it is another's."""
        return shown(self._own(caller, id), caller)

    def cancel(self, caller: Caller, id: str) -> dict[str, Any]:
        """Cancel a job that has not begun; one that has is done to its end, since what is charged stays charged."""
        job = self._own(caller, id)
        self.records.cancel(job.id)
        return self.one(caller, id)

    def _own(self, caller: Caller, id: str) -> ServedJob:
        found = next((one for one in self.records.all() if one.id == id and _may_see(one, caller)), None)
        if found is None:
            raise not_found()
        return found

    def close(self) -> None:
        """Let what runs end, so that no charge is left without its answer; what waits is not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.records.stop(self._taken)


def owner_of(caller: Caller) -> str:
    """Whose a job is: an analyst's by name, of others the role's."""
    return caller.role if caller.who is None else f"analyst {caller.who}"


def _may_see(job: ServedJob, caller: Caller) -> bool:
    return caller.role == "curator" or job.owner == owner_of(caller)


def shown(job: ServedJob, caller: Caller) -> dict[str, Any]:
    """A job as a caller may see it."""
    state, outcome = job.state, dict(job.outcome or {})
    if caller.role != "curator" and (state == "running" or (state == "done" and job.open_at(time.time()))):
        state, outcome = "waiting", {}
    found = {
        "job": job.id,
        "kind": job.kind,
        "state": state,
        "made": datetime.fromtimestamp(int(job.made), UTC).isoformat(),
        "result": outcome.get("result"),
        "error": outcome.get("error"),
    }
    seen = {"owner": job.owner, "progress": job.progress, "stage": job.stage}
    return {**found, **seen} if caller.role == "curator" else found
