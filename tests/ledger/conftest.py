"""One ledger test, all stores: in memory, in a SQLite file, in a PostgreSQL server of our own."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from curador.ledger.book import Book
from curador.ledger.entries import Clock, now
from curador.ledger.opening import open_ledger
from curador.ledger.stores import file_queue

Opener = Callable[..., Book]
"""Opens one and the same ledger, again and again."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow a machine is, nobody goes on out of turn; what happens if one does is in test_stopped."""
    monkeypatch.setattr(file_queue, "TURN", 600)


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder where syncs are cheap; what they are for is tested by killing processes, not by cutting power."""
    memory = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="curador-ledger-", dir=memory if os.access(memory, os.W_OK) else None)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


def arguments(name: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """What open_ledger is called with, for a ledger that is new in this test."""
    if name == "memory":
        return {"address": "memory:"}
    folder = request.getfixturevalue("quick")
    if name == "sqlite":
        return {"address": f"sqlite:///{folder}/x.db", "keep": f"{folder}/keep"}
    url = str(request.getfixturevalue("postgres_url"))
    return {"address": url, "keep": f"{folder}/keep", "schema": f"l{uuid.uuid4().hex[:12]}"}


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> dict[str, str]:
    """A durable ledger."""
    return arguments(request.param, request)


def opening(address: dict[str, str]) -> Iterator[Opener]:
    made: list[Book] = []

    def open_(clock: Clock = now) -> Book:
        made.append(open_ledger(**address, clock=clock))
        return made[-1]

    yield open_
    for ledger in made:
        ledger.close()


@pytest.fixture
def opener(address: dict[str, str]) -> Iterator[Opener]:
    yield from opening(address)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def fresh(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """A ledger on each of the stores."""
    yield from opening(arguments(request.param, request))
