"""Units cut on arrays against units cut by the statements: the same integers on awkward random tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.engines.duckdb import cut, packed
from curador.engines.duckdb.engine import DuckDB
from curador.engines.engine import ExactCounts
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.measure import Measure
from curador.query.aggregates.moments import mean, variance
from curador.query.aggregates.quantiles.ranks import median
from curador.query.aggregates.sums import sum_
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.plan.measurement import recipes
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.lower import lower
from curador.query.tables.sources import Frame
from curador.query.tables.table import Column, Table
from tests.real_engines import shown

NUMBERS = [None, float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e308, 5e-324, 7.0, 7.0, 99.99, -4.5]
IDS: list[Callable[[random.Random], int]] = [
    lambda rng: rng.randrange(8),
    lambda rng: rng.randrange(-50, 50),
    lambda rng: 10**9 * rng.randrange(-30, 30) + rng.randrange(3),
    lambda rng: rng.choice([-(2**63), 2**63 - 1, 2**62 + 1, 1073741789, -1073741789, 0, 1]),
    lambda rng: rng.getrandbits(64) - 2**63 if rng.random() < 0.3 else rng.randrange(5),
    lambda rng: int(rng.paretovariate(0.7)) % 10**6,
]
OUTPUTS = [
    Output("n", count()),
    Output("u", count_distinct()),
    Output("some", count("v")),
    Output("s", sum_("v")),
    Output("m", mean("v")),
    Output("d", variance("v")),
    Output("t", sum_("w")),
    Output("x", mean(ex.Arithmetic("*", ex.Name("w"), ex.Name("v")))),
    Output("z", variance("w")),
]


def random_case(seed: int) -> tuple[Exact, list[Measure], pa.Table]:
    """A plan that arrays can work out, and rows for it."""
    rng = random.Random(seed)
    keys = rng.choice([1, 2, 3, 7, 64, 100, 127, 128, 129, 200])
    columns = {
        "id": "integer",
        "g": {"type": "integer", "keys": rng.sample(range(-300, 300), keys)},
        "v": {"type": "real", "bounds": rng.choice([[0, 100], [-10, 1], [5, 5.5]])},
        "w": {"type": "integer", "bounds": rng.choice([[0, 1], [-7, 500], [-(2**20), 2**20]])},
    }
    table = Table(Frame(None), unit="id", columns=columns, contribution=(1, 1))
    wanted = tuple(rng.sample(OUTPUTS, rng.randrange(1, 4)))
    groups = () if rng.random() < 0.15 else (Group("g", ex.Name("g")),)
    where = ex.Compare(">", ex.Name("w"), ex.Literal(0)) if rng.random() < 0.2 else None
    checked = check(Question("t", wanted, group_by=groups, where=where), {"t": table})
    limits = Contribution(rows=rng.choice([1, 2, 3, 10, 1000]), groups=rng.choice([1, 2, 5, 300]))
    if limits.groups > 1 and checked.keys is not None:
        limits = replace(limits, groups=min(limits.groups, len(checked.keys)))
    measures = [m for recipe in recipes(checked, limits) for m in recipe.measures]
    exact = lower(checked, measures, limits)
    if exact.bounded is None:  # its values need more bits than there are
        return random_case(seed + 10**6)
    size, id_of = rng.choice([0, 1, 2, 30, 300, 2000]), rng.choice(IDS)
    known = [*(table.columns["g"].keys or ()), 999, None]
    few = rng.sample(known, min(len(known), rng.choice([2, 6, 300])))
    rows: dict[str, list[Any]] = {
        "id": [None if rng.random() < 0.02 else id_of(rng) for _ in range(size)],
        "g": rng.choices(few, k=size),
        "v": [rng.choice(NUMBERS) if rng.random() < 0.5 else rng.uniform(-20, 120) for _ in range(size)],
        "w": [rng.choice([None, 0, 1, -(2**63), 2**63 - 1, rng.randrange(600)]) for _ in range(size)],
    }
    kinds = {"id": pa.int64(), "g": pa.int64(), "v": pa.float64(), "w": pa.int64()}
    return exact, measures, pa.table({n: pa.array(x, kinds[n]) for n, x in rows.items()})


def integers(answer: ExactCounts, measures: list[Measure]) -> list[list[int]]:
    return [list(map(int, answer.column(m))) for m in measures]


def both_ways(exact: Exact, measures: list[Measure], rows: pa.Table) -> tuple[list[list[int]], list[list[int]]]:
    """The integers by arrays, and those by the statements."""
    assert exact.bounded is not None
    engine = DuckDB({"t": Frame(rows)}, threads=1, on_error=shown)
    try:
        return tuple(integers(engine.run(e), measures) for e in (exact, replace(exact, bounded=None)))  # type: ignore[return-value]
    finally:
        engine.close()


def differing(seeds: range) -> list[int]:
    """The seeds of the tables on which the two ways differ."""
    found = []
    for seed in seeds:
        arrays, statements = both_ways(*random_case(seed))
        if arrays != statements:
            found.append(seed)
    return found


@pytest.fixture(params=["whole", "small pieces"])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Rows at once as usual; or a few at a time, in short blocks, their ids put into few ranges."""
    small: bool = request.param == "small pieces"
    if small:
        monkeypatch.setattr(packed, "MOST_ROWS", 40)
        monkeypatch.setattr(packed, "PARTS", 5)
        monkeypatch.setattr(cut, "BLOCK", 16)
    return small


def test_arrays_find_what_the_statements_find(pieces: bool) -> None:
    assert differing(range(40 if pieces else 80)) == []


@pytest.mark.slow
def test_arrays_find_what_the_statements_find_on_more_tables(pieces: bool) -> None:
    assert differing(range(1000, 2500)) == []


@pytest.mark.parametrize("fault", ["start", "group", "null", "order"])
def test_a_planted_fault_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tables tell apart another start, another order of groups, NULL as a value, and unsorted values."""
    if fault == "start":
        monkeypatch.setattr(cut, "golden", lambda prime: 1)
    elif fault == "group":
        monkeypatch.setattr(cut, "SHIFT", 1)
    elif fault == "null":
        monkeypatch.setattr(np, "where", lambda test, zero, x: x)
    else:
        monkeypatch.setattr(cut.Totals, "_add", unsorted)
    assert differing(range(20)) != []


def unsorted(self: cut.Totals, packed: cut.Integers, id_of: Callable[[cut.Integers], cut.Integers]) -> None:
    """Rows in the order of units and groups alone."""
    order = np.argsort(packed >> self._bounded.value_bits, kind="stable")
    for block in cut._blocks(packed[order], self._bounded.bits):
        self._add_block(block, id_of)


def test_ids_far_apart_with_wide_values_go_by_the_statements() -> None:
    """Ids of 64 bits are numbered; with values of 50 bits there is no room for the numbers of many."""
    columns = {"id": "integer", "v": {"type": "integer", "bounds": [0, 2**57]}}
    table = Table(Frame(None), unit="id", columns=columns, contribution=(1, 2))
    checked = check(Question("t", (Output("s", sum_("v")),)), {"t": table})
    measures = [m for recipe in recipes(checked, Contribution(rows=2)) for m in recipe.measures]
    exact = lower(checked, measures, Contribution(rows=2))
    rng = random.Random(5)
    for units in (2, 300):
        known = [rng.getrandbits(64) - 2**63 for _ in range(units)]
        rows = pa.table({"id": rng.choices(known, k=900), "v": [rng.randrange(2**57) for _ in range(900)]})
        arrays, statements = both_ways(exact, measures, rows)
        assert arrays == statements


def test_what_arrays_do_not_cover_goes_by_the_statements() -> None:
    columns = {"id": "integer", "name": "text", "v": {"type": "real", "bounds": [0, 1]}, "free": "integer"}
    table = Table(Frame(None), unit="id", columns=columns, contribution=(1, 1))
    named = Table(Frame(None), unit="name", columns=columns, contribution=(1, 1))

    def bounded(table: Table, *outputs: Output, by: str | None = None) -> bool:
        groups = () if by is None else (Group(by, ex.Name(by)),)
        checked = check(Question("t", outputs, group_by=groups), {"t": table})
        measures = [m for recipe in recipes(checked, Contribution()) for m in recipe.measures]
        return lower(checked, measures, Contribution()).bounded is not None

    assert bounded(table, Output("n", count()), Output("s", sum_("v")))
    assert not bounded(named, Output("n", count()))
    assert not bounded(table, Output("n", count()), by="free")
    assert not bounded(table, Output("q", median("v")))
    wide = replace(table, columns={**table.columns, "free": Column("integer", bounds=(-(2**61), 2**61))})
    assert not bounded(wide, Output("s", sum_("free")))
