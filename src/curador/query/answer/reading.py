"""Which answers mislead who reads the number alone: intervals as wide as the declared bounds, or narrower than the step
that reals were rounded to; counts below zero.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from curador.query.aggregates.base import Recipe, function_named
from curador.query.answer.postprocess import Answered, Ends
from curador.query.language import expressions as ex
from curador.query.plan.plan import Plan
from curador.query.tables.columns import Kind

COUNTS = ("count", "count_distinct")
ROUNDED = ("mean", "sum")
"""What adds up values, each of which was rounded down: no noise hides that where there are many."""
NEARLY = 0.95
"""An interval that covers this part of all possible answers tells them apart no more."""


def reading_notes(plan: Plan, found: Answered) -> tuple[dict[str, Any], ...]:
    """Notes on intervals that are nearly all that was possible before asking, or finer than the step of what was read;
    and on counts below zero.

    Guarantee: post-processing [DR14]; reads the declarations and the noised answer alone.
    """
    rows = len(next(iter(found.columns.values()), ()))
    hit: dict[str, int] = {}
    for recipe in plan.recipes:
        ends = function_named(recipe.function).allowed(recipe)
        if ends is None or not ends[0] < ends[1]:  # of one possible answer nothing is to be learned
            continue
        for name in recipe.outputs:
            n = sum(_covered(one) >= NEARLY * (ends[1] - ends[0]) for one in found.intervals.get(name, ()))
            hit |= {name: n} if n else {}
    everywhere = ", ".join(name for name, n in hit.items() if n == rows)
    notes: list[dict[str, Any]] = [{"code": "nothing-learned", "outputs": everywhere}] if everywhere else []
    notes += [{"code": "nothing-learned-in", "output": x, "n": n, "rows": rows} for x, n in hit.items() if n < rows]
    notes += _coarse_notes(plan, found)
    counts = [x for recipe in plan.recipes if recipe.function in COUNTS for x in recipe.outputs if x in found.columns]
    below = ", ".join(name for name in counts if any(x is not None and x < 0 for x in found.columns[name]))
    return (*notes, {"code": "below-zero", "outputs": below}) if below else tuple(notes)


def _covered(ends: Ends) -> float:
    """How wide an interval is: of dates in days, of timestamps in seconds, as they are measured."""
    low, high = ends
    if isinstance(low, datetime):
        return float((high - low).total_seconds())
    return float((high - low).days) if isinstance(low, date) else float(high - low)


def _coarse_notes(plan: Plan, found: Answered) -> list[dict[str, Any]]:
    """A note for each step that is more, in a mean or in a sum, than half of an interval that is shown with it."""
    outputs: dict[int, list[str]] = {}
    for recipe in plan.recipes:
        values = recipe.measures[0]
        if recipe.function in ROUNDED and _is_real(plan, values.column):
            named = [x for x in recipe.outputs if any(_is_fine(one, recipe) for one in found.intervals.get(x, ()))]
            outputs.setdefault(values.grid, []).extend(named)
    return [
        {"code": "step-is-coarse", "outputs": ", ".join(names), "step": f"{2.0**-grid:.6g}"}
        for grid, names in outputs.items()
        if names
    ]


def _is_real(plan: Plan, column: ex.Expr | None) -> bool:
    """Whether it is a column of reals as it is stored."""
    found = plan.checked.rows.scope.get(column) if type(column) is ex.Name else None
    return found is not None and found.kind is Kind.REAL


def _is_fine(ends: Ends, recipe: Recipe) -> bool:
    """Whether rounding down may have moved a mean, or a sum of as few values as can give it, by half its interval."""
    low, high = map(float, ends)
    values = recipe.measures[0]
    step, rows = 2.0**-values.grid, 1.0
    if recipe.function == "sum":
        rows = max(low, -high, 0.0) / (max(abs(values.low), abs(values.high), 1) * step)
    return (high - low) / 2 < rows * step
