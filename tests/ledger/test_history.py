"""Charges and decisions read back from the entries, on every store."""

from __future__ import annotations

import threading
import uuid
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import InvalidParameter
from curador.ledger.opening import open_ledger
from curador.ledger.records import Charges
from curador.ledger.stores.rows import ENTRY, Rows
from curador.privacy import PureDP, RenyiDP
from tests.ledger.conftest import Opener
from tests.ledger.stores.test_work import instructions
from tests.ledger.workers import THOUSANDTH


def test_decisions_are_read_back_in_order_and_charges_are_none(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    ledger.register("people", "people.csv", scope="people")
    note = {"asked": '"definition": "scope": "people"', "name": "people"}  # words of an entry are no entry
    ledger.settle(ledger.reserve("people", PureLoss(Fraction(1, 4)), note=note).id, b"[3]")
    ledger.grant("people", PureDP(0.5), because="ñandú")
    ledger.register("people", "people-2.csv")
    ledger.open("others", PureDP(2))
    ledger.renew("people", "others", because="other people")
    ledger.revoke("people", because="they are asked no more")
    assert [(d.kind, d.scope, d.budget, d.because, d.name) for d in ledger.decisions()] == [
        ("opened", "people", PureDP(1), "", ""),
        ("raised", "people", PureDP(1.5), "ñandú", ""),
        ("opened", "others", PureDP(2), "", ""),
        ("renewed", "others", None, "other people", "people"),
        ("closed", "people", None, "they are asked no more", ""),
    ]
    times = [d.at for d in ledger.decisions()]
    assert times == sorted(times)
    assert ledger.scopes_of("people") == ("people", "others")
    assert ledger.scopes_of("nobody") == ()


def test_a_budget_of_very_many_orders_is_kept(fresh: Opener) -> None:
    """Its text is longer than a key may be in PostgreSQL."""
    ledger = fresh()
    budget = RenyiDP({1 + order / 8: 1 + order / 1000 for order in range(1, 400)})
    ledger.open("people", budget)
    assert ledger.ever_promised(["people"], budget)
    assert not ledger.ever_promised(["people"], RenyiDP({2: 1}))
    ledger.verify()


def test_what_a_scope_promised_at_any_time(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    ledger.open("others", PureDP(5))
    for _ in range(2):
        ledger.grant("people", PureDP(0.5))
    found = [ledger.ever_promised(["people"], PureDP(epsilon)) for epsilon in (0.5, 1, 1.5, 1.75, 2, 5)]
    assert found == [False, True, True, False, True, False]
    assert ledger.ever_promised(["people", "others"], PureDP(5))


# ---- the newest charges --------------------------------------------------------------------------------------------


def test_the_newest_charges_are_the_end_of_the_history(fresh: Opener) -> None:
    """Also where most entries are decisions, and where an older charge was paid for again by another scope."""
    ledger = fresh()
    ledger.open("people", PureDP(10))
    for name in ("ana", "bea"):
        ledger.open(name, PureDP(5), parent="people")
    tenth = PureLoss(Fraction(1, 10))
    for n in range(6):
        charge = ledger.reserve("people", tenth, fingerprint=f"q{n}", receiver="ana")
        ledger.settle(charge.id, b"x")
    ledger.reserve("people", tenth, fingerprint="q1", receiver="bea")
    for n in range(40):
        ledger.register(f"t{n}", f"{n}.csv", scope="people")
    whole = ledger.history()
    assert [c.id for c in whole] == ["1", "2", "3", "4", "5", "6", "7"]
    for scope in (None, "people", "ana", "bea"):
        whole = ledger.history(scope)
        for last in range(9):
            assert ledger.history(scope, last=last) == whole[max(0, len(whole) - last) :]
    with pytest.raises(InvalidParameter, match="last"):
        ledger.history(last=-1)
    with pytest.raises(InvalidParameter, match="eva"):
        ledger.history("eva", last=1)


def test_sqlite_reads_the_newest_charges_without_the_others(quick: Path) -> None:
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1000))
    steps = []
    for charges in (100, 2000):
        for _ in range(charges):
            ledger.reserve("people", THOUSANDTH)
        works = (lambda: ledger.history(last=10), lambda: ledger.history("people", last=10))
        steps.append([instructions(ledger, work) for work in works])
    assert steps[0] == steps[1]
    assert instructions(ledger, lambda: ledger.history(last=None)) > 50 * max(steps[1])
    ledger.close()


# ---- charges for people --------------------------------------------------------------------------------------------


def test_charges_are_a_tuple_that_shows_itself(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    event, quarter = PureLoss(Fraction("0.1212625")), PureLoss(Fraction(1, 4))
    ledger.reserve("people", event, guarantee=PureDP(0.1212625), note={"asked": "how many <b>"})
    first, second = ledger.reserve("people", quarter), ledger.reserve("people", quarter)
    ledger.settle(second.id, b"x")
    found = ledger.history()
    same: object = (found[0], first, found[2])
    assert found == same
    assert same == found
    assert isinstance(found[1:], Charges)
    assert repr(found[0]) == "<Charge 1: epsilon 0.1212625 from people, not answered>"
    assert str(found[2]) == "charge 3: PureLoss from people, answered"
    page = found._repr_html_()
    assert "<td>epsilon 0.1212625</td>" in page
    assert "how many &lt;b&gt;" in page
    assert "<b>" not in page
    frame = found.to_pandas()
    assert list(frame["charge"]) == ["1", "2", "3"]
    assert list(frame["guarantee"]) == ["epsilon 0.1212625", "", ""]
    assert list(frame["settled"]) == [False, False, True]
    assert list(Charges().to_pandas().columns) == list(frame.columns)


# ---- pages ---------------------------------------------------------------------------------------------------------


def test_a_history_comes_in_pages(fresh: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the newest; a page before a page; all, if all are asked for, read page by page."""
    ledger = fresh()
    ledger.open("people", PureDP(10))
    for name in ("ana", "bea"):
        ledger.open(name, PureDP(5), parent="people")
    for n in range(25):
        charge = ledger.reserve("people", THOUSANDTH, fingerprint=f"q{n}", receiver="ana")
        if n % 3:
            ledger.settle(charge.id, b"x")
    for n in (1, 4, 2, 22):
        ledger.reserve("people", THOUSANDTH, fingerprint=f"q{n}", receiver="bea")
    assert [ledger.count(scope) for scope in (None, "people", "ana", "bea")] == [29, 25, 25, 4]
    wholes = {scope: ledger.history(scope, last=None) for scope in (None, "people", "ana", "bea")}
    assert [c.id for c in wholes["bea"]] == ["26", "27", "28", "29"]
    assert [c.id for c in wholes[None]][-5:] == ["25", "26", "27", "28", "29"]
    monkeypatch.setattr("curador.ledger.history.PAGE", 4)
    for scope, whole in wholes.items():
        assert ledger.history(scope, last=None) == whole
        assert ledger.history(scope, last=7) == whole[-7:]
        pages = [ledger.history(scope, last=3)]
        while pages[-1]:
            pages.append(ledger.history(scope, last=3, before=pages[-1][0]))
        assert [c for page in reversed(pages) for c in page] == list(whole)
    with pytest.raises(InvalidParameter, match="eva"):
        ledger.count("eva")


def test_the_default_is_a_thousand(quick: Path) -> None:
    ledger = open_ledger("memory:")
    ledger.open("people", PureDP(1000))
    for _ in range(1001):
        ledger.reserve("people", THOUSANDTH)
    for scope in (None, "people"):
        assert [c.id for c in ledger.history(scope)] == [str(n) for n in range(2, 1002)]
        assert len(ledger.history(scope, last=None)) == ledger.count(scope) == 1001


def test_postgresql_reads_a_history_in_two_statements(
    postgres_url: str, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apart from the beginning, the head and the end of every read; however many charges there are."""
    from curador.ledger.stores import postgres

    ledger = open_ledger(postgres_url, keep=quick / "keep", schema=f"h{uuid.uuid4().hex[:12]}")
    ledger.open("people", PureDP(1))
    ledger.open("bea", PureDP(1), parent="people")
    for n in range(20):
        ledger.settle(ledger.reserve("people", THOUSANDTH, fingerprint=f"q{n}").id, b"x")
    ledger.reserve("people", THOUSANDTH, fingerprint="q3", receiver="bea")
    seen: list[str] = []
    plain = postgres._Database.execute

    def spying(self: Any, statement: str, values: Any) -> Any:
        seen.append(statement)
        return plain(self, statement, values)

    monkeypatch.setattr(postgres._Database, "execute", spying)
    for scope, charges in (("people", 20), ("bea", 1), (None, 21)):
        seen.clear()
        assert len(ledger.history(scope)) == charges
        assert len([s for s in seen if "DESC LIMIT 1" not in s]) == 2
    ledger.close()


def test_nobody_waits_for_one_who_reads_much(opener: Opener) -> None:
    """A balance is read, and a charge is bought, while another thread is in the midst of a long read."""
    ledger = opener()
    ledger.open("people", PureDP(1))
    inside, leave = threading.Event(), threading.Event()

    def look(rows: Rows) -> int:
        found = rows.scan(ENTRY)
        next(found)
        inside.set()
        leave.wait(30)
        return 1 + len(list(found))

    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(ledger._store.read(look, long=True)))
    thread.start()
    inside.wait(30)
    ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    assert ledger.balance("people").state.spent == (10**9,)
    assert len(ledger.history()) == 1
    assert thread.is_alive()
    leave.set()
    thread.join()
    assert seen == [1]  # of the moment at which it began
