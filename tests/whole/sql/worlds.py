"""Awkward tables as a curator declares them, and what plain SQL has to read instead: the same rows, cleaned.

``CLEANED`` says in SQL what reading makes of raw values: what does not fit is NULL, bounds clip, reals are rounded down
onto the grid of their step, moments onto seconds, and rows without an id are not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from curador.query.tables.sources import Frame
from curador.query.tables.table import Table

TOWNS = ["Lugo", "Vigo", "Lorca", "A Coruña"]
CODES = ["12", "-3", "x", "", " a ", "50%", "a_b", "ÑU"]
LIMITS = (50, 200)
"""No unit has as many groups, or as many rows in one, so that nothing is cut."""

VISITS = pa.schema(
    {
        "pid": pa.int64(),
        "age": pa.int64(),
        "pay": pa.float64(),
        "cost": pa.float64(),
        "level": pa.int64(),
        "day": pa.date32(),
        "seen": pa.timestamp("us"),
        "sex": pa.string(),
        "town": pa.string(),
        "code": pa.string(),
        "device": pa.string(),
        "ok": pa.bool_(),
    }
)
STAYS = pa.schema({"person": pa.int64(), "nights": pa.int64(), "place": pa.string(), "since": pa.date32()})
SALES = pa.schema({"item": pa.string(), "amount": pa.float64(), "units": pa.int64()})
PLACES = pa.schema({"town": pa.string(), "coast": pa.bool_(), "size": pa.int64()})

_VISITS: dict[str, object] = {
    "pid": "integer",
    "age": {"type": "integer", "bounds": [0, 120]},
    "pay": {"type": "real", "bounds": [-50, 50], "step": 0.25},
    "cost": {"type": "real", "bounds": [0, 1000], "step": 0.01},
    "level": {"type": "integer", "bounds": [0, 9], "nullable": False},
    "day": {"type": "date", "bounds": ["2023-01-01", "2024-12-31"]},
    "seen": {"type": "timestamp", "bounds": ["2024-02-28 00:00:00", "2024-03-02 23:59:59"]},
    "sex": {"type": "text", "keys": ["F", "M"]},
    "town": {"type": "text", "keys": TOWNS},
    "code": {"type": "text", "keys": CODES},
    "device": "text",
    "ok": "boolean",
}
_STAYS: dict[str, object] = {
    "person": "integer",
    "nights": {"type": "integer", "bounds": [0, 60]},
    "place": {"type": "text", "keys": TOWNS},
    "since": {"type": "date", "bounds": ["2023-01-01", "2024-12-31"]},
}
_SALES: dict[str, object] = {
    "item": {"type": "text", "keys": ["pen", "ink", "cap"]},
    "amount": {"type": "real", "bounds": [-8, 8], "step": 0.125},
    "units": {"type": "integer", "bounds": [-3, 3]},
}
_PLACES: dict[str, object] = {"town": "text", "coast": "boolean", "size": {"type": "integer", "bounds": [0, 500]}}

_CLEANED_VISITS = """SELECT pid,
    CASE WHEN age IS NOT NULL THEN LEAST(GREATEST(age, 0), 120) END AS age,
    CASE WHEN isfinite(pay) THEN floor(LEAST(GREATEST(pay, -50), 50) * 4) * 0.25::DOUBLE END AS pay,
    CASE WHEN isfinite(cost) THEN floor(LEAST(GREATEST(cost, 0), 1000) * 128) * 0.0078125::DOUBLE END AS cost,
    COALESCE(LEAST(GREATEST(level, 0), CASE WHEN level IS NOT NULL THEN 9 ELSE 0 END), 0) AS level,
    CASE WHEN day IS NOT NULL THEN LEAST(GREATEST(day, DATE '2023-01-01'), DATE '2024-12-31') END AS day,
    CASE WHEN seen IS NOT NULL THEN LEAST(GREATEST(date_trunc('second', seen), TIMESTAMP '2024-02-28 00:00:00'),
        TIMESTAMP '2024-03-02 23:59:59') END AS seen,
    sex, town, code, device, ok FROM raw_{name} WHERE pid IS NOT NULL"""
CLEANED = {
    "visits": _CLEANED_VISITS,
    "nobody": _CLEANED_VISITS,
    "single": _CLEANED_VISITS,
    "stays": """SELECT person, CASE WHEN nights IS NOT NULL THEN LEAST(GREATEST(nights, 0), 60) END AS nights, place,
    CASE WHEN since IS NOT NULL THEN LEAST(GREATEST(since, DATE '2023-01-01'), DATE '2024-12-31') END AS since
    FROM raw_{name} WHERE person IS NOT NULL""",
    "sales": """SELECT item,
    CASE WHEN isfinite(amount) THEN floor(LEAST(GREATEST(amount, -8), 8) * 8) * 0.125::DOUBLE END AS amount,
    CASE WHEN units IS NOT NULL THEN LEAST(GREATEST(units, -3), 3) END AS units FROM raw_{name}""",
    "places": "SELECT * FROM raw_{name}",
}


@dataclass(frozen=True)
class World:
    """Raw tables, their declarations, and a connection of plain DuckDB that sees them cleaned, under the same names."""

    raw: dict[str, pa.Table]
    declared: dict[str, Table]
    plain: duckdb.DuckDBPyConnection

    def public_rows(self, name: str, columns: Any) -> list[tuple[Any, ...]]:
        listed = ", ".join(f'"{c}"' for c in columns)
        return self.plain.execute(f"SELECT DISTINCT {listed} FROM {name}").fetchall()


def world(seed: int, size: int = 260, strange: bool = True) -> World:
    """The same tables for the same seed; without ``strange`` values, texts with public keys hold no others."""
    raw = _rows(Random(seed), size, strange)
    plain = duckdb.connect(config={"threads": "1"})
    plain.execute("SET error_on_division_by_zero = false")
    for name, table in raw.items():
        plain.register(f"arrow_{name}", table)
        plain.execute(f"CREATE TABLE raw_{name} AS SELECT * FROM arrow_{name}")
        plain.execute(f"CREATE TABLE {name} AS {CLEANED[name].format(name=name)}")
    return World(raw, _declared(raw), plain)


def _declared(raw: dict[str, pa.Table]) -> dict[str, Table]:
    def table(name: str, columns: dict[str, object], **more: Any) -> Table:
        return Table(Frame(raw[name]), columns=columns, **more)

    people = {"unit": "pid", "contribution": LIMITS}
    return {
        **{name: table(name, _VISITS, **people) for name in ("visits", "nobody", "single")},
        "stays": table("stays", _STAYS, unit="person", contribution=LIMITS),
        "sales": table("sales", _SALES),
        "places": table("places", _PLACES, public=True),
    }


INF, NAN = float("inf"), float("nan")
AGES = [0, 1, 7, 17, 18, 30, 45, 64, 65, 90, 119, 120]
PAYS = [0.0, 0.25, -0.25, 0.5, -0.5, 1.5, 2.5, 3.5, -1.5, -2.5, 17.75, -12.25, 49.75, 50.0, -50.0, -49.75]
COSTS = [0.0, 0.5, 1.0, 2.25, 9.75, 10.5, 99.5, 100.0, 250.25, 512.0, 999.5, 1000.0]
DAYS = [date(2023, 1, 1), date(2023, 1, 31), date(2023, 2, 28), date(2023, 6, 30), date(2023, 12, 31)]
DAYS += [
    date(2024, 1, 1),
    date(2024, 2, 29),
    date(2024, 3, 31),
    date(2024, 7, 4),
    date(2024, 12, 30),
    date(2024, 12, 31),
]
MOMENTS = [datetime(2024, 2, 28) + timedelta(minutes=97 * i, seconds=13 * i) for i in range(48)]
MOMENTS += [datetime(2024, 2, 29), datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 2, 23, 59, 59)]


def _rows(draw: Random, size: int, strange: bool) -> dict[str, pa.Table]:
    def some(values: list[Any], *odd: Any) -> Any:
        """One of the values, or now and then an odd one."""
        return draw.choice([*odd, None]) if draw.random() < 0.12 else draw.choice(values)

    def strangers(*texts: str) -> tuple[str, ...]:
        return texts if strange else ()

    ids = [*range(1, 36), 2**62, -(2**40), -7]

    def visit(pid: int | None, town: str) -> dict[str, Any]:
        return {
            "pid": pid,
            "age": some(AGES, -5, 121, 10**12, -(2**62)),
            "pay": some(PAYS, NAN, INF, -INF, 50.25, -1e300, 0.1, -0.1, 1e-12, -1e-12, -0.0),
            "cost": some(COSTS, NAN, INF, -3.5, 1e18, 0.1, 99.995, 1000.005),
            "level": some([0, 1, 2, 5, 9], -1, 77),
            "day": some(DAYS, date(1999, 1, 1), date(2030, 5, 5)),
            "seen": some(MOMENTS, datetime(2024, 2, 29, 12, 0, 0, 999_999), datetime(2020, 1, 1), datetime(2024, 5, 5)),
            "sex": some(["F", "M"], *strangers("X", "f")),
            "town": town,
            "code": some(CODES),
            "device": some(["phone", "tv", "it's"], "", "p%"),
            "ok": some([True, False]),
        }

    # Every town, and every pair of a town and a sex, is there for more than one unit.
    visits = [visit(draw.choice([*ids, *ids, None]), TOWNS[i % len(TOWNS)]) for i in range(size)]
    stays = [
        {"person": draw.choice([*ids[10:], 99, None]), "nights": some([0, 1, 3, 8, 60], -1, 61),
         "place": some(TOWNS, *strangers("elsewhere")), "since": some(DAYS)} for _ in range(size // 3)
    ]  # fmt: skip
    sales = [
        {"item": some(["pen", "ink", "cap"], *strangers("other")), "units": some([-3, -1, 0, 2, 3], 10),
         "amount": some([0.0, 1.125, -7.5, 8.0, -8.0], NAN, 9.0, 0.1)} for _ in range(size // 3)
    ]  # fmt: skip
    places = [{"town": t, "coast": t in TOWNS[1:2] or t == TOWNS[3], "size": 100 * i} for i, t in enumerate(TOWNS)]
    single = visit(1, "Vigo")
    held: dict[str, tuple[list[dict[str, Any]], pa.Schema]] = {
        "visits": (visits, VISITS), "nobody": ([], VISITS), "single": ([single], VISITS),
        "stays": (stays, STAYS), "sales": (sales, SALES), "places": (places, PLACES),
    }  # fmt: skip
    return {name: pa.Table.from_pylist(rows, schema) for name, (rows, schema) in held.items()}
