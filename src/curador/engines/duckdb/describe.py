"""The columns of a table as DuckDB stores them; unsafe ones get refusable type names.

These are types on which DuckDB could fail, or which it compares loosely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from curador.engines.dialect import Dialect
from curador.engines.duckdb.files import reader

MILLISECONDS = "TIMESTAMP_MILLIS of Parquet"
"""The type given to columns of timestamps in milliseconds, which are refused.  DuckDB multiplies such values by 1000
while it reads and fails on overflow.  No check can be placed before that, so only refusing the column does not depend
on the rows."""

MIXED = "different types in different files, or missing in some"
"""The type given to columns that differ between the Parquet files of a table, which are refused.  DuckDB takes the type
of the first file and fails on a value of another file that does not fit.  The footers show the difference."""

COLLATED = "VARCHAR with a collation"
"""The type given to columns of database files that have a collation, which are refused.  DuckDB compares such texts
loosely wherever they go: one row would have several public keys."""

Columns = list[tuple[str, str]]
"""Names and types, in their order."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]
"""Runs a statement of DuckDB and returns its rows."""


def described(run: Run, relation: str) -> Columns:
    """List the columns of a relation and their types."""
    return [(str(row[0]), str(row[1])) for row in run(f"DESCRIBE {relation}")]


def described_parquet(run: Run, relation: str, files: Sequence[str], d: Dialect) -> Columns:
    """List the columns of Parquet files, from their footers."""
    found = described(run, relation)
    each = (described(run, f"SELECT * FROM {reader('parquet', [file], d)}") for file in files)
    alike = set.intersection(*map(set, each))
    coarse: set[str] = set()
    if any(kind.startswith("TIMESTAMP") for _, kind in found):
        listed = "[" + ", ".join(map(d.string, files)) + "]"
        milliseconds = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE '%(MILLIS=Milli%'"
        rows = run(f"SELECT DISTINCT name FROM parquet_schema({listed}) WHERE {milliseconds}")
        coarse = {str(row[0]) for row in rows}
    return [
        (name, MIXED if (name, kind) not in alike else MILLISECONDS if name in coarse else kind) for name, kind in found
    ]


def described_table(run: Run, relation: str, d: Dialect) -> Columns:
    """List the columns of a table in a database file; a made-up text shows whether texts have a collation."""
    found = described(run, relation)
    texts = [name for name, kind in found if kind == "VARCHAR"]
    if not texts:
        return found
    seen = ", ".join(f"BOOL_OR({d.quoted(name)} IN ('a', 'A', 'á'))" for name in texts)
    columns, same = ", ".join(map(d.quoted, texts)), ", ".join(["'Á'"] * len(texts))
    made = f"SELECT {columns} FROM {relation} WHERE FALSE UNION ALL SELECT {same}"
    (row,) = run(f"SELECT {seen} FROM ({made})")
    loose = {name for name, equal in zip(texts, row, strict=True) if equal}
    return [(name, COLLATED if name in loose else kind) for name, kind in found]
