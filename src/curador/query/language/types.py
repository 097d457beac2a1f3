"""The type of a value, known before any row is read: its kind, bounds, grid and public keys.

Inside a plan every number is an integer on a grid: N stands for N / 2**bits.  Integers, dates (days since
1970-01-01) and timestamps (seconds since then) have bits = 0.  A real column is read as floor(x * 2**bits), after
NaN and infinities became NULL.  Declared bounds clip.  Without them, what lies beyond ±2**62 on the grid is NULL, and
so is a date outside the years 1 to 9999.  In a column declared never NULL, :attr:`Type.substitute` is read instead of
NULL.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

from curador.numbers import log2_floor
from curador.query.language.expressions import Literal, Name
from curador.query.tables.columns import (
    CALENDAR,
    FIRST_DAY,
    LAST_DAY,
    Column,
    Key,
    Kind,
    day_of,
    days,
    seconds,
)

SIGNIFICANT = 20
"""The significant bits of a literal that is not a binary fraction, such as 0.1; it is rounded down to them."""

MOST_KEYS = 1000
"""The most values a range of integers or dates may have to be grouped by as public keys without being listed."""


@dataclass(frozen=True)
class Type:
    """The type of an expression, known before any row is read.

    ``lower`` and ``upper`` are exact bounds of its values (in days for dates), None where none is known; ``bits`` is
    its grid; ``keys`` are the public values to group by, where they are listed.

    >>> Type(Kind.INTEGER, Fraction(1), Fraction(3)).domain
    (1, 2, 3)
    """

    kind: Kind
    lower: Fraction | None = None
    upper: Fraction | None = None
    bits: int = 0
    nullable: bool = True
    keys: tuple[Key, ...] | None = None

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """Both bounds, or None if either is unknown."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    @property
    def grid_bounds(self) -> tuple[int, int] | None:
        """The bounds as integers on the grid."""
        if self.bounds is None:
            return None
        low, high = (x * 2**self.bits for x in self.bounds)
        return math.floor(low), math.floor(high)

    @property
    def domain(self) -> tuple[Key, ...] | None:
        """The public groups of a grouping by this value, others being dropped; None: select groups privately."""
        if self.keys is not None:
            return self.keys
        if self.kind is Kind.BOOLEAN:
            return (False, True)
        if self.kind in (Kind.INTEGER, Kind.DATE) and self.bounds is not None:
            low, high = math.ceil(self.bounds[0]), math.floor(self.bounds[1])
            in_calendar = self.kind is Kind.INTEGER or FIRST_DAY <= low <= high <= LAST_DAY
            if in_calendar and high - low < MOST_KEYS:
                return tuple(day_of(n) if self.kind is Kind.DATE else n for n in range(low, high + 1))
        return None

    @property
    def substitute(self) -> int | str | bool | None:
        """The value that is read instead of NULL in a column that is never NULL; None where none is declared.

        The lower bound, on the grid; without bounds a value that is none of the keys; of truth values False.

        >>> Type(Kind.REAL, Fraction(1), Fraction(3), bits=4).substitute, Type(Kind.TEXT, keys=("F", "M")).substitute
        (16, '')
        """
        if self.kind.counted and self.grid_bounds is not None:
            return self.grid_bounds[0]
        if self.kind is Kind.BOOLEAN:
            return False
        if not self.keys:
            return None
        others: Iterator[int | str] = count() if self.kind is Kind.INTEGER else ("_" * n for n in count())
        return next(x for x in others if x not in self.keys)


Scope = Mapping[Name, Type]
"""The columns an expression may use."""


def column_type(column: Column) -> Type:
    """The type of a declared column as it is read.

    A column declared never NULL is so only where reading can put a value in the place of NULL.

    >>> column_type(Column("real", bounds=(0, 1), step=0.3)).upper
    Fraction(1, 1)
    >>> column_type(Column("text", nullable=False)).nullable, column_type(Column("boolean", nullable=False)).nullable
    (True, False)
    """
    low, high = column.bounds or (None, None)
    if column.kind in (Kind.DATE, Kind.TIMESTAMP):
        ends = CALENDAR[column.kind]
        low = Fraction(ends[0]) if low is None else max(low, Fraction(ends[0]))
        high = Fraction(ends[1]) if high is None else min(high, Fraction(ends[1]))
    scale = 2**column.bits
    if low is not None and high is not None:
        low, high = Fraction(math.floor(low * scale), scale), Fraction(math.floor(high * scale), scale)
    found = Type(column.kind, low, high, column.bits, column.nullable, column.keys)
    return replace(found, nullable=column.nullable or found.substitute is None)


def grid_value(e: Literal) -> Fraction:
    """The exact number that a literal of a number, a date or a timestamp stands for."""
    if e.kind is Kind.TIMESTAMP:
        return Fraction(seconds(e.value))  # type: ignore[arg-type]
    return Fraction(days(e.value)) if e.kind is Kind.DATE else e.number  # type: ignore[arg-type]


def literal_bits(value: Fraction) -> int:
    """The grid of a literal: exact for a binary fraction, else of 20 significant bits.

    >>> literal_bits(Fraction(5)), literal_bits(Fraction(3, 2)), literal_bits(Fraction(1, 10))
    (0, 1, 23)
    """
    exact: int = value.denominator.bit_length() - 1
    return exact if value.denominator == 2**exact else max(0, SIGNIFICANT - 1 - log2_floor(abs(value)))


def literal_on(value: Fraction, bits: int) -> int:
    """A literal as an integer on a grid, rounded down.

    >>> literal_on(Fraction(1, 10), 4)
    1
    """
    return math.floor(value * (1 << bits))
