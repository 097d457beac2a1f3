"""Records: rows as integers, alike on every engine, each unit cut to its limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import in_all
from curador.privacy import Unit
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.records.columns import Records, records
from curador.query.records.lower import lower_records
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.real_engines import Opened

ROWS = pa.table(
    {
        "id": pa.array([1, 1, 1, 2, 3, 3, None, 4], pa.int64()),
        "age": pa.array([30, 200, None, -5, 40, 41, 50, 17], pa.int64()),
        "wage": pa.array([1.5, float("nan"), float("inf"), -1.0, 2.25, 99.0, 3.0, None], pa.float64()),
        "town": pa.array(["Lugo", "Vigo", "?", None, "Vigo", "Lugo", "Lugo", "Ourense"], pa.string()),
        "works": pa.array([True, False, None, True, True, False, True, False], pa.bool_()),
    }
)
COLUMNS: dict[str, Any] = {
    "id": "integer",
    "age": {"type": "integer", "bounds": [17, 90]},
    "wage": {"type": "real", "bounds": [0, 10], "step": 0.25},
    "town": {"type": "text", "keys": ["Vigo", "Lugo"]},
    "works": "boolean",
}
NAMES = ("age", "wage", "town", "works")


def read(unit: str | None, limit: int | None = None, where: str | None = None, **keyed: Any) -> Records:
    whose = Unit.row() if unit is None else Unit.of(unit)
    limits = None if limit is None else in_all(limit)
    tables = {"people": Table(Frame(ROWS), columns=COLUMNS, unit=whose, contribution=limits)}
    query = TableQuery.of("people", tables)
    query = query if where is None else query.where(where)
    columns = {name: query.read(name) for name in NAMES}
    return records(query.aggregate(n=count()).question, columns, keyed, tables)


def taken(found: Records, opened: Opened) -> list[tuple[int, ...]]:
    parts: list[np.ndarray] = []
    opened({"people": ROWS}).records(lower_records(found), parts.append)
    return sorted(tuple(map(int, row)) for part in parts for row in part)


def test_every_value_is_an_integer_within_its_column(opened: Opened) -> None:
    assert taken(read(None), opened) == sorted(
        [
            (13, 6, 1, 1),
            (73, -1, 0, 0),  # an age above the bounds is clipped, and NaN is missing
            (-1, -1, -1, -1),  # so is infinity, as in every question
            (0, 0, -1, 1),
            (23, 9, 0, 1),
            (24, 40, 1, 0),
            (33, 12, 1, 1),
            (0, -1, -1, 0),
        ]
    )


def test_a_unit_is_cut_to_its_limit_and_rows_without_one_are_not_read(opened: Opened) -> None:
    whole = taken(read("id", 3), opened)
    assert len(whole) == 7
    one = taken(read("id", 1), opened)
    assert len(one) == 4
    assert set(one) <= set(whole)


def test_which_rows_are_kept_does_not_depend_on_other_units(opened: Opened) -> None:
    kept = taken(read("id", 1), opened)
    alone = taken(read("id", 1, "id = 1"), opened)
    assert len(alone) == 1
    assert set(alone) <= set(kept)


def test_conditions_and_keys_of_the_asker(opened: Opened) -> None:
    found = taken(read(None, where="age >= 40", town=("Lugo", "Ourense"), age=(40, 41)), opened)
    assert found == sorted([(-1, -1, -1, 0), (0, 9, -1, 1), (1, 40, 0, 0), (-1, 12, 0, 1)])


def test_what_is_not_declared_is_refused() -> None:
    tables = {"people": Table(Frame(ROWS), columns={**COLUMNS, "age": "integer", "town": "text"}, unit="id")}
    query = TableQuery.of("people", tables)
    question = query.aggregate(n=count()).question
    with pytest.raises(QuestionRefused, match="age"):
        records(question, {"age": query.read("age")}, {}, tables)
    with pytest.raises(QuestionRefused, match="keys"):
        records(question, {"town": query.read("town")}, {}, tables)
    with pytest.raises(QuestionRefused, match="How many rows"):
        records(question, {"wage": query.read("wage")}, {}, tables)
