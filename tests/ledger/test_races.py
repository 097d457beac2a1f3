"""Many at once: threads, processes, forks.  The ceiling holds exactly, and nobody waits for ever."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, CuradorError, LedgerBroken
from curador.ledger.opening import open_ledger
from curador.ledger.stores.file_queue import FileQueue
from curador.ledger.stores.group_commit import GroupCommit, Job
from curador.privacy import PureDP
from tests.ledger.conftest import Opener
from tests.ledger.workers import THOUSANDTH, buyer, forked, waiter


def together(work: Callable[[int], None], count: int) -> list[str]:
    """The lines that so many processes tell; each must end well."""
    reading, writing = os.pipe()
    children = [forked(lambda: work(writing)) for _ in range(count)]
    os.close(writing)
    with os.fdopen(reading) as lines:
        told = lines.read().split()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * count
    return told


def test_eight_processes_race_for_a_thousand(opener: Opener, address: dict[str, Any]) -> None:
    ledger = opener()
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(5), parent="people")
    ledger.close()
    ids = together(lambda told: buyer(address, "visits", 500, told), 8)
    assert sorted(map(int, ids)) == list(range(1, 1001))
    ledger = opener()
    assert ledger.balance("people").spent == ledger.balance("visits").spent == PureDP(1)
    assert len(ledger.history("visits")) == 1000
    ledger.verify()


def test_threads_race_and_share_transactions(opener: Opener) -> None:
    ledger = opener()
    ledger.open("people", PureDP(1))
    ids: list[str] = []
    refused: list[int] = []
    start = threading.Barrier(32)

    def buy() -> None:
        start.wait()
        for _ in range(40):
            try:
                charge = ledger.reserve("people", THOUSANDTH, fingerprint=None)
            except BudgetExceeded:
                refused.append(1)
            else:
                ids.append(charge.id)
                ledger.settle(charge.id, b"x")

    threads = [threading.Thread(target=buy) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, ids)) == list(range(1, 1001))
    assert len(refused) == 280
    assert ledger.verify() == 2001


def test_processes_that_open_a_new_ledger_at_once_open_the_same(address: dict[str, Any], opener: Opener) -> None:
    def work(told: int) -> None:
        ledger = open_ledger(**address)
        try:
            ledger.open("people", PureDP(1))
            os.write(told, b"opened\n")
        except CuradorError:
            os.write(told, b"found\n")
        ledger.close()

    assert sorted(together(work, 6)) == ["found"] * 5 + ["opened"]
    opener().verify()


def test_a_ledger_goes_on_after_a_fork(opener: Opener) -> None:
    """On both sides, with threads at work when it happens."""
    ledger = opener()
    ledger.open("people", PureDP(1))
    stop = threading.Event()

    def buy() -> None:
        while not stop.is_set():
            ledger.reserve("people", PureLoss(Fraction(1, 10**6)))

    busy = threading.Thread(target=buy)
    busy.start()

    def work(told: int) -> None:
        for _ in range(20):
            os.write(told, f"{ledger.reserve('people', THOUSANDTH).id}\n".encode())
        ledger.close()

    try:
        ids = together(work, 3)
    finally:
        stop.set()
        busy.join()
    assert len(set(ids)) == 60
    assert len([c for c in ledger.history(last=None) if c.event == THOUSANDTH]) == 60
    ledger.verify()


# ---- waiting -----------------------------------------------------------------------------------------------------


def test_nobody_starves(quick: Path) -> None:
    """Of 8 processes none overtakes another: charges are bought in the order in which numbers were drawn.

    How long that takes is the bench's to say.
    """
    address = {"address": str(quick / "x.db")}
    ledger = open_ledger(**address)  # type: ignore[arg-type]
    ledger.open("people", PureDP(1000))
    ledger.close()
    bought = sorted(tuple(map(int, told.split(":"))) for told in together(lambda out: waiter(address, 60, out), 8))
    assert len({number for number, _ in bought}) == 480
    assert [charge for _, charge in bought] == list(range(1, 481))


def test_a_writer_passes_nobody_over(quick: Path) -> None:
    """It tries at once where nobody waits, and queues behind whoever does."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    store: Any = ledger._store
    assert store._queue.is_empty()
    other = FileQueue(quick / "x.db-queue")  # as another process
    leave = other.leaving()
    drawn = other.wait()
    assert not store._queue.is_empty()
    thread = threading.Thread(target=lambda: ledger.reserve("people", THOUSANDTH))
    thread.start()
    while int.from_bytes((quick / "x.db-queue").read_bytes(), "little") < drawn + 2:
        threading.Event().wait(0.001)
    assert ledger.count() == 0
    leave()
    thread.join()
    assert ledger.count() == 1
    ledger.close()


def test_turns_come_in_order_and_the_dead_are_skipped(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    turns = FileQueue(tmp_path / "queue")

    @contextmanager
    def turn() -> Iterator[int]:
        leave = turns.leaving()
        try:
            yield turns.wait()
        finally:
            leave()

    def tell() -> None:
        with turn() as number:
            os.write(writing, f"{number} ".encode())

    def die() -> None:
        with turn():
            os.write(writing, b"never ")

    def queued(count: int) -> None:
        """Wait until so many have drawn a number."""
        while int.from_bytes((tmp_path / "queue").read_bytes(), "little") < count:
            threading.Event().wait(0.005)

    with turn() as first:
        children = []
        for place in range(6):
            children.append(forked(die if place % 2 else tell))
            queued(first + 2 + place)
        for child in children[1::2]:
            os.kill(child, 9)
            os.waitpid(child, 0)
        os.write(writing, b"first ")
    for child in children[::2]:
        os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as lines:
        assert lines.read().split() == ["first", "1", "3", "5"]


def test_those_who_wait_share_the_next_transaction() -> None:
    entered, leave = threading.Event(), threading.Event()
    batches: list[int] = []

    def perform(batch: list[Job]) -> None:
        batches.append(len(batch))
        entered.set()
        leave.wait()
        for job in batch:
            job.finish(job.transaction(None))

    group = GroupCommit(perform)  # type: ignore[arg-type]
    results: list[int] = []
    threads = [threading.Thread(target=lambda n=n: results.append(group.run(lambda _: n))) for n in range(10)]
    threads[0].start()
    entered.wait()
    for thread in threads[1:]:
        thread.start()
    while len(group._waiting) < 9:
        threading.Event().wait(0.001)
    leave.set()
    for thread in threads:
        thread.join()
    assert batches == [1, 9]
    assert sorted(results) == list(range(10))


@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt()])
def test_a_batch_that_breaks_is_told_to_all_and_stops_nobody(error: BaseException) -> None:
    broken = True

    def perform(batch: list[Job]) -> None:
        if broken:
            raise error
        for job in batch:
            job.finish(job.transaction(None))

    group = GroupCommit(perform)  # type: ignore[arg-type]
    with pytest.raises(type(error)):
        group.run(lambda _: 1)
    broken = False
    assert group.run(lambda _: 2) == 2


@pytest.mark.parametrize("raised", [KeyboardInterrupt, TimeoutError])
def test_an_interrupt_is_the_leaders_alone(raised: type[BaseException]) -> None:
    """Whatever a handler raises: it was an alarm of that thread, and another has to look at the history."""
    entered, leave = threading.Event(), threading.Event()
    seen: list[type[BaseException]] = []

    def perform(batch: list[Job]) -> None:
        if len(batch) == 1:
            entered.set()
            leave.wait()
            batch[0].finish()
        else:
            raise raised

    group = GroupCommit(perform)  # type: ignore[arg-type]

    def ask() -> None:
        try:
            group.run(lambda _: None)
        except BaseException as error:  # noqa: BLE001
            seen.append(type(error))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    threads[0].start()
    entered.wait()
    for thread in threads[1:]:
        thread.start()
    while len(group._waiting) < 3:
        threading.Event().wait(0.001)
    leave.set()
    for thread in threads:
        thread.join()
    assert sorted(e.__name__ for e in seen) == sorted([raised.__name__, "LedgerFailed", "LedgerFailed"])


# ---- one file, opened twice by a process -----------------------------------------------------------------------------


def leaves(address: Path) -> tuple[int, int, Path]:
    """A child that opens a ledger and closes it when told to, as a command does; its pipe, and the index of the log."""
    reading, writing = os.pipe()

    def work() -> None:
        os.read(reading, 1)
        open_ledger(address).close()

    return forked(work), writing, address.with_name(address.name + "-shm")


def test_a_process_that_opens_a_ledger_twice_keeps_its_locks(quick: Path) -> None:
    """Else another that leaves takes itself for the last one, and removes the log under this one."""
    pid, tell, index = leaves(quick / "x.db")
    first = open_ledger(quick / "x.db")
    first.open("people", PureDP(1))
    second = open_ledger(quick / "x.db")
    number = index.stat().st_ino
    os.write(tell, b"x")
    assert os.waitpid(pid, 0)[1] == 0
    assert index.stat().st_ino == number
    for ledger in (first, second):
        ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
        ledger.close()
    again = open_ledger(quick / "x.db")
    assert again.balance("people").state.spent == (2 * 10**9,)
    again.verify()


def test_nothing_is_written_once_the_log_was_removed(quick: Path) -> None:
    """Whatever else opens and closes the file in this process drops SQLite's locks, as by making a copy."""
    pid, tell, index = leaves(quick / "x.db")
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    (quick / "x.db").read_bytes()
    os.write(tell, b"x")
    assert os.waitpid(pid, 0)[1] == 0
    assert not index.exists()
    with pytest.raises(LedgerBroken) as found:
        ledger.reserve("people", THOUSANDTH)
    assert found.value.code == "ledger-log-removed"
    ledger.close()
    again = open_ledger(quick / "x.db")
    again.settle(again.reserve("people", THOUSANDTH).id, b"x")
    assert again.balance("people").state.spent == (10**9,)
    again.verify()


def test_the_log_is_beside_the_file_that_a_link_leads_to(quick: Path) -> None:
    (quick / "volume").mkdir()
    open_ledger(quick / "volume" / "x.db", keep=quick / "keep").close()
    os.symlink(quick / "volume" / "x.db", quick / "x.db")
    ledger = open_ledger(quick / "x.db", keep=quick / "keep")
    ledger.open("people", PureDP(1))
    ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    ledger.verify()


def test_a_log_that_was_removed_before_the_first_write_is_noticed(quick: Path) -> None:
    """What a connection uses is what was there at its first read, also after a fork, when all were closed."""
    pid, tell, index = leaves(quick / "x.db")
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    for _ in range(2):
        os.waitpid(forked(lambda: None), 0)
        assert ledger.balance("people").state.spent == (0,)
    (quick / "x.db").read_bytes()
    os.write(tell, b"x")
    assert os.waitpid(pid, 0)[1] == 0
    assert not index.exists()
    with pytest.raises(LedgerBroken) as found:
        ledger.reserve("people", THOUSANDTH)
    assert found.value.code == "ledger-log-removed"


def test_what_was_committed_to_a_log_without_a_name_is_not_acknowledged(quick: Path) -> None:
    """The log may be removed after it was looked at; what went to it was marked, and the ledger behind its anchor."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    store: Any = ledger._store
    looked = store._require_index

    def look_and_lose() -> None:
        looked()
        store._require_index = looked
        (quick / "x.db-shm").rename(quick / "gone")

    store._require_index = look_and_lose
    with pytest.raises(LedgerBroken) as found:
        ledger.reserve("people", THOUSANDTH)
    assert found.value.code == "ledger-log-removed"
    store._disconnect()
    again = open_ledger(quick / "x.db")
    again.verify()
