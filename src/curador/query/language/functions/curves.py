"""Square roots, logarithms and exponentials, exact to the last bit: engines round their own differently.

A square root is the integer square root of a shifted numerator.  Logarithms and exponentials are tabled: of an operand
with few public values each is worked out at planning, to more digits than its grid needs (docs/proofs/functions.md,
section 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from curador.errors import InvalidParameter, QuestionRefused
from curador.query.language.expressions import Arithmetic, Expr
from curador.query.language.functions.numbers import Found, RowFunction, Tabled, too_wide
from curador.query.language.intervals import QUOTIENT_BITS
from curador.query.language.text import shortened
from curador.query.language.types import MOST_KEYS, Type
from curador.query.tables.columns import WIDEST, Key, Kind

_PRECISE = Context(prec=60)
_DOUBT = Decimal(10) ** -30
"""Every value that fits its grid has at most 19 digits before the point there, so 40 after it."""

_FARTHEST = 31
"""Beyond e**31 no value fits its grid; below e**-31 it is zero there."""


@dataclass(frozen=True)
class Root(RowFunction, tag="sqrt"):
    """The square root of a number, rounded down onto its grid; NULL of a negative one.

    >>> from curador.query.language.expressions import Name
    >>> Root(Name("x")).typed([Type(Kind.INTEGER, Fraction(0), Fraction(81))]).upper
    Fraction(9, 1)
    """

    operand: Expr
    needs_bounds: ClassVar[bool] = True

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        if not t.kind.numeric:
            raise self.refuse_kind(self.operand, t, "needs-number")
        ends = t.grid_bounds
        assert ends is not None
        if ends[1] < 0:
            raise QuestionRefused(
                f"{shortened(self)} is NULL whatever happens.",
                fix="Leave it out.",
                code="always-null",
                facts={"expression": shortened(self)},
            )
        low, high = max(0, ends[0]), ends[1]
        for bits in range(max(QUOTIENT_BITS, (t.bits + 1) // 2), (t.bits + 1) // 2 - 1, -1):
            shift = 2 * bits - t.bits
            if high << shift <= WIDEST:
                first, last = (Fraction(math.isqrt(end << shift), 2**bits) for end in (low, high))
                return Type(Kind.REAL, first, last, bits, t.nullable or ends[0] < 0)
        raise too_wide(self)


def power(x: Expr, exponent: Fraction) -> Expr | None:
    """A power that is exact on a grid: the square, the cube, or the square root.

    >>> from curador.query.language.expressions import Name
    >>> str(power(Name("x"), Fraction(2))), power(Name("x"), Fraction(5, 2))
    ('x * x', None)
    """
    if exponent == Fraction(1, 2):
        return Root(x)
    if exponent not in (1, 2, 3):
        return None
    found = x
    for _ in range(int(exponent) - 1):
        found = Arithmetic("*", found, x)
    return found


CURVES = ("ln", "log2", "log10", "exp")


@dataclass(frozen=True)
class TabledCurve(Tabled, tag="curve"):
    """A logarithm or an exponential of a whole number with few public values, rounded down to 16 fractional bits.

    >>> from curador.query.language.expressions import Name
    >>> TabledCurve("log2", Name("n")).value(8), round(float(TabledCurve("ln", Name("n")).value(10)), 5)
    (Fraction(3, 1), 2.30258)
    """

    name: str
    operand: Expr

    def __post_init__(self) -> None:
        if self.name not in CURVES:
            raise InvalidParameter(f"No curve is called {self.name!r:.20}.", fix=f"Use one of {', '.join(CURVES)}.")
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"{self.name.upper()}({parts[0]})"

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        if not t.kind.numeric:
            raise self.refuse_kind(self.operand, t, "needs-number")
        return self.tabled(t, Kind.REAL)

    def untabled(self) -> QuestionRefused:
        inner = shortened(self.operand)
        return QuestionRefused(
            f"{shortened(self)}: engines round logarithms and exponentials differently, so each value is worked out "
            f"beforehand, for at most {MOST_KEYS} whole numbers, and {inner} has more.",
            fix=f"Make it whole, within narrow bounds: {self.name.upper()}(ROUND({inner})).",
            code="curve-untabled",
            facts={"expression": shortened(self), "function": self.name.upper(), "operand": inner, "most": MOST_KEYS},
        )

    def value(self, key: Key) -> Found:
        assert not isinstance(key, str | date)
        if self.name == "exp" and key > _FARTHEST:
            raise too_wide(self)
        return _curve(self.name, int(key))


@lru_cache(maxsize=10_000)
def _curve(name: str, n: int) -> Fraction | None:
    if name == "exp":
        return Fraction(0) if n < -_FARTHEST else _floor(_PRECISE.exp(Decimal(n)), exact=n == 0)
    if n <= 0:
        return None
    base = {"log2": 2, "log10": 10}.get(name)
    if base is None:
        return _floor(_PRECISE.ln(Decimal(n)), exact=n == 1)
    whole = len(str(n)) - 1 if base == 10 else n.bit_length() - 1
    if base**whole == n:
        return Fraction(whole)
    return _floor(_PRECISE.divide(_PRECISE.ln(Decimal(n)), _PRECISE.ln(Decimal(base))), exact=False)


def _floor(x: Decimal, exact: bool) -> Fraction:
    """x rounded down onto the grid; refused where its digits do not say where it lies."""
    if exact:
        return Fraction(x)
    scaled = _PRECISE.multiply(x, Decimal(2**QUOTIENT_BITS))
    low, high = (math.floor(_PRECISE.add(scaled, doubt)) for doubt in (-_DOUBT, _DOUBT))
    if low != high:
        raise QuestionRefused(
            "A logarithm is too near to a point of its grid.", fix="Leave this value out.", code="logarithm-value"
        )
    return Fraction(low, 2**QUOTIENT_BITS)
