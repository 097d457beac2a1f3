"""What a third attack on curators found: answers of other questions, rows of other people, words of other analysts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.privacy import PureDP
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.tables.table import Table

X: Mapping[str, Any] = {"type": "integer", "bounds": [0, 9]}


# ---- a batch of a public table in a database -------------------------------------------------------------------------


def visits(folder: Path) -> Curator:
    with duckdb.connect(str(folder / "h.duckdb")) as made:
        made.execute("CREATE TABLE v AS SELECT CASE WHEN i < 1000 THEN 'A' ELSE 'B' END town FROM range(1007) t(i)")
        made.execute("CREATE TABLE towns AS SELECT * FROM (VALUES ('A', 'north'), ('B', 'south')) t(name, region)")
    of = f"duckdb:///{folder}/h.duckdb#"
    tables = {
        "v": Table(f"{of}v", columns={"town": "text"}),
        "towns": Table(f"{of}towns", public=True, columns={"name": "text", "region": "text"}),
    }
    return Curator(tables, budget=PureDP(100), ledger=folder / "x.db")


def counted_in(curator: Curator, region: str) -> TableQuery:
    return curator.table("v").join("towns", {"town": "name"}).where(f"towns.region = '{region}'").aggregate(n=count())


def test_a_batch_is_bought_each_time_if_one_of_its_questions_is(tmp_path: Path) -> None:
    curator = visits(tmp_path)
    single = {"all": curator.table("v").aggregate(n=count())}
    north, south = (curator.batch({"n": counted_in(curator, r), **single}, epsilon=1) for r in ("north", "south"))
    assert north.identity is south.identity is None
    assert curator.batch(single, epsilon=1).identity is not None
    for batch, true in ((north, 1000), (south, 7), (north, 1000)):
        made = curator.publish(batch)
        assert not made.repeated
        assert abs(made["n"].value - true) < 200
    assert curator.charge_count() == 3
    both = {region: counted_in(curator, region) for region in ("north", "south")}
    for named in (both, dict(reversed(both.items()))):
        made = curator.publish(curator.batch(named, epsilon=1))
        assert abs(made["north"].value - 1000) < 200 < made["north"].value
        assert abs(made["south"].value - 7) < 200


def test_a_part_of_a_batch_is_read_back_for_its_own_question_alone(tmp_path: Path) -> None:
    curator = visits(tmp_path)
    asked = {town: curator.table("v").where(f"town = '{town}'").aggregate(n=count()) for town in ("A", "B")}
    batch = curator.batch(asked, epsilon=1)
    stored = curator.buy(batch).measurement
    assert set(batch.measurements(stored)) == {"A", "B"}
    first, second = json.loads(stored)["batch"]
    for wrong in ([second, first], [first], [first[1], second[1]]):
        with pytest.raises(CuradorError):
            batch.measurements(json.dumps({"batch": wrong}).encode())
    with pytest.raises(CuradorError):
        curator.batch(dict.fromkeys("AB", asked["A"]), epsilon=1).measurements(stored)
