"""An inner query that groups by the unit's id: one row per person, made of that person's rows alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from curador.query.ask.sql.expressions import Reader, is_aggregate
from curador.query.ask.sql.relation import Relation, matching, named_item
from curador.query.ask.sql.text import expression, only, refuse, word
from curador.query.ask.typed import is_unit
from curador.query.language import expressions as ex
from curador.query.language.rows import OfUnit, PerUnit, unit_column
from curador.query.tables.table import Table

_FUNCTIONS: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "avg"}


@dataclass(frozen=True)
class UnitReader:
    """Reads columns of one row per unit over a relation, which may be grouped further by the expressions ``by``."""

    relation: Relation
    tables: Mapping[str, Table]
    by: tuple[ex.Expr, ...] = ()

    @property
    def unit(self) -> ex.Name | None:
        """The column of the unit's id."""
        return unit_column(self.relation.rows, lambda name: self.tables[name].unit.id)

    @property
    def source(self) -> PerUnit:
        """The rows, one for each unit and each value of ``by``."""
        return PerUnit(self.relation.rows, self.by)

    def shared(self, e: ex.Expr) -> ex.Expr | None:
        """The column of a value that all rows of a unit share; None for any other."""
        if is_unit(e, self.relation.rows, self.tables):
            return OfUnit("each", operand=self.unit)
        return OfUnit("each", operand=e) if e in self.by else None

    def read(self, node: exp.Expr, named: Callable[[exp.Column], ex.Expr | None] = lambda node: None) -> ex.Expr:
        """An expression over aggregates of one unit's rows; ``named`` finds columns by names given to them."""
        if not any(is_aggregate(n) for n in node.walk()) and not any(named(n) for n in node.find_all(exp.Column)):
            found = self.shared(self.relation.reader().read(node))
            if found is not None:
                return found

        def column(node: exp.Column) -> ex.Expr:
            if not self.relation.has(node) and (given := named(node)) is not None:
                return given
            found = self.shared(self.relation.find(node))
            if found is None:
                refuse(
                    node,
                    self.relation.text,
                    f"{node.name[:40]!r} may differ between the rows of one unit.",
                    "Aggregate it, or add it to the inner GROUP BY.",
                    code="differs-within-unit",
                    column=node.name[:40],
                )
            return found

        return Reader(self.relation.text, column, self._aggregate).read(node)

    def of_text(self, text: str) -> ex.Expr:
        """The column that a text of its own says."""
        return replace(self, relation=replace(self.relation, text=text)).read(expression(text))

    def _aggregate(self, node: exp.Expr) -> OfUnit:
        text, rows = self.relation.text, self.relation.reader()
        if type(node) in _FUNCTIONS:
            only(node, text, "this")
            return OfUnit(_FUNCTIONS[type(node)], operand=rows.read(node.this))
        if type(node) is exp.Filter:
            return self._filtered(node)
        if type(node) is exp.CountIf:
            only(node, text, "this")
            return OfUnit("count", operand=ex.Case(((rows.read(node.this), ex.Literal(1)),)))
        if type(node) is not exp.Count:
            refuse(
                node,
                text,
                f"{word(node)} is not known of one unit's rows.",
                "Use COUNT, SUM, MIN, MAX or AVG.",
                code="not-of-one-unit",
                word=word(node),
            )
        only(node, text, "this", "big_int")
        inside = node.this
        if inside is None or type(inside) is exp.Star:
            if inside is not None:
                only(inside, text)
            return OfUnit("rows")
        if type(inside) is exp.Distinct:
            only(inside, text, "expressions")
            if len(inside.expressions) != 1:
                refuse(
                    inside, text, "DISTINCT counts one column.", "Count one column at a time.", code="sql-distinct-one"
                )
            return OfUnit("distinct", operand=rows.read(inside.expressions[0]))
        what = rows.read(inside)
        fixed = isinstance(what, ex.Literal) and what.kind is not None
        return OfUnit("rows") if fixed else OfUnit("count", operand=what)

    def _filtered(self, node: exp.Expr) -> OfUnit:
        text = self.relation.text
        only(node, text, "this", "expression")
        only(node.expression, text, "this")
        condition, what = self.relation.reader().read(node.expression.this), self._aggregate(node.this)
        rows = ex.Case(((condition, what.operand or ex.Literal(1)),))  # NULL is left out
        return OfUnit("count" if what.operand is None else what.column, operand=rows)


def per_unit(
    select: exp.Expr, relation: Relation, tables: Mapping[str, Table], names: Sequence[str] = ()
) -> tuple[UnitReader, dict[str, ex.Expr], ex.Expr | None]:
    """What an inner query that groups by the unit's id stands for: its reader, its columns, and its HAVING.

    ``names`` are those of columns that have none of their own, as in a further part of UNION ALL.
    """
    text, rows = relation.text, relation.reader()
    group = select.args["group"]
    only(group, text, "expressions")
    items = [named_item(node, text) for node in select.expressions]
    found = [_grouped(node, items, relation, rows) for node in group.expressions]
    if not any(is_unit(e, relation.rows, tables) for e in found):
        id = tables[relation.table].unit.id
        if tables[relation.table].public:
            refuse(
                group,
                text,
                f"A query over the public table {relation.table!r} is not read as a table.",
                f"Join {relation.table} itself, and aggregate outside; or group it in its file beforehand.",
                code="public-query",
                table=relation.table,
            )
        refuse(
            group,
            text,
            "An inner query groups rows of several units: one row would stand for many.",
            "Aggregate in the outer query." if id is None else f"Add {id} to its GROUP BY: one row per {id}.",
            code="groups-several-units",
        )
    by = {e for e in found if not is_unit(e, relation.rows, tables)}
    reader = UnitReader(relation, tables, tuple(sorted(by, key=ex.order)))
    columns: dict[str, ex.Expr] = {}
    for i, (node, alias) in enumerate(items):
        if alias is None and type(node) is not exp.Column and i >= len(names):
            refuse(node, text, "A computed column has no name.", "Add AS name.", code="no-alias")
        name = alias or (names[i] if i < len(names) else node.name)
        if name in columns:
            refuse(
                node,
                text,
                f"Two columns are called {name[:40]!r}.",
                "Rename one.",
                code="two-columns",
                column=name[:40],
            )
        columns[name] = reader.read(node)
    having = select.args.get("having")
    if having is None:
        return reader, columns, None
    only(having, text, "this")

    def named(node: exp.Column) -> ex.Expr | None:
        names = [] if node.args.get("table") else matching(columns, node.this)
        return columns[names[0]] if names else None

    return reader, columns, reader.read(having.this, named)


def _grouped(node: exp.Expr, items: list[tuple[exp.Expr, str | None]], relation: Relation, rows: Reader) -> ex.Expr:
    """The expression that the inner GROUP BY means by a number, a name that SELECT gives, or an expression."""
    if type(node) is exp.Literal and not node.is_string and node.name.isdigit() and 0 < int(node.name) <= len(items):
        return rows.read(items[int(node.name) - 1][0])
    if type(node) is exp.Column and not node.args.get("table") and not relation.has(node):
        for item, alias in items:
            if alias is not None and matching([alias], node.this):
                return rows.read(item)
    return rows.read(node)
