"""Functions of SQL, each read into one of ours: rounding, casts and the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from curador.query.ask.sql.text import number, only, refuse, word
from curador.query.language import expressions as ex
from curador.query.language.functions.curves import Root, TabledCurve, power
from curador.query.language.functions.dates import TRUNCATIONS, DateText, DateTrunc, LastDay, MakeDate, months_later
from curador.query.language.functions.moments import SPANS, AddSeconds, MomentPart, MomentText, MomentTrunc
from curador.query.language.functions.numbers import Cast, Rounded, Sign
from curador.query.tables.columns import Kind, iso_date, iso_moment

if TYPE_CHECKING:
    from curador.query.ask.sql.expressions import Reader

Rule = Callable[["Reader", exp.Expr, int], ex.Expr]
RULES: dict[type[exp.Expr], tuple[Rule, tuple[str, ...]]] = {}
"""The rule for each kind of node, and the arguments that it reads; a node with another is refused."""

Words = dict[type[exp.Expr], str]
"""A word of ours for each of some kinds of nodes."""

NAMED: dict[str, Rule] = {}
"""The rules of functions that the parser knows by their names alone."""


def reads(*kinds: type[exp.Expr], says: str = "this") -> Callable[[Rule], Rule]:
    """Register the rule for kinds of nodes."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(kinds, (rule, tuple(says.split()))))
        return rule

    return register


def whole(node: exp.Expr | None, text: str, otherwise: int = 0) -> int:
    """A constant whole number."""
    if node is None:
        return otherwise
    value = number(node, text)
    if value.denominator != 1:
        refuse(node, text, "A whole number is expected here.", "Write a whole number.", code="sql-whole-number")
    return int(value)


def constant_text(node: exp.Expr | None, at: exp.Expr, text: str) -> str:
    if type(node) is not exp.Literal or not node.is_string:
        refuse(
            node or at,
            text,
            f"{word(at, text)} takes a constant text here.",
            _INSTEAD.get(type(at), "Write 'text' in single quotes."),
            code="constant-text",
            word=word(at, text),
        )
    return str(node.name)


_INSTEAD: dict[type[exp.Expr], str] = {exp.TimeToStr: "Write STRFTIME(date, '%Y-%m'): the date first."}


# ---- numbers -------------------------------------------------------------------------------------------------

_ROUNDINGS: Words = {exp.Round: "round", exp.Floor: "floor", exp.Ceil: "ceil", exp.Trunc: "trunc"}


@reads(*_ROUNDINGS, says="this decimals")
def _round(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Rounded(_ROUNDINGS[type(node)], r.read(node.this, depth), whole(node.args.get("decimals"), r.text))


@reads(exp.Sign)
def _sign(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Sign(r.read(node.this, depth))


@reads(exp.WidthBucket, says="this min_value max_value num_buckets")
def _bucket(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """0 below the lowest edge, the number of buckets plus 1 from the highest edge on."""
    x = r.read(node.this, depth)
    low, high = (number(node.args[name], r.text) for name in ("min_value", "max_value"))
    count = whole(node.args["num_buckets"], r.text)
    if not 1 <= count < ex.LARGEST or low >= high:
        refuse(
            node,
            r.text,
            f"WIDTH_BUCKET needs 1 to {ex.LARGEST - 1} buckets between two growing edges.",
            _BUCKET,
            code="width-bucket",
            most=ex.LARGEST - 1,
        )
    inside = ex.Bin(x, tuple(low + (high - low) * i / count for i in range(count + 1)))
    below, within = ex.Compare("<", x, ex.Literal(low)), ex.Compare("<", x, ex.Literal(high))
    return ex.Case(
        (
            (below, ex.Literal(0)),
            (within, ex.Arithmetic("+", inside, ex.Literal(1))),
            (ex.Compare(">=", x, ex.Literal(high)), ex.Literal(count + 1)),
        )
    )


@reads(exp.Sqrt, exp.Ln, exp.Exp)
def _curve(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    x = r.read(node.this, depth)
    return Root(x) if type(node) is exp.Sqrt else TabledCurve("ln" if type(node) is exp.Ln else "exp", x)


@reads(exp.Log, says="this expression")
def _log(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """The logarithm to the base 10, or to the base that is given first."""
    if node.expression is None:
        return TabledCurve("log10", r.read(node.this, depth))
    base = whole(node.this, r.text)
    if base not in (2, 10):
        refuse(
            node,
            r.text,
            "Logarithms are to the base 2, 10 or e.",
            "Write LOG2(x), LOG10(x) or LN(x).",
            code="logarithm-base",
        )
    return TabledCurve(f"log{base}", r.read(node.expression, depth))


@reads(exp.Pow, says="this expression")
def _power(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    found = power(r.read(node.this, depth), number(node.expression, r.text))
    if found is None:
        refuse(
            node,
            r.text,
            "POWER is exact for exponents 1, 2, 3 and 0.5 only.",
            "Multiply, or use EXP and LN.",
            code="power-exponent",
        )
    return found


_BUCKET = "Write WIDTH_BUCKET(x, lowest, highest, buckets)."
_TYPES = {
    **dict.fromkeys(("INT", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("TEXT", "VARCHAR"), Kind.TEXT),
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMPTZ", "DATETIME"), Kind.TIMESTAMP),
}


@reads(exp.Cast, exp.TryCast, says="this to safe")
def _cast(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    to = node.args["to"]
    name = str(getattr(to.this, "value", to.this)).upper()
    if name not in _TYPES or any(to.args.get(part) for part in ("expressions", "nested", "values")):
        refuse(
            node,
            r.text,
            f"Nothing is cast to {name[:30]}{' with a size' if name in _TYPES else ''} here.",
            "Cast to BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE or TIMESTAMP; for decimals write ROUND(x, 2).",
            code="cast-type",
            type=name[:30],
        )
    only(to, r.text, "this")
    if type(node.this) is exp.Literal and node.this.is_string and _TYPES[name] in (Kind.DATE, Kind.TIMESTAMP):
        read = iso_date if _TYPES[name] is Kind.DATE else iso_moment
        return ex.Literal(read(node.this.name))
    return Cast(_TYPES[name], r.read(node.this, depth))


# ---- dates ---------------------------------------------------------------------------------------------------

_PARTS: Words = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeekIso: "weekday",
    exp.DayOfWeek: "weekday from sunday",
    exp.DayOfYear: "day of year",
    exp.Week: "week",
    exp.WeekOfYear: "week",
}
_EXTRACTED = {
    **{written: part for part, written in ex.DATE_PARTS.items() if not written.endswith("_NUMBER")},
    "DOW": "weekday from sunday",
    "WEEKDAY": "weekday from sunday",
    "DOY": "day of year",
}
_COUNTED = {"YEAR": "year", "QUARTER": "quarters", "MONTH": "months", "WEEK": None, "DAY": None}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


@reads(*_PARTS)
def _part(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.DatePart(_PARTS[type(node)], _date(r, node.this, depth))


@reads(exp.Hour, exp.Minute, exp.Second)
def _clock(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return MomentPart(type(node).__name__.lower(), _moment(r, node.this, depth))


@reads(exp.Date)
def _date_of(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    found = _date(r, node.this, depth)
    return found if isinstance(found, ex.Literal) else Cast(Kind.DATE, found)


def _moment(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """A timestamp; a constant text is read as one."""
    found = r.read(node, depth)
    return ex.Literal(iso_moment(found.value)) if isinstance(found, ex.Literal) and found.kind is Kind.TEXT else found


def _date(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """A date; a constant text is read as one."""
    found = r.read(node, depth)
    return ex.Literal(iso_date(found.value)) if isinstance(found, ex.Literal) and found.kind is Kind.TEXT else found


@reads(exp.Extract, says="this expression")
def _extract(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if node.this.name.lower() in SPANS:
        return MomentPart(node.this.name.lower(), _moment(r, node.expression, depth))
    return ex.DatePart(_extracted(node.this.name, node, r.text), _date(r, node.expression, depth))


def _extracted(name: str, node: exp.Expr, text: str) -> str:
    if name.upper() not in _EXTRACTED:
        refuse(
            node,
            text,
            f"No part of a date is called {name.upper()[:20]}.",
            f"Use one of {', '.join(_EXTRACTED)}.",
            code="sql-date-part",
            word=name.upper()[:20],
            known=", ".join(_EXTRACTED),
        )
    return _EXTRACTED[name.upper()]


@reads(exp.TimestampTrunc, exp.DateTrunc, says="this unit")
def _truncated(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    unit = node.args["unit"].name.lower()
    if unit in SPANS:
        return MomentTrunc(unit, _moment(r, node.this, depth))
    if unit not in TRUNCATIONS:
        units = ", ".join((*TRUNCATIONS, *SPANS))
        refuse(
            node,
            r.text,
            f"DATE_TRUNC does not know {unit[:20]!r} here.",
            f"Use one of {units}.",
            code="sql-date-part",
            word=unit[:20],
            known=units,
        )
    return DateTrunc(unit, _date(r, node.this, depth))


@reads(exp.DateDiff, says="this expression unit date_part_boundary")
def _difference(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    unit = node.args["unit"].name.upper() if node.args.get("unit") else "DAY"
    if unit.lower() in SPANS:
        moments = (Cast(Kind.TIMESTAMP, _moment(r, x, depth)) for x in (node.this, node.expression))
        return ex.Arithmetic("-", *(MomentPart(f"{unit.lower()}s", x) for x in moments))
    if unit not in _COUNTED:
        units = ", ".join((*_COUNTED, *map(str.upper, SPANS)))
        refuse(
            node,
            r.text,
            f"DATEDIFF does not count a {unit[:20]}.",
            f"Use one of {units}.",
            code="sql-date-part",
            word=unit[:20],
            known=units,
        )
    sides = [_date(r, node.this, depth), _date(r, node.expression, depth)]
    part = _COUNTED[unit]
    if part is not None:
        return ex.Arithmetic("-", *(ex.DatePart(part, side) for side in sides))
    dates = (x if isinstance(x, ex.Literal) and x.kind is Kind.DATE else Cast(Kind.DATE, x) for x in sides)
    days = ex.Arithmetic("-", *dates)
    return ex.Arithmetic("//", days, ex.Literal(7)) if unit == "WEEK" else days


def interval(node: exp.Expr, text: str) -> tuple[int, int, int]:
    """The months, the days and the seconds of an interval."""
    only(node, text, "this", "unit")
    unit, amount = str(node.args.get("unit")).upper().removesuffix("S"), node.this
    size = amount.name if type(amount) is exp.Literal else ""
    if unit not in (*_MONTHS, "DAY", "WEEK", "HOUR", "MINUTE", "SECOND") or not re.fullmatch(r"-?\d{1,12}", size):
        refuse(
            node,
            text,
            "Only whole days, weeks, months, quarters or years may be added to a date, and hours to a timestamp.",
            "Write INTERVAL 30 DAY, INTERVAL 1 MONTH, or INTERVAL 12 HOUR.",
            code="interval-parts",
        )
    if unit in _MONTHS:
        return int(size) * _MONTHS[unit], 0, 0
    if unit.lower() in SPANS:
        return 0, 0, int(size) * SPANS[unit.lower()]
    return 0, int(size) * (7 if unit == "WEEK" else 1), 0


def shifted(date: ex.Expr, node: exp.Expr, text: str, sign: int = 1) -> ex.Expr:
    """A date plus an interval, or with ``sign`` -1 minus one."""
    months, days, seconds = interval(node, text)
    if seconds:
        return AddSeconds(date, sign * seconds)
    if months:
        return months_later(date, sign * months)
    return ex.Arithmetic("+" if sign > 0 else "-", date, ex.Literal(days))


@reads(exp.DateAdd, exp.DateSub, says="this expression")
def _added(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if type(node.expression) is not exp.Interval:
        refuse(
            node,
            r.text,
            f"{word(node, r.text)} adds an interval here.",
            "Write date + INTERVAL 1 MONTH.",
            code="interval-added",
            word=word(node, r.text),
        )
    sign = -1 if type(node) is exp.DateSub else 1
    return shifted(_date(r, node.this, depth), node.expression, r.text, sign)


@reads(exp.LastDay)
def _last_day(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return LastDay(_date(r, node.this, depth))


@reads(exp.DateFromParts, says="year month day")
def _made(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    parts = [r.read(node.args.get(name), depth) for name in ("year", "month", "day")]
    return MakeDate(*parts)


@reads(exp.TimeToStr, says="this format")
def _formatted(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    format = constant_text(node.args.get("format"), node, r.text)
    return (
        MomentText(format, r.read(node.this, depth)) if "%H" in format else DateText(format, _date(r, node.this, depth))
    )


@reads(exp.Dayname, exp.Monthname, says="this")
def _named(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return DateText("%A" if type(node) is exp.Dayname else "%B", _date(r, node.this, depth))


def _named_clock(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return MomentPart(f"{node.name[:-7].lower()}s", _moment(r, (node.expressions or [None])[0], depth))


NAMED.update(dict.fromkeys(("HOUR_NUMBER", "MINUTE_NUMBER", "SECOND_NUMBER"), _named_clock))


def _named_part(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """DATE_PART('month', day), and parts whose names are functions."""
    name, arguments = node.name.upper(), list(node.expressions)
    if name in ("DATE_PART", "DATEPART") and len(arguments) == 2:
        name = constant_text(arguments.pop(0), node, r.text)
        if name.lower() in SPANS:
            return MomentPart(name.lower(), _moment(r, arguments[0], depth))
        part = _extracted(name, node, r.text)
    else:
        part = {**_EXTRACTED, **{w: p for p, w in ex.DATE_PARTS.items()}}.get(name, "")
    if len(arguments) != 1:
        refuse(
            node,
            r.text,
            f"{name} has the wrong number of arguments.",
            "Write DATE_PART('month', date).",
            code="sql-arguments",
            word=name,
        )
    return ex.DatePart(part, _date(r, arguments[0], depth))


_BY_NAME = ("DATE_PART", "DATEPART", "WEEKDAY", "ISOYEAR", "MONTH_NUMBER", "QUARTER_NUMBER", "WEEK_NUMBER")
NAMED.update(dict.fromkeys(_BY_NAME, _named_part))


# ---- the same or not -----------------------------------------------------------------------------------------


@reads(exp.NullSafeEQ, exp.NullSafeNEQ, says="this expression")
def _same(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """IS NOT DISTINCT FROM: true or false, where NULL is the same as NULL."""
    a, b = r.read(node.this, depth), r.read(node.expression, depth)
    nothing = [x for x in (a, b) if x == ex.Literal(None)]
    if nothing:
        same: ex.Expr = ex.IsNull(b if a == nothing[0] else a)
    else:
        open_sides = [x for x in (a, b) if not isinstance(x, ex.Literal)]
        there = [ex.Not(ex.IsNull(x)) for x in open_sides]
        same = ex.all_of(ex.Compare("=", a, b), *there)
        if len(open_sides) == 2:
            same = ex.any_of(same, ex.all_of(ex.IsNull(a), ex.IsNull(b)))
    return same if type(node) is exp.NullSafeEQ else ex.Not(same)
