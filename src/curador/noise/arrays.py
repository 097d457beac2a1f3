"""Parts shared by the array samplers: chunk size, error bound of the float filter, signs, outliers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter

CHUNK = 1 << 16
"""The size of a chunk of samples: large enough that NumPy calls cost little, small enough for a cache."""

EXP_ERROR = 2.0**-40
"""Assumed bound on the error of numpy.exp and the operations around it, 4096 units in the last place.  A filter that is
unsure within this bound computes in exact integers.  Only a numpy.exp worse than this could change a sample."""

ARRAY_MOST = 1 << 50
SATURATED = 1 << 62


def checked_count(n: int, scale: Fraction, power: int = 1) -> int:
    """Check the number of samples; refused where the noise would not fit 64-bit integers."""
    if scale > ARRAY_MOST**power:
        raise InvalidParameter(
            "Noise of this scale does not fit arrays of 64-bit integers.",
            fix="Use a coarser grid (divide the data), or draw single values, which have no limit.",
        )
    if n < 0:
        raise InvalidParameter(f"Cannot draw {n} samples.", fix="Ask for 0 or more.")
    return n


def flip(out: NDArray[np.int64], minus: NDArray[np.int64]) -> None:
    """Negate ``out`` where ``minus`` is -1, and leave it where it is 0."""
    np.bitwise_xor(out, minus, out=out)
    np.subtract(out, minus, out=out)


def saturate(out: NDArray[np.int64], outliers: dict[int, int]) -> NDArray[np.int64]:
    """Write outliers (chance below exp(-500)) into a machine array, clamped to plus or minus 2**62."""
    for i, x in outliers.items():
        out[i] = max(-SATURATED, min(SATURATED, x))
    return out
