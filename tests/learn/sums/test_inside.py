"""Sums inside an engine are those of the rows that it would give out, to the last bit, on all engines."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.purchases.tallied import TableRows
from curador.curator.purchases.training import Records
from curador.engines.duckdb.engine import DuckDB
from curador.engines.sql_engine import SqlEngine
from curador.learn import PCA, GaussianNB, KMeans, LinearRegression
from curador.learn.rows.encoding import SCALE, Ints, NumberFeature, placed
from curador.learn.rows.records import RecordReader
from curador.learn.sums import inside as the_file
from curador.learn.sums.centres import nearest
from curador.learn.sums.classes import ClassSums
from curador.learn.sums.inside import InsideSums, inside
from curador.learn.sums.moments import labelled
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.mechanisms.sensitivity import in_all
from curador.privacy import ApproxDP, PureDP, Unit
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.records.columns import records
from curador.query.records.lower import lower_records
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.real_engines import Opened

COLUMNS: dict[str, Any] = {
    "id": "integer",
    "age": {"type": "integer", "bounds": [17, 90]},
    "pay": {"type": "real", "bounds": [-3, 5], "step": 2**-10},  # 8,192 steps: every fourth is in the middle of two
    "rate": {"type": "real", "bounds": [0.1, 0.7], "step": 0.001},
    "town": {"type": "text", "keys": ["Vigo", "Lugo", "Ourense"]},
    "works": "boolean",
    "job": {"type": "integer", "keys": [3, 5, 8]},
}


def rows(n: int) -> pa.Table:
    """Rows with values outside bounds, missing ones, keys that are not declared, and units of up to seven rows."""
    rng = np.random.default_rng(7)

    def some(values: Any, kind: pa.DataType) -> pa.Array:
        return pa.array([None if rng.random() < 0.1 else v for v in values], kind)

    return pa.table(
        {
            "id": some(rng.integers(0, n // 3 + 1, n).tolist(), pa.int64()),
            "age": some(rng.integers(0, 120, n).tolist(), pa.int64()),
            "pay": some(np.round(rng.uniform(-4, 6, n), 3).tolist(), pa.float64()),
            "rate": some(rng.uniform(0, 1, n).tolist(), pa.float64()),
            "town": some(rng.choice(["Vigo", "Lugo", "Ourense", "?"], n).tolist(), pa.string()),
            "works": some((rng.random(n) < 0.3).tolist(), pa.bool_()),
            "job": some(rng.choice([3, 5, 8, 9], n).tolist(), pa.int64()),
        }
    )


def read(data: pa.Table, names: list[str], unit: str | None, keyed: tuple[str, ...] = ()) -> Records:
    whose = Unit.row() if unit is None else Unit.of(unit)
    table = Table(Frame(data), columns=COLUMNS, unit=whose, contribution=None if unit is None else in_all(2))
    query = TableQuery.of("people", {"people": table})
    columns = {name: query.read(name) for name in names}
    return records(query.aggregate(n=count()).question, columns, dict.fromkeys(keyed, ()), {"people": table})


def both(engine: SqlEngine, found: Records, label: str | None) -> tuple[InsideSums, Any, Any, Any]:
    """Sums inside, and the rows as they are read."""
    reader = RecordReader(found.columns, label)
    there = inside(TableRows(engine, found), reader, 8)
    assert there is not None
    design, classes, values = reader.read(lambda take: engine.records(lower_records(found), take))
    return there, design, classes, values


def test_sums_are_those_of_the_rows(opened: Opened) -> None:
    """On every engine, with units that are cut."""
    data = rows(300)
    compare(opened({"people": data}), data, "id")


def test_sums_are_those_of_rows_that_are_units() -> None:
    data = rows(300)
    engine = DuckDB({"people": Frame(data)})
    compare(engine, data, None)
    engine.close()


def compare(engine: SqlEngine, data: pa.Table, unit: str | None) -> None:
    """Products of columns, with and without a label, sums by class, and by nearest centre."""
    names = ["age", "town", "pay", "works", "rate", "job"]

    there, design, _, _ = both(engine, read(data, names, unit, ("job",)), None)
    assert (there.moments(labelled=False) == design.moments()).all()
    rng = np.random.default_rng(1)
    for many in (1, 4):
        centres = rng.uniform(-1, 1, (many, design.encoding.width - 1))
        sums = ClassSums(design.encoding, 8, 0, PureDP(1))
        assert (there.by_centre(sums, centres) == sums.exact(design, nearest(design, centres))).all()
    assert (there.by_centre(sums, np.zeros_like(centres))[1:] == 0).all()  # of several, the first

    there, design, _, values = both(engine, read(data, names, unit, ("job",)), "pay")
    assert 0 < len(values) < 300
    assert (there.moments(labelled=True) == labelled(design, values)).all()

    there, design, classes, _ = both(engine, read(data, names, unit, ("job",)), "job")
    for bins in (0, 5):
        sums = ClassSums(design.encoding, 3, bins, PureDP(1))
        assert (there.by_label(sums) == sums.exact(design, classes)).all()


def test_no_rows_and_no_keys(opened: Opened) -> None:
    data = rows(20)
    engine = opened({"people": data.slice(0, 0), "others": data})
    found = read(data.slice(0, 0), ["age", "pay"], None)
    there, design, _, _ = both(engine, found, None)
    assert (there.moments(labelled=False) == 0).all()
    sums = ClassSums(design.encoding, 4, 0, PureDP(1))
    assert (there.by_centre(sums, np.zeros((2, 2))) == 0).all()
    there, *_ = both(engine, found, "pay")
    assert (there.moments(labelled=True) == 0).all()


@pytest.mark.parametrize("steps", [1, 2, 3, 1000, 4096, 8192, 99999, (1 << 40) - 1, 1 << 40])
def test_places_are_encoded_as_numbers_are(steps: int) -> None:
    """In whole numbers and in doubles alike, also half way between two of the grid."""
    rng = np.random.default_rng(steps)
    some = np.unique(
        np.append(rng.integers(0, steps + 1, 5000), [0, steps, steps // 2, steps // 4096, 3 * steps // 4096])
    )
    low = -float(rng.integers(0, 1 << 40))
    feature = NumberFeature("x", low, low + steps)
    assert (placed(some, steps) == feature.encoded(low + some)).all()
    assert placed(np.array([-1]), steps).tolist() == [0]
    assert abs(int(placed(some, steps)[-1])) == SCALE


# ---- the doors --------------------------------------------------------------------------------------------------


def fits() -> list[tuple[Any, list[str], str | None]]:
    features = ["age", "town", "rate"]
    return [
        (PCA(epsilon=1, delta=1e-5), features, None),
        (PCA(epsilon=1), features, None),
        (LinearRegression(epsilon=1), features, "pay"),
        (LinearRegression(epsilon=1, delta=1e-5, steps=0), features, "pay"),
        (GaussianNB(epsilon=1), features, "works"),
        (GaussianNB(epsilon=1, bins=7), features, "works"),
        (KMeans(3, epsilon=1), features, None),
    ]


def plain(monkeypatch: pytest.MonkeyPatch) -> list[Ints]:
    """No noise at all: what would be released, as it is."""
    seen: list[Ints] = []

    def release(self: Any, value: Any, **settings: Any) -> Any:
        seen.append(np.array(value))
        return np.array(value, float)

    monkeypatch.setattr(Laplace, "release", release)
    monkeypatch.setattr(Gaussian, "release", release)
    return seen


@pytest.mark.parametrize("place", range(len(fits())))
@pytest.mark.parametrize("unit", [None, "id"])
def test_a_fit_gives_out_no_row_and_learns_the_same(
    place: int, unit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, features, label = fits()[place]
    seen = plain(monkeypatch)
    table = Table(
        rows(200), columns=COLUMNS, unit=Unit.of(unit) if unit else Unit.row(), contribution=2 if unit else None
    )

    def fitted() -> bytes:
        curator = Curator({"people": table}, budget=ApproxDP(9, 1e-3))
        run = curator.training(model, "people", features=features, label=label)
        return curator.buy(run).measurement

    with monkeypatch.context() as patch:
        patch.setattr(the_file, "MOST_SUMS", 0)  # as with too many columns
        slow, reads = fitted(), list(seen)
    seen.clear()
    monkeypatch.setattr(DuckDB, "records", None)  # no row is given out
    assert json.loads(fitted()) == json.loads(slow)
    assert len(seen) == len(reads)
    assert all((a == b).all() for a, b in zip(seen, reads, strict=True))


def test_statements_that_would_be_too_large_are_not_made() -> None:
    data = rows(5)
    found = read(data, ["age", "town"], None)
    reader = RecordReader(found.columns, None)
    engine: Any = object()
    assert inside(TableRows(engine, found), reader) is not None
    assert inside(TableRows(engine, found), reader, 4000) is None
    assert inside(lambda take: None, reader) is None
