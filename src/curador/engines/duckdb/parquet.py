"""Plain values written as a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb

from curador.engines.duckdb.dialects import DUCKDB


def write_parquet(
    columns: Mapping[str, Sequence[Any]], path: str | Path, stored: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write plain values as a Parquet file; ``stored`` names DuckDB's type of a column, or values decide.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet({"n": [1, 2], "who": ["a", None]}, f"{folder}/x.parquet")
    ...     duckdb.sql(f"SELECT * FROM '{folder}/x.parquet'").fetchall()
    [(1, 'a'), (2, None)]
    """
    kinds = {name: stored.get(name) or _stored_as(values) for name, values in columns.items()}
    declared = ", ".join(f"{DUCKDB.quoted(name)} {kind}" for name, kind in kinds.items())
    lists = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())  # column by column: row by row takes seconds
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError("columns of different lengths")
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE r ({declared})")
        connection.execute(f"INSERT INTO r SELECT {lists}", [list(values) for values in columns.values()])
        connection.execute(f"COPY r TO {DUCKDB.string(str(path))} (FORMAT parquet)")


def _stored_as(values: Sequence[Any]) -> str:
    kinds = {type(v) for v in values if v is not None}
    if kinds == {int}:
        return "BIGINT" if all(v is None or abs(v) < 1 << 63 for v in values) else "DOUBLE"
    if kinds <= {int, float}:
        return "DOUBLE"
    return {bool: "BOOLEAN", date: "DATE"}.get(kinds.pop(), "VARCHAR") if len(kinds) == 1 else "VARCHAR"
