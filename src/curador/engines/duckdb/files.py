"""Table functions that read Parquet and CSV files.

No types are guessed, and no value makes a question fail.

Every value of a Parquet file can be read.  A malformed CSV file is refused when it is opened.
"""

from __future__ import annotations

import csv
import gzip
import mmap
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from curador.engines.dialect import Dialect
from curador.errors import InvalidParameter
from curador.query.tables.csv_format import TO_UTF8, CsvFormat
from curador.query.tables.paths import listed

Stamp = tuple[int, int, int]
"""The inode, size and modification time of a file."""

LONGEST_LINE = 16 << 20
"""The most bytes in a line of a CSV file."""

WITH_HEADER = CsvFormat()
"""The default format of CSV files: UTF-8, commas, a header line."""


def paths(pattern: str) -> list[str]:
    """List the files of a path or a glob; refuse a pattern without any."""
    found = listed(pattern)
    if not found or not all(os.path.isfile(p) for p in found):
        raise InvalidParameter(
            f"No file {Path(pattern).name!r} was found.",
            fix="Fix the path of the table.",
            code="no-file",
            facts={"file": Path(pattern).name},
        )
    return found


def reader(kind: str, files: list[str], d: Dialect, written: CsvFormat = WITH_HEADER) -> str:
    """Write the SQL of the relation that reads the files; ``written`` is the format of CSV files."""
    listed = "[" + ", ".join(map(d.string, files)) + "]"
    if kind == "parquet":
        # Bytes that are not UTF-8 become question marks: an error would depend on the rows.
        return f"read_parquet({listed}, hive_partitioning = false, utf8_validation = 'replace')"
    how, names = written, csv_names(files, written)
    columns = ", ".join(f"{d.string(name)}: 'VARCHAR'" for name in names)
    # All columns are text.  A malformed file fails: a tolerant reader would drop, split or join good lines because of
    # one bad line.  All fields are read once when the file is opened, so that no question can meet a failure.
    read = (
        f"read_csv({listed}, columns = {{{columns}}}, header = {str(how.header).lower()}, auto_detect = false, "
        f"delim = {d.string(how.delimiter)}, quote = '\"', escape = '\"', nullstr = '', null_padding = false, "
        f"ignore_errors = false, strict_mode = true, max_line_size = {LONGEST_LINE}, parallel = false, "
        f"encoding = {d.string(how.encoding)}, compression = '{'gzip' if is_gzipped(files[0]) else 'none'}')"
    )
    if not how.trim:
        return read
    trimmed = (f"NULLIF(TRIM({q}, ' \t'), '') AS {q}" for q in map(d.quoted, names))
    return f"(SELECT {', '.join(trimmed)} FROM {read})"


def is_gzipped(path: str) -> bool:
    """Whether a file is in gzip, by its name and not by its bytes."""
    return path.lower().endswith(".gz")


_CHUNK = 1 << 22


def has_csv_fields(path: str, delimiter: str = ",") -> bool:
    """Whether a file consists of fields, in whole quotes or in none, with one kind of line end.

    DuckDB's strict reader accepts some broken quotes, and drops the lines from there to the end of the file.  It also
    accepts a line end of another kind in a line of its own.  In gzip it accepts a wrong checksum.
    """
    if is_gzipped(path):
        return any(_is_made_of(end, _unzip(path), delimiter) for end in _LINE_ENDS)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(b'"') < 0 and content.find(b"\r") < 0:
            return True
        return any(_is_made_of(end, [content], delimiter) for end in _LINE_ENDS)


def _unzip(path: str) -> Iterator[bytes]:
    with gzip.open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


_LINE_ENDS = (rb"\n", rb"\r\n")


def _is_made_of(line_end: bytes, parts: Iterable[bytes | mmap.mmap], delimiter: str) -> bool:
    """Whether the parts together are fields that end in a delimiter or a line end.

    Quotes have no spaces around them.
    """
    d = re.escape(delimiter.encode())
    # Possessive: never tried again from another place.
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"| *+(?:[^ "' + d + rb"\r\n][^" + d + rb"\r\n]*+)?+)"
    fields = re.compile(rb"(?:" + field + rb"(?:" + d + rb"|" + line_end + rb")){1,65536}+")
    rest, first = b"", True
    for part in parts:
        content = rest + part[:] if rest else part
        place = 3 if first and content[:3] == b"\xef\xbb\xbf" else 0
        first = False
        while found := fields.match(content, place):  # in parts, so that other threads have their turn
            place = found.end()
        if len(content) - place > LONGEST_LINE + _CHUNK:
            return False
        rest = content[place:]
    last = re.compile(field).match(rest)
    return last is not None and last.end() == len(rest)


def stamps(files: Iterable[str]) -> list[Stamp]:
    """Read the inode, size and modification time of each file."""
    return [(s.st_ino, s.st_size, s.st_mtime_ns) for s in map(os.stat, files)]


def unreadable_csv() -> InvalidParameter:
    """Make the refusal of malformed CSV files: the same words whatever is wrong."""
    return InvalidParameter(
        "A CSV file cannot be read as a table.",
        fix="Declare its delimiter and its encoding (csv = { delimiter = …, encoding = … }) if they are not a comma "
        "and UTF-8. Write it with one kind of line end, as many fields in every line as in the first, texts with "
        "delimiters, quotes or line ends in quotes, and quotes inside them doubled; or convert it to Parquet. A file "
        f"declared as latin-1 that has a €, dashes or curly quotes is windows-1252: {TO_UTF8}",
        code="csv-unreadable",
    )


def empty_file(path: str) -> InvalidParameter:
    """Make the refusal of a file without a byte."""
    return InvalidParameter(
        f"The file {Path(path).name!r} is empty.",
        fix="Write it again, with its rows.",
        code="file-empty",
        facts={"file": Path(path).name},
    )


# ---- names of columns ----------------------------------------------------------------------------------------------


def csv_names(files: Sequence[str], written: CsvFormat) -> list[str]:
    """List the names of the columns of CSV files: declared, or in the first line of each."""
    if not written.header:
        assert written.names is not None, "checked where the format was declared"
        return list(written.names)
    headers = [csv_header(file, written) for file in files]
    if any(header != headers[0] for header in headers[1:]):
        raise InvalidParameter(
            "The CSV files of one table have different columns, or the same in another order.",
            fix="Give them all the same header line, or declare them as tables of their own.",
            code="csv-files-differ",
        )
    if written.names is None:
        return headers[0]
    if len(written.names) != len(headers[0]):
        raise InvalidParameter(
            f"{len(written.names)} columns are named, and the first line of {Path(files[0]).name!r} has "
            f"{len(headers[0])} fields.",
            fix="Name all columns, in their order; check the delimiter.",
            code="csv-names",
            facts={"named": len(written.names), "fields": len(headers[0])},
        )
    return list(written.names)


def csv_header(path: str, written: CsvFormat = WITH_HEADER) -> list[str]:
    """Read the names in the first line of a CSV file; if others are declared, only their number matters."""
    header = first_line(path, written)
    distinct = len({name.casefold() for name in header}) == len(header)
    if written.names is None and not (header and distinct and all(header)):
        raise InvalidParameter(
            f"The first line of {Path(path).name!r} does not name its columns, each once.",
            fix="Add a header line, or declare csv = { header = false, names = […] }.",
            code="csv-header",
        )
    return header


def first_line(path: str, written: CsvFormat = WITH_HEADER) -> list[str]:
    """Read the fields of the first line of a CSV file, and nothing else of it.

    Fails: refused where the file is empty or not text in the declared encoding; the refusal quotes nothing of it.
    """
    try:
        with gzip.open(path, "rb") if is_gzipped(path) else open(path, "rb") as file:
            raw = file.readline(LONGEST_LINE)
            while raw.count(b'"') % 2 and len(raw) < LONGEST_LINE and (more := file.readline(LONGEST_LINE)):
                raw += more  # a line end inside quotes
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise unreadable_csv() from None
    if not raw:
        raise empty_file(path)
    if b"\0" in raw:  # a spreadsheet, Parquet, or UTF-16
        raise InvalidParameter(
            f"{Path(path).name!r} is not a text file, so not a CSV file.",
            fix='Save it as "CSV UTF-8", or convert it to Parquet.',
            code="not-a-table-file",
        )
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode(written.encoding)
        if written.encoding != "utf-8" and raw.startswith(b"\xef\xbb\xbf"):
            raise ValueError
        header = next(csv.reader([text], delimiter=written.delimiter), [])
    except (ValueError, csv.Error):
        other = "utf-8" if written.encoding == "latin-1" else "latin-1"
        raise InvalidParameter(
            f"The first line of {Path(path).name!r} is not {written.encoding} text.",
            fix=f'Declare its encoding, as csv = {{ encoding = "{other}" }}, or convert it to UTF-8.',
            code="csv-encoding",
        ) from None
    return [name.strip(" \t") for name in header] if written.trim else header
