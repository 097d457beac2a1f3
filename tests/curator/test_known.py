"""What was bought before is known without reading a process's own purchases again, and with those of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from curador.curator.curator import Curator
from curador.ledger.book import Book
from curador.privacy import PureDP
from curador.query.tables.table import Table

SQL = "SELECT COUNT(*) AS n FROM people"
OLD = "SELECT COUNT(*) AS n FROM people WHERE age > 40"


def opened(folder: Path) -> Curator:
    people = Table(str(folder / "people.csv"), columns={"age": {"type": "integer", "bounds": [0, 120]}})
    return Curator({"people": people}, PureDP(100), ledger=str(folder / "charges.db"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age\n30\n50\n")
    return tmp_path


def test_own_purchases_are_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curator = opened(folder)
    curator.ask(SQL, epsilon=1)
    with monkeypatch.context() as patch:
        patch.delattr(Book, "history")
        second = curator.ask(SQL, epsilon="0.5")
        third = curator.ask(OLD, epsilon="0.5")
    assert [note["charge"] for note in second.remarks if note["code"] == "shared"] == ["1"]
    assert not [note for note in third.remarks if note["code"] == "shared"]
    curator.close()


def test_purchases_of_others_are_read(folder: Path) -> None:
    one, other = opened(folder), opened(folder)
    one.ask(SQL, epsilon=1)
    other.ask(OLD, epsilon=1)
    one.ask(SQL, epsilon="0.25")
    again = one.ask(OLD, epsilon="0.5")
    assert [note["charge"] for note in again.remarks if note["code"] == "shared"] == ["2"]
    assert one.ledger.newest(one.scopes.of(["people"])[0]) == 4
    assert one.ledger.newest("nobody's") == 0
    for curator in (one, other):
        curator.close()
