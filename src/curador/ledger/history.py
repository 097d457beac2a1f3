"""Charges and decisions, read back from the entries that made them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import singledispatch
from types import MappingProxyType

from curador.accounting.events import event_from_json
from curador.errors import InvalidParameter
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
    plain,
    read,
)
from curador.ledger.records import Charge, Charges, Decision
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
    RUNNING,
    Rows,
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
    _, sequence, _, _ = rows.get(CHARGE, number) or ()
    entry, _ = read((rows.get(ENTRY, sequence) or ())[1])
    assert isinstance(entry, Reserved)
    return entry


def charge_of(entry: Reserved, at: str, again: Repeated | None, settled: bool) -> Charge:
    """The charge that an entry bought; with ``again``, as a later entry paid for it once more."""
    paid = entry if again is None else again
    return Charge(
        str(entry.charge),
        tuple(paid.scopes),
        tuple(tuple(cost) for cost in paid.costs),
        event_from_json(entry.event),
        None if entry.guarantee is None else guarantee_from_json(entry.guarantee),
        MappingProxyType(dict(entry.note)),
        settled,
        again is not None,
        paid.receiver,
        at,
    )


def stored_answer(rows: Rows, number: int) -> bytes:
    """The answer of a charge that has one."""
    return bytes((rows.get(ANSWER, number) or ())[1])


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


def charges(rows: Rows, scope: str | None, last: int | None) -> Charges:
    """The charges and repeats of a scope, or all of them, oldest first; with ``last`` only the newest."""
    if scope is None:
        lines = (line for _, line, _ in rows.scan(ENTRY)) if last is None else _last_charge_lines(rows, last)
    else:
        paid = rows.scan(PAID, scope) if last is None else rows.tail(PAID, scope, most=last)
        lines = ((rows.get(ENTRY, sequence) or ())[1] for _, _, sequence in paid)
    return Charges(
        [_charge(rows, entry, at) for entry, at in map(read, lines) if isinstance(entry, Reserved | Repeated)]
    )


def _last_charge_lines(rows: Rows, last: int) -> Iterator[str]:
    """The lines of the newest charges and repeats: ever longer ends of the history are read until they hold enough."""
    most = 2 * last + 8  # a charge is mostly two entries: reserved and settled
    while True:
        found = [line for _, line, _ in rows.tail(ENTRY, most=most)]
        buying = [line for line in found if isinstance(read(line)[0], Reserved | Repeated)]
        if len(buying) >= last or len(found) < most:
            return iter(buying[max(0, len(buying) - last) :])
        most *= 2


def _charge(rows: Rows, entry: Reserved | Repeated, at: str) -> Charge:
    settled = rows.get(ANSWER, entry.charge) is not None
    if isinstance(entry, Repeated):
        return charge_of(reserved(rows, entry.charge), at, entry, settled)
    return charge_of(entry, at, None, settled)


# ---- decisions ---------------------------------------------------------------------------------------------------


def decisions(rows: Rows) -> Iterator[Decision]:
    """Every decision, oldest first."""
    for _, line, _ in rows.scan(ENTRY):
        if (decision := _decision(*read(line))) is not None:
            yield decision


def ever_promised(rows: Rows, scopes: Collection[str], budget: Guarantee) -> bool:
    """Whether the budget of one of these scopes was ever exactly this one."""
    return any(rows.get(PROMISED, scope, plain(budget.to_json())) is not None for scope in scopes)


def scopes_of(rows: Rows, table: str) -> tuple[str, ...]:
    """Every scope that a table's name was ever tied to, oldest first."""
    named = rows.get(NAMED, table)
    scope = None if named is None else (rows.get(DATA, named[1]) or ())[1]
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
