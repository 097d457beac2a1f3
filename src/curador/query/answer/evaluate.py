"""The value of an expression over a noised answer, in all of its groups at once.

One evaluator for computed columns, HAVING and ORDER BY.  It is total: what has no value is NULL, never NaN or infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import singledispatch
from typing import Any

from curador.query.language import answers as an
from curador.query.language import expressions as ex
from curador.query.tables.columns import Kind

Cells = Sequence[Any]
"""One value per group: a number, a text, a boolean, a date, or None for NULL."""


@singledispatch
def evaluated(e: ex.Expr, columns: Mapping[str, Cells], rows: int) -> Cells:
    """The value of an expression in each of ``rows`` groups, from the columns of the answer.

    >>> evaluated(ex.Arithmetic("/", ex.Name("s"), ex.Name("n")), {"s": (6, 1), "n": (4, 0)}, 2)
    [1.5, None]
    """
    raise TypeError(f"no rule for {type(e).__name__}")


@evaluated.register
def _(e: ex.Name, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [None if x != x else x for x in columns[e.column]]  # NaN alone is not equal to itself


@evaluated.register
def _(e: ex.Literal, columns: Mapping[str, Cells], rows: int) -> Cells:
    value = float(e.number) if e.kind is Kind.REAL else e.value
    return [value] * rows


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _total(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule of numbers made total: NULL where one of them is, or where it has no finite value."""

    def value(*numbers: Any) -> Any:
        if any(x is None for x in numbers):
            return None
        try:
            found = rule(*numbers)
            float(found)  # a whole number beyond all doubles, which nobody could draw, and at last not write
        except (ZeroDivisionError, OverflowError, ValueError):
            return None
        return None if isinstance(found, float) and not math.isfinite(found) else found

    return value


def _quotient(a: float, b: float) -> int:
    """a / b without its fraction, exactly."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)
    return math.trunc(a / b)


_RULES: dict[str, Callable[..., Any]] = {
    "+": _total(lambda a, b: a + b),
    "-": _total(lambda a, b: a - b),
    "*": _total(lambda a, b: a * b),
    "/": _total(lambda a, b: a / b),
    "//": _total(_quotient),
    "%": _total(lambda a, b: a - b * _quotient(a, b) if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b)),
}


@evaluated.register
def _(e: ex.Arithmetic, columns: Mapping[str, Cells], rows: int) -> Cells:
    return list(map(_RULES[e.op], evaluated(e.left, columns, rows), evaluated(e.right, columns, rows)))


@evaluated.register
def _(e: ex.Negate, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [None if x is None else -x for x in evaluated(e.operand, columns, rows)]


@evaluated.register
def _(e: ex.Abs, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [None if x is None else abs(x) for x in evaluated(e.operand, columns, rows)]


def rounded(x: float, digits: int) -> float:
    """A number rounded half away from zero, as SQL rounds; an integer stays one.

    >>> rounded(2.5, 0), rounded(-0.125, 2), rounded(1234, -2)
    (3.0, -0.13, 1200)
    """
    if isinstance(x, int):
        unit: int = 10 ** max(0, -digits)
        return (abs(x) + unit // 2) // unit * unit * (1 if x >= 0 else -1)
    scaled = abs(x) * 10.0**digits
    if not math.isfinite(scaled) or scaled >= 2.0**52:  # every digit that a double has is kept
        return x
    return math.copysign(math.floor(scaled + 0.5) / 10.0**digits, x)


APPLIED: dict[str, Callable[[float], float]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
    "ln": math.log,
    "exp": math.exp,
}


def function_of(e: an.Applied) -> Callable[[Any], Any]:
    """The function of one number that is applied, made total."""
    return _total((lambda x: rounded(x, e.digits)) if e.function == "round" else APPLIED[e.function])


@evaluated.register
def _(e: an.Applied, columns: Mapping[str, Cells], rows: int) -> Cells:
    return list(map(function_of(e), evaluated(e.operand, columns, rows)))


@evaluated.register
def _(e: ex.Least, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [min(_known(xs), default=None) for xs in _beside(e.operands, columns, rows)]


@evaluated.register
def _(e: ex.Greatest, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [max(_known(xs), default=None) for xs in _beside(e.operands, columns, rows)]


@evaluated.register
def _(e: ex.Coalesce, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [next(iter(_known(xs)), None) for xs in _beside(e.operands, columns, rows)]


def _beside(parts: Iterable[ex.Expr], columns: Mapping[str, Cells], rows: int) -> Iterable[tuple[Any, ...]]:
    return zip(*(evaluated(part, columns, rows) for part in parts), strict=True)


def _known(values: Iterable[Any]) -> list[Any]:
    return [x for x in values if x is not None]


# ---- truth -----------------------------------------------------------------------------------------------------------

_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@evaluated.register
def _(e: ex.Compare, columns: Mapping[str, Cells], rows: int) -> Cells:
    test = _TESTS[e.op]
    return [None if None in pair else test(*pair) for pair in _beside((e.left, e.right), columns, rows)]


@evaluated.register
def _(e: ex.In, columns: Mapping[str, Cells], rows: int) -> Cells:
    listed = [evaluated(value, columns, 1)[0] for value in e.values]
    return [None if x is None else x in listed for x in evaluated(e.operand, columns, rows)]


@evaluated.register
def _(e: ex.IsNull, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [x is None for x in evaluated(e.operand, columns, rows)]


@evaluated.register
def _(e: ex.Not, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [None if x is None else not x for x in evaluated(e.operand, columns, rows)]


@evaluated.register
def _(e: ex.And, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [False if False in xs else None if None in xs else True for xs in _beside(e.operands, columns, rows)]


@evaluated.register
def _(e: ex.Or, columns: Mapping[str, Cells], rows: int) -> Cells:
    return [True if True in xs else None if None in xs else False for xs in _beside(e.operands, columns, rows)]


@evaluated.register
def _(e: ex.Case, columns: Mapping[str, Cells], rows: int) -> Cells:
    found = list(evaluated(e.otherwise, columns, rows))
    for test, value in reversed(e.whens):
        pairs = zip(evaluated(test, columns, rows), evaluated(value, columns, rows), strict=True)
        found = [chosen if true is True else other for (true, chosen), other in zip(pairs, found, strict=True)]
    return found


# ---- windows ---------------------------------------------------------------------------------------------------------


def partitions(e: an.OverGroups, columns: Mapping[str, Cells], rows: int) -> list[list[int]]:
    """The places of the groups that stand together in a window."""
    found: dict[tuple[Any, ...], list[int]] = {}
    keys = zip(*(evaluated(part, columns, rows) for part in e.partition), strict=True) if e.partition else [()] * rows
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    return list(found.values())


_ADDED: dict[str, Callable[[list[Any]], Any]] = {
    "sum": _total(lambda xs: _sum(xs)),
    "avg": _total(lambda xs: _sum(xs) / len(xs)),
    "min": min,
    "max": max,
}


def _sum(xs: list[Any]) -> Any:
    return sum(xs) if all(isinstance(x, int) for x in xs) else math.fsum(xs)


@evaluated.register
def _(e: an.OverGroups, columns: Mapping[str, Cells], rows: int) -> Cells:
    found: list[Any] = [None] * rows
    cells = evaluated(e.operands[0], columns, rows) if e.operands else ()
    for places in partitions(e, columns, rows):
        if e.order:
            for i, place in _ranked(e, columns, rows, places):
                found[i] = place
            continue
        known = _known(cells[i] for i in places) if e.operands else []
        value = len(places) if e.function == "count" else _ADDED[e.function](known) if known else None
        for i in places:
            found[i] = value
    return found


def _ranked(e: an.OverGroups, columns: Mapping[str, Cells], rows: int, places: list[int]) -> Iterable[tuple[int, int]]:
    keys = [evaluated(by, columns, rows) for by in e.order]
    order = places
    for cells, down in zip(reversed(keys), reversed(e.descending), strict=True):
        order = in_order(order, cells, down)
    before: Any = None
    rank = dense = 0
    for n, i in enumerate(order, 1):
        here = tuple(comparable(cells[i]) for cells in keys)
        if n == 1 or here != before:
            before, rank, dense = here, n, dense + 1
        yield i, {"row_number": n, "rank": rank, "dense_rank": dense}[e.function]


def in_order(places: list[int], cells: Cells, descending: bool) -> list[int]:
    """Places sorted by their cells, NULL last; what is equal stays in its order."""
    known = [i for i in places if comparable(cells[i]) is not None]
    unknown = [i for i in places if comparable(cells[i]) is None]
    return sorted(known, key=lambda i: comparable(cells[i]), reverse=descending) + unknown


def comparable(x: Any) -> Any:
    """A value that compares with its like: dates as days, NaN as NULL."""
    if isinstance(x, date):
        return x if isinstance(x, datetime) else x.toordinal()
    return None if isinstance(x, float) and math.isnan(x) else x
