"""The meaning of expressions, written once more in plain Python: the oracle for every engine.

Numbers are the integers N of ``query.language.types`` (N / 2**bits).  Nothing here is shared with the lowering to
SQL but the types.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from functools import singledispatch

from curador.query.language import expressions as ex
from curador.query.language.bounds import compared_bits, division_shift, typecheck
from curador.query.language.types import Scope, Type, grid_value, literal_on
from curador.query.tables.columns import WIDEST, Kind, days

Cell = int | str | bool | None
Row = Mapping[ex.Name, object]


def read(raw: object, t: Type) -> Cell:
    """A raw value of a row as a plan reads it: out of type, NaN and infinite are NULL; bounds clip.

    Where the column is never NULL, its substitute stands for NULL.
    """
    found = _read(raw, t)
    return found if found is not None or t.nullable else instead(t)


def instead(t: Type) -> Cell:
    """The lower bound, the first key, or False."""
    if t.kind.counted and t.grid_bounds is not None:
        return t.grid_bounds[0]
    if t.keys:
        first = t.keys[0]
        return days(first) if isinstance(first, date) else first
    assert t.kind is Kind.BOOLEAN
    return False


def _read(raw: object, t: Type) -> Cell:
    if t.kind is Kind.TEXT:
        return raw if isinstance(raw, str) else None
    if t.kind is Kind.BOOLEAN:
        return raw if isinstance(raw, bool) else None
    if t.kind is Kind.DATE:
        number = days(raw) if isinstance(raw, date) and not isinstance(raw, datetime) else None
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
    day = date.fromordinal(x + date(1970, 1, 1).toordinal())
    parts = {"year": day.year, "quarter": (day.month + 2) // 3, "month": day.month, "day": day.day}
    return {**parts, "weekday": day.isoweekday()}[e.part]


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
    assert isinstance(a, int)
    assert isinstance(b, int)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]


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
