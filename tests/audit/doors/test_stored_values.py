"""Stored types, declared types and extreme values: whether a table opens, a plan is made and an answer comes back
depends on the types alone, never on a value; and no value moves a measure further than was paid.

A column of one stored type is there once for each declaration.  D holds plain values; one unit brings every extreme
value of the type, each in a row of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.curator.curator import Curator
from curador.engines.registry import open_engine
from curador.engines.sql_engine import SqlEngine
from curador.errors import EngineFailed, InvalidParameter
from curador.privacy import ApproxDP
from curador.query.tables.sources import EngineTable, Files, Frame, Source
from curador.query.tables.table import Table
from tests.audit.doors.moves import changes
from tests.real_engines import shown

DECLARED: Mapping[str, dict[str, Any]] = {
    "whole": {"type": "integer"},
    "clipped": {"type": "integer", "bounds": [-5, 9], "nullable": False},
    "real": {"type": "real", "bounds": [-1, 1000]},
    "loose": {"type": "real"},
    "day": {"type": "date"},
    "late": {"type": "date", "bounds": ["1970-01-01", "2030-01-01"], "nullable": False},
    "moment": {"type": "timestamp"},
    "soon": {"type": "timestamp", "bounds": ["1970-01-01", "2030-01-01 12:00:00"], "nullable": False},
    "truth": {"type": "boolean"},
    "word": {"type": "text"},
    "keyed": {"type": "text", "keys": ["1", "true", "x", "1970-01-01"], "nullable": False},
}
SUMMED = ("clipped", "real")
GROUPED = ("whole", "clipped", "day", "late", "truth", "word", "keyed")
HOW: dict[str, Any] = {"epsilon": 1, "delta": 1e-6}


def opened(source: Source) -> SqlEngine | str:
    """The engine, or why the table cannot be opened."""
    try:
        return open_engine({"t": source}, shown)
    except InvalidParameter as refusal:
        return str(refusal)


def readable(engine: SqlEngine) -> list[str]:
    """The declarations under which the column can be read."""
    found = []
    for name, column in DECLARED.items():
        try:
            engine.check({"t": Table(Frame(None), columns={name: column})})
        except InvalidParameter:
            continue
        found.append(name)
    return found


def questions(names: Sequence[str]) -> list[str]:
    measures = [f"COUNT({n}) AS n_{n}" for n in names]
    measures += [f"{f}({n}) AS {f}_{n}" for n in SUMMED if n in names for f in ("SUM", "AVG", "MEDIAN")]
    tests = " OR ".join(f"{n} > 0" for n in names if DECLARED[n]["type"] in ("integer", "real")) or "TRUE = TRUE"
    groups = [n for n in GROUPED if n in names]
    measures += [
        f"SUM(DATEDIFF('day', '1970-01-01', {n})) AS s_{n}, AVG(HOUR({n})) AS h_{n}" for n in names if n == "soon"
    ]
    found = [f"SELECT COUNT(*) AS n, {', '.join(measures)} FROM t"]
    if any(n in names for n in ("whole", "clipped", "real", "loose")):
        found.append(f"SELECT COUNT(*) AS n FROM t WHERE {tests}")
    if groups:
        found.append(f"SELECT {', '.join(groups)}, COUNT(*) AS n FROM t GROUP BY {', '.join(groups)}")
    return found


def compared(d: Source, more: Source) -> list[str]:
    """The declarations that could be read, after all that is seen of both was found to be the same."""
    here, there = opened(d), opened(more)
    if isinstance(here, str) or isinstance(there, str):
        assert here == there
        return []
    names = readable(here)
    assert readable(there) == names
    if names:
        columns = {"id": {"type": "integer"}} | {name: DECLARED[name] for name in names}
        table = Table(Frame(None), columns=columns, unit="id", contribution=(3, 4))
        curator = Curator({"t": table}, budget=ApproxDP(1, 1e-3), engine=here)
        for text in questions(names):
            plan = curator.plan(text, **HOW)  # made without an engine, so the same for both
            try:
                changes(plan, here.run(plan.exact), there.run(plan.exact))
            except EngineFailed:
                pytest.fail(f"What can be read cannot be answered: {text}")
    here.close()
    there.close()
    return names


# ---- DuckDB's own types, in a database and in Parquet ----------------------------------------------------------------

_ENDS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_TIMES = ["1969-12-31 23:59:59.999999", "0001-01-01", "9999-12-31 23:59:59", "infinity", "-infinity", "294246-01-01"]
_WORDS = ["", " ", "1", "-0", "1e400", "-1e-400", "nan", "9" * 500, "0001-01-01", "9999-12-31", "2023-02-29", "🦉", "?"]
DUCKDB: dict[str, tuple[str, list[str]]] = {
    **{t: ("1", [str(-(2 ** (b - 1))), str(2 ** (b - 1) - 1)]) for t, b in _ENDS.items()},
    **{f"U{t}": ("1", ["0", str(2**b - 1)]) for t, b in _ENDS.items()},
    "FLOAT": ("1", ["nan", "inf", "-inf", "-0.0", "1e-40", "3e38", "0.5"]),
    "DOUBLE": ("1", ["nan", "inf", "-inf", "1e308", "-1e308", "5e-324", "4611686018427387905", "9223372036854775808"]),
    "DECIMAL(38,0)": ("1", ["9" * 38, "-" + "9" * 38, "-9223372036854775809"]),
    "DECIMAL(38,9)": ("1", [f"-{10**29 - 1}.5", f"{10**29 - 1}.999999999", "0.000000001"]),
    "DECIMAL(38,18)": ("1", ["-99999999999999999999.5", "99999999999999999999.999999999999999999"]),
    "DECIMAL(38,37)": ("1", ["-9.5", "9.9999999999999999999999999999999999999"]),
    "DECIMAL(38,38)": ("0.25", ["-0.5", "0.99999999999999999999999999999999999999"]),
    "DECIMAL(4,2)": ("1", ["-99.99", "1.00"]),
    "VARCHAR": ("x", _WORDS),
    "DATE": ("2020-01-01", ["0001-01-01", "9999-12-31", "infinity", "-infinity", "0044-03-15 (BC)", "5874897-01-01"]),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS"), ("2020-01-01", _TIMES)),
    "TIMESTAMP_NS": ("2020-01-01", ["1969-12-31 23:59:59.999999999", "2262-04-11", "1677-09-22"]),
    "BOOLEAN": ("true", ["false"]),
    "UUID": ("00000000-0000-0000-0000-000000000001", ["ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    "BLOB": ("x", ["\\xff"]),
    "TIME": ("00:01", ["24:00:00"]),
    "INTERVAL": ("1 year", ["-178956970 years"]),
    "INTEGER[]": ("[1]", ["[]"]),
}
"""For each type a plain value, and its extremes."""

UNREADABLE = ("BLOB", "TIME", "INTERVAL", "INTEGER[]", "UHUGEINT")


def duckdb_pair(kind: str, folder: Path, parquet: bool) -> tuple[Source, Source] | None:
    plain, extremes = DUCKDB[kind]
    columns = ", ".join(f"CAST(v AS {kind}) AS {name}" for name in DECLARED)
    rows = [f"(1, '{plain}')", "(1, NULL)", f"(2, '{plain}')"]
    made: list[Source] = []
    for i, victim in enumerate(([], [f"(3, '{v}')" for v in [*extremes, plain]])):
        path = folder / f"{i}.{'parquet' if parquet else 'duckdb'}"
        select = f"SELECT id, {columns} FROM (VALUES {', '.join([*rows[:1], *victim, *rows[1:]])}) AS r(id, v)"
        with duckdb.connect(":memory:" if parquet else str(path)) as connection:
            try:
                connection.execute(f"COPY ({select}) TO '{path}'" if parquet else f"CREATE TABLE t AS {select}")
            except duckdb.Error:
                assert parquet  # which has no such type, or not all of its values
                return None
        made.append(Files(str(path), "parquet") if parquet else EngineTable(f"duckdb:///{path}", "t"))
    return made[0], made[1]


@pytest.mark.thin(16)
@pytest.mark.parametrize("kind", DUCKDB)
def test_types_of_duckdb(kind: str, tmp_path: Path) -> None:
    pair = duckdb_pair(kind, tmp_path, parquet=False)
    assert pair is not None
    assert bool(compared(*pair)) is (kind not in UNREADABLE)


def hard(kinds: Iterable[str]) -> list[Any]:
    """The types that Parquet, or its reader, had trouble with; the rest is slow."""
    words = ("decimal", "timestamp", "double", "float64", "varchar", "string", "bigint")
    marks = {k: [] if k.lower().startswith(words) else [pytest.mark.slow] for k in kinds}
    return [pytest.param(k, marks=m) for k, m in marks.items()]


@pytest.mark.thin(8)
@pytest.mark.parametrize("kind", hard(DUCKDB))
def test_types_of_parquet(kind: str, tmp_path: Path) -> None:
    pair = duckdb_pair(kind, tmp_path, parquet=True)
    if pair is not None:
        compared(*pair)


# ---- Arrow's types, in a frame and in Parquet ------------------------------------------------------------------------

ARROW: dict[str, tuple[pa.DataType, Any, list[Any]]] = {
    **{f"int{b}": (pa.type_for_alias(f"int{b}"), 1, [-(2 ** (b - 1)), 2 ** (b - 1) - 1]) for b in (8, 16, 32, 64)},
    **{f"uint{b}": (pa.type_for_alias(f"uint{b}"), 1, [0, 2**b - 1]) for b in (8, 16, 32, 64)},
    "float16": (pa.float16(), 1.0, [0.5]),
    "float32": (pa.float32(), 1.0, [math.nan, math.inf, -math.inf, 1e-40, 3e38]),
    "float64": (pa.float64(), 1.0, [math.nan, math.inf, -math.inf, 5e-324, 1e308, 2.0**62, 2.0**63]),
    "decimal(38,0)": (pa.decimal128(38, 0), Decimal(1), [Decimal("9" * 38), Decimal("-" + "9" * 38)]),
    "decimal(38,18)": (pa.decimal128(38, 18), Decimal(1), [Decimal("-99999999999999999999.5")]),
    "decimal(38,37)": (pa.decimal128(38, 37), Decimal(1), [Decimal("-9.5")]),
    "decimal(38,38)": (pa.decimal128(38, 38), Decimal("0.25"), [Decimal("-0.5")]),
    **{
        f"decimal(38,{s}), beyond its digits": (
            pa.decimal128(38, s),
            Decimal("0.25" if s else 1),
            [-(2**127), 2**127 - 1],
        )
        for s in (0, 9, 38)
    },
    "decimal256": (pa.decimal256(60, 2), Decimal(1), [Decimal("9" * 58)]),
    "string": (pa.string(), "x", _WORDS),
    "large_string": (pa.large_string(), "x", _WORDS),
    "string_view": (pa.string_view(), "x", _WORDS),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), "x", ["", "1"]),
    "binary": (pa.binary(), b"x", [b"\xff"]),
    "date32": (pa.date32(), date(2020, 1, 1), [date(1, 1, 1), date(9999, 12, 31)]),
    "date64": (pa.date64(), date(2020, 1, 1), [date(1, 1, 1), date(9999, 12, 31)]),
    **{
        f"timestamp {unit}{zone or ''}": (pa.timestamp(unit, zone), datetime(2020, 1, 1), [0, most, -most])
        for unit, most in (("s", 2**62), ("ms", 2**62), ("us", 2**62), ("ns", 2**62))
        for zone in (None, "UTC")
    },
    "bool": (pa.bool_(), True, [False]),
    "null": (pa.null(), None, [None]),
    "time": (pa.time64("us"), datetime(2020, 1, 1).time(), [0]),
    "duration": (pa.duration("s"), 1, [2**62]),
    "list": (pa.list_(pa.int64()), [1], [[]]),
}


def patched(values: list[Any], kind: pa.DataType) -> pa.Array:
    """An array in which integers stand for the stored ones, also where Python has no such value."""
    return pa.concat_arrays([_one(v, kind) for v in values])


def _one(value: Any, kind: pa.DataType) -> pa.Array:
    if not isinstance(value, int) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pa.array([value], kind)
    if pa.types.is_decimal128(kind):  # also beyond the digits of the type
        return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(value.to_bytes(16, "little", signed=True))])
    return pa.array([value], pa.int64()).cast(kind, safe=False)


def arrow_pair(name: str) -> tuple[pa.Table, pa.Table]:
    kind, plain, extremes = ARROW[name]
    made = []
    for victim in ([], [*extremes, plain]):
        values = patched([plain, *victim, None, plain], kind)
        made.append(pa.table({"id": [1, *[3] * len(victim), 1, 2], **dict.fromkeys(DECLARED, values)}))
    return made[0], made[1]


@pytest.mark.thin(20)
@pytest.mark.parametrize("kind", ARROW)
def test_types_of_arrow(kind: str) -> None:
    compared(*map(Frame, arrow_pair(kind)))


@pytest.mark.thin(10)
@pytest.mark.parametrize("kind", hard(ARROW))
def test_types_of_arrow_in_parquet(kind: str, tmp_path: Path) -> None:
    made: list[Source] = []
    for i, table in enumerate(arrow_pair(kind)):
        try:
            pq.write_table(table, tmp_path / f"{i}.parquet", row_group_size=2)
        except pa.ArrowException:
            return
        made.append(Files(str(tmp_path / f"{i}.parquet"), "parquet"))
    compared(made[0], made[1])


# ---- pandas, as people make frames -----------------------------------------------------------------------------------

LIKELY: dict[str, list[Any]] = {
    "integers": [1, 2, 3],
    "truths": [True, False, True],
    "days": [date(2020, 1, 1)] * 3,
    "words": ["x", "1", "y"],
}
"""Columns whose type pandas changes where one value is missing."""

PANDAS: dict[str, tuple[list[Any], list[Any]]] = {
    "integers, one missing": ([1, 2, 3], [None]),
    "floats": ([1.0, 2.0, 3.5], [math.nan, math.inf, None]),
    "texts, one missing": (["x", "y", "z"], [None]),
    "truths, one missing": ([True, False, True], [None]),
    "dates, one missing": ([date(2020, 1, 1)] * 3, [None]),
}


@pytest.mark.parametrize("what", PANDAS)
def test_frames_of_pandas(what: str) -> None:
    """As objects: a column's type is then guessed, and what is missing must not change it for others."""
    import pandas as pd

    plain, extremes = PANDAS[what]
    pair = []
    for victim in ([], extremes):
        column = pd.Series([*plain[:1], *victim, *plain[1:]], dtype=object)
        pair.append(Frame(pd.DataFrame({"id": [1, *[3] * len(victim), 1, 2], **dict.fromkeys(DECLARED, column)})))
    compared(pair[0], pair[1])


@pytest.mark.parametrize("value", [2**63, 2**70, "a\udcff", object()], ids=["word", "wide", "surrogate", "object"])
def test_a_frame_that_arrow_cannot_hold_is_refused_when_it_is_opened(value: Any) -> None:
    """As SECURITY.md says: by an error of ours that does not quote the value."""
    import pandas as pd

    frame = pd.DataFrame({"id": [1, 3, 2], **dict.fromkeys(DECLARED, pd.Series([1, value, 3], dtype=object))})
    refusal = opened(Frame(frame))
    assert isinstance(refusal, str)
    assert refusal.startswith("DataFrame is not a frame that DuckDB can read.")


@pytest.mark.parametrize("what", LIKELY)
def test_frames_of_pandas_with_one_value_missing(what: str, tmp_path: Path) -> None:
    """As pandas makes them, in memory and as it writes them: integers become floats, truths become objects."""
    import pandas as pd

    plain = LIKELY[what]
    frames = []
    for victim in ([], [None]):
        column = pd.Series([*plain[:1], *victim, *plain[1:]])
        frames.append(pd.DataFrame({"id": [1, *[3] * len(victim), 1, 2], **dict.fromkeys(DECLARED, column)}))
    compared(*map(Frame, frames))
    for i, frame in enumerate(frames):
        frame.to_csv(tmp_path / f"{i}.csv", index=False)
    if what == "integers":  # pandas writes 1.0 for everybody then: these files are no neighbours
        return
    compared(*(Files(str(tmp_path / f"{i}.csv"), "csv") for i in range(2)))


# ---- PostgreSQL's types ----------------------------------------------------------------------------------------------

POSTGRES: dict[str, tuple[str, list[str]]] = {
    "smallint": ("1", ["-32768", "32767"]),
    "integer": ("1", [str(-(2**31)), str(2**31 - 1)]),
    "bigint": ("1", [str(-(2**63)), str(2**63 - 1)]),
    "numeric": ("1", ["NaN", "Infinity", "-Infinity", "1e1000", "-1e-1000", "9" * 200, "0.5"]),
    "numeric(38,18)": ("1", ["-99999999999999999999.5"]),
    "real": ("1", ["NaN", "Infinity", "-Infinity", "1e-40", "3e38"]),
    "double precision": ("1", ["NaN", "Infinity", "-Infinity", "5e-324", "1e308", "9223372036854775808"]),
    "text": ("x", _WORDS),
    "varchar(600)": ("x", _WORDS),
    "char(5)": ("x", ["", "1"]),
    "date": ("2020-01-01", ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31"]),
    "timestamp": ("2020-01-01", ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31"]),
    "timestamptz": ("2020-01-01", ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31"]),
    "boolean": ("true", ["false"]),
    "uuid": ("00000000-0000-0000-0000-000000000001", ["ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    "bytea": ("x", ["\\xff"]),
    "jsonb": ("1", ["{}"]),
    "interval": ("1 year", ["-178000000 years"]),
    "integer[]": ("{1}", ["{}"]),
    "money": ("1", ["-92233720368547758.08"]),
}


def test_types_of_postgres(postgres_url: str) -> None:
    import psycopg

    read = 0
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for i, (kind, (plain, extremes)) in enumerate(POSTGRES.items()):
            made: list[Source] = []
            for j, victim in enumerate(([], [*extremes, plain])):
                name = f"typed_{i}_{j}"
                columns = ", ".join(f'"{n}" {kind}' for n in DECLARED)
                connection.execute(f"CREATE TABLE {name} (id bigint, {columns})")
                for id, v in [(1, plain), *((3, v) for v in victim), (1, None), (2, plain)]:
                    marks = ", ".join([f"CAST(%s AS {kind})"] * len(DECLARED))
                    connection.execute(f"INSERT INTO {name} VALUES ({id}, {marks})", [v] * len(DECLARED))
                made.append(EngineTable(postgres_url, name))
            print(kind)
            read += bool(compared(made[0], made[1]))
    assert read >= 14
