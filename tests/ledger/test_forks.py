"""A ledger whose process forks while other threads hold its locks: neither side hangs, and both go on."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from curador.errors import LedgerFailed
from curador.ledger.anchor import log
from curador.ledger.opening import open_ledger
from curador.ledger.stores import connections
from curador.ledger.stores.file_queue import FileQueue
from curador.ledger.stores.reopened_file import content_of
from curador.ledger.stores.rows import ENTRY, Rows
from curador.privacy import PureDP
from tests.ledger.conftest import Opener
from tests.ledger.interrupts import Interrupt, interrupted, within
from tests.ledger.workers import THOUSANDTH, forked

LONGEST = 20  # seconds; a child that hangs is ended


def child(work: Callable[[], object]) -> int:
    def limited() -> None:
        signal.alarm(LONGEST)
        work()

    return forked(limited)


def ended_well(pid: int) -> bool:
    return os.waitpid(pid, 0)[1] == 0


def test_a_fork_does_not_wait_for_a_long_read(opener: Opener) -> None:
    """One that would never end: on SQLite, where nothing may be open at a fork, it begins anew afterwards."""
    ledger = opener()
    ledger.open("people", PureDP(1))
    inside, leave = threading.Event(), threading.Event()

    def look(rows: Rows) -> int:
        while not leave.is_set():
            inside.set()
            for _ in rows.scan(ENTRY):
                time.sleep(0)
        return sum(1 for _ in rows.scan(ENTRY))

    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(ledger._store.read(look, long=True)))
    thread.start()
    inside.wait(LONGEST)
    with within(LONGEST):
        pid = child(lambda: ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x"))
        assert ended_well(pid)
    assert ledger.balance("people").state.spent == (10**9,)
    leave.set()
    thread.join()
    assert seen in ([1], [2], [3])  # before, between or after the two transactions of the child
    ledger.verify()


def test_a_fork_does_not_wait_for_a_writer_who_waits(quick: Path) -> None:
    """Nor does the child keep its parent's place in the queue."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    other = FileQueue(quick / "x.db-queue")  # as another process
    leave = other.leaving()
    bought: list[str] = []
    thread = threading.Thread(target=lambda: bought.append(ledger.reserve("people", THOUSANDTH).id))
    with within(LONGEST):
        try:
            drawn = other.wait()
            thread.start()
            while int.from_bytes((quick / "x.db-queue").read_bytes(), "little") < drawn + 2:
                time.sleep(0.001)
            idle = child(lambda: signal.pause())  # keeps whatever it got of its parent
            pid = child(lambda: ledger.reserve("people", THOUSANDTH))
        finally:
            leave()
        thread.join()
        assert ended_well(pid)
        assert ledger.reserve("people", THOUSANDTH).id == "3"
    os.kill(idle, signal.SIGKILL)
    os.waitpid(idle, 0)
    assert bought
    ledger.verify()
    ledger.close()


def test_a_child_does_not_keep_the_turn_of_a_parent_that_was_killed(quick: Path) -> None:
    """The parent forks while a thread of its own has the turn, and dies; its child lives on and never asks."""
    address = {"address": str(quick / "x.db")}
    started = open_ledger(**address)  # type: ignore[arg-type]
    started.open("people", PureDP(1))
    reading, writing = os.pipe()

    def parent() -> None:
        ledger = open_ledger(**address)  # type: ignore[arg-type]
        store: Any = ledger._store
        taken = threading.Event()

        def take() -> None:
            store._queue.leaving()
            store._queue.wait()
            taken.set()
            time.sleep(LONGEST)

        threading.Thread(target=take, daemon=True).start()
        taken.wait(LONGEST)
        os.write(writing, f"{forked(lambda: time.sleep(LONGEST))}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(child(parent), 0)
    orphan = int(os.read(reading, 20))
    with within(LONGEST):
        assert started.reserve("people", THOUSANDTH).id == "1"
    os.kill(orphan, signal.SIGKILL)
    started.close()


def test_an_interrupt_while_it_forks_stops_nobody(quick: Path) -> None:
    """Python shows such an interrupt and goes on; a child that cannot tell what is open in it refuses."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    store: Any = ledger._store

    def around() -> None:
        try:
            store.before_fork()
        finally:
            store.after_fork()

    done: list[str] = []

    def buy() -> None:
        done.append(ledger.reserve("people", THOUSANDTH).id)

    files = ("/ledger/stores/sqlite.py",)
    for at in range(1, interrupted(around, None, files) + 1):
        ledger.balance("people")
        with suppress(Interrupt):  # at each instant of the preparations; the release is called whatever happens
            interrupted(store.before_fork, at, files)
        store.after_fork()
        done.clear()
        thread = threading.Thread(target=buy, daemon=True)
        thread.start()
        thread.join(LONGEST)
        assert done, f"another thread hangs after an interrupt at instant {at}"
    ledger.verify()
    store._process = -1  # as in a child whose parent could not close its connections
    with pytest.raises(LedgerFailed, match="forked while"):
        ledger.reserve("people", THOUSANDTH)


def test_a_ledger_that_is_opened_while_its_process_forks_has_nothing_open_then(quick: Path) -> None:
    """Python knows at the beginning whom to call, and a child found what SQLite knew of a ledger opened after that."""
    first = open_ledger(quick / "x.db")
    first.open("people", PureDP(1))
    store: Any = first._store
    prepare, later = store.before_fork, list[Any]()

    def opened_meanwhile() -> None:
        prepare()
        store.before_fork = prepare
        thread = threading.Thread(target=lambda: later.append(open_ledger(quick / "y.db")))
        thread.start()
        thread.join(LONGEST)

    store.before_fork = opened_meanwhile

    def look() -> None:
        assert not later[0]._store._connections
        for ledger in (first, later[0]):
            ledger.balance("people") if ledger is first else ledger.open("people", PureDP(1))

    with within(LONGEST):
        assert ended_well(child(look))
    for ledger in (first, later[0]):
        ledger.verify()
        ledger.close()


def test_a_fork_that_was_interrupted_while_it_waited_releases_nothing_of_anothers(quick: Path) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    held, leave = threading.Event(), threading.Event()

    def fork_slowly() -> None:
        connections.FORKS.before()
        held.set()
        leave.wait(LONGEST)
        connections.FORKS.after()

    thread = threading.Thread(target=fork_slowly)
    thread.start()
    assert held.wait(LONGEST)
    connections.FORKS.after()  # of this thread, which was interrupted before it held anything
    leave.set()
    thread.join(LONGEST)
    with within(LONGEST):
        assert ledger.reserve("people", THOUSANDTH).id == "1"
        assert ended_well(child(lambda: ledger.reserve("people", THOUSANDTH)))
    ledger.close()


def test_what_a_dropped_ledger_leaves_open_is_closed_at_once_or_by_the_fork_that_goes_on(quick: Path) -> None:
    """Collected while another thread forked, it had connections open in the child, and the log was removed under it."""
    for during_a_fork in (False, True):
        ledger = open_ledger(quick / f"{during_a_fork}.db")
        ledger.open("people", PureDP(1))
        (left,) = [one for one in connections.OPEN if one is ledger._store._connections["write"]]  # type: ignore[attr-defined]
        forking, leave = threading.Event(), threading.Event()

        def fork(forking: threading.Event = forking, leave: threading.Event = leave) -> None:
            connections.FORKS.one.acquire()
            forking.set()
            leave.wait(LONGEST)
            connections.FORKS.before()
            connections.FORKS.after()
            connections.FORKS.one.release()

        thread = threading.Thread(target=fork)
        if during_a_fork:
            thread.start()
            assert forking.wait(LONGEST)
        del ledger
        gc.collect()
        assert left.is_open == during_a_fork
        if during_a_fork:
            leave.set()
            thread.join(LONGEST)
            assert not left.is_open


def test_a_child_of_a_fork_that_was_interrupted_opens_no_file_that_its_parent_had_open(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would believe that the child has its parent's locks; other files are as good as ever."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))

    def stop() -> None:
        raise KeyboardInterrupt

    def look() -> None:
        with pytest.raises(LedgerFailed) as refusal:
            open_ledger(quick / "x.db")
        assert refusal.value.code == "ledger-forked"
        open_ledger(quick / "y.db").open("people", PureDP(1))

    monkeypatch.setattr("sys.unraisablehook", lambda event: None)
    store: Any = ledger._store
    store.before_fork = stop
    with within(LONGEST):
        assert ended_well(child(look))
    del store.before_fork
    assert ledger.reserve("people", THOUSANDTH).id == "1"
    assert ended_well(child(lambda: open_ledger(quick / "x.db").reserve("people", THOUSANDTH)))
    ledger.verify()
    ledger.close()


def test_a_child_that_is_forked_while_the_anchor_is_read_does_not_keep_it_locked(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could sell any more while that child lived."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    children = list[int]()

    def fork_meanwhile(file: int) -> bytes:
        children.append(child(signal.pause))
        return content_of(file)

    monkeypatch.setattr(log, "content_of", fork_meanwhile)
    assert ledger._store.anchor.read()  # type: ignore[attr-defined]
    monkeypatch.undo()
    file = os.open(quick / "x.db.keep" / "anchor", os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(file)
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    assert children
    ledger.close()


def test_a_long_read_ends_though_its_process_forks_again_and_again(quick: Path) -> None:
    """It began anew after each fork, and never ended where forks came more often than it takes."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    store: Any = ledger._store
    begun, seen = threading.Semaphore(0), list[str]()

    def look(rows: Rows) -> str:
        begun.release()
        for _ in range(30):
            time.sleep(0.01)
            rows.get(ENTRY, 1)
        return "all"

    thread = threading.Thread(target=lambda: seen.append(store.read(look, long=True)), daemon=True)
    thread.start()
    end = time.monotonic() + 3 * LONGEST
    while not seen and time.monotonic() < end:
        if begun.acquire(timeout=0.05):  # from its first step on, each time
            store.before_fork()
            store.after_fork()
    thread.join(LONGEST)
    assert seen == ["all"]
    assert store._grace == 0
    ledger.close()
