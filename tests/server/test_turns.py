"""Purchases that wait for each other are charged at a tick: a budget, which is not delayed, tells nothing of others."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curador.query.plan.plan import Plan
from tests.server.served import SQL, Served, serving, write_study

TICK = 0.5


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Questions read until they may end."""
    ends, run = threading.Event(), Plan.run

    def slowly(plan: Plan, *more: Any) -> bytes:
        assert ends.wait(60)
        return run(plan, *more)

    monkeypatch.setattr(Plan, "run", slowly)
    yield ends
    ends.set()


def asking(served: Served, who: str, epsilon: str) -> threading.Thread:
    def ask() -> None:
        with served.client(who) as client:
            client.post("/v1/ask", json={"sql": SQL, "epsilon": epsilon}).raise_for_status()

    made = threading.Thread(target=ask)
    made.start()
    return made


def until(true: Any) -> float:
    """The time at which something became true; it is looked at often."""
    while not true():
        time.sleep(0.002)
    return time.time()


def spent(served: Served, who: str) -> float:
    return float(str(served.curator.budget(who).spent.to_json()["epsilon"]))


def just_after_a_tick(ahead: float) -> None:
    """Wait until so much after a tick, so that what is done now is far from the next one."""
    time.sleep((ahead - time.time()) % TICK)


def test_who_waits_for_an_equal_question_is_charged_at_a_tick(
    tmp_path: Path, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(write_study(tmp_path), tick="500ms") as served:
        resumed: list[float] = []

        def resume() -> None:
            served.service.clock.wait()
            resumed.append(time.time())

        served.curator.paced(8, resume)
        first = asking(served, "ana", "0.1")
        until(lambda: spent(served, "ana") > 0)
        second = asking(served, "bea", "0.1")
        time.sleep(0.1)
        assert spent(served, "bea") == 0  # it waits, and is not charged yet
        just_after_a_tick(0.05)
        slow.set()
        answered = time.time()
        charged = until(lambda: spent(served, "bea") > 0)
        first.join()
        second.join()
    assert len(resumed) == 1
    assert resumed[0] // TICK > answered // TICK  # in a later tick, and not when the first was answered
    assert charged >= resumed[0] - 0.01


def test_who_finds_no_place_to_read_is_charged_at_once(tmp_path: Path, slow: threading.Event) -> None:
    with serving(write_study(tmp_path), tick="10ms", threads=1) as served:
        first = asking(served, "ana", "0.1")
        until(lambda: spent(served, "ana") > 0)
        second = asking(served, "bea", "0.2")  # while the first reads, and there is one place
        until(lambda: spent(served, "bea") > 0)
        slow.set()
        first.join()
        second.join()


def test_who_finds_no_thread_begins_at_a_tick(
    tmp_path: Path, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curador.server.app.CHARGED", 1)
    with serving(write_study(tmp_path), tick="500ms", threads=1) as served:
        first = asking(served, "ana", "0.1")
        until(lambda: spent(served, "ana") > 0)
        second = asking(served, "bea", "0.2")
        time.sleep(0.1)
        assert spent(served, "bea") == 0
        just_after_a_tick(0.05)
        slow.set()
        answered = time.time()
        charged = until(lambda: spent(served, "bea") > 0)
        first.join()
        second.join()
    assert charged // TICK > answered // TICK
