"""The encoded rows, and exact sums over them.

Rows are kept compactly, the numbers on their grid and the keys as codes.  Every product here is of integers whose sums
stay below 2**53, so doubles hold them exactly, in whatever order a library adds them: what one row adds depends on
nothing but that row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints

BLOCK, BLOCK_CELLS = 1 << 13, 1 << 24
"""Rows that are laid out densely at a time, few enough for the cache; and cells, where there are many columns."""

PIECE = 1 << 16
"""Rows whose margins and slopes are worked out at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """Rows by an encoding: ``numbers`` (rows x numbers) and ``codes`` (rows x keyed features, -1 for none)."""

    encoding: Encoding
    numbers: NDArray[np.int16]
    codes: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.numbers)

    def some(self, chosen: NDArray[np.intp]) -> Design:
        """The rows at these places."""
        return Design(self.encoding, self.numbers[chosen], self.codes[chosen])

    def pieces(self) -> Iterator[tuple[slice, Design]]:
        """Some rows at a time, each part with its place: what is worked out for each row stays small."""
        for start in range(0, len(self), PIECE):
            part = slice(start, min(start + PIECE, len(self)))
            yield part, Design(self.encoding, self.numbers[part], self.codes[part])

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """The rows laid out densely, some at a time, each with its place."""
        d = self.encoding.width
        rows = max(1, min(BLOCK, BLOCK_CELLS // d))
        for start in range(0, len(self), rows):
            part = slice(start, min(start + rows, len(self)))
            numbers, codes = self.numbers[part], self.codes[part]
            dense = np.zeros((len(numbers), d))
            dense[:, : numbers.shape[1]] = numbers
            dense[:, -1] = SCALE
            for j, first in enumerate(self.encoding.starts):
                known = np.flatnonzero(codes[:, j] >= 0)
                dense[known, first + codes[known, j]] = SCALE
            yield part, dense

    def moments(self) -> Ints:
        """The sum over rows of the products of every two columns.  Exact below 2**32 rows."""
        d = self.encoding.width
        total = np.zeros((d, d), np.int64)
        for _, dense in self.blocks():
            total += (dense.T @ dense).astype(np.int64)
        return total

    def dot(self, weights: Floats) -> Floats:
        """Each row times a vector of integers, or a matrix of them.

        Assumes: the weights are integers whose absolute values, times SCALE, add up to less than 2**53.
        """
        p = len(self.encoding.numbers)
        found = self.numbers.astype(np.float64) @ weights[:p] + SCALE * weights[-1]
        for j, (first, feature) in enumerate(zip(self.encoding.starts, self.encoding.keyed, strict=True)):
            of_key = np.concatenate([weights[first : first + feature.width], np.zeros_like(weights[:1])]) * SCALE
            found += of_key[self.codes[:, j]]  # the code -1 takes the last, which is zero
        return np.asarray(found)

    def summed(self, counts: Floats) -> Ints:
        """The sum over rows of a row times its integer: one for each row, or a vector of them.

        Assumes: at most 2**22 in absolute value.  Exact below 2**31 rows.
        """
        columns = counts[:, None] if counts.ndim == 1 else counts
        p, d = len(self.encoding.numbers), self.encoding.width
        total = np.zeros((d, columns.shape[1]), np.int64)
        for part, piece in self.pieces():  # of so many, sums stay below 2**53
            some = columns[part]
            if p:
                total[:p] += (piece.numbers.astype(np.float64).T @ some).astype(np.int64)
            total[-1] += SCALE * some.sum(axis=0).astype(np.int64)
            for j, (first, feature) in enumerate(zip(self.encoding.starts, self.encoding.keyed, strict=True)):
                place = piece.codes[:, j] + 1
                for k in range(some.shape[1]):
                    found = np.bincount(place, weights=some[:, k], minlength=feature.width + 1)[1:]
                    total[first : first + feature.width, k] += SCALE * found.astype(np.int64)
        return total.reshape((d, *counts.shape[1:]))
