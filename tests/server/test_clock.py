"""Answers leave on the clock: with a victim and without at the same instants, however long the work took.

No time of the machine is compared here: the server has a clock that only work and waiting move, and how long the work
takes is decided by the rows of the table.  What a real clock shows is measured in docs/audit-demos.md.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curador.audit.doors.run import ANSWERED, AttackRequest, Observation, differences
from curador.audit.doors.stage import ScenesOnDisk
from curador.audit.doors.times import TIMED
from curador.cli.audit.web_door import web
from curador.errors import EngineFailed
from curador.query.plan.plan import Plan
from curador.server import app
from curador.server.gate.clock import TickClock
from curador.server.jobs.records import ServedJob

TICK = 1.0
START = 1_700_000_000.25


@dataclass
class OwnTime:
    """Stands still but for what is done, and remembers when answers were ready and when they left."""

    at: float = START
    ready: list[float] = field(default_factory=list)
    left: list[float] = field(default_factory=list)

    def clock(self, tick: float) -> TickClock:
        own = self

        class Leaving(TickClock):
            async def leave(self) -> None:
                own.ready.append(own.at)
                await super().leave()
                own.left.append(own.at)

        return Leaving(TICK, lambda: own.at, own.pause)

    async def pause(self, seconds: float) -> None:
        self.at += seconds


def asked(
    folder: Path, victim: str | None, sql: str, a_row: float, fails: bool, patch: pytest.MonkeyPatch
) -> tuple[Observation, OwnTime]:
    """Ask a server on D or D' whose work takes so many seconds for each row of the table."""
    ScenesOnDisk(folder).place(victim)
    times, run = OwnTime(), Plan.run
    rows = pq.read_metadata(folder / "people.parquet").num_rows

    def slow(plan: Plan, *more: Any) -> bytes:
        times.at += a_row * rows
        if fails:
            raise ValueError("a value of Eva's")
        return run(plan, *more)

    with patch.context() as own:
        own.setattr(Plan, "run", slow)
        own.setattr(app, "TickClock", times.clock)
        with web(folder) as door:
            times.at = START  # the first server of a process runs plans of made-up rows before it serves
            return door.ask(AttackRequest(sql)), times


@pytest.mark.parametrize("fails", [False, True], ids=["answered", "failed"])
@pytest.mark.parametrize("question", TIMED)
def test_a_victim_that_slows_the_work_within_a_tick_is_not_seen(
    question: str, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql, victim = TIMED[question]
    (here, without), (there, within) = (asked(tmp_path, v, sql, 0.0005, fails, monkeypatch) for v in (None, victim))
    assert without.ready[0] < within.ready[0] < START + 0.75  # the work took longer, and ended in the same tick
    assert without.left == within.left == [START - 0.25 + TICK]
    assert here.status == (EngineFailed.__name__ if fails else ANSWERED)
    assert list(differences(here, there)) == []


def test_a_victim_that_takes_a_tick_longer_is_seen_by_that_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound: which tick, and no more.  360 rows take 0.7 s, and 600 more another 1.2."""
    sql, victim = TIMED["a person with 600 rows"]
    (_, without), (_, within) = (asked(tmp_path, v, sql, 0.002, False, monkeypatch) for v in (None, victim))
    assert without.left == [START - 0.25 + TICK]
    assert within.left == [START - 0.25 + 3 * TICK]


@pytest.mark.parametrize("back", [0.0, 3600.0])
def test_a_clock_that_is_set_back_holds_nothing_up(back: float) -> None:
    times = OwnTime()
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)
        times.at += seconds - (back if len(waited) == 1 else 0)

    asyncio.run(TickClock(TICK, lambda: times.at, pause).leave())
    assert sum(waited) <= 2 * TICK
    assert times.at % TICK == 0  # also then it leaves at a tick


def test_what_waits_for_another_does_so_for_a_tick_where_the_clock_was_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times, slept = OwnTime(), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        times.at += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    TickClock(TICK, lambda: times.at).wait(since=START + 3600)  # it ended in an hour
    assert slept == [0.75]


def test_a_job_that_ended_before_the_clock_was_set_back_has_ended() -> None:
    job = ServedJob("id", "ana", "fit", "", "", "", made=START, state="done", leaves=START + 10)
    assert [job.open_at(START + at) for at in (5, 10, -3600)] == [True, False, False]
