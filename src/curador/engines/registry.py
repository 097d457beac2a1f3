"""The list of engines, the engine of each table, and how it is opened.

A new engine is one file and one line in :data:`ENGINES`.  Its class declares its name, its dialect (with the types it
stores) and where it stores copies.  A driver is loaded when its engine is first needed, so the line holds all that must
be known before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from curador.errors import InvalidParameter
from curador.query.tables.names import suggestion
from curador.query.tables.paths import listed
from curador.query.tables.sources import EngineTable, Files, Frame, Source

if TYPE_CHECKING:
    from curador.engines.sql_engine import SqlEngine


@dataclass(frozen=True)
class EngineEntry:
    """An engine before its driver is loaded.

    * ``module`` and ``class_name`` locate it.
    * ``driver`` is the package that the module imports; a data frame made by it lives in this engine too.
    * ``extra`` is the extra of ``curador`` that installs the driver; None where the core does.
    * ``schemes`` begin the addresses of its tables; the first one is its name.
    * ``in_file`` is True where an address holds the path of a database file.
    """

    module: str
    class_name: str
    driver: str
    extra: str | None
    schemes: tuple[str, ...]
    in_file: bool = False

    @property
    def name(self) -> str:
        return self.schemes[0]

    @property
    def requirement(self) -> str:
        """The pip requirement, in a clone of Curador, that brings the driver.

        >>> ENGINES["spark"].requirement
        '.[spark]'
        """
        return "." if self.extra is None else f".[{self.extra}]"


DEFAULT = EngineEntry("curador.engines.duckdb.engine", "DuckDB", "duckdb", None, ("duckdb",), in_file=True)
"""The engine that reads files, and data frames that no other engine made."""

ENGINES: Mapping[str, EngineEntry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            DEFAULT,
            EngineEntry("curador.engines.postgres", "Postgres", "psycopg", "postgres", ("postgresql", "postgres")),
            EngineEntry("curador.engines.spark", "Spark", "pyspark", "spark", ("spark",)),
        )
    }
)
"""Every engine, by its name."""


def engine_entry(source: Source) -> EngineEntry:
    """Find the engine of a table; the address of an unknown engine is refused.

    >>> from curador.query.tables.sources import read_source
    >>> engine_entry(read_source("postgres://db/health#visits")).name
    'postgresql'
    >>> engine_entry(read_source("duckbd:///health.duckdb#visits"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: No engine is called 'duckbd'. To do: Did you mean 'duckdb'? ...
    """
    if isinstance(source, Files):
        return DEFAULT
    if isinstance(source, Frame):
        maker = type(source.data).__module__.partition(".")[0]
        return next((entry for entry in ENGINES.values() if entry.driver == maker), DEFAULT)
    found = next((entry for entry in ENGINES.values() if source.scheme in entry.schemes), None)
    if found is None:
        raise InvalidParameter(
            f"No engine is called {source.scheme!r}.",
            fix=suggestion(source.scheme, ENGINES, "Write engine://…#table; the engines are"),
            code="unknown-engine",
            facts={"scheme": source.scheme},
        )
    return found


def shared_engine(sources: Iterable[Source]) -> EngineEntry:
    """Find the engine of all these sources; tables of several engines are refused.

    >>> from curador.query.tables.sources import read_source
    >>> shared_engine([read_source("a.csv"), read_source("duckdb:///b.duckdb#b")]).name
    'duckdb'
    """
    found = {entry.name: entry for entry in map(engine_entry, sources)}
    if len(found) > 1:
        raise InvalidParameter(
            f"The tables of this question live in {' and '.join(sorted(found))}.",
            fix="Join tables of one engine.",
            code="engines-differ",
        )
    return next(iter(found.values()))


def in_file(source: Source) -> bool:
    """Whether a source is a table in a database file, whose address holds a path.

    >>> from curador.query.tables.sources import read_source
    >>> in_file(read_source("duckdb:///b.duckdb#b")), in_file(read_source("postgresql:///b#b"))
    (True, False)
    """
    return isinstance(source, EngineTable) and engine_entry(source).in_file


def missing_file(source: Source) -> str:
    """The path of a source whose file is missing, or the pattern that matches none; else an empty text.

    >>> from curador.query.tables.sources import read_source
    >>> missing_file(read_source("/nowhere/people.csv")), missing_file(read_source("postgresql:///b#b"))
    ('/nowhere/people.csv', '')
    """
    if isinstance(source, Files):
        found = listed(source.pattern)
        return "" if found and all(map(os.path.isfile, found)) else source.pattern
    return (
        source.path if isinstance(source, EngineTable) and in_file(source) and not os.path.isfile(source.path) else ""
    )


def engine_class(entry: EngineEntry) -> type[SqlEngine]:
    """Import the engine's class with its driver."""
    try:
        found: type[SqlEngine] = getattr(import_module(entry.module), entry.class_name)
    except ModuleNotFoundError:
        raise InvalidParameter(
            f"The driver for {entry.name} is not installed.",
            fix=f"Run, in a clone of Curador: pip install '{entry.requirement}'",
            code="driver-missing",
            facts={"engine": entry.name, "requirement": entry.requirement},
        ) from None
    return found


def open_engine(sources: Mapping[str, Source], on_error: Callable[[Exception], None] | None = None) -> SqlEngine:
    """Open the engine of these tables; no row is read.

    >>> import pyarrow
    >>> engine = open_engine({"people": Frame(pyarrow.table({"age": [30, 40]}))})
    >>> engine.describe("people")
    [('age', 'BIGINT')]
    >>> engine.close()
    """
    opened: Callable[..., SqlEngine] = engine_class(shared_engine(sources.values()))  # each has limits of its own
    return opened(sources, on_error=on_error)
