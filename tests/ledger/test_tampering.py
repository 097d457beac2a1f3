"""Restored copies, changed bytes, rows changed by hand, lost keys: seen, and what a restore then does."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.anchor.log import Anchor
from curador.ledger.anchor.summary import chained
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger, restore_ledger
from curador.ledger.stores.rows import TABLES, as_bytes
from curador.privacy import ApproxDP, PureDP

TENTH = PureLoss(Fraction(1, 10))


def buy(ledger: Book, scope: str = "visits", times: int = 1) -> None:
    for _ in range(times):
        charge = ledger.reserve(scope, TENTH, fingerprint=f"q{len(ledger.history())}")
        ledger.settle(charge.id, b"the answer of " + charge.id.encode())


def started(ledger: Book) -> Book:
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(1), parent="people")
    buy(ledger)
    return ledger


@pytest.fixture
def file(quick: Path) -> Path:
    """A closed ledger with one answer, in one file."""
    started(open_ledger(quick / "x.db")).close()
    return quick / "x.db"


# ---- an older copy ---------------------------------------------------------------------------------------------------


@pytest.fixture
def rolled_back(file: Path) -> Path:
    """The file as it was after one charge, where four were made and settled."""
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    buy(ledger, times=3)
    ledger.close()
    shutil.copy(file.with_suffix(".copy"), file)
    return file


def test_a_restored_copy_is_refused(rolled_back: Path) -> None:
    with pytest.raises(LedgerBroken, match="its anchor has seen entry"):
        open_ledger(rolled_back)


def test_a_removed_file_is_not_a_new_ledger(file: Path) -> None:
    file.unlink()
    with pytest.raises(LedgerBroken, match="ends with entry 0"):
        open_ledger(file)


def test_a_copy_that_lacks_only_an_answer_is_taken(file: Path) -> None:
    """The anchor stands at the charge: an answer that is lost gives nothing back, its charge is there."""
    ledger = open_ledger(file)
    charge = ledger.reserve("visits", TENTH)
    ledger.close()
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    ledger.settle(charge.id, b"released")
    ledger.close()
    shutil.copy(file.with_suffix(".copy"), file)
    ledger = open_ledger(file)
    assert ledger.balance("people").spent == PureDP(0.2)
    ledger.close()


def test_without_the_anchor_it_would_not_be_seen(rolled_back: Path) -> None:
    """The chain alone is sound: this is what the anchor is for."""
    anchor = rolled_back.with_name("x.db.keep") / "anchor"
    anchor.unlink()
    with pytest.raises(LedgerBroken, match="anchor of this ledger is missing"):
        open_ledger(rolled_back)
    ledger = restore_ledger(rolled_back, because="test")
    ledger.verify()
    ledger.close()


def test_a_restore_burns_the_gap(rolled_back: Path) -> None:
    ledger = restore_ledger(rolled_back, because="the disk failed")
    assert ledger.balance("people").spent == ledger.balance("visits").spent == PureDP(0.4)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("visits", PureLoss(Fraction(7, 10)))
    assert ledger.reserve("visits", TENTH).id == "5"  # no number is given twice
    ledger.verify()
    ledger.close()
    open_ledger(rolled_back).close()


def test_a_restore_without_an_anchor_closes_everything(rolled_back: Path) -> None:
    (rolled_back.with_name("x.db.keep") / "anchor").write_bytes(b"\0" * 65536)
    with pytest.raises(LedgerBroken, match="unreadable"):
        open_ledger(rolled_back)
    ledger = restore_ledger(rolled_back, because="the disk failed")
    assert ledger.balance("people").remaining == PureDP(0)
    with pytest.raises(BudgetExceeded, match="closed"):
        ledger.reserve("visits", TENTH)
    ledger.verify()
    ledger.close()


def test_a_restore_brings_back_grants_scopes_and_closures(file: Path) -> None:
    ledger = open_ledger(file)
    ledger.open("left", PureDP(1))
    ledger.close()
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    ledger.grant("people", PureDP(1))
    ledger.grant("visits", PureDP(1))
    ledger.open("later", PureDP(1), parent="people", expires=datetime(2100, 1, 1, tzinfo=UTC))
    ledger.revoke("left")
    buy(ledger, times=10)
    buy(ledger, "later", times=3)
    scopes = ("people", "visits", "left", "later")
    before = [ledger.balance(scope) for scope in scopes]
    ledger.close()
    for _ in range(3):  # however often
        shutil.copy(file.with_suffix(".copy"), file)
        ledger = restore_ledger(file, because="the disk failed")
        assert [ledger.balance(scope) for scope in scopes] == before
        assert ledger.balance("people").spent == PureDP(1.4)
        with pytest.raises(InvalidParameter, match="already"):
            ledger.open("later", PureDP(1))
        ledger.verify()
        ledger.close()
    open_ledger(file).close()


def test_without_any_copy_the_anchor_is_enough(file: Path) -> None:
    """The file is gone, or was changed and nothing older verifies: balances go on, charges and answers are lost."""
    for path in file.parent.glob("x.db*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(LedgerBroken, match="ends with entry 0"):
        open_ledger(file)
    ledger = restore_ledger(file, because="no copy was made")
    assert ledger.balance("visits").spent == ledger.balance("people").spent == PureDP(0.1)
    assert ledger.history() == ()
    assert ledger.reserve("visits", TENTH).id == "2"
    ledger.verify()
    ledger.close()


@pytest.mark.parametrize("scopes", [3, 400])
def test_a_restore_knows_any_number_of_scopes(quick: Path, scopes: int) -> None:
    file = quick / "x.db"
    ledger = open_ledger(file)
    ledger.open("people", ApproxDP(9, 1e-6))
    ledger.close()
    shutil.copy(file, quick / "copy")
    ledger = open_ledger(file)
    for n in range(scopes):
        ledger.open(f"t{n}", ApproxDP(1, 1e-6))
    buy(ledger, f"t{scopes - 1}", times=10)
    ledger.close()
    for _ in range(2):
        shutil.copy(quick / "copy", file)
        ledger = restore_ledger(file, because="test")
        assert len(ledger.scopes()) == scopes + 1
        with pytest.raises(BudgetExceeded, match="does not cover"):
            ledger.reserve(f"t{scopes - 1}", TENTH)
        with pytest.raises(InvalidParameter, match="already"):
            ledger.open("t0", ApproxDP(1, 1e-6))
        ledger.verify()
        ledger.close()


def test_a_restore_brings_back_registrations_and_renewals(file: Path) -> None:
    """New people are not sold from the old people's budget, nor a table twice under another name."""
    ledger = open_ledger(file)
    ledger.register("visits", "visits.csv", scope="visits")
    ledger.close()
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    ledger.open("visits, renewed 1", PureDP(1))
    renewed = ledger.renew("visits", "visits, renewed 1", because="new people")
    ledger.open("later", PureDP(1))
    ledger.register("later", "later.csv", scope="later")
    moved = ledger.register("later", "moved.csv")
    buy(ledger, "visits, renewed 1", times=10)
    ledger.close()
    for _ in range(2):
        shutil.copy(file.with_suffix(".copy"), file)
        ledger = restore_ledger(file, because="the disk failed")
        assert ledger.registered("visits", "visits.csv") == renewed
        assert ledger.registered("later", "moved.csv") == moved
        found = ledger.registered("elsewhere", "later.csv")
        assert found is not None
        assert found.scope == "later"
        assert ledger.scopes_of("visits") == ("visits", "visits, renewed 1")
        assert ledger.ever_promised(["visits, renewed 1"], PureDP(1))
        with pytest.raises(BudgetExceeded):
            ledger.reserve(renewed.scope, TENTH)
        ledger.verify()
        ledger.close()


def test_a_restore_that_was_cut_off_before_its_anchor_was_written(
    rolled_back: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry is there, and says whose place it takes: it is not done twice."""

    def cut_off(*arguments: object, **options: object) -> None:
        raise OSError("the power was cut")

    with monkeypatch.context() as cut:
        cut.setattr(Anchor, "supersede", cut_off)
        with pytest.raises(LedgerFailed, match="power"):
            restore_ledger(rolled_back, because="test")
    with pytest.raises(InvalidParameter, match="not older"):
        restore_ledger(rolled_back, because="test")
    ledger = open_ledger(rolled_back)
    assert ledger.balance("people").spent == PureDP(0.4)
    ledger.verify()
    ledger.close()
    open_ledger(rolled_back).close()


def test_without_an_anchor_nothing_new_is_opened_either(rolled_back: Path) -> None:
    """What was opened after the copy is not known: under a new name its people would be sold again."""
    (rolled_back.with_name("x.db.keep") / "anchor").unlink()
    ledger = restore_ledger(rolled_back, because="the disk failed")
    with pytest.raises(LedgerBroken, match="without its anchor"):
        ledger.open("later", PureDP(1))
    assert ledger.scopes() == ("people", "visits")
    assert ledger.answer("1") == b"the answer of 1"
    ledger.verify()
    ledger.close()
    open_ledger(rolled_back).close()


def test_a_history_that_went_another_way_is_refused_and_both_are_paid(file: Path, quick: Path) -> None:
    """The copy was used elsewhere with an anchor of its own until it is longer than the one we knew."""
    elsewhere = quick / "elsewhere"
    elsewhere.mkdir()
    ledger = open_ledger(file)
    ledger.open("here", PureDP(1))
    ledger.register("t", "t.csv", scope="visits")
    ledger.close()
    shutil.copy(file, elsewhere / "x.db")
    shutil.copytree(quick / "x.db.keep", elsewhere / "keep")
    ledger = open_ledger(file)
    ledger.open("only here", PureDP(1))
    ledger.register("u", "u.csv", scope="here")
    buy(ledger, times=3)
    ledger.close()
    ledger = open_ledger(elsewhere / "x.db", keep=elsewhere / "keep")
    ledger.open("people 2", PureDP(1))
    ledger.register("u", "v.csv", scope="people 2")
    buy(ledger, "people 2", times=9)
    ledger.close()
    shutil.copy(elsewhere / "x.db", file)
    with pytest.raises(LedgerBroken, match="another one"):
        open_ledger(file)
    ledger = restore_ledger(file, because="test")
    assert ledger.balance("people").state.spent == (5 * 10**11,)  # 0.1 here and 0.4 there; the common 0.1 twice
    assert ledger.balance("people 2").closed
    assert ledger.balance("here").closed  # the table u is tied to either: nobody can say whose rows it has
    assert ledger.balance("only here").remaining == PureDP(1)
    known = ledger.registered("t", "t.csv")
    assert known is not None
    assert known.version == 2  # no answer about the one history's rows is given for the other's
    ledger.verify()
    ledger.close()
    open_ledger(file).close()


@pytest.mark.parametrize("address", [".", "/", "sqlite:///."])
def test_a_folder_is_no_ledger(address: str) -> None:
    with pytest.raises(InvalidParameter, match="folder"):
        open_ledger(address)


def test_only_an_older_ledger_is_restored_and_only_with_a_reason(file: Path, rolled_back: Path) -> None:
    with pytest.raises(InvalidParameter, match="reason"):
        restore_ledger(rolled_back, because="")
    restore_ledger(rolled_back, because="test").close()
    with pytest.raises(InvalidParameter, match="not older"):
        restore_ledger(rolled_back, because="test")


def test_a_file_replaced_while_it_is_open_is_seen(file: Path) -> None:
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    buy(ledger)
    file.with_suffix(".copy").replace(file)
    with pytest.raises(LedgerBroken, match="another file"):
        ledger.reserve("visits", TENTH)
    ledger.close()


# ---- keys --------------------------------------------------------------------------------------------------------


def test_a_key_is_its_owners(file: Path) -> None:
    key = file.with_name("x.db.keep") / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(bytes.fromhex(key.read_text())) == 32
    key.chmod(0o644)
    with pytest.raises(LedgerFailed, match="Others can read"):
        open_ledger(file)


def test_a_missing_or_another_key_is_refused(file: Path) -> None:
    key = file.with_name("x.db.keep") / "key"
    key.write_text("00" * 32)
    with pytest.raises(LedgerBroken, match="another ledger's"):
        open_ledger(file)
    key.unlink()
    with pytest.raises(LedgerBroken, match="key"):
        open_ledger(file)
    assert not key.exists()


# ---- changes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [t.name for t in TABLES if t.append_only])
@pytest.mark.parametrize("act", ["UPDATE {0} SET {1} = {1}", "DELETE FROM {0}"])
def test_the_database_itself_refuses_to_change_what_is_kept(file: Path, table: str, act: str) -> None:
    column = {"entry": "body", "answer": "bytes"}[table]
    with sqlite3.connect(file) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(act.format(table, column))
    connection.close()


def test_the_database_itself_refuses_to_pass_a_ceiling(file: Path) -> None:
    with sqlite3.connect(file) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute("UPDATE balance SET spent = ceiling + 1")
    connection.close()


def by_hand(file: Path, *statements: str) -> None:
    connection = sqlite3.connect(file)
    for statement in ("DROP TRIGGER entry_update", "DROP TRIGGER entry_delete", "DROP TRIGGER answer_update"):
        connection.execute(statement)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE balance SET spent = 0 WHERE scope = 'visits'",
        "UPDATE balance SET ceiling = ceiling + 1 WHERE scope = 'people'",
        "UPDATE balance SET every = 0 WHERE scope = 'people'",
        "DELETE FROM balance WHERE scope = 'people'",
        "UPDATE scope SET parent = NULL",
        "UPDATE scope SET closed = 1",
        "UPDATE scope SET expires = '2000-01-01T00:00:00+00:00'",
        "UPDATE entry SET body = replace(body, '100000000000', '000000000001')",
        "UPDATE entry SET mac = zeroblob(32) WHERE sequence = 2",
        "DELETE FROM entry WHERE sequence = 2",
        "UPDATE entry SET sequence = sequence + 10",
        "UPDATE answer SET bytes = CAST('another answer' AS BLOB)",
        "INSERT INTO answer VALUES (9, CAST('made up' AS BLOB))",
        "DELETE FROM question",
        "UPDATE question SET charge = 7",
        "INSERT INTO paid VALUES ('visits', 2, 3)",
        "DELETE FROM paid WHERE scope = 'people'",
        "UPDATE charge SET entry = 1",
        "INSERT INTO request VALUES ('k', 'q0', 1)",
        "INSERT INTO data VALUES (1, 'people', 1, 'row')",
        "UPDATE entry SET charges = charges + 1 WHERE sequence = 3",
        "UPDATE entry SET charges = 0 WHERE sequence = (SELECT max(sequence) FROM entry)",
        "UPDATE entry SET at = '2000-01-01T00:00:00+00:00' WHERE sequence = (SELECT max(sequence) FROM entry)",
        "UPDATE head SET mac = zeroblob(32)",
    ],
)
def test_a_change_by_hand_is_seen(file: Path, statement: str) -> None:
    """By whoever can write to the database but has no key."""
    by_hand(file)
    ledger = open_ledger(file)  # without a change it is sound
    ledger.verify()
    ledger.close()
    connection = sqlite3.connect(file)
    assert connection.execute(statement).rowcount > 0
    connection.commit()
    connection.close()

    def look() -> None:
        ledger = open_ledger(file)
        try:
            ledger.verify()
        finally:
            ledger.close()

    with pytest.raises(LedgerBroken):
        look()


def content(file: Path) -> list[object]:
    """All that a ledger's tables hold."""
    connection = sqlite3.connect(file)
    try:
        return [connection.execute(f"SELECT * FROM {t.name} ORDER BY 1, 2").fetchall() for t in TABLES]
    finally:
        connection.close()


def seen(look: Callable[[], object]) -> bool:
    try:
        look()
    except (LedgerBroken, LedgerFailed):
        return True
    return False


def test_an_entry_that_is_no_json_is_refused_in_our_words(file: Path) -> None:
    """Each in turn: the last one is read when the ledger is opened, before any seal is compared."""
    right = file.read_bytes()
    quotes = [i for i in range(len(right)) if right.startswith(b'"kind":"', i)]
    assert len(quotes) >= 3
    for left_over in file.parent.glob("x.db-*"):
        left_over.unlink()
    for quote in quotes:
        file.write_bytes(right[:quote] + b"7" + right[quote + 1 :])
        with pytest.raises(LedgerBroken):
            open_ledger(file).verify()


def test_flipped_bytes_are_seen_unless_they_change_nothing(file: Path) -> None:
    """48 bytes of the used pages, one at a time; and 48 within what was written."""
    right, before = file.read_bytes(), content(file)
    marks = [b'"kind":"reserve"', b"the answer of 1", b'"epsilon"', b"people", b"visits"]
    inside = [i + j for mark in marks if (i := right.find(mark)) >= 0 for j in range(len(mark))][:48]
    anywhere = random.Random(5).sample([i for i, byte in enumerate(right) if byte], 48)

    def look() -> None:
        ledger = open_ledger(file)
        try:
            ledger.verify()
        finally:
            ledger.close()

    harmless = 0
    for place in [*inside, *anywhere]:
        changed = bytearray(right)
        changed[place] ^= 0x15
        for left_over in file.parent.glob("x.db-*"):
            left_over.unlink()
        file.write_bytes(changed)
        if not seen(look):
            assert content(file) == before, f"byte {place} changed what is stored, and was not seen"
            harmless += 1
    assert len(inside) == 48
    assert harmless < 48


@pytest.mark.parametrize("column", ["entry.mac", "entry.body", "answer.bytes", "head.mac"])
def test_the_database_itself_refuses_to_forget_a_seal_or_an_answer(file: Path, column: str) -> None:
    table, name = column.split(".")
    with sqlite3.connect(file) as live:
        for (trigger,) in live.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            live.execute(f"DROP TRIGGER {trigger}")
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            live.execute(f"UPDATE {table} SET {name} = NULL")
    live.close()


def test_a_seal_a_line_or_an_answer_that_is_missing_is_found() -> None:
    for row in ((1, 0, "now", None, "{}"), (1, 0, "now", b"", None)):
        with pytest.raises(LedgerBroken) as found:
            list(chained([row], b"key", b""))
        assert found.value.code == "ledger-tampered"
    with pytest.raises(LedgerBroken):
        as_bytes(None)
