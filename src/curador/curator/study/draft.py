"""Study files to fill in, drafted from column names and declared types alone: no value is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curador.curator.study.tables import toml_key, toml_text
from curador.query.tables.columns import Kind, distinct, identifier

_KINDS = {
    Kind.INTEGER: r"U?(TINY|SMALL|BIG|HUGE|MEDIUM)?INT(EGER)?\d*|U?INT\d+|LONG|SHORT|BYTE|(BIG|SMALL)?SERIAL",
    Kind.REAL: r"FLOAT\d*|DOUBLE( PRECISION)?|REAL|DECIMAL|NUMERIC",
    Kind.BOOLEAN: r"BOOL(EAN)?",
    Kind.TEXT: r"VARCHAR|CHAR(ACTER)?( VARYING)?|TEXT|STRING|UUID|ENUM|BPCHAR|LARGE_STRING",
    Kind.DATE: r"DATE\d*|DATETIME\d*|TIMESTAMP(TZ|_NTZ|_S|_MS|_NS)?( WITH(OUT)? TIME ZONE)?",
}


def kind_of(declared: str) -> Kind | None:
    """The kind for a type as an engine names it, or None if there is none.

    >>> kind_of("DECIMAL(18,3)"), kind_of("timestamp with time zone"), kind_of("BLOB")
    (<Kind.REAL: 'real'>, <Kind.DATE: 'date'>, None)
    """
    name = re.sub(r"\(.*\)", "", declared.upper()).strip()
    return next((kind for kind, pattern in _KINDS.items() if re.fullmatch(pattern, name)), None)


@dataclass(frozen=True)
class TableDraft:
    """A table to be declared: its columns with the types its source declares for them, None where it declares none.

    >>> draft = TableDraft("adult", "adult.parquet", (("age", "BIGINT"), ("sex", "VARCHAR")))
    >>> print(draft.toml())
    # Drafted from column names and declared types; no row was read.
    # What you fill in is public: take it from a codebook or the law, never from the data.
    <BLANKLINE>
    # [budget]  # to fill in: the most that all answers together may cost
    # epsilon = 1
    <BLANKLINE>
    [tables.adult]
    source = "adult.parquet"
    unit = ""  # to fill in: "row" if every row is another person, else the column that says whose a row is
    neighbors = "add-remove"  # or "replace", if the number of people is public and fixed
    # size = 1000  # the number of people, if it is public
    # contribution = { groups = 5, rows = 3 }  # with an id: how much of one person a question keeps
    <BLANKLINE>
    [tables.adult.columns.age]
    type = "integer"
    # bounds = [lowest, highest]  # to fill in: needed for sums, means and quantiles
    <BLANKLINE>
    [tables.adult.columns.sex]
    type = "text"
    # keys = ["first", "second"]  # to fill in: groups that are public; others are selected privately
    <BLANKLINE>
    >>> draft.left["bounds"]
    ('age',)
    """

    name: str
    source: str
    columns: Sequence[tuple[str, str | None]]

    def __post_init__(self) -> None:
        identifier(self.name, "A table")
        distinct([identifier(column, "A column") for column, _ in self.columns], "columns")

    @property
    def left(self) -> dict[str, tuple[str, ...]]:
        """What is left to fill in, and of which columns."""
        kinds = {c: None if declared is None else kind_of(declared) for c, declared in self.columns}
        return {
            "unit": (),
            "budget": (),
            "type": tuple(c for c, declared in self.columns if declared is None),
            "bounds": tuple(c for c, kind in kinds.items() if kind is not None and kind.counted),
            "keys": tuple(c for c, kind in kinds.items() if kind is Kind.TEXT),
        }

    @property
    def unusable(self) -> tuple[str, ...]:
        """Columns of a type that no question can use; the draft leaves them out."""
        return tuple(c for c, declared in self.columns if declared is not None and kind_of(declared) is None)

    def toml(self) -> str:
        """The study file, to be completed by hand."""
        return "\n".join(_lines(self)) + "\n"


_LEFT = {
    Kind.INTEGER: ["# bounds = [lowest, highest]  # to fill in: needed for sums, means and quantiles"],
    Kind.REAL: [
        "# bounds = [lowest, highest]  # to fill in: needed for sums, means and quantiles",
        "# step = 0.01  # how finely values are read; by default the width of the bounds over 65,536",
    ],
    Kind.BOOLEAN: [],
    Kind.TEXT: ['# keys = ["first", "second"]  # to fill in: groups that are public; others are selected privately'],
    Kind.DATE: ["# bounds = [2020-01-01, 2024-12-31]  # to fill in: needed for date arithmetic; read by the day"],
}


def _lines(draft: TableDraft) -> Iterator[str]:
    here = f"tables.{toml_key(draft.name)}"
    yield "# Drafted from column names and declared types; no row was read."
    yield "# What you fill in is public: take it from a codebook or the law, never from the data."
    yield ""
    yield "# [budget]  # to fill in: the most that all answers together may cost"
    yield "# epsilon = 1"
    yield ""
    yield f"[{here}]"
    yield f"source = {toml_text(draft.source)}"
    yield 'unit = ""  # to fill in: "row" if every row is another person, else the column that says whose a row is'
    yield 'neighbors = "add-remove"  # or "replace", if the number of people is public and fixed'
    yield "# size = 1000  # the number of people, if it is public"
    yield "# contribution = { groups = 5, rows = 3 }  # with an id: how much of one person a question keeps"
    for column, declared in draft.columns:
        yield ""
        yield from _column_lines(f"[{here}.columns.{toml_key(column)}]", declared)


def _column_lines(header: str, declared: str | None) -> Iterator[str]:
    kind = None if declared is None else kind_of(declared)
    if kind is not None:
        yield header
        yield f"type = {toml_text(kind)}"
        yield from _LEFT[kind]
    elif declared is None:
        yield header
        yield f'type = ""  # to fill in: {", ".join(Kind)}'
        yield "# bounds = [lowest, highest]  # for numbers and dates"
        yield '# keys = ["first", "second"]  # for groups that are public'
    else:
        shown = "".join(c if c.isprintable() else " " for c in declared[:60])
        yield f"# {header}  # of type {shown}, which no question can use"
