"""Parquet and CSV files as DuckDB reads them: nothing is guessed, and no value of a row can make reading fail."""

from __future__ import annotations

import csv
import glob
import os
from pathlib import Path

from curador.engines.dialect import Dialect
from curador.errors import InvalidParameter

LONGEST_LINE = 16 << 20
"""Bytes of the longest line of a CSV file that is read."""

MILLISECONDS = "TIMESTAMP_MILLIS of Parquet"
"""The type of a column of times that DuckDB multiplies by 1000 while it reads, and fails where that overflows.  No test
can be put before that, so such a column is not read at all: a refusal that does not depend on the rows."""

MIXED = "different types in different files, or missing in some"
"""The type of a column that is not stored alike in all Parquet files of a table.  DuckDB takes the type of the first
file and fails on a value of another that does not fit: found in the footers, it is refused whatever the rows are."""


def paths(pattern: str) -> list[str]:
    """The files of a path or a glob; refused if there is none."""
    found = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]
    if not found or not all(os.path.isfile(p) for p in found):
        raise InvalidParameter(f"There is no file {Path(pattern).name!r}.", fix="Fix the path of the table.")
    return [os.path.abspath(p) for p in found]


def reader(kind: str, files: list[str], d: Dialect) -> str:
    """The table function that reads them."""
    listed = "[" + ", ".join(map(d.string, files)) + "]"
    if kind == "parquet":
        # Bytes that are no UTF-8 become question marks: an error would be a signal.
        return f"read_parquet({listed}, hive_partitioning = false, utf8_validation = 'replace')"
    header = csv_header(files[0])
    if any(csv_header(file) != header for file in files[1:]):
        raise InvalidParameter(
            "The CSV files of one table have different columns, or the same in another order.",
            fix="Give them all the same header line, or declare them as tables of their own.",
        )
    columns = ", ".join(f"{d.string(name)}: 'VARCHAR'" for name in header)
    # Everything is text and nothing is guessed; a broken line is dropped or padded, since an error would be a signal.
    # Read in parallel, a newline in quotes would be one.
    return (
        f"read_csv({listed}, columns = {{{columns}}}, header = true, auto_detect = false, delim = ',', quote = '\"', "
        f"escape = '\"', nullstr = '', null_padding = true, ignore_errors = true, strict_mode = false, "
        f"max_line_size = {LONGEST_LINE}, parallel = false)"
    )


def milliseconds(files: list[str], d: Dialect) -> str:
    """The query for the names of the columns that Parquet files hold in milliseconds."""
    listed = "[" + ", ".join(map(d.string, files)) + "]"
    coarse = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE '%(MILLIS=Milli%'"
    return f"SELECT DISTINCT name FROM parquet_schema({listed}) WHERE {coarse}"


def csv_header(path: str) -> list[str]:
    """The names in the first line of a CSV file."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        header = next(csv.reader(file), [])
    if not header or len({name.casefold() for name in header}) != len(header) or not all(header):
        raise InvalidParameter(
            f"The first line of {Path(path).name!r} does not name its columns, each once.", fix="Add a header line."
        )
    return header
