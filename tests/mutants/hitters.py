"""Faulty forms of the search for heavy hitters; each claims the epsilon it was made with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.task.draw import uniform
from curador.local.unlisted.heavy_hitters import HeavyHitters
from curador.local.unlisted.prefixes import Bytes
from curador.noise import Entropy
from curador.numbers import set_fields


class LevelOfItself(HeavyHitters):
    """Values that end early are reported on at the level where they end: the level tells how long they are."""

    def _places(
        self, codes: Bytes, number: NDArray[np.int64], level: NDArray[np.int64], row: NDArray[Any]
    ) -> NDArray[np.int64]:
        level[:] = np.minimum((codes[number] < 0xFE).sum(axis=1), self.length) - self.widths[0]
        return super()._places(codes, number, level, row)


class RowOfItself(HeavyHitters):
    """The row is the value's own, as if it were one of its hashes."""

    def _places(
        self, codes: Bytes, number: NDArray[np.int64], level: NDArray[np.int64], row: NDArray[Any]
    ) -> NDArray[np.int64]:
        row[:] = codes[number, 0] % self.rows
        return super()._places(codes, number, level, row)


class TwoLevels(HeavyHitters):
    """Two reports, on two levels, each at the whole epsilon."""

    def _randomize(self, codes: Bytes, number: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        once, again = (super(TwoLevels, self)._randomize(codes, number, entropy) for _ in range(2))
        return np.concatenate([once, again], axis=1)


class SurerAnswer(HeavyHitters):
    """The threshold for twice the epsilon."""

    def __init__(self, epsilon: int, **sizes: Any) -> None:
        super().__init__(2 * epsilon, **sizes)
        set_fields(self, epsilon=self.epsilon / 2)
        self.__dict__["oracle"] = HeavyHitters(2 * epsilon, **sizes).oracle


class NeverTheLast(HeavyHitters):
    """Private, but nobody reports on whole values."""

    def _randomize(self, codes: Bytes, number: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        level = uniform(self.levels - 1, number.size, entropy).astype(np.int64)
        row = uniform(self.rows, number.size, entropy)
        masked = self.oracle._randomize(self._places(codes, number, level, row), entropy)
        return np.column_stack([level, row, masked])
