"""SQL text to a Question: one SELECT of aggregates, read from an allow-list and rebuilt as our own.

Subqueries and WITH are read by substitution: a column they define is its expression over the table's own columns, or
over aggregates of one unit's rows, so its bounds are worked out anew and never inherited from a column of the same
name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlglot import exp

from curador.errors import CuradorError, QuestionRefused
from curador.query.aggregates.base import Aggregate
from curador.query.ask.public_keys import unread
from curador.query.ask.question import Derived, Group, Order, Output, Question
from curador.query.ask.sets import MOST_SETS
from curador.query.ask.sql.aggregates import aggregate_of, default_name
from curador.query.ask.sql.answers import Answers, after_noise, aggregates_rows
from curador.query.ask.sql.expressions import Reader, is_aggregate, number, parse_expression
from curador.query.ask.sql.outer import answers_below, gives_answers, measures, per_unit, projected, with_selects
from curador.query.ask.sql.relation import Relation, matching, named_item
from curador.query.ask.sql.relations import relation_of, with_relations
from curador.query.ask.sql.text import only, plain_column, refuse, statement
from curador.query.ask.typed import is_unit
from curador.query.language import expressions as ex
from curador.query.language.trees import names as names_in
from curador.query.plan.checked import check
from curador.query.tables.columns import Column, Kind, day_of, moment_of
from curador.query.tables.table import Table

__all__ = ["parse", "parse_expression"]

KEYS_LISTED = 20
"""How many keys of a column DESCRIBE lists."""


def parse(text: str, tables: Mapping[str, Table]) -> Question:
    """The question a SQL text asks of these tables, or a refusal that says where, why and what to write instead.

    >>> adult = Table("adult.csv", columns={"sex": "text", "age": {"type": "integer", "bounds": [17, 90]}})
    >>> q = parse("SELECT sex, AVG(age) AS age FROM adult WHERE age >= 18 GROUP BY sex", {"adult": adult})
    >>> q.outputs, str(q.where)
    (('sex', 'age'), 'age >= 18')
    """
    refuse_listing(text, tables)
    tree = statement(text)
    try:
        return check(_question(tree, text, tables), tables, unread).question
    except QuestionRefused:
        raise
    except CuradorError as error:  # a name that no answer can have, a limit of 0
        raise QuestionRefused(error.what, fix=error.fix, code=error.code, facts=error.facts) from None


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
            facts={"shown": shown},
        )
    columns = ", ".join(f"{n} {_declared(c)}" for n, c in tables[found].columns.items())
    raise QuestionRefused(
        f"{found}: {columns}.",
        fix="Ask about them with SELECT; describe() shows all declarations.",
        code="declarations",
        facts={"shown": f"{found}: {columns}"},
    )


def _declared(column: Column) -> str:
    """A column's type, with the bounds and the first keys that were declared for it."""
    shown = []
    if column.bounds is not None:
        shape = {Kind.DATE: day_of, Kind.TIMESTAMP: moment_of}.get(column.kind)
        shown.append(" … ".join(f"{float(x):,.12g}" if shape is None else str(shape(int(x))) for x in column.bounds))
    if column.keys is not None:
        more = len(column.keys) - KEYS_LISTED
        shown.append(", ".join(map(str, column.keys[:KEYS_LISTED])) + (f" and {more:,} more" if more > 0 else ""))
    return f"{column.kind} ({'; '.join(shown)})" if shown else str(column.kind)


def _question(tree: exp.Select, text: str, tables: Mapping[str, Table]) -> Question:
    """The question of a SELECT: over rows, or over the answers to another, and so on down to one over rows."""
    listed = tree.args.get("with_")
    named = with_selects(listed, text)
    ids = [table.unit.id for table in tables.values() if table.unit.id is not None]
    outer, used, here, seen = [], set(), tree, named
    while (below := answers_below(here, seen)) is not None:
        if measures(here) and per_unit(below.select, ids, below.named):
            break
        outer.append(here)
        used.add(below.name)
        here, seen = below.select, below.named
        if here.args.get("with_"):
            refuse(
                here.args["with_"],
                text,
                "WITH stands inside a query.",
                "Write it first, before SELECT.",
                code="with-inside",
            )
    only(here, text, "with_", "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")
    if listed is not None:
        answers = {
            n for n, select in named.items() if gives_answers(select, named) and not per_unit(select, ids, named)
        }
        if answers - used:
            refuse(
                listed,
                text,
                f"WITH names {min(answers - used)!r}, which is not read.",
                "Leave it out.",
                code="with-unread",
                name=min(answers - used),
            )
        listed = listed.copy()
        listed.set("expressions", [cte for cte in listed.expressions if cte.alias not in used])
    relation = relation_of(here, text, tables, with_relations(listed, text, tables))
    question = _Select(text, tables, relation, here).question()
    for one in reversed(outer):
        question = projected(question, one, text)
    return question


_Set = tuple[ex.Expr, ...]
"""What one grouping set groups by."""


@dataclass(frozen=True)
class _Item:
    """One column of SELECT as it is written, and what it turned out to be; None is computed from answers."""

    node: exp.Expr
    alias: str | None
    meaning: ex.Expr | Aggregate | None
    column: str | None = None
    """Its name, where the item is a plain column."""


@dataclass(frozen=True)
class _Select:
    text: str
    tables: Mapping[str, Table]
    relation: Relation
    tree: exp.Select

    def question(self) -> Question:
        rows = self.relation.reader()
        items = self._items(rows)
        tree, sets = self._groups(items, rows)
        groups = dict.fromkeys(g for one in sets for g in one)
        group_by = tuple(Group(self._group_name(g, items), g) for g in groups)
        taken = {name.casefold() for name in (*(i.alias or "" for i in items), *(g.name for g in group_by))}
        answers = Answers(rows, {g.expr: g.name for g in group_by}, self._is_unit, taken=taken)
        names = self._named(items, answers)
        chosen = self._after(items, names, answers)
        measured = {o.name: o.aggregate.outputs(o.name) for o in answers.outputs}
        grouped = set(answers.groups.values())
        return Question(
            table=self.relation.table,
            joins=self.relation.joins,
            where=self.relation.where,
            group_by=group_by,
            aggregates=tuple(answers.outputs),
            tree=tree,
            source=self.relation.source,
            derived=tuple(answers.derived),
            shown=tuple(n for name in names if name not in grouped for n in measured.get(name, (name,))),
            sets=tuple(tuple(answers.groups[g] for g in one) for one in sets) if len(sets) > 1 else (),
            **chosen,
        )

    # -- SELECT and GROUP BY

    def _items(self, rows: Reader) -> list[_Item]:
        found: list[_Item] = []
        for node in self.tree.expressions:
            inner, alias = named_item(node, self.text)
            column = self.relation.name(inner) if isinstance(inner, exp.Column) and self.relation.has(inner) else None
            found.append(_Item(inner, alias, self._meaning(inner, found, rows), column))
        after = (self.tree.args.get(part) for part in ("having", "order"))
        if not aggregates_rows([*self.tree.expressions, *filter(None, after)]):
            window = next((node for one in self.tree.expressions for node in one.find_all(exp.Window)), None)
            if window is not None:
                refuse(window, self.text)
            measure = "Measure something: add COUNT(*), or AVG(column)."
            refuse(self.tree, self.text, "This would show rows.", measure, "shows-rows")
        return found

    def _meaning(self, node: exp.Expr, before: list[_Item], rows: Reader) -> ex.Expr | Aggregate | None:
        if after_noise(node):
            return None
        if is_aggregate(node):
            return aggregate_of(node, rows, self._is_unit)
        aliases = [i.alias for i in before if i.alias is not None]
        for column in node.find_all(exp.Column):
            if not column.table and not self.relation.has(column) and matching(aliases, column.this):
                return None
        return rows.read(node)

    def _is_unit(self, e: ex.Expr) -> bool:
        return is_unit(e, self.relation.rows, self.tables)

    def _groups(self, items: list[_Item], rows: Reader) -> tuple[str | None, list[_Set]]:
        """A declared tree, if its levels are rolled up, and the grouping sets: one of them where it is a plain list."""
        group = self.tree.args.get("group")
        if group is None:
            return None, [()]
        if group.args.get("all") and not group.expressions:  # by all that SELECT does not measure
            only(group, self.text, "all")
            by = (i.meaning for i in items if isinstance(i.meaning, ex.Expr) and not isinstance(i.meaning, ex.Literal))
            return None, [tuple(dict.fromkeys(by))]
        only(group, self.text, "expressions", "rollup", "cube")
        nodes = list(group.expressions)
        for node in (*(group.args.get("rollup") or []), *(group.args.get("cube") or [])):  # GROUP BY a, b WITH ROLLUP
            if node.expressions or len(nodes) < len(group.expressions):
                refuse(
                    group,
                    self.text,
                    "WITH stands behind another.",
                    "Write ROLLUP(a, b) or CUBE(a, b).",
                    code="with-behind",
                )
            nodes = [type(node)(expressions=group.expressions)]
        sets: list[_Set] = [()]
        for node in nodes:
            found = self._sets(node, items, rows)
            if len(sets) * len(found) > MOST_SETS:
                what = f"There are more than {MOST_SETS} grouping sets."
                refuse(group, self.text, what, "Split it.", code="too-many-sets", most=MOST_SETS)
            sets = [(*one, *more) for one in sets for more in found]
        if any(len(set(one)) < len(one) for one in sets) or len(set(map(frozenset, sets))) < len(sets):
            refuse(group, self.text, "A group is listed twice.", "List it once.", code="group-twice")
        if len(nodes) == 1 and type(nodes[0]) is exp.Rollup:
            for name, tree in self.tables[self.relation.table].trees.items():
                if list(sets[0]) == [ex.Name(level) for level in tree.levels]:
                    return name, sets[:1]
        return None, sets

    def _sets(self, node: exp.Expr, items: list[_Item], rows: Reader) -> list[_Set]:
        """The grouping sets that one item of GROUP BY stands for."""
        if type(node) not in (exp.Rollup, exp.Cube, exp.GroupingSets):
            return [(self._grouped(node, items, rows),)]
        only(node, self.text, "expressions")
        if type(node) is exp.GroupingSets:
            nested = (exp.Rollup, exp.Cube, exp.GroupingSets)
            each = [
                self._sets(n, items, rows) if type(n) in nested else [self._set(n, items, rows)]
                for n in node.expressions
            ]
            return [one for found in each for one in found]
        parts = [self._set(n, items, rows) for n in node.expressions]
        if len(parts) > (MOST_SETS - 1 if type(node) is exp.Rollup else MOST_SETS.bit_length()):
            what = f"There are more than {MOST_SETS} grouping sets."
            refuse(node, self.text, what, "Split it.", code="too-many-sets", most=MOST_SETS)
        if type(node) is exp.Rollup:
            kept = [parts[:n] for n in range(len(parts), -1, -1)]
        else:
            kept = [list(some) for n in range(len(parts), -1, -1) for some in combinations(parts, n)]
        return [tuple(g for part in some for g in part) for some in kept]

    def _set(self, node: exp.Expr, items: list[_Item], rows: Reader) -> _Set:
        """The groups that stand in brackets, or one that stands without."""
        if type(node) is exp.Tuple:
            only(node, self.text, "expressions")
            return tuple(self._grouped(n, items, rows) for n in node.expressions)
        if type(node) is exp.Paren:
            only(node, self.text, "this")
            node = node.this
        return (self._grouped(node, items, rows),)

    def _grouped(self, node: exp.Expr, items: list[_Item], rows: Reader) -> ex.Expr:
        """The expression that GROUP BY means by a number, an alias of SELECT, or an expression."""
        if type(node) is exp.Literal and not node.is_string:
            return self._row_value(self._item(node, items), node)
        plain = isinstance(node, exp.Column) and not plain_column(node, self.text).args.get("table")
        named = [i for i in items if plain and i.alias is not None and matching([i.alias], node.this)]
        # No group can be meant by what is counted.
        counted = bool(named) and (named[0].meaning is None or isinstance(named[0].meaning, Aggregate))
        if not named or (counted and isinstance(node, exp.Column) and self.relation.has(node)):
            return rows.read(node)
        what = self._row_value(named[0], node)
        if isinstance(node, exp.Column) and self.relation.has(node) and rows.read(node) != what:
            refuse(
                node,
                self.text,
                f"{node.name!r} is a column and another column's alias.",
                "Rename the alias.",
                code="alias-of-another",
                column=node.name,
            )
        return what

    def _item(self, node: exp.Expr, items: list[_Item]) -> _Item:
        position = number(node, self.text)
        if position.denominator != 1 or not 1 <= position <= len(items):
            refuse(
                node,
                self.text,
                f"SELECT has no column number {node.name[:20]}.",
                f"It has {len(items)}.",
                code="select-number",
                number=node.name[:20],
                n=str(len(items)),
            )
        return items[int(position) - 1]

    def _row_value(self, item: _Item, node: exp.Expr) -> ex.Expr:
        if item.meaning is None or isinstance(item.meaning, Aggregate):
            refuse(
                node,
                self.text,
                "Groups cannot be made from aggregates.",
                "Group by columns or expressions.",
                code="group-by-aggregate",
            )
        return item.meaning

    def _group_name(self, group: ex.Expr, items: list[_Item]) -> str:
        chosen = [i for i in items if i.meaning == group]
        if len(chosen) > 1:
            refuse(
                chosen[1].node,
                self.text,
                f"{group} is selected twice.",
                "Select it once.",
                code="selected-twice",
                group=str(group),
            )
        name = chosen[0].alias or chosen[0].column if chosen else self._written_name(group)
        if name is None:
            raise QuestionRefused(
                f"The group {group} has no name.",
                fix="Select it with AS name.",
                code="group-unnamed",
                facts={"group": str(group)},
            )
        return name

    def _written_name(self, group: ex.Expr) -> str | None:
        """The name in GROUP BY of a group that is not selected."""
        columns = [n for n in self.tree.args["group"].find_all(exp.Column) if self.relation.has(n)]
        return next((self.relation.name(n) for n in columns if self.relation.find(n) == group), None)

    def _named(self, items: list[_Item], answers: Answers) -> list[str]:
        """The name of every item; names of our own making are numbered where they would clash."""
        names: list[str] = []
        called = {e: name for columns in self.relation.columns.values() for name, e in columns.items()}
        for item in items:  # aggregates first: what is computed may use one that is selected further on
            if isinstance(item.meaning, Aggregate):
                name = item.alias or answers.unused(default_name(item.meaning, called))
                answers.outputs.append(Output(name, item.meaning))
        measured = iter([o.name for o in answers.outputs])
        for item in items:
            if isinstance(item.meaning, Aggregate):
                names.append(next(measured))
            elif item.meaning is not None and item.meaning in answers.groups:
                names.append(answers.groups[item.meaning])
            else:
                what = self._computed(item, answers)
                name = item.alias or answers.unused("computed")
                answers.derived.append(Derived(name, what))
                names.append(name)
        return names

    def _computed(self, item: _Item, answers: Answers) -> ex.Expr:
        if item.meaning is None:
            return answers.read(item.node)
        try:
            found = answers.read(item.node)  # of groups, such as decade * 10
        except QuestionRefused:
            found = None
        if found is None or not names_in(found):
            refuse(
                item.node,
                self.text,
                f"{item.meaning} is neither grouped by nor measured.",
                "Add it to GROUP BY, or measure it.",
                code="neither-grouped",
                column=str(item.meaning),
            )
        return found

    # -- what is done to noised answers

    def _after(self, items: list[_Item], names: list[str], answers: Answers) -> dict[str, Any]:
        answers.named_first = True
        found: dict[str, Any] = {}
        having, ordered = self.tree.args.get("having"), self.tree.args.get("order")
        if having is not None:
            only(having, self.text, "this")
            found["having"] = answers.read(having.this)
        if ordered is not None:
            only(ordered, self.text, "expressions")
            found["order_by"] = tuple(self._order(node, items, names, answers) for node in ordered.expressions)
        for part in ("limit", "offset"):
            node = self.tree.args.get(part)
            if node is not None:
                only(node, self.text, "expression")
                found[part] = number(node.expression, self.text)
        return found

    def _order(self, node: exp.Expr, items: list[_Item], names: list[str], answers: Answers) -> Order:
        only(node, self.text, "this", "desc")
        by = node.this
        if type(by) is exp.Literal and not by.is_string:
            name = names[items.index(self._item(by, items))]
        else:
            what = answers.read(by)
            name = answers.name_of(what, "order") if names_in(what) else ""
        if name not in answers.columns:
            known = ", ".join(answers.columns)
            refuse(
                node,
                self.text,
                "ORDER BY needs a column of the answer.",
                f"Use one of {known}.",
                code="order-by",
                known=known,
            )
        return Order(name, bool(node.args.get("desc")))
