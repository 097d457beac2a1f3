"""What a history comes to without its charges: every scope, what it has spent, and every table's registration.

The anchor keeps this outside the database, so that a restore brings back all that an older copy has forgotten.
Decisions are kept as they were written, and charges as sums.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Protocol

from curador.accounting.rules.costs import Cost
from curador.errors import LedgerBroken
from curador.ledger.entries import Entry, Failed, Repeated, Reserved, Restored, Sealed, Settled, read, seal
from curador.ledger.posting import EVERYTHING, STATE, definition, post
from curador.ledger.pricing import covers
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.rows import (
    ACCESS,
    BALANCE,
    DATA,
    FORMER,
    NAMED,
    PROMISED,
    RESTORE,
    SCOPE,
    SOURCED,
    DbRow,
    Head,
    Rows,
    RowTable,
    as_bytes,
    row_of,
)

StateRows = Mapping[str, Iterable[DbRow]]
"""Rows of these tables, by the name of the table."""


# ---- the entries after a mark --------------------------------------------------------------------------------------


class Newer(Protocol):
    """The end of a history, from which the entries after a mark are taken."""

    def after(self, mark: Head, key: bytes) -> Iterable[Sealed]:
        """The entries after a mark; LedgerBroken unless they follow it."""
        ...


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """Entries as they are in the database: each must carry its seal."""

    rows: Sequence[DbRow]

    def after(self, mark: Head, key: bytes) -> Iterator[Sealed]:
        newer = (row for row in self.rows if row[0] > mark.sequence)
        return ((number, line, mac, read(line)[0]) for number, _, _, mac, line in chained(newer, key, mark.mac))


@dataclass(frozen=True, slots=True)
class OwnEntries:
    """Entries that this process has sealed, one after the other, after a head: the mark must be that or one of them."""

    before: Head
    made: Sequence[Sealed]

    def after(self, mark: Head, key: bytes) -> Sequence[Sealed]:
        place = sum(one[0] <= mark.sequence for one in self.made) if mark.sequence > self.before.sequence else 0
        last = self.made[place - 1][2] if place else self.before.mac
        if last != mark.mac:
            raise not_following(mark.sequence)
        return self.made[place:]


@dataclass(frozen=True, slots=True)
class Change:
    """What some entries did: decisions (number, line, and what it says), and what each scope paid since a restore."""

    decisions: tuple[tuple[int, str, Entry], ...]
    paid: Mapping[str, Cost]


def changed(entries: Iterable[Sealed]) -> Change:
    """What entries did.

    >>> changed([(7, "", b"", Reserved(1, ["people"], [[5]], {})), (8, "", b"", Settled(1, ""))])
    Change(decisions=(), paid={'people': (5,)})
    """
    decisions: list[tuple[int, str, Entry]] = []
    paid: dict[str, Cost] = {}
    for sequence, line, _, entry in entries:
        if isinstance(entry, (Reserved, Repeated)):
            payments = zip(entry.scopes, entry.costs, strict=True)
            if paid:
                _pay(paid, payments)
            else:
                paid = {scope: tuple(cost) for scope, cost in payments}  # each scope of a path is there once
        elif not isinstance(entry, (Settled, Failed)):
            decisions.append((sequence, line, entry))
            if isinstance(entry, Restored):
                paid = _unstated(paid, entry)
    return Change(tuple(decisions), paid)


def added(changes: Iterable[Change]) -> Change:
    """What changes did, one after the other."""
    decisions: list[tuple[int, str, Entry]] = []
    paid: dict[str, Cost] = {}
    for change in changes:
        for decision in change.decisions:
            decisions.append(decision)
            if isinstance(decision[2], Restored):
                paid = _unstated(paid, decision[2])
        _pay(paid, change.paid.items())
    return Change(tuple(decisions), paid)


def _unstated(paid: Mapping[str, Cost], restore: Restored) -> dict[str, Cost]:
    """What was paid before a restore, but for the parts of balances that it states, with all that was paid before."""
    stated = {(row[0], row[1]) for row in restore.rows.get("balance", ())}
    return {
        scope: tuple(0 if (scope, part) in stated else amount for part, amount in enumerate(cost))
        for scope, cost in paid.items()
    }


def _pay(paid: dict[str, Cost], more: Iterable[tuple[str, Sequence[int]]]) -> None:
    for scope, cost in more:
        before = paid.get(scope)
        if before is None:
            paid[scope] = tuple(cost)
        elif len(before) == len(cost) == 1:
            paid[scope] = (before[0] + cost[0],)
        else:
            # Of different lengths where a pure budget was given a delta in between.
            paid[scope] = tuple(a + b for a, b in zip_longest(before, cost, fillvalue=0))


def apply(change: Change, rows: MemoryRows) -> None:
    """Do what entries did to rows that hold what was before them."""
    for sequence, _, entry in change.decisions:
        rows.head = Head(sequence, rows.head.charges, rows.head.mac)
        post(entry, rows)
    for scope, cost in change.paid.items():
        for part, amount in enumerate(cost):
            _, _, spent, ceiling, every = row_of(rows, BALANCE, scope, part)
            rows.put(BALANCE, scope, part, spent + amount, ceiling, every)
    rows.savepoint()


def state_rows(rows: Rows) -> dict[str, list[DbRow]]:
    """All rows of the tables that do not grow with the number of charges."""
    return {table.name: list(rows.scan(table)) for table in STATE}


def from_state(state: Mapping[str, Any]) -> MemoryRows:
    """Rows again, from :func:`state_rows` after a way through JSON.

    What was sold is counted, also where rows that were put back or changed by hand let more be sold than a ceiling is.
    """
    rows = MemoryRows(b"", checked=False)
    for table in STATE:
        for row in state.get(table.name, ()):
            rows.put(table, *row)
    rows.savepoint()
    return rows


def chained(entries: Iterable[DbRow], key: bytes, after: bytes) -> Iterator[DbRow]:
    """The entries that follow a seal.

    Fails: LedgerBroken at the first that does not carry the right seal.
    """
    for sequence, charges, at, mac, line in entries:
        if line is None or not hmac.compare_digest(seal(key, after, sequence, line), as_bytes(mac)):
            raise not_following(sequence)
        after = as_bytes(mac)
        yield sequence, charges, at, after, line


def not_following(sequence: int) -> LedgerBroken:
    """The refusal of an entry that does not follow what was seen before it."""
    return LedgerBroken(
        f"This ledger was changed by another program: entry {sequence} does not carry its seal.",
        fix=RESTORE,
        code="ledger-tampered",
        facts={"entry": sequence},
    )


# ---- an older copy brought to it ------------------------------------------------------------------------------------


def restored(copy: Rows, known: tuple[Head, Rows] | None, because: str, *, apart: bool = False) -> Restored:
    """The entry that brings an older copy to what the anchor knows, or closes everything if it knows nothing.

    A copy whose end was cut off is part of what the anchor counted.  One that went its own way (``apart``) is not: then
    both are paid in full, and what the two say differently is closed.
    """
    if known is None:
        every = [*_closed(copy.scan(SCOPE)), (EVERYTHING, None, "", None, 1)]
        ended = [(*row[:-1], 1) for row in copy.scan(ACCESS) if not row[-1]]  # nobody knows which were ended since
        return Restored(because, copy.head.charges, {"scope": every, **({"access": ended} if ended else {})})
    head, then = known
    merged = _Merged(copy, then, apart=apart)
    merged.scopes()
    merged.tables()
    merged.access()
    over = [head.sequence, head.mac.hex()]
    return Restored(because, max(head.charges, copy.head.charges), merged.rows(), over)


def _closed(scopes: Iterable[DbRow]) -> list[DbRow]:
    return [(*scope[:4], 1) for scope in scopes]


class _Merged:
    """The rows of a copy with what the anchor knows; ``apart`` if the copy went its own way."""

    def __init__(self, copy: Rows, then: Rows, *, apart: bool) -> None:
        self._copy, self._then, self._apart = copy, then, apart
        self._made: dict[RowTable, dict[DbRow, DbRow]] = {table: {} for table in STATE}

    def rows(self) -> dict[str, list[DbRow]]:
        """All rows that differ from the copy's."""
        found: dict[str, list[DbRow]] = {}
        for table, made in self._made.items():
            new = [made[key] for key in sorted(made) if self._copy.get(table, *key) != made[key]]
            if new:
                found[table.name] = new
        return found

    def _put(self, table: RowTable, row: DbRow) -> None:
        self._made[table][row[: table.key]] = row

    def _close(self, scope: str) -> None:
        row = self._made[SCOPE].get((scope,)) or self._copy.get(SCOPE, scope)
        if row is not None:
            self._put(SCOPE, (*row[:4], 1))

    # -- scopes

    def scopes(self) -> None:
        for row in self._then.scan(SCOPE):
            ours = self._copy.get(SCOPE, row[0])
            there = list(self._then.scan(BALANCE, row[0]))
            here = list(self._copy.scan(BALANCE, row[0]))
            if ours is None:
                self._put(SCOPE, row)
                self._balance(row, [], there)
            elif self._apart and (ours[1:4] != row[1:4] or len(here) != len(there)):
                self._close(row[0])
            elif len(here) > len(there):  # given a delta that the anchor has never seen: it went its own way
                self._put(SCOPE, (*ours[:4], 1))
                for mine, theirs in zip(here, there, strict=False):
                    self._put(BALANCE, (*mine[:2], min(max(mine[2], theirs[2]), mine[3]), *mine[3:]))
            else:
                self._put(SCOPE, (*row[:4], max(ours[4], row[4])))
                self._balance(row, here, there)
        for row in self._copy.scan(SCOPE):
            if self._then.get(SCOPE, row[0]) is None:  # the anchor has never seen it
                self._close(row[0])

    def _put_all(self, table: RowTable, rows: Iterable[DbRow]) -> None:
        for row in rows:
            self._put(table, row)

    def _balance(self, scope: DbRow, here: list[DbRow], there: list[DbRow]) -> None:
        if len(here) > len(there) or not there:
            self._close(scope[0])
            return
        # A copy from before a pure budget was given a delta has spent none of it.
        before = [row[2] for row in here] + [0] * (len(there) - len(here))
        together = zip(before, (row[2] for row in there), strict=True)
        spent = tuple(a + b if self._apart else max(a, b) for a, b in together)
        ceiling = tuple(row[3] for row in there)
        if covers(definition(scope[2]).currency.rule, ceiling, spent, (0,) * len(spent)):
            self._put_all(BALANCE, [(*b[:2], s, *b[3:]) for b, s in zip(there, spent, strict=True)])
        else:  # more than was promised was sold, of rows that were changed by hand or in two ways
            full = [(*b[:2], min(s, b[3]), *b[3:]) for b, s in zip(there, spent, strict=True)]
            self._put_all(BALANCE, full)
            self._close(scope[0])

    # -- tables

    def tables(self) -> None:
        for table in (DATA, NAMED, SOURCED):
            for row in self._then.scan(table):
                ours = self._copy.get(table, row[0])
                if not self._apart or ours is None:
                    self._put(table, row)
                elif ours[1] != row[1]:  # other data, or another scope: nobody can say any more whose rows these are
                    for data in (ours, row):
                        for rows in (self._copy, self._then):
                            self._close_bound(rows, data[0] if table is DATA else data[1])
        for table in (FORMER, PROMISED):
            known = self._then.scan(table)
            self._put_all(table, (row for row in known if not (self._apart and self._has(table, row))))
        if self._apart:
            # Answers about one history's version of the data are not given for the other's.
            numbers = {row[0] for rows in (self._copy, self._then) for row in rows.scan(DATA)}
            for number in numbers:
                found = [bound for rows in (self._copy, self._then) if (bound := rows.get(DATA, number)) is not None]
                self._put(DATA, (number, found[0][1], max(bound[2] for bound in found) + 1, found[0][3]))

    def access(self) -> None:
        """A token that either history ended, or that only one of two ways knows, opens nothing any more."""
        for row in self._then.scan(ACCESS):
            ours = self._copy.get(ACCESS, row[0])
            ended = self._apart if ours is None else ours[-1] or ours[1:-1] != row[1:-1]
            self._put(ACCESS, (*row[:-1], int(bool(ended or row[-1]))))
        for row in self._copy.scan(ACCESS):
            if self._then.get(ACCESS, row[0]) is None:  # the anchor has never seen it
                self._put(ACCESS, (*row[:-1], 1))

    def _has(self, table: RowTable, row: DbRow) -> bool:
        return self._copy.get(table, *row[: table.key]) is not None

    def _close_bound(self, rows: Rows, number: Any) -> None:
        bound = rows.get(DATA, number)
        if bound is not None:
            self._close(bound[1])
