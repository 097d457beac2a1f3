"""The share of all rows that a limit on one unit keeps, from one noised histogram of how much each unit has.

Each unit is in one bin, so one unit moves one count by 1 (two counts, where a unit is replaced).  A limit keeps the sum
of min(x, limit) over all units, of the sum of x.  Bins of more than one number say between which x lies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.intervals import repeated_error

SINGLE = 10
"""Up to this, every number has a bin of its own."""

PER_DECADE = (10, 12, 16, 20, 25, 32, 40, 50, 63, 80)
"""The last numbers of further bins, times powers of ten: each holds numbers that differ by at most a quarter or so."""

HALVINGS = 14

Array = NDArray[np.float64]


def bin_edges(most: int) -> tuple[int, ...]:
    """The first number of each bin, and the one after the last.

    >>> bin_edges(25), bin_edges(2)
    ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 17, 21, 26), (1, 2, 3))
    """
    ends = [*range(1, SINGLE), *(10**power * last for power in range(len(str(most))) for last in PER_DECADE)]
    return (1, *(last + 1 for last in ends if last < most), most + 1)


@dataclass(frozen=True)
class UnitHistogram:
    """How many units have how much: noised counts in bins, each from ``lows`` to ``highs``."""

    lows: Array
    highs: Array
    counts: Array
    noise: AdditiveNoise

    def share(self, limit: int) -> float:
        """The share that a limit keeps, by the noised counts; bins in which, and beyond, nobody surely is are empty."""
        last = next((k for k in reversed(range(len(self.counts))) if self._seen(k)), -1)
        counts = np.where(np.arange(len(self.counts)) <= last, np.maximum(self.counts, 0), 0)
        middle = (self.lows + self.highs) / 2
        every = float(middle @ counts)
        return float(np.minimum(middle, limit) @ counts) / every if every > 0 else 0.0

    def _seen(self, first: int) -> bool:
        """Whether there are surely units in one of the bins from the first one on."""
        return float(self.counts[first:].sum()) > repeated_error([(1.0, self.noise, len(self.counts) - first)])

    def within(self, limit: int, confidence: float) -> tuple[float, float]:
        """Where the share lies; ``limit`` is the last number of a bin.

        Guarantee: covers with probability at least ``confidence``, whatever the units have, if anybody has anything.
        The share is least with the lowest x within the limit and the highest beyond it, and largest the other way
        round.  For either, a ratio r is excluded where the noise of (kept - r all) would have to be too large [Fie54];
        its bound is a norm of the weights, so what is excluded from one side is an interval.
        """
        if limit >= self.highs[-1]:
            return 1.0, 1.0
        inside = self.highs <= limit
        least, most = (np.where(inside, *pair) for pair in ((self.lows, self.highs), (self.highs, self.lows)))
        return (
            _edge(lambda r: self._sure(least, limit, r, confidence) > 0, 0.0, 1.0),
            _edge(lambda r: self._sure(most, limit, r, confidence) < 0, 1.0, 0.0),
        )

    def _sure(self, x: Array, limit: int, ratio: float, confidence: float) -> int:
        """The sign that (kept - r all) surely has, or 0."""
        weights = np.minimum(x, limit) - ratio * x
        value = float(weights @ self.counts)
        reach = repeated_error([(float(w), self.noise, 1) for w in weights], confidence) if weights.any() else 0.0
        return int(np.sign(value)) if abs(value) > reach else 0


def _edge(excluded: Callable[[float], bool], start: float, end: float) -> float:
    """The end of what is excluded, seen from the start, rounded towards the start."""
    if not excluded(start):
        return start
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if excluded(middle) else (start, middle)
    return start
