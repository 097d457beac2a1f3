"""Counts: of rows, of rows with a value, of units, of distinct keys, and histograms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from curador.numbers import Number, rational
from curador.query.aggregates.base import (
    Aggregate,
    Estimate,
    Function,
    NoisyMeasure,
    Part,
    Recipe,
    column,
    count_beside,
    estimate_of,
    recipe_of,
    register,
)
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.language.expressions import Expr
from curador.query.language.types import Type


def count(what: str | Expr | None = None) -> Aggregate:
    """The number of rows, or of rows in which a column is not NULL.

    >>> count("age").column == column("age"), count().column
    (True, None)
    """
    return Aggregate("count", None if what is None else column(what))


def count_distinct(what: str | Expr | None = None) -> Aggregate:
    """The number of units (no column), or of different values of a column; of one with public keys, of its keys."""
    return Aggregate("count_distinct", None if what is None else column(what))


def histogram(what: str | Expr, edges: Iterable[Number]) -> Aggregate:
    """The number of rows in each bin; bins are those of :class:`curador.query.language.expressions.Bin`.

    >>> [str(edge) for edge in histogram("age", [0, 17.5, 65]).parameters]
    ['0', '35/2', '65']
    """
    return Aggregate("histogram", column(what), tuple(rational(x, "an edge") for x in edges))


class CountFunction(Function):
    """Rows, or rows with a value: one count, as noised."""

    name = "count"
    needs_column = False

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        return (recipe_of(name, aggregate, {count_beside(aggregate, t): 1.0}),)

    def weights(self, recipe: Recipe) -> tuple[float, ...] | None:
        return (1.0,)

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        values, noisy = parts[0]
        return estimate_of(recipe.name, values, *noisy.ends(values, confidence))

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        return parts[0].error(confidence)


class CountDistinctFunction(CountFunction):
    """Units, or values that occur: of a column with public keys those among them."""

    name = "count_distinct"

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        if t is None:
            return (recipe_of(name, aggregate, {Measure(MeasureKind.UNITS): 1.0}),)
        keys = Measure(MeasureKind.DISTINCT, aggregate.column, keys=len(t.domain or ()))
        return (recipe_of(name, aggregate, {keys: 1.0}),)


class HistogramFunction(CountFunction):
    """A count in bins: a question turns it into a count grouped by its bins before it is planned."""

    name = "histogram"
    needs_column = True

    def takes(self, parameters: Sequence[Fraction]) -> bool:
        return len(parameters) > 1


for _function in (CountFunction(), CountDistinctFunction(), HistogramFunction()):
    register(_function)
