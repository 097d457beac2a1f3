"""Functions of numbers, and the base of all functions: expressions that know their type from their operands' types.

Each is exact on the grid of its operand (docs/proofs/functions.md), so the same on every engine:

* FLOOR, CEIL, TRUNC and ROUND give a whole number, or with digits the multiple of 10**-digits; ROUND takes halves away
  from zero.  A decimal result is rounded down onto its grid, as a literal of the same digits is: they compare equal.
* CAST never fails.  What has no value of the other type is NULL; a real becomes whole as by ROUND.
* A function that is *tabled* is worked out at planning for every public value of its operand, and NULL for others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from curador.errors import InvalidParameter, QuestionRefused
from curador.query.language.expressions import Expr, Name
from curador.query.language.intervals import QUOTIENT_BITS, ValueRange
from curador.query.language.text import shortened
from curador.query.language.types import MOST_KEYS, Type
from curador.query.tables.columns import DAY, WIDEST, Key, Kind, days, iso_date

MOST_DIGITS = 15
"""The most decimal digits that are rounded to, before or after the point."""


class RowFunction(Expr):
    """An expression whose type follows from those of its operands alone."""

    needs_bounds: ClassVar[bool] = False

    def typed(self, types: Sequence[Type]) -> Type:
        """The type of the result, or a refusal."""
        raise NotImplementedError

    def refuse_kind(self, operand: Expr, t: Type, code: str) -> QuestionRefused:
        """The refusal of an operand of the wrong type."""
        wanted = _WANTED[code]
        return QuestionRefused(
            f"{shortened(self)} needs {wanted}, and {shortened(operand)} is of type {t.kind}.",
            fix=f"Use {wanted}.",
            code=code,
            facts={"expression": shortened(self), "operand": shortened(operand), "type": str(t.kind)},
        )


_WANTED = {"needs-number": "a number", "needs-whole-number": "a whole number", "needs-text": "a text"}


def too_wide(e: Expr) -> QuestionRefused:
    """The refusal of what could overflow."""
    return QuestionRefused(
        f"{shortened(e)} could leave 62 bits on its grid.",
        fix="Narrow the bounds of its columns, or declare a coarser step for the real ones.",
        code="too-wide",
        facts={"expression": shortened(e)},
    )


# ---- rounding ------------------------------------------------------------------------------------------------

ROUNDINGS = ("floor", "ceil", "trunc", "round")


def rounded(way: str, over: int, under: int) -> int:
    """over / under as a whole number, for a positive ``under``.

    >>> [rounded("round", n, 2) for n in (-3, -1, 1, 3)], rounded("floor", -1, 2), rounded("trunc", -3, 2)
    ([-2, -1, 1, 2], -1, -1)
    """
    if way == "floor":
        return over // under
    if way == "ceil":
        return -(-over // under)
    size = abs(over) // under if way == "trunc" else (2 * abs(over) + under) // (2 * under)
    return size if over >= 0 else -size


@dataclass(frozen=True)
class Rounded(RowFunction, tag="round"):
    """A number rounded by one of :data:`ROUNDINGS` to a whole number, or to ``digits`` decimals (before the point, if
    negative).

    >>> from curador.query.language.expressions import Name
    >>> str(Rounded("round", Name("x"), 2))
    'ROUND(x, 2)'
    """

    way: str
    operand: Expr
    digits: int = 0

    def __post_init__(self) -> None:
        if self.way not in ROUNDINGS:
            raise InvalidParameter(f"No rounding is called {self.way!r}.", fix=f"Use one of {', '.join(ROUNDINGS)}.")
        if type(self.digits) is not int or abs(self.digits) > MOST_DIGITS:
            raise QuestionRefused(
                f"{self.way.upper()} to {self.digits} digits.",
                fix=f"Use -{MOST_DIGITS} to {MOST_DIGITS} digits.",
                code="round-digits",
                facts={"most": MOST_DIGITS},
            )
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"{self.way.upper()}({parts[0]}{f', {self.digits}' if self.digits else ''})"

    @property
    def needs_bounds(self) -> bool:  # type: ignore[override]
        return self.digits != 0

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        if not t.kind.numeric:
            raise self.refuse_kind(self.operand, t, "needs-number")
        if t.kind is Kind.INTEGER and self.digits >= 0:
            return t
        bits = self.bits(t)
        if t.bounds is None:
            return Type(Kind.INTEGER, nullable=t.nullable)
        ends = t.grid_bounds
        assert ends is not None
        low, high = (Fraction(self.on_grid(end, t.bits, bits), 2**bits) for end in ends)
        if not ValueRange(low, high, bits).fits:
            raise too_wide(self)
        unit = 10 ** max(0, -self.digits)
        several = unit > 1 and (high - low) / unit < MOST_KEYS
        keys = tuple(range(int(low), int(high) + 1, unit)) if several else None
        return Type(Kind.INTEGER if bits == 0 else Kind.REAL, low, high, bits, t.nullable, keys)

    def bits(self, t: Type) -> int:
        """The grid of the result: none for whole numbers, else as a quotient's, but finer than the digits."""
        if self.digits <= 0:
            if 10**-self.digits << t.bits > WIDEST:
                raise too_wide(self)
            return 0
        scale = 10**self.digits
        assert t.bounds is not None
        widest = ValueRange(*t.bounds, t.bits).widest
        for bits in range(max(QUOTIENT_BITS, t.bits, scale.bit_length()), scale.bit_length() - 1, -1):
            # The two numerators on the way: N * 10**digits, then the multiple times 2**bits.
            if (widest * 2**t.bits + 1) * scale <= WIDEST and (widest * scale + 1) * 2**bits <= WIDEST:
                return bits
        raise too_wide(self)

    def on_grid(self, n: int, bits: int, to: int) -> int:
        """The result of n / 2**bits, as a numerator over 2**to."""
        if self.digits <= 0:
            unit: int = 10**-self.digits
            return rounded(self.way, n, unit << bits) * unit
        scale: int = 10**self.digits
        return (rounded(self.way, n * scale, 1 << bits) << to) // scale


@dataclass(frozen=True)
class Sign(RowFunction, tag="sign"):
    """-1, 0 or 1: the sign of a number."""

    operand: Expr

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        if not t.kind.numeric:
            raise self.refuse_kind(self.operand, t, "needs-number")
        low = -1 if t.lower is None else _sign(t.lower)
        high = 1 if t.upper is None else _sign(t.upper)
        return Type(Kind.INTEGER, Fraction(low), Fraction(high), nullable=t.nullable)


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


# ---- functions that are tabled -------------------------------------------------------------------------------

Found = Key | Fraction | None
"""A value of a table; None is NULL."""


_ANY = Name("any")
"""Stands for the operand where a table is made, which depends on its values alone."""


@lru_cache(128)  # a question asks for the table of each place several times
def _tabled(function: Tabled, kind: Kind, domain: tuple[Key, ...]) -> Mapping[Key, Found]:
    return {key: _on_grid(function.value(key)) for key in domain}


class Tabled(RowFunction):
    """A function of one operand that is worked out at planning for each public value of the operand."""

    operand: Expr

    def value(self, key: Key) -> Found:
        """The value for one public value of the operand; a fraction is rounded down to 16 bits."""
        raise NotImplementedError

    def table(self, t: Type) -> dict[Key, Found]:
        """The value for every public value of an operand of type ``t``, on its grid."""
        if t.domain is None or len(t.domain) > MOST_KEYS:
            raise self.untabled()
        return dict(_tabled(replace(self, operand=_ANY), t.kind, tuple(t.domain)))  # type: ignore[type-var]

    def untabled(self) -> QuestionRefused:
        """The refusal of an operand whose values are not public."""
        return QuestionRefused(
            f"{shortened(self)} is worked out beforehand for each public value, and those of "
            f"{shortened(self.operand)} are not listed, or more than {MOST_KEYS}.",
            fix=f"Declare keys for the column, or bounds that leave at most {MOST_KEYS} values.",
            code="values-unlisted",
            facts={"expression": shortened(self), "operand": shortened(self.operand), "most": MOST_KEYS},
        )

    def tabled(self, t: Type, kind: Kind) -> Type:
        """The type of results of this kind."""
        table = self.table(t)
        found = list(dict.fromkeys(value for value in table.values() if value is not None))
        if not found:
            raise QuestionRefused(
                f"{shortened(self)} is NULL whatever happens.",
                fix="Leave it out.",
                code="always-null",
                facts={"expression": shortened(self)},
            )
        # A column with declared keys may hold others, which have no value here.
        nullable = t.nullable or t.keys is not None or None in table.values()
        if kind in (Kind.BOOLEAN, Kind.TEXT):
            keys = tuple(map(str, found)) if kind is Kind.TEXT else None
            return Type(kind, nullable=nullable, keys=keys)
        numbers = sorted(on_number_line(x) for x in found)
        ends, bits = (numbers[0], numbers[-1]), QUOTIENT_BITS if kind is Kind.REAL else 0
        if not ValueRange(*ends, bits).fits:
            raise too_wide(self)
        listed = None if kind is Kind.REAL else tuple(sorted(found, key=on_number_line))
        return Type(kind, *ends, bits, nullable, listed)  # type: ignore[arg-type]


def _on_grid(x: Found) -> Found:
    return Fraction(math.floor(x * 2**QUOTIENT_BITS), 2**QUOTIENT_BITS) if isinstance(x, Fraction) else x


def on_number_line(x: Found) -> Fraction:
    """A number or a date as a number.

    >>> on_number_line(date(1970, 1, 2))
    Fraction(1, 1)
    """
    assert x is not None
    assert not isinstance(x, str)
    return Fraction(days(x) if isinstance(x, date) else x)


# ---- from one type to another --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cast(Tabled, tag="cast"):
    """A value as another type; NULL where it has none there.  A real becomes whole by rounding, halves away from zero.

    Between texts and others it is tabled: a text is read as such a column would be read.

    >>> from curador.query.language.expressions import Name
    >>> Cast("integer", Name("t")).value(" 12 "), Cast("text", Name("d")).value(date(2020, 1, 31))
    (12, '2020-01-31')
    """

    kind: str
    operand: Expr

    def __post_init__(self) -> None:
        Kind(self.kind)
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"CAST({parts[0]} AS {_NAMES[Kind(self.kind)]})"

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        wanted = Kind(self.kind)
        if t.kind is wanted:
            return t
        if Kind.TEXT in (t.kind, wanted) and Kind.TIMESTAMP not in (t.kind, wanted):
            return self.tabled(t, wanted)
        if (t.kind, wanted) == (Kind.INTEGER, Kind.REAL):
            return replace(t, kind=Kind.REAL, keys=None)
        if (t.kind, wanted) == (Kind.REAL, Kind.INTEGER):
            return Rounded("round", self.operand).typed(types)
        if (t.kind, wanted) in ((Kind.TIMESTAMP, Kind.DATE), (Kind.DATE, Kind.TIMESTAMP)):
            scale = DAY if wanted is Kind.TIMESTAMP else Fraction(1, DAY)
            low, high = (None if x is None else Fraction(math.floor(x * scale)) for x in (t.lower, t.upper))
            return Type(wanted, low, high, nullable=t.nullable)
        if t.kind is Kind.BOOLEAN and wanted.numeric:
            return Type(wanted, Fraction(0), Fraction(1), nullable=t.nullable)
        if wanted is Kind.BOOLEAN and t.kind.numeric:
            return Type(wanted, nullable=t.nullable)
        raise QuestionRefused(
            f"{shortened(self)}: a value of type {t.kind} is no {wanted}.",
            fix="For days write DATEDIFF('day', from, to); for a date MAKE_DATE(year, month, day).",
            code="cast-value",
            facts={"expression": shortened(self), "type": str(t.kind)},
        )

    def untabled(self) -> QuestionRefused:
        return QuestionRefused(
            f"{shortened(self)}: texts are cast beforehand, one public value at a time, and those of "
            f"{shortened(self.operand)} are not listed, or more than {MOST_KEYS}.",
            fix="Declare the column with the type you need, and what does not fit is NULL; or declare keys for it.",
            code="values-unlisted",
            facts={"expression": shortened(self), "operand": shortened(self.operand), "most": MOST_KEYS},
        )

    def value(self, key: Key) -> Found:
        if self.kind == Kind.TEXT:
            return ("true" if key else "false") if isinstance(key, bool) else str(key)
        assert isinstance(key, str)
        return _read_text(key, Kind(self.kind))


_NAMES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}

_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_WHOLE = re.compile(r" *[+-]?[0-9]{1,38} *", re.ASCII)
_DECIMAL = re.compile(r" *[+-]?([0-9]{1,38}([.][0-9]{0,38})?|[.][0-9]{1,38})([eE][+-]?[0-9]{1,2})? *", re.ASCII)


def _read_text(text: str, kind: Kind) -> Found:
    """A text as a column of this type reads it."""
    if kind is Kind.BOOLEAN:
        plain = text if text in (text.lower(), text.upper(), text.capitalize()) else ""
        return True if plain.lower() in _TRUE else False if plain.lower() in _FALSE else None
    if kind is Kind.DATE:
        try:
            return iso_date(text)
        except InvalidParameter:
            return None
    if (_WHOLE if kind is Kind.INTEGER else _DECIMAL).fullmatch(text) is None:
        return None
    number = Fraction(text.strip(" "))
    if abs(number) > (WIDEST if kind is Kind.INTEGER else WIDEST >> QUOTIENT_BITS):
        return None
    return number.numerator if kind is Kind.INTEGER else number
