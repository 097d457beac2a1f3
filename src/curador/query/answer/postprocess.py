"""From a noised measurement to the columns of an answer: post-processing, which reads nothing but what was released.

Estimates with intervals first, then HAVING, ORDER BY and LIMIT, then labels.  Every interval covers the statistic that
was protected, with values clipped to their bounds and units cut to their limits; it says nothing about what clipping
and cutting left out, nor about a larger population.  Each covers by itself, not all of them at once.

Choosing what to show by the noise that is shown spoils intervals, so they are corrected.  Where a noised count decides
whether its group is shown at all, its interval is made from the law that is left (``Noised.ends``).  Where HAVING and
LIMIT choose rows by noised numbers, the intervals of the rows shown are made wider (``corrected``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import singledispatch
from typing import Any, TypeVar

from curador.errors import InvalidParameter
from curador.numbers import rational
from curador.query.aggregates.base import Estimate, Recipe, function_named
from curador.query.aggregates.ranks import rank_estimates
from curador.query.answer.noisy import NoisyCounts
from curador.query.ask.question import Order, Question
from curador.query.language import expressions as ex
from curador.query.plan.facts import chosen_by_noise
from curador.query.plan.plan import Plan
from curador.query.plan.steps import Noised, Ranked, Step

Ends = tuple[float, float]
"""The lower and the upper end of an interval."""


@dataclass(frozen=True)
class Answered:
    """Columns in the order of the question, one value per row that is shown."""

    columns: Mapping[str, tuple[Any, ...]]
    groups: tuple[str, ...]
    intervals: Mapping[str, tuple[Ends, ...]]
    ranks: Mapping[str, float]


def answered(plan: Plan, noisy: NoisyCounts) -> Answered:
    """The columns to show, from a noised measurement; reads nothing else.

    Guarantee: post-processing [DR14]; of the intervals shown, the expected part that miss is at most 1 - confidence.
    """
    question = plan.question
    made = estimates(plan.recipes, plan.steps, noisy, plan.confidence)
    groups = {g.name: tuple(key[i] for key in noisy.keys) for i, g in enumerate(question.group_by)}
    columns: dict[str, Sequence[Any]] = {**groups, **{e.name: e.values for e in made}}
    # The place of a row travels with it under a name that no column has.
    rows = [{"": i, **{name: cells[i] for name, cells in columns.items()}} for i in range(len(noisy.keys))]
    places: list[Any] = [row[""] for row in finish(question, rows)]
    if places and len(rows) > 1 and chosen_by_noise(plan):
        level = corrected(plan.confidence, 1 if question.tree is not None else len(places), len(rows))
        made = estimates(plan.recipes, plan.steps, noisy, level)  # the same values, with other ends
    labels = {g.name: g.expr.labels for g in question.group_by if isinstance(g.expr, ex.Bin)}
    return Answered(
        {name: tuple(_labelled(cells[i], labels.get(name)) for i in places) for name, cells in columns.items()},
        tuple(groups),
        {e.name: ends for e in made if (ends := _intervals(e, places)) is not None},
        {e.name: e.ranks for e in made if e.ranks is not None},
    )


def corrected(confidence: float, shown: int, among: int) -> float:
    """The confidence of each interval, where ``shown`` of ``among`` groups were chosen by their noised numbers.

    Guarantee: the noise of different groups is independent, and as long as a group is shown, its own noise does not
    change how many are; so the expected part of the intervals shown that miss is at most 1 - confidence [BY05].  With
    ``shown`` 1 all intervals cover at once with that confidence, whatever depends on what (a union bound).

    >>> round(corrected(0.95, 1, 50), 6), corrected(0.95, 50, 50) >= 0.95
    (0.999, True)
    """
    level = math.nextafter(1 - (1 - confidence) * shown / among, 1)
    if level == 1:
        raise InvalidParameter(
            f"At a confidence of {confidence} intervals cannot be corrected for a choice among {among} groups.",
            fix="Choose a lower confidence.",
        )
    return level


def _labelled(cell: Any, labels: Sequence[str] | None) -> Any:
    return cell if labels is None or cell is None else labels[cell]


def _intervals(estimate: Estimate, places: list[Any]) -> tuple[Ends, ...] | None:
    if estimate.lower is None or estimate.upper is None:
        return None
    return tuple((estimate.lower[i], estimate.upper[i]) for i in places)


# ---- estimates -------------------------------------------------------------------------------------------------------


def estimates(
    recipes: Sequence[Recipe], steps: Sequence[Step], noisy: NoisyCounts, confidence: float
) -> list[Estimate]:
    """Every output of a question, computed from noised measures.

    Guarantee: post-processing; the answers cost nothing beyond their measures [DR14].
    """
    noised = {step.measure: step for step in steps if isinstance(step, Noised)}
    ranked = {step.ranks: step for step in steps if isinstance(step, Ranked)}
    out: list[Estimate] = []
    for recipe in recipes:
        if recipe.ranks is not None:
            out += rank_estimates(recipe, noisy.ranked[recipe.ranks], ranked[recipe.ranks].error(confidence))
        else:
            parts = [(noisy.measured[m], noised[m]) for m in recipe.measures]
            out.append(function_named(recipe.function).estimate(recipe, parts, confidence))
    return out


# ---- HAVING, ORDER BY and LIMIT --------------------------------------------------------------------------------------

AnswerRow = Mapping[str, object]
_Row = TypeVar("_Row", bound=AnswerRow)


def finish(question: Question, rows: Iterable[_Row]) -> list[_Row]:
    """The rows of a noised answer that are shown, in the order asked for; without one, in the order they come.

    Guarantee: post-processing; reads nothing but what is about to be released [DMNS06].

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.ask.question import Output
    >>> q = Question("t", (Output("n", count()),), order_by=(Order("n", descending=True),), limit=2)
    >>> finish(q, [{"n": 3}, {"n": -1}, {"n": 8}])
    [{'n': 8}, {'n': 3}]
    """
    kept = [row for row in rows if question.having is None or holds(question.having, row) is True]
    for order in reversed(question.order_by):  # sorting is stable: the last key first
        known = [row for row in kept if _value(row[order.name]) is not None]
        unknown = [row for row in kept if _value(row[order.name]) is None]
        kept = sorted(known, key=lambda row: _sortable(row, order), reverse=order.descending) + unknown
    return kept if question.limit is None else kept[: question.limit]


def _sortable(row: AnswerRow, order: Order) -> Fraction | str | int:
    found = _value(row[order.name])
    assert found is not None
    return found


def _value(x: object) -> Fraction | str | int | None:
    """A value that compares with its like: numbers exactly, dates as days, NaN as unknown."""
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return None
    if isinstance(x, float) and math.isinf(x):
        return Fraction(10) ** 400 * (1 if x > 0 else -1)  # beyond every double
    if isinstance(x, date):
        return x.toordinal()
    return x if isinstance(x, str | bool) else rational(x, "an answer")


@singledispatch
def holds(e: ex.Expr, row: AnswerRow) -> bool | None:
    """Whether a condition is true of a row of the answer: true, false, or None where that is unknown.

    >>> holds(ex.Compare(">", ex.Name("n"), ex.Literal(5)), {"n": 7.5})
    True
    """
    found = _operand(e, row)
    assert found is None or isinstance(found, bool)
    return found


def _operand(e: ex.Expr, row: AnswerRow) -> Fraction | str | int | None:
    if isinstance(e, ex.Name):
        return _value(row[e.column])
    assert isinstance(e, ex.Literal), "HAVING was checked to compare names and literals"
    return _value(e.value)


@holds.register
def _(e: ex.Compare, row: AnswerRow) -> bool | None:
    a, b = _operand(e.left, row), _operand(e.right, row)
    if a is None or b is None:
        return None
    if e.op in ("=", "<>"):
        return (a == b) is (e.op == "=")
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[e.op]


@holds.register
def _(e: ex.In, row: AnswerRow) -> bool | None:
    a = _operand(e.operand, row)
    return None if a is None else a in [_operand(v, row) for v in e.values]


@holds.register
def _(e: ex.IsNull, row: AnswerRow) -> bool | None:
    return _operand(e.operand, row) is None


@holds.register
def _(e: ex.Not, row: AnswerRow) -> bool | None:
    found = holds(e.operand, row)
    return None if found is None else not found


@holds.register
def _(e: ex.And, row: AnswerRow) -> bool | None:
    found = [holds(x, row) for x in e.operands]
    return False if False in found else None if None in found else True


@holds.register
def _(e: ex.Or, row: AnswerRow) -> bool | None:
    found = [holds(x, row) for x in e.operands]
    return True if True in found else None if None in found else False
