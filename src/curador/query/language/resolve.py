"""Texts beside dates read as dates, casts that change nothing left out, timestamps as dates where those are meant."""

from __future__ import annotations

from dataclasses import fields

from curador.errors import InvalidParameter, QuestionRefused
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.functions.dates import AddMonths, DateText, DateTrunc, LastDay
from curador.query.language.functions.moments import AddSeconds
from curador.query.language.functions.numbers import Cast
from curador.query.language.types import Scope
from curador.query.tables.columns import DAY, Kind, iso_date, iso_moment

_ALIKE = (ex.Compare, ex.In, ex.Coalesce, ex.Least, ex.Greatest)
"""The expressions whose operands are all of one type."""


def resolved(e: ex.Expr, scope: Scope) -> ex.Expr:
    """The expression with constant texts beside dates read as dates.

    >>> from curador.query.language.types import Type
    >>> day = ex.Name("day")
    >>> str(resolved(ex.Compare(">=", day, ex.Literal("2025-06-01")), {day: Type(Kind.DATE)}))
    "day >= DATE '2025-06-01'"
    """
    if isinstance(e, ex.Name | ex.Literal):
        return e
    changed = {name: _inside(getattr(e, name), scope) for name in e.__match_args__}  # type: ignore[attr-defined]
    if any(value is not getattr(e, name) for name, value in changed.items()):
        e = type(e).build(**changed)
    if isinstance(e, (*_OF_DATES, Cast, ex.Arithmetic)):
        return _converted(e, scope)
    if not isinstance(e, _ALIKE) or not any(map(_is_dated, e.parts)):
        return e
    others = [x for x in e.parts if not isinstance(x, ex.Literal)]
    kind = typecheck(others[0], scope).kind if others else None
    if kind not in (Kind.DATE, Kind.TIMESTAMP) or all(x.kind is kind for x in e.parts if isinstance(x, ex.Literal)):
        return e
    return type(e).build(**{f.name: _dated(getattr(e, f.name), kind) for f in fields(e) if f.init})


_OF_DATES = (ex.DatePart, DateTrunc, DateText, LastDay, AddMonths)


def _converted(e: ex.Expr, scope: Scope) -> ex.Expr:
    """Without casts to the type that there is; the date of a timestamp where one is needed; days added as seconds."""
    if isinstance(e, ex.Arithmetic):
        whole = isinstance(e.right, ex.Literal) and e.right.kind is Kind.INTEGER and e.op in ("+", "-")
        if not whole or typecheck(e.left, scope).kind is not Kind.TIMESTAMP:
            return e
        days = int(e.right.number)  # type: ignore[attr-defined]
        return AddSeconds(e.left, (days if e.op == "+" else -days) * DAY)
    operand = e.operand  # type: ignore[attr-defined]
    if operand == ex.Literal(None):
        return e
    kind = typecheck(operand, scope).kind
    if isinstance(e, Cast):
        return operand if kind == e.kind else e
    if kind is not Kind.TIMESTAMP:
        return e
    own = {f.name: getattr(e, f.name) for f in fields(e) if f.init}  # type: ignore[arg-type]
    return type(e).build(**{**own, "operand": Cast(Kind.DATE, operand)})


def _inside(x: object, scope: Scope) -> object:
    if isinstance(x, ex.Expr):
        return resolved(x, scope)
    if not isinstance(x, tuple):
        return x
    found = tuple(_inside(y, scope) for y in x)
    return found if any(a is not b for a, b in zip(found, x, strict=True)) else x


def _is_dated(e: ex.Expr) -> bool:
    return isinstance(e, ex.Literal) and e.kind in (Kind.TEXT, Kind.DATE)


def _dated(x: object, kind: Kind) -> object:
    if isinstance(x, tuple):
        return tuple(_dated(y, kind) for y in x)
    if not isinstance(x, ex.Literal) or not _is_dated(x):
        return x
    try:
        return ex.Literal(iso_date(x.value) if kind is Kind.DATE else iso_moment(x.value))
    except InvalidParameter as error:
        raise QuestionRefused(
            f"{str(x.value)[:40]!r} stands beside a {kind} and is none.",
            fix=error.fix,
            code="not-a-date-text",
            facts={"text": str(x.value)[:40], "type": str(kind)},
        ) from None
