"""Inversion of an exact distribution function by table, with bits drawn until the outcome is certain.

The unit interval is cut at the cumulative probabilities of the outcomes, most likely first.  A uniform number picks
the piece that it falls in.  Level 1 looks sixteen bits up in a table.  Where a cut runs through that cell, level 2
appends 48 bits and searches the cuts at 64 bits.  Where those are undecided too, level 3 recomputes the cuts to as many
bits as needed.  Cuts are integer enclosures, so no rounding is trusted anywhere.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.noise.decide import MORE, exp_minus
from curador.noise.entropy import Entropy

UNSURE = -(1 << 15)
"""Marks a level-1 cell that a cut runs through."""

FEW = 1 << 11
"""The most draws at once without the table of level 1, which takes milliseconds to make."""

OUTLIER = 1 << 14
"""The least value of an outlier, which level 3 returns as a Python integer, never squeezed into an array."""

Weights = Callable[[int, int], tuple[list[int], int, int]]
"""(p, stop) -> the weights of 0, 1, 2, … at p bits, from below, down to ``stop``; the most by which they may be larger;
and a bound on the sum of the rest."""


def geometric_weights(rate: Fraction) -> Weights:
    """Weights exp(-rate * i)."""

    def weights(p: int, stop: int) -> tuple[list[int], int, int]:
        q, q_hi = exp_minus(rate, p)
        one = w = 1 << p
        found = []
        while w > stop:
            found.append(w)
            w = w * q >> p
        apart = len(found) * (1 + q_hi - q)  # each step adds the factor's width, and one for rounding down
        return found, apart, ((w + apart) << p) // (one - q_hi) + 1  # the rest is a geometric series

    return weights


def gaussian_weights(rate: Fraction) -> Weights:
    """Weights exp(-rate * i**2)."""

    def weights(p: int, stop: int) -> tuple[list[int], int, int]:
        q, q_hi = exp_minus(rate, p)
        square, step = q * q >> p, q  # the step is exp(-rate (2i + 1)), which takes i**2 to (i+1)**2
        one = w = 1 << p
        found = []
        while w > stop:
            found.append(w)
            w, step = w * step >> p, step * square >> p
        n, wide = len(found), 2 * (1 + q_hi - q)  # the square's width, and one for rounding down
        apart = n * (1 + (n + 1) * wide)
        return found, apart, ((w + apart) << p) // (one - step - (n + 1) * wide) + 1  # later steps only shrink faster

    return weights


class InversionTable:
    """Exact sampler of integers i with probability proportional to ``weights``; ``signed`` adds -i alike."""

    def __init__(self, weights: Weights, *, signed: bool) -> None:
        self._weights, self._signed = weights, signed
        self._lo, self._hi = self.cuts(64)

    def cuts(self, bits: int) -> tuple[list[int], list[int]]:
        """Enclose the cumulative probabilities, scaled by 2**bits, as far as 2**bits separates them from 1.

        The last upper end stays below 2**bits: a prefix of all ones is then past every cut, and needs more bits.
        """
        p = bits + 48
        found, apart, rest = self._weights(p, 1 << (p - bits - 12))
        if self._signed:
            found = [found[0], *(w for w in found[1:] for _ in range(2))]
            rest *= 2
        at = list(accumulate(found))
        rest += len(found) * apart
        # Multiplied by one over the sum of all weights, from below: a thousand divisions would take longer.
        one, drop = 1 << 2 * p, 2 * p - bits
        inverse = one // (at[-1] + rest)
        # From above all sums are larger by no more than the last: by its own width, and that of the inverse.
        apart = (at[-1] + rest) * (one // at[-1] + 1) - at[-1] * inverse
        times = [x * inverse for x in at]
        cut_hi = [(x + apart >> drop) + 1 for x in times]
        full = bisect_left(cut_hi, 1 << bits)
        if full < len(cut_hi):
            cut_hi[full] = (1 << bits) - 1
            del cut_hi[full + 1 :]
        return [x >> drop for x in times[: len(cut_hi)]], cut_hi

    @property
    def reach(self) -> int:
        """The number of outcomes that the 64-bit cuts separate."""
        return len(self._lo)

    def _value(self, j: int) -> int:
        """The j-th outcome: 0, 1, 2, … or 0, 1, -1, 2, -2, …"""
        if not self._signed:
            return j
        return (j + 1) // 2 if j % 2 else -(j // 2)

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
        j = np.arange(len(self._lo) + 1, dtype=np.int64)
        values = np.where(j % 2, (j + 1) // 2, -(j // 2)) if self._signed else j
        return np.array(self._lo, np.uint64), np.array(self._hi, np.uint64), values

    @cached_property
    def _first(self) -> NDArray[np.int16]:
        return self._level1(np.arange(1 << 16, dtype=np.uint16))

    def _level1(self, cell: NDArray[np.uint16]) -> NDArray[np.int16]:
        """The outcome of each cell, or UNSURE where a cut runs through it."""
        lo, hi, values = self._arrays
        start = cell.astype(np.uint64) << np.uint64(48)
        j = np.searchsorted(hi, start, side="right")
        inside = j < len(lo)
        sure = inside & (start + np.uint64((1 << 48) - 1) < lo.take(j, mode="clip"))
        return np.where(sure, values[j], UNSURE).astype(np.int16)

    def draw(self, entropy: Entropy) -> int:
        """Draw an outcome."""
        u = entropy.bits(64)
        j = bisect_right(self._hi, u)
        if j < len(self._lo) and u < self._lo[j]:
            return self._value(j)
        return self._level3(u, entropy)

    def fill(self, out: NDArray[np.int64], entropy: Entropy) -> dict[int, int]:
        """Fill ``out`` with independent outcomes; return the outliers, whose places in ``out`` hold zero."""
        cell = entropy.words(out.size, np.uint16)
        # The whole table costs as much as searching thousands of cells: a few draws look up only their own cells.
        value = self._level1(cell) if out.size < FEW else self._first.take(cell)
        np.copyto(out, value)
        unsure = np.flatnonzero(value == UNSURE)
        if not unsure.size:
            return {}
        lo, hi, values = self._arrays
        more = entropy.words(unsure.size, np.uint64) >> np.uint64(16)
        u = (cell[unsure].astype(np.uint64) << np.uint64(48)) | more
        j = np.searchsorted(hi, u, side="right")
        out[unsure] = values[j]
        outliers: dict[int, int] = {}
        beyond = j >= len(lo)
        j[beyond] = 0
        for k in np.flatnonzero(beyond | (u >= lo[j])):
            found = self._level3(int(u[k]), entropy)
            place = int(unsure[k])
            if abs(found) < OUTLIER:
                out[place] = found
            else:
                out[place], outliers[place] = 0, found
        return outliers

    def _level3(self, u: int, entropy: Entropy) -> int:
        bits = 64
        while True:
            u, bits = (u << MORE) | entropy.bits(MORE), bits + MORE
            lo, hi = self.cuts(bits)
            j = bisect_right(hi, u)
            if j < len(lo) and u < lo[j]:
                return self._value(j)
