"""Intervals in values for quantiles: rows are counted in cells around the values that were chosen, and noised.

A value that was chosen by rank says where to look.  Around it lie cells that double in width: the value itself, then 1,
2, 4, … steps to each side, up to the bounds.  From their noised counts, how many rows lie up to any cell is known with
an error of known law, and so is which cells can hold the quantile: those that no test excludes.

With q n the wanted rank, D(y) = (rows up to y) - q n weighs each cell up to y by 1 - q, those beyond it by -q.  A cell
is too low if D at its last value is surely below 0, and too high if D just before its first value is surely above 0.
The interval reaches from the first cell that is not too low to the last that is not too high, and holds the value that
was chosen.  So a quantile beyond that value can only be missed on its far side, and all misses go to one test.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.intervals import bounded_reach, repeated_reach
from curador.query.aggregates.measure import AROUND_BITS, Measure, MeasureKind

SURELY_KEPT = 0.8
"""A cell is kept without looking up the law where its test is off by this part of what a normal law allows."""

MOST_LOOKS = 1000
"""Laws of tests that are looked up for the intervals of one answer: each takes milliseconds."""

Ends = NDArray[np.int64]
"""The last value of each cell, on the column's grid; the first cell starts at the lower bound."""


class Looks:
    """Which laws of tests may be looked up: a bounded number of different ones, in the order they are asked for.

    >>> looks = Looks(1)
    >>> looks("a law"), looks("another"), looks("a law")
    (True, False, True)
    """

    def __init__(self, most: int = MOST_LOOKS) -> None:
        self._most, self._known = most, set[Hashable]()

    def __call__(self, law: Hashable) -> bool:
        if len(self._known) < self._most:
            self._known.add(law)
        return law in self._known


@dataclass(frozen=True)
class RankedCells:
    """The cells around the values chosen in each group, their noised counts, and the noise of these."""

    ends: Sequence[Ends]
    rows: Sequence[NDArray[Any]]
    noise: AdditiveNoise


def around(values: Measure) -> Measure:
    """The counts in cells around values that are chosen of a measure."""
    return Measure(MeasureKind.AROUND, values.column, values.low, values.high, 0, values.grid)


def most_cells(m: Measure, chosen: int) -> int:
    """How many cells there are at most around so many chosen values.

    >>> most_cells(Measure(MeasureKind.AROUND, None, 0, 100), 1) >= len(cell_ends([30], 0, 100))
    True
    """
    return 2 * chosen * ((m.high - m.low).bit_length() + 1) + 1


def cell_ends(chosen: Sequence[float], low: int, high: int) -> Ends:
    """The cells around chosen values; between two of them each has those nearer to it.

    >>> cell_ends([30], 0, 100).tolist()
    [14, 22, 26, 28, 29, 30, 31, 33, 37, 45, 61, 93, 100]
    >>> cell_ends([0, 7], 0, 7).tolist()
    [0, 1, 3, 5, 6, 7]
    """
    found = {high}
    places = sorted({min(max(int(p), low), high) for p in chosen})
    middles = [(a + b) // 2 for a, b in pairwise(places)]
    for p, least, most in zip(places, [low, *middles], [*middles, high], strict=True):
        width = 1
        while p - width >= least or p + width - 1 <= most:
            if p - width >= least:
                found.add(p - width)
            if p + width - 1 <= most:
                found.add(p + width - 1)
            width *= 2
    return np.array(sorted(found), np.int64)


def counted(ends: Ends, values: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows in each cell, from the distinct values and how often each occurs.

    >>> counted(np.array([1, 3]), np.array([0, 1, 2]), np.array([5, 1, 2])).tolist()
    [6, 2]
    """
    found = np.zeros(len(ends), np.int64)
    np.add.at(found, np.minimum(np.searchsorted(ends, values), len(ends) - 1), times)
    return found


def interval(
    ends: Ends,
    rows: NDArray[Any],
    low: int,
    q: Fraction,
    noise: AdditiveNoise,
    confidence: float,
    chosen: int,
    looks: Looks | None = None,
) -> tuple[int, int]:
    """Where the q-quantile lies, on the column's grid, from the value that was chosen and the noised counts in cells.

    The law of a test is looked up as often as ``looks`` allows; from then on cells are kept unless a bound in closed
    form excludes them, which only makes the interval longer.

    Guarantee: covers every value y with (rows below y) <= q n <= (rows up to y) with probability at least
        ``confidence``, whatever the data is (docs/proofs/quantiles.md).
    """
    size, share, unit = len(ends), float(q), 2.0**-AROUND_BITS
    counts = np.asarray(rows, np.float64) * unit
    up_to = np.concatenate([[0.0], np.cumsum(counts)])  # the rows before each cell, and all
    off = up_to - share * up_to[-1]
    cells = np.arange(size + 1)
    deviation = np.sqrt(noise.variance * (cells * (1 - share) ** 2 + (size - cells) * share**2)) * unit
    miss = 1 - confidence
    kept = np.abs(off) <= SURELY_KEPT * max(0.0, -NormalDist().inv_cdf(miss)) * deviation
    rounding = 2.0**-45 * float(np.abs(counts).sum())
    surely_out = np.abs(off) > _bounds(noise, q, size, miss) * unit + rounding
    allowed = Looks() if looks is None else looks

    def may_be(k: int) -> bool:
        """Whether the true difference before cell k may have the other sign."""
        if kept[k] or surely_out[k]:
            return bool(kept[k])
        return (
            not allowed((noise, q, k, size, miss)) or abs(off[k]) <= _reach(noise, q, k, size, miss) * unit + rounding
        )

    # Not too low: the rows up to its end are not surely too few.  Not too high: those before it not surely too many.
    first = next((i for i in range(size - 1) if off[i + 1] >= 0 or may_be(i + 1)), size - 1)
    last = next((i for i in range(size - 1, 0, -1) if off[i] <= 0 or may_be(i)), 0)
    first, last = min(first, last), max(first, last)
    return min(chosen, low if first == 0 else int(ends[first - 1]) + 1), max(chosen, int(ends[last]))


@lru_cache(maxsize=1 << 14)
def _reach(noise: AdditiveNoise, q: Fraction, before: int, cells: int, miss: float) -> float:
    """How far the noise moves the difference before a cell to one side, in parts of rows, but for ``miss``.

    It is symmetric: to either side twice as often; and to one side at all no more than half of the time.
    """
    terms = [(float(1 - q), noise, before), (float(q), noise, cells - before)]
    if 2 * miss >= 1 or not any(w and n for w, _, n in terms):
        return 0.0
    return repeated_reach(terms, 2 * miss)


def _bounds(noise: AdditiveNoise, q: Fraction, cells: int, miss: float) -> NDArray[np.float64]:
    """At least as much as the noise moves the difference before each cell to one side, but for ``miss``; not tight."""
    if 2 * miss >= 1:
        return np.zeros(cells + 1)
    before, weights = np.arange(cells + 1), (float(1 - q), float(q))
    squares = before * weights[0] ** 2 + (cells - before) * weights[1] ** 2
    return bounded_reach(noise, squares, max(weights), 2 * miss)


def reach_in_ranks(m: Measure, quantiles: Sequence[Fraction], noise: AdditiveNoise, confidence: float) -> float:
    """About how many ranks an interval reaches to each side: the error of the rows counted up to a middle cell."""
    cells = most_cells(m, len(quantiles))
    found = (_reach(noise, q, cells // 2, cells, 1 - confidence) for q in quantiles)
    return max(found) * 2.0**-AROUND_BITS


def cell_effect(m: Measure, quantiles: Sequence[Fraction]) -> float:
    """How strongly the noise of one count moves the ends of an interval: for dividing a budget.

    An interval reaches two deviations to each side; so about half of a quantile's budget goes to it, where in trials it
    was narrowest for what the value itself lost (docs/decisions/0009-quantiles.md).
    """
    weights = max(q**2 + (1 - q) ** 2 for q in quantiles)
    return 2 * math.sqrt(most_cells(m, len(quantiles)) * float(weights) / 2) * 2.0**-AROUND_BITS
