"""Where a value lies that an equation of noised sums defines: covariances, slopes, correlations.

A value v solves ``top - v * bottom = 0``, where top and bottom are weighted sums of the true sums.  Of the noised sums
the same is a sum of independent noises, by which a v is kept or not.  The weights depend on a few numbers that are not
known, such as means, but lie in intervals of their own, to which a small part of the misses is given; all that depends
on them is held at its worst there.  The equations are chosen so that these numbers move them in the second order only.

What depends on such numbers is taken at the corners of their box.  In between it differs from what the corners give by
linear interpolation by at most a *bend*: for each number its width squared over 8, times the second derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from curador.mechanisms.intervals import Noise, SumTest
from curador.query.aggregates.base import Array
from curador.query.aggregates.ratios import ASIDE, Numbers, kept_between, ratio_bounds

Ends = tuple[Array, Array]

FURTHER = 0.1
"""Of the misses of a correlation or of a line's height, the part that goes to what their equations depend on."""


class Cornered(NamedTuple):
    """A function at the corners of a box, one row for each, and how far it bends away in between."""

    at: Array
    bend: Array | float = 0.0

    @property
    def size(self) -> Array:
        """The most it can be in the box, in size."""
        return np.asarray(np.abs(self.at).max(axis=0) + self.bend)


Weighted = tuple[Cornered, Cornered, Noise | None]
"""The weights of a noise in the top and in the bottom of an equation, and the noise; None is a sum without noise."""


def solved(top: Cornered, bottom: Cornered, terms: Sequence[Weighted], miss: float, limit: float) -> Ends:
    """Where each v with top - v * bottom = 0 lies, within ``limit``; from -limit to limit where nothing is known.

    Guarantee: v is kept where the noise could be what it would have to be at some point of the box, so where the box
        holds the true point the interval misses with probability at most ``miss`` (docs/proofs/pairs.md).
    """
    noisy = [(u, v, noise) for u, v, noise in terms if noise is not None]
    test = SumTest(tuple(noise for _, _, noise in noisy), miss) if noisy else None
    least = bottom.at.min(axis=0) - bottom.bend
    # Each bound on the noise is a norm of its weights: beyond its slope nothing that is dropped is followed by what
    # would be kept, and by the triangle inequality nothing is kept far out.
    steep = np.zeros_like(least) if test is None else test.steepest([v.size for _, v, _ in noisy])
    alone = np.zeros_like(least) if test is None else test.steepest([u.size for u, _, _ in noisy])
    known = least > steep
    far = (top.size + alone) / np.where(known, least - steep, 1.0) * (1 + 2.0**-20)
    most = np.where(known, np.minimum(far, limit), 0.0)

    def room(v: Array) -> Array:
        corners = v[..., None, :]  # several v may be tried at once
        line = top.at - corners * bottom.at
        bend = top.bend + np.abs(v) * bottom.bend
        off = np.maximum(line.min(axis=-2), -line.max(axis=-2)) - bend
        if test is None:
            return np.asarray(-off)
        sizes = [np.abs(u.at - corners * w.at).max(axis=-2) + u.bend + np.abs(v) * w.bend for u, w, _ in noisy]
        # What is within the box is kept, whatever the noise.
        return np.asarray(np.maximum(-off, test.room(off, sizes)))

    guess = np.clip(top.at[0] / np.where(known, bottom.at[0], 1.0), -most, most)
    low, high = kept_between(room, guess, known, -most, most)
    return np.where(known, low, -limit), np.where(known, high, limit)


@dataclass(frozen=True)
class PairSums:
    """Noised sums over rows of centred values x and y, which lie within ``reach`` of 0; a count may have two ends."""

    x: Numbers
    y: Numbers
    xy: Numbers
    count: Numbers
    counts: tuple[Array, ...]
    reach: tuple[float, float]
    xx: Numbers
    yy: Numbers

    def means(self, miss: float) -> tuple[Ends, Ends]:
        """Where both means lie, each but for ``miss``."""
        pairs = zip((self.x, self.y), self.reach, strict=True)
        return self._mean(*next(pairs), miss), self._mean(*next(pairs), miss)

    def _mean(self, total: Numbers, reach: float, miss: float) -> Ends:
        ends = [ratio_bounds(*total, n, self.count[1], reach, miss) for n in self.counts]
        return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)

    def corners(self, *box: Ends) -> list[Array]:
        """Each number of a box, and the count, at all corners."""
        found = [np.stack(np.broadcast_arrays(*corner)) for corner in product(*box, self.counts)]
        return [np.stack([corner[i] for corner in found]) for i in range(len(box) + 1)]

    def covariance(self, off: float, miss: float) -> Ends:
        """Where each covariance lies; ``off`` is 1 for that of a sample.

        P - aY - bX + abN = C (N - off), with a and b the means.
        """
        (x, x_noise), (y, y_noise), (p, p_noise), (_, n_noise) = self.x, self.y, self.xy, self.count
        a, b, n = self.corners(*self.means(ASIDE * miss / 2))
        one, none = Cornered(np.ones_like(n)), Cornered(np.zeros_like(n))
        terms = [
            (one, none, p_noise),
            (Cornered(a), none, y_noise),
            (Cornered(b), none, x_noise),
            (Cornered(a * b), one, n_noise),
        ]
        limit = self.reach[0] * self.reach[1] * (1 + off)
        return solved(Cornered(p - a * y - b * x + a * b * n), Cornered(n - off), terms, (1 - ASIDE) * miss, limit)

    def slope(self, miss: float) -> Ends:
        """Where the slope of y on x lies, without ends where x may not vary."""
        return self._slope(self.means(ASIDE * miss / 2), (1 - ASIDE) * miss)

    def _slope(self, means: tuple[Ends, Ends], miss: float) -> Ends:
        """P - aY - bX + abN = s (Q - 2aX + a**2 N)."""
        (x, x_noise), (y, y_noise), (p, p_noise), (_, n_noise) = self.x, self.y, self.xy, self.count
        q, q_noise = self.xx
        a, b, n = self.corners(*means)
        wide = _width(means[0]) ** 2 / 4
        one, none = Cornered(np.ones_like(n)), Cornered(np.zeros_like(n))
        terms = [
            (one, none, p_noise),
            (none, one, q_noise),
            (Cornered(-a), none, y_noise),
            (Cornered(-b), Cornered(-2 * a), x_noise),
            (Cornered(a * b), Cornered(a * a, wide), n_noise),
        ]
        bottom = Cornered(q - 2 * a * x + a * a * n, np.abs(n).max(axis=0) * wide)
        return solved(Cornered(p - a * y - b * x + a * b * n), bottom, terms, miss, np.inf)

    def intercept(self, at: float, miss: float) -> Ends:
        """Where the line's height at x = ``at`` lies: h with Σ m (y - h - s (x - at)) = 0, m = k - t x.

        Both normal equations make it 0 for every k and t.  With t = (a - at) / V and k = 1 + t a, V the variance of x,
        the slope s drops out of it but for noise.
        """
        (x, x_noise), (y, y_noise), (p, p_noise), (_, n_noise) = self.x, self.y, self.xy, self.count
        q, q_noise = self.xx
        part = FURTHER * miss / 4
        means = self.means(part)
        slope, spread = self._slope(means, part), self._variance(means[0], part)
        known = (spread[0] > 0) & np.isfinite(slope[0]) & np.isfinite(slope[1])
        v = [np.where(known, end, 1.0) for end in spread]
        turns = [(a - at) / w for a in means[0] for w in v]
        turn = np.min(turns, axis=0), np.max(turns, axis=0)
        s = tuple(np.where(known, end, 0.0) for end in slope)
        a, t, s_at, n = self.corners(means[0], turn, (s[0], s[1]))
        k = 1 + t * a
        none = Cornered(np.zeros_like(n))
        terms = [
            (Cornered(k), none, y_noise),
            (Cornered(-t), none, p_noise),
            (Cornered(s_at * t), none, q_noise),
            (Cornered(-s_at * (t * at + k)), Cornered(-t), x_noise),
            (Cornered(s_at * k * at), Cornered(k), n_noise),
        ]
        top = k * y - t * p + s_at * (t * (q - at * x) - k * (x - at * n))
        low, high = solved(Cornered(top), Cornered(k * n - t * x), terms, (1 - FURTHER) * miss, np.inf)
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)

    def _variance(self, mean: Ends, miss: float) -> Ends:
        """Q - 2aX + a**2 N = V N."""
        (x, x_noise), (q, q_noise), (_, n_noise) = self.x, self.xx, self.count
        a, n = self.corners(mean)
        wide = _width(mean) ** 2 / 4
        one, none = Cornered(np.ones_like(n)), Cornered(np.zeros_like(n))
        terms = [(one, none, q_noise), (Cornered(2 * a), none, x_noise), (Cornered(a * a, wide), one, n_noise)]
        top = Cornered(q - 2 * a * x + a * a * n, np.abs(n).max(axis=0) * wide)
        return solved(top, Cornered(n), terms, miss, self.reach[0] ** 2)

    def correlation(self, miss: float) -> Ends:
        """Where each correlation lies: from -1 to 1 where x or y may not vary.

        With l (here ``by``) the deviation of y over that of x, the root of the product of two variances is half of l
        times the one plus the other over l, and l moves that in the second order.
        """
        (x, x_noise), (y, y_noise), (p, p_noise), (_, n_noise) = self.x, self.y, self.xy, self.count
        (q, q_noise), (r, r_noise) = self.xx, self.yy
        means = self.means(FURTHER * miss / 3)
        squared = self._ratio(means, FURTHER * miss / 3)
        known = (squared[0] > 0) & np.isfinite(squared[1])
        box = tuple(np.sqrt(np.where(known, end, 1.0)) for end in squared)
        a, b, by, n = self.corners(*means, (box[0], box[1]))
        rows, least, most = np.abs(n).max(axis=0), box[0], box[1]
        wide_a, wide_b = (_width(end) ** 2 / 8 for end in means)
        wide = np.log(most / least) ** 2 / 8  # of the logarithm of l, which bends less than l
        far_a, far_b = np.abs(a).max(axis=0), np.abs(b).max(axis=0)
        one, none = Cornered(np.ones_like(n)), Cornered(np.zeros_like(n))
        squares, both = (by * a * a + b * b / by) / 2, wide_a * most + wide_b / least
        terms = [
            (one, none, p_noise),
            (none, Cornered(by / 2, wide * most / 2), q_noise),
            (none, Cornered(1 / (2 * by), wide / (2 * least)), r_noise),
            (Cornered(-a), Cornered(-b / by, wide * far_b / least), y_noise),
            (Cornered(-b), Cornered(-by * a, wide * far_a * most), x_noise),
            (Cornered(a * b), Cornered(squares, both + wide * squares.max(axis=0)), n_noise),
        ]
        spread = (by * (q - 2 * a * x + a * a * n) + (r - 2 * b * y + b * b * n) / by) / 2
        bottom = Cornered(spread, rows * both + wide * np.abs(spread).max(axis=0))
        low, high = solved(Cornered(p - a * y - b * x + a * b * n), bottom, terms, (1 - FURTHER) * miss, 1.0)
        return np.where(known, low, -1.0), np.where(known, high, 1.0)

    def _ratio(self, means: tuple[Ends, Ends], miss: float) -> Ends:
        """Where the variance of y over that of x lies."""
        (x, x_noise), (y, y_noise), (_, n_noise) = self.x, self.y, self.count
        (q, q_noise), (r, r_noise) = self.xx, self.yy
        a, b, n = self.corners(*means)
        wide_a, wide_b = (_width(end) ** 2 / 4 for end in means)
        rows = np.abs(n).max(axis=0)
        one, none = Cornered(np.ones_like(n)), Cornered(np.zeros_like(n))
        terms = [
            (one, none, r_noise),
            (none, one, q_noise),
            (Cornered(-2 * b), none, y_noise),
            (none, Cornered(-2 * a), x_noise),
            (Cornered(b * b, wide_b), Cornered(a * a, wide_a), n_noise),
        ]
        top = Cornered(r - 2 * b * y + b * b * n, rows * wide_b)
        return solved(top, Cornered(q - 2 * a * x + a * a * n, rows * wide_a), terms, miss, np.inf)


def _width(ends: Ends) -> Array:
    return np.asarray(ends[1] - ends[0])
