"""Databases of DuckDB in this process: for the tables as they are, and one for each prepared copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

import duckdb

from curador.engines.duckdb.dialects import DUCKDB
from curador.forks import keep_for_ever

NOT_OPTIMIZED = ("statistics_propagation", "filter_pushdown", "join_filter_pushdown")
"""DuckDB's optimizations that are off for tables as they are: it trusts statistics, and reading changes values.

Statistics of Parquet files leave NaN out, and rules drawn from them would drop the tests for it.  A filter in a scan,
with any expression, skips row groups by their raw minimum and maximum.  So the bytes of one row, if they are not UTF-8,
would decide whether other people's rows are read.  A prepared copy keeps all optimizations.  DuckDB wrote its integers,
truth values and texts itself, and refused texts that are not UTF-8.  Its statistics are of these values.
"""

DIED = (duckdb.FatalException, duckdb.InternalException)
"""The errors that end a whole instance of DuckDB."""


def connected(settings: Mapping[str, Any], databases: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """Open an empty database with files attached; once :func:`locked`, only these files can be read."""
    connection = duckdb.connect(":memory:", config=dict(settings))
    try:
        for catalog, path in databases.items():
            connection.execute(f"ATTACH {DUCKDB.string(path)} AS {DUCKDB.quoted(catalog)} (READ_ONLY)")
        # For the whole instance: a cursor is a connection of its own, and does not inherit the settings of another.
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute(f"SET GLOBAL disabled_optimizers = '{','.join(NOT_OPTIMIZED)}'")
    except BaseException:
        connection.close()
        raise
    return connection


def locked(connection: duckdb.DuckDBPyConnection, allowed: list[str], *, copy: bool = False) -> None:
    """Forbid opening other files than those allowed, loading extensions, and changing settings.

    ``copy`` is set for a database that holds only a prepared copy: see :data:`NOT_OPTIMIZED`.
    """
    if copy:
        connection.execute("SET GLOBAL disabled_optimizers = ''")
    connection.execute(f"SET allowed_paths = [{', '.join(map(DUCKDB.string, allowed))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


class Instance:
    """A database that opens on first use, and again after a fatal error or a fork."""

    def __init__(self, opened: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._opened, self._lock = opened, RLock()
        self._held: duckdb.DuckDBPyConnection | None = None

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._held is None:
                self._held = self._opened()
            return self._held

    @contextmanager
    def alive(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the connection; after an error that ends the whole instance, later questions get another one.

        They would otherwise fail, and pay.
        """
        used = self.connection
        try:
            yield used
        except DIED:
            with self._lock:
                if self._held is used:  # and no other question noticed before
                    self._held = None
            raise

    def made_anew(self) -> None:
        """Drop the parent's database in a forked child, where DuckDB's threads are gone."""
        if self._held is not None:
            keep_for_ever(self._held)
        self._lock, self._held = RLock(), None

    def close(self) -> None:
        if self._held is not None:
            self._held.close()
