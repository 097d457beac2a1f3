"""Table functions that read Parquet and CSV files: types are not guessed, and no value can make a question fail.

Of a Parquet file every value can be read.  A CSV file that is no table is refused when it is opened.
"""

from __future__ import annotations

import csv
import glob
import mmap
import os
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


def lenient_csv(files: list[str], d: Dialect) -> str:
    """The SQL that reads the same files and shows what the strict reader drops: a last line whose quote never ends."""
    strict = reader("csv", files, d)
    return strict.replace("strict_mode = true", "strict_mode = false").replace(
        "null_padding = false, ignore_errors = false", "null_padding = true, ignore_errors = true"
    )


def may_end_in_quotes(path: str) -> bool:
    """Whether the last quotes of a file leave it open if a quote may still be open at its end.

    They close it, or are plain characters, where their number is odd and they follow a text.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        last = first = content.rfind(b'"')
        while first > 0 and content[first - 1 : first] == b'"':
            first -= 1
        follows = content[first - 1 : first] if first > 0 else b""
        return last >= 0 and ((last - first) % 2 == 1 or follows in (b"", b",", b"\n", b"\r", b" ", b"\t", b"\xbf"))


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
