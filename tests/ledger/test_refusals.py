"""Refusals carry a code and facts, so that programs need not read their words."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from curador.accounting.events import ApproxLoss, Composed, GaussianNoise, PureLoss
from curador.accounting.filters import open_filter
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter
from curador.ledger.book import Book
from curador.ledger.posting import Definition, definition
from curador.privacy import ApproxDP, PureDP
from tests.ledger.conftest import Opener

TENTH = PureLoss(Fraction(1, 10))
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def ledger(fresh: Opener) -> Book:
    made = fresh(clock=lambda: NOW)
    made.open("people", PureDP(1))
    made.open("ana", PureDP(0.3), parent="people")
    return made


def refusal(kind: type[CuradorError], act: Any, *arguments: Any, **options: Any) -> tuple[str, dict[str, object]]:
    with pytest.raises(kind) as refused:
        act(*arguments, **options)
    json.dumps(dict(refused.value.facts))  # a server sends them
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.code, again.facts) == (refused.value.code, refused.value.facts)
    return refused.value.code, dict(refused.value.facts)


def test_too_small_a_budget(ledger: Book) -> None:
    ledger.reserve("ana", TENTH)
    code, facts = refusal(BudgetExceeded, ledger.reserve, "ana", PureLoss(Fraction(1, 4)))
    assert code == "budget-exceeded"
    assert facts == {
        "scope": "ana",
        "asked": {"kind": "pure", "epsilon": 0.25},
        "spent": {"kind": "pure", "epsilon": 0.1},
        "remaining": {"kind": "pure", "epsilon": 0.2},
    }


def test_a_delta_above_one_is_asked_as_one(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", ApproxDP(1, 1e-6))
    event = Composed(((ApproxLoss(Fraction(1, 10), Fraction(9, 10)), 3),))
    code, facts = refusal(BudgetExceeded, ledger.reserve, "people", event)
    assert code == "budget-exceeded"
    assert facts["asked"] == {"kind": "approximate", "epsilon": 0.3, "delta": 1.0}


def test_an_order_that_is_spent_is_not_among_those_that_remain(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", ApproxDP(1, 1e-6), rule="renyi-any", orders=[16, 64])
    code, facts = refusal(BudgetExceeded, ledger.reserve, "people", GaussianNoise(Fraction(1), Fraction(1)))
    assert code == "budget-exceeded"
    assert [order for order, _ in facts["remaining"]["curve"]] == [16.0, 64.0]  # type: ignore[index]


def test_closed_and_expired_budgets(ledger: Book) -> None:
    end = NOW - timedelta(days=1)
    ledger.open("bea", PureDP(1), expires=end)
    ledger.revoke("ana")
    assert refusal(BudgetExceeded, ledger.reserve, "ana", TENTH) == ("budget-closed", {"scope": "ana"})
    assert refusal(BudgetExceeded, ledger.reserve, "bea", TENTH) == (
        "budget-expired",
        {"scope": "bea", "expires": end.isoformat()},
    )


def test_a_key_of_another_question(ledger: Book) -> None:
    ledger.reserve("ana", TENTH, key="k", fingerprint="q")
    found = refusal(InvalidParameter, ledger.reserve, "ana", TENTH, key="k", fingerprint="r")
    assert found == ("key-reused", {"key": "k"})


def test_names_that_are_taken_or_unknown(ledger: Book) -> None:
    assert refusal(InvalidParameter, ledger.open, "ana", PureDP(1)) == ("budget-exists", {"scope": "ana"})
    assert refusal(InvalidParameter, ledger.balance, "eva") == ("budget-unknown", {"scope": "eva"})
    assert refusal(InvalidParameter, ledger.answer, "9") == ("charge-unknown", {"charge": "9"})
    assert refusal(InvalidParameter, ledger.register, "t", "t.csv") == ("table-unknown", {"table": "t"})
    charge = ledger.reserve("ana", TENTH)
    ledger.settle(charge.id, b"x")
    assert refusal(InvalidParameter, ledger.settle, charge.id, b"y") == ("charge-settled", {"charge": "1"})


def test_a_ledger_that_counts_in_other_units() -> None:
    text = Definition.of(open_filter(PureDP(1)), Fraction(0)).to_json()
    assert definition(json.dumps(text)).promise == PureDP(1)
    assert refusal(InvalidParameter, definition, json.dumps({**text, "units": [1]}))[0] == "ledger-format-unknown"
