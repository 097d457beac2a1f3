"""Scopes, charges and refusals; the ceilings under threads: one contract, every store."""

from __future__ import annotations

import contextlib
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.events import ApproxLoss, Event, ExponentialChoice, GaussianNoise, LaplaceNoise, PureLoss
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised
from curador.ledger.contract import Ledger
from curador.ledger.pricing import lineage
from curador.ledger.stores.memory import MemoryLedger
from curador.privacy import ZCDP, ApproxDP, Neighbors, PureDP
from tests.ledger.conftest import Opener

TENTH = PureLoss(Fraction(1, 10))


@pytest.fixture
def ledger(fresh: Opener) -> Ledger:
    made = fresh()
    made.open("people", PureDP(1))
    made.open("visits", PureDP(0.5), parent="people")
    made.open("bills", PureDP(3), parent="people")
    return made


def test_a_charge_falls_on_every_ancestor_once(ledger: Ledger) -> None:
    charge = ledger.reserve(["visits", "bills"], TENTH)
    assert charge.scopes == ("people", "bills", "visits")
    assert charge.costs == ((10**11,),) * 3
    assert ledger.balance("people").spent == PureDP(0.1)
    assert ledger.balance("bills").spent == PureDP(0.1)


def test_a_charge_is_spent_when_reserved_and_stays_spent(ledger: Ledger) -> None:
    charge = ledger.reserve("visits", TENTH)
    assert ledger.answer(charge.id) is None
    assert ledger.balance("visits").remaining == PureDP(0.4)


def test_what_remains_is_no_more_than_what_is_left_above(ledger: Ledger) -> None:
    assert ledger.balance("bills").remaining == PureDP(1)
    for _ in range(5):
        ledger.reserve("visits", TENTH)
    assert ledger.balance("bills").remaining == PureDP(0.5)
    assert ledger.balance("bills").spent == PureDP(0)
    assert ledger.balance("visits").remaining == PureDP(0)


def test_siblings_together_cannot_pass_their_parent(ledger: Ledger) -> None:
    for _ in range(5):
        ledger.reserve("visits", TENTH)
    for _ in range(5):
        ledger.reserve("bills", TENTH)
    with pytest.raises(BudgetExceeded, match="'people'"):
        ledger.reserve("bills", TENTH)


def test_a_refusal_says_asked_spent_and_remaining_and_spends_nothing(ledger: Ledger) -> None:
    ledger.reserve("visits", TENTH)
    with pytest.raises(BudgetExceeded) as refused:
        ledger.reserve("visits", PureLoss(Fraction(9, 20)))
    assert refused.value.what == (
        "The budget of 'visits' does not cover this: asked epsilon 0.45, spent epsilon 0.1, remaining epsilon 0.4."
    )
    assert "nothing was spent" in refused.value.cost
    # The parent would have had room: nothing of the charge may stay there.
    assert ledger.balance("people").spent == PureDP(0.1)
    assert len(ledger.history()) == 1


def test_ten_tenths_are_one_and_no_more(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    for _ in range(10):
        ledger.reserve("people", TENTH)
    assert ledger.balance("people").remaining == PureDP(0)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("people", PureLoss(Fraction(1, 10**15)))


def test_a_cost_is_rounded_up(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    assert ledger.reserve("people", PureLoss(Fraction(1, 3))).costs == ((333_333_333_334,),)


def test_an_answer_is_kept_once(ledger: Ledger) -> None:
    charge = ledger.reserve("visits", TENTH, note={"question": "how many"})
    ledger.settle(charge.id, b"12")
    assert ledger.answer(charge.id) == b"12"
    (found,) = ledger.history("people")
    assert found.settled
    assert found.note["question"] == "how many"
    with pytest.raises(InvalidParameter, match="already"):
        ledger.settle(charge.id, b"13")
    assert ledger.answer(charge.id) == b"12"


def test_history_is_told_by_scope_and_in_order(ledger: Ledger) -> None:
    first, second = ledger.reserve("visits", TENTH), ledger.reserve("bills", TENTH)
    assert [c.id for c in ledger.history()] == [first.id, second.id]
    assert [c.id for c in ledger.history("bills")] == [second.id]


def test_what_is_not_there_is_refused(ledger: Ledger) -> None:
    with pytest.raises(InvalidParameter, match="'vists'"):
        ledger.reserve("vists", TENTH)
    with pytest.raises(InvalidParameter):
        ledger.reserve([], TENTH)
    with pytest.raises(InvalidParameter):
        ledger.settle("99", b"")
    with pytest.raises(InvalidParameter):
        ledger.answer("99")
    with pytest.raises(InvalidParameter):
        ledger.open("visits", PureDP(1))
    with pytest.raises(InvalidParameter):
        ledger.open("x", PureDP(1), parent="nobody")
    with pytest.raises(InvalidParameter):
        ledger.open("a\nb", PureDP(1))


def test_neighbours_are_one_thing_along_a_path(ledger: Ledger) -> None:
    with pytest.raises(InvalidParameter, match="neighbours"):
        ledger.open("other", PureDP(1), parent="people", neighbors="replace")
    with pytest.raises(InvalidParameter, match="neighbours"):
        ledger.reserve("visits", PureLoss(Fraction(1, 10), Neighbors.REPLACE))
    assert not ledger.history()


GAUSS = GaussianNoise(sigma=Fraction(10), sensitivity=Fraction(1))
KEYS = ApproxLoss(Fraction(1, 10), Fraction(1, 10**7))


@pytest.mark.parametrize(
    ("budget", "event", "guarantee", "cost"),
    [
        (PureDP(1), TENTH, PureDP(1), (10**11,)),  # the event itself, where it can be expressed
        (ApproxDP(1, 1e-6), TENTH + KEYS, None, (2 * 10**11, 10**11)),
        (ApproxDP(1, 1e-6), GAUSS, ApproxDP(0.4, 1e-6), (4 * 10**11, 10**12)),
        (ZCDP(1), GAUSS, ApproxDP(0.4, 1e-6), (5 * 10**9, 0)),
        (ZCDP(1), ExponentialChoice(Fraction(2, 10)), None, (5 * 10**9, 0)),
    ],
)
def test_the_price_in_each_currency(
    budget: PureDP | ApproxDP | ZCDP,
    event: Event,
    guarantee: PureDP | ApproxDP | None,
    cost: tuple[int, ...],
    fresh: Opener,
) -> None:
    ledger = fresh()
    ledger.open("people", budget)
    assert ledger.reserve("people", event, guarantee=guarantee).costs == (cost,)


@pytest.mark.parametrize(("budget", "event"), [(PureDP(1), KEYS), (PureDP(1), GAUSS), (ApproxDP(1, 1e-6), GAUSS)])
def test_a_scope_refuses_what_it_cannot_express(budget: PureDP | ApproxDP, event: Event, fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", budget)
    with pytest.raises(NotPromised):
        ledger.reserve("people", event)
    assert ledger.balance("people").spent == type(budget)(*[0] * len(ledger.balance("people").state.spent))


def test_threads_cannot_pass_the_ceiling_together(fresh: Opener) -> None:
    ledger = fresh()
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(1), parent="people")
    bought, start = [], threading.Barrier(8)
    hundredth = LaplaceNoise(scale=Fraction(100), sensitivity=Fraction(1))

    def buy() -> None:
        start.wait()
        for _ in range(50):
            with contextlib.suppress(BudgetExceeded):
                bought.append(ledger.reserve("visits", hundredth).id)

    threads = [threading.Thread(target=buy) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(bought) == len(set(bought)) == 100
    assert ledger.balance("people").remaining == PureDP(0)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, 40)), max_size=30))
def test_balances_are_the_sums_of_what_was_bought(asks: list[tuple[str, int]]) -> None:
    """Against a model: a charge is accepted exactly if it fits everywhere above, and balances never go down."""
    above = {"a": ("root",), "b": ("root",), "c": ("b", "root"), "root": ()}
    ceiling = {"root": 100, "a": 50, "b": 80, "c": 200}
    ledger = MemoryLedger()
    ledger.open("root", PureDP(1))
    ledger.open("a", PureDP(0.5), parent="root")
    ledger.open("b", PureDP(0.8), parent="root")
    ledger.open("c", PureDP(2), parent="b")
    model = dict.fromkeys(ceiling, 0)
    for scope, hundredths in asks:
        path = (scope, *above[scope])
        fits = all(model[s] + hundredths <= ceiling[s] for s in path)
        try:
            ledger.reserve(scope, PureLoss(Fraction(hundredths, 100)))
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            model |= {s: model[s] + hundredths for s in path}
        assert {s: ledger.balance(s).state.spent for s in model} == {s: (x * 10**10,) for s, x in model.items()}


def test_lineage_orders_parents_first() -> None:
    above = {"root": None, "b": "root", "a": "b", "z": "root"}
    assert lineage(["a", "z"], above.__getitem__) == ("root", "b", "z", "a")


def test_names_that_begin_alike_are_left_out_of_registrations(ledger: Ledger) -> None:
    names = ["a", "analyst", "analyst:", "analyst:b", "analyst:é", "analyst;", "b", "é"]
    for name in reversed(names):
        ledger.register(name, f"{name}.csv", scope="people")
    assert [known.table for known in ledger.registrations()] == names
    assert [known.table for known in ledger.registrations(without="analyst:")] == ["a", "analyst", "analyst;", "b", "é"]
