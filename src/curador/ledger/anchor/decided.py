"""Scopes and tokens as sealed entries say them, whatever the tables of the database hold.

Derived tables are compared with the entries when a ledger is opened and when it is verified.  Whoever can write to the
database could change a row in between, and change it back: a token of their own would open the server meanwhile.  So
who may come in, and what lies above a scope, is not read from those tables.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import takewhile
from threading import Lock
from typing import NoReturn

from curador.errors import LedgerBroken
from curador.forks import after_fork
from curador.ledger.anchor.log import Anchor
from curador.ledger.anchor.summary import Change, apply, chained, not_following
from curador.ledger.entries import AccessEnded, AccessGiven, Entry, Granted, Opened, Restored, Revoked, read
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.rows import ACCESS, AFTER, ENTRY, RESTORE, SCOPE, DbRow, Head, Rows, RowTable, paged

DECISIONS: tuple[type[Entry], ...] = (Opened, Granted, Revoked, AccessGiven, AccessEnded, Restored)

_KINDS = tuple(f'"kind":"{decision.kind}"' for decision in DECISIONS)


class Stated:
    """What was decided, as the tables say it: where nobody else can write to them."""

    def scope(self, rows: Rows, name: str) -> DbRow | None:
        """The row of a scope."""
        return rows.get(SCOPE, name)

    def sound(self, rows: Rows, name: str) -> DbRow | None:
        """The stored row of a scope; refused if it says something else: what is decided next would seal it."""
        row = rows.get(SCOPE, name)
        if self.scope(rows, name) != row:
            rows.require(AFTER)  # what was decided may be newer than a snapshot; in what writes it is not
            refuse_changed(SCOPE, name)
        return row

    def kept(self, rows: Rows, name: str) -> DbRow | None:
        """The row of a scope, as it was decided; refused if it was taken out of the table, or put there."""
        row = self.scope(rows, name)
        if (row is None) != (rows.get(SCOPE, name) is None):
            rows.require(AFTER)
            refuse_changed(SCOPE, name)
        return row

    def token(self, rows: Rows, token: str) -> DbRow | None:
        """The row of a token."""
        return self.tokens(rows).get(ACCESS, token)

    def tokens(self, rows: Rows) -> Rows:
        """Rows of which those of tokens are to be believed."""
        return rows

    def before(self, rows: Rows) -> Stated:
        """What was decided before a transaction that has these rows; single scopes and tokens, also in it."""
        return self

    def deciding(self, entry: Entry) -> None:
        """Called before an entry is written."""


AS_STORED = Stated()


class _Before(Stated):
    """What was decided before one transaction; of scopes and tokens that are decided in it, its rows are right."""

    def __init__(self, decided: Decided, rows: Rows) -> None:
        self._known = cache(partial(decided.at, rows))  # asked for before anything is written
        self._here: set[tuple[RowTable, str]] = set()

    def scope(self, rows: Rows, name: str) -> DbRow | None:
        return self._one(rows, SCOPE, name)

    def token(self, rows: Rows, token: str) -> DbRow | None:
        return self._one(rows, ACCESS, token)

    def _one(self, rows: Rows, table: RowTable, key: str) -> DbRow | None:
        return rows.get(table, key) if (table, key) in self._here else self._known().get(table, key)

    def tokens(self, rows: Rows) -> Rows:
        return self._known()

    def deciding(self, entry: Entry) -> None:
        self._known()
        if isinstance(entry, Opened | Granted | Revoked):
            self._here.add((SCOPE, entry.scope))
        elif isinstance(entry, AccessGiven | AccessEnded):
            self._here.add((ACCESS, entry.token))


class Decided(Stated):
    """The decisions of a ledger: those that its anchor holds, and those in the sealed entries since.

    Guarantee: without the key nobody can make a token, revive one, or change what lies above a scope.
    """

    def __init__(self, anchor: Anchor, key: bytes) -> None:
        self._anchor, self._key = anchor, key
        self.made_anew()
        after_fork(self)

    def made_anew(self) -> None:
        self._following = Lock()
        self._known: tuple[Head, MemoryRows] | None = None

    def scope(self, rows: Rows, name: str) -> DbRow | None:
        return self.at(rows).get(SCOPE, name)

    def tokens(self, rows: Rows) -> Rows:
        return self.at(rows)

    def before(self, rows: Rows) -> Stated:
        return _Before(self, rows)

    def at(self, rows: Rows) -> MemoryRows:
        """What was decided up to the end of a history at least: rows of scopes and tokens, and no balances.

        Fails: LedgerBroken if an entry does not carry its seal.
        """
        with self._following:
            try:
                return self._followed(rows)
            except LedgerBroken:  # the history may have been put back since: all of it is followed again
                if self._known is None:
                    raise
                self._known = None
                return self._followed(rows)

    def _followed(self, rows: Rows) -> MemoryRows:
        """What was decided; kept for the next time is what was committed, which a transaction that fails is not."""
        head, known = self._known or self._anchored()
        if head.sequence == rows.begun.sequence and head.mac != rows.begun.mac:
            raise not_following(head.sequence)
        if head.sequence < rows.begun.sequence:
            head = self._follow(rows, head, known, rows.begun.sequence)
        self._known = head, known  # a decision that was followed twice, after an interrupt, is the same
        if head.sequence < rows.head.sequence:  # what others decided in the same transaction, before
            known = known.copy()
            self._follow(rows, head, known, rows.head.sequence)
        return known

    def _follow(self, rows: Rows, head: Head, known: MemoryRows, last: int) -> Head:
        newer = takewhile(lambda row: row[0] <= last, paged(rows, ENTRY, (head.sequence,)))
        for sequence, charges, at, mac, line in chained(newer, self._key, head.mac):
            if any(kind in line for kind in _KINDS):  # a note may hold such a text, too
                entry, _ = read(line)
                if isinstance(entry, DECISIONS):
                    apply(Change(((sequence, line, entry),), {}), known)
            head = Head(sequence, charges, mac, at)
        return head

    def _anchored(self) -> tuple[Head, MemoryRows]:
        found = self._anchor.read()
        if found is None:
            raise LedgerBroken("The anchor of this ledger is missing.", fix=RESTORE, code="ledger-anchor-missing")
        return found


def refuse_changed(table: RowTable, key: str) -> NoReturn:
    """Refuse a row that does not say what was decided."""
    raise LedgerBroken(
        f"This ledger was changed by another program: the table {table.name} does not say of {key!r} what was decided.",
        fix=RESTORE,
        code="ledger-tampered",
        facts={"table": table.name},
    )
