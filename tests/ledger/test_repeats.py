"""The same question is answered again byte for byte: free for the population, paid by those who did not have it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, InvalidParameter
from curador.ledger.book import Book
from curador.ledger.contract import Charge
from curador.ledger.entries import Repeated, now
from curador.ledger.posting import append
from curador.ledger.stores.rows import ENTRY, Rows
from curador.privacy import PureDP
from tests.ledger.conftest import Opener

TENTH = PureLoss(Fraction(1, 10))


@pytest.fixture
def ledger(fresh: Opener) -> Book:
    made = fresh()
    made.open("people", PureDP(1))
    made.open("visits", PureDP(1), parent="people")
    made.open("team", PureDP(0.5), parent="people")
    made.open("ana", PureDP(0.2), parent="team")
    made.open("bea", PureDP(0.2), parent="team")
    made.open("eva", PureDP(0.2), parent="people")
    return made


def ask(ledger: Book, receiver: str | None = None, key: str | None = None, question: str = "q at version 1") -> bytes:
    """What a curator does; each time the noise is another."""
    charge = ledger.reserve("visits", TENTH, fingerprint=question, receiver=receiver, key=key)
    if charge.repeated:
        return ledger.answer(charge.id) or b""
    return ledger.settle(charge.id, f"noise {charge.id}".encode())


def spent(ledger: Book) -> dict[str, float]:
    return {scope: ledger.balance(scope).state.spent[0] / 10**11 for scope in ledger.scopes()}


def test_who_pays_for_an_answer_that_is_there(ledger: Book) -> None:
    answer = ask(ledger, "ana")
    assert spent(ledger) == {"people": 1, "visits": 1, "team": 1, "ana": 1, "bea": 0, "eva": 0}
    assert ask(ledger, "ana") == answer
    assert spent(ledger) == {"people": 1, "visits": 1, "team": 1, "ana": 1, "bea": 0, "eva": 0}
    assert ask(ledger, "bea") == answer  # her team has paid, she has not
    assert spent(ledger) == {"people": 1, "visits": 1, "team": 1, "ana": 1, "bea": 1, "eva": 0}
    assert ask(ledger, "eva") == ask(ledger) == answer
    assert spent(ledger) == {"people": 1, "visits": 1, "team": 1, "ana": 1, "bea": 1, "eva": 1}
    assert [c.id for c in ledger.history("bea")] == ["2"]  # her own number
    assert [(c.repeated, c.receiver, c.scopes) for c in ledger.history()] == [
        (False, "ana", ("people", "team", "visits", "ana")),
        (True, "bea", ("bea",)),
        (True, "eva", ("eva",)),
    ]
    ledger.verify()


def test_a_group_pays_once_for_all_its_members(ledger: Book) -> None:
    ask(ledger)
    ask(ledger, "ana")
    ask(ledger, "bea")
    assert spent(ledger) == {"people": 1, "visits": 1, "team": 1, "ana": 1, "bea": 1, "eva": 0}


def test_another_version_is_another_question(ledger: Book) -> None:
    assert ask(ledger, question="q at version 1") != ask(ledger, question="q at version 2")
    assert spent(ledger)["people"] == 2


def test_who_cannot_pay_does_not_get_it(ledger: Book) -> None:
    ask(ledger)
    for n in range(2):
        ask(ledger, "eva", question=f"other {n}")
    with pytest.raises(BudgetExceeded, match="'eva'"):
        ask(ledger, "eva")
    ledger.revoke("bea")
    with pytest.raises(BudgetExceeded, match="closed"):
        ask(ledger, "bea")


def test_who_was_revoked_does_not_get_even_what_was_paid(ledger: Book) -> None:
    ask(ledger, "ana")
    ledger.revoke("team")
    with pytest.raises(BudgetExceeded, match="'team' was closed"):
        ask(ledger, "ana")


def test_an_answer_outlives_the_budget_of_its_table(ledger: Book) -> None:
    answer = ask(ledger)
    ledger.revoke("visits")
    assert ask(ledger, "eva") == answer


def test_a_charge_without_an_answer_answers_nothing(ledger: Book) -> None:
    lost = ledger.reserve("visits", TENTH, fingerprint="q", key="k")
    again = ledger.reserve("visits", TENTH, fingerprint="q", key="k")
    assert (again.repeated, again.id == lost.id) == (False, False)
    assert spent(ledger)["people"] == 2


def test_one_key_one_answer_also_when_the_slower_comes_back(ledger: Book) -> None:
    slow = ledger.reserve("visits", TENTH, fingerprint="q", key="k")
    quick = ledger.reserve("visits", TENTH, fingerprint="q", key="k")
    assert ledger.settle(quick.id, b"quick") == b"quick"
    assert ledger.settle(slow.id, b"slow") == b"quick"
    assert ledger.answer(slow.id) is None
    assert ask(ledger, key="k", question="q") == b"quick"
    assert spent(ledger)["people"] == 2
    ledger.verify()


def test_one_key_one_answer_also_when_another_answered_the_question(ledger: Book) -> None:
    slow = ledger.reserve("visits", TENTH, fingerprint="q", key="k")
    other = ask(ledger, question="q")
    assert ask(ledger, key="k", question="q") == other
    assert ledger.settle(slow.id, b"slow") == other
    ledger.verify()


def test_a_key_that_was_answered_from_the_store_for_a_price_belongs_to_that_question(ledger: Book) -> None:
    ask(ledger, question="q")
    answer = ask(ledger, "eva", question="q", key="k")
    with pytest.raises(InvalidParameter, match="another question"):
        ask(ledger, "eva", question="r", key="k")
    assert ask(ledger, "eva", question="q", key="k") == answer
    assert (spent(ledger)["people"], spent(ledger)["eva"]) == (1, 1)
    ledger.verify()


@pytest.mark.parametrize("who", ["ana", None])
def test_what_pays_nothing_leaves_nothing(ledger: Book, who: str | None) -> None:
    answer = ask(ledger, who, key="first")
    before, entries = spent(ledger), ledger.verify()
    for n in range(10):
        assert ask(ledger, who, key=f"key {n}") == ask(ledger, who, key="first") == answer
    assert (spent(ledger), ledger.verify()) == (before, entries)


def test_a_key_under_which_nothing_was_paid_buys_once(ledger: Book) -> None:
    """As where the request is sent again when the data has another version: its first try was free, the second pays."""
    old = ask(ledger, "ana", question="q at version 1")
    assert ask(ledger, "ana", question="q at version 1", key="k") == old
    new = ask(ledger, "ana", question="q at version 2", key="k")
    assert (new != old, spent(ledger)["ana"]) == (True, 2)
    assert ask(ledger, "ana", question="q at version 2", key="k") == new
    with pytest.raises(InvalidParameter, match="another question"):
        ask(ledger, "ana", question="q at version 3", key="k")
    assert spent(ledger)["ana"] == 2
    ledger.verify()


def test_a_repeat_that_only_binds_its_key_has_no_note_of_its_own(ledger: Book) -> None:
    def reserve(key: str | None) -> Charge:
        note = {"because": "x" * 2000}
        return ledger.reserve("visits", TENTH, fingerprint="q", receiver="eva", key=key, note=note)

    slow, quick = reserve("k"), reserve(None)
    ledger.settle(quick.id, b"quick")
    again = reserve("k")
    assert (again.repeated, again.scopes, again.note) == (True, (), quick.note)
    assert ledger.settle(slow.id, b"slow") == b"quick"  # one key, one answer
    entries = ledger.verify()
    assert (reserve("k").repeated, ledger.verify()) == (True, entries)
    shown = ledger.history()[-1]
    assert (shown.id, shown.repeated, shown.note) == (quick.id, True, quick.note)  # as its buyer said it then
    lines = ledger._store.read(lambda rows: [str(row[-1]) for row in rows.scan(ENTRY)])
    assert [len(line) > 2000 for line in lines if '"charge":2' in line] == [True, False, False]


def test_the_note_of_another_is_not_shown_where_a_repeat_has_none(ledger: Book) -> None:
    ledger.settle(ledger.reserve("visits", TENTH, fingerprint="q", note={"because": "a secret"}).id, b"1")
    ledger.reserve("visits", TENTH, fingerprint="q", receiver="eva")
    assert ledger.history("eva")[-1].note == {}


def test_a_receiver_sees_the_same_whether_or_not_another_bought_it_before(ledger: Book) -> None:
    """All but the answer and what others paid: numbers, times, notes, their order, and what is free."""
    ask(ledger, "ana", question="bought")
    seen: list[Any] = []
    for who, question in (("bea", "bought"), ("eva", "new")):
        start, shown = ledger.count(), list[Any]()
        for n, asked in enumerate((f"first of {who}", question, question)):
            charge = ledger.reserve("visits", TENTH, fingerprint=asked, receiver=who, note={"n": n}, key=f"{who} {n}")
            stored = ledger.answer(charge.id) if charge.repeated else ledger.settle(charge.id, b"noise")
            shown.append((int(charge.id) - start, charge.note, who in charge.scopes, stored is not None))
        found = ledger.history(who)
        shown += [(int(one.id) - start, one.note, one.settled, one.receiver == who) for one in found]
        shown += [ledger.charge(one.id, who).note for one in found]
        assert [one.at for one in found] == sorted(one.at for one in found)
        assert all(ledger.answer(one.id) is not None for one in found)
        seen.append(shown)
    assert seen[0] == seen[1]
    with pytest.raises(InvalidParameter, match="No charge"):
        ledger.charge("1", "bea")
    ledger.verify()


def test_what_an_older_version_wrote_of_a_repeat_still_counts(ledger: Book) -> None:
    """It paid under the number of the first charge, and stays free."""
    answer = ask(ledger, question="q")
    old = Repeated(1, ["eva"], [[10**11]], "eva", note={"because": "mine"})
    ledger._store.write(lambda rows: append(rows, ledger._key, old, now().isoformat()))
    before, entries = spent(ledger), ledger.verify()
    assert ask(ledger, "eva", question="q") == answer
    assert (spent(ledger), ledger.verify(), before["eva"]) == (before, entries, 1)
    assert [(c.id, c.note) for c in ledger.history("eva")] == [("1", {"because": "mine"})]


@pytest.mark.parametrize("charge", ["0", "2", "x", "-1", "9" * 40])
def test_a_charge_that_is_not_there(ledger: Book, charge: str) -> None:
    ask(ledger)
    with pytest.raises(InvalidParameter, match="No charge"):
        ledger.settle(charge, b"x")
    with pytest.raises(InvalidParameter, match="No charge"):
        ledger.answer(charge)


def test_a_key_with_another_question_is_refused(ledger: Book) -> None:
    ledger.reserve("visits", TENTH, fingerprint="q", key="k")
    with pytest.raises(InvalidParameter, match="another question"):
        ledger.reserve("visits", TENTH, fingerprint="r", key="k")
    assert spent(ledger)["people"] == 1


def test_a_key_needs_a_question(ledger: Book) -> None:
    with pytest.raises(InvalidParameter, match="fingerprint"):
        ledger.reserve("visits", TENTH, key="k")


def test_a_fingerprint_with_another_event_is_refused(ledger: Book) -> None:
    ask(ledger)
    with pytest.raises(InvalidParameter, match="another event"):
        ledger.reserve("visits", PureLoss(Fraction(1, 20)), fingerprint="q at version 1")


def test_two_who_ask_the_same_at_once_both_pay_and_the_first_answer_stays(ledger: Book) -> None:
    one = ledger.reserve("visits", TENTH, fingerprint="q")
    two = ledger.reserve("visits", TENTH, fingerprint="q")
    ledger.settle(two.id, b"two")
    ledger.settle(one.id, b"one")
    assert ask(ledger, question="q") == b"two"
    assert spent(ledger)["people"] == 2


def test_an_answer_is_kept_once(ledger: Book) -> None:
    charge = ledger.reserve("visits", TENTH)
    ledger.settle(charge.id, b"1")
    with pytest.raises(InvalidParameter, match="already"):
        ledger.settle(charge.id, b"2")
    assert ledger.answer(charge.id) == b"1"


def test_no_transaction_reads_past_its_own_rows(ledger: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would wait for itself where another process has written the file, and keep all others out for ever."""
    store, inside = ledger._store, [False]
    time, read = ledger._time, store.read

    def begun(rows: Rows) -> str:
        inside[0] = True
        ledger._forget_prices()  # as by another thread's grant, in this very moment
        return time(rows)

    def looked(*given: Any, **more: Any) -> Any:
        assert not inside[0]
        return read(*given, **more)

    def watched(transaction: Callable[[Rows], Any], *more: Any) -> Any:
        try:
            return write(transaction, *more)
        finally:
            inside[0] = False

    write = store.write
    for name, by in (("write", watched), ("read", looked)):
        monkeypatch.setattr(store, name, by)
    monkeypatch.setattr(ledger, "_time", begun)
    assert ask(ledger, "ana") == ask(ledger, "ana") == ask(ledger, "bea")
    ledger.reserve("visits", TENTH, fingerprint="long", owner="me")
    with pytest.raises(InvalidParameter) as found:
        ledger.reserve("visits", TENTH, fingerprint="long", receiver="eva", owner="you")
    assert found.value.code == "being-answered"
