"""The public keys of a question's groups: given with it, listed in a public table, declared, or a tree's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product

from curador.errors import QuestionRefused
from curador.query.ask.question import Group, Question
from curador.query.ask.typed import table_of
from curador.query.language import expressions as ex
from curador.query.language.types import Type
from curador.query.tables.columns import Key, Keys, Kind, key_value
from curador.query.tables.names import suggestion
from curador.query.tables.table import Table

MOST_PUBLIC_GROUPS = 1_000_000
"""The most public keys of one question, all columns multiplied."""

MOST_NUMBERS = 10_000_000
"""The most numbers of an answer, or of all answers of a batch: they are held in memory together, whatever they cost."""

PublicRows = Callable[[str, Sequence[str]], Sequence[Sequence[Key]]]
"""Reads columns of a public table: from its name and theirs, rows of values, none of them NULL."""


def unread(table: str, columns: Sequence[str]) -> Sequence[Sequence[Key]]:
    """Stands in for a reader of public tables where a question is only checked, not planned.

    >>> unread("towns", ["name"])
    ()
    """
    return ()


_Lists = list[tuple[tuple[str, ...], list[tuple[Key, ...]]]]
"""Groups by name, and the rows of keys that they have together."""


def require_few_numbers(numbers: int) -> None:
    """Refuse what no machine could hold, before anything is paid.

    >>> require_few_numbers(10**9)
    Traceback (most recent call last):
    curador.errors.QuestionRefused: Answering this takes 1,000,000,000 numbers, and the most is 10,000,000. To do: ...
    """
    if numbers > MOST_NUMBERS:
        raise QuestionRefused(
            f"Answering this takes {numbers:,} numbers, and the most is {MOST_NUMBERS:,}.",
            fix="Group by fewer columns, or ask for fewer outputs and quantiles at once.",
            code="answer-too-large",
        )


def public_keys(
    question: Question, tables: Mapping[str, Table], groups: tuple[Type, ...], public_rows: PublicRows | None
) -> Keys | None:
    """The keys of all groups together; None where those of a group are not public, and are selected privately."""
    if question.tree is not None:
        return _tree_keys(question, tables[question.table])
    types = {g.name: t for g, t in zip(question.group_by, groups, strict=True)}
    lists: _Lists = []
    for given in question.keys:
        rows: Sequence[Sequence[object]] = given.rows
        if given.table is not None:
            rows = _listed(given.table, given.groups, [types[n].kind for n in given.groups], tables, public_rows)
        lists.append((given.groups, _typed(rows, [types[n].kind for n in given.groups])))
    _require_bins(question, lists)
    keyed = {name for columns, _ in lists for name in columns}
    if public_rows is not None:
        lists += _joined_keys([g for g in question.group_by if g.name not in keyed], types, tables, public_rows)
        keyed |= {name for columns, _ in lists for name in columns}
    for name, t in types.items():
        if name not in keyed:
            if t.domain is None:
                return None
            lists.append(((name,), [(key,) for key in t.domain]))
    return _product(list(types), lists)


def _require_bins(question: Question, lists: _Lists) -> None:
    """Refuse a key that is the number of no bin: it would be shown as another one, or as none."""
    bins = {g.name: len(g.expr.labels) for g in question.group_by if isinstance(g.expr, ex.Bin)}
    for columns, rows in lists:
        for at, name in enumerate(columns):
            if name in bins and not all(row[at] in range(bins[name]) for row in rows):
                raise QuestionRefused(
                    f"{name!r} has bins 0 to {bins[name] - 1}; another key is given for it.",
                    fix="Give the numbers of bins as keys, or none.",
                    code="key-of-no-bin",
                    facts={"column": name, "most": bins[name] - 1},
                )


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
        what, facts = f"The public keys multiply to {size} groups; the most is {MOST_PUBLIC_GROUPS}.", {"n": size}
        raise QuestionRefused(what, fix="Group by fewer columns.", code="too-many-groups", facts=facts)
    require_few_numbers(size * len(order))  # each key is one, and they are held before anything else is
    # Lists in the order of the groups they begin with, so that the first group varies slowest.
    lists = sorted(lists, key=lambda one: min(order.index(name) for name in one[0]))
    names_of = [name for columns, _ in lists for name in columns]
    where = [names_of.index(name) for name in order]
    rows_of = (tuple(chain.from_iterable(choice)) for choice in product(*(rows for _, rows in lists)))
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
