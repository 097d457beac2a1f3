"""Floats pushed to the safe side: the one place where accountants round.

A computation in double precision is off by a relative error far below 2**-40 unless it cancels; an accountant
that knows its own error passes it in.  What leaves upwards is never below the true number, and what leaves
downwards never above it.
"""

from __future__ import annotations

import math

RELATIVE = 2.0**-40


def above(x: float, relative: float = RELATIVE, absolute: float = 0.0) -> float:
    """A float at or above the true number that ``x`` approximates.

    >>> above(1.0) > 1.0, above(0.0), above(math.inf)
    (True, 0.0, inf)
    """
    if (x == 0 and absolute == 0) or math.isinf(x):
        return x
    return math.nextafter(x + abs(x) * relative + absolute, math.inf)


def below(x: float, relative: float = RELATIVE, absolute: float = 0.0) -> float:
    """A float at or below the true number that ``x`` approximates."""
    return -above(-x, relative, absolute)
