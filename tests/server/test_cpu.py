"""Free work that computes for too long is stopped, whatever it does, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio import CapacityLimiter

from curador.errors import QuestionRefused
from curador.server.access.auth import Caller
from curador.server.gate import cpu
from curador.server.gate.clock import TickClock
from curador.server.gate.cpu import bounded
from curador.server.gate.metrics import Metrics
from curador.server.gate.settings import Settings
from curador.server.service import Service
from tests.ledger.interrupts import within
from tests.server.served import SQL, serving, too_long, write_study

LIMIT = 0.05
LONGEST = 60


def _for_ever() -> None:
    while True:
        pass


def _catching_all() -> None:
    while True:
        with suppress(Exception):
            _for_ever()


class _Dropped:
    """Python ignores what is raised while an object is dropped."""

    def __del__(self) -> None:
        end = time.thread_time() + 10 * LIMIT
        while time.thread_time() < end:
            pass


def _dropping() -> None:
    _Dropped()
    _for_ever()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("work", [_for_ever, _catching_all, _dropping])
def test_work_that_would_never_end_is_stopped(work: Any) -> None:
    before = time.thread_time()
    with within(LONGEST), pytest.raises(QuestionRefused) as found:
        bounded(work, LIMIT)
    assert found.value.code == "planning-too-long"
    assert time.thread_time() - before >= LIMIT


def test_nothing_is_left_to_look_for() -> None:
    """Taken back instead of raised, CPython went on looking for it, and never entered a function that was traced."""

    def traced() -> str:
        return "entered"

    for work in (_for_ever, lambda: None):
        with suppress(QuestionRefused):
            bounded(work, LIMIT)
        with within(LONGEST):
            before = sys.gettrace()
            sys.settrace(lambda *_: None)
            try:
                assert traced() == "entered"
            finally:
                sys.settrace(before)


def test_waiting_is_not_computing() -> None:
    def wait() -> str:
        time.sleep(1.2)
        return "done"

    assert bounded(wait, 1) == "done"


def test_what_ends_at_the_last_moment_is_an_answer_or_a_refusal_and_nothing_follows() -> None:
    """Whoever ends when it is stopped is not stopped later, in what its thread does next."""
    outcomes = set()
    for i in range(150):
        end = time.thread_time() + 0.002 + (i % 30) * 0.0001

        def spin(end: float = end) -> str:
            while time.thread_time() < end:
                pass
            return "answer"

        try:
            outcomes.add(bounded(spin, 0.0025))
        except QuestionRefused:
            outcomes.add("refusal")
        after = time.thread_time() + 0.001
        while time.thread_time() < after:
            pass
    assert outcomes <= {"answer", "refusal"}


def test_an_end_that_is_stopped_itself_is_done_again() -> None:
    watch, tried = cpu._ThreadWatch(60), []

    def end() -> None:
        tried.append(1)
        if len(tried) < 3:
            raise cpu._Stopped
        watch.end()

    cpu._surely(end)
    assert len(tried) == 3
    assert watch._over.is_set()


def test_planning_that_takes_too_long_is_refused_before_anything_is_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curador.server.service.bounded", too_long)
    with serving(write_study(tmp_path)) as served:
        asked = {"sql": SQL, "epsilon": "1"}
        with served.client("ana") as ana:
            for path, body in (
                ("explain", asked),
                ("how-many", asked),
                ("ask", {**asked, "because": "to see"}),
                ("batch/explain", {"questions": {"n": SQL}, "epsilon": "1"}),
                ("batch", {"questions": {"n": SQL}, "epsilon": "1", "because": "to see"}),
                ("quality/explain", {"table": "people", "columns": ["sex"], "epsilon": "1"}),
                ("quality", {"table": "people", "columns": ["sex"], "epsilon": "1", "because": "to see"}),
            ):
                found = ana.post(f"/v1/{path}", json=body)
                assert found.json()["code"] == "planning-too-long", (path, found.text)
            assert ana.get("/v1/budget").status_code == 200
        assert not any(served.curator.budget("ana").state.spent)


def test_a_caller_plans_one_question_at_a_time_and_leaves_threads_to_others() -> None:
    service = Service(Settings(threads=6), TickClock(0.0), Metrics())
    service.free, service.planning = CapacityLimiter(6), CapacityLimiter(3)
    guard, running, most = threading.Condition(), Counter[str](), Counter[str]()

    def task(who: str) -> None:
        with guard:
            running[who] += 1
            most[who], most["all"] = max(most[who], running[who]), max(most["all"], running.total())
            guard.notify_all()
            assert guard.wait_for(lambda: most["all"] >= 3, timeout=LONGEST)
        time.sleep(0.02)  # whoever should not run beside it has time to
        with guard:
            running[who] -= 1

    async def all_at_once() -> None:
        callers = {who: Caller("analyst", who, who) for who in "abcdef"}
        await asyncio.gather(*(service.plan(callers[who], partial(task, who)) for who in "aaaabbcdef"))

    asyncio.run(all_at_once())
    assert most["all"] == 3
    assert all(most[who] == 1 for who in "abcdef")
    assert not service.turns


def test_where_a_threads_time_is_not_told_nothing_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "pthread_getcpuclockid")
    assert bounded(lambda: "done", 1e-9) == "done"
