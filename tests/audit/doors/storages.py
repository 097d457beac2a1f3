"""Where a table may be kept: the same rows in files, frames and databases, each as its users would write it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from curador.query.tables.sources import EngineTable, Files, Frame, Source
from tests.real_engines import to_postgres

Storage = Callable[[pa.Table, Path], Source]
"""Puts the rows of an Arrow table where a source can name them; the folder is for files."""


def _path(folder: Path, ending: str) -> Path:
    return folder / f"{uuid.uuid4().hex}.{ending}"


def csv(table: pa.Table, folder: Path) -> Source:
    pyarrow.csv.write_csv(table, path := _path(folder, "csv"))
    return Files(str(path), "csv")


def parquet(table: pa.Table, folder: Path) -> Source:
    """In groups of a few rows, so that statistics of a group are of few people."""
    pq.write_table(table, path := _path(folder, "parquet"), row_group_size=4)
    return Files(str(path), "parquet")


def database(table: pa.Table, folder: Path) -> Source:
    path = _path(folder, "duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.register("data", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM data")
    return EngineTable(f"duckdb:///{path}", "t")


def arrow(table: pa.Table, folder: Path) -> Source:
    return Frame(table)


def pandas(table: pa.Table, folder: Path) -> Source:
    """Integers with missing values as objects: as floats pandas would have changed other people's before us."""
    return Frame(table.to_pandas(integer_object_nulls=True))


def pandas_arrow(table: pa.Table, folder: Path) -> Source:
    return Frame(table.to_pandas(types_mapper=pd.ArrowDtype))


def polars(table: pa.Table, folder: Path) -> Source:
    return Frame(pl.from_arrow(table))


HERE: Mapping[str, Storage] = {
    "arrow": arrow,
    "csv": csv,
    "database": database,
    "pandas": pandas,
    "pandas-arrow": pandas_arrow,
    "parquet": parquet,
    "polars": polars,
}
"""The storages that need no server."""

EVERYWHERE = (*HERE, "postgresql")


def storage(name: str, request: pytest.FixtureRequest) -> Storage:
    """The storage of a name; a server is started if it needs one."""
    if name in HERE:
        return HERE[name]
    url = request.getfixturevalue("postgres_url")
    return lambda table, folder: to_postgres(url, table)
