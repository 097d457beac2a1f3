"""Slopes of losses as integers: how much each row pulls, looked up by the row's own margin.

A margin is an exact integer; the table is worked out once from constants, so equal margins have equal slopes wherever
they stand, which an exponential of a whole array does not promise.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from curador.learn.rows.encoding import Floats

UNIT = 1 << 12
"""The integer that stands for a slope of 1."""

PER_ONE = 1 << 8
"""Steps of a margin between 0 and 1."""

FARTHEST = 20
"""Margins beyond this have the slope of this."""


def _steps(margins: Floats) -> NDArray[np.intp]:
    """The places of margins, in steps, in a table from -FARTHEST to FARTHEST."""
    most = FARTHEST * PER_ONE
    # No margin is an error, since whether one is looked up depends on rows: these two pass over what is no number.
    known = np.fmin(np.fmax(np.rint(margins), -most), most)
    return np.asarray(known.astype(np.intp) + most)


@cache
def _logistic() -> Floats:
    at = np.arange(-FARTHEST * PER_ONE, FARTHEST * PER_ONE + 1) / PER_ONE
    return np.asarray(np.rint(UNIT / (1 + np.exp(-at))))


@cache
def _hinge() -> Floats:
    """The slope of the hinge loss, rounded over one unit of margin: 1 below 0, 0 above 1."""
    at = np.arange(-FARTHEST * PER_ONE, FARTHEST * PER_ONE + 1) / PER_ONE
    return np.asarray(np.rint(UNIT * np.clip(1 - at, 0, 1)))


def logistic_slopes(margins: Floats, labels: NDArray[np.int32]) -> Floats:
    """The chance of class 1 less whether it is, in units; ``margins`` in steps.

    >>> logistic_slopes(np.array([0.0, 0.0]), np.array([0, 1], np.int32)).tolist()
    [2048.0, -2048.0]
    """
    return np.asarray(_logistic()[_steps(margins)] - UNIT * (labels == 1))


def hinge_slopes(margins: Floats, labels: NDArray[np.int32]) -> Floats:
    """The slope of the smoothed hinge loss, in units."""
    sign = np.where(labels == 1, 1.0, -1.0)
    return np.asarray(-sign * _hinge()[_steps(sign * margins)])


@cache
def _exponential() -> Floats:
    at = np.arange(-2 * FARTHEST * PER_ONE, 1) / PER_ONE
    return np.asarray(np.rint(np.exp(at) * 2.0**40))


def softmax_slopes(margins: Floats, labels: NDArray[np.int32]) -> Floats:
    """The chance of each class less whether it is this one; one row of margins for each row, one column per class."""
    most = 2.0**40
    steps = np.clip(np.nan_to_num(np.rint(margins), nan=0.0), -most, most)  # no margin is an error
    below = np.maximum(steps - steps.max(axis=1, keepdims=True), -2 * FARTHEST * PER_ONE)
    weights = _exponential()[below.astype(np.intp) - 1]
    total = weights[:, 0].copy()
    for k in range(1, weights.shape[1]):  # in this order for every row; below 2**53, so exact anyhow
        total += weights[:, k]
    found = np.rint(weights * UNIT / total[:, None])
    found[np.arange(len(labels)), labels] -= UNIT
    return np.asarray(found)
