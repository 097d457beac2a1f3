"""Joins of FROM: which columns match, and which table is the one whose rows are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from curador.query.ask.sql.relation import Relation
from curador.query.ask.sql.text import name_of, only, plain_column, refuse
from curador.query.ask.typed import is_unit
from curador.query.language import expressions as ex
from curador.query.language.rows import BesideUnit, Join, OfUnit, PerUnit
from curador.query.tables.table import Table

_SIDES = ("", "INNER"), ("", ""), ("LEFT", ""), ("LEFT", "OUTER"), ("RIGHT", ""), ("RIGHT", "OUTER")


def joined(left: Relation, right: Relation, node: exp.Expr, text: str, tables: Mapping[str, Table]) -> Relation:
    """The relation of a join; ``right`` is a table, a query with one row per unit, or one that the table on the left is
    joined to.
    """
    only(node, text, "this", "on", "using", "side", "kind", "method")
    side, kind = str(node.args.get("side") or "").upper(), str(node.args.get("kind") or "").upper()
    if side == "FULL":
        refuse(
            node,
            text,
            "A FULL JOIN has rows of either table alone.",
            "Use LEFT JOIN, or UNION ALL of the two tables.",
            code="full-join",
        )
    if (side, kind) not in _SIDES or str(node.args.get("method") or "").upper() not in ("", "NATURAL"):
        refuse(
            node,
            text,
            f"{side or kind} JOIN is not in the grammar.",
            "Use JOIN or LEFT JOIN … ON a = b.",
            code="sql-join-kind",
            word=side or kind,
        )
    if side == "RIGHT" and _is_per_unit(left) and not _is_per_unit(right) and not tables[right.table].public:
        left, right, side = right, left, "LEFT"
    if side != "RIGHT" and _is_per_unit(right) and not tables[left.table].public:
        return _beside(left, right, side == "LEFT", node, text, tables)
    if not _is_table(right) or side == "RIGHT":
        left, right, side = _turned(left, right, side, node, text, tables)
    name = right.table
    there = (left.source is None and name == left.table) or any(j.table == name for j in left.joins)
    if there or {a.casefold() for a in right.columns} & {a.casefold() for a in left.columns}:
        refuse(
            node,
            text,
            f"{name!r} is there already.",
            "Join another table, under another name.",
            code="sql-table-twice",
            table=name,
        )
    theirs = {a: {c: ex.Name(c, name) for c in columns} for a, columns in right.columns.items()}
    right = replace(right, columns=theirs)
    pairs = list(_pairs(left, right, node, text))
    join = Join(
        "public" if tables[name].public else "unit", name, tuple((a, b.column) for a, b in pairs), outer=side == "LEFT"
    )
    merged = {b for _, b in pairs} if node.args.get("using") or node.args.get("method") else set()
    return replace(
        left,
        columns={**left.columns, **right.columns},
        joins=(*left.joins, join),
        merged=left.merged | merged,
    )


def _is_table(relation: Relation) -> bool:
    """Whether a relation is a declared table as it is, neither filtered nor joined, its columns under their names."""
    columns = [(n, e) for inside in relation.columns.values() for n, e in inside.items()]
    plain = relation.source is None and relation.where is None and not relation.joins
    return plain and all(e == ex.Name(n) for n, e in columns)


def _is_per_unit(relation: Relation) -> bool:
    """Whether a relation has at most one row for each unit: an inner query that groups by the id alone."""
    alone = isinstance(relation.source, PerUnit) and not relation.source.by
    return alone and not any(join.kind == "unit" for join in relation.joins)


def _beside(
    left: Relation, right: Relation, outer: bool, node: exp.Expr, text: str, tables: Mapping[str, Table]
) -> Relation:
    """A query with one row per unit, joined by the id: its columns stand beside each row, and no row is multiplied."""
    if {a.casefold() for a in right.columns} & {a.casefold() for a in left.columns}:
        refuse(
            node,
            text,
            "Two parts of FROM have one name.",
            "Give the query another: (…) AS name.",
            code="sql-names-twice",
        )
    ids = {e for columns in right.columns.values() for e in columns.values() if is_unit(e, right.rows, tables)}
    theirs: dict[str, dict[str, ex.Expr]] = {
        a: {c: BesideUnit("beside", operand=e, rows=right.rows) for c, e in columns.items()}
        for a, columns in right.columns.items()
    }
    pairs = list(_pairs(left, replace(right, columns=theirs), node, text))
    by_id = [is_unit(a, left.rows, tables) and isinstance(b, BesideUnit) and b.operand in ids for a, b in pairs]
    if by_id != [True]:
        refuse(
            node,
            text,
            "A query with one row per unit is joined by the unit's id, and by nothing else.",
            "Write ON id = id, where each is the unit; compare the rest in WHERE.",
            code="join-by-unit-alone",
        )
    (own, id), shown = pairs[0], theirs
    where = left.where
    if not outer:  # whoever has no row there is left out, and the two ids are one
        there = BesideUnit("beside", operand=OfUnit("rows"), rows=right.rows)  # an id that is no number here is NULL
        where = ex.all_of(*filter(None, (where, ex.Not(ex.IsNull(there)))))
        shown = {a: {c: own if e == id else e for c, e in columns.items()} for a, columns in theirs.items()}
    merged = {id} if node.args.get("using") or node.args.get("method") else set()
    columns = {**left.columns, **shown}
    return replace(left, columns=columns, where=where, merged=left.merged | merged)


def _turned(
    left: Relation, right: Relation, side: str, node: exp.Expr, text: str, tables: Mapping[str, Table]
) -> tuple[Relation, Relation, str]:
    """The sides exchanged: a table is joined to a query, and the table that keeps all its rows comes first."""
    if side == "RIGHT" and tables[right.table].public:
        refuse(
            node,
            text,
            "A RIGHT JOIN of a public table would keep rows that belong to nobody.",
            "Use JOIN, or LEFT JOIN with the private table first.",
            code="right-join-public",
        )
    if side == "LEFT":
        refuse(
            node,
            text,
            "A query with several rows per unit is not joined by LEFT JOIN: nothing says how many of them one brings.",
            "GROUP BY the unit's id alone in it, for one row per unit; or LEFT JOIN the table itself, and filter it in "
            "what is measured: SUM(CASE WHEN … THEN … END).",
            code="several-rows-left-join",
        )
    if not _is_table(left) or (left.table == right.table and right.source is None):
        refuse(
            node,
            text,
            "A query with several rows per unit is joined only to a table as it is, and by JOIN.",
            "GROUP BY the unit's id in it, for one row per unit; or write FROM (query) JOIN table, and filter outside.",
            code="several-rows-join",
        )
    if tables[left.table].public:
        refuse(
            node,
            text,
            f"The table {left.table!r} is public.",
            "Put the private table first.",
            code="public-first",
            table=left.table,
        )
    return right, left, "LEFT" if side == "RIGHT" else side


def parted(left: Relation, right: Relation, conditions: list[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The conditions of WHERE that say what two tables with a comma between them match, and the others.

    They are those that compare a column of each by =.
    """
    matched: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for one in conditions:
        columns = type(one) is exp.EQ and type(one.this) is type(one.expression) is exp.Column
        sides = [(left.has(x), right.has(x)) for x in (one.this, one.expression)] if columns else []
        (matched if sorted(sides) == [(False, True), (True, False)] else others).append(one)
    return matched, others


def conjuncts(where: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that WHERE joins by AND."""
    todo, found = [] if where is None else [where.this], []
    while todo:
        one = todo.pop()
        if type(one) is exp.And:
            todo += [one.expression, one.this]
        elif type(one) is exp.Paren and type(one.this) in (exp.And, exp.Paren, exp.EQ):
            todo.append(one.this)
        else:
            found.append(one)
    return found


def _shared(left: Relation, right: Relation, node: exp.Expr, text: str) -> list[exp.Expr]:
    """The columns that USING names, or that NATURAL finds in both."""
    if not node.args.get("method"):
        return list(node.args.get("using") or [])
    theirs = [n for columns in right.columns.values() for n in columns]
    named = [exp.to_identifier(n, quoted=True) for n in theirs]
    found: list[exp.Expr] = [n for n in named if left.has(exp.Column(this=n))]
    if not found:
        refuse(
            node,
            text,
            "A NATURAL JOIN finds no column of one name in both.",
            "Write JOIN table ON a = b.",
            code="natural-join",
        )
    return found


def _pairs(left: Relation, right: Relation, node: exp.Expr, text: str) -> Iterator[tuple[ex.Name, ex.Name]]:
    for name in _shared(left, right, node, text):
        name_of(name, text)
        column = exp.Column(this=name)
        yield _names(left.find(column), right.find(column), node, text)
    todo = [node.args["on"]] if node.args.get("on") else []
    if not todo and not node.args.get("using") and not node.args.get("method"):
        refuse(node, text, "A join without ON multiplies rows.", "Write JOIN table ON a = b.", code="join-without-on")
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
                refuse(
                    one,
                    text,
                    "A join matches a column of each table.",
                    "Write ON this.column = that.column.",
                    code="join-columns",
                )
            yield _names(sides[0], sides[1], node, text)
        else:
            refuse(
                one,
                text,
                "Joins match columns by = alone.",
                "Write ON a = b AND …; filter in WHERE.",
                code="join-by-equality",
            )


def _names(a: ex.Expr, b: ex.Expr, node: exp.Expr, text: str) -> tuple[ex.Name, ex.Name]:
    if not isinstance(a, ex.Name) or not isinstance(b, ex.Name):
        refuse(
            node,
            text,
            f"A join is on {a}, which is computed.",
            "Join on columns as they are.",
            code="join-computed",
            column=a,
        )
    return a, b
