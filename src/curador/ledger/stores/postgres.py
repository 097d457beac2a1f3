"""A ledger in a PostgreSQL schema: shared by machines, also behind a pooler that shares sessions among clients.

Behind a pooler in transaction mode every transaction may run in another session, and every session in turn serves other
clients.  So nothing is assumed of a session or left in it: each statement names its schema, settings are of one
transaction, nothing is prepared on the server, and locks end with the transaction.

A server counts how long a client stays away only once it has all that was sent and knows that it is all.  So what
begins a transaction is one message, and what it writes is another, with its COMMIT: a client that is stopped or lost at
any instant is rolled back in a minute.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from select import POLLIN, poll
from typing import Any

import psycopg
from psycopg.adapt import Transformer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from curador.errors import InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.anchor.log import Anchor
from curador.ledger.stores.reopened_file import PATIENCE
from curador.ledger.stores.rows import HEAD, TABLES, UNSURE, DbRow, DbValue, T
from curador.ledger.stores.sql import SqlStore, TranslatedErrors, create_tables
from curador.ledger.stores.unit_of_work import Database

TYPES = {int: "bigint", str: 'text COLLATE "C"', bytes: "bytea"}  # keys in the order of their bytes, as in Python

LONGEST_SCHEMA = 63
"""Bytes of a name; a server cuts longer ones off, and two schemas would be one."""

_SETTINGS = {
    "synchronous_commit": "on",
    # A client that is stopped, or whose machine is gone, is rolled back; and nobody waits for longer than that.
    "idle_in_transaction_session_timeout": f"{PATIENCE}s",
    "lock_timeout": f"{PATIENCE + 5}s",
}
_SET = ", ".join(f"pg_catalog.set_config('{name}', '{value}', true)" for name, value in _SETTINGS.items())
_BEGIN = f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT {_SET}".encode()
_KEEPALIVE = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",  # milliseconds, for what was sent: the system sends no keepalives meanwhile
}
"""Seconds after which a server that does not answer any more is known to be gone, unless the address says otherwise."""

_BEGIN_READING = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = '{PATIENCE + 5}s'".encode()
_REFUSE_CHANGES = """
CREATE FUNCTION {}refuse_changes() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$
"""


def exists(url: str, schema: str) -> bool:
    """Whether a schema holds a ledger."""
    quoted(schema)
    with TranslatedErrors(translated), _connect(url) as connection:
        return _has_tables(_Database(connection), schema)


def quoted(schema: str) -> str:
    """What stands before a table's name: the schema as an identifier.

    >>> quoted("curador")
    '"curador".'
    """
    if not re.fullmatch(r"\w[\w -]*", schema) or len(schema.encode()) > LONGEST_SCHEMA:
        raise InvalidParameter(
            f"A schema of a ledger is named by letters, digits, _ and -, at most {LONGEST_SCHEMA} bytes of them, "
            f"got {schema[:80]!r}.",
            fix="Rename it.",
            code="schema-name",
            facts={"schema": schema},
        )
    return f'"{schema}".'


def _has_tables(database: Database, schema: str) -> bool:
    found = database.execute("SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? LIMIT 1", (schema,)).fetchone()
    return found is not None


def _require_unicode(database: Database) -> None:
    """Refuse a database that gives some letters back as others: what is sealed would not be what is read."""
    encoding = str(database.execute("SELECT pg_catalog.current_setting('server_encoding')", ()).fetchone()[0])
    if encoding not in ("UTF8", "SQL_ASCII"):
        raise InvalidParameter(
            f"The database holds texts in {encoding}, and not all letters.",
            fix="Make the ledger in a database whose encoding is UTF8.",
            code="ledger-encoding",
            facts={"encoding": encoding},
        )


class PostgresStore(SqlStore):
    """A schema of a PostgreSQL database as a store.

    Every writer locks the row of the head first: all locks are taken in one order, each writer sees all commits before
    its own, and no deadlock is possible.

    Guarantee: a commit is on the server's disk before its result is returned (synchronous_commit is set to on).
    Assumes: the server runs with fsync; a standby that takes over is synchronous, or its loss is a restore.
    """

    def __init__(self, url: str, schema: str, anchor: Anchor) -> None:
        self._url, self._schema, self.prefix = url, schema, quoted(schema)
        self._locking = f"SELECT tableoid FROM {self.prefix}{HEAD.name} FOR UPDATE".encode()
        self._same_tables = f"SELECT 1 / (tableoid = %d)::int FROM {self.prefix}{HEAD.name}".encode()
        self._connections: dict[str, psycopg.Connection[Any]] = {}
        self._locked: tuple[int] | None = None
        super().__init__(anchor)

    def create(self, genesis: bytes) -> None:
        """Create the schema and its tables, unless they exist."""

        def create_unless_there(database: Database) -> None:
            lock = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(?, 0))"
            database.execute(lock, (f"curador {self._schema}",))
            if not _has_tables(database, self._schema):
                _require_unicode(database)
                database.execute(f"CREATE SCHEMA IF NOT EXISTS {self.prefix.removesuffix('.')}", ())
                create_tables(database, TYPES, lambda _: "", genesis, self.prefix)
                database.execute(_REFUSE_CHANGES.format(self.prefix), ())
                for table in (t for t in TABLES if t.append_only):
                    database.execute(
                        f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {self.prefix}{table.name} "
                        f"FOR EACH STATEMENT EXECUTE FUNCTION {self.prefix}refuse_changes()",
                        (),
                    )
            self._begin(database, genesis)
            self._commit()

        with self._group.lead, self._translating:
            self._in_write(create_unless_there, new=True)

    def damage(self) -> str | None:
        return None

    def _in_write(self, work: Callable[[Database], T], new: bool = False) -> T:
        with self._writing:
            connection = self._connection("write")
            server = connection.pgconn
            try:
                begun = connection.execute(_BEGIN if new else b"%b; %b" % (_BEGIN, self._locking))
                self._locked = None if new else _last(begun).fetchone()
                self._database = _Database(connection)
                return work(self._database)
            except BaseException:
                server.finish()  # built in, so that no interrupt comes before it; the server rolls back
                raise

    def _commit(self) -> None:
        # A schema can be renamed and another put in its place at any time: names would then mean that one's tables.
        same = () if self._locked is None else (self._same_tables % self._locked,)
        try:
            said = self._database.send(*same, b"COMMIT").statusmessage
        except psycopg.errors.DivisionByZero:
            raise LedgerBroken(
                f"Another schema was put in the place of {self._schema!r} meanwhile; nothing was written.",
                fix="Open the ledger again.",
                code="ledger-replaced",
                facts={"file": self._schema},
            ) from None
        if said != "COMMIT":
            raise psycopg.OperationalError(f"the server answered {said} to a COMMIT")

    def _in_read(self, work: Callable[[Database], T], long: bool = False) -> T:
        if long:  # on a connection of its own
            with _connect(self._url) as connection:
                return _read(connection, work)
        with self._reading:
            return _read(self._connection("read"), work)

    def _connection(self, use: str) -> psycopg.Connection[Any]:
        held = self._connections.get(use)
        if held is None or held.closed or _hung_up(held):
            self._connections[use] = held = _connect(self._url)
        return held

    def _disconnect(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()

    def _translated(self, error: Exception) -> LedgerFailed | None:
        return translated(error)

    def made_anew(self) -> None:
        super().made_anew()
        for held in self._connections.values():  # psycopg closes none that another process made
            with suppress(psycopg.Error, OSError):
                os.close(held.fileno())  # without a word to the server, which sees the end when the parent is gone
        self._connections = {}


def _hung_up(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server ended an idle connection, as when it was restarted: then there is something to read, the end.

    Asking the socket costs a microsecond, and spares the next caller a refusal.
    """
    socket = poll()  # select() does not know sockets of numbers above 1,023
    try:
        socket.register(connection.fileno(), POLLIN)
        while socket.poll(0):  # a server says why first
            connection.pgconn.consume_input()
    except (psycopg.Error, OSError):
        connection.pgconn.finish()
    return connection.closed


def _connect(url: str) -> psycopg.Connection[Any]:
    stated = _KEEPALIVE | conninfo_to_dict(url) | {"client_encoding": "UTF8"}  # whatever the address or its owner says
    return psycopg.connect(make_conninfo("", **stated), autocommit=True, prepare_threshold=None)


def _read(connection: psycopg.Connection[Any], work: Callable[[Database], T]) -> T:
    server = connection.pgconn
    try:
        connection.execute(_BEGIN_READING)
        result = work(_Database(connection))
        connection.execute(b"COMMIT")
        return result
    except BaseException:
        server.finish()
        raise


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
    """A connection that takes statements with ? where a value goes; what returns nothing is sent with the next one.

    Values are written out, however long they are: where they are sent apart from their statement, a server that has
    the statement waits for them, and counts no time.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection, self._encoding = connection, connection.info.encoding
        self._written_out = Transformer(connection).as_literal
        self._waiting: list[bytes] = []

    def execute(self, statement: str, values: Sequence[DbValue]) -> Any:
        parts = statement.encode(self._encoding).split(b"?")
        text = b"".join(x for pair in zip(parts, [*map(self._written_out, values), b""], strict=True) for x in pair)
        if statement.startswith("SELECT"):
            return self.send(text)
        self._waiting.append(text)
        return None

    def executemany(self, statement: str, rows: Iterable[DbRow]) -> None:
        for row in rows:
            self.execute(statement, row)

    def send(self, *last: bytes) -> psycopg.Cursor[Any]:
        """Send all that waits, and something after it, in one message; what the server says to the last of it."""
        message, self._waiting = b"; ".join([*self._waiting, *last]), []
        return _last(self._connection.execute(message))


def _last(cursor: psycopg.Cursor[Any]) -> psycopg.Cursor[Any]:
    """A cursor at the last of its results."""
    while cursor.nextset():
        pass
    return cursor
