"""A release shown again by the charge that bought it: from the ledger alone, and free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.curator.purchase import Bought, Purchase, fingerprint
from curador.curator.purchases.batch import Batch
from curador.curator.purchases.kept import code_of, made_under, opened
from curador.curator.releases.former import FormerDeclarations
from curador.curator.releases.notes import bought_remarks
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release, present
from curador.curator.study.quality import Quality, presented
from curador.errors import CuradorError, InvalidParameter
from curador.ledger.contract import Charge
from curador.privacy import guarantee_from_json
from curador.query.ask.question import Order, Question
from curador.query.ask.renamed import renamable, renamed
from curador.query.plan.plan import Plan

if TYPE_CHECKING:
    from curador.curator.curator import Curator

    Declarations = Curator | FormerDeclarations

NOTHING: Mapping[str, Any] = MappingProxyType({})
NOISES = (None, "laplace", "gaussian")
"""How the noise may have been chosen; the record of a charge does not say, and its fingerprint does."""


def recall(
    curator: Curator,
    charge: str,
    analyst: str | None = None,
    *,
    confidence: float = 0.95,
    language: str | None = None,
    order: Mapping[str, tuple[str, bool]] = NOTHING,
    names: Mapping[str, Mapping[str, str]] = NOTHING,
) -> Release | Publication | None:
    """What a charge bought, presented anew; None if there is no such charge, it has no answer, or is another's.

    ``order`` says for questions by their names (a single one has the empty name) by which of its columns each is
    sorted, downwards if the second is true; ``names`` gives columns other names.

    It is read under the declarations that it was bought under, whatever is declared now.

    Fails: refused where two columns would have one name; and (code ``not-recalled``) where the record does not say how
        it was planned: the question is very long, outputs were weighted, or an older version kept it.
    """
    bought = bought_by(curator, charge, analyst)
    if bought is None:
        return None
    shown = language or curator.language
    found = _made_again(curator, bought, confidence, order, names)
    if found is None:
        raise not_recalled(charge)
    if isinstance(found, Quality):
        return curator.sealed(presented(found, bought, False, shown))
    if isinstance(found, Plan):
        return curator.sealed(present(found, bought, rehearsal=False, language=shown))
    releases = {
        name: curator.sealed(one) for name, one in found.presented(bought, rehearsal=False, language=shown).items()
    }
    remarks = bought_remarks(bought, found.guarantee)
    words = found.words if _own(curator, bought.charge, analyst) else {}
    number = bought.charge.id  # however it was written
    return curator.sealed(Publication(releases, found.guarantee, found.tight, number, remarks, shown, words, True))


def renamable_columns(release: Release) -> tuple[str, ...]:
    """The columns of a release that can be shown under another name."""
    if not release.question or "quality" in release.question:
        return ()
    return renamable(Question.from_json(release.question))


def bought_by(curator: Curator, charge: str, analyst: str | None = None) -> Bought | None:
    """The measurement that a charge bought; None if there is no such charge, it has no answer, or is another's."""
    found = _charge(curator, charge, analyst)
    content = None if found is None else curator.ledger.answer(charge)
    if found is None or content is None:
        return None
    under, measurement = opened(content)
    because = str(found.note.get("because", "")) if _own(curator, found, analyst) else ""
    return Bought(measurement, found, True, because, under=under)


def _own(curator: Curator, charge: Charge, analyst: str | None) -> bool:
    """Whether the words of a charge are this asker's to see: an analyst's own, and all of them for the holder."""
    return analyst is None or charge.receiver == curator.scopes.named(analyst)


def _charge(curator: Curator, charge: str, analyst: str | None) -> Charge | None:
    """The charge, if this asker may see it: looked up by its number, however many there are."""
    scopes: Iterable[str | None] = (None,) if analyst is None else reversed(curator.scopes.ever(analyst))
    for scope in scopes:
        with suppress(InvalidParameter):
            found = curator.ledger.charge(charge, scope)
            if scope is None or found.receiver == scope:
                return found
    return None


def _made_again(
    curator: Curator,
    bought: Bought,
    confidence: float,
    order: Mapping[str, tuple[str, bool]],
    names: Mapping[str, Mapping[str, str]],
) -> Plan | Batch | None:
    """What a charge bought, planned again under the declarations of that time; None unless it is what was bought."""
    note, then = _whole_note(bought), declarations(curator, bought)
    asked, budgets = note.get("asked"), note.get("budgets")
    if not isinstance(asked, Mapping) or not isinstance(budgets, Mapping):
        return None
    each = {name: budgets.get(name, budgets.get("")) for name in asked}  # one for all, where they are equal
    if None in each.values():
        return None
    if note.get("quality") in then.tables:
        return _quality_again(curator, then, bought, each, confidence)
    for noise in NOISES:
        try:
            questions = {n: renamed(_sorted(asked[n], order.get(n)), names.get(n, NOTHING)) for n in asked}
            plans = {name: _plan(then, name, questions[name], each[name], noise, confidence) for name in asked}
            whole: Plan | Batch = plans[""] if set(plans) == {""} else Batch.noted(plans, note)
            if is_what_was_bought(curator, whole, bought):
                return whole
        except CuradorError:  # not with this noise; of an older version, declared otherwise now
            continue
    return None


def _whole_note(bought: Bought) -> Mapping[str, Any]:
    """The record of a charge, with its questions where they were too long for it; those of the first buyer's alone."""
    under = None if bought.charge.repeated else made_under(bought.under)
    return {**bought.charge.note, **({} if under is None else under.asked)}


def _quality_again(
    curator: Curator, then: Declarations, bought: Bought, each: Mapping[str, Any], confidence: float
) -> Quality | None:
    """How well a table's rows fit: not the questions of the record, which are asked of other declarations."""
    note: Mapping[str, Any] = bought.charge.note
    try:
        order = [name for name in note["batch"]["order"] if name in each]
        budgets = {name: guarantee_from_json(each[name]) for name in order}
        made = then.quality_again(note["quality"], budgets, confidence)
        return made if is_what_was_bought(curator, made, bought) else None
    except (CuradorError, KeyError, TypeError):  # as above, or not a record of ours
        return None


def declarations(curator: Curator, bought: Bought) -> Declarations:
    """The declarations that something was bought under; those of now, where an older version kept it without them."""
    under = made_under(bought.under)
    return curator if under is None else FormerDeclarations(under)


def is_what_was_bought(curator: Curator, made: Purchase, bought: Bought) -> bool:
    """Whether a purchase that was made again is the one that was bought."""
    note, under = bought.charge.note, made_under(bought.under)
    if under is not None:
        return under.code is not None and code_of(made) == under.code
    return fingerprint(made, curator.scopes.held(made.tables)) == (note.get("purchase") or note.get("fresh"))


def _sorted(asked: Mapping[str, Any], order: tuple[str, bool] | None) -> Question:
    """A question, sorted as is wanted now; that is done to noised answers."""
    found = Question.from_json(asked)
    return found if order is None or order[0] not in found.outputs else replace(found, order_by=(Order(*order),))


def _plan(
    then: Declarations, name: str, asked: Question, budget: Mapping[str, Any], noise: str | None, confidence: float
) -> Plan:
    paid = guarantee_from_json(budget)
    if isinstance(then, FormerDeclarations):
        return then.plan(asked, paid, noise, confidence)
    price = {name: value for name, value in paid.to_json().items() if name in ("epsilon", "delta", "rho")}
    return then.plan(asked, **price, noise=noise, confidence=confidence)  # type: ignore[arg-type]


def not_recalled(charge: str) -> InvalidParameter:
    return InvalidParameter(
        f"What charge {charge} bought is kept, but not how it was planned: it cannot be shown again.",
        fix="Ask the same in the same way: free while all is declared as it was then, and paid for again otherwise.",
        code="not-recalled",
        facts={"charge": charge},
    )
