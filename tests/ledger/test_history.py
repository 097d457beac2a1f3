"""Charges and decisions read back from the entries, on every store."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from curador.accounting.events import PureLoss
from curador.errors import InvalidParameter
from curador.ledger.opening import open_ledger
from curador.ledger.records import Charges
from curador.privacy import PureDP
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
    assert [c.id for c in whole] == ["1", "2", "3", "4", "5", "6", "2"]
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
    assert instructions(ledger, ledger.history) > 50 * max(steps[1])
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
