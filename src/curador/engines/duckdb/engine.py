"""The DuckDB engine: reads files, data frames and tables of DuckDB files, inside this process."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from curador.engines.deadline import of_percent, reported, watched
from curador.engines.dialect import Dialect
from curador.engines.duckdb.cut import Integers
from curador.engines.duckdb.describe import Columns, described, described_parquet, described_table
from curador.engines.duckdb.dialects import DUCKDB, PARQUET, CsvDialect
from curador.engines.duckdb.files import Stamp, has_csv_fields, paths, reader, stamps, unreadable_csv
from curador.engines.duckdb.frames import arrow
from curador.engines.duckdb.instance import DIED, Instance, connected, locked
from curador.engines.duckdb.packed import Ends, counted
from curador.engines.duckdb.spill import SpillFolders
from curador.engines.engine import AT_ONCE, LONGEST_WAIT, Progress, ResultRows, Take, failed
from curador.engines.registry import engine_entry
from curador.engines.render import render
from curador.engines.sql_engine import OnError, SqlEngine
from curador.errors import InvalidParameter
from curador.forks import process
from curador.query.sql_plan.exact import BoundedRows, Exact
from curador.query.sql_plan.ir import Select
from curador.query.sql_plan.prepared import PREPARED_MARK, Preparation, Prepared
from curador.query.tables.csv_format import CsvFormat
from curador.query.tables.paths import number_of
from curador.query.tables.sources import Files, Frame, Source
from curador.query.tables.table import Table

WRITTEN, PREPARED = "written", "prepared"
"""The names of an attached file that is being prepared, and of the table in it."""

MOST_STATEMENTS = 64
"""The most parsed statements in the cache."""


class DuckDB(SqlEngine):
    """Tables that DuckDB reads in this process, by name.

    ``memory`` is the most that DuckDB may use, in its notation.  Intermediate results that do not fit are written to a
    private folder below ``spill``, by default the system's temporary one, and removed (:class:`SpillFolders`).
    ``timeout`` is in seconds, for all statements of a plan together.  A prepared copy has a database of its own, with
    the same limits.

    Guarantee: after the tables are opened no other file can be read or written, no extension loaded, no setting
    changed.  A plan on files that change while it runs fails.  A forked child reads through databases of its own.

    >>> import pyarrow
    >>> engine = DuckDB({"people": Frame(pyarrow.table({"age": [30, 40]}))})
    >>> engine.describe("people")
    [('age', 'BIGINT')]
    >>> engine.close()
    """

    name = "duckdb"
    dialect = DUCKDB

    def __init__(
        self,
        sources: Mapping[str, Source],
        *,
        threads: int | None = None,
        memory: str = "4GB",
        spill: str | Path | None = None,
        timeout: float = LONGEST_WAIT,
        on_error: OnError | None = None,
    ) -> None:
        super().__init__(timeout, on_error)
        self._settings: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "memory_limit": memory,
            **({} if threads is None else {"threads": threads}),
        }
        self._spill = SpillFolders(spill)
        self._statements: dict[tuple[int, int], tuple[Exact, duckdb.Statement]] = {}
        self._frames: dict[str, Any] = {}
        self._files: dict[str, list[str]] = {}
        self._databases: dict[str, str] = {}
        self._views: dict[str, str] = {}
        self._parquet: set[str] = set()
        self._csv: dict[str, list[Stamp]] = {}
        self._copies: dict[str, Instance] = {}
        self._written: dict[str, CsvFormat] = {}
        for name, source in sources.items():
            self._resolve(name, source)
        self._rows = Instance(self._open)
        self._rows.connection  # noqa: B018  a table that cannot be opened is refused here
        self._types = {name: dict(self._described(name)) for name in sources}

    # ---- opening -----------------------------------------------------------------------------------------------

    def _resolve(self, name: str, source: Source) -> None:
        """Note the place of a table's rows: a frame, files, or a table of a database file."""
        if isinstance(source, Frame):
            if source.made != process() and type(source.data).__module__.partition(".")[0] == "polars":
                raise InvalidParameter(
                    f"The table {name!r} is a Polars frame from before a fork, and Polars hangs there.",
                    fix="Open the curator and ask once before the fork, or make the frame after it.",
                    code="frame-before-fork",
                )
            self._frames[name] = arrow(source.data)
            self._guessed.add(name)
        elif isinstance(source, Files):
            self._files[name] = paths(source.pattern)
            self._views[name] = reader(source.format, self._files[name], DUCKDB, source.csv)
            if source.format == "parquet":
                self._parquet.add(name)
                self._guessed.add(name)
            else:
                self._csv[name], self._written[name] = [], source.csv
        elif (home := engine_entry(source).name) == self.name:
            catalog = self._add_database(source.path)
            self._files[name] = [self._databases[catalog]]
            self._views[name] = _qualified(catalog, source.schema or "main", source.table)
        else:
            raise InvalidParameter(f"The table {name!r} lives in {home}.", fix="Open it with that engine.")

    def _add_database(self, path: str) -> str:
        """Note a database file to attach; return its name once attached."""
        if not os.path.isfile(path):
            raise InvalidParameter(
                f"No DuckDB file {Path(path).name!r} was found.",
                fix="Fix its path.",
                code="no-database-file",
                facts={"file": Path(path).name},
            )
        there = os.path.realpath(path)
        catalog = f"file {there}"
        self._databases[catalog] = there
        return catalog

    def _open(self) -> duckdb.DuckDBPyConnection:
        """Open an empty database with the files attached; after that nothing else can be opened."""
        self._statements = {}
        with _opening():
            connection = self._attach_files(self._views)
            locked(connection, sorted({path for name in self._views for path in self._files[name]}))
        return connection

    def _attach_files(self, views: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
        """Open a database in which these tables can be read; other rights are not settled yet."""
        connection = self._connect(self._databases)
        for name, relation in views.items():
            connection.execute(f"CREATE VIEW {self._relation(name)} AS SELECT * FROM {relation}")
        return connection

    def _connect(self, databases: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
        # A folder of its own: two databases would write files of the same names.
        return connected({**self._settings, "temp_directory": self._spill.new()}, databases)

    def identities(self, table: str) -> tuple[str, ...]:
        """The disk's numbers for the files that are read; a table of a database file has none."""
        files = self._files[table] if table in self._csv or table in self._parquet else []
        return tuple(number for file in files if (number := number_of(file)) is not None)

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse unreadable declared columns and malformed CSV files; everything is read once."""
        super().check(tables)
        if not self._attempt(lambda: self._verify(tables)):
            raise unreadable_csv()

    @contextmanager
    def _reading(self, tables: Iterable[str]) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the connection to read verified tables with; raise an error if a file changes meanwhile."""
        files = [path for name in tables for path in self._files.get(name, [])]
        before = stamps(files)  # before verifying the files, so that the same bytes are verified and read
        self._verify(tables)
        copy = next((name for name in tables if PREPARED_MARK in name), None)  # a plan of one reads nothing else
        with (self._rows if copy is None else self._copies[copy]).alive() as used:
            yield used
        if stamps(files) != before:
            raise OSError("a file changed while it was read")

    def _verify(self, tables: Iterable[str]) -> None:
        """Read every field of CSV files that are new or changed; raise an error if one is malformed.

        Rows would otherwise appear and vanish with the columns that a question reads.
        """
        for name in self._csv.keys() & set(tables):
            if self._csv[name] != (now := stamps(self._files[name])):
                written = self._written[name]
                if not all(has_csv_fields(file, written.delimiter) for file in self._files[name]):
                    raise ValueError("broken quotes, or mixed line ends")
                if reader("csv", self._files[name], DUCKDB, written) != self._views[name]:
                    raise ValueError("other columns than when the file was opened")  # columns are read by their places
                with self._rows.alive() as used, used.cursor() as cursor:
                    cursor.execute(f"SELECT COUNT(*), COUNT(COLUMNS(*)) FROM {self._relation(name)}").fetchall()
                self._csv[name] = now

    def _cursor(self, tables: Iterable[str]) -> duckdb.DuckDBPyConnection:
        """Make a connection for one thread, with the frames registered.

        A frame is visible only to its own connection.
        """
        return self._register(self._connection.cursor(), tables)

    def _register(self, cursor: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> duckdb.DuckDBPyConnection:
        for name in self._frames.keys() & set(tables):
            cursor.register(name, self._frames[name])
        return cursor

    def _described(self, table: str) -> Columns:
        relation = self._relation(table)
        try:
            with self._cursor([table]) as cursor:
                run = lambda text: cursor.execute(text).fetchall()  # noqa: E731
                if table in self._parquet:
                    return described_parquet(run, relation, self._files[table], DUCKDB)
                if table in self._frames or table in self._csv:
                    return described(run, relation)
                return described_table(run, relation, DUCKDB)
        except duckdb.Error:
            raise InvalidParameter(
                "DuckDB could not open a table.", fix="Check its source and its format.", code="table-unreadable"
            ) from None

    # ---- asking ------------------------------------------------------------------------------------------------

    def _relation(self, table: str) -> str:
        return DUCKDB.quoted(table)

    def _dialect_of(self, table: str) -> Dialect:
        written = self._written.get(table)
        if written is not None:
            return CsvDialect(written)
        return PARQUET if table in self._parquet else DUCKDB

    @contextmanager
    def _asking(self, exact: Exact, progress: Progress | None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection to run a plan with, until the engine's time is over."""
        tables = [scan.table for scan in exact.scans]
        with (
            self._reading(tables) as used,
            self._register(used.cursor(), tables) as cursor,
            watched(self._timeout, cursor.interrupt, progress, of_percent(cursor.query_progress)),
        ):
            yield cursor

    def _results(self, exact: Exact, texts: tuple[str, ...], progress: Progress | None) -> list[ResultRows]:
        pairs = list(zip(texts, exact.statements, strict=True))
        with self._asking(exact, progress) as cursor, _snapshot(cursor, len(pairs) > 1):
            return [_fetch_rows(cursor.execute(text), s.listed and exact.keys is not None) for text, s in pairs]

    def _exact_rows(self, exact: Exact, progress: Progress | None) -> list[ResultRows]:
        if exact.bounded is not None:
            with self._asking(exact, progress) as cursor:
                found = self._on_arrays(exact, exact.bounded, cursor)
            if found is not None:
                return [found]
        return super()._exact_rows(exact, progress)

    def _on_arrays(self, exact: Exact, bounded: BoundedRows, cursor: duckdb.DuckDBPyConnection) -> ResultRows | None:
        """Compute the result of the one statement on arrays; None where they cannot hold its rows."""

        def fetch(tree: Select, ends: Ends | None = None, most: int | None = None) -> list[Integers]:
            found = cursor.execute(self._parse(exact, tree, ends, most, cursor)).fetchnumpy()
            return [np.asarray(column, np.int64) for column in found.values()]

        text_files = not self._csv.keys().isdisjoint(s.table for s in exact.scans)  # slow to read again
        return counted(bounded, fetch, None if text_files else _snapshot(cursor))

    def _parse(
        self, exact: Exact, tree: Select, ends: Ends | None, most: int | None, cursor: duckdb.DuckDBPyConnection
    ) -> duckdb.Statement:
        """Parse the statement that reads packed rows; cache the slow parse for all rows of a plan."""
        if kept := ends is None and most is not None and self._statements.get((id(exact), most)):
            return kept[1]
        scans = {s.name: self._scan_text(s, self._relation(s.table), ends) for s in exact.scans}
        limit = "" if most is None else f" LIMIT {most}"
        (made,) = cursor.extract_statements(render(tree, DUCKDB, scans) + limit)
        if ends is None and most is not None:
            if len(self._statements) >= MOST_STATEMENTS:
                self._statements.clear()
            self._statements[id(exact), most] = exact, made  # with the plan, so that no other plan gets its number
        return made

    def _stream(self, exact: Exact, text: str, take: Take, progress: Progress | None) -> None:
        with self._asking(exact, progress) as cursor:
            for batch in cursor.sql(text).to_arrow_reader(AT_ONCE):
                take(np.stack([column.to_numpy().astype(np.int64) for column in batch.columns], axis=1))

    def made_anew(self) -> None:
        self._rows.made_anew()
        for name, copy in list(self._copies.items()):
            copy.made_anew()
            if name not in self._files:  # it was in memory
                del self._copies[name]

    def reopen(self) -> None:
        """Reopen databases that a fork, or an error inside DuckDB, has ended; frames stay as they were read."""
        _ = self._connection
        for copy in list(self._copies.values()):
            with suppress(duckdb.Error, OSError, InvalidParameter):  # a question that needs it fails
                _ = copy.connection

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return self._rows.connection

    def close(self) -> None:
        for instance in (self._rows, *self._copies.values()):
            instance.close()
        self._spill.remove()

    # ---- preparing ---------------------------------------------------------------------------------------------

    def prepare(
        self, preparation: Preparation, path: str | Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        """Store a table with its ranks in a new database file, or in memory, and use it from now on.

        Guarantee: the snapshot is the SHA-256 of the file, so a changed file is refused when it is attached.
        """
        if path is not None and os.path.exists(path):
            raise InvalidParameter(f"{Path(path).name!r} exists already.", fix="Choose a new file.")
        if path is not None:
            if not self._attempt(lambda: self._write(preparation, str(path), progress)):
                with suppress(OSError):
                    os.unlink(path)
                raise failed()
            made = preparation.at(str(path), _digest(path))
            self.attach(made)
            return made
        made = preparation.at("", uuid.uuid4().hex)
        of = stamps(self._files.get(preparation.table, []))
        copy = Instance(lambda: self._in_memory(preparation, made.relation, of))
        self._guarded(lambda: copy.connection)
        self._types[made.relation], self._copies[made.relation] = {}, copy
        return made

    def _write(self, preparation: Preparation, path: str, progress: Progress | None) -> None:
        table = preparation.table
        with self._reading([table]), self._attach_files(self._only(table)) as connection:
            connection.execute(f"ATTACH {DUCKDB.string(path)} AS {DUCKDB.quoted(WRITTEN)}")
            connection.execute("SET enable_progress_bar_print = false")
            connection.execute("SET enable_progress_bar = true")  # counts, and prints nothing
            connection.execute("SET lock_configuration = true")
            self._register(connection, [table])
            text = f"CREATE TABLE {_qualified(WRITTEN, 'main', PREPARED)} AS {self._stored_text(preparation)}"
            with reported(progress, of_percent(connection.query_progress)):
                connection.execute(text)

    def _in_memory(self, preparation: Preparation, relation: str, of: list[Stamp]) -> duckdb.DuckDBPyConnection:
        """Build a database that holds a copy; a rebuilt copy must be of the same rows."""
        table = preparation.table
        if stamps(self._files.get(table, [])) != of:
            raise OSError("the rows are others now")
        connection = self._attach_files(self._only(table))
        try:
            with self._reading([table]):
                self._register(connection, [table])
                connection.execute(f"CREATE TABLE {self._relation(relation)} AS {self._stored_text(preparation)}")
            if table in self._frames:
                connection.unregister(table)
            else:
                connection.execute(f"DROP VIEW {self._relation(table)}")
            for catalog in self._databases:
                connection.execute(f"DETACH {DUCKDB.quoted(catalog)}")
            locked(connection, [], copy=True)
        except BaseException as error:
            connection.close()
            if isinstance(error, DIED):  # as it would every time
                self._copies.pop(relation, None)
            raise
        return connection

    def _only(self, table: str) -> dict[str, str]:
        return {table: self._views[table]} if table in self._views else {}

    def attach(self, prepared: Prepared) -> None:
        """Use a table that was prepared before; refused unless the file is the stored one."""
        if not os.path.isfile(prepared.place) or _digest(prepared.place) != prepared.snapshot:
            raise InvalidParameter(
                f"The file prepared for {prepared.table!r} is gone or was changed.", fix="Prepare the table again."
            )
        for name in [name for name in self._copies if not all(map(os.path.isfile, self._files.get(name, [])))]:
            del self._copies[name], self._files[name]  # another copy stands in its place
        name, there = prepared.relation, os.path.realpath(prepared.place)
        self._files[name], self._types[name] = [there], {}
        self._copies[name] = copy = Instance(lambda: self._in_file(name, there))
        _ = copy.connection

    def _in_file(self, relation: str, path: str) -> duckdb.DuckDBPyConnection:
        """Open a database in which a copy in a file can be read, and nothing else."""
        with _opening():
            connection = self._connect({WRITTEN: path})
            table = _qualified(WRITTEN, "main", PREPARED)
            connection.execute(f"CREATE VIEW {self._relation(relation)} AS SELECT * FROM {table}")
            locked(connection, [path], copy=True)
        return connection


@contextmanager
def _opening() -> Iterator[None]:
    """Hide DuckDB's own error about a source, since it may quote rows."""
    try:
        yield
    except duckdb.Error:
        raise InvalidParameter(
            "DuckDB could not open a table.", fix="Check its source and its format.", code="table-unreadable"
        ) from None


def _qualified(*parts: str) -> str:
    return ".".join(map(DUCKDB.quoted, parts))


def _digest(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _snapshot(cursor: duckdb.DuckDBPyConnection, several: bool = True) -> Iterator[None]:
    """Run several statements in a transaction; a single one is its own transaction."""
    if several:
        cursor.execute("BEGIN TRANSACTION")
    yield
    if several:
        cursor.execute("ROLLBACK")


def _fetch_rows(cursor: duckdb.DuckDBPyConnection, integers: bool) -> ResultRows:
    """Fetch all rows; rows of integers only, perhaps as many as the table's, become one array."""
    if not integers:
        found: ResultRows = cursor.fetchall()
        return found
    columns = cursor.fetchnumpy().values()
    return np.stack([np.asarray(c, np.int64) for c in columns], axis=1)
