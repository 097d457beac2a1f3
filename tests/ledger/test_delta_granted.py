"""A delta granted to a budget of epsilon alone: the same charges, another promise, in every store and process."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from curador.accounting.events import ApproxLoss, PureLoss
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger, restore_ledger
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from tests.ledger.conftest import Opener

TENTH = PureLoss(Fraction(1, 10))
BOTH = ApproxLoss(Fraction(1, 10), Fraction(1, 10**7))
DELTA = ApproxDP(0, 1e-6)


def buy(ledger: Book, event: PureLoss | ApproxLoss, scope: str = "people") -> None:
    ledger.settle(ledger.reserve(scope, event).id, b"answer")


def test_what_was_paid_stays_paid_and_a_delta_can_be_spent(opener: Opener) -> None:
    ledger, other = opener(), opener()
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(1), parent="people")
    for book in (ledger, other):
        buy(book, TENTH, "visits")  # both remember prices of one number
        with pytest.raises(NotPromised) as refused:
            buy(book, BOTH, "visits")
        assert refused.value.code == "delta-not-granted"
    for scope in ("visits", "people"):
        with pytest.raises(InvalidParameter, match="needs a reason"):
            ledger.grant(scope, DELTA)
        ledger.grant(scope, DELTA, because="agreed beforehand")
    assert ledger.balance("people").budget == ApproxDP(1, 1e-6)
    for book in (other, ledger):
        buy(book, TENTH, "visits")  # by the other process at its old price, which is the new one with delta 0
        buy(book, BOTH, "visits")
    found = other.balance("visits")
    assert found.spent == ApproxDP(0.6, 2e-7) == other.balance("people").spent
    assert found.remaining == ApproxDP(0.4, 8e-7)
    with pytest.raises(BudgetExceeded, match=r"asked epsilon 0.5 and delta 0, spent epsilon 0.6"):
        buy(opener(), PureLoss(Fraction(1, 2)), "visits")
    with pytest.raises(BudgetExceeded):
        buy(ledger, ApproxLoss(Fraction(1, 10), Fraction(1, 10**6)), "visits")
    assert ledger.verify() > 0
    assert [d.budget for d in ledger.decisions() if d.kind == "raised"] == [ApproxDP(1, 1e-6)] * 2
    assert [c.costs[0] for c in ledger.history("people")][:3] == [(10**11,), (10**11,), (10**11,)]
    assert len(ledger.history("people")) == 6


def test_an_old_price_that_does_not_fit_is_refused_in_the_new_currency(opener: Opener) -> None:
    ledger, other = opener(), opener()
    ledger.open("people", PureDP(1))
    buy(other, TENTH)
    ledger.grant("people", DELTA, because="agreed")
    for _ in range(9):
        buy(other, TENTH)
    with pytest.raises(BudgetExceeded, match=r"asked epsilon 0.1 and delta 0, spent epsilon 1 and delta 0"):
        buy(other, TENTH)
    assert other.balance("people").spent == ApproxDP(1, 0)


@pytest.mark.parametrize(
    ("budget", "more"), [(PureDP(1), ZCDP(1)), (ZCDP(1), DELTA), (ApproxDP(1, 1e-6), PureDP(1)), (ZCDP(1), PureDP(1))]
)
def test_no_other_currency_can_change(budget: Guarantee, more: Guarantee) -> None:
    ledger = open_ledger("memory:")
    ledger.open("people", budget)
    with pytest.raises(InvalidParameter):
        ledger.grant("people", more, because="wished")
    assert ledger.balance("people").budget == budget


def test_a_copy_from_before_the_grant_is_restored_with_its_delta(quick: Path) -> None:
    address: dict[str, Any] = {"address": f"sqlite:///{quick}/x.db", "keep": f"{quick}/keep"}
    ledger = open_ledger(**address)
    ledger.open("people", PureDP(1))
    buy(ledger, TENTH)
    ledger.close()
    shutil.copy(quick / "x.db", quick / "copy.db")
    ledger = open_ledger(**address)
    buy(ledger, TENTH)  # an anchor line of one number, then of two
    ledger.grant("people", DELTA, because="agreed")
    buy(ledger, BOTH)
    ledger.close()
    for left in quick.glob("x.db*"):
        left.unlink()
    shutil.copy(quick / "copy.db", quick / "x.db")
    restore_ledger(**address, because="the disk failed")
    ledger = open_ledger(**address)
    found = ledger.balance("people")
    assert (found.budget, found.spent) == (ApproxDP(1, 1e-6), ApproxDP(0.3, 1e-7))
    assert not found.closed
    buy(ledger, BOTH)
    assert ledger.verify() > 0
    ledger.close()
