"""Grants, revocation, expiry, and what a table's name stands for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from curador.accounting.events import ApproxLoss, GaussianNoise, PureLoss
from curador.errors import BudgetExceeded, InvalidParameter
from curador.ledger.book import Book
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP
from tests.ledger.conftest import Opener

TENTH = PureLoss(Fraction(1, 10))


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(fresh: Opener, clock: Clock) -> Book:
    made = fresh(clock=clock)
    made.open("people", PureDP(1))
    made.open("ana", PureDP(0.3), parent="people")
    return made


# ---- grants ------------------------------------------------------------------------------------------------------


def test_a_grant_raises_the_ceiling_and_keeps_what_is_spent(ledger: Book) -> None:
    for _ in range(3):
        ledger.reserve("ana", TENTH)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("ana", TENTH)
    after = ledger.grant("ana", PureDP(0.1), because="a second question")
    assert (after.budget, after.spent, after.remaining) == (PureDP(0.4), PureDP(0.3), PureDP(0.1))
    ledger.reserve("ana", TENTH)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("ana", TENTH)
    ledger.verify()


@pytest.mark.parametrize(
    ("budget", "options", "more", "ceiling"),
    [
        (ApproxDP(1, 1e-6), {}, ApproxDP(1, 0), (2 * 10**12, 10**12)),
        (ZCDP(1), {}, ZCDP(0.5, 1e-9), (15 * 10**11, 10**9)),
        (RenyiDP({2: 1, 8: 2}), {}, RenyiDP({2: 1, 8: 0}), (2 * 10**12, 2 * 10**12)),
    ],
)
def test_a_grant_in_every_currency(
    fresh: Opener, budget: Guarantee, options: dict[str, str], more: Guarantee, ceiling: tuple[int, ...]
) -> None:
    ledger = fresh()
    ledger.open("people", budget, **options)  # type: ignore[arg-type]
    assert ledger.grant("people", more).state.ceiling == ceiling


def test_a_grant_to_a_converted_budget_converts_the_sum(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", ApproxDP(1, 1e-6), rule="zcdp", reserved_delta=1e-7)
    ledger.open("larger", ApproxDP(2, 2e-6), rule="zcdp", reserved_delta=1e-7)
    assert ledger.grant("people", ApproxDP(1, 1e-6)).state.ceiling == ledger.balance("larger").state.ceiling
    ledger.open("orders", ApproxDP(1, 1e-6), rule="renyi-any", orders=[8, 32])
    ledger.open("more orders", ApproxDP(2, 2e-6), rule="renyi-any", orders=[8, 32])
    assert ledger.grant("orders", ApproxDP(1, 1e-6)).state.ceiling == ledger.balance("more orders").state.ceiling


@pytest.mark.parametrize("more", [ApproxDP(1, 0), ZCDP(1), RenyiDP({2: 1})])
def test_a_grant_of_another_kind_is_refused(ledger: Book, more: Guarantee) -> None:
    with pytest.raises(InvalidParameter):
        ledger.grant("people", more)
    assert ledger.balance("people").budget == PureDP(1)


def test_a_ceiling_that_no_database_holds_is_refused(fresh: Opener) -> None:
    with pytest.raises(InvalidParameter, match="too large"):
        fresh().open("people", PureDP(10**7))


def test_an_order_that_is_not_needed_does_not_overflow(fresh: Opener) -> None:
    """A rule that needs one order lets the others grow; a database's integers end."""
    ledger = fresh()
    ledger.open("people", ApproxDP(10**6, 1e-6), rule="renyi-any", orders=[1.5, 10**6])
    huge = GaussianNoise(sigma=Fraction(1, 3), sensitivity=Fraction(1))  # order a costs 4.5 a
    for _ in range(2):
        ledger.reserve("people", huge)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("people", huge)
    assert ledger.balance("people").state.spent[1] > ledger.balance("people").state.ceiling[1]
    ledger.verify()


# ---- revocation, expiry ----------------------------------------------------------------------------------------------


def test_what_is_revoked_buys_nothing_nor_does_what_is_below(ledger: Book) -> None:
    ledger.open("ana's student", PureDP(0.2), parent="ana")
    ledger.reserve("ana's student", TENTH)
    ledger.revoke("ana", because="she left")
    for scope in ("ana", "ana's student"):
        with pytest.raises(BudgetExceeded, match="'ana' was closed"):
            ledger.reserve(scope, TENTH)
        assert ledger.balance(scope).remaining == PureDP(0)
    with pytest.raises(BudgetExceeded, match="closed"):
        ledger.grant("ana", PureDP(1))
    assert ledger.balance("people").spent == PureDP(0.1)
    ledger.reserve("people", TENTH)


def test_a_scope_ends_when_it_expires(ledger: Book, clock: Clock) -> None:
    """A budget for a period: a scope that ends with it."""
    ledger.open("ana 2026-11", PureDP(0.5), parent="people", expires=datetime(2026, 12, 1, tzinfo=UTC))
    ledger.reserve("ana 2026-11", TENTH)
    clock.time += timedelta(days=29, hours=23)
    ledger.reserve("ana 2026-11", TENTH)
    clock.time += timedelta(hours=1)
    with pytest.raises(BudgetExceeded, match="ended on 2026-12-01"):
        ledger.reserve("ana 2026-11", TENTH)
    assert ledger.balance("ana 2026-11").remaining == PureDP(0)
    assert ledger.balance("people").spent == PureDP(0.2)


def test_an_end_without_a_zone_is_refused(ledger: Book) -> None:
    with pytest.raises(InvalidParameter, match="zone"):
        ledger.open("bea", PureDP(1), expires=datetime(2026, 12, 1))


# ---- a join, and beside-scopes ---------------------------------------------------------------------------------------


def test_a_join_charges_all_its_tables_or_none(ledger: Book) -> None:
    ledger.open("visits", PureDP(1), parent="people")
    ledger.open("bills", PureDP(0.05), parent="people")
    with pytest.raises(BudgetExceeded, match="'bills'"):
        ledger.reserve(["visits", "bills"], TENTH, receiver="ana")
    assert {s: ledger.balance(s).spent for s in ledger.scopes()} == dict.fromkeys(ledger.scopes(), PureDP(0))


def test_currencies_may_differ_along_a_path(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", ApproxDP(1, 1e-6))
    ledger.open("ana", PureDP(1), parent="people")
    ledger.open("bea", ZCDP(1), parent="people")
    charge = ledger.reserve(["ana", "bea"], TENTH)
    assert charge.costs[:2] == ((10**11, 0), (10**11,))
    assert 0 < charge.costs[2][0] < 10**10  # rho of epsilon 0.1 is below 0.1^2 / 2
    ledger.reserve("bea", ApproxLoss(Fraction(1, 10), Fraction(0)))
    ledger.verify()


# ---- what a table's name stands for ----------------------------------------------------------------------------------


def test_registering_again_finds_the_same(ledger: Book) -> None:
    first = ledger.register("visits", "visits.parquet", scope="people")
    assert ledger.register("visits", "visits.parquet") == first
    assert (first.scope, first.version) == ("people", 1)


def test_reloading_moving_and_renaming_keep_the_budget(ledger: Book) -> None:
    first = ledger.register("visits", "a.parquet", scope="people")
    reloaded = ledger.register("visits", "a.parquet", reloaded=True)
    moved = ledger.register("visits", "b.parquet")
    renamed = ledger.register("stays", "b.parquet")
    assert {r.scope for r in (first, reloaded, moved, renamed)} == {"people"}
    assert {r.data for r in (first, reloaded, moved, renamed)} == {first.data}
    assert [r.version for r in (first, reloaded, moved, renamed)] == [1, 2, 3, 4]


def test_an_old_source_taken_again_is_another_version(ledger: Book) -> None:
    """Otherwise an answer about the second source would be repeated for the first."""
    ledger.register("visits", "a", scope="people")
    at_b = ledger.register("visits", "b")
    assert ledger.register("visits", "a").version > at_b.version


def test_a_new_budget_is_a_decision_with_a_reason(ledger: Book) -> None:
    old = ledger.register("visits", "a", scope="people")
    ledger.open("people 2027", PureDP(1))
    with pytest.raises(InvalidParameter, match="renew"):
        ledger.register("visits", "a", scope="people 2027")
    with pytest.raises(InvalidParameter, match="reason"):
        ledger.renew("visits", "people 2027", because=" ")
    new = ledger.renew("visits", "people 2027", because="none of last year's people are in it")
    assert (new.scope, new.data != old.data, new.version > old.version) == ("people 2027", True, True)
    assert ledger.register("visits", "a") == new


def test_a_name_of_one_and_a_source_of_another_are_refused(ledger: Book) -> None:
    ledger.register("visits", "a", scope="people")
    ledger.register("bills", "b", scope="ana")
    with pytest.raises(InvalidParameter, match="different data"):
        ledger.register("visits", "b")


@pytest.mark.parametrize("scope", [None, "nobody"])
def test_a_new_table_needs_a_scope_that_is_there(ledger: Book, scope: str | None) -> None:
    with pytest.raises(InvalidParameter):
        ledger.register("visits", "a", scope=scope)
