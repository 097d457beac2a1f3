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
"""What DuckDB may not do with a plan over tables as they are: it trusts statistics, and reading changes values.

Statistics of Parquet files leave NaN out, and rules drawn from them would drop the tests for it.  A filter in a scan,
whatever its expression, skips row groups by their raw minimum and maximum: whether other people's rows are read would
depend on one row's bytes that are not UTF-8.  A prepared copy is read as it is: DuckDB wrote its integers, truth values
and texts itself, refusing texts that are not UTF-8, and its statistics are of them.
"""

DIED = (duckdb.FatalException, duckdb.InternalException)
"""The errors that end a whole instance of DuckDB."""


def connected(settings: Mapping[str, Any], databases: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """An empty database with files attached, which nothing but these may be read from once it is :func:`locked`."""
    connection = duckdb.connect(":memory:", config=dict(settings))
    try:
        for catalog, path in databases.items():
            connection.execute(f"ATTACH {DUCKDB.string(path)} AS {DUCKDB.quoted(catalog)} (READ_ONLY)")
        # For the whole instance: a cursor is a connection of its own, and does not inherit what is set for another.
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute(f"SET GLOBAL disabled_optimizers = '{','.join(NOT_OPTIMIZED)}'")
    except BaseException:
        connection.close()
        raise
    return connection


def locked(connection: duckdb.DuckDBPyConnection, allowed: list[str], *, copy: bool = False) -> None:
    """From now on no file but those allowed can be opened, no extension loaded and no setting changed.

    ``copy`` is set for a database that holds nothing but a prepared copy: see :data:`NOT_OPTIMIZED`.
    """
    if copy:
        connection.execute("SET GLOBAL disabled_optimizers = ''")
    connection.execute(f"SET allowed_paths = [{', '.join(map(DUCKDB.string, allowed))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


class Instance:
    """A database that is opened when it is first needed, anew after an error that ended it, and anew after a fork."""

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
        """The connection; if what is done with it ends the whole instance, later questions get another.

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
        """In a forked child DuckDB's threads are gone."""
        if self._held is not None:
            keep_for_ever(self._held)
        self._lock, self._held = RLock(), None

    def close(self) -> None:
        if self._held is not None:
            self._held.close()
