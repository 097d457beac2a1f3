"""Decisions read back from the entries, on every store."""

from __future__ import annotations

from fractions import Fraction

from curador.accounting.events import PureLoss
from curador.ledger.history import decisions, had, scopes_of
from curador.privacy import PureDP
from tests.ledger.conftest import Opener


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
    assert [(d.kind, d.scope, d.budget, d.because, d.name) for d in decisions(ledger)] == [
        ("opened", "people", PureDP(1), "", ""),
        ("raised", "people", PureDP(1.5), "ñandú", ""),
        ("opened", "others", PureDP(2), "", ""),
        ("renewed", "others", None, "other people", "people"),
        ("closed", "people", None, "they are asked no more", ""),
    ]
    times = [d.at for d in decisions(ledger)]
    assert times == sorted(times)
    assert scopes_of(ledger, "people") == ("people", "others")
    assert scopes_of(ledger, "nobody") == ()


def test_what_a_scope_promised_at_any_time(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    ledger.open("others", PureDP(5))
    for _ in range(2):
        ledger.grant("people", PureDP(0.5))
    found = [had(ledger, ["people"], PureDP(epsilon)) for epsilon in (0.5, 1, 1.5, 1.75, 2, 5)]
    assert found == [False, True, True, False, True, False]
    assert had(ledger, ["people", "others"], PureDP(5))
