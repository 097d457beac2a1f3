"""From a noised measurement to the columns of an answer: post-processing, which reads nothing but what was released.

Estimates with intervals first, then HAVING, computed columns, ORDER BY and LIMIT, then labels.  Every interval covers
the statistic that was protected, with values clipped to their bounds and units cut to their limits; it says nothing
about what clipping and cutting left out, nor about a larger population.  Each covers by itself, not all of them at
once.

Choosing what to show by the noise that is shown spoils intervals, so they are corrected.  Where a noised count decides
whether its group is shown at all, its interval is made from the law that is left (``Noised.ends``).  Where HAVING and
LIMIT choose rows by noised numbers, the intervals of the rows shown are made wider (``corrected``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from curador.errors import InvalidParameter
from curador.query.aggregates.base import Estimate, Recipe
from curador.query.aggregates.quantiles.around import Looks
from curador.query.aggregates.quantiles.ranks import rank_estimates
from curador.query.answer.derived import Noisy, interval_of
from curador.query.answer.evaluate import Cells, evaluated, in_order
from curador.query.answer.fitted import Fitted, fitted
from curador.query.answer.noisy import NoisyCounts
from curador.query.answer.together import families
from curador.query.ask.question import Question
from curador.query.language import expressions as ex
from curador.query.plan.facts import at_once, chosen_by_noise, having_by_noise
from curador.query.plan.plan import Plan
from curador.query.plan.steps import Ranked, Step
from curador.query.tables.columns import Kind, day_of, moment_of

Ends = tuple[Any, Any]
"""The lower and the upper end of an interval: numbers, or dates."""

_DATES: dict[Kind | None, Callable[[int], date]] = {Kind.DATE: day_of, Kind.TIMESTAMP: moment_of}
"""What is chosen among dates and timestamps is measured in days and seconds."""


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
    return presented(plan, fitted(plan, noisy))


def answered_together(plans: Mapping[str, Plan], noisy: Mapping[str, NoisyCounts]) -> dict[str, Answered]:
    """The columns of several answers at once: tables about the same rows are made to agree."""
    rows = {name: fitted(plan, noisy[name]) for name, plan in plans.items()}
    for family in families(plans)[0]:
        rows |= family.fitted(noisy, rows)
    return {name: presented(plan, rows[name]) for name, plan in plans.items()}


def presented(plan: Plan, noisy: Fitted) -> Answered:
    """The columns to show, from rows whose numbers were made to agree."""
    question = plan.question
    made = estimates(plan.recipes, plan.steps, noisy, plan.confidence)
    groups = {g.name: tuple(key[i] for key in noisy.keys) for i, g in enumerate(question.group_by)}
    kinds = plan.checked.kinds
    found: dict[str, Cells] = {**groups, **{e.name: _dated(e.values, kinds[e.name]) for e in made}}
    left = kept(question, found, len(noisy.keys))
    columns = computed(question, {name: [cells[i] for i in left] for name, cells in found.items()}, len(left))
    places = ordered(question, columns, len(left))
    level = plan.confidence
    if places and len(noisy.keys) > 1 and chosen_by_noise(plan):
        level = corrected(level, 1 if noisy.joint or at_once(plan) else len(places), len(noisy.keys))
        made = estimates(plan.recipes, plan.steps, noisy, level)  # the same values, with other ends
    found_ends = ((e.name, _intervals(e, left, kinds[e.name])) for e in made)
    intervals: dict[str, Sequence[Ends]] = {name: ends for name, ends in found_ends if ends is not None}
    intervals |= _computed_intervals(plan, noisy, left, columns, level)
    ranks = {e.name: e.ranks for e in made if e.ranks is not None}
    again = {d.name: d.expr.column for d in question.derived if isinstance(d.expr, ex.Name)}  # under another name
    ranks |= {name: ranks[column] for name, column in again.items() if column in ranks}
    labels = {g.name: g.expr.labels for g in question.group_by if isinstance(g.expr, ex.Bin)}
    return Answered(
        {name: _labelled([columns[name][i] for i in places], labels.get(name)) for name in question.outputs},
        tuple(groups),
        {
            name: tuple([ends[i] for i in places])
            for name in question.outputs
            if (ends := intervals.get(name)) is not None
        },
        {name: ranks[name] for name in question.outputs if name in ranks},
    )


def _computed_intervals(
    plan: Plan, noisy: Fitted, left: Sequence[int], columns: Mapping[str, Cells], level: float
) -> dict[str, list[Ends]]:
    """The intervals of the derived columns that are shown, in the groups that HAVING leaves."""
    question = plan.question
    numeric = {name for name, kind in plan.checked.kinds.items() if kind is not None and kind.numeric}
    wanted = [d for d in question.derived if d.name in question.outputs and d.name in numeric]
    if not wanted:
        return {}
    names = frozenset(g.name for g in question.group_by)
    at = Noisy(plan.recipes, noisy, left, columns, names, having_by_noise(plan))
    out: dict[str, list[Ends]] = {}
    for d in wanted:
        ends = interval_of(d.expr, at, level)
        if ends is not None:
            cells = zip(columns[d.name], ends[0].tolist(), ends[1].tolist(), strict=True)
            out[d.name] = [(low, high) if x is None else _around(x, low, high) for x, low, high in cells]
    return out


def _around(x: float, low: float, high: float) -> Ends:
    """Ends that hold x too; an integer beyond doubles has none on its side."""
    try:
        near = float(x)
    except OverflowError:
        return (-math.inf, high) if x < 0 else (low, math.inf)
    return min(low, math.nextafter(near, -math.inf) if near > x else near), max(
        high, math.nextafter(near, math.inf) if near < x else near
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
            code="confidence-corrected",
            facts={"confidence": confidence, "among": among},
        )
    return level


def _labelled(cells: Cells, labels: Sequence[str] | None) -> tuple[Any, ...]:
    return tuple(cells if labels is None else [None if cell is None else labels[cell] for cell in cells])


def _intervals(estimate: Estimate, places: Sequence[int], kind: Kind | None) -> tuple[Ends, ...] | None:
    if estimate.lower is None or estimate.upper is None:
        return None
    low: Cells = estimate.lower
    high: Cells = estimate.upper
    if kind in _DATES:
        low, high = _dated(list(map(math.floor, low)), kind), _dated(list(map(math.ceil, high)), kind)
    return tuple([(low[i], high[i]) for i in places])


def _dated(numbers: Cells, kind: Kind | None) -> Cells:
    """Days and seconds as the dates and timestamps that they are; other values as they are."""
    shaped = _DATES.get(kind)
    return numbers if shaped is None else [None if x is None else shaped(int(x)) for x in numbers]


# ---- estimates -------------------------------------------------------------------------------------------------------


def estimates(recipes: Sequence[Recipe], steps: Sequence[Step], noisy: Fitted, confidence: float) -> list[Estimate]:
    """Every output of a question, computed from noised measures.

    Guarantee: post-processing; the answers cost nothing beyond their measures [DR14].
    """
    ranked = {step.ranks: step for step in steps if isinstance(step, Ranked)}
    out: list[Estimate] = []
    looks = Looks()
    for recipe in recipes:
        if recipe.ranks is not None:
            ranks = ranked[recipe.ranks].error(confidence)
            found, cells = noisy.ranked[recipe.ranks], noisy.cells(recipe)
            out += rank_estimates(recipe, found, ranks, cells, confidence, looks)
        else:
            out.append(noisy.estimate(recipe, confidence))
    return out


# ---- HAVING, computed columns, ORDER BY and LIMIT --------------------------------------------------------------------


def kept(question: Question, columns: Mapping[str, Cells], rows: int) -> list[int]:
    """The places of the groups that HAVING leaves.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.ask.question import Output
    >>> q = Question("t", (Output("n", count()),), having=ex.Compare(">", ex.Name("n"), ex.Literal(0)))
    >>> kept(q, {"n": (3, -1, 8)}, 3)
    [0, 2]
    """
    if question.having is None:
        return list(range(rows))
    return [i for i, true in enumerate(evaluated(question.having, columns, rows)) if true is True]


def computed(question: Question, columns: Mapping[str, Cells], rows: int) -> dict[str, Cells]:
    """The columns of the answer, and those derived from them."""
    return {**columns, **{d.name: evaluated(d.expr, columns, rows) for d in question.derived}}


def ordered(question: Question, columns: Mapping[str, Cells], rows: int) -> list[int]:
    """The places of the rows that are shown, in the order asked for; without one, in the order they come.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.ask.question import Order, Output
    >>> q = Question("t", (Output("n", count()),), order_by=(Order("n", descending=True),), limit=2)
    >>> ordered(q, {"n": (3, -1, 8)}, 3)
    [2, 0]
    """
    places = list(range(rows))
    for order in reversed(question.order_by):  # sorting is stable: the last key first
        places = in_order(places, columns[order.name], order.descending)
    return places[question.offset :][: question.limit]
