"""Random questions about random neighbours, in every storage, under every declaration: no unit moves more than is paid.

The same cases every time; ``make fuzz`` draws others.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.privacy import ApproxDP
from curador.query.plan.plan import Plan
from curador.query.sql_plan import sources
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.audit.doors.moves import changes
from tests.audit.doors.random_worlds import PUBLIC, PUBLIC_COLUMNS, Questions, World, world
from tests.audit.doors.storages import EVERYWHERE, Storage, storage
from tests.audit.doors.unit_questions import UnitQuestions

BUDGETS: list[dict[str, Any]] = [
    {"epsilon": 1, "delta": 1e-6},
    {"epsilon": 1, "delta": 1e-6, "noise": "laplace"},
    {"rho": 0.5, "delta": 1e-6},
]


def curators(made: World, keep: Storage, folder: Path) -> list[Curator]:
    found = []
    for main, owed in made.pair:
        tables = {
            "t": Table(keep(main, folder), columns=made.columns, **made.own),
            "towns": Table(keep(PUBLIC, folder), columns=PUBLIC_COLUMNS, public=True),
        }
        if "unit" in made.own:
            tables["bills"] = Table(keep(owed, folder), columns=made.owed, **made.own)
        found.append(Curator(tables, budget=ApproxDP(1, 1e-3)))
    return found


def planned(curator: Curator, text: str, how: dict[str, Any]) -> Plan | str:
    try:
        return curator.plan(text, **how)
    except CuradorError as refusal:
        return str(refusal)


def fuzz(
    keep: Storage,
    folder: Path,
    worlds: int,
    questions: int,
    *,
    texts: bool = False,
    kind: type[Questions] | type[UnitQuestions] = Questions,
) -> Counter[str]:
    """How many questions were answered and how many refused."""
    seen: Counter[str] = Counter()
    for _ in range(worlds):
        draw = random.Random(random.getrandbits(64))
        made = world(draw, texts=texts)
        while kind is UnitQuestions and "unit" not in made.own:
            made = world(draw, texts=texts)
        pair = curators(made, keep, folder)
        asks = kind(draw, by_row="unit" not in made.own)
        for _ in range(questions):
            text, how = asks.question(), draw.choice(BUDGETS)
            print(text, how, made.columns, made.own)  # shown if it fails
            here, there = (planned(curator, text, how) for curator in pair)
            if isinstance(here, str) or isinstance(there, str):
                assert here == there
                seen["refused"] += 1
                continue
            assert here.to_dict() == there.to_dict()
            one, other = (c._engines.of(here.reads).run(p.exact) for c, p in zip(pair, (here, there), strict=True))
            changes(here, one, other)
            seen["answered"] += 1
        for curator in pair:
            curator.close()
    return seen


@pytest.mark.parametrize("name", EVERYWHERE)
def test_random_neighbours_per_unit(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """One row per unit, lists of units, tables put together: the same."""
    seen = fuzz(storage(name, request), tmp_path, worlds=1, questions=10, kind=UnitQuestions)
    assert seen["answered"] >= 4  # or nothing was tested


@pytest.mark.parametrize("broken", [False, True])
def test_values_of_a_unit_that_are_not_clipped_are_caught(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same check refuses sums and counts of one unit that leave the bounds that they were bought for."""
    if broken:
        monkeypatch.setattr(sources, "_clipped", lambda x, ends: x)
    columns = {"id": "integer", "x": {"type": "integer", "bounds": [0, 5]}}
    text = "SELECT SUM(n) AS n, SUM(s) AS s FROM (SELECT id, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY id) a"
    found = []
    for ids in ([1] * 9 + [2], [2]):
        rows = pa.table({"id": pa.array(ids, pa.int64()), "x": pa.array([5] * len(ids), pa.int64())})
        table = Table(Frame(rows), unit="id", columns=columns, contribution=(1, 2))
        with closing(Curator({"t": table}, budget=ApproxDP(1, 1e-3))) as curator:
            made = curator.plan(text, epsilon=1)
            found.append(curator._engines.of(made.reads).run(made.exact))
    with pytest.raises(AssertionError) if broken else nullcontext():
        changes(made, *found)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYWHERE)
def test_many_random_neighbours_per_unit(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    seen = fuzz(storage(name, request), tmp_path, worlds=20, questions=25, kind=UnitQuestions)
    assert seen["answered"] >= 100


@pytest.mark.parametrize("name", EVERYWHERE)
def test_random_neighbours(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    seen = fuzz(storage(name, request), tmp_path, worlds=1, questions=14)
    assert seen["answered"] >= 3  # or nothing was tested


@pytest.mark.parametrize("name", ["parquet", "postgresql"])
def test_random_neighbours_kept_as_text(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert fuzz(storage(name, request), tmp_path, worlds=1, questions=14, texts=True)["answered"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYWHERE)
def test_many_random_neighbours(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert fuzz(storage(name, request), tmp_path, worlds=25, questions=25)["answered"] >= 125
