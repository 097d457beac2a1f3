"""Interval arithmetic on grids, exact: the range of a result from the ranges of its sides.

None means that the result, or a step on the way to it, could leave 62 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from curador.query.tables.columns import WIDEST

QUOTIENT_BITS = 16
"""The fractional bits of a quotient, where they fit and its sides have no more."""


@dataclass(frozen=True)
class ValueRange:
    """Every multiple of 2**-bits from low to high.

    >>> ValueRange(Fraction(0), Fraction(2**61), 1).fits, ValueRange(Fraction(0), Fraction(2**61), 2).fits
    (True, False)
    """

    low: Fraction
    high: Fraction
    bits: int = 0

    @property
    def widest(self) -> Fraction:
        return max(abs(self.low), abs(self.high))

    @property
    def fits(self) -> bool:
        """Whether every value is an integer of at most 62 bits on the grid."""
        return bool(self.widest * 2**self.bits <= WIDEST)

    def on(self, bits: int) -> ValueRange:
        return replace(self, bits=bits)


def _hull(values: Iterable[Fraction], bits: int) -> ValueRange:
    found = list(values) or [Fraction(0)]
    return ValueRange(min(found), max(found), bits)


def _fitting(r: ValueRange) -> ValueRange | None:
    return r if r.fits else None


def same_grid(*ranges: ValueRange) -> int | None:
    """The finest grid of several, if all fit it: engines shift them onto it.

    >>> same_grid(ValueRange(Fraction(0), Fraction(1), 3), ValueRange(Fraction(0), Fraction(1), 5))
    5
    """
    bits = max(r.bits for r in ranges)
    return bits if all(r.on(bits).fits for r in ranges) else None


def add(a: ValueRange, b: ValueRange) -> ValueRange | None:
    """a + b on the finer grid."""
    bits = same_grid(a, b)
    return None if bits is None else _fitting(ValueRange(a.low + b.low, a.high + b.high, bits))


def subtract(a: ValueRange, b: ValueRange) -> ValueRange | None:
    """a - b on the finer grid."""
    return add(a, ValueRange(-b.high, -b.low, b.bits))


def multiply(a: ValueRange, b: ValueRange) -> ValueRange | None:
    """a * b, exact: the bits add up.

    >>> multiply(ValueRange(Fraction(-2), Fraction(3)), ValueRange(Fraction(-5), Fraction(1)))
    ValueRange(low=Fraction(-15, 1), high=Fraction(10, 1), bits=0)
    """
    return _fitting(_hull((x * y for x in (a.low, a.high) for y in (b.low, b.high)), a.bits + b.bits))


def _divisors(b: ValueRange) -> list[Fraction]:
    """The ends of what may be divided by: zero is left out, and the grid says how near to it a divisor comes."""
    least = Fraction(1, 2**b.bits)
    below = [b.low, min(b.high, -least)] if b.low < 0 else []
    above = [max(b.low, least), b.high] if b.high > 0 else []
    return below + above


def divide(a: ValueRange, b: ValueRange) -> ValueRange | None:
    """floor(a / b) on a grid of 16 bits, or of its sides' if finer, or as fine as fits.

    >>> divide(ValueRange(Fraction(1), Fraction(1)), ValueRange(Fraction(3), Fraction(3))).low * 2**16
    Fraction(21845, 1)
    """
    # A quotient is monotone in each side where the divisor keeps its sign, so its ends are at the corners.
    exact = _hull((x / y for x in (a.low, a.high) for y in _divisors(b)), 0)
    for bits in range(max(QUOTIENT_BITS, a.bits, b.bits), max(0, a.bits - b.bits) - 1, -1):
        low, high = (Fraction(math.floor(x * 2**bits), 2**bits) for x in (exact.low, exact.high))
        # The numerator as the engine shifts it, by b.bits - a.bits + bits, is a * 2**(b.bits + bits).
        if a.on(b.bits + bits).fits and ValueRange(low, high, bits).fits:
            return ValueRange(low, high, bits)
    return None


def divide_whole(a: ValueRange, b: ValueRange) -> ValueRange | None:
    """a / b without its fraction: an integer.

    >>> divide_whole(ValueRange(Fraction(-7), Fraction(7)), ValueRange(Fraction(2), Fraction(3)))
    ValueRange(low=Fraction(-3, 1), high=Fraction(3, 1), bits=0)
    """
    if same_grid(a, b) is None:
        return None
    return _fitting(_hull((Fraction(math.trunc(x / y)) for x in (a.low, a.high) for y in _divisors(b)), 0))


def remainder(a: ValueRange, b: ValueRange) -> ValueRange | None:
    """a - b * (a // b): the sign of a, smaller than b, no larger than a.

    >>> remainder(ValueRange(Fraction(-7), Fraction(2)), ValueRange(Fraction(0), Fraction(5)))
    ValueRange(low=Fraction(-4, 1), high=Fraction(2, 1), bits=0)
    """
    bits = same_grid(a, b)
    if bits is None:
        return None
    most = max((abs(y) - Fraction(1, 2**bits) for y in _divisors(b)), default=Fraction(0))
    return ValueRange(max(min(a.low, Fraction(0)), -most), min(max(a.high, Fraction(0)), most), bits)


RULES = {"+": add, "-": subtract, "*": multiply, "/": divide, "//": divide_whole, "%": remainder}
"""How each operation of :class:`curador.query.language.expressions.Arithmetic` moves ranges."""
