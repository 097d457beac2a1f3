"""The relations of FROM: a table, a row-by-row query over one, and joins; each column is an expression."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlglot import exp

from curador.errors import CuradorError, QuestionRefused
from curador.query.ask.question import Join
from curador.query.ask.sql.expressions import Reader, is_aggregate
from curador.query.ask.sql.text import name_of, only, place, plain_column, refuse
from curador.query.language import expressions as ex
from curador.query.tables.names import distinct, identifier, suggestion
from curador.query.tables.table import Table


def matching(names: Iterable[str], wanted: exp.Expr) -> list[str]:
    """The names an identifier may mean: spelled alike, or alike but for case if it is not quoted."""
    known = list(names)
    exact = [n for n in known if n == wanted.name]
    if exact or wanted.args.get("quoted"):
        return exact
    return [n for n in known if n.casefold() == wanted.name.casefold()]


@dataclass(frozen=True)
class Relation:
    """Rows of one table, filtered and joined; every visible column is an expression over the tables' own.

    ``columns`` are by the name of the relation in the text, then by their own.  ``merged`` are the right sides of
    USING, which an unqualified name does not mean.
    """

    text: str
    table: str
    columns: Mapping[str, Mapping[str, ex.Expr]]
    joins: tuple[Join, ...] = ()
    where: ex.Expr | None = None
    merged: frozenset[ex.Expr] = field(default_factory=frozenset)

    def find(self, node: exp.Column) -> ex.Expr:
        """The expression that a column's name stands for; refused if there is none, or several."""
        found = self._meant(node)
        if len(found) != 1:
            self._unknown(node, several=bool(found))
        return found[0]

    def name(self, node: exp.Column) -> str:
        """The name of a column here, spelled as it was defined: an inner query may have renamed it."""
        table = node.args.get("table")
        where = list(self.columns) if table is None else matching(self.columns, table)
        return next(name for w in where for name in matching(self.columns[w], node.this))

    def has(self, node: exp.Column) -> bool:
        """Whether a column's name stands for exactly one column here."""
        return len(self._meant(node)) == 1

    def _meant(self, node: exp.Column) -> list[ex.Expr]:
        table = node.args.get("table")
        where = list(self.columns) if table is None else matching(self.columns, table)
        found = [self.columns[w][name] for w in where for name in matching(self.columns[w], node.this)]
        if table is None and len(found) > 1:
            found = [e for e in found if e not in self.merged]
        return list(dict.fromkeys(found))

    def _unknown(self, node: exp.Column, several: bool) -> NoReturn:
        shown = f"{node.table}.{node.name}" if node.table else node.name
        if several:
            refuse(node, self.text, f"{shown[:60]!r} could mean several columns.", "Write table.column.")
        known = [name for columns in self.columns.values() for name in columns]
        quotes = f"A text takes single quotes: '{node.name[:40]}'. " if node.this.args.get("quoted") else ""
        refuse(node, self.text, f"There is no column {shown[:60]!r} here.", quotes + suggestion(node.name, known))

    def everything(self, node: exp.Expr, table: exp.Expr | None = None) -> dict[str, ex.Expr]:
        """The columns that * stands for: all, or those of one relation."""
        where = list(self.columns) if table is None else matching(self.columns, table)
        found = [(n, e) for w in where for n, e in self.columns[w].items() if table is not None or e not in self.merged]
        names = [n for n, _ in found]
        if not found or len(set(map(str.casefold, names))) < len(names):
            refuse(node, self.text, "* has no columns, or two of one name.", "Name the columns.")
        return dict(found)


def with_relations(node: exp.Expr | None, text: str, tables: Mapping[str, Table]) -> dict[str, Relation]:
    """The queries WITH names, each over tables and those before it."""
    found: dict[str, Relation] = {}
    if node is None:
        return found
    only(node, text, "expressions")
    for cte in node.expressions:
        only(cte, text, "this", "alias")
        only(cte.args["alias"], text, "this")
        name = name_of(cte.args["alias"].this, text)
        if matching(found, cte.args["alias"].this):
            refuse(cte, text, f"WITH names {name[:40]!r} twice.", "Use another name.")
        found[name] = _rows(cte.this, text, tables, found)
    return found


def relation_of(select: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> Relation:
    """The relation that a SELECT reads: FROM, its joins and its WHERE."""
    source = select.args.get("from_")
    if source is None:
        refuse(select, text, "There is no FROM.", "Say which table is asked.")
    only(source, text, "this")
    relation = _source(source.this, text, tables, named)
    for join in select.args.get("joins") or []:
        relation = _joined(relation, join, text, tables, named)
    where = select.args.get("where")
    if where is None:
        return relation
    only(where, text, "this")
    condition = Reader(text, relation.find).read(where.this)
    return replace(relation, where=ex.all_of(*filter(None, (relation.where, condition))))


def _source(node: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> Relation:
    if type(node) is exp.Subquery:
        only(node, text, "this", "alias")
        inner = _rows(node.this, text, tables, named)
        return _renamed(inner, node, text, "")
    name, relation = _table(node, text, tables, named)
    if relation is None:
        relation = Relation(text, name, {name: {c: ex.Name(c) for c in tables[name].columns}})
    return _renamed(relation, node, text, name)


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
        refuse(node, text, "Only tables of the study and queries over them can be read.", f"They are {_list(tables)}.")
    only(node, text, "this", "alias")
    name_of(node.this, text)
    for name in matching(named, node.this):
        return name, named[name]
    for name in matching(tables, node.this):
        return name, None
    refuse(node, text, f"There is no table {node.name[:60]!r}.", suggestion(node.name, tables))


def _list(tables: Mapping[str, Table]) -> str:
    return ", ".join(list(tables)[:12])


def _rows(node: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]) -> Relation:
    """A query inside another: it must stay row by row."""
    if type(node) is not exp.Select:
        refuse(node, text)
    for part in ("group", "having", "order", "limit", "distinct"):
        if node.args.get(part):
            refuse(node, text, f"An inner query has {part.upper()}: one row would stand for many.", _INNER)
    only(node, text, "expressions", "from_", "joins", "where")
    relation = relation_of(node, text, tables, named)
    rows = Reader(text, relation.find)
    columns: dict[str, ex.Expr] = {}
    for name, value in _selected(node, relation, rows):
        try:
            identifier(name, "A column")
            distinct([*columns, name], "columns")
        except CuradorError as error:
            raise QuestionRefused(place(node, text) + error.what, fix=error.fix) from None
        columns[name] = value
    return replace(relation, columns={"": columns}, merged=frozenset())


_INNER = "Inner queries may compute columns and filter; aggregate in the outer one."


def named_item(node: exp.Expr, text: str) -> tuple[exp.Expr, str | None]:
    """A column of SELECT, and the name AS gives it."""
    if type(node) is not exp.Alias:
        return node, None
    only(node, text, "this", "alias")
    return node.this, name_of(node.args["alias"], text)


def _selected(select: exp.Expr, relation: Relation, rows: Reader) -> Iterator[tuple[str, ex.Expr]]:
    for node in select.expressions:
        inner, alias = named_item(node, rows.text)
        if is_aggregate(inner):
            refuse(inner, rows.text, "An inner query aggregates: one row would stand for many.", _INNER)
        if type(inner) is exp.Star:
            only(inner, rows.text)
            yield from relation.everything(inner).items()
        elif type(inner) is exp.Column and type(inner.this) is exp.Star:
            only(inner, rows.text, "this", "table")
            only(inner.this, rows.text)
            name_of(inner.args.get("table"), rows.text)
            yield from relation.everything(inner, inner.args.get("table")).items()
        elif alias is None and type(inner) is not exp.Column:
            refuse(inner, rows.text, "A computed column has no name.", "Add AS name.")
        else:
            yield alias or inner.name, rows.read(inner)


# ---- joins ---------------------------------------------------------------------------------------------------


def _joined(
    left: Relation, node: exp.Expr, text: str, tables: Mapping[str, Table], named: Mapping[str, Relation]
) -> Relation:
    only(node, text, "this", "on", "using", "side", "kind")
    side, kind = str(node.args.get("side") or "").upper(), str(node.args.get("kind") or "").upper()
    if (side, kind) not in (("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")):
        refuse(node, text, f"{side or kind} JOIN is not in the grammar.", "Use JOIN or LEFT JOIN … ON a = b.")
    name, query = _table(node.this, text, tables, named)
    if query is not None:
        refuse(node, text, "Only tables can be joined, not queries.", "Join the table, and filter in the outer query.")
    given = node.this.args.get("alias")
    if given is not None:
        only(given, text, "this")
    alias = name if given is None else name_of(given.this, text)
    there = name == left.table or any(j.table == name for j in left.joins)
    if there or alias.casefold() in map(str.casefold, left.columns):
        refuse(node, text, f"{name!r} is there already.", "Join another table, under another name.")
    right = Relation(text, name, {alias: {c: ex.Name(c, name) for c in tables[name].columns}})
    pairs = list(_pairs(left, right, node, text))
    join = Join(
        "public" if tables[name].public else "unit", name, tuple((a, b.column) for a, b in pairs), outer=side == "LEFT"
    )
    merged = {b for _, b in pairs} if node.args.get("using") else set()
    return replace(
        left,
        columns={**left.columns, **right.columns},
        joins=(*left.joins, join),
        merged=left.merged | merged,
    )


def _pairs(left: Relation, right: Relation, node: exp.Expr, text: str) -> Iterator[tuple[ex.Name, ex.Name]]:
    for name in node.args.get("using") or []:
        name_of(name, text)
        column = exp.Column(this=name)
        yield _names(left.find(column), right.find(column), node, text)
    todo = [node.args["on"]] if node.args.get("on") else []
    if not todo and not node.args.get("using"):
        refuse(node, text, "A join without ON multiplies rows.", "Write JOIN table ON a = b.")
    while todo:
        one = todo.pop()
        if type(one) is exp.And:
            only(one, text, "this", "expression")
            todo += [one.this, one.expression]
        elif type(one) is exp.Paren:
            only(one, text, "this")
            todo.append(one.this)
        elif type(one) is exp.EQ and type(one.this) is type(one.expression) is exp.Column:
            only(one, text, "this", "expression")
            a, b = plain_column(one.this, text), plain_column(one.expression, text)
            both = replace(left, columns={**left.columns, **right.columns})
            theirs = {e for columns in right.columns.values() for e in columns.values()}
            sides = sorted((both.find(a), both.find(b)), key=theirs.__contains__)
            if [e in theirs for e in sides] != [False, True]:
                refuse(one, text, "A join matches a column of each table.", "Write ON this.column = that.column.")
            yield _names(sides[0], sides[1], node, text)
        else:
            refuse(one, text, "Joins match columns by = alone.", "Write ON a = b AND …; filter in WHERE.")


def _names(a: ex.Expr, b: ex.Expr, node: exp.Expr, text: str) -> tuple[ex.Name, ex.Name]:
    if not isinstance(a, ex.Name) or not isinstance(b, ex.Name):
        refuse(node, text, f"A join is on {a}, which is computed.", "Join on columns as they are.")
    return a, b
