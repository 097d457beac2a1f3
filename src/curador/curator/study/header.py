"""The first line of a CSV file and its declaration: what is doubtful about them, without a word of what stands there.

Nothing is guessed from rows.  The first line may be a person's row, so no message quotes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from curador.engines.duckdb.files import first_line, paths
from curador.errors import InvalidParameter
from curador.query.tables.columns import Kind
from curador.query.tables.csv_format import DELIMITERS
from curador.query.tables.sources import Files
from curador.query.tables.table import Table

_NUMBER = re.compile(r"[+-]?[0-9][0-9.,' ]*([eE][+-]?[0-9]+)?\s*[%€$£]?|[+-]?[.,][0-9]+")
_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ].*)?")
_WORDS = frozenset(("true", "false", "null", "na", "n/a", "nan", "none", "nil", "?", "-"))


def value_like(field: str) -> str:
    """What a field of a header line looks like, if it looks like a value; else an empty text.

    >>> [value_like(x) for x in ("age", "1.700,09", "2020-01-31", "", "NA", "2nd visit")]
    ['', 'a number', 'a date', 'empty', 'a value', '']
    """
    text = field.strip()
    if not text:
        return "empty"
    if "\n" in text or "\r" in text:  # a quote that is not closed joins the rows below
        return "of several lines"
    if _DATE.fullmatch(text):
        return "a date"
    if _NUMBER.fullmatch(text):
        return "a number"
    return "a value" if text.lower() in _WORDS else ""


def doubt(fields: Sequence[str], file: str, delimiter: str, trimmed: bool) -> InvalidParameter | None:
    """The refusal of a first line that does not seem to name columns as they are declared to be written."""
    looks = [(i, found) for i, field in enumerate(fields, 1) if (found := value_like(field))]
    repeated = len({f.casefold() for f in fields}) != len(fields)
    if looks or repeated or not fields:
        why = f"field {looks[0][0]} is {looks[0][1]}" if looks else "a field is repeated"
        found = f"looks like values, not names of columns: {why}" if fields else "is empty"
        return InvalidParameter(
            f"The first line of {file!r} {found}.",
            fix="If it is a row, the file has no header line: state that, and the names of its columns. If it is a "
            "header, state names to use in its place.",
            code="header-like-values",
            facts={"place": looks[0][0] if looks else None},
        )
    others = [x for x in DELIMITERS if x != delimiter and len(fields) == 1 and x in fields[0]]
    if others:
        return InvalidParameter(
            f"The first line of {file!r} is one field, with {DELIMITERS[others[0]]} in it.",
            fix=f"State the delimiter, as csv = {{ delimiter = {_toml(others[0])} }}.",
            code="csv-delimiter",
            facts={"delimiter": others[0], "seen": others[0], "stated": delimiter},
        )
    if not trimmed and any(field != field.strip(" \t") for field in fields):
        return InvalidParameter(
            f"Names in the first line of {file!r} have spaces around them, so values may have them too.",
            fix="State that they are dropped, as csv = { trim = true }, or state the names of the columns.",
            code="csv-spaces",
        )
    return None


def _toml(character: str) -> str:
    return '"\\t"' if character == "\t" else f'"{character}"'


def doubts(name: str, table: Table) -> list[str]:
    """What is doubtful about how a table's CSV files are declared: from the declaration and the first line alone."""
    source = table.source
    if not isinstance(source, Files) or source.format != "csv":
        return []
    written, found = source.csv, []
    if written.header and written.names is None:
        file = paths(source.pattern)[0]
        doubted = doubt(first_line(file, written), Path(file).name, written.delimiter, written.trim)
        found += [] if doubted is None else [f"{doubted.what} {doubted.fix}"]
    reals = [c for c, column in table.columns.items() if column.kind is Kind.REAL]
    if reals and written.delimiter == ";" and written.decimal is None:
        found.append(
            f"Files with semicolons often have decimal commas, and then every {reals[0]!r} would be NULL. "
            'State which: csv = { decimal = "," } or { decimal = "." }.'
        )
    for column, declared in table.columns.items():
        texts = [key for key in declared.keys or () if isinstance(key, str)]
        if written.trim and any(key != key.strip(" \t") for key in texts):
            found.append(f"Keys of {column!r} have spaces around them, which trim drops from the fields: none is met.")
        if any(not _encodable(key, written.encoding) for key in texts):
            found.append(f"Keys of {column!r} have characters that {written.encoding} has not: none of these is met.")
    return found


def _encodable(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
