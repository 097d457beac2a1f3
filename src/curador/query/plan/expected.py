"""The error of an answer, known before anything is spent: of the answer itself, not of the measures behind it.

A mean's error is that of the mean, and depends on how many rows it is over; a quantile's is in ranks.  Where the number
of rows is not public, the error is given for several numbers of rows, and no budget can be found from a wanted
accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from curador.mechanisms.base import checked_confidence
from curador.numbers import Number, positive, rational, set_fields
from curador.query.aggregates.base import Recipe, function_named
from curador.query.plan.steps import Noised, Ranked, Step

SIZES = (100, 1_000, 10_000, 100_000)
"""The numbers of rows for which an error is given where their number is not public."""


@dataclass(frozen=True)
class Within:
    """A wanted accuracy: an error of at most ``error`` with probability at least ``confidence``; of one output or all.

    Quantiles count it in ranks.

    >>> within(0.5, confidence=0.95).error
    Fraction(1, 2)
    """

    error: Number
    confidence: float = 0.95
    output: str | None = None

    def __post_init__(self) -> None:
        set_fields(self, error=positive(self.error, "error"))
        set_fields(self, confidence=checked_confidence(self.confidence))


def within(error: Number, confidence: float = 0.95, output: str | None = None) -> Within:
    """A wanted accuracy, to give instead of a budget: ``ask(accuracy=within(0.5))``.

    >>> within(100, confidence=0.9).confidence
    0.9
    """
    return Within(error, confidence, output)


@dataclass(frozen=True)
class Expected:
    """The error of one output in any one group: at most ``value`` with probability at least ``confidence``.

    ``value`` is None where it depends on a number of rows that is not public; ``by_rows`` then gives it for several
    numbers of rows.  ``unit`` is "" (the output's own unit) or "ranks".  ``fitted`` marks counts over a tree, whose
    error is that before the levels are made to agree.  ``units`` is set where the output's own noise selects groups: it
    holds in those of at least so many units, given that they are shown; smaller ones may be further off.  ``spread`` is
    set where it holds for values of at least that standard deviation: that of values spread evenly over their bounds.
    """

    output: str
    value: float | None
    confidence: float
    unit: str = ""
    by_rows: tuple[tuple[int, float], ...] = ()
    fitted: bool = False
    units: int | None = None
    spread: float | None = None


def expected(
    recipes: Sequence[Recipe], steps: Sequence[Step], rows: int | None, confidence: float
) -> tuple[Expected, ...]:
    """The error to expect of every output, where ``rows`` rows are behind it."""
    noised = {step.measure: step for step in steps if isinstance(step, Noised)}
    ranked = {step.ranks: step for step in steps if isinstance(step, Ranked)}
    found: list[Expected] = []
    for recipe in recipes:
        if recipe.ranks is not None:
            ranks = ranked[recipe.ranks].error(confidence)
            found += [Expected(output, ranks, confidence, "ranks") for output in recipe.outputs]
            continue
        function, parts = function_named(recipe.function), [noised[m] for m in recipe.measures]
        chosen = next((p.selection for p in parts if p.selection is not None), None)
        spread = function.assumes(recipe)
        level, units = (confidence, None) if chosen is None else (_given(confidence), chosen.least(confidence))
        if function.by_rows and rows is None:
            table = tuple((n, function.error(recipe, parts, n, level)) for n in SIZES)
            found.append(Expected(recipe.name, None, confidence, by_rows=table, units=units, spread=spread))
        else:
            error = function.error(recipe, parts, rows or 0, level)
            fitted = recipe.tree is not None
            found.append(Expected(recipe.name, error, confidence, fitted=fitted, units=units, spread=spread))
    return tuple(found)


def _given(confidence: float) -> float:
    """The level at which an error holds given an event of probability at least ``confidence``: misses over that."""
    return min(math.nextafter(1 - (1 - confidence) * confidence, 1), math.nextafter(1, 0))


def reached(found: Sequence[Expected], wanted: Within) -> bool | str:
    """Whether a wanted accuracy is met; the name of an output whose error is not known, if one is not."""
    asked = [e for e in found if wanted.output in (None, e.output)]
    unknown = [e.output for e in asked if e.value is None]
    return unknown[0] if unknown else all((e.value or 0) <= rational(wanted.error) for e in asked)
