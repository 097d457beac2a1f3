"""The relations of FROM: a table, a query over one, tables put together, and joins; each column is an expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from curador.errors import CuradorError, QuestionRefused
from curador.query.ask.sql.expressions import Reader, is_aggregate
from curador.query.ask.sql.joins import conjuncts, joined, parted
from curador.query.ask.sql.per_unit import per_unit
from curador.query.ask.sql.relation import Relation, matching, named_item
from curador.query.ask.sql.text import name_of, only, place, refuse
from curador.query.ask.typed import is_unit
from curador.query.language import expressions as ex
from curador.query.language.rows import BesideUnit, InUnits, OfParts, RowSet, UnionAll, unit_column
from curador.query.tables.names import MOST_NAMED, distinct, identifier, suggestion
from curador.query.tables.table import Table

MOST_INNER_PARTS = 20_000
"""The most parts of the columns of an inner query, and of all that WITH names: each may repeat those before it."""


def with_relations(node: exp.Expr | None, text: str, tables: Mapping[str, Table]) -> dict[str, Relation]:
    """The queries WITH names, each over tables and those before it."""
    found: dict[str, Relation] = {}
    size = 0
    if node is None:
        return found
    only(node, text, "expressions")
    for cte in node.expressions:
        only(cte, text, "this", "alias")
        only(cte.args["alias"], text, "this")
        name = name_of(cte.args["alias"].this, text)
        if matching(found, cte.args["alias"].this):
            refuse(
                cte, text, f"WITH names {name[:40]!r} twice.", "Use another name.", code="with-twice", name=name[:40]
            )
        found[name] = _rows(cte.this, text, tables, found)
        size += sum(e.size for columns in found[name].columns.values() for e in columns.values())
        _refuse_large(size, cte, text)
    return found


def relation_of(select: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> Relation:
    """The relation that a SELECT reads: FROM, its joins and its WHERE."""
    source = select.args.get("from_")
    if source is None:
        refuse(select, text, "There is no FROM.", "Say which table is asked.", code="no-from")
    only(source, text, "this")
    relation = _source(source.this, text, tables, named)
    where = select.args.get("where")
    if where is not None:
        only(where, text, "this")
    tests = conjuncts(where)
    for join in select.args.get("joins") or []:
        right = _source(join.this, text, tables, named)
        if not any(join.args.get(part) for part in ("on", "using", "side", "kind", "method")):
            matched, tests = parted(relation, right, tests)  # FROM a, b WHERE a.id = b.id
            if matched:
                join = exp.Join(this=join.this, on=exp.and_(*matched, copy=False))
        relation = joined(relation, right, join, text, tables)
    rows = relation.reader()
    conditions = [rows.read(test) for test in tests]
    if not conditions:
        return relation
    return replace(relation, where=ex.all_of(*filter(None, (relation.where, *conditions))))


def _source(node: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> Relation:
    if type(node) is exp.Subquery:
        only(node, text, "this", "alias")
        inner = _rows(node.this, text, tables, named)
        return _renamed(inner, node, text, "")
    name, relation = _table(node, text, tables, named)
    if relation is None:
        columns = {c: ex.Name(c) for c in tables[name].columns}
        relation = Relation(text, name, {name: columns}, among=partial(_among, tables=tables, named=named))
    return _renamed(relation, node, text, name)


def built(
    text: str, rows: RowSet, columns: Mapping[str, Mapping[str, ex.Expr]], tables: Mapping[str, Table]
) -> Relation:
    """The relation of rows that were built step by step, for a text about them."""
    among = partial(_among, tables=tables, named={})
    return Relation(text, rows.table, columns, rows.joins, rows.where, source=rows.source, among=among)


def _renamed(relation: Relation, node: exp.Expr, text: str, name: str) -> Relation:
    alias = node.args.get("alias")
    if alias is not None:
        only(alias, text, "this")
        name = name_of(alias.this, text)
    columns = {n: e for inside in relation.columns.values() for n, e in inside.items()}
    return replace(relation, columns={name: columns})


def _table(
    node: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]
) -> tuple[str, Relation | None]:
    """The name of a declared table, or of a query that WITH named."""
    if type(node) is not exp.Table or type(node.this) is not exp.Identifier:
        refuse(
            node,
            text,
            "Only tables of the study and queries over them can be read.",
            f"They are {_list(tables)}.",
            code="only-tables",
            known=_list(tables),
        )
    only(node, text, "this", "alias")
    name_of(node.this, text)
    for name in matching(named, node.this):
        return name, named[name]
    for name in matching(tables, node.this):
        return name, None
    refuse(
        node,
        text,
        f"There is no table {node.name[:60]!r}.",
        suggestion(node.name, tables),
        "no-such-table",
        table=node.name[:60],
        known=", ".join([*tables][:MOST_NAMED]),
    )


def _list(tables: Mapping[str, Table]) -> str:
    return ", ".join(list(tables)[:12])


def _rows(
    node: exp.Expr,
    text: str,
    tables: Mapping[str, Table],
    named: Mapping[str, Relation],
    names: Sequence[str] = (),
) -> Relation:
    """A query inside another: it must stay row by row, or have one row per unit; ``names`` are those of its columns
    that give themselves none, where they have others.
    """
    if type(node) is exp.Union:
        return _union(node, text, tables, named)
    if type(node) is not exp.Select:
        refuse(node, text)
    for part in ("order", "limit", "distinct"):
        if node.args.get(part):
            refuse(
                node,
                text,
                f"An inner query has {part.upper()}: one row would stand for many.",
                _INNER,
                code="inner-part",
                word=part.upper(),
            )
    only(node, text, "expressions", "from_", "joins", "where", "group", "having")
    relation = relation_of(node, text, tables, named)
    if node.args.get("group"):
        reader, found, having = per_unit(node, relation, tables, names)
        return Relation(text, relation.table, {"": found}, (), having, source=reader.source, among=relation.among)
    if node.args.get("having"):
        refuse(node, text, "An inner query has HAVING without GROUP BY.", _INNER, code="inner-having")
    rows = relation.reader()
    columns: dict[str, ex.Expr] = {}
    taken: dict[str, str] = {}
    size = 0
    for name, value in _selected(node, relation, rows, names):
        _refuse_large(size := size + value.size, node, text)
        try:
            alike = taken.setdefault(identifier(name, "A column").casefold(), name)
            distinct((alike, name) if alike in columns else (name,), "columns")
        except CuradorError as error:
            what = place(node, text) + error.what
            raise QuestionRefused(what, fix=error.fix, code=error.code, facts=error.facts) from None
        columns[name] = value
    return replace(relation, columns={"": columns}, merged=frozenset())


def _refuse_large(size: int, node: exp.Expr, text: str) -> None:
    if size > MOST_INNER_PARTS:
        refuse(
            node,
            text,
            f"The columns of inner queries have more than {MOST_INNER_PARTS} parts.",
            "Select fewer.",
            code="inner-too-large",
            most=MOST_INNER_PARTS,
        )


_INNER = "Inner queries may compute columns and filter, or GROUP BY the unit's id; aggregate in the outer one."


def _union(node: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> Relation:
    """UNION ALL of queries over tables of one unit: each row stays with its own."""
    queries: list[exp.Expr] = [node]
    while type(queries[0]) is exp.Union:
        one = queries.pop(0)
        if one.args.get("distinct") is not False:
            refuse(one, text, "UNION drops rows by what other rows hold.", "Write UNION ALL.", code="union-distinct")
        only(one, text, "this", "expression")
        queries = [one.this, one.expression, *queries]
    first = _rows(queries[0], text, tables, named)
    names = list(next(iter(first.columns.values())))
    parts = [first, *(_rows(query, text, tables, named, names) for query in queries[1:])]
    shown = [list(next(iter(part.columns.values())).items()) for part in parts]
    if len({len(columns) for columns in shown}) > 1:
        refuse(
            node,
            text,
            "UNION ALL is of queries with different numbers of columns.",
            "Select as many in each.",
            code="union-columns",
        )
    columns: dict[str, ex.Expr] = {}
    for row in zip(*shown, strict=True):
        operands = (_own_id(e, part, tables) for part, (_, e) in zip(parts, row, strict=True))
        columns[row[0][0]] = OfParts("parts", operands=tuple(operands))
    source = UnionAll(tuple(part.rows for part in parts))
    return Relation(text, first.table, {"": columns}, source=source, among=first.among)


def _own_id(e: ex.Expr, relation: Relation, tables: Mapping[str, Table]) -> ex.Expr:
    id = unit_column(relation.rows, lambda name: tables[name].unit.id)
    return id if id is not None and is_unit(e, relation.rows, tables) else e


def _among(relation: Relation, node: exp.Expr, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> ex.Expr:
    """``id IN (SELECT id FROM …)``: whether the unit of a row has rows in a query over tables of the same unit."""
    if type(node) is exp.Is:
        return _is_null(relation.reader().read(node.this), relation, tables)
    text, query = relation.text, node.args["query"]
    only(node, text, "this", "query")
    only(query, text, "this")
    inner = query.this
    if type(inner) is exp.Select and type(inner.args.get("distinct")) is exp.Distinct:
        only(inner.args["distinct"], text)
        inner = inner.copy()
        inner.set("distinct", None)  # whether an id is there once or twice makes no difference
    found = _rows(inner, text, tables, named)
    shown = [e for columns in found.columns.values() for e in columns.values()]
    units = len(shown) == 1 and is_unit(shown[0], found.rows, tables)
    if not units or not is_unit(relation.reader().read(node.this), relation.rows, tables):
        refuse(
            node,
            text,
            "IN (SELECT …) looks at other units' rows unless both sides are the unit's id.",
            "Write id IN (SELECT id FROM …), or join a public table.",
            code="in-other-units",
        )
    return InUnits("in", rows=found.rows)


def _is_null(e: ex.Expr, relation: Relation, tables: Mapping[str, Table]) -> ex.Expr:
    """``e IS NULL``; of an id, whether the unit has no row there: as a number it may be too large to be read."""
    if is_unit(e, relation.rows, tables):
        return ex.Literal(False)  # rows of nobody are nowhere
    if isinstance(e, BesideUnit) and e.operand is not None and is_unit(e.operand, e.own, tables):
        return ex.Not(InUnits("in", rows=e.own))
    by_id = [join.table for join in relation.joins if join.kind == "unit" and join.outer and len(join.on) == 1]
    found = [table for table in by_id if e == ex.Name(tables[table].unit.id or "", table)]
    return ex.Not(InUnits("in", rows=RowSet(found[0]))) if found else ex.IsNull(e)


def _selected(
    select: exp.Expr, relation: Relation, rows: Reader, names: Sequence[str]
) -> Iterator[tuple[str, ex.Expr]]:
    for i, node in enumerate(select.expressions):
        inner, alias = named_item(node, rows.text)
        if is_aggregate(inner):
            refuse(
                inner,
                rows.text,
                "An inner query aggregates without GROUP BY: one row would stand for many.",
                _INNER,
                code="inner-aggregates",
            )
        if type(inner) is exp.Star:
            only(inner, rows.text)
            yield from relation.everything(inner).items()
        elif type(inner) is exp.Column and type(inner.this) is exp.Star:
            only(inner, rows.text, "this", "table")
            only(inner.this, rows.text)
            name_of(inner.args.get("table"), rows.text)
            yield from relation.everything(inner, inner.args.get("table")).items()
        elif alias is None and type(inner) is not exp.Column and i >= len(names):
            refuse(inner, rows.text, "A computed column has no name.", "Add AS name.", code="no-alias")
        else:
            yield alias or (names[i] if i < len(names) else inner.name), rows.read(inner)
