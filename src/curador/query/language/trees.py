"""Operations on whole expressions: the columns they read, names replaced, read back from JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction

import curador.query.language.answers  # noqa: F401  its expressions are read back, too
from curador.errors import QuestionRefused
from curador.query.language.expressions import Bin, Expr, Literal, Name
from curador.query.language.functions import curves, dates, moments, numbers, texts  # noqa: F401  their kinds are read from JSON, too
from curador.query.language.nodes import TAGS
from curador.query.tables.columns import Kind, iso_date, iso_moment


def names(e: Expr) -> set[Name]:
    """Every column an expression reads.

    >>> from curador.query.language.expressions import Arithmetic
    >>> sorted(n.column for n in names(Arithmetic("+", Name("a"), Name("b"))))
    ['a', 'b']
    """
    return {e} if isinstance(e, Name) else set().union(*map(names, e.parts))


def substitute(e: Expr, by: Mapping[Name, Expr]) -> Expr:
    """The expression with names replaced; how derived columns, CTEs and subqueries are read.

    >>> from curador.query.language.expressions import Arithmetic
    >>> str(substitute(Arithmetic("*", Name("x"), Literal(2)), {Name("x"): Name("y")}))
    'y * 2'
    """
    if isinstance(e, Name):
        return by.get(e, e)
    if not e.parts:
        return e
    return type(e).build(**{f.name: _replaced(getattr(e, f.name), by) for f in fields(e) if f.init})  # type: ignore[arg-type]


def _replaced(x: object, by: Mapping[Name, Expr]) -> object:
    if isinstance(x, Expr):
        return substitute(x, by)
    return tuple(_replaced(y, by) for y in x) if isinstance(x, tuple) else x


def expr_from_json(data: object) -> Expr:
    """Read back what :meth:`Expr.to_json` wrote.

    >>> expr_from_json(Literal(0.5).to_json())
    Literal(value=Fraction(1, 2), kind=<Kind.REAL: 'real'>)
    """
    try:
        return _expr(data)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        raise QuestionRefused("This is not an expression that to_json() wrote.", fix="Use Expr.to_json().") from None


def _expr(data: object) -> Expr:
    if not isinstance(data, Mapping):
        raise TypeError
    body = dict(data)
    kind = TAGS[body.pop("is")]
    if kind is Literal:
        return Literal(_value(**body))  # type: ignore[arg-type]
    if "rows" in body:
        from curador.query.language.rows import rows_from_json  # rows hold expressions, and these hold rows

        rows = rows_from_json(body.pop("rows"))
        return kind(**{**{name: _part(x) for name, x in body.items()}, "rows": rows})
    if kind is Bin:
        body["edges"] = [number_from_text(x) for x in body["edges"]]
    return kind(**{name: _part(x) for name, x in body.items()})


def _part(x: object) -> object:
    if isinstance(x, Mapping):
        return _expr(x)
    return tuple(map(_part, x)) if isinstance(x, list) else x


def _value(kind: object, value: object) -> object:
    if kind in (Kind.INTEGER, Kind.REAL):
        return number_from_text(value)
    if kind == Kind.TIMESTAMP:
        return iso_moment(value)
    return iso_date(value) if kind == Kind.DATE else value


def number_from_text(x: object) -> Fraction:
    """A fraction written as JSON holds it, and nothing else: "1e999999999" would take all memory there is.

    >>> number_from_text("-1/3")
    Fraction(-1, 3)
    """
    if not isinstance(x, str) or not re.fullmatch(r"-?\d{1,20}(/0*[1-9]\d{0,19})?", x, re.ASCII):
        raise QuestionRefused("This is not a number that to_json() wrote.", fix="Use to_json().")
    return Fraction(x)
