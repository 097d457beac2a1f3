"""The common part of all SQL engines: trees become SQL text, and any error becomes a constant one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, TypeVar

from curador.engines.column_sql import between_ids, check_column, named_columns, read_columns
from curador.engines.dialect import Dialect
from curador.engines.engine import Cells, ExactCounts, Progress, ResultRows, Take, exact_counts, failed
from curador.engines.render import render
from curador.errors import InvalidParameter
from curador.forks import after_fork
from curador.query.sql_plan.exact import Exact, ReadAs, Scan
from curador.query.sql_plan.prepared import Preparation, Prepared
from curador.query.sql_plan.truncate import GROUP_RANK, ROW_RANK
from curador.query.tables.columns import Key
from curador.query.tables.table import Table

_T = TypeVar("_T")

OnError = Callable[[Exception], None]
"""Callback that receives the database's own error: for the curator's private log, since the error may quote rows."""


class SqlEngine(ABC):
    """An engine that speaks SQL.

    A subclass opens the tables, fills ``_types`` and runs texts on one snapshot.

    ``name`` is the scheme of its addresses.  ``copies_in_files`` is False where prepared copies are stored as tables of
    the database, so that no path can be chosen for them.
    """

    name: ClassVar[str]
    dialect: ClassVar[Dialect]
    copies_in_files: ClassVar[bool] = True

    def __init__(self, timeout: float, on_error: OnError | None) -> None:
        self._timeout, self._on_error = timeout, on_error
        self._types: dict[str, dict[str, str]] = {}
        self._guessed: set[str] = set()  # tables whose types may have been guessed from their rows
        after_fork(self)

    @abstractmethod
    def _relation(self, table: str) -> str:
        """The SQL text of a table."""

    def _dialect_of(self, table: str) -> Dialect:
        """The dialect for reading the columns of a table."""
        return self.dialect

    @abstractmethod
    def _results(self, exact: Exact, texts: tuple[str, ...], progress: Progress | None) -> list[ResultRows]:
        """Run every text, all on one snapshot, and return the rows."""

    @abstractmethod
    def _stream(self, exact: Exact, text: str, take: Take, progress: Progress | None) -> None:
        """Pass the rows of a text, which are integers, to ``take``: some at a time, all from one snapshot."""

    @abstractmethod
    def prepare(
        self, preparation: Preparation, path: str | Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        """Store a table with its ranks, and use it from now on."""

    @abstractmethod
    def attach(self, prepared: Prepared) -> None:
        """Use a table that was prepared before."""

    @abstractmethod
    def made_anew(self) -> None:
        """Leave the parent's connections alone in a forked child, and have none."""

    @abstractmethod
    def reopen(self) -> None:
        """Open again what was opened before a fork, or refuse; do nothing in the process that opened it."""

    @abstractmethod
    def close(self) -> None:
        """Close connections and release the data."""

    def describe(self, table: str) -> list[tuple[str, str]]:
        """List the columns of a table, and their types by the engine's names; no row is read."""
        return list(self._types[table].items())

    def identities(self, table: str) -> tuple[str, ...]:
        """The database's own addresses of the stored rows of a table; two names of the same rows share one."""
        return ()

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse a table whose declared columns are missing, or cannot be read as they are declared."""
        for name, table in tables.items():
            if name not in self._types:
                raise InvalidParameter(f"The engine that was given has no table {name!r}.", fix="Open it there, too.")
            for column, declared in table.columns.items():
                way = ReadAs.ID if column == table.unit.id else ReadAs.DECLARED
                check_column(column, declared.kind, self.dialect, self._types[name], way)

    def sql(self, exact: Exact) -> tuple[str, ...]:
        """The statements as this engine runs them, for people to read.

        Arrays may find the same integers instead.

        Guarantee: the text does not depend on rows.  Types of a frame, or of a Parquet file written from one, may have
        been guessed from its rows, so their conversions are left out.  The name of a prepared copy holds a digest of
        the rows, so another name is shown.
        """
        return self._texts(exact, self._public_relation, self._guessed)

    def _public_relation(self, table: str) -> str:
        name, copy, _ = table.partition("\t")  # see Prepared.relation
        return self.dialect.quoted(f"{name} prepared") if copy else self._shown(table)

    def _shown(self, table: str) -> str:
        """The name of a table for people, where it differs from the engine's own."""
        return self._relation(table)

    def _texts(self, exact: Exact, relation: Callable[[str], str], hidden: Collection[str] = ()) -> tuple[str, ...]:
        scans = {
            s.name: named_columns(s, self.dialect, relation(s.table))
            if s.table in hidden
            else self._scan_text(s, relation(s.table))
            for s in exact.scans
        }
        return tuple(render(s.tree, self.dialect, scans) for s in exact.statements)

    def _scan_text(self, scan: Scan, relation: str, ends: tuple[int, int] | None = None) -> str:
        """Write the columns that a scan reads, of all units or of those between two ids."""
        dialect, types = self._dialect_of(scan.table), self._types[scan.table]
        source = relation if ends is None else between_ids(scan, dialect, relation, types, ends)
        return read_columns(scan, dialect, source, types)

    def _stored_text(self, preparation: Preparation) -> str:
        """Write the query for the rows to be stored, by rank, so that a question reads adjacent rows."""
        scan = preparation.scan
        source = self._scan_text(scan, self._relation(scan.table))
        order = ", ".join(map(self.dialect.quoted, (GROUP_RANK, ROW_RANK)))
        return f"{render(preparation.tree, self.dialect, {scan.name: source})} ORDER BY {order}"

    def run(self, exact: Exact, progress: Progress | None = None) -> ExactCounts:
        """Compute the exact integers, all from one snapshot."""
        return self._guarded(lambda: exact_counts(exact, self._exact_rows(exact, progress)))

    def records(self, exact: Exact, take: Take, progress: Progress | None = None) -> None:
        """Pass the rows of the only statement to ``take``; any failure, there too, becomes the constant error."""
        (text,) = self._run_texts(exact)
        self._guarded(lambda: self._stream(exact, text, take, progress))

    def tallied(self, exact: Exact, progress: Progress | None = None) -> list[Cells]:
        """Run the statements of tallies on one snapshot; the results are integers."""

        def found() -> list[Cells]:
            results = self._results(exact, self._run_texts(exact), progress)
            return [[tuple(None if x is None else int(x) for x in row) for row in rows] for rows in results]

        return self._guarded(found)

    def listed(self, exact: Exact) -> list[tuple[Key, ...]]:
        """List the distinct rows of a public table without NULL, in order."""
        if any(s.measures for s in exact.statements):
            raise InvalidParameter("This plan measures private rows and cannot be listed.", fix="Run it instead.")
        found = self._attempt(lambda: exact_counts(exact, self._exact_rows(exact, None)).keys)
        if not found:
            raise InvalidParameter("A public table could not be read.", fix="Check its source, and the engine.")
        return [tuple(x for x in key if x is not None) for key in found[0] if None not in key]

    def _exact_rows(self, exact: Exact, progress: Progress | None) -> list[ResultRows]:
        """The rows of every statement; an engine may find them in another way than by the statements."""
        return self._results(exact, self._run_texts(exact), progress)

    def _run_texts(self, exact: Exact) -> tuple[str, ...]:
        return self._texts(exact, self._relation)

    def _guarded(self, work: Callable[[], _T]) -> _T:
        """Do the work, or raise the constant error."""
        found = self._attempt(work)
        if not found:
            raise failed()
        return found[0]

    def _attempt(self, work: Callable[[], _T]) -> list[_T]:
        """Return the result in a list, empty if anything went wrong.

        The caller raises outside of the except block.  Raised inside, the error would carry the database's as its
        context.
        """
        try:
            return [work()]
        except Exception as error:  # noqa: BLE001  any error may depend on the data
            if self._on_error is not None:
                with suppress(Exception):  # an error of the log must not reach the analyst
                    self._on_error(error)
            return []
