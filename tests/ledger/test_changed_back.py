"""Rows that somebody changes by hand for a moment, and changes back: what they opened stays shut, or is found later."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import LedgerBroken, LedgerFailed
from curador.ledger.access import Access
from curador.ledger.anchor.decided import AS_STORED
from curador.ledger.book import Book
from curador.ledger.contract import Ledger
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP
from tests.ledger.conftest import Opener

TENTH = PureLoss(Fraction(1, 10))
TOKEN = "ab" * 32


def edit(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()


@pytest.fixture
def file(quick: Path) -> Path:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(9), parent="people")
    ledger.open("ana", PureDP(1))
    ledger.open("shut", PureDP(1))
    ledger.revoke("shut")
    ledger.open("over", PureDP(1), expires=datetime.now(UTC) + timedelta(days=1))
    ledger.give_access(Access(TOKEN, "curator"))
    ledger.close()
    return quick / "x.db"


def test_a_token_is_believed_only_if_a_sealed_entry_gave_it(file: Path) -> None:
    ledger = open_ledger(file)
    other = open_ledger(file)
    assert ledger.access(TOKEN) is not None
    forged = "cd" * 32
    edit(file, f"INSERT INTO access VALUES ('{forged}', 'curator', '', '', NULL, 1, '', '', '', 0)")
    assert ledger.access(forged) is None
    assert ledger.at_once(lambda book: book.access(forged)) is None  # as whoever would exchange it
    assert [one.token for one in ledger.accesses()] == [TOKEN]
    edit(file, "UPDATE access SET role = 'reader'")
    assert ledger.access(TOKEN) == Access(TOKEN, "curator")
    other.end_access(TOKEN, because="left")
    edit(file, f"UPDATE access SET ended = 0 WHERE token = '{TOKEN}'")
    for book in (ledger, other):
        found = book.access(TOKEN)
        assert found is not None
        assert found.ended
        book.close()


def test_tokens_of_another_process_are_known_at_once(opener: Opener) -> None:
    """Also beside charges whose notes look like decisions."""
    one, other = opener(), opener()
    one.open("people", PureDP(1))
    for number in range(3):
        token = f"{number:064x}"
        other.reserve("people", TENTH, note={"kind": "access", "token": "x"})
        other.give_access(Access(token, "analyst", who="ana"))
        assert one.access(token) == Access(token, "analyst", who="ana")
        one.end_access(token)
        found = other.access(token)
        assert found is not None
        assert found.ended


def test_what_lies_above_a_budget_is_not_read_from_a_row_that_was_changed(file: Path) -> None:
    ledger = open_ledger(file)
    edit(file, "UPDATE scope SET parent = NULL WHERE name = 'visits'")
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.reserve("visits", PureLoss(Fraction(9)))
    edit(file, "UPDATE scope SET parent = 'people' WHERE name = 'visits'")
    ledger.reserve("visits", TENTH)
    assert ledger.balance("people").spent == PureDP(0.1)
    ledger.verify()
    ledger.close()


def sold(file: Path, scope: str, column: str, meanwhile: str) -> Book:
    """A ledger that has sold from a scope while a column of its row was another."""
    edit(file, "CREATE TABLE before AS SELECT * FROM scope")
    ledger = open_ledger(file)
    assert ledger.balance(scope)  # read before, as by an earlier charge
    edit(file, f"UPDATE scope SET {column} = {meanwhile} WHERE name = '{scope}'")
    ledger._decided = AS_STORED  # as if this had been seen with the first charge
    ledger.settle(ledger.reserve(scope, PureLoss(Fraction(1))).id, b"sold")
    edit(file, f"UPDATE scope SET {column} = (SELECT {column} FROM before b WHERE b.name = scope.name)")
    edit(file, "DROP TABLE before")
    return ledger


@pytest.mark.parametrize(
    ("scope", "column", "meanwhile", "why"),
    [
        ("visits", "parent", "NULL", "not paid by the scopes that have to"),
        ("shut", "closed", "0", "had ended"),
    ],
)
def test_what_was_sold_meanwhile_is_found(file: Path, scope: str, column: str, meanwhile: str, why: str) -> None:
    ledger = sold(file, scope, column, meanwhile)
    with pytest.raises(LedgerBroken, match=why):
        ledger.verify()
    ledger.close()


def test_a_budget_that_was_made_to_last_is_found(file: Path) -> None:
    later = datetime.now(UTC) + timedelta(days=2)
    ledger = open_ledger(file, clock=lambda: later)
    edit(file, "UPDATE scope SET expires = NULL WHERE name = 'over'")
    ledger._decided = AS_STORED
    ledger.reserve("over", TENTH)
    edit(file, f"UPDATE scope SET expires = '{(later - timedelta(days=1)).isoformat()}' WHERE name = 'over'")
    with pytest.raises(LedgerBroken, match="had ended"):
        ledger.verify()
    ledger.close()


def test_an_answer_that_was_passed_on_unpaid_is_found(file: Path) -> None:
    ledger = open_ledger(file)
    ledger.open("eva", PureDP(1))
    first = ledger.reserve("people", TENTH, fingerprint="q", receiver="ana")
    ledger.settle(first.id, b"answer")
    edit(file, f"INSERT INTO paid VALUES ('eva', {first.id}, 1)")
    again = ledger.reserve("people", TENTH, fingerprint="q", receiver="eva", key="k")
    assert again.repeated
    assert not again.scopes  # she had paid, it seemed
    edit(file, "DELETE FROM paid WHERE scope = 'eva'")
    with pytest.raises(LedgerBroken, match="not paid by the scopes that have to"):
        ledger.verify()
    ledger.close()


def test_what_begins_lasts_where_a_clock_was_ahead(opener: Opener) -> None:
    opener(lambda: datetime.now(UTC) + timedelta(days=3)).open("people", PureDP(1))
    ledger = opener()
    assert ledger.time() > datetime.now(UTC) + timedelta(days=2)
    ledger.give_access(Access(TOKEN, "curator", expires=ledger.time() + timedelta(hours=1)))
    found = ledger.access(TOKEN)
    assert found is not None
    assert not found.ended


def test_what_was_never_committed_is_not_believed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shared transaction fails at its commit, after a part of it has looked at the tokens."""
    ledger, other = open_ledger(file), open_ledger(file)
    store: Any = ledger._store
    commit, failed = store._commit, list[int]()

    def fail_once() -> None:
        if not failed:
            failed.append(1)
            raise sqlite3.OperationalError("database or disk is full")
        commit()

    monkeypatch.setattr(store, "_commit", fail_once)
    made = Access("ef" * 32, "auditor")

    def give_and_look(book: Ledger) -> Access | None:
        book.give_access(made)
        return None

    def spend(book: Ledger) -> None:
        assert book.access(TOKEN) is not None
        book.end_access(TOKEN)

    said: list[str] = []

    def attempt(work: Callable[[Ledger], object]) -> None:
        try:
            ledger.at_once(work)
        except LedgerFailed as error:
            said.append(error.code)

    with store._group.lead:  # so that they share a transaction
        threads = [Thread(target=attempt, args=(work,)) for work in (give_and_look, spend)]
        for thread in threads:
            thread.start()
            while not any(job for job in store._group._waiting) or len(store._group._waiting) <= threads.index(thread):
                pass
    for thread in threads:
        thread.join()
    assert said == ["ledger-unavailable"] * 2
    assert ledger.access(made.token) is None
    other.end_access(TOKEN, because="stolen")
    found = ledger.access(TOKEN)
    assert found is not None
    assert found.ended
    other.give_access(made)
    assert ledger.access(made.token) == made
    for book in (ledger, other):
        book.close()
