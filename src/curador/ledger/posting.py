"""From entries to balances: how each kind of entry changes the derived rows.

The same rules run when a charge is made and when the history is replayed, so that ``verify`` can compare the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from curador.accounting.filters import Filter, open_filter
from curador.accounting.rules.costs import Cost, Currency, Rule
from curador.errors import InvalidParameter
from curador.ledger.entries import (
    AccessEnded,
    AccessGiven,
    Entry,
    Failed,
    Granted,
    Json,
    Opened,
    Registered,
    Repeated,
    Reserved,
    Restored,
    Revoked,
    Settled,
    Texts,
    definition_text,
    digest,
    plain,
    seal,
    written,
)
from curador.ledger.pricing import LARGEST, covers, exceeded
from curador.ledger.stores.rows import (
    ACCESS,
    BALANCE,
    CHARGE,
    DATA,
    FORMER,
    NAMED,
    PAID,
    PROMISED,
    QUESTION,
    REQUEST,
    RUNNING,
    SCOPE,
    SOURCED,
    DbRow,
    Head,
    Rows,
    row_of,
)
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP, guarantee_from_json

STATE = (SCOPE, BALANCE, NAMED, SOURCED, DATA, FORMER, PROMISED, ACCESS)
"""The tables that do not grow with the number of charges: what a history comes to."""

EVERYTHING = ""
"""The name of no scope: its row is there, and closed, if no scope can be opened here any more."""


# ---- definitions and balances of scopes ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Definition:
    """The currency, promise and neighbours of a scope.

    A grant can change the promise; and a pure currency into the approximate one, by a delta.
    """

    currency: Currency
    guarantee: Guarantee
    neighbors: Neighbors
    reserved_delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, state: Filter, reserved_delta: Fraction) -> Definition:
        return cls(state.currency, state.guarantee, state.neighbors, reserved_delta)

    def to_json(self) -> dict[str, object]:
        """A plain dictionary, which :func:`definition` reads back from its text."""
        return {
            "rule": self.currency.rule.value,
            "orders": list(self.currency.orders),
            "units": list(self.currency.units),
            "guarantee": self.guarantee.to_json(),
            "neighbors": self.neighbors.value,
            "reserved_delta": str(self.reserved_delta),
        }

    @property
    def every(self) -> bool:
        """Whether every number must stay within its ceiling, rather than one."""
        return self.currency.rule is not Rule.RENYI_ANY

    def raised(self, more: Guarantee) -> Filter:
        """A fresh filter for the promise plus ``more``, in the same currency; a delta makes a pure one approximate."""
        if self.currency.rule is Rule.PURE and isinstance(self.guarantee, PureDP) and isinstance(more, ApproxDP):
            return opened(ApproxDP(self.guarantee.epsilon, 0) + more, self.neighbors, None, Fraction(0), ())
        counted = self.currency.rule in (Rule.RENYI_ANY, Rule.ZCDP, Rule.APPROXIMATE)
        orders = self.currency.orders if self.currency.rule is Rule.RENYI_ANY else ()
        rule = self.currency.rule if counted else None
        return opened(self.guarantee + more, self.neighbors, rule, self.reserved_delta, orders)


@lru_cache(maxsize=256)
def opened(
    budget: Guarantee,
    neighbors: Neighbors,
    rule: Rule | str | None,
    reserved_delta: Fraction,
    orders: tuple[float, ...],
) -> Filter:
    """A fresh filter whose ceiling a database can hold."""
    state = open_filter(budget, neighbors, rule=rule, reserved_delta=reserved_delta, orders=orders)
    if max(state.ceiling) > LARGEST:
        raise InvalidParameter(
            f"{budget!r} is too large for a budget.", fix="A loss of millions promises nothing; choose less."
        )
    return state


@lru_cache(maxsize=256)
def described(state: Filter, reserved_delta: Fraction) -> Json:
    """The definition of a fresh filter as a plain dictionary; many scopes have the same."""
    return Definition.of(state, reserved_delta).to_json()


@lru_cache(maxsize=1024)
def definition(text: str) -> Definition:
    """Read back the text of :meth:`Definition.to_json`."""
    data = json.loads(text)
    currency = Currency(Rule(data["rule"]), tuple(data["orders"]))
    if tuple(data["units"]) != currency.units:
        raise InvalidParameter(
            f"This ledger counts in units of 1/{data['units']}.",
            fix="Read it with the version that wrote it.",
            code="ledger-format-unknown",
        )
    return Definition(
        currency, guarantee_from_json(data["guarantee"]), Neighbors(data["neighbors"]), Fraction(data["reserved_delta"])
    )


def state(rows: Rows, scope: str, text: str) -> Filter:
    """A scope's filter with its current balances."""
    spent, ceiling = _balance(rows, scope, len(definition(text).currency.names))
    return _filter(text, ceiling, spent)


@lru_cache(maxsize=1024)
def _filter(text: str, ceiling: Cost, spent: Cost) -> Filter:
    """The filter of a definition with these balances; scopes that were just opened have the same."""
    about = definition(text)
    return Filter(about.currency, about.guarantee, about.neighbors, ceiling, spent)


def check(rows: Rows, scope: str, text: str, amount: Cost) -> None:
    """Refuse a charge that a scope does not cover."""
    for part, more in enumerate(amount):
        row = rows.get(BALANCE, scope, part)
        if row is None or row[2] + more > row[3]:
            break
    else:
        return  # within every ceiling: that is enough by every rule, and ceilings fit a database
    width = len(definition(text).currency.names)
    amount = (*amount, *(0,) * (width - len(amount)))  # priced before a pure budget got its delta
    spent, ceiling = _balance(rows, scope, width)
    if not covers(definition(text).currency.rule, ceiling, spent, amount):
        raise exceeded(scope, state(rows, scope, text), amount)


def _balance(rows: Rows, scope: str, width: int) -> tuple[Cost, Cost]:
    parts = [row_of(rows, BALANCE, scope, part) for part in range(width)]
    return tuple(row[2] for row in parts), tuple(row[3] for row in parts)


# ---- appending and posting -----------------------------------------------------------------------------------------


def append(rows: Rows, key: bytes, entry: Entry, at: str, skip: int = 0, texts: Texts | None = None) -> int:
    """Write a sealed entry and post it; ``skip`` leaves out numbers that were lost.

    ``texts`` are the parts of a Reserved that are written already.
    """
    before, charges, last, latest = rows.head
    sequence = before + 1 + skip
    if at < latest:  # a clock that is set back takes nothing back
        at = latest
    line = texts.line(entry, at) if texts is not None and isinstance(entry, Reserved) else written(entry, at)
    rows.append(Head(sequence, charges_after(entry, charges), seal(key, last, sequence, line), at), line, entry)
    post(entry, rows)
    return sequence


def charges_after(entry: Entry, before: int) -> int:
    """How many charges there are after an entry; a restore leaves out the numbers of those that were lost.

    >>> charges_after(Settled(7, ""), 7), charges_after(Restored("a fire", 9, {}), 7)
    (7, 9)
    """
    if isinstance(entry, Reserved):
        return entry.charge
    return entry.charges if isinstance(entry, Restored) else before


def post(entry: Entry, rows: Rows) -> None:
    """Update the derived rows for an entry that was just written."""
    _RULES[type(entry)](entry, rows)


def _open(entry: Opened, rows: Rows) -> None:
    text = definition_text(entry.definition)
    rows.put(SCOPE, entry.scope, entry.parent, text, entry.expires, 0)
    _promise(rows, entry)
    every = int(definition(text).every)
    for part, ceiling in enumerate(entry.ceiling):
        rows.put(BALANCE, entry.scope, part, 0, ceiling, every)


def _grant(entry: Granted, rows: Rows) -> None:
    _, parent, _, expires, closed = _scope(rows, entry.scope)
    rows.put(SCOPE, entry.scope, parent, plain(entry.definition), expires, closed)
    _promise(rows, entry)
    for part, ceiling in enumerate(entry.ceiling):
        # A pure budget that is given a delta has spent none of it: what it paid were sums of (epsilon, 0).
        new = (entry.scope, part, 0, ceiling, int(definition(plain(entry.definition)).every))
        _, _, spent, _, every = rows.get(BALANCE, entry.scope, part) or new
        rows.put(BALANCE, entry.scope, part, spent, ceiling, every)


def _revoke(entry: Revoked, rows: Rows) -> None:
    _close(rows, entry.scope)


def _reserve(entry: Reserved, rows: Rows) -> None:
    rows.put(CHARGE, entry.charge, rows.head.sequence, entry.request, entry.fingerprint)
    if entry.request is not None and rows.get(REQUEST, entry.request) is None:
        rows.put(REQUEST, entry.request, entry.fingerprint, None)
    if entry.owner:
        rows.put(RUNNING, entry.fingerprint, entry.charge, entry.owner)
    if entry.resold:
        for scope in entry.scopes:
            rows.put(QUESTION, resold(entry.fingerprint, scope), entry.charge)
    _pay(rows, entry.charge, entry.scopes, entry.costs)


def resold(fingerprint: str | None, scope: str) -> str:
    """The name under which the charge is found with which a scope paid for an answer that others had bought.

    It is no question's own name: names have no line ends.
    """
    return f"{fingerprint}\n{scope}"


def payment(rows: Rows, scope: str, number: int, fingerprint: str | None) -> DbRow | None:
    """The row of what a scope paid for the stored answer of a charge: with it, or with another one for the same."""
    names = () if fingerprint is None else (resold(fingerprint, scope), fingerprint)
    others = (found[1] for name in names if (found := rows.get(QUESTION, name)) is not None)
    return next((row for one in (number, *others) if (row := rows.get(PAID, scope, one)) is not None), None)


def _repeat(entry: Repeated, rows: Rows) -> None:
    if entry.request is not None:
        rows.put(REQUEST, entry.request, entry.fingerprint, entry.charge)
    _pay(rows, entry.charge, entry.scopes, entry.costs)


def _settle(entry: Settled, rows: Rows) -> None:
    _, _, request, fingerprint = row_of(rows, CHARGE, entry.charge)
    if fingerprint is not None and rows.get(QUESTION, fingerprint) is None:
        rows.put(QUESTION, fingerprint, entry.charge)
    if request is not None:
        rows.put(REQUEST, request, fingerprint, entry.charge)


def _fail(entry: Failed, rows: Rows) -> None:
    _, _, _, fingerprint = rows.get(CHARGE, entry.charge) or ()
    running = None if fingerprint is None else rows.get(RUNNING, fingerprint)
    if running is not None and running[1] == entry.charge:
        rows.put(RUNNING, fingerprint, entry.charge, None)


def _register(entry: Registered, rows: Rows) -> None:
    before = rows.get(DATA, named[1]) if (named := rows.get(NAMED, entry.name)) is not None else None
    if before is not None and before[1] not in ("", entry.scope) and rows.get(FORMER, entry.name, entry.scope) is None:
        rows.put(FORMER, entry.name, entry.scope, before[1])
    rows.put(NAMED, entry.name, entry.data, entry.source)
    for source in (entry.source, *entry.alike):
        rows.put(SOURCED, source, entry.data)
    rows.put(DATA, entry.data, entry.scope, entry.version, entry.unit)


def _give_access(entry: AccessGiven, rows: Rows) -> None:
    about = (entry.role, entry.who, entry.label, entry.expires, int(entry.once), entry.charge)
    rows.put(ACCESS, entry.token, *about, entry.login, entry.secret, 0)


def _end_access(entry: AccessEnded, rows: Rows) -> None:
    rows.put(ACCESS, *row_of(rows, ACCESS, entry.token)[:-1], 1)


def _restore(entry: Restored, rows: Rows) -> None:
    for table in STATE:
        for row in entry.rows.get(table.name, ()):
            rows.put(table, *row)


def promise_digest(text: str) -> str:
    """What stands for a budget in a key: one of many orders is longer than the keys of some databases."""
    return digest(text.encode())


def _promise(rows: Rows, entry: Opened | Granted) -> None:
    rows.put(PROMISED, entry.scope, promise_digest(definition_text(entry.definition["guarantee"])), rows.head.sequence)


def _scope(rows: Rows, scope: str) -> tuple[str, str | None, str, str | None, int]:
    name, parent, text, expires, closed = row_of(rows, SCOPE, scope)
    return name, parent, text, expires, closed


def _close(rows: Rows, scope: str) -> None:
    name, parent, text, expires, _ = _scope(rows, scope)
    rows.put(SCOPE, name, parent, text, expires, 1)


def _pay(rows: Rows, charge: int, scopes: Sequence[str], costs: Sequence[Sequence[int]]) -> None:
    get, put, entry = rows.get, rows.put, rows.head.sequence
    for scope, cost in zip(scopes, costs, strict=True):
        for part, amount in enumerate(cost):
            _, _, spent, ceiling, every = get(BALANCE, scope, part) or row_of(rows, BALANCE, scope, part)
            put(BALANCE, scope, part, spent + amount, ceiling, every)
        put(PAID, scope, charge, entry)


_RULES: dict[type[Entry], Callable[[Any, Rows], None]] = {
    Opened: _open,
    Granted: _grant,
    Revoked: _revoke,
    Reserved: _reserve,
    Repeated: _repeat,
    Settled: _settle,
    Failed: _fail,
    Registered: _register,
    AccessGiven: _give_access,
    AccessEnded: _end_access,
    Restored: _restore,
}
