"""Exact numbers in, safely rounded numbers out.

Every number that is read becomes an exact fraction.  A float stands for the decimal it prints as: ``0.1`` means one
tenth, not the nearest double.  So ten charges of ``0.1`` are exactly ``1`` everywhere in Curador, and the number a
person typed is the number promised.  Every number that leaves, as a float or as text, is rounded in a stated direction.
"""

from __future__ import annotations

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Rational, Real

from curador.errors import InvalidParameter

LONGEST = 1000
"""The most characters, and the largest exponent, of a number that is read; doubles need 325."""

_PLAIN = 2**63
_MOST_BITS = 8 * LONGEST
_LONGEST_FRACTION = 2 * len(str(2**_MOST_BITS)) + 2

MOST_TIMES = 10**100
"""The most often that something is done."""

Number = int | float | str | Fraction | Decimal
"""The types a caller may use for an exact number."""


def rational(x: object, name: str = "number") -> Fraction:
    """Read a number exactly, refusing what is not finite.

    >>> rational(0.1), rational("1/3"), rational(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(x, bool):
        raise InvalidParameter(
            f"{name} must be a number, got {x}.",
            fix=f"Pass {name} as an int, float or Fraction.",
            code="not-a-number",
            facts={"name": name, "given": str(x)},
        )
    if isinstance(x, Rational):  # int, Fraction, numpy integers
        return _of_bounded_size(Fraction(int(x.numerator), int(x.denominator)), name)
    try:
        if isinstance(x, str | Decimal) and _is_legible(str(x)):
            return _of_bounded_size(Fraction(x), name)
        if isinstance(x, Real):  # float and numpy floats of any width
            return _of_bounded_size(Fraction(str(x)), name)
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise InvalidParameter(
        f"{name} must be a finite number, got {x!r:.100}.",
        fix=f"Pass {name} as an int, float or Fraction.",
        code="not-a-number",
        facts={"name": name, "given": str(x)[:40]},
    )


_WRITTEN = re.compile(r"\s*[+-]?(?:[0-9]+/[0-9]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?0*([0-9]{1,4}))?)\s*")
"""A number as people and programs write it.  Python also reads 1_000, where a limit on an exponent is easily missed."""


def _is_legible(text: str) -> bool:
    """Whether it is a number and not too long: "1e999999999" is short as text, but would fill the memory.

    Every number that may be made can be read as it is printed, a fraction or a whole one: a ledger keeps them so.
    """
    longest = LONGEST if set(text) & set(".eE") else _LONGEST_FRACTION
    found = _WRITTEN.fullmatch(text) if len(text) <= longest else None
    return found is not None and int(found[1] or 0) <= LONGEST


def _of_bounded_size(x: Fraction, name: str) -> Fraction:
    if max(x.numerator.bit_length(), x.denominator.bit_length()) > _MOST_BITS:
        raise InvalidParameter(
            f"{name} has more than two thousand digits.", fix="Round it.", code="number-too-long", facts={"name": name}
        )
    return x


def positive(x: object, name: str) -> Fraction:
    """Read a number exactly and refuse it unless it is above zero."""
    value = rational(x, name)
    if value <= 0:
        raise InvalidParameter(
            f"{name} must be above 0, got {x}.", fix=f"Choose {name} > 0.", code="not-positive", facts={"name": name}
        )
    return value


def nonnegative(x: object, name: str) -> Fraction:
    """Read a number exactly and refuse it below zero."""
    value = rational(x, name)
    if value < 0:
        raise InvalidParameter(
            f"{name} must be at least 0, got {x}.", fix=f"Choose {name} >= 0.", code="below-zero", facts={"name": name}
        )
    return value


def probability(x: object, name: str) -> Fraction:
    """Read a number exactly and refuse it outside [0, 1]."""
    value = rational(x, name)
    if not 0 <= value <= 1:
        raise InvalidParameter(
            f"{name} must lie in [0, 1], got {x}.",
            fix=f"Choose 0 <= {name} <= 1.",
            code="probability-range",
            facts={"name": name},
        )
    return value


def times(x: object) -> int:
    """Read how often something is done; refused where no double could hold what that comes to.

    >>> times(3)
    3
    """
    count = whole(x, "count")
    if count > MOST_TIMES:
        raise InvalidParameter("A count this large says nothing.", fix="Count at most 1e100 times.")
    return count


def number_of_people(x: object) -> int:
    """Read a number of people: one or more, and no more than formulas can hold.

    >>> number_of_people(10**6)
    1000000
    """
    return times(whole(x, "users", 1))


def whole(x: object, name: str, least: int = 0) -> int:
    """Read an integer and refuse it below ``least``."""
    if type(x) is int and least <= x < _PLAIN:  # by far the most common, in every count
        return x
    value = rational(x, name)
    if value.denominator != 1 or value < least:
        raise InvalidParameter(
            f"{name} must be a whole number of at least {least}, got {x}.",
            fix=f"Choose an integer {name} >= {least}.",
            code="whole-number",
            facts={"name": name, "least": least},
        )
    return value.numerator


def up(x: Fraction | int) -> float:
    """The smallest float that stands for at least ``x``.

    >>> up(Fraction(1, 10)), up(Fraction(1, 3)) > Fraction(1, 3)
    (0.1, True)
    """
    return _directed(Fraction(x), math.inf)


def down(x: Fraction | int) -> float:
    """The largest float that stands for at most ``x``."""
    return _directed(Fraction(x), -math.inf)


def _directed(x: Fraction, towards: float) -> float:
    try:
        guess = float(x)
    except OverflowError:
        if (x > 0) == (towards > 0):
            return towards
        largest = math.nextafter(math.inf, 0)
        return largest if x > 0 else -largest
    while math.isfinite(guess) and (rational(guess) < x if towards > 0 else rational(guess) > x):
        guess = math.nextafter(guess, towards)
    return guess


def sqrt_up(x: Fraction, bits: int = 80) -> Fraction:
    """A fraction r >= sqrt(x), above it by less than 2**-bits of its size.

    >>> sqrt_up(Fraction(4))
    Fraction(2, 1)
    """
    if x < 0:
        raise InvalidParameter(f"Cannot take the square root of {x}.", fix="Pass a number >= 0.")
    n, d = x.numerator, x.denominator
    root_n, root_d = math.isqrt(n), math.isqrt(d)
    if root_n * root_n == n and root_d * root_d == d:
        return Fraction(root_n, root_d)
    shift = max(0, bits + (d.bit_length() - n.bit_length()) // 2 + 2)
    return Fraction(math.isqrt((n << (2 * shift)) // d) + 1, 1 << shift)


def log2_floor(x: Fraction) -> int:
    """The exponent e with 2**e <= x < 2**(e+1), exactly.

    >>> log2_floor(Fraction(1, 3)), log2_floor(Fraction(8))
    (-2, 3)
    """
    if x <= 0:
        raise InvalidParameter(f"Cannot take the logarithm of {x}.", fix="Pass a number > 0.")
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


# ---- numbers as text ------------------------------------------------------------------------------------------------


def shown_up(x: Number, digits: int = 6) -> str:
    """The smallest decimal of at most ``digits`` significant digits that is at least ``x``.

    Losses are shown with this, so that a printed epsilon is never below the one that was spent.

    >>> shown_up(0.1), shown_up(0.1212625), shown_up(1e-6), shown_up(Fraction(1, 3), 2)
    ('0.1', '0.121263', '1e-06', '0.34')
    """
    return _shown(x, digits, ROUND_CEILING)


def shown_down(x: Number, digits: int = 6) -> str:
    """The largest decimal of at most ``digits`` significant digits that is at most ``x``.

    >>> shown_down(0.1212625), shown_down(Fraction(2, 3), 2)
    ('0.121262', '0.66')
    """
    return _shown(x, digits, ROUND_FLOOR)


def _shown(x: Number, digits: int, rounding: str) -> str:
    if isinstance(x, float) and math.isinf(x):
        return str(x)
    exact = rational(x)
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    found = context.normalize(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
    if not found or -5 < found.adjusted() < digits:
        return f"{found:f}"
    mantissa, exponent = f"{found:e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


# ---- results of floating-point computations ------------------------------------------------------------------------

RELATIVE = 2.0**-40
"""A bound on the relative error of a double-precision computation without cancellation, with a wide margin; an
accountant that knows its own error passes that instead."""


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


# ---- frozen values ---------------------------------------------------------------------------------------------------


def set_fields(self: object, **values: object) -> None:
    """Set fields of a frozen dataclass from inside its own constructor."""
    for name, value in values.items():
        object.__setattr__(self, name, value)
