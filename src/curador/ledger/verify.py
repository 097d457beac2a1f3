"""Reading a ledger's whole history again, with nothing trusted but the key."""

from __future__ import annotations

import hmac
from itertools import zip_longest

from curador.accounting.events import event_from_json
from curador.errors import CuradorError, LedgerBroken
from curador.ledger.entries import Entry, Reserved, Restored, Settled, digest, genesis, read, seal
from curador.ledger.faults import RESTORE
from curador.ledger.posting import LOST, post, state
from curador.ledger.stores.rows import ANSWER, DERIVED, ENTRY, SCOPE, Head, MemoryRows, Rows


def verify(rows: Rows, key: bytes) -> int:
    """Raise LedgerBroken unless chain, balances, ceilings and answers are as they were written.

    The history is posted once more to empty rows, step by step below the ceilings, and all that follows from it is
    compared with what is stored.

    Guarantee: whoever has no key cannot have changed what is stored without this noticing, but for a history cut off
    at its end, which the anchor notices.
    """
    again = MemoryRows(genesis(key))
    digests: dict[int, str] = {}
    entries = 0
    for sequence, line, mac in rows.scan(ENTRY):
        entries += 1
        if not hmac.compare_digest(seal(key, again.head.mac, sequence, line), bytes(mac)):
            raise _broken(f"entry {sequence} does not carry its seal")
        try:
            entry = read(line)[0]
            _in_order(entry, sequence, again.head)
            again.head = Head(sequence, again.head.charges, bytes(mac))
            post(entry, again)
        except (CuradorError, ValueError, TypeError, LookupError) as error:
            raise _broken(f"entry {sequence} cannot follow what is before it ({error})") from None
        if isinstance(entry, Settled):
            digests[entry.charge] = entry.digest
        again.keep()
    if rows.head != again.head:
        raise _broken(f"it says that it ends with entry {rows.head.sequence}, and ends with {again.head.sequence}")
    for table in DERIVED:
        for stored, right in zip_longest(rows.scan(table), again.scan(table)):
            if stored != right:
                raise _broken(f"the table {table.name} has {stored!r} where its entries make {right!r}")
    stored_answers = {number: digest(bytes(answer)) for number, answer in rows.scan(ANSWER)}
    for number in sorted(stored_answers.keys() | digests.keys()):
        if stored_answers.get(number) != digests.get(number):
            raise _broken(f"the answer of charge {number} is not the one that was settled")
    for name, _, text, _, _ in again.scan(SCOPE):
        if text != LOST:
            state(again, name, text)  # a filter that is over its ceiling cannot be made
    return entries


def _in_order(entry: Entry, sequence: int, before: Head) -> None:
    if sequence != before.sequence + 1 and not isinstance(entry, Restored):
        raise ValueError("entries are missing before it")
    if isinstance(entry, Reserved):
        event_from_json(entry.event)
        if entry.charge != before.charges + 1:
            raise ValueError("charges are missing before it")


def _broken(how: str) -> LedgerBroken:
    return LedgerBroken(f"This ledger was changed by other hands: {how}.", fix=RESTORE)
