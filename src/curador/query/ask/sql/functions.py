"""Functions of SQL, each read into one of ours: rounding, casts, the calendar and texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from curador.query.ask.sql.text import number, only, refuse, word
from curador.query.language import expressions as ex
from curador.query.language.curves import Curve, Root, power
from curador.query.language.dates import TRUNCATIONS, DateText, DateTrunc, LastDay, MakeDate, months_later
from curador.query.language.functions import Cast, Rounded, Sign
from curador.query.language.texts import ESCAPE, Concat, Like, TextFunction
from curador.query.tables.columns import Kind, iso_date

if TYPE_CHECKING:
    from curador.query.ask.sql.expressions import Reader

Rule = Callable[["Reader", exp.Expr, int], ex.Expr]
RULES: dict[type[exp.Expr], tuple[Rule, tuple[str, ...]]] = {}
"""The rule for each kind of node, and the arguments that it reads; a node with another is refused."""

_Words = dict[type[exp.Expr], str]

NAMED: dict[str, Rule] = {}
"""The rules of functions that the parser knows by their names alone."""


def _rule(*kinds: type[exp.Expr], says: str = "this") -> Callable[[Rule], Rule]:
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
        refuse(node, text, "A whole number is expected here.", "Write a whole number.")
    return int(value)


def _constant_text(node: exp.Expr | None, at: exp.Expr, text: str) -> str:
    if type(node) is not exp.Literal or not node.is_string:
        refuse(node or at, text, f"{word(at, text)} takes a constant text here.", "Write 'text' in single quotes.")
    return str(node.name)


# ---- numbers -------------------------------------------------------------------------------------------------

_ROUNDINGS: _Words = {exp.Round: "round", exp.Floor: "floor", exp.Ceil: "ceil", exp.Trunc: "trunc"}


@_rule(*_ROUNDINGS, says="this decimals")
def _round(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Rounded(_ROUNDINGS[type(node)], r.read(node.this, depth), whole(node.args.get("decimals"), r.text))


@_rule(exp.Sign)
def _sign(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Sign(r.read(node.this, depth))


@_rule(exp.WidthBucket, says="this min_value max_value num_buckets")
def _bucket(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """0 below the lowest edge, the number of buckets plus 1 from the highest edge on."""
    x = r.read(node.this, depth)
    low, high = (number(node.args[name], r.text) for name in ("min_value", "max_value"))
    count = whole(node.args["num_buckets"], r.text)
    if not 1 <= count < ex.LARGEST or low >= high:
        refuse(node, r.text, f"WIDTH_BUCKET needs 1 to {ex.LARGEST - 1} buckets between two growing edges.", _BUCKET)
    inside = ex.Bin(x, tuple(low + (high - low) * i / count for i in range(count + 1)))
    below, within = ex.Compare("<", x, ex.Literal(low)), ex.Compare("<", x, ex.Literal(high))
    return ex.Case(
        (
            (below, ex.Literal(0)),
            (within, ex.Arithmetic("+", inside, ex.Literal(1))),
            (ex.Compare(">=", x, ex.Literal(high)), ex.Literal(count + 1)),
        )
    )


@_rule(exp.Sqrt, exp.Ln, exp.Exp)
def _curve(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    x = r.read(node.this, depth)
    return Root(x) if type(node) is exp.Sqrt else Curve("ln" if type(node) is exp.Ln else "exp", x)


@_rule(exp.Log, says="this expression")
def _log(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """The logarithm to the base 10, or to the base that is given first."""
    if node.expression is None:
        return Curve("log10", r.read(node.this, depth))
    base = whole(node.this, r.text)
    if base not in (2, 10):
        refuse(node, r.text, "Logarithms are to the base 2, 10 or e.", "Write LOG2(x), LOG10(x) or LN(x).")
    return Curve(f"log{base}", r.read(node.expression, depth))


@_rule(exp.Pow, says="this expression")
def _power(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    found = power(r.read(node.this, depth), number(node.expression, r.text))
    if found is None:
        refuse(node, r.text, "POWER is exact for exponents 1, 2, 3 and 0.5 only.", "Multiply, or use EXP and LN.")
    return found


_BUCKET = "Write WIDTH_BUCKET(x, lowest, highest, buckets)."
_TYPES = {
    **dict.fromkeys(("INT", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("TEXT", "VARCHAR"), Kind.TEXT),
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
}


@_rule(exp.Cast, exp.TryCast, says="this to safe")
def _cast(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    to = node.args["to"]
    name = str(getattr(to.this, "value", to.this)).upper()
    if name not in _TYPES or any(to.args.get(part) for part in ("expressions", "nested", "values")):
        refuse(
            node,
            r.text,
            f"Nothing is cast to {name[:30]}{' with a size' if name in _TYPES else ''} here.",
            "Cast to BIGINT, DOUBLE, VARCHAR, BOOLEAN or DATE; for decimals write ROUND(x, 2).",
        )
    only(to, r.text, "this")
    if _TYPES[name] is Kind.DATE and type(node.this) is exp.Literal and node.this.is_string:
        return ex.Literal(iso_date(node.this.name))
    return Cast(_TYPES[name], r.read(node.this, depth))


# ---- dates ---------------------------------------------------------------------------------------------------

_PARTS: _Words = {
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
_COUNTED = {"YEAR": "year", "QUARTER": "quarters", "MONTH": "months", "WEEK": "weeks", "DAY": None}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


@_rule(*_PARTS)
def _part(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.DatePart(_PARTS[type(node)], _date(r, node.this, depth))


def _date(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """A date; a constant text is read as one."""
    found = r.read(node, depth)
    return ex.Literal(iso_date(found.value)) if isinstance(found, ex.Literal) and found.kind is Kind.TEXT else found


@_rule(exp.Extract, says="this expression")
def _extract(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.DatePart(_extracted(node.this.name, node, r.text), _date(r, node.expression, depth))


def _extracted(name: str, node: exp.Expr, text: str) -> str:
    if name.upper() not in _EXTRACTED:
        refuse(node, text, f"No part of a date is called {name.upper()[:20]}.", f"Use one of {', '.join(_EXTRACTED)}.")
    return _EXTRACTED[name.upper()]


@_rule(exp.TimestampTrunc, exp.DateTrunc, says="this unit")
def _truncated(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    unit = node.args["unit"].name.lower()
    if unit not in TRUNCATIONS:
        units = ", ".join(TRUNCATIONS)
        refuse(node, r.text, f"DATE_TRUNC does not know {unit[:20]!r} here.", f"Use one of {units}.")
    return DateTrunc(unit, _date(r, node.this, depth))


@_rule(exp.DateDiff, says="this expression unit date_part_boundary")
def _difference(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    unit = node.args["unit"].name.upper() if node.args.get("unit") else "DAY"
    if unit not in _COUNTED:
        refuse(node, r.text, f"DATEDIFF does not count a {unit[:20]}.", f"Use one of {', '.join(_COUNTED)}.")
    sides = [_date(r, node.this, depth), _date(r, node.expression, depth)]
    part = _COUNTED[unit]
    later, earlier = sides if part is None else (ex.DatePart(part, side) for side in sides)
    return ex.Arithmetic("-", later, earlier)


def interval(node: exp.Expr, text: str) -> tuple[int, int]:
    """The months and the days of an interval."""
    only(node, text, "this", "unit")
    unit, amount = str(node.args.get("unit")).upper().removesuffix("S"), node.this
    size = amount.name if type(amount) is exp.Literal else ""
    if unit not in (*_MONTHS, "DAY", "WEEK") or not re.fullmatch(r"-?\d{1,7}", size):
        refuse(
            node,
            text,
            "Only whole days, weeks, months, quarters or years may be added to a date.",
            "Write INTERVAL 30 DAY, or INTERVAL 1 MONTH.",
        )
    if unit in _MONTHS:
        return int(size) * _MONTHS[unit], 0
    return 0, int(size) * (7 if unit == "WEEK" else 1)


def shifted(date: ex.Expr, node: exp.Expr, text: str, sign: int = 1) -> ex.Expr:
    """A date plus an interval, or with ``sign`` -1 minus one."""
    months, days = interval(node, text)
    if months:
        return months_later(date, sign * months)
    return ex.Arithmetic("+" if sign > 0 else "-", date, ex.Literal(days))


@_rule(exp.DateAdd, exp.DateSub, says="this expression")
def _added(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if type(node.expression) is not exp.Interval:
        refuse(node, r.text, f"{word(node, r.text)} adds an interval here.", "Write date + INTERVAL 1 MONTH.")
    sign = -1 if type(node) is exp.DateSub else 1
    return shifted(_date(r, node.this, depth), node.expression, r.text, sign)


@_rule(exp.LastDay)
def _last_day(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return LastDay(_date(r, node.this, depth))


@_rule(exp.DateFromParts, says="year month day")
def _made(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    parts = [r.read(node.args.get(name), depth) for name in ("year", "month", "day")]
    return MakeDate(*parts)


@_rule(exp.TimeToStr, says="this format")
def _formatted(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return DateText(_constant_text(node.args.get("format"), node, r.text), _date(r, node.this, depth))


@_rule(exp.Dayname, exp.Monthname, says="this")
def _named(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return DateText("%A" if type(node) is exp.Dayname else "%B", _date(r, node.this, depth))


def _named_part(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """DATE_PART('month', day), and parts whose names are functions."""
    name, arguments = node.name.upper(), list(node.expressions)
    if name in ("DATE_PART", "DATEPART") and len(arguments) == 2:
        part = _extracted(_constant_text(arguments.pop(0), node, r.text), node, r.text)
    else:
        part = {**_EXTRACTED, **{w: p for p, w in ex.DATE_PARTS.items()}}.get(name, "")
    if len(arguments) != 1:
        refuse(node, r.text, f"{name} has the wrong number of arguments.", "Write DATE_PART('month', date).")
    return ex.DatePart(part, _date(r, arguments[0], depth))


_BY_NAME = ("DATE_PART", "DATEPART", "WEEKDAY", "ISOYEAR", "MONTH_NUMBER", "QUARTER_NUMBER", "WEEK_NUMBER")
NAMED.update(dict.fromkeys(_BY_NAME, _named_part))


# ---- texts ---------------------------------------------------------------------------------------------------

_PLAIN: _Words = {exp.Upper: "upper", exp.Lower: "lower", exp.Length: "length", exp.Reverse: "reverse"}


@_rule(*_PLAIN)
def _plain(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return TextFunction(_PLAIN[type(node)], r.read(node.this, depth))


@_rule(exp.Left, exp.Right, says="this expression")
def _end(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    name = "left" if type(node) is exp.Left else "right"
    return TextFunction(name, r.read(node.this, depth), (whole(node.expression, r.text),))


@_rule(exp.Substring, says="this start length")
def _substring(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    start, length = (node.args.get(name) for name in ("start", "length"))
    more = () if length is None else (whole(length, r.text),)
    if more and more[0] < 0:
        refuse(node, r.text, "A length below zero.", "Write a length from 0 on.")
    return TextFunction("substring", r.read(node.this, depth), (whole(start, r.text, 1), *more))


@_rule(exp.Trim, says="this expression position")
def _trim(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    characters = node.args.get("expression")
    more = () if characters is None else (_constant_text(characters, node, r.text),)
    return TextFunction(name, r.read(node.this, depth), more)


@_rule(exp.Replace, says="this expression replacement")
def _replace(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    both = (_constant_text(node.args.get(name), node, r.text) for name in ("expression", "replacement"))
    return TextFunction("replace", r.read(node.this, depth), tuple(both))


@_rule(exp.StrPosition, says="this substr")
def _place(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return TextFunction("strpos", r.read(node.this, depth), (_constant_text(node.args["substr"], node, r.text),))


@_rule(exp.DPipe, says="this expression safe")
def _joined(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Concat((r.read(node.this, depth), r.read(node.expression, depth)))


@_rule(exp.Concat, says="expressions safe coalesce")
def _concat(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Concat(tuple(r.read(x, depth) for x in node.expressions))


@_rule(exp.Like, exp.ILike, says="this expression negate")
def _like(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    pattern = _constant_text(node.expression, node, r.text)
    if ESCAPE in pattern:
        refuse(node, r.text, r"Engines read \ in a pattern differently.", "Say which character escapes: ESCAPE '$'.")
    return _matched(r, node, pattern, depth)


def _matched(r: Reader, node: exp.Expr, pattern: str, depth: int) -> ex.Expr:
    found = Like(r.read(node.this, depth), pattern, type(node) is exp.ILike)
    return ex.Not(found) if node.args.get("negate") else found


@_rule(exp.Escape, says="this expression")
def _escaped(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    inner, escape = node.this, _constant_text(node.expression, node, r.text)
    if type(inner) not in (exp.Like, exp.ILike) or len(escape) != 1:
        refuse(node, r.text, "ESCAPE is one character after LIKE.", "Write LIKE '10$%%' ESCAPE '$'.")
    only(inner, r.text, "this", "expression", "negate")
    pattern, taken = "", False
    for c in _constant_text(inner.expression, inner, r.text):
        if taken or c != escape:
            special = c in ("%", "_") and not taken
            pattern += c if special or c not in ("%", "_", ESCAPE) else ESCAPE + c
            taken = False
        else:
            taken = True
    return _matched(r, inner, pattern + (ESCAPE if taken else ""), depth)


_AFFIXES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.StartsWith: ("", "%"),
    exp.EndsWith: ("%", ""),
    exp.Contains: ("%", "%"),
}


@_rule(*_AFFIXES, says="this expression")
def _affix(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    before, after = _AFFIXES[type(node)]
    return Like.of(r.read(node.this, depth), before, _constant_text(node.expression, node, r.text), after)


def _named_affix(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if len(node.expressions) != 2:
        refuse(
            node,
            r.text,
            f"{word(node, r.text)} has the wrong number of arguments.",
            "Write STARTS_WITH(column, 'text').",
        )
    before, after = ("", "%") if node.name.upper() == "PREFIX" else ("%", "")
    x, part = node.expressions
    return Like.of(r.read(x, depth), before, _constant_text(part, node, r.text), after)


NAMED.update(dict.fromkeys(("PREFIX", "SUFFIX"), _named_affix))


# ---- the same or not -----------------------------------------------------------------------------------------


@_rule(exp.NullSafeEQ, exp.NullSafeNEQ, says="this expression")
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
