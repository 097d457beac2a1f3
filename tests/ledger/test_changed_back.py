"""Rows that somebody changes by hand for a moment, and changes back: what they opened stays shut, or is found later."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.access import Access
from curador.ledger.anchor.decided import AS_STORED
from curador.ledger.book import Book
from curador.ledger.contract import Balance, Ledger
from curador.ledger.opening import open_ledger, restore_ledger
from curador.ledger.stores.group_commit import Job
from curador.ledger.stores.one_transaction import OneTransaction
from curador.ledger.stores.rows import SCOPE, Rows
from curador.ledger.stores.sql import SqlStore
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


def test_decisions_are_made_of_what_was_decided_and_not_of_changed_rows(file: Path) -> None:
    """A grant sealed a ceiling that nobody had granted, and an end that a row claimed already was not written."""
    ledger, other = open_ledger(file), open_ledger(file)

    def changed(statement: str) -> None:
        edit(file, statement)
        other.reserve("over", PureLoss(Fraction(1, 1000)))  # so that no process uses rows that it remembers

    changed("UPDATE scope SET definition = replace(definition, '1.0', '50.0') WHERE name = 'ana'")
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.grant("ana", PureDP(1))
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.at_once(lambda book: book.grant("ana", PureDP(1)))  # as a curator does
    changed("UPDATE scope SET definition = replace(definition, '50.0', '1.0') WHERE name = 'ana'")

    def twice(book: Ledger) -> Balance:
        book.open("new", PureDP(1), parent="ana")
        book.grant("new", PureDP(1))
        book.grant("ana", PureDP(0.5))
        return book.grant("ana", PureDP(0.5))

    assert ledger.at_once(twice).budget == PureDP(2)
    changed("UPDATE scope SET closed = 1 WHERE name = 'ana'")
    ledger.revoke("ana")
    changed("UPDATE scope SET closed = 0 WHERE name = 'ana'")
    changed("UPDATE access SET ended = 1")
    assert ledger.end_access(TOKEN).ended
    changed("UPDATE access SET ended = 0")
    found = ledger.access(TOKEN)
    assert found is not None
    assert found.ended
    with pytest.raises(LedgerBroken, match="changed"):
        ledger.verify()  # the rows; what was decided is sealed
    assert [one.kind for one in ledger.decisions()][-2:] == ["raised", "closed"]
    for book in (ledger, other):
        book.close()


def test_a_budget_whose_row_was_taken_away_is_not_opened_again(file: Path) -> None:
    """It was, sealed, with nothing spent: and everything agreed with it from there on."""
    ledger, other = open_ledger(file), open_ledger(file)
    ledger.reserve("ana", PureLoss(Fraction(1)))

    def changed(statement: str) -> None:
        edit(file, statement)
        other.reserve("over", PureLoss(Fraction(1, 1000)))  # so that no process uses rows that it remembers

    changed("CREATE TABLE before AS SELECT * FROM scope WHERE name = 'ana'")
    changed("DELETE FROM scope WHERE name = 'ana'")
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.open("ana", PureDP(1))
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.at_once(lambda book: book.open("ana", PureDP(1)) if "ana" not in book else None)  # as a curator does
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.revoke("ana")
    ledger._decided = AS_STORED  # as it was once done
    ledger.open("ana", PureDP(1))
    with pytest.raises(LedgerBroken, match="could not be opened any more"):
        ledger.verify()
    for book in (ledger, other):
        book.close()


def test_nothing_is_opened_where_the_row_that_forbids_it_was_taken_away(file: Path) -> None:
    (file.with_name("x.db.keep") / "anchor").unlink()
    restore_ledger(file, because="the anchor was lost").close()
    ledger = open_ledger(file)
    edit(file, "DELETE FROM scope WHERE name = ''")
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.open("more", PureDP(1))
    ledger.close()


def test_what_nobody_opened_or_gave_is_not_ended_and_what_was_given_is(file: Path) -> None:
    """The end of a budget that somebody had written into the table made the anchor unreadable, for ever."""
    ledger, other = open_ledger(file), open_ledger(file)

    def changed(*statements: str) -> None:
        for statement in statements:
            edit(file, statement)
        other.reserve("over", PureLoss(Fraction(1, 1000)))

    forged = "cd" * 32
    changed(
        "INSERT INTO scope SELECT 'mallory', parent, definition, expires, closed FROM scope WHERE name = 'ana'",
        "INSERT INTO balance SELECT 'mallory', part, spent, ceiling, every FROM balance WHERE scope = 'ana'",
        f"INSERT INTO access VALUES ('{forged}', 'curator', '', '', NULL, 1, '', '', '', 0)",
    )
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.revoke("mallory")
    with pytest.raises(LedgerBroken, match="what was decided"):
        ledger.end_access(forged)
    changed(
        "DELETE FROM scope WHERE name = 'mallory'",
        "DELETE FROM balance WHERE scope = 'mallory'",
        "DELETE FROM access",
    )
    assert ledger.end_access(TOKEN).ended  # it opened still, and could not be ended
    changed("DELETE FROM access")
    with pytest.raises(InvalidParameter, match="given before"):
        ledger.give_access(Access(TOKEN, "curator"))
    changed(f"INSERT INTO access VALUES ('{TOKEN}', 'curator', '', '', NULL, 0, '', '', '', 1)")
    found = ledger.access(TOKEN)
    assert found is not None
    assert found.ended
    ledger.verify()
    for book in (ledger, other):
        book.close()
    open_ledger(file).close()


def test_a_token_is_given_and_ended_in_one_transaction(opener: Opener) -> None:
    ledger = opener()

    def both(book: Ledger) -> Access:
        book.give_access(Access(TOKEN, "curator"))
        assert not (book.access(TOKEN) or Access("", "", ended=True)).ended
        return book.end_access(TOKEN)

    assert ledger.at_once(both).ended
    ledger.verify()
    ledger.close()


def test_a_grant_that_looks_at_an_older_snapshot_is_not_taken_for_a_forgery(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was decided is known of a later grant by then; the look is repeated where it writes."""
    ledger, other = open_ledger(file), open_ledger(file)
    read = ledger._store.read
    beside: list[Thread] = []

    def late(query: Callable[[Rows], Any], long: bool = False) -> Any:
        def seen(rows: Rows) -> Any:
            rows.get(SCOPE, "people")
            if not beside:
                other.grant("people", PureDP(1))
                beside.append(Thread(target=ledger.end_access, args=(TOKEN,)))  # it learns of the grant
                beside[0].start()
                beside[0].join(60)
                assert not beside[0].is_alive()
            return query(rows)

        return read(seen, long)

    monkeypatch.setattr(ledger._store, "read", late)
    ledger.at_once(lambda book: book.grant("people", PureDP(1)))
    assert beside
    assert ledger.balance("people").budget == PureDP(3)
    ledger.verify()
    for book in (ledger, other):
        book.close()


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


def test_who_has_paid_is_believed_only_as_a_sealed_entry_says(file: Path) -> None:
    ledger = open_ledger(file)
    ledger.open("eva", PureDP(1))
    first = ledger.reserve("people", TENTH, fingerprint="q", receiver="ana")
    ledger.settle(first.id, b"answer")
    for entry in (1, 9, 10, 99):  # of another kind, of another payer, of another kind, none
        edit(file, f"INSERT INTO paid VALUES ('eva', {first.id}, {entry})")
        for key in (None, "k"):
            with pytest.raises(LedgerBroken, match="no entry says that 'eva' has paid"):
                ledger.reserve("people", TENTH, fingerprint="q", receiver="eva", key=key)
        edit(file, "DELETE FROM paid WHERE scope = 'eva'")
    again = ledger.reserve("people", TENTH, fingerprint="q", receiver="eva")
    assert (again.repeated, again.scopes) == (True, ("eva",))
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


# ---- what was never written, or sold too often -----------------------------------------------------------------------


def together(ledger: Book, *works: Callable[[Ledger], object]) -> list[object]:
    """Several transactions of threads that share one of the database."""
    store = ledger._store
    assert isinstance(store, SqlStore)

    def job(work: Callable[[Ledger], object]) -> Job:
        return Job(lambda rows: work(Book(OneTransaction(rows), ledger._key, decided=ledger._decided.before(rows))))

    jobs = [job(work) for work in works]
    store._perform(jobs)
    return [job.result for job in jobs]


def test_what_a_transaction_that_failed_had_decided_is_not_believed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, other = open_ledger(file), open_ledger(file)

    def fail() -> None:
        raise sqlite3.OperationalError("database or disk is full")

    def decide(book: Ledger) -> None:
        for n in range(3):
            book.open(f"never {n}", PureDP(1))

    with monkeypatch.context() as patch:
        patch.setattr(ledger._store, "_commit", fail)
        with pytest.raises(LedgerFailed):
            together(ledger, decide, lambda book: book.access(TOKEN))
    other.end_access(TOKEN, because="stolen")
    for n in range(4):
        found = ledger.access(TOKEN)
        assert found is not None
        assert found.ended
        other.open(f"other {n}", PureDP(1))
    ledger.reserve("visits", TENTH)
    for book in (ledger, other):
        book.verify()
        book.close()


def test_what_was_decided_before_in_one_transaction_holds_in_it(file: Path) -> None:
    ledger = open_ledger(file)
    _, found = together(ledger, lambda book: book.end_access(TOKEN, because="used"), lambda book: book.access(TOKEN))
    assert isinstance(found, Access)
    assert found.ended
    assert ledger.access(TOKEN) == found
    ledger.close()


def test_a_history_that_was_put_back_after_it_was_only_read_is_seen(file: Path) -> None:
    ledger, other = open_ledger(file), open_ledger(file)
    copy = sqlite3.connect(":memory:")
    with sqlite3.connect(file) as live:
        live.backup(copy)
    other.reserve("visits", TENTH)  # nobody has marked it
    assert ledger.count() == 1  # and here it is only read
    with sqlite3.connect(file) as live:
        copy.backup(live)
    for act in (ledger.count, lambda: ledger.access(TOKEN)):
        with pytest.raises(LedgerBroken, match="was put back while it was in use"):
            act()
    for book in (ledger, other):
        book.close()


@pytest.mark.parametrize("copied", ["before", "after"])
def test_of_a_budget_that_was_sold_twice_a_restore_closes_that_one(file: Path, copied: str) -> None:
    backup = file.with_name("backup")
    if copied == "before":
        shutil.copy(file, backup)
    ledger = open_ledger(file)
    ledger.open("late", PureDP(1))
    ledger.close()
    if copied == "after":
        shutil.copy(file, backup)
    ledger, other = open_ledger(file), open_ledger(file)
    ledger.settle(ledger.reserve("late", PureLoss(Fraction(1))).id, b"1")
    edit(file, "UPDATE balance SET spent = 0 WHERE scope = 'late'")
    other.settle(other.reserve("late", PureLoss(Fraction(1))).id, b"2")
    for book in (ledger, other):
        book.close()
    with pytest.raises(LedgerBroken) as refusal:
        open_ledger(file)
    assert refusal.value.code == "ledger-tampered"
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    shutil.copy(backup, file)
    again = restore_ledger(file, because="sold twice")
    assert again.balance("late").closed
    assert str(again.balance("late").spent) == str(PureDP(1))
    assert not again.balance("ana").closed
    again.reserve("ana", TENTH)
    again.verify()
    again.close()
    open_ledger(file).close()


def test_a_clock_that_is_set_back_within_a_transaction_sells_nothing_that_has_ended(opener: Opener) -> None:
    """One look at the clock for each: what is sealed with a later time than it was checked with would be tampering."""
    end = datetime.now(UTC) + timedelta(hours=1)
    opener().open("people", PureDP(1), expires=end)
    opener().open("ana", PureDP(1), parent="people")
    looks = iter([end + timedelta(seconds=1)])
    ledger = opener(lambda: next(looks, end - timedelta(seconds=1)))
    with pytest.raises(BudgetExceeded, match="ended on"):
        ledger.reserve("people", TENTH, receiver="ana")
    ledger.settle(ledger.reserve("people", TENTH, receiver="ana", fingerprint="q").id, b"x")
    looks = iter([end + timedelta(seconds=1)])
    with pytest.raises(BudgetExceeded, match="ended on"):
        ledger.reserve("people", TENTH, receiver="ana", fingerprint="q", key="k")
    ledger.verify()
