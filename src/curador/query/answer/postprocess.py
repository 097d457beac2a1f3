"""HAVING, ORDER BY and LIMIT: done to noised answers alone, so they cost nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date
from fractions import Fraction
from functools import singledispatch
from typing import TypeVar

from curador.numbers import rational
from curador.query.ask.question import Order, Question
from curador.query.language import expressions as ex

AnswerRow = Mapping[str, object]
_Row = TypeVar("_Row", bound=AnswerRow)


def finish(question: Question, rows: Iterable[_Row]) -> list[_Row]:
    """The rows of a noised answer that are shown, in the order asked for; without one, in the order they come.

    Guarantee: post-processing; reads nothing but what is about to be released [DMNS06].

    >>> from curador.query.aggregates.words import count
    >>> from curador.query.ask.question import Output
    >>> q = Question("t", (Output("n", count()),), order_by=(Order("n", descending=True),), limit=2)
    >>> finish(q, [{"n": 3}, {"n": -1}, {"n": 8}])
    [{'n': 8}, {'n': 3}]
    """
    kept = [row for row in rows if question.having is None or holds(question.having, row) is True]
    for order in reversed(question.order_by):  # sorting is stable: the last key first
        known = [row for row in kept if _value(row[order.name]) is not None]
        unknown = [row for row in kept if _value(row[order.name]) is None]
        kept = sorted(known, key=lambda row: _sortable(row, order), reverse=order.descending) + unknown
    return kept if question.limit is None else kept[: question.limit]


def _sortable(row: AnswerRow, order: Order) -> Fraction | str | int:
    found = _value(row[order.name])
    assert found is not None
    return found


def _value(x: object) -> Fraction | str | int | None:
    """A value that compares with its like: numbers exactly, dates as days, NaN as unknown."""
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return None
    if isinstance(x, float) and math.isinf(x):
        return Fraction(10) ** 400 * (1 if x > 0 else -1)  # beyond every double
    if isinstance(x, date):
        return x.toordinal()
    return x if isinstance(x, str | bool) else rational(x, "an answer")


@singledispatch
def holds(e: ex.Expr, row: AnswerRow) -> bool | None:
    """Whether a condition is true of a row of the answer: true, false, or None where that is unknown.

    >>> holds(ex.Compare(">", ex.Name("n"), ex.Literal(5)), {"n": 7.5})
    True
    """
    found = _operand(e, row)
    assert found is None or isinstance(found, bool)
    return found


def _operand(e: ex.Expr, row: AnswerRow) -> Fraction | str | int | None:
    if isinstance(e, ex.Name):
        return _value(row[e.column])
    assert isinstance(e, ex.Literal), "HAVING was checked to compare names and literals"
    return _value(e.value)


@holds.register
def _(e: ex.Compare, row: AnswerRow) -> bool | None:
    a, b = _operand(e.left, row), _operand(e.right, row)
    if a is None or b is None:
        return None
    if e.op in ("=", "<>"):
        return (a == b) is (e.op == "=")
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[e.op]


@holds.register
def _(e: ex.In, row: AnswerRow) -> bool | None:
    a = _operand(e.operand, row)
    return None if a is None else a in [_operand(v, row) for v in e.values]


@holds.register
def _(e: ex.IsNull, row: AnswerRow) -> bool | None:
    return _operand(e.operand, row) is None


@holds.register
def _(e: ex.Not, row: AnswerRow) -> bool | None:
    found = holds(e.operand, row)
    return None if found is None else not found


@holds.register
def _(e: ex.And, row: AnswerRow) -> bool | None:
    found = [holds(x, row) for x in e.operands]
    return False if False in found else None if None in found else True


@holds.register
def _(e: ex.Or, row: AnswerRow) -> bool | None:
    found = [holds(x, row) for x in e.operands]
    return True if True in found else None if None in found else False
