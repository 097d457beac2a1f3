"""Texts beside dates, casts and dates of timestamps inside the rows of a question: read as what they are compared with.

The expressions of a question itself are resolved when it is checked; here are those that its columns are made of, each
over the columns of the rows below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from curador.query.ask.question import Group, Output, Question
from curador.query.ask.typed import typed_rows
from curador.query.language.expressions import Expr, Name
from curador.query.language.resolve import resolved
from curador.query.language.rows import BesideUnit, InUnits, Join, OfParts, OfUnit, PerUnit, RowSet, UnionAll
from curador.query.language.trees import names, substitute
from curador.query.tables.table import Table

Tables = Mapping[str, Table]


@dataclass(frozen=True)
class _At:
    """The tables, and what was resolved already: outputs share the columns of inner queries.

    By the rows, which are held so that nothing else has their place, and the expression over them.
    """

    tables: Tables
    made: dict[tuple[int, Expr], tuple[RowSet, Expr]] = field(default_factory=dict)


def resolved_inside(question: Question, tables: Tables) -> Question:
    """The question with every expression that its rows and columns are made of resolved; a plain one as it is."""
    plain = question.source is None and all(type(n) is Name for e in question.expressions for n in names(e))
    if plain:
        return question
    at = _At(tables)
    source = _source(question.source, at)
    rows = RowSet(question.table, source)

    def measured(o: Output) -> Output:
        column = o.aggregate.column
        return o if column is None else Output(o.name, replace(o.aggregate, column=_leaves(column, rows, at)))

    return replace(
        question,
        source=source,
        joins=tuple(_join(join, rows, at) for join in question.joins),
        where=None if question.where is None else _leaves(question.where, rows, at),
        group_by=tuple(Group(g.name, _leaves(g.expr, rows, at)) for g in question.group_by),
        aggregates=tuple(map(measured, question.aggregates)),
    )


def _source(source: PerUnit | UnionAll | None, at: _At) -> PerUnit | UnionAll | None:
    if isinstance(source, PerUnit):
        below = _rows(source.rows, at)
        return PerUnit(below, tuple(_expression(e, below, at) for e in source.by))
    return None if source is None else UnionAll(tuple(_rows(part, at) for part in source.parts))


def _rows(rows: RowSet, at: _At) -> RowSet:
    bare = RowSet(rows.table, _source(rows.source, at))
    made = replace(bare, joins=tuple(_join(join, bare, at) for join in rows.joins))
    return made if rows.where is None else replace(made, where=_expression(rows.where, made, at))


def _expression(e: Expr, rows: RowSet, at: _At) -> Expr:
    """An expression over rows that are resolved already."""
    key = id(rows), e
    if key not in at.made:
        found = _leaves(e, rows, at)
        at.made[key] = rows, resolved(found, typed_rows(rows, [found], at.tables).scope)
    return at.made[key][1]


def _join(join: Join, rows: RowSet, at: _At) -> Join:
    return replace(join, on=tuple((_leaf(left, rows, at), right) for left, right in join.on))


def _leaves(e: Expr, rows: RowSet, at: _At) -> Expr:
    """An expression with the columns that it names resolved inside."""
    changed: dict[Name, Expr] = {n: _leaf(n, rows, at) for n in names(e) if type(n) is not Name}
    return substitute(e, changed) if changed else e


def _leaf(leaf: Name, rows: RowSet, at: _At) -> Name:
    if isinstance(leaf, InUnits):
        return replace(leaf, rows=_rows(leaf.own, at))
    if isinstance(leaf, BesideUnit):
        own = _rows(leaf.own, at)
        return replace(leaf, operand=_expression(leaf.made_of, own, at), rows=own)
    if isinstance(leaf, OfUnit) and leaf.operand is not None and isinstance(rows.source, PerUnit):
        return replace(leaf, operand=_expression(leaf.operand, rows.source.rows, at))
    if isinstance(leaf, OfParts) and isinstance(rows.source, UnionAll) and len(leaf.operands) == len(rows.source.parts):
        pairs = zip(leaf.operands, rows.source.parts, strict=True)
        return replace(leaf, operands=tuple(_expression(e, part, at) for e, part in pairs))
    return leaf
