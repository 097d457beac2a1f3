"""Answers leave on the clock: with a victim and without at the same instants, however long the work took.

No time of the machine is compared here: the server has a clock that only work and waiting move, and how long the work
takes is decided by the rows of the table.  What a real clock shows is measured in docs/audit-demos.md.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow.parquet as pq
import pytest

from curador import Curator
from curador.audit.doors.run import ANSWERED, AttackRequest, Observation, differences
from curador.audit.doors.stage import ScenesOnDisk
from curador.audit.doors.times import TIMED
from curador.cli.audit.web_door import web
from curador.errors import EngineFailed
from curador.query.plan.plan import Plan
from curador.server import app
from curador.server.gate.clock import TickClock
from curador.server.jobs.records import ServedJob
from tests.server.served import SQL, Served, serving, write_study

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


# ---- what leaves at once, and what is seen from the next tick on ----------------------------------------------------


@dataclass
class HeldTime:
    """A time that only the test moves."""

    at: float = START
    leaving: int = 0
    waiting: list[float] = field(default_factory=list)

    def clock(self, tick: float) -> TickClock:
        own = self

        class Held(TickClock):
            async def leave(self) -> None:
                own.leaving += 1
                await super().leave()

            def wait(self, since: float | None = None) -> None:
                end = self.next(self.now() if since is None else since)
                if end > own.at:
                    own.waiting.append(since or 0.0)
                while end > own.at:
                    time.sleep(0.002)

        return Held(TICK, lambda: own.at, own.pause)

    async def pause(self, seconds: float) -> None:
        end = self.at + seconds
        while self.at < end:
            await asyncio.sleep(0.002)

    def tick(self) -> None:
        """The next tick, and a quarter of one."""
        self.at = float(int(self.at + TICK)) + 0.25


@dataclass(frozen=True)
class Held:
    """A server whose time the test moves."""

    times: HeldTime
    served: Served

    def post(self, path: str, who: str = "ana", **body: Any) -> Any:
        with self.served.client(who) as client:
            return client.post(path, json=body).json()

    def ask(self, who: str = "ana", **body: Any) -> Callable[[], Any]:
        """Begin to ask; what is returned moves the time to the next tick and gives the answer."""
        found: list[Any] = []
        before = self.times.leaving + len(self.times.waiting)
        thread = Thread(
            target=lambda: found.append(self.post("/v1/ask", who, **{"sql": SQL, "epsilon": "0.1", **body}))
        )
        thread.start()
        until(lambda: self.times.leaving + len(self.times.waiting) > before or found)

        def answer() -> Any:
            while thread.is_alive():
                self.times.tick()
                thread.join(0.2)
            return found[0]

        return answer

    def spent(self, who: str) -> float:
        return float(str(self.served.curator.budget(who).spent.to_json()["epsilon"]))


def until(true: Callable[[], Any]) -> None:
    while not true():
        time.sleep(0.002)


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    times = HeldTime()
    monkeypatch.setattr(app, "TickClock", times.clock)
    with serving(write_study(tmp_path)) as served:
        yield Held(times, served)


REFUSED_AT_ONCE: dict[str, dict[str, Any]] = {
    "syntax": {"sql": "SELEC"},
    "column": {"sql": "SELECT COUNT(wage) AS n FROM people"},
    "reason": {"sql": SQL, "epsilon": "2"},
    "two terms": {"sql": SQL, "key": "k", "fresh": True},
    "field": {"sql": SQL, "epsilom": "1"},
}


def test_what_is_refused_by_the_question_alone_leaves_at_once(held: Held) -> None:
    for body in REFUSED_AT_ONCE.values():
        assert "code" in held.post("/v1/ask", **{"epsilon": "0.1", **body})
    assert held.post("/v1/batch", questions={"n": "SELEC"}, epsilon="0.1")["code"]
    assert held.post("/v1/quality", table="people", epsilon="2")["code"] == "reason-needed"
    assert held.times.leaving == 0


def test_what_a_budget_refuses_leaves_at_a_tick(held: Held) -> None:
    """Whether a purchase is short of budget or free depends on what was answered."""
    refused = held.ask("bea", epsilon="2", because="a trial")
    assert held.times.leaving == 1
    assert refused()["code"] == "budget-exceeded"


def test_what_the_asker_bought_leaves_at_once_from_the_tick_after_it(held: Held) -> None:
    first = held.ask()()
    assert (first["repeated"], held.times.leaving) == (False, 1)
    (held.served.study.parent / "people.csv").unlink()  # nothing is opened for it
    for key in (None, "another"):
        again = held.post("/v1/ask", sql=SQL, epsilon="0.1", key=key)
        assert (again["repeated"], again["charge"], again["columns"]) == (True, first["charge"], first["columns"])
        assert again["remaining"] == first["remaining"]
    assert held.times.leaving == 1
    for who, fresh in (("bea", False), ("ana", True)):  # another asker, another purchase
        before = held.times.leaving
        held.ask(who, fresh=fresh)()
        assert held.times.leaving == before + 1


def test_an_answer_is_seen_from_the_next_tick_on(held: Held) -> None:
    """Its end within the tick is seen neither by an explanation, nor by another's charge, nor by what remains."""
    ready = held.ask()
    assert held.served.curator.ledger.answer("1")
    held.times.at += 0.25
    told = held.post("/v1/explain", sql=SQL, epsilon="0.1")
    assert told["shared"] == []
    other = held.ask("bea")  # equal, and found: still it goes on at the tick
    assert (len(held.times.waiting), held.spent("bea")) == (1, 0)
    second = held.ask("ana", epsilon="0.2")
    answer = ready()
    assert answer["remaining"] == second()["remaining"]
    assert other()["repeated"] is False
    assert held.spent("bea") == pytest.approx(0.1)
    assert held.post("/v1/explain", sql=SQL, epsilon="0.1")["shared"][0]["charge"] == answer["charge"]


def test_what_is_known_stays_known_while_a_newer_one_is_hidden(tmp_path: Path) -> None:
    times = HeldTime()
    wider = SQL.replace("AS n", "AS n, AVG(age) AS age")
    with closing(Curator(write_study(tmp_path))) as curator:
        curator.paced(8, times.clock(TICK))

        def told() -> list[str]:
            return [str(one["charge"]) for one in curator.explain(wider, epsilon=0.3).shared]

        seen = []
        for epsilon in (0.1, 0.2):
            curator.sql(SQL, epsilon=epsilon)
            seen.append(told())
            times.tick()
            seen.append(told())
    assert seen == [[], ["1"], ["1"], ["2"]]
