"""The calendar on day numbers, as integer arithmetic in the neutral language.

Engines give the year, the month and the day of a date; everything else is worked out from them by the same formulas
on every engine (docs/proofs/functions.md, section 2).  Their divisions drop fractions, so only numbers from zero on are
divided: months are counted from far enough back.
"""

from __future__ import annotations

from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.bindings import Bindings
from curador.query.sql_plan.ir import Node
from curador.query.tables.columns import FIRST_DAY, FIRST_SECOND

ERAS = 30
"""So many times 400 years are added before a division, and their days taken away after it."""

MONTHS_OF_ERA, DAYS_OF_ERA = 4800, 146097
MARCH_FIRST = 719468
"""The days from 0000-03-01 to 1970-01-01."""


def _plus(x: Node, n: int) -> Node:
    return x if n == 0 else nt.plus(x, nt.constant(n)) if n > 0 else nt.minus(x, nt.constant(-n))


def day_part(part: str, days: Node, at: Bindings) -> Node:
    """A part of a date, given as days since 1970-01-01, by one of the words of ``DATE_PARTS``."""
    if part in nt.DAY_PARTS:
        return nt.day_part(part, days)
    since = _plus(days, -FIRST_DAY)  # days since Monday, 0001-01-01
    if part == "weekday from sunday":
        return nt.remainder(_plus(since, 1), nt.constant(7))
    if part == "weeks":
        return nt.divide(since, nt.constant(7))
    days = at.bind(days)
    if part in ("months", "quarters"):
        months = month_number(days)
        return months if part == "months" else nt.divide(months, nt.constant(3))
    if part == "day of year":
        return _day_of_year(days, at)
    thursday = at.bind(_plus(monday(days), 3))  # decides the ISO week and its year
    if part == "year of week":
        return nt.day_part("year", thursday)
    return _plus(nt.divide(_plus(_day_of_year(thursday, at), -1), nt.constant(7)), 1)


def month_number(days: Node) -> Node:
    """The months from January of year 0 to a date; a column or a constant, for it is used twice."""
    return nt.plus(nt.times(nt.day_part("year", days), nt.constant(12)), _plus(nt.day_part("month", days), -1))


def _day_of_year(days: Node, at: Bindings) -> Node:
    first = month_start(nt.times(nt.day_part("year", days), nt.constant(12)), at)
    return _plus(nt.minus(days, first), 1)


def monday(days: Node) -> Node:
    """The Monday on or before a date; a column or a constant."""
    return nt.minus(days, nt.remainder(_plus(days, -FIRST_DAY), nt.constant(7)))


def month_start(months: Node, at: Bindings) -> Node:
    """The first day of a month, given as months from January of year 0, up to 12,000 years before it."""
    since = at.bind(_plus(months, ERAS * MONTHS_OF_ERA - 2))  # years begin in March: the leap day is their last
    years = at.bind(nt.divide(since, nt.constant(12)))
    month = nt.remainder(since, nt.constant(12))
    leaps = nt.plus(
        nt.minus(nt.divide(years, nt.constant(4)), nt.divide(years, nt.constant(100))),
        nt.divide(years, nt.constant(400)),
    )
    before = nt.divide(_plus(nt.times(month, nt.constant(153)), 2), nt.constant(5))
    whole = nt.plus(nt.plus(nt.times(years, nt.constant(365)), leaps), before)
    return at.bind(_plus(whole, -MARCH_FIRST - ERAS * DAYS_OF_ERA))


def truncated(unit: str, days: Node, at: Bindings) -> Node:
    """The first day of the year, quarter, month or ISO week of a date."""
    if unit == "day":
        return days
    days = at.bind(days)
    if unit == "week":
        return monday(days)
    if unit == "month":
        return nt.minus(days, _plus(nt.day_part("day", days), -1))
    months = nt.times(nt.day_part("year", days), nt.constant(12))
    if unit == "quarter":
        months = nt.plus(months, nt.times(_plus(nt.day_part("quarter", days), -1), nt.constant(3)))
    return month_start(months, at)


def last_day(days: Node, at: Bindings) -> Node:
    """The last day of the month of a date."""
    return _plus(month_start(_plus(month_number(at.bind(days)), 1), at), -1)


def months_later(days: Node, months: int, at: Bindings) -> Node:
    """A date some months later, at most the last day of its month."""
    days = at.bind(days)
    month = at.bind(_plus(month_number(days), months))
    return _day_in_month(month, nt.day_part("day", days), at)


def _day_in_month(month: Node, day: Node, at: Bindings) -> Node:
    same = _plus(nt.plus(month_start(month, at), day), -1)
    return nt.function("LEAST", [same, _plus(month_start(_plus(month, 1), at), -1)])


def clock_number(span: int, seconds: Node) -> Node:
    """The number of spans since 1970 that are over at a timestamp, in the years 1 to 9999."""
    since = nt.divide(_plus(seconds, -FIRST_SECOND), nt.constant(span))
    return _plus(since, FIRST_SECOND // span)


def clock_part(span: int, cycle: int, seconds: Node) -> Node:
    """The hour, minute or second of a timestamp in the years 1 to 9999; these begin at midnight."""
    return nt.remainder(nt.divide(_plus(seconds, -FIRST_SECOND), nt.constant(span)), nt.constant(cycle))


def made_date(year: Node, month: Node, day: Node, at: Bindings) -> Node:
    """The date of a year, a month and a day, or NULL where there is none in the years 1 to 9999."""
    ends = ((year, 9999), (month, 12), (day, 31))
    parts = [at.bind(x) for x, _ in ends]
    inside = [
        test
        for x, (_, most) in zip(parts, ends, strict=True)
        for test in (nt.infix(">=", x, nt.constant(1)), nt.infix("<=", x, nt.constant(most)))
    ]
    safe = [at.bind(nt.case([(nt.both(*inside), x)])) for x in parts]
    months = at.bind(nt.plus(nt.times(safe[0], nt.constant(12)), _plus(safe[1], -1)))
    wanted = _plus(nt.plus(month_start(months, at), safe[2]), -1)
    return nt.case([(nt.infix("<", wanted, month_start(_plus(months, 1), at)), wanted)])
