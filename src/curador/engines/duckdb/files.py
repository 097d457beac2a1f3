"""Table functions that read Parquet and CSV files: types are not guessed, and no value can make a question fail.

Of a Parquet file every value can be read.  A CSV file that is no table is refused when it is opened.
"""

from __future__ import annotations

import csv
import glob
import mmap
import os
import re
from collections.abc import Iterable
from pathlib import Path

from curador.engines.dialect import Dialect
from curador.errors import InvalidParameter

Stamp = tuple[int, int, int]
"""The inode, size and modification time of a file."""

LONGEST_LINE = 16 << 20
"""The most bytes in a line of a CSV file."""


def paths(pattern: str) -> list[str]:
    """The files of a path or a glob; refused if there is none."""
    found = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]
    if not found or not all(os.path.isfile(p) for p in found):
        raise InvalidParameter(f"There is no file {Path(pattern).name!r}.", fix="Fix the path of the table.")
    return [os.path.abspath(p) for p in found]


def reader(kind: str, files: list[str], d: Dialect) -> str:
    """The SQL of the table function that reads the files."""
    listed = "[" + ", ".join(map(d.string, files)) + "]"
    if kind == "parquet":
        # Bytes that are not UTF-8 become question marks: an error would depend on the rows.
        return f"read_parquet({listed}, hive_partitioning = false, utf8_validation = 'replace')"
    header = csv_header(files[0])
    if any(csv_header(file) != header for file in files[1:]):
        raise InvalidParameter(
            "The CSV files of one table have different columns, or the same in another order.",
            fix="Give them all the same header line, or declare them as tables of their own.",
        )
    columns = ", ".join(f"{d.string(name)}: 'VARCHAR'" for name in header)
    # All columns are text.  Whatever is not a table fails: a reader that goes on would drop, split or join lines of
    # others because of one.  All fields are read once when the file is opened, so that no question can meet a failure.
    return (
        f"read_csv({listed}, columns = {{{columns}}}, header = true, auto_detect = false, delim = ',', quote = '\"', "
        f"escape = '\"', nullstr = '', null_padding = false, ignore_errors = false, strict_mode = true, "
        f"max_line_size = {LONGEST_LINE}, parallel = false)"
    )


_FIELD = rb'(?:"[^"]*+(?:""[^"]*+)*+"| *+(?:[^ ",\r\n][^,\r\n]*+)?+)'
_MANY_FIELDS = [re.compile(rb"(?:" + _FIELD + rb"(?:,|" + end + rb")){1,65536}+") for end in (rb"\n", rb"\r\n")]
"""A field, no spaces around its quotes; and fields that end in a comma or in one kind of line end.  Possessive."""


def has_csv_fields(path: str) -> bool:
    """Whether a file is fields, in whole quotes or in none, with one kind of line end.

    DuckDB's strict reader lets some broken quotes pass, and drops the lines from there to the end of the file; it also
    lets a line end of another kind pass in a line of its own.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(b'"') < 0 and content.find(b"\r") < 0:
            return True
        return any(_is_made_of(fields, content) for fields in _MANY_FIELDS)


def _is_made_of(fields: re.Pattern[bytes], content: mmap.mmap) -> bool:
    place = 3 if content[:3] == b"\xef\xbb\xbf" else 0
    while found := fields.match(content, place):  # in parts, so that other threads have their turn
        place = found.end()
    last = re.compile(_FIELD).match(content, place)
    return last is not None and last.end() == len(content)


def stamps(files: Iterable[str]) -> list[Stamp]:
    """The inode, size and modification time of each file."""
    return [(s.st_ino, s.st_size, s.st_mtime_ns) for s in map(os.stat, files)]


def unreadable_csv() -> InvalidParameter:
    """The refusal of CSV files that are no table: the same words whatever is wrong."""
    return InvalidParameter(
        "A CSV file cannot be read as a table.",
        fix="Write it in UTF-8, with one kind of line end, as many fields in every line as in the header, texts with "
        "commas, quotes or line ends in quotes, and quotes inside them doubled; or convert it to Parquet.",
        code="csv-unreadable",
    )


def csv_header(path: str) -> list[str]:
    """The names in the first line of a CSV file."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        header = next(csv.reader(file), [])
    if not header or len({name.casefold() for name in header}) != len(header) or not all(header):
        raise InvalidParameter(
            f"The first line of {Path(path).name!r} does not name its columns, each once.", fix="Add a header line."
        )
    return header
