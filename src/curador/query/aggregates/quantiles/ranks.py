"""Quantiles, least and largest values, and bounds: values chosen by rank, with an interval in values or in ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from curador.errors import QuestionRefused
from curador.numbers import Number, probability
from curador.query.aggregates.base import (
    Aggregate,
    Array,
    Estimate,
    Function,
    NoisyMeasure,
    Part,
    Recipe,
    column,
    on_grid,
    register,
)
from curador.query.aggregates.measure import UNBOUNDED, Measure, MeasureKind, RankSearch, Search
from curador.query.aggregates.quantiles.around import Looks, RankedCells, around, interval
from curador.query.language.expressions import Expr, Literal
from curador.query.language.text import shortened
from curador.query.language.types import Type
from curador.query.tables.columns import CALENDAR, Kind

MOST_QUANTILES = 100

EXTREME = Fraction(1, 100)
"""The minimum is asked as this quantile, the maximum as 1 minus it: further out, noise alone decides."""


def quantiles(what: str | Expr, probabilities: Iterable[Number], *, interval: bool = True) -> Aggregate:
    """Several quantiles of a bounded column at once, cheaper than one by one.

    An interval in values is bought with them, for about half of their budget.  Without it (``interval=False``)
    all of it goes to the values, and their error is stated in ranks.

    >>> quantiles("age", [0.25, 0.5]).parameters
    (Fraction(1, 4), Fraction(1, 2))
    """
    if not isinstance(probabilities, Iterable):
        raise QuestionRefused("Quantiles are a list of probabilities.", fix="Write quantiles(column, [0.25, 0.75]).")
    wanted = tuple(probability(p, "a quantile") for p in probabilities)
    if not 1 <= len(wanted) <= MOST_QUANTILES or len(set(wanted)) != len(wanted):
        raise QuestionRefused(
            f"Quantiles are 1 to {MOST_QUANTILES} different probabilities.",
            fix="List each once.",
            code="quantiles-list",
            facts={"most": MOST_QUANTILES},
        )
    return Aggregate("quantiles" if interval else "quantile_points", column(what), tuple(sorted(wanted)))


def median(what: str | Expr, *, interval: bool = True) -> Aggregate:
    """The middle value of a bounded column.

    >>> median("age") == quantiles("age", [0.5])
    True
    """
    return quantiles(what, ["1/2"], interval=interval)


def minimum(what: str | Expr) -> Aggregate:
    """A low quantile, privately near the least value."""
    return Aggregate("minimum", column(what))


def maximum(what: str | Expr) -> Aggregate:
    """A high quantile, privately near the largest value."""
    return Aggregate("maximum", column(what))


def bounds(what: str | Expr) -> Aggregate:
    """Bounds learned privately for a column that has none declared: powers of two around nearly all values."""
    return Aggregate("bounds", column(what))


class QuantilesFunction(Function):
    """Values chosen by rank on the column's grid."""

    name = "quantiles"
    needs_bounds = keeps_kind = True
    interval = True

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        inside = all(0 <= p <= 1 for p in parameters)
        return inside and 1 <= len(parameters) <= MOST_QUANTILES and list(parameters) == sorted(set(parameters))

    def outputs(self, aggregate: Aggregate, name: str) -> tuple[str, ...]:
        if len(aggregate.parameters) > 1:
            percents = [float(100 * p) for p in aggregate.parameters]
            short = [f"{name}_p{x:g}" for x in percents]
            return tuple(short if len(set(short)) == len(short) else (f"{name}_p{x!r}" for x in percents))
        return (name,)

    def refuse(self, name: str, aggregate: Aggregate, t: Type) -> None:
        if not t.kind.counted:
            raise QuestionRefused(
                f"{name!r} is a {aggregate.function} of {shortened(aggregate.column or Literal(None))}, "
                f"which is of type {t.kind}.",
                fix="Count it, or group by it.",
                code="wrong-type",
                facts={
                    "function": aggregate.function,
                    "column": shortened(aggregate.column or Literal(None)),
                    "type": str(t.kind),
                },
            )
        if t.kind in (Kind.DATE, Kind.TIMESTAMP):
            first, last = CALENDAR[t.kind]
            if t.bounds is None or not first <= t.bounds[0] <= t.bounds[1] <= last:
                raise QuestionRefused(
                    f"{name!r} could leave the years 1 to 9999.",
                    fix="Narrow the bounds of the dates it is made of.",
                    code="years-range",
                    facts={"expression": name},
                )

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        low, high, grid = on_grid(name, t)
        values = Measure(MeasureKind.VALUES, aggregate.column, low, high, 0, grid)
        search = RankSearch(values, Search.VALUE, self._wanted(aggregate))
        made = _ranked(name, aggregate.function, aggregate.outputs(name), search, name)
        return (replace(made, around=around(values)) if self.interval else made,)

    def _wanted(self, aggregate: Aggregate) -> tuple[Fraction, ...]:
        return aggregate.parameters

    def allowed(self, recipe: Recipe) -> tuple[float, float] | None:
        m = recipe.measures[0]
        return m.low * 2.0**-m.grid, m.high * 2.0**-m.grid

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        raise TypeError("a choice by rank has no noised measures")

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        raise TypeError("a choice by rank has no noised measures")


def _ranked(name: str, function: str, outputs: tuple[str, ...], search: RankSearch, asked: str) -> Recipe:
    return Recipe(name, function, outputs, (search.measure,), (1.0,), search.quantiles, asked, search)


class QuantilePointsFunction(QuantilesFunction):
    """Quantiles without intervals."""

    name = "quantile_points"
    interval = False


class MinimumFunction(QuantilesFunction):
    """The 1 % quantile."""

    name = "minimum"

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return not parameters

    def _wanted(self, aggregate: Aggregate) -> tuple[Fraction, ...]:
        return (EXTREME,)


class MaximumFunction(QuantilesFunction):
    """The 99 % quantile."""

    name = "maximum"

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return not parameters

    def _wanted(self, aggregate: Aggregate) -> tuple[Fraction, ...]:
        return (1 - EXTREME,)


class BoundsFunction(QuantilesFunction):
    """Powers of two below and above nearly all values, where no bounds are declared."""

    name = "bounds"
    numeric = True
    needs_bounds = keeps_kind = False

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return not parameters

    def allowed(self, recipe: Recipe) -> None:
        return None

    def outputs(self, aggregate: Aggregate, name: str) -> tuple[str, ...]:
        return f"{name}_lower", f"{name}_upper"

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        assert t is not None
        values = Measure(MeasureKind.VALUES, aggregate.column, -UNBOUNDED, UNBOUNDED, 0, t.bits)
        ends = (RankSearch(values, Search.LOWER, (EXTREME,)), RankSearch(values, Search.UPPER, (1 - EXTREME,)))
        outputs = aggregate.outputs(name)
        return tuple(_ranked(o, "bounds", (o,), end, name) for o, end in zip(outputs, ends, strict=True))


def rank_estimates(
    recipe: Recipe, values: Array, ranks: float, cells: RankedCells | None, confidence: float, looks: Looks
) -> list[Estimate]:
    """The columns of a choice by rank, from one row of values per group on the column's grid, and what is around them.

    ``looks`` is shared by all columns of an answer, whose work it bounds.

    Guarantee: post-processing of what was chosen and noised [DR14]; each interval covers with probability at least
        ``confidence`` (see :func:`~curador.query.aggregates.quantiles.around.interval`).
    """
    m = recipe.measures[0]
    whole, unit = m.grid == 0, 2.0**-m.grid
    values = np.clip(values, m.low, m.high)  # the grid that was searched may end a step beyond the bounds
    columns = []
    for i, name in enumerate(recipe.outputs):
        chosen = values[:, i]
        found = tuple((chosen.astype(np.int64) if whole else chosen * unit).tolist())
        if cells is None:
            columns.append(Estimate(name, found, ranks=ranks))
            continue
        ends = [
            interval(ends, rows, m.low, recipe.parameters[i], cells.noise, confidence, at, looks)
            for ends, rows, at in zip(cells.ends, cells.rows, chosen.tolist(), strict=True)
        ]
        lower = tuple(low * unit for low, _ in ends)
        upper = tuple(high * unit for _, high in ends)
        columns.append(Estimate(name, found, lower, upper))
    return columns


for _function in (
    QuantilesFunction(),
    QuantilePointsFunction(),
    MinimumFunction(),
    MaximumFunction(),
    BoundsFunction(),
):
    register(_function)
