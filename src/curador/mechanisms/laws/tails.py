"""Chances of weighted sums of a few Laplace noises, in many places at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TINY = float(np.finfo(np.float64).tiny)
"""The least double with full precision."""


def laplace_tail(x: Array, scales: Sequence[Array | float]) -> Array:
    """An upper bound on P(|sum| > x) for independent Laplace noises of these scales; 1 for x < 0.

    Scales that nearly agree are moved apart, upwards: the formula by partial fractions divides by their differences.

    >>> laplace_tail(np.array([-1.0, 3.0]), [1.0, 0.0]).round(4)
    array([1.    , 0.0498])
    """
    x = np.asarray(x, np.float64)
    if len(scales) == 2:
        return _two_tails(x, np.asarray(scales[0], np.float64), np.asarray(scales[1], np.float64))
    found: Any = np.sort(np.stack(np.broadcast_arrays(*(np.asarray(s, np.float64) for s in scales), x))[:-1], axis=0)
    terms = len(found)
    # Far enough apart that rounding, eps / apart**(terms - 1), stays below the margin added at the end.
    apart, rounded = (1 + 1e-7, 1e-8) if terms == 1 else (1 + 0.5 * 1e-9 ** (1 / (terms - 1)), 1e-6)
    found[0] = np.maximum(np.maximum(found[0], found[-1] * 1e-9), TINY)
    for i in range(1, terms):
        found[i] = np.maximum(found[i], found[i - 1] * apart)
    z = np.maximum(x, 0.0)
    total: Any = 0.0
    for i in range(terms):
        part = np.exp(-z / found[i])
        for j in range(terms):
            if j != i:
                # The difference of two that are near each other is exact.
                part = part / ((found[i] - found[j]) / found[i] * ((found[i] + found[j]) / found[i]))
        total = total + part
    return np.where(x < 0, 1.0, np.minimum(total * (1 + rounded), 1.0))


def _two_tails(x: Array, a: Array, b: Array) -> Array:
    """Compute :func:`laplace_tail` for two scales, the most common case, with fewer operations."""
    small, large = np.minimum(a, b), np.maximum(a, b)
    small = np.maximum(small, np.maximum(large * 1e-9, TINY))
    large = np.maximum(large, small * (1 + 1e-7))
    part, z = small / large, np.maximum(x, 0.0)
    total = np.exp(-z / large) - part * part * np.exp(-z / small)
    total /= (large - small) / large * (1 + part)  # the difference of two that are near each other is exact
    return np.minimum(total * (1 + 1e-8), 1.0)
