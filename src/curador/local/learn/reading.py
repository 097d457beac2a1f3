"""Parameters and people's numbers, checked before anything is drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.local.task.limits import Floats
from curador.local.task.values import reals
from curador.numbers import positive

EDGE = 1 << 128
"""Bounds, clip, step and penalty lie between this and its inverse, so that no product of a few of them overflows."""


def sized(x: object, name: str) -> Fraction:
    """A positive parameter of a size that can be reckoned with.

    >>> sized("0.1", "clip")
    Fraction(1, 10)
    """
    value = positive(x, name)
    if not Fraction(1, EDGE) <= value <= EDGE:
        raise InvalidParameter(f"{name} must lie between 2**-128 and 2**128.", fix="Use other units.")
    return value


def vectors(values: Any, width: int) -> Floats:
    """Rows of exactly ``width`` finite numbers, one per person: a row of another length would be several reports.

    >>> vectors([[1, 2]], 2).shape
    (1, 2)
    """
    found = reals(values)
    if found.ndim != 2 or found.shape[1] != width:
        raise InvalidValue(f"Expected rows of {width} numbers.", fix="Give one row per person.")
    return found


def own_data(values: Any, answers: Any, width: int) -> tuple[Floats, Floats]:
    """People's rows of features and their answers; what is missing (NaN) stays so, and makes nobody refuse.

    >>> [part.shape for part in own_data([[1.0, float("nan")]], [1], 2)]
    [(1, 2), (1,)]
    """
    rows, told = _with_gaps(values), _with_gaps(answers)
    if rows.ndim != 2 or rows.shape[1] != width or told.shape != rows.shape[:1]:
        raise InvalidValue(
            f"Expected a row of {width} features and one answer per person.", fix="Give arrays of (n, d) and (n,)."
        )
    return rows, told


def _with_gaps(values: Any) -> Floats:
    try:
        found = np.asarray(values)
    except (ValueError, OverflowError):
        raise InvalidValue("Expected numbers, in rows of one length.", fix="Give one row per person.") from None
    if found.dtype.kind not in "iufO":
        raise InvalidValue("Expected numbers.", fix="Give ints or floats.")
    try:
        gaps = np.asarray(found != found, bool)  # only NaN differs from itself
    except (TypeError, ValueError, ArithmeticError):  # objects that do not compare
        raise InvalidValue("Expected numbers.", fix="Give ints or floats.") from None
    return np.where(gaps, np.nan, reals(np.where(gaps, 0, found)))
