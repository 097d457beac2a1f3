"""Which engine a table lives in, and how it is opened: a driver is loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from curador.errors import InvalidParameter
from curador.query.tables.sources import EngineTable, Frame, Source

if TYPE_CHECKING:
    from curador.engines.sql_engine import SqlEngine

ENGINES = MappingProxyType(
    {
        "duckdb": ("curador.engines.duckdb.engine", "DuckDB", "curador"),
        "postgresql": ("curador.engines.postgres", "Postgres", "curador[postgres]"),
        "spark": ("curador.engines.spark", "Spark", "curador[spark]"),
    }
)
"""Of every engine its room, its class, and what to install for its driver."""


def open_engine(sources: Mapping[str, Source], on_error: Callable[[Exception], None] | None = None) -> SqlEngine:
    """The engine that these tables live in, opened; no row is read.

    >>> import pyarrow
    >>> engine = open_engine({"people": Frame(pyarrow.table({"age": [30, 40]}))})
    >>> engine.describe("people")
    [('age', 'BIGINT')]
    >>> engine.close()
    """
    home = shared_home(sources.values())
    module, name, package = ENGINES[home]
    try:
        engine = getattr(import_module(module), name)
    except ModuleNotFoundError:
        raise InvalidParameter(
            f"The driver for {home} is not installed.", fix=f"Run: pip install '{package}'"
        ) from None
    opened: SqlEngine = engine(sources, on_error=on_error)
    return opened


def shared_home(sources: Iterable[Source]) -> str:
    """The name of the one engine that all these live in.

    >>> from curador.query.tables.sources import read_source
    >>> shared_home([read_source("a.csv"), read_source("duckdb:///b.duckdb#b")])
    'duckdb'
    """
    homes = sorted({home_of(source) for source in sources})
    if len(homes) > 1:
        raise InvalidParameter(
            f"The tables of this question live in {' and '.join(homes)}.", fix="Join tables of one engine."
        )
    return homes[0]


def home_of(source: Source) -> str:
    """The name of the engine that a table lives in; files and frames are DuckDB's to read.

    >>> from curador.query.tables.sources import read_source
    >>> home_of(read_source("postgresql://db/health#visits"))
    'postgresql'
    """
    if isinstance(source, EngineTable):
        return source.engine
    if isinstance(source, Frame) and type(source.data).__module__.startswith("pyspark"):
        return "spark"
    return "duckdb"
