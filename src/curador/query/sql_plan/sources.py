"""The rows of a question as layers: tables as they are read, one row per unit, several tables together; then joined.

Sums of one unit are exact in a wide integer and are clipped there, before they become 64 bits: no value of a row can
make an engine fail.  A mean is worked out from its sum and count by whole numbers, rounded down.

Guarantee: docs/proofs/per-unit.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from curador.query.ask.typed import TypedRows
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.rows import COUNTS, BesideUnit, InUnits, OfParts, OfUnit, PerUnit, in_order
from curador.query.language.trees import names
from curador.query.language.types import Type
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.exact import Scan
from curador.query.sql_plan.expressions import Bindings, floor_division, on_grid
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.joins import Columns, compared_columns, first, joined, scan_of
from curador.query.sql_plan.truncate import UNIT
from curador.query.tables.columns import WIDEST

_NOTHING = nt.null()

MOST_ROWS = 1 << 30
"""No unit has as many rows; a mean is by at most so many, so that what is shifted stays below 2**62."""

HALF = 1 << 31
"""What divides a wide value into two parts of half its bits, so that sums of each have room for ``MOST_ROWS`` rows."""


@dataclass(frozen=True)
class OpenRows:
    """Rows as they are read: what stands after FROM, its joins, the columns there are, and the scans that they need."""

    scans: tuple[Scan, ...]
    source: nt.FromItem
    read: tuple[str, ...]
    joins: tuple[nt.Joined, ...]


def short_names(rows: TypedRows, wanted: Iterable[ex.Expr]) -> dict[ex.Name, str]:
    """The columns that expressions, the filter and the joins read, each with a short name."""
    where = rows.rows.where
    used = {n for e in (*wanted, *([] if where is None else [where])) for n in names(e)}
    for join in rows.rows.joins:
        pairs = compared_columns(join, rows)
        used |= {left for left, _ in pairs} | {right for _, right in pairs}
        if rows.single:  # which row of a public table is taken may not depend on the question
            used |= {ex.Name(c, join.table) for c in rows.tables[join.table].columns}
    return {n: f"c{i}" for i, n in enumerate(in_order(used))}


def opened(rows: TypedRows, at: Bindings, numbers: Iterator[int]) -> OpenRows:
    """The rows, before their filter; with the column of the unit's id where units have one."""
    scans: list[Scan] = []
    source: nt.FromItem
    if rows.rows.source is None:
        scan = scan_of(0, f"s{next(numbers)}", rows, at.columns)
        scans.append(scan)
        read, source = [r.name for r in scan.reads], nt.table(scan.name)
        values = [r.name for r in scan.reads if r.name != UNIT]
    else:
        found, source = _made(rows, at.columns, numbers)
        scans += found
        values = [at.columns[n] for n in at.columns if isinstance(n, OfUnit | OfParts)]
        read = [*values, UNIT]
    joins: list[nt.Joined] = []
    source = first(rows, source, values, at.columns)
    for found, read_there, join in _among(rows, at.columns, numbers):  # before tables that are joined by one of these
        scans += found
        read += read_there
        joins.append(join)
    for i in range(1, len(rows.rows.joins) + 1):
        scan = scan_of(i, f"s{next(numbers)}", rows, at.columns)
        scans.append(scan)
        read += [r.name for r in scan.reads]
        joins.append(joined(i, rows, scan, at))
    return OpenRows(tuple(scans), source, tuple(read), tuple(joins))


def _among(
    rows: TypedRows, columns: Columns, numbers: Iterator[int]
) -> Iterator[tuple[list[Scan], list[str], nt.Joined]]:
    """The lists of units, and the rows beside units, that expressions ask for: scans, columns and a join of each."""
    asked = {leaf: units for leaf, units in rows.among.items() if leaf in columns}  # others stand in what nobody reads
    for leaf, units in asked.items():
        if isinstance(leaf, InUnits):
            name = columns[leaf]
            scans, layer = kept_rows(units, {}, {}, numbers)
            layer = nt.select({name: nt.column(UNIT)}, layer, group=(UNIT,))
            yield scans, [name], _by_unit(layer, name)
    for own in dict.fromkeys(leaf.own for leaf in asked if isinstance(leaf, BesideUnit)):
        leaves = [leaf for leaf in asked if isinstance(leaf, BesideUnit) and leaf.own == own]
        inside = {f"w{i}": leaf.made_of for i, leaf in enumerate(leaves)}
        scans, layer = kept_rows(asked[leaves[0]], inside, {}, numbers)
        names_here = [columns[leaf] for leaf in leaves]
        id = f"{UNIT}{names_here[0]}"
        shown: dict[str, Node] = {id: nt.column(UNIT)}
        shown |= {name: nt.column(w) for name, w in zip(names_here, inside, strict=True)}
        yield scans, names_here, _by_unit(nt.select(shown, layer), id)


def _by_unit(layer: nt.Select, id: str) -> nt.Joined:
    """A layer with one row per unit beside the rows of that unit; those without one stay."""
    return nt.join(layer, nt.infix("=", nt.column(UNIT), nt.column(id)), outer=True, alias=f"l{id}")


def kept_rows(
    rows: TypedRows, values: Mapping[str, ex.Expr], bits: Mapping[str, int], numbers: Iterator[int]
) -> tuple[list[Scan], nt.Select]:
    """The unit's id and some values of the rows that pass the filter; a value with ``bits`` is put on that grid."""
    at = Bindings(rows.scope, short_names(rows, values.values()))
    shown = {name: on_grid(e, bits.get(name), at) for name, e in values.items()}
    tests = [nt.present(nt.column(UNIT))]
    if rows.rows.where is not None:
        tests.append(on_grid(rows.rows.where, None, at))
    found = opened(rows, at, numbers)
    source = at.over(found.source, found.read, found.joins)
    return list(found.scans), nt.select({UNIT: nt.column(UNIT), **shown}, source, nt.both(*tests))


def _made(rows: TypedRows, columns: Columns, numbers: Iterator[int]) -> tuple[list[Scan], nt.FromItem]:
    if isinstance(rows.rows.source, PerUnit):
        own = {n: short for n, short in columns.items() if isinstance(n, OfUnit)}
        return _per_unit(rows.rows.source, rows, own, numbers)
    parts = {n: short for n, short in columns.items() if isinstance(n, OfParts)}
    scans: list[Scan] = []
    layers = []
    for i, below in enumerate(rows.below):
        values = {short: n.operands[i] for n, short in parts.items()}
        counted = {short: rows.scope[n].bits for n, short in parts.items() if rows.scope[n].kind.counted}
        needed, layer = kept_rows(below, values, counted, numbers)
        scans += needed
        layers.append(layer)
    return scans, nt.stacked(layers)


# ---- one row per unit ------------------------------------------------------------------------------------------


def _per_unit(
    source: PerUnit, rows: TypedRows, columns: Mapping[OfUnit, str], numbers: Iterator[int]
) -> tuple[list[Scan], nt.Select]:
    below = rows.below[0]
    keys = {f"k{i}": e for i, e in enumerate(source.by)}
    operands = dict.fromkeys(leaf.operand for leaf in columns if leaf.operand is not None)
    values = {e: f"v{i}" for i, e in enumerate(operands)}
    scans, layer = kept_rows(below, {**keys, **{name: e for e, name in values.items()}}, {}, numbers)
    made = _Aggregates()
    shown: dict[str, Node] = {UNIT: nt.column(UNIT)}
    for leaf, short in columns.items():
        if leaf.operand is None:
            shown[short] = made.of(leaf, rows.scope[leaf])
        elif leaf.column == "each" and leaf.operand in source.by:
            shown[short] = nt.column(f"k{source.by.index(leaf.operand)}")
        else:
            bits = typecheck(leaf.operand, below.scope).bits
            shown[short] = made.of(leaf, rows.scope[leaf], nt.column(values[leaf.operand]), bits)
    groups: dict[str, Node] = {c: nt.column(c) for c in (UNIT, *keys)}
    exact = {name: node for node, name in made.exact.items()}
    layer = nt.select({**groups, **exact}, layer, group=tuple(groups))
    return scans, nt.select(shown, made.at.over(layer, [*groups, *exact]))


class _Aggregates:
    """The exact aggregates of one unit's rows, and what is made of them in the layers above."""

    def __init__(self) -> None:
        self.exact: dict[Node, str] = {}
        self.at = Bindings({}, {})

    def _found(self, node: Node) -> Node:
        return nt.column(self.exact.setdefault(node, f"r{len(self.exact)}"))

    def of(self, leaf: OfUnit, t: Type, x: Node = _NOTHING, bits: int = 0) -> Node:
        """The value of a column, of type ``t``, over rows in which its operand is ``x``, on a grid of ``bits``."""
        if leaf.column in COUNTS:
            exact = {"rows": nt.rows(), "count": nt.count(x), "distinct": nt.distinct(x)}[leaf.column]
            n = self._found(exact)
            return (
                n
                if leaf.most is None
                else nt.case([(nt.infix(">", n, nt.number(leaf.most)), nt.constant(leaf.most))], n)
            )
        if leaf.column in ("min", "max", "each"):  # a value that all rows share is the least of them
            return self._found(nt.largest(x) if leaf.column == "max" else nt.least(x))
        if leaf.column == "avg":
            return self._mean(x, t, t.bits - bits)
        return nt.whole(_clipped(self._found(nt.total(x)), t.grid_bounds or (-WIDEST, WIDEST)))

    def _mean(self, x: Node, t: Type, shift: int) -> Node:
        """floor(sum * 2**shift / count): the whole part, then the fraction of what is left."""
        at = self.at
        n = at.bind(_clipped(self._found(nt.count(x)), (0, MOST_ROWS)))
        wide = t.bounds is None or max(map(abs, t.bounds)) * 2 ** (t.bits - shift) * MOST_ROWS > WIDEST
        whole, left = self._divided(*self._halves(x), n) if wide else self._quotient(self._total(x), n)
        if not shift:
            return whole if t.grid_bounds is None else _clipped(whole, t.grid_bounds)
        left = nt.times(left, nt.constant(1 << shift))
        mean = nt.plus(nt.times(whole, nt.constant(1 << shift)), nt.divide(left, nt.unless_zero(n)))
        assert t.grid_bounds is not None  # only what is bounded gets a finer grid
        return _clipped(at.bind(mean), t.grid_bounds)

    def _total(self, x: Node) -> Node:
        return self.at.bind(nt.whole(_clipped(self._found(nt.total(x)), (-WIDEST, WIDEST))))

    def _halves(self, x: Node) -> tuple[Node, Node]:
        """The sum of x as a multiple of ``HALF`` and the rest: the sum itself could leave 62 bits."""
        half = nt.constant(HALF)
        return self._total(nt.divide(x, half)), self._total(nt.remainder(x, half))

    def _quotient(self, total: Node, n: Node) -> tuple[Node, Node]:
        """floor(total / n), and what is left."""
        whole = self.at.bind(floor_division(total, n))
        return whole, nt.minus(total, nt.times(whole, n))

    def _divided(self, high: Node, low: Node, n: Node) -> tuple[Node, Node]:
        """floor((high * HALF + low) / n), and what is left, digit by digit as on paper."""
        first, left = self._quotient(high, n)
        second, left = self._quotient(self.at.bind(nt.plus(nt.times(left, nt.constant(HALF)), low)), n)
        return self.at.bind(nt.plus(nt.times(first, nt.constant(HALF)), second)), left


def _clipped(x: Node, ends: tuple[int, int]) -> Node:
    low, high = ends
    below = nt.infix("<", x, nt.number(low)), nt.number(low)
    return nt.case([below, (nt.infix(">", x, nt.number(high)), nt.number(high))], x)
