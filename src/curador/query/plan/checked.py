"""Checks a question against its tables: finds every name, every type and every public key, and reads no data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from curador.errors import QuestionRefused
from curador.query.aggregates.base import Aggregate, function_named
from curador.query.ask.measured import best_measured
from curador.query.ask.question import Group, Join, Question
from curador.query.language import expressions as ex
from curador.query.language.answers import answer_kind, check_condition
from curador.query.language.bounds import condition, typecheck, unbounded
from curador.query.language.text import shortened
from curador.query.language.types import Scope, Type, column_type
from curador.query.tables.columns import FIRST_DAY, LAST_DAY, Key, Kind, key_value
from curador.query.tables.names import suggestion
from curador.query.tables.table import Table

MOST_PUBLIC_GROUPS = 1_000_000
"""The most public keys of one question, all columns multiplied."""

MOST_JOINED = 10_000
"""Upper bound on the joined rows of one unit across private tables, unless a table declares more."""

PublicRows = Callable[[str, Sequence[str]], Sequence[Sequence[Key]]]
"""Reads columns of a public table: from its name and theirs, rows of values, none of them NULL."""


def unread(table: str, columns: Sequence[str]) -> Sequence[Sequence[Key]]:
    """Stands in for a reader of public tables where a question is only checked, not planned.

    >>> unread("towns", ["name"])
    ()
    """
    return ()


@dataclass(frozen=True)
class Checked:
    """A question that is valid for its tables.

    ``groups`` and ``columns`` are the types of what is grouped by and measured (None: rows or units are counted).
    ``keys`` are all public keys in order, or None where groups are selected privately; one empty key without groups.
    """

    question: Question
    tables: Mapping[str, Table]
    scope: Scope
    groups: tuple[Type, ...]
    columns: tuple[Type | None, ...]
    keys: tuple[tuple[Key, ...], ...] | None
    most_joined: int = MOST_JOINED

    @property
    def rows_joined_per_unit(self) -> dict[str, int]:
        """How many rows of each private table a unit brings into a join of them; empty without such a join.

        The same number for all, as large as ``most_joined`` together allow: 100 of each of two tables.  A table that
        declares that a unit contributes more than that brings as many as it declares.
        """
        others = [j.table for j in self.question.joins if j.kind == "unit"]
        if not others:
            return {}
        tables = [self.question.table, *others]
        share = 1
        while (share + 1) ** len(tables) <= self.most_joined:
            share += 1
        declared = {name: self.tables[name].contribution for name in tables}
        return {name: share if c is None else max(share, c.groups * c.rows) for name, c in declared.items()}

    @property
    def table(self) -> Table:
        """The table that is asked."""
        return self.tables[self.question.table]

    @cached_property
    def kinds(self) -> Mapping[str, Kind | None]:
        """The kind of every column of the answer; aggregates are numbers, and NULL alone has none."""
        found: dict[str, Kind | None] = {
            g.name: t.kind for g, t in zip(self.question.group_by, self.groups, strict=True)
        }
        known = {ex.Name(name): found.get(name) or Kind.REAL for name in self.question.columns}
        for d in self.question.derived:
            found[d.name] = answer_kind(d.expr, known)
        return {name: found.get(name, Kind.REAL) for name in self.question.columns}

    def require_bounds(self) -> None:
        """Refuse what would be summed or ranked without bounds; a planner may first offer to learn them."""
        for output, t in zip(self.question.aggregates, self.columns, strict=True):
            what = output.aggregate
            needed = function_named(what.function).needs_bounds
            if needed and t is not None and t.bounds is None and what.column is not None:
                raise unbounded(
                    f"{output.name!r} is a {what.function} of {shortened(what.column)}", what.column, self.scope
                )


def check(question: Question, tables: Mapping[str, Table], public_rows: PublicRows | None = None) -> Checked:
    """The question, asked by what measures it best, with its types; or a refusal that names the column and the fix.

    ``public_rows`` reads keys from public tables; without it none are, and groups made of their columns are selected
    privately.

    >>> from curador.query.aggregates.moments import mean
    >>> from curador.query.ask.question import Output
    >>> adult = Table("adult.parquet", columns={"age": {"type": "integer", "bounds": [17, 90]}})
    >>> q = Question("adult", (Output("age", mean("age")),))
    >>> check(q, {"adult": adult}).columns[0].bounds
    (Fraction(17, 1), Fraction(90, 1))
    """
    scope = scope_of(question, tables)
    question = best_measured(question, scope)
    if question.where is not None:
        condition(question.where, scope)
    groups = tuple(_group(g, scope) for g in question.group_by)
    columns = tuple(_measured(o.name, o.aggregate, scope) for o in question.aggregates)
    keys = _keys(question, tables, groups, public_rows)
    if keys is None and any(o.aggregate.function == "top_k" for o in question.aggregates):
        raise QuestionRefused("top_k chooses among public keys.", fix="Declare keys for the columns it groups by.")
    if question.contribution is not None and tables[question.table].unit.id is None:
        raise QuestionRefused("A row is in one group, once: nothing to bound.", fix="Leave bounded() out.")
    found = Checked(question, tables, scope, groups, columns, keys)
    if question.having is not None or question.derived:
        _check_after(question, found.kinds)
    return found


# ---- names ---------------------------------------------------------------------------------------------------


def table_of(name: str, tables: Mapping[str, Table]) -> Table:
    """The table of a name, or a refusal that suggests another.

    >>> table_of("adlt", {"adult": Table("adult.csv", columns={"age": "integer"})})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.QuestionRefused: There is no table 'adlt'. To do: Did you mean 'adult'? ...
    """
    if name not in tables:
        raise QuestionRefused(f"There is no table {name!r}.", fix=suggestion(name, tables))
    return tables[name]


def scope_of(question: Question, tables: Mapping[str, Table]) -> dict[ex.Name, Type]:
    """Every column the question may use: the table's by name, joined ones by table and name."""
    first = table_of(question.table, tables)
    if first.public:
        raise QuestionRefused(f"The table {question.table!r} is public.", fix="Read it directly, it needs no noise.")
    scope = {ex.Name(name): column_type(c) for name, c in first.columns.items()}
    for join in question.joins:
        scope |= _joined(join, first, scope, tables)
    return scope


def _joined(join: Join, first: Table, scope: Scope, tables: Mapping[str, Table]) -> dict[ex.Name, Type]:
    other = table_of(join.table, tables)
    found = {ex.Name(name, join.table): column_type(c) for name, c in other.columns.items()}
    if not scope.keys().isdisjoint(found):
        raise QuestionRefused(f"The table {join.table!r} is joined twice.", fix="Join it once.")
    for left, right in join.on:
        a, b = typecheck(left, scope), typecheck(ex.Name(right, join.table), found)
        if a.kind is not b.kind or a.kind is Kind.REAL:
            raise QuestionRefused(
                f"{shortened(left)} is {a.kind} and {join.table}.{right} is {b.kind}.",
                fix="Join on columns of one type, and not on reals.",
            )
    if join.kind == "public" and not other.public:
        raise QuestionRefused(f"The table {join.table!r} is private.", fix="Join it by the unit's id.")
    if join.kind == "unit":
        _check_unit_join(join, first, other)
    if not join.outer:
        return found
    return {n: Type(t.kind, t.lower, t.upper, t.bits, True, t.keys) for n, t in found.items()}


def _check_unit_join(join: Join, first: Table, other: Table) -> None:
    ids = (first.unit.id, other.unit.id)
    if other.public or None in ids or (ex.Name(ids[0] or ""), ids[1]) not in join.on:
        raise QuestionRefused(
            f"The private table {join.table!r} is not joined by the unit's id on both sides.",
            fix="Join private tables ON id = id, where each table's unit is that id.",
        )
    if first.neighbors is not other.neighbors:
        raise QuestionRefused(
            f"{join.table!r} is about {other.neighbors} neighbours, the first table about {first.neighbors}.",
            fix="Declare one kind for both.",
        )


# ---- types ---------------------------------------------------------------------------------------------------


def _group(group: Group, scope: Scope) -> Type:
    t = typecheck(group.expr, scope)
    if t.kind is Kind.REAL:
        raise QuestionRefused(
            f"{group.name!r} groups by a real number.",
            fix=f"Group by BIN({shortened(group.expr)}, lowest, …, highest).",
        )
    if t.kind is Kind.DATE and t.bounds and not FIRST_DAY <= t.bounds[0] <= t.bounds[1] <= LAST_DAY:
        # A key that is not a date could not be returned, and failing on it would reveal that it is there.
        raise QuestionRefused(
            f"{group.name!r} could leave the years 1 to 9999.", fix="Narrow the bounds of the dates it is made of."
        )
    return t


_INSTEAD = {
    Kind.TEXT: "Count it, or group by it.",
    Kind.BOOLEAN: "Count where it is true: COUNT(CASE WHEN column THEN 1 END).",
    Kind.DATE: "Take a date away to get days.",
}


def _measured(name: str, what: Aggregate, scope: Scope) -> Type | None:
    if what.column is None:
        return None
    t = typecheck(what.column, scope)
    function = function_named(what.function)
    if function.numeric and not t.kind.numeric:
        raise QuestionRefused(
            f"{name!r} is a {what.function} of {shortened(what.column)}, which is of type {t.kind}.",
            fix=_INSTEAD[t.kind],
        )
    function.refuse(name, what, t)
    return t


_Lists = list[tuple[tuple[str, ...], list[tuple[Key, ...]]]]
"""Groups by name, and the rows of keys that they have together."""


def _keys(
    question: Question, tables: Mapping[str, Table], groups: tuple[Type, ...], public_rows: PublicRows | None
) -> tuple[tuple[Key, ...], ...] | None:
    if question.tree is not None:
        return _tree_keys(question, tables[question.table])
    types = {g.name: t for g, t in zip(question.group_by, groups, strict=True)}
    lists: _Lists = []
    for given in question.keys:
        rows: Sequence[Sequence[object]] = given.rows
        if given.table is not None:
            rows = _listed(given.table, given.groups, [types[n].kind for n in given.groups], tables, public_rows)
        lists.append((given.groups, _typed(rows, [types[n].kind for n in given.groups])))
    keyed = {name for columns, _ in lists for name in columns}
    if public_rows is not None:
        left = [g for g in question.group_by if g.name not in keyed]
        lists += _joined_keys(left, types, tables, public_rows)
        keyed |= {name for columns, _ in lists for name in columns}
    for name, t in types.items():
        if name not in keyed:
            if t.domain is None:
                return None
            lists.append(((name,), [(key,) for key in t.domain]))
    return _product(list(types), lists)


def _typed(rows: Sequence[Sequence[object]], kinds: Sequence[Kind]) -> list[tuple[Key, ...]]:
    """The keys in their types, each once: a row that matched two would count twice."""
    return list(dict.fromkeys(tuple(key_value(k, x) for k, x in zip(kinds, row, strict=True)) for row in rows))


def _listed(
    name: str, columns: Sequence[str], kinds: Sequence[Kind], tables: Mapping[str, Table], reader: PublicRows | None
) -> Sequence[Sequence[object]]:
    table = table_of(name, tables)
    if not table.public or reader is None:
        raise QuestionRefused(f"{name!r} is not a public table to read keys from.", fix="List the keys.")
    for column, kind in zip(columns, kinds, strict=True):
        if column not in table.columns:
            raise QuestionRefused(f"{name!r} has no column {column!r}.", fix=suggestion(column, table.columns))
        if table.columns[column].kind is not kind:
            raise QuestionRefused(
                f"{name}.{column} is {table.columns[column].kind}, and the group of that name is {kind}.",
                fix="Read keys from a column of the same type.",
            )
    return reader(name, columns)


def _joined_keys(
    left: Sequence[Group], types: Mapping[str, Type], tables: Mapping[str, Table], reader: PublicRows
) -> _Lists:
    """Groups that are columns of a joined public table have its rows as their keys: the pairs that there are."""
    found: dict[str, list[tuple[str, str]]] = {}
    for g in left:
        if isinstance(g.expr, ex.Name) and g.expr.table is not None and tables[g.expr.table].public:
            found.setdefault(g.expr.table, []).append((g.name, g.expr.column))
    lists: _Lists = []
    for table, pairs in found.items():
        if any(types[name].domain is None for name, _ in pairs):
            rows = reader(table, [column for _, column in pairs])
            lists.append((tuple(name for name, _ in pairs), _typed(rows, [types[name].kind for name, _ in pairs])))
    return lists


def _product(order: list[str], lists: _Lists) -> tuple[tuple[Key, ...], ...]:
    size = 1
    for _, rows in lists:
        size *= len(rows)
    if size > MOST_PUBLIC_GROUPS:
        raise QuestionRefused(
            f"The public keys multiply to {size} groups; the most is {MOST_PUBLIC_GROUPS}.",
            fix="Group by fewer columns.",
        )
    # Lists in the order of the groups they begin with, so that the first group varies slowest.
    lists = sorted(lists, key=lambda one: min(order.index(name) for name in one[0]))
    names_of = [name for columns, _ in lists for name in columns]
    where = [names_of.index(name) for name in order]
    rows_of = (sum(choice, ()) for choice in product(*(rows for _, rows in lists)))
    return tuple(tuple(row[i] for i in where) for row in rows_of)


def _tree_keys(question: Question, table: Table) -> tuple[tuple[Key, ...], ...]:
    name = question.tree or ""
    if name not in table.trees:
        raise QuestionRefused(f"{question.table!r} declares no tree {name!r}.", fix=suggestion(name, table.trees))
    tree = table.trees[name]
    if tuple(g.expr for g in question.group_by) != tuple(map(ex.Name, tree.levels)):
        raise QuestionRefused(f"The tree {name!r} is not grouped by its levels.", fix=f"Group by {tree.levels}.")
    nodes = {path for depth in range(len(tree.levels) + 1) for path in tree.paths(depth)}
    for path, _ in question.totals:
        if path not in nodes:
            raise QuestionRefused(f"The tree {name!r} has no node {'/'.join(path)!r}.", fix="Write paths from the top.")
    return tuple(tree.paths())


# ---- after the noise -----------------------------------------------------------------------------------------


def _check_after(question: Question, kinds: Mapping[str, Kind | None]) -> None:
    known = {ex.Name(name): kind for name, kind in kinds.items() if kind is not None}
    if question.having is not None:
        check_condition(question.having, known)
