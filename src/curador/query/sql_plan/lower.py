"""From a checked question to the exact half of its plan: statements in the neutral language, reading no data.

Layers, from the bottom: the columns as read (:class:`~curador.query.sql_plan.exact.Scan`), joined
(:mod:`curador.query.sql_plan.joins`), made one row per unit or put together where the question says so
(:mod:`curador.query.sql_plan.sources`); expressions, and the filter; the number of the public key, rows with other keys
dropped; the rows that each unit keeps (``truncate``); and the aggregates.  The filter comes before the truncation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.language import expressions as ex
from curador.query.language.types import column_type
from curador.query.plan.checked import Checked
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan import truncate
from curador.query.sql_plan.exact import BoundedRows, BoundedValue, Exact, Read, Scan, Statement
from curador.query.sql_plan.expressions import Bindings, lowered
from curador.query.sql_plan.group_index import indexed, key_node
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.prepared import Prepared
from curador.query.sql_plan.sources import OpenRows, opened, short_names
from curador.query.sql_plan.truncate import INDEX, MOST_ROWS_PER_GROUP, UNIT, GroupColumns
from curador.query.tables.columns import Kind
from curador.query.tables.table import Table

MOST_COMPARED = 100_000
"""Values in lists and tables of all statements: an engine takes time for each, in which it is not interrupted."""


def lower(
    checked: Checked, measures: Sequence[Measure], contribution: Contribution, prepared: Prepared | None = None
) -> Exact:
    """The statements that work out ``measures``, each unit cut to ``contribution``.

    From a prepared table the cut is read off stored ranks, before the filter; ``contribution`` is then what the table
    or the question declares, and the result's own says what is left of it for coarser groups.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Output, Question
    >>> from curador.query.tables.table import Table
    >>> adult = Table("adult.csv", columns={"age": {"type": "integer", "bounds": [17, 90]}})
    >>> exact = lower(check(Question("adult", (Output("n", count()),)), {"adult": adult}), [Measure(MeasureKind.ROWS)],
    ...               Contribution())
    >>> exact.statements[0].tree == nt.select({"g": nt.number(0), "m0": nt.rows()}, nt.table("s0"))
    True
    """
    if contribution.rows > MOST_ROWS_PER_GROUP:
        raise QuestionRefused(
            f"{contribution.rows} rows per group are more than {MOST_ROWS_PER_GROUP}.",
            fix="Bound units to fewer rows.",
            code="rows-per-unit",
            facts={"n": contribution.rows, "most": MOST_ROWS_PER_GROUP},
        )
    unit, bounded = checked.table.unit.id, None
    layout = _Layout(checked, measures, prepared)
    cells, layer = layout.grouped([] if prepared is None else prepared.kept(contribution))
    if prepared is not None:
        contribution = prepared.left(checked, contribution)
    elif not checked.rows.single:
        assert unit is not None
        kind = checked.table.columns[unit].kind
        units = any(m.kind is MeasureKind.UNITS for m in measures)
        bounded = _bounded(layout, layer, kind, cells, contribution)
        layer = truncate.truncated(layer, kind, cells, layout.value_names, contribution, units)
    statements = tuple(_statements(measures, layout.value_of, cells, layer, not checked.rows.single))
    if (compared := sum(compared_values(s.tree) for s in statements)) > MOST_COMPARED:
        raise QuestionRefused(
            f"Rows would be compared with {compared} values; the most is {MOST_COMPARED}.",
            fix="Ask for fewer functions of texts, or with fewer values, at once.",
            code="compared-values",
            facts={"n": compared, "most": MOST_COMPARED},
        )
    return Exact(
        scans=layout.rows.scans,
        statements=statements,
        keys=checked.keys,
        kinds=tuple(t.kind for t in checked.groups),
        contribution=contribution,
        bounded=bounded,
    )


def compared_values(tree: nt.Select) -> int:
    """How many values a statement compares rows with one by one; public keys are joined, and not counted.

    >>> compared_values(nt.select({"a": nt.within(nt.column("c0"), [nt.number(1), nt.number(2)])}, nt.table("s0")))
    2
    """
    found = 0
    todo: list[nt.Tree] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, nt.Membership):
            found += len(node.values)
            todo.append(node.operand)
        elif not isinstance(node, nt.ValuesList):
            found += len(node.whens) if isinstance(node, nt.CaseWhen) else 0
            todo.extend(nt.parts(node))
    return found


def listing(name: str, table: Table, columns: Sequence[str]) -> Exact:
    """The distinct rows of some columns of a public table; they are the keys of the answer.

    >>> towns = Table("towns.csv", columns={"name": "text"}, public=True)
    >>> listing("towns", towns, ["name"]).statements[0].tree.group
    ('k0',)
    """
    if not table.public:
        raise QuestionRefused(f"The table {name!r} is private.", fix="List the keys, or declare the table public.")
    reads = tuple(Read(f"k{i}", c, column_type(table.columns[c])) for i, c in enumerate(columns))
    every: dict[str, Node] = {r.name: nt.column(r.name) for r in reads}
    tree = nt.select(every, nt.table("s0"), group=tuple(every))
    kinds = tuple(r.type.kind for r in reads)
    return Exact((Scan("s0", name, reads),), (Statement(tree, ()),), None, kinds, Contribution())


# ---- the rows as expressions over columns as read ------------------------------------------------------------


class _Layout:
    """The columns that are read, their short names, and the layer of ids, groups and values made from them."""

    def __init__(self, checked: Checked, measures: Sequence[Measure], prepared: Prepared | None) -> None:
        self.checked, self.measures = checked, tuple(dict.fromkeys(measures))
        grouped = [g.expr for g in checked.question.group_by]
        columns = short_names(checked.rows, [*grouped, *(m.column for m in measures if m.column is not None)])
        self.at = Bindings(checked.scope, columns)
        if prepared is None:
            self.rows = opened(checked.rows, self.at, count())
        else:
            scan = prepared.scan(checked, columns)
            self.rows = OpenRows((scan,), nt.table(scan.name), tuple(r.name for r in scan.reads), ())
        wanted = dict.fromkeys(_value(m, measures) for m in measures if m.column is not None)
        self.values = {value: f"v{i}" for i, value in enumerate(wanted)}
        self.value_of = {m: self.values[_value(m, measures)] for m in measures if m.column is not None}

    @property
    def value_names(self) -> tuple[str, ...]:
        return tuple(self.values.values())

    def grouped(self, tests: list[Node]) -> tuple[GroupColumns, nt.FromItem]:
        """A layer of the id, the group and the values, filtered, and its group columns."""
        question = self.checked.question
        unit = {} if self.checked.rows.single else {UNIT: nt.column(UNIT)}
        groups = {f"k{i}": lowered(g.expr, self.at) for i, g in enumerate(question.group_by)}
        values = {name: value.node(self.at) for value, name in self.values.items()}
        tests += [nt.present(x) for x in unit.values()]
        if question.where is not None:
            tests.append(lowered(question.where, self.at))
        source = self.at.over(self.rows.source, self.rows.read, self.rows.joins)
        kinds = [t.kind for t in self.checked.groups]
        return indexed(unit, groups, values, source, tests, self.checked.keys, kinds)


# ---- values --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Value:
    """A column of the layer of values: a value, its presence, a public key if there are any, or a clipped number."""

    column: ex.Expr
    present: bool = False
    keyed: bool = False
    ends: tuple[int, int] | None = None

    def range(self, at: Bindings) -> tuple[int, int] | None:
        """The least and the largest integer it may be; None where bounds are not known."""
        return (1, 1) if self.present else at.type(self.column).grid_bounds

    def node(self, at: Bindings) -> Node:
        x = lowered(self.column, at)
        if self.present:
            return nt.case([(nt.present(x), nt.constant(1))])
        if self.keyed:
            t = at.type(self.column)
            if t.domain is None or (t.kind is Kind.BOOLEAN and t.keys is None):
                return x
            x = at.bind(x)
            return nt.case([(nt.within(x, [key_node(k) for k in t.domain or ()]), x)])
        if self.ends is not None and self.ends != at.type(self.column).grid_bounds:
            x = at.bind(x)
            low, high = self.ends
            outside = [(nt.infix("<", x, nt.number(low)), nt.constant(low))]
            return nt.case([*outside, (nt.infix(">", x, nt.number(high)), nt.constant(high))], x)
        return x


def _value(m: Measure, measures: Sequence[Measure]) -> _Value:
    assert m.column is not None
    if m.kind is MeasureKind.PRESENT:
        summed = any(
            o.column == m.column and o.kind in (MeasureKind.SUM, MeasureKind.CENTRED, MeasureKind.SQUARES)
            for o in measures
        )
        return _Value(m.column, present=not summed)  # what is added up is there anyway, and is NULL where it is
    if m.kind is MeasureKind.DISTINCT:
        return _Value(m.column, keyed=True)
    return _Value(m.column, ends=(m.low, m.high) if m.kind is MeasureKind.VALUES else None)


# ---- rows for arrays -----------------------------------------------------------------------------------------

ADDED_UP = frozenset(MeasureKind) - {MeasureKind.DISTINCT, MeasureKind.VALUES}
"""Measures that are sums over kept rows, or counts of units."""

MOST_PACKED, MOST_SQUARED = 61, 1 << 31
"""What integers of 64 bits hold: the bits of group and values, with some for the unit; and what is squared."""


def _bounded(
    layout: _Layout, layer: nt.FromItem, unit: Kind, cells: GroupColumns, limits: Contribution
) -> BoundedRows | None:
    """The layer as numbers for arrays, where ids are integers and all that is measured is added up and bounded."""
    kinds = {m.kind for m in layout.measures}
    if unit is not Kind.INTEGER or cells.size is None or not kinds or not kinds <= ADDED_UP:
        return None
    if limits.total is not None:
        return None
    if any(m.kind is MeasureKind.SQUARES and m.reach >= MOST_SQUARED**2 for m in layout.measures):
        return None
    ranges = [value.range(layout.at) for value in layout.values]
    values = tuple(BoundedValue(n, *r) for n, r in zip(layout.value_names, ranges, strict=True) if r is not None)
    places = {value: i for i, value in enumerate(layout.value_names)}
    measures = tuple((m, places.get(layout.value_of.get(m, ""))) for m in layout.measures)
    found = BoundedRows(layer, cells.size, values, measures, limits)
    return found if len(values) == len(ranges) and found.bits <= MOST_PACKED else None


# ---- aggregates ----------------------------------------------------------------------------------------------


def _statements(
    measures: Sequence[Measure], value_of: Mapping[Measure, str], cells: GroupColumns, layer: nt.FromItem, ids: bool
) -> Iterator[Statement]:
    groups: dict[str, Node] = {c: nt.column(c) for c in cells.columns}
    shown = groups or {INDEX: nt.number(0)}
    several = [m for m in dict.fromkeys(measures) if m.kind is not MeasureKind.VALUES]
    if several:
        found = {f"m{i}": _aggregate(m, value_of.get(m, ""), ids) for i, m in enumerate(several)}
        tree = nt.select({**shown, **found}, layer, group=tuple(groups))
        yield Statement(tree, tuple(several))
    for m in dict.fromkeys(measures):
        if m.kind is MeasureKind.VALUES:
            value = value_of[m]
            columns = {**shown, "m0": nt.column(value), "m1": nt.rows()}
            tree = nt.select(columns, layer, nt.present(nt.column(value)), group=(*groups, value))
            yield Statement(tree, (m,), listed=True)


def _aggregate(m: Measure, value: str, ids: bool) -> Node:
    x: Node = nt.column(value)
    if m.kind is MeasureKind.ROWS or (m.kind is MeasureKind.UNITS and not ids):
        return nt.rows()
    if m.kind is MeasureKind.UNITS:
        return nt.distinct(nt.column(UNIT))
    if m.kind is MeasureKind.PRESENT:
        return nt.count(x)
    if m.kind is MeasureKind.DISTINCT:
        return nt.distinct(x)
    x = nt.minus(x, nt.number(m.centre)) if m.centre else x
    return nt.total(nt.times(x, x) if m.kind is MeasureKind.SQUARES else x)
