"""What a black box gave on two neighbours, as numbers and symbols.

What is made of an output depends on that output alone, and on a way to read that the runs which judge have no part in.
The type of a whole array is no such thing: one NaN among integers changes the type of all, and integers and doubles of
the same value have other bits, and other texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
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

    def __len__(self) -> int:
        return len(self.symbols)

    def part(self, where: slice) -> Outputs:
        """Some of the runs."""
        return Outputs(self.numbers[where], self.symbols[where], self.words, self.bits)


def both(first: Any, second: Any) -> tuple[Outputs, Outputs]:
    """The outputs on two neighbours, read alike.

    Numbers, rows of numbers of any length (NaN for what is missing), rows of bytes, texts, or a list of anything: None,
    exceptions.  What is not a number is a symbol, told apart by its text.  The first half of the runs says which of
    these it is; in the second, what is no number among numbers is missing, and what is beyond the width is not seen.

    >>> one, two = both([(1, 2), None] * 100, [(1,), None] * 100)
    >>> len(one), one.numbers.shape[1], one.symbols[1] == two.symbols[1]
    (200, 0, np.True_)
    >>> both([(1, 2), (1,)] * 100, [()] * 200)[1].numbers[0]
    array([nan, nan])
    >>> one, two = both([(1, 2)] * 200, [(1, 2)] * 199 + [(0.5, 2)])  # a list of integers, and one of doubles
    >>> one.symbols[0] == two.symbols[0], one.symbols[0] == two.symbols[-1]
    (np.True_, np.False_)
    """
    sides = _side(first), _side(second)
    half = min(map(len, sides)) // 2
    early = [_array(side[:half]) for side in sides]
    rows = [_rows(side[:half]) if found is None else found for side, found in zip(sides, early, strict=True)]
    if any(row is None for some in rows for row in some):
        words: dict[int, str] = {}
        return _named(sides[0], words), _named(sides[1], words)
    width = max(1, *(len(row) for some in rows for row in some if row is not None))
    bits = all(found is not None and found.dtype == np.uint8 for found in early)
    return _read(sides[0], width, bits), _read(sides[1], width, bits)


def _side(side: Any) -> Any:
    """A list or an array of enough outputs."""
    if isinstance(side, Sequence):
        side = list(side)
    elif hasattr(side, "__len__"):
        side = np.asarray(side)
    if not isinstance(side, list) and np.ndim(side) == 0:
        raise InvalidValue("Outputs come as an array or a list, one for each run.", fix="Give an array or a list.")
    if len(side) < FEWEST:
        raise InvalidParameter(f"{len(side)} runs show nothing.", fix=f"Run at least {FEWEST} times on each side.")
    return side


def _array(side: Any) -> NDArray[Any] | None:
    """An array of numbers, one row for each run; None where there is none."""
    found = _numbers(side)
    return None if found is None or found.ndim == 0 else found.reshape(len(side), -1 if found.size else 0)


def _rows(side: Any) -> list[NDArray[Any] | None]:
    """The same, output by output, for those that are numbers or rows of them."""
    found = [_numbers(x) for x in side]
    return [None if x is None else x.reshape(-1) for x in found]


def _numbers(x: Any) -> NDArray[Any] | None:
    """What NumPy reads as numbers, or as nothing at all; None for all else."""
    if _masked(x) or (isinstance(x, list | tuple) and any(map(_masked, x))):
        return None  # alone it would be read as a 0, among others as a NaN
    if isinstance(x, np.ndarray) and x.dtype == object:
        x = x.tolist()  # numbers beside a None, in the same array
    try:
        found = np.asarray(x)
    except (ValueError, TypeError, OverflowError):  # rows of different lengths
        return None
    return found if found.dtype.kind in "biuf" else None


def _masked(x: Any) -> bool:
    return isinstance(x, np.ma.MaskedArray) and bool(np.ma.is_masked(x))


def _read(side: Any, width: int, bits: bool) -> Outputs:
    """As rows of so many doubles, whatever type the numbers of this side have."""
    table = np.full((len(side), width), np.nan)
    found = _array(side)
    for some, row in [(table, found)] if found is not None else zip(table, _rows(side), strict=True):
        if row is not None:
            some[..., : row.shape[-1]] = row[..., :width]
    symbols = _hashed(table)
    if not bits:
        return Outputs(table, symbols, {})
    whole = np.asarray(((table >= 0) & (table <= 255) & (table == np.floor(table))).all(axis=1))
    opened = np.unpackbits(np.where(whole[:, np.newaxis], table, 0.0).astype(np.uint8), axis=1).astype(np.float64)
    opened[~whole] = np.nan
    return Outputs(opened, symbols, {}, bits=True)


def _named(side: Any, words: dict[int, str]) -> Outputs:
    symbols = np.empty(len(side), np.uint64)
    for i, x in enumerate(side):
        # Fewer bits than a feature keeps of a symbol; that two texts may share one only blurs what is seen.
        code = int.from_bytes(blake2b(_text(x).encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big")
        symbols[i] = code
        words.setdefault(code, repr(_plain(x)))
    return Outputs(np.empty((len(side), 0)), symbols, words)


def _plain(x: Any) -> Any:
    return x.tolist() if isinstance(x, np.ndarray | np.generic) else x


def _text(x: Any) -> str:
    """A text for each output, the same whatever array it was put in: with doubles, with texts, or with a None.

    >>> _text(5) == _text(np.float64(5)) == _text(np.str_("5")), _text((True, None))
    (True, '(1.0,None)')
    """
    x = _plain(x)
    if isinstance(x, list | tuple):
        return f"({','.join(map(_text, x))})"
    if isinstance(x, str):
        x = x.rstrip("\0")  # which arrays of texts do not keep
    elif isinstance(x, bytes):
        x = x.rstrip(b"\0")
    elif isinstance(x, complex) and not x.imag:
        x = x.real
    if isinstance(x, str | bytes | int | float):
        try:
            return repr(float(x) + 0.0)
        except (ValueError, OverflowError):  # no number, or one beyond doubles
            pass
    return repr(x)


def _hashed(rows: Numbers) -> NDArray[np.uint64]:
    """One symbol for each row; that two rows may share one only blurs what is seen."""
    out = np.zeros(len(rows), np.uint64)
    for column in np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows + 0.0).T):
        out = (out ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out
