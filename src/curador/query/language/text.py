"""Expressions as a person writes them, for messages and explanations; never sent to an engine."""

from __future__ import annotations

import re
from functools import singledispatch

from curador.query.language import expressions as ex
from curador.query.tables.columns import Kind


def shortened(e: ex.Expr) -> str:
    """The text of an expression, cut to a length that a message can hold.

    >>> shortened(ex.Literal("x" * 200))[-3:]
    'xx…'
    """
    text = sql_text(e)
    return text if len(text) <= 120 else text[:119] + "…"


@singledispatch
def sql_text(e: ex.Expr) -> str:
    """The text of an expression in SQL.

    >>> sql_text(ex.Compare("=", ex.Name("sex"), ex.Literal("F")))
    "sex = 'F'"
    """
    return e.written([sql_text(p) for p in e.parts])


@sql_text.register
def _(e: ex.Name) -> str:
    return _name(e.column) if e.table is None else f"{_name(e.table)}.{_name(e.column)}"


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else '"' + name.replace('"', '""') + '"'


@sql_text.register
def _(e: ex.Literal) -> str:
    if e.kind is None:
        return "NULL"
    if e.kind is Kind.DATE:
        return f"DATE '{e.value}'"
    if e.kind is Kind.TIMESTAMP:
        return f"TIMESTAMP '{e.value}'"
    if e.kind is Kind.TEXT:
        return "'" + str(e.value).replace("'", "''") + "'"
    if e.kind is Kind.REAL:
        return f"{float(e.number)!r}"
    return str(e.value).upper()


@sql_text.register
def _(e: ex.Arithmetic) -> str:
    return f"{_inner(e.left)} {e.op} {_inner(e.right)}"


@sql_text.register
def _(e: ex.Compare) -> str:
    return f"{_inner(e.left)} {e.op} {_inner(e.right)}"


@sql_text.register
def _(e: ex.Negate) -> str:
    return f"-{_inner(e.operand)}"


@sql_text.register
def _(e: ex.Not) -> str:
    return f"NOT {_inner(e.operand)}"


@sql_text.register
def _(e: ex.And) -> str:
    return " AND ".join(map(_inner, e.operands))


@sql_text.register
def _(e: ex.Or) -> str:
    return " OR ".join(map(_inner, e.operands))


@sql_text.register
def _(e: ex.IsNull) -> str:
    return f"{_inner(e.operand)} IS NULL"


@sql_text.register
def _(e: ex.In) -> str:
    return f"{_inner(e.operand)} IN ({', '.join(map(sql_text, e.values))})"


@sql_text.register
def _(e: ex.DatePart) -> str:
    return f"{ex.DATE_PARTS[e.part]}({sql_text(e.operand)})"


@sql_text.register
def _(e: ex.Bin) -> str:
    return f"BIN({', '.join([sql_text(e.operand), *(sql_text(ex.Literal(x)) for x in e.edges)])})"


@sql_text.register
def _(e: ex.Case) -> str:
    whens = " ".join(f"WHEN {sql_text(c)} THEN {sql_text(v)}" for c, v in e.whens)
    return f"CASE {whens} ELSE {sql_text(e.otherwise)} END"


_LOOSE = (ex.Arithmetic, ex.Compare, ex.Negate, ex.Not, ex.And, ex.Or, ex.IsNull, ex.In)


def _inner(e: ex.Expr) -> str:
    text = sql_text(e)
    # A negative literal is not an atom: two minus signs would open a comment.
    return text if not isinstance(e, _LOOSE) and not text.startswith("-") else f"({text})"
