"""A plan as plain values: codes, numbers and the asker's own names, from which any door makes its texts.

Nothing here is worded: the texts for a mechanism, a note or a neighbour are chosen where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.measure import MeasureKind, Search
from curador.query.language import expressions as ex
from curador.query.language.answers import RANKINGS, windows
from curador.query.language.bounds import has_no_other_values, typecheck
from curador.query.language.clip import clipped_to
from curador.query.language.rows import PerUnit
from curador.query.language.trees import names
from curador.query.plan.expected import Expected
from curador.query.plan.steps import Largest, Noised, Ranked, Selected, Step

if TYPE_CHECKING:
    from curador.query.language.types import Scope
    from curador.query.plan.checked import Checked
    from curador.query.plan.plan import Plan
    from curador.query.tables.columns import Key

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
    """Notes for a reader of the answer, as codes: what was left out, what intervals cover, what is free.

    What was cut stands first: an answer may be off by more than its interval for that reason alone.
    """
    question, checked = plan.question, plan.checked
    found: list[dict[str, Any]] = [*map(dict, plan.undeclared), *_public_count(plan), *_cut_notes(plan)]
    if keyless := _without_keys(checked):
        found.append(keyless)
    found.append({"code": "covers"})
    if isinstance(question.source, PerUnit):
        found.append({"code": "per-unit", "unit": checked.table.unit.id})
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


def _cut_notes(plan: Plan) -> list[dict[str, Any]]:
    """What limits on one unit take away, which no interval covers."""
    question, checked = plan.question, plan.checked
    found: list[dict[str, Any]] = []
    counted = [o.aggregate.column for o in question.aggregates if o.aggregate.column is not None]
    if most := clipped_to([*counted, *(g.expr for g in question.group_by)], question.rows):
        code = "clipped-per-unit" if isinstance(question.source, PerUnit) else "clipped-beside"
        found.append({"code": code, "rows": most, "unit": checked.table.unit.id})
    if can_cut(plan):
        kept, limits = plan.contribution, {"unit": checked.table.unit.id, "rows": plan.contribution.rows}
        in_groups = question.group_by and kept.total is None
        found.append({"code": "rows-left-out", **limits, "groups": kept.groups if in_groups else None})
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
    return found


def _public_count(plan: Plan) -> list[dict[str, Any]]:
    """A note on a count that is paid for although its table's declaration says it."""
    question, table = plan.question, plan.checked.table
    whole = question.source is None and question.where is None and not (question.joins or question.group_by)
    counted = count() if table.unit.id is None else count_distinct()
    asked = [o.name for o in question.aggregates if o.aggregate == counted]
    paid = any(isinstance(s, Noised) and s.mechanism is not None and s.measure.kind in COUNTED for s in plan.steps)
    if table.size is None or not (whole and asked and paid):
        return []
    return [{"code": "public-count", "outputs": ", ".join(asked), "size": table.size}]


COUNTED = (MeasureKind.ROWS, MeasureKind.UNITS)

# ---- rows in no group ------------------------------------------------------------------------------------------------


def _without_keys(checked: Checked) -> dict[str, Any] | None:
    """A note on rows that are in no group; None where declarations and the question leave none.

    ``missing`` are the groups whose value may be NULL, ``other`` those where it may also be none of the public ones.
    """
    question = checked.question
    if checked.keys is None:  # then NULL is a group as any other
        return None
    joined = [ex.Compare("=", a, ex.Name(b, j.table)) for j in question.joins if not j.outer for a, b in j.on]
    tests = [*joined, *_all_true(question.where)]
    listed = {name for given in question.keys for name in given.groups}
    found: dict[str, list[str]] = {"missing": [], "other": []}
    for group, t in zip(question.group_by, checked.groups, strict=True):
        lost = _lost(group.expr, t.domain, tests, checked.scope)
        given = question.tree is not None or group.name in listed
        if given and not any(_among(test, group.expr, t.domain) for test in tests):
            lost.add("other")
        if lost:
            found["other" if "other" in lost else "missing"].append(group.name)
    return {"code": "without-keys", **found} if found["missing"] or found["other"] else None


def _lost(e: ex.Expr, domain: tuple[Key, ...] | None, tests: Sequence[ex.Expr], scope: Scope) -> set[str]:
    """What rows that pass the tests may have in place of a public value: NULL, or another value.

    Without a domain the public values are all those of a joined public table.
    """
    if isinstance(e, ex.Literal):
        return {"missing"} if e.kind is None else set()
    if any(_among(test, e, domain) for test in tests):
        return set()
    if isinstance(e, ex.Case):
        results = [(value, [*tests, *_all_true(test)]) for test, value in e.whens] + [(e.otherwise, [*tests])]
        return {code for value, known in results for code in _lost(value, domain, known, scope)}
    present = {x for test in tests for x in _not_null(test)}
    here = {**scope, **{n: replace(scope[n], nullable=False) for n in present & scope.keys() if isinstance(n, ex.Name)}}
    t = typecheck(e.operand if isinstance(e, ex.Bin) else e, here)
    found = {"missing"} if t.nullable and e not in present else set()
    if isinstance(e, ex.Bin):
        inside = t.bounds is not None and e.edges[0] <= t.bounds[0] <= t.bounds[1] <= e.edges[-1]
        return found if inside else {"other"}
    return found if domain is None or has_no_other_values(e, scope) else {"other"}


def _all_true(where: ex.Expr | None) -> Iterator[ex.Expr]:
    """The conditions that must all hold."""
    if isinstance(where, ex.And):
        for part in where.parts:
            yield from _all_true(part)
    elif where is not None:
        yield where


def _not_null(test: ex.Expr) -> Iterator[ex.Expr]:
    """What cannot be NULL where a condition holds."""
    if isinstance(test, ex.Not) and isinstance(test.operand, ex.IsNull):
        yield test.operand.operand
    plain = test.operand if isinstance(test, ex.Not) else test
    if isinstance(plain, ex.Compare):
        yield from (plain.left, plain.right)
    elif isinstance(plain, ex.In):
        yield plain.operand
    else:
        yield plain


def _among(test: ex.Expr, e: ex.Expr, domain: tuple[Key, ...] | None) -> bool:
    """Whether a condition lets nothing through but some of the public values of what is grouped by."""
    if isinstance(test, ex.In):
        return test.operand == e and all(x.value in (domain or ()) for x in test.values)
    if isinstance(test, ex.Compare) and test.op == "=" and isinstance(test.right, ex.Literal):
        return test.left == e and test.right.value in (domain or ())
    return False


# ---- what is computed from answers -----------------------------------------------------------------------------------


def _window_notes(plan: Plan) -> list[dict[str, Any]]:
    """What is to be known of answers that look at those of other groups."""
    seen = {over.function for d in plan.question.derived for over in windows(d.expr)}
    found = [{"code": "extreme-of-noised"}] if seen & {"min", "max"} else []
    found += [{"code": "places-of-noised"}] if seen & set(RANKINGS) else []
    private = plan.checked.keys is None or plan.question.having is not None
    return found + ([{"code": "total-of-shown"}] if private and seen & {"sum", "avg", "count"} else [])
