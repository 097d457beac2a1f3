"""Checks of parameters and people's numbers, before anything is drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.task.limits import Floats
from curador.local.task.values import LARGEST, double, reals
from curador.numbers import positive

EDGE = 1 << 128
"""Bounds, clip, step and penalty lie between this and its inverse, so that no product of a few of them overflows."""


def sized(x: object, name: str) -> Fraction:
    """Check a positive parameter; its size must allow exact arithmetic.

    >>> sized("0.1", "clip")
    Fraction(1, 10)
    """
    value = positive(x, name)
    if not Fraction(1, EDGE) <= value <= EDGE:
        raise InvalidParameter(f"{name} must lie between 2**-128 and 2**128.", fix="Use other units.")
    return value


def vectors(values: Any, width: int) -> Floats:
    """Read rows of exactly ``width`` finite numbers, one per person.

    A longer row would be several reports.

    >>> vectors([[1, 2]], 2).shape
    (1, 2)
    """
    found = reals(values)
    if found.ndim != 2 or found.shape[1] != width:
        raise InvalidValue(f"Expected rows of {width} numbers.", fix="Give one row per person.")
    return found


def own_data(values: Any, answers: Any, width: int) -> tuple[Floats, Floats]:
    """Read people's rows of features and their answers; missing values and non-numbers become NaN.

    Rows are refused for their shape alone: whether a device answers must not reveal its owner's value.

    >>> rows, answers = own_data([[1.0, None], ["2", 1j]], [1, True], 2)
    >>> rows.tolist(), answers.tolist()
    ([[1.0, nan], [nan, nan]], [1.0, nan])
    """
    rows, numbers = _table(values, width), _numbers(_cells(answers))
    if rows.ndim != 2 or rows.shape[1] != width or numbers.shape != rows.shape[:1]:
        raise _unlike(width)
    return rows, numbers


def _table(values: Any, width: int) -> Floats:
    found = _cells(values)
    if isinstance(found, np.ndarray):
        return _numbers(found)
    rows = [_numbers(_cells(row)) for row in found]
    if any(row.shape != (width,) for row in rows):
        raise _unlike(width)
    return np.array(rows).reshape(len(rows), width)


def _unlike(width: int) -> InvalidValue:
    return InvalidValue(
        f"Expected a row of {width} features and one answer per person.", fix="Give arrays of (n, d) and (n,)."
    )


def _cells(values: Any) -> NDArray[Any] | list[Any]:
    """An array as it is, or the items of a list: numpy would choose one type for all of them."""
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if not isinstance(values, list | tuple):
        raise InvalidValue("Expected numbers, in rows of one length.", fix="Give one row per person.")
    return list(values)


def _numbers(cells: NDArray[Any] | list[Any]) -> Floats:
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        return np.clip(cells.astype(np.float64), -LARGEST, LARGEST)  # NaN stays
    shape, each = (cells.shape, cells.flat) if isinstance(cells, np.ndarray) else ((len(cells),), cells)
    return np.clip(np.array([_number(x) for x in each], np.float64).reshape(shape), -LARGEST, LARGEST)


def _number(x: Any) -> float:
    if hasattr(x, "__array__"):
        x = np.asarray(x)[()]
    if isinstance(x, list | tuple | np.ndarray):
        raise InvalidValue("Expected a number, got several.", fix="Give one for each feature, and one answer.")
    try:
        return double(x)
    except Exception:  # noqa: BLE001  a value of any type may raise anything when converted; it is then missing
        return math.nan
