"""Subset selection: report a random set of keys that contains the own key more often than by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.frequency.oracle import Oracle
from curador.local.frequency.unary import count_bits, unspared
from curador.local.task.draw import coins, uniform
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout
from curador.local.task.task import checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.noise import Entropy
from curador.numbers import Number, set_fields

FEW = 32
"""The largest sets drawn key by key, which takes time with their size; larger ones draw all keys at once."""
NONE, EVERY = np.uint64(0), ~np.uint64(0)


@dataclass(frozen=True, init=False)
class SubsetSelection(Oracle, mechanism="subset"):
    """A uniform set of ``chosen`` keys that includes the person's own with probability inside/2**bits.

    For rare keys this is the most accurate oracle here.  A report takes one bit per key, and the most work to draw.

    Guarantee: epsilon-local DP: a set with the own key is p(k-w) / ((1-p)w) times as likely as one without [YB18].

    >>> task = SubsetSelection(keys=16, epsilon=1)
    >>> task.chosen, task.randomize([3, 15]).shape
    (4, (2, 2))
    """

    packed = True

    chosen: int
    inside: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        *,
        rest: LocalKey | None = None,
        chosen: int | None = None,
        inside: int | None = None,
        bits: int = 32,
    ) -> None:
        self._begin(keys, epsilon, rest, bits)
        chosen = best_size(self.size, self.epsilon) if chosen is None else chosen
        w = checked_threshold(chosen, "chosen", self.size)
        inside = inside_threshold(w, self.size - w, self.epsilon, bits) if inside is None else inside
        set_fields(self, chosen=w, inside=checked_threshold(inside, "inside", 1 << bits))
        self._end()

    @property
    def p(self) -> Fraction:
        return Fraction(self.inside, 1 << self.bits)

    @property
    def q(self) -> Fraction:
        return (self.p * (self.chosen - 1) + (1 - self.p) * self.chosen) / (self.size - 1)

    @property
    def ratio(self) -> Fraction:
        return self.p * (self.size - self.chosen) / ((1 - self.p) * self.chosen)

    @property
    def width(self) -> int:
        return self.size

    @property
    def layout(self) -> Layout:
        return Layout(1, (self.size + 7) // 8)

    @property
    def report_bits(self) -> int:
        return self.size

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint8]:
        with_own = coins(self.inside, self.bits, own.size, entropy)
        return (self._one_by_one if self.chosen <= FEW else self._at_once)(own, with_own, entropy)

    def _one_by_one(self, own: NDArray[np.int64], with_own: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.uint8]:
        last = self.size - 1
        cells = np.zeros((own.size, self.size), bool)
        for among, others in ((with_own, self.chosen - 1), (~with_own, self.chosen)):
            rows = np.flatnonzero(among)
            choose_cells(cells, rows, others, last, entropy)
        # The columns before the last stand for the other keys; the last takes the place of the own key's number.
        everyone = np.arange(own.size)
        cells[:, last] = cells[everyone, own]
        cells[everyone, own] = with_own
        return np.packbits(cells, axis=1)

    def _at_once(self, own: NDArray[np.int64], with_own: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.uint8]:
        wide = 8 * -(-self.size // 64)  # whole words
        own_bit = np.zeros((own.size, wide), np.uint8)
        own_bit[np.arange(own.size), own >> 3] = 128 >> (own & 7)
        others = np.packbits(np.arange(8 * wide) < self.size) ^ own_bit
        chosen = smallest(np.ascontiguousarray(others.view(np.uint64).T), self.chosen - with_own, entropy)
        sets = np.ascontiguousarray(chosen.T).view(np.uint8)
        sets |= own_bit * with_own[:, np.newaxis]
        return np.ascontiguousarray(sets[:, : (self.size + 7) // 8])

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        full: NDArray[np.bool_] = np.bitwise_count(reports).sum(axis=1, dtype=np.int64) == self.chosen
        return unspared(reports, self.size) & full

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return count_bits(reports, self.size)


def choose_cells(cells: NDArray[np.bool_], rows: NDArray[np.int64], chosen: int, of: int, entropy: Entropy) -> None:
    """Set ``chosen`` uniform cells of the first ``of`` in each of these rows, by Floyd's algorithm [BF87].

    >>> from curador.noise import SYSTEM
    >>> cells = np.zeros((2, 5), bool)
    >>> choose_cells(cells, np.array([1]), 3, 4, SYSTEM)
    >>> cells.sum(axis=1).tolist(), cells[:, 4].tolist()
    ([0, 3], [False, False])
    """
    for top in range(of - chosen, of):
        drawn = uniform(top + 1, rows.size, entropy).astype(np.int64)
        taken = cells[rows, drawn]
        cells[rows, np.where(taken, top, drawn)] = True


def smallest(open_: NDArray[np.uint64], wanted: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint64]:
    """Choose ``wanted[i]`` uniform set bits of column i of ``open_``, for each i; uses up ``open_``.

    Every bit gets a uniform number between 0 and 1; the smallest numbers are chosen.  One binary digit is drawn per
    round.  Open bits agree in their digits so far.  If the bits with next digit 0 are at most ``wanted``, they are
    chosen and the others stay open.  Otherwise they stay open, and the others are dropped.

    >>> from curador.noise import SYSTEM
    >>> found = smallest(np.array([[0b1111, 0b0101]], np.uint64), np.array([3, 1]), SYSTEM)
    >>> np.bitwise_count(found).tolist(), int(found[0, 1]) in (0b0001, 0b0100)
    ([[3, 1]], True)
    """
    out, chosen = np.zeros_like(open_), np.zeros_like(open_)
    live, left = np.arange(wanted.size), wanted
    while live.size:
        low = entropy.words(open_.size, np.uint64).reshape(open_.shape) & open_
        many = np.bitwise_count(low).sum(axis=0, dtype=np.int64)
        fit = many <= left
        left = left - many * fit
        kept = np.where(fit, EVERY, NONE)
        open_ &= kept
        open_ ^= low
        low &= kept
        chosen |= low
        going = np.flatnonzero(left)
        if 2 * going.size <= left.size:  # the open columns continue alone
            out[:, live] = chosen
            live, left = live[going], left[going]
            open_, chosen = (np.take(bits, going, axis=1) for bits in (open_, chosen))
    return out


def best_size(keys: int, epsilon: Fraction) -> int:
    """The set size of least variance for rare keys; any size is private, so floats may choose it.

    >>> best_size(16, Fraction(1)), best_size(16, Fraction(4))
    (4, 1)
    """
    grown = math.exp(min(max(float(epsilon), 1e-6), 50.0))

    def variance(w: int) -> float:
        p = w * grown / (w * grown + keys - w)
        q = (p * (w - 1) + (1 - p) * w) / (keys - 1)
        return q * (1 - q) / (p - q) ** 2

    near = keys / (grown + 1)
    return min({min(max(1, w), keys - 1) for w in (math.floor(near), math.ceil(near))}, key=variance)
