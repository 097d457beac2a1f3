"""Maps each row to the index of its public group; other rows, and those with NULL, are dropped before truncation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import product
from math import prod

from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.truncate import INDEX, GroupColumns
from curador.query.tables.columns import Key, Kind, days, seconds

PublicKeys = Sequence[tuple[Key, ...]]


def key_node(key: Key) -> Node:
    """A public key as a constant.

    >>> key_node(date(1970, 1, 3)), key_node("Lugo")
    (Number(value=2, wide=False), Text(value='Lugo'))
    """
    if isinstance(key, bool):
        return nt.truth(key)
    if isinstance(key, str):
        return nt.text(key)
    return nt.number(key_number(key))


def key_number(key: date | int) -> int:
    """A key as plans hold it: dates are days, timestamps seconds."""
    if isinstance(key, datetime):
        return seconds(key)
    return days(key) if isinstance(key, date) else key


def indexed(
    unit: Mapping[str, Node],
    groups: Mapping[str, Node],
    values: Mapping[str, Node],
    source: nt.FromItem,
    tests: Sequence[Node],
    keys: PublicKeys | None,
    kinds: Sequence[Kind],
) -> tuple[GroupColumns, nt.FromItem]:
    """A layer of the id, the group and the values of the rows that pass the tests; and its group columns.

    Without public keys, groups are distinguished by their values.
    """
    where = nt.both(*tests) if tests else None
    if keys is None:
        cells = GroupColumns(None, tuple(groups), tuple(kinds))
        return cells, nt.select({**unit, **groups, **values}, source, where)
    cells = GroupColumns(len(keys))
    if not (unit or groups or values or tests):
        return cells, source
    if not groups:
        return cells, nt.select({**unit, **values} or {INDEX: nt.number(0)}, source, where)
    layer = nt.select({**unit, **groups, **values}, source, where)
    index, joins, known = _index(list(groups), keys, kinds)
    kept: dict[str, Node] = {c: nt.column(c) for c in (*unit, *values)}
    shown = {**kept, INDEX: index} if len(keys) > 1 or not kept else kept
    return cells, nt.select(shown, layer, nt.both(*known) if known else None, joins)


_Index = tuple[Node, list[nt.Joined], list[Node]]
"""The number of a key, with the joins and the conditions it needs."""


def _index(groups: Sequence[str], keys: PublicKeys, kinds: Sequence[Kind]) -> _Index:
    lists = [list(dict.fromkeys(column)) for column in zip(*keys, strict=True)]
    if prod(map(len, lists)) != len(keys) or any(a != b for a, b in zip(product(*lists), keys, strict=True)):
        return _looked_up(groups, "p", [[*map(key_node, key), nt.number(i)] for i, key in enumerate(keys)])
    # Keys of several columns multiplied out are numbered as digits of mixed radix, each looked up by itself.
    index: Node | None = None
    joins: list[nt.Joined] = []
    tests: list[Node] = []
    for group, values, kind in zip(groups, lists, kinds, strict=True):
        one, joined, tested = _one_index(group, values, kind)
        index = one if index is None else nt.plus(nt.times(index, nt.number(len(values))), one)
        joins += joined
        tests += tested
    assert index is not None
    return index, joins, tests


def _one_index(group: str, values: Sequence[Key], kind: Kind) -> _Index:
    x = nt.column(group)
    if kind is Kind.BOOLEAN:
        tests = [x if v is True else nt.opposite(x) for v in values]
        return nt.case((test, nt.constant(i)) for i, test in enumerate(tests)), [], [nt.either(*tests)]
    if kind is not Kind.TEXT:
        numbers = [key_number(v) for v in values if not isinstance(v, str)]
        low = numbers[0]
        if numbers == list(range(low, low + len(numbers))):
            ends = [nt.infix(">=", x, nt.number(low)), nt.infix("<=", x, nt.number(low + len(numbers) - 1))]
            return (nt.minus(x, nt.number(low)) if low else x), [], ends
    return _looked_up([group], f"p{group}", [[key_node(v), nt.number(i)] for i, v in enumerate(values)])


def _looked_up(groups: Sequence[str], name: str, rows: Sequence[Sequence[Node]]) -> _Index:
    columns, index = [f"{name}v{i}" for i in range(len(groups))], f"{name}i"
    on = nt.both(*(nt.infix("=", nt.column(g), nt.column(c)) for g, c in zip(groups, columns, strict=True)))
    return nt.column(index), [nt.join(nt.listed(name, [*columns, index], rows), on)], []
