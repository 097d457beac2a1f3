"""Processes that are stopped, and machines that are lost, inside a ledger: others wait for a while, and then go on."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest

from curador.errors import InvalidParameter, LedgerFailed
from curador.ledger.opening import open_ledger
from curador.ledger.stores import file_queue, postgres, reopened_file
from curador.ledger.stores.file_queue import FileQueue
from curador.ledger.stores.rows import SCOPE, Rows
from curador.privacy import PureDP
from tests.ledger.workers import THOUSANDTH


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reopened_file, "PATIENCE", 0.3)
    monkeypatch.setattr(file_queue, "TURN", 0.3)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("where", ["waiting", "drawing"])
def test_whoever_is_stopped_in_the_queue_is_passed_over(
    quick: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    other = FileQueue(quick / "x.db-queue")  # as another process, which then does nothing any more
    leave = other.leaving()
    other.wait()
    if where == "drawing":
        fcntl.fcntl(other._file, fcntl.F_OFD_SETLK, file_queue._DISPENSER)
    begun = time.monotonic()
    ledger.reserve("people", THOUSANDTH)
    assert time.monotonic() - begun >= 0.3
    assert ledger.count() == 1
    if where == "waiting":  # once
        monkeypatch.setattr(file_queue, "TURN", 3600)
        ledger.reserve("people", THOUSANDTH)
    leave()
    ledger.close()


def test_whoever_was_waited_for_in_vain_is_waited_for_once(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    other = FileQueue(quick / "x.db-queue")
    leave = other.leaving()
    other.wait()
    given_up = []

    def patiently(attempt: Callable[[], object], seconds: float) -> None:
        try:
            reopened_file.patiently(attempt, seconds)
        except TimeoutError:
            given_up.append(attempt)
            raise

    monkeypatch.setattr(file_queue, "TURN", 0.3)
    monkeypatch.setattr(file_queue, "patiently", patiently)
    for _ in range(3):
        ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    assert len(given_up) == 1
    another = open_ledger(quick / "x.db")  # one that comes later waits for those who come before it
    another.close()
    leave()
    ledger.close()


@pytest.mark.usefixtures("hasty")
def test_an_anchor_that_is_never_given_back_is_a_refusal(quick: Path) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    charge = ledger.reserve("people", THOUSANDTH)
    file = os.open(quick / "x.db.keep" / "anchor", os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_EX)
    with pytest.raises(LedgerFailed, match="kept its lock"):
        ledger.settle(charge.id, b"answer")
    os.close(file)
    assert ledger.settle(charge.id, b"answer") == b"answer"
    ledger.close()


@pytest.mark.parametrize("after", ["a read", "a write"])
def test_a_client_that_is_lost_within_a_transaction_is_rolled_back(
    quick: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    address: dict[str, Any] = {"address": postgres_url, "keep": str(quick / "keep"), "schema": f"stopped after {after}"}
    ledger = open_ledger(**address)
    ledger.open("people", PureDP(1))
    lost = open_ledger(**address)
    short = postgres._BEGIN.replace(b"'60s'", b"'2s'")
    assert short != postgres._BEGIN
    usual = postgres._BEGIN
    monkeypatch.setattr(postgres, "_BEGIN", short)
    inside, over, said = threading.Event(), threading.Event(), list[str]()

    def stay(rows: Rows) -> None:
        rows.get(SCOPE, "people")
        inside.set()
        over.wait(20)

    store: Any = lost._store
    commit = store._commit

    def commit_late() -> None:
        store._database.send()
        inside.set()
        over.wait(20)
        commit()

    def be_lost() -> None:
        try:
            if after == "a read":
                lost._store.write(stay)
            with monkeypatch.context() as late:  # all rows were sent
                late.setattr(store, "_commit", commit_late)
                lost.reserve("people", THOUSANDTH)
        except LedgerFailed as error:
            said.append(error.code)

    thread = threading.Thread(target=be_lost)
    thread.start()
    assert inside.wait(60)
    monkeypatch.setattr(postgres, "_BEGIN", usual)  # this process may take its time
    ledger.reserve("people", THOUSANDTH)  # waits for the other's lock, which ends with its transaction
    over.set()
    thread.join()
    assert said == ["ledger-unavailable"]
    assert ledger.count() == 1
    assert lost.reserve("people", THOUSANDTH).id == "2"
    for book in (ledger, lost):
        book.close()


def test_a_child_holds_no_connection_of_a_parent_that_was_killed(
    quick: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the server would wait for the parent, here for longer than a test may take; and all writers with it."""
    address: dict[str, Any] = {"address": postgres_url, "keep": str(quick / "keep"), "schema": "orphans"}
    with closing(open_ledger(**address)) as ledger:
        ledger.open("people", PureDP(1))
    ready, told = os.pipe()
    if (parent := os.fork()) == 0:
        store: Any = (mine := open_ledger(**address))._store
        if (orphan := os.fork()) == 0:  # it lives on, and never uses the ledger
            time.sleep(1800)
            os._exit(0)

        def never() -> None:
            os.write(told, f"{orphan}\n".encode())
            time.sleep(1800)

        store._commit = never
        mine.reserve("people", THOUSANDTH)
        os._exit(1)
    orphan = int(os.read(ready, 20))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    monkeypatch.setattr(reopened_file, "PATIENCE", 3600)  # whoever waited would wait until the test is stopped
    with closing(open_ledger(**address)) as ledger:
        ledger.reserve("people", THOUSANDTH)
        assert ledger.count() == 1
    os.kill(orphan, signal.SIGKILL)
    for end in (ready, told):
        os.close(end)


def test_an_interrupt_while_a_file_is_closed_leaves_it_to_be_opened_again(quick: Path) -> None:
    file = reopened_file.ReopenedFile(quick / "f", os.O_RDWR | os.O_CREAT)
    before = file.descriptor()

    def interrupted() -> None:
        os.close(before)
        raise KeyboardInterrupt

    file._closing.detach()
    file._closing = interrupted  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        file.close()
    file._closing = int  # type: ignore[assignment]
    os.fstat(file.held())  # a number that is open
    file.close()


def test_a_server_is_never_left_to_wait_for_the_rest_of_what_is_sent(
    quick: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts how long a client stays away only then: one that stopped before the rest kept its lock for ever."""
    ledger = open_ledger(postgres_url, keep=quick / "keep", schema="whole messages")
    ledger.open("people", PureDP(1))
    store: Any = ledger._store
    plain, states = psycopg.Connection.wait, list[object]()
    state = "SELECT state FROM pg_stat_activity WHERE pid = %s"

    def look_afterwards(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain(self, *args, **kwargs)
        if self is store._connections.get("write"):  # a client may be stopped here
            end = time.monotonic() + 10
            while (row := watch.execute(state, (self.info.backend_pid,)).fetchone()) == ("active",):
                if time.monotonic() > end:
                    break
                time.sleep(0.01)
            states.append(row and row[0])
        return found

    with psycopg.connect(postgres_url, autocommit=True) as watch:
        monkeypatch.setattr(psycopg.Connection, "wait", look_afterwards)
        for size in (10, 100_000):
            assert ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x" * size) == b"x" * size
        monkeypatch.undo()
    assert set(states) == {"idle in transaction", "idle"}
    ledger.verify()
    ledger.close()


def test_what_is_written_is_sent_whole(quick: Path, postgres_url: str) -> None:
    """Of a statement and its values that come apart, a server reads the one, waits for the others and counts no time:
    a client that was stopped while it sent a long answer kept the lock for ever.
    """
    ledger = open_ledger(postgres_url, keep=quick / "keep", schema="sent whole")
    ledger.open("people", PureDP(1))
    server = cast(Any, ledger._store)._connections["write"].pgconn
    with open(quick / "sent", "w+b") as sent:
        server.trace(sent.fileno())
        for size in (10, 100_000):
            assert ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"\x00%?\\" * size) == b"\x00%?\\" * size
        server.untrace()
        sent.seek(0)
        told = [line[:80].split(b"\t") for line in sent]  # when, by whom, how long, what
    kinds = {what for _, by, _, what, *_ in told if by == b"F"}
    assert kinds == {b"Query"}
    ledger.close()


def test_what_a_handler_raises_in_the_queue_is_raised(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue lets whoever waits for too long pass; the error of an alarm was taken for that, and was lost."""
    queue = FileQueue(quick / "queue")

    def rings(*_: object) -> None:
        raise TimeoutError("a signal")

    leave = queue.leaving()
    try:
        monkeypatch.setattr(file_queue, "patiently", rings)
        with pytest.raises(TimeoutError, match="a signal"):
            queue.wait()
    finally:
        leave()
        queue.close()


def test_a_ledger_is_made_only_where_all_letters_are_kept(quick: Path, postgres_url: str) -> None:
    """Of a database in EUC_JP a sign came back as another, and the ledger could not be read any more."""
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for encoding in ("EUC_JP", "SQL_ASCII"):
            admin.execute(f"CREATE DATABASE in_{encoding} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(InvalidParameter) as refused:
        open_ledger(postgres_url.replace("/postgres?", "/in_euc_jp?"), keep=quick / "jp")
    assert refused.value.code == "ledger-encoding"
    ascii = postgres_url.replace("/postgres?", "/in_sql_ascii?")
    for number, address in enumerate((ascii, f"{postgres_url}&client_encoding=SJIS")):
        ledger = open_ledger(address, keep=quick / f"{number}", schema="letters")
        ledger.open("¥ 日本 ñ 😀", PureDP(1))
        ledger.close()
        with closing(open_ledger(address, keep=quick / f"{number}", schema="letters")) as again:
            assert again.scopes() == ("¥ 日本 ñ 😀",)
            again.verify()


def test_a_queue_is_no_link_to_a_file_of_somebody_else(quick: Path) -> None:
    """Where root opens a ledger in another's folder, that one could have had root write into any file."""
    (quick / "precious").write_bytes(b"kept as it is")
    (quick / "x.db-queue").symlink_to(quick / "precious")
    with pytest.raises(LedgerFailed):
        open_ledger(quick / "x.db").open("people", PureDP(1))
    assert (quick / "precious").read_bytes() == b"kept as it is"
