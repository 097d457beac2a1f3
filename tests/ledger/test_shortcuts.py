"""What a ledger takes from memory or writes by hand, for speed, is what reading and the JSON writer would give."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from curador.errors import LedgerBroken
from curador.ledger.anchor import log as anchors
from curador.ledger.anchor.keep import key_of
from curador.ledger.anchor.log import Anchor
from curador.ledger.anchor.summary import Change, OwnEntries, StoredEntries, added, changed
from curador.ledger.entries import (
    Entry,
    Opened,
    Registered,
    Reserved,
    Restored,
    Sealed,
    Settled,
    Texts,
    plain,
    seal,
    written,
)
from curador.ledger.opening import open_ledger
from curador.ledger.stores.rows import BALANCE, Head
from curador.privacy import ApproxDP, PureDP
from tests.ledger.workers import THOUSANDTH


def history(count: int = 4) -> list[Sealed]:
    """Entries in a row, sealed."""
    made: list[Sealed] = []
    before = b"the beginning"
    for number in range(1, count + 1):
        entry = Reserved(number, ["people"], [[number]], {}) if number % 2 else Settled(number - 1, "d")
        line = written(entry, f"2026-01-0{number}")
        before = seal(b"key", before, number, line)
        made.append((number, line, before, entry))
    return made


@pytest.mark.parametrize("marked", range(5))
def test_own_entries_follow_a_mark_as_stored_ones_do(marked: int) -> None:
    made = history()
    heads = [Head(0, 0, b"the beginning"), *(Head(number, 0, mac) for number, _, mac, _ in made)]
    rows = [(number, 0, "", mac, line) for number, line, mac, _ in made]
    own, stored = OwnEntries(heads[0], made), StoredEntries(rows)
    assert list(own.after(heads[marked], b"key")) == made[marked:]
    assert changed(own.after(heads[marked], b"key")) == changed(stored.after(heads[marked], b"key"))
    for one in (own, stored) if marked < 4 else (own,):  # nothing is left to compare, and nothing would be marked
        with pytest.raises(LedgerBroken, match="seal"):
            list(one.after(Head(marked, 0, b"of another history"), b"key"))


def test_own_entries_do_not_follow_a_mark_before_them() -> None:
    made = history()
    with pytest.raises(LedgerBroken, match="seal"):
        OwnEntries(Head(2, 0, made[1][2]), made[2:]).after(Head(1, 0, made[0][2]), b"key")


def test_changes_are_added_as_their_entries_would_be() -> None:
    """Also around a restore, which states balances, or one part of one, with all that was paid before."""
    restore = Restored("x", 3, {"balance": [["people", 0, 9, 100, 1], ["ana", 1, 9, 100, 1]]})
    entries: list[Sealed] = [
        *history(3),
        (4, "", b"", Reserved(3, ["ana"], [[20, 30]], {})),
        (5, written(restore, "2026-01-05"), b"", restore),
        (6, "", b"", Reserved(4, ["people", "ana"], [[7], [7, 8]], {})),
        (7, "", b"", Reserved(5, ["ana"], [[1, 1]], {})),
    ]
    whole = changed(entries)
    assert whole.paid == {"people": (7,), "ana": (28, 9)}
    for cut in range(len(entries) + 1):
        assert added([changed(entries[:cut]), changed(entries[cut:])]) == whole


def test_lines_made_of_parts_are_canonical() -> None:
    """What is written by hand, for speed, is what the JSON writer gives."""
    strange = 'q"\\ \u2028 é\n'
    bought = Reserved(7, (strange, "b"), ((5, 6), (10**18,)), {"b": 1, "a": [None]}, {"kind": "pure"}, {"é": [1.5, {}]})
    for entry in (bought, Reserved(8, ["a"], [[1]], {}, None, {}, strange, strange, strange, strange)):
        assert Texts.of(entry).line(entry, "now") == written(entry, "now")
        assert written(entry, "now") == plain({"kind": "reserve", "at": "now", **entry.__dict__})
    about = {"guarantee": {"kind": "pure", "epsilon": 1.5}, "rule": "pure", "orders": []}
    others: list[Entry] = [
        Opened(strange, None, about, (5, 10**18)),
        Opened("b", strange, about, [], strange),
        Registered(strange, strange, 7, strange, 2),
        Registered("a", "b", 7, "", 2, strange, strange, (strange, "c"), strange),
    ]
    for one in others:
        assert written(one, strange) == plain({"kind": one.kind, "at": strange, **one.__dict__})
    settled = Settled(7, "ab" * 32)
    assert written(settled, "now") == plain({"kind": "settle", "at": "now", **settled.__dict__})
    place = anchors._Place(None, 4096, Head(0, 0, b""), "5ea1", 100, 90, False)
    paid = {"b": (1, 2), strange: (3,), "a": (10**18,)}
    for change, decisions in ((Change((), {}), []), (Change(((3, strange, settled),), paid), [(3, strange)])):
        body = {**anchors._header(Head(3, 2, b"mac", "now"), "5ea1", 90), "decisions": decisions}
        assert anchors._mark_text(Head(3, 2, b"mac", "now"), place, change) == plain({**body, "paid": change.paid})


def test_a_charge_that_was_just_bought_is_the_one_that_is_read_back(quick: Path) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", ApproxDP(1, 1e-6))
    ledger.open("ana", PureDP(1), parent="people")
    plainly = ledger.reserve("people", THOUSANDTH)
    noted = {"asked": {"": "how many"}, "text": "é"}
    fully = ledger.reserve(
        ["people"], THOUSANDTH, guarantee=PureDP(0.001), note=noted, key="k", fingerprint="f", receiver="ana"
    )
    for charge in (plainly, fully):
        assert charge == ledger.charge(charge.id)
        assert charge.entry == ledger.charge(charge.id).entry
        assert type(charge.note) is MappingProxyType
    assert fully.note == noted
    assert fully.costs == ((10**9, 0), (10**9,))
    ledger.close()


def test_a_full_file_is_added_up_alike_with_and_without_memory(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchors, "SIZE", 4096)
    ledger, other = open_ledger(quick / "x.db"), open_ledger(quick / "x.db")
    ledger.open("people", PureDP(100))
    keep = quick / "x.db.keep"
    first = (keep / "anchor").stat().st_ino
    for number in range(60):
        ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
        if number == 20:
            ledger.open("ana", PureDP(1), parent="people")
        if number == 40:
            other.settle(other.reserve("people", THOUSANDTH).id, b"x")  # whose line the first has not written
    assert (keep / "anchor").stat().st_ino != first
    found = Anchor(keep, key_of(keep, make=False)).read()
    assert found is not None
    assert (found[1].get(BALANCE, "people", 0) or ())[2] == 61 * 10**9
    ledger.close()
    other.close()
    open_ledger(quick / "x.db").verify()
