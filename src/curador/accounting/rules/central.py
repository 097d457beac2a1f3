"""Moments of |p/q - 1|, which fixed-size samples need, to as many digits as their cancellation takes.

Take three databases one replacement apart, with laws p, q and r.  Theorem 9 of [WBK19] needs the mean under r of
(|p - q| / r)**k.  Where r is the smallest or the largest of the three, |p - q| is at most |p - r| or |q - r|.  Where it
lies between, the smaller of p and q may take its place below.  So the mean is at most four times the largest mean under
q of |p/q - 1|**k over neighbours.  That is a convex function of p/q, for which the dominating pair of Gaussian noise is
the worst.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, singledispatch

from curador.accounting import events as ev
from curador.accounting.precise import dec, digits, float_above, lost_digits

MOST = 128
"""The largest k; beyond it other bounds serve."""


def log_central(event: ev.Event, k: int) -> float:
    """Bound log E|p/q - 1|**k for k >= 2 from above; infinity where it is not known.

    >>> round(log_central(ev.GaussianNoise(2, 1), 2), 9) == round(math.log(math.expm1(1 / 4)), 9)
    True
    """
    variance = gaussian_square(event)
    if variance is None or k > MOST or not Fraction(1, 10**12) < variance < 50:
        return math.inf
    if k * math.exp(-k * variance) < 0.5:  # about E[(p/q)**k], where other bounds are as good
        return math.inf
    if k % 2 == 0:
        return _even(variance, k)
    return (_even(variance, k - 1) + _even(variance, k + 1)) / 2 + 1e-15  # Cauchy and Schwarz


@lru_cache(maxsize=2**12)
def _even(variance: Fraction, k: int) -> float:
    """The alternating sum of C(k, i) E[(p/q)**i], where E[(p/q)**i] = exp(i (i - 1) variance / 2)."""
    # No term is above 2**k times the last one, E[(p/q)**k], and the sum is at least 2**-k times that, since p/q is at
    # most |p/q - 1| + 1; or if the last is below 2**k, the sum is at least variance**(k/2).
    with digits(k + k * lost_digits(variance) // 2):
        step = dec(variance).exp()
        total, power, moment = dec(0), dec(1), dec(1)  # moment i, and exp(i * variance)
        for i in range(k + 1):
            total += (-1) ** i * math.comb(k, i) * moment
            moment *= power
            power *= step
        return float_above(total.ln())


@singledispatch
def gaussian_square(event: ev.Event) -> Fraction | None:
    """(sensitivity / sigma)**2 of Gaussian noise, or of several Gaussian releases; None for other events."""
    return None


@gaussian_square.register
def _(event: ev.GaussianNoise) -> Fraction | None:
    return (event.sensitivity / event.sigma) ** 2


@gaussian_square.register
def _(event: ev.Composed) -> Fraction | None:
    squares = [(gaussian_square(part), count) for part, count in event.parts]
    if not squares or any(square is None for square, _ in squares):
        return None
    return sum((count * (square or Fraction(0)) for square, count in squares), start=Fraction(0))
