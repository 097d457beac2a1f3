"""What can go wrong: one constant error, nothing written, nothing else read, no data in what is shown."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.engines import deadline
from curador.engines.deadline import watched
from curador.engines.duckdb.engine import DuckDB
from curador.engines.duckdb.spill import SpillFolders
from curador.engines.engine import ExactCounts, failed
from curador.engines.sql_engine import SqlEngine
from curador.errors import EngineFailed, InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.lower import lower
from curador.query.tables.sources import EngineTable, Files, Frame
from curador.query.tables.table import Table
from tests.real_engines import Opened, shown

ROWS = Measure(MeasureKind.ROWS)


def counted(table: Table, name: str = "t", group: str | None = None) -> Exact:
    groups = () if group is None else (Group("g", ex.Name(group)),)
    checked = check(Question(name, (Output("n", count()),), group_by=groups), {name: table})
    return lower(checked, [ROWS], Contribution())


def failing(exact: Exact) -> Exact:
    """The same plan with a division by zero in it, which the engine finds out when it gets to a row."""
    bad = nt.select(
        {
            "g": nt.number(0),
            "m0": nt.total(nt.infix("//", nt.column("c0"), nt.minus(nt.column("c0"), nt.column("c0")))),
        },
        nt.table("s0"),
    )
    return replace(exact, statements=(replace(exact.statements[0], tree=bad),))


TABLE = Table(Frame(None), columns={"x": {"type": "integer", "bounds": [0, 9]}})


def test_whatever_happens_is_one_error(opened: Opened, capsys: pytest.CaptureFixture[str]) -> None:
    """No word of the database, no cause, no context; and the engine works on."""
    engine = opened({"t": pa.table({"x": pa.array([7, 7], pa.int64())})})
    checked = check(Question("t", (Output("n", count("x")),)), {"t": TABLE})
    present = Measure(MeasureKind.PRESENT, ex.Name("x"))
    good = lower(checked, [present], Contribution())
    with pytest.raises(EngineFailed) as caught:
        engine.run(failing(good))
    assert str(caught.value) == str(failed())
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert "zero" in capsys.readouterr().out.lower()  # what the tests' witness was told: it did fail for that reason
    assert engine.run(good).column(present) == [2]


def test_a_table_that_is_gone_is_the_same_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1, 2]}), path)
    engine = DuckDB({"t": Files(str(path), "parquet")})
    exact = counted(TABLE)
    assert engine.run(exact).column(ROWS) == [2]
    path.unlink()
    with pytest.raises(EngineFailed, match="could not run the plan"):
        engine.run(exact)
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(EngineFailed, match="could not run the plan"):
        engine.run(exact)
    engine.close()


def test_files_that_change_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1, 2]}), path)
    engine = DuckDB({"t": Files(str(path), "parquet")})
    stamps = [[(1, 2, 3)], [(1, 2, 4)]]
    monkeypatch.setattr("curador.engines.duckdb.engine.stamps", lambda files: stamps.pop())
    with pytest.raises(EngineFailed):
        engine.run(counted(TABLE))
    engine.close()


# ---- time and memory ---------------------------------------------------------------------------------------------


def heavy() -> tuple[Table, pa.Table, Exact]:
    """A plan that takes every engine longer than a moment."""
    table = Table(Frame(None), unit="u", columns={"u": "integer", "x": "integer"}, contribution=(1, 1))
    data = pa.table({"u": pa.array(range(300_000), pa.int64()), "x": pa.array(range(300_000), pa.int64())})
    checked = check(Question("t", (Output("n", count()),), group_by=(Group("x", ex.Name("x")),)), {"t": table})
    return table, data, lower(checked, [ROWS], Contribution())


def test_duckdb_stops_in_time_and_within_memory() -> None:
    """What does not fit memory fails where there is no folder to spill to."""
    _, data, exact = heavy()
    for settings in ({"timeout": 0.02}, {"memory": "10MB", "spill": "/no/such/folder"}):
        engine = DuckDB({"t": Frame(data)}, threads=1, **settings)
        with pytest.raises(EngineFailed):
            engine.run(exact)
        engine.close()


def test_what_does_not_fit_memory_is_spilled_privately_and_removed(tmp_path: Path) -> None:
    """A window over rows that do not fit: without a folder it fails; with one, only its owner may open it."""
    table, _, _ = heavy()
    rows = 1_000_000
    data = pa.table({"u": pa.array(range(rows), pa.int64()), "x": pa.nulls(rows, pa.int64())})
    windows = replace(counted(table), bounded=None)
    for home, fits in ((tmp_path / "none", False), (tmp_path, True)):
        engine = DuckDB({"t": Frame(data)}, threads=1, memory="15MB", spill=home)
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == ({0o700} if fits else set())
        if fits:
            assert list(engine.run(windows).column(ROWS)) == [rows]
        else:
            with pytest.raises(EngineFailed):
                engine.run(windows)
        engine.close()
        assert list(tmp_path.iterdir()) == []


def test_the_spill_folders_of_a_process_that_was_killed_are_removed_by_the_next(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from curador.engines.duckdb.spill import SpillFolders;"
        "kept = SpillFolders(sys.argv[1]); kept.new(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    folders = SpillFolders(tmp_path)
    own = folders.new()
    assert [str(file) for file in tmp_path.iterdir()] == [own]
    if os.fork() == 0:  # a child that ends leaves its parent's alone
        folders.remove()
        os._exit(0)
    os.wait()
    assert os.path.isdir(own)
    folders.remove()
    assert list(tmp_path.iterdir()) == []


def test_postgres_stops_in_time(postgres_url: str) -> None:
    import psycopg

    from curador.engines.postgres import Postgres

    _, _, exact = heavy()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE heavy AS SELECT i AS u, i AS x FROM generate_series(1::bigint, 200000) AS i")
    engine = Postgres({"t": EngineTable(postgres_url, "heavy")}, timeout=0.05)
    with pytest.raises(EngineFailed):
        engine.run(exact)
    engine.close()


@pytest.mark.xdist_group("spark")
def test_spark_stops_in_time(spark_session: Any) -> None:
    from curador.engines.spark import Spark

    _, _, exact = heavy()
    frame = spark_session.range(3_000_000).selectExpr("id AS u", "id AS x")
    engine = Spark({"t": Frame(frame)}, timeout=0.3)
    with pytest.raises(EngineFailed):  # what is not stopped gives an answer
        engine.run(exact)
    engine.close()


class _Stopped(BaseException):
    """As what stops a thread from outside."""


def test_postgres_goes_on_after_whoever_used_it_was_stopped_in_the_midst_of_a_command(postgres_url: str) -> None:
    """The next plan found the connection busy, and so did every other one, charged or not, until a restart."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE left_busy AS SELECT i AS u, i AS x FROM generate_series(1::bigint, 9) AS i")
    _, _, exact = heavy()
    engine = Postgres({"t": EngineTable(postgres_url, "left_busy")})
    before = engine.run(exact)._columns
    busy = engine._connection

    def stopped() -> None:
        with engine._snapshot(busy):
            busy.pgconn.send_query(b"SELECT pg_sleep(0.01)")
            raise _Stopped

    with pytest.raises(_Stopped):
        stopped()
    assert busy.closed
    assert engine.run(exact)._columns == before
    engine._connection.pgconn.send_query(b"BEGIN")  # stopped before it could end it
    assert engine.run(exact)._columns == before
    engine.close()


def test_postgres_attaches_a_copy_while_another_plan_runs(postgres_url: str) -> None:
    """A connection that is busy because another thread uses it is not one that was left so."""
    import psycopg

    from curador.engines.postgres import SCHEMA, Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE attached AS SELECT i AS u, i AS x FROM generate_series(1::bigint, 9) AS i")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute(f"CREATE TABLE {SCHEMA}.ready AS SELECT 1 AS x")
    _, _, exact = heavy()
    engine = Postgres({"t": EngineTable(postgres_url, "attached")})
    held, before = engine._connection, engine.run(exact)._columns
    engine._one_plan.acquire()  # as while a plan runs
    made: Any = SimpleNamespace(relation="r", place="ready")
    beside = threading.Thread(target=engine.attach, args=(made,))
    beside.start()
    beside.join(0.2)
    assert beside.is_alive()
    engine._one_plan.release()
    beside.join(60)
    assert engine._relation("r").endswith('"ready"')
    assert engine.run(exact)._columns == before
    assert engine._connection is held
    engine.close()


def test_progress_is_reported_and_a_deadline_kept() -> None:
    told: list[float] = []
    with watched(60, lambda: None, told.append, lambda: 0.5):
        until = time.monotonic() + 60
        while not told and time.monotonic() < until:
            time.sleep(0.01)
    assert told
    assert set(told) == {0.5}
    stopped = threading.Event()
    with pytest.raises(TimeoutError), watched(0.01, stopped.set, None, lambda: 0.0):
        assert stopped.wait(10)


def test_one_clock_keeps_all_deadlines() -> None:
    """A later deadline is not kept by an earlier one, nor an earlier one that comes second by a later one."""
    stopped, other = threading.Event(), threading.Event()
    with watched(600, other.set, None, lambda: 0.0):
        for _ in range(3):
            with pytest.raises(TimeoutError), watched(0.01, stopped.set, None, lambda: 0.0):
                assert stopped.wait(60)
            stopped.clear()
    assert not other.is_set()
    assert not stopped.is_set(), "nothing is stopped after it has ended"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[deadline._Clock]:
    """A clock of its own, whose thread ends with the test."""
    made = deadline._Clock()
    monkeypatch.setattr(deadline, "_clock", made)
    yield made
    with made._changed:
        made._stays = False
        made._changed.notify_all()


def test_a_clock_that_is_kept_runs_before_it_is_needed(clock: deadline._Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may be stopped must not start a thread, which could be stopped in its place."""
    look, begun = clock._look, list[int]()

    def counted() -> None:
        begun.append(1)
        look()

    monkeypatch.setattr(clock, "_look", counted)
    deadline.keep_clock()
    for _ in range(3):
        stopped = threading.Event()
        with pytest.raises(TimeoutError), watched(0.01, stopped.set, None, lambda: 0.0):
            assert stopped.wait(60)
        assert clock._runs
    assert begun == [1]


def test_a_deadline_is_kept_as_soon_as_a_thread_can_be_started(
    clock: deadline._Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[int] = []

    class Sometimes(threading.Thread):
        def start(self) -> None:
            if failures:
                failures.pop()
                raise RuntimeError("can't start new thread")
            super().start()

    monkeypatch.setattr(deadline, "threading", SimpleNamespace(**{**vars(threading), "Thread": Sometimes}))
    monkeypatch.setattr(deadline, "TICK", 0.01)
    stopped = threading.Event()
    failures.append(1)
    with pytest.raises(RuntimeError), watched(0.01, stopped.set, None, lambda: 0.0):
        pytest.fail("it begins without its deadline")
    assert not clock._watches
    deadline.keep_clock()
    failures.extend([1] * 3)
    with pytest.raises(TimeoutError), watched(0.01, stopped.set, None, lambda: 0.0):
        assert stopped.wait(60)
    assert not failures


# ---- reading only ------------------------------------------------------------------------------------------------

ATTACKS = [
    'x"; DROP TABLE t; --',
    "x'; DROP TABLE t; --",
    "x`; DROP TABLE t; --",
    "/* x",
    "x -- y",
    "x\\",
    "${system:user.name}",
    "$1",
    "%s",
    "{x}",
    ":x",
    "?",
    "a.b",
    "ñ 🦉",
    "select",
    "x\u200b",
]


def test_names_and_texts_are_nothing_but_names_and_texts(opened: Opened, engine_name: str) -> None:
    """Columns, keys and values that try to be SQL: read as they are written, and the table is still there."""
    columns = {name: pa.array([name, "other", name], pa.string()) for name in ATTACKS}
    engine = opened({"t": pa.table(columns)})
    asked = ATTACKS[:3] if engine_name == "spark" else ATTACKS
    for name in asked:
        table = Table(Frame(None), columns={n: {"type": "text", "keys": ATTACKS} for n in ATTACKS})
        question = Question(
            "t",
            (Output("n", count()),),
            group_by=(Group(name, ex.Name(name)),),
            where=ex.all_of(*(ex.Compare("=", ex.Name(n), ex.Literal(n)) for n in ATTACKS)),
        )
        found = engine.run(lower(check(question, {"t": table}), [ROWS], Contribution()))
        assert found.column(ROWS) == [2 * (key == name) for key in ATTACKS]


def test_duckdb_opens_nothing_else(tmp_path: Path) -> None:
    """After the tables are opened: no other file, no extension, no setting, no write."""
    path, other = tmp_path / "t.parquet", tmp_path / "other.parquet"
    for p in (path, other):
        pq.write_table(pa.table({"x": [1, 2]}), p)
    engine = DuckDB({"t": Files(str(path), "parquet")})
    attempts = [
        f"SELECT * FROM read_parquet('{other}')",
        f"SELECT * FROM '{other}'",
        "SELECT * FROM read_text('/etc/hostname')",
        f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
        f"ATTACH '{tmp_path / 'new.duckdb'}'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET threads = 1",
        "SELECT * FROM attempts",
    ]
    for text in attempts:
        with pytest.raises(duckdb.Error):
            engine._connection.cursor().execute(text)
    assert {p.name for p in tmp_path.iterdir()} == {"t.parquet", "other.parquet"}
    engine.close()


def test_a_database_file_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 5 AS x")
    before = path.read_bytes()
    engine = DuckDB({"t": EngineTable(f"duckdb:///{path}", "t")})
    assert engine.run(counted(TABLE)).column(ROWS) == [1]
    relation = engine._views["t"]
    for text in (f"INSERT INTO {relation} VALUES (1)", f"DROP TABLE {relation}"):
        with pytest.raises(duckdb.Error):
            engine._connection.cursor().execute(text)
    engine.close()
    assert path.read_bytes() == before


def test_postgres_only_reads(postgres_url: str) -> None:
    """Not even a function with side effects, found by its name in a schema of the attacker's, can write."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE guarded AS SELECT 5::bigint AS x")
        connection.execute("CREATE FUNCTION public.abs(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 666::bigint'")
        connection.execute("ALTER DATABASE postgres SET search_path = public, pg_catalog")
    try:
        engine = Postgres({"t": EngineTable(postgres_url, "guarded")}, on_error=shown)
        table = Table(Frame(None), columns={"x": {"type": "integer", "bounds": [-9, 9]}})
        checked = check(Question("t", (Output("n", count()),)), {"t": table})
        size = Measure(MeasureKind.SUM, ex.Abs(ex.Negate(ex.Name("x"))))
        assert engine.run(lower(checked, [size], Contribution())).column(size) == [5]
        for text in (
            "DELETE FROM public.guarded",
            "CREATE TABLE public.more (x int)",
            "CREATE TEMP TABLE more (x int)",
        ):
            with pytest.raises(psycopg.Error):
                engine._results(counted(table), (text,), None)
        with pytest.raises(psycopg.Error, match="multiple commands"):
            engine._results(counted(table), ("SELECT 0, 1; SELECT 0, 2",), None)
        assert engine.run(counted(table)).column(ROWS) == [1]
        engine.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("ALTER DATABASE postgres RESET search_path")
            connection.execute("DROP FUNCTION public.abs(bigint)")


def test_postgres_comes_back(postgres_url: str) -> None:
    """A connection that the server cut fails one plan, not those after it; the new one can only read, too."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE cut AS SELECT 5::bigint AS x")
        engine = Postgres({"t": EngineTable(postgres_url, "cut")})
        connection.execute("SELECT pg_terminate_backend(%s)", [engine._connection.info.backend_pid])
        with pytest.raises(EngineFailed):
            engine.run(counted(TABLE))
        assert engine.run(counted(TABLE)).column(ROWS) == [1]
        with pytest.raises(psycopg.Error):
            engine._results(counted(TABLE), ("DELETE FROM public.cut",), None)
        engine.close()


def test_postgres_plans_see_one_snapshot(postgres_url: str) -> None:
    """Rows that are added between the statements of a plan are in none of them."""
    import psycopg

    from curador.engines.postgres import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE growing AS SELECT 5::bigint AS x")
        engine = Postgres({"t": EngineTable(postgres_url, "growing")}, on_error=shown)
        checked = check(Question("t", (Output("n", count()),)), {"t": TABLE})
        values = Measure(MeasureKind.VALUES, ex.Name("x"), 0, 9)
        exact = lower(checked, [ROWS, values], Contribution())
        texts = engine._texts(exact, engine._relation)
        connection.execute("SELECT pg_advisory_lock(4711)")  # the reader waits for it between its two statements
        between = "SELECT pg_advisory_lock(4711)"
        found: list[Any] = []
        reader = threading.Thread(
            target=lambda: found.extend(engine._results(exact, (texts[0], between, texts[1]), None))
        )
        reader.start()
        until, waits = time.monotonic() + 60, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while connection.execute(waits).fetchone() is None and time.monotonic() < until:
            time.sleep(0.01)
        connection.execute("INSERT INTO growing SELECT 5 FROM generate_series(1, 10)")
        connection.execute("SELECT pg_advisory_unlock(4711)")
        reader.join()
        assert [tuple(found[0][0]), tuple(found[2][0])] == [(0, 1), (0, 5, 1)]
        assert engine.run(exact).column(ROWS) == [11]
        engine.close()


# ---- what is shown -----------------------------------------------------------------------------------------------


def test_an_answer_does_not_show_itself() -> None:
    answer = ExactCounts(((),), {ROWS: [123456]}, {})
    for text in (repr(answer), str(answer), f"{answer}", repr([answer]), repr({"a": answer})):
        assert "123456" not in text
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="does not leave the curator"):
            leak(answer)
    with pytest.raises(AttributeError):
        answer.more = 1  # type: ignore[attr-defined]


def test_descriptions_hold_no_values(opened: Opened) -> None:
    engine: SqlEngine = opened({"t": pa.table({"secret": pa.array(["s3cr3t"], pa.string())})})
    assert [name for name, _ in engine.describe("t")] == ["secret"]
    assert "s3cr3t" not in repr(engine.describe("t"))
    texts = engine.sql(counted(Table(Frame(None), columns={"secret": "text"})))
    assert "s3cr3t" not in "".join(texts)


def test_sql_is_the_same_for_neighbours(opened: Opened) -> None:
    """What explain shows is made from declarations: the same for any rows."""
    exact = counted(TABLE)
    many = opened({"t": pa.table({"x": pa.array(range(100), pa.int64())})})
    few = opened({"t": pa.table({"x": pa.array([], pa.int64())})})

    def masked(engine: SqlEngine) -> Mapping[int, str]:
        # The tests store each table under a name of its own in PostgreSQL.
        name = getattr(engine, "_relations", {}).get("t", (0, "?"))[1]
        return {i: text.replace(name, "t") for i, text in enumerate(engine.sql(exact))}

    assert masked(many) == masked(few)


def test_sources_that_cannot_be_opened(tmp_path: Path) -> None:
    """Told to the curator before any plan: by name, without the database's words."""
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"no parquet")
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    cases: list[tuple[Any, str]] = [
        (Files(str(tmp_path / "lost.parquet"), "parquet"), "No file 'lost.parquet'"),
        (Files(str(tmp_path / "*.pq"), "parquet"), "No file"),
        (Files(str(bad), "parquet"), "DuckDB could not open a table"),
        (Files(str(empty), "csv"), "is empty"),
        (Frame(object()), "object is not a frame"),
        (EngineTable("duckdb:///lost.duckdb", "t"), "No DuckDB file"),
        (EngineTable("postgresql://nowhere", "t"), "lives in postgresql"),
    ]
    for source, match in cases:
        with pytest.raises(InvalidParameter, match=match):
            DuckDB({"t": source})


def test_postgres_sources_that_cannot_be_opened(postgres_url: str) -> None:
    from curador.engines.postgres import Postgres

    cases: list[tuple[Any, str]] = [
        (EngineTable(postgres_url, "lost"), "The database has no table 'lost'"),
        (EngineTable("postgresql://nobody@/none?host=/nonexistent", "t"), "could not be opened"),
        (Frame(object()), "does not live in PostgreSQL"),
    ]
    for source, match in cases:
        with pytest.raises(InvalidParameter, match=match):
            Postgres({"t": source})
    with pytest.raises(InvalidParameter, match="one database"):
        Postgres({"a": EngineTable(postgres_url, "a"), "b": EngineTable("postgresql://b/c", "b")})
