"""Where the rows of a table live: files, a data frame in memory, or a table inside an engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import NoReturn
from urllib.parse import urlsplit

from curador.errors import InvalidParameter

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
ENGINES = ("duckdb", "postgresql", "spark")


@dataclass(frozen=True)
class Files:
    """Parquet or CSV files: one path or a glob.

    >>> read_source("visits/*.parquet")
    Files(pattern='visits/*.parquet', format='parquet')
    """

    pattern: str
    format: str

    def __post_init__(self) -> None:
        if self.format not in FORMATS.values():
            raise InvalidParameter(f"Files are Parquet or CSV, got {self.format!r}.", fix="Convert them to Parquet.")
        if not self.pattern or "\0" in self.pattern:
            raise InvalidParameter("A path is missing.", fix="Give a path or a glob, such as data/*.parquet.")


@dataclass(frozen=True, eq=False)
class Frame:
    """A data frame held by the caller: pandas, Polars, Arrow or Spark.

    Equal only to itself; its repr says the type and nothing of the data, and it is never pickled or copied, so that
    rows do not leave with what holds them.

    >>> read_source(object())
    Frame(<object>)
    """

    data: object

    def __repr__(self) -> str:
        return f"Frame(<{type(self.data).__qualname__}>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a frame of private rows does not leave the process")


@dataclass(frozen=True)
class EngineTable:
    """A table that an engine holds: a DuckDB file, a PostgreSQL server, a Spark session.

    ``url`` is the engine's address without the table; it may carry a password, so the repr leaves it out.

    >>> read_source("postgresql://ana:secret@db/health#clinic.visits")
    EngineTable('postgresql', table='visits', schema='clinic')
    >>> read_source("duckdb:///health.duckdb#visits").url
    'duckdb:///health.duckdb'
    """

    url: str
    table: str
    schema: str | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES or not self.table or self.schema == "":
            raise InvalidParameter(
                "A table of an engine is written engine://…#table or engine://…#schema.table.",
                fix=f"Use one of {', '.join(ENGINES)}, and name the table after #.",
            )

    @property
    def engine(self) -> str:
        """The engine's name: duckdb, postgresql or spark."""
        name = self.url.split(":", 1)[0].lower()
        return "postgresql" if name == "postgres" else name

    def __repr__(self) -> str:
        return f"EngineTable({self.engine!r}, table={self.table!r}, schema={self.schema!r})"


Source = Files | Frame | EngineTable


def read_source(source: object) -> Source:
    """A source from itself, from its text, or from a frame.

    >>> read_source("people.csv")
    Files(pattern='people.csv', format='csv')
    """
    if isinstance(source, Files | Frame | EngineTable):
        return source
    if not isinstance(source, str | PurePath):
        if source is None:
            raise InvalidParameter("A table needs a source.", fix="Give a path, a frame or engine://…#table.")
        return Frame(source)
    text = str(source)
    if isinstance(source, str) and "://" in text:
        return _engine_table(text)
    suffix = PurePath(text).suffix.lower()
    if suffix not in FORMATS:
        raise InvalidParameter(
            f"{PurePath(text).name!r} is neither Parquet nor CSV.",
            fix="End the path in .parquet or .csv, or write engine://…#table.",
        )
    return Files(text, FORMATS[suffix])


def _engine_table(text: str) -> EngineTable:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    schema, _, table = parts.fragment.rpartition(".")
    return EngineTable(text.removesuffix(f"#{parts.fragment}"), table, schema or None)
