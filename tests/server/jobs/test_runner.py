"""Jobs: shared by processes, bounded, the caller's own, and on the clock for all but the curator."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curador.errors import CuradorError, InvalidParameter
from curador.server.access.auth import Caller
from curador.server.app import job_records
from curador.server.gate.clock import TickClock
from curador.server.gate.settings import Settings
from curador.server.jobs import records
from curador.server.jobs.records import JobRecords, ServedJob
from curador.server.jobs.runner import JobRunner, Told

CURATOR, ANA, BEA = Caller("curator", None, "c"), Caller("analyst", "ana", "a"), Caller("analyst", "bea", "b")
HOUR = 3600.0


@pytest.fixture
def kept(tmp_path: Path) -> JobRecords:
    return job_records(tmp_path / "study.jobs", Settings(jobs=5, at_once=2))


@pytest.fixture
def runner(kept: JobRecords) -> Iterator[JobRunner]:
    made = JobRunner(kept, TickClock(0.0), 1)
    yield made
    made.close()


def nothing(tell: Told) -> dict[str, Any]:
    return {"done": 1}


def ended(runner: JobRunner) -> None:
    """Wait until no job is unfinished."""
    while any(one["state"] in ("waiting", "running") for one in runner.seen(CURATOR)):
        time.sleep(0.005)


def test_a_job_waits_runs_and_ends(runner: JobRunner) -> None:
    go, seen = threading.Event(), threading.Event()

    def work(tell: Told) -> dict[str, Any]:
        tell(0.5)
        seen.set()
        go.wait(60)
        return {"entries": 3}

    job = runner.take(ANA, "fit", {}, work)
    assert seen.wait(60)
    assert (runner.one(CURATOR, job.id)["state"], runner.one(CURATOR, job.id)["progress"]) == ("running", 0.5)
    assert runner.one(CURATOR, job.id)["owner"] == "analyst ana"
    own = runner.one(ANA, job.id)
    assert own["state"] == "waiting"
    assert not {"progress", "owner"} & set(own)
    go.set()
    ended(runner)
    assert runner.one(ANA, job.id)["result"] == {"entries": 3}
    assert runner.one(CURATOR, job.id)["state"] == runner.one(ANA, job.id)["state"] == "done"


def test_the_curator_sees_the_stage_and_the_part_of_it_that_is_done(runner: JobRunner) -> None:
    seen: list[dict[str, dict[str, Any]]] = []

    def work(tell: Told) -> dict[str, Any]:
        for part, stage in ((0.25, "history"), (-1, "tables"), (7, "last")):
            tell(part, stage)
            seen.append({who.role: runner.one(who, job.id) for who in (CURATOR, ANA)})
        return {}

    go = threading.Event()
    runner.take(BEA, "fit", {}, lambda tell: {"waited": go.wait(60)})  # so that the job has a name when it begins
    job = runner.take(ANA, "verify", {}, work)
    go.set()
    ended(runner)
    assert [(one["curator"]["progress"], one["curator"]["stage"]) for one in seen] == [
        (0.25, "history"),
        (None, "tables"),
        (1.0, "last"),
    ]
    assert len({json.dumps(one["analyst"]) for one in seen}) == 1  # nothing moves
    assert seen[0]["analyst"]["state"] == "waiting"
    assert not {"progress", "stage", "owner"} & set(seen[0]["analyst"])
    assert runner.one(CURATOR, job.id)["stage"] is None


def test_a_limit_on_jobs_and_a_key_do_not_tell_before_the_tick_that_one_has_ended(
    kept: JobRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = JobRunner(kept, TickClock(0.0), 1)
    first = [made.take(ANA, "fit", {}, nothing) for _ in range(2)]
    failing = ServedJob("f" * 32, "analyst bea", "fit", "k", "asked", "", time.time())
    kept.add(failing)
    made.close()
    later = time.time() + HOUR
    for job in first:
        kept.end(job.id, {"result": {}}, later)
    kept.end(failing.id, {"error": {"code": "x"}}, later)
    again = replace(failing, id="e" * 32)
    with pytest.raises(CuradorError) as refused:  # as long as they ran
        kept.add(replace(again, owner="analyst ana", key=None))
    assert refused.value.code == "too-many"
    assert kept.add(again) == (next(one for one in kept.all() if one.id == failing.id), False)
    monkeypatch.setattr(time, "time", lambda: later + 1)
    monkeypatch.setattr(records, "KEPT_FOR", 2 * HOUR)
    assert kept.add(replace(again, owner="analyst ana", key=None, id="d" * 32))[1]
    assert kept.add(again)[1]  # it failed, so it is tried anew


class Noted(TickClock):
    """A clock that notes when it is waited for."""

    def wait(self, since: float | None = None) -> None:
        waited.append("tick")


waited: list[str] = []


def test_a_job_begins_at_a_tick(kept: JobRecords) -> None:
    def work(tell: Told) -> dict[str, Any]:
        waited.append("work")
        return {}

    made = JobRunner(kept, Noted(1.0), 1)
    for _ in range(2):
        made.take(ANA, "fit", {}, work)
    ended(made)
    made.close()
    assert waited == ["tick", "work", "tick", "work"]


def test_a_file_of_jobs_of_another_version_is_begun_anew(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "study.jobs")) as rows:
        rows.execute("CREATE TABLE jobs (id TEXT PRIMARY KEY)")
    assert job_records(tmp_path / "study.jobs", Settings()).all() == []


def test_a_damaged_file_of_jobs_is_begun_anew(tmp_path: Path) -> None:
    """As a power cut leaves it: nothing in it was synced."""
    path = tmp_path / "study.jobs"
    kept = job_records(path, Settings())
    path.write_bytes(bytes(path.stat().st_size))
    assert job_records(path, Settings()).all() == []
    path.write_bytes(b"x" * 8192)
    with pytest.raises(sqlite3.DatabaseError):  # for a server that runs: once
        kept.all()
    assert kept.all() == []
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()  # by somebody, while it is used
    assert kept.all() == []
    assert path.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in tmp_path.iterdir()] == ["study.jobs"]


def test_a_list_that_fails_for_a_moment_costs_no_job_its_answer(tmp_path: Path) -> None:
    path = tmp_path / "study.jobs"
    runner = JobRunner(job_records(path, Settings()), TickClock(0.0), 1)

    def work(tell: Told) -> dict[str, Any]:
        path.write_bytes(b"x" * 8192)
        tell(0.5, "half")
        path.write_bytes(b"x" * 8192)
        done.append(1)
        return {"n": 1}

    done: list[int] = []
    runner.take(ANA, "fit", {}, work)
    runner.close()
    assert done == [1]


def test_a_clock_that_is_set_forward_removes_no_job_that_runs(
    kept: JobRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, go = JobRunner(kept, TickClock(0.0), 1), threading.Event()

    def hold(tell: Told) -> dict[str, Any]:
        go.wait(60)
        return {"n": 1}

    first, second = (runner.take(ANA, "fit", {"n": n}, hold) for n in range(2))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3 * records.KEPT_FOR)
    assert [one.id for one in kept.all()] == [first.id, second.id]
    monkeypatch.setattr(time, "time", real)
    go.set()
    ended(runner)
    runner.close()
    assert [one.outcome for one in kept.all()] == [{"result": {"n": 1}}] * 2


def test_a_job_is_its_callers_own(runner: JobRunner) -> None:
    job = runner.take(ANA, "fit", {}, nothing)
    for stranger in (BEA, Caller("auditor", None, "x")):
        assert runner.seen(stranger) == []
        for act in (runner.one, runner.cancel):
            with pytest.raises(CuradorError) as refused:
                act(stranger, job.id)
            assert refused.value.code == "not-found"
    assert [one["job"] for one in runner.seen(ANA)] == [one["job"] for one in runner.seen(CURATOR)] == [job.id]
    assert len(job.id) == 32


def test_an_analyst_sees_the_end_at_the_tick_after_it(kept: JobRecords) -> None:
    runner = JobRunner(kept, Noted(HOUR), 1)
    job = runner.take(ANA, "fit", {}, nothing)
    ended(runner)
    runner.close()
    leaves = kept.all()[0].leaves
    assert leaves is not None
    assert leaves % HOUR == 0
    if time.time() < leaves:  # else the hour ended meanwhile
        assert (runner.one(ANA, job.id)["state"], runner.one(ANA, job.id)["result"]) == ("waiting", None)
    assert runner.one(CURATOR, job.id)["result"] == {"done": 1}
    kept.end(job.id, {"result": {"done": 1}}, leaves - 2 * HOUR)
    assert runner.one(ANA, job.id)["state"] == "done"


def test_failures_are_refusals_and_say_nothing_else(runner: JobRunner, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(tell: Told) -> dict[str, Any]:
        raise InvalidParameter("This is refused.", fix="Leave it.", code="left")

    def fail(tell: Told) -> dict[str, Any]:
        raise RuntimeError("the row of Eva")

    jobs = [runner.take(CURATOR, "verify", {"n": n}, task) for n, task in enumerate((refuse, fail))]
    ended(runner)
    said = [runner.one(CURATOR, job.id)["error"] for job in jobs]
    assert [one["code"] for one in said] == ["left", "server-failed"]
    assert "Eva" not in str(said) + caplog.text
    assert "RuntimeError" in caplog.text


def test_what_has_not_begun_can_be_cancelled(runner: JobRunner) -> None:
    go, ran = threading.Event(), []

    def hold(tell: Told) -> dict[str, Any]:
        go.wait(60)
        return {}

    def never(tell: Told) -> dict[str, Any]:
        ran.append(1)
        return {}

    first, second = runner.take(ANA, "fit", {"n": 1}, hold), runner.take(ANA, "fit", {"n": 2}, never)
    while runner.one(CURATOR, first.id)["state"] != "running":
        time.sleep(0.005)
    assert runner.cancel(ANA, second.id)["state"] == "cancelled"
    assert runner.cancel(CURATOR, first.id)["state"] == "running"
    go.set()
    ended(runner)
    assert ran == []
    assert runner.one(CURATOR, first.id)["state"] == "done"


def test_the_same_request_under_a_key_is_the_same_job(runner: JobRunner) -> None:
    first, again = (runner.take(ANA, "fit", {"n": 1}, nothing, "k") for _ in range(2))
    assert first.id == again.id
    with pytest.raises(CuradorError) as refused:
        runner.take(ANA, "fit", {"n": 2}, nothing, "k")
    assert refused.value.code == "key-reused"
    assert runner.take(BEA, "fit", {"n": 2}, nothing, "k").id != first.id


def test_jobs_are_bounded_in_number_and_age(kept: JobRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    runner, go = JobRunner(kept, TickClock(0.0), 1), threading.Event()

    def hold(tell: Told) -> dict[str, Any]:
        go.wait(60)
        return {}

    def take(who: Caller, n: int) -> None:
        runner.take(who, "fit", {"n": n}, hold)

    take(ANA, 0)
    take(ANA, 1)
    for who, allowed in ((ANA, 0), (BEA, 2), (CURATOR, 1), (Caller("auditor", None, "x"), 0)):
        for n in range(allowed):
            take(who, n)
        with pytest.raises(CuradorError) as refused:
            take(who, 9)
        assert refused.value.code == "too-many"
    go.set()
    ended(runner)
    runner.close()
    monkeypatch.setattr(records, "KEPT_EACH", 1)
    assert len(kept.all()) == 3
    monkeypatch.setattr(records, "KEPT_FOR", -1.0)
    assert kept.all() == []


def test_what_has_not_begun_when_the_server_stops_ends_so(kept: JobRecords) -> None:
    runner, go = JobRunner(kept, TickClock(0.0), 1), threading.Event()

    def hold(tell: Told) -> dict[str, Any]:
        go.wait(60)
        return {"done": 1}

    running = runner.take(ANA, "fit", {"n": 1}, hold)
    while runner.one(CURATOR, running.id)["state"] != "running":
        time.sleep(0.005)
    waiting = runner.take(ANA, "fit", {"n": 2}, nothing)
    closing = threading.Thread(target=runner.close)
    closing.start()
    while not _shut(runner):
        time.sleep(0.005)
    go.set()
    closing.join(60)
    assert runner.one(CURATOR, running.id)["result"] == {"done": 1}
    assert runner.one(CURATOR, waiting.id)["error"]["code"] == "server-failed"


def _shut(runner: JobRunner) -> bool:
    """Whether the threads take nothing more, and what waited was dropped."""
    pool: Any = runner._pool
    with pool._shutdown_lock:
        return bool(pool._shutdown)


def _take_and_die(path: Path) -> None:
    runner = JobRunner(job_records(path, Settings()), TickClock(0.0), 1)
    begun = threading.Event()

    def hold(tell: Told) -> dict[str, Any]:
        begun.set()
        time.sleep(600)
        return {}

    runner.take(ANA, "fit", {}, hold, "k")
    begun.wait(60)
    os._exit(0)


def test_a_job_ends_with_its_process_and_can_be_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "study.jobs"
    child = multiprocessing.get_context("spawn").Process(target=_take_and_die, args=(path,))
    child.start()
    child.join(120)
    kept = job_records(path, Settings())
    runner = JobRunner(kept, TickClock(0.0), 1)
    (lost,) = runner.seen(ANA)
    assert (lost["state"], lost["error"]["code"]) == ("done", "server-failed")
    again = runner.take(ANA, "fit", {}, nothing, "k")
    ended(runner)
    runner.close()
    assert again.id != lost["job"]
    assert runner.one(ANA, again.id)["result"] == {"done": 1}


def test_the_file_is_its_owners_and_one_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    job_records(tmp_path / "study.jobs", Settings())
    assert stat.S_IMODE((tmp_path / "study.jobs").stat().st_mode) == 0o600
    with pytest.raises(InvalidParameter) as refused:
        job_records(tmp_path / "nowhere" / "study.jobs", Settings())
    assert refused.value.code == "jobs-unwritable"
