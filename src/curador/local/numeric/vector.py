"""Duchi's mechanism for vectors: one bit per coordinate, all of them together at one epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.frequency.unary import count_bits, unspared
from curador.local.numeric.base import Bounded
from curador.local.task.draw import coins, level_coins
from curador.local.task.estimate import LocalEstimate, plain_floats
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout
from curador.local.task.limits import Floats, checked_miss, mean_chance
from curador.local.task.tally import Tally, checked_counts
from curador.local.task.task import check_informative, check_thresholds, checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.local.task.values import reals
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, down, number_of_people, set_fields, up
from curador.show.summary import Summary

BITS = 32
CELLS = 1 << 20
DIMENSION_MOST = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Means(LocalEstimate):
    """Unbiased estimates of the mean of each coordinate, of the people who reported.

    Guarantee: ``interval`` covers all of these means at once with at least the confidence asked for, for any data
        [Hoe56].

    >>> task = DuchiVector(low=0, high=1, epsilon=1, dimension=2)
    >>> low, high = task.estimate(task.randomize(np.full((100, 2), 0.5))).interval(0.9)
    >>> low.shape, bool((low < high).all())
    ((2,), True)
    """

    users: int
    ones: NDArray[np.int64]
    task: DuchiVector

    @property
    def values(self) -> Floats:
        unit = (2 * (self.ones / self.users) - 1) * float(self.task.reach)
        return float(self.task.low + self.task.half) + float(self.task.half) * unit

    @property
    def variance(self) -> float:
        """A bound on the variance of each value, given the people."""
        return self.task.variance(self.users)

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = True) -> tuple[Floats, Floats]:
        """Lower and upper limits: for all coordinates at once, or for each alone."""
        miss = checked_miss(confidence, self.ones.size if simultaneous else 1)
        chances = mean_chance(self.ones, self.users, miss)
        low, high = self.task._from_units(*((2 * chance - 1) * float(self.task.reach) for chance in chances))
        bottom, top = down(self.task.low), up(self.task.high)
        return np.clip(low, bottom, top), np.clip(high, bottom, top)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        low, high = map(plain_floats, self.interval(confidence))
        values = plain_floats(self.values)
        made = Summary(
            "means",
            tuple(range(len(values))),
            values,
            self.users,
            low=low,
            high=high,
            error=(math.sqrt(self.variance),) * len(values),
            bounds=(float(self.task.low), float(self.task.high)),
            confidence=confidence,
        )
        return (made,)


@dataclass(frozen=True, init=False)
class DuchiVector(Bounded, mechanism="duchi-vector"):
    """A vector of bits that agrees with the person's, rounded to corners, more often than not.

    Each coordinate is rounded to a bound at random, so that it is right on average.  A uniform corner is drawn.  It is
    turned towards the person's corner with probability true/2**32, else away from it.  A corner at a right angle, which
    only an even dimension has, is reported as it is.

    Guarantee: epsilon-local DP [DJW18].  Right angles must not count as towards *and* away, as is often written.  Such
        a corner would be e**epsilon + 1 times as likely as one that is away: docs/proofs/local.md, section 5.

    >>> task = DuchiVector(low=-1, high=1, dimension=10, epsilon=1)
    >>> reports = task.randomize(np.zeros((500, 10)))
    >>> reports.shape, task.estimate(reports).values.shape
    ((500, 2), (10,))
    """

    needs = ("low", "high", "dimension")
    packed = True

    dimension: int
    true: int

    def __init__(self, low: Number, high: Number, epsilon: Number, dimension: int, *, true: int | None = None) -> None:
        self._begin(low, high, epsilon)
        true = inside_threshold(1, 1, self.epsilon, BITS) if true is None else true
        set_fields(
            self,
            dimension=checked_threshold(dimension, "dimension", DIMENSION_MOST + 1),
            true=checked_threshold(true, "true", 1 << BITS),
        )
        check_informative(self, self.p, 1 - self.p)
        check_thresholds(self)

    @property
    def p(self) -> Fraction:
        """The probability of a corner towards the person's."""
        return Fraction(self.true, 1 << BITS)

    @property
    def ratio(self) -> Fraction:
        return self.p / (1 - self.p)  # towards, right angle, away: p, 1/2, 1 - p

    @property
    def reach(self) -> Fraction:
        """The value of a bit on the scale from -1 to 1: the inverse of the mean agreement of a coordinate."""
        d = self.dimension
        return Fraction(1 << (d - 1), math.comb(d - 1, d // 2)) / (2 * self.p - 1)

    @property
    def layout(self) -> Layout:
        return Layout(1, (self.dimension + 7) // 8)

    @property
    def report_bits(self) -> int:
        return self.dimension

    @property
    def worst_variance(self) -> float:
        """The variance of a coordinate of a report at the middle, on the scale from -1 to 1."""
        return float(self.reach**2)

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.uint8]:
        """Draw a report, a row of packed bits, for each row of values."""
        found = reals(values)
        if found.ndim != 2 or found.shape[1] != self.dimension:
            raise InvalidValue(f"Expected rows of {self.dimension} numbers.", fix="Give one row per person.")
        piece = max(1, CELLS // self.dimension)
        rows = [self._rows(found[i : i + piece], entropy) for i in range(0, len(found), piece)]
        return np.concatenate(rows) if rows else np.zeros((0, (self.dimension + 7) // 8), np.uint8)

    def _rows(self, values: Floats, entropy: Entropy) -> NDArray[np.uint8]:
        corner = level_coins(self._levels(values, entropy), entropy).reshape(values.shape)
        return np.packbits(self._orient(corner, entropy), axis=1)

    def _orient(self, corner: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.bool_]:
        drawn = coins(1 << 15, 16, corner.size, entropy).reshape(corner.shape)
        twice_agreed = 2 * np.count_nonzero(drawn == corner, axis=1)
        towards = coins(self.true, BITS, len(corner), entropy)
        wrong = np.where(towards, twice_agreed < self.dimension, twice_agreed > self.dimension)
        turned: NDArray[np.bool_] = drawn ^ wrong[:, np.newaxis]
        return turned

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return unspared(reports, self.dimension)

    def tally(self, reports: Any) -> Tally:
        """Count the reports with a 1 for each coordinate; tallies of parts add up to the tally of the whole."""
        found = self._checked(reports)
        piece = max(1, CELLS // self.dimension)
        parts = (count_bits(found[i : i + piece], self.dimension) for i in range(0, len(found), piece))
        return Tally(len(found), sum(parts, start=np.zeros(self.dimension, np.int64)))

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> Means:
        """Estimate each coordinate's mean without bias, with variance and intervals."""
        tally = self._counted(reports, candidates)
        if not tally.users or tally.support.shape != (self.dimension,):
            raise InvalidParameter("There are no reports on this task.", fix="Collect some first.")
        checked_counts(tally.support, np.int64(tally.users))
        return Means(tally.users, tally.support, self)

    def variance(self, users: int) -> float:
        """The variance of each mean, at worst, before any report."""
        return float(self.half) * float(self.half) * self.worst_variance / number_of_people(users)
