"""Tokens in the ledger: kept like every decision, in every store, and never revived by a restore."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from curador import Access, PureDP, open_ledger, restore_ledger
from curador.errors import InvalidParameter, LedgerBroken
from curador.ledger.stores.memory import MemoryLedger

TOKEN, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        url = str(request.getfixturevalue("postgres_url"))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE tokens")
        return url.replace("/postgres?", "/tokens?")
    return "memory:" if request.param == "memory" else str(tmp_path / "study.ledger")


def test_tokens_are_given_found_and_ended(address: str, tmp_path: Path) -> None:
    ledger = open_ledger(address, keep=None if address == "memory:" else tmp_path / "keep")
    end = datetime(2030, 1, 1, tzinfo=UTC)
    given = ledger.give_access(Access(TOKEN, "analyst", "ana", "laptop", end))
    assert ledger.access(TOKEN) == given
    assert ledger.access(OTHER) is None
    assert given.open_at(end - timedelta(seconds=1))
    assert not given.open_at(end)
    assert ledger.end_access(TOKEN, because="lost").ended
    assert ledger.end_access(TOKEN).ended
    assert [one.ended for one in ledger.accesses() if one.token == TOKEN] == [True]
    ledger.verify()
    ledger.close()


@pytest.mark.parametrize(
    "access",
    [
        Access(TOKEN, "king"),
        Access(TOKEN, "analyst"),
        Access(TOKEN, "reader", "ana"),
        Access(TOKEN, "curator", label="x" * 300),
        Access(TOKEN, "curator", expires=datetime(2030, 1, 1)),
    ],
)
def test_what_no_token_can_be_is_refused(access: Access) -> None:
    ledger = MemoryLedger()
    with pytest.raises(InvalidParameter):
        ledger.give_access(access)
    assert ledger.accesses() == ()
    with pytest.raises(InvalidParameter, match="No such token"):
        ledger.end_access(TOKEN)


def test_a_token_is_given_once() -> None:
    ledger = MemoryLedger()
    ledger.give_access(Access(TOKEN, "curator"))
    with pytest.raises(InvalidParameter) as refused:
        ledger.give_access(Access(TOKEN, "reader"))
    assert refused.value.code == "access-exists"


def test_a_clock_set_back_revives_no_token() -> None:
    """Whoever asked the system's clock alone let it in again."""
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    clock = [noon]
    ledger = MemoryLedger(lambda: clock[0])
    ledger.give_access(Access(TOKEN, "curator", expires=noon + timedelta(hours=1)))
    assert ledger.access(TOKEN) == Access(TOKEN, "curator", expires=noon + timedelta(hours=1))
    clock[0] = noon + timedelta(hours=2)
    ledger.open("people", PureDP(1))  # the ledger has seen the later time
    clock[0] = noon
    found = ledger.access(TOKEN)
    assert found is not None
    assert not found.open_at(clock[0])
    assert [one.ended for one in ledger.accesses()] == [True]
    assert ledger.end_access(TOKEN).ended
    ledger.verify()


def test_a_restored_copy_revives_no_token(tmp_path: Path) -> None:
    """A token that was ended after the copy stays ended; one that was given after it is known again."""
    file, keep = tmp_path / "study.ledger", tmp_path / "keep"
    ledger = open_ledger(file, keep=keep)
    ledger.open("people", PureDP(1))
    ledger.give_access(Access(TOKEN, "analyst", "ana"))
    ledger.close()
    before = file.read_bytes()
    ledger = open_ledger(file, keep=keep)
    ledger.end_access(TOKEN, because="lost")
    ledger.give_access(Access(OTHER, "auditor"))
    ledger.close()
    for part in tmp_path.glob("study.ledger*"):
        if part.is_file():
            part.unlink()
    file.write_bytes(before)
    with pytest.raises(LedgerBroken):
        open_ledger(file, keep=keep)
    restored = restore_ledger(file, because="the disk broke", keep=keep)
    assert {one.token: one.ended for one in restored.accesses()} == {TOKEN: True, OTHER: False}
    restored.verify()
    restored.close()


def test_a_copy_that_is_restored_without_its_anchor_revives_no_token(tmp_path: Path) -> None:
    """Nobody knows which were ended since: all are."""
    file, keep = tmp_path / "study.ledger", tmp_path / "keep"
    ledger = open_ledger(file, keep=keep)
    ledger.open("people", PureDP(1))
    ledger.give_access(Access(TOKEN, "curator"))
    ledger.give_access(Access(OTHER, "auditor"))
    ledger.end_access(OTHER)
    ledger.close()
    before = file.read_bytes()
    ledger = open_ledger(file, keep=keep)
    ledger.end_access(TOKEN, because="dismissed")
    ledger.close()
    (keep / "anchor").unlink()
    file.write_bytes(before)
    restored = restore_ledger(file, because="the disk broke", keep=keep)
    assert {one.token: one.ended for one in restored.accesses()} == {TOKEN: True, OTHER: True}
    third = restored.give_access(Access("ef" * 32, "curator"))  # who restores may let somebody in again, to read
    assert not third.ended
    restored.verify()
    restored.close()
