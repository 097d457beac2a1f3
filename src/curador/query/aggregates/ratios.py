"""Intervals for ratios and variances of noisy numbers, in many groups at once.

A ratio r is kept if the noise on ``top - r * bottom`` could be what it would have to be (Fieller), and a variance
likewise.  What is looked for is known to lie between limits, so only what is between them is searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.intervals import (
    Noise,
    NoiseSum,
    RepeatedTerm,
    SumTest,
    gaussian_distance,
    laplace_distance,
    repeated,
    repeated_reach,
)
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.laws.sums import ASIDE as LIKELY_ASIDE
from curador.mechanisms.laws.sums import LEAST_EXACT, laplace_sum_error, likely_apart
from curador.query.aggregates.base import Array
from curador.query.aggregates.linear import ratio_test

HALVINGS = 40
"""An end is looked for until it is known to 2**-40 of the range."""

TRUNCATED = 0.1
"""How far a step is moved towards the middle: by this times the square of its part of the range."""

ASIDE = 0.05
"""Of the misses of a variance, the part that goes to the mean: that is off in the second order only."""

Numbers = tuple[Array, Noise | None]
"""Noised numbers, one per group, and their noise; None is a number without noise."""

Kept = Callable[[Array], NDArray[np.bool_]]
"""Whether a value may be the true one, in each place; of several rows of values, in each row."""

Room = Callable[[Array], Array]
"""The same by a number: values of at least 0 are kept, and the nearer to 0, the nearer is the end."""


def ratio_bounds(
    top: NDArray[Any],
    top_noise: Noise | None,
    bottom: NDArray[Any],
    bottom_noise: Noise | None,
    limit: float,
    miss: float = 0.05,
) -> tuple[Array, Array]:
    """Where each ratio lies, given noisy numerators and denominators; None is a number without noise.

    Guarantee: each interval misses its true ratio with probability at most ``miss``, given that it lies within
        ``limit`` [Fie54].

    >>> from curador.mechanisms.laplace import IntegerLaplace
    >>> sums, counts = np.array([500, 3]), np.array([100, 2])
    >>> low, high = ratio_bounds(sums, IntegerLaplace(10, 1), counts, IntegerLaplace(1, 1), limit=10)
    >>> bool(4 < low[0] < 5 < high[0] < 6), low[1].item(), high[1].item()
    (True, -10.0, 10.0)
    """
    x, y = np.asarray(top, np.float64), np.asarray(bottom, np.float64)
    noises = [noise for noise in (top_noise, bottom_noise) if noise is not None]
    test = SumTest(tuple(noises), miss) if noises else None
    if any(isinstance(noise, NoiseSum) for noise in noises):
        return _made_of_others(x, top_noise, y, bottom_noise, limit, miss)

    def room(r: Array) -> Array:
        off = np.abs(x - r * y)
        weights = [w for w, noise in ((np.ones_like(r), top_noise), (r, bottom_noise)) if noise is not None]
        return -off if test is None else test.room(off, weights)

    # Unless the line outgrows the denominator's noise, no ratio far out is ever excluded: nothing is known.
    known = (np.abs(y) > (0.0 if bottom_noise is None or test is None else test.outgrown(len(noises) - 1))) & (y != 0)
    with np.errstate(over="ignore"):
        guess = np.clip(np.divide(x, y, out=np.zeros_like(x), where=known), -limit, limit)
    return kept_between(room, guess, known, np.full_like(guess, -limit), np.full_like(guess, limit))


def _made_of_others(
    x: Array, top_noise: Noise | None, y: Array, bottom_noise: Noise | None, limit: float, miss: float
) -> tuple[Array, Array]:
    """The same where numbers are sums of noised ones: by the joint law of all that were drawn."""
    above, below = ([] if noise is None else repeated([(1.0, noise)]) for noise in (top_noise, bottom_noise))
    keeps = ratio_test([(w, 0.0, m, n) for w, m, n in above] + [(0.0, w, m, n) for w, m, n in below], miss)
    known = (np.abs(y) > (repeated_reach(below, miss) if below else 0.0)) & (y != 0)
    guess = np.clip(np.divide(x, y, out=np.zeros_like(x), where=known), -limit, limit)
    ends = np.full_like(guess, -limit), np.full_like(guess, limit)
    moved = [noise.rounded if isinstance(noise, NoiseSum) else 0.0 for noise in (top_noise, bottom_noise)]

    def kept(r: Array) -> NDArray[np.bool_]:
        return keeps(np.abs(x - r * y) - moved[0] - np.abs(r) * moved[1], r)

    return kept_between(by_test(kept), guess, known, *ends)


def kept_between(room: Room, guess: Array, known: NDArray[np.bool_], least: Array, most: Array) -> tuple[Array, Array]:
    """The ends of the values that are kept, on both sides of a guess; all of them where nothing is known.

    Each side is searched by interpolation, truncation and projection [OT20]: near where the line between what is kept
    and what is not crosses zero, a little towards the middle, and never in more steps than one more than by halving,
    which it is where the room is only plus or minus one.  A place is done when it is known to 2**-40 of its range, so
    its end does not depend on other places.

    Guarantee: an end is the limit, or a value that is not kept.
    Assumes: on each side of the guess, what is not kept is followed by nothing that is.
    """
    ends = np.stack([least, most])  # both at once: a step costs the same for twice as many places
    at_guess, *at_ends = room(np.stack([guess, least, most]))
    inside, outside = np.stack([guess, guess]), ends
    more, less = np.stack([at_guess, at_guess]), np.stack(at_ends)
    reaches, width = less >= 0, np.abs(outside - inside)
    searched, enough = known & (at_guess >= 0) & ~reaches, width * 2.0**-HALVINGS
    for step in range(HALVINGS + 1):
        gap = outside - inside
        open_ = searched & (np.abs(gap) > enough)
        if not open_.any():
            break
        size = np.abs(gap) / np.where(open_, width, 1.0) + ~open_
        aside = 0.5 - np.divide(more, more - less, out=np.full_like(gap, 0.5), where=open_)
        # Half of what is enough besides, so that rounding does not keep it from crossing to the other side.
        far = np.minimum(np.abs(aside) - TRUNCATED * size - 2.0 ** -(HALVINGS + 1) / size, 2.0**-step / size - 0.5)
        middle = inside + gap * (0.5 - np.copysign(np.maximum(far, 0.0), aside))
        found = room(middle)
        yes, no = open_ & (found >= 0), open_ & ~(found >= 0)
        inside, more = np.where(yes, middle, inside), np.where(yes, found, more)
        outside, less = np.where(no, middle, outside), np.where(no, found, less)
    # Where the best value lies beyond the limit and the limit itself is excluded, the limit is what is left.
    low, high = np.where(known, np.where(at_guess >= 0, np.where(reaches, ends, outside), guess), ends)
    return low, high


def by_test(kept: Kept) -> Room:
    """The room of values of which it is only known whether they are kept."""
    return lambda x: np.where(kept(x), 1.0, -1.0)


STEPS = np.array([0, 0.08, 0.16, 0.3, 0.5, 0.75, 1])
"""Where, between no weight and the largest, the law of a sum of three sums is worked out."""


@dataclass(frozen=True)
class SumsTest:
    """Whether a weighted sum of numbers' noises may be as large as x, where the numbers are sums of noised ones.

    ``most`` are the largest weights; the first is always that.

    Guarantee: as that of :class:`SumTest`.  Of three sums of Laplace noises the error is worked out where the two other
    weights are on a grid.  It is a norm of the weights, so convex: within a cell of the grid it lies below what its
    corners give (docs/proofs/answers.md, section 2).
    """

    noises: tuple[Noise, ...]
    most: tuple[float, ...]
    miss: float

    def keeps(self, x: Array, weights: Sequence[Array]) -> NDArray[np.bool_]:
        """Whether the sum with these weights may be x or more in size."""
        return np.asarray(self.room(x, weights) >= 0)

    def room(self, x: Array, weights: Sequence[Array]) -> Array:
        """About how much larger x might be and still be kept; below 0 where it is not kept."""
        x = x - self._moved(weights)
        found = self._alone.room(x, weights)
        if self._spreads is not None:
            found = np.minimum(found, self._normal(weights) - x)
        if self._tables is not None:
            places = [w / most * (1 - 2.0**-40) if most else w for w, most in zip(weights, self.most, strict=True)]
            found = np.minimum(found, np.minimum(*(_between(t, *places[1:]) for t in self._tables)) - x)
        return found

    def outgrown(self, place: int) -> float:
        """What |y| must exceed, so that the noise in one place cannot keep w y for every large weight w of it."""
        noise = self.noises[place]
        moved = noise.rounded if isinstance(noise, NoiseSum) else 0.0
        return self._alone.outgrown(place) + moved

    @cached_property
    def _alone(self) -> SumTest:
        return SumTest(self.noises, self.miss)

    @cached_property
    def _terms(self) -> list[list[RepeatedTerm]]:
        return [repeated([(1.0, noise)]) for noise in self.noises]

    def _moved(self, weights: Sequence[Array]) -> Array:
        moved = (noise.rounded if isinstance(noise, NoiseSum) else 0.0 for noise in self.noises)
        return sum((w * by for w, by in zip(weights, moved, strict=True)), np.zeros_like(weights[0]))

    @cached_property
    def _spreads(self) -> list[tuple[float, float]] | None:
        """Where all are Gaussian: the deviation of each sum, and how far integer noise is from continuous noise."""
        drawn = [term for terms in self._terms for term in terms]
        if not all(isinstance(m, Gaussian | IntegerGaussian) for _, m, _ in drawn):
            return None
        aside = self.miss / 100 / sum(n for _, _, n in drawn)

        def apart(w: float, m: AdditiveNoise, n: int) -> float:
            return n * abs(w) * gaussian_distance(m, aside) if isinstance(m, IntegerGaussian) else 0.0

        return [(math.sqrt(NoiseSum(tuple(terms)).variance), sum(apart(*t) for t in terms)) for terms in self._terms]

    def _normal(self, weights: Sequence[Array]) -> Array:
        assert self._spreads is not None
        pairs = list(zip(weights, self._spreads, strict=True))
        spread = np.sqrt(sum(((w * sigma) ** 2 for w, (sigma, _) in pairs), np.zeros_like(weights[0])))
        slack = sum((w * far for w, (_, far) in pairs), np.zeros_like(weights[0]))
        z = -NormalDist().inv_cdf(self.miss * 0.99 / 2) * (1 + 2.0**-40)
        return np.asarray(spread * z + slack)

    @cached_property
    def _tables(self) -> tuple[Array, Array] | None:
        """The error at all pairs of steps of the second and the third weight, by two bounds, each a norm of them."""
        drawn = [m for terms in self._terms for _, m, _ in terms]
        if len(self.noises) != 3 or not all(isinstance(m, IntegerLaplace) for m in drawn) or self.miss < LEAST_EXACT:
            return None

        def error(aside: float, *weights: float) -> float:
            each = zip((1.0, *weights), self._terms, strict=True)
            sized = [(w * abs(v), m, n) for w, terms in each for v, m, n in terms if w * v]
            scales = [(w * float(m.scale), n) for w, m, n in sized if isinstance(m, IntegerLaplace)]
            apart = [(w * laplace_distance(m), n) for w, m, n in sized if isinstance(m, IntegerLaplace)]
            exact = laplace_sum_error(scales, self.miss * (1 - aside))
            return exact + (likely_apart(apart, self.miss * aside) if aside else sum(d * n for d, n in apart))

        steps = [(STEPS * most).tolist() for most in self.most[1:]]
        sure, likely = (
            np.array([[error(aside, a, b) for b in steps[1]] for a in steps[0]]) for aside in (0.0, LIKELY_ASIDE)
        )
        return sure, likely


def _between(table: Array, a: Array, b: Array) -> Array:
    """What the corners of each cell of a table give within it; places are parts of the largest."""
    i, j = (np.minimum(np.searchsorted(STEPS, x, side="right") - 1, len(STEPS) - 2) for x in (a, b))
    s, t = ((x - STEPS[k]) / (STEPS[k + 1] - STEPS[k]) for x, k in ((a, i), (b, j)))
    low = table[i, j] * (1 - t) + table[i, j + 1] * t
    high = table[i + 1, j] * (1 - t) + table[i + 1, j + 1] * t
    return np.asarray((low * (1 - s) + high * s) * (1 + 2.0**-30))


def variance_bounds(
    sums: Numbers, squares: Numbers, counts: Numbers, reach: float, off: float, miss: float = 0.05
) -> tuple[Array, Array]:
    """Where each variance lies, given noisy sums, sums of squares and counts; ``off`` is 1 for that of a sample.

    With m the true mean and v the variance, Q - 2 m S + m**2 N - v (N - off) is 0, so of noised numbers it is
    q - 2 m s + (m**2 - v) c: a sum of independent noises, by which a v is kept or not.  The mean is not known: it lies
    in its own interval, to which a part of the misses is given, and all that depends on it is held at its worst there.

    Guarantee: each interval misses with probability at most ``miss``, given that values lie within ``reach`` of
        0 (docs/proofs/plans.md, section 7) [Fie54].
    """
    (s, s_noise), (q, q_noise), (n, n_noise) = sums, squares, counts
    low, high = ratio_bounds(s, s_noise, n, n_noise, reach, ASIDE * miss)
    noises = [noise for noise in (q_noise, s_noise, n_noise) if noise is not None]
    part = (1 - ASIDE) * miss
    made = any(isinstance(noise, NoiseSum) for noise in noises)
    test: SumTest | SumsTest | None = None
    if noises:
        weighed = [(1.0, q_noise), (2 * reach, s_noise), (reach * reach * (1 + off), n_noise)]
        most_weights = tuple(w for w, noise in weighed if noise is not None)
        test = SumsTest(tuple(noises), most_weights, part) if made else SumTest(tuple(noises), part)
    largest = np.maximum(np.abs(low), np.abs(high))
    square_high = largest**2
    square_low = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(low**2, high**2))
    rows = np.maximum(n, 1.0)
    centre = np.clip(s / rows, low, high)
    least = q - 2 * centre * s + centre**2 * n  # of a parabola in the mean
    most = np.maximum(q - 2 * low * s + low**2 * n, q - 2 * high * s + high**2 * n)

    def room(v: Array) -> Array:
        line = v * (n - off)
        x = np.maximum(least - line, line - most)
        third = np.maximum(np.abs(square_high - v), np.abs(square_low - v))
        given = ((np.ones_like(v), q_noise), (2 * largest, s_noise), (third, n_noise))
        weights = [w for w, noise in given if noise is not None]
        return -x if test is None else test.room(x, weights)

    known = n - off > (0.0 if n_noise is None or test is None else test.outgrown(len(noises) - 1))
    ends = np.zeros_like(n), np.full_like(n, reach * reach * (1 + off))
    guess = np.clip(np.divide(least, n - off, out=np.zeros_like(n), where=known), *ends)
    return kept_between(room, guess, known, *ends)
