"""What an outside attacker found in reading: one row's value decides nothing about the rows of others."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.engines.column_sql import check_column
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
from curador.query.sql_plan.exact import ReadAs
from curador.query.sql_plan.lower import lower
from curador.query.sql_plan.prepared import Preparation, preparation
from curador.query.tables.columns import Kind
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


# ---- Parquet: nothing is filtered inside a scan ----------------------------------------------------------------------

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


WHERE = ["x = 1", "x IS NULL", "x >= 3", "NOT x < 2", "d = DATE '2020-01-02'", "m = 2"]


def test_numbers_and_dates_of_files_are_filtered_as_they_are_read(tmp_path: Path) -> None:
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
    seen: dict[str, list[int]] = {where: [] for where in WHERE}
    for i, victim in enumerate([base.slice(0, 0), base.slice(1, 1), *far]):
        data, file = pa.concat_tables([victim, base]), tmp_path / f"{i}.duckdb"
        pq.write_table(data, tmp_path / "t.parquet")
        with duckdb.connect(str(file)) as connection:
            connection.register("data", data)
            connection.execute("CREATE TABLE t AS SELECT * FROM data")
        parquet = Files(str(tmp_path / "t.parquet"), "parquet")
        engines = [DuckDB({"t": x}, on_error=shown) for x in (parquet, EngineTable(f"duckdb:///{file}", "t"))]
        for where in WHERE:
            question = Question("t", N, where=parse_expression(where))
            one, other = (counted(engine, question, {"t": table})[0][0] for engine in engines)
            assert one == other
            seen[where].append(one)
        for engine in engines:
            engine.close()
    for where, found in seen.items():
        assert max(found) - min(found) <= 1, where
        assert min(found) >= 20, where


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


# ---- DuckDB: exact numbers at the ends of their type -----------------------------------------------------------------


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
    sources: list[Source] = [Frame(columns), *parquet]
    for source in sources:
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
            engine.run(replace(exact, bounded=None))  # by the statements
    assert str(refused.value) == str(failed())
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)
    assert DuckDB._run_texts is write
    for again in (exact, copied):
        assert engine.run(again).column(ROWS) == [2, 1]
    engine.close()


DEADLY = "SELECT COUNT(CAST(x AS VARCHAR)) FROM t"


def test_an_instance_that_died_while_it_prepared_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(Frame(None), unit="id", columns={"id": "integer"}, contribution=(1, 3))
    data = pa.table({"id": [1, 2, 3], "x": decimals([-(2**127)] * 3, 38, 2)})
    engine = DuckDB({"t": Frame(data)}, on_error=shown)
    copy, kept = preparation("t", table, []), engine.prepare(preparation("t", table, []))
    exact, copied = (
        lower(check(Question("t", N), {"t": table}), [ROWS], Contribution(rows=3), p) for p in (None, kept)
    )
    with monkeypatch.context() as patched:
        patched.setattr(DuckDB, "_stored_text", lambda *_: DEADLY)
        with pytest.raises(EngineFailed, match="could not run the plan"):
            engine.prepare(copy)
        assert engine.run(exact).column(ROWS) == [3]
        assert engine.run(copied).column(ROWS) == [3]  # in a database of its own
        engine._copies[kept.relation]._held = None  # one that has to be made anew, and dies of it, is given up
        engine.reopen()
    assert engine.run(exact).column(ROWS) == [3]
    with pytest.raises(EngineFailed):
        engine.run(copied)
    engine.close()


def test_an_instance_that_died_while_it_verified_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.csv"
    path.write_text("id\n1\n")
    tables = {"c": Table(Frame(None), columns={"id": "integer"}), "t": Table(Frame(None), columns={"id": "integer"})}
    data = pa.table({"id": [1, 2, 3], "x": decimals([-(2**127)] * 3, 38, 2)})
    engine = DuckDB({"c": Files(str(path), "csv"), "t": Frame(data)}, on_error=shown)

    def dying(file: str) -> bool:
        with engine._cursor(["t"]) as cursor, suppress(duckdb.Error):
            cursor.execute(DEADLY)
        return True

    with monkeypatch.context() as patched:
        patched.setattr("curador.engines.duckdb.engine.has_csv_fields", dying)
        with pytest.raises(InvalidParameter):
            engine.check(tables)
    engine.check(tables)
    for name in tables:
        assert engine.run(lower(check(Question(name, N), tables), [ROWS], Contribution())).column(ROWS) != []
    engine.close()


@pytest.mark.parametrize("in_file", [True, False])
def test_a_copy_of_a_file_that_changed_while_it_was_read_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_file: bool
) -> None:
    """It would hold rows of two versions of a table, and questions compare each file that they read alone."""
    source, copy = tmp_path / "t.parquet", tmp_path / "copy.prepared"
    pq.write_table(pa.table({"id": [1, 2]}), source)
    table = Table(Frame(None), unit="id", columns={"id": "integer"}, contribution=(1, 1))
    engine = DuckDB({"t": Files(str(source), "parquet")}, on_error=shown)
    written = DuckDB._stored_text

    def changing(self: DuckDB, wanted: Preparation) -> str:
        pq.write_table(pa.table({"id": [1, 2, 3]}), source)
        return written(self, wanted)

    with monkeypatch.context() as patched:
        patched.setattr(DuckDB, "_stored_text", changing)
        with pytest.raises(EngineFailed):
            engine.prepare(preparation("t", table, []), copy if in_file else None)
    assert not copy.exists()
    made = engine.prepare(preparation("t", table, []), copy if in_file else None)
    exact = lower(check(Question("t", N), {"t": table}), [ROWS], Contribution(), made)
    assert engine.run(exact).column(ROWS) == [3]
    if not in_file:  # a copy that is made anew for a new instance is of the same rows, or is not made
        pq.write_table(pa.table({"id": [1]}), source)
        next(iter(engine._copies.values()))._held = None
        with pytest.raises(EngineFailed):
            engine.run(exact)
    engine.close()


# ---- PostgreSQL ------------------------------------------------------------------------------------------------------


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
        connection.execute(f"CREATE TABLE long AS SELECT 0::bigint AS \"{ROW}\", REPEAT('1', 1 << 28) AS x".encode())
    try:
        engine = Postgres({"t": EngineTable(postgres_url, "long")}, on_error=shown)
        expression = as_number(ex.Name("x")) if kind == "boolean" else ex.Name("x")
        assert values(engine, declared({"x": Column(kind)}, 1), [expression]) == [[None]]
        engine.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP TABLE long")


def test_ids_that_the_database_compares_loosely_are_refused(postgres_url: str) -> None:
    """'Bob' and 'bob' are one id to the database; as two units they had two shares of everything."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        loose = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
        connection.execute(f"CREATE COLLATION loosely ({loose})".encode())
        connection.execute("CREATE TABLE people (who text COLLATE loosely, exact text, n integer)")
        connection.execute("INSERT INTO people VALUES ('Bob', 'Bob', 1), ('bob', 'bob', 2)")
    try:
        engine = Postgres({"t": EngineTable(postgres_url, "people")}, on_error=shown)
        columns = {"who": "text", "exact": "text", "n": "integer"}
        ids = {name: Table(Frame(None), unit=name, columns=columns, contribution=(1, 3)) for name in columns}
        with pytest.raises(InvalidParameter, match="different texts are one value"):
            engine.check({"t": ids["who"]})
        with pytest.raises(EngineFailed):  # an engine that was not checked reads nothing either
            counted(engine, Question("t", N), {"t": ids["who"]})
        for name in ("exact", "n"):
            engine.check({"t": ids[name]})
        # As a column it is compared exactly: by rows, whatever the database would say of two.
        assert counted(engine, Question("t", N, where=parse_expression("who = 'bob'")), {"t": ids["n"]}) == [[1]]
        engine.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP TABLE people; DROP COLLATION loosely")


def test_types_that_are_compared_loosely() -> None:
    """citext is an extension that a server need not have, and Spark names its collations."""
    from curador.engines.postgres import LOOSE, POSTGRES
    from curador.engines.spark import SPARK

    ids = ReadAs.ID
    for dialect, kind in (
        (POSTGRES, "citext"),
        (POSTGRES, f"text{LOOSE}"),
        (POSTGRES, f"character varying{LOOSE}"),
        (SPARK, "string collate UTF8_LCASE"),
    ):
        check_column("who", Kind.TEXT, dialect, {"who": kind})
        with pytest.raises(InvalidParameter, match="different texts are one value"):
            check_column("who", Kind.TEXT, dialect, {"who": kind}, ids)
    for dialect, kind in ((POSTGRES, "text"), (SPARK, "string"), (SPARK, "string collate UTF8_BINARY")):
        check_column("who", Kind.TEXT, dialect, {"who": kind}, ids)


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
def test_texts_with_a_collation_in_database_files_are_refused(collation: str, tmp_path: Path) -> None:
    """A row called BOB had the public keys Bob and bob, and was counted twice."""
    file = tmp_path / "own.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE t (s VARCHAR COLLATE {collation}, plain VARCHAR, n INTEGER)")
        connection.execute("INSERT INTO t VALUES ('BOB', 'BOB', 1)")
    engine = DuckDB({"t": EngineTable(f"duckdb:///{file}", "t")}, on_error=shown)
    with pytest.raises(InvalidParameter, match="'s' is stored as VARCHAR with a collation"):
        engine.check({"t": Table(Frame(None), columns={"s": "text"})})
    engine.check({"t": Table(Frame(None), columns={"plain": "text", "n": "integer"})})
    engine.close()


# ---- CSV: a file is a table, or is not opened ------------------------------------------------------------------------

BROKEN = {
    "latin-1": b"a,b\n1,x\n2,\xf1\n",
    "latin-1 in quotes": b'a,b\n1,"\xf1"\n2,x\n',
    "half a surrogate": b"a,b\n1,\xed\xa0\x80\n2,x\n",
    "a letter cut by the comma": b"a,b\n\xc3,x\n2,x\n",
    "bare CR": b"a,b\n1,x\ry\n2,x\n",
    "bare CR that looks like a line": b"a,b\n1,x\r5,y\n2,x\n",
    "bare CR among CR LF": b"a,b\r\n1,x\r5,y\r\n2,x\r\n",
    "LF among CR LF": b"a,b\r\n1,x\n2,x\r\n",
    "MySQL's quotes": b'a,b\n1,"a\\"b"\n2,x\n3,x\n',
    "MySQL's quote at the end": b'a,b\n1,"a\\""\n2,x\n3,x\n',
    "broken quotes": b'a,b\n1,"a"b"c\n2,x\n',
    "text after a quote": b'a,b\n1,"a"b\n2,x\n',
    "open quote": b'a,b\n1,"x\n2,x\n',
    "open quote at the end": b'a,b\n1,x\n2,"x\n',
    "a letter after a quote": b'a,b\n1,x\n","\xc3\xb1,"\n2,x\n3,x\n',
    "spaces before a quote": b'a,b\n1,x\n   ","\n2,x\n3,x\n',
    "CR LF in a first line of LF": b"a,b\n\r\n1,x\n",
    "too short": b"a,b\n1\n2,x\n",
    "too long": b"a,b\n1,x,3\n2,x\n",
    "a line of 17 MB": b"a,b\n1," + b"9" * (17 << 20) + b"\n2,x\n",
}
AB = Table(Frame(None), columns={"a": "integer", "b": "text"})
COUNTS = [[ROWS], [ROWS, *(Measure(MeasureKind.PRESENT, ex.Name(c)) for c in "ab")]]


def rows_of(engine: DuckDB) -> list[int]:
    """The number of rows, by questions that read no column, each, and both."""
    ways = [*COUNTS, *([ROWS, m] for m in COUNTS[1][1:])]
    return [counted(engine, Question("t", N), {"t": AB}, *measures)[0][0] for measures in ways]


@pytest.mark.parametrize("name", BROKEN)
def test_a_csv_file_that_is_no_table_is_not_opened(name: str, tmp_path: Path) -> None:
    """One person's name made the number of rows, free and exact under replace, one more or one less."""
    path = tmp_path / "t.csv"
    reasons: list[Exception] = []
    path.write_bytes(BROKEN[name])
    for _ in range(2):
        engine = DuckDB({"t": Files(str(path), "csv")}, on_error=reasons.append)
        with pytest.raises(InvalidParameter, match="cannot be read as a table") as refused:
            engine.check({"t": AB})
        assert refused.value.code == "csv-unreadable"
        assert (refused.value.__cause__, refused.value.__context__) == (None, None)
        with pytest.raises(EngineFailed):  # nor does one that was not checked
            counted(engine, Question("t", N), {"t": AB})
        engine.close()
    assert len(reasons) == 4  # for the owner's log


TEXTS = [
    "x",
    "",
    "a,b",
    'q"q',
    '"',
    "li\nne",
    "cr\rlf\r\n",
    "\r",
    "\n",
    "ñ漢🦉",
    "\\",
    '\\"',
    "'",
    "#",
    " ",
    "x" * 5000,
    "\ufeff",
]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_whatever_a_text_is_a_well_written_csv_file_has_as_many_rows(ends: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text in TEXTS:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator=ends, quoting=csv.QUOTE_ALL).writerows(
                [["a", "b"], *([str(i), "Lugo"] for i in range(5)), ["5", text], ["6", "Vigo"]]
            )
        engine = DuckDB({"t": Files(str(path), "csv")}, on_error=shown)
        assert rows_of(engine) == [7, 7, 7, 7], text
        engine.close()


def test_a_csv_file_whose_columns_change_places_is_read_no_more(tmp_path: Path) -> None:
    """Columns are read by their places: ages would have been answered as incomes."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\n")
    engine = DuckDB({"t": Files(str(path), "csv")}, on_error=lambda _: None)
    assert rows_of(engine) == [1, 1, 1, 1]
    path.write_bytes(b"b,a\nx,1\ny,2\n")
    with pytest.raises(EngineFailed):
        rows_of(engine)
    path.write_bytes(b"a,b\n1,x\n2,y\n3,z\n")
    assert rows_of(engine) == [3, 3, 3, 3]
    engine.close()


def test_a_csv_file_that_changes_after_it_was_verified_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\n")
    engine = DuckDB({"t": Files(str(path), "csv")}, on_error=lambda _: None)
    verify = engine._verify

    def verified(tables: Iterable[str]) -> None:
        verify(tables)
        path.write_bytes(b'a,b\n","\xc3\xb1,"\n1,x\n')  # of which DuckDB would drop all rows

    monkeypatch.setattr(engine, "_verify", verified)
    with pytest.raises(EngineFailed):
        counted(engine, Question("t", N), {"t": AB})
    engine.close()


def test_a_csv_file_that_changes_is_read_again_before_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n")
    engine = DuckDB({"t": Files(str(path), "csv")}, on_error=shown)
    assert rows_of(engine) == [2] * 4
    for broken in (BROKEN["latin-1"], BROKEN["MySQL's quotes"]):
        path.write_bytes(broken)
        for measures in COUNTS:  # whether or not the column is read that cannot be
            with pytest.raises(EngineFailed, match="could not run the plan"):
                counted(engine, Question("t", N), {"t": AB}, *measures)
    path.write_bytes(b"a,b\n1,x\n2,y\n3,z\n")
    assert rows_of(engine) == [3] * 4
    engine.close()


# ---- frames: what a missing value changes ----------------------------------------------------------------------------


def pandas_frames(folder: Path, frame: pd.DataFrame) -> list[Source]:
    frame.to_parquet(folder / "t.parquet")
    return [Frame(frame), Files(str(folder / "t.parquet"), "parquet")]


def codes(source: Source) -> tuple[dict[Any, int], tuple[str, ...]]:
    table = Table(Frame(None), columns={"x": {"type": "text", "keys": ["12", "7"]}})
    engine = DuckDB({"t": source}, on_error=shown)
    engine.check({"t": table})
    checked = check(Question("t", N, group_by=(Group("x", ex.Name("x")),)), {"t": table})
    exact = lower(checked, [ROWS], Contribution())
    answer, text = engine.run(exact), engine.sql(exact)
    engine.close()
    return {key: n for (key,), n in zip(answer.keys, answer.column(ROWS), strict=True)}, text


def test_integers_of_pandas_are_the_same_texts_where_one_is_missing(tmp_path: Path) -> None:
    """The column becomes one of floats: it was refused then, and an explanation showed how it was read."""
    whole, missing = pd.DataFrame({"x": [12, 7, 12]}), pd.DataFrame({"x": [12, 7, 12, None]})
    assert [str(f["x"].dtype) for f in (whole, missing)] == ["int64", "float64"]
    for one, other in zip(pandas_frames(tmp_path, whole), pandas_frames(tmp_path, missing), strict=True):
        assert codes(one) == codes(other)
        assert codes(one)[0] == {"12": 2, "7": 1}


@pytest.mark.parametrize("kind", ["integer", "real", "boolean", "text", "date"])
def test_a_column_of_pandas_that_is_all_missing_is_refused_by_no_declaration(kind: str, tmp_path: Path) -> None:
    for empty in ([None, None], [np.nan, np.nan]):
        frame = pd.DataFrame({"x": pd.Series(empty)})
        for source in pandas_frames(tmp_path, frame):
            if isinstance(source, Files) and kind == "date" and str(frame["x"].dtype) == "float64":
                continue  # a file that says it holds numbers
            engine = DuckDB({"t": source}, on_error=shown)
            table = Table(Frame(None), columns={"x": kind})
            engine.check({"t": table})
            present = Measure(MeasureKind.PRESENT, ex.Name("x"))
            assert counted(engine, Question("t", N), {"t": table}, ROWS, present) == [[len(empty)], [0]]
            engine.close()


def test_frames_that_arrow_or_duckdb_cannot_hold_are_refused_in_our_words() -> None:
    for data in (
        pd.DataFrame({"x": [2**70, 1]}, dtype=object),
        pd.DataFrame({"x": [object()]}),
        pa.table({"x": pa.array([[1.0]], pa.list_(pa.float16()))}),
        pa.table({"x": pa.array([[Decimal(1)]], pa.list_(pa.decimal256(60, 2)))}),
        object(),
    ):
        with pytest.raises(InvalidParameter) as refused:
            DuckDB({"t": Frame(data)})
        assert "1180591620717411303424" not in f"{refused.value} {refused.value.__context__!r}"


def test_half_floats_and_wide_decimals_are_read() -> None:
    wide = pa.array([Decimal("1.5"), Decimal(10) ** 45, Decimal(-3), None], pa.decimal256(60, 2))
    half = pa.array([np.float16(1.5), np.float16("nan"), np.float16(-3), None], pa.float16())
    engine = DuckDB({"t": Frame(numbered({"wide": wide, "half": half}))}, on_error=shown)
    columns = dict.fromkeys(("wide", "half"), Column("real", bounds=(-2, 9), step=1 / 2))
    found = values(engine, declared(columns, 4), [ex.Name("wide"), ex.Name("half")])
    assert found == [[3, 18, -4, None], [3, None, -4, None]]
    assert math.isclose(2.0 ** -columns["wide"].bits, 0.5)
    engine.close()


DECIMALS: dict[str, tuple[list[Decimal], Decimal]] = {
    "many places": ([Decimal(5), Decimal(0), Decimal("0.5")], Decimal("1E-60")),
    "many digits": ([Decimal(5), Decimal(10**37), Decimal(-(10**37))], Decimal(10**50)),
}


@pytest.mark.parametrize("name", DECIMALS)
@pytest.mark.parametrize("kind", ["integer", "real", "boolean"])
def test_decimals_of_pandas_are_read_alike_whatever_the_longest_is(kind: str, name: str) -> None:
    """Arrow takes the places of a column from all its rows: with one of 60, no other was a whole number any more."""
    others, one = DECIMALS[name]
    bounds = {} if kind == "boolean" else {"bounds": [0, 10]}
    table = Table(Frame(None), columns={"x": {"type": kind, **bounds}})
    found = []
    for rows in (others, [*others, one], [*others, one, one]):
        engine = DuckDB({"t": Frame(pd.DataFrame({"x": [*rows, Decimal(1)]}))}, on_error=shown)
        measures = [Measure(MeasureKind.PRESENT, ex.Name("x"))]
        if kind != "boolean":
            measures.append(Measure(MeasureKind.SUM, ex.Name("x"), 0, 10))
        found.append([n for (n,) in counted(engine, Question("t", N), {"t": table}, *measures)])
        engine.close()
    without, once, twice = found
    assert [a - b for a, b in zip(once, without, strict=True)] == [a - b for a, b in zip(twice, once, strict=True)]
