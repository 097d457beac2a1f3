"""A ledger in a PostgreSQL schema: shared by machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import psycopg
from psycopg import sql

from curador.errors import LedgerFailed
from curador.ledger.anchor import Anchor
from curador.ledger.stores.rows import HEAD, TABLES, UNSURE, DbRow, DbValue
from curador.ledger.stores.sql import SqlStore, TranslatedErrors, create_tables
from curador.ledger.stores.unit_of_work import Database, select

TYPES = {int: "bigint", str: 'text COLLATE "C"', bytes: "bytea"}  # keys in the order of their bytes, as in Python
_REFUSE_CHANGES = """
CREATE FUNCTION refuse_changes() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$
"""


def exists(url: str, schema: str) -> bool:
    """Whether a schema holds a ledger."""
    with TranslatedErrors(translated), psycopg.connect(url) as connection:
        found = connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = %s LIMIT 1", (schema,)).fetchone()
        return found is not None


class PostgresStore(SqlStore):
    """A schema of a PostgreSQL database as a store.

    Every writer locks the row of the head first: all locks are taken in one order, each writer sees all commits before
    its own, and no deadlock is possible.

    Guarantee: a commit is on the server's disk before its result is returned (synchronous_commit is set to on).
    Assumes: the server runs with fsync; a standby that takes over is synchronous, or its loss is a restore.
    """

    def __init__(self, url: str, schema: str, anchor: Anchor) -> None:
        self._url, self._schema = url, schema
        self._connections: dict[str, psycopg.Connection[Any]] = {}
        super().__init__(anchor)

    def create(self, genesis: bytes) -> None:
        """Create the schema and its tables, unless they exist."""
        with self._writing, self._translating:
            connection = self._connection("write")
            with connection.transaction():
                database = _Database(connection)
                database.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"curador {self._schema}",))
                if database.execute("SELECT 1 FROM pg_tables WHERE schemaname = ? LIMIT 1", (self._schema,)).fetchone():
                    return
                connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self._schema)))
                create_tables(database, TYPES, lambda _: "", genesis)
                connection.execute(_REFUSE_CHANGES)
                for table in (t for t in TABLES if t.append_only):
                    database.execute(
                        f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table.name} "
                        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_changes()",
                        (),
                    )

    def damage(self) -> str | None:
        return None

    @contextmanager
    def _writer(self) -> Iterator[Database]:
        connection = self._connection("write")
        connection.execute("BEGIN")
        try:
            with ExitStack() as self._pipeline:
                self._pipeline.enter_context(connection.pipeline())  # only reads wait for the server's reply
                connection.execute(f"{select(HEAD, 0)} FOR UPDATE".encode())
                yield _Database(connection)
        finally:
            if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")

    def _commit(self) -> None:
        self._pipeline.close()  # every statement has succeeded, or this raises
        self._connections["write"].execute("COMMIT")

    @contextmanager
    def _reader(self, use: str) -> Iterator[Database]:
        connection = self._connection(use)
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Database(connection)

    def _turn(self) -> AbstractContextManager[Any]:
        return nullcontext()  # the server queues waiters for a row in the order of arrival

    def _connection(self, use: str) -> psycopg.Connection[Any]:
        held = self._connections.get(use)
        if held is None or held.closed:
            held = psycopg.connect(self._url, autocommit=True)
            held.execute("SELECT set_config('search_path', %s, false)", (f'"{self._schema}"',))
            held.execute("SET synchronous_commit = on")
            self._connections[use] = held
        return held

    def _disconnect(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()

    def _translated(self, error: Exception) -> LedgerFailed | None:
        return translated(error)


def translated(error: Exception) -> LedgerFailed | None:
    """A driver's error as ours; None for any other."""
    if not isinstance(error, psycopg.Error):
        return None
    why = (str(error).strip() or type(error).__name__).splitlines()[0]
    return LedgerFailed(
        f"The ledger's database cannot be read or written: {why}",
        fix="Check the server and the connection; then ask again.",
        cost=UNSURE,
        code="ledger-unavailable",
    )


class _Database:
    """A connection that takes statements with ? where a value goes."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[DbValue]) -> Any:
        return self._connection.execute(statement.replace("?", "%s").encode(), values)

    def executemany(self, statement: str, rows: Iterable[DbRow]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s").encode(), rows)
