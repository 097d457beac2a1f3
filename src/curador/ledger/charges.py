"""Charges read back from the entries that made them."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from curador.accounting.events import event_from_json
from curador.errors import InvalidParameter
from curador.ledger.contract import Charge
from curador.ledger.entries import Repeated, Reserved, read
from curador.ledger.stores.rows import ANSWER, CHARGE, ENTRY, QUESTION, REQUEST, Rows
from curador.privacy import guarantee_from_json


def answer_of(rows: Rows, key: str | None, fingerprint: str | None) -> int | None:
    """The charge whose answer this request gets again."""
    request = None if key is None else rows.get(REQUEST, key)
    if request is not None:
        if request[1] != fingerprint:
            raise InvalidParameter(f"The key {key!r} belongs to another question.", fix="Use a key once.")
        if request[2] is not None:
            return int(request[2])
    question = None if fingerprint is None else rows.get(QUESTION, fingerprint)
    return None if question is None else int(question[1])


def reserved(rows: Rows, number: int) -> tuple[Reserved, str]:
    """The entry that bought a charge, and when."""
    _, sequence, _, _ = rows.get(CHARGE, number) or ()
    entry, at = read((rows.get(ENTRY, sequence) or ())[1])
    assert isinstance(entry, Reserved)
    return entry, at


def charge_of(entry: Reserved, at: str, again: Repeated | None, settled: bool) -> Charge:
    """A charge as its entry says; ``again`` where it was paid for once more."""
    paid = entry if again is None else again
    return Charge(
        str(entry.charge),
        tuple(paid.scopes),
        tuple(tuple(cost) for cost in paid.costs),
        event_from_json(entry.event),
        None if entry.promise is None else guarantee_from_json(entry.promise),
        MappingProxyType(dict(entry.note)),
        settled,
        again is not None,
        paid.receiver,
        at,
    )


def charge_at(rows: Rows, sequence: int) -> Charge:
    """The charge that an entry made or repeated."""
    entry, at = read((rows.get(ENTRY, sequence) or ())[1])
    assert isinstance(entry, Reserved | Repeated)
    first = entry if isinstance(entry, Reserved) else reserved(rows, entry.charge)[0]
    again = entry if isinstance(entry, Repeated) else None
    return charge_of(first, at, again, rows.get(ANSWER, entry.charge) is not None)


def all_charges(rows: Rows) -> Iterator[Charge]:
    """Every charge and every repeat, oldest first."""
    for sequence, line, _ in rows.scan(ENTRY):
        if isinstance(read(line)[0], Reserved | Repeated):
            yield charge_at(rows, sequence)


def stored(rows: Rows, number: int) -> bytes:
    """The answer of a charge that has one."""
    return bytes((rows.get(ANSWER, number) or ())[1])


def number_of(charge: str) -> int:
    """A charge's number, from the id that people see.

    >>> number_of("7")
    7
    """
    if not charge.isdecimal() or len(charge) > 18:
        raise unknown_charge(charge)
    return int(charge)


def unknown_charge(charge: str) -> InvalidParameter:
    """The refusal of an id that no charge has."""
    return InvalidParameter(f"No charge has the id {charge!r}.", fix="Use the id of a charge that was reserved.")
