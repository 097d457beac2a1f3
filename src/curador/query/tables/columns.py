"""One declared column: its type, bounds, grid and public keys, and the values that a key or a bound may have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from fractions import Fraction

from curador.errors import InvalidParameter
from curador.numbers import Number, positive, rational, set_fields
from curador.query.tables.names import suggestion

Key = int | str | bool | date
"""A public value to group by."""

Keys = tuple[tuple[Key, ...], ...]
"""The public keys of an answer, each with a value for every group."""

WIDEST = 2**62
"""The largest absolute value of a number in a plan, on its grid: the sum of two still fits a 64-bit integer."""

FINEST = 52
"""The most fractional bits of a declared column; finer steps are beyond what a double holds near 1."""

EPOCH = date(1970, 1, 1)
FIRST_DAY, LAST_DAY = (date.min - EPOCH).days, (date.max - EPOCH).days
"""Dates are days since 1970-01-01, in the years 1 to 9999; other dates are read as NULL."""

DAY = 86400
FIRST_SECOND, LAST_SECOND = FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1
"""Timestamps are seconds since 1970-01-01 00:00:00 in UTC, rounded down, in the same years."""

LONGEST_TEXT = 1000
"""The most characters in a text of a key or a question."""

TRUE_TEXTS = ("true", "True", "TRUE", "t", "T", "yes", "Yes", "YES", "y", "Y", "1")
FALSE_TEXTS = ("false", "False", "FALSE", "f", "F", "no", "No", "NO", "n", "N", "0")
"""The texts that are read as a truth value."""


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
    TIMESTAMP = "timestamp"

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
        """Whether values are numbers on a grid inside a plan: integers, reals, dates as days, timestamps as seconds."""
        return self.numeric or self in (Kind.DATE, Kind.TIMESTAMP)


CALENDAR = {Kind.DATE: (FIRST_DAY, LAST_DAY), Kind.TIMESTAMP: (FIRST_SECOND, LAST_SECOND)}
"""The first and last number that is a date, or a timestamp."""


def days(day: date) -> int:
    """A date as days since 1970-01-01.

    >>> days(date(1970, 1, 2)), day_of(1)
    (1, datetime.date(1970, 1, 2))
    """
    return (day - EPOCH).days


def day_of(count: int) -> date:
    """The date that is ``count`` days after 1970-01-01."""
    return EPOCH + timedelta(days=count)


def seconds(moment: datetime) -> int:
    """A timestamp, without zone and in UTC, as seconds since 1970-01-01; a fraction of a second is dropped downwards.

    >>> seconds(datetime(1970, 1, 2, 0, 0, 1)), moment_of(-1)
    (86401, datetime.datetime(1969, 12, 31, 23, 59, 59))
    """
    return (moment - datetime(1970, 1, 1)) // timedelta(seconds=1)


def moment_of(count: int) -> datetime:
    """The timestamp that is ``count`` seconds after 1970-01-01."""
    return datetime(1970, 1, 1) + timedelta(seconds=count)


@dataclass(frozen=True, init=False, repr=False)
class Column:
    """A declared column.

    * ``kind`` is its type; a stored value that does not fit is read as NULL.
    * ``bounds`` clip numbers, dates and timestamps; those of dates are kept as days since 1970-01-01, of timestamps as
      seconds in UTC.
    * ``step`` is the grid of a real column, rounded down to a power of two; by default the width of the bounds over
      2**16, or the spacing of doubles at the bounds where that is coarser.
    * ``keys`` are the public values to group by, in their order.
    * ``nullable`` is False where no value is missing.  Reading enforces it: what is missing or does not fit is read as
      the lower bound, without bounds as a value that is none of the keys, of truth values as false; a column without
      any of these is treated as one that may be NULL.

    Assumes: all of it was chosen without looking at the rows.

    >>> Column("real", bounds=(0, 100)).bits, Column("real", bounds=(0, 1), step=0.01).bits
    (10, 7)
    >>> Column("date", bounds=("1970-01-01", "1970-01-31"))
    Column('date', bounds=[1970-01-01, 1970-01-31])
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
        known = Kind(kind)
        set_fields(self, kind=known)
        set_fields(self, bounds=None if bounds is None else _bounds(known, bounds))
        set_fields(self, step=None if step is None else _step(known, step))
        set_fields(self, keys=None if keys is None else _keys(known, keys))
        set_fields(self, nullable=nullable)
        if not isinstance(nullable, bool):
            raise InvalidParameter(f"nullable must be true or false, got {nullable!r}.", fix="Write true or false.")
        if self.bounds is not None and max(map(abs, self.bounds)) * 2**self.bits > WIDEST:
            raise InvalidParameter(
                f"Bounds [{self.bounds[0]}, {self.bounds[1]}] on a grid of 2**-{self.bits} need more than 62 bits.",
                fix="Narrow the bounds or choose a coarser step.",
                code="bounds-too-fine",
                facts={"low": str(self.bounds[0]), "high": str(self.bounds[1])},
            )

    def __repr__(self) -> str:
        said = [repr(self.kind.value)]
        if self.bounds is not None:
            ends = [day_of(int(x)).isoformat() if self.kind is Kind.DATE else f"{float(x):.15g}" for x in self.bounds]
            said.append(f"bounds=[{', '.join(ends)}]")
        if self.step is not None:
            said.append(f"step={float(self.step):.15g}")
        if self.keys is not None:
            shown = [str(key) if isinstance(key, date) else repr(key) for key in self.keys[:5]]
            said.append(f"keys=[{', '.join(shown)}{', …' * (len(self.keys) > 5)}]")
        return f"Column({', '.join([*said, *(() if self.nullable else ('nullable=False',))])})"

    @property
    def bits(self) -> int:
        """The fractional bits of the grid: a real x is read as floor(x * 2**bits)."""
        if self.kind is not Kind.REAL:
            return 0
        if self.step is not None:
            return _bits(self.step)
        if self.bounds is None or self.bounds[0] == self.bounds[1]:
            return 16
        # Far from 0 doubles are spaced too widely for a grid of that step.
        spare = FINEST - (math.ceil(max(map(abs, self.bounds))) - 1).bit_length()
        return max(0, min(spare, _bits((self.bounds[1] - self.bounds[0]) / 2**16)))


def _bits(step: Fraction) -> int:
    """The fewest bits with 2**-bits <= step."""
    return min(FINEST, max(0, (math.ceil(1 / step) - 1).bit_length()))


def _bounds(kind: Kind, bounds: object) -> tuple[Fraction, Fraction]:
    if not kind.counted:
        raise InvalidParameter(f"A {kind} column has no bounds.", fix="Leave bounds out, or list its keys.")
    if isinstance(bounds, str) or not isinstance(bounds, Iterable) or len(ends := list(bounds)) != 2:
        raise InvalidParameter(f"Bounds must be a pair, got {bounds!r}.", fix="Write bounds = [lowest, highest].")
    reads: dict[Kind, Callable[[object], Fraction]] = {Kind.DATE: _date_bound, Kind.TIMESTAMP: _moment_bound}
    read = reads.get(kind, lambda x: rational(x, "a bound"))
    low, high = map(read, ends)
    if low > high:
        raise InvalidParameter(
            f"The bounds [{ends[0]}, {ends[1]}] hold no value.",
            fix="Write the lower one first.",
            code="bounds-empty",
            facts={"low": str(ends[0]), "high": str(ends[1])},
        )
    if kind is Kind.INTEGER and (low.denominator, high.denominator) != (1, 1):
        raise InvalidParameter(
            "The bounds of an integer column must be whole numbers.",
            fix="Round them, or declare the column real.",
            code="bounds-whole",
        )
    return low, high


def _date_bound(x: object) -> Fraction:
    if isinstance(x, Fraction):  # already days: a column rebuilt by dataclasses.replace
        return x
    return Fraction(days(iso_date(x)))


def _moment_bound(x: object) -> Fraction:
    return x if isinstance(x, Fraction) else Fraction(seconds(iso_moment(x)))


def iso_moment(x: object) -> datetime:
    """A timestamp in UTC, to the second, from itself, from a date or from its ISO text.

    >>> iso_moment("2020-02-29"), iso_moment("2020-02-29T12:30:00+02:00")
    (datetime.datetime(2020, 2, 29, 0, 0), datetime.datetime(2020, 2, 29, 10, 30))
    """
    try:
        found = x if isinstance(x, datetime) else None
        if isinstance(x, str) and 10 <= len(x) <= 40:
            found = datetime.fromisoformat(x)
        elif found is None and isinstance(x, date):
            found = datetime(x.year, x.month, x.day)
        if found is not None:
            plain = found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
            return plain.replace(microsecond=0)
    except (ValueError, OverflowError):
        pass
    raise InvalidParameter(
        f"Not a timestamp: {str(x)[:40]!r}.",
        fix="Write it as 2020-01-31 12:30:00, in UTC.",
        code="not-a-moment",
        facts={"given": str(x)[:40]},
    )


def iso_date(x: object) -> date:
    """A date from itself or from its ISO text.

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
    raise InvalidParameter(
        f"Not a date: {str(x)[:40]!r}.", fix="Write it as 2020-01-31.", code="not-a-day", facts={"given": str(x)[:40]}
    )


def _step(kind: Kind, step: object) -> Fraction:
    if kind is not Kind.REAL:
        raise InvalidParameter(f"A {kind} column has no step.", fix="Leave step out; only real columns have a grid.")
    value = positive(step, "step")
    if value < Fraction(1, 2**FINEST):
        raise InvalidParameter(
            f"A step of {step} is finer than 2**-{FINEST}.", fix="Choose a coarser step.", code="step-too-fine"
        )
    return value


def _keys(kind: Kind, keys: object) -> tuple[Key, ...]:
    if kind in (Kind.REAL, Kind.TIMESTAMP):
        raise InvalidParameter(f"A {kind} column has no keys.", fix="Leave them out; group by bins, hours or days.")
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise InvalidParameter(f"Keys must be a list of values, got {keys!r}.", fix="Write keys = [first, second, …].")
    values = tuple(key_value(kind, x) for x in keys)
    if not values or len(set(values)) != len(values):
        raise InvalidParameter(
            "Keys must be at least one value, each listed once.",
            fix="Remove duplicates, or leave keys out.",
            code="keys-twice",
        )
    return values


def key_value(kind: Kind, x: object) -> Key:
    """A public key of a column of this kind; anything else is refused.

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
        f"{str(x)[:40]!r} is not a key of a column of type {kind}.",
        fix=f"List values of type {kind}, or fix the type.",
        code="not-a-key",
        facts={"key": str(x)[:40]},
    )


_ODD = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs."""


def text_value(x: str) -> str:
    """The text itself; refused where some engine could not hold or compare it.

    >>> text_value("Lugo")
    'Lugo'
    """
    if not isinstance(x, str):
        raise InvalidParameter(f"A text is needed, not a {type(x).__name__}.", fix="Write a text.")
    if len(x) > LONGEST_TEXT:
        raise InvalidParameter(
            f"A text of {len(x)} characters is too long.",
            fix=f"Use at most {LONGEST_TEXT}.",
            code="text-too-long",
            facts={"most": LONGEST_TEXT},
        )
    if _ODD.search(x):
        raise InvalidParameter("A text holds a NUL or half of a surrogate pair.", fix="Remove it.", code="text-odd")
    return x
