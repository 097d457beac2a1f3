"""A plan in words and in plain values: what it costs, how that is split, with what noise, and how wrong it will be."""

from __future__ import annotations

import html
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from textwrap import wrap
from typing import Any

from curador.mechanisms.base import AdditiveNoise, Mechanism
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.selection import TopK
from curador.mechanisms.thresholded import Thresholded
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP
from curador.query.answer.estimates import COVERS
from curador.query.plan.plan import Plan
from curador.query.plan.steps import Largest, Noised, Ranked, Selected, Step

WIDTH = 80
"""Columns that sentences are broken at."""


@dataclass(frozen=True)
class Explanation:
    """A plan with the statements an engine would run for it; prints as text.

    ``engine`` and ``sql`` are what reads the data: exact integers, which the plan's noise is added to.
    """

    plan: Plan
    engine: str
    sql: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([explain(self.plan), "", f"{self.engine} runs:", *self.sql])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """The plan and the statements as plain values."""
        return {**to_dict(self.plan), "engine": self.engine, "sql": list(self.sql)}


def explain(plan: Plan) -> str:
    """The plan as text for people."""
    parts = [
        *_heading(plan),
        "",
        *_aligned(["output", f"expected error ({plan.confidence:.0%})"], [[e.output, e.text] for e in plan.expected]),
        "",
        *_aligned(
            ["paid for", "share", "mechanism", "noise", "moved by one unit"],
            [[s.label, _share(s), *described(s)] for s in plan.steps],
        ),
        "",
        *(line for note in notes(plan) for line in wrap(note, WIDTH, initial_indent="* ", subsequent_indent="  ")),
    ]
    return "\n".join(line.rstrip() for line in parts)


def _heading(plan: Plan) -> list[str]:
    question, kept = plan.question, plan.contribution
    table = plan.checked.table
    lines = [f"table      {', '.join(plan.tables)}"]
    unit = "one row" if table.unit.id is None else f"everything of one {table.unit.id!r}"
    how = "added or removed" if plan.neighbors is Neighbors.ADD_REMOVE else "replaced by another"
    lines.append(f"protects   {unit}, {how}")
    if table.unit.id is not None:
        groups = f"{kept.groups} group{'s' * (kept.groups > 1)}" if question.group_by else "the whole answer"
        when = "" if question.where is None else ", before the filter" if plan.prepared else ", after the filter"
        lines.append(f"keeps      of each, at most {kept.rows} row{'s' * (kept.rows > 1)} in {groups}{when}")
    if question.where is not None:
        lines.append(f"where      {question.where}")
    if question.group_by:
        by = ", ".join(g.name for g in question.group_by)
        keys = plan.checked.keys
        lines.append(f"groups     {by}: " + ("selected privately" if keys is None else f"{len(keys)} public"))
    lines.append(f"costs      {worded(plan.promise)}, once")
    return lines


def _share(step: Step) -> str:
    return f"{float(100 * step.share):.3g} %" if step.share else "free"


def _aligned(head: list[str], rows: list[list[str]]) -> list[str]:
    """Columns of text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (head, *rows)]
    return [lines[0], "─" * (sum(widths) + 2 * (len(widths) - 1)), *lines[1:]]


# ---- steps -------------------------------------------------------------------------------------------------------


@singledispatch
def described(step: Step) -> tuple[str, str, str]:
    """The mechanism of a step, its noise and its sensitivity, in words."""
    raise TypeError(f"no rule for {type(step).__name__}")


@described.register
def _(step: Noised) -> tuple[str, str, str]:
    s = step.sensitivity
    if step.mechanism is None:
        return "none needed", "exact", "nothing: neighbours agree on it"
    unit = Fraction(1, 1 << step.measure.bits)
    moved = f"l1 {_number(s.l1 * unit)}"
    if isinstance(step.mechanism, Gaussian | IntegerGaussian):
        moved = f"l2 {_number(s.l2 * unit)}"
    return _name(step.mechanism), _scale(step.mechanism, unit), moved


@described.register
def _(step: Ranked) -> tuple[str, str, str]:
    ranks = f"{step.rows} rank{'s' * (step.rows > 1)} in {step.groups} group{'s' * (step.groups > 1)}"
    return _name(step.mechanism), f"epsilon {_number(step.mechanism.epsilon)} per row", ranks


@described.register
def _(step: Largest) -> tuple[str, str, str]:
    each = step.mechanism.each
    return _name(step.mechanism), f"epsilon {_number(each.epsilon)} each", f"{_number(each.sensitivity)} in a count"


@described.register
def _(step: Selected) -> tuple[str, str, str]:
    least = f"sure from about {step.mechanism.least(0.95)} units"
    return _name(step.mechanism), least, "1 unit in a group"


_NAMES: dict[type[Mechanism], str] = {
    IntegerLaplace: "integer Laplace",
    Gaussian: "Gaussian",
    IntegerGaussian: "integer Gaussian",
    Quantiles: "exponential",
    TopK: "exponential",
    OptimalKeys: "optimal selection",
}


def _name(mechanism: Mechanism) -> str:
    if isinstance(mechanism, Thresholded):
        return "threshold on a noisy count"
    return _NAMES[type(mechanism)]


def _scale(mechanism: AdditiveNoise, unit: Fraction) -> str:
    if isinstance(mechanism, IntegerLaplace):
        return f"scale {_number(mechanism.scale * unit)}"
    return f"sigma {mechanism.variance**0.5 * float(unit):.4g}"


def _number(x: Fraction | int) -> str:
    return f"{float(x):.6g}"


# ---- words -------------------------------------------------------------------------------------------------------


@singledispatch
def worded(promise: Guarantee) -> str:
    """A guarantee in a few words.

    >>> worded(PureDP(0.5)), worded(ApproxDP(1, 1e-6))
    ('epsilon 0.5', 'epsilon 1, delta 1e-06')
    """
    return repr(promise)


@worded.register
def _(promise: PureDP) -> str:
    return f"epsilon {promise.epsilon:g}"


@worded.register
def _(promise: ApproxDP) -> str:
    return f"epsilon {promise.epsilon:g}, delta {promise.delta:g}"


@worded.register
def _(promise: ZCDP) -> str:
    return f"rho {promise.rho:g}" + (f", delta {promise.delta:g}" if promise.delta else "")


def notes(plan: Plan) -> list[str]:
    """What a reader of the answer should know: what intervals cover, what is post-processing, what was cut."""
    question = plan.question
    said = [COVERS]
    if plan.checked.table.unit.id is not None:
        said.append(
            "Rows beyond a unit's limits are left out before anything is measured; how many they are is not known "
            "without paying for it. Counts and sums are therefore of the rows kept."
        )
    if plan.checked.rows_joined_per_unit:
        said.append(_joined_note(plan))
    if plan.prepared is not None and question.where is not None:
        said.append(
            "The rows of each unit were chosen when the table was prepared, before the filter: rows that the filter "
            "drops used up the limits, so fewer are left than without the prepared table."
        )
    if any(isinstance(s, Noised) and isinstance(s.mechanism, Gaussian) for s in plan.steps):
        said.append("Shares of Gaussian noise divide its mu squared: together they are one Gaussian mechanism.")
    if any(isinstance(s, Selected) for s in plan.steps):
        said.append("Groups of few units are left out; which ones are shown is random.")
    if question.tree is not None:
        said.append(
            "Counts are noised at every level of the tree, then made to agree and not to be negative; public totals "
            "are kept. That costs nothing, and pulls small counts up: they are no longer unbiased."
        )
    if question.having is not None or question.order_by or question.limit is not None:
        said.append("HAVING, ORDER BY and LIMIT act on the noised answer and cost nothing.")
    if any(r.function in ("minimum", "maximum", "lower", "upper") for r in plan.recipes):
        said.append("The least and the largest value are asked as the 1 % and 99 % quantiles: beyond them is noise.")
    return said


def _joined_note(plan: Plan) -> str:
    """What is cut before private tables are joined, and what that does to the answer."""
    most = " and ".join(f"{n} rows of {name!r}" for name, n in plan.checked.rows_joined_per_unit.items())
    said = (
        f"Of each unit at most {most} are joined, chosen before the join. A unit with more loses pairs of rows that "
        "match, so counts and sums of joined rows are too small, by how much is not known without paying for it."
    )
    if any(j.kind == "unit" and j.outer for j in plan.question.joins):
        said += " A row that is kept may lose its match, and then counts as one that has none."
    return said


# ---- plain values ------------------------------------------------------------------------------------------------


def to_dict(plan: Plan) -> dict[str, Any]:
    """The plan as plain values; two equal plans make equal dictionaries."""
    return {
        "question": plan.question.to_json(),
        "tables": list(plan.tables),
        "neighbors": plan.neighbors.value,
        "unit": plan.checked.table.unit.id,
        "contribution": {"groups": plan.contribution.groups, "rows": plan.contribution.rows},
        "keys": None if plan.checked.keys is None else len(plan.checked.keys),
        "budget": plan.budget.to_json(),
        "guarantee": plan.promise.to_json(),
        "event": plan.event.to_json(),
        "rows": plan.rows,
        "prepared": plan.prepared is not None,  # not which copy: its digest would tell about the rows
        "steps": [_step(s) for s in plan.steps],
        "expected": [
            {"output": e.output, "error": e.value, "unit": e.unit, "confidence": e.confidence, "text": e.text}
            for e in plan.expected
        ],
        "notes": notes(plan),
    }


def _step(step: Step) -> dict[str, Any]:
    mechanism, noise, moved = described(step)
    return {
        "what": step.label,
        "share": str(step.share),
        "mechanism": mechanism,
        "noise": noise,
        "moved": moved,
        "event": step.event.to_json(),
    }
