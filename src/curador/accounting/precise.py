"""High-precision arithmetic, logarithms of probabilities and searches, all rounded to the safe side.

The standard library's decimals have correctly rounded exp and ln, and an exponent range that suffices for all formulas
here.  So a formula that cancels, or whose order is 1 + 1e-9 or a million, is evaluated as it is written.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction

from curador.errors import InvalidParameter, NotPromised
from curador.numbers import above, down, log2_floor, rational, up

DIGITS = 60
NEXT_TO_1 = Fraction(1, 10**100)
"""The least distance of a Rényi order from 1, and the inverse of the largest."""

TINY = Fraction(1, 10**40)
"""The margin for round-off: a sum of fewer than 10**15 terms, each off by a few units of digit 60, stays below it."""


def digits(extra: int = 0) -> AbstractContextManager[decimal.Context]:
    """A context of 60 digits, plus ``extra`` for a known loss to cancellation.

    >>> with digits():
    ...     len(str(Decimal(2).ln()))
    62
    """
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    context = decimal.Context(
        prec=DIGITS + extra, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, rounding=decimal.ROUND_HALF_EVEN, traps=traps
    )
    return decimal.localcontext(context)


def dec(x: Fraction | int) -> Decimal:
    """Convert a fraction in the current context.

    >>> dec(Fraction(1, 4))
    Decimal('0.25')
    """
    return Decimal(x.numerator) / Decimal(x.denominator)


def lost_digits(x: Fraction) -> int:
    """Count the leading zeros of ``x``: the digits that dividing a difference by it costs.

    >>> lost_digits(Fraction(1, 10**9)), lost_digits(Fraction(5))
    (10, 0)
    """
    if x == 0:
        return 0
    return max(0, math.ceil((x.denominator.bit_length() - x.numerator.bit_length() + 1) * math.log10(2)))


def fraction_above(x: Decimal) -> Fraction:
    """A fraction at or above the number that ``x`` approximates to within :data:`TINY` of its size.

    >>> fraction_above(Decimal(0))
    Fraction(0, 1)
    """
    return Fraction(x) + abs(Fraction(x)) * TINY


def float_above(x: Decimal) -> float:
    """The smallest float that stands for at least :func:`fraction_above`.

    >>> with digits():
    ...     float_above(Decimal(2).ln())
    0.6931471805599454
    """
    return up(fraction_above(x))


def upper_log(log: float) -> float:
    """An upper bound on the logarithm that ``log`` approximates to double precision.

    >>> upper_log(-1000.0) > -1000.0, upper_log(-math.inf)
    (True, -inf)
    """
    return log if math.isinf(log) else above(log, 2.0**-50, 2.0**-41)


def exp_upper(log: float) -> float:
    """The probability whose logarithm is at most ``log``, rounded up; 0 only for log 0.

    >>> exp_upper(-math.inf), exp_upper(-1000.0), exp_upper(0.5)
    (0.0, 5e-324, 1.0)
    """
    if log == -math.inf:
        return 0.0
    return min(1.0, max(above(math.exp(min(log, 0.0)), 2.0**-50), math.nextafter(0.0, 1.0)))


def nearest(x: Fraction | int) -> float:
    """The nearest double, or the largest one beyond the range of doubles.

    >>> nearest(Fraction(1, 2)), nearest(10**400)
    (0.5, 1.7976931348623157e+308)
    """
    try:
        return float(x)
    except OverflowError:
        return math.nextafter(math.inf if x > 0 else -math.inf, 0)


_EXACT = 64  # different denominators that are brought to a common one
_KEPT = 256  # bits of a longer sum
_SMALL = Fraction(1, 10**300)


def natural_log(x: Fraction) -> float:
    """The natural logarithm of a fraction above 0, to a few units in its last place.

    It is accurate next to 1 too, and for fractions beyond doubles.

    >>> natural_log(1 - Fraction(1, 10**30)), natural_log(Fraction(1, 10**400))
    (-1e-30, -921.03403719761...)
    """
    if abs(x - 1) < Fraction(1, 2):
        return math.log1p(nearest(x - 1))
    held = _SMALL < x < 1 / _SMALL
    return math.log(nearest(x)) if held else math.log(x.numerator) - math.log(x.denominator)


def sum_above(terms: Iterable[tuple[int, Fraction | float]]) -> Fraction | float:
    """Sum count times number, exactly or from above.

    It exceeds the sum by less than a part in 2**200, and only with many denominators.

    >>> sum_above([(2, Fraction(1, 3)), (1, Fraction(1, 3))]), sum_above([(1, math.inf)])
    (Fraction(1, 1), inf)
    """
    numerators: dict[int, int] = {}
    for count, x in terms:
        if not isinstance(x, Fraction):
            if x == math.inf:
                return math.inf
            x = rational(x)
        numerators[x.denominator] = numerators.get(x.denominator, 0) + count * x.numerator
    if len(numerators) > _EXACT:  # a common denominator would have as many digits as all of them together
        size = max((n.bit_length() - d.bit_length() for d, n in numerators.items() if n), default=0)
        shift = _KEPT - size
        up_, down_ = max(shift, 0), max(-shift, 0)
        whole = sum(-((-n << up_) // (d << down_)) for d, n in numerators.items())
        return Fraction(whole << down_, 1 << up_)
    return sum((Fraction(n, d) for d, n in numerators.items()), start=Fraction(0))


def open_order(x: object) -> Fraction:
    """Read a Rényi order, strictly above 1.

    >>> open_order(1.5)
    Fraction(3, 2)
    """
    order = rational(x, "order")
    if order <= 1:
        raise InvalidParameter(f"A Rényi order must be above 1, got {x}.", fix="Choose orders such as 2, 8, 32.")
    if not NEXT_TO_1 <= order - 1 <= 1 / NEXT_TO_1:
        raise InvalidParameter(
            "A Rényi order this close to 1, or this large, says nothing.", fix="Choose orders such as 2, 8, 32."
        )
    return order


def open_delta(x: object) -> float:
    """Read a delta to aim for, strictly between 0 and 1, rounded down: a lower aim costs only noise.

    >>> open_delta("1e-6")
    1e-06
    """
    delta = rational(x, "delta")
    if delta == 0:
        raise NotPromised(
            "Only an approximate promise holds here: nothing reaches delta = 0.",
            fix="Choose 0 < delta < 1, or a mechanism that is pure, such as Laplace noise.",
        )
    if not 0 < delta < 1:
        raise InvalidParameter(f"delta must lie between 0 and 1, got {x}.", fix="Choose delta far below 1 / rows.")
    low = down(delta)
    if low == 0:
        raise InvalidParameter(f"delta = {x} is below the smallest double.", fix="Choose delta >= 1e-300.")
    return low


def least_float(good: Callable[[Fraction], bool]) -> float:
    """The smallest float, to 45 bits from above, for which ``good`` holds.

    It must hold for all large ones.

    >>> least_float(lambda x: x * x >= 9)
    3.0
    """
    if good(Fraction(0)):
        return 0.0
    high = 1.0
    while not good(rational(high)):
        high *= 2
    while good(rational(high / 2)):
        high /= 2
    low = high / 2
    while high - low > 2.0**-45 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if good(rational(middle)) else (middle, high)
    return high


def least_dyadic(good: Callable[[Fraction], bool], start: Fraction) -> Fraction:
    """A short binary fraction with ``good``, whose 50-bit predecessor lacks it; large ones must have it.

    >>> least_dyadic(lambda x: x * x >= 9, Fraction(1))
    Fraction(3, 1)
    """
    top = Fraction(2) ** log2_floor(start)
    while not good(top):
        top *= 2
    while good(top / 2):
        top /= 2
    unit = top / 2**50
    low, high = 2**49, 2**50
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle * unit) else (middle, high)
    return high * unit
