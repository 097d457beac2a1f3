"""What a black box gave on two neighbours, as numbers and symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue

FEWEST = 200
"""Fewer runs than this on a side show next to nothing."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Outputs:
    """The outputs on one side: a row of numbers for each run, a symbol for each, or both.

    ``bits`` says that the columns are the bits of bytes, ``words`` what a symbol stands for.
    """

    numbers: Numbers
    symbols: NDArray[np.uint64]
    words: dict[int, str]
    bits: bool = False
    real: bool = False

    def __len__(self) -> int:
        return len(self.symbols)

    def part(self, where: slice) -> Outputs:
        """Some of the runs."""
        return Outputs(self.numbers[where], self.symbols[where], self.words, self.bits, self.real)


def both(first: Any, second: Any) -> tuple[Outputs, Outputs]:
    """The outputs on two neighbours, read alike.

    Numbers, rows of numbers of any length (NaN for what is missing), rows of bytes, texts, or a list of anything: None,
    exceptions.  What is not a number is a symbol, told apart by its text.

    >>> one, two = both([(1, 2), None] * 100, [(1,), None] * 100)
    >>> len(one), one.numbers.shape[1], one.symbols[1] == two.symbols[1]
    (200, 0, np.True_)
    >>> both([(1, 2), (1,)] * 100, [()] * 200)[1].numbers[0]
    array([nan, nan])
    """
    for side in (first, second):
        if not hasattr(side, "__len__"):
            raise InvalidValue("Outputs come as an array or a list, one for each run.", fix="Give an array or a list.")
        if len(side) < FEWEST:
            raise InvalidParameter(f"{len(side)} runs show nothing.", fix=f"Run at least {FEWEST} times on each side.")
    one, two = _array(first), _array(second)
    if one is None or two is None or one.shape[1:] != two.shape[1:]:
        one, two = _padded(first, second)
    if one is None or two is None:
        words: dict[int, str] = {}
        codes: dict[str, int] = {}
        return _named(first, codes, words), _named(second, codes, words)
    return _read(one), _read(two)


def _array(side: Any) -> NDArray[Any] | None:
    """An array of numbers, one row for each run; None where there is none."""
    if isinstance(side, Sequence) and any(x is None or isinstance(x, str | bytes | Exception) for x in side):
        return None
    try:
        found = np.asarray(side)
    except ValueError:  # rows of different lengths
        return None
    return found.reshape(len(found), -1) if found.dtype.kind in "biuf" and found.size else None


def _padded(first: Any, second: Any) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Rows of numbers of different lengths, each filled up with NaN; None where an output is something else."""
    sides = [[np.atleast_1d(np.asarray(x)) if _numeric(x) else None for x in side] for side in (first, second)]
    if any(x is None or (x.dtype.kind not in "biuf" and x.size) for side in sides for x in side):
        return None, None
    width = max(len(x) for side in sides for x in side if x is not None)
    out = [np.full((len(side), max(1, width)), np.nan) for side in sides]
    for table, side in zip(out, sides, strict=True):
        for row, x in zip(table, side, strict=True):
            if x is not None:
                row[: len(x)] = x
    return out[0], out[1]


def _numeric(x: Any) -> bool:
    """Whether an output is a number or a flat row of numbers."""
    if isinstance(x, list | tuple):
        return all(isinstance(y, Real) for y in x)
    return isinstance(x, Real) or (isinstance(x, np.ndarray) and x.ndim == 1)


def _read(found: NDArray[Any]) -> Outputs:
    reports = found.dtype == np.uint8 and found.shape[1] > 0
    numbers = np.unpackbits(found, axis=1).astype(np.float64) if reports else found.astype(np.float64)
    return Outputs(numbers, _hashed(found), {}, bits=reports, real=found.dtype.kind == "f")


def _named(side: Any, codes: dict[str, int], words: dict[int, str]) -> Outputs:
    texts = [repr(x) for x in side]
    symbols = np.array([codes.setdefault(text, len(codes)) for text in texts], np.uint64)
    words.update({number: text for text, number in codes.items()})
    return Outputs(np.empty((len(texts), 0)), symbols, words)


def _hashed(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """One symbol for each row; that two rows may share one only blurs what is seen."""
    out = np.zeros(len(rows), np.uint64)
    columns = rows.astype(np.float64) + 0.0 if rows.dtype.itemsize * 8 <= 32 or rows.dtype.kind == "f" else rows
    for column in np.ascontiguousarray(columns.T):
        out = (out ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out
