"""Values before randomisation.

All are read before anything is drawn, so that no refusal reveals a draw.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from decimal import Decimal
from numbers import Rational, Real
from typing import Any

import numpy as np

from curador.errors import InvalidValue
from curador.local.task.limits import Floats
from curador.mechanisms.base import refuse_hidden

LARGEST = sys.float_info.max


def listed(values: Any) -> list[Any]:
    """List one value per person; refuse a single value that could be taken for many.

    >>> listed(("a", "b")), listed(np.array([1, 2]))
    (['a', 'b'], [1, 2])
    """
    if isinstance(values, str | bytes | bytearray | Mapping):
        raise InvalidValue("Expected one value per person, got a single one.", fix='Give a list, such as ["tea"].')
    try:
        return values.reshape(-1).tolist() if isinstance(values, np.ndarray) else list(values)
    except TypeError:
        raise InvalidValue("Expected one value per person.", fix='Give a list, such as ["tea"].') from None


def reals(values: Any) -> Floats:
    """Convert numbers to doubles of the same shape; numbers beyond the range become the largest double.

    >>> reals([1, Decimal("2.5"), float("inf"), 10**400]).tolist() == [1.0, 2.5, LARGEST, LARGEST]
    True
    """
    try:
        found = np.asarray(values)
    except (ValueError, OverflowError):
        raise InvalidValue("Expected numbers, in rows of one length.", fix="Give one per person.") from None
    refuse_hidden(values, found.ndim)
    if found.dtype.kind == "O":
        found = np.array([double(x) for x in found.flat], np.float64).reshape(found.shape)
    if found.dtype.kind not in "iuf":
        raise InvalidValue(f"Expected numbers, got {found.dtype}.", fix="Give ints or floats.")
    with np.errstate(over="ignore"):
        out = found.astype(np.float64)
    if np.isnan(out).any():
        raise InvalidValue("NaN cannot be reported.", fix="Choose what it stands for first.")
    return np.clip(out, -LARGEST, LARGEST)


def double(x: object) -> float:
    """Convert a number to a double: beyond the range to the largest, NaN to NaN; anything else is refused.

    >>> double(Decimal("0.5")), double(-(10**400)) == -LARGEST, math.isnan(double(Decimal("sNaN")))
    (0.5, True, True)
    """
    if isinstance(x, bool | np.bool_) or not isinstance(x, Real | Decimal):
        raise InvalidValue(f"Expected numbers, got {type(x).__name__}.", fix="Give ints or floats.")
    try:
        return float(x)
    except ValueError:  # a signalling NaN
        return math.nan
    except OverflowError:  # an integer or a fraction beyond all doubles
        return LARGEST if isinstance(x, Rational) and int(x.numerator) > 0 else -LARGEST
