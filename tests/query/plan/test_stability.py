"""From rows to integers on the real DuckDB: no unit moves a measure further than the noise of its plan is made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from curador.engines.duckdb.engine import DuckDB
from curador.engines.engine import ExactCounts
from curador.privacy import ApproxDP
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import mean, variance
from curador.query.aggregates.pairs.pairs import correlation, slope
from curador.query.aggregates.quantiles.ranks import median
from curador.query.aggregates.sums import sum_
from curador.query.ask.builder import TableQuery
from curador.query.ask.sql.expressions import parse_expression
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.seeded import examples

Row = tuple[int | None, str | None, int | None, float | None]
ROW = st.tuples(
    st.one_of(st.none(), st.integers(0, 4)),
    st.one_of(st.none(), st.sampled_from(["a", "b", "c", "other"])),
    st.one_of(st.none(), st.integers(-50, 50)),
    st.one_of(st.none(), st.floats(), st.floats(-2, 2)),
)
ROWS = st.lists(ROW, max_size=25)
COLUMNS: dict[str, object] = {
    "id": "integer",
    "k": {"type": "text", "keys": ["a", "b", "c"]},
    "g": "text",
    "x": {"type": "integer", "bounds": [-7, 20]},
    "y": {"type": "real", "bounds": [-1, 1], "step": 0.125},
    "sx": {"type": "integer", "bounds": [-2, 3], "nullable": False},
    "sy": {"type": "real", "bounds": [0, 1], "step": 0.125, "nullable": False},
}


def frame(rows: list[Row]) -> pyarrow.Table:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    kinds = [pyarrow.int64(), pyarrow.string(), pyarrow.int64(), pyarrow.float64()]
    ids, keys, x, y = (pyarrow.array(c, kind) for c, kind in zip(columns, kinds, strict=True))
    return pyarrow.table({"id": ids, "k": keys, "g": keys, "x": x, "y": y, "sx": x, "sy": y})


def found(made: Plan, rows: list[Row]) -> ExactCounts:
    engine = DuckDB({"t": Frame(frame(rows))})
    try:
        return engine.run(made.exact)
    finally:
        engine.close()


def changes(a: ExactCounts, b: ExactCounts, m: Measure) -> np.ndarray[Any, Any]:
    """How far each group moves; a group that one of the two does not have counts as 0."""
    mine, theirs = (dict(zip(x.keys, x.column(m), strict=True)) for x in (a, b))
    return np.array([abs(mine.get(k, 0) - theirs.get(k, 0)) for k in {*mine, *theirs}] or [0])


def moved_values(a: ExactCounts, b: ExactCounts, m: Measure) -> list[int]:
    """For each group, how many values must be added or taken away."""
    mine, theirs = (dict(zip(x.keys, x.values(m), strict=True)) for x in (a, b))
    out = []
    for key in {*mine, *theirs}:
        counts: dict[int, int] = {}
        for sign, side in ((1, mine), (-1, theirs)):
            for value, n in zip(*(x.tolist() for x in side[key]), strict=True) if key in side else ():
                counts[value] = counts.get(value, 0) + sign * n
        gone = sum(n for n in counts.values() if n > 0)
        out.append(max(gone, -sum(n for n in counts.values() if n < 0)))
    return out


def check_pair(made: Plan, one: list[Row], other: list[Row], replaced: bool) -> None:
    a, b = found(made, one), found(made, other)
    cells = None if made.checked.keys is None else len(made.checked.keys)
    for m in made.measures:
        if m.kind is MeasureKind.VALUES:
            moved = moved_values(a, b, m)
            assert max(moved, default=0) <= made.contribution.rows
            assert sum(map(bool, moved)) <= made.contribution.groups * (2 if replaced else 1)
            continue
        change = changes(a, b, m)
        stated = m.sensitivity(made.contribution, made.neighbors, cells)
        assert change.sum() <= stated.l1, m.label
        assert (change**2).sum() <= stated.l2_squared, m.label
        assert change.max() <= stated.linf, m.label


def planned(unit: str | None, neighbors: str, group: str | None, filtered: bool, kept: tuple[int, int]) -> Plan:
    table = Table("none.csv", columns=COLUMNS, neighbors=neighbors)
    if unit is not None:
        table = Table("none.csv", unit, COLUMNS, neighbors, contribution=kept)
    query = TableQuery.of("t", {"t": table}).aggregate(
        n=count(), u=count_distinct(), p=count("x"), s=sum_("x"), m=mean("y"), v=variance("x"), d=count_distinct("k")
    )
    query = query.aggregate(
        q=median("x"), b=sum_(parse_expression("LEAST(y, sy)")), c=sum_(parse_expression("GREATEST(sx, x) // 30"))
    )
    query = query.aggregate(e=count_distinct("g"), r=correlation("y", "x"), z=slope("sx", "x"))
    query = query.group_by(group) if group else query
    query = query.where("x > 0 OR y < 0.5") if filtered else query
    return plan(check(query.question, {"t": table}), ApproxDP(1, 1e-6))


SETTINGS = examples(40, suppress_health_check=[HealthCheck.too_slow])
GROUPS = st.sampled_from([None, "k", "g"])
KEPT = st.sampled_from([(1, 1), (2, 1), (1, 2), (2, 3)])


@SETTINGS
@given(ROWS, GROUPS, st.booleans(), KEPT, st.integers(0, 4))
def test_a_unit_that_leaves_moves_no_measure_further_than_stated(
    rows: list[Row], group: str | None, filtered: bool, kept: tuple[int, int], victim: int
) -> None:
    made = planned("id", "add-remove", group, filtered, kept)
    check_pair(made, rows, [r for r in rows if r[0] != victim], replaced=False)


@SETTINGS
@given(ROWS, ROWS, GROUPS, st.booleans(), KEPT, st.integers(0, 4))
def test_a_unit_that_changes_moves_no_measure_further_than_stated(
    rows: list[Row], instead: list[Row], group: str | None, filtered: bool, kept: tuple[int, int], victim: int
) -> None:
    made = planned("id", "replace", group, filtered, kept)
    others = [r for r in rows if r[0] != victim]
    check_pair(made, rows, [*others, *((victim, *r[1:]) for r in instead[:6])], replaced=True)


@SETTINGS
@given(st.lists(ROW, min_size=1, max_size=15), ROW, GROUPS, st.booleans(), st.sampled_from(["add-remove", "replace"]))
def test_a_row_that_leaves_or_changes_does_neither(
    rows: list[Row], instead: Row, group: str | None, filtered: bool, neighbors: str
) -> None:
    made = planned(None, neighbors, group, filtered, (1, 1))
    replaced = neighbors == "replace"
    check_pair(made, rows, [instead, *rows[1:]] if replaced else rows[1:], replaced)


def test_a_plan_without_limits_would_be_seen() -> None:
    """The checks above fail for a unit that is not cut: their assertions can fail."""
    made = planned("id", "add-remove", "k", False, (2, 3))
    rows: list[Row] = [(1, k, 20, 1.0) for k in ("a", "b", "c") for _ in range(9)]
    uncut = planned("id", "add-remove", "k", False, (3, 9))
    a, b = found(uncut, rows), found(uncut, [])
    stated = made.measures[0].sensitivity(made.contribution, made.neighbors, 3)
    assert changes(a, b, Measure(MeasureKind.ROWS)).sum() > stated.l1
    with pytest.raises(AssertionError):
        check_pair(_with_limits(uncut, made), rows, [], replaced=False)


def _with_limits(runs: Plan, states: Plan) -> Plan:
    """A broken plan: it states the sensitivities of one and runs the statements of the other."""
    from dataclasses import replace

    broken = replace(states)
    object.__setattr__(broken, "exact", runs.exact)
    return broken
