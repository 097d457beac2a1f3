"""Sums of bounded columns.

A sum is noised as it is.  Where a mean of the same column is asked too, it is computed from the mean's centred sum and
count, so that it costs nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curador.mechanisms.intervals import combined_error
from curador.query.aggregates.base import (
    Aggregate,
    Estimate,
    Function,
    NoisyMeasure,
    Part,
    Recipe,
    as_reals,
    column,
    count_beside,
    estimate_of,
    on_grid,
    recipe_of,
    register,
)
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import centred_sum
from curador.query.language.expressions import Expr
from curador.query.language.types import Type


def sum_(what: str | Expr) -> Aggregate:
    """The sum of a bounded column, NULL counting as nothing."""
    return Aggregate("sum", column(what))


class SumFunction(Function):
    """A sum: measured by itself, or as a centred sum with the centre added once for each row counted."""

    name = "sum"
    numeric = needs_bounds = True

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        low, high, grid = on_grid(name, t)
        most = max(abs(low), abs(high), 1)
        if centred:
            total = centred_sum(name, aggregate, t)
            effects = {total: 1 / most, count_beside(aggregate, t): abs(total.centre) / most}
            return (recipe_of(name, aggregate, effects),)
        plain = Measure(MeasureKind.SUM, aggregate.column, low, high, 0, grid)
        return (recipe_of(name, aggregate, {plain: 1 / most}),)

    def weights(self, recipe: Recipe) -> tuple[float, ...] | None:
        summed, *rest = recipe.measures
        scale = 2.0**-summed.bits
        return (scale, *(summed.centre * scale for _ in rest))

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        (total, summed), *rest = parts
        scale = 2.0**-summed.measure.bits
        if not rest:
            low, high = summed.ends(total, confidence)
            values = total if summed.measure.bits == 0 else as_reals(total) * scale
            return estimate_of(recipe.name, values, low * scale, high * scale)
        count, counted = rest[0]
        values = (as_reals(total) + summed.measure.centre * as_reals(count)) * scale
        if counted.selects:  # with half of the misses each, both are within their ends at once
            share = 1 - (1 - confidence) / 2
            low, high = summed.ends(total, share)
            ends = [summed.measure.centre * end for end in counted.ends(count, share)]
            return estimate_of(
                recipe.name, values, (low + np.minimum(*ends)) * scale, (high + np.maximum(*ends)) * scale
            )
        reach = _reach(summed, counted, confidence) * scale
        return estimate_of(recipe.name, values, values - reach, values + reach)

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        total, *rest = parts
        reach = _reach(total, rest[0], confidence) if rest else total.error(confidence)
        return reach * 2.0**-total.measure.bits


def _reach(total: NoisyMeasure, count: NoisyMeasure, confidence: float) -> float:
    """How far a sum made of a centred sum and a count may be off, on the grid."""
    terms = [(1.0, total.mechanism), (float(total.measure.centre), count.mechanism)]
    noisy = [(weight, noise) for weight, noise in terms if noise is not None and weight]
    return combined_error(noisy, confidence) if noisy else 0.0


register(SumFunction())
