"""Restored copies, changed bytes, rows changed by hand, lost keys: seen, and what a restore then does."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.anchor import MOST_REMEMBERED, SLOT, Anchor, Mark
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger, restore_ledger
from curador.ledger.stores.rows import TABLES, Head
from curador.privacy import PureDP
from tests.ledger.conftest import Opener

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


def test_a_restore_closes_what_lost_its_grant_and_keeps_lost_names_taken(file: Path) -> None:
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    ledger.grant("people", PureDP(1))
    ledger.grant("visits", PureDP(1))
    ledger.open("later", PureDP(1))
    buy(ledger, times=10)
    ledger.close()
    shutil.copy(file.with_suffix(".copy"), file)
    ledger = restore_ledger(file, because="the disk failed")
    assert ledger.balance("people").closed  # 1.1 was spent, of which the old ceiling of 1 cannot tell
    with pytest.raises(LedgerBroken, match="lost"):
        ledger.balance("later")
    with pytest.raises(InvalidParameter, match="already"):
        ledger.open("later", PureDP(1))
    ledger.verify()
    ledger.close()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_copy_brings_nothing_back_however_often_it_is_restored(file: Path, times: int) -> None:
    ledger = open_ledger(file)
    ledger.open("left", PureDP(1))
    ledger.close()
    shutil.copy(file, file.with_suffix(".copy"))
    ledger = open_ledger(file)
    ledger.grant("people", PureDP(1))
    ledger.grant("visits", PureDP(1))
    ledger.open("later", PureDP(1))
    ledger.revoke("left")
    buy(ledger, times=10)
    ledger.close()
    for _ in range(times):
        shutil.copy(file.with_suffix(".copy"), file)
        ledger = restore_ledger(file, because="the disk failed")
        assert ledger.balance("people").closed
        assert ledger.balance("left").closed
        with pytest.raises(InvalidParameter, match="already"):
            ledger.open("later", PureDP(1))
        ledger.verify()
        ledger.close()


def test_a_history_that_went_another_way_is_refused_and_both_are_paid(rolled_back: Path, quick: Path) -> None:
    """The copy was used elsewhere with another anchor until it is longer than the one we knew."""
    elsewhere = quick / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(rolled_back, elsewhere / "x.db")
    (elsewhere / "keep").mkdir()
    shutil.copy(quick / "x.db.keep" / "key", elsewhere / "keep" / "key")
    ledger = restore_ledger(elsewhere / "x.db", keep=elsewhere / "keep", because="test")
    ledger.open("people 2", PureDP(1))
    buy(ledger, "people 2", times=9)
    ledger.close()
    shutil.copy(elsewhere / "x.db", rolled_back)
    with pytest.raises(LedgerBroken, match="another one"):
        open_ledger(rolled_back)
    ledger = restore_ledger(rolled_back, because="test")
    assert ledger.balance("people").state.spent == (5 * 10**11,)  # 0.1 here and 0.4 there; the common 0.1 twice
    assert ledger.balance("people 2").closed
    ledger.verify()
    ledger.close()


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


def test_a_schema_put_back_while_it_is_open_is_seen(opener: Opener) -> None:
    """As when a server is restored under a running curator."""
    ledger = started(opener())
    ledger._store._seen += 5  # type: ignore[attr-defined]  # it has seen more than there is now
    with pytest.raises(LedgerBroken, match="lost entries"):
        ledger.reserve("visits", TENTH)


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
    with pytest.raises(LedgerBroken, match="anchor"):
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
        "UPDATE head SET charges = 0",
        "UPDATE head SET sequence = sequence - 1",
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


# ---- the anchor itself -------------------------------------------------------------------------------------------


def test_a_power_cut_while_the_anchor_is_written_spoils_only_the_newer_mark(file: Path) -> None:
    path = file.with_name("x.db.keep") / "anchor"
    key = bytes.fromhex((path.parent / "key").read_text())
    newest = Anchor(path.parent, key).read()
    assert newest is not None
    content_ = path.read_bytes()
    slots = [content_[:SLOT], content_[SLOT:]]
    newer = max((0, 1), key=lambda n: int(json.loads(slots[n].split(b"\t")[0])["sequence"]))
    slots[newer] = slots[newer][:40] + b"\0" * (SLOT - 40)
    path.write_bytes(b"".join(slots))
    older = Anchor(path.parent, key).read()
    assert older is not None
    assert older.head.sequence < newest.head.sequence
    open_ledger(file).close()  # the database is ahead of it, as after a crash
    assert Anchor(path.parent, key).read() is not None


def test_an_anchor_never_goes_back_whoever_writes(file: Path) -> None:
    folder = file.with_name("x.db.keep")
    one, two = (Anchor(folder, bytes.fromhex((folder / "key").read_text())) for _ in range(2))
    one.advance(Mark(Head(100, 50, b"new"), {}))
    two.advance(Mark(Head(99, 50, b"old"), {}))
    found = two.read()
    assert found is not None
    assert found.head.sequence == 100


def test_of_too_many_scopes_an_anchor_remembers_none_and_a_restore_closes_all(quick: Path) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    for n in range(MOST_REMEMBERED):
        ledger.open(f"analyst {n}", PureDP(1), parent="people")
    ledger.close()
    shutil.copy(quick / "x.db", quick / "copy")
    ledger = open_ledger(quick / "x.db")
    buy(ledger, "people")
    ledger.close()
    shutil.copy(quick / "copy", quick / "x.db")
    ledger = restore_ledger(quick / "x.db", because="test")
    assert ledger.balance("analyst 7").closed
    with pytest.raises(BudgetExceeded, match="closed"):
        ledger.reserve("people", TENTH)
    ledger.close()
