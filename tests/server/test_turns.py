"""Purchases that wait for each other are charged at a tick: a budget, which is not delayed, tells nothing of others."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curador.curator.purchases.turns import Flight, SingleFlight
from curador.query.plan.plan import Plan
from curador.server.console import warming
from curador.server.gate.clock import TickClock
from tests.server.served import SQL, Served, serving, write_study

TICK = 0.5


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Questions read until they may end; what the first server of a process plans has run before."""
    warming._loaded()
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


class Noted(TickClock):
    """A clock that notes who waited since when, and when they went on."""

    def wait(self, since: float | None = None) -> None:
        super().wait(since)
        resumed.append((since or 0.0, time.time()))


resumed: list[tuple[float, float]] = []


def test_who_waits_for_an_equal_question_is_charged_at_the_tick_after_it(
    tmp_path: Path, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    come, ended, resumed[:] = list[str](), list[float](), []
    of, end = SingleFlight.of, SingleFlight.end

    def counted(self: SingleFlight, name: str, *more: Any) -> Flight:
        come.append(name)
        return of(self, name, *more)

    def noted(self: SingleFlight, flight: Flight, now: float) -> None:
        ended.append(now)
        end(self, flight, now)

    monkeypatch.setattr(SingleFlight, "of", counted)
    monkeypatch.setattr(SingleFlight, "end", noted)
    with serving(write_study(tmp_path), tick="500ms") as served:
        served.curator.paced(8, Noted(TICK))
        first = asking(served, "curator", "0.1")
        until(lambda: served.curator.charge_count() == 1)
        others = [asking(served, who, "0.1") for who in ("ana", "bea")]
        until(lambda: len(come) == 3)
        assert spent(served, "ana") == spent(served, "bea") == 0  # two wait, and are not charged yet
        slow.set()
        charged = until(lambda: spent(served, "ana") > 0 < spent(served, "bea"))
        for thread in (first, *others):
            thread.join()
    # Both go on at the tick after the end of the one that read: the second has no tick of its own.
    assert [since for since, _ in resumed] == ended * 2
    assert all(on // TICK > since // TICK for since, on in resumed)
    assert charged >= resumed[0][1]


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
        until(lambda: served.service.paying.statistics().tasks_waiting == 1)
        assert spent(served, "bea") == 0
        before = time.time()
        slow.set()
        charged = until(lambda: spent(served, "bea") > 0)
        first.join()
        second.join()
    assert charged // TICK > before // TICK
