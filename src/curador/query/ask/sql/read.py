"""SQL text to a Question: one SELECT of aggregates, read from an allow-list and rebuilt as our own.

Subqueries and WITH are read by substitution: a column they define is its expression over the table's own columns, or
over aggregates of one unit's rows, so its bounds are worked out anew and never inherited from a column of the same
name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from curador.errors import CuradorError, QuestionRefused
from curador.query.aggregates.base import Aggregate
from curador.query.ask.question import Group, Order, Output, Question
from curador.query.ask.sql.aggregates import aggregate_of, default_name
from curador.query.ask.sql.expressions import Reader, is_aggregate, number, parse_expression
from curador.query.ask.sql.relation import Relation, matching, named_item
from curador.query.ask.sql.relations import relation_of, with_relations
from curador.query.ask.sql.text import only, place, plain_column, refuse, statement
from curador.query.ask.typed import is_unit
from curador.query.language import expressions as ex
from curador.query.plan.checked import check, unread
from curador.query.tables.table import Table

__all__ = ["parse", "parse_expression"]


def parse(text: str, tables: Mapping[str, Table]) -> Question:
    """The question a SQL text asks of these tables, or a refusal that says where, why and what to write instead.

    >>> adult = Table("adult.csv", columns={"sex": "text", "age": {"type": "integer", "bounds": [17, 90]}})
    >>> q = parse("SELECT sex, AVG(age) AS age FROM adult WHERE age >= 18 GROUP BY sex", {"adult": adult})
    >>> q.outputs, str(q.where)
    (('sex', 'age'), 'age >= 18')
    """
    refuse_listing(text, tables)
    tree = statement(text)
    only(tree, text, "with_", "expressions", "from_", "joins", "where", "group", "having", "order", "limit")
    relation = relation_of(tree, text, tables, with_relations(tree.args.get("with_"), text, tables))
    try:
        question = _Select(text, tables, relation, tree).question()
        return check(question, tables, unread).question
    except QuestionRefused:
        raise
    except CuradorError as error:  # a name that no answer can have, a limit of 0
        raise QuestionRefused(error.what, fix=error.fix) from None


def refuse_listing(text: str, tables: Mapping[str, Table]) -> None:
    """Say what SHOW TABLES and DESCRIBE ask for: declarations, which are public and cost nothing."""
    if not isinstance(text, str) or len(text) > 200:
        return
    wanted = re.fullmatch(
        r"\s*(?:show\s+(?:all\s+)?tables|(?:describe|desc|show)\s+(?:table\s+)?(?P<table>\"?\w+\"?))\s*;?\s*",
        text,
        re.I,
    )
    if wanted is None:
        return
    name = (wanted["table"] or "").strip('"')
    found = {n.casefold(): n for n in tables}.get(name.casefold())
    if found is None:
        shown = ", ".join(f"{n} (public)" if table.public else n for n, table in tables.items())
        raise QuestionRefused(
            f"Tables: {shown}.",
            fix="Ask about one with SELECT; describe() shows all declarations.",
            code="declarations",
        )
    columns = ", ".join(f"{n} {c.kind}" for n, c in tables[found].columns.items())
    raise QuestionRefused(
        f"{found}: {columns}.",
        fix="Ask about them with SELECT; describe() shows their bounds and keys.",
        code="declarations",
    )


@dataclass(frozen=True)
class _Item:
    """One column of SELECT as it is written, and what it turned out to be."""

    node: exp.Expr
    alias: str | None
    meaning: ex.Expr | Aggregate
    column: str | None = None
    """Its name, where the item is a plain column."""

    @property
    def name(self) -> str | None:
        if self.alias is not None or self.column is not None:
            return self.alias or self.column
        return default_name(self.meaning) if isinstance(self.meaning, Aggregate) else None


@dataclass(frozen=True)
class _Select:
    text: str
    tables: Mapping[str, Table]
    relation: Relation
    tree: exp.Select

    def question(self) -> Question:
        rows = self.relation.reader()
        items = self._items(rows)
        tree, groups = self._groups(items, rows)
        named = self._named(items, groups)
        asked = Question(
            table=self.relation.table,
            joins=self.relation.joins,
            where=self.relation.where,
            group_by=tuple(Group(self._group_name(g, items), g) for g in groups),
            aggregates=tuple(Output(name, i.meaning) for i, name in named if isinstance(i.meaning, Aggregate)),
            tree=tree,
            source=self.relation.source,
        )
        return self._after(asked, items, [name for _, name in named])

    # -- SELECT and GROUP BY

    def _items(self, rows: Reader) -> list[_Item]:
        found = []
        for node in self.tree.expressions:
            inner, alias = named_item(node, self.text)
            what = aggregate_of(inner, rows, self._is_unit) if is_aggregate(inner) else rows.read(inner)
            column = self.relation.name(inner) if isinstance(inner, exp.Column) else None
            found.append(_Item(inner, alias, what, column))
        if not any(isinstance(i.meaning, Aggregate) for i in found):
            refuse(self.tree, self.text, "This would show rows.", "Measure something: add COUNT(*), or AVG(column).")
        return found

    def _is_unit(self, e: ex.Expr) -> bool:
        return is_unit(e, self.relation.rows, self.tables)

    def _groups(self, items: list[_Item], rows: Reader) -> tuple[str | None, list[ex.Expr]]:
        group = self.tree.args.get("group")
        if group is None:
            return None, []
        only(group, self.text, "expressions", "rollup")
        nodes = group.expressions
        rollups = [n for n in [*nodes, *(group.args.get("rollup") or [])] if type(n) is exp.Rollup]
        if rollups:
            if len(rollups) > 1 or len(nodes) > 1:
                refuse(group, self.text, "ROLLUP stands alone.", "Group by ROLLUP(coarse, …, fine) of one tree.")
            return self._tree(rollups[0], rows)
        found = [self._grouped(n, items, rows) for n in nodes]
        if len(set(found)) < len(found):
            refuse(group, self.text, "A group is listed twice.", "List it once.")
        return None, found

    def _tree(self, rollup: exp.Expr, rows: Reader) -> tuple[str, list[ex.Expr]]:
        only(rollup, self.text, "expressions")
        levels = [rows.read(n) for n in rollup.expressions]
        for name, tree in self.tables[self.relation.table].trees.items():
            if levels == [ex.Name(level) for level in tree.levels]:
                return name, levels
        refuse(rollup, self.text, "ROLLUP needs a declared tree with these levels.", "Declare the tree in the table.")

    def _grouped(self, node: exp.Expr, items: list[_Item], rows: Reader) -> ex.Expr:
        """The expression that GROUP BY means by a number, an alias of SELECT, or an expression."""
        if type(node) is exp.Literal and not node.is_string:
            return self._row_value(self._item(node, items), node)
        plain = isinstance(node, exp.Column) and not plain_column(node, self.text).args.get("table")
        named = [i for i in items if plain and i.alias is not None and matching([i.alias], node.this)]
        if not named:
            return rows.read(node)
        what = self._row_value(named[0], node)
        if isinstance(node, exp.Column) and self.relation.has(node) and rows.read(node) != what:
            refuse(node, self.text, f"{node.name!r} is a column and another column's alias.", "Rename the alias.")
        return what

    def _item(self, node: exp.Expr, items: list[_Item]) -> _Item:
        position = number(node, self.text)
        if position.denominator != 1 or not 1 <= position <= len(items):
            refuse(node, self.text, f"SELECT has no column number {node.name[:20]}.", f"It has {len(items)}.")
        return items[int(position) - 1]

    def _row_value(self, item: _Item, node: exp.Expr) -> ex.Expr:
        if isinstance(item.meaning, Aggregate):
            refuse(node, self.text, "Groups cannot be made from aggregates.", "Group by columns or expressions.")
        return item.meaning

    def _group_name(self, group: ex.Expr, items: list[_Item]) -> str:
        chosen = [i for i in items if i.meaning == group]
        if len(chosen) > 1:
            refuse(chosen[1].node, self.text, f"{group} is selected twice.", "Select it once.")
        name = chosen[0].name if chosen else self._written_name(group)
        if name is None:
            raise QuestionRefused(f"The group {group} has no name.", fix="Select it with AS name.")
        return name

    def _written_name(self, group: ex.Expr) -> str | None:
        """The name in GROUP BY of a group that is not selected."""
        columns = [n for n in self.tree.args["group"].find_all(exp.Column) if self.relation.has(n)]
        return next((self.relation.name(n) for n in columns if self.relation.find(n) == group), None)

    def _named(self, items: list[_Item], groups: list[ex.Expr]) -> list[tuple[_Item, str]]:
        """Every item with its name; names of our own making are numbered where they would clash."""
        named: list[tuple[_Item, str]] = []
        taken = {(i.alias or "").casefold() for i in items}
        for item in items:
            if not isinstance(item.meaning, Aggregate) and item.meaning not in groups:
                refuse(
                    item.node,
                    self.text,
                    f"{item.meaning} is neither grouped by nor measured.",
                    "Add it to GROUP BY, or measure it.",
                )
            name = item.name or ""
            if item.alias is None and isinstance(item.meaning, Aggregate):
                stem, count = name, 1
                while name.casefold() in taken:
                    count += 1
                    name = f"{stem}_{count}"
                taken.add(name.casefold())
            named.append((item, name))
        return named

    # -- what is done to noised answers

    def _after(self, asked: Question, items: list[_Item], names: list[str]) -> Question:
        answers = Reader(self.text, self._output_finder(asked), self._aggregate_finder(asked))
        having, limit = self.tree.args.get("having"), self.tree.args.get("limit")
        if having is not None:
            only(having, self.text, "this")
        ordered = self.tree.args.get("order")
        order: tuple[Order, ...] = ()
        if ordered is not None:
            only(ordered, self.text, "expressions")
            order = tuple(self._order(node, asked, items, names, answers) for node in ordered.expressions)
        if limit is not None:
            only(limit, self.text, "expression")
        return replace(
            asked,
            having=None if having is None else answers.read(having.this),
            order_by=order,
            limit=None if limit is None else number(limit.expression, self.text),  # type: ignore[arg-type]
        )

    def _order(self, node: exp.Expr, asked: Question, items: list[_Item], names: list[str], answers: Reader) -> Order:
        only(node, self.text, "this", "desc")
        by = node.this
        if type(by) is exp.Literal and not by.is_string:
            name = names[items.index(self._item(by, items))]
        else:
            what = answers.read(by)
            name = what.column if isinstance(what, ex.Name) else ""
        if name not in asked.outputs:
            refuse(node, self.text, "ORDER BY needs a column of the answer.", f"Use one of {', '.join(asked.outputs)}.")
        return Order(name, bool(node.args.get("desc")))

    def _output_finder(self, asked: Question) -> Callable[[exp.Column], ex.Expr]:
        def find(node: exp.Column) -> ex.Expr:
            named = [] if node.table else matching(asked.outputs, node.this)
            if named:
                return ex.Name(named[0])
            grouped = [g.name for g in asked.group_by if self.relation.has(node) and g.expr == self.relation.find(node)]
            if grouped:
                return ex.Name(grouped[0])
            refuse(
                node,
                self.text,
                f"{node.name[:40]!r} is not a column of the answer; HAVING and ORDER BY see noised answers only.",
                f"Use one of {', '.join(asked.outputs)}.",
            )

        return find

    def _aggregate_finder(self, asked: Question) -> Callable[[exp.Expr], ex.Expr]:
        def find(node: exp.Expr) -> ex.Expr:
            wanted = aggregate_of(node, self.relation.reader(), self._is_unit)
            for output in asked.aggregates:
                if output.aggregate == wanted:
                    return ex.Name(output.name)
            raise QuestionRefused(
                place(node, self.text) + "An aggregate is used that SELECT does not release.",
                fix="Add it to SELECT: HAVING and ORDER BY see noised answers only.",
            )

        return find
