"""The whole history of a ledger, read again and compared, trusting nothing but the key."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from itertools import zip_longest

from curador.accounting.events import event_from_json
from curador.errors import CuradorError, LedgerBroken
from curador.ledger.entries import Entry, Reserved, Restored, Settled, digest, genesis, read, seal
from curador.ledger.posting import EVERYTHING, STATE, post, state
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.rows import ANSWER, DERIVED, ENTRY, RESTORE, SCOPE, DbRow, Head, Rows, RowTable, paged
from curador.ledger.summary import apply, chained, changed


def verify_rows(rows: Rows, key: bytes) -> int:
    """Raise LedgerBroken unless chain, balances, ceilings and answers are as they were written; the number of entries.

    The history is replayed into empty rows, each step within the ceilings, and the derived tables are compared with
    the stored ones.

    Guarantee: any change made without the key is detected, except for a history cut off at its end, which the anchor
    detects.
    """
    replayed = MemoryRows(genesis(key))
    digests: dict[int, str] = {}
    entries = 0
    for sequence, line, mac in rows.scan(ENTRY):
        entries += 1
        if not hmac.compare_digest(seal(key, replayed.head.mac, sequence, line), bytes(mac)):
            raise _broken(f"entry {sequence} does not carry its seal", entry=sequence)
        try:
            entry, at = read(line)
            _in_order(entry, sequence, at, replayed.head)
            replayed.head = Head(sequence, replayed.head.charges, bytes(mac), at)
            post(entry, replayed)
        except (CuradorError, ValueError, TypeError, LookupError) as error:
            raise _broken(f"entry {sequence} cannot follow the entries before it ({error})", entry=sequence) from None
        if isinstance(entry, Settled):
            digests[entry.charge] = entry.digest
        replayed.savepoint()
    if rows.head != replayed.head:
        claimed, found = rows.head.sequence, replayed.head.sequence
        raise _broken(f"its head is entry {claimed}, and its last entry is {found}", entry=found)
    for table in DERIVED:
        _compare(table, paged(rows, table), replayed.scan(table))
    stored_answers = {number: digest(bytes(answer)) for number, answer in rows.scan(ANSWER)}
    for number in sorted(stored_answers.keys() | digests.keys()):
        if stored_answers.get(number) != digests.get(number):
            raise _broken(f"the answer of charge {number} is not the one that was settled", charge=str(number))
    for name, _, text, _, _ in replayed.scan(SCOPE):
        if name != EVERYTHING:
            state(replayed, name, text)  # a filter above its ceiling cannot be made
    return entries


def compare_state(rows: Rows, key: bytes, mark: Head, known: MemoryRows) -> None:
    """Raise LedgerBroken unless scopes, balances and registrations are what the anchor and the entries since say.

    ``known`` is what the history up to ``mark`` comes to; it is brought to the end of the history.
    """
    last = mark.mac

    def since() -> Iterator[DbRow]:
        nonlocal last
        for entry in chained(paged(rows, ENTRY, (mark.sequence,)), key, mark.mac):
            last = entry[2]
            yield entry

    apply(changed(since()), known)
    if last != rows.head.mac:
        raise _broken("its head is not its last entry", entry=rows.head.sequence)
    for table in STATE:
        _compare(table, paged(rows, table), known.scan(table))


def _compare(table: RowTable, found: Iterator[DbRow], right: Iterator[DbRow]) -> None:
    for stored, made in zip_longest(found, right):
        if stored != made:
            raise _broken(f"the table {table.name} has {stored!r} where its entries make {made!r}", table=table.name)


def _in_order(entry: Entry, sequence: int, at: str, before: Head) -> None:
    if at < before.at:
        raise ValueError("it is older than the entry before it")
    if sequence != before.sequence + 1 and not isinstance(entry, Restored):
        raise ValueError("entries are missing before it")
    if isinstance(entry, Reserved):
        event_from_json(entry.event)
        if entry.charge != before.charges + 1:
            raise ValueError("charges are missing before it")


def _broken(how: str, **facts: int | str) -> LedgerBroken:
    return LedgerBroken(
        f"This ledger was changed by another program: {how}.", fix=RESTORE, code="ledger-tampered", facts=facts
    )
