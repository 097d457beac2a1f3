"""Real engines for the tests: DuckDB in this process, a PostgreSQL server of our own, a local Spark.

The fixtures are there for every room, by way of tests/conftest.py; each server starts once in a run.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # every pytest that a test starts loads this file, and few need an engine
    import pyarrow as pa

    from curador.engines.sql_engine import SqlEngine
    from curador.query.tables.sources import EngineTable

Opened = Callable[[Mapping[str, "pa.Table"]], "SqlEngine"]
"""Puts Arrow tables where an engine keeps its own, and opens it on them."""


# ---- PostgreSQL ------------------------------------------------------------------------------------------------


def postgres_programs() -> Path | None:
    """Where Debian keeps the server's programs: not on the PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres")) or [shutil.which("postgres") or ""]
    return Path(found[-1]).parent if found[-1] else None


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: settings for subprocess that make it somebody else."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL refuses to run as root, and there is no other user to run it as")


def wait_for(url: str, what: str) -> None:
    """Wait until a server that was just started answers."""
    import psycopg

    for _ in range(600):
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    pytest.fail(f"{what} did not start within 30 seconds")


class PostgresServer:
    """A server of our own, which can be stopped and started again; sockets only, no network."""

    def __init__(self, folder: str, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        self._running: subprocess.Popen[bytes] | None = None
        who = unprivileged()
        os.chmod(folder, 0o711)
        if who:
            os.chown(folder, who["user"], who["group"])
        self._quiet: dict[str, Any] = {
            "cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **who
        }  # fmt: skip
        settings = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run([str(programs / "initdb"), "-D", f"{folder}/data", *settings], check=True, **self._quiet)
        self.url = f"postgresql://postgres@/postgres?host={folder}"

    def start(self) -> None:
        options = ["-c", "shared_buffers=64MB", "-c", "fsync=off", "-c", "max_connections=30"]
        place = ["-D", f"{self._folder}/data", "-k", self._folder, "-h", ""]
        self._running = subprocess.Popen([str(self._programs / "postgres"), *place, *options], **self._quiet)
        wait_for(self.url, "the PostgreSQL server")

    def stop(self) -> None:
        if self._running is not None:
            self._running.send_signal(signal.SIGINT)  # does not wait for clients
            self._running.wait(30)
            self._running = None


@contextmanager
def own_postgres() -> Iterator[PostgresServer]:
    """A server that is started here, and removed after it."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    # Not below pytest's own folder: its mode keeps other users out.  Short, because a socket's path has 107 bytes.
    folder = tempfile.mkdtemp(prefix="curador-pg-")
    try:
        server = PostgresServer(folder, programs)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a server that is started for this run and removed after it."""
    with own_postgres() as server:
        yield server.url


@pytest.fixture(scope="session")
def pooled_url(postgres_url: str) -> Iterator[str]:
    """The same server behind a pooler in transaction mode, with one session for all clients; sockets only."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("no pgbouncer is installed")

    who = unprivileged()
    server = postgres_url.split("host=")[1]
    folder = tempfile.mkdtemp(prefix="curador-pool-")
    try:
        os.chmod(folder, 0o711)
        settings = f"""[databases]
postgres = host={server} dbname=postgres user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 1
"""
        Path(folder, "pool.ini").write_text(settings)
        if who:
            for path in (folder, f"{folder}/pool.ini"):
                os.chown(path, who["user"], who["group"])
        quiet: dict[str, Any] = {"cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **who}
        pooler = subprocess.Popen([program, f"{folder}/pool.ini"], **quiet)
        try:
            url = f"postgresql://postgres@/postgres?host={folder}&port=6432"
            wait_for(url, "pgbouncer")
            yield url
        finally:
            pooler.terminate()
            pooler.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_POSTGRES_TYPES = {
    "boolean": "boolean",
    "integer": "bigint",
    "floating": "double precision",
    "decimal": "numeric",
    "string": "text",
    "date": "date",
    "timestamp": "timestamp",
}
"""What PostgreSQL calls Arrow's types."""


def to_postgres(url: str, table: pa.Table) -> EngineTable:
    """A new table in the server, with the rows of an Arrow table."""
    import psycopg
    import pyarrow as pa
    from psycopg import sql

    from curador.query.tables.sources import EngineTable

    name = f"t{uuid.uuid4().hex}"
    kinds = [
        next(k for test, k in _POSTGRES_TYPES.items() if getattr(pa.types, f"is_{test}")(f.type)) for f in table.schema
    ]
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(k)) for f, k in zip(table.schema, kinds, strict=True)
    ]
    with psycopg.connect(url) as connection:
        create = sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), sql.SQL(", ").join(columns))
        connection.execute(create)
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
            for row in zip(*(c.to_pylist() for c in table.columns), strict=True):
                copy.write_row(row)
    return EngineTable(url, name)


# ---- Spark -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A local Spark on one machine's loopback; needs Java 17."""
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if "JAVA_HOME" not in os.environ:
        if not (found := sorted(glob.glob("/usr/lib/jvm/*-17-*/bin/java"))):
            pytest.skip("no Java 17 is installed")
        os.environ["JAVA_HOME"] = str(Path(found[-1]).parent.parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    folder = tempfile.mkdtemp(prefix="curador-spark-")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.warehouse.dir": folder,
        "spark.local.dir": folder,
        "spark.log.level": "OFF",
        "spark.driver.extraJavaOptions": "-Dlog4j2.level=OFF -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = pyspark.SparkSession.builder.master("local[2]").appName("curador")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


# ---- one test, all engines ---------------------------------------------------------------------------------------


@pytest.fixture(
    params=[
        "duckdb",
        "postgresql",
        pytest.param("spark", marks=pytest.mark.xdist_group("spark")),  # one Java for the whole run
    ]
)
def engine_name(request: pytest.FixtureRequest) -> str:
    """The same test runs on all three."""
    return str(request.param)


@pytest.fixture
def opened(engine_name: str, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """Opens an engine on Arrow tables."""
    engines: list[SqlEngine] = []

    def opener(tables: Mapping[str, pa.Table]) -> SqlEngine:
        engines.append(OPENERS[engine_name](request, tables))
        return engines[-1]

    yield opener
    for engine in engines:
        engine.close()


def shown(error: Exception) -> None:
    """What a test prints when an engine fails; a curator's engine says nothing."""
    print(str(error)[:3000])


def _duckdb(request: pytest.FixtureRequest, tables: Mapping[str, pa.Table]) -> SqlEngine:
    from curador.engines.duckdb.engine import DuckDB
    from curador.query.tables.sources import Frame

    return DuckDB({name: Frame(t) for name, t in tables.items()}, threads=2, on_error=shown)


def _postgres(request: pytest.FixtureRequest, tables: Mapping[str, pa.Table]) -> SqlEngine:
    url = request.getfixturevalue("postgres_url")
    from curador.engines.postgres import Postgres

    return Postgres({name: to_postgres(url, t) for name, t in tables.items()}, on_error=shown)


def _spark(request: pytest.FixtureRequest, tables: Mapping[str, pa.Table]) -> SqlEngine:
    session = request.getfixturevalue("spark_session")
    from curador.engines.spark import Spark
    from curador.query.tables.sources import Frame

    return Spark({name: Frame(session.createDataFrame(t)) for name, t in tables.items()}, on_error=shown)


OPENERS: dict[str, Callable[[pytest.FixtureRequest, Mapping[str, pa.Table]], SqlEngine]] = {
    "duckdb": _duckdb,
    "postgresql": _postgres,
    "spark": _spark,
}
