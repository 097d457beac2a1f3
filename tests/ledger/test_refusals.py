"""Refusals carry a code and facts, so that programs need not read their words."""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from curador.accounting.events import ApproxLoss, Composed, GaussianNoise, PoissonSampled, PureLoss, event_from_json
from curador.accounting.filters import open_filter
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger import pricing
from curador.ledger.book import Book
from curador.ledger.entries import read
from curador.ledger.opening import open_ledger
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


def test_an_entry_of_a_kind_that_is_not_known() -> None:
    line = '{"at":"2026-01-01T00:00:00+00:00","kind":"refund","scope":"people"}'
    assert refusal(LedgerBroken, read, line)[0] == "ledger-format-unknown"


def test_a_ledger_that_counts_in_other_units() -> None:
    text = Definition.of(open_filter(PureDP(1)), Fraction(0)).to_json()
    assert definition(json.dumps(text)).guarantee == PureDP(1)
    assert refusal(InvalidParameter, definition, json.dumps({**text, "units": [1]}))[0] == "ledger-format-unknown"


# ---- ledgers that are broken or cannot be reached --------------------------------------------------------------------


@pytest.fixture
def file(quick: Path) -> Path:
    """A ledger file with three entries, closed."""
    ledger = open_ledger(quick / "x.db")
    ledger.open("people", PureDP(1))
    ledger.settle(ledger.reserve("people", TENTH).id, b"x")
    ledger.close()
    return quick / "x.db"


def test_an_older_copy(file: Path) -> None:
    shutil.copy(file, file.with_name("old"))
    ledger = open_ledger(file)
    ledger.open("others", PureDP(1))
    ledger.close()
    shutil.copy(file.with_name("old"), file)
    facts = {"entries": 3, "anchored": 4}
    assert refusal(LedgerBroken, open_ledger, file) == ("ledger-behind-anchor", facts)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("anchor", None, "ledger-anchor-missing"),
        ("anchor", "nothing", "ledger-anchor-unreadable"),
        ("key", None, "ledger-key-missing"),
        ("key", "00" * 32, "ledger-key-mismatch"),
    ],
)
def test_a_folder_that_lost_something(file: Path, name: str, content: str | None, code: str) -> None:
    path = file.with_name("x.db.keep") / name
    path.unlink() if content is None else path.write_text(content)
    assert refusal(LedgerBroken, open_ledger, file)[0] == code


def test_a_key_of_another_ledger(file: Path) -> None:
    folder = file.with_name("x.db.keep")
    (folder / "key").write_text("00" * 32)
    (folder / "anchor").unlink()
    assert refusal(LedgerBroken, open_ledger, file)[0] == "ledger-key-mismatch"


def test_a_key_that_others_can_read(file: Path) -> None:
    (file.with_name("x.db.keep") / "key").chmod(0o644)
    assert refusal(LedgerFailed, open_ledger, file)[0] == "ledger-key-exposed"


def test_a_file_that_is_gone_or_another_one(file: Path) -> None:
    ledger = open_ledger(file)
    file.rename(file.with_name("away"))
    assert refusal(LedgerFailed, ledger.balance, "people") == ("ledger-gone", {"file": "x.db"})
    shutil.copy(file.with_name("away"), file)
    assert refusal(LedgerBroken, ledger.balance, "people") == ("ledger-replaced", {"file": "x.db"})
    ledger.close()


def test_a_ledger_that_was_changed_by_another_program(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE balance SET spent = 0")
    connection.close()
    assert refusal(LedgerBroken, open_ledger, file) == ("ledger-tampered", {"table": "balance"})


def test_a_database_of_another_format(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE head SET format = 99")
    connection.close()
    assert refusal(LedgerBroken, open_ledger, file)[0] == "ledger-format-unknown"


def test_a_disk_that_cannot_be_written(quick: Path) -> None:
    found = refusal(LedgerFailed, open_ledger, quick / "nowhere" / "x.db", keep=quick / "keep")
    assert found[0] == "ledger-unavailable"
    (quick / "file").touch()
    found = refusal(LedgerFailed, open_ledger, quick / "x.db", keep=quick / "file")
    assert found == ("ledger-keep-unavailable", {"file": "key"})


def test_half_a_surrogate_pair_names_nothing(fresh: Opener) -> None:
    ledger, half = fresh(), chr(0xD800)
    ledger.open("people", PureDP(1))
    acts: list[Callable[[], object]] = [
        lambda: ledger.reserve(half, PureLoss(Fraction(1, 10))),
        lambda: ledger.reserve("people", PureLoss(Fraction(1, 10)), receiver=half),
        lambda: ledger.balance(half),
        lambda: ledger.grant(half, PureDP(1)),
        lambda: ledger.history(half),
        lambda: ledger.register("t", "t.csv", scope="people", unit=half),
        lambda: ledger.register("t", "t.csv", scope="people", alike=[half]),
    ]
    for act in acts:
        with pytest.raises(InvalidParameter):
            act()
    with suppress(InvalidParameter):  # in memory it is merely unknown
        assert ledger.registered(half, half) is None
    assert ledger.count() == 0
    ledger.verify()


def test_an_event_that_cannot_be_read_again_is_not_bought(ledger: Book) -> None:
    """One with a rate of 500 digits was bought, and nobody could open the ledger any more."""
    hundredth = PureLoss(Fraction(1, 100))
    long = PoissonSampled(hundredth, Fraction("0.0" + "4" * 500 + "7"))
    assert event_from_json(long.to_json()) == long
    ledger.reserve("ana", long)
    longer = PureLoss(Fraction(1, 100))  # as arithmetic on two numbers that are short enough may give
    object.__setattr__(longer, "epsilon", Fraction(2**9000 + 1, 100 * 2**9000))
    for event in (longer, Composed(((longer, 2),))):
        assert refusal(InvalidParameter, ledger.reserve, "ana", event)[0] == "number-too-long"
        assert refusal(InvalidParameter, pricing._readable, event)[0] == "event-unreadable"
    assert ledger.count() == 1
    ledger.verify()
