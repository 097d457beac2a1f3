"""The largest groups, chosen privately among public keys, with their counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from curador.numbers import whole
from curador.query.aggregates.base import Aggregate, Recipe, recipe_of, register
from curador.query.aggregates.counts import CountFunction
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.language.types import Type


def top_k(k: int) -> Aggregate:
    """The k largest groups with their counts, chosen privately among public keys.

    >>> top_k(5).parameters
    (Fraction(5, 1),)
    """
    return Aggregate("top_k", None, (Fraction(whole(k, "k", 1)),))


class TopFunction(CountFunction):
    """The choice of the groups is paid for by itself; their counts are noised like any others."""

    name = "top_k"
    alone = True

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        made = recipe_of(name, aggregate, {Measure(MeasureKind.ROWS): 1.0})
        return (replace(made, top=int(aggregate.parameters[0])),)


register(TopFunction())
