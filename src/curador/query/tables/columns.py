"""What is declared about one column: its type, bounds, grid, keys; and the names and values all of it may use."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction

from curador.errors import InvalidParameter
from curador.numbers import Number, positive, rational

Key = int | str | bool | date
"""A public value to group by."""

WIDEST = 2**62
"""No number of a plan, on its grid, is larger than this: sums of two still fit a 64-bit integer."""

FINEST = 52
"""The most fractional bits of a declared column; finer steps are beyond what a double holds near 1."""

EPOCH = date(1970, 1, 1)
FIRST_DAY, LAST_DAY = (date.min - EPOCH).days, (date.max - EPOCH).days
"""Dates are days since 1970-01-01, in the years 1 to 9999; other dates are read as NULL."""

LONGEST_NAME = 255
LONGEST_TEXT = 1000


class Kind(StrEnum):
    """The types a column may have.

    >>> Kind("real").numeric, Kind("text").numeric
    (True, False)
    """

    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"

    @classmethod
    def _missing_(cls, value: object) -> Kind:
        raise InvalidParameter(
            f"No type is called {value!r}.", fix=suggestion(value, [k.value for k in cls], "Use one of")
        )

    @property
    def numeric(self) -> bool:
        """Whether values can be added and averaged."""
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def counted(self) -> bool:
        """Whether values are numbers on a grid inside a plan: integers, reals, and dates as days."""
        return self.numeric or self is Kind.DATE


def suggestion(word: object, known: Iterable[str], lead: str = "Known are") -> str:
    """A fix for a mistyped word: the closest known one, or all of them.

    >>> suggestion("bound", ["bounds", "step"])
    "Did you mean 'bounds'?"
    >>> suggestion("colour", ["bounds", "step"])
    "Known are 'bounds', 'step'."
    """
    names = list(known)
    close = get_close_matches(str(word).lower(), [n.lower() for n in names], 1)
    match = next((n for n in names if close and n.lower() == close[0]), None)
    if match is not None:
        return f"Did you mean {match!r}?"
    shown = ", ".join(repr(n) for n in names[:12]) + (", …" if len(names) > 12 else "")
    return f"{lead} {shown}." if names else "There are none."


def identifier(name: object, what: str) -> str:
    """Refuse a name that no engine could hold.

    >>> identifier("hours per week", "a column")
    'hours per week'
    """
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME:
        raise InvalidParameter(
            f"{what} needs a name of 1 to {LONGEST_NAME} characters, got {str(name)[:40]!r}.", fix="Rename it."
        )
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        raise InvalidParameter(f"{what} has a control character in its name {name!r}.", fix="Rename it.")
    return name


def distinct(names: Iterable[str], what: str) -> None:
    """Refuse names that are one name to an engine that folds case.

    >>> distinct(["age", "Age"], "columns")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: Two columns are called 'age' and 'Age'; engines fold case. ...
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.get(name.casefold())
        if other is not None:
            raise InvalidParameter(
                f"Two {what} are called {other!r} and {name!r}; engines fold case.", fix="Rename one."
            )
        seen[name.casefold()] = name


def days(day: date) -> int:
    """A date as days since 1970-01-01.

    >>> days(date(1970, 1, 2)), day_of(1)
    (1, datetime.date(1970, 1, 2))
    """
    return (day - EPOCH).days


def day_of(count: int) -> date:
    """The date that lies so many days after 1970-01-01."""
    return EPOCH + timedelta(days=count)


@dataclass(frozen=True, init=False)
class Column:
    """What is declared about one column.

    ``bounds`` clip numbers and dates.  ``step`` is the grid of a real column, rounded down to a power of two; by
    default the width of the bounds over 2**16, or as fine as doubles are at them.  ``keys`` list the public values to
    group by, in their order.

    >>> Column("real", bounds=(0, 100)).bits, Column("real", bounds=(0, 1), step=0.01).bits
    (10, 7)
    >>> Column("date", bounds=("1970-01-01", "1970-01-31")).bounds
    (Fraction(0, 1), Fraction(30, 1))
    """

    kind: Kind
    bounds: tuple[Fraction, Fraction] | None
    step: Fraction | None
    keys: tuple[Key, ...] | None
    nullable: bool

    def __init__(
        self,
        kind: Kind | str,
        bounds: Iterable[object] | None = None,
        step: Number | None = None,
        keys: Iterable[object] | None = None,
        nullable: bool = True,
    ) -> None:
        known, put = Kind(kind), object.__setattr__
        put(self, "kind", known)
        put(self, "bounds", None if bounds is None else _bounds(known, bounds))
        put(self, "step", None if step is None else _step(known, step))
        put(self, "keys", None if keys is None else _keys(known, keys))
        put(self, "nullable", nullable)
        if not isinstance(nullable, bool):
            raise InvalidParameter(f"nullable is true or false, got {nullable!r}.", fix="Write true or false.")
        if self.bounds is not None and max(map(abs, self.bounds)) * 2**self.bits > WIDEST:
            raise InvalidParameter(
                f"Bounds [{self.bounds[0]}, {self.bounds[1]}] on a grid of 2**-{self.bits} leave 62 bits.",
                fix="Narrow the bounds or choose a coarser step.",
            )

    @property
    def bits(self) -> int:
        """The fractional bits of the grid: a real x is read as floor(x * 2**bits)."""
        if self.kind is not Kind.REAL:
            return 0
        if self.step is not None:
            return _bits(self.step)
        if self.bounds is None or self.bounds[0] == self.bounds[1]:
            return 16
        # Far from 0 a double has no bits left for so fine a grid.
        spare = FINEST - (math.ceil(max(map(abs, self.bounds))) - 1).bit_length()
        return max(0, min(spare, _bits((self.bounds[1] - self.bounds[0]) / 2**16)))


def _bits(step: Fraction) -> int:
    """The fewest bits with 2**-bits <= step."""
    return min(FINEST, max(0, (math.ceil(1 / step) - 1).bit_length()))


def _bounds(kind: Kind, bounds: object) -> tuple[Fraction, Fraction]:
    if not kind.counted:
        raise InvalidParameter(f"A {kind} column has no bounds.", fix="Leave bounds out, or list its keys.")
    if isinstance(bounds, str) or not isinstance(bounds, Iterable) or len(ends := list(bounds)) != 2:
        raise InvalidParameter(f"Bounds are a pair, got {bounds!r}.", fix="Write bounds = [lowest, highest].")
    read: Callable[[object], Fraction] = _date_bound if kind is Kind.DATE else lambda x: rational(x, "a bound")
    low, high = map(read, ends)
    if low > high:
        raise InvalidParameter(f"The bounds [{ends[0]}, {ends[1]}] hold no value.", fix="Write the lower one first.")
    if kind is Kind.INTEGER and (low.denominator, high.denominator) != (1, 1):
        raise InvalidParameter("An integer column has whole bounds.", fix="Round them, or declare the column real.")
    return low, high


def _date_bound(x: object) -> Fraction:
    if isinstance(x, Fraction):  # already days: a column rebuilt by dataclasses.replace
        return x
    return Fraction(days(iso_date(x)))


def iso_date(x: object) -> date:
    """Read a date, or its ISO text.

    >>> iso_date("2020-02-29")
    datetime.date(2020, 2, 29)
    """
    if isinstance(x, date):
        return date(x.year, x.month, x.day)
    try:
        if isinstance(x, str) and len(x) == 10:
            return date.fromisoformat(x)
    except ValueError:
        pass
    raise InvalidParameter(f"Not a date: {str(x)[:40]!r}.", fix="Write it as 2020-01-31.")


def _step(kind: Kind, step: object) -> Fraction:
    if kind is not Kind.REAL:
        raise InvalidParameter(f"A {kind} column has no step.", fix="Leave step out; only real columns have a grid.")
    value = positive(step, "step")
    if value < Fraction(1, 2**FINEST):
        raise InvalidParameter(f"A step of {step} is finer than 2**-{FINEST}.", fix="Choose a coarser step.")
    return value


def _keys(kind: Kind, keys: object) -> tuple[Key, ...]:
    if kind is Kind.REAL:
        raise InvalidParameter("A real column has no keys.", fix="Bin it, or declare it integer.")
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise InvalidParameter(f"Keys are a list of values, got {keys!r}.", fix="Write keys = [first, second, …].")
    values = tuple(key_value(kind, x) for x in keys)
    if not values or len(set(values)) != len(values):
        raise InvalidParameter("Keys are at least one value, each listed once.", fix="Remove what is doubled.")
    return values


def key_value(kind: Kind, x: object) -> Key:
    """A public key of a column of this kind, or a refusal.

    >>> key_value(Kind.DATE, "2020-01-31")
    datetime.date(2020, 1, 31)
    """
    if kind is Kind.DATE:
        return iso_date(x)
    if kind is Kind.TEXT and isinstance(x, str):
        return text_value(x)
    if kind is Kind.BOOLEAN and isinstance(x, bool):
        return x
    if kind is Kind.INTEGER and not isinstance(x, bool | str | float):
        value = rational(x, "a key")
        if value.denominator == 1 and abs(value) <= WIDEST:
            return value.numerator
    raise InvalidParameter(
        f"{str(x)[:40]!r} is no key of a column of type {kind}.", fix=f"List values of type {kind}, or fix the type."
    )


def text_value(x: str) -> str:
    """Text that every engine can hold and compare.

    >>> text_value("Lugo")
    'Lugo'
    """
    if len(x) > LONGEST_TEXT:
        raise InvalidParameter(f"A text of {len(x)} characters is too long.", fix=f"Use at most {LONGEST_TEXT}.")
    if any(c == "\0" or unicodedata.category(c) == "Cs" for c in x):
        raise InvalidParameter("A text has a NUL or half of a character in it.", fix="Remove it.")
    return x
