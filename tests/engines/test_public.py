"""Keys that come from public tables, through a curator on every engine: from SQL and from the builder alike."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.engines.duckdb.engine import DuckDB
from curador.errors import InvalidParameter, QuestionRefused
from curador.privacy import Neighbors, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.sums import sum_
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.measurement import limits
from curador.query.sql_plan.lower import listing, lower
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.real_engines import Opened, shown

VISITS = pa.table(
    {
        "id": pa.array([1, 1, 2, 3, 4, 4, 4, 5], pa.int64()),
        "town": ["Lugo", "Vigo", "Lugo", "Lorca", "Lugo", "Lugo", "nowhere", None],
        "cost": pa.array([3, 4, 5, 6, 7, 8, 9, 1], pa.int64()),
    }
)
TOWNS = pa.table(
    {
        # Lugo is there twice, once in each region; Cee has no visits; NULL is no key.
        "town": ["Lugo", "Vigo", "Lorca", "Lugo", "Cee", None],
        "region": ["north", "north", "south", "east", "north", "void"],
        "coast": [False, True, False, False, True, None],
    }
)
COLUMNS: dict[str, Any] = {"id": "integer", "town": "text", "cost": {"type": "integer", "bounds": [0, 10]}}
TABLES = {
    "visits": Table(VISITS.slice(0, 0), unit="id", columns=COLUMNS, contribution=(3, 2)),
    "rows": Table(VISITS.slice(0, 0), columns=COLUMNS),
    "towns": Table(
        TOWNS.slice(0, 0), columns={"town": "text", "region": "text", "coast": {"type": "boolean"}}, public=True
    ),
}
HUGE: dict[str, Any] = {"epsilon": 10**4}
"""So little noise that a count is what it is, but for one time in e**50."""
ALLOWED: dict[str, Any] = {"because": "a test on made-up rows", "override": True}


@pytest.fixture
def curator(opened: Opened) -> Curator:
    engine = opened({"visits": VISITS, "rows": VISITS, "towns": TOWNS})
    engine.check(TABLES)
    return Curator(TABLES, budget=PureDP(10**5), engine=engine)


def test_keys_of_public_tables(curator: Curator) -> None:
    """Every key of the public table is there, also the empty one; NULL is none; rows of other towns are dropped."""
    built = curator.table("rows").group_by("town", keys="towns").aggregate(n=count()).ask(**HUGE, **ALLOWED)
    assert dict(zip(built["town"], built["n"], strict=True)) == {"Cee": 0, "Lorca": 1, "Lugo": 4, "Vigo": 1}

    text = "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM visits JOIN towns ON visits.town = towns.town GROUP BY 1"
    asked = curator.table("visits").join("towns", "town").group_by("region").aggregate(n=count(), s=sum_("cost"))
    assert asked.question == parse(text, TABLES)
    release = curator.sql(text, **HUGE, **ALLOWED)
    # Lugo is in two regions, so its visits are in both: of unit 4, two rows in each.
    assert release["region"] == ("east", "north", "south", "void")
    assert release["n"] == (4, 5, 1, 0)
    assert release["s"] == (3 + 5 + 7 + 8, 3 + 4 + 5 + 7 + 8, 6, 0)
    assert "groups     region: 4 public" in str(asked.explain(**HUGE))

    # A row that is the unit takes one row of the public table, the first in order of its columns.
    pairs = "SELECT region, coast, COUNT(*) AS n FROM rows JOIN towns ON rows.town = towns.town GROUP BY region, coast"
    one = curator.sql(pairs, **HUGE, **ALLOWED)
    found = dict(zip(zip(one["region"], one["coast"], strict=True), one["n"], strict=True))
    assert found == {("east", False): 4, ("north", False): 0, ("north", True): 1, ("south", False): 1}


# ---- without the other engines -----------------------------------------------------------------------------------


def opened_on(tables: dict[str, pa.Table]) -> DuckDB:
    return DuckDB({name: Frame(t) for name, t in tables.items()}, threads=1, on_error=shown)


def test_keys_that_are_not_unique_in_the_public_table_move_no_further() -> None:
    """However often a town is listed: without each unit in turn, counts move by what is claimed and no more."""
    text = "SELECT region, COUNT(*) AS n FROM {} JOIN towns ON {}.town = towns.town GROUP BY region"
    many = pa.concat_tables([TOWNS] * 5)
    for name in ("visits", "rows"):
        engine = opened_on({name: VISITS, "towns": many})
        regions = engine.listed(listing("towns", TABLES["towns"], ["region"]))
        assert regions == [("east",), ("north",), ("south",), ("void",)]
        checked = check(parse(text.format(name, name), TABLES), TABLES, lambda *_, found=regions: found)
        measure = Measure(MeasureKind.ROWS)
        exact = lower(checked, [measure], limits(checked))
        whole = engine.run(exact).column(measure)
        engine.close()
        claim = measure.sensitivity(exact.contribution, Neighbors.ADD_REMOVE, len(regions))
        ids = VISITS["id"].to_pylist()
        units = (
            [[i for i, x in enumerate(ids) if x == u] for u in set(ids)]
            if name == "visits"
            else [[i] for i in range(8)]
        )
        furthest = 0
        for unit in units:
            engine = opened_on({name: VISITS.take([i for i in range(8) if i not in unit]), "towns": many})
            moved = [abs(a - b) for a, b in zip(whole, engine.run(exact).column(measure), strict=True)]
            engine.close()
            assert sum(moved) <= claim.l1
            assert max(moved) <= claim.linf
            furthest = max(furthest, sum(moved))
        assert furthest == (1 if name == "rows" else 4)  # unit 4 has Lugo alone, in two regions, two rows each


def test_only_public_tables_are_listed() -> None:
    with pytest.raises(QuestionRefused, match="'visits' is private"):
        listing("visits", TABLES["visits"], ["town"])
    engine = opened_on({"rows": VISITS})
    checked = check(parse("SELECT COUNT(*) FROM rows", TABLES), TABLES)
    with pytest.raises(InvalidParameter, match="measures private rows"):
        engine.listed(lower(checked, [Measure(MeasureKind.ROWS)], limits(checked)))
    engine.close()


def test_a_public_table_that_lists_nothing_or_cannot_be_read() -> None:
    engine = opened_on({"rows": VISITS, "towns": TOWNS.slice(5)})
    curator = Curator(TABLES, budget=PureDP(1), engine=engine)
    asked = curator.table("rows").group_by("town", keys="towns").aggregate(n=count())
    with pytest.raises(QuestionRefused, match="'towns' lists no keys"):
        asked.plan(epsilon=1)
    engine.close()
    with pytest.raises(InvalidParameter, match="could not be read"):
        asked.plan(epsilon=1)
    assert curator.budget().remaining == PureDP(1)
