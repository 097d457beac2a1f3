"""The joined tables of a question: public ones by their keys, private ones by the unit's id.

A unit with n rows in two private tables would make n * n joined rows, and enough work for its presence to be seen
in a failure.  So each side of such a join is cut first, to a public number of rows of every unit.  The rows of a unit
are put in the order of a mixed number of the unit and of the other columns that the join matches, which is the same on
both sides, so that rows which match are kept together; then of a mixed number of their place among the values.

Guarantee: docs/proofs/truncation.md, section 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curador.query.ask.typed import TypedRows
from curador.query.language import expressions as ex
from curador.query.language.rows import Join, unit_column
from curador.query.language.trees import names
from curador.query.language.types import column_type
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan import truncate
from curador.query.sql_plan.exact import Read, ReadAs, Scan
from curador.query.sql_plan.expressions import Bindings, lowered
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.truncate import GROUP_RANK, ROW_RANK, UNIT, GroupColumns

Columns = Mapping[ex.Name, str]
"""The columns that a question reads, and the short names that trees know them by."""

Pairs = list[tuple[ex.Name, ex.Name]]


def compared_columns(join: Join, rows: TypedRows) -> Pairs:
    """The pairs of columns that must be equal, without the ids: those are compared exactly, never clipped."""
    pairs = [(left, ex.Name(right, join.table)) for left, right in join.on]
    if join.kind != "unit":
        return pairs
    own = unit_column(rows.rows, lambda name: rows.tables[name].unit.id)
    ids = own, ex.Name(rows.tables[join.table].unit.id or "", join.table)
    return [pair for pair in pairs if pair != ids]


def scan_of(i: int, name: str, rows: TypedRows, columns: Columns) -> Scan:
    """The columns to read of the first table (i = 0), or of the i-th that is joined."""
    table = rows.rows.joins[i - 1].table if i else rows.rows.table
    own = rows.tables[table]
    reads = [
        Read(short, n.column, column_type(own.columns[n.column]))
        for n, short in columns.items()
        if type(n) is ex.Name and n.table == (table if i else None)
    ]
    if own.unit.id is not None and not own.public:
        reads.append(Read(_unit_of(i), own.unit.id, column_type(own.columns[own.unit.id]), ReadAs.ID))
    return Scan(name, table, tuple(reads))


def _unit_of(i: int) -> str:
    return UNIT if i == 0 else f"{UNIT}{i}"


def first(rows: TypedRows, source: nt.FromItem, values: Sequence[str], columns: Columns) -> nt.FromItem:
    """The rows of the table that is asked, cut if private tables are joined to it."""
    return _side(0, None, rows, source, values, columns) if rows.rows_joined_per_unit else source


def joined(i: int, rows: TypedRows, scan: Scan, at: Bindings) -> nt.Joined:
    """The i-th joined table, counted from 1, as a join to the tables on its left."""
    join = rows.rows.joins[i - 1]
    pairs = compared_columns(join, rows)
    on = [nt.infix("=", lowered(left, at), lowered(right, at)) for left, right in pairs]
    alias, table = f"j{i}", nt.table(scan.name)
    if join.kind == "unit":
        on.append(nt.infix("=", nt.column(UNIT), nt.column(_unit_of(i))))
        values = [r.name for r in scan.reads if r.way is not ReadAs.ID]
        return nt.join(_side(i, join, rows, table, values, at.columns), nt.both(*on), join.outer, alias)
    if not rows.single:
        return nt.join(table, nt.both(*on), join.outer)
    # A unit that is a row must stay one row: it takes one row of the public table, always the same.
    by = [at.columns[right] for _, right in pairs]
    rest = [r.name for r in scan.reads if r.name not in by]
    every = {r.name: nt.column(r.name) for r in scan.reads}
    ranked = nt.select({**every, "q": nt.rank(by, rest or by, dense=False)}, table)
    one = nt.select(every, ranked, where=nt.infix("<=", nt.column("q"), nt.number(1)))
    return nt.join(one, nt.both(*on), join.outer, alias)


# ---- one side of a private join ------------------------------------------------------------------------------


def _side(
    i: int, join: Join | None, rows: TypedRows, source: nt.FromItem, values: Sequence[str], columns: Columns
) -> nt.Select:
    """The rows of one private table, at most ``rows_joined_per_unit`` of each, those that the filter drops left out."""
    name = rows.rows.table if join is None else join.table
    own, unit = rows.tables[name], _unit_of(i)
    at = Bindings(rows.scope, columns)
    tests = [nt.present(nt.column(unit)), *(lowered(e, at) for e in _own_conditions(join, rows))]
    kept: dict[str, Node] = {v: nt.column(v) for v in values}
    source = at.over(source, [unit, *values])
    layer: nt.Select = nt.select({UNIT: nt.column(unit), **kept}, source, nt.both(*tests))
    cells = _matched(i, join, rows, columns)
    layer = truncate.ranked(layer, own.columns[own.unit.id or ""].kind, cells, values, turned=i)
    back: dict[str, Node] = {unit: nt.column(UNIT), **kept}
    place = nt.rank((UNIT,), (GROUP_RANK, ROW_RANK), dense=False) if cells.names else nt.column(ROW_RANK)
    layer = nt.select({**kept, UNIT: nt.column(UNIT), "q": place}, layer)
    return nt.select(back, layer, nt.infix("<=", nt.column("q"), nt.number(rows.rows_joined_per_unit[name])))


def _own_conditions(join: Join | None, rows: TypedRows) -> list[ex.Expr]:
    """The parts of the filter that see this table alone; of rows that a left join may leave out, none."""
    where = rows.rows.where
    if where is None or (join is not None and join.outer):
        return []
    parts: Sequence[ex.Expr] = where.operands if isinstance(where, ex.And) else [where]
    table = None if join is None else join.table
    return [e for e in parts if {n.table for n in names(e)} == {table} and rows.among.keys().isdisjoint(names(e))]


def _matched(i: int, join: Join | None, rows: TypedRows, columns: Columns) -> GroupColumns:
    """The columns of a table, other than the id, that the first private join it takes part in matches.

    Not those beside a unit: all rows of a unit share them.
    """
    if join is None:
        join = next(j for j in rows.rows.joins if j.kind == "unit")
    pairs = [
        (left, right) for left, right in compared_columns(join, rows) if left.table is None and left not in rows.among
    ]
    own = [right if i else left for left, right in pairs]
    if not own:
        return GroupColumns(1)
    return GroupColumns(None, tuple(columns[n] for n in own), tuple(rows.scope[n].kind for n in own))
