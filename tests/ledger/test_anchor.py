"""The anchor's file: power cuts, damage, many writers, and what it knows; and how a key is made."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import random
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.anchor import keep
from curador.ledger.anchor import log as anchors
from curador.ledger.anchor.keep import key_of
from curador.ledger.anchor.log import Anchor
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger
from curador.ledger.stores.reopened_file import content_of
from curador.ledger.stores.rows import BALANCE
from curador.privacy import PureDP
from tests.ledger.conftest import Opener
from tests.ledger.workers import THOUSANDTH, forked

SECTOR = 512


def buy(ledger: Book, scope: str = "people") -> str:
    charge = ledger.reserve(scope, THOUSANDTH)
    ledger.settle(charge.id, b"x")
    return charge.id


def opened(quick: Path) -> Book:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(100))
    return ledger


def kept(quick: Path) -> Path:
    return quick / "x.db.keep" / "anchor"


def looked(quick: Path) -> Anchor:
    return Anchor(quick / "x.db.keep", key_of(quick / "x.db.keep", make=False))


# ---- power cuts and damage -------------------------------------------------------------------------------------------


def images(before: bytes, after: bytes) -> Iterator[bytes]:
    """A file after a power cut: of the sectors that were written and not synced, any may be there."""
    sectors = [
        place
        for place in range(0, len(after), SECTOR)
        if before[place : place + SECTOR] != after[place : place + SECTOR]
    ]
    for there in itertools.product([False, True], repeat=len(sectors)):
        image = bytearray(before)
        for place, written in zip(sectors, there, strict=True):
            if written:
                image[place : place + SECTOR] = after[place : place + SECTOR]
        yield bytes(image)


def test_a_power_cut_spoils_at_most_what_was_not_synced(quick: Path) -> None:
    """Also where a process was killed before its sync, and another has written behind it."""
    ledger, other = opened(quick), open_ledger(quick / "x.db")
    path, seen = kept(quick), 0
    states = [path.read_bytes()]
    for n in range(12):
        buy((ledger, other)[n % 2])
        states.append(path.read_bytes())
    for first, *_, last in (states[i : i + n] for n in (2, 3) for i in range(len(states) - n + 1)):
        path.write_bytes(first)
        known = looked(quick).newest()
        for image in images(first, last):
            path.write_bytes(image)
            found = looked(quick).read()
            assert known is not None
            assert found is not None
            assert found[0].sequence >= known.sequence
            again = open_ledger(quick / "x.db")  # the database is ahead of it: what was torn is marked again
            again.close()
            assert looked(quick).read() is not None
            seen += 1
    path.write_bytes(states[-1])
    assert seen > 50
    for running in (ledger, other):
        buy(running)
        running.close()


def test_a_damaged_line_that_was_on_the_disk_is_seen(quick: Path) -> None:
    ledger = opened(quick)
    for _ in range(5):
        buy(ledger)
    ledger.close()
    path = kept(quick)
    right = path.read_bytes()
    lines = right.rstrip(b"\0").split(b"\n")[:-1]
    places = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    chance = random.Random(4)
    for start, end in itertools.pairwise(places[:-1]):  # all but the last, which may be torn
        for damage in (b"\0" * (end - start), None):
            changed = bytearray(right)
            if damage is not None:
                changed[start:end] = damage
            else:
                changed[chance.randrange(start, end)] ^= 0x15
            path.write_bytes(changed)
            with pytest.raises(LedgerBroken) as found:
                open_ledger(quick / "x.db")
            assert found.value.code in ("ledger-anchor-damaged", "ledger-anchor-unreadable")
            assert "Bring its folder back" in found.value.fix
    path.write_bytes(right)
    open_ledger(quick / "x.db").close()


@pytest.mark.parametrize("next_one", ["marked already", "another mark", "another process", "a new process"])
def test_after_a_sync_that_failed_the_next_one_writes_again(
    quick: Path, monkeypatch: pytest.MonkeyPatch, next_one: str
) -> None:
    """Pages that could not be written pass for written afterwards: the system says so once."""
    ledger, other = opened(quick), open_ledger(quick / "x.db")
    path = kept(quick)
    waiting = [ledger.reserve("people", THOUSANDTH).id for _ in range(3)]
    disk, dirty, failing = bytearray(path.read_bytes()), list[tuple[int, int]](), [True]
    write, sync = os.pwrite, os.fdatasync

    def is_anchor(file: int) -> bool:
        return os.fstat(file).st_ino == path.stat().st_ino

    def pwrite(file: int, content: bytes, place: int) -> int:
        if is_anchor(file):
            dirty.append((place, place + len(content)))
        return write(file, content, place)

    def fdatasync(file: int) -> None:
        if not is_anchor(file):
            return sync(file)
        if failing and failing.pop():
            dirty.clear()
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        for start, end in dirty:
            disk[start:end] = path.read_bytes()[start:end]
        return dirty.clear()

    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr(os, "fdatasync", fdatasync)
    with pytest.raises(LedgerFailed):
        ledger.settle(waiting[0], b"one")
    assert bytes(disk) != path.read_bytes()
    if next_one == "another mark":
        ledger.open("others", PureDP(1))
    after = {"another process": other, "a new process": open_ledger(quick / "x.db")}.get(next_one, ledger)
    assert after.settle(waiting[1], b"two") == b"two"
    after.reserve("people", THOUSANDTH)
    assert bytes(disk) == path.read_bytes()
    monkeypatch.undo()
    for one in (ledger, other, after):
        one.close()


def test_what_is_read_while_others_write_is_read_again_before_it_is_called_damaged(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is made page by page: a line may be missing in it before one that was written later."""
    ledger = opened(quick)
    for _ in range(5):
        buy(ledger)
    ledger.close()
    right, path = kept(quick).read_bytes(), kept(quick)
    lines = right.rstrip(b"\0").split(b"\n")[:-1]
    start = sum(len(line) + 1 for line in lines[:-2])
    mixed = right[:start] + bytes(len(lines[-2])) + right[start + len(lines[-2]) :]
    reads: list[bool] = []

    def content(file: int) -> bytes:
        with open(path, "rb") as another:
            try:
                fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                reads.append(True)
                return content_of(file)
        reads.append(False)
        return mixed

    monkeypatch.setattr(anchors, "content_of", content)
    found = looked(quick).newest()
    assert reads == [False, True]  # under a lock only then
    monkeypatch.undo()
    assert found == looked(quick).newest()
    path.write_bytes(mixed)
    with pytest.raises(LedgerBroken):
        looked(quick).newest()


# ---- what it knows ---------------------------------------------------------------------------------------------------


def test_lines_are_added_up_when_the_file_is_full(
    opener: Opener, address: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchors, "SIZE", 4096)
    one, two = opener(), opener()
    one.open("people", PureDP(100))
    for n in range(5):
        one.open(f"{n}", PureDP(10), parent="people")
    path = Path(address["keep"]) / "anchor"
    files = set()
    for n in range(60):
        buy((one, two)[n % 2], f"{n % 5}")
        files.add(path.stat().st_ino)
    one.revoke("3")
    assert len(files) > 1
    found = Anchor(path.parent, key_of(path.parent, make=False)).read()
    assert found is not None
    spent = {scope: spent for scope, _, spent, _, _ in found[1].scan(BALANCE)}
    assert spent == {"people": 60 * 10**9, **{f"{n}": 12 * 10**9 for n in range(5)}}
    assert path.stat().st_size <= 4 * 4096
    opener().verify()


def test_many_processes_mark_in_one_file(address: dict[str, Any], opener: Opener) -> None:
    ledger = opener()
    ledger.open("people", PureDP(100))
    ledger.close()

    def work() -> None:
        anchors.SIZE = 4096  # full again and again
        mine = open_ledger(**address)
        for _ in range(25):
            buy(mine)

    children = [forked(work) for _ in range(4)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    ledger = opener()
    ledger.verify()
    folder = Path(address["keep"])
    found = Anchor(folder, key_of(folder, make=False)).read()
    assert found is not None
    assert found[1].get(BALANCE, "people", 0) == ("people", 0, 100 * 10**9, 100 * 10**12, 1)
    assert {path.name for path in folder.iterdir()} <= {"anchor", "key", "verified"}  # nothing half made


def test_a_file_with_the_number_of_a_removed_one_is_read_anew(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker slept while others began new files: the system soon gives the number of a removed one again."""
    monkeypatch.setattr(anchors, "SIZE", 8192)

    def used() -> int:
        return len(kept(quick).read_bytes().rstrip(b"\0"))

    sleeper, other = opened(quick), open_ledger(quick / "x.db")
    while used() < 6000:
        buy(sleeper)
    known: Any = sleeper._store
    anchor = known.anchor
    number = kept(quick).stat().st_ino
    while kept(quick).stat().st_ino == number or used() > 4000:
        buy(other)
    anchor.after_fork()
    assert anchor._place.file is None
    found = kept(quick).stat()
    anchor._place = anchor._place._replace(file=(found.st_dev, found.st_ino))
    buy(sleeper)
    buy(other)
    assert used() < 6000  # behind the last line, and not where the sleeper had been
    looked(quick).read()
    other.verify()


def test_a_mark_is_as_long_with_a_thousand_scopes_as_with_one(quick: Path) -> None:
    ledger = opened(quick)

    def length() -> int:
        before = kept(quick).read_bytes().rstrip(b"\0")
        buy(ledger)
        return len(kept(quick).read_bytes().rstrip(b"\0")) - len(before)

    few = length()
    for n in range(300):
        ledger.open(f"analyst {n}", PureDP(1), parent="people")
    assert length() <= few + 10  # numbers have more digits
    ledger.close()


# ---- keys and files --------------------------------------------------------------------------------------------------


def test_threads_that_open_a_new_ledger_at_once(quick: Path) -> None:
    for round_ in range(6):
        made: list[Book] = []
        start = threading.Barrier(8)

        def work(round_: int = round_, start: threading.Barrier = start, made: list[Book] = made) -> None:
            start.wait()
            made.append(open_ledger(quick / f"{round_}.db"))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({ledger._key for ledger in made}) == 1
        made[0].open("people", PureDP(1))
        for ledger in made:
            buy(ledger)
            ledger.close()
        ledger = open_ledger(quick / f"{round_}.db")
        assert ledger.balance("people").state.spent == (8 * 10**9,)
        ledger.verify()
        ledger.close()


def test_processes_with_one_number_that_open_a_new_ledger_at_once(address: dict[str, Any], opener: Opener) -> None:
    """As in two containers that share a volume."""
    reading, writing = os.pipe()

    def work() -> None:
        os.getpid = lambda: 7
        os.read(reading, 1)
        ledger = open_ledger(**address)
        with suppress(InvalidParameter):  # another was faster
            ledger.open("people", PureDP(1))
        buy(ledger)

    children = [forked(work) for _ in range(6)]
    os.write(writing, b"x" * 6)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    os.close(reading)
    os.close(writing)
    ledger = opener()
    assert ledger.balance("people").state.spent == (6 * 10**9,)
    ledger.verify()


@pytest.mark.parametrize("content", [b"", b"no key", b"\xff\xfe", b"00" * 31, b"00" * 33])
def test_a_damaged_key(quick: Path, content: bytes) -> None:
    opened(quick).close()
    (quick / "x.db.keep" / "key").write_bytes(content)
    with pytest.raises(LedgerBroken) as found:
        open_ledger(quick / "x.db")
    assert found.value.code == "ledger-key-damaged"


def test_files_are_their_owners_alone(quick: Path) -> None:
    before = os.umask(0)
    try:
        ledger = opened(quick)
        buy(ledger)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in quick.rglob("*")}
    finally:
        os.umask(before)
    ledger.close()
    assert modes.pop("x.db.keep") == 0o700
    assert modes == dict.fromkeys(("x.db", "x.db-wal", "x.db-shm", "x.db-queue", "key", "anchor"), 0o600)


def test_a_damaged_queue_costs_fairness_alone(quick: Path) -> None:
    ledger = opened(quick)
    for number in (2**64 - 1, 2**63, 2**62 - 1):
        (quick / "x.db-queue").write_bytes(number.to_bytes(8, "little"))
        buy(ledger)
        buy(ledger)
    ledger.verify()
    ledger.close()


def test_a_row_that_another_program_removed(quick: Path) -> None:
    ledger, other = opened(quick), open_ledger(quick / "x.db")
    connection = sqlite3.connect(quick / "x.db")
    connection.execute("DELETE FROM balance")
    connection.commit()
    connection.close()
    ledger.close()
    for act in (lambda: other.balance("people"), lambda: other.reserve("people", THOUSANDTH)):
        with pytest.raises(LedgerBroken) as found:
            act()
        assert found.value.code == "ledger-tampered"
    other.close()
    with pytest.raises(LedgerBroken, match="table balance"):
        open_ledger(quick / "x.db")


@pytest.mark.parametrize("place", [0, 100])
def test_a_damaged_database(quick: Path, place: int) -> None:
    opened(quick).close()
    content = bytearray((quick / "x.db").read_bytes())
    content[place : place + 40] = b"\xff" * 40
    (quick / "x.db").write_bytes(content)
    with pytest.raises((LedgerBroken, LedgerFailed)) as found:
        open_ledger(quick / "x.db").verify()
    assert found.value.code == "ledger-damaged"


# ---- verified from opening to opening --------------------------------------------------------------------------------


CHANGES = [
    "DELETE FROM paid WHERE charge = {} AND scope = 'people'",
    "UPDATE charge SET entry = 1 WHERE number = {}",
    "UPDATE request SET fingerprint = 'other' WHERE request = 'k{}'",
    "DELETE FROM answer WHERE charge = {}",
]


@pytest.fixture
def half_verified(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with 201 entries, of which an opening has verified 120."""
    monkeypatch.setattr("curador.ledger.opening.MOST_AT_OPENING", 120)
    ledger = opened(quick)
    for n in range(1, 101):
        charge = ledger.reserve("people", THOUSANDTH, key=f"k{n}", fingerprint=f"q{n}")
        ledger.settle(charge.id, b"x")
    ledger.close()
    open_ledger(quick / "x.db").close()
    noted = looked(quick).verified()
    assert noted is not None
    assert noted.sequence == 120
    return quick / "x.db"


def change(file: Path, statement: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DROP TRIGGER answer_delete")
    assert connection.execute(statement).rowcount == 1
    connection.commit()
    connection.close()


@pytest.mark.parametrize("statement", CHANGES)
def test_what_is_new_is_verified_at_opening(half_verified: Path, statement: str) -> None:
    change(half_verified, statement.format(70))
    with pytest.raises(LedgerBroken) as found:
        open_ledger(half_verified)
    assert found.value.code == "ledger-tampered"


@pytest.mark.parametrize("statement", CHANGES)
def test_what_was_verified_is_not_read_again_but_on_demand(half_verified: Path, statement: str) -> None:
    change(half_verified, statement.format(20))
    ledger = open_ledger(half_verified)
    with pytest.raises(LedgerBroken):
        ledger.verify()
    ledger.close()
    (half_verified.with_name("x.db.keep") / "verified").write_bytes(b"damaged")  # then it begins anew
    with pytest.raises(LedgerBroken):
        open_ledger(half_verified)


# ---- the clock -------------------------------------------------------------------------------------------------------


def test_a_clock_that_is_set_back_revives_nothing(fresh: Opener) -> None:
    at = [datetime(2026, 5, 1, tzinfo=UTC)]
    ledger = fresh(clock=lambda: at[0])
    ledger.open("people", PureDP(1))
    ledger.open("april", PureDP(1), parent="people", expires=at[0] + timedelta(days=1))
    buy(ledger, "april")
    at[0] += timedelta(days=2)
    buy(ledger, "people")
    at[0] -= timedelta(days=30)
    with pytest.raises(BudgetExceeded, match="ended on"):
        ledger.reserve("april", THOUSANDTH)
    assert ledger.balance("april").closed
    buy(ledger, "people")
    times = [charge.at for charge in ledger.history()]
    assert times == sorted(times)
    assert len(set(times)) == 2
    ledger.verify()


def test_folders_that_are_made_for_the_key_are_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut that takes the name of a folder takes all that is in it."""
    synced: list[Path] = []
    sync = keep.sync_folder

    def recorded(folder: Path) -> None:
        synced.append(folder)
        sync(folder)

    monkeypatch.setattr(keep, "sync_folder", recorded)
    folder = tmp_path / "a" / "b" / "c"
    open_ledger(tmp_path / "x.db", keep=folder).close()
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b", folder} <= set(synced)
    assert folder.stat().st_mode & 0o077 == 0
