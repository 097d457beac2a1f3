"""Expressions as a person writes them, for messages and explanations; never sent to an engine."""

from __future__ import annotations

import re
from functools import singledispatch

from curador.query import expressions as ex
from curador.query.columns import Kind


def shown(e: ex.Expr) -> str:
    """An expression in words, cut to a length that a message can hold.

    >>> shown(ex.Literal("x" * 200))[-3:]
    'xx…'
    """
    said = worded(e)
    return said if len(said) <= 120 else said[:119] + "…"


@singledispatch
def worded(e: ex.Expr) -> str:
    """An expression in the words of SQL.

    >>> worded(ex.Compare("=", ex.Name("sex"), ex.Literal("F")))
    "sex = 'F'"
    """
    inside = ", ".join(worded(p) for p in e.parts)
    return f"{e.tag.upper()}({inside})"


@worded.register
def _(e: ex.Name) -> str:
    return _name(e.column) if e.table is None else f"{_name(e.table)}.{_name(e.column)}"


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else '"' + name.replace('"', '""') + '"'


@worded.register
def _(e: ex.Literal) -> str:
    if e.kind is None:
        return "NULL"
    if e.kind is Kind.DATE:
        return f"DATE '{e.value}'"
    if e.kind is Kind.TEXT:
        return "'" + str(e.value).replace("'", "''") + "'"
    if e.kind is Kind.REAL:
        return f"{float(e.number)!r}"
    return str(e.value).upper()


@worded.register
def _(e: ex.Arithmetic) -> str:
    return f"{_inner(e.left)} {e.op} {_inner(e.right)}"


@worded.register
def _(e: ex.Compare) -> str:
    return f"{_inner(e.left)} {e.op} {_inner(e.right)}"


@worded.register
def _(e: ex.Negate) -> str:
    return f"-{_inner(e.operand)}"


@worded.register
def _(e: ex.Not) -> str:
    return f"NOT {_inner(e.operand)}"


@worded.register
def _(e: ex.And) -> str:
    return " AND ".join(map(_inner, e.operands))


@worded.register
def _(e: ex.Or) -> str:
    return " OR ".join(map(_inner, e.operands))


@worded.register
def _(e: ex.IsNull) -> str:
    return f"{_inner(e.operand)} IS NULL"


@worded.register
def _(e: ex.In) -> str:
    return f"{_inner(e.operand)} IN ({', '.join(map(worded, e.values))})"


@worded.register
def _(e: ex.DatePart) -> str:
    return f"{'ISODOW' if e.part == 'weekday' else e.part.upper()}({worded(e.operand)})"


@worded.register
def _(e: ex.Bin) -> str:
    return f"BIN({', '.join([worded(e.operand), *(worded(ex.Literal(x)) for x in e.edges)])})"


@worded.register
def _(e: ex.Case) -> str:
    whens = " ".join(f"WHEN {worded(c)} THEN {worded(v)}" for c, v in e.whens)
    return f"CASE {whens} ELSE {worded(e.otherwise)} END"


_ATOMS = (ex.Name, ex.Literal, ex.Abs, ex.Least, ex.Greatest, ex.Coalesce, ex.DatePart, ex.Bin, ex.Case)


def _inner(e: ex.Expr) -> str:
    said = worded(e)
    # A negative literal is no atom: two minus signs would open a comment.
    return said if isinstance(e, _ATOMS) and not said.startswith("-") else f"({said})"
