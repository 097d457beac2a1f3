"""The square wave on a grid: report a cell near the value's bucket.

The collector deconvolves the counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.local.numeric.base import Bounded
from curador.local.numeric.unfold import Distribution, unfolded
from curador.local.task.draw import coins, uniform
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, below
from curador.local.task.limits import Floats
from curador.local.task.tally import Tally, checked_counts, checked_sum
from curador.local.task.task import check_informative, check_thresholds, checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.local.task.values import reals
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, set_fields

BITS = 32
BUCKETS_MOST = 1 << 16


@dataclass(frozen=True, init=False)
class SquareWave(Bounded, mechanism="square-wave"):
    """A uniform cell of a window with probability inside/2**32, else a uniform cell outside it.

    Values fall into ``buckets`` of equal width between the bounds.  There are buckets - 1 + window cells, and the
    window of bucket i starts at cell i.  Neighbouring buckets have almost the same law, so the noise keeps the order of
    the values.  This suits the shape of a distribution, not one bucket.

    Guarantee: epsilon-local DP: a cell inside is at most e**epsilon times as likely as one outside [LWLSL20].
    Fails: :meth:`estimate` is biased, as every smooth or non-negative estimate of a distribution is.  For an unbiased
        mean with an interval, use :class:`~curador.local.Piecewise` or :class:`~curador.local.Hybrid`.

    >>> task = SquareWave(low=0, high=100, epsilon=2, buckets=20)
    >>> found = task.estimate(task.randomize([72.0] * 4000))
    >>> found.biased, abs(found.quantile(0.5) - 72) < 10
    (True, True)
    """

    takes = ("buckets",)

    buckets: int
    window: int
    inside: int

    def __init__(
        self,
        low: Number,
        high: Number,
        epsilon: Number,
        *,
        buckets: int = 256,
        window: int | None = None,
        inside: int | None = None,
    ) -> None:
        self._begin(low, high, epsilon)
        set_fields(self, buckets=checked_threshold(buckets, "buckets", BUCKETS_MOST + 1))
        if self.buckets < 2:
            raise InvalidParameter("There must be two buckets at least.", fix="Choose buckets=256.")
        w = best_wave(self.buckets, self.epsilon) if window is None else window
        set_fields(self, window=checked_threshold(w, "window", self.buckets + 1))
        derived = inside_threshold(self.window, self.buckets - 1, self.epsilon, BITS)
        set_fields(self, inside=checked_threshold(derived if inside is None else inside, "inside", 1 << BITS))
        check_informative(self, self.near, self.far)
        check_thresholds(self)

    @property
    def near(self) -> Fraction:
        """The probability of one cell inside the window."""
        return Fraction(self.inside, self.window << BITS)

    @property
    def far(self) -> Fraction:
        """The probability of one cell outside it."""
        return (1 - Fraction(self.inside, 1 << BITS)) / (self.buckets - 1)

    @property
    def cells(self) -> int:
        return self.buckets - 1 + self.window

    @property
    def ratio(self) -> Fraction:
        return self.near / self.far

    @property
    def layout(self) -> Layout:
        return Layout.below(self.cells)

    @property
    def report_bits(self) -> int:
        return (self.cells - 1).bit_length()

    @property
    def edges(self) -> Floats:
        """The edges of the buckets."""
        return np.linspace(float(self.low), float(self.high), self.buckets + 1)

    def bucket_of(self, values: Any) -> NDArray[np.int64]:
        """The bucket of each value, clamped to the bounds; the upper bound belongs to the last."""
        found = reals(values).reshape(-1)
        share = (np.clip(found, float(self.low), float(self.high)) - float(self.low)) / float(2 * self.half)
        return np.clip((share * self.buckets).astype(np.int64), 0, self.buckets - 1)

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.uint32]:
        """Draw a report for each value, from coins of its own."""
        return self._randomize(self.bucket_of(values), entropy)

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        near = own + uniform(self.window, own.size, entropy)
        far = uniform(self.buckets - 1, own.size, entropy).astype(np.int64)
        far += self.window * (far >= own)  # the cells outside, numbered past the window
        return np.where(coins(self.inside, BITS, own.size, entropy), near, far).astype(np.uint32)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, self.cells)

    def tally(self, reports: Any) -> Tally:
        """Count the reports of each cell; tallies of parts add up to the tally of the whole."""
        found = self._checked(reports)
        return Tally(len(found), np.bincount(found, minlength=self.cells))

    def estimate(
        self,
        reports: Any,
        candidates: Sequence[LocalKey] | None = None,
        *,
        confidence: float = 0.95,
        smooth: bool = True,
    ) -> Distribution:
        """Estimate the distribution by EM.

        Smoothed or, without smoothing, the most likely one; both are biased.
        """
        tally = self._counted(reports, candidates)
        if not tally.users or tally.support.shape != (self.cells,):
            raise InvalidParameter("There are no reports on this task.", fix="Collect some first.")
        checked_counts(tally.support, np.int64(tally.users))
        checked_sum(tally)
        values, steps = unfolded(tally.support, self.window, float(self.near), float(self.far), smooth=smooth)
        return Distribution(self.edges, values, tally.users, steps, smooth)


def best_wave(buckets: int, epsilon: Fraction) -> int:
    """The most informative window for this number of buckets.

    Any window is private, so floats may choose it.

    >>> [best_wave(1000, Fraction(e)) for e in (1, 4)]  # twice 0.256 and 0.0304 of the range
    [512, 61]
    """
    # The mutual information bound of [LWLSL20]; for epsilon near 0 the half width tends to 1/2.
    e = min(max(float(epsilon), 1e-3), 100.0)
    half = (e * math.exp(e) - math.expm1(e)) / (2 * math.exp(e) * (math.expm1(e) - e))
    return min(buckets, max(1, round(2 * half * buckets)))
