"""Functions of numbers, dates and texts: on awkward rows every engine gives the bits that plain Python gives."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from curador.query.ask.sql.read import parse_expression
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.resolve import resolved
from curador.query.language.types import Scope, column_type
from curador.query.tables.columns import Column, Kind
from tests.engines.by_row import as_number, declared, numbered, values
from tests.engines.test_expressions import ARROW, fit
from tests.query.reference import evaluate
from tests.real_engines import Opened

COLUMNS = {
    "i": Column("integer", bounds=(-2005, 2005)),
    "wide": Column("integer"),
    "big": Column("integer", bounds=(0, 2**62)),
    "x": Column("real", bounds=(-40, 40), step=2.0**-6),
    "y": Column("real", bounds=(0, 500), step=0.01),
    "loose": Column("real"),
    "b": Column("boolean"),
    "d": Column("date"),
    "near": Column("date", bounds=("2023-11-15", "2025-03-05")),
    "at": Column("timestamp"),
    "soon": Column("timestamp", bounds=("2024-02-28 22:30:00", "2024-03-02 01:00:00")),
    "month": Column("integer", bounds=(-1, 14)),
    "town": Column("text", keys=["Lugo", "Vigo", "A Coruña", "", " a ", "50%", "a_b", "ÑANDÚ", "🦉x"]),
    "code": Column("text", keys=["12", " -3", "1.5", "2024-02-29", "true", "x", "0", "99999999999999999999"]),
    "free": Column("text"),
    "sure": Column("integer", bounds=(0, 9), nullable=False),
}
SCOPE: Scope = {ex.Name(n): column_type(c) for n, c in COLUMNS.items()}

TEXTS = ["Lugo", "lugo", "Vigo", "", " a ", "50%", "a_b", "ÑANDÚ", "ñandú", "🦉x", "x🦉", "Lu", "go", "LugoLugo",
         "%", "\\", "a\nb", "it's", "n\u0303", "ñ", "e" * 3000, "12", " -3", "1.5", "2024-02-29", "true", "x",
         "0", "A Coruña"]  # fmt: skip
YEARS = (1, 4, 100, 400, 1582, 1899, 1900, 1970, 1999, 2000, 2004, 2020, 2024, 2026, 2100, 9996, 9999)
DAYS = [
    date(y, m, d) for y in YEARS for m, d in ((1, 1), (1, 31), (2, 28), (3, 1), (3, 31), (6, 30), (12, 28), (12, 31))
]
DAYS += [date(y, 2, 29) for y in (4, 400, 2000, 2024, 9996)] + [date(2024, 12, 25) + timedelta(n) for n in range(14)]
MOMENTS = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), datetime(1970, 1, 1), datetime(2024, 2, 29, 12)]
MOMENTS += [datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1, 0, 0, 0, 1), datetime(1582, 10, 10, 5)]
MOMENTS += [datetime(2024, 2, 28, 22) + timedelta(minutes=37 * n, seconds=n) for n in range(90)]
AWKWARD: dict[str, list[Any]] = {
    "i": [-2005, -1500, -150, -15, -5, -1, 0, 1, 4, 5, 6, 14, 15, 150, 2004, 2005, 10**9],
    "big": [k * k + d for k in (2**31 - 1, 2**30, 94906267, 3037000, 2**26 + 1) for d in (-1, 0, 1)]
    + [0, 1, 2, 3, 2**62],
    "wide": [2**62, -(2**62), 2**62 + 1, 0, 7],
    "x": [n / 64 for n in (-2560, -96, -97, -95, -64, -32, -33, -31, -1, 0, 1, 31, 32, 33, 96, 160, 2560)]
    + [float("nan")],
    "y": [0.0, 0.005, 0.015, 0.125, 0.1, 1.005, 2.675, 99.995, 250.5, 499.99, 500.0, 1e300],
    "loose": [2.0**46, -(2.0**46), 0.5, -0.5, 1.5, 2.5, -2.5, 1e-9, 1e300, float("inf")],
    "b": [True, False],
    "d": DAYS,
    "near": DAYS,
    "at": MOMENTS,
    "soon": MOMENTS,
    "month": list(range(-2, 16)),
    "town": TEXTS,
    "code": TEXTS,
    "free": TEXTS,
    "sure": [0, 5, 9, -3],
}

NUMBERS = """
ROUND(x)  FLOOR(x)  CEIL(x)  TRUNC(x)  ROUND(x, 1)  FLOOR(x, 1)  CEIL(x, 2)  TRUNC(x, 3)  ROUND(x, -1)  ROUND(y, 2)
ROUND(y, 1)  FLOOR(y / 100)  ROUND(i, -1)  FLOOR(i, -2)  CEIL(i, -1)  TRUNC(i, -3)  ROUND(i, 2)  ROUND(y, -2)
ROUND(GREATEST(LEAST(loose, 100), -100))
CASE WHEN ABS(ROUND(loose)) < 1000 THEN LEAST(GREATEST(FLOOR(loose), -9), 9) END
SIGN(x)  SIGN(i)  SIGN(loose)  MOD(i, 7)  WIDTH_BUCKET(i, -2000, 2000, 8)  WIDTH_BUCKET(y, 0, 500, 7)
CAST(i AS DOUBLE) / 60  x::INT  CAST(b AS INT)  b::DOUBLE  CAST(y AS BIGINT)  TRY_CAST(i AS DOUBLE)  ROUND(i / 7, 3)
SQRT(y)  SQRT(x)  SQRT(i)  SQRT(sure)  SQRT(near - DATE '2024-01-01')  LN(sure + 1)  LOG2(sure)  LOG10(i % 100)
EXP(sure)  EXP(-sure)  LN(ROUND(x) + 3)  POWER(x, 2)  i ** 3  POWER(y, 0.5)  SQRT(big)  SQRT(LEAST(big, 1000) * i)
ROUND(-x)  CEIL(y)  ROUND(i * 1.5)  CAST(code AS INT)  CAST(code AS DOUBLE)  CAST(code AS DATE)
""".replace("\n", "  ").split("  ")
DATES = """
DAYOFWEEK(d)  DAYOFYEAR(d)  WEEK(d)  ISOYEAR(d)  ISODOW(d)  MONTH_NUMBER(d)  QUARTER_NUMBER(d)  WEEK_NUMBER(d)
DATE_TRUNC('year', d)  DATE_TRUNC('quarter', d)  DATE_TRUNC('month', d)  DATE_TRUNC('week', d)  DATE_TRUNC('day', d)
LAST_DAY(d)  d + INTERVAL 1 MONTH  d - INTERVAL 1 MONTH  d + INTERVAL 13 MONTH  d - INTERVAL 1 YEAR
d + INTERVAL 4 YEAR
d - INTERVAL 9999 YEAR  d + INTERVAL 9999 YEAR  near + INTERVAL 1 QUARTER  DATEDIFF('day', DATE '2025-01-01', d)
DATEDIFF('week', DATE '2025-01-01', d)  DATEDIFF('month', near, d)  DATE_DIFF('quarter', near, d)
DATEDIFF('year', d, near)
MAKE_DATE(ABS(i), month, i % 35)  MAKE_DATE(2024, month, 31)  MAKE_DATE(wide, month, month)
DATEDIFF('day', near, LAST_DAY(near))  DAYOFYEAR(DATE_TRUNC('quarter', near) + INTERVAL 2 MONTH)
""".replace("\n", "  ").split("  ")
CLOCKS = """
HOUR(at)  MINUTE(at)  SECOND(at)  HOUR_NUMBER(at)  MINUTE_NUMBER(at)  EXTRACT(HOUR FROM at)  DATE_PART('minute', at)
CAST(at AS DATE)  DATE(soon)  CAST(d AS TIMESTAMP)  DATE_TRUNC('hour', at)  DATE_TRUNC('minute', at)
DATE_TRUNC('day', at)  DATE_TRUNC('month', at)  MONTH(at)  WEEK(at)  soon + INTERVAL 90 MINUTE  at - INTERVAL 1 DAY
DATEDIFF('hour', soon, at)  DATEDIFF('second', TIMESTAMP '2024-02-29 12:00:00', soon)  DATEDIFF('day', soon, at)
DATEDIFF('month', near, soon)  DATE(soon) + INTERVAL 1 MONTH  LAST_DAY(soon)  DATEDIFF('minute', '2024-01-01', soon)
CASE WHEN at >= '2024-02-29' THEN 1 WHEN at < DATE '2024-02-29' THEN 0 END
CASE WHEN soon BETWEEN '2024-02-29 06:00' AND '2024-02-29T18:00:00Z' THEN HOUR(soon) END
CASE WHEN STRFTIME(soon, '%Y-%m-%d %H:00') = '2024-02-29 00:00' THEN 1 WHEN STRFTIME(at, '%H') = '12' THEN 2 END
""".replace("\n", "  ").split("  ")
TRUTHS = """
town LIKE 'L%'  town LIKE '%o'  town LIKE '%g%'  town ILIKE '%Ñ%'  town NOT LIKE '_ugo'  town LIKE '50$%' ESCAPE '$'
town LIKE 'a_b'  town LIKE ''  town > 'L'  town <= 'Vigo'  'M' >= town  free LIKE 'Lu%'  free LIKE '%go'
free LIKE '%ñ%'  free LIKE 'Lugo'  free LIKE '%'  free LIKE ''  STARTS_WITH(free, '🦉')  ENDS_WITH(free, '🦉')
CONTAINS(free, 'it''s')
CONTAINS(free, '%')  free LIKE '%$%' ESCAPE '$'  CONTAINS(free, '\\')  NOT STARTS_WITH(free, 'a')  SUFFIX(town, 'x')
UPPER(town) = 'LUGO'  LOWER(town) = 'ñandú'  SUBSTRING(town, 2, 2) = 'ug'  LEFT(town, 1) IN ('A', 'V', ' ')
RIGHT(town, 2) = 'go'  TRIM(town) = 'a'  REPLACE(town, 'o', '0') = 'Lug0'  REVERSE(town) = 'oguL'  LENGTH(town) = 4
STRPOS(town, 'g') > 2  town || '!' = 'Lugo!'  town || '/' || code = 'Vigo/x'  UPPER(LEFT(town, 2)) = 'LU'
COALESCE(town, 'none') = 'none'  town IS NOT DISTINCT FROM 'Lugo'  i IS DISTINCT FROM sure  b IS TRUE  b IS NOT FALSE
CAST(sure AS VARCHAR) = '5'  CAST(b AS VARCHAR) = 'true'  CAST(i AS BOOLEAN)  CAST(code AS BOOLEAN)
STRFTIME(near, '%Y-%m') = '2024-02'  STRFTIME(d, '%A') = 'Sunday'  STRFTIME(near, '%G-W%V') = '2025-W01'
STRFTIME(d, '%b') = 'Feb'  STRFTIME(near, '%Y-%m-%d') = '2024-02-29'  STRFTIME(d, '%j') = '366'
STRFTIME(d, '%d.') = '31.'
""".replace("\n", "  ").split("  ")


def rows() -> list[dict[str, Any]]:
    """Every date and every awkward value at least once, NULL among them."""
    rng = random.Random(13)
    size = len(DAYS) + 1
    columns = {n: ([*AWKWARD[n], None] * size)[:size] for n in COLUMNS}
    for name in ("near", "at", "month", "town", "free", "i", "code"):
        rng.shuffle(columns[name])
    return [{n: columns[n][k] for n in COLUMNS} for k in range(size)]


def expressions(texts: list[str], truth: bool) -> list[ex.Expr]:
    found = [resolved(parse_expression(text), SCOPE) for text in texts if text]
    return [as_number(e) for e in found] if truth else found


@pytest.mark.parametrize("some", ["numbers", "dates", "clocks", "truths"])
def test_functions(opened: Opened, some: str) -> None:
    listed = {"numbers": NUMBERS, "dates": DATES, "clocks": CLOCKS, "truths": TRUTHS}[some]
    data = rows()
    columns = {n: pa.array([r[n] for r in data], ARROW[c.kind]) for n, c in COLUMNS.items()}
    engine, table = opened({"t": numbered(columns)}), declared(COLUMNS, len(data))
    wanted = expressions(listed, some == "truths")
    raw = [{ex.Name(n): v for n, v in r.items()} for r in data]
    for e, found in zip(wanted, values(engine, table, wanted), strict=True):
        expected = [evaluate(e, row, SCOPE) for row in raw]
        assert found == expected, str(e)
        assert fit(found, typecheck(e, SCOPE)), str(e)
        assert len(set(found)) > 1, f"{e} tells nothing apart"
        t = typecheck(e, SCOPE)
        if t.keys is not None and t.kind is Kind.DATE:
            assert {date(1970, 1, 1) + timedelta(x) for x in found if x is not None} <= set(t.keys), str(e)


WRITTEN = {
    "2024-02-29": datetime(2024, 2, 29),
    "2024-02-29 12:30": datetime(2024, 2, 29, 12, 30),
    "2024-02-29T12:30:59Z": datetime(2024, 2, 29, 12, 30, 59),
    "2024-02-29 12:30:59.999999999": datetime(2024, 2, 29, 12, 30, 59),
    "0001-01-01 00:00:00": datetime(1, 1, 1),
    "9999-12-31 23:59:59": datetime(9999, 12, 31, 23, 59, 59),
    **dict.fromkeys(["2023-02-29 10:00", "2024-02-29 24:00", "2024-02-29 1:00", "2024-02-29 10:60", "2024-02-29 10",
                     " 2024-02-29", "2024-02-29 10:00+01:00", "x", "", "2024-02-29 10:00:00 ", "0000-01-01", "🦉"]),
}  # fmt: skip
"""Texts, and the timestamps as which they are read."""


def test_texts_as_timestamps(opened: Opened) -> None:
    columns = {"at": pa.array([*WRITTEN, None], pa.string())}
    table = declared({"at": Column("timestamp")}, len(WRITTEN) + 1)
    found = values(opened({"t": numbered(columns)}), table, [parse_expression("SECOND_NUMBER(at)")])[0]
    start = datetime(1970, 1, 1)
    assert found == [None if at is None else (at - start) // timedelta(seconds=1) for at in [*WRITTEN.values(), None]]
