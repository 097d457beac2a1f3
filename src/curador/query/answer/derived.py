"""Where a column computed from noised answers lies: intervals of arithmetic on answers.

* A linear combination of measures, in a group or over the groups of a window: by the joint law of their noise.
* A ratio of two: by Fieller's method.
* All else by interval arithmetic over such parts, each given an equal share of the misses: then all hold at once with
  the confidence wanted, whatever depends on what.  A choice by noised answers may take any of its branches.

An interval covers where the statistic has a value; one without ends says that a denominator may be zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.query.aggregates.base import Array, Recipe, as_reals
from curador.query.aggregates.linear import Forms, LinearForm, Ratio, form_error, forms_of, linear, ratio, ratio_ends
from curador.query.aggregates.measure import Measure
from curador.query.aggregates.quantiles.around import Looks
from curador.query.aggregates.quantiles.ranks import rank_estimates
from curador.query.answer.evaluate import Cells, evaluated, function_of, partitions
from curador.query.answer.fitted import Fitted, Laws
from curador.query.language import answers as an
from curador.query.language import expressions as ex
from curador.query.language.trees import names

LEAST_MISS = 1e-12
"""Misses that were divided further than doubles can tell from none: no ends are stated there."""

MOST_WINDOW_SIZES = 64
"""Of how many sizes the groups of a window may be, for the joint law of each to be worked out."""


@dataclass(frozen=True)
class Span:
    """The ends of an interval in each group, and whether there may be no value; an empty one lies above itself."""

    low: Array
    high: Array
    null: NDArray[np.bool_]

    def hull(self, other: Span) -> Span:
        return Span(np.minimum(self.low, other.low), np.maximum(self.high, other.high), self.null | other.null)


@dataclass(frozen=True)
class Noisy:
    """A noised measurement, and the groups of it that a computed column is worked out for.

    ``columns`` are the cells of these groups, by name; ``groups`` the names that hold no noise.  ``moving`` is set
    where HAVING chose the groups by noise: what is added up over them then has no law of its own.
    """

    recipes: Sequence[Recipe]
    noisy: Fitted
    places: Sequence[int]
    columns: Mapping[str, Cells]
    groups: frozenset[str]
    moving: bool
    looks: Looks = field(default_factory=Looks)

    @property
    def rows(self) -> int:
        return len(self.places)

    @cached_property
    def forms(self) -> Forms:
        return forms_of(self.recipes, self.noisy.classes[0][1])

    @cached_property
    def made(self) -> Mapping[str, Recipe]:
        return {output: recipe for recipe in self.recipes for output in recipe.outputs}

    def linear(self, e: ex.Expr) -> LinearForm | None:
        found = linear(e, self.forms)
        return None if found is not None and found.window and not self._lawful(found.window) else found

    def ratio(self, e: ex.Expr) -> Ratio | None:
        found = ratio(e, self.forms)
        seen = [] if found is None else [form.window for form in found if form.window]
        return found if all(map(self._lawful, seen)) else None

    def _lawful(self, window: an.OverGroups) -> bool:
        return not self.moving and not self.noisy.joint and len(set(self.sizes(window))) <= MOST_WINDOW_SIZES

    @cached_property
    def laws(self) -> Sequence[tuple[NDArray[np.bool_], Laws]]:
        """The rows of each law, and the law."""
        if len(self.noisy.classes) == 1:
            return [(np.ones(self.rows, bool), self.noisy.classes[0][1])]
        return [(np.isin(self.places, places), laws) for places, laws in self.noisy.classes]

    def sizes(self, window: an.OverGroups | None) -> list[int]:
        """How many groups stand with each in a window."""
        found = [1] * self.rows
        for places in partitions(window, self.columns, self.rows) if window else ():
            for i in places:
                found[i] = len(places)
        return found


def interval_of(e: ex.Expr, at: Noisy, confidence: float) -> tuple[Array, Array] | None:
    """The ends in each group of what is computed, or None where it has none: places, texts, groups, quantiles.

    Guarantee: post-processing [DR14]; each interval covers with probability at least ``confidence`` where the
        statistic has a value (docs/proofs/answers.md).
    """
    parts = _atoms(e, at)
    if not parts:  # none, or nothing in it is noised
        return None
    found = _Arithmetic(at, _shared(confidence, len(parts))).span(e)
    if found is None:
        return None
    empty = found.low > found.high
    return np.where(empty, -np.inf, found.low), np.where(empty, np.inf, found.high)


def _shared(confidence: float, parts: int) -> float:
    """The confidence of each of several parts that hold all at once; rounded up."""
    return confidence if parts <= 1 else math.nextafter(1 - (1 - confidence) / parts, 1)


def _atoms(e: ex.Expr, at: Noisy) -> set[ex.Expr] | None:
    """The parts of an expression with a noise of their own; None where one of them has no interval."""
    form = at.linear(e)
    if form is not None:
        return {e} if form.noisy else set()
    if at.ratio(e) is not None:
        return {e}
    if isinstance(e, ex.Name):
        recipe = at.made.get(e.column)
        if recipe is None:
            return set()
        return None if recipe.ranks is not None and recipe.around is None else {e}
    if isinstance(e, an.OverGroups) and e.order:
        return None
    found: set[ex.Expr] = set()
    for part in _valued(e):
        inside = _atoms(part, at)
        if inside is None:
            return None
        found |= inside
    return found


def _valued(e: ex.Expr) -> Sequence[ex.Expr]:
    """The parts whose values make the value of an expression; conditions only choose among them."""
    if isinstance(e, ex.Case):
        return [*(value for _, value in e.whens), e.otherwise]
    return e.operands if isinstance(e, an.OverGroups) else e.parts


@dataclass(frozen=True)
class _Arithmetic:
    """Interval arithmetic, with parts at one confidence."""

    at: Noisy
    confidence: float

    def span(self, e: ex.Expr) -> Span | None:
        form, both = self.at.linear(e), self.at.ratio(e)
        noisy = (
            both is not None
            or (form is not None and form.noisy)
            or (isinstance(e, ex.Name) and e.column in self.at.made)
        )
        if noisy and 1 - self.confidence < LEAST_MISS:
            return self._unknown()
        if form is not None:
            return self._linear(form)
        if both is not None:
            return self._ratio(both)
        rules: dict[type[ex.Expr], Callable[[Any], Span | None]] = {
            ex.Name: self._output,
            ex.Literal: self._literal,
            ex.Arithmetic: self._arithmetic,
            ex.Negate: lambda e: self._two(_minus, ex.Literal(0), e.operand),
            ex.Abs: self._abs,
            ex.Least: lambda e: self._choice(np.minimum, e),
            ex.Greatest: lambda e: self._choice(np.maximum, e),
            ex.Coalesce: self._coalesce,
            ex.Case: self._case,
            an.Applied: self._applied,
            an.OverGroups: self._over,
        }
        return rules[type(e)](e) if type(e) in rules else None

    def _unknown(self) -> Span:
        ends = np.full(self.at.rows, np.inf)
        return Span(-ends, ends, np.ones(self.at.rows, bool))

    # -- parts with a law of their own

    def _linear(self, form: LinearForm) -> Span:
        value = self._value(form)
        sizes, off = np.array(self.at.sizes(form.window), np.int64), np.zeros_like(value)
        for here, laws in self.at.laws:
            for n in set(sizes[here].tolist()):
                off[here & (sizes == n)] = form_error(form, laws, n, self.confidence)
        return Span(value - off, value + off, _never(value))

    def _ratio(self, both: Ratio) -> Span:
        top, bottom = map(self._value, both)
        sizes = np.array(self.at.sizes(both[0].window or both[1].window), np.int64)
        low, high = np.full_like(top, -np.inf), np.full_like(top, np.inf)
        for rows, laws in self.at.laws:
            for n in set(sizes[rows].tolist()):
                here = rows & (sizes == n)
                low[here], high[here] = ratio_ends(top[here], bottom[here], both, laws, n, self.confidence)
        return Span(low, high, np.isinf(low))

    def _value(self, form: LinearForm) -> Array:
        found = np.full(self.at.rows, form.constant)
        for m, weight in form.own.items():
            found += weight * self._measured(m)
        for m in {**form.over, **form.mean}:
            assert form.window is not None
            x = self._measured(m)
            for places in partitions(form.window, self.at.columns, self.at.rows):
                found[places] += form.others(m, len(places)) * x[places].sum()
        return found

    def _measured(self, m: Measure) -> Array:
        return as_reals(self.at.noisy.measured[m])[list(self.at.places)]

    # -- leaves

    def _output(self, e: ex.Name) -> Span | None:
        recipe = self.at.made.get(e.column)
        if recipe is None:  # a group: known as it is
            cells = self.at.columns[e.column]
            known = [x if isinstance(x, int | float) else None for x in cells]
            return self._exact(known)
        if recipe.ranks is not None:
            near = self.at.noisy.cells(recipe)
            values = self.at.noisy.ranked[recipe.ranks]
            every = rank_estimates(recipe, values, 0.0, near, self.confidence, self.at.looks)
            found = every[recipe.outputs.index(e.column)]
        else:
            found = self.at.noisy.estimate(recipe, self.confidence)
        assert found.lower is not None
        assert found.upper is not None
        low, high = (np.array(ends)[list(self.at.places)] for ends in (found.lower, found.upper))
        return Span(low, high, _never(low))

    def _literal(self, e: ex.Literal) -> Span:
        if e.value is None:
            return self._exact([None] * self.at.rows)
        found = self._exact([float(e.number)] * self.at.rows)
        right = float(e.number) == e.number
        return found if right else Span(*_outwards(found.low, found.high, _never(found.low)), found.null)

    def _exact(self, cells: Sequence[float | None]) -> Span:
        null = np.array([x is None for x in cells], bool)
        low, high = (np.array([empty if x is None else x for x in cells], np.float64) for empty in (np.inf, -np.inf))
        return Span(low, high, null)

    # -- arithmetic

    def _two(self, rule: Callable[[Span, Span], Span], left: ex.Expr, right: ex.Expr) -> Span | None:
        a, b = self.span(left), self.span(right)
        if a is None or b is None:
            return None
        with np.errstate(all="ignore"):
            found = rule(a, b)
        none = (a.low > a.high) | (b.low > b.high)
        low, high = (np.where(np.isnan(x), side, x) for x, side in ((found.low, -np.inf), (found.high, np.inf)))
        return Span(np.where(none, np.inf, low), np.where(none, -np.inf, high), found.null | a.null | b.null)

    def _arithmetic(self, e: ex.Arithmetic) -> Span | None:
        return self._two(_RULES[e.op], e.left, e.right)

    def _abs(self, e: ex.Abs) -> Span | None:
        a = self.span(e.operand)
        if a is None:
            return None
        least = np.where((a.low <= 0) & (a.high >= 0), 0.0, np.minimum(np.abs(a.low), np.abs(a.high)))
        return Span(np.where(a.low > a.high, np.inf, least), np.maximum(-a.low, a.high), a.null)

    def _applied(self, e: an.Applied) -> Span | None:
        a = self.span(e.operand)
        if a is None:
            return None
        least = {"sqrt": 0.0, "ln": 0.0}.get(e.function, -np.inf)
        value = function_of(e)

        def end(x: float, side: float) -> float:
            found = value(max(x, least)) if math.isfinite(max(x, least)) else None
            return side if found is None else found

        # An end that the function has no value at is one of the function's own: 0, or no end.
        low = [end(x, 0.0 if e.function in ("sqrt", "exp") else -np.inf) for x in a.low.tolist()]
        high = [-np.inf if x < least else end(x, np.inf) for x in a.high.tolist()]
        none = a.low > a.high
        null = a.null | (a.low < least) if e.function in ("sqrt", "ln") else a.null
        return Span(np.where(none, np.inf, low), np.where(none, -np.inf, high), null)

    # -- choices

    def _choice(self, of: Callable[[Array, Array], Array], e: ex.Least | ex.Greatest) -> Span | None:
        """The least or largest; what may be NULL may also leave the choice to the others."""
        spans = [self.span(x) for x in e.operands]
        found: Span | None = None
        for one in spans:
            if one is None:
                return None
            if found is None:
                found = one
                continue
            both = Span(of(found.low, one.low), of(found.high, one.high), found.null & one.null)
            both = _where(found.null, both.hull(one), both)
            found = Span(*_ends(_where(one.null, both.hull(found), both)), found.null & one.null)
        return found

    def _coalesce(self, e: ex.Coalesce) -> Span | None:
        found: Span | None = None
        for x in e.operands:
            one = self.span(x)
            if one is None:
                return None
            chosen = one if found is None else _where(found.null, found.hull(one), found)
            found = Span(*_ends(chosen), one.null if found is None else found.null & one.null)
        return found

    def _case(self, e: ex.Case) -> Span | None:
        """Every branch that may be taken; which one is, is known where only groups decide."""
        found = self.span(e.otherwise)
        for test, value in reversed(e.whens):
            one = self.span(value)
            if one is None or found is None:
                return None
            if {n.column for n in names(test)} <= self.at.groups and not an.windows(test):
                true = np.array([x is True for x in evaluated(test, self.at.columns, self.at.rows)], bool)
                found = _where(true, one, found)
            else:
                found = one.hull(found)
        return found

    # -- windows

    def _over(self, e: an.OverGroups) -> Span | None:
        """What is added up of parts that have no joint law: all groups of the window at once, by a union bound."""
        if e.order:
            return None
        if e.function == "count":
            return self._exact([float(n) for n in self.at.sizes(e)])
        level = self.confidence if self.at.moving else _shared(self.confidence, self.at.rows)
        inside = _Arithmetic(self.at, level).span(e.operands[0])
        if inside is None:
            return None
        low, high, null = inside.low.copy(), inside.high.copy(), inside.null.copy()
        added: dict[str, Callable[[Array], Any]] = {"sum": np.sum, "avg": np.mean, "min": np.min, "max": np.max}
        add = added[e.function]
        for places in partitions(e, self.at.columns, self.at.rows):
            if inside.null[places].any():  # NULL is left out of what is added up, so nothing is known
                low[places], high[places] = -np.inf, np.inf
            else:
                low[places], high[places] = add(inside.low[places]), add(inside.high[places])
            null[places] = inside.null[places].all()
        if e.function in ("sum", "avg"):
            low, high = _outwards(low, high, _are_whole(inside))
        return Span(low, high, null)


def _never(like: Array) -> NDArray[np.bool_]:
    return np.zeros(len(like), bool)


def _ends(span: Span) -> tuple[Array, Array]:
    return span.low, span.high


def _where(true: NDArray[np.bool_], one: Span, other: Span) -> Span:
    return Span(*(np.where(true, a, b) for a, b in zip(_fields(one), _fields(other), strict=True)))


def _fields(span: Span) -> tuple[Array, Array, NDArray[np.bool_]]:
    return span.low, span.high, span.null


EXACT = 2.0**53
"""Whole numbers up to here are doubles, and what is computed of them is whole only if it is right."""


def _outwards(low: Array, high: Array, whole: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Ends that were rounded to the nearest, moved by one step; zero, and whole numbers computed of such, are right.

    Noise is whole, so that the truth often lies at an end exactly: an end that is a step too near misses it then.
    """
    right = [np.isinf(x) | (x == 0) | (whole & (np.trunc(x) == x) & (np.abs(x) < EXACT)) for x in (low, high)]
    return np.where(right[0], low, np.nextafter(low, -np.inf)), np.where(right[1], high, np.nextafter(high, np.inf))


def _are_whole(*spans: Span) -> NDArray[np.bool_]:
    ends = np.stack([x for one in spans for x in (one.low, one.high)])
    return np.asarray(np.all((np.trunc(ends) == ends) & (np.abs(ends) < EXACT), axis=0))


def _plus(a: Span, b: Span) -> Span:
    return Span(*_outwards(a.low + b.low, a.high + b.high, _are_whole(a, b)), _never(a.low))


def _minus(a: Span, b: Span) -> Span:
    return Span(*_outwards(a.low - b.high, a.high - b.low, _are_whole(a, b)), _never(a.low))


def _product(a: Span, b: Span) -> Span:
    ends = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    ends = np.where(np.isnan(ends), 0.0, ends)  # nothing times a number without end: true values are finite
    return Span(*_outwards(ends.min(axis=0), ends.max(axis=0), _are_whole(a, b)), _never(a.low))


def _quotient(a: Span, b: Span) -> Span:
    zero = (b.low <= 0) & (b.high >= 0)
    with np.errstate(all="ignore"):
        ends = np.stack([a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high])
    ends = np.where(np.isnan(ends), 0.0, ends)
    low, high = _outwards(ends.min(axis=0), ends.max(axis=0), _are_whole(a, b))
    return Span(np.where(zero, -np.inf, low), np.where(zero, np.inf, high), zero)


def _whole(a: Span, b: Span) -> Span:
    found = _quotient(a, b)
    return Span(np.trunc(found.low), np.trunc(found.high), found.null)


def _rest(a: Span, b: Span) -> Span:
    """a % b has the sign of a, and is at most as large as either."""
    most = np.minimum(np.maximum(-a.low, a.high), np.maximum(-b.low, b.high))
    zero = (b.low <= 0) & (b.high >= 0)
    return Span(np.where(a.low >= 0, 0.0, -most), np.where(a.high <= 0, 0.0, most), zero)


_RULES: dict[str, Callable[[Span, Span], Span]] = {
    "+": _plus,
    "-": _minus,
    "*": _product,
    "/": _quotient,
    "//": _whole,
    "%": _rest,
}
