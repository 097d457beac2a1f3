"""Disks that are full or read-only, databases and anchors that are gone: a clear error, and nothing is released."""

from __future__ import annotations

import errno
import math
import os
import resource
import shutil
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curador.errors import InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger, restore_ledger
from curador.ledger.stores import sql
from curador.privacy import PureDP
from tests.ledger.conftest import Opener
from tests.ledger.workers import THOUSANDTH, forked
from tests.real_engines import postgres_programs


def told(work: Callable[[int], None]) -> str:
    """What a child process says on a pipe."""
    reading, writing = os.pipe()
    child = forked(lambda: work(writing))
    os.close(writing)
    with os.fdopen(reading) as lines:
        said = lines.read()
    assert os.waitpid(child, 0)[1] == 0
    return said


@pytest.fixture
def file(quick: Path) -> Path:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1000))
    ledger.close()
    return quick / "x.db"


def test_a_full_disk(file: Path) -> None:
    """A limit on the size of files stands for a disk without room; both stop SQLite in the middle of a write."""

    def work(say: int) -> None:
        ledger = open_ledger(file)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
        for _ in range(3000):
            try:
                charge = ledger.reserve("people", THOUSANDTH)
                ledger.settle(charge.id, b"an answer")
            except LedgerFailed as error:
                os.write(say, f"failed {error.what}\n".encode())
                break
            os.write(say, f"{charge.id}\n".encode())
        for _ in range(3):
            with pytest.raises(LedgerFailed, match=r"cannot be read or written"):
                ledger.reserve("people", THOUSANDTH)

    *released, last = told(work).splitlines()
    assert last.startswith("failed The ledger x.db cannot be read or written")
    assert 10 < len(released) < 3000
    ledger = open_ledger(file)
    assert [ledger.answer(charge) for charge in released] == [b"an answer"] * len(released)
    assert len(ledger.history()) in (len(released), len(released) + 1)
    ledger.verify()
    ledger.close()


def test_a_file_that_may_only_be_read(file: Path) -> None:
    keep = file.with_name("x.db.keep")
    for path in (keep, *keep.iterdir()):
        os.chown(path, 65534 if os.geteuid() == 0 else -1, -1)
    file.parent.chmod(0o555)
    file.chmod(0o444)

    def work(say: int) -> None:
        if os.geteuid() == 0:
            os.setuid(65534)
        with pytest.raises(LedgerFailed) as refused:
            open_ledger(file)
        os.write(say, str(refused.value).encode())

    said = told(work)
    file.parent.chmod(0o755)
    assert "x.db cannot be read or written" in said
    assert "permissions" in said


def test_a_file_that_is_gone(file: Path) -> None:
    ledger = open_ledger(file)
    charge = ledger.reserve("people", THOUSANDTH)
    file.rename(file.with_suffix(".away"))
    for ask in (lambda: ledger.settle(charge.id, b"x"), lambda: ledger.reserve("people", THOUSANDTH)):
        with pytest.raises(LedgerFailed, match="gone"):
            ask()
    with pytest.raises(LedgerFailed, match="gone"):
        ledger.balance("people")
    file.with_suffix(".away").rename(file)
    assert ledger.settle(charge.id, b"x") == b"x"
    ledger.close()


def test_something_that_is_no_ledger(quick: Path) -> None:
    (quick / "x.db").write_bytes(b"this is a letter, not a database" * 100)
    with pytest.raises(Exception, match="key of this ledger is missing"):
        open_ledger(quick / "x.db")
    (quick / "y.db").mkdir()
    with pytest.raises(InvalidParameter, match="is a folder"):
        open_ledger(quick / "y.db", keep=quick / "new")
    assert not (quick / "new").exists()


def test_a_folder_that_is_not_there(quick: Path) -> None:
    with pytest.raises(LedgerFailed, match="cannot be read or written"):
        open_ledger(quick / "nowhere" / "x.db", keep=quick / "keep")


def test_an_anchor_that_is_gone(opener: Opener, address: dict[str, Any]) -> None:
    """A volume that is not mounted: nothing is sold or told until it is back, and no new anchor is made."""
    ledger = opener()
    ledger.open("people", PureDP(1))
    told = ledger.reserve("people", THOUSANDTH)
    ledger.settle(told.id, b"x")
    charge = ledger.reserve("people", THOUSANDTH)
    keep = Path(address["keep"])
    shutil.move(keep, keep.with_name("away"))
    for made in (False, True):  # a folder without an anchor is no better than none
        if made:
            keep.mkdir()
        for ask in (
            lambda: ledger.reserve("people", THOUSANDTH),
            lambda: ledger.settle(charge.id, b"x"),
            lambda: ledger.answer(told.id),
        ):
            with pytest.raises(LedgerFailed, match="anchor beside the ledger"):
                ask()
    assert list(keep.iterdir()) == []
    keep.rmdir()
    shutil.move(keep.with_name("away"), keep)
    assert ledger.settle(charge.id, b"x") == b"x"
    assert ledger.balance("people").state.spent == (2 * 10**9,)
    ledger.verify()


@pytest.mark.parametrize("beside", [True, False])
def test_an_anchor_that_cannot_be_written(opener: Opener, beside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marked beside the commit, the answer is stored by then: it is still not told, nor by whoever reads next.

    Marked before it, the answer is not stored.
    """
    monkeypatch.setattr(sql, "WORTH_A_THREAD", 0 if beside else math.inf)
    ledger = opener()
    ledger.open("people", PureDP(1))
    charge = ledger.reserve("people", THOUSANDTH)

    def fails(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fdatasync", fails)
        with pytest.raises(LedgerFailed):
            ledger.settle(charge.id, b"x")
        if beside:
            with pytest.raises(LedgerFailed, match="anchor beside the ledger"):
                ledger.answer(charge.id)
        else:
            assert ledger.answer(charge.id) is None
    assert (ledger.answer(charge.id) if beside else ledger.settle(charge.id, b"x")) == b"x"
    ledger.verify()


# ---- PostgreSQL ----------------------------------------------------------------------------------------------------


def test_while_an_anchor_cannot_be_written_nothing_more_is_sold(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer could not leave: what is asked again and again would burn a budget."""
    ledger = opener()
    ledger.open("people", PureDP(1))
    first, second = (ledger.reserve("people", THOUSANDTH) for _ in range(2))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(ledger._store.anchor, "_mark_in", full)  # type: ignore[attr-defined]
        with pytest.raises(LedgerFailed):
            ledger.settle(first.id, b"1")
        for _ in range(3):
            with pytest.raises(LedgerFailed, match="anchor beside the ledger cannot be read or written"):
                ledger.reserve("people", THOUSANDTH)
        assert ledger.count() == 2
    third = ledger.reserve("people", THOUSANDTH)
    assert [ledger.settle(one.id, b"x") for one in (second, third)] == [b"x", b"x"]
    assert ledger.verify() == opener().verify()


@pytest.fixture
def server(postgres_url: str, quick: Path) -> dict[str, str]:
    return {"address": postgres_url, "keep": str(quick / "keep"), "schema": f"f{uuid.uuid4().hex[:12]}"}


def started(server: dict[str, str]) -> Book:
    ledger = open_ledger(**server)  # type: ignore[arg-type]
    ledger.open("people", PureDP(1))
    return ledger


def test_a_connection_that_is_cut_is_made_again(server: dict[str, str]) -> None:
    import psycopg

    ledger = started(server)
    charge = ledger.reserve("people", THOUSANDTH)
    with psycopg.connect(server["address"], autocommit=True) as other:
        for connection in ledger._store._connections.values():  # type: ignore[attr-defined]
            other.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
    assert ledger.settle(charge.id, b"x") == b"x"
    assert ledger.balance("people").state.spent == (10**9,)
    ledger.verify()
    ledger.close()


def test_a_server_that_is_gone(quick: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerFailed, match="cannot be read or written"):
        open_ledger(f"postgresql://nobody@/x?host={quick}", keep=quick / "keep")


def test_tables_that_are_gone(server: dict[str, str]) -> None:
    import psycopg

    ledger = started(server)
    with psycopg.connect(server["address"], autocommit=True) as other:
        other.execute(f"DROP SCHEMA {server['schema']} CASCADE".encode())
    with pytest.raises(LedgerFailed):
        ledger.reserve("people", THOUSANDTH)
    ledger.close()


def test_the_server_refuses_to_change_what_is_kept(server: dict[str, str]) -> None:
    import psycopg

    ledger = started(server)
    ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    with psycopg.connect(server["address"], autocommit=True) as other:
        for statement in ("UPDATE {}.entry SET body = ''", "DELETE FROM {}.answer", "TRUNCATE {}.entry"):
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                other.execute(statement.format(server["schema"]).encode())
        with pytest.raises(psycopg.errors.CheckViolation):
            other.execute(f"UPDATE {server['schema']}.balance SET spent = ceiling + 1".encode())
    ledger.close()


def test_a_server_restored_from_a_backup_is_refused_and_restored(server: dict[str, str]) -> None:
    import psycopg

    ledger = started(server)
    ledger.close()
    programs = postgres_programs()
    assert programs is not None
    dump = subprocess.run(
        [programs / "pg_dump", "--inserts", "-n", server["schema"], server["address"]], capture_output=True, check=True
    ).stdout
    ledger = open_ledger(**server)  # type: ignore[arg-type]
    for _ in range(3):
        ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    ledger.close()
    with psycopg.connect(server["address"], autocommit=True) as other:
        other.execute(f"DROP SCHEMA {server['schema']} CASCADE".encode())
        other.execute(b"\n".join(line for line in dump.splitlines() if not line.startswith(b"\\")))
    with pytest.raises(LedgerBroken, match="its anchor has seen entry"):
        open_ledger(**server)  # type: ignore[arg-type]
    ledger = restore_ledger(**server, because="the server was restored")  # type: ignore[arg-type]
    assert ledger.balance("people").state.spent == (3 * 10**9,)
    assert ledger.reserve("people", THOUSANDTH).id == "4"
    ledger.verify()
    ledger.close()


def test_a_server_needs_a_folder_for_its_key(postgres_url: str) -> None:
    with pytest.raises(InvalidParameter, match="key and its anchor"):
        open_ledger(postgres_url)


@pytest.mark.parametrize("address", ["mysql://x", "sqlite:x.db"])
def test_an_address_of_nothing(address: str) -> None:
    with pytest.raises(InvalidParameter, match="No ledger has an address"):
        open_ledger(address)
