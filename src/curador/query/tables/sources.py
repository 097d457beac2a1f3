"""Where the rows of a table are: files, a data frame in memory, or a table of an engine.

Which engines there are is not known here: an address with any scheme is accepted, and refused when it is opened if no
engine has that scheme.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import NoReturn
from urllib.parse import quote, unquote, urlsplit
from weakref import WeakKeyDictionary

from curador.errors import InvalidParameter
from curador.forks import process
from curador.query.tables.csv_format import CsvFormat, read_csv_format

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}

SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class Files:
    """Parquet or CSV files: one path or a glob.  ``csv`` says how CSV files are written; they may be gzipped.

    >>> read_source("visits/*.parquet")
    Files(pattern='visits/*.parquet', format='parquet')
    """

    pattern: str
    format: str
    csv: CsvFormat = field(default=CsvFormat(), repr=False)

    def __post_init__(self) -> None:
        if self.format not in FORMATS.values():
            raise InvalidParameter(
                f"Files are Parquet or CSV, got {self.format!r}.",
                fix="Convert them to Parquet.",
                code="not-a-table-file",
            )
        if not self.pattern or "\0" in self.pattern:
            raise InvalidParameter(
                "A path is missing.", fix="Give a path or a glob, such as data/*.parquet.", code="source-needed"
            )

    @property
    def gzipped(self) -> bool:
        """Whether the files are CSV in gzip, which their names say.

        >>> read_source("people.csv.gz").gzipped
        True
        """
        return self.format == "csv" and self.pattern.lower().endswith(".gz")


@dataclass(frozen=True, eq=False)
class Frame:
    """A data frame held by the caller: pandas, Polars, Arrow or Spark; or the rows that a stream had.

    Guarantee: its repr shows the type and nothing of the data, and it cannot be pickled or copied, so rows do not leave
    with an object that holds it.  It is equal only to itself.  ``made`` is the process that declared it.

    >>> read_source(object())
    Frame(<object>)
    """

    data: object
    made: tuple[int, int] = field(default_factory=process, repr=False)

    def __repr__(self) -> str:
        return f"Frame(<{type(self.data).__qualname__}>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a frame of private rows does not leave the process")


@dataclass(frozen=True)
class EngineTable:
    """A table that an engine holds: in a DuckDB file, on a PostgreSQL server, in a Spark session.

    ``url`` is the address without the table; it may carry a password, so the repr leaves it out.

    >>> read_source("postgresql://ana:secret@db/health#clinic.visits")
    EngineTable('postgresql', table='visits', schema='clinic')
    >>> read_source("duckdb:///health.duckdb#visits").url
    'duckdb:///health.duckdb'
    """

    url: str
    table: str
    schema: str | None = None

    def __post_init__(self) -> None:
        if not _ADDRESS.match(self.url) or not self.table or self.schema == "":
            raise InvalidParameter(
                "A table of an engine is written engine://…#table or engine://…#schema.table.",
                fix="Write the engine before ://, and the table after #.",
                code="engine-address",
            )

    @property
    def scheme(self) -> str:
        """The first part of the address, which names the engine.

        >>> read_source("spark://local#visits").scheme
        'spark'
        """
        return self.url.partition("://")[0].lower()

    @property
    def path(self) -> str:
        """The path of the database file, for an engine whose address is one.

        >>> read_source("duckdb:///data/health.duckdb#t").path, read_source("duckdb:////srv/health.duckdb#t").path
        ('data/health.duckdb', '/srv/health.duckdb')
        """
        return unquote(urlsplit(self.url).path).removeprefix("/")

    def at(self, path: str | PurePath) -> EngineTable:
        """The same table in the database file at another path.

        >>> read_source("duckdb:///health.duckdb#visits").at("new data/health.duckdb").url
        'duckdb:///new%20data/health.duckdb'
        """
        return replace(self, url=f"{self.scheme}:///{quote(str(path))}")

    @property
    def address(self) -> str:
        """The text that :func:`read_source` reads; it may carry a password.

        >>> read_source("spark://local#health.visits").address
        'spark://local#health.visits'
        """
        return f"{self.url}#{self.table if self.schema is None else f'{self.schema}.{self.table}'}"

    def __repr__(self) -> str:
        return f"EngineTable({self.scheme!r}, table={self.table!r}, schema={self.schema!r})"


Source = Files | Frame | EngineTable


@dataclass(frozen=True)
class Former:
    """Stands for the rows that a table once had, which nobody reads again: only what identified them is known.

    >>> read_source(Former({}))
    Frame(<Former>)
    """

    code: Mapping[str, object]


def read_source(source: object, csv: object = None) -> Source:
    """A source from itself, from its text, or from a frame; ``csv`` makes any file a CSV file written like that.

    >>> read_source("people.csv")
    Files(pattern='people.csv', format='csv')
    >>> read_source("census.data.gz", csv={"header": False, "names": ["age", "sex"]}).csv.names
    ('age', 'sex')
    """
    if csv is not None:
        return _csv_files(source, csv)
    if isinstance(source, Files | Frame | EngineTable):
        return source
    if not isinstance(source, str | PurePath):
        if source is None:
            raise InvalidParameter(
                "A table needs a source.", fix="Give a path, a frame or engine://…#table.", code="source-needed"
            )
        return Frame(_rows_of(source))
    text = str(source)
    if isinstance(source, str) and "://" in text:
        return _engine_table(text)
    refuse_spreadsheet(text)
    suffix = PurePath(text.lower().removesuffix(".gz")).suffix
    if suffix not in FORMATS or (FORMATS[suffix] != "csv" and text.lower().endswith(".gz")):
        raise InvalidParameter(
            f"{PurePath(text).name!r} is neither Parquet nor CSV.",
            fix="End the path in .parquet, .csv or .csv.gz, say how it is written as CSV, or write engine://…#table.",
            code="not-a-table-file",
        )
    return Files(text, FORMATS[suffix])


_STREAMS = {("pyarrow", "RecordBatchReader"): "read_all", ("duckdb", "DuckDBPyRelation"): "to_arrow_table"}
"""What gives its rows once, or runs its query again each time, and the method that reads them."""

_READ: WeakKeyDictionary[object, object] = WeakKeyDictionary()
"""The rows of streams that somebody still holds: declared a second time, a stream has the same ones."""


def _rows_of(data: object) -> object:
    """A frame; of a stream, the rows that it has now.

    >>> import duckdb
    >>> read_source(duckdb.sql("SELECT 30 AS age").arrow())
    Frame(<Table>)
    """
    kind = type(data)
    method = _STREAMS.get((kind.__module__.partition(".")[0].lstrip("_"), kind.__name__))
    if method is None:
        return data
    with suppress(Exception):  # whatever it is, it may quote a value
        if data not in _READ:
            _READ[data] = getattr(data, method)()
        return _READ[data]
    raise InvalidParameter(
        f"The rows of this {kind.__name__} cannot be read.",
        fix="Read them into an Arrow table first, and pass that.",
        code="stream-unread",
    )


def refuse_spreadsheet(path: str) -> None:
    """Refuse a spreadsheet by its name, whatever is declared of it.

    >>> refuse_spreadsheet("people.csv")
    """
    if path.lower().endswith(SPREADSHEETS):
        raise InvalidParameter(
            f"{PurePath(path).name!r} is neither Parquet nor CSV.",
            fix='Save the sheet as "CSV UTF-8", or convert it to Parquet.',
            code="not-a-table-file",
        )


def _csv_files(source: object, csv: object) -> Files:
    if isinstance(source, Files):
        path, parquet = source.pattern, source.format != "csv"
    else:
        path = "" if not isinstance(source, str | PurePath) or "://" in str(source) else str(source)
        parquet = FORMATS.get(PurePath(path).suffix.lower()) == "parquet"
    if not path or parquet:
        raise InvalidParameter("csv is about CSV files, and this is none.", fix="Leave csv out.", code="csv-of-no-csv")
    refuse_spreadsheet(path)
    return Files(path, "csv", read_csv_format(csv))


def _engine_table(text: str) -> EngineTable:
    try:
        fragment = urlsplit(text).fragment
    except ValueError:  # not an address, such as an unclosed bracket in the host
        fragment = ""
    schema, _, table = fragment.rpartition(".")
    return EngineTable(text.removesuffix(f"#{fragment}"), table, schema or None)
