"""The meaning of expressions, written once more in plain Python: the oracle for every engine.

Numbers are the integers N of ``query.language.types`` (N / 2**bits).  Nothing here is shared with the lowering to
SQL but the types.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import singledispatch
from typing import Any

from curador.query.language import expressions as ex
from curador.query.language.bounds import compared_bits, division_shift
from curador.query.language.bounds import typecheck as _typecheck
from curador.query.language.functions import curves, dates, moments, texts
from curador.query.language.functions import numbers as fn
from curador.query.language.types import Scope, Type, grid_value, literal_on
from curador.query.tables.columns import WIDEST, Kind, days

EXACT = Context(prec=200)

_TYPES: dict[tuple[int, ex.Expr], tuple[Scope, Type]] = {}


def typecheck(e: ex.Expr, scope: Scope) -> Type:
    """The type of an expression, worked out once for all rows; the scope is kept, so that its id stays its own."""
    if (id(scope), e) not in _TYPES:
        if len(_TYPES) > 10_000:
            _TYPES.clear()
        _TYPES[id(scope), e] = scope, _typecheck(e, scope)
    return _TYPES[id(scope), e][1]


Cell = int | str | bool | None
Row = Mapping[ex.Name, object]


def read(raw: object, t: Type) -> Cell:
    """A raw value of a row as a plan reads it: out of type, NaN and infinite are NULL; bounds clip.

    Where the column is never NULL, its substitute stands for NULL.
    """
    found = _read(raw, t)
    return found if found is not None or t.nullable else instead(t)


def instead(t: Type) -> Cell:
    """The lower bound, what is none of the keys, or False."""
    if t.kind.counted and t.grid_bounds is not None:
        return t.grid_bounds[0]
    if t.kind is Kind.BOOLEAN:
        return False
    assert t.keys
    if t.kind is Kind.TEXT:
        return next(x for x in ("_" * n for n in range(len(t.keys) + 1)) if x not in t.keys)
    return next(x for x in range(len(t.keys) + 1) if x not in t.keys)


def _read(raw: object, t: Type) -> Cell:
    if t.kind is Kind.TEXT:
        return raw if isinstance(raw, str) else None
    if t.kind is Kind.BOOLEAN:
        return raw if isinstance(raw, bool) else None
    if t.kind is Kind.DATE:
        number = days(raw) if isinstance(raw, date) and not isinstance(raw, datetime) else None
    elif t.kind is Kind.TIMESTAMP:
        number = math.floor((raw - datetime(1970, 1, 1)) / timedelta(seconds=1)) if isinstance(raw, datetime) else None
    elif isinstance(raw, bool) or not isinstance(raw, int | float):
        number = None
    elif t.kind is Kind.INTEGER:
        number = raw if isinstance(raw, int) else None
    elif isinstance(raw, float) and not math.isfinite(raw):
        number = None
    else:
        numerator, denominator = raw.as_integer_ratio()
        number = (numerator << t.bits) // denominator
    if number is None:
        return None
    if t.grid_bounds is None:
        return number if abs(number) <= WIDEST else None
    low, high = t.grid_bounds
    return min(max(number, low), high)


def evaluate(e: ex.Expr, row: Row, scope: Scope) -> Cell:
    """The value of an expression for one row of raw values: numbers as integers on ``typecheck(e, scope).bits``."""
    return _value(e, row, scope)


@singledispatch
def _value(e: ex.Expr, row: Row, scope: Scope) -> Cell:
    raise TypeError(type(e))


@_value.register
def _(e: ex.Name, row: Row, scope: Scope) -> Cell:
    return read(row[e], scope[e])


@_value.register
def _(e: ex.Literal, row: Row, scope: Scope) -> Cell:
    if e.kind is None:
        return None
    if not e.kind.counted:
        assert isinstance(e.value, str | bool)
        return e.value
    return literal_on(grid_value(e), typecheck(e, scope).bits)


def _number(e: ex.Expr, row: Row, scope: Scope, bits: int | None = None) -> int | None:
    """A number, shifted onto a finer grid if one is given."""
    if e == ex.Literal(None):
        return None
    found = _value(e, row, scope)
    assert found is None or (isinstance(found, int) and not isinstance(found, bool))
    if found is None or bits is None:
        return found
    return found << (bits - typecheck(e, scope).bits)


@_value.register
def _(e: ex.Arithmetic, row: Row, scope: Scope) -> Cell:
    a, b = typecheck(e.left, scope), typecheck(e.right, scope)
    finer = max(a.bits, b.bits)
    if e.op == "*":
        x, y = _number(e.left, row, scope), _number(e.right, row, scope)
        return None if x is None or y is None else x * y
    if e.op == "/":
        x, y = _number(e.left, row, scope), _number(e.right, row, scope)
        shift = division_shift(a, b, typecheck(e, scope))
        assert shift >= 0
        return None if x is None or y is None or y == 0 else (x << shift) // y
    x, y = _number(e.left, row, scope, finer), _number(e.right, row, scope, finer)
    if x is None or y is None:
        return None
    if e.op == "+":
        return x + y
    if e.op == "-":
        return x - y
    if y == 0:
        return None
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient if e.op == "//" else x - y * quotient


@_value.register
def _(e: ex.Negate, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    return None if x is None else -x


@_value.register
def _(e: ex.Abs, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    return None if x is None else abs(x)


@_value.register(ex.Least)
@_value.register(ex.Greatest)
def _(e: ex.Least | ex.Greatest, row: Row, scope: Scope) -> Cell:
    bits = typecheck(e, scope).bits
    found = [x for x in (_number(o, row, scope, bits) for o in e.operands) if x is not None]
    return (min if isinstance(e, ex.Least) else max)(found, default=None)


@_value.register
def _(e: ex.DatePart, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    if x is None:
        return None
    return part_of(_day(x), e.part)


def _day(x: int) -> date:
    return date.fromordinal(x + date(1970, 1, 1).toordinal())


def part_of(day: date, part: str) -> int:
    """A part of a date, by what the calendar of Python says of it."""
    formats = {"day of year": "%j", "week": "%V", "year of week": "%G", "weekday from sunday": "%w"}
    if part in formats:
        return int(day.strftime(formats[part]))
    months = 12 * day.year + day.month - 1
    parts = {"year": day.year, "quarter": (day.month + 2) // 3, "month": day.month, "day": day.day}
    counts = {"months": months, "quarters": months // 3, "weeks": (day - date(1, 1, 1)).days // 7}
    return {**parts, **counts, "weekday": day.isoweekday()}[part]


@_value.register
def _(e: ex.Bin, row: Row, scope: Scope) -> Cell:
    x, bits = _number(e.operand, row, scope), typecheck(e.operand, scope).bits
    edges = [literal_on(edge, bits) for edge in e.edges]
    if x is None or not edges[0] <= x <= edges[-1]:
        return None
    return min(sum(edge <= x for edge in edges) - 1, len(edges) - 2)


@_value.register
def _(e: ex.Compare, row: Row, scope: Scope) -> Cell:
    return _compared(e, e.op, e.left, e.right, row, scope)


def _compared(e: ex.Expr, op: str, left: ex.Expr, right: ex.Expr, row: Row, scope: Scope) -> bool | None:
    types = typecheck(left, scope), typecheck(right, scope)
    bits = compared_bits(e, (left, right), types)

    def side(x: ex.Expr, t: Type) -> Cell:
        if not t.kind.counted:
            return _value(x, row, scope)
        return literal_on(grid_value(x), bits) if isinstance(x, ex.Literal) else _number(x, row, scope, bits)

    a, b = side(left, types[0]), side(right, types[1])
    if a is None or b is None:
        return None
    if op in ("=", "<>"):
        return (a == b) is (op == "=")
    if isinstance(a, str) and a not in (types[0].keys or ()):
        return None
    x: Any = a.encode() if isinstance(a, str) else a  # bytes are ordered as their characters
    y: Any = b.encode() if isinstance(b, str) else b
    return bool({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op])


@_value.register
def _(e: ex.In, row: Row, scope: Scope) -> Cell:
    found = [_compared(e, "=", e.operand, v, row, scope) for v in e.values]
    return None if None in found else True in found


def _truth(e: ex.Expr, row: Row, scope: Scope) -> bool | None:
    found = _value(e, row, scope)
    assert found is None or isinstance(found, bool)
    return found


@_value.register
def _(e: ex.And, row: Row, scope: Scope) -> Cell:
    found = [_truth(x, row, scope) for x in e.operands]
    return False if False in found else None if None in found else True


@_value.register
def _(e: ex.Or, row: Row, scope: Scope) -> Cell:
    found = [_truth(x, row, scope) for x in e.operands]
    return True if True in found else None if None in found else False


@_value.register
def _(e: ex.Not, row: Row, scope: Scope) -> Cell:
    found = _truth(e.operand, row, scope)
    return None if found is None else not found


@_value.register
def _(e: ex.IsNull, row: Row, scope: Scope) -> Cell:
    return _value(e.operand, row, scope) is None


@_value.register
def _(e: ex.Case, row: Row, scope: Scope) -> Cell:
    chosen = next((value for test, value in e.whens if _truth(test, row, scope)), e.otherwise)
    return _result(chosen, row, scope, typecheck(e, scope))


@_value.register
def _(e: ex.Coalesce, row: Row, scope: Scope) -> Cell:
    t = typecheck(e, scope)
    found = (_result(x, row, scope, t) for x in e.operands)
    return next((x for x in found if x is not None), None)


def _result(e: ex.Expr, row: Row, scope: Scope, t: Type) -> Cell:
    return _number(e, row, scope, t.bits) if t.kind.counted else _value(e, row, scope)


# ---- functions ---------------------------------------------------------------------------------------------------

_WAYS = {"floor": ROUND_FLOOR, "ceil": ROUND_CEILING, "trunc": ROUND_DOWN, "round": ROUND_HALF_UP}


def _decimal(n: int, bits: int) -> Decimal:
    return EXACT.divide(Decimal(n), Decimal(2**bits))  # a binary fraction is a decimal one


def _on_grid(x: Decimal, bits: int) -> int:
    found: int = math.floor(Fraction(x) * 2**bits)
    return found


@_value.register
def _(e: fn.Rounded, row: Row, scope: Scope) -> Cell:
    x, t = _number(e.operand, row, scope), typecheck(e.operand, scope)
    if x is None:
        return None
    step = Decimal(1).scaleb(-e.digits)
    multiple = EXACT.divide(_decimal(x, t.bits), step).to_integral_value(_WAYS[e.way])
    return _on_grid(EXACT.multiply(multiple, step), typecheck(e, scope).bits)


@_value.register
def _(e: fn.Sign, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    return None if x is None else (x > 0) - (x < 0)


@_value.register
def _(e: fn.Cast, row: Row, scope: Scope) -> Cell:
    x, t, wanted = _value(e.operand, row, scope), typecheck(e.operand, scope), typecheck(e, scope)
    if x is None or t.kind is wanted.kind:
        return x
    if wanted.kind is Kind.TEXT:
        if t.keys is not None and x not in [days(k) if isinstance(k, date) else k for k in t.keys]:
            return None
        return str(x).lower() if t.kind is Kind.BOOLEAN else str(_day(int(x)) if t.kind is Kind.DATE else x)
    if t.kind is Kind.TEXT:
        return _text_as(str(x), wanted) if x in (t.keys or ()) else None
    if wanted.kind is Kind.BOOLEAN:
        return int(x) != 0
    if t.kind is Kind.TIMESTAMP:
        return days(_moment(int(x)).date())
    if wanted.kind is Kind.TIMESTAMP:
        return int(x) * 24 * 60 * 60
    if t.kind is Kind.REAL:
        return int(_decimal(int(x), t.bits).to_integral_value(ROUND_HALF_UP))
    return int(x)


def _text_as(x: str, t: Type) -> Cell:
    try:
        if t.kind is Kind.DATE:
            return days(date.fromisoformat(x)) if len(x) == 10 else None
        if t.kind is Kind.BOOLEAN:
            return {"true": True, "1": True, "false": False, "0": False}.get(x)
        number = Fraction(x.strip(" "))
    except ValueError:
        return None
    if t.kind is Kind.INTEGER:
        return int(number) if number.denominator == 1 and "." not in x and abs(number) <= WIDEST else None
    found: int = math.floor(number * 2**t.bits)
    return found


@_value.register
def _(e: curves.Root, row: Row, scope: Scope) -> Cell:
    x, t = _number(e.operand, row, scope), typecheck(e.operand, scope)
    if x is None or x < 0:
        return None
    return _on_grid(EXACT.sqrt(_decimal(x, t.bits)), typecheck(e, scope).bits)


@_value.register
def _(e: curves.TabledCurve, row: Row, scope: Scope) -> Cell:
    x, t = _number(e.operand, row, scope), typecheck(e.operand, scope)
    if x is None or (t.keys is not None and x not in t.keys):
        return None
    if e.name == "exp":
        return _on_grid(EXACT.exp(Decimal(x)), 16)
    if x <= 0:
        return None
    base = {"ln": Decimal(1), "log10": EXACT.ln(Decimal(10)), "log2": EXACT.ln(Decimal(2))}[e.name]
    found = EXACT.divide(EXACT.ln(Decimal(x)), base)
    return _on_grid(EXACT.add(found, Decimal("1e-90")), 16)  # past the last digit of a whole one


@_value.register
def _(e: dates.DateTrunc, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    if x is None:
        return None
    d = _day(x)
    first = {
        "year": d.replace(month=1, day=1),
        "quarter": d.replace(month=(d.month - 1) // 3 * 3 + 1, day=1),
        "month": d.replace(day=1),
        "day": d,
    }
    return days(date.fromisocalendar(*d.isocalendar()[:2], 1) if e.unit == "week" else first[e.unit])


@_value.register
def _(e: dates.LastDay, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    return None if x is None else days(_day(x).replace(day=monthrange(_day(x).year, _day(x).month)[1]))


@_value.register
def _(e: dates.AddMonths, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    if x is None:
        return None
    d = _day(x)
    year, month = d.year, d.month
    for _ in range(abs(e.months)):  # one by one, from one end of a year to the other
        month += 1 if e.months > 0 else -1
        if month in (0, 13):
            year, month = (year - 1, 12) if month == 0 else (year + 1, 1)
    era = (year - 2000) // 400  # the calendar repeats itself, and Python's ends
    same = date(year - 400 * era, month, 1)
    return days(same) + 146097 * era + min(d.day, monthrange(same.year, month)[1]) - 1


@_value.register
def _(e: dates.MakeDate, row: Row, scope: Scope) -> Cell:
    parts = [_number(x, row, scope) for x in (e.year, e.month, e.day)]
    try:
        return days(date(*parts))  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        return None


@_value.register
def _(e: dates.DateText, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    if x is None:
        return None
    year = f"{_day(x).year:04}"  # glibc does not pad it
    week_year = f"{_day(x).isocalendar()[0]:04}"
    return _day(x).strftime(e.format.replace("%Y", year).replace("%G", week_year))


def _moment(x: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(seconds=x)


@_value.register
def _(e: moments.MomentPart, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    if x is None:
        return None
    at = _moment(x)
    since = at - datetime(1970, 1, 1)
    counts = {"hours": timedelta(hours=1), "minutes": timedelta(minutes=1), "seconds": timedelta(seconds=1)}
    return since // counts[e.part] if e.part in counts else int(getattr(at, e.part))


@_value.register
def _(e: moments.MomentTrunc, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    if x is None:
        return None
    at = _moment(x).replace(second=0) if e.unit != "second" else _moment(x)
    at = at.replace(minute=0) if e.unit == "hour" else at
    return (at - datetime(1970, 1, 1)) // timedelta(seconds=1)


@_value.register
def _(e: moments.AddSeconds, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    return None if x is None else x + e.seconds


@_value.register
def _(e: moments.MomentText, row: Row, scope: Scope) -> Cell:
    x = _number(e.operand, row, scope)
    return None if x is None else _moment(x).strftime(e.format)


@_value.register
def _(e: texts.TextFunction, row: Row, scope: Scope) -> Cell:
    x, known = _value(e.operand, row, scope), typecheck(e.operand, scope).keys or ()
    if x not in known:
        return None
    assert isinstance(x, str)
    a: list[Any] = list(e.arguments)
    found: dict[str, Callable[[], Cell]] = {
        "upper": lambda: x.upper(),
        "lower": lambda: x.lower(),
        "reverse": lambda: "".join(reversed(x)),
        "substring": lambda: "".join(c for i, c in enumerate(x, 1) if a[0] <= i < a[0] + a[1]),
        "left": lambda: "".join(c for i, c in enumerate(x) if i < a[0]),
        "right": lambda: "".join(c for i, c in enumerate(x) if i >= len(x) - a[0]),
        "trim": lambda: re.sub("^ *(.*?) *$", r"\1", x, count=1, flags=re.DOTALL),
        "replace": lambda: a[1].join(x.split(a[0])),
        "length": lambda: sum(1 for _ in x),
        "strpos": lambda: next((i + 1 for i in range(len(x)) if x[i:].startswith(a[0])), 0),
    }
    return found[e.name]()


@_value.register
def _(e: texts.Concat, row: Row, scope: Scope) -> Cell:
    found = [_value(x, row, scope) for x in e.operands]
    known = [typecheck(x, scope).keys or () for x in e.operands]
    return "".join(map(str, found)) if all(x in keys for x, keys in zip(found, known, strict=True)) else None


@_value.register
def _(e: texts.Like, row: Row, scope: Scope) -> Cell:
    x, keys = _value(e.operand, row, scope), typecheck(e.operand, scope).keys
    if not isinstance(x, str) or (keys is not None and x not in keys):
        return None
    parts = re.findall(r"\\.|.", e.pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    regex = "".join(wild.get(p) or re.escape(p[-1]) for p in parts)
    return re.fullmatch(regex, x, re.DOTALL | (re.IGNORECASE if e.fold else 0)) is not None
