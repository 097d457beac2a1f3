"""Unary encoding: one bit per key, each randomised independently."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.frequency.oracle import Oracle
from curador.local.task.draw import coins
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout
from curador.local.task.task import checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.noise import Entropy
from curador.numbers import Number, positive, set_fields

LEAST_SHORT, MOST_SHORT = Fraction(1, 8), Fraction(5)
"""Between these epsilons 16-bit thresholds lose next to nothing, and cost half the random bits."""


@dataclass(frozen=True, init=False)
class Unary(Oracle):
    """A bit per key: 1 with probability own/2**bits for the own key, other/2**bits for every other.

    Reports are rows of packed bits; the first key's is the highest bit of the first byte.

    Guarantee: epsilon-local DP: two values change two bits, so e**epsilon >= p(1-q) / (q(1-p)) [WBLJ17].
    """

    packed = True

    own: int
    other: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        *,
        rest: LocalKey | None = None,
        own: int | None = None,
        other: int | None = None,
        bits: int | None = None,
    ) -> None:
        if bits is None:
            bits = 16 if LEAST_SHORT <= positive(epsilon, "epsilon") <= MOST_SHORT else 32
        self._begin(keys, epsilon, rest, bits)
        best = self._best(self.epsilon, bits)
        set_fields(
            self,
            own=checked_threshold(best[0] if own is None else own, "own", 1 << bits),
            other=checked_threshold(best[1] if other is None else other, "other", 1 << bits),
        )
        self._end()

    @staticmethod
    @abstractmethod
    def _best(epsilon: Fraction, bits: int) -> tuple[int, int]:
        """The most accurate thresholds of this kind: the own key's, and the others'."""

    @property
    def p(self) -> Fraction:
        return Fraction(self.own, 1 << self.bits)

    @property
    def q(self) -> Fraction:
        return Fraction(self.other, 1 << self.bits)

    @property
    def ratio(self) -> Fraction:
        return self.p * (1 - self.q) / (self.q * (1 - self.p))

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
        cells = coins(self.other, self.bits, own.size * self.size, entropy).reshape(own.size, self.size)
        cells[np.arange(own.size), own] = coins(self.own, self.bits, own.size, entropy)
        return np.packbits(cells, axis=1)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return unspared(reports, self.size)

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return count_bits(reports, self.size)


@dataclass(frozen=True, init=False)
class SUE(Unary, mechanism="sue"):
    """Symmetric unary encoding, the basic one-time RAPPOR [EPK14].

    Every bit is flipped with the same probability.

    >>> SUE(keys=20, epsilon=1).randomize([3, 19]).shape
    (2, 3)
    """

    @staticmethod
    def _best(epsilon: Fraction, bits: int) -> tuple[int, int]:
        true = inside_threshold(1, 1, epsilon / 2, bits)
        return true, (1 << bits) - true


@dataclass(frozen=True, init=False)
class OUE(Unary, mechanism="oue"):
    """Optimised unary encoding [WBLJ17].

    The own key's bit is a fair coin, so that the other bits are right more often.

    >>> OUE(keys=20, epsilon=1).p
    Fraction(1, 2)
    """

    @staticmethod
    def _best(epsilon: Fraction, bits: int) -> tuple[int, int]:
        return 1 << (bits - 1), (1 << bits) - inside_threshold(1, 1, epsilon, bits)


def unspared(reports: NDArray[Any], size: int) -> NDArray[np.bool_]:
    """Mark the rows whose spare bits are empty; each row ends with ``size`` packed bits.

    >>> unspared(np.array([[0b10100000], [0b00101000]], np.uint8), 4).tolist()
    [True, False]
    """
    empty: NDArray[np.bool_] = reports[:, -1] & ((1 << (-size % 8)) - 1) == 0
    return empty


def count_bits(reports: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Count the rows in which each of the first ``size`` bits is set.

    >>> count_bits(np.array([[0b10100000], [0b00100000]], np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    rows, wide = reports.shape
    # A byte counts to 255, so 255 rows are added at a time, eight bytes in a word: no carry leaves its byte.
    deep = min(255, max(1, rows))
    piles = -(-rows // deep)
    padded = np.concatenate([reports, np.zeros((deep * piles - rows, wide), np.uint8)])
    words = np.unpackbits(padded).view(np.uint64).reshape(deep, -1).sum(axis=0)
    counts: NDArray[np.int64] = words.view(np.uint8).reshape(piles, 8 * wide).sum(axis=0, dtype=np.int64)
    return counts[:size]
