"""The exact half of a plan, written once more in plain Python over lists of rows: what every engine must answer.

Shares nothing with the lowering but types, and evaluates expressions by tests/query/reference.py.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Join
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.trees import names
from curador.query.plan.checked import Checked
from curador.query.tables.columns import Key, Kind, day_of, days
from curador.query.tables.table import Table
from tests.query.reference import evaluate, read

Rows = Sequence[Mapping[str, Any]]
"""Rows of one table as raw values by column."""

Kept = tuple[Any, Any, tuple[Any, ...]]
"""A row as it is counted: unit, group, values."""

PRIME, SMALL_PRIME, SHIFT, GOLDEN = 1073741789, 16777213, 715827883, 0.6180339887


class Expected(NamedTuple):
    keys: list[tuple[Key | None, ...]]
    columns: dict[Measure, list[int]]
    lists: dict[Measure, list[list[tuple[int, int]]]]


# ---- truncation --------------------------------------------------------------------------------------------------


def remainder(a: int, b: int) -> int:
    """With the sign of a, as SQL has it."""
    return abs(a) % b * (-1 if a < 0 else 1)


def hashed(x: Any) -> int:
    if isinstance(x, str):
        return int(hashlib.md5(x.encode()).hexdigest()[:7], 16)
    return remainder(int(x), PRIME)


def modulus(size: int | None) -> int:
    return SMALL_PRIME if size is not None and size <= 128 else PRIME


def mix(unit: Any, group: Any, size: int | None) -> int:
    """The mixed number of a unit and a group: the index of one of ``size`` keys, or a tuple of values."""
    place = 0
    if size is not None:
        place = group * (PRIME // size)
    else:
        for part in group:
            place = remainder((place + (SHIFT if part is None else hashed(part))) * (round(GOLDEN * PRIME) // 2), PRIME)
    y = (hashed(unit) + place) ** 2 % PRIME + SHIFT
    return y * y % modulus(size)


def order(value: Any) -> Any:
    """Values as SQL sorts them: NULL first, text by its bytes."""
    return value is not None, value.encode() if isinstance(value, str) else 0 if value is None else value


def kept(rows: Sequence[Kept], size: int | None, limits: Contribution) -> list[Kept]:
    """The rows that are left of all."""
    units: dict[Any, dict[Any, list[tuple[Any, ...]]]] = defaultdict(lambda: defaultdict(list))
    for unit, group, values in rows:
        units[unit][group].append(values)
    found = []
    prime, most = modulus(size), limits.rows
    for unit, groups in units.items():

        def place(group: Any, unit: Any = unit) -> Any:
            return mix(unit, group, size), tuple(map(order, group)) if size is None else group

        for group in sorted(groups, key=place)[: limits.groups]:
            ordered = sorted(groups[group], key=lambda v: tuple(map(order, v)))
            n = len(ordered)
            start = mix(unit, group, size) * round(GOLDEN * prime) % prime % n
            chosen = [v for i, v in enumerate(ordered, 1) if n <= most or (i * most + start) % n < most]
            found += [(unit, group, v) for v in chosen]
    return found


# ---- rows --------------------------------------------------------------------------------------------------------


def unit_of(row: Mapping[str, Any], table: Table) -> Any:
    """The id as it is told apart: never clipped."""
    id = table.unit.id
    if id is None or table.public:
        return None
    raw = row[id]
    wanted = str if table.columns[id].kind is Kind.TEXT else int
    return raw if isinstance(raw, wanted) else None


Row = tuple[Any, dict[ex.Name, Any]]
"""A row with the id of its unit, and raw values by name."""


def side(rows: list[Row], join: Join | None, number: int, checked: Checked, measures: Sequence[Measure]) -> list[Row]:
    """One side of a private join: the rows that each unit brings into it."""
    question, scope = checked.question, checked.scope
    most = checked.rows.rows_joined_per_unit[question.table if join is None else join.table]
    own = None if join is None else join.table
    ids = {ex.Name(str(checked.table.unit.id))}
    ids |= {ex.Name(str(checked.tables[j.table].unit.id), j.table) for j in question.joins if j.kind == "unit"}
    used = {n for g in question.group_by for n in names(g.expr)}
    used |= {n for m in measures if m.column is not None for n in names(m.column)}
    used |= set() if question.where is None else names(question.where)
    matched: list[ex.Name] = []
    for j in question.joins:
        pairs = [(a, ex.Name(b, j.table)) for a, b in j.on]
        pairs = [p for p in pairs if j.kind == "public" or not set(p) <= ids]
        used |= {n for p in pairs for n in p}
        if j.kind == "unit" and (j is join or (join is None and not matched)):
            matched = [p[join is not None] for p in pairs if p[0].table is None]
    columns = sorted((n for n in used if n.table == own), key=str)
    parts = question.where.operands if isinstance(question.where, ex.And) else [question.where]
    tests = [e for e in parts if e is not None and {n.table for n in names(e)} == {own}]
    if join is not None and join.outer:
        tests = []
    found: dict[Any, dict[Any, list[tuple[Any, Row]]]] = defaultdict(lambda: defaultdict(list))
    for unit, row in rows:
        if unit is not None and all(evaluate(e, row, scope) is True for e in tests):
            group = tuple(evaluate(n, row, scope) for n in matched)
            found[unit][group].append(([order(evaluate(n, row, scope)) for n in columns], (unit, row)))
    kept_rows: list[Row] = []
    size, prime = (None, PRIME) if matched else (1, SMALL_PRIME)
    for unit, groups in found.items():
        ranked = []
        for group, some in groups.items():
            h = mix(unit, group if matched else 0, size)
            some.sort(key=lambda pair: pair[0])
            for i, (_, found_row) in enumerate(some, 1):
                turn = (i + number * SHIFT % PRIME) * round(GOLDEN * PRIME) % PRIME
                y = (h * round(GOLDEN * prime) % prime + turn) ** 2 % PRIME + SHIFT
                ranked.append(((h, tuple(map(order, group)), y * y % PRIME, i), found_row))
        kept_rows += [row for _, row in sorted(ranked, key=lambda pair: pair[0])[:most]]
    return kept_rows


def joined(checked: Checked, tables: Mapping[str, Rows], measures: Sequence[Measure]) -> list[Row]:
    """Every row of the question: the unit's id, and raw values by name."""
    first, name = checked.table, checked.question.table
    rows = [(unit_of(r, first), {ex.Name(c): x for c, x in r.items()}) for r in tables[name]]
    if checked.rows.rows_joined_per_unit:
        rows = side(rows, None, 0, checked, measures)
    for i, join in enumerate(checked.question.joins, 1):
        rows = _beside(rows, join, i, checked, tables, measures)
    return [(unit, row) for unit, row in rows if first.unit.id is None or unit is not None]


def _beside(
    rows: list[Row],
    join: Join,
    number: int,
    checked: Checked,
    tables: Mapping[str, Rows],
    measures: Sequence[Measure],
) -> list[Row]:
    own, other, scope = checked.table, checked.tables[join.table], checked.scope
    right = [(unit_of(r, other), {ex.Name(c, join.table): x for c, x in r.items()}) for r in tables[join.table]]
    if join.kind == "unit":
        right = side(right, join, number, checked, measures)
    used = sorted((n for n in checked.scope if n.table == join.table), key=str)

    def fits(unit: Any, row: dict[ex.Name, Any], whose: Any, b: dict[ex.Name, Any]) -> bool:
        if join.kind == "unit" and (unit is None or unit != whose):
            return False
        on = [(n, c) for n, c in join.on if join.kind == "public" or (n.column, c) != (own.unit.id, other.unit.id)]
        pairs = [(evaluate(n, row, scope), evaluate(ex.Name(c, join.table), b, scope)) for n, c in on]
        return all(x is not None and x == y for x, y in pairs)

    found = []
    for unit, row in rows:
        some = [b for whose, b in right if fits(unit, row, whose, b)]
        if join.kind == "public" and own.unit.id is None:
            some = sorted(some, key=lambda b: [order(read(b[n], scope[n])) for n in used])[:1]
        if join.outer and not some:
            some = [{ex.Name(c, join.table): None for c in other.columns}]
        found += [(unit, {**row, **b}) for b in some]
    return found


# ---- aggregates --------------------------------------------------------------------------------------------------


def value(m: Measure, row: Mapping[ex.Name, Any], checked: Checked, summed: set[ex.Expr | None]) -> Any:
    assert m.column is not None
    found = evaluate(m.column, row, checked.scope)
    if found is None:
        return None
    if m.kind is MeasureKind.PRESENT and m.column not in summed:
        return 1
    if m.kind is MeasureKind.DISTINCT:
        domain = typecheck(m.column, checked.scope).domain
        if domain is None:
            return found
        return found if found in [plain(key) for key in domain] else None
    return min(max(found, m.low), m.high) if m.kind is MeasureKind.VALUES else found


def plain(key: Key | None) -> int | str | bool | None:
    """A key as plans hold it: dates are days."""
    return key if key is None or isinstance(key, int | str) else days(key)


def oracle(checked: Checked, measures: Sequence[Measure], limits: Contribution, tables: Mapping[str, Rows]) -> Expected:
    """What an engine must answer."""
    question, size = checked.question, None if checked.keys is None else len(checked.keys)
    wanted = [m for m in dict.fromkeys(measures) if m.column is not None]
    summed = {m.column for m in wanted if m.kind in (MeasureKind.SUM, MeasureKind.CENTRED, MeasureKind.SQUARES)}
    places = {tuple((type(plain(k)), plain(k)) for k in key): i for i, key in enumerate(checked.keys or ())}
    rows: list[Kept] = []
    for unit, row in joined(checked, tables, wanted):
        if question.where is not None and evaluate(question.where, row, checked.scope) is not True:
            continue
        group: Any = tuple(evaluate(g.expr, row, checked.scope) for g in question.group_by)
        if size is not None:
            group = places.get(tuple((type(x), x) for x in group))
            if group is None:
                continue
        rows.append((unit, group, tuple(value(m, row, checked, summed) for m in wanted)))
    if checked.table.unit.id is not None:
        rows = kept(rows, size, limits)
    found = range(size) if size is not None else sorted({g for _, g, _ in rows}, key=lambda g: tuple(map(order, g)))
    place = {g: i for i, g in enumerate(found)}
    keys: list[tuple[Key | None, ...]] = [*(checked.keys or ())] or [typed(g, checked) for g in place]
    columns, lists = {}, {}
    for m in dict.fromkeys(measures):
        cells: list[list[tuple[Any, Any]]] = [[] for _ in keys]
        for unit, group, values in rows:
            cells[place[group]].append((unit, values[wanted.index(m)] if m in wanted else None))
        if m.kind is MeasureKind.VALUES:
            lists[m] = [sorted(Counter(v for _, v in c if v is not None).items()) for c in cells]
        else:
            columns[m] = [aggregate(m, c, checked.table.unit.id is not None) for c in cells]
    return Expected(keys, columns, lists)


def typed(group: tuple[Any, ...], checked: Checked) -> tuple[Key | None, ...]:
    pairs = zip(group, checked.groups, strict=True)
    return tuple(day_of(x) if t.kind is Kind.DATE and x is not None else x for x, t in pairs)


def aggregate(m: Measure, cell: Sequence[tuple[Any, Any]], ids: bool) -> int:
    there = [v for _, v in cell if v is not None]
    if m.kind is MeasureKind.ROWS:
        return len(cell)
    if m.kind is MeasureKind.UNITS:
        return len({u for u, _ in cell}) if ids else len(cell)
    if m.kind is MeasureKind.PRESENT:
        return len(there)
    if m.kind is MeasureKind.DISTINCT:
        return len(set(there))
    return int(sum((v - m.centre) ** (2 if m.kind is MeasureKind.SQUARES else 1) for v in there))
