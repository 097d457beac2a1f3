"""The rows that a question is about: a table, one row per unit, or several tables together; joined and filtered.

Every column of such rows is a :class:`~curador.query.language.expressions.Name`: of a declared table, or one of the
kinds below, which say what they are made of.  So no column has a name of the asker's own, and two spellings of the same
rows are one value.  All of them stay with their unit: whatever is computed here is a function of one unit's own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from curador.errors import QuestionRefused
from curador.numbers import set_fields
from curador.query.language import expressions as ex
from curador.query.language.expressions import Expr, Name
from curador.query.language.nodes import SHAPES
from curador.query.language.text import sql_text
from curador.query.language.trees import expr_from_json, names
from curador.query.tables.columns import WIDEST
from curador.query.tables.names import identifier

UNIT_FUNCTIONS = ("rows", "count", "distinct", "sum", "min", "max", "avg", "each")
"""What may be made of one unit's rows; "each" is a value that they all share."""

DEEPEST_ROWS = 8
"""No question nests queries deeper: engines limit what they read, and would fail after the charge."""

MOST_ROW_SETS = 100
"""The most queries inside a query, each counted as often as it is read: planning takes time for each."""

COUNTS = ("rows", "count", "distinct")


# ---- columns that are made of rows -------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfUnit(Name, tag="of_unit"):
    """A column of a table with one row per unit: what the function ``column`` makes of ``operand`` over its rows.

    With ``most``, counts and sums are clipped to what that many rows can give.

    >>> str(OfUnit("sum", operand=Name("cost"))), str(OfUnit("rows"))
    ('SUM(cost)', 'COUNT(*)')
    """

    operand: Expr | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        fits = isinstance(self.operand, Expr) if self.column != "rows" else self.operand is None
        fits = fits and (self.most is None or (type(self.most) is int and 0 < self.most <= WIDEST))
        if self.column not in UNIT_FUNCTIONS or self.table is not None or not fits:
            raise QuestionRefused(
                f"{self.column[:40]!r} of one unit is not known.",
                fix=f"Use {UNIT_FUNCTIONS}.",
                code="not-of-one-unit",
                facts={"word": self.column[:40]},
            )
        super().__post_init__()


@dataclass(frozen=True)
class OfParts(Name, tag="of_parts"):
    """A column of several tables together: one expression for each of them."""

    operands: tuple[Expr, ...] = ()

    def __post_init__(self) -> None:
        _check_no_table(self)
        super().__post_init__()


@dataclass(frozen=True)
class InUnits(Name, tag="in_units"):
    """Whether a row's unit has a row in ``rows``."""

    rows: RowSet | None = None

    def __post_init__(self) -> None:
        _check_no_table(self)
        super().__post_init__()

    @property
    def own(self) -> RowSet:
        """Its rows."""
        if self.rows is None:
            raise QuestionRefused("A list of units has no rows.", fix="Write id IN (SELECT id FROM …).")
        return self.rows

    def to_json(self) -> dict[str, object]:
        return {"is": self.tag, "column": self.column, "rows": self.own.to_json()}


@dataclass(frozen=True)
class BesideUnit(Name, tag="beside_unit"):
    """A column ``operand`` of other ``rows``, one for each unit, beside every row of that unit; NULL where it has none.

    >>> per_unit = RowSet("visits", PerUnit(RowSet("visits")))
    >>> str(BesideUnit("beside", operand=OfUnit("rows"), rows=per_unit))
    'COUNT(*)'
    """

    operand: Expr | None = None
    rows: RowSet | None = None

    def __post_init__(self) -> None:
        rows, made = self.rows, self.operand is not None
        single = rows is not None and isinstance(rows.source, PerUnit) and not rows.source.by
        if not made or rows is None or not single or any(join.kind == "unit" for join in rows.joins):
            raise QuestionRefused(
                "This is not a column of a query with one row per unit.", fix="GROUP BY the id alone."
            )
        _check_no_table(self)
        super().__post_init__()
        _check_nested(*self.nested)

    @property
    def own(self) -> RowSet:
        """Its rows."""
        assert self.rows is not None
        return self.rows

    @property
    def made_of(self) -> Expr:
        """What it is, over the columns of its rows."""
        assert self.operand is not None
        return self.operand

    @property
    def nested(self) -> tuple[int, int]:
        """How deep and how many queries it reads: its rows, and those that its expression asks for."""
        depth, weight = _nested([self.made_of])
        return self.own.depth + depth, self.own.weight + weight

    def to_json(self) -> dict[str, object]:
        own = {"operand": self.made_of.to_json(), "rows": self.own.to_json()}
        return {"is": self.tag, "column": self.column, **own}


@sql_text.register
def _(e: OfUnit) -> str:
    inside = "*" if e.operand is None else sql_text(e.operand)
    if e.column == "each":
        return inside
    word = {"rows": "COUNT(", "distinct": "COUNT(DISTINCT "}.get(e.column, f"{e.column.upper()}(")
    return f"{word}{inside})"


@sql_text.register
def _(e: OfParts) -> str:
    return " | ".join(map(sql_text, e.operands))


@sql_text.register
def _(e: BesideUnit) -> str:
    return sql_text(e.made_of)


@sql_text.register
def _(e: InUnits) -> str:
    where = "" if e.own.where is None else f" WHERE {sql_text(e.own.where)}"
    return f"unit IN ({', '.join(e.own.tables)}{where})"


# ---- rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Join:
    """A table joined to the first: a public one, matched by key, or a private one, matched by the unit's id.

    ``on`` pairs a column so far in the question with one of the joined table.  ``kind`` is "public" or "unit";
    ``outer`` keeps rows without a match.

    >>> Join("public", "regions", ((Name("region"), "code"),)).outer
    False
    """

    kind: str
    table: str
    on: tuple[tuple[Name, str], ...]
    outer: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ("public", "unit") or not self.on:
            raise QuestionRefused("A join is with a public table or by the unit's id, on columns.", fix="Name them.")
        identifier(self.table, "A table")
        ordered = sorted(set(self.on), key=lambda pair: (str(pair[0]), pair[1]))
        set_fields(self, on=tuple(ordered))

    def to_json(self) -> dict[str, object]:
        on = [[left.to_json(), right] for left, right in self.on]
        return {"kind": self.kind, "table": self.table, "on": on, "outer": self.outer}


@dataclass(frozen=True)
class RowSet:
    """Rows of a table, or of what ``source`` makes of tables, joined to others and filtered.

    ``table`` is the table, the first of them where there are several: its unit and neighbours are those of the rows.

    >>> RowSet("visits", where=ex.Compare(">", Name("age"), ex.Literal(17))).tables
    ('visits',)
    """

    table: str
    source: PerUnit | UnionAll | None = None
    joins: tuple[Join, ...] = ()
    where: Expr | None = None
    depth: int = field(init=False, repr=False, compare=False)
    weight: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        inside = [] if self.source is None else list(self.source.parts)
        _check_first(self)
        depth, weight = _nested((*self.expressions, *self._made_of))
        set_fields(self, depth=1 + max(depth, *(rows.depth for rows in inside), 0))
        set_fields(self, weight=1 + weight + sum(rows.weight for rows in inside))
        _check_nested(self.depth, self.weight)

    @property
    def tables(self) -> tuple[str, ...]:
        """All tables that are read, the first one first, each once."""
        found = [self.table]
        if self.source is not None:
            found += [t for part in self.source.parts for t in part.tables]
        found += [join.table for join in self.joins]
        for e in (*self.expressions, *self._made_of):
            found += tables_in(e)
        return tuple(dict.fromkeys(found))

    @property
    def _made_of(self) -> tuple[Expr, ...]:
        """The expressions that its source divides the rows below by: they, too, may ask for units of other tables."""
        return self.source.by if isinstance(self.source, PerUnit) else ()

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The expressions over its columns: join conditions and the filter."""
        on = (left for join in self.joins for left, _ in join.on)
        return (*on, *(() if self.where is None else (self.where,)))

    def to_json(self) -> dict[str, object]:
        return {
            "table": self.table,
            "source": None if self.source is None else self.source.to_json(),
            "joins": [join.to_json() for join in self.joins],
            "where": None if self.where is None else self.where.to_json(),
        }


SHAPES["RowSet | None"] = lambda x: x is None or isinstance(x, RowSet)


@dataclass(frozen=True)
class PerUnit:
    """One row for each unit that has rows in ``rows``; with ``by``, one for each unit and each of their values.

    Its columns are :class:`OfUnit`.
    """

    rows: RowSet
    by: tuple[Expr, ...] = ()

    @property
    def parts(self) -> tuple[RowSet, ...]:
        """What it is made of."""
        return (self.rows,)

    def to_json(self) -> dict[str, object]:
        return {"per_unit": self.rows.to_json(), "by": [e.to_json() for e in self.by]}


@dataclass(frozen=True)
class UnionAll:
    """The rows of several tables of one unit, each row as often as it is there.

    Its columns are :class:`OfParts`.
    """

    parts: tuple[RowSet, ...]

    def to_json(self) -> dict[str, object]:
        return {"union": [part.to_json() for part in self.parts]}


def tables_in(e: Expr) -> tuple[str, ...]:
    """The tables whose units an expression asks for.

    >>> tables_in(ex.Not(InUnits("in", rows=RowSet("stays"))))
    ('stays',)
    """
    return tuple(sorted({name for rows in _listed(e) for name in rows.tables}))


def needed(rows: RowSet) -> frozenset[str]:
    """The tables without whose rows a unit has no row here: with those in one of them, all of its rows come or go.

    Where a unit leaves any other table, its rows here change instead, as if another unit took its place.

    >>> listed = InUnits("in", rows=RowSet("stays"))
    >>> sorted(needed(RowSet("visits", where=listed))), sorted(needed(RowSet("visits", where=ex.Not(listed))))
    (['stays', 'visits'], ['visits'])
    """
    source = rows.source
    parts = [frozenset((rows.table,))] if source is None else [needed(part) for part in source.parts]
    found = frozenset.intersection(*parts).union(j.table for j in rows.joins if j.kind == "unit" and not j.outer)
    tests = rows.where.operands if isinstance(rows.where, ex.And) else (rows.where,)
    return found.union(*(needed(leaf.own) for test in tests for leaf in _never_null(test)))


def _never_null(test: Expr | None) -> list[InUnits | BesideUnit]:
    """The lists of units, and the columns beside a unit, without which a test is not true."""
    sides: tuple[object, ...] = (test.left, test.right) if isinstance(test, ex.Compare) else ()
    if isinstance(test, ex.Not) and isinstance(test.operand, ex.IsNull):
        sides = (test.operand.operand,)
    return [test] if isinstance(test, InUnits) else [e for e in sides if isinstance(e, BesideUnit)]


def _listed(e: Expr) -> list[RowSet]:
    """The rows whose units an expression asks for."""
    found = []
    for leaf in names(e):
        found += [leaf.own] if isinstance(leaf, InUnits | BesideUnit) else []
        found += [rows for part in leaf.parts for rows in _listed(part)]
    return found


def _nested(expressions: Iterable[Expr]) -> tuple[int, int]:
    """How deep, and how many, the queries are that expressions ask for."""
    depth = weight = 0
    for leaf in (n for e in expressions for n in names(e)):
        if isinstance(leaf, InUnits):
            found = leaf.own.depth, leaf.own.weight
        else:
            found = leaf.nested if isinstance(leaf, BesideUnit) else _nested(leaf.parts)
        depth, weight = max(depth, found[0]), weight + found[1]
    return depth, weight


def _check_first(rows: RowSet) -> None:
    """Refuse rows that are not of the first table that they are made of: units are cut and counted as its units are."""
    source = rows.source
    if source is not None and [part.table for part in source.parts][:1] != [rows.table]:
        raise QuestionRefused(
            "The table of these rows is not the first one that they are made of.", fix="Name that table."
        )


def _check_no_table(made: Name) -> None:
    """Refuse a column that is made of rows and says that it is a joined table's: keys would be read from that one."""
    if made.table is not None:
        raise QuestionRefused("A column that is made of rows is of no joined table.", fix="Leave its table out.")


def _check_nested(depth: int, weight: int) -> None:
    if depth > DEEPEST_ROWS or weight > MOST_ROW_SETS:
        raise QuestionRefused(
            f"Queries are nested more than {DEEPEST_ROWS} deep, or more than {MOST_ROW_SETS} in all.",
            fix="Split the question, or prepare a table.",
            code="nested-queries",
            facts={"most": DEEPEST_ROWS},
        )


def in_order(leaves: Iterable[Name]) -> list[Name]:
    """Columns in an order that is the same in every process.

    >>> in_order({Name("b"), Name("a")})
    [Name(column='a', table=None), Name(column='b', table=None)]
    """
    found = list(leaves)
    if all(type(leaf) is Name for leaf in found):
        return sorted(found, key=str)
    return sorted(found, key=lambda leaf: (str(leaf), ex.order(leaf)))


def unit_column(rows: RowSet, id_of: Callable[[str], str | None]) -> Name | None:
    """The column that holds the unit's id; ``id_of`` knows that of a table.  None where a unit is a row."""
    if rows.source is None:
        id = id_of(rows.table)
        return None if id is None else Name(id)
    inside = [unit_column(part, id_of) for part in rows.source.parts]
    found = tuple(e for e in inside if e is not None)
    if len(found) < len(inside):
        return None
    return OfUnit("each", operand=found[0]) if isinstance(rows.source, PerUnit) else OfParts("parts", operands=found)


# ---- read back -------------------------------------------------------------------------------------------------


def rows_from_json(data: Mapping[str, Any]) -> RowSet:
    """Read back what :meth:`RowSet.to_json` wrote.

    >>> rows_from_json(RowSet("visits").to_json())
    RowSet(table='visits', source=None, joins=(), where=None)
    """
    where = data["where"]
    return RowSet(
        text_from_json(data["table"]),
        source_from_json(data["source"]),
        tuple(map(join_from_json, data["joins"])),
        None if where is None else expr_from_json(where),
    )


def source_from_json(data: Mapping[str, Any] | None) -> PerUnit | UnionAll | None:
    """Read back what ``to_json`` of a source wrote."""
    if data is None:
        return None
    if "union" in data:
        return UnionAll(tuple(map(rows_from_json, data["union"])))
    return PerUnit(rows_from_json(data["per_unit"]), tuple(map(expr_from_json, data["by"])))


def join_from_json(data: Mapping[str, Any]) -> Join:
    """Read back what :meth:`Join.to_json` wrote."""
    on = tuple((_name(left), text_from_json(right)) for left, right in data["on"])
    if type(data["outer"]) is not bool:
        raise TypeError
    return Join(text_from_json(data["kind"]), text_from_json(data["table"]), on, data["outer"])


def text_from_json(data: object) -> str:
    """A text, and nothing that could be written as one."""
    if not isinstance(data, str):
        raise TypeError
    return data


def _name(data: object) -> Name:
    found = expr_from_json(data)
    if not isinstance(found, Name):
        raise TypeError
    return found
