"""The rows of a question checked against the tables: every column with its type and bounds, and no data read.

A count or sum of one unit's rows is exact, so a type without bounds holds it; where ``OfUnit.most`` clips it, its
bounds are what that many rows can give.  Means are on a grid, rounded down.

Guarantee: docs/proofs/per-unit.md: each row here is made of one unit's own rows, and is there or not by those alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from curador.errors import QuestionRefused
from curador.query.ask.question import Question
from curador.query.language import expressions as ex
from curador.query.language.bounds import condition, typecheck
from curador.query.language.expressions import Expr, Name
from curador.query.language.rows import (
    COUNTS,
    BesideUnit,
    InUnits,
    Join,
    OfParts,
    OfUnit,
    PerUnit,
    RowSet,
    UnionAll,
    in_order,
    unit_column,
)
from curador.query.language.text import shortened
from curador.query.language.trees import names
from curador.query.language.types import Scope, Type, column_type, grid_value, literal_on
from curador.query.tables.columns import FIRST_DAY, LAST_DAY, WIDEST, Kind, day_of, moment_of
from curador.query.tables.names import listed, suggestion
from curador.query.tables.table import Table

MOST_JOINED = 10_000
"""Upper bound on the joined rows of one unit across private tables, unless a table declares more."""

MEAN_BITS = 16
"""The fractional bits of a mean of one unit's rows, unless its column has more, or fewer fit."""


@dataclass(frozen=True)
class TypedRows:
    """Rows with the types of their columns.

    ``below`` are the rows that its source is made of, ``among`` those whose units, or columns beside a unit's own,
    its expressions ask for.
    """

    rows: RowSet
    tables: Mapping[str, Table]
    scope: Scope
    below: tuple[TypedRows, ...] = ()
    among: Mapping[InUnits | BesideUnit, TypedRows] = field(default_factory=dict)
    most_joined: int = MOST_JOINED

    @property
    def table(self) -> Table:
        """The table that says what a unit is."""
        return self.tables[self.rows.table]

    @property
    def single(self) -> bool:
        """Whether a unit has at most one row here, so that nothing needs to be cut."""
        if self.table.unit.id is None:
            return True
        per_unit = isinstance(self.rows.source, PerUnit) and not self.rows.source.by
        return per_unit and not any(join.kind == "unit" for join in self.rows.joins)

    @property
    def rows_joined_per_unit(self) -> dict[str, int]:
        """How many rows of each private table a unit brings into a join of them; empty without such a join.

        The same number for all, as large as ``most_joined`` together allow: 100 of each of two tables.  A table that
        declares that a unit contributes more than that brings as many as it declares.
        """
        others = [j.table for j in self.rows.joins if j.kind == "unit"]
        if not others:
            return {}
        tables = [self.rows.table, *others]
        share = 1
        while (share + 1) ** len(tables) <= self.most_joined:
            share += 1
        declared = {name: self.tables[name].contribution for name in tables}
        return {name: share if c is None else max(share, c.most) for name, c in declared.items()}

    @property
    def joined_inside(self) -> list[dict[str, int]]:
        """The same of every query inside that joins private tables, in a fixed order."""
        return [x for rows in self.inside for x in (rows.rows_joined_per_unit, *rows.joined_inside) if x]

    @property
    def one_match(self) -> bool:
        """Whether here or in a query inside one row of a public table stands for all that match."""
        here = self.single and any(join.kind == "public" for join in self.rows.joins)
        return here or any(rows.one_match for rows in self.inside)

    @property
    def inside(self) -> tuple[TypedRows, ...]:
        """The rows of the queries that are asked inside."""
        return (*self.below, *self.among.values())


def typed_rows(rows: RowSet, wanted: Iterable[Expr], tables: Mapping[str, Table]) -> TypedRows:
    """The rows with the types of all columns that they have for expressions ``wanted``, or a refusal with a fix.

    >>> visits = Table("v.csv", unit="id", columns={"id": "integer", "cost": {"type": "integer", "bounds": [0, 9]}})
    >>> total = OfUnit("sum", operand=Name("cost"), most=5)
    >>> found = typed_rows(RowSet("visits", PerUnit(RowSet("visits"))), [total], {"visits": visits})
    >>> found.scope[total].bounds, found.single
    ((Fraction(0, 1), Fraction(45, 1)), True)
    """
    asked = {leaf for e in (*wanted, *rows.expressions) for leaf in names(e)}
    scope, below = _columns(rows, asked, tables)
    first = tables[rows.table]
    among: dict[InUnits | BesideUnit, TypedRows] = {}
    beside = [leaf for leaf in in_order(asked) if isinstance(leaf, BesideUnit)]
    for leaf in in_order(asked):
        if isinstance(leaf, InUnits):
            among[leaf] = _units(leaf.own, [], first, rows.table, tables)
            scope[leaf] = Type(Kind.BOOLEAN, nullable=False)
    for own in dict.fromkeys(leaf.own for leaf in beside):
        leaves = [leaf for leaf in beside if leaf.own == own]
        found = _units(own, [leaf.made_of for leaf in leaves], first, rows.table, tables)
        among |= dict.fromkeys(leaves, found)
        scope |= {leaf: replace(typecheck(leaf.made_of, found.scope), nullable=True) for leaf in leaves}
    for join in rows.joins:
        scope |= _joined(join, rows, first, scope, tables)
    if rows.where is not None:
        condition(rows.where, scope)
    return TypedRows(rows, tables, scope, below, among)


def scope_of(question: Question, tables: Mapping[str, Table]) -> Scope:
    """Every column the question may use: the table's by name, joined ones by table and name."""
    return typed_rows(question.rows, question.expressions, tables).scope


def table_of(name: str, tables: Mapping[str, Table]) -> Table:
    """The table of a name, or a refusal that suggests another.

    >>> table_of("adlt", {"adult": Table("adult.csv", columns={"age": "integer"})})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.QuestionRefused: There is no table 'adlt'. To do: Did you mean 'adult'? ...
    """
    if name not in tables:
        raise QuestionRefused(
            f"There is no table {name!r}.",
            fix=suggestion(name, tables),
            code="no-such-table",
            facts={"table": name[:60], "known": listed(tables)},
        )
    return tables[name]


def is_unit(e: Expr, rows: RowSet, tables: Mapping[str, Table]) -> bool:
    """Whether an expression is the id of a row's unit: the table's own, or that of a table joined by it."""
    ids = {unit_column(rows, lambda name: tables[name].unit.id)}
    ids |= {Name(tables[j.table].unit.id or "", j.table) for j in rows.joins if j.kind == "unit" and not j.outer}
    return e in ids


# ---- columns -------------------------------------------------------------------------------------------------


def _columns(
    rows: RowSet, asked: set[Name], tables: Mapping[str, Table]
) -> tuple[dict[Name, Type], tuple[TypedRows, ...]]:
    """The columns of what the rows are made of, before joins."""
    first = table_of(rows.table, tables)
    if first.public:
        raise QuestionRefused(
            f"The table {rows.table!r} is public.",
            fix="Read it directly, it needs no noise.",
            code="public-first",
            facts={"table": rows.table},
        )
    if rows.source is None:
        return {Name(name): column_type(c) for name, c in first.columns.items()}, ()
    own = in_order(asked)
    if isinstance(rows.source, PerUnit):
        return _per_unit(rows.source, [leaf for leaf in own if isinstance(leaf, OfUnit)], tables)
    return _union(rows.source, [leaf for leaf in own if isinstance(leaf, OfParts)], tables)


def _per_unit(
    source: PerUnit, leaves: list[OfUnit], tables: Mapping[str, Table]
) -> tuple[dict[Name, Type], tuple[TypedRows, ...]]:
    id = unit_column(source.rows, lambda name: table_of(name, tables).unit.id)
    if id is None:
        raise QuestionRefused(
            f"In {source.rows.table!r} a unit is a row: there is one for each already.",
            fix="Leave GROUP BY out there.",
            code="unit-is-row",
            facts={"table": source.rows.table},
        )
    below = typed_rows(source.rows, [*(e.operand for e in leaves if e.operand is not None), *source.by, id], tables)
    for e in source.by:
        if typecheck(e, below.scope).kind is Kind.REAL:
            raise QuestionRefused(
                f"{shortened(e)} groups by a real number.",
                fix="Group by BIN(column, edges…).",
                code="group-by-real",
                facts={"group": shortened(e)},
            )
    for leaf in leaves:
        if leaf.column == "each" and leaf.operand != id and leaf.operand not in source.by:
            raise QuestionRefused(
                f"{shortened(leaf)} may differ between the rows of one unit.",
                fix="Aggregate it, or group by it.",
                code="differs-within-unit",
                facts={"column": shortened(leaf)},
            )
    return {leaf: _unit_type(leaf, below.scope) for leaf in leaves}, (below,)


def _unit_type(leaf: OfUnit, scope: Scope) -> Type:
    if leaf.column in COUNTS:
        ends = None if leaf.operand is None else typecheck(leaf.operand, scope).grid_bounds
        few = [leaf.most] if leaf.most is not None else []
        if leaf.column == "distinct" and ends is not None and few:
            few.append(ends[1] - ends[0] + 1)
        least = Fraction(leaf.column == "rows")
        return Type(Kind.INTEGER, least, Fraction(min(few)) if few else None, nullable=False)
    assert leaf.operand is not None
    t = typecheck(leaf.operand, scope)
    if leaf.column == "each":
        return t
    if not (t.kind.counted if leaf.column in ("min", "max") else t.kind.numeric):
        raise QuestionRefused(
            f"{shortened(leaf)} is of {shortened(leaf.operand)}, which is of type {t.kind}.",
            fix="Use COUNT, or a CASE that gives numbers.",
            code="needs-number",
            facts={"expression": shortened(leaf), "operand": shortened(leaf.operand), "type": str(t.kind)},
        )
    if leaf.column in ("min", "max"):
        return t
    if leaf.column == "avg":
        return _mean_type(t)
    low, high = t.bounds or (None, None)
    if leaf.most is None or low is None or high is None:
        return Type(t.kind, bits=t.bits, nullable=t.nullable)
    low, high = min(low, leaf.most * low), max(high, leaf.most * high)
    if max(abs(low), abs(high)) * 2**t.bits > WIDEST:
        raise QuestionRefused(
            f"{shortened(leaf)} of {leaf.most} rows could leave 62 bits on its grid.",
            fix="Bound it: GREATEST(LEAST(SUM(column), highest), lowest).",
            code="unit-too-wide",
            facts={"expression": shortened(leaf), "most": leaf.most},
        )
    return Type(t.kind, low, high, t.bits, t.nullable)


def _mean_type(t: Type) -> Type:
    if t.bounds is None:
        return Type(Kind.REAL, bits=t.bits, nullable=t.nullable)
    spare = WIDEST.bit_length() - 2 - math.ceil(max(map(abs, t.bounds))).bit_length()
    bits = max(t.bits, min(MEAN_BITS, spare))
    return Type(Kind.REAL, t.lower, t.upper, min(bits, t.bits + MEAN_BITS), t.nullable)


def _union(
    source: UnionAll, leaves: list[OfParts], tables: Mapping[str, Table]
) -> tuple[dict[Name, Type], tuple[TypedRows, ...]]:
    parts = source.parts
    if any(len(leaf.operands) != len(parts) for leaf in leaves) or len(parts) < 2:
        raise QuestionRefused("A column is not made of one of each table.", fix="Use union_all(), or UNION ALL.")
    below = tuple(typed_rows(part, [leaf.operands[i] for leaf in leaves], tables) for i, part in enumerate(parts))
    for part in parts[1:]:
        check_same_units(part.table, tables[part.table], parts[0].table, tables[parts[0].table])
    found: dict[Name, Type] = {}
    for leaf in leaves:
        types = [typecheck(e, rows.scope) for e, rows in zip(leaf.operands, below, strict=True)]
        found[leaf] = _one_type(leaf, types)
    return found, below


def _one_type(leaf: OfParts, types: list[Type]) -> Type:
    """One type for a column of several tables: that of a choice among a column of each."""
    ends = [Name(f"part{i}") for i in range(len(types))]
    test = ex.Compare("=", ex.Literal(0), ex.Literal(0))
    chosen = ex.Case(tuple((test, e) for e in ends[:-1]), ends[-1])
    try:
        return typecheck(chosen, dict(zip(ends, types, strict=True)))
    except QuestionRefused:
        kinds = " and ".join(dict.fromkeys(t.kind.value for t in types))
        raise QuestionRefused(
            f"UNION ALL puts {shortened(leaf)} into one column, of {kinds}, on grids that differ.",
            fix="Select columns of one type and step in the same places.",
            code="union-types",
            facts={"column": shortened(leaf)},
        ) from None


def _units(rows: RowSet, wanted: list[Expr], first: Table, name: str, tables: Mapping[str, Table]) -> TypedRows:
    """The rows whose units are asked for, which must be units of the same kind, with the columns that are wanted."""
    check_same_units(rows.table, table_of(rows.table, tables), name, first)
    return typed_rows(rows, wanted, tables)


# ---- joins and units -----------------------------------------------------------------------------------------


def _joined(join: Join, rows: RowSet, first: Table, scope: Scope, tables: Mapping[str, Table]) -> dict[Name, Type]:
    other = table_of(join.table, tables)
    found = {Name(name, join.table): column_type(c) for name, c in other.columns.items()}
    if not scope.keys().isdisjoint(found):
        raise QuestionRefused(
            f"The table {join.table!r} is joined twice.",
            fix="Join it once.",
            code="sql-table-twice",
            facts={"table": join.table},
        )
    for left, right in join.on:
        a, b = typecheck(left, scope), typecheck(Name(right, join.table), found)
        if a.kind is not b.kind or a.kind is Kind.REAL:
            raise QuestionRefused(
                f"{shortened(left)} is {a.kind} and {join.table}.{right} is {b.kind}.",
                fix="Join on columns of one type, and not on reals.",
                code="join-types",
                facts={
                    "column": shortened(left),
                    "type": str(a.kind),
                    "other": f"{join.table}.{right}",
                    "type_other": str(b.kind),
                },
            )
    if join.kind == "public" and not other.public:
        raise QuestionRefused(
            f"The table {join.table!r} is private.",
            fix="Join it by the unit's id.",
            code="join-not-by-unit",
            facts={"table": join.table},
        )
    if join.kind == "unit":
        own = unit_column(rows, lambda name: tables[name].unit.id)
        if other.public or own is None or other.unit.id is None or (own, other.unit.id) not in join.on:
            raise QuestionRefused(
                f"The private table {join.table!r} is not joined by the unit's id on both sides.",
                fix="Join private tables ON id = id, where each table's unit is that id.",
                code="join-not-by-unit",
                facts={"table": join.table},
            )
        _check_neighbors(join.table, other, first)
    return {n: replace(t, nullable=True) for n, t in found.items()} if join.outer else found


def check_same_units(name: str, other: Table, first_name: str, first: Table) -> None:
    """Refuse two tables whose units are not of one kind: ids of one type, and the same neighbours."""
    ids = (first.unit.id, other.unit.id)
    if other.public or first.public or None in ids:
        raise QuestionRefused(
            f"{name!r} and {first_name!r} are not private tables whose unit is an id.",
            fix="Use tables that declare the same unit.",
            code="unit-not-id",
            facts={"table": name, "other": first_name},
        )
    kinds = first.columns[ids[0] or ""].kind, other.columns[ids[1] or ""].kind
    if kinds[0] is not kinds[1]:
        raise QuestionRefused(
            f"A unit of {name!r} is {kinds[1]}, one of {first_name!r} is {kinds[0]}.",
            fix="Declare one type for both.",
            code="unit-types",
            facts={"table": name, "other": first_name, "type": kinds[1], "type_other": kinds[0]},
        )
    _check_neighbors(name, other, first)


def _check_neighbors(name: str, other: Table, first: Table) -> None:
    if first.neighbors is not other.neighbors:
        raise QuestionRefused(
            f"{name!r} is about {other.neighbors} neighbours, the first table about {first.neighbors}.",
            fix="Declare one kind for both.",
            code="neighbors-of-tables",
            facts={"table": name},
        )


# ---- values that no declaration allows -------------------------------------------------------------------------

NAMED = 5
"""Undeclared values that are named; the others are counted: a list of hundreds is not read."""

MOST_NEAR, MOST_LETTERS = 300, 60
"""Declared values among which a near one is looked for, and how long they and the text may be."""


def expressions_within(rows: TypedRows, wanted: Iterable[Expr]) -> Iterator[tuple[Expr, Scope]]:
    """Every expression over the columns of rows, and of the queries inside, each with its columns."""
    yield from ((e, rows.scope) for e in (*rows.rows.expressions, *wanted))
    source = rows.rows.source
    for at, inside in enumerate(rows.below):
        made = [leaf.operand for leaf in rows.scope if isinstance(leaf, OfUnit) and leaf.operand is not None]
        made += [leaf.operands[at] for leaf in rows.scope if isinstance(leaf, OfParts)]
        yield from expressions_within(inside, [*made, *(source.by if isinstance(source, PerUnit) else ())])
    for inside in {id(one): one for one in rows.among.values()}.values():
        beside = [leaf.made_of for leaf, one in rows.among.items() if one is inside and isinstance(leaf, BesideUnit)]
        yield from expressions_within(inside, beside)


def undeclared(expressions: Sequence[tuple[Expr, Scope]]) -> tuple[dict[str, Any], ...]:
    """Constants that no declaration allows what they are compared with to be, as notes; no data is read.

    Looked at are = and IN between constants and a column, or what is computed from columns: public keys lack such a
    constant, or bounds exclude it.  A <> is looked at where a declared value is near: ``town <> ''`` is common, and
    keeps every row.  A comparison of order is left alone, since ``age > 17`` may be meant although it holds for every
    declared age; so is LIKE.

    >>> town, age = Type(Kind.TEXT, keys=("Lugo", "Vigo")), Type(Kind.INTEGER, Fraction(18), Fraction(90))
    >>> tests = (ex.Compare("=", Name(n), ex.Literal(x)) for n, x in (("town", " lugo"), ("age", 17)))
    >>> scope = {Name("town"): town, Name("age"): age}
    >>> for note in undeclared([(test, scope) for test in tests]):
    ...     print(note)
    {'code': 'undeclared-near', 'column': 'town', 'value': ' lugo', 'near': 'Lugo'}
    {'code': 'undeclared-range', 'column': 'age', 'value': '17', 'range': '18 … 90'}
    """
    compared: dict[tuple[int, Expr], tuple[Type, dict[ex.Literal, bool]]] = {}
    for e, scope in expressions:
        for operand, literals, equal in _compared(e):
            if (id(scope), operand) not in compared:
                try:
                    compared[id(scope), operand] = typecheck(operand, scope), {}
                except QuestionRefused:  # made of noised answers, which have no bounds
                    continue
            known = compared[id(scope), operand][1]
            known.update({x: equal or known.get(x, False) for x in literals})
    found = []
    for (_, operand), (t, constants) in compared.items():
        keys = None if t.keys is None else frozenset(t.keys)
        for x, equal in constants.items():
            if keys is not None and x.value not in keys:
                if equal or _nearest(x, t):
                    found.append((operand, x, t, "value"))
            elif equal and not _within_bounds(x, t):
                found.append((operand, x, t, "range"))
    said = [_undeclared_note(*one) for one in found[:NAMED]]
    return (*said, *([{"code": "undeclared-more", "n": len(found) - NAMED}] if len(found) > NAMED else ()))


def _compared(e: Expr) -> Iterator[tuple[Expr, list[ex.Literal], bool]]:
    """What an expression compares with constants, with which, and whether by equality or by <>."""
    if isinstance(e, Name):  # what it is made of has columns of its own
        return
    if isinstance(e, ex.In) or (isinstance(e, ex.Compare) and e.op in ("=", "<>")):
        operand, *others = e.parts
        constants = [x for x in others if isinstance(x, ex.Literal)]
        if constants and names(operand):
            yield operand, constants, isinstance(e, ex.In) or e.op == "="
    for part in e.parts:
        yield from _compared(part)


def _within_bounds(x: ex.Literal, t: Type) -> bool:
    if not t.kind.counted or x.kind is None or not x.kind.counted:
        return True
    place = literal_on(grid_value(x), t.bits)
    low, high = (None if end is None else math.floor(end * 2**t.bits) for end in (t.lower, t.upper))
    return (low is None or low <= place) and (high is None or place <= high)


def _undeclared_note(operand: Expr, x: ex.Literal, t: Type, why: str) -> dict[str, Any]:
    value = _decimal(x.value) if isinstance(x.value, Fraction) else str(x.value)[:MOST_LETTERS]
    named = {"column": shortened(operand), "value": value}
    if why == "range":
        return {"code": "undeclared-range", **named, "range": _range(_end(t.lower, t), _end(t.upper, t))}
    near = _nearest(x, t)
    return {"code": "undeclared-near", **named, "near": near} if near else {"code": "undeclared-value", **named}


def _nearest(x: ex.Literal, t: Type) -> str:
    """The declared text nearest to a constant; empty where none is near."""
    return _near(x.value, [key for key in t.keys or () if isinstance(key, str)]) if isinstance(x.value, str) else ""


def _near(text: str, keys: list[str]) -> str:
    """The declared value that was probably meant: apart from case and spaces at its ends the same, or a similar one."""
    plain = {key.strip().casefold(): key for key in keys}
    if (same := plain.get(text.strip().casefold())) is not None:
        return same
    if len(text) > MOST_LETTERS or len(plain) > MOST_NEAR:
        return ""
    near = get_close_matches(text.strip().casefold(), [key for key in plain if len(key) <= MOST_LETTERS], 1)
    return plain[near[0]] if near else ""


def _end(end: Fraction | None, t: Type) -> str:
    """A bound as it is written; nothing where there is none, or it is beyond the calendar."""
    if end is None or (t.kind is Kind.DATE and not FIRST_DAY <= end <= LAST_DAY):
        return ""
    if t.kind in (Kind.DATE, Kind.TIMESTAMP):
        return str(day_of(int(end)) if t.kind is Kind.DATE else moment_of(int(end)))
    return _decimal(end)


def _decimal(x: Fraction) -> str:
    return str(x.numerator) if x.denominator == 1 else f"{float(x):.15g}"


def _range(low: str, high: str) -> str:
    return f"{low} … {high}" if low and high else f"≥ {low}" if low else f"≤ {high}"
