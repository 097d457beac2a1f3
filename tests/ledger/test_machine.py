"""A Hypothesis state machine drives each store against a model that knows nothing but sums."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter
from curador.ledger import book, history, pricing
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger
from curador.ledger.stores.rows import CHARGE, QUESTION
from curador.privacy import PureDP

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass
class Scope:
    """What the model knows of a scope, in hundredths."""

    parent: str | None
    ceiling: int
    spent: int = 0
    closed: bool = False
    ends: int | None = None


@dataclass
class Bought:
    """What the model knows of a charge."""

    cost: int
    fingerprint: str | None
    key: str | None
    paid: set[str]
    answer: bytes | None = None


@dataclass
class Model:
    hour: int = 0
    scopes: dict[str, Scope] = field(default_factory=dict)
    charges: list[Bought] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)  # fingerprint -> charge
    keys: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    again: dict[tuple[str, str], int] = field(default_factory=dict)  # fingerprint and scope -> its own charge

    def paid(self, scope: str, number: int, fingerprint: str) -> int | None:
        """The charge with which a scope has paid for an answer."""
        known = (number, self.again.get((fingerprint, scope)), self.answered.get(fingerprint))
        return next((n for n in known if n is not None and scope in self.charges[n].paid), None)

    def path(self, *names: str | None) -> set[str]:
        found: set[str] = set()
        for name in names:
            while name is not None:
                found.add(name)
                name = self.scopes[name].parent
        return found

    def shut(self, scope: str) -> bool:
        known = self.scopes[scope]
        return known.closed or (known.ends is not None and self.hour >= known.ends)

    def fits(self, path: set[str], cost: int) -> bool:
        return all(self.scopes[s].spent + cost <= self.scopes[s].ceiling for s in path)


NAMES = st.sampled_from(["people", "visits", "bills", "team", "ana", "bea"])
RECEIVERS = st.sampled_from(["ana", None, "bea"])
KEYS = st.sampled_from([None, "k", "l"])
COSTS = st.integers(1, 40)
# The cost belongs to the fingerprint, as in a curator's.
QUESTIONS = st.sampled_from([("q", 10), ("r", 25), None])


class LedgerMachine(RuleBasedStateMachine):
    def __init__(self, address: dict[str, Any]) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="curador-machine-", dir="/dev/shm"))
        self.address = address
        if address["address"] == "sqlite":
            self.address = {"address": self.folder / "x.db"}
        elif address["address"] != "memory:":
            self.address = {**address, "keep": self.folder / "keep", "schema": f"m{uuid.uuid4().hex[:12]}"}
        self.model = Model()
        self.ledger = self.opened()

    def opened(self) -> Book:
        return open_ledger(**self.address, clock=lambda: START + self.model.hour * HOUR)

    def teardown(self) -> None:
        self.ledger.verify()
        self.ledger.close()
        shutil.rmtree(self.folder)

    @initialize()
    def start(self) -> None:
        self.open("people", None, 300, None)
        self.open("visits", "people", 400, None)
        self.open("team", "people", 200, 10)
        self.open("ana", "team", 100, None)

    def open(self, name: str, parent: str | None, ceiling: int, ends: int | None) -> None:
        until = None if ends is None else START + ends * HOUR
        self.ledger.open(name, PureDP(ceiling / 100), parent=parent, expires=until)
        self.model.scopes[name] = Scope(parent, ceiling, ends=ends)

    @rule(name=NAMES, parent=NAMES, ceiling=st.integers(10, 250), ends=st.none() | st.integers(1, 20))
    def opens(self, name: str, parent: str, ceiling: int, ends: int | None) -> None:
        if name in self.model.scopes or parent not in self.model.scopes:
            with pytest.raises(InvalidParameter):
                self.open(name, parent, ceiling, ends)
        else:
            self.open(name, parent, ceiling, ends)

    @rule(name=NAMES, more=COSTS)
    def grants(self, name: str, more: int) -> None:
        if name not in self.model.scopes:
            return
        if self.model.shut(name):
            with pytest.raises(BudgetExceeded):
                self.ledger.grant(name, PureDP(more / 100))
        else:
            self.ledger.grant(name, PureDP(more / 100))
            self.model.scopes[name].ceiling += more

    @rule(name=st.sampled_from(["bills", "bea", "team"]))
    def revokes(self, name: str) -> None:
        if name in self.model.scopes:
            self.ledger.revoke(name)
            self.model.scopes[name].closed = True

    @rule()
    def waits(self) -> None:
        self.model.hour += 1

    @rule(
        scopes=st.just(["visits"]) | st.lists(NAMES, min_size=1, max_size=2),
        cost=COSTS,
        question=QUESTIONS,
        key=KEYS,
        receiver=RECEIVERS,
    )
    def reserves(
        self, scopes: list[str], cost: int, question: tuple[str, int] | None, key: str | None, receiver: str | None
    ) -> None:
        self.reserve(scopes, cost, question, key, receiver)

    def reserve(
        self, scopes: list[str], cost: int, question: tuple[str, int] | None, key: str | None, receiver: str | None
    ) -> None:
        model = self.model
        if not {*scopes, *([receiver] if receiver else [])} <= model.scopes.keys() or (key and not question):
            return
        fingerprint, cost = question or (None, cost)
        event = PureLoss(Fraction(cost, 100))

        def ask() -> Any:
            return self.ledger.reserve(scopes, event, fingerprint=fingerprint, key=key, receiver=receiver)

        if key in model.keys and model.keys[key][0] != fingerprint:
            with pytest.raises(InvalidParameter):
                ask()
            return
        old = model.keys[key][1] if key in model.keys else None
        old = model.answered.get(fingerprint or "") if old is None else old
        if old is not None and fingerprint is not None:
            line = model.path(receiver)
            owing = {s for s in line if model.paid(s, old, fingerprint) is None}
            if any(map(model.shut, line)) or not model.fits(owing, cost):
                with pytest.raises(BudgetExceeded):
                    ask()
                return
            charge = ask()
            binds = model.keys[key][1] is None if key in model.keys else bool(owing)
            shown = old
            if owing:
                shown, answer = len(model.charges), model.charges[old].answer
                model.charges.append(Bought(cost, fingerprint, key if binds else None, owing, answer))
                model.again |= {(fingerprint, scope): shown for scope in owing}
            elif receiver is not None:
                paid = model.paid(receiver, old, fingerprint)
                assert paid is not None
                shown = paid
            assert (charge.repeated, charge.id, set(charge.scopes)) == (True, str(shown + 1), owing)
            assert self.ledger.answer(charge.id) == model.charges[shown].answer
            if key is not None and binds:
                model.keys[key] = (fingerprint, shown if owing else old)
        else:
            owing = model.path(*scopes, receiver)
            if any(map(model.shut, owing)) or not model.fits(owing, cost):
                with pytest.raises(BudgetExceeded):
                    ask()
                return
            charge = ask()
            model.charges.append(Bought(cost, fingerprint, key, owing))
            assert (charge.repeated, charge.id, set(charge.scopes)) == (False, str(len(model.charges)), owing)
            if key is not None and fingerprint is not None:
                model.keys.setdefault(key, (fingerprint, None))
        for scope in owing:
            model.scopes[scope].spent += cost

    @precondition(lambda self: self.model.charges)
    @rule(data=st.data(), answer=st.binary(max_size=8))
    def settles(self, data: st.DataObject, answer: bytes) -> None:
        charges = self.model.charges
        open_ = [n for n, c in enumerate(charges) if c.answer is None]
        self.settle(data.draw(st.sampled_from(open_[-2:] or [0]) | st.integers(0, len(charges) - 1)), answer)

    @rule(question=QUESTIONS, key=KEYS, receiver=RECEIVERS)
    def retries(self, question: tuple[str, int] | None, key: str | None, receiver: str | None) -> None:
        """Asked twice before either is answered; then the second is answered first."""
        before = len(self.model.charges)
        for _ in range(2):
            self.reserve(["visits"], 10, question, key, receiver)
        for number in reversed(range(before, len(self.model.charges))):
            self.settle(number, f"answer {number}".encode())

    def settle(self, number: int, answer: bytes) -> None:
        model = self.model
        bought = model.charges[number]
        if bought.answer is not None:
            with pytest.raises(InvalidParameter):
                self.ledger.settle(str(number + 1), answer)
            return
        first = model.keys[bought.key][1] if bought.key is not None else None
        told = self.ledger.settle(str(number + 1), answer)
        if first is not None:
            assert told == model.charges[first].answer
            return
        assert told == answer
        bought.answer = answer
        if bought.fingerprint is not None:
            model.answered.setdefault(bought.fingerprint, number)
        if bought.key is not None:
            model.keys[bought.key] = (bought.fingerprint or "", number)

    @precondition(lambda self: self.address["address"] != "memory:")
    @rule()
    def opens_again(self) -> None:
        self.ledger.close()
        self.ledger = self.opened()

    @invariant()
    def balances_are_sums(self) -> None:
        model = self.model
        for name, scope in model.scopes.items():
            balance = self.ledger.balance(name)
            assert balance.state.spent == (scope.spent * 10**10,)
            assert balance.state.ceiling == (scope.ceiling * 10**10,)
            assert scope.spent == sum(c.cost for c in model.charges if name in c.paid)
            line = model.path(name)
            left = (
                0 if any(map(model.shut, line)) else min(model.scopes[s].ceiling - model.scopes[s].spent for s in line)
            )
            assert balance.remaining == PureDP(left / 100)
        answers = [self.ledger.answer(str(n + 1)) for n in range(len(model.charges))]
        assert answers == [c.answer for c in model.charges]
        for scope_ in (None, "people", "ana"):
            whole = self.ledger.history(scope_)
            for last in (0, 1, 3, len(whole), len(whole) + 1):
                assert self.ledger.history(scope_, last=last) == whole[max(0, len(whole) - last) :]


def drive(address: dict[str, Any], examples: int, phases: Sequence[Phase] = tuple(Phase)) -> None:
    factory: Any = lambda: LedgerMachine(address)  # noqa: E731  what the function wants is called a class there
    run_state_machine_as_test(
        factory,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_in_memory() -> None:
    drive({"address": "memory:"}, 60)


def test_sqlite() -> None:
    drive({"address": "sqlite"}, 25)


def test_postgresql(postgres_url: str) -> None:
    drive({"address": postgres_url}, 10)


# ---- ledgers that are wrong --------------------------------------------------------------------------------------


def gives_a_receiver_what_it_did_not_pay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Book, "_path", lambda self, scopes, right=Book._path: () if scopes == "ana" else right(self, scopes))


def ignores_ends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Book, "_open_definition", lambda self, rows, scope, at="": self._row(rows, scope)[2])


def recomputes_for_free(patch: pytest.MonkeyPatch) -> None:
    """A charge without an answer is taken for one with."""
    right = history.answered_charge

    def answered(rows: Any, key: str | None, fingerprint: str | None) -> int | None:
        found = right(rows, key, fingerprint)
        open_ = [c[0] for c in rows.scan(CHARGE) if fingerprint is not None and c[3] == fingerprint]
        return found if found is not None else (open_ or [None])[0]

    patch.setattr(history, "answered_charge", answered)


def lets_a_key_have_two_answers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(book, "REQUEST", QUESTION)


def checks_only_the_leaves(patch: pytest.MonkeyPatch) -> None:
    def leaves(scopes: object, parent: object) -> tuple[str, ...]:
        return (scopes,) if isinstance(scopes, str) else tuple(set(cast("list[str]", scopes)))

    patch.setattr(pricing, "lineage", leaves)


@pytest.mark.parametrize(
    "mutant",
    [
        gives_a_receiver_what_it_did_not_pay,
        ignores_ends,
        recomputes_for_free,
        lets_a_key_have_two_answers,
        checks_only_the_leaves,
    ],
)
def test_a_wrong_ledger_is_caught(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception, CuradorError, BaseExceptionGroup)):
        drive({"address": "memory:"}, 300, phases=[Phase.generate])  # found is enough, it need not be small
