"""Grouping sets on every engine: rows that no set of keys misses, and the same bytes from the same noise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from curador.engines.duckdb.engine import DuckDB
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import PureDP
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.answer.noise import noise
from curador.query.answer.noisy import from_bytes, to_bytes
from curador.query.answer.postprocess import answered
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.plan.steps import Noised
from curador.query.tables.sources import Frame
from tests.audit.doors.moves import changes
from tests.engines.samples import TABLES, TOWNS, stored, tables
from tests.real_engines import Opened, shown

ROLLED = "SELECT town, code, COUNT(*) AS n, AVG(age) AS m FROM rows GROUP BY ROLLUP (town, code)"
CUT = "SELECT town, ok, COUNT(*) AS n FROM visits GROUP BY CUBE (town, ok)"


def planned(text: str) -> Plan:
    return plan(check(parse(text, TABLES), TABLES), PureDP(4000))  # noise of next to nothing


def in_keys(row: dict[str, Any]) -> bool:
    return row["town"] in TOWNS and row["code"] in (7, -3, 2**61, 0)


def test_rolled_up_rows_are_those_of_the_keys(opened: Opened) -> None:
    rows = tables(11)["visits"]
    made = planned(ROLLED)
    engine = opened({"rows": stored(rows, TABLES["rows"])})
    kept = to_bytes(noise(made, engine.run(made.exact)), made)
    answer = answered(made, from_bytes(kept, made))
    wanted: Counter[tuple[Any, Any]] = Counter()
    for row in filter(in_keys, rows):
        wanted.update([(row["town"], row["code"]), (row["town"], None), (None, None)])
    got = dict(zip(zip(answer.columns["town"], answer.columns["code"], strict=True), answer.columns["n"], strict=True))
    assert len(got) == len(TOWNS) * 4 + len(TOWNS) + 1
    assert got == {key: wanted[key] for key in got}
    assert answer.columns["n"][-1] == sum(map(in_keys, rows))


def test_a_unit_is_cut_in_the_finest_groups_for_every_set(opened: Opened) -> None:
    rows = tables(12)["visits"]
    made, plain = planned(CUT), planned("SELECT town, ok, COUNT(*) AS n FROM visits GROUP BY town, ok")
    assert made.exact == plain.exact  # the engine is asked for the cells, whatever the sets are
    exact = opened({"visits": stored(rows, TABLES["visits"])}).run(made.exact)
    answer = answered(made, noise(made, exact))
    cells = exact.column(Measure(MeasureKind.ROWS))
    assert answer.columns["n"][-1] == sum(cells)
    each = Counter(
        row["id"] for row in rows if row["id"] is not None and row["town"] in TOWNS and row["ok"] is not None
    )
    assert 0 < sum(cells) <= sum(min(n, 6) for n in each.values())


def test_no_unit_moves_a_margin_further_than_was_paid_for() -> None:
    """With and without each of some units, for margins that are noised besides the cells, and instead of them."""
    rows = tables(13)["visits"]
    large = {**TABLES, "visits": replace(TABLES["visits"], contribution=Contribution(rows=2, groups=3))}
    for grouped in ("GROUPING SETS ((town, code, day, age), (town), ())", "GROUPING SETS ((town), (code, day))"):
        asked = parse(f"SELECT COUNT(*) AS n, SUM(pay) AS s FROM visits GROUP BY {grouped}", large)
        made = plan(check(asked, large), PureDP(1))
        assert any(step.measure.level is not None for step in made.steps if isinstance(step, Noised))
        whole = found(made, rows)
        for unit in sorted({row["id"] for row in rows if row["id"] is not None})[:5]:
            changes(made, whole, found(made, [row for row in rows if row["id"] != unit]))


def found(made: Plan, rows: list[dict[str, Any]]) -> Any:
    engine = DuckDB({"visits": Frame(stored(rows, TABLES["visits"]))}, threads=1, on_error=shown)
    try:
        return engine.run(made.exact)
    finally:
        engine.close()
