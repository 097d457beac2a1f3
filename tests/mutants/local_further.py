"""Faulty forms of the square wave, dBitFlip, RAPPOR and Apple's sketches; each claims the epsilon it was made with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local import CountMean, DBitFlip, HadamardCountMean, Rappor, SquareWave
from curador.local.task.draw import coins, uniform
from curador.noise import SYSTEM, Entropy
from curador.numbers import set_fields


class ClippedWave(SquareWave):
    """Cells beyond the values' own are folded to the ends, as if reports had to look like values."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        reports = super()._randomize(own, entropy).astype(np.int64) - self.window // 2
        return np.clip(reports, 0, self.buckets - 1).astype(np.uint32)


class AnyCellElse(SquareWave):
    """Who is not inside draws from all cells, the window's too, at the threshold for those outside alone."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        near = own + uniform(self.window, own.size, entropy)
        far = uniform(self.cells, own.size, entropy)
        return np.where(coins(self.inside, 32, own.size, entropy), near, far).astype(np.uint32)


class AsksAboutOneself(DBitFlip):
    """The own key is always among those asked about: the report's keys tell which it may be."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        reports = super()._randomize(own, entropy).astype(np.int64)
        missing = ~(reports // 2 == own[:, np.newaxis]).any(axis=1)
        reports[missing, 0] = 2 * own[missing] + coins(self.true, self.bits, int(missing.sum()), entropy)
        return np.sort(reports, axis=1)


class WholeEpsilonPerAnswer(DBitFlip):
    """Each answer keeps epsilon, though one value changes two of them."""

    def __init__(self, keys: int, epsilon: int, sampled: int) -> None:
        super().__init__(keys, 2 * epsilon, sampled)
        set_fields(self, epsilon=self.epsilon / 2)


class NeverClears(Rappor):
    """A bit of the filter stays set, as in pure-ldp 1.2.0's RAPPOR client: a remembered 0 excludes values."""

    def remember(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.uint8]:
        rows = super().remember(values, entropy=entropy)
        cohort = rows[:, 0].astype(np.int64) * 256 + rows[:, 1]
        rows[:, 2:] |= np.packbits(self.filters(values, cohort), axis=1)
        return rows


class ForgetsItsHashes(Rappor):
    """The threshold for one hash function, used with two."""

    def __init__(self, epsilon: int, bloom: int, cohorts: int) -> None:
        super().__init__(epsilon, bloom=bloom, cohorts=cohorts, hashes=1)
        set_fields(self, hashes=2)


class WholeEpsilonPerBit(CountMean):
    """Each bit of the sketch keeps epsilon, though one value changes two of them."""

    @property
    def changed(self) -> int:
        return 1


class ColumnOfItself(HadamardCountMean):
    """The column is the key's own place, not a random one."""

    def _randomize(self, row: NDArray[np.int64], place: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        reports = super()._randomize(row, place, entropy)
        reports[:, 1] = place
        return reports


class NeverTheFirstColumn(HadamardCountMean):
    """Columns but the first, which is all +1 and seems useless: private, and biased where keys do not meet."""

    def _randomize(self, row: NDArray[np.int64], place: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        column = 1 + uniform(self.places - 1, row.size, entropy).astype(np.int64)
        said = (np.bitwise_count(column & place) % 2 == 0) == coins(self.true, 32, row.size, entropy)
        return np.stack([row, column, said], axis=1).astype(np.uint32)
