"""The whole history of a ledger, read again and compared, trusting nothing but the key."""

from __future__ import annotations

import hmac
from itertools import zip_longest

from curador.accounting.events import event_from_json
from curador.errors import CuradorError, LedgerBroken
from curador.ledger.entries import Entry, Reserved, Restored, Settled, digest, genesis, read, seal
from curador.ledger.posting import LOST, post, state
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.rows import ANSWER, DERIVED, ENTRY, RESTORE, SCOPE, Head, Rows


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
            entry = read(line)[0]
            _in_order(entry, sequence, replayed.head)
            replayed.head = Head(sequence, replayed.head.charges, bytes(mac))
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
        for stored, right in zip_longest(rows.scan(table), replayed.scan(table)):
            if stored != right:
                raise _broken(
                    f"the table {table.name} has {stored!r} where its entries make {right!r}", table=table.name
                )
    stored_answers = {number: digest(bytes(answer)) for number, answer in rows.scan(ANSWER)}
    for number in sorted(stored_answers.keys() | digests.keys()):
        if stored_answers.get(number) != digests.get(number):
            raise _broken(f"the answer of charge {number} is not the one that was settled", charge=str(number))
    for name, _, text, _, _ in replayed.scan(SCOPE):
        if text != LOST:
            state(replayed, name, text)  # a filter above its ceiling cannot be made
    return entries


def _in_order(entry: Entry, sequence: int, before: Head) -> None:
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
