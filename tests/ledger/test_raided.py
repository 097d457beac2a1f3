"""What a second attack on the ledger found: two machines, a restore, and files whose numbers are given again."""

from __future__ import annotations

import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from curador.accounting.events import ApproxLoss, Event, PureLoss
from curador.errors import LedgerBroken
from curador.ledger.anchor import log as anchors
from curador.ledger.anchor.keep import sealed_line
from curador.ledger.anchor.summary import state_rows
from curador.ledger.book import Book
from curador.ledger.entries import plain
from curador.ledger.opening import open_ledger, restore_ledger
from curador.privacy import ApproxDP, Guarantee, PureDP

TENTH = PureLoss(Fraction(1, 10))
PAIR = ApproxLoss(Fraction(1, 10), Fraction(1, 1000))


def buy(ledger: Book, event: Event = TENTH, times: int = 1) -> None:
    for _ in range(times):
        ledger.settle(ledger.reserve("people", event).id, b"an answer")


class Machines:
    """Two machines with a folder each, of one database."""

    def __init__(self, folder: Path, budget: Guarantee) -> None:
        self.file, self.folder = folder / "x.db", folder
        ledger = self.open("a")
        ledger.open("people", budget)
        ledger.close()
        shutil.copytree(folder / "a", folder / "b")

    def open(self, machine: str) -> Book:
        return open_ledger(self.file, keep=self.folder / machine)

    def restore(self, machine: str) -> Book:
        return restore_ledger(self.file, keep=self.folder / machine, because="a test")

    def buy(self, machine: str, event: Event = TENTH, times: int = 1) -> None:
        ledger = self.open(machine)
        buy(ledger, event, times)
        ledger.close()

    def copy(self) -> None:
        shutil.copy(self.file, self.folder / "copy.db")

    def put_back(self) -> None:
        shutil.copy(self.folder / "copy.db", self.file)


def test_a_restore_that_states_one_number_of_a_balance_keeps_what_was_paid_of_the_other(tmp_path: Path) -> None:
    machines = Machines(tmp_path, ApproxDP(1, 0.01))
    machines.buy("a", PAIR)
    machines.copy()
    machines.buy("a", TENTH)  # delta is as before: the restore states epsilon alone
    machines.put_back()
    machines.restore("a").close()
    ledger = machines.open("b")  # whose anchor is from before all of it
    assert ledger.balance("people").spent == ApproxDP(0.2, 0.001)
    ledger.close()


@pytest.mark.parametrize("restored_first", [False, True])
def test_what_another_machine_bought_after_the_loss_is_paid_too(tmp_path: Path, restored_first: bool) -> None:
    machines = Machines(tmp_path, PureDP(10))
    machines.buy("a")
    machines.copy()
    if restored_first:
        machines.buy("a")
    machines.buy("b", times=8)
    machines.put_back()
    if restored_first:
        machines.restore("a").close()
    machines.buy("a", times=3)  # it has not seen all that was cut off
    with pytest.raises(LedgerBroken):
        machines.open("b")
    ledger = machines.restore("b")
    spent = ledger.balance("people").spent
    assert isinstance(spent, PureDP)  # what both have seen may be counted twice
    assert spent.epsilon == pytest.approx(1.5 if restored_first else 1.3)
    assert ledger.verify()
    ledger.close()
    machines.open("b").close()


def test_an_anchor_in_a_file_with_the_number_of_an_older_one_is_read_anew(tmp_path: Path) -> None:
    one, other = open_ledger(tmp_path / "x.db"), open_ledger(tmp_path / "x.db")
    one.open("people", PureDP(100))
    buy(one, times=5)
    one.close()  # its files are free, and so is their number once the anchor is another file
    buy(other, times=3)
    path = tmp_path / "x.db.keep" / "anchor"
    store = other._store
    store.anchor._held.descriptor()  # type: ignore[attr-defined]
    head, known = store.anchor.read()  # type: ignore[attr-defined]
    begun = plain({**anchors._header(head, "", 0), "state": state_rows(known)})
    line, _ = sealed_line(store.anchor._key, begun)  # type: ignore[attr-defined]
    path.write_bytes(line.ljust(anchors.SIZE, b"\0"))  # what adding up does, in a file of the same number
    other.close()
    buy(one)
    one.close()
    again = open_ledger(tmp_path / "x.db")
    assert again.verify() == 2 * 9 + 1
    again.close()


def test_balances_changed_by_hand_are_found_where_a_restore_takes_the_place_of_a_mark(tmp_path: Path) -> None:
    machines = Machines(tmp_path, PureDP(10))
    machines.copy()
    machines.buy("a", times=2)
    shutil.copy(tmp_path / "a" / "anchor", tmp_path / "b" / "anchor")  # b has seen the same
    machines.put_back()
    machines.restore("a").close()
    with sqlite3.connect(machines.file) as live:
        live.execute("UPDATE balance SET spent = 0")
    live.close()
    with pytest.raises(LedgerBroken):
        machines.open("b").close()


def test_a_lease_changed_by_hand_is_found(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "x.db")
    ledger.open("people", PureDP(10))
    ledger.reserve("people", TENTH, fingerprint="f", owner="me:1:1")
    ledger.close()
    with sqlite3.connect(tmp_path / "x.db") as live:
        live.execute("UPDATE running SET owner = 'another machine:1:1'")
    live.close()
    ledger = open_ledger(tmp_path / "x.db")
    with pytest.raises(LedgerBroken):
        ledger.verify()
    ledger.close()


def test_an_answer_that_is_settled_with_others_at_once_is_covered_by_the_anchor(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "x.db")
    ledger.open("people", PureDP(10))
    charge = ledger.reserve("people", TENTH)
    shutil.copy(tmp_path / "x.db", tmp_path / "copy.db")
    ledger.at_once(lambda book: book.settle(charge.id, b"an answer"))
    store = ledger._store
    found = store.anchor.newest()  # type: ignore[attr-defined]
    assert found is not None
    assert found.sequence >= charge.entry
    ledger.close()
