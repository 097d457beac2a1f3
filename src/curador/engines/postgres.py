"""PostgreSQL, through psycopg 3: tables are read in place, by a connection that can only read."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg.pq import TransactionStatus

from curador.engines.deadline import watched
from curador.engines.dialect import FIRST_MOMENT, LAST_MOMENT, Dialect, Stored
from curador.engines.engine import AT_ONCE, LONGEST_WAIT, Progress, ResultRows, Take
from curador.engines.registry import engine_entry
from curador.engines.sql_engine import OnError, SqlEngine
from curador.errors import InvalidParameter
from curador.forks import keep_for_ever
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.prepared import Preparation, Prepared
from curador.query.tables.sources import EngineTable, Source

INFINITE = 2**1024 - 2**970
"""The least number that rounds to no finite double: half a step beyond the largest."""

with localcontext(prec=800):
    ZERO = f"{Decimal(1) / 2**1075:.210e}"
"""The largest number that rounds to zero, as far as texts of 201 digits can decide: half the smallest double."""

LOOSE = " with a nondeterministic collation"
"""Suffix of the name of a type whose different texts the database treats as equal."""

RECORDS = "curador_records"
"""The name of the cursor that reads rows, inside one transaction."""

SCHEMA = "curador"
"""The schema in which prepared copies are stored."""


class PostgresDialect(Dialect):
    """PostgreSQL's spelling.  It has no cast that returns NULL, so every value is checked before its cast.

    >>> POSTGRES.divide("a", "b"), POSTGRES.stored("double precision").value
    ('(a / b)', 'float')
    """

    wide = "numeric"
    real = "double precision"
    varchar = "text"
    fence = "OFFSET 0"
    narrow = frozenset(("smallint", "integer"))

    _STORED = {  # noqa: RUF012  never changed
        **dict.fromkeys((*narrow, "bigint"), Stored.INTEGER),
        **dict.fromkeys(("real", "double precision"), Stored.FLOAT),
        **dict.fromkeys(("text", "character varying", "character", "uuid", "enum", "citext"), Stored.TEXT),
        **dict.fromkeys(("timestamp without time zone", "timestamp with time zone"), Stored.TIMESTAMP),
        "numeric": Stored.DECIMAL,
        "boolean": Stored.BOOLEAN,
        "date": Stored.DATE,
    }

    def stored(self, type_name: str) -> Stored | None:
        return self._STORED.get(type_name.removesuffix(LOOSE))

    def loose(self, type_name: str) -> bool:
        return type_name == "citext" or type_name.endswith(LOOSE)

    def double(self, x: float) -> str:
        return f"CAST('{x!r}' AS double precision)"

    def divide(self, a: str, b: str) -> str:
        return f"({a} / {b})"

    def date_part(self, part: str, days: str) -> str:
        name = "isodow" if part == "weekday" else part
        return f"CAST(EXTRACT({name} FROM DATE '1970-01-01' + CAST({days} AS integer)) AS bigint)"

    def text_hash(self, x: str) -> str:
        return f"CAST(CAST('x' || SUBSTR(MD5({x}), 1, 7) AS bit(28)) AS bigint)"

    def ends_with(self, x: str, part: str) -> str:
        return f"(RIGHT({x}, CHAR_LENGTH({part})) = {part})"

    def contains(self, x: str, part: str) -> str:
        return f"(STRPOS({x}, {part}) > 0)"

    def total(self, x: str) -> str:
        return f"SUM(CAST({x} AS bigint))"  # a sum of 64-bit integers is a numeric

    def matches(self, x: str, pattern: str) -> str:
        return f"{x} ~ {self.string(f'^({pattern})$')}"

    def floor(self, x: str) -> str:
        return f"CAST(FLOOR({x}) AS bigint)"

    def text_to_double(self, x: str) -> str:
        return self._double(f"CAST({x} AS numeric)", str(INFINITE), ZERO)

    def decimal_to_double(self, x: str) -> str:
        return self._double(x, "1.7976931348623158e308", "1e-300")

    def _double(self, x: str, infinite: str, zero: str) -> str:
        # The cast goes through the digits, to the nearest double; beyond doubles at either end it is an error.
        inside = f"WHEN ABS({x}) > {zero} THEN CAST({x} AS double precision) WHEN {x} IS NOT NULL THEN 0"
        return f"CASE WHEN ABS({x}) >= {infinite} THEN NULL {inside} END"

    def whole_decimal(self, x: str) -> str:
        return f"ABS({x}) < 'Infinity' AND {x} = FLOOR({x})"  # NaN is above infinity

    def days(self, x: str) -> str:
        return (
            f"CASE WHEN {x} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' "
            f"THEN CAST({x} - DATE '1970-01-01' AS bigint) END"
        )

    def seconds(self, x: str) -> str:
        t = f"CAST({x} AS timestamp)"
        inside = f"CAST(FLOOR(EXTRACT(EPOCH FROM {t})) AS bigint)"
        return f"CASE WHEN {t} BETWEEN '{FIRST_MOMENT}' AND '{LAST_MOMENT}' THEN {inside} END"

    def text_to_days(self, x: str) -> str:
        year, month, day = (f"CAST(SUBSTR({x}, {a}, {n}) AS integer)" for a, n in ((1, 4), (6, 2), (9, 2)))
        leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
        last = f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END"
        there = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last}"
        return f"CASE WHEN {there} THEN CAST(CAST({x} AS date) - DATE '1970-01-01' AS bigint) END"

    def text(self, x: str) -> str:
        return f'CAST({x} AS text) COLLATE "C"'


POSTGRES = PostgresDialect()

_DESCRIBE = f"""
SELECT a.attname, CASE WHEN b.typtype = 'e' THEN 'enum' ELSE format_type(b.oid, NULL) END
    || CASE WHEN NOT c.collisdeterministic THEN '{LOOSE}' ELSE '' END
FROM pg_catalog.pg_attribute AS a
LEFT JOIN pg_catalog.pg_collation AS c ON c.oid = a.attcollation
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
JOIN pg_catalog.pg_type AS b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


_STORED_ROWS = """
WITH RECURSIVE read (oid) AS (
  SELECT CAST(%s AS oid)
  UNION
  SELECT below.oid FROM read, LATERAL (
    SELECT d.refobjid FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d ON d.objid = r.oid
    WHERE r.ev_class = read.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
      AND d.refclassid = 'pg_catalog.pg_class'::regclass
    UNION
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = read.oid
  ) AS below (oid)
)
SELECT c.oid FROM read JOIN pg_catalog.pg_class AS c ON c.oid = read.oid WHERE c.relkind IN ('r', 'm', 'f') ORDER BY 1
"""
"""The tables that a relation reads: itself, those below a view, and partitions."""

_SYSTEM = """
SELECT CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'execute')
  THEN (SELECT CAST(system_identifier AS text) FROM pg_catalog.pg_control_system()) END,
  (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
"""


class Postgres(SqlEngine):
    """Tables of one PostgreSQL database, by the names that plans use.

    ``timeout`` is in seconds, for each statement.  ``memory`` is PostgreSQL's work_mem, for each sort.

    Guarantee: every plan is one REPEATABLE READ, READ ONLY transaction; functions are looked up in pg_catalog alone,
    so that functions of other schemas cannot shadow them.
    Assumes: the database is encoded in UTF8, and the role may read the tables; it should have no other rights.
    """

    name = "postgresql"
    dialect = POSTGRES
    copies_in_files = False

    def __init__(
        self,
        sources: Mapping[str, Source],
        *,
        memory: str = "64MB",
        timeout: float = LONGEST_WAIT,
        on_error: OnError | None = None,
    ) -> None:
        super().__init__(timeout, on_error)
        self._one_plan = threading.Lock()  # a connection runs one transaction at a time
        tables = {name: _table(name, source) for name, source in sources.items()}
        if len({t.url for t in tables.values()}) != 1:
            raise InvalidParameter(
                "An engine reads tables of one database.", fix="Open the tables of each database with its own engine."
            )
        self._url = next(iter(tables.values())).url
        self._settings = {
            "search_path": "pg_catalog",
            "client_encoding": "UTF8",
            "TimeZone": "UTC",
            "standard_conforming_strings": "on",
            "statement_timeout": f"{max(1, round(1000 * timeout))}ms",
            "work_mem": memory,
            "jit": "off",  # compiling takes longer than running most plans
        }
        self._held: psycopg.Connection[Any] | None = self._connect()
        try:
            self._relations = {name: self._find(t.schema, t.table) for name, t in tables.items()}
            self._types = {name: dict(self._described(oid)) for name, (oid, _) in self._relations.items()}
            self._make_read_only(self._connection)
        except InvalidParameter:
            self.close()
            raise
        except psycopg.Error:
            self.close()
            raise _unopened() from None

    # ---- opening -----------------------------------------------------------------------------------------------

    def _find(self, schema: str | None, table: str) -> tuple[int, str]:
        """Find the table's object id and its full name by the role's own search path."""
        written = ".".join(POSTGRES.quoted(part) for part in (schema, table) if part is not None)
        row = self._connection.execute(
            "SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n "
            "ON n.oid = c.relnamespace WHERE c.oid = pg_catalog.to_regclass(%s)",
            [written],
        ).fetchone()
        if row is None:
            raise InvalidParameter(
                f"The database has no table {table!r}.",
                fix="Fix its name.",
                code="no-table-in-database",
                facts={"table": table},
            )
        return int(row[0]), f"{POSTGRES.quoted(row[1])}.{POSTGRES.quoted(row[2])}"

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            # Neither address nor role nor environment chooses the encoding: another could not hold all texts.
            return psycopg.connect(self._url, autocommit=True, client_encoding="UTF8")
        except psycopg.Error:
            raise _unopened() from None

    def _make_read_only(self, connection: psycopg.Connection[Any]) -> None:
        self._configure(connection, {**self._settings, "default_transaction_read_only": "on"})

    def _configure(self, connection: psycopg.Connection[Any], settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
        row = connection.execute("SHOW server_encoding").fetchone()
        if row is None or row[0] != "UTF8":
            raise InvalidParameter("The database is not encoded in UTF8.", fix="Use a database that is.")

    def identities(self, table: str) -> tuple[str, ...]:
        """The server's numbers of the tables whose rows are read: the same through any address or view."""
        with self._one_plan:
            self._reconnect()
            system, database = self._connection.execute(_SYSTEM).fetchone() or (None, None)
            if system is None:  # the role may not see which server this is
                return ()
            found = self._connection.execute(_STORED_ROWS, [self._relations[table][0]]).fetchall()
        return tuple(f"postgresql:{system}:{database}:{oid}" for (oid,) in found)

    # ---- asking ------------------------------------------------------------------------------------------------

    def _described(self, oid: int) -> list[tuple[str, str]]:
        return [(str(a), str(b)) for a, b in self._connection.execute(_DESCRIBE, [oid]).fetchall()]

    def _relation(self, table: str) -> str:
        return self._relations[table][1]

    def _results(self, exact: Exact, texts: tuple[str, ...], progress: Progress | None) -> list[ResultRows]:
        with self._one_plan:
            self._reconnect()
            return self._run_in_transaction(self._connection, texts, progress)

    def _stream(self, exact: Exact, text: str, take: Take, progress: Progress | None) -> None:
        with self._one_plan:
            self._reconnect()
            connection = self._connection
            with watched(self._timeout, connection.cancel, progress, lambda: -1.0), self._snapshot(connection):
                connection.execute(f"DECLARE {RECORDS} NO SCROLL CURSOR FOR {text}".encode())
                while rows := connection.execute(f"FETCH {AT_ONCE} FROM {RECORDS}".encode(), binary=True).fetchall():
                    take(np.array(rows, np.int64))

    @property
    def _connection(self) -> psycopg.Connection[Any]:
        assert self._held is not None
        return self._held

    def _reconnect(self) -> None:
        """Replace a connection that is closed or in use.

        Assumes: the caller holds the lock of plans, as all users of the connection do once others know this engine.
        """
        held = self._held
        # None after a fork, closed by the server, or left by a thread that was stopped in the midst of a command.
        if held is None or held.closed or held.info.transaction_status != TransactionStatus.IDLE:
            if held is not None:
                held.close()
            made = self._connect()
            self._make_read_only(made)
            self._held = made

    def made_anew(self) -> None:
        if self._held is not None:
            keep_for_ever(self._held)  # closing it would end the parent's session
        self._held, self._one_plan = None, threading.Lock()

    def reopen(self) -> None:
        if self._held is None:
            with self._one_plan:
                self._reconnect()

    def _run_in_transaction(
        self, connection: psycopg.Connection[Any], texts: tuple[str, ...], progress: Progress | None
    ) -> list[ResultRows]:
        with watched(self._timeout, connection.cancel, progress, lambda: -1.0), self._snapshot(connection):
            # Binary results need the extended protocol, which takes one statement at a time and never two.
            return [connection.execute(text.encode(), binary=True).fetchall() for text in texts]

    @contextmanager
    def _snapshot(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Run a transaction that reads one snapshot and writes nothing."""
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Once more, for this transaction: behind a pooler it may run in another session than the one before.
            local = ", ".join(["pg_catalog.set_config(%s, %s, true)"] * len(self._settings))
            connection.execute(f"SELECT {local}".encode(), [x for pair in self._settings.items() for x in pair])
            yield
        finally:
            if connection.info.transaction_status == TransactionStatus.ACTIVE:
                connection.close()  # stopped in the midst of a command; nothing can follow it
            elif not connection.closed:  # the server may have closed it, as the error being raised explains
                connection.execute("ROLLBACK")

    def close(self) -> None:
        if self._held is not None:
            self._held.close()

    # ---- preparing ---------------------------------------------------------------------------------------------

    def prepare(
        self, preparation: Preparation, path: str | Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        """Store a table with its ranks in the schema ``curador``, and use it from now on; a path is refused.

        Assumes: the role may create that schema or tables in it, and the stored table is not changed.
        """
        if path is not None:
            raise InvalidParameter("PostgreSQL stores prepared tables in the database.", fix="Leave the path out.")
        made = preparation.at(f"prepared_{uuid.uuid4().hex}", uuid.uuid4().hex)
        self._guarded(lambda: self._write(preparation, made))
        self.attach(made)
        return made

    def _write(self, preparation: Preparation, made: Prepared) -> None:
        schema, table = POSTGRES.quoted(SCHEMA), POSTGRES.quoted(made.place)
        with psycopg.connect(self._url, client_encoding="UTF8") as connection:
            self._configure(connection, self._settings)
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
            connection.execute(f"CREATE TABLE {schema}.{table} AS {self._stored_text(preparation)}".encode())
            connection.execute(f"ANALYZE {schema}.{table}".encode())

    def attach(self, prepared: Prepared) -> None:
        """Use a table that was prepared before."""
        with self._one_plan:
            self._reconnect()
            self._relations[prepared.relation] = self._find(SCHEMA, prepared.place)
            self._types[prepared.relation] = {}


def _unopened() -> InvalidParameter:
    return InvalidParameter(
        "The PostgreSQL database could not be opened.",
        fix="Check its address, the role and the tables.",
        code="database-closed",
    )


def _table(name: str, source: Source) -> EngineTable:
    if not isinstance(source, EngineTable) or engine_entry(source).name != Postgres.name:
        raise InvalidParameter(
            f"The table {name!r} does not live in PostgreSQL.", fix="Write its source as postgresql://…#table."
        )
    return source
