"""The history of a ledger, read again and compared, trusting nothing but the key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest

from curador.accounting.events import event_from_json
from curador.errors import CuradorError, LedgerBroken
from curador.ledger.anchor.summary import apply, chained, changed, from_state, state_rows
from curador.ledger.entries import Entry, Opened, Repeated, Reserved, Restored, Sealed, Settled, digest, genesis, read
from curador.ledger.posting import EVERYTHING, STATE, charges_after, payment, post, resold, state
from curador.ledger.pricing import lineage
from curador.ledger.records import VerifyProgress
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.rows import (
    ANSWER,
    CHARGE,
    ENTRY,
    PAID,
    QUESTION,
    REQUEST,
    RESTORE,
    RUNNING,
    SCOPE,
    DbRow,
    DbValue,
    Head,
    Rows,
    RowTable,
    as_bytes,
    paged,
    row_of,
    row_of_entry,
)

TOLD_EVERY = 256
"""Entries between two reports of how far the reading is."""

LONG = (CHARGE, PAID, QUESTION, REQUEST, ANSWER)
"""The tables that grow with the number of charges, of which only sums are kept in memory."""


# ---- everything ------------------------------------------------------------------------------------------------------


def verify_rows(rows: Rows, key: bytes, progress: VerifyProgress | None = None) -> int:
    """Raise LedgerBroken unless chain, balances, ceilings and answers are as they were written; the number of entries.

    The history is replayed, each step within the ceilings, and what it makes of the derived tables is compared with the
    stored ones.  Memory grows with the scopes, the open charges and some bytes for each question, not with answers.

    Guarantee: any change made without the key that is there is detected, except for a history cut off at its end, which
    the anchor detects; and of one that was taken back, what was bought meanwhile from budgets that had ended, or
    without those above them.
    """
    replayed = _Replayed(key, rows)
    entries, all_entries = 0, max(1, rows.head.sequence)
    for row in chained(paged(rows, ENTRY), key, genesis(key)):
        entries += 1
        if progress is not None and entries % TOLD_EVERY == 0:
            progress(min(1.0, entries / all_entries), "history")
        try:
            replayed.follow(row)
        except (CuradorError, ValueError, TypeError, LookupError) as error:
            raise _broken(f"entry {row[0]} cannot follow the entries before it ({error})", entry=row[0]) from None
    if rows.head != replayed.head:
        claimed, found = rows.head.sequence, replayed.head.sequence
        raise _broken(f"its head is entry {claimed}, and its last entry is {found}", entry=found)
    for table in (*STATE, RUNNING):
        _compare(table, paged(rows, table), replayed.scan(table))
    stored = _Sums(key)
    for number, table in enumerate(LONG):
        if progress is not None:
            progress(number / len(LONG), "tables")
        for row in paged(rows, table):
            stored.add(table, row if table is not ANSWER else (row[0], digest(as_bytes(row[1]))))
        if stored.of(table) != replayed.sums.of(table):
            raise _other_answers(rows) if table is ANSWER else _other_rows(table)
    for name, _, text, _, _ in replayed.scan(SCOPE):
        if name != EVERYTHING:
            state(replayed, name, text)  # a filter above its ceiling cannot be made
    return entries


class _Sums:
    """For each table the sum of its rows' hashes under a key: equal sums are equal sets of rows [Clarke03]."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.blake2b(key, digest_size=32, person=b"curador verify").digest()
        self._sums = {table.name: 0 for table in LONG}

    def add(self, table: RowTable, row: DbRow, times: int = 1) -> None:
        found = hashlib.blake2b(repr(row).encode(), digest_size=32, key=self._key, person=table.name.encode())
        self._sums[table.name] += times * int.from_bytes(found.digest(), "big")

    def of(self, table: RowTable) -> int:
        return self._sums[table.name] % 2**256


class _Replayed(MemoryRows):
    """Rows as entries make them; of long tables the sums, and those rows that a later entry may need."""

    def __init__(self, key: bytes, stored: Rows) -> None:
        super().__init__(genesis(key))
        self.sums = _Sums(key)
        self._asked: set[bytes] = set()
        self._stored = stored

    def follow(self, row: DbRow) -> None:
        entry, self.head = _next(row, self.head)
        if isinstance(entry, Reserved | Repeated):
            self._require_allowed(entry)
        if isinstance(entry, Opened):
            self._require_new(entry.scope)
        post(entry, self)
        if isinstance(entry, Settled):
            self.sums.add(ANSWER, (entry.charge, entry.digest))
            self._forget(CHARGE, entry.charge)
        self.savepoint()

    def _require_allowed(self, entry: Reserved | Repeated) -> None:
        """Refuse a purchase that falls on other scopes than it must, or on one that was closed or had ended.

        Entries are sealed, but whoever writes to the database can have a row of a scope say otherwise for a moment, in
        which the book itself seals what it should refuse.
        """
        if isinstance(entry, Reserved) and not entry.resold:
            path = lineage(entry.scopes, self._parent)
            owed = set(path)
            if entry.receiver is not None and entry.receiver not in owed:
                raise ValueError("its receiver does not pay")
        else:
            if isinstance(entry, Reserved) and self.get(QUESTION, entry.fingerprint) is None:
                raise ValueError("nothing was answered that it could repeat")
            path = () if entry.receiver is None else lineage(entry.receiver, self._parent)
            # Rows of payments are compared with the entries as a whole, below.
            owed = {scope for scope in path if not self._had_paid(scope, entry)}
        if set(entry.scopes) != owed or len(entry.scopes) != len(owed):
            raise ValueError("it is not paid by the scopes that have to")
        for scope in path:
            _, _, _, expires, closed = row_of(self, SCOPE, scope)
            if closed or (expires is not None and self.head.at >= expires):
                raise ValueError(f"the budget of {scope!r} had ended")

    def _had_paid(self, scope: str, entry: Reserved | Repeated) -> bool:
        """Whether a scope had paid for an answer before this entry, by the stored rows."""
        question = self._stored.get(QUESTION, entry.fingerprint) if isinstance(entry, Reserved) else None
        number = entry.charge if question is None else question[1]
        paid = payment(self._stored, scope, number, entry.fingerprint)
        return paid is not None and paid[2] < self.head.sequence

    def _require_new(self, scope: str) -> None:
        """Refuse a budget that is opened again: what was spent of it would be nothing."""
        if any(self.get(SCOPE, known) is not None for known in (scope, EVERYTHING)):
            raise ValueError(f"the budget of {scope!r} could not be opened any more")

    def _parent(self, scope: str) -> str | None:
        parent: str | None = row_of(self, SCOPE, scope)[1]
        return parent

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        if table is QUESTION:
            return (key[0], 0) if _short(key[0]) in self._asked else None
        return super().get(table, *key)

    def put(self, table: RowTable, *row: DbValue) -> None:
        if table not in LONG:
            super().put(table, *row)
            return
        old = None if table in (QUESTION, PAID) else super().get(table, *row[: table.key])
        if old is not None:
            self.sums.add(table, old, -1)
        self.sums.add(table, row)
        if table is QUESTION:
            self._asked.add(_short(row[0]))
        elif table is CHARGE or (table is REQUEST and row[2] is None):
            super().put(table, *row)
        elif table is REQUEST:
            self._forget(table, row[0])  # a key that has its answer is never bound again

    def _forget(self, table: RowTable, key: DbValue) -> None:
        if super().get(table, key) is not None:
            self.savepoint()
            self.drop(table, key)


def _short(fingerprint: DbValue) -> bytes:
    return hashlib.blake2b(str(fingerprint).encode(), digest_size=16).digest()


def _other_rows(table: RowTable) -> LedgerBroken:
    return _broken(f"the table {table.name} has other rows than its entries make", table=table.name)


def _other_answers(rows: Rows) -> LedgerBroken:
    """Which answer is another; this is looked for only once it is known that there is one."""
    stored = {number: digest(as_bytes(answer)) for number, answer in paged(rows, ANSWER)}
    for row in paged(rows, ENTRY):
        entry, _ = read(row[-1])
        if isinstance(entry, Settled) and stored.pop(entry.charge, None) != entry.digest:
            return _another_answer(entry.charge)
    return _another_answer(min(stored))


def _another_answer(number: int) -> LedgerBroken:
    return _broken(f"the answer of charge {number} is not the one that was settled", charge=str(number))


# ---- what is new -----------------------------------------------------------------------------------------------------


def verify_new(rows: Rows, key: bytes, since: Head, most: int | None = None) -> Head:
    """Verify the entries after one that was verified before, at most so many; the head up to which they are sound.

    Raises LedgerBroken unless they are chained and in order, and every payment, key and answer they made is there.
    """
    head = since
    for row in islice(chained(paged(rows, ENTRY, (since.sequence,)), key, since.mac), most):
        try:
            entry, head = _next(row, head)
        except (CuradorError, ValueError) as error:
            raise _broken(f"entry {row[0]} cannot follow the entries before it ({error})", entry=row[0]) from None
        for table, right in _made(entry, head.sequence):
            found = rows.get(table, *right[: table.key])
            if found is None or any(a != b for a, b in zip(found, right, strict=True) if b is not ...):
                raise _other_rows(table)
        if isinstance(entry, Settled):
            answer = rows.get(ANSWER, entry.charge)
            if answer is None or digest(as_bytes(answer[1])) != entry.digest:
                raise _another_answer(entry.charge)
    return head


def _made(entry: Entry, sequence: int) -> Iterator[tuple[RowTable, DbRow]]:
    """The rows that an entry made and no later one changes; ... where one may have."""
    if isinstance(entry, Reserved):
        yield CHARGE, (entry.charge, sequence, entry.request, entry.fingerprint)
        if entry.request is not None:
            yield REQUEST, (entry.request, entry.fingerprint, ...)
        if entry.resold:
            yield from ((QUESTION, (resold(entry.fingerprint, scope), entry.charge)) for scope in entry.scopes)
    if isinstance(entry, Repeated) and entry.request is not None:
        yield REQUEST, (entry.request, entry.fingerprint, entry.charge)
    if isinstance(entry, Reserved | Repeated):
        for scope in entry.scopes:
            yield PAID, (scope, entry.charge, sequence)


def compare_state(rows: Rows, key: bytes, mark: Head, known: MemoryRows) -> None:
    """Raise LedgerBroken unless scopes, balances and registrations are what the anchor and the entries since say.

    ``known`` is what the history up to ``mark`` comes to.
    """
    head = mark
    now = from_state(state_rows(known))

    def since() -> Iterator[Sealed]:
        nonlocal head
        for sequence, _, _, mac, line in chained(paged(rows, ENTRY, (mark.sequence,)), key, mark.mac):
            entry, at = read(line)
            head = Head(sequence, charges_after(entry, head.charges), mac, at)
            yield sequence, line, mac, entry

    apply(changed(since()), now)
    if head != rows.head:
        raise _broken("its head is not its last entry", entry=rows.head.sequence)
    for table in STATE:
        _compare(table, paged(rows, table), now.scan(table))


def _compare(table: RowTable, found: Iterable[DbRow], right: Iterable[DbRow]) -> None:
    for stored, made in zip_longest(found, right):
        if stored != made:
            raise _broken(f"the table {table.name} has {stored!r} where its entries make {made!r}", table=table.name)


def _next(row: DbRow, before: Head) -> tuple[Entry, Head]:
    """The entry in a row, and the head it makes; ValueError if it cannot follow the head before, or says otherwise."""
    sequence, _, _, mac, line = row
    entry, at = read(line)
    if at < before.at:
        raise ValueError("it is older than the entry before it")
    if sequence != before.sequence + 1 and not isinstance(entry, Restored):
        raise ValueError("entries are missing before it")
    if isinstance(entry, Reserved):
        event_from_json(entry.event)
        if entry.charge != before.charges + 1:
            raise ValueError("charges are missing before it")
    head = Head(sequence, charges_after(entry, before.charges), mac, at)
    if row_of_entry(head, line) != row:
        raise ValueError("its row says otherwise than its line")
    return entry, head


def _broken(how: str, **facts: int | str) -> LedgerBroken:
    return LedgerBroken(
        f"This ledger was changed by another program: {how}.", fix=RESTORE, code="ledger-tampered", facts=facts
    )
