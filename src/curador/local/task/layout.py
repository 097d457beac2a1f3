"""Reports as bytes: the same on every device, so that a collector reads a million of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidValue
from curador.local.task.draw import word_for
from curador.mechanisms.base import integer_array


@dataclass(frozen=True)
class Layout:
    """The bytes of a report: ``columns`` integers of ``word`` bytes, highest first.

    Without columns it is a single integer.

    >>> Layout(2).pack(np.array([1, 258])).tolist()
    [[0, 1], [1, 2]]
    >>> Layout(2).unpack(np.array([[0, 1], [1, 2]], np.uint8)).tolist()
    [1, 258]
    """

    word: int
    columns: int | None = None
    signed: bool = False

    @classmethod
    def below(cls, most: int, columns: int | None = None) -> Layout:
        """Make the shortest layout for integers from 0 that are below ``most``.

        >>> Layout.below(256), Layout.below(257).word
        (Layout(word=1, columns=None, signed=False), 2)
        """
        return cls(np.dtype(word_for(most)).itemsize, columns)

    @property
    def size(self) -> int:
        """The number of bytes of a report."""
        return self.word * (1 if self.columns is None else self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one report.

        >>> Layout(2).shape, Layout(2, 3).shape
        ((), (3,))
        """
        return () if self.columns is None else (self.columns,)

    @property
    def _dtype(self) -> str:
        return f">{'i' if self.signed else 'u'}{self.word}"

    def pack(self, reports: NDArray[Any]) -> NDArray[np.uint8]:
        """Pack each report, which must fit, into a row of bytes."""
        words = np.ascontiguousarray(np.asarray(reports).astype(self._dtype))
        return words.view(np.uint8).reshape(len(reports), self.size)

    def unpack(self, rows: Any) -> NDArray[Any]:
        """Unpack rows of bytes to reports, in the machine's own byte order."""
        found = np.asarray(rows)
        if found.dtype != np.uint8 or found.ndim != 2 or found.shape[1] != self.size:
            raise InvalidValue(f"Reports on this task have {self.size} bytes.", fix="Leave others out.")
        words = np.ascontiguousarray(found).view(self._dtype)
        native = words.astype(words.dtype.newbyteorder("="))
        return native.reshape(-1) if self.columns is None else native.reshape(len(found), self.columns)


def short_words(reports: Any) -> NDArray[Any]:
    """Return reports in the words they came in if these are short, as 64-bit integers otherwise.

    >>> short_words([1, 2]).dtype, short_words(np.array([1], np.uint8)).dtype
    (dtype('int64'), dtype('uint8'))
    """
    if isinstance(reports, np.ndarray) and reports.dtype in (np.uint8, np.uint16, np.uint32):
        return reports
    return integer_array(reports)


def below(reports: NDArray[Any], most: Any) -> NDArray[np.bool_]:
    """Mark the reports of integers from 0 below ``most``, which may have a value per column.

    >>> below(np.array([0, 3, -1]), 3).tolist(), below(np.array([[0, 1], [1, 0]]), np.array([1, 2])).tolist()
    ([True, False, False], [True, False])
    """
    fits: NDArray[np.bool_] = (reports >= 0) & (reports < most)
    return fits if fits.ndim == 1 else np.asarray(fits.all(axis=1))
