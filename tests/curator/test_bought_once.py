"""The same question by many processes at one instant is bought once; a dead one's charge gives nothing for free."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curador.curator import purchase
from curador.curator.curator import Curator
from curador.curator.purchase import fingerprint
from curador.errors import EngineFailed, InvalidParameter
from curador.forks import process_name
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP
from curador.query.tables.table import Table
from tests.ledger.interrupts import Interrupt, within
from tests.ledger.workers import forked

COUNT = "SELECT COUNT(*) AS n FROM t WHERE x <= {}"
Opened = Callable[[], Curator]


@pytest.fixture(params=["sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens one and the same study, in whatever process."""
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 100)
    address: dict[str, Any] = {"address": tmp_path / "ledger.db"}
    if request.param == "postgresql":
        schema = f"c{uuid.uuid4().hex[:12]}"
        address = {"address": request.getfixturevalue("postgres_url"), "schema": schema, "keep": tmp_path / "keep"}

    def open_() -> Curator:
        table = Table(tmp_path / "t.csv", columns={"x": {"type": "integer", "bounds": [0, 99]}})
        return Curator({"t": table}, budget=PureDP(100), ledger=open_ledger(**address))

    return open_


def close(*curators: Curator) -> None:
    for curator in curators:
        curator.close()
        curator.ledger.close()


def answers_of(opened: Opened, processes: int, questions: int) -> list[list[str]]:
    """What so many processes get that ask the same questions, each at the same instant."""
    close(opened())
    pipes = [os.pipe() for _ in range(processes)]
    ready, go = os.pipe(), os.pipe()

    def ask_all(write: int) -> None:
        signal.alarm(120)
        curator = opened()
        curator._engines.of({"t"})
        os.write(ready[1], b".")
        os.read(go[0], 1)
        found = [curator.sql(COUNT.format(i), epsilon=0.5).to_json() for i in range(questions)]
        with os.fdopen(write, "w") as pipe:
            json.dump(found, pipe)
        close(curator)

    children = [forked(lambda write=write: ask_all(write)) for _, write in pipes]  # type: ignore[misc]
    for _, write in pipes:
        os.close(write)
    waiting = processes
    while waiting:
        waiting -= len(os.read(ready[0], processes))
    os.write(go[1], b"g" * processes)
    found = []
    for read, _ in pipes:
        with os.fdopen(read) as pipe:
            found.append(json.load(pipe))
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * processes
    return found


def check_bought_once(opened: Opened, processes: int, questions: int) -> None:
    found = answers_of(opened, processes, questions)
    assert all(answers == found[0] for answers in found)
    curator = opened()
    assert len(curator.ledger.history()) == questions
    assert curator.budget().spent == PureDP(0.5 * questions)
    assert curator.ledger.verify()
    close(curator)


def test_processes_that_ask_the_same_at_one_instant_buy_it_once(opened: Opened) -> None:
    check_bought_once(opened, 4, 5)


@pytest.mark.slow
def test_eight_processes_that_ask_twenty_questions_buy_twenty(opened: Opened) -> None:
    check_bought_once(opened, 8, 20)


def test_a_process_that_died_leaves_a_charge_and_no_free_answer(opened: Opened) -> None:
    close(opened())

    def die_while_reading() -> None:
        curator = opened()
        engine: Any = curator._engines.of({"t"})
        engine.run = lambda *_: os._exit(7)
        curator.sql(COUNT.format(1), epsilon=0.5)

    assert os.waitpid(forked(die_while_reading), 0)[1] >> 8 == 7
    curator = opened()
    assert not curator.sql(COUNT.format(1), epsilon=0.5).repeated
    assert [charge.settled for charge in curator.ledger.history()] == [False, True]
    close(curator)


def test_a_failure_is_told_to_those_who_wait(opened: Opened) -> None:
    one, other = opened(), opened()
    engine: Any = one._engines.of({"t"})
    reading, leave = threading.Event(), threading.Event()

    def fail(*_: object) -> None:
        reading.set()
        leave.wait(20)
        raise OSError

    engine.run = fail
    failures: list[Exception] = []

    def ask() -> None:
        try:
            one.sql(COUNT.format(1), epsilon=0.5)
        except EngineFailed as error:
            failures.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    reading.wait(20)
    plan = other.plan(COUNT.format(1), epsilon=0.5)
    named = fingerprint(plan, other.scopes.held(plan.tables))
    assert other.ledger.running(named) == "1"
    waiting = threading.Thread(target=lambda: other.sql(COUNT.format(1), epsilon=0.5))
    waiting.start()
    leave.set()
    asking.join()
    waiting.join()
    assert len(failures) == 1
    assert [charge.settled for charge in other.ledger.history()] == [False, True]
    assert other.ledger.running(named) is None
    assert other.ledger.verify()
    close(one, other)


def test_an_owner_elsewhere_is_waited_for_as_long_as_an_engine_may_take(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = opened()
    plan = curator.plan(COUNT.format(1), epsilon=0.5)
    named = fingerprint(plan, curator.scopes.held(plan.tables))
    terms: dict[str, Any] = {"guarantee": plan.guarantee, "fingerprint": named}
    curator.ledger.reserve("t", plan.event, **terms, owner="another machine:1:1:1")
    with pytest.raises(InvalidParameter) as refused:
        curator.ledger.reserve("t", plan.event, **terms, owner=process_name())
    assert refused.value.code == "being-answered"
    now = [0.0]
    monkeypatch.setattr(purchase, "monotonic", lambda: now[0])
    monkeypatch.setattr(purchase, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    assert not curator.sql(COUNT.format(1), epsilon=0.5).repeated
    assert 300 < now[0] < 320
    assert curator.budget().spent == PureDP(1)
    close(curator)


def test_a_fresh_answer_waits_for_nobody(opened: Opened) -> None:
    curator = opened()
    plan = curator.plan(COUNT.format(1), epsilon=0.5)
    named = fingerprint(plan, curator.scopes.held(plan.tables))
    curator.ledger.reserve("t", plan.event, guarantee=plan.guarantee, fingerprint=named, owner="elsewhere:1:1:1")
    assert not curator.sql(COUNT.format(1), epsilon=0.5, fresh=True).repeated
    close(curator)


def test_whoever_is_interrupted_while_another_thread_writes_the_charge_leaves_nobody_waiting(opened: Opened) -> None:
    """What was looked for before that transaction was committed was not there yet, and stayed for five minutes."""
    curator, main = opened(), threading.get_ident()
    plan = curator.plan(COUNT.format(1), epsilon=0.5)
    named = fingerprint(plan, curator.scopes.held(plan.tables))
    store: Any = curator.ledger._store  # type: ignore[attr-defined]
    group, commit = store._group, store._commit

    def until(found: Callable[[], object]) -> None:
        end = time.monotonic() + 10
        while not found() and time.monotonic() < end:
            time.sleep(0.001)

    def commit_late() -> None:
        store._commit = commit
        signal.pthread_kill(main, signal.SIGUSR1)
        until(lambda: group._waiting)  # it queues behind; or else it has looked, and is gone
        commit()

    def lead() -> None:
        until(lambda: group._waiting)
        store._commit = commit_late
        group._perform_all()
        group.lead.release()

    def interrupt(number: int, frame: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    group.lead.acquire()
    thread = threading.Thread(target=lead)
    thread.start()
    with within(60), pytest.raises(Interrupt):
        curator.sql(COUNT.format(1), epsilon=0.5)
    thread.join()
    signal.signal(signal.SIGUSR1, before)
    assert len(curator.ledger.history()) == 1
    assert curator.ledger.running(named) is None
    close(curator)
