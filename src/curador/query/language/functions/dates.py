"""Functions of dates: exact calendar arithmetic on day numbers, with the bounds and public values of each.

A date is the number of days since 1970-01-01, in the years 1 to 9999 of the Gregorian calendar.  Truncation, the last
day of the month and adding months are non-decreasing, so the bounds of a result are the results of the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from curador.errors import InvalidParameter, QuestionRefused
from curador.query.language.expressions import DATE_PARTS, DatePart, Expr, Literal
from curador.query.language.functions.numbers import Found, RowFunction, Tabled
from curador.query.language.text import shortened
from curador.query.language.types import MOST_KEYS, Type
from curador.query.tables.columns import FIRST_DAY, LAST_DAY, Key, Kind, day_of, days

MOST_MONTHS = 12 * 9999
"""The most months that are added at once."""

PARTS: dict[str, Callable[[date], int]] = {
    "year": lambda d: d.year,
    "quarter": lambda d: (d.month + 2) // 3,
    "month": lambda d: d.month,
    "day": lambda d: d.day,
    "weekday": lambda d: d.isoweekday(),
    "weekday from sunday": lambda d: d.isoweekday() % 7,
    "day of year": lambda d: d.timetuple().tm_yday,
    "week": lambda d: d.isocalendar()[1],
    "year of week": lambda d: d.isocalendar()[0],
    "quarters": lambda d: (d.year * 12 + d.month - 1) // 3,
    "months": lambda d: d.year * 12 + d.month - 1,
    "weeks": lambda d: (d.toordinal() - 1) // 7,
}
"""The value of every part of a date."""

_CYCLES = {
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "weekday": (1, 7),
    "weekday from sunday": (0, 6),
    "day of year": (1, 366),
    "week": (1, 53),
}
"""The parts that come round again, with their ends; the others never decrease."""


def ends_of(e: Expr, operand: Expr, t: Type) -> tuple[date, date]:
    """The first and the last date of an operand, or the refusal of one that is no date of the years 1 to 9999."""
    if t.kind is not Kind.DATE:
        raise QuestionRefused(
            f"{shortened(e)} needs a date, and {shortened(operand)} is of type {t.kind}.",
            fix="Use a date column.",
            code="needs-date",
            facts={"expression": shortened(e), "operand": shortened(operand), "type": str(t.kind)},
        )
    low, high = t.bounds or (Fraction(FIRST_DAY - 1), Fraction(LAST_DAY + 1))
    if not FIRST_DAY <= low <= high <= LAST_DAY:
        raise QuestionRefused(
            f"{shortened(operand)} could leave the years 1 to 9999.",
            fix="Declare bounds for the dates it is made of.",
            code="years-range",
            facts={"expression": shortened(operand)},
        )
    return day_of(math.floor(low)), day_of(math.floor(high))


def part_type(e: DatePart, t: Type) -> Type:
    """The type of a part of a date.

    >>> from curador.query.language.expressions import Name
    >>> part_type(DatePart("month", Name("d")), Type(Kind.DATE, Fraction(0), Fraction(9))).domain[-1]
    12
    """
    first, last = ends_of(e, e.operand, t)
    low, high = _CYCLES.get(e.part) or (PARTS[e.part](first), PARTS[e.part](last))
    return Type(Kind.INTEGER, Fraction(low), Fraction(high), nullable=t.nullable)


# ---- from dates to dates -------------------------------------------------------------------------------------

TRUNCATIONS = ("year", "quarter", "month", "week", "day")


def month_start(months: int) -> int:
    """The day number of the first day of a month, counted from year 0: exact for any month, before and after all dates.

    >>> day_of(month_start(12 * 2024 + 1))
    datetime.date(2024, 2, 1)
    """
    years, month = divmod(months - 2, 12)  # years that begin in March have their leap day at the end
    return 365 * years + years // 4 - years // 100 + years // 400 + (153 * month + 2) // 5 - 719468


class _Monotone(RowFunction):
    """A date for a date, never a smaller one for a larger."""

    operand: Expr

    def day(self, d: date) -> int:
        """The day number of the result."""
        raise NotImplementedError

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        low, high = map(self.day, ends_of(self, self.operand, t))
        return Type(Kind.DATE, Fraction(low), Fraction(high), nullable=t.nullable, keys=self._keys(low, high))

    def _keys(self, low: int, high: int) -> tuple[Key, ...] | None:
        return None


@dataclass(frozen=True)
class DateTrunc(_Monotone, tag="date-trunc"):
    """The first day of the year, quarter, month or ISO week of a date, or the day itself.

    >>> from curador.query.language.expressions import Name
    >>> DateTrunc("week", Name("d")).day(date(2025, 1, 1)) == days(date(2024, 12, 30))
    True
    """

    unit: str
    operand: Expr

    def __post_init__(self) -> None:
        if self.unit not in TRUNCATIONS:
            raise InvalidParameter(
                f"Dates are not truncated to a {self.unit!r:.20}.",
                fix=f"Use one of {', '.join(TRUNCATIONS)}.",
                code="sql-date-part",
                facts={"word": str(self.unit)[:20], "known": ", ".join(TRUNCATIONS)},
            )
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"DATE_TRUNC('{self.unit}', {parts[0]})"

    def day(self, d: date) -> int:
        if self.unit == "week":
            return days(d) - d.weekday()
        month = {"year": 1, "quarter": (d.month - 1) // 3 * 3 + 1}.get(self.unit, d.month)
        return days(d if self.unit == "day" else date(d.year, month, 1))

    def _keys(self, low: int, high: int) -> tuple[Key, ...] | None:
        found = [low]
        while found[-1] < high and len(found) <= MOST_KEYS:
            found.append(self._next(found[-1]))
        return None if self.unit == "day" or len(found) > MOST_KEYS else tuple(map(day_of, found))

    def _next(self, first: int) -> int:
        if self.unit in ("day", "week"):
            return first + (7 if self.unit == "week" else 1)
        return month_start(PARTS["months"](day_of(first)) + {"year": 12, "quarter": 3, "month": 1}[self.unit])


@dataclass(frozen=True)
class LastDay(_Monotone, tag="last-day"):
    """The last day of the month of a date.

    >>> from curador.query.language.expressions import Name
    >>> day_of(LastDay(Name("d")).day(date(2024, 2, 1)))
    datetime.date(2024, 2, 29)
    """

    operand: Expr

    def written(self, parts: Sequence[str]) -> str:
        return f"LAST_DAY({parts[0]})"

    def day(self, d: date) -> int:
        return month_start(PARTS["months"](d) + 1) - 1

    def _keys(self, low: int, high: int) -> tuple[Key, ...] | None:
        first, last = PARTS["months"](day_of(low)), PARTS["months"](day_of(high))
        if last - first >= MOST_KEYS:
            return None
        return tuple(day_of(month_start(m + 1) - 1) for m in range(first, last + 1))


@dataclass(frozen=True)
class AddMonths(_Monotone, tag="add-months"):
    """A date some months later, or earlier: the same day of the month, or its last if there is no such day.

    >>> from curador.query.language.expressions import Name
    >>> day_of(AddMonths(Name("d"), 1).day(date(2024, 1, 31)))
    datetime.date(2024, 2, 29)
    """

    operand: Expr
    months: int

    def __post_init__(self) -> None:
        if type(self.months) is not int or abs(self.months) > MOST_MONTHS:
            raise QuestionRefused(
                f"{self.months} months are too many.",
                fix=f"Add at most {MOST_MONTHS}.",
                code="interval-too-long",
                facts={"most": MOST_MONTHS},
            )
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"DATE_ADD({parts[0]}, INTERVAL '{self.months}' MONTH)"

    def day(self, d: date) -> int:
        months = PARTS["months"](d) + self.months
        first = month_start(months)
        return first + min(d.day, month_start(months + 1) - first) - 1

    @classmethod
    def build(cls, **own: Any) -> Expr:
        return months_later(**own)


def months_later(operand: Expr, months: int) -> Expr:
    """The operand some months later, worked out where it is a constant.

    >>> str(months_later(Literal(date(2025, 1, 31)), 1))
    "DATE '2025-02-28'"
    """
    found = AddMonths(operand, months)
    if isinstance(operand, Literal) and isinstance(operand.value, date):
        day = found.day(operand.value)
        if FIRST_DAY <= day <= LAST_DAY:
            return Literal(day_of(day))
    return found


@dataclass(frozen=True)
class MakeDate(RowFunction, tag="make-date"):
    """The date of a year, a month and a day; NULL where there is none in the years 1 to 9999."""

    year: Expr
    month: Expr
    day: Expr

    def written(self, parts: Sequence[str]) -> str:
        return f"MAKE_DATE({', '.join(parts)})"

    def typed(self, types: Sequence[Type]) -> Type:
        for operand, t in zip(self.parts, types, strict=True):
            if t.kind is not Kind.INTEGER:
                raise self.refuse_kind(operand, t, "needs-whole-number")
        low = max(1, -math.inf if types[0].lower is None else types[0].lower)
        high = min(9999, math.inf if types[0].upper is None else types[0].upper)
        if low > high:
            raise QuestionRefused(
                f"{shortened(self)} is no date of the years 1 to 9999.",
                fix="Use such years.",
                code="years-range",
                facts={"expression": shortened(self)},
            )
        first, last = days(date(int(low), 1, 1)), days(date(int(high), 12, 31))
        return Type(Kind.DATE, Fraction(first), Fraction(last), nullable=True)


# ---- from dates to texts -------------------------------------------------------------------------------------

_DIRECTIVES: dict[str, tuple[str, ...]] = {
    "%Y": ("year", "months", "date"),
    "%y": ("year", "months", "date"),
    "%m": ("month", "months", "date"),
    "%b": ("month", "months", "date"),
    "%B": ("month", "months", "date"),
    "%d": ("day", "date"),
    "%a": ("weekday", "date"),
    "%A": ("weekday", "date"),
    "%u": ("weekday", "date"),
    "%w": ("weekday", "date"),
    "%j": ("day of year", "date"),
    "%G": ("year of week", "weeks", "date"),
    "%V": ("week", "weeks", "date"),
    "%%": ("year", "months", "month", "day", "weekday", "day of year", "year of week", "weeks", "week", "date"),
}
"""The directives of STRFTIME that are read, and what decides the text of each."""

_DECIDING = ("year", "month", "day", "weekday", "week", "year of week", "day of year", "months", "weeks", "date")
_NAMES = (
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
     "December"),
)  # fmt: skip


@dataclass(frozen=True)
class DateText(Tabled, tag="strftime"):
    """A date as a text by a format, one public text for each value of the part that decides it.

    >>> from curador.query.language.expressions import Name
    >>> DateText("%Y-%m", Name("d")).part, DateText("%b %Y", Name("d")).text(date(2024, 2, 1))
    ('months', 'Feb 2024')
    """

    format: str
    operand: Expr

    def __post_init__(self) -> None:
        if not isinstance(self.format, str) or len(self.format) > 100:
            raise QuestionRefused(
                "A format is a text of at most 100 characters.",
                fix="Shorten it.",
                code="date-format",
                facts={"known": " ".join(_DIRECTIVES)},
            )
        pieces = _pieces(self.format)
        unknown = [p for p in pieces if p.startswith("%") and p not in _DIRECTIVES]
        if unknown or self.part is None:
            what = f"{unknown[0]!r} is not read" if unknown else "Nothing of a date decides it"
            raise QuestionRefused(
                f"The format {self.format!r}: {what}.",
                fix=f"Use {' '.join(_DIRECTIVES)}.",
                code="date-format",
                facts={"known": " ".join(_DIRECTIVES)},
            )
        super().__post_init__()

    @property
    def part(self) -> str | None:
        """The coarsest part of a date that decides the text; "date" is the date itself."""
        deciding = [_DIRECTIVES.get(p, ()) for p in _pieces(self.format) if p.startswith("%")]
        return next((part for part in _DECIDING if deciding and all(part in d for d in deciding)), None)

    def written(self, parts: Sequence[str]) -> str:
        return f"STRFTIME({parts[0]}, '{self.format.replace(chr(39), chr(39) * 2)}')"

    def typed(self, types: Sequence[Type]) -> Type:
        return self.tabled(self.deciding(types[0]), Kind.TEXT)

    def deciding(self, t: Type) -> Type:
        """The type of what decides the text."""
        ends_of(self, self.operand, t)
        return t if self.part == "date" else part_type(DatePart(str(self.part), self.operand), t)

    def value(self, key: Key) -> Found:
        return self.text(key if isinstance(key, date) else _example(str(self.part), int(key)))

    def text(self, d: date) -> str:
        """The text of one date."""
        year, week, weekday = d.isocalendar()
        day_name, month_name = _NAMES[0][weekday - 1], _NAMES[1][d.month - 1]
        found = {
            "%Y": f"{d.year:04}", "%y": f"{d.year % 100:02}", "%m": f"{d.month:02}", "%b": month_name[:3],
            "%B": month_name, "%d": f"{d.day:02}", "%a": day_name[:3], "%A": day_name, "%u": str(weekday),
            "%w": str(weekday % 7), "%j": f"{d.timetuple().tm_yday:03}", "%G": f"{year:04}", "%V": f"{week:02}",
            "%%": "%",
        }  # fmt: skip
        return "".join(found.get(piece, piece) for piece in _pieces(self.format))

    def untabled(self) -> QuestionRefused:
        return QuestionRefused(
            f"{shortened(self)} has more than {MOST_KEYS} texts.",
            fix=f"Declare narrower bounds for the dates, or group by DATE_TRUNC('month', {shortened(self.operand)}).",
            code="too-many-texts",
            facts={"expression": shortened(self), "most": MOST_KEYS},
        )


def _pieces(format: str) -> list[str]:
    """A format cut into directives and the characters between them."""
    found, i = [], 0
    while i < len(format):
        size = 2 if format[i] == "%" else 1
        found.append(format[i : i + size])
        i += size
    return found


def _example(part: str, value: int) -> date:
    """A date with this value of a part."""
    if part == "months":
        return day_of(month_start(value))
    if part == "weeks":
        return date.fromordinal(value * 7 + 1)
    if part == "year":
        return date(value, 1, 1)
    if part == "year of week":
        return date(value, 1, 4)  # always in the first week
    if part == "week":
        return date(2020, 1, 2) + timedelta(weeks=value - 1)  # a year of 53 weeks
    if part == "day of year":
        return date(2000, 1, 1) + timedelta(days=value - 1)
    return {"month": date(2000, (value - 1) % 12 + 1, 1), "day": date(2000, 1, value)}.get(
        part, date(2001, 1, 1) + timedelta(days=value - 1)
    )


assert set(PARTS) == set(DATE_PARTS)
