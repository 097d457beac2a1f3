"""A query over the answers of another: it selects, computes, filters, sorts and cuts what was noised, and no more.

``WITH a AS (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) SELECT town, n * 2 AS twice FROM a WHERE n > 100`` is
the inner question with a derived column and a HAVING.  An aggregate of answers would be one of noised numbers: refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from sqlglot import exp

from curador.query.ask.question import Derived, Order, Question
from curador.query.ask.sql.answers import Answers, aggregates_rows
from curador.query.ask.sql.expressions import Reader, number
from curador.query.ask.sql.relation import matching, named_item
from curador.query.ask.sql.text import name_of, only, refuse
from curador.query.language import expressions as ex
from curador.query.language.answers import windows
from curador.query.language.trees import names, substitute

Selects = Mapping[str, exp.Expr]
"""The queries of WITH that may be read, by name."""


@dataclass(frozen=True)
class Below:
    """The query whose answers another reads, the queries that it may read itself, and its name in WITH."""

    select: exp.Select
    named: Selects
    name: str | None = None


def with_selects(node: exp.Expr | None, text: str) -> Selects:
    """The queries of WITH, by name."""
    found: dict[str, exp.Expr] = {}
    if node is None:
        return found
    only(node, text, "expressions")
    for cte in node.expressions:
        only(cte, text, "this", "alias")
        only(cte.args["alias"], text, "this")
        alias = cte.args["alias"].this
        name = name_of(alias, text)
        if matching(found, alias):
            refuse(
                cte, text, f"WITH names {name[:40]!r} twice.", "Use another name.", code="with-twice", name=name[:40]
            )
        found[name] = cte.this
    return found


def answers_below(select: exp.Expr, named: Selects) -> Below | None:
    """The query whose answers a SELECT reads; None where it reads rows.

    >>> from curador.query.ask.sql.text import statement
    >>> answers_below(statement("SELECT n FROM (SELECT COUNT(*) AS n FROM t) AS a"), {}).select.sql()
    'SELECT COUNT(*) AS n FROM t'
    """
    inner, before, name = _below(select, named)
    return Below(inner, before, name) if type(inner) is exp.Select and gives_answers(inner, before) else None


def _below(select: exp.Expr, named: Selects) -> tuple[exp.Expr | None, Selects, str | None]:
    """The query that a SELECT reads from, the queries that this may read, and its name in WITH; None for a table."""
    source = select.args.get("from_")
    inner, before, name = None if source is None else source.this, named, None
    if type(inner) is exp.Table and not inner.args.get("db") and isinstance(inner.this, exp.Identifier):
        name = next(iter(matching(named, inner.this)), None)
        order = list(named)
        inner = None if name is None else named[name]
        before = {} if name is None else {n: named[n] for n in order[: order.index(name)]}
    elif type(inner) is exp.Subquery:
        inner = inner.this
    else:
        inner = None
    return inner, before, name


def gives_answers(select: exp.Expr, named: Selects) -> bool:
    """Whether a query measures, or reads the answers of one that does."""
    return measures(select) or answers_below(select, named) is not None


def measures(select: exp.Expr) -> bool:
    """Whether a query groups or aggregates."""
    return bool(select.args.get("group")) or aggregates_rows(select.expressions)


def per_unit(select: exp.Expr, ids: Collection[str], named: Selects) -> bool:
    """Whether a query may have one row for each unit: it groups by what is called as an id, or filters such one."""
    group = select.args.get("group")
    if group is None:
        below = None if measures(select) else answers_below(select, named)
        return below is not None and per_unit(below.select, ids, below.named)
    columns = list(group.find_all(exp.Column))
    for place in group.expressions:  # GROUP BY 1
        if isinstance(place, exp.Literal) and not place.is_string and place.name.isdecimal():
            columns += [
                c for item in select.expressions[int(place.name[:4]) - 1 :][:1] for c in item.find_all(exp.Column)
            ]
    columns += [item.this for column in columns for item in _items_called(column.this, select)]
    return any(_calls_id(column.this, select, ids, named) for column in columns)


def _items_called(name: exp.Expr, select: exp.Expr) -> list[exp.Alias]:
    """Plain columns that a SELECT gives this name."""
    aliases = (item for item in select.expressions if isinstance(item, exp.Alias) and type(item.this) is exp.Column)
    return [item for item in aliases if isinstance(name, exp.Identifier) and matching([item.alias], name)]


def _calls_id(name: exp.Expr, select: exp.Expr, ids: Collection[str], named: Selects) -> bool:
    """Whether a name is one of the ids, or was given to one in the queries below."""
    if not isinstance(name, exp.Identifier) or matching(ids, name):
        return isinstance(name, exp.Identifier)
    query, before, _ = _below(select, named)
    while type(query) is exp.Union:  # its first query gives the names
        query = query.this
    if query is None:
        return False
    return any(_calls_id(item.this.this, query, ids, before) for item in _items_called(name, query))


def projected(inner: Question, tree: exp.Expr, text: str) -> Question:
    """The question of an outer query over the answers to an inner one."""
    only(tree, text, "with_", "expressions", "from_", "where", "order", "limit", "offset", "group", "having", "joins")
    for part in ("group", "having", "joins"):
        if tree.args.get(part):
            refuse(tree, text, f"{part.upper()} stands over answers.", _INSTEAD, code="over-answers", word=part.upper())
    source = tree.args["from_"]
    only(source, text, "this")
    only(source.this, text, "this", "alias")
    if aggregates_rows([*tree.expressions, *filter(None, (tree.args.get(p) for p in ("where", "order")))]):
        refuse(
            tree,
            text,
            "The inner query gives noised answers: an aggregate of them is one of noise, too.",
            _INSTEAD,
            code="answers-of-answers",
        )
    return _Outer(inner, tree, text).question()


_INSTEAD = (
    "Aggregate rows in one query, or group the inner one by the unit's id; over answers an outer one may write "
    "MAX(n) OVER (), or ORDER BY n DESC LIMIT 1."
)


class _Outer:
    """Reads one outer query."""

    def __init__(self, inner: Question, tree: exp.Expr, text: str) -> None:
        called = _renames(inner, tree, text)
        inner = _renamed(inner, called)
        self.inner, self.tree, self.text = inner, tree, text
        self.answers = Answers(
            Reader(text, self._group),
            {ex.Name(g.name): g.name for g in inner.group_by},
            lambda e: False,
            outputs=list(inner.aggregates),
            derived=list(inner.derived),
            taken={name.casefold() for name in inner.columns},
            named_first=True,
            called=called,
            relation=_alias(tree.args["from_"].this, text),
        )

    def _group(self, node: exp.Column) -> ex.Expr:
        groups = [g.name for g in self.inner.group_by]
        found = matching(groups, node.this) if self.answers.here(node) else []
        if not found:
            refuse(
                node,
                self.text,
                f"{node.name[:40]!r} is not a group.",
                f"Use one of {', '.join(groups)}.",
                code="not-a-group",
                column=node.name[:40],
                known=", ".join(groups),
            )
        return ex.Name(found[0])

    def question(self) -> Question:
        shown = [name for node in self.tree.expressions for name in self._items(node)]
        grouped = {g.name for g in self.inner.group_by}
        after = self._after(shown)
        looks = {d.name for d in self.answers.derived if windows(d.expr)} - {
            d.name for d in self.inner.derived if windows(d.expr)
        }
        if (self.inner.limit is not None or self.inner.offset) and (after or looks):
            refuse(
                self.tree,
                self.text,
                "The inner query is cut by LIMIT, and then sorted or filtered.",
                _ONCE,
                code="cut-then-sorted",
            )
        if "having" in after and any(windows(d.expr) for d in self.inner.derived):
            refuse(
                self.tree,
                self.text,
                "WHERE stands over a window: it would leave out what was added up.",
                _ONCE,
                code="where-over-window",
            )
        wanted = tuple(name for name in shown if name not in grouped)
        if not wanted:
            refuse(
                self.tree,
                self.text,
                "This would show groups and no answers.",
                "Select an answer, too.",
                code="no-answers-shown",
            )
        return replace(self.inner, derived=tuple(self.answers.derived), shown=wanted, **after)

    def _items(self, node: exp.Expr) -> list[str]:
        inner, alias = named_item(node, self.text)
        if type(inner) is exp.Star:
            only(inner, self.text)
            return list(self.inner.outputs)
        what = self.answers.read(inner)
        if not names(what) and not windows(what):
            refuse(
                inner,
                self.text,
                "A constant is not an answer.",
                "Select columns of the inner query.",
                code="constant-answer",
            )
        if isinstance(what, ex.Name) and alias in (None, what.column):
            return [what.column]
        name = alias or self.answers.unused("computed")
        self.answers.taken.add(name.casefold())
        self.answers.derived.append(Derived(name, what))
        return [name]

    def _after(self, shown: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        where, ordered = self.tree.args.get("where"), self.tree.args.get("order")
        if where is not None:
            only(where, self.text, "this")
            condition = self.answers.read(where.this)
            found["having"] = condition if self.inner.having is None else ex.all_of(self.inner.having, condition)
        if ordered is not None:
            only(ordered, self.text, "expressions")
            found["order_by"] = tuple(self._order(node, shown) for node in ordered.expressions)
        for part in ("limit", "offset"):
            node = self.tree.args.get(part)
            if node is not None:
                only(node, self.text, "expression")
                found[part] = number(node.expression, self.text)
        return found

    def _order(self, node: exp.Expr, shown: list[str]) -> Order:
        only(node, self.text, "this", "desc")
        by, down = node.this, bool(node.args.get("desc"))
        if type(by) is exp.Literal and not by.is_string:
            place = number(by, self.text)
            if place.denominator != 1 or not 1 <= place <= len(shown):
                refuse(
                    by,
                    self.text,
                    f"SELECT has no column number {by.name[:20]}.",
                    f"It has {len(shown)}.",
                    code="select-number",
                    number=by.name[:20],
                    n=str(len(shown)),
                )
            return Order(shown[int(place) - 1], down)
        if isinstance(by, exp.Column):  # alone, a name is first what this query calls by it; else the inner query's
            given = {name.casefold() for name in self.answers.columns}
            inner = {old: new for old, new in self.answers.called.items() if old.casefold() not in given}
            what = replace(self.answers, called=inner).read(by)
        else:
            what = self.answers.read(by)
        return Order(self.answers.name_of(what, "order"), down)


def _renames(inner: Question, tree: exp.Expr, text: str) -> dict[str, str]:
    """New names for columns of the inner query: of groups that are selected under another, and of columns whose own
    name the outer query gives to something else.
    """
    items = [named_item(node, text) for node in tree.expressions]
    named = [(item, node.args["alias"]) for (item, alias), node in zip(items, tree.expressions, strict=True) if alias]
    groups, found = [g.name for g in inner.group_by], dict[str, str]()
    for item, alias in named:
        for group in matching(groups, item.this) if type(item) is exp.Column else ():
            found.setdefault(group, alias.name)
    found = {group: name for group, name in found.items() if group != name}
    taken = {name.casefold() for name in (*inner.columns, *found.values())}
    for item, alias in named:
        same = isinstance(item, exp.Column) and item.name.casefold() == alias.name.casefold()
        for old in [] if same else matching(inner.columns, alias):
            if old not in found:
                new = next(n for n in (f"{old}_{i}" for i in count(2)) if n.casefold() not in taken)
                taken.add(new.casefold())
                found[old] = new
    return found


def _renamed(q: Question, to: Mapping[str, str]) -> Question:
    """A question with other names for some of its columns."""
    if not to:
        return q
    by: dict[ex.Name, ex.Expr] = {ex.Name(old): ex.Name(new) for old, new in to.items()}
    return replace(
        q,
        group_by=tuple(replace(g, name=to.get(g.name, g.name)) for g in q.group_by),
        aggregates=tuple(replace(o, name=to.get(o.name, o.name)) for o in q.aggregates),
        derived=tuple(Derived(to.get(d.name, d.name), substitute(d.expr, by)) for d in q.derived),
        having=None if q.having is None else substitute(q.having, by),
        order_by=tuple(replace(o, name=to.get(o.name, o.name)) for o in q.order_by),
        shown=tuple(to.get(name, name) for name in q.shown),
        sets=tuple(tuple(to.get(name, name) for name in names) for names in q.sets),
    )


def _alias(source: exp.Expr, text: str) -> str:
    """The name that an outer query may call its inner one by; empty where there is none."""
    alias = source.args.get("alias")
    if alias is not None:
        only(alias, text, "this")
    named = source.this if alias is None and type(source) is exp.Table else None if alias is None else alias.this
    return "" if named is None else name_of(named, text)


_ONCE = "Write it in one query, where HAVING, ORDER BY and LIMIT stand in their places."
