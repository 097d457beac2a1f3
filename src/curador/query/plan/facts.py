"""A plan as plain values: codes, numbers and the asker's own names, from which any door makes its texts.

Nothing here is worded: the texts for a mechanism, a note or a neighbour are chosen where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates.counts import count_distinct
from curador.query.aggregates.measure import MeasureKind, Search
from curador.query.language.answers import RANKINGS, windows
from curador.query.language.clip import clipped_to
from curador.query.language.rows import PerUnit
from curador.query.language.trees import names
from curador.query.plan.expected import Expected
from curador.query.plan.steps import Largest, Noised, Ranked, Selected, Step

if TYPE_CHECKING:
    from curador.query.plan.plan import Plan

Facts = Mapping[str, Any]
"""Plain values: JSON can hold them."""


def facts_of(plan: Plan) -> Facts:
    """Everything an explanation needs; equal plans have equal facts."""
    question, table = plan.question, plan.checked.table
    return {
        "question": question.to_json(),
        "tables": list(plan.tables),
        "neighbors": plan.neighbors.value,
        "unit": table.unit.id,
        "contribution": {"groups": plan.contribution.groups, "rows": plan.contribution.rows},
        "total": plan.contribution.total,
        "per_unit": table.unit.id is not None and plan.checked.rows.single,
        "where": None if question.where is None else str(question.where),
        "groups": [group.name for group in question.group_by],
        "keys": plan.groups,
        "sets": [list(one) for one in question.sets],
        "budget": plan.budget.to_json(),
        "guarantee": plan.guarantee.to_json(),
        "event": plan.event.to_json(),
        "confidence": plan.confidence,
        "rows": plan.rows,
        "prepared": plan.prepared is not None,  # not which copy: its digest would reveal something about the rows
        "steps": [{**step_facts(s), "share": str(s.share), "event": s.event.to_json()} for s in plan.steps],
        "expected": expected_facts(plan.expected),
        "notes": notes_of(plan),
    }


def expected_facts(found: Sequence[Expected]) -> list[dict[str, Any]]:
    """The errors to expect, as plain values."""
    return [
        {
            "output": e.output,
            "error": e.value,
            "unit": e.unit,
            "confidence": e.confidence,
            "by_rows": [list(pair) for pair in e.by_rows],
            "fitted": e.fitted,
            "units": e.units,
            "spread": e.spread,
            "interval": e.interval,
            "by": None if e.by is None else list(e.by),
        }
        for e in found
    ]


@singledispatch
def step_facts(step: Step) -> dict[str, Any]:
    """A step: what it measures, the kind of its mechanism, its noise, and how far one unit moves it."""
    raise TypeError(f"no rule for {type(step).__name__}")


@step_facts.register
def _(step: Noised) -> dict[str, Any]:
    s, unit = step.sensitivity, Fraction(1, 1 << step.measure.bits)
    around = step.measure.kind is MeasureKind.AROUND
    found: dict[str, Any] = {"step": "around" if around else "noise", "measure": step.measure.label}
    if step.mechanism is None:
        return {**found, "mechanism": None}
    found |= {"mechanism": step.mechanism.kind}
    if isinstance(step.mechanism, IntegerLaplace):
        return {**found, "scale": float(step.mechanism.scale * unit), "norm": "l1", "moved": float(s.l1 * unit)}
    assert isinstance(step.mechanism, Gaussian | IntegerGaussian)
    sigma = step.mechanism.variance**0.5 * float(unit)
    return {**found, "sigma": sigma, "norm": "l2", "moved": float(s.l2 * unit)}


@step_facts.register
def _(step: Ranked) -> dict[str, Any]:
    return {
        "step": "ranks" if step.ranks.search is Search.VALUE else "powers",
        "measure": str(step.ranks.measure.column),
        "quantiles": [float(q) for q in step.ranks.quantiles],
        "mechanism": step.mechanism.kind,
        "epsilon_per_row": float(step.mechanism.epsilon),
        "rows": step.rows,
        "groups": step.groups,
    }


@step_facts.register
def _(step: Largest) -> dict[str, Any]:
    each = step.mechanism.each
    found = {"step": "largest", "k": step.mechanism.k, "mechanism": step.mechanism.kind}
    return {**found, "epsilon_each": float(each.epsilon), "moved": float(each.sensitivity)}


@step_facts.register
def _(step: Selected) -> dict[str, Any]:
    return {"step": "select", "mechanism": step.mechanism.kind, "units": step.mechanism.least(0.95)}


def having_by_noise(plan: Plan) -> bool:
    """Whether HAVING chooses groups by numbers that are noised."""
    having = plan.question.having
    return having is not None and not {n.column for n in names(having)} <= {g.name for g in plan.question.group_by}


def chosen_by_noise(plan: Plan) -> bool:
    """Whether HAVING, LIMIT or OFFSET choose the rows that are shown by numbers that are noised."""
    question = plan.question
    groups = {group.name for group in question.group_by}
    sorted_by_noise = any(o.name not in groups for o in question.order_by) or any(
        isinstance(s, Largest) for s in plan.steps
    )
    cut = question.limit is not None or question.offset > 0
    return having_by_noise(plan) or (cut and sorted_by_noise)


def at_once(plan: Plan) -> bool:
    """Whether the noise of one group moves the answers of others: then intervals are corrected for all at once."""
    q = plan.question
    return q.tree is not None or bool(q.sets) or any(windows(d.expr) for d in q.derived)


def can_cut(plan: Plan) -> bool:
    """Whether a unit's limits can leave out something that an output would count.

    Not where a unit has one row, nor where nothing but units are counted, without groups: each counts once, whatever
    is cut.
    """
    units_alone = all(o.aggregate == count_distinct() for o in plan.question.aggregates)
    return not plan.checked.rows.single and not (units_alone and not plan.question.group_by)


def notes_of(plan: Plan) -> list[dict[str, Any]]:
    """Notes for a reader of the answer, as codes: what intervals cover, what is free, what was left out."""
    question, checked = plan.question, plan.checked
    found: list[dict[str, Any]] = [{"code": "covers"}]
    if can_cut(plan):
        kept, limits = plan.contribution, {"unit": checked.table.unit.id, "rows": plan.contribution.rows}
        in_groups = question.group_by and kept.total is None
        found.append({"code": "rows-left-out", **limits, "groups": kept.groups if in_groups else None})
    if isinstance(question.source, PerUnit):
        found.append({"code": "per-unit", "unit": checked.table.unit.id})
    counted = [o.aggregate.column for o in question.aggregates if o.aggregate.column is not None]
    if most := clipped_to([*counted, *(g.expr for g in question.group_by)], question.rows):
        code = "clipped-per-unit" if isinstance(question.source, PerUnit) else "clipped-beside"
        found.append({"code": code, "rows": most, "unit": checked.table.unit.id})
    if joined := checked.rows.rows_joined_per_unit:
        outer = any(j.kind == "unit" and j.outer for j in question.joins)
        found.append({"code": "joined-outer" if outer else "joined", "rows": dict(joined)})
    inside = dict(pair for joined in checked.rows.joined_inside for pair in joined.items())
    if inside:
        found.append({"code": "joined-inside", "rows": inside})
    if checked.rows.one_match:
        found.append({"code": "public-join-once"})
    if plan.prepared is not None and question.where is not None:
        found.append({"code": "prepared-before-filter"})
    elif plan.prepared is not None and not plan.prepared.alike(checked):
        found.append({"code": "prepared-for-others"})
    if any(isinstance(s, Noised) and isinstance(s.mechanism, Gaussian) for s in plan.steps):
        found.append({"code": "gaussian-together"})
    if any(isinstance(s, Selected) for s in plan.steps):
        found.append({"code": "groups-selected"})
    for units in {e.units for e in plan.expected if e.units is not None}:
        found.append({"code": "selected-by-count", "units": units})
    for spread in {e.spread for e in plan.expected if e.spread is not None}:
        found.append({"code": "spread-evenly", "deviation": spread})
    if question.tree is not None:
        found.append({"code": "tree-fitted"})
    if question.sets:
        several = any(isinstance(s, Noised) and s.measure.level is not None for s in plan.steps)
        found.append({"code": "sets-fitted" if several else "sets-added"})
    if question.having is not None or question.order_by or question.limit is not None or question.offset:
        found.append({"code": "post-processing"})
    if question.derived:
        found.append({"code": "computed"})
    found += _window_notes(plan)
    if chosen_by_noise(plan):
        found.append({"code": "chosen-at-once" if at_once(plan) else "chosen-by-noise"})
    if any(r.function in ("minimum", "maximum", "bounds") for r in plan.recipes):
        found.append({"code": "extremes"})
    return found


def _window_notes(plan: Plan) -> list[dict[str, Any]]:
    """What is to be known of answers that look at those of other groups."""
    seen = {over.function for d in plan.question.derived for over in windows(d.expr)}
    found = [{"code": "extreme-of-noised"}] if seen & {"min", "max"} else []
    found += [{"code": "places-of-noised"}] if seen & set(RANKINGS) else []
    private = plan.checked.keys is None or plan.question.having is not None
    return found + ([{"code": "total-of-shown"}] if private and seen & {"sum", "avg", "count"} else [])
