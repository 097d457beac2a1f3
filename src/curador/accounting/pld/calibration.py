"""The least noise for a wanted guarantee, from the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from curador.accounting.events import Event
from curador.accounting.pld.solve import read_tolerance, upper_epsilon
from curador.errors import InvalidParameter
from curador.numbers import Number, positive
from curador.privacy import ApproxDP

_TRIES = 100
_STEP = 3.0  # in the logarithm of the parameter, at most


def calibrate(
    make_event: Callable[[Fraction], Event], target: ApproxDP, start: Number = 1, tolerance: float = 1e-4
) -> Fraction:
    """Find a parameter, such as sigma, that keeps the target and is hardly larger than necessary.

    The result is a short decimal.  Its epsilon is within a share ``tolerance`` of the target, or the result itself is
    within that share of one that does not keep it.

    Guarantee: the event made with the result has ``upper_epsilon`` at most target.epsilon at target.delta.
    Assumes: a larger parameter never costs more.
    Fails: InvalidParameter if no parameter is found that keeps the target while a smaller one does not.

    >>> from curador.accounting.events import GaussianNoise
    >>> float(calibrate(lambda sigma: GaussianNoise(sigma, sensitivity=1), ApproxDP(1, 1e-5)))
    3.73086
    """
    fine = read_tolerance(tolerance)
    if not 0 < target.epsilon < math.inf:
        raise InvalidParameter(f"No least noise exists for epsilon = {target.epsilon}.", fix="Choose 0 < epsilon.")

    def excess(x: float) -> float:
        spent = upper_epsilon(make_event(_decimal(x, fine)), target.delta, fine * target.epsilon / 10)
        return math.log(spent / target.epsilon) if spent > 0 else -math.inf

    # Newton's method by chords for log epsilon as a function of the logarithm x of the parameter, aimed half the
    # tolerance inside the target, and kept between the largest x known to be bad and the smallest known to be good.
    x, slope, bad, good = math.log(positive(start, "start")), -1.0, -math.inf, math.inf
    last: tuple[float, float] | None = None
    for _ in range(_TRIES):
        value = excess(x)
        if value > 0:
            bad = max(bad, x)
        else:
            good = min(good, x)
        if -fine <= value <= 0 or good - bad <= fine:
            return _decimal(good, fine)
        if not math.isfinite(value):
            step = math.copysign(_STEP / 2, value)
        else:
            if last and x != last[0]:
                slope = min((value - last[1]) / (x - last[0]), -1e-3)
            last, step = (x, value), -(value + fine / 2) / slope
        x += max(-_STEP, min(_STEP, step))
        if good - bad < math.inf:
            x = min(max(x, bad + (good - bad) / 20), good - (good - bad) / 20)
    raise InvalidParameter(
        f"No parameter was found, from {start} on, that just keeps {target}.",
        fix="Choose another start, or a target that the noise can reach.",
    )


def _decimal(x: float, tolerance: float) -> Fraction:
    """Round exp(x) up to a decimal with just enough digits for the tolerance."""
    digits = Context(prec=2 - math.floor(math.log10(tolerance)), rounding=ROUND_CEILING)
    return Fraction(digits.create_decimal(Decimal(math.exp(x))))
