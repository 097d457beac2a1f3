"""A database put back while processes use it: each of them sees it at its next act, and the evidence stays."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, LedgerBroken
from curador.forks import process_name
from curador.ledger import opening
from curador.ledger.anchor.log import Anchor
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger, restore_ledger
from curador.ledger.stores import sqlite
from curador.ledger.stores.rows import Head
from curador.ledger.stores.sql import SqlStore
from curador.privacy import ApproxDP, PureDP
from tests.ledger.interrupts import within
from tests.ledger.workers import THOUSANDTH
from tests.real_engines import postgres_programs

TENTH = PureLoss(Fraction(1, 10))


def buy(ledger: Book, times: int = 1, fingerprint: str | None = None) -> str:
    for _ in range(times):
        charge = ledger.reserve("people", TENTH, fingerprint=fingerprint)
        ledger.settle(charge.id, b"the answer of " + charge.id.encode())
    return charge.id


class Copies:
    """Copies of a ledger's database, put back in place while it is open."""

    def __init__(self, address: dict[str, Any]) -> None:
        self._address = address
        self._made: Any = None

    def make(self) -> None:
        if "schema" not in self._address:
            self._made = sqlite3.connect(":memory:")
            with sqlite3.connect(self._file()) as live:
                live.backup(self._made)
            live.close()
            return
        programs = postgres_programs()
        assert programs is not None
        dump = [programs / "pg_dump", "--inserts", "-n", self._address["schema"], self._address["address"]]
        self._made = subprocess.run(dump, capture_output=True, check=True).stdout

    def put_back(self) -> None:
        if "schema" not in self._address:
            with sqlite3.connect(self._file()) as live:  # as ".restore" does: into the open file
                self._made.backup(live)
            live.close()
            return
        import psycopg

        with psycopg.connect(self._address["address"], autocommit=True) as other:
            other.execute(f"DROP SCHEMA {self._address['schema']} CASCADE".encode())
            other.execute(b"\n".join(line for line in self._made.splitlines() if not line.startswith(b"\\")))

    def _file(self) -> str:
        return str(self._address["address"]).removeprefix("sqlite:///")


@pytest.fixture
def copies(address: dict[str, Any]) -> Iterator[Copies]:
    made = Copies(address)
    yield made
    if isinstance(made._made, sqlite3.Connection):
        made._made.close()


def refused(*acts: Callable[[], object]) -> None:
    for act in acts:
        with pytest.raises(LedgerBroken) as found:
            act()
        assert found.value.code in ("ledger-lost-entries", "ledger-behind-anchor")


@pytest.mark.parametrize("beside", [True, False])
def test_every_process_sees_it_at_its_next_act(
    address: dict[str, Any], copies: Copies, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that has not written since the copy was made, and however far the new history has come."""
    monkeypatch.setattr("curador.ledger.stores.sql.WORTH_A_THREAD", 0 if beside else 1000)
    writer, other, reader = (open_ledger(**address) for _ in range(3))
    writer.open("people", PureDP(1))
    told = buy(writer)
    buy(other)
    pending = other.reserve("people", TENTH)
    copies.make()
    buy(writer, 1, "q")
    buy(writer, 5)
    copies.put_back()
    refused(
        lambda: other.reserve("people", TENTH),  # its own last entry is in the copy: the anchor on the disk knows
        lambda: other.reserve("people", TENTH, fingerprint="q"),
        lambda: other.settle(pending.id, b"x"),
        lambda: reader.answer(told),
        lambda: reader.balance("people"),
        lambda: writer.reserve("people", TENTH),
        lambda: writer.answer(told),
        lambda: open_ledger(**address),
    )
    for ledger in (writer, other, reader):
        ledger.close()
    ledger = restore_ledger(**address, because="test")
    assert ledger.balance("people").spent == PureDP(0.9)
    ledger.verify()
    ledger.close()


def test_two_machines_with_an_anchor_each(address: dict[str, Any], copies: Copies, quick: Path) -> None:
    """The one whose anchor is older than the copy goes on; the other never accepts what it writes."""
    one = open_ledger(**address)
    one.open("people", PureDP(1))
    shutil.copytree(address["keep"], quick / "two")
    second = {**address, "keep": str(quick / "two")}
    two = open_ledger(**second)
    buy(one)
    copies.make()
    told = buy(two, 7)
    copies.put_back()
    refused(lambda: two.reserve("people", TENTH), lambda: two.answer(told), lambda: open_ledger(**second))
    buy(one, 9)  # longer than what the second machine has seen
    refused(lambda: two.reserve("people", TENTH), lambda: two.answer(told), lambda: open_ledger(**second))
    one.close()
    two.close()
    ledger = restore_ledger(**second, because="test")
    assert ledger.balance("people").closed  # 1.0 and 0.8 do not fit 1
    ledger.close()


def test_an_older_anchor_or_another_ledgers_under_a_running_process(address: dict[str, Any], quick: Path) -> None:
    """What it has seen marked stays marked, whatever lies there now; and that is not written over."""
    ledger = open_ledger(**address)
    ledger.open("people", PureDP(1))
    anchor = Path(address["keep"]) / "anchor"
    older = anchor.read_bytes()
    told = buy(ledger, 3)
    right = anchor.read_bytes()
    other = open_ledger(quick / "other.db")
    buy_other = other.open("people", PureDP(1))
    assert buy_other.remaining == PureDP(1)
    other.close()
    for content, code in (
        (older, "ledger-anchor-replaced"),
        ((quick / "other.db.keep" / "anchor").read_bytes(), "ledger-anchor-unreadable"),
    ):
        (quick / "new").write_bytes(content)
        (quick / "new").replace(anchor)
        for act in (lambda: ledger.reserve("people", TENTH), lambda: ledger.answer(told)):
            with pytest.raises(LedgerBroken) as found:
                act()
            assert found.value.code == code
        assert anchor.read_bytes() == content
    anchor.write_bytes(right)
    buy(ledger)
    ledger.verify()
    ledger.close()


def test_two_ledgers_with_one_folder(quick: Path) -> None:
    """The key is the same, and so is the beginning; the second to be marked is refused, and marks nothing."""
    one, two = (open_ledger(quick / f"{n}.db", keep=quick / "keep") for n in (1, 2))
    one.open("people", PureDP(1))
    with pytest.raises(LedgerBroken):
        two.open("people", PureDP(1))
    with pytest.raises(LedgerBroken):
        open_ledger(quick / "2.db", keep=quick / "keep")
    buy(one)
    for ledger in (one, two):
        ledger.close()


def test_a_folder_named_from_where_it_was_opened(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("a", "b"):
        (quick / place).mkdir()
        monkeypatch.chdir(quick / place)
        open_ledger("x.db", keep="keep").close()
    monkeypatch.chdir(quick / "a")
    ledger = open_ledger("x.db", keep="keep")
    before = (quick / "b" / "keep" / "anchor").read_bytes()
    monkeypatch.chdir(quick / "b")
    ledger.open("people", PureDP(1))
    buy(ledger)
    ledger.close()
    assert (quick / "b" / "keep" / "anchor").read_bytes() == before
    ledger = open_ledger(quick / "a" / "x.db", keep=quick / "a" / "keep")
    assert ledger.balance("people").spent == PureDP(0.1)
    ledger.close()


LATECOMER = """
import sys
import uuid
from curador.errors import LedgerBroken
from curador.ledger.opening import open_ledger
try:
    open_ledger(sys.argv[1])
except LedgerBroken as error:
    print(error.code)
"""


def test_a_write_ahead_log_removed_under_a_service(quick: Path) -> None:
    """It would write to a file without a name, and sells nothing more; whoever comes later sees only the database."""
    file = quick / "x.db"
    first = open_ledger(file)
    first.open("people", PureDP(1))
    buy(first, 2)
    with sqlite3.connect(file) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    buy(first, 6)
    for ending in ("-wal", "-shm"):
        Path(f"{file}{ending}").unlink()
    late = subprocess.run([sys.executable, "-c", LATECOMER, file], capture_output=True, text=True, check=True)
    assert late.stdout == "ledger-behind-anchor\n"
    with pytest.raises(LedgerBroken) as found:
        buy(first)
    assert found.value.code == "ledger-log-removed"
    first.close()


def rolled_back(address: dict[str, Any], copies: Copies) -> None:
    """Leave a ledger of which one answer is lost."""
    ledger = open_ledger(**address)
    ledger.open("people", PureDP(1))
    copies.make()
    buy(ledger)
    ledger.close()
    copies.put_back()


def test_a_worker_that_opens_during_a_restore_keeps_its_anchor(
    address: dict[str, Any], copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The restore is committed, and its process stands still before it has written the anchor."""
    rolled_back(address, copies)
    real, workers = Anchor.supersede, list[Thread]()

    def sell() -> None:
        worker = open_ledger(**address)
        buy(worker, 8)
        worker.close()

    def supersede(self: Anchor, old: Head | None, head: Head, state: Any) -> bool:
        if not workers:
            copies.make()
            workers.append(Thread(target=sell))
            workers[0].start()
            workers[0].join(0.3)  # it waits for its turn; where it did not, it would have sold by now
        return real(self, old, head, state)

    monkeypatch.setattr(Anchor, "supersede", supersede)
    restored = restore_ledger(**address, because="test")
    workers[0].join()
    assert restored.balance("people").spent == PureDP(0.9)
    restored.verify()
    restored.close()
    copies.put_back()  # as it was right after the restore: the sale is forgotten, and that is seen
    refused(lambda: open_ledger(**address))


def test_a_restore_that_comes_after_a_worker_only_marks(
    address: dict[str, Any], copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    rolled_back(address, copies)
    real, done = opening._anchor_anew, list[bool]()

    def late(store: SqlStore, old: Head | None) -> None:
        if not done:
            done.append(True)
            copies.make()
            worker = open_ledger(**address)  # anchors the restored history, and goes on
            buy(worker, 8)
            worker.close()
        real(store, old)

    monkeypatch.setattr(opening, "_anchor_anew", late)
    restored = restore_ledger(**address, because="test")
    assert restored.balance("people").spent == PureDP(0.9)
    restored.close()
    copies.put_back()
    refused(lambda: open_ledger(**address))


def test_a_log_is_superseded_only_while_it_ends_with_the_mark_that_was_read(tmp_path: Path) -> None:
    old, newer, restored = Head(3, 1, b"a"), Head(5, 2, b"b"), Head(4, 1, b"c")
    anchor = Anchor(tmp_path, b"key")
    assert anchor.supersede(None, old, {})  # there was none
    assert Anchor(tmp_path, b"key").supersede(old, newer, {})  # another process was faster
    assert not anchor.supersede(old, restored, {})
    assert anchor.newest() == newer
    (tmp_path / "anchor").write_bytes(b"nothing that can be read")
    assert not Anchor(tmp_path, b"key").supersede(newer, restored, {})
    assert Anchor(tmp_path, b"key").supersede(None, restored, {})
    assert Anchor(tmp_path, b"key").newest() == restored


# ---- a copy written over the file itself -----------------------------------------------------------------------------


@pytest.mark.parametrize("more", [1, 40, 220])
@pytest.mark.parametrize("times", ["new", "kept"])
def test_a_copy_written_over_a_file_in_use_sells_nothing_twice(quick: Path, more: int, times: str) -> None:
    """As cp does: the log stays, with the newest entries, and what it does not hold is the copy's."""
    file, copy = quick / "x.db", quick / "copy"
    first = open_ledger(file)
    first.at_once(lambda book: [book.open(f"{n:04}", PureDP(1)) for n in range(400)])
    first.close()
    shutil.copy2(file, copy)
    one, two = open_ledger(file), open_ledger(file)
    one.settle(one.reserve("0005", PureLoss(Fraction(1))).id, b"all of it")
    for _ in range(more):
        one.settle(one.reserve("0399", PureLoss(Fraction(1, 10000))).id, b"x" * 50)
    assert two.balance("0005").state.spent == two.balance("0005").state.ceiling
    there = file.stat()
    with open(copy, "rb") as old, open(file, "r+b") as live:
        live.write(old.read())
        live.truncate()
    if times == "kept":  # as cp -p
        os.utime(file, ns=(there.st_atime_ns, there.st_mtime_ns))
    for ledger in (two, one):
        with pytest.raises((LedgerBroken, BudgetExceeded)):  # the latter where the log holds all that is newer
            ledger.reserve("0005", PureLoss(Fraction(1)))
        with suppress(LedgerBroken):
            assert ledger.balance("0005").state.spent == ledger.balance("0005").state.ceiling
    for ledger in (one, two):
        ledger.close()
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    shutil.copy(copy, file)
    again = restore_ledger(file, because="a copy was put over it")
    assert again.balance("0005").state.spent == again.balance("0005").state.ceiling
    assert not any(again.balance(scope).closed for scope in again.scopes())
    again.verify()
    again.close()


def test_what_other_programs_and_processes_write_into_the_file_is_no_damage(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "CHECKPOINT_EVERY", 3)
    one, two = open_ledger(quick / "x.db"), open_ledger(quick / "x.db")
    one.open("people", PureDP(9))
    for n in range(20):
        buy((one, two)[n % 2])
        if n % 5 == 0:
            with sqlite3.connect(quick / "x.db") as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            other.close()
        assert one.count() == two.count() == n + 1
    assert one.verify() == two.verify()
    for ledger in (one, two):
        ledger.close()


def test_a_copy_that_was_given_a_delta_elsewhere_is_restored_closed(quick: Path) -> None:
    """Its anchor was added up meanwhile, so that nothing shows that the copy went its own way."""
    here: dict[str, Any] = {"address": str(quick / "a.db"), "keep": quick / "a"}
    there: dict[str, Any] = {"address": str(quick / "b.db"), "keep": quick / "b"}
    ledger = open_ledger(**here)
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(100))
    ledger.close()
    shutil.copy(quick / "a.db", quick / "b.db")
    shutil.copytree(quick / "a", quick / "b")
    ledger = open_ledger(**there)
    ledger.grant("people", ApproxDP(1, 1e-6), because="there")
    ledger.close()
    ledger = open_ledger(**here)
    for _ in range(300):
        ledger.settle(ledger.reserve("visits", PureLoss(Fraction(1, 1000))).id, b"x")
    ledger.close()
    for end in ("", "-wal", "-shm"):
        (quick / f"a.db{end}").unlink(missing_ok=True)
    shutil.copy(quick / "b.db", quick / "a.db")
    ledger = restore_ledger(**here, because="the wrong copy")
    assert ledger.balance("people").closed
    assert ledger.balance("visits").spent == PureDP(0.3)
    ledger.verify()
    ledger.close()
    open_ledger(**here).verify()


def test_a_schema_that_is_renamed_over_a_transaction_gets_nothing_of_it(postgres_url: str, tmp_path: Path) -> None:
    """A transaction that had locked the one wrote into the other, and its process went on there unnoticed."""
    import psycopg

    address: dict[str, Any] = {
        "address": postgres_url,
        "schema": f"s{uuid.uuid4().hex[:12]}",
        "keep": tmp_path / "keep",
    }
    schema, copies = address["schema"], Copies(address)
    ledger = open_ledger(**address)
    ledger.open("people", PureDP(1))
    buy(ledger)
    copies.make()
    buy(ledger, 5)
    store: Any = ledger._store
    commit = store._commit
    with psycopg.connect(postgres_url, autocommit=True) as other:
        older = copies._made.replace(schema.encode(), f"{schema}_older".encode())
        other.execute(b"\n".join(line for line in older.splitlines() if not line.startswith(b"\\")))

        def commit_after_the_swap() -> None:
            store._commit = commit
            for old, new in ((schema, f"{schema}_newer"), (f"{schema}_older", schema)):
                other.execute(f"ALTER SCHEMA {old} RENAME TO {new}".encode())
            commit()

        store._commit = commit_after_the_swap
        with pytest.raises(LedgerBroken) as refusal:
            buy(ledger)
        assert refusal.value.code == "ledger-replaced"
        refused(lambda: buy(ledger), lambda: open_ledger(**address))
        newest = "SELECT max(sequence) FROM {}.entry"
        assert other.execute(newest.format(schema).encode()).fetchone() == (3,)
        assert other.execute(newest.format(f"{schema}_newer").encode()).fetchone() == (13,)
    ledger.close()


def test_processes_that_each_write_little_leave_no_endless_log(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside one that keeps the file open, none of them wrote so much that it wrote the log into the file."""
    monkeypatch.setattr(sqlite, "LONG_LOG", 100_000)
    path = quick / "x.db"
    with closing(open_ledger(path)) as ledger:
        ledger.open("people", PureDP(1))
        for _ in range(40):
            with closing(open_ledger(path)) as short:
                short.settle(short.reserve("people", THOUSANDTH).id, b"x" * 1000)
        assert path.with_name("x.db-wal").stat().st_size < 300_000
        assert ledger.verify() == 1 + 2 * 40


NINE_TENTHS = PureLoss(Fraction(9, 10))


def _counted(compare: Callable[[Any], None], calls: list[int]) -> Callable[[Any], None]:
    def counted(rows: Any) -> None:
        calls.append(1)
        compare(rows)

    return counted


def _touch(file: Path) -> None:
    """Change when the file was written, also where two writes fall into one tick of the clock."""
    before = file.stat().st_mtime_ns
    os.utime(file, ns=(before, before - 10**9))


def test_a_log_that_another_process_wrote_into_the_file_is_not_compared_with(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparing takes the longer the more scopes there are: with 10,000 a purchase took seconds beside others."""
    monkeypatch.setattr(sqlite, "CHECKPOINT_EVERY", 3)
    first, other = open_ledger(quick / "x.db"), open_ledger(quick / "x.db")
    first.open("people", PureDP(1))
    compared: list[int] = []
    for ledger in (first, other):
        store: Any = ledger._store
        store._compare = _counted(store._compare, compared)
    for _ in range(10):
        for ledger in (first, other):
            ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    assert first.balance("people").state.spent == other.balance("people").state.spent
    assert not compared
    monkeypatch.setattr(sqlite, "CHECKPOINT_EVERY", 10**6)
    (quick / "x.db.keep" / "file").unlink()  # without the note, and where somebody else wrote it, it is compared
    _touch(quick / "x.db")
    for ledger in (first, other):
        ledger.reserve("people", THOUSANDTH)
    assert len(compared) == 2
    (quick / "x.db.keep" / "file").write_bytes(b"[1, 2, 3]\tforged\n")
    _touch(quick / "x.db")
    first.reserve("people", THOUSANDTH)
    assert len(compared) == 3
    for ledger in (first, other):
        ledger.verify()
        ledger.close()


def test_a_checkpoint_of_another_process_is_waited_for_unless_it_has_ended(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "CHECKPOINT_PATIENCE", 60)
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    store: Any = ledger._store
    compared: list[int] = []
    store._compare = _counted(store._compare, compared)
    ledger.reserve("people", THOUSANDTH)
    child = subprocess.Popen(["sleep", "60"])
    with open(f"/proc/{child.pid}/stat") as stat:
        started = stat.read().rpartition(")")[2].split()[19]
    name = f"{process_name().partition(':')[0]}:{child.pid}:{started}"

    def begin() -> None:
        store._note_file(name)
        _touch(quick / "x.db")

    def finish() -> None:
        now = os.stat(quick / "x.db")
        store.anchor.note("file", [now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns, ""])

    begin()
    thread = Timer(0.1, finish)
    thread.start()
    ledger.reserve("people", THOUSANDTH)
    thread.join()
    assert not compared
    begin()
    child.kill()
    child.wait()
    with within(30):
        ledger.reserve("people", THOUSANDTH)
    assert len(compared) == 1
    ledger.close()


def test_a_file_is_not_noted_as_sound_before_it_was_compared(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened a ledger wrote a long log into a copy that somebody had put over its file, before looking at it,
    and another process took the note of that for its word.
    """
    monkeypatch.setattr(sqlite, "CHECKPOINT_EVERY", 10**6)
    path, old = quick / "x.db", quick / "old.db"
    with closing(open_ledger(path)) as ledger:
        for i in range(600):
            ledger.open(f"s{i:04d}", PureDP(1))
    shutil.copy(path, old)
    with closing(open_ledger(path)) as ledger:
        ledger.settle(ledger.reserve("s0001", NINE_TENTHS).id, b"told")
    running = open_ledger(path)
    running.settle(running.reserve("s0500", THOUSANDTH).id, bytes(5_000_000))
    for i in range(50):
        running.reserve(f"s05{i:02d}", THOUSANDTH)
    assert path.with_name("x.db-wal").stat().st_size > sqlite.LONG_LOG
    subprocess.run(["cp", old, path], check=True)
    another = [sys.executable, "-c", f"from curador.ledger.opening import open_ledger; open_ledger({str(path)!r})"]
    assert b"LedgerBroken" in subprocess.run(another, capture_output=True, check=False).stderr
    for _ in range(2):
        with pytest.raises(LedgerBroken):
            running.reserve("s0001", NINE_TENTHS)
    running.close()


def test_a_log_is_written_into_the_file_also_where_that_cannot_be_noted(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "CHECKPOINT_EVERY", 3)
    with closing(open_ledger(quick / "x.db")) as ledger:
        ledger.open("people", PureDP(1))
        (quick / "x.db.keep" / "file").unlink(missing_ok=True)
        (quick / "x.db.keep" / "file").mkdir()
        before = (quick / "x.db").stat().st_size
        for _ in range(20):
            ledger.settle(ledger.reserve("people", THOUSANDTH).id, bytes(5000))
        assert (quick / "x.db").stat().st_size > before + 20 * 4000
