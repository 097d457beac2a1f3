"""A ledger that lives as long as its process: for tests, rehearsals and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from types import MappingProxyType

from curador.accounting.costs import Rule
from curador.accounting.events import Event
from curador.accounting.filters import Filter, open_filter
from curador.errors import InvalidParameter
from curador.ledger.contract import (
    Balance,
    Charge,
    charged,
    lineage,
    price,
    scope_name,
    settled_twice,
    unknown_charge,
    unknown_scope,
)
from curador.privacy import Guarantee, Neighbors
from curador.rational import Number

_NOTHING: Mapping[str, object] = MappingProxyType({})


class MemoryLedger:
    """Scopes and charges in memory, behind one lock.

    Guarantee: charges of any number of threads are checked and spent one after another; the ceilings hold together.
    Fails: a process that ends forgets what it spent, so no budget here outlives the data's exposure.

    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> _ = ledger.open("visits", PureDP(1), parent="people")
    >>> charge = ledger.reserve("visits", PureLoss("0.25"))
    >>> ledger.settle(charge.id, b"[3]")
    >>> ledger.balance("people").spent, ledger.answer(charge.id)
    (PureDP(epsilon=0.25), b'[3]')
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._parents: dict[str, str | None] = {}
        self._states: dict[str, Filter] = {}
        self._charges: dict[str, Charge] = {}
        self._answers: dict[str, bytes] = {}

    def open(
        self,
        scope: str,
        budget: Guarantee,
        *,
        parent: str | None = None,
        neighbors: Neighbors | str | None = None,
        rule: Rule | str | None = None,
        aside: Number = 0,
        orders: Iterable[float] = (),
    ) -> Balance:
        name = scope_name(scope)
        above = None if parent is None else self._state(parent).neighbors
        about = Neighbors(neighbors) if neighbors is not None else above or Neighbors.ADD_REMOVE
        if above not in (None, about):
            raise InvalidParameter(
                f"{name!r} is about {about.value} neighbours and {parent!r} about {above.value}.",
                fix="Give both the same neighbours, or open the scope without a parent.",
            )
        state = open_filter(budget, about, rule=rule, aside=aside, orders=orders)
        with self._lock:
            if name in self._states:
                raise InvalidParameter(f"There is a budget called {name!r} already.", fix="Choose another name.")
            self._parents[name], self._states[name] = parent, state
        return self.balance(name)

    def reserve(
        self,
        scopes: str | Sequence[str],
        event: Event,
        *,
        promise: Guarantee | None = None,
        note: Mapping[str, object] = _NOTHING,
    ) -> Charge:
        path = lineage(scopes, self._parent)
        # A currency never changes, so prices may be worked out before the lock is taken.
        costs = tuple(price(self._states[scope], event, promise) for scope in path)
        with self._lock:
            after = {
                scope: charged(scope, self._states[scope], amount) for scope, amount in zip(path, costs, strict=True)
            }
            charge = Charge(str(len(self._charges) + 1), path, costs, event, promise, MappingProxyType(dict(note)))
            self._states |= after
            self._charges[charge.id] = charge
        return charge

    def settle(self, charge: str, answer: bytes) -> None:
        with self._lock:
            found = self._charge(charge)
            if found.settled:
                raise settled_twice(charge)
            self._charges[charge] = replace(found, settled=True)
            self._answers[charge] = bytes(answer)

    def answer(self, charge: str) -> bytes | None:
        self._charge(charge)
        return self._answers.get(charge)

    def balance(self, scope: str) -> Balance:
        with self._lock:  # one moment for the whole path
            path = lineage(scope, self._parent)
            balance = None
            for name in path:
                balance = Balance(name, self._states[name], balance)
        assert balance is not None
        return balance

    def history(self, scope: str | None = None) -> tuple[Charge, ...]:
        if scope is not None:
            self._state(scope)
        with self._lock:
            return tuple(c for c in self._charges.values() if scope is None or scope in c.scopes)

    def _state(self, scope: str) -> Filter:
        if scope not in self._states:
            raise unknown_scope(scope)
        return self._states[scope]

    def _parent(self, scope: str) -> str | None:
        self._state(scope)
        return self._parents[scope]

    def _charge(self, charge: str) -> Charge:
        if charge not in self._charges:
            raise unknown_charge(charge)
        return self._charges[charge]
