"""The error of an answer, known before anything is spent: of the answer itself, not of the measures behind it.

A mean's error is that of the mean, and depends on how many rows it is over; a quantile's is in ranks.  Where the number
of rows is not public, the error is given for several numbers of rows, and no budget can be found from a wanted
accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.base import checked_confidence
from curador.mechanisms.thresholded import Thresholded
from curador.numbers import Number, positive, rational, set_fields, shown_up
from curador.query.aggregates.base import Function, NoisyMeasure, Recipe, function_named
from curador.query.aggregates.linear import Forms, LinearForm, form_error, forms_of, linear
from curador.query.aggregates.measure import Measure
from curador.query.aggregates.quantiles.around import reach_in_ranks
from curador.query.ask.question import Derived, Question
from curador.query.language import answers as an
from curador.query.language import expressions as ex
from curador.query.language.answers import windows
from curador.query.language.expressions import Expr
from curador.query.language.trees import names
from curador.query.plan.steps import Noised, Ranked, Step

RANKS = "ranks"
"""The unit of errors that are counted in rows between values in their order."""
Laws = Mapping[Measure, NoisyMeasure]
"""The noise of each measure in one group."""

RowsOf = Callable[[Recipe], int | None]
"""How many rows with a value are behind an output, where that is known."""

SIZES = (100, 1_000, 10_000, 100_000)
"""The numbers of rows for which an error is given where their number is not public."""


@dataclass(frozen=True)
class Within:
    """A wanted accuracy: an error of at most ``error`` with probability at least ``confidence``; of one output or all.

    ``unit`` is None, the output's own unit, or "ranks".  Before it is bought, the error of a quantile is known in ranks
    alone, and what is wanted has to say so.

    >>> within(0.5, confidence=0.95).error
    Fraction(1, 2)
    """

    error: Number
    confidence: float = 0.95
    output: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.error, str) and self.error.split()[1:] == [RANKS]:
            set_fields(self, error=self.error.split()[0], unit=RANKS)
        if self.unit not in (None, RANKS):
            raise InvalidParameter(f"No error is counted in {self.unit!r}.", fix=f"Leave unit out, or use {RANKS!r}.")
        set_fields(self, error=positive(self.error, "error"))
        set_fields(self, confidence=checked_confidence(self.confidence))

    def check(self, found: Sequence[Expected]) -> None:
        """Refuse a number that could be read in another unit than the error has."""
        asked = [e for e in found if self.output in (None, e.output)]
        ranked = [e.output for e in asked if e.unit == RANKS]
        others = [e.output for e in asked if e.unit != RANKS]
        if ranked and self.unit is None:
            number = shown_up(self.error)
            raise QuestionRefused(
                f"{ranked[0]!r} is chosen by rank: before it is bought its error is known in ranks, not in values.",
                fix=f"Write within({number}, unit='ranks', output={ranked[0]!r}) for {number} ranks; or give epsilon: "
                "the interval of the answer is in values.",
                code="accuracy-in-ranks",
            )
        if others and self.unit == RANKS:
            raise QuestionRefused(
                f"The error of {others[0]!r} is not in ranks.", fix="Name the output that is, or leave the unit out."
            )


def within(error: Number, confidence: float = 0.95, output: str | None = None, *, unit: str | None = None) -> Within:
    """A wanted accuracy, to give instead of a budget: ``ask(accuracy=within(0.5))``.

    That of a quantile is in ranks: ``within(50, unit="ranks")``, or ``within("50 ranks")``.

    >>> within(100, confidence=0.9).confidence, within("50 ranks").unit
    (0.9, 'ranks')
    """
    return Within(error, confidence, output, unit)


@dataclass(frozen=True)
class Expected:
    """The error of one output in any one group: at most ``value`` with probability at least ``confidence``.

    ``value`` is None where it depends on a number of rows that is not public; ``by_rows`` then gives it for several
    numbers of rows.  Without those it depends on the answers, as that of most ratios does.  ``unit`` is "" (the
    output's own unit) or "ranks".  ``fitted`` marks counts over a tree, whose error is that before the levels are made
    to agree.  ``units`` is set where the output's own noise selects groups: it holds in those of at least so many
    units, given that they are shown; smaller ones may be further off.  ``spread`` is set where it holds for values
    of at least that standard deviation: that of values spread evenly over their bounds.  ``interval`` is set for
    quantiles with an interval in values: about how many ranks it reaches to each side.  ``by`` is the grouping set
    that it holds in, where there are several.
    """

    output: str
    value: float | None
    confidence: float
    unit: str = ""
    by_rows: tuple[tuple[int, float], ...] = ()
    fitted: bool = False
    units: int | None = None
    spread: float | None = None
    interval: float | None = None
    by: tuple[str, ...] | None = None


def expected(
    recipes: Sequence[Recipe], steps: Sequence[Step], laws: Laws, rows: RowsOf, confidence: float
) -> tuple[Expected, ...]:
    """The error to expect of every output, where so many rows are behind it and measures have these laws."""
    ranked = {step.ranks: step for step in steps if isinstance(step, Ranked)}
    noised = {step.measure: step for step in steps if isinstance(step, Noised)}
    found: list[Expected] = []
    for recipe in recipes:
        if recipe.ranks is not None:
            ranks = ranked[recipe.ranks].error(confidence)
            reach = None
            if recipe.around is not None and (noise := noised[recipe.around].mechanism) is not None:
                reach = reach_in_ranks(recipe.around, recipe.ranks.quantiles, noise, confidence)
            found += [Expected(output, ranks, confidence, RANKS, interval=reach) for output in recipe.outputs]
            continue
        function, parts = function_named(recipe.function), [laws[m] for m in recipe.measures]
        chosen = _selection(parts)
        spread = function.assumes(recipe)
        level, units = (confidence, None) if chosen is None else (_given(confidence), chosen.least(confidence))
        if function.by_answers:
            found.append(Expected(recipe.name, None, confidence, units=units))
        elif function.by_rows and rows(recipe) is None:
            table = tuple((n, function.error(recipe, parts, n, level)) for n in SIZES)
            found.append(Expected(recipe.name, None, confidence, by_rows=table, units=units, spread=spread))
        else:
            error = function.error(recipe, parts, rows(recipe) or 0, level)
            fitted = recipe.tree is not None
            found.append(Expected(recipe.name, error, confidence, fitted=fitted, units=units, spread=spread))
    return tuple(found)


def computed(
    question: Question,
    recipes: Sequence[Recipe],
    laws: Laws,
    rows: RowsOf,
    confidence: float,
    groups: int | None,
) -> tuple[Expected, ...]:
    """The error to expect of what is derived from the answers, where that does not depend on the answers themselves.

    Sums, differences and constant factors have the error of their joint law; what is rounded, or the least or largest
    of several, at most that of its parts, all within theirs at once by a union bound.  ``groups`` is how many groups a
    total over all of them adds up, None where that is not known.
    """
    sure = groups if question.having is None else None
    known = _Parts(forms_of(recipes, laws), {o: r for r in recipes for o in r.outputs}, laws, sure)
    outputs = {output for recipe in recipes for output in recipe.outputs}
    renamed = {ex.Name(name) for name in outputs}  # another name for an answer: its error is the same
    wanted = [d for d in question.derived if d.name in question.outputs and d.expr not in renamed]
    return tuple(_computed(d, known, rows, confidence) for d in wanted)


def _computed(derived: Derived, known: _Parts, rows: RowsOf, confidence: float) -> Expected:
    parts = known.noisy(derived.expr)
    if not windows(derived.expr) and not {n.column for n in names(derived.expr)} & set(known.made):
        return Expected(derived.name, 0.0, confidence)  # of groups alone
    if parts is None:
        return Expected(derived.name, None, confidence)
    used = [
        known.made[name].measures for part in parts for name in {n.column for n in names(part)} if name in known.made
    ]
    steps = [known.noised[m] for measures in used for m in measures]
    chosen = _selection(steps)
    level, units = (confidence, None) if chosen is None else (_given(confidence), chosen.least(confidence))
    level = 1 - (1 - level) / max(1, len(parts))
    if any(known.by_rows(part, rows) for part in parts):

        def of(n: int) -> RowsOf:
            return lambda recipe: rows(recipe) or n

        table = tuple((n, known.error(derived.expr, of(n), level)) for n in SIZES)
        return Expected(derived.name, None, confidence, by_rows=table, units=units)
    return Expected(derived.name, known.error(derived.expr, rows, level), confidence, units=units)


@dataclass(frozen=True)
class _Parts:
    """The outputs that derived columns are made of, with their noise."""

    forms: Forms
    made: Mapping[str, Recipe]
    noised: Laws
    groups: int | None

    def form(self, e: Expr) -> LinearForm | None:
        found = linear(e, self.forms)
        unknown = found is not None and found.window is not None and (self.groups is None or found.window.partition)
        return None if unknown else found

    def by_rows(self, part: Expr, rows: RowsOf) -> bool:
        """Whether the error of a part depends on a number of rows that is not known."""
        recipe = self.made.get(part.column) if isinstance(part, ex.Name) else None
        return recipe is not None and function_named(recipe.function).by_rows and rows(recipe) is None

    def _function(self, name: str) -> Function:
        return function_named(self.made[name].function)

    def noisy(self, e: Expr) -> set[Expr] | None:
        """The parts with a noise of their own; None where the error depends on the answers."""
        form = self.form(e)
        if form is not None:
            return {e} if form.noisy else set()
        if isinstance(e, ex.Name):
            recipe = self.made.get(e.column)
            if recipe is None or recipe.ranks is not None or recipe.tree is not None:
                return None
            return None if self._function(e.column).by_answers else {e}
        if not (isinstance(e, ex.Negate | ex.Abs | ex.Least | ex.Greatest) or self._steady(e)):
            return None
        found: set[Expr] = set()
        for part in e.parts:
            inside = self.noisy(part)
            if inside is None:
                return None
            found |= inside
        return found

    def _steady(self, e: Expr) -> bool:
        """Whether errors of the parts make one of the whole, whatever their values are."""
        if isinstance(e, an.Applied):
            return e.function in ("round", "floor", "ceil", "trunc")
        if not isinstance(e, ex.Arithmetic):
            return False
        numbers = [form is not None and not form.noisy for form in map(self.form, e.parts)]
        return e.op in ("+", "-") or (e.op == "*" and any(numbers)) or (e.op == "/" and numbers[1])

    def error(self, e: Expr, rows: RowsOf, level: float) -> float:
        form = self.form(e)
        if form is not None:
            return form_error(form, self.noised, self.groups or 1, level)
        if isinstance(e, ex.Name):
            recipe = self.made[e.column]
            parts = [self.noised[m] for m in recipe.measures]
            return self._function(e.column).error(recipe, parts, rows(recipe) or 0, level)
        found = [self.error(part, rows, level) for part in e.parts]
        if isinstance(e, ex.Least | ex.Greatest):
            return max(found)
        if isinstance(e, an.Applied):
            return found[0] + 10.0**-e.digits
        if isinstance(e, ex.Arithmetic) and e.op in ("*", "/"):
            constants = [abs(form.constant) if form and not form.noisy else None for form in map(self.form, e.parts)]
            left, right = constants
            factor = (1 / right if right else 0.0) if e.op == "/" else left if left is not None else right
            return (found[0] + found[1]) * (factor or 0.0)  # that of the constant is 0
        return sum(found)


def _selection(parts: Sequence[NoisyMeasure]) -> Thresholded | None:
    """The selection of groups that draws one of these noises, if there is one."""
    return next((p.selection for p in parts if isinstance(p, Noised) and p.selection is not None), None)


def _given(confidence: float) -> float:
    """The level at which an error holds given an event of probability at least ``confidence``: misses over that."""
    return min(math.nextafter(1 - (1 - confidence) * confidence, 1), math.nextafter(1, 0))


def reached(found: Sequence[Expected], wanted: Within) -> bool | str:
    """Whether a wanted accuracy is met; the name of an output whose error is not known, if one is not."""
    asked = [e for e in found if wanted.output in (None, e.output)]
    unknown = [e.output for e in asked if e.value is None]
    return unknown[0] if unknown else all((e.value or 0) <= rational(wanted.error) for e in asked)
