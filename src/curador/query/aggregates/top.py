"""The largest groups with their counts, chosen privately among public keys; or the most frequent values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from curador.numbers import whole
from curador.query.aggregates.base import Aggregate, Recipe, column, recipe_of, register
from curador.query.aggregates.counts import CountFunction
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.language.expressions import Expr
from curador.query.language.types import Type


def top_k(k: int, what: str | Expr | None = None) -> Aggregate:
    """The k largest groups with their counts; or, given a column, its k most frequent values.

    Public keys are chosen among privately; where keys are selected privately, the largest noised counts are shown.

    >>> top_k(5).parameters, str(top_k(5, "town").column)
    ((Fraction(5, 1),), 'town')
    """
    return Aggregate("top_k", None if what is None else column(what), (Fraction(whole(k, "k", 1)),))


def mode(what: str | Expr) -> Aggregate:
    """The most frequent value of a column, with its count.

    >>> mode("town") == top_k(1, "town")
    True
    """
    return top_k(1, what)


class TopFunction(CountFunction):
    """The choice of the groups is paid for by itself; their counts are noised like any others."""

    name = "top_k"
    alone = True

    def takes(self, parameters: Sequence[Fraction]) -> bool:
        return len(parameters) == 1 and parameters[0].denominator == 1 and parameters[0] >= 1

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        made = recipe_of(name, aggregate, {Measure(MeasureKind.ROWS): 1.0})
        return (replace(made, top=int(aggregate.parameters[0])),)


register(TopFunction())
