"""Which answers mislead who reads the number alone: intervals as wide as the declared bounds, counts below zero."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from curador.query.aggregates.base import function_named
from curador.query.answer.postprocess import Answered, Ends
from curador.query.plan.plan import Plan

COUNTS = ("count", "count_distinct")
NEARLY = 0.95
"""An interval that covers this part of all possible answers tells them apart no more."""


def reading_notes(plan: Plan, found: Answered) -> tuple[dict[str, Any], ...]:
    """Notes on outputs whose intervals are nearly all that was possible before asking, and on counts below zero.

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
    counts = [x for recipe in plan.recipes if recipe.function in COUNTS for x in recipe.outputs if x in found.columns]
    below = ", ".join(name for name in counts if any(x is not None and x < 0 for x in found.columns[name]))
    return (*notes, {"code": "below-zero", "outputs": below}) if below else tuple(notes)


def _covered(ends: Ends) -> float:
    """How wide an interval is: of dates in days, of timestamps in seconds, as they are measured."""
    low, high = ends
    if isinstance(low, datetime):
        return float((high - low).total_seconds())
    return float((high - low).days) if isinstance(low, date) else float(high - low)
