"""What an outside attacker found in reading: one row's value decides nothing about the rows of others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.engines.engine import failed
from curador.engines.sql_engine import SqlEngine
from curador.errors import EngineFailed, InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Join, KeyList, Output, Question
from curador.query.ask.sql.expressions import parse_expression
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.lower import lower
from curador.query.sql_plan.prepared import preparation
from curador.query.tables.sources import EngineTable, Files, Frame, Source
from curador.query.tables.table import Column, Table
from tests.engines.by_row import ROW, as_number, declared, numbered, values
from tests.real_engines import Opened, shown

ROWS = Measure(MeasureKind.ROWS)
N = (Output("n", count()),)


def counted(engine: SqlEngine, question: Question, tables: dict[str, Table], *measures: Measure) -> list[list[int]]:
    """The exact numbers of a question: of rows, unless others are given."""
    wanted = list(measures or (ROWS,))
    limit = Contribution(1, 1) if tables[question.table].unit.id is None else Contribution(rows=3)
    answer = engine.run(lower(check(question, tables), wanted, limit))
    return [list(answer.column(m)) for m in wanted]


# ---- Parquet: nothing is filtered inside a scan ------------------------------------------------------------------------

LATIN = [b"Muelas"] * 3 + [b"Mu\xf1oz"] * 500 + [b"Navas"] * 3


def unchecked(texts: list[bytes]) -> pa.Array:
    """Bytes as Arrow holds them without looking."""
    raw = pa.array(texts, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())


def names(path: Path, texts: list[bytes], **options: Any) -> Files:
    pq.write_table(pa.table({"s": unchecked(texts), "i": pa.array(range(len(texts)))}), path, **options)
    return Files(str(path), "parquet")


S = ex.Name("s")
MUNOZ = ex.Literal("Mu?oz")
PUBLIC = Table(Frame(None), columns={"name": "text", "size": {"type": "integer", "bounds": [0, 9]}}, public=True)
FILTERED: dict[str, Question] = {
    "equal": Question("t", N, where=ex.Compare("=", S, MUNOZ)),
    "in": Question("t", N, where=ex.In(S, (MUNOZ, ex.Literal("Nadie")))),
    "both": Question("t", N, where=ex.all_of(ex.Compare("=", S, MUNOZ), parse_expression("i >= 0"))),
    "keys": Question("t", N, group_by=(Group("s", S),), keys=(KeyList(("s",), (("Mu?oz",), ("Nadie",))),)),
    "one key": Question("t", N, group_by=(Group("s", S),), keys=(KeyList(("s",), (("Mu?oz",),)),)),
    "public table": Question("t", N, joins=(Join("public", "p", ((S, "name"),)),)),
    "chosen": Question("t", N, where=ex.Compare("=", ex.Coalesce((S, ex.Literal("x"))), MUNOZ)),
}


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"row_group_size": 300}], ids=str)
def test_the_rows_that_a_parquet_filter_sees_do_not_depend_on_a_row_elsewhere(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """502 people called Muñoz, in Latin-1, were seen only if somebody called Abad was in the file."""
    table = Table(Frame(None), columns={"s": "text", "i": {"type": "integer", "bounds": [0, 10**6]}})
    public = Frame(pa.table({"name": ["Mu?oz", "Navas"], "size": [1, 2]}))
    seen: dict[str, list[list[list[int]]]] = {name: [] for name in FILTERED}
    for texts in (LATIN, [b"Abad", *LATIN], [*LATIN, b"Zuloaga"]):
        source = names(tmp_path / "t.parquet", texts, **options)
        engine = DuckDB({"t": source, "p": public}, on_error=shown)
        for name, question in FILTERED.items():
            seen[name].append(counted(engine, question, {"t": table, "p": PUBLIC}))
        engine.close()
    expected = {"keys": [500, 0], "public table": [503]}
    assert seen == {name: [[expected.get(name, [500])]] * 3 for name in FILTERED}


def test_ids_and_files_of_a_glob_are_seen_alike(tmp_path: Path) -> None:
    ids = Table(Frame(None), unit="i", columns={"s": "text", "i": "integer"}, contribution=(1, 3))
    for first in ([], [b"Abad"]):
        names(tmp_path / "a.parquet", [*first, *LATIN])
        names(tmp_path / "b.parquet", LATIN)
        engine = DuckDB({"t": Files(str(tmp_path / "*.parquet"), "parquet")}, on_error=shown)
        assert counted(engine, FILTERED["equal"], {"t": ids}) == [[1000]]
        assert counted(engine, FILTERED["keys"], {"t": ids}) == [[1000, 0]]
        engine.close()


@pytest.mark.parametrize("where", ["x = 1", "x IS NULL", "x >= 3", "NOT x < 2", "d = DATE '2020-01-02'", "m = 2"])
def test_numbers_and_dates_of_parquet_and_database_files_are_filtered_as_they_are_read(
    where: str, tmp_path: Path
) -> None:
    """Clipped, NaN, or out of their type: what passes a filter of others' rows does not move with one row."""
    columns = {
        "x": Column("real", bounds=(1, 3), step=1),
        "d": Column("date", bounds=("2020-01-01", "2020-01-02")),
        "m": Column("integer", bounds=(0, 2)),
    }
    table = Table(Frame(None), columns=columns)

    def rows(x: list[float], d: list[int], m: list[int]) -> pa.Table:
        small = pa.array([Decimal(n) for n in m], pa.decimal128(9, 2))
        return pa.table({"x": pa.array(x), "d": pa.array(d, pa.int32()).cast(pa.date32()), "m": small})

    base = rows([0.5, float("nan"), 7.0] * 20, [0, 20_000, 30_000] * 20, [-5, 1, 9] * 20)
    far = [rows([-1e300], [-(10**5)], [-(10**6)]), rows([float("inf")], [10**6], [10**6])]
    seen = []
    for i, victim in enumerate([*(base.slice(i, min(i, 1)) for i in range(4)), *far]):
        data, file = pa.concat_tables([victim, base]), tmp_path / f"{i}.duckdb"
        pq.write_table(data, tmp_path / "t.parquet")
        with duckdb.connect(str(file)) as connection:
            connection.register("data", data)
            connection.execute("CREATE TABLE t AS SELECT * FROM data")
        found = []
        parquet = Files(str(tmp_path / "t.parquet"), "parquet")
        for source in (parquet, EngineTable(f"duckdb:///{file}", "t"), Frame(data)):
            engine = DuckDB({"t": source}, on_error=shown)
            found += counted(engine, Question("t", N, where=parse_expression(where)), {"t": table})[0]
            engine.close()
        assert len(set(found)) == 1
        seen.append(found[0])
    assert max(seen) - min(seen) <= 1
    assert min(seen) >= 20


@pytest.mark.xdist_group("spark")
def test_texts_of_spark_that_are_no_utf_8_are_null(spark_session: Any, tmp_path: Path) -> None:
    """Handed out, two such keys were one, and one group's count stood for the other's."""
    from curador.engines.spark import Spark

    names(tmp_path / "t.parquet", [*LATIN, b"Mu\xfeoz", b"Mu\xfeoz"])
    engine = Spark({"t": Frame(spark_session.read.parquet(str(tmp_path / "t.parquet")))}, on_error=shown)
    table = Table(Frame(None), columns={"s": "text", "i": "integer"})
    question = Question("t", N, group_by=(Group("s", S),))
    answer = engine.run(lower(check(question, {"t": table}), [ROWS], Contribution()))
    assert dict(zip(answer.keys, answer.column(ROWS), strict=True)) == {(None,): 502, ("Muelas",): 3, ("Navas",): 3}
    engine.close()


# ---- DuckDB: exact numbers at the ends of their type -------------------------------------------------------------------


def decimals(numbers: list[int], width: int, scale: int) -> pa.Array:
    """Decimals of any 128 bits, as Arrow and Parquet hold them without looking."""
    raw = b"".join(n.to_bytes(16, "little", signed=True) for n in numbers)
    return pa.Array.from_buffers(pa.decimal128(width, scale), len(numbers), [None, pa.py_buffer(raw)])


ENDS = {"whole": Column("integer"), "real": Column("real", bounds=(-100, 100)), "truth": Column("boolean")}
TYPES = [(38, 0), (38, 2), (38, 9), (38, 18), (38, 37), (38, 38), (20, 2), (9, 4)]


@pytest.mark.parametrize(("width", "scale"), TYPES)
def test_decimals_at_the_ends_of_their_type(width: int, scale: int, tmp_path: Path) -> None:
    """-2**127 ended DuckDB, and every later question failed, and paid; a legal number near the least failed its own."""
    most, one = 10**width - 1, 10**scale
    half = -most + 5 * 10 ** (scale - 1) if scale else -most
    raw = [0, one if one <= most else 0, -most, most, half, -most + most % one]
    raw += [-(2**127), 2**127 - 1, most + 1] if width > 18 else []
    array = decimals(raw, width, scale)
    if width <= 18:
        array = pa.array([Decimal(n).scaleb(-scale) for n in raw], pa.decimal128(width, scale))
    table, columns = declared(ENDS, len(raw)), numbered(dict.fromkeys(ENDS, array))
    pq.write_table(columns, tmp_path / "t.parquet")
    expressions = [ex.Name("whole"), ex.Name("real"), as_number(ex.Name("truth"))]
    legal = [n if abs(n) <= most else None for n in raw]
    unit = 2 ** ENDS["real"].bits
    whole = [None if n is None or n % one or abs(n // one) > 2**62 else n // one for n in legal]
    parquet = [Files(str(tmp_path / "t.parquet"), "parquet")] if width != 20 else []  # holds the last nine bytes alone
    for source in (Frame(columns), *parquet):
        engine = DuckDB({"t": source}, on_error=shown)
        integers, reals, truths = values(engine, table, expressions)
        assert integers == whole
        assert truths == [n if n in (0, 1) else None for n in whole]
        for n, found in zip(legal, reals, strict=True):
            exact = None if n is None else min(max(Decimal(n).scaleb(-scale), Decimal(-100)), Decimal(100))
            assert (found is None) == (exact is None)
            assert exact is None or abs(Decimal(found or 0) / unit - exact) <= Decimal(2) / unit
        engine.close()


def test_an_instance_that_died_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The question that ended it fails with the constant error, and only that one; copies in memory are made again."""
    columns = {"id": "integer", "g": {"type": "text", "keys": ["a", "b"]}}
    table = Table(Frame(None), unit="id", columns=columns, contribution=(1, 3))
    data = pa.table({"id": [1, 2, 3], "g": ["a", "b", "a"], "x": decimals([-(2**127)] * 3, 38, 2)})
    engine = DuckDB({"t": Frame(data)}, on_error=shown)
    question = Question("t", N, group_by=(Group("g", ex.Name("g")),))
    made = engine.prepare(preparation("t", table, [ex.Name("g")]))
    checked = check(question, {"t": table})
    exact, copied = (lower(checked, [ROWS], Contribution(rows=3), p) for p in (None, made))
    write = DuckDB._run_texts
    with monkeypatch.context() as patched:
        patched.setattr(DuckDB, "_run_texts", lambda *_: ("SELECT 0, COUNT(CAST(x AS VARCHAR)) FROM t",))
        with pytest.raises(EngineFailed) as refused:
            engine.run(exact)
    assert str(refused.value) == str(failed())
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)
    assert DuckDB._run_texts is write
    for again in (exact, copied):
        assert engine.run(again).column(ROWS) == [2, 1]
    engine.close()


# ---- PostgreSQL --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "WIN1252"])
@pytest.mark.parametrize("by", ["address", "environment", "role"])
def test_postgres_texts_are_utf_8_whatever_the_client_is_set_to(
    postgres_url: str, encoding: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One key that Latin-1 cannot hold made every question of the column fail."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS encoded")
        connection.execute("CREATE TABLE encoded AS SELECT * FROM (VALUES ('漢'), ('Ñ'), ('Ñ')) AS v(s)")
        if by == "role":
            connection.execute(f"ALTER ROLE postgres SET client_encoding = '{encoding}'".encode())
    try:
        url = f"{postgres_url}&client_encoding={encoding}" if by == "address" else postgres_url
        if by == "environment":
            monkeypatch.setenv("PGCLIENTENCODING", encoding)
        engine = Postgres({"t": EngineTable(url, "encoded")}, on_error=shown)
        table = Table(Frame(None), columns={"s": "text"})
        question = Question("t", N, group_by=(Group("s", S),))
        answer = engine.run(lower(check(question, {"t": table}), [ROWS], Contribution()))
        assert dict(zip(answer.keys, answer.column(ROWS), strict=True)) == {("Ñ",): 2, ("漢",): 1}
        assert counted(engine, Question("t", N, where=ex.Compare("=", S, ex.Literal("Ñ"))), {"t": table}) == [[2]]
        engine.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("ALTER ROLE postgres RESET client_encoding")


LONG = {"i": Column("integer"), "r": Column("real"), "d": Column("date"), "b": Column("boolean")}


def test_texts_longer_than_any_number_are_none(opened: Opened) -> None:
    """The length is tested before the pattern, so that no text is too long for a pattern."""
    raw = ["7", " " * 399 + "7", " " * 400 + "7", "7" + "0" * 5000]
    engine = opened({"t": numbered({name: pa.array(raw) for name in LONG})})
    expressions = [as_number(ex.Name(n)) if n == "b" else ex.Name(n) for n in LONG]
    found = values(engine, declared(LONG, len(raw)), expressions)
    assert found == [[7, 7, None, None], [7 << 16, 7 << 16, None, None], [None] * 4, [None] * 4]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["integer", "real", "date", "boolean"])
def test_postgres_reads_a_text_too_long_for_a_pattern(kind: str, postgres_url: str) -> None:
    """A pattern needs four bytes a character: a text of 268 MB in a column of numbers failed every question of it."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'CREATE TABLE long AS SELECT 0::bigint AS "{ROW}", REPEAT(\'1\', 1 << 28) AS x'.encode())
    try:
        engine = Postgres({"t": EngineTable(postgres_url, "long")}, on_error=shown)
        expression = as_number(ex.Name("x")) if kind == "boolean" else ex.Name("x")
        assert values(engine, declared({"x": Column(kind)}, 1), [expression]) == [[None]]
        engine.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP TABLE long")
