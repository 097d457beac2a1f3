"""Means, variances and standard deviations: ratios of noised sums and counts.

Sums are centred in the middle of the bounds, which halves their sensitivity, and squares are taken from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from curador.errors import QuestionRefused
from curador.mechanisms.intervals import SumTest, combined_error
from curador.query.aggregates.base import (
    Aggregate,
    Array,
    Estimate,
    Function,
    NoisyMeasure,
    Part,
    Recipe,
    as_reals,
    column,
    count_beside,
    estimate_of,
    is_yes_or_no,
    on_grid,
    recipe_of,
    register,
)
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.ratios import ASIDE, ratio_bounds, variance_bounds
from curador.query.language.expressions import Expr
from curador.query.language.types import Type
from curador.query.tables.columns import WIDEST

SPLIT = 0.9
"""Of the misses, the part that goes to the numerator of a mean; the rest goes to its denominator."""

PIECES = 32
"""Into how many pieces the possible variances are cut, to bound the error of their roots in each."""


def mean(what: str | Expr) -> Aggregate:
    """The mean of a bounded column over rows in which it is not NULL."""
    return Aggregate("mean", column(what))


def variance(what: str | Expr, *, population: bool = False) -> Aggregate:
    """The variance of a bounded column: of a sample (n - 1), unless ``population`` asks for n.

    >>> variance("pay").parameters, variance("pay", population=True).parameters
    ((Fraction(1, 1),), (Fraction(0, 1),))
    """
    return Aggregate("variance", column(what), (Fraction(not population),))


def std(what: str | Expr, *, population: bool = False) -> Aggregate:
    """The standard deviation of a bounded column; see :func:`variance`."""
    return Aggregate("std", column(what), (Fraction(not population),))


def centred_sum(name: str, aggregate: Aggregate, t: Type | None, kind: MeasureKind = MeasureKind.CENTRED) -> Measure:
    """The sum of v - c, or of its squares, with c the middle of the bounds."""
    low, high, grid = on_grid(name, t)
    made = Measure(kind, aggregate.column, low, high, (low + high) // 2, grid)
    if made.reach > WIDEST:
        raise QuestionRefused(
            f"The squares of {aggregate.column} for {name!r} could leave 62 bits.",
            fix="Narrow its bounds, or declare a coarser step.",
            code="too-wide",
            facts={"expression": str(aggregate.column)},
        )
    return made


class MeanFunction(Function):
    """A centred sum over a count, both noised."""

    name = "mean"
    numeric = needs_bounds = by_rows = centres = True

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        total = centred_sum(name, aggregate, t)
        # (S + s) / (N + c) - S / N is near (s - m c) / N with |m| <= h; the range of a mean is 2 h.
        effects = {total: 1 / (2 * max(total.reach, 1)), count_beside(aggregate, t): 0.5}
        return (recipe_of(name, aggregate, effects),)

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        (total, summed), (count, counted) = parts
        m, h = summed.measure, float(summed.measure.reach)
        # A group without rows has no mean; its answer lies within the bounds, and nothing more is promised of it.
        ratio = np.clip(as_reals(total) / np.maximum(as_reals(count), 1.0), -h, h)
        if counted.selects:  # with half of the misses each, both are within their ends at once
            share = 1 - (1 - confidence) / 2
            low, high = _box(as_reals(total), summed.error(share), *counted.ends(count, share), -h, h)
        else:
            low, high = ratio_bounds(total, summed.mechanism, count, counted.mechanism, h, 1 - confidence)
        shown = (ratio, np.minimum(low, ratio), np.maximum(high, ratio))
        # Held to the bounds, which lie up to one step nearer to the centre on one side than on the other.
        return estimate_of(recipe.name, *(np.clip(x + m.centre, m.low, m.high) * 2.0**-m.grid for x in shown))

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        total, count = parts
        scale, h = 2.0**-total.measure.bits, float(total.measure.reach)
        # (S + s) / (n + c) - S / n = (s - m c) / (n + c) with |m| <= h: both errors at once, by a union bound.
        if count.mechanism is None or total.mechanism is None:
            top, lost = total.error(confidence) + h * count.error(confidence), count.error(confidence)
        else:
            miss = 1 - confidence
            top = combined_error([(1.0, total.mechanism), (h, count.mechanism)], 1 - SPLIT * miss)
            lost = count.mechanism.reach((1 - SPLIT) * miss)
        if rows <= lost:  # noise may hide all rows
            return 2 * h * scale
        return min(top / (rows - lost), 2 * h) * scale

    def allowed(self, recipe: Recipe) -> tuple[float, float]:
        m = recipe.measures[0]
        return m.low * 2.0**-m.grid, m.high * 2.0**-m.grid


class VarianceFunction(Function):
    """The mean square minus the squared mean, from three noised measures."""

    name = "variance"
    numeric = needs_bounds = by_rows = centres = True
    work = 8

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return is_yes_or_no(parameters)

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        total, squares = centred_sum(name, aggregate, t), centred_sum(name, aggregate, t, MeasureKind.SQUARES)
        h = max(total.reach, 1)
        # Q/N - (S/N)**2 moves by at most (q + 2 h s + h**2 c) / N; a variance is at most h**2.
        return (recipe_of(name, aggregate, {total: 2 / h, squares: 1 / h**2, count_beside(aggregate, t): 1.0}),)

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        (total, summed), (squares, squared), (count, counted) = parts
        s, q, n = as_reals(total), as_reals(squares), as_reals(count)
        h, off = float(summed.measure.reach), float(recipe.parameters[0])
        most = h * h
        rows = np.maximum(n, 1.0)
        value = np.clip(q / rows - np.clip(s / rows, -h, h) ** 2, 0.0, most) * rows / np.maximum(rows - off, 1.0)
        if counted.selects:
            low, high = self._within_boxes(recipe, parts, confidence)
        else:
            noised = (s, summed.mechanism), (q, squared.mechanism), (n, counted.mechanism)
            low, high = variance_bounds(*noised, h, off, 1 - confidence)
        found = [x * 4.0**-summed.measure.grid for x in (value, np.minimum(low, value), np.maximum(high, value))]
        return estimate_of(recipe.name, *map(self._shown, found))

    def _within_boxes(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> tuple[Array, Array]:
        """Where a variance lies if all three numbers are within their own errors, with a third of the misses each."""
        (total, summed), (squares, squared), (count, counted) = parts
        h, off = float(summed.measure.reach), float(recipe.parameters[0])
        most, share = h * h, 1 - (1 - confidence) / 3
        fewest, most_rows = counted.ends(count, share)
        largest = np.maximum(most_rows, 1.0)
        mean_low, mean_high = _box(as_reals(total), summed.error(share), fewest, largest, -h, h)
        power_low, power_high = _box(as_reals(squares), squared.error(share), fewest, largest, 0.0, most)
        steep = np.maximum(mean_low**2, mean_high**2)
        flat = np.where((mean_low <= 0) & (mean_high >= 0), 0.0, np.minimum(mean_low**2, mean_high**2))
        # n / (n - 1) is at most 2, from n = 2 on, and falls.
        grown = fewest / np.maximum(fewest - off, 1.0)
        high = np.clip(power_high - flat, 0.0, most) * np.where(fewest >= 1 + off, grown, 1 + off)
        return np.clip(power_low - steep, 0.0, most), high

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        h, grid = float(parts[0].measure.reach), 4.0 ** -parts[0].measure.grid
        # Of all (m, v) with m**2 + v <= h**2, values that all lie at one bound have the largest weights.
        return float(_moved(recipe, parts, rows, confidence, np.array(h), np.array(h * h))) * grid

    def allowed(self, recipe: Recipe) -> tuple[float, float]:
        h, off = float(recipe.measures[0].reach), float(recipe.parameters[0])
        return 0.0, float(self._shown(np.array(h * h * (1 + off) * 4.0 ** -recipe.measures[0].grid)))

    def _shown(self, x: Array) -> Array:
        return x


class StdFunction(VarianceFunction):
    """The root of a variance."""

    name = "std"

    def _shown(self, x: Array) -> Array:
        return np.sqrt(x)

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        """The error where the deviation is at least :meth:`assumes`; of a smaller one, the root is off by more.

        |sqrt(a) - sqrt(b)| = |a - b| / (sqrt(a) + sqrt(b)), at its worst in each of some pieces of all variances.
        """
        h, grid = float(parts[0].measure.reach), 2.0 ** -parts[0].measure.grid
        if not h:  # every value is the same
            return 0.0
        cuts = h * h * np.linspace(1 / 3, 1, PIECES + 1)
        least, most = cuts[:-1], cuts[1:]
        # With v between them, m**2 is at most h**2 - v, and |m**2 - v| at most v or |h**2 - 2 v| <= v.
        moved = _moved(recipe, parts, rows, confidence, np.sqrt(h * h - least), most)
        off = moved / (np.sqrt(least) + np.sqrt(np.maximum(least - moved, 0.0)))
        return float(np.minimum(off.max(), np.sqrt(2.0) * h)) * grid

    def assumes(self, recipe: Recipe) -> float:
        m = recipe.measures[0]
        return m.reach / math.sqrt(3) * 2.0**-m.grid


def _moved(
    recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float, mean: Array, third: Array
) -> Array:
    """How far a variance v is off, on the squared grid, where |m| is at most ``mean`` and |m**2 - v| ``third``.

    With all three noised, v (N - off) is off by q - 2 m s + (m**2 - v) c - (s - m c)**2 / N, divided by N - off, which
    is at least n - off less what the count lost.
    """
    total, squares, count = parts
    h, off, miss = float(total.measure.reach), float(recipe.parameters[0]), 1 - confidence
    n = rows - off - count.error(1 - ASIDE * miss)
    if n <= 1:  # noise may hide all rows
        return np.full_like(mean, h * h * (1 + off))
    one = np.ones_like(mean)
    first = reached([(one, squares), (2 * mean, total), (third, count)], (1 - 2 * ASIDE) * miss)
    second = reached([(one, total), (mean, count)], ASIDE * miss)
    return np.minimum((first + second**2 / n) / n, h * h * (1 + off))


def reached(terms: Sequence[tuple[Array, NoisyMeasure]], miss: float) -> Array:
    """How large a weighted sum of the noises is at most, but for ``miss``."""
    noisy = [(weight, part.mechanism) for weight, part in terms if part.mechanism is not None]
    if not noisy:
        return np.zeros_like(terms[0][0])
    return SumTest(tuple(noise for _, noise in noisy), miss).reach([weight for weight, _ in noisy])


def _box(x: Array, reach: float, fewest: Array, largest: Array, least: float, most: float) -> tuple[Array, Array]:
    """The range of a total over a count, each within its error, held to what it can be; all of it without a count."""
    few = np.maximum(fewest, 1.0)
    ends = np.stack([(x - reach) / few, (x - reach) / largest, (x + reach) / few, (x + reach) / largest])
    known = fewest >= 1
    low, high = (np.clip(end, least, most) for end in (ends.min(axis=0), ends.max(axis=0)))
    return np.where(known, low, least), np.where(known, high, most)


for _function in (MeanFunction(), VarianceFunction(), StdFunction()):
    register(_function)
