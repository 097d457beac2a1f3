"""The statement that reads records: integers on their grids, places of keys, each unit cut to its limit."""

from __future__ import annotations

from itertools import count

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.query.records.columns import RecordColumn, Records
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan import truncate
from curador.query.sql_plan.exact import Exact, Statement
from curador.query.sql_plan.expressions import Bindings, lowered
from curador.query.sql_plan.group_index import key_node
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.sources import opened, short_names
from curador.query.sql_plan.truncate import MOST_ROWS_PER_GROUP, UNIT, GroupColumns


def lower_records(records: Records) -> Exact:
    """One statement, whose result has one column of integers, never NULL, for each column of the records.

    Guarantee: of each unit at most ``limit`` rows, chosen by its own rows alone (docs/proofs/truncation.md); every
    integer is within what its column says, whatever is stored.
    """
    rows, limit = records.rows, records.limit
    if limit > MOST_ROWS_PER_GROUP:
        raise QuestionRefused(
            f"{limit} rows of a unit are more than {MOST_ROWS_PER_GROUP}.",
            fix="Use fewer.",
            code="rows-per-unit",
            facts={"n": limit, "most": MOST_ROWS_PER_GROUP},
        )
    at = Bindings(rows.scope, short_names(rows, [c.expr for c in records.columns]))
    values = {f"v{i}": _encoded(c, at) for i, c in enumerate(records.columns)}
    own = {} if rows.single else {UNIT: nt.column(UNIT)}
    tests = [nt.present(x) for x in own.values()]
    if rows.rows.where is not None:
        tests.append(lowered(rows.rows.where, at))
    found = opened(rows, at, count())
    source = at.over(found.source, found.read, found.joins)
    layer = nt.select({**own, **values}, source, nt.both(*tests) if tests else None)
    if not rows.single:
        unit = rows.table.unit.id
        assert unit is not None
        kind = rows.table.columns[unit].kind
        layer = truncate.truncated(layer, kind, GroupColumns(1), tuple(values), Contribution(rows=limit), units=False)
    statement = Statement(layer, (), listed=True)
    made = Exact(found.scans, (statement,), ((),), (), Contribution(rows=limit))
    if not {scan.table for scan in made.scans} <= set(records.reads):  # what is not charged is not read
        raise QuestionRefused(
            "This would read a table that it does not pay for.", fix="Report this.", code="plan-defect"
        )
    return made


def _encoded(column: RecordColumn, at: Bindings) -> Node:
    x = at.bind(lowered(column.expr, at))
    if column.keys is not None:
        if at.type(column.expr).kind.value == "boolean":
            tests = [x if key is True else nt.opposite(x) for key in column.keys]
        else:
            tests = [nt.infix("=", x, key_node(key)) for key in column.keys]
        return nt.case([(test, nt.constant(i)) for i, test in enumerate(tests)], nt.constant(-1))
    low, high = column.type.grid_bounds or (0, 0)
    # What reading clips is within the bounds already; what is worked out is, by its type.  Cut again all the same.
    least = nt.function("GREATEST", [nt.minus(x, nt.number(low)), nt.constant(0)])
    inside = nt.function("LEAST", [least, nt.constant(high - low)])
    return nt.case([(nt.is_null(x), nt.constant(-1))], inside)
