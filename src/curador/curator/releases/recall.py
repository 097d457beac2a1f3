"""A release shown again by the charge that bought it: from the ledger alone, and free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from curador.curator.purchase import Bought, Purchase, fingerprint
from curador.curator.purchases.batch import Batch
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release, bought_remarks, present
from curador.errors import CuradorError, InvalidParameter
from curador.ledger.contract import Charge
from curador.privacy import guarantee_from_json
from curador.query.ask.question import Question
from curador.query.plan.plan import Plan

if TYPE_CHECKING:
    from curador.curator.curator import Curator

PAGE = 500
NOISES = (None, "laplace", "gaussian")
"""How the noise may have been chosen; the record of a charge does not say, and its fingerprint does."""


def recall(curator: Curator, charge: str, analyst: str | None = None) -> Release | Publication | None:
    """What a charge bought, presented anew; None if there is no such charge, it has no answer, or is another's.

    Fails: refused (code ``not-recalled``) where the record does not say how it was planned (its options were unusual,
        or the declarations are others now).  Asking the same again is free.
    """
    bought = bought_by(curator, charge, analyst)
    if bought is None:
        return None
    plans = _plans(curator, bought.charge.note)
    if plans is None:
        raise not_recalled(charge)
    if set(plans) == {""}:
        made = present(plans[""], bought, rehearsal=False, language=curator.language)
        return curator.sealed(made)
    batch = Batch(plans)
    releases = {
        name: curator.sealed(one)
        for name, one in batch.presented(bought, rehearsal=False, language=curator.language).items()
    }
    remarks = bought_remarks(bought, batch.guarantee)
    return curator.sealed(
        Publication(releases, batch.guarantee, batch.tight, charge, remarks, curator.language, batch.words, True)
    )


def bought_by(curator: Curator, charge: str, analyst: str | None = None) -> Bought | None:
    """The measurement that a charge bought; None if there is no such charge, it has no answer, or is another's."""
    found = _charge(curator, charge, analyst)
    measurement = None if found is None else curator.ledger.answer(charge)
    if found is None or measurement is None:
        return None
    own = found.receiver == (None if analyst is None else curator.scopes.named(analyst))
    return Bought(measurement, found, True, str(found.note.get("because", "")) if own or analyst is None else "")


def _charge(curator: Curator, charge: str, analyst: str | None) -> Charge | None:
    """The charge, if this asker may see it."""
    if analyst is None:
        try:
            return curator.ledger.charge(charge)
        except InvalidParameter:
            return None
    return next((one for one in _all(curator, analyst) if one.id == charge), None)


def _all(curator: Curator, analyst: str) -> Iterator[Charge]:
    before: Charge | None = None
    while page := curator.history(analyst, last=PAGE, before=before):
        yield from reversed(page)
        before = page[0]
        if len(page) < PAGE:
            return


def _plans(curator: Curator, note: Mapping[str, Any]) -> dict[str, Plan] | None:
    """The plans of a charge, made again; None unless they have the fingerprint that was bought."""
    asked, budgets = note.get("asked"), note.get("budgets")
    if not isinstance(asked, Mapping) or not isinstance(budgets, Mapping):
        return None
    each = {name: budgets.get(name, budgets.get("")) for name in asked}  # one for all, where they are equal
    if None in each.values():
        return None
    for noise in NOISES:
        try:
            plans = {name: _plan(curator, asked[name], each[name], noise) for name in asked}
            whole: Plan | Batch = plans[""] if set(plans) == {""} else Batch(plans)
            if is_what_was_bought(curator, whole, note):
                return plans
        except CuradorError:  # declared otherwise now, or not with this noise
            continue
    return None


def is_what_was_bought(curator: Curator, made: Purchase, note: Mapping[str, Any]) -> bool:
    """Whether a purchase that was made again is the one of this record."""
    return fingerprint(made, curator.scopes.held(made.tables)) == (note.get("purchase") or note.get("fresh"))


def _plan(curator: Curator, asked: Mapping[str, Any], budget: Mapping[str, Any], noise: str | None) -> Plan:
    paid = guarantee_from_json(budget)
    price = {name: value for name, value in paid.to_json().items() if name in ("epsilon", "delta", "rho")}
    return curator.plan(Question.from_json(asked), **price, noise=noise)  # type: ignore[arg-type]


def not_recalled(charge: str) -> InvalidParameter:
    return InvalidParameter(
        f"Charge {charge} was planned in a way that its record does not tell.",
        fix="Ask the same question again: what was bought is free.",
        code="not-recalled",
        facts={"charge": charge},
    )
