"""Processes that are stopped, and machines that are lost, inside a ledger: others wait for a while, and then go on."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curador.errors import LedgerFailed
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


def test_a_client_that_is_lost_within_a_transaction_is_rolled_back(
    quick: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address: dict[str, Any] = {"address": postgres_url, "keep": str(quick / "keep"), "schema": "stopped"}
    ledger = open_ledger(**address)
    ledger.open("people", PureDP(1))
    lost = open_ledger(**address)
    short = tuple(statement.replace(b"'60s'", b"'500ms'") for statement in postgres._BEGIN)
    assert short != postgres._BEGIN
    usual = postgres._BEGIN
    monkeypatch.setattr(postgres, "_BEGIN", short)
    inside, over, said = threading.Event(), threading.Event(), list[str]()

    def stay(rows: Rows) -> None:
        rows.get(SCOPE, "people")
        inside.set()
        over.wait(20)

    def be_lost() -> None:
        try:
            lost._store.write(stay)
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
