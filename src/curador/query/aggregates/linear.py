"""Linear combinations of noised measures, and ratios of two: what arithmetic on answers mostly is.

A count is a noised measure, a sum one or two of them.  What is added up of these, with constant factors, in one group
or over all groups of a window, is again a linear combination of noised integers whose noise is independent: its error
has an exact law.  A ratio of two such combinations, which may share measures, has Fieller's interval [Fie54]: r is kept
if the noise on ``top - r * bottom``, itself such a combination, could be what it would have to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.intervals import (
    RepeatedTerm,
    gaussian_distance,
    laplace_distance,
    repeated,
    repeated_error,
)
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.laws.sums import ASIDE, LEAST_EXACT, laplace_sum_error, likely_apart
from curador.mechanisms.laws.tails import laplace_tail
from curador.query.aggregates.base import Array, NoisyMeasure, Recipe, function_named
from curador.query.aggregates.measure import Measure
from curador.query.language import expressions as ex
from curador.query.language.answers import OverGroups
from curador.query.tables.columns import Kind

HALVINGS = 44
"""Bisection steps for the edge of an interval."""


@dataclass(frozen=True)
class LinearForm:
    """A constant and weighted measures: of the group itself (``own``), and over the groups of one window, added up
    (``over``) or averaged (``mean``)."""

    constant: float = 0.0
    own: Mapping[Measure, float] = field(default_factory=dict)
    over: Mapping[Measure, float] = field(default_factory=dict)
    mean: Mapping[Measure, float] = field(default_factory=dict)
    window: OverGroups | None = None
    """A window of these groups; only its PARTITION BY counts."""

    @property
    def noisy(self) -> bool:
        return bool(self.own or self.over or self.mean)

    @property
    def parts(self) -> tuple[Mapping[Measure, float], ...]:
        return self.own, self.over, self.mean

    def times(self, factor: float) -> LinearForm:
        own, over, mean = ({m: w * factor for m, w in part.items()} for part in self.parts)
        return LinearForm(self.constant * factor, own, over, mean, self.window)

    def others(self, m: Measure, groups: int) -> float:
        """The weight of a measure of each group of the window, where there are so many."""
        return self.over.get(m, 0.0) + self.mean.get(m, 0.0) / groups

    def plus(self, other: LinearForm) -> LinearForm | None:
        """The sum of two, or None where they look through different windows."""
        if self.window and other.window and self.window.partition != other.window.partition:
            return None
        own, over, mean = (
            {m: a.get(m, 0.0) + b.get(m, 0.0) for m in (*a, *(m for m in b if m not in a))}
            for a, b in zip(self.parts, other.parts, strict=True)
        )
        return LinearForm(self.constant + other.constant, own, over, mean, self.window or other.window)


Forms = Mapping[str, LinearForm]
"""The outputs of a question that are linear, by name."""

Ratio = tuple[LinearForm, LinearForm]


def forms_of(recipes: Sequence[Recipe], noised: Mapping[Measure, NoisyMeasure]) -> Forms:
    """The outputs that are linear in measures whose noise has its own law, also given that their groups are shown."""
    found = {}
    for recipe in recipes:
        if recipe.ranks is not None or recipe.tree is not None or any(noised[m].selects for m in recipe.measures):
            continue
        weights = function_named(recipe.function).weights(recipe)
        if weights is not None:
            found[recipe.name] = LinearForm(own=dict(zip(recipe.measures, weights, strict=True)))
    return found


def linear(e: ex.Expr, forms: Forms) -> LinearForm | None:
    """An expression as a linear combination of measures, or None where it is none.

    >>> linear(ex.Arithmetic("*", ex.Literal(100), ex.Literal(0.5)), {}).constant
    50.0
    """
    if isinstance(e, ex.Literal):
        return LinearForm(float(e.number)) if e.kind in (Kind.INTEGER, Kind.REAL) else None
    if isinstance(e, ex.Name):
        return forms.get(e.column)
    if isinstance(e, ex.Negate):
        inside = linear(e.operand, forms)
        return None if inside is None else inside.times(-1)
    if isinstance(e, OverGroups):
        inside = linear(e.operands[0], forms) if e.function in ("sum", "avg") else None
        if inside is None or inside.constant or inside.window:
            return None
        return LinearForm(over=inside.own, window=e) if e.function == "sum" else LinearForm(mean=inside.own, window=e)
    if not isinstance(e, ex.Arithmetic):
        return None
    a, b = linear(e.left, forms), linear(e.right, forms)
    if a is None or b is None:
        return None
    if e.op in ("+", "-"):
        return a.plus(b if e.op == "+" else b.times(-1))
    if e.op == "*" and not (a.noisy and b.noisy):
        return _finite(a.times(b.constant) if not b.noisy else b.times(a.constant))
    if e.op == "/" and not b.noisy and b.constant:
        return _finite(a.times(1 / b.constant))
    return None


def _finite(form: LinearForm) -> LinearForm | None:
    return (
        form if all(map(math.isfinite, (form.constant, *(w for part in form.parts for w in part.values())))) else None
    )


def ratio(e: ex.Expr, forms: Forms) -> Ratio | None:
    """An expression as a ratio of two linear combinations, or None where it is none; constants are worked in."""
    if isinstance(e, ex.Negate):
        inside = ratio(e.operand, forms)
        return None if inside is None else (inside[0].times(-1), inside[1])
    if not isinstance(e, ex.Arithmetic):
        return None
    a, b = linear(e.left, forms), linear(e.right, forms)
    if a is not None and b is not None:
        alike = not (a.window and b.window) or a.window.partition == b.window.partition
        return (a, b) if e.op == "/" and b.noisy and alike else None
    for side, number, sign in ((e.left, b, -1.0), (e.right, a, 1.0)):
        if number is None or number.noisy:
            continue
        inside = ratio(side, forms)
        if inside is None:
            continue
        (top, bottom), k = inside, number.constant
        if e.op == "*":
            return top.times(k), bottom
        if e.op == "/" and side is e.left and k:
            return top.times(1 / k), bottom
        if e.op in ("+", "-"):
            if e.op == "-" and side is e.right:
                top = top.times(-1)
            shifted = top.plus(bottom.times(k if e.op == "+" else sign * k))
            return None if shifted is None else (shifted, bottom)
    return None


# ---- laws ------------------------------------------------------------------------------------------------------------


def terms(form: LinearForm, noised: Mapping[Measure, NoisyMeasure], groups: int) -> list[RepeatedTerm]:
    """The noise of a form in one group, where its window holds ``groups`` groups."""
    return [(a, noise, n) for a, _, noise, n in _both(form, LinearForm(), noised, groups)]


PairedTerm = tuple[float, float, AdditiveNoise, int]
"""The weights of one noise in a numerator and in a denominator, and how many such noises there are."""


def _both(top: LinearForm, bottom: LinearForm, noised: Mapping[Measure, NoisyMeasure], groups: int) -> list[PairedTerm]:
    found: list[PairedTerm] = []
    for m in dict.fromkeys(m for form in (top, bottom) for part in form.parts for m in part):
        noise = noised[m].mechanism
        if noise is None:
            continue
        others = top.others(m, groups), bottom.others(m, groups)
        here = top.own.get(m, 0.0) + others[0], bottom.own.get(m, 0.0) + others[1]
        for both, times in ((here, 1), (others, groups - 1)):
            if any(both) and times:
                found += ((both[0] * w, both[1] * w, drawn, n * times) for w, drawn, n in repeated([(1.0, noise)]))
    return found


def form_error(form: LinearForm, noised: Mapping[Measure, NoisyMeasure], groups: int, confidence: float) -> float:
    """How far a form is off, at most, at least this often."""
    return _error(terms(form, noised, groups), confidence)


def _error(found: Sequence[RepeatedTerm], confidence: float) -> float:
    return repeated_error(found, confidence) if any(w for w, _, _ in found) else 0.0


def ratio_ends(
    top: Array, bottom: Array, both: Ratio, noised: Mapping[Measure, NoisyMeasure], groups: int, confidence: float
) -> tuple[Array, Array]:
    """Where each ratio of two forms lies, given their noisy values; without ends where the denominator may be zero.

    Guarantee: each interval covers its true ratio with probability at least ``confidence`` [Fie54], whatever it is: the
        error of ``top - r * bottom`` is convex in r, so the ratios kept are an interval (docs/proofs/answers.md).
    """
    paired = _both(*both, noised, groups)
    # Weights of any size: squares of very large and of very small ones leave doubles.
    above_by, below_by = _unit([t[0] for t in paired]), _unit([t[1] for t in paired])
    paired = [(a * above_by, b * below_by, noise, n) for a, b, noise, n in paired]
    top, bottom = top * above_by, bottom * below_by
    upper = _error([(a, noise, n) for a, _, noise, n in paired], confidence)
    lower = _error([(b, noise, n) for _, b, noise, n in paired], confidence)
    known = (np.abs(bottom) > lower) & np.isfinite(top) & np.isfinite(bottom)
    x, y = np.where(known, top, 0.0), np.where(known, bottom, 1.0)
    keeps = ratio_test(paired, 1 - confidence)

    def kept(r: Array) -> NDArray[np.bool_]:
        return keeps(np.abs(x - r * y), r)

    guess = x / y
    # By the triangle inequality nothing further out is kept; doubled where the bound on the noise is a lesser of two.
    far = (np.abs(x) + upper) / np.where(known, np.abs(y) - lower, 1.0) * (1 + 2.0**-20) + np.abs(guess)
    edges = []
    for side in (-1.0, 1.0):
        inside, outside = guess.copy(), side * far
        for _ in range(60):
            if not (beyond := kept(outside) & known).any():
                break
            outside = np.where(beyond, 2 * outside, outside)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            yes = kept(middle)
            inside, outside = np.where(yes, middle, inside), np.where(yes, outside, middle)
        with np.errstate(over="ignore", invalid="ignore"):
            edge = np.where(known & ~kept(outside), outside * below_by / above_by, side * np.inf)
        edges.append(np.where(known & (far == 0), 0.0, edge))  # the numerator is nothing for sure
    return edges[0], edges[1]


def _unit(weights: Sequence[float]) -> float:
    """A power of two that brings the largest of some weights near 1."""
    largest = max(map(abs, weights), default=0.0)
    return 2.0 ** -max(-1000, min(1000, math.frexp(largest)[1])) if largest else 1.0


Kept = Callable[[Array, Array], NDArray[np.bool_]]


def ratio_test(paired: Sequence[PairedTerm], miss: float) -> Kept:
    """Whether noise on top - r * bottom may be as large as x: takes x and r, both arrays."""
    noises, count = [t[2] for t in paired], sum(t[3] for t in paired)

    def weights(r: Array) -> list[Array]:
        return [np.abs(a - r * b) for a, b, _, _ in paired]

    def spread(r: Array, sizes: Sequence[float]) -> Array:
        found = zip(weights(r), sizes, paired, strict=True)
        return np.sqrt(sum((n * (w * s) ** 2 for w, s, (_, _, _, n) in found), np.zeros_like(r)))

    if not paired:
        return lambda x, r: x <= 0
    if all(isinstance(noise, Gaussian) for noise in noises):
        z = -NormalDist().inv_cdf(miss / 2) * (1 + 2.0**-40)
        sigmas = [float(noise.sigma) for noise in noises if isinstance(noise, Gaussian)]
        return lambda x, r: x <= z * spread(r, sigmas)
    if all(isinstance(noise, IntegerLaplace) for noise in noises):
        scales = [float(noise.scale) for noise in noises if isinstance(noise, IntegerLaplace)]
        apart_by = [laplace_distance(noise) for noise in noises if isinstance(noise, IntegerLaplace)]
        if len(paired) == count == 2:

            def two(x: Array, r: Array) -> NDArray[np.bool_]:
                a, b = weights(r)
                slack = a * apart_by[0] + b * apart_by[1]
                return np.asarray(laplace_tail(x - slack, [a * scales[0], b * scales[1]]) > miss)

            return two
        log = math.log(2 / miss)

        def bound(r: Array) -> Array:  # mechanisms.laws.sums.subgamma
            widest = np.max([w * s for w, s in zip(weights(r), scales, strict=True)], axis=0)
            return np.asarray(2 * math.sqrt(log) * spread(r, scales) + widest * log)

        if miss < LEAST_EXACT:
            return lambda x, r: x <= bound(r)
        sized = zip(paired, scales, apart_by, strict=True)
        given = [(a, b, s, d, n) for (a, b, _, n), s, d in sized]
        sure, likely = (_chords(given, miss, often) for often in (0.0, ASIDE))
        return lambda x, r: x <= np.minimum(np.minimum(sure(r), likely(r)), bound(r))
    each = [noise.reach(miss / count) for noise in noises]

    def each_alone(x: Array, r: Array) -> NDArray[np.bool_]:
        found = zip(weights(r), each, paired, strict=True)
        reach = sum((n * w * e for w, e, (_, _, _, n) in found), np.zeros_like(r))
        if all(isinstance(noise, IntegerGaussian) for noise in noises):
            # Integer Gaussians are subgaussian of their sigma [CKS20], and so are their sums.
            sigmas = [math.sqrt(noise.sigma_squared) for noise in noises if isinstance(noise, IntegerGaussian)]
            reach = np.minimum(reach, math.sqrt(2 * math.log(2 / miss)) * (1 + 2.0**-40) * spread(r, sigmas))
            # And, but for a hundredth of the misses, not far from continuous noise (docs/proofs/noise.md, section 4).
            near = [gaussian_distance(m, miss / 100 / count) for m in noises if isinstance(m, IntegerGaussian)]
            slack = sum(
                (n * w * d for w, d, (_, _, _, n) in zip(weights(r), near, paired, strict=True)), np.zeros_like(r)
            )
            z = -NormalDist().inv_cdf(miss * 0.99 / 2) * (1 + 2.0**-40)
            reach = np.minimum(reach, z * spread(r, sigmas) + slack)
        return x <= reach

    return each_alone


def _chords(
    paired: Sequence[tuple[float, float, float, float, int]], miss: float, aside: float
) -> Callable[[Array], Array]:
    """A bound on the error of top - r * bottom, from weights in both, scales, distances from continuous noise, and how
    many: the law of the sum at some r, and chords between them.
    Integer noise is apart from continuous noise by all its distances at most, or by less but for an ``aside`` part of
    the misses.

    The error of continuous terms, and what integer terms may add to it, is a norm of the weights [Bob10], so convex in
    r: between two ratios it lies below its chord, and beyond the last it grows by no more than the norm of the bottom.
    """

    def error(weights: Sequence[float]) -> float:
        sized = [(abs(w), s, d, n) for w, (_, _, s, d, n) in zip(weights, paired, strict=True) if w]
        if not sized:
            return 0.0
        exact = laplace_sum_error([(w * s, n) for w, s, _, n in sized], miss * (1 - aside))
        distances = [(w * d, n) for w, _, d, n in sized]
        return exact + (likely_apart(distances, miss * aside) if aside else sum(d * n for d, n in distances))

    turns = sorted({a / b for a, b, *_ in paired if b} or {0.0})
    width = max(turns[-1] - turns[0], max(map(abs, turns)), 1e-300)
    steps = width * 2.0 ** np.array([-7, -6, -5, -4, -3, -2, -1, 0, 2, 4, 7, 11])
    near = [t + side * steps for t in turns for side in (-1.0, 1.0)]
    at = np.unique(np.concatenate([*near, np.linspace(turns[0], turns[-1], 17), turns]))
    errors = np.array([error([a - r * b for a, b, *_ in paired]) for r in at.tolist()])
    slope = error([b for _, b, *_ in paired])
    return lambda r: np.interp(r, at, errors) + slope * np.maximum(0, np.maximum(at[0] - r, r - at[-1]))
