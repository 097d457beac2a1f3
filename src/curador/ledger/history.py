"""Charges and decisions, read back from the entries that made them."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from types import MappingProxyType

from curador.accounting.events import event_from_json
from curador.errors import InvalidParameter, LedgerBroken
from curador.ledger.entries import (
    Entry,
    Granted,
    Json,
    Opened,
    Registered,
    Repeated,
    Reserved,
    Restored,
    Revoked,
    genesis,
    plain,
    read,
    seal,
)
from curador.ledger.posting import payment, promise_digest
from curador.ledger.records import EMPTY, Charge, Charges, Decision
from curador.ledger.stores.rows import (
    ANSWER,
    CHARGE,
    DATA,
    ENTRY,
    FORMER,
    NAMED,
    PAID,
    PROMISED,
    QUESTION,
    REQUEST,
    RESTORE,
    RUNNING,
    Rows,
    as_bytes,
    row_of,
)
from curador.privacy import Guarantee, guarantee_from_json

# ---- one charge --------------------------------------------------------------------------------------------------


def answered_charge(rows: Rows, key: str | None, fingerprint: str | None) -> int | None:
    """The number of the charge whose answer this request gets again; None if it has to be bought."""
    request = None if key is None else rows.get(REQUEST, key)
    if request is not None:
        if request[1] != fingerprint:
            raise InvalidParameter(
                f"The key {key!r} belongs to another question.",
                fix="Use a key once.",
                code="key-reused",
                facts={"key": key},
            )
        if request[2] is not None:
            return int(request[2])
    question = None if fingerprint is None else rows.get(QUESTION, fingerprint)
    return None if question is None else int(question[1])


def paid_with(rows: Rows, key: bytes, scope: str, number: int, fingerprint: str | None) -> int | None:
    """The charge with which a scope has paid for an answer, its own or the first one, ``number``; None if it has not.

    It is believed by an entry that carries its seal, whatever the row says: who has paid gets the answer for nothing,
    and nothing is written, so that a row made by hand for a moment would be unseen.

    Fails: LedgerBroken for a row that no entry made.
    """
    row = payment(rows, scope, number, fingerprint)
    if row is None:
        return None
    stored, before = rows.get(ENTRY, row[2]), rows.get(ENTRY, row[2] - 1)  # numbers are left out before restores alone
    if stored is not None:
        last, line = genesis(key) if before is None else as_bytes(before[3]), stored[-1]
        if hmac.compare_digest(seal(key, last, row[2], line), as_bytes(stored[3])):
            entry, _ = read(line)
            right = entry.fingerprint == fingerprint if isinstance(entry, Reserved) else True
            if isinstance(entry, Reserved | Repeated) and entry.charge == row[1] and scope in entry.scopes and right:
                return int(row[1])
    raise LedgerBroken(
        f"This ledger was changed by another program: no entry says that {scope!r} has paid for charge {number}.",
        fix=RESTORE,
        code="ledger-tampered",
        facts={"table": PAID.name},
    )


def binds(rows: Rows, key: str | None, *, pays: bool) -> bool:
    """Whether a repeat binds its key: where it pays, or a charge under that key is not settled.

    One key, one answer: such a charge must not give a second one.  What pays nothing under a key that bought nothing
    leaves no trace, for anybody could send it for ever; sent again, it finds the same answer by its fingerprint.
    """
    if key is None:
        return False
    known = rows.get(REQUEST, key)
    return pays if known is None else known[2] is None


def running(rows: Rows, fingerprint: str | None) -> str | None:
    """The id of the charge that this question is being answered with, unless that has failed."""
    found = None if fingerprint is None else rows.get(RUNNING, fingerprint)
    return None if found is None or found[2] is None else str(found[1])


def being_answered(rows: Rows, fingerprint: str | None, charge: str | None) -> InvalidParameter:
    """The refusal of a question that another process is buying."""
    found = rows.get(RUNNING, fingerprint) or ()
    return InvalidParameter(
        "Another process is answering this question.",
        fix="Wait until it has, and ask again: it is then paid for.",
        code="being-answered",
        facts={"charge": charge, "owner": found[2]},
    )


def reserved(rows: Rows, number: int) -> Reserved:
    """The entry that bought a charge."""
    _, sequence, _, _ = row_of(rows, CHARGE, number)
    entry, _ = read(row_of(rows, ENTRY, sequence)[-1])
    assert isinstance(entry, Reserved)
    return entry


def charge_of(entry: Reserved, at: str, again: Repeated | None, settled: bool, sequence: int = 0) -> Charge:
    """The charge that an entry bought; with ``again``, as a later entry paid for it once more, with that one's note.

    Where that one paid nothing it has no note, and to whoever bought it the first one says all.
    """
    paid = entry if again is None else again
    note = paid.note or (entry.note if paid.receiver == entry.receiver else {})
    return Charge(
        str(entry.charge),
        tuple(paid.scopes),
        tuple(map(tuple, paid.costs)),
        event_from_json(entry.event),
        None if entry.guarantee is None else guarantee_from_json(entry.guarantee),
        MappingProxyType(dict(note)) if note else EMPTY,
        settled,
        again is not None or entry.resold,
        paid.receiver,
        at,
        sequence,
    )


def bought(rows: Rows, number: int, scope: str | None = None) -> Charge:
    """A charge as it was bought, or as it fell on a scope; refused if there is none."""
    found = rows.get(CHARGE, number) if scope is None else rows.get(PAID, scope, number)
    if found is None:
        raise unknown_charge(str(number))
    sequence = found[1] if scope is None else found[2]
    entry, at = read(row_of(rows, ENTRY, sequence)[-1])
    settled = rows.get(ANSWER, number) is not None
    if isinstance(entry, Repeated):
        return charge_of(reserved(rows, number), at, entry, settled, sequence)
    assert isinstance(entry, Reserved)
    return charge_of(entry, at, None, settled, sequence)


def stored_answer(rows: Rows, number: int) -> bytes:
    """The answer of a charge that has one."""
    return as_bytes(row_of(rows, ANSWER, number)[1])


def number_of(charge: str) -> int:
    """The number of a charge, from its id.

    >>> number_of("7")
    7
    """
    if not charge.isdecimal() or len(charge) > 18:
        raise unknown_charge(charge)
    return int(charge)


def unknown_charge(charge: str) -> InvalidParameter:
    """The refusal of an id that no charge has."""
    return InvalidParameter(
        f"No charge has the id {charge!r}.",
        fix="Use the id of a charge that was reserved.",
        code="charge-unknown",
        facts={"charge": charge},
    )


# ---- many charges ------------------------------------------------------------------------------------------------

PAGE = 1000
"""The most charges that are read at once, and as many as are shown unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Page:
    """Charges as they were read, oldest first: their entries, and by number how each was bought and if it is settled.

    They are read in two statements and made into charges afterwards, so that no others wait for that.
    """

    entries: Sequence[tuple[int, str]]
    bought: Mapping[int, tuple[str, bool]]

    def charges(self) -> Charges:
        return Charges(self._charge(number, *read(line)) for number, line in self.entries)

    def _charge(self, sequence: int, entry: Entry, at: str) -> Charge:
        assert isinstance(entry, Reserved | Repeated)
        line, settled = self.bought[entry.charge]
        if isinstance(entry, Reserved):
            return charge_of(entry, at, None, settled, sequence)
        first, _ = read(line)
        assert isinstance(first, Reserved)
        return charge_of(first, at, entry, settled, sequence)


def page(rows: Rows, scope: str | None, most: int, before: Charge | None) -> Page:
    """The newest charges and repeats of a scope, or of all; with ``before`` those that stand before it."""
    if scope is None:
        found = _last_charges(rows, most, None if before is None else before.entry)
    else:
        found = [(row[0], row[1]) for row in rows.payments(scope, most, None if before is None else int(before.id))]
    numbers = {json.loads(line)["charge"] for _, line in found}
    return Page(found, {number: (row[0], row[1]) for number, row in rows.charges(sorted(numbers)).items()})


def _last_charges(rows: Rows, most: int, before: int | None) -> list[tuple[int, str]]:
    """The newest charges and repeats: ever longer ends of the history are read until they hold enough."""
    wanted = 2 * most + 8  # a charge is mostly two entries: reserved and settled
    while True:
        lines = rows.tail(ENTRY, most=wanted, before=before)
        found = [(row[0], row[-1]) for row in lines if isinstance(read(row[-1])[0], Reserved | Repeated)]
        if len(found) >= most or len(lines) < wanted:
            return found[max(0, len(found) - most) :]
        wanted *= 2


# ---- decisions ---------------------------------------------------------------------------------------------------


def decisions(rows: Rows) -> Iterator[Decision]:
    """Every decision, oldest first."""
    for row in rows.scan(ENTRY):
        if (decision := _decision(*read(row[-1]))) is not None:
            yield decision


def ever_promised(rows: Rows, scopes: Collection[str], budget: Guarantee) -> bool:
    """Whether the budget of one of these scopes was ever exactly this one."""
    wanted = promise_digest(plain(budget.to_json()))
    return any(rows.get(PROMISED, scope, wanted) is not None for scope in scopes)


def scopes_of(rows: Rows, table: str) -> tuple[str, ...]:
    """Every scope that a table's name was ever tied to, oldest first."""
    named = rows.get(NAMED, table)
    scope = None if named is None else row_of(rows, DATA, named[1])[1]
    found: list[str] = []
    while scope and scope not in found:
        found.append(scope)
        former = rows.get(FORMER, table, scope)
        scope = None if former is None else former[2]
    return tuple(reversed(found))


@singledispatch
def _decision(entry: Entry, at: str) -> Decision | None:
    return None


@_decision.register
def _(entry: Opened, at: str) -> Decision:
    return Decision(at, "opened", entry.scope, _promise(entry.definition))


@_decision.register
def _(entry: Granted, at: str) -> Decision:
    return Decision(at, "raised", entry.scope, _promise(entry.definition), entry.because)


@_decision.register
def _(entry: Revoked, at: str) -> Decision:
    return Decision(at, "closed", entry.scope, because=entry.because)


@_decision.register
def _(entry: Registered, at: str) -> Decision | None:
    # Without a reason it was found again, renamed or reloaded, and kept its budget.
    return Decision(at, entry.decided, entry.scope, None, entry.because, entry.name) if entry.decided else None


@_decision.register
def _(entry: Restored, at: str) -> Decision:
    return Decision(at, "restored", "", because=entry.because)


def _promise(definition: Json) -> Guarantee:
    return guarantee_from_json(definition["guarantee"])
