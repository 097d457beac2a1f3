"""Columns of frames in every encoding: no value of one row makes a question fail, or a frame be refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.engines.duckdb.frames import arrow
from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.sql_plan.lower import lower
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table

ROWS = Measure(MeasureKind.ROWS)


class Marked(pa.ExtensionType):  # type: ignore[misc]  # pyarrow has no types
    """An extension type of any storage, as any library may define one."""

    def __init__(self, storage: pa.DataType, name: str = "some.extension") -> None:
        super().__init__(storage, name)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Marked:
        return cls(storage)


def dictionary(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int32()), values)


def runs(values: pa.Array) -> pa.Array:
    """Run-end encoded, behind a run that is cut off: an array need not begin where its runs do."""
    kind = pa.run_end_encoded(pa.int32(), values.type)
    ends = pa.array(range(2, len(values) + 2), pa.int32())
    return pa.Array.from_buffers(kind, len(values), [None], null_count=0, offset=1, children=[ends, values])


def marked(values: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(Marked(values.type), values)


ENCODINGS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "plain": lambda x: x,
    "dictionary": dictionary,
    "runs": runs,
    "extension": marked,
    "dictionary of runs": lambda x: dictionary(runs(x)),
    "runs of dictionary": lambda x: runs(dictionary(x)),
    "extension of dictionary": lambda x: marked(dictionary(x)),
    "dictionary of dictionary": lambda x: dictionary(dictionary(x)),
    "dictionary of extension": lambda x: dictionary(marked(x)),
    "runs of extension of dictionary": lambda x: runs(marked(dictionary(x))),
}


def texts(last: bytes, kind: pa.DataType) -> pa.Array:
    raw = {pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}.get(kind, pa.binary())
    return pa.array([b"a", b"b", last], raw).view(kind)


def times(last: int, unit: str, zone: str | None) -> pa.Array:
    return pa.array([0, 1, last], pa.int64()).cast(pa.timestamp(unit, zone))


def counted(columns: dict[str, Any], kind: str) -> dict[str, dict[Any, int]]:
    """How often each value of each column is there."""
    table = Table(Frame(None), columns=dict.fromkeys(columns, kind))
    engine = DuckDB({"t": Frame(pa.table(columns))}, threads=1)
    engine.check({"t": table})
    found = {}
    for name in columns:
        checked = check(Question("t", (Output("n", count()),), group_by=(Group("x", ex.Name(name)),)), {"t": table})
        answer = engine.run(lower(checked, [ROWS], Contribution()))
        found[name] = {key: n for (key,), n in zip(answer.keys, answer.column(ROWS), strict=True)}
    engine.close()
    return found


def in_every_encoding(values: pa.Array) -> dict[str, pa.Array]:
    return {name: encoded(values) for name, encoded in ENCODINGS.items()}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_texts_that_are_no_utf_8_are_null_in_every_encoding(kind: pa.DataType) -> None:
    good, bad = (counted(in_every_encoding(texts(last, kind)), "text") for last in (b"c", b"\xff"))
    assert good == {name: {"a": 1, "b": 1, "c": 1} for name in ENCODINGS}
    assert bad == {name: {"a": 1, "b": 1, None: 1} for name in ENCODINGS}


@pytest.mark.parametrize(("unit", "zone"), [("s", "UTC"), ("ms", "UTC"), ("s", None)])
def test_times_beyond_all_dates_are_null_in_every_encoding(unit: str, zone: str | None) -> None:
    near, far = (counted(in_every_encoding(times(last, unit, zone)), "date") for last in (2, 2**62))
    assert near == {name: {date(1970, 1, 1): 3} for name in ENCODINGS}
    assert far == {name: {date(1970, 1, 1): 2, None: 1} for name in ENCODINGS}


def test_a_categorical_of_times_of_pandas_has_one_far_time_as_null() -> None:
    """Found by an attacker: whether COUNT failed told, without noise, that one row was there."""
    far = pd.DatetimeIndex(pd.Series([0, 86_400, 2**45]).astype("datetime64[s]")).tz_localize("UTC")
    column = pa.Table.from_pandas(pd.DataFrame({"x": pd.Categorical(far)}))["x"]
    assert pa.types.is_dictionary(column.type)
    assert counted({"x": column}, "date")["x"] == {date(1970, 1, 1): 1, date(1970, 1, 2): 1, None: 1}


@pytest.mark.parametrize("value", [None, b"x"])
def test_types_that_are_not_read_are_refused_whatever_is_in_them(value: bytes | None) -> None:
    """DuckDB is given no value of them, and a table that declares another column is read."""
    columns = in_every_encoding(pa.array([b"a", value], pa.binary()))
    frame = Frame(pa.table({**columns, "y": [1, 2]}))
    engine, seen = DuckDB({"t": frame}, threads=1), arrow(frame.data)
    for name in columns:
        assert seen[name].null_count == 2
        with pytest.raises(InvalidParameter, match=f"'{name}' is stored as BLOB"):
            engine.check({"t": Table(Frame(None), columns={name: "text"})})
    engine.check({"t": Table(Frame(None), columns={"y": "integer"})})
    engine.close()


@pytest.mark.parametrize("storage", [pa.string(), pa.binary(16)], ids=str)
def test_an_extension_is_read_as_what_it_stores_but_for_uuids(storage: pa.DataType) -> None:
    """A name alone would have DuckDB read texts as UUIDs, and fail on those that are none."""
    values = pa.array([b"0123456789abcdef"], pa.binary(16)) if storage != pa.string() else pa.array(["no uuid"])
    named = pa.ExtensionArray.from_storage(Marked(storage, "arrow.uuid"), values)
    by_field = pa.field("x", pa.string(), metadata={"ARROW:extension:name": "arrow.uuid"})
    engine = DuckDB({"t": Frame(pa.table({"x": named}))}, threads=1)
    assert engine.describe("t") == [("x", "VARCHAR" if storage == pa.string() else "UUID")]
    engine.close()
    assert arrow(pa.table([["no uuid"]], schema=pa.schema([by_field]))).schema.field("x").metadata is None


def test_empty_frames_have_the_types_of_full_ones() -> None:
    full = in_every_encoding(texts(b"c", pa.string()))
    for columns in (full, {name: pa.chunked_array([], column.type) for name, column in full.items()}):
        engine = DuckDB({"t": Frame(pa.table(columns))}, threads=1)
        assert engine.describe("t") == [(name, "VARCHAR") for name in ENCODINGS]
        engine.close()
