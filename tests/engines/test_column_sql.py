"""How stored columns are read as declared: what does not fit is NULL, on every engine alike, and nothing fails."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from curador.engines.column_sql import at_least, at_most, check_column
from curador.engines.duckdb.dialects import DUCKDB
from curador.engines.duckdb.engine import DuckDB
from curador.errors import InvalidParameter
from curador.query.language import expressions as ex
from curador.query.language.types import column_type
from curador.query.tables.columns import FIRST_DAY, LAST_DAY, WIDEST, Column, Kind, days
from curador.query.tables.sources import EngineTable
from tests.engines.by_row import ROW, as_number, declared, numbered, values
from tests.real_engines import Opened, shown

NUMBERS = [
    "0", "-0", "+7", " 12 ", "007", "5.", ".5", "-2.5", "1e3", "1E-2", "1e400", "-1e400", "1e-400", "-1e-400", "5e-324",
    "4611686018427387904", "4611686018427387905", "-9223372036854775809", "9" * 38, "9" * 39, "0.1", "99.95",
    "1e", "e5", "", " ", "-", "+-1", "1 2", "0x10", "NaN", "nan", "Infinity", "inf", "١٢", "1_000", "1,5", "1\n", "\n1",
    "\t1", "1d", "1f", "0.30000000000000004", "1.7976931348623158e308", "1.7976931348623159e308", "zwölf",
    "2.4703282292062328e-324", "-2.4703282292062327e-324", "-2.4703282292062328e-324",
    "1" * 101, "0." + "3" * 100, "100.00000000000001", "-0.0", "1e-5", "50", "30.0", "-2.", "+07.00", " 9.0 ",
    "9.00001", ".0", "9" * 38 + ".0", "-" + "9" * 38 + "." + "0" * 100, "9" * 39 + ".0", "3." + "0" * 101, "3.0e0",
    "3..0", "3,0", "4611686018427387904.000",
]  # fmt: skip
DATES = [
    "1970-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "0000-01-01", "2000-02-29", "1900-02-29", "2023-02-29",
    "2024-02-29", "2024-02-30", "2024-04-31", "2024-13-01", "2024-00-10", "2024-1-1", "20240101", "2024-01-01 ",
    "today", "2024-01-01T00:00:00", "-2024-01-01", "12024-01-01", "", "infinity", "epoch", "2024-01-01\n", "٢٠٢٤-01-01",
]  # fmt: skip
TRUTHS = ["true", "TRUE", "t", "1", "yes", "false", "F", "0", "no", "tru", "2", "", " true", "null", "on"]

READ: dict[str, Column] = {
    "clipped": Column("integer", bounds=(-3, 100)),
    "free": Column("integer"),
    "real": Column("real", bounds=(-1, 100), step=0.1),
    "wide": Column("real"),
    "fine": Column("real", bounds=(-1, 1), step=Fraction(1, 2**52)),
}


def grid(x: Any, column: Column) -> int | None:
    """A number, already of its type, put on the grid and clipped: exact."""
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return None
    numerator, denominator = x.as_integer_ratio()
    n: int = numerator * 2**column.bits // denominator
    ends = column_type(column).grid_bounds
    if ends is None:
        return n if abs(n) <= WIDEST else None
    return min(max(n, ends[0]), ends[1])


def text_number(x: str, kind: Kind) -> int | float | None:
    if kind is Kind.INTEGER:
        return int(x.partition(".")[0]) if re.fullmatch(r" *[+-]?[0-9]{1,38}([.]0{0,100})? *", x) else None
    form = r" *[+-]?([0-9]{1,100}([.][0-9]{0,100})?|[.][0-9]{1,100})([eE][+-]?[0-9]{1,3})? *"
    return float(x) if re.fullmatch(form, x) else None


def whole(x: Any) -> int | None:
    return int(x) if x is not None and math.isfinite(x) and x == math.floor(x) else None


def copies(raw: list[Any], kind: pa.DataType) -> pa.Table:
    """The same column under every name that READ declares."""
    return numbered({name: pa.array(raw, kind) for name in READ})


def expected(raw: list[Any], read: Callable[[Any, Kind], Any]) -> list[list[int | None]]:
    return [[None if x is None else grid(read(x, c.kind), c) for x in raw] for c in READ.values()]


def test_texts_as_numbers(opened: Opened) -> None:
    raw = [*NUMBERS, None]
    engine = opened({"t": copies(raw, pa.string())})
    found = values(engine, declared(READ, len(raw)), list(map(ex.Name, READ)))
    assert found == expected(raw, text_number)


def test_floats_as_numbers(opened: Opened) -> None:
    """Whole floats are integers, others are not; NaN and infinities are nothing."""
    raw = [0.0, -0.0, 1.5, 3.0, -4.0, 1e15, 2.0**62, 2.0**62 + 1024, -(2.0**63), 1e300, -1e300, 5e-324, -5e-324]
    raw += [math.nan, math.inf, -math.inf, 0.1, 99.95, 100.5, -0.99999999999999989, 2.0**46, 2.0**46 + 2**-6, 0.5]
    engine = opened({"t": copies([*raw, None], pa.float64())})
    found = values(engine, declared(READ, len(raw) + 1), list(map(ex.Name, READ)))
    assert found == expected([*raw, None], lambda x, kind: x if kind is Kind.REAL else whole(x))


def test_decimals_as_numbers(opened: Opened) -> None:
    """Exact numbers go to the nearest double first, which Python's Decimal does too."""
    texts = ["0", "0.1", "-0.1", "99.95", "3.0000", "12345678901234567890123456.123456789012", "0.300000000001"]
    texts += ["-1", "9007199254740993", "9007199254740992.5", "4611686018427387904", "0.999999999999"]
    raw = [*map(Decimal, texts), None]
    engine = opened({"t": copies(raw, pa.decimal128(38, 12))})
    found = values(engine, declared(READ, len(raw)), list(map(ex.Name, READ)))
    assert found == expected(raw, lambda x, kind: float(x) if kind is Kind.REAL else whole(x))


def test_integers_as_reals(opened: Opened) -> None:
    raw = [0, 1, -1, 100, 101, 2**53 + 1, 2**63 - 1, -(2**63), 2**46, 2**46 + 1, None]
    engine = opened({"t": copies(raw, pa.int64())})
    found = values(engine, declared(READ, len(raw)), list(map(ex.Name, READ)))
    assert found == expected(raw, lambda x, kind: float(x) if kind is Kind.REAL else x)


def test_dates_and_truths(opened: Opened) -> None:
    size = max(len(DATES), len(TRUTHS)) + 1

    def padded(raw: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([*raw, *[None] * (size - len(raw))], kind)

    day = [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29)]
    time = [
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(1970, 1, 1),
        datetime(1582, 10, 10, 1),
        datetime(9999, 1, 1),
    ]
    table = numbered(
        {
            "text date": padded(DATES, pa.string()),
            "day": padded(day, pa.date32()),
            "time": padded(time, pa.timestamp("us")),
            "clipped day": padded(day, pa.date32()),
            "text truth": padded(TRUTHS, pa.string()),
            "number truth": padded([0, 1, 2, -1], pa.int64()),
            "float truth": padded([0.0, 1.0, 0.5, math.nan, -0.0], pa.float64()),
            "truth": padded([True, False], pa.bool_()),
        }
    )
    columns = {name: Column("boolean" if "truth" in name else "date") for name in table.column_names if name != ROW}
    columns["clipped day"] = Column("date", bounds=("1970-01-01", "1980-01-01"))
    expressions = [as_number(ex.Name(n)) if "truth" in n else ex.Name(n) for n in columns]
    found = dict(zip(columns, values(opened({"t": table}), declared(columns, size), expressions), strict=True))

    def parsed(x: str) -> int | None:
        try:
            return days(date.fromisoformat(x)) if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", x) else None
        except ValueError:
            return None

    def filled(some: list[Any]) -> list[Any]:
        return [*some, *[None] * (size - len(some))]

    assert found["text date"] == filled([parsed(x) for x in DATES])
    assert found["day"] == filled([days(x) for x in day])
    assert found["time"] == filled([days(x.date()) for x in time])
    assert found["clipped day"] == filled([min(max(days(x), 0), 3652) for x in day])
    assert found["text truth"] == filled([1, 1, 1, 1, 1, 0, 0, 0, 0, *[None] * 6])
    assert found["number truth"] == filled([0, 1])
    assert found["float truth"] == filled([0, 1, None, None, 0])
    assert found["truth"] == filled([1, 0])


# ---- types that only one engine has ------------------------------------------------------------------------------


def test_duckdb_types(tmp_path: Path) -> None:
    """Wide and unsigned integers, enums, UUIDs, infinite dates; and what cannot be read is refused by name."""
    file = tmp_path / "own.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TYPE size AS ENUM ('small', 'large')")
        connection.execute(
            f"""CREATE TABLE t AS SELECT * FROM (VALUES
            (0, {2**100}::HUGEINT, {2**64 - 1}::UBIGINT, 'small'::size,
             'infinity'::DATE, '-infinity'::TIMESTAMP, 1.5::FLOAT, [1]),
            (1, -5::HUGEINT, 5::UBIGINT, 'large'::size,
             '0044-03-15 (BC)'::DATE, '1969-12-31 12:00:00'::TIMESTAMP, 0.1::FLOAT, [2]))
            AS v("{ROW}", huge, big, word, day, time, small, list)"""
        )
    engine = DuckDB({"t": EngineTable(f"duckdb:///{file}", "t")}, on_error=shown)
    columns = {
        "huge": Column("integer", bounds=(-9, 9)),
        "big": Column("integer"),
        "day": Column("date"),
        "time": Column("date"),
        "small": Column("real", bounds=(0, 2), step=Fraction(1, 2**30)),
        "word": Column("text"),
    }
    table = declared(columns, 2)
    engine.check({"t": table})
    is_small = as_number(ex.Compare("=", ex.Name("word"), ex.Literal("small")))
    numbers = [ex.Name(n) for n in columns if n != "word"]
    found = values(engine, table, [*numbers, is_small])
    nearest = math.floor(float32("0.1") * 2**30)
    assert found == [[9, -5], [None, 5], [None, None], [None, -1], [3 * 2**29, nearest], [1, 0]]
    with pytest.raises(
        InvalidParameter, match=r"Column 'list' is stored as INTEGER\[\], which cannot be read as integer"
    ):
        engine.check({"t": declared({"list": "integer"}, 2)})
    with pytest.raises(InvalidParameter, match="The source has no column 'lost'"):
        engine.check({"t": declared({"lost": "integer"}, 2)})
    engine.close()


def float32(text: str) -> float:
    """The nearest float of 32 bits."""
    return float(np.float32(text))


def test_postgres_types(postgres_url: str) -> None:
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute("CREATE DOMAIN age AS integer CHECK (VALUE >= 0)")
        connection.execute(
            f"""CREATE TABLE own AS SELECT * FROM (VALUES
            (0::bigint, 'NaN'::numeric, 1.5::real, 'sad'::mood, 'infinity'::date, '-infinity'::timestamp, 7::age,
             'a'::char(5), true),
            (1, 'Infinity', 0.1, 'glad', '4000-01-01 BC', '1969-12-31 12:00:00', 8, 'b', false),
            (2, '-Infinity', 'NaN', NULL, NULL, 'infinity', 9, NULL, NULL),
            (3, 1e400, 'Infinity', 'sad', '1970-01-02', '294276-01-01', 1, '', NULL),
            (4, -1e-400, 1e-40, 'sad', '9999-12-31', '4713-01-01 BC', 2, 'a', NULL),
            (5, 12.000, -1e38, 'sad', '5874897-01-01', '1970-01-01', 3, 'a', NULL))
            AS v("{ROW}", n, small, word, day, time, age, fixed, truth)"""
        )
    engine = Postgres({"t": EngineTable(postgres_url, "own")}, on_error=shown)
    assert dict(engine.describe("t"))["word"] == "enum"
    columns = {
        "n": Column("real", bounds=(-3, 50)),
        "small": Column("real", bounds=(0, 2), step=Fraction(1, 2**30)),
        "day": Column("date"),
        "time": Column("date"),
        "age": Column("integer"),
        "word": Column("text"),
        "fixed": Column("text"),
    }
    table = declared(columns, 6)
    engine.check({"t": table})
    texts = [("word", "sad"), ("fixed", "a")]
    are = [as_number(ex.Compare("=", ex.Name(n), ex.Literal(v))) for n, v in texts]
    found = values(engine, table, [*map(ex.Name, list(columns)[:5]), *are])
    unit = 2 ** columns["n"].bits
    assert found == [
        [None, None, None, None, 0, 12 * unit],
        [3 * 2**29, math.floor(float32("0.1") * 2**30), None, None, 0, 0],
        [None, None, None, 1, LAST_DAY, None],
        [None, -1, None, None, None, 0],
        [7, 8, 9, 1, 2, 3],
        [1, 0, None, 1, 1, 1],
        [1, 0, None, 0, 1, 1],
    ]
    integers = declared({"n": Column("integer")}, 6)
    assert values(engine, integers, [ex.Name("n")]) == [[None, None, None, None, None, 12]]
    engine.close()


def test_bounds_as_doubles() -> None:
    for n in (0, 1, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**53) - 1):
        assert at_least(n) >= n > math.nextafter(at_least(n), -math.inf)
        assert at_most(n) <= n < math.nextafter(at_most(n), math.inf)


def test_every_declared_kind_can_be_read() -> None:
    for kind, stored in ((Kind.TEXT, "VARCHAR"), (Kind.BOOLEAN, "BOOLEAN"), (Kind.DATE, "DATE")):
        assert check_column("c", kind, DUCKDB, {"c": stored})
    assert FIRST_DAY < 0 < LAST_DAY
