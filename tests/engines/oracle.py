"""The exact half of a plan, written once more in plain Python over lists of rows: what every engine must answer.

Shares nothing with the lowering but types, and evaluates expressions by tests/query/reference.py.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from curador.query import expressions as ex
from curador.query.checked import Checked
from curador.query.columns import Key, Kind, day_of, days
from curador.query.measure import Form, Measure
from curador.query.question import Join
from curador.query.types import column_type
from curador.sensitivity import Contribution
from tests.query.reference import Row, evaluate, read

Rows = Sequence[Mapping[str, Any]]
"""Rows of one table as raw values by column."""

P, SMALL, SHIFT = 1073741789, 16777213, 715827883


def hashed(x: Any) -> int:
    """As truncate.hashed; Python's % is not SQL's for negative numbers."""
    if isinstance(x, str):
        return int(hashlib.md5(x.encode()).hexdigest()[:7], 16)
    return abs(int(x)) % P * (-1 if x < 0 else 1)


def fmod(a: int, b: int) -> int:
    return abs(a) % b * (-1 if a < 0 else 1)


def mix(unit: Any, group: Any, size: int | None) -> int:
    """The mixed number before the group is packed into it."""
    x = hashed(unit)
    if size is None:
        place = 0
        for part in group:
            place = fmod((place + (SHIFT if part is None else hashed(part))) * (round(0.6180339887 * P) // 2), P)
        x += place
    else:
        x += group * (P // size)
    y = x * x % P + SHIFT
    return y * y % (SMALL if size is not None and size <= 128 else P)


def order(value: Any) -> Any:
    """Values as SQL sorts them: NULL first, text by its bytes."""
    return (value is not None, value.encode() if isinstance(value, str) else value if value is not None else 0)


def kept(rows: list[tuple[Any, Any, tuple[Any, ...]]], size: int | None, limits: Contribution) -> list[Any]:
    """The rows (unit, group, values) that are left of all."""
    units: dict[Any, dict[Any, list[tuple[Any, ...]]]] = defaultdict(lambda: defaultdict(list))
    for unit, group, values in rows:
        units[unit][group].append(values)
    found = []
    prime = SMALL if size is not None and size <= 128 else P
    for unit, groups in units.items():
        tie = (lambda g: tuple(map(order, g))) if size is None else (lambda g: g)
        first = sorted(groups, key=lambda g: (mix(unit, g, size), tie(g)))[: limits.groups]
        for group in first:
            ranked = sorted(groups[group], key=lambda v: tuple(map(order, v)))
            n, r = len(ranked), limits.rows
            start = mix(unit, group, size) * round(0.6180339887 * prime) % prime % n if n else 0
            found += [(unit, group, v) for i, v in enumerate(ranked, 1) if n <= r or (i * r + start) % n < r]
    return found


def value(m: Measure, row: Row, checked: Checked) -> Any:
    assert m.column is not None
    found = evaluate(m.column, row, checked.scope)
    if m.form is Form.DISTINCT and checked.scope is not None:
        from curador.query.bound import typecheck

        domain = typecheck(m.column, checked.scope).domain or ()
        return found if found in [days(k) if isinstance(k, date) else k for k in domain] else None
    if m.form is Form.VALUES and found is not None:
        assert isinstance(found, int)
        return min(max(found, m.low), m.high)
    return found


def joined(checked: Checked, tables: Mapping[str, Rows]) -> list[tuple[Any, Row]]:
    """Every row of the question: the unit's id as read, and raw values by name."""
    question, first = checked.question, checked.table

    def unit_of(row: Mapping[str, Any], table: Any) -> Any:
        if table.unit.id is None:
            return None
        return exact_id(row[table.unit.id], table.columns[table.unit.id].kind)

    rows: list[tuple[Any, dict[ex.Name, Any]]] = [
        (unit_of(r, first), {ex.Name(c): x for c, x in r.items()}) for r in tables[question.table]
    ]
    for join in question.joins:
        other = checked.tables[join.table]
        right = [(unit_of(r, other), {ex.Name(c, join.table): x for c, x in r.items()}) for r in tables[join.table]]

        def matches(a: Row, b: Row, join: Join = join) -> bool:
            pairs = [
                (evaluate(n, a, checked.scope), evaluate(ex.Name(c, join.table), b, checked.scope)) for n, c in join.on
            ]
            return all(x is not None and x == y for x, y in pairs)

        found: list[tuple[Any, dict[ex.Name, Any]]] = []
        for unit, row in rows:
            some = [
                b
                for other_unit, b in right
                if (join.kind != "unit" or (unit is not None and unit == other_unit)) and matches(row, b)
            ]
            if join.kind == "public" and first.unit.id is None:
                some = sorted(some, key=lambda b: [order(read(b[n], checked.scope[n])) for n in sorted(b, key=str)])[:1]
            if not some and join.outer:
                some = [{ex.Name(c, join.table): None for c in other.columns}]
            found += [(unit, {**row, **b}) for b in some]
        rows = found
    return [(u, r) for u, r in rows if first.unit.id is None or u is not None]


def exact_id(raw: Any, kind: Kind) -> Any:
    if kind is Kind.TEXT:
        return raw if isinstance(raw, str) else None
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def oracle(
    checked: Checked, measures: Sequence[Measure], limits: Contribution, tables: Mapping[str, Rows]
) -> tuple[list[tuple[Key | None, ...]], dict[str, list[int]], dict[str, list[list[tuple[int, int]]]]]:
    """Keys, integers by measure, and lists of (value, count) by measure."""
    question = checked.question
    wanted = [m for m in dict.fromkeys(measures) if m.column is not None]
    # Only what is read is sorted by: a column that is only counted is there or not.
    summed = {m.column for m in wanted if m.form in (Form.SUM, Form.CENTRED, Form.SQUARES)}
    places = None if checked.keys is None else {key: i for i, key in enumerate(checked.keys)}
    rows = []
    for unit, row in joined(checked, tables):
        if question.where is not None and evaluate(question.where, row, checked.scope) is not True:
            continue
        group: Any = tuple(evaluate(g.expr, row, checked.scope) for g in question.group_by)
        if places is not None:
            typed = tuple(
                day_of(x) if t.kind is Kind.DATE and isinstance(x, int) else x
                for x, t in zip(group, checked.groups, strict=True)
            )
            assert checked.keys is not None
            if typed not in places or [*map(type, typed)] != [*map(type, checked.keys[places[typed]])]:
                continue
            group = places[typed]
        values = tuple(
            (1 if value(m, row, checked) is not None else None)
            if m.form is Form.PRESENT and m.column not in summed
            else value(m, row, checked)
            for m in wanted
        )
        rows.append((unit, group, values))
    if checked.table.unit.id is not None:
        rows = kept(rows, None if places is None else len(places), limits)
    keys: list[tuple[Key | None, ...]]
    if checked.keys is not None:
        keys, place = list(checked.keys), {i: i for i in range(len(checked.keys))}
    else:
        raw = sorted({g for _, g, _ in rows}, key=lambda g: tuple(map(order, g)))
        place = {g: i for i, g in enumerate(raw)}
        keys = [
            tuple(
                day_of(x) if t.kind is Kind.DATE and x is not None else x
                for x, t in zip(g, checked.groups, strict=True)
            )
            for g in raw
        ]
    columns = {m.name: [0] * len(keys) for m in measures if m.form is not Form.VALUES}
    lists: dict[str, list[list[tuple[int, int]]]] = {}
    for m in dict.fromkeys(measures):
        cells: list[list[Any]] = [[] for _ in keys]
        for unit, group, values in rows:
            cells[place[group]].append((unit, values[wanted.index(m)] if m in wanted else None))
        if m.form is Form.VALUES:
            lists[m.name] = [
                sorted({v: sum(w == v for _, w in c) for _, v in c if v is not None}.items()) for c in cells
            ]
        else:
            columns[m.name] = [aggregate(m, c, checked.table.unit.id is not None) for c in cells]
    return keys, columns, lists


def aggregate(m: Measure, cell: list[tuple[Any, Any]], ids: bool) -> int:
    there = [v for _, v in cell if v is not None]
    if m.form is Form.ROWS:
        return len(cell)
    if m.form is Form.UNITS:
        return len({u for u, _ in cell}) if ids else len(cell)
    if m.form is Form.PRESENT:
        return len(there)
    if m.form is Form.DISTINCT:
        return len(set(there))
    return sum((v - m.centre) ** (2 if m.form is Form.SQUARES else 1) for v in there)


__all__ = ["column_type", "kept", "oracle"]
