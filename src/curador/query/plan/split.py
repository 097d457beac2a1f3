"""Divides one budget over several noisy answers: exactly, and so that their errors together are least.

The objective is the sum of the answers' variances, each relative to what the answer could be at most (see
``measurement``).  With importance a = weight * spread**2, where spread is the error at one unit of budget:

* noise whose deviation falls as 1 / share (Laplace noise in epsilon, choices in epsilon): the sum of a / share**2
  is least where share is proportional to the cube root of a;
* noise whose variance falls as 1 / share (Gaussian noise in rho or in mu**2, choices in rho): the sum of a / share is
  least where share is proportional to the square root of a.

Both follow from Lagrange's condition.  Shares are whole multiples of 1/10000, so that they print as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from curador.errors import InvalidParameter

PARTS = 10_000
"""Shares are multiples of one over this."""

INVERSE_SQUARE = 1 / 3
"""The power of the importance where variance falls as 1 / share**2: Laplace noise, paid in epsilon."""

INVERSE = 1 / 2
"""The power of the importance where variance falls as 1 / share: Gaussian noise, paid in rho."""


def shares(importance: Sequence[float], power: float) -> tuple[Fraction, ...]:
    """Positive fractions of a budget that add up to exactly 1, proportional to importance**power up to 1/10000.

    >>> shares([1, 8], INVERSE_SQUARE)
    (Fraction(3333, 10000), Fraction(6667, 10000))
    >>> shares([1, 4, 4], INVERSE)
    (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))
    >>> shares([], INVERSE)
    ()
    """
    if len(importance) * 10 > PARTS:
        raise InvalidParameter(
            f"A budget is not divided by {len(importance)}.",
            fix=f"Ask for at most {PARTS // 10} numbers at once.",
            code="too-many-outputs",
        )
    if not all(0 < a < math.inf for a in importance):
        raise InvalidParameter("Every answer needs a positive, finite importance.", fix="Check weights and bounds.")
    if not importance:
        return ()
    # Logarithms, because importances of sums and of counts may lie hundreds of digits apart.
    logs = [power * math.log(a) for a in importance]
    wanted = [math.exp(x - max(logs)) for x in logs]
    whole = sum(wanted)
    # Rounded down, but nothing is free: an answer of no importance still gets one part, at the cost of the largest.
    parts = [max(1, math.floor(PARTS * x / whole)) for x in wanted]
    parts[parts.index(max(parts))] += PARTS - sum(parts)
    return tuple(Fraction(p, PARTS) for p in parts)
