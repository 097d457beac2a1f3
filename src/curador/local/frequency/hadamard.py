"""Hadamard response: report a column of the Hadamard matrix.

A column with +1 in the own key's row is more likely than one with -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.frequency.oracle import Oracle
from curador.local.frequency.walsh import parity, walsh_hadamard
from curador.local.task.draw import coins, uniform
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, below
from curador.local.task.task import checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.noise import Entropy
from curador.numbers import Number, set_fields


@dataclass(frozen=True, init=False)
class Hadamard(Oracle, mechanism="hadamard"):
    """A uniform column of the Hadamard matrix.

    The own key's row is +1 there with probability true/2**bits, else -1.

    Row v + 1 of the matrix of order 2**m > keys belongs to key v; its entry in column y is (-1)**(ones in y & (v + 1)).

    Guarantee: epsilon-local DP: half of the columns have one probability, half the other [ASZ19].

    >>> task = Hadamard(keys=1000, epsilon=1)
    >>> task.order, task.report_bits, task.randomize([5, 999]).shape
    (1024, 10, (2,))
    """

    true: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        *,
        rest: LocalKey | None = None,
        true: int | None = None,
        bits: int = 32,
    ) -> None:
        self._begin(keys, epsilon, rest, bits)
        true = inside_threshold(1, 1, self.epsilon, bits) if true is None else true
        set_fields(self, true=checked_threshold(true, "true", 1 << bits))
        self._end()

    @property
    def order(self) -> int:
        """The order of the matrix."""
        return 1 << self.size.bit_length()

    @property
    def p(self) -> Fraction:
        return Fraction(self.true, 1 << self.bits)

    @property
    def q(self) -> Fraction:
        return Fraction(1, 2)  # two rows agree in half of the columns, and each row is half +1

    @property
    def ratio(self) -> Fraction:
        return self.p / (1 - self.p)

    @property
    def layout(self) -> Layout:
        return Layout.below(self.order)

    @property
    def report_bits(self) -> int:
        return self.order.bit_length() - 1

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        column = uniform(self.order, own.size, entropy)
        row = (own + 1).astype(column.dtype)
        wrong = parity(column & row).view(bool) == coins(self.true, self.bits, own.size, entropy)
        # Flipping the lowest bit of the row pairs each column of one sign with one of the other.
        lowest = row & (~row + row.dtype.type(1))
        column ^= np.where(wrong, lowest, row.dtype.type(0))
        return column

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, self.order)

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        signed = walsh_hadamard(np.bincount(reports, minlength=self.order))
        return (len(reports) + signed[1 : self.size + 1]) // 2
