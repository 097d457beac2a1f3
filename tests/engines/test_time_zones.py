"""A time is read as its day in UTC, whatever zone the machine, the server, the role or the caller's session is in."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.engines.sql_engine import SqlEngine
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.language.functions.moments import MomentPart
from curador.query.plan.checked import check
from curador.query.sql_plan.lower import lower
from curador.query.sql_plan.prepared import Prepared, preparation
from curador.query.tables.sources import EngineTable, Files, Frame, Source
from curador.query.tables.table import Table
from tests.real_engines import shown

ELSEWHERE = "America/New_York"
LATE = datetime(2021, 3, 28, 1, 30, tzinfo=UTC)
"""Still the day before in New York."""
DATA = pa.table({"id": [1], "t": pa.array([LATE], pa.timestamp("us", "UTC"))})
TABLE = Table(Frame(None), unit="id", columns={"id": "integer", "t": "date"}, contribution=(1, 1))
ROWS = Measure(MeasureKind.ROWS)


def days(engine: SqlEngine, prepared: Prepared | None = None) -> list[Any]:
    question = Question("t", (Output("n", count()),), group_by=(Group("t", ex.Name("t")),))
    exact = lower(check(question, {"t": TABLE}), [ROWS], Contribution(rows=1, groups=1), prepared)
    found = engine.run(exact)
    assert list(found.column(ROWS)) == [1]
    if prepared is None:
        assert hours(engine) == [LATE.hour]
    return [key[0] for key in found.keys]


def hours(engine: SqlEngine) -> list[int]:
    """The hour of the one row, where the column is declared as a timestamp."""
    table = Table(Frame(None), unit="id", columns={"id": "integer", "t": "timestamp"}, contribution=(1, 1))
    question = Question("t", (Output("n", count()),), group_by=(Group("h", MomentPart("hour", ex.Name("t"))),))
    found = engine.run(lower(check(question, {"t": table}), [ROWS], Contribution(rows=1, groups=1)))
    return [hour for hour, n in enumerate(found.column(ROWS)) if n]


def every_day(engine: SqlEngine, path: Path | None = None) -> list[Any]:
    """The day of the one row: read as it is, from a copy in memory or in the database, and from one in a file."""
    wanted = preparation("t", TABLE, [ex.Name("t")])
    found = [days(engine)]
    if path is not None:
        found.append(days(engine, engine.prepare(wanted, path)))
    found.append(days(engine, engine.prepare(wanted)))
    engine.close()
    return [day for one in found for day in one]


def in_new_york(folder: Path) -> None:
    """What the test below runs in a process of its own: the machine's zone is read once in a process."""
    assert duckdb.connect().execute("SELECT current_setting('TimeZone')").fetchone() == (ELSEWHERE,)
    pq.write_table(DATA, folder / "t.parquet")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("data", DATA)
        connection.execute("CREATE TABLE t AS SELECT * FROM data")
    sources: dict[str, Source] = {
        "frame": Frame(DATA),
        "pandas": Frame(DATA.to_pandas()),
        "parquet": Files(str(folder / "t.parquet"), "parquet"),
        "database": EngineTable(f"duckdb:///{folder / 't.duckdb'}", "t"),
    }
    for name, source in sources.items():
        engine = DuckDB({"t": source}, on_error=shown)
        assert every_day(engine, folder / f"{name}.prepared") == [LATE.date()] * 3, name


def test_duckdb_on_a_machine_in_another_zone(tmp_path: Path) -> None:
    code = f"from pathlib import Path; from {__name__} import in_new_york; in_new_york(Path({str(tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TZ": ELSEWHERE}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_postgres_asked_for_another_zone(postgres_url: str) -> None:
    """By the address, as by a role, a database or PGTZ; and nothing of a session survives, as behind a pooler."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE zoned AS SELECT 1 AS id, %s::timestamptz AS t", [LATE])
    source = EngineTable(f"{postgres_url}&options=-c%20TimeZone%3D{ELSEWHERE}", "zoned")
    engine = Postgres({"t": source}, on_error=shown)
    engine._connection.execute("RESET ALL")
    assert every_day(engine) == [LATE.date()] * 2


@pytest.mark.xdist_group("spark")
def test_spark_with_a_session_in_another_zone(spark_session: Any, tmp_path: Path) -> None:
    from curador.engines.spark import Spark

    session = spark_session.newSession()
    session.conf.set("spark.sql.session.timeZone", ELSEWHERE)
    frame = session.sql(f"SELECT 1L AS id, TIMESTAMP'{LATE:%Y-%m-%d %H:%M:%S}Z' AS t")
    assert frame.selectExpr("CAST(t AS DATE)").first()[0] == date(2021, 3, 27)
    assert every_day(Spark({"t": Frame(frame)}, on_error=shown), tmp_path / "prepared") == [LATE.date()] * 3
