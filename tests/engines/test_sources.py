"""Where DuckDB finds rows: files, frames and database files, all with the same answers; CSV files without guessing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.engines.duckdb.files import csv_header
from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.sql_plan.lower import lower
from curador.query.tables.sources import EngineTable, Files, Frame, Source, read_source
from curador.query.tables.table import Table
from tests.real_engines import shown

DATA = pa.table(
    {
        "id": pa.array([1, 1, 2, None, 3], pa.int64()),
        "town": pa.array(["Lugo", "O'Grove", None, "Lugo", 'a "b", c'], pa.string()),
        "pay": pa.array([1.5, None, 99.0, 3.0, -2.0], pa.float64()),
    }
)
TABLE = Table(
    Frame(None),
    unit="id",
    columns={
        "id": "integer",
        "town": {"type": "text", "keys": ["Lugo", "O'Grove", 'a "b", c']},
        "pay": {"type": "real", "bounds": [0, 10]},
    },
    contribution=(3, 3),
)
MEASURES = [Measure(MeasureKind.ROWS), Measure(MeasureKind.SUM, ex.Name("pay")), Measure(MeasureKind.UNITS)]


def test_rows_of_a_stream_are_read_once_and_stay() -> None:
    connection = duckdb.connect()
    connection.register("given", DATA)
    expected = asked(Frame(DATA))
    relation = connection.sql("SELECT * FROM given")
    held = relation.arrow()
    for stream in (held, relation, pa.RecordBatchReader.from_batches(DATA.schema, DATA.to_batches())):
        first, second = read_source(stream), read_source(stream)
        assert asked(first) == asked(second) == expected
        assert isinstance(first, Frame)
        assert isinstance(second, Frame)
        assert first.data is second.data  # the same rows: two tables of them share a budget
    connection.close()
    with pytest.raises(InvalidParameter) as refused:
        read_source(broken())
    assert (refused.value.code, "Eva" in str(refused.value)) == ("stream-unread", False)


def broken() -> pa.RecordBatchReader:
    """A stream that fails with words of its own."""

    def batches() -> Iterator[pa.RecordBatch]:
        raise ValueError("the row of Eva")
        yield

    return pa.RecordBatchReader.from_batches(pa.schema([("name", pa.string())]), batches())


def asked(source: Source) -> list[list[int]]:
    engine = DuckDB({"t": source}, on_error=shown)
    engine.check({"t": TABLE})
    checked = check(Question("t", (Output("n", count()),), group_by=(Group("town", ex.Name("town")),)), {"t": TABLE})
    answer = engine.run(lower(checked, MEASURES, Contribution(rows=3, groups=3)))
    engine.close()
    return [list(answer.column(m)) for m in MEASURES]


UNIT = 2 ** TABLE.columns["pay"].bits
EXPECTED = [[1, 1, 1], [3 * UNIT // 2, 0, 0], [1, 1, 1]]


def parquet(folder: Path) -> Source:
    pq.write_table(DATA, folder / "one.parquet")
    return Files(str(folder / "one.parquet"), "parquet")


def several(folder: Path) -> Source:
    (folder / "year=2020").mkdir()
    pq.write_table(DATA.slice(0, 2), folder / "year=2020" / "a.parquet")
    pq.write_table(DATA.slice(2), folder / "year=2020" / "b.parquet")
    return Files(str(folder / "*" / "*.parquet"), "parquet")


def text(folder: Path) -> Source:
    pyarrow.csv.write_csv(DATA, folder / "one.csv")
    return Files(str(folder / "one.csv"), "csv")


def database(folder: Path) -> Source:
    with duckdb.connect(str(folder / "own.duckdb")) as connection:
        connection.register("data", DATA)
        connection.execute(
            'CREATE SCHEMA "health care"; CREATE TABLE "health care"."visits, all" AS SELECT * FROM data'
        )
    return EngineTable(f"duckdb:///{folder / 'own.duckdb'}", "visits, all", "health care")


FRAMES: list[Callable[[], Any]] = [
    lambda: DATA,
    lambda: DATA.to_pandas(),
    lambda: DATA.to_pandas(types_mapper=pd.ArrowDtype),
    lambda: pl.from_arrow(DATA),
]


@pytest.mark.parametrize("made", [parquet, several, text, database])
def test_files(made: Callable[[Path], Source], tmp_path: Path) -> None:
    assert asked(made(tmp_path)) == EXPECTED


@pytest.mark.parametrize("made", FRAMES)
def test_frames(made: Callable[[], Any]) -> None:
    assert asked(Frame(made())) == EXPECTED


def test_frames_are_not_shown_pickled_or_copied() -> None:
    """Nor is anything that holds one: a table, a query, a plan."""
    secret = Frame(pa.table({"x": ["secret 4711"]}))
    table = Table(secret, columns={"x": "text"})
    assert "4711" not in repr(secret) + str(secret) + repr(table)
    for held in (secret, table, {"t": table}):
        for leave in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="does not leave"):
                leave(held)


def test_names_in_paths_are_no_columns(tmp_path: Path) -> None:
    """year=2020 in a path stays a path: nothing is guessed from it."""
    engine = DuckDB({"t": several(tmp_path)})
    assert [name for name, _ in engine.describe("t")] == ["id", "town", "pay"]
    engine.close()


def test_paths_that_try_to_be_sql(tmp_path: Path) -> None:
    folder = tmp_path / "it's; DROP TABLE t --"
    folder.mkdir()
    assert asked(parquet(folder)) == EXPECTED


# ---- values that DuckDB fails on ---------------------------------------------------------------------------------

BYTES = [b"Lugo", b"a\xc3", b"Vigo", None, b"\xff", b"\xed\xa0\x80", b"Lugo"]
"""Texts, three of which are no UTF-8."""


def unchecked(kind: pa.DataType) -> pa.Array:
    """Text as Arrow holds it without looking."""
    raw = pa.array(BYTES, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(raw), raw.buffers())


TEXTS = {
    "string": unchecked(pa.string()),
    "large": unchecked(pa.large_string()),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array(range(len(BYTES)), pa.int8()), unchecked(pa.string())),
}


def towns(source: Source, columns: object = "text", unit: str | None = None) -> dict[Any, int]:
    """How often each value of the column x is there."""
    own: dict[str, Any] = {} if unit is None else {"unit": unit, "contribution": (3, 3)}
    table = Table(source, columns={"x": columns}, **own)
    engine = DuckDB({"t": source}, on_error=shown)
    engine.check({"t": table})
    checked = check(Question("t", (Output("n", count()),), group_by=(Group("x", ex.Name("x")),)), {"t": table})
    answer = engine.run(lower(checked, [Measure(MeasureKind.ROWS)], Contribution(rows=3, groups=3)))
    engine.close()
    return {key: n for (key,), n in zip(answer.keys, answer.column(Measure(MeasureKind.ROWS)), strict=True)}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_frames_that_is_no_utf_8_is_null(name: str) -> None:
    assert towns(Frame(pa.table({"x": TEXTS[name]}))) == {None: 4, "Lugo": 2, "Vigo": 1}


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", None])
def test_text_of_parquet_files_that_is_no_utf_8_has_question_marks(encoding: str | None, tmp_path: Path) -> None:
    """As ids such texts, which could be any, are dropped."""
    path, plain = tmp_path / "t.parquet", {"use_dictionary": False, "column_encoding": {"x": encoding}}
    pq.write_table(pa.table({"x": TEXTS["string"]}), path, **(plain if encoding else {}))
    source = Files(str(path), "parquet")
    assert towns(source) == {None: 1, "?": 1, "???": 1, "Lugo": 2, "Vigo": 1, "a?": 1}
    assert towns(source, unit="x") == {"Lugo": 2, "Vigo": 1}


FAR = [-(2**63), 2**63 - 1, 2**55, None]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Madrid"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_frames_beyond_all_dates_are_null(unit: str, zone: str | None) -> None:
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    times = pa.array([0, 86_400 * factor, *FAR], pa.int64()).cast(pa.timestamp(unit, zone))
    found = towns(Frame(pa.table({"x": times})), "date")
    assert {found[date(1970, 1, 1)], found[date(1970, 1, 2)]} == {1}
    assert sum(found.values()) == 2 + len(FAR)
    if unit in ("s", "ms"):
        assert found[None] == 4


def test_times_of_database_files_beyond_all_dates_are_null(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    for unit in ("s", "ms"):
        with duckdb.connect(str(path)) as connection:
            connection.register("data", pa.table({"x": pa.array(FAR, pa.int64()).cast(pa.timestamp(unit))}))
            connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM data")
            assert connection.execute("SELECT TYPEOF(x) FROM t").fetchall()[0] == (f"TIMESTAMP_{unit.upper()}",)
        assert towns(EngineTable(f"duckdb:///{path}", "t"), "date")[None] == 4


def test_parquet_files_of_milliseconds_are_refused_whatever_is_in_them(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for far in (0, 2**62):
        times = pa.array([0, far], pa.int64()).cast(pa.timestamp("ms"))
        pq.write_table(pa.table({"x": times, "y": times.cast(pa.timestamp("us"), safe=False)}), path, version="2.6")
        engine = DuckDB({"t": Files(str(path), "parquet")})
        kinds = dict(engine.describe("t"))
        with pytest.raises(InvalidParameter, match="'x' is stored as TIMESTAMP_MILLIS of Parquet"):
            engine.check({"t": Table(Frame(None), columns={"x": "date"})})
        engine.check({"t": Table(Frame(None), columns={"y": "date"})})
        engine.close()
        assert kinds["y"] == "TIMESTAMP"


# ---- CSV ---------------------------------------------------------------------------------------------------------


def lines(path: Path, content: bytes) -> list[int]:
    """How many rows of each town a CSV file has."""
    path.write_bytes(content)
    table = Table(Frame(None), columns={"town": {"type": "text", "keys": ["Lugo", "a,b", "Vigo"]}, "n": "integer"})
    engine = DuckDB({"t": Files(str(path), "csv")}, on_error=shown)
    assert engine.describe("t") == [("town", "VARCHAR"), ("n", "VARCHAR")]
    checked = check(Question("t", (Output("n", count()),), group_by=(Group("town", ex.Name("town")),)), {"t": table})
    answer = engine.run(lower(checked, [Measure(MeasureKind.ROWS)], Contribution()))
    engine.close()
    return list(answer.column(Measure(MeasureKind.ROWS)))


def test_csv_files_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert lines(path, b"town,n\nLugo,1\n") == [1, 0, 0]
    assert lines(path, b'\xef\xbb\xbftown,n\r\nLugo,1\r\n"a,b",2\r\n') == [1, 1, 0]
    assert lines(path, b"town,n\n") == [0, 0, 0]
    assert lines(path, b"town,n\nLugo," + b"9" * 3_000_000 + b"\nVigo,1\n") == [1, 0, 1]
    # The first hundred thousand lines look like numbers; a reader that guesses would fail on the last.
    assert lines(path, b"town,n\n" + b"Vigo,1\n" * 100_000 + b"Lugo,one\n") == [1, 0, 100_000]


def test_csv_headers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('\ufeff"a ""b""",c d\n1,2\n')
    assert csv_header(str(path)) == ['a "b"', "c d"]
    for bad in ("", "a,A\n", "a,,b\n"):
        path.write_text(bad)
        with pytest.raises(InvalidParameter, match="does not name its columns"):
            csv_header(str(path))
