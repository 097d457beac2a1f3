"""Functions as neutral trees, with the meaning that :mod:`curador.query.language.functions.numbers` and its kin fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import singledispatch

from curador.query.language.functions import curves, dates, moments, texts
from curador.query.language.functions import numbers as fn
from curador.query.language.types import Type
from curador.query.sql_plan import calendar
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.bindings import Bindings
from curador.query.sql_plan.group_index import key_node
from curador.query.sql_plan.ir import Node
from curador.query.tables.columns import DAY, Key, Kind, days


@singledispatch
def function_node(e: fn.RowFunction, operands: Sequence[Node], at: Bindings) -> Node:
    """The neutral tree of a function of these operands."""
    raise TypeError(f"no rule for {type(e).__name__}")


# ---- numbers -------------------------------------------------------------------------------------------------


@function_node.register
def _(e: fn.Rounded, operands: Sequence[Node], at: Bindings) -> Node:
    return _rounded(e, operands[0], at.type(e.operand), at.type(e), at)


def _rounded(e: fn.Rounded, x: Node, t: Type, result: Type, at: Bindings) -> Node:
    if t.kind is Kind.INTEGER and e.digits >= 0:
        return x
    if e.digits <= 0:
        unit = 10**-e.digits
        multiple = _divided(e.way, x, unit << t.bits, at)
        return multiple if unit == 1 else nt.times(multiple, nt.constant(unit))
    scale = 10**e.digits
    multiple = _divided(e.way, nt.times(x, nt.constant(scale)), 1 << t.bits, at)
    return _divided("floor", nt.times(multiple, nt.constant(1 << result.bits)), scale, at)


def _divided(way: str, x: Node, by: int, at: Bindings) -> Node:
    """x / by as a whole number, for a positive constant; only numbers from zero on are divided."""
    if by == 1:
        return x
    under = nt.constant(by)
    if way == "trunc":
        return nt.divide(x, under)
    x = at.bind(x)
    above = {"floor": 0, "ceil": by - 1, "round": by // 2}[way]
    below = {"floor": by - 1, "ceil": 0, "round": by // 2}[way]
    up = nt.divide(nt.plus(x, nt.constant(above)) if above else x, under)
    down = nt.divide(nt.plus(nt.negated(x), nt.constant(below)) if below else nt.negated(x), under)
    return nt.case([(nt.infix(">=", x, nt.number(0)), up)], nt.negated(down))


@function_node.register
def _(e: fn.Sign, operands: Sequence[Node], at: Bindings) -> Node:
    x = at.bind(operands[0])
    return nt.case([(nt.infix(op, x, nt.number(0)), nt.constant(n)) for op, n in ((">", 1), ("<", -1), ("=", 0))])


@function_node.register
def _(e: curves.Root, operands: Sequence[Node], at: Bindings) -> Node:
    shift = 2 * at.type(e).bits - at.type(e.operand).bits
    x = at.bind(operands[0])
    shifted = nt.times(x, nt.constant(1 << shift)) if shift else x
    wanted = at.bind(nt.case([(nt.infix(">=", x, nt.number(0)), shifted)]))
    near = at.bind(nt.function("ROOT", [wanted]))
    above = nt.plus(near, nt.constant(1))
    return nt.case(
        [
            (nt.infix(">", nt.times(near, near), wanted), nt.minus(near, nt.constant(1))),
            (nt.infix("<=", nt.times(above, above), wanted), above),
        ],
        near,
    )


# ---- tables --------------------------------------------------------------------------------------------------


@function_node.register
def _(e: fn.Tabled, operands: Sequence[Node], at: Bindings) -> Node:
    return looked_up(e.table(at.type(e.operand)), operands[0], at.type(e), at)


def looked_up(table: Mapping[Key, fn.Found], x: Node, result: Type, at: Bindings) -> Node:
    """The value that a table has for x; NULL where it has none."""
    x = at.bind(x)
    keys: dict[tuple[type, fn.Found], list[Key]] = {}
    for key, value in table.items():
        if value is not None:
            keys.setdefault((type(value), value), []).append(key)
    return nt.case((_one_of(x, some), _constant(value, result)) for (_, value), some in keys.items())


def _one_of(x: Node, keys: Sequence[Key]) -> Node:
    if isinstance(keys[0], bool):
        return nt.either(*(x if key else nt.opposite(x) for key in keys))
    if len(keys) == 1:
        return nt.infix("=", x, key_node(keys[0]))
    return nt.within(x, map(key_node, keys))


def _constant(value: fn.Found, result: Type) -> Node:
    if isinstance(value, bool):
        return nt.truth(value)
    if isinstance(value, str):
        return nt.text(value)
    assert value is not None
    return nt.constant(days(value) if isinstance(value, date) else int(Fraction(value) * 2**result.bits))


@function_node.register
def _(e: fn.Cast, operands: Sequence[Node], at: Bindings) -> Node:
    (x,), t, wanted = operands, at.type(e.operand), at.type(e).kind
    if t.kind is wanted or (t.kind, wanted) == (Kind.INTEGER, Kind.REAL):
        return x
    if Kind.TEXT in (t.kind, wanted):
        return looked_up(e.table(t), x, at.type(e), at)
    if t.kind is Kind.TIMESTAMP:
        return calendar.clock_number(DAY, x)
    if wanted is Kind.TIMESTAMP:
        return nt.times(x, nt.constant(DAY))
    if t.kind is Kind.BOOLEAN:
        x = at.bind(x)
        return nt.case([(x, nt.constant(1)), (nt.opposite(x), nt.constant(0))])
    if wanted is Kind.BOOLEAN:
        return nt.infix("<>", x, nt.number(0))
    return _rounded(fn.Rounded("round", e.operand), x, t, at.type(e), at)


# ---- dates ---------------------------------------------------------------------------------------------------


@function_node.register
def _(e: dates.DateText, operands: Sequence[Node], at: Bindings) -> Node:
    part = operands[0] if e.part == "date" else calendar.day_part(str(e.part), operands[0], at)
    return looked_up(e.table(e.deciding(at.type(e.operand))), part, at.type(e), at)


@function_node.register
def _(e: dates.DateTrunc, operands: Sequence[Node], at: Bindings) -> Node:
    return calendar.truncated(e.unit, operands[0], at)


@function_node.register
def _(e: dates.LastDay, operands: Sequence[Node], at: Bindings) -> Node:
    return calendar.last_day(operands[0], at)


@function_node.register
def _(e: dates.AddMonths, operands: Sequence[Node], at: Bindings) -> Node:
    return calendar.months_later(operands[0], e.months, at)


@function_node.register
def _(e: dates.MakeDate, operands: Sequence[Node], at: Bindings) -> Node:
    year, month, day = operands
    return calendar.made_date(year, month, day, at)


# ---- timestamps ----------------------------------------------------------------------------------------------


@function_node.register
def _(e: moments.MomentPart, operands: Sequence[Node], at: Bindings) -> Node:
    if e.part in moments.CYCLES:
        return calendar.clock_part(e.span, moments.CYCLES[e.part], operands[0])
    return calendar.clock_number(e.span, operands[0])


@function_node.register
def _(e: moments.MomentTrunc, operands: Sequence[Node], at: Bindings) -> Node:
    span = moments.SPANS[e.unit]
    return nt.times(calendar.clock_number(span, operands[0]), nt.constant(span))


@function_node.register
def _(e: moments.AddSeconds, operands: Sequence[Node], at: Bindings) -> Node:
    return nt.plus(operands[0], nt.constant(e.seconds))


@function_node.register
def _(e: moments.MomentText, operands: Sequence[Node], at: Bindings) -> Node:
    part = function_node(moments.MomentPart(e.part, e.operand), operands, at)
    return looked_up(e.table(e.deciding(at.type(e.operand))), part, at.type(e), at)


# ---- texts ---------------------------------------------------------------------------------------------------


@function_node.register
def _(e: texts.Like, operands: Sequence[Node], at: Bindings) -> Node:
    t = at.type(e.operand)
    if t.keys is not None or e.simple is None:
        return looked_up(e.table(t), operands[0], at.type(e), at)
    test, part = e.simple
    if test == "=":
        return nt.infix("=", operands[0], nt.text(part))
    if test in ("STARTS WITH", "ENDS WITH", "CONTAINS"):
        return nt.function(test, [operands[0], nt.text(part)])  # type: ignore[arg-type]
    raise TypeError(test)


@function_node.register
def _(e: texts.Concat, operands: Sequence[Node], at: Bindings) -> Node:
    return nt.function("CONCAT", [_keyed(x, at.type(o), at) for x, o in zip(operands, e.operands, strict=True)])


def _keyed(x: Node, t: Type, at: Bindings) -> Node:
    """A text where it is one of its keys, so that no text is longer than those."""
    if isinstance(x, nt.Text):
        return x
    x = at.bind(x)
    return nt.case([(nt.within(x, map(key_node, t.keys or ())), x)])
