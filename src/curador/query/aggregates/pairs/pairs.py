"""Covariances, correlations and lines through two columns: made of noised sums of centred values and their products.

Only rows in which neither value is NULL count.  All functions of a pair are made of the same measures, which are paid
once: the sums of x, y, x y, and where they are needed of their squares, with x and y centred in the middle of their
bounds, and the count.  Where a column is never NULL, the other's measures are those of its mean and variance, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from curador.errors import QuestionRefused
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
    is_yes_or_no,
    register,
)
from curador.query.aggregates.counts import CountFunction
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import MeanFunction, centred_sum, reached
from curador.query.aggregates.pairs.equations import Ends, PairSums
from curador.query.aggregates.ratios import ASIDE
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.expressions import Expr, ValuePair
from curador.query.language.text import shortened
from curador.query.language.types import Scope, Type

Columns = str | Expr


def covariance(first: Columns, second: Columns, *, population: bool = False) -> Aggregate:
    """The covariance of two bounded columns: of a sample (n - 1), unless ``population`` asks for n.

    >>> str(covariance("spend", "minutes").column)
    'spend, minutes'
    """
    return Aggregate("covariance", _pair(first, second), (Fraction(not population),))


def correlation(first: Columns, second: Columns) -> Aggregate:
    """Pearson's correlation of two bounded columns, between -1 and 1.

    >>> correlation("spend", "minutes").function
    'correlation'
    """
    return Aggregate("correlation", _pair(first, second))


def slope(y: Columns, x: Columns) -> Aggregate:
    """The slope of the line through two bounded columns that is nearest to y, by least squares.

    >>> str(slope("spend", "minutes / 60").column.first)
    'spend'
    """
    return Aggregate("slope", _pair(y, x))


def intercept(y: Columns, x: Columns) -> Aggregate:
    """The height of that line where x is 0.

    >>> intercept("spend", "minutes").column == slope("spend", "minutes").column
    True
    """
    return Aggregate("intercept", _pair(y, x))


def r_squared(y: Columns, x: Columns) -> Aggregate:
    """The part of the variance of y that the line explains: the square of the correlation.

    >>> r_squared("spend", "minutes").function
    'r_squared'
    """
    return Aggregate("r_squared", _pair(y, x))


def pair_count(y: Columns, x: Columns) -> Aggregate:
    """The number of rows in which neither is NULL.

    >>> str(pair_count("spend", "minutes").column)
    'spend, minutes'
    """
    return Aggregate("pair_count", _pair(y, x))


def pair_mean(y: Columns, x: Columns, *, of_x: bool) -> Aggregate:
    """The mean of x, or of y, over rows in which neither is NULL.

    >>> pair_mean("spend", "minutes", of_x=True).parameters
    (Fraction(1, 1),)
    """
    return Aggregate("pair_mean", _pair(y, x), (Fraction(of_x),))


def _pair(first: Columns, second: Columns) -> ValuePair:
    return ValuePair(column(first), column(second))


@dataclass(frozen=True)
class PairType(Type):
    """The type of a pair: a number if both are, with bounds if both have them, NULL where either is."""

    x: Type | None = None
    y: Type | None = None
    product: Expr | None = None
    """The product of the centred values."""
    products: Type | None = None


class _PairFunction(Function):
    """A function of pairs (y, x) whose measures are sums of centred values."""

    numeric = needs_bounds = pairs = True
    work = 8
    squares: ClassVar[int] = 0
    """How many sums of squares it needs: of x, of both."""

    def typed(self, what: Expr, scope: Scope) -> Type:
        return pair_type(what, scope)

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        x, y, product, count = _measures(name, aggregate, t)
        h, k, most = max(x.reach, 1), max(y.reach, 1), max(product.reach, 1)
        # C (N - off) moves by p - a s_y - b s_x + (ab - C) c, with |a|, |b| and C at most h, k and h k.
        effects = {x: 1 / h, y: 1 / k, product: 1 / most, count: 1.0}
        for m in (x, y)[: self.squares]:
            squared = centred_sum(name, Aggregate("mean", m.column), t and _part(t, m is x), MeasureKind.SQUARES)
            effects[squared] = 0.5 / max(squared.reach, 1)
        made = tuple(effects), tuple(effects.values())
        return (Recipe(name, aggregate.function, (name,), *made, aggregate.parameters, name),)

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        miss = 1 - confidence
        counted, sums = parts[3][1], [(as_reals(x), noisy.mechanism) for x, noisy in parts]
        nothing = np.zeros_like(sums[0][0]), None
        counts: tuple[Array, ...] = (sums[3][0],)
        if counted.selects:  # the count lies between two ends, with half of the misses
            miss /= 2
            ends = counted.ends(parts[3][0], 1 - miss)
            counts, sums[3] = (np.maximum(ends[0], 0.0), np.maximum(ends[1], 1.0)), (sums[3][0], None)
        reach = (float(recipe.measures[0].reach), float(recipe.measures[1].reach))
        x, y, xy, count, xx, yy, *_ = (*sums, nothing, nothing)
        of = PairSums(x, y, xy, count, counts, reach, xx, yy)
        value, ends = self._value(recipe, PairMoments.of(of)), self._ends(recipe, of, miss)
        low, high = np.fmin(ends[0], value), np.fmax(ends[1], value)
        shown = [self._scaled(recipe, x) for x in (value, low, high)]
        values = tuple(None if np.isnan(v) else v for v in shown[0].tolist())
        return Estimate(recipe.name, values, tuple(shown[1].tolist()), tuple(shown[2].tolist()))

    def _value(self, recipe: Recipe, m: PairMoments) -> Array:
        """The estimate, on the grids of the values; NaN where there is none."""
        raise NotImplementedError

    def _ends(self, recipe: Recipe, of: PairSums, miss: float) -> Ends:
        """Where it lies, but for ``miss``."""
        raise NotImplementedError

    def _scaled(self, recipe: Recipe, v: Array) -> Array:
        return v

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        raise TypeError("its error depends on the answers")


@dataclass(frozen=True)
class PairMoments:
    """Noised moments of centred values, held to what they can be."""

    rows: Array
    x: Array
    y: Array
    xy: Array
    xx: Array
    yy: Array

    @classmethod
    def of(cls, sums: PairSums) -> PairMoments:
        rows, (h, k) = np.maximum(sums.count[0], 1.0), sums.reach
        x, y = np.clip(sums.x[0] / rows, -h, h), np.clip(sums.y[0] / rows, -k, k)
        xx, yy = sums.xx[0] / rows - x * x, sums.yy[0] / rows - y * y
        return cls(rows, x, y, np.clip(sums.xy[0] / rows - x * y, -h * k, h * k), xx, yy)

    @property
    def slope(self) -> Array:
        return _over(self.xy, self.xx)

    @property
    def correlation(self) -> Array:
        varies = (self.xx > 0) & (self.yy > 0)
        return np.clip(_over(self.xy, np.where(varies, np.sqrt(np.abs(self.xx * self.yy)), 0.0)), -1.0, 1.0)


def _over(top: Array, bottom: Array) -> Array:
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)


class CovarianceFunction(_PairFunction):
    """The mean product minus the product of the means."""

    name = "covariance"
    by_rows = True

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return is_yes_or_no(parameters)

    def _value(self, recipe: Recipe, m: PairMoments) -> Array:
        return m.xy * m.rows / np.maximum(m.rows - float(recipe.parameters[0]), 1.0)

    def _ends(self, recipe: Recipe, of: PairSums, miss: float) -> Ends:
        return of.covariance(float(recipe.parameters[0]), miss)

    def _scaled(self, recipe: Recipe, v: Array) -> Array:
        return v * 2.0 ** -recipe.measures[2].bits

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        """|ab - C| is at most h k, as is C: so is every weight, with the values at their bounds.

        C (N - off) is off by p - a s_y - b s_x + (ab - C) c - (s_x - a c) (s_y - b c) / N, over N - off.
        """
        x, y, product, count = parts
        h, k = (float(m.measure.reach) for m in (x, y))
        off, miss, scale = float(recipe.parameters[0]), 1 - confidence, 2.0**-product.measure.bits
        most = h * k * (1 + off)
        n = rows - off - count.error(1 - ASIDE * miss)
        if n <= 1:  # noise may hide all rows
            return most * scale
        one = np.ones(1)
        first = reached([(one, product), (one * k, x), (one * h, y), (one * h * k, count)], (1 - 3 * ASIDE) * miss)
        second = reached([(one, x), (one * h, count)], ASIDE * miss) * reached(
            [(one, y), (one * k, count)], ASIDE * miss
        )
        return min(float((first + second / n)[0]) / n, most) * scale


class CorrelationFunction(_PairFunction):
    """The covariance over both deviations."""

    name = "correlation"
    squares = 2
    by_answers = True

    def allowed(self, recipe: Recipe) -> tuple[float, float]:
        return -1.0, 1.0

    def _value(self, recipe: Recipe, m: PairMoments) -> Array:
        return m.correlation

    def _ends(self, recipe: Recipe, of: PairSums, miss: float) -> Ends:
        return of.correlation(miss)


class RSquaredFunction(CorrelationFunction):
    """The square of the correlation."""

    name = "r_squared"

    def allowed(self, recipe: Recipe) -> tuple[float, float]:
        return 0.0, 1.0

    def _value(self, recipe: Recipe, m: PairMoments) -> Array:
        return m.correlation**2

    def _ends(self, recipe: Recipe, of: PairSums, miss: float) -> Ends:
        low, high = of.correlation(miss)
        least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(low**2, high**2))
        return least, np.maximum(low**2, high**2)


class SlopeFunction(_PairFunction):
    """The covariance over the variance of x."""

    name = "slope"
    squares = 1
    by_answers = True

    def _value(self, recipe: Recipe, m: PairMoments) -> Array:
        return m.slope

    def _ends(self, recipe: Recipe, of: PairSums, miss: float) -> Ends:
        return of.slope(miss)

    def _scaled(self, recipe: Recipe, v: Array) -> Array:
        x, y = recipe.measures[:2]
        return v * 2.0 ** (x.grid - y.grid)


class InterceptFunction(SlopeFunction):
    """The height of the line at 0: of centred values, at minus the centre."""

    name = "intercept"

    def _value(self, recipe: Recipe, m: PairMoments) -> Array:
        return m.y + m.slope * (-float(recipe.measures[0].centre) - m.x)

    def _ends(self, recipe: Recipe, of: PairSums, miss: float) -> Ends:
        return of.intercept(-float(recipe.measures[0].centre), miss)

    def _scaled(self, recipe: Recipe, v: Array) -> Array:
        y = recipe.measures[1]
        return (v + y.centre) * 2.0**-y.grid


class PairCountFunction(CountFunction):
    """Rows in which neither value is NULL."""

    name = "pair_count"
    needs_column = numeric = needs_bounds = pairs = True

    def typed(self, what: Expr, scope: Scope) -> Type:
        return pair_type(what, scope)

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        count = _measures(name, aggregate, t)[3]
        return (Recipe(name, self.name, (name,), (count,), (1.0,), (), name),)


class PairMeanFunction(MeanFunction):
    """The mean of one of two values over rows in which neither is NULL."""

    name = "pair_mean"
    pairs = True

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return is_yes_or_no(parameters)

    def typed(self, what: Expr, scope: Scope) -> Type:
        return pair_type(what, scope)

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        x, y, _, count = _measures(name, aggregate, t)
        total = x if aggregate.parameters[0] else y
        effects = 1 / (2 * max(total.reach, 1)), 0.5
        return (Recipe(name, self.name, (name,), (total, count), effects, aggregate.parameters, name),)


# ---- measures --------------------------------------------------------------------------------------------------------


def pair_type(what: Expr, scope: Scope) -> Type:
    """The type of a pair (y, x); refuses a product that could leave 62 bits.

    >>> from curador.query.tables.columns import Kind
    >>> scope = {ex.Name(n): Type(Kind.INTEGER, Fraction(0), Fraction(10), nullable=False) for n in "xy"}
    >>> str(pair_type(ValuePair(ex.Name("y"), ex.Name("x")), scope).product)
    '(x - 5) * (y - 5)'
    """
    assert isinstance(what, ValuePair)
    y, x = typecheck(what.first, scope), typecheck(what.second, scope)
    if what.first == what.second:
        raise QuestionRefused(
            f"{shortened(what)} is one column twice.",
            fix="Name two columns; VARIANCE is of one.",
            code="pair-of-one",
            facts={"expression": shortened(what)},
        )
    loose = next((t for t in (y, x) if not t.kind.numeric or t.bounds is None), None)
    nullable = y.nullable or x.nullable
    if loose is not None:
        return PairType(loose.kind, nullable=nullable)
    factors = sorted((_centred(what.first, y), _centred(what.second, x)), key=ex.order)
    product = ex.Arithmetic("*", *factors)
    found = typecheck(product, scope)
    return PairType(found.kind, found.lower, found.upper, found.bits, nullable, None, x, y, product, found)


def _centred(e: Expr, t: Type) -> Expr:
    assert t.grid_bounds is not None
    centre = Fraction(sum(t.grid_bounds) // 2, 1 << t.bits)
    return ex.Arithmetic("-", e, ex.Literal(centre)) if centre else e


def _part(t: Type, of_x: bool) -> Type:
    assert isinstance(t, PairType)
    found = t.x if of_x else t.y
    assert found is not None
    return found


def _measures(name: str, aggregate: Aggregate, t: Type | None) -> tuple[Measure, Measure, Measure, Measure]:
    """The sums of x, of y and of their products, and the count, over rows in which neither is NULL."""
    pair = aggregate.column
    assert isinstance(pair, ValuePair)
    assert isinstance(t, PairType)
    assert t.products is not None
    x, y = _part(t, True), _part(t, False)
    values = _beside(pair.second, pair.first, y), _beside(pair.first, pair.second, x)
    of_x, of_y = (centred_sum(name, Aggregate("mean", e), own) for e, own in zip(values, (x, y), strict=True))
    ends = t.products.grid_bounds
    assert ends is not None
    products = Measure(MeasureKind.SUM, t.product, *ends, 0, t.products.bits)
    counted = {
        (False, False): Measure(MeasureKind.ROWS),
        (True, False): Measure(MeasureKind.PRESENT, pair.second),
        (False, True): Measure(MeasureKind.PRESENT, pair.first),
        (True, True): Measure(MeasureKind.PRESENT, t.product),
    }
    return of_x, of_y, products, counted[x.nullable, y.nullable]


def _beside(e: Expr, other: Expr, t: Type) -> Expr:
    """A value in the rows in which the other is not NULL."""
    return ex.Case(((ex.Not(ex.IsNull(other)), e),)) if t.nullable else e


for _function in (
    CovarianceFunction(),
    CorrelationFunction(),
    RSquaredFunction(),
    SlopeFunction(),
    InterceptFunction(),
    PairCountFunction(),
    PairMeanFunction(),
):
    register(_function)
