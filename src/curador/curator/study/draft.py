"""A study file to fill in, drafted from names and stored types of columns; no row is read, and none is written."""

from __future__ import annotations

import glob
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from urllib.parse import urlsplit, urlunsplit

import tomlkit
from tomlkit.items import InlineTable, Item, Table

from curador.curator.study.document import read_study_document, section
from curador.curator.study.header import doubt
from curador.engines.duckdb.files import empty_file, first_line, paths
from curador.engines.registry import in_file, open_engine
from curador.errors import InvalidParameter
from curador.query.plan.budget import budget_of
from curador.query.tables.columns import Kind
from curador.query.tables.csv_format import DELIMITERS, CsvFormat
from curador.query.tables.names import distinct, identifier
from curador.query.tables.sources import EngineTable, Files, Source, read_source
from curador.show.explain import note_text

KINDS, MARKS = tuple(kind.value for kind in Kind), tuple(DELIMITERS)
"""The types that a column can be declared with, and what can split the fields of a CSV file."""


@dataclass(frozen=True)
class ColumnDraft:
    """A column to be declared: its stored type, None where the source declares none, and the type to declare for it.

    ``kind`` is None where ``stored`` is, and where no question can use the stored type.
    """

    name: str
    stored: str | None = None
    kind: Kind | None = None

    @property
    def usable(self) -> bool:
        return self.stored is None or self.kind is not None


@dataclass(frozen=True)
class TableDraft:
    """A table to be declared.

    >>> columns = (ColumnDraft("age", "BIGINT", Kind.INTEGER), ColumnDraft("sex", "VARCHAR", Kind.TEXT))
    >>> draft = TableDraft("adult", "adult.parquet", columns)
    >>> print(draft.toml())
    # Drafted from the names and types of columns that adult.parquet declares; no row was read.
    # What you fill in is public: take it from a codebook or the law, never from the data.
    # Columns that nobody will ask about may be deleted.
    <BLANKLINE>
    # [budget]  # to fill in: the most that all answers together may cost. Choose its kind before the first question:
    # epsilon = 1  # alone: groups have public keys, noise is Laplace's
    # delta = 1e-6  # with epsilon: also groups without public keys, and Gaussian noise; far below 1 / number of people
    # rho = 0.1  # instead of epsilon: least noise for many questions; with a delta also groups without public keys
    <BLANKLINE>
    [tables.adult]
    source = "adult.parquet"
    unit = ""  # to fill in: "row" if every row is another person, else the column that says whose a row is
    neighbors = "add-remove"  # or "replace", if the number of people is public and fixed
    # size = 1000  # the number of people, if it is public
    # contribution = { groups = 5, rows = 3 }  # needed with an id: how much of one person a question keeps
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
    columns: Sequence[ColumnDraft]
    csv: CsvFormat | None = None

    def __post_init__(self) -> None:
        identifier(self.name, "A table")
        distinct([identifier(column.name, "A column") for column in self.columns], "columns")

    @property
    def left(self) -> dict[str, tuple[str, ...]]:
        """The settings that are left to fill in, and the columns that each is left for."""
        return {
            "unit": (),
            "budget": (),
            "type": tuple(c.name for c in self.columns if c.stored is None),
            "bounds": tuple(c.name for c in self.columns if c.kind is not None and c.kind.counted),
            "keys": tuple(c.name for c in self.columns if c.kind is Kind.TEXT),
        }

    def read(self, language: str = "en") -> str:
        """What was read to make it, in words."""
        file = "".join(c if c.isprintable() else " " for c in self.source.rpartition("/")[2])
        if self.csv is None:
            return note_text({"code": "draft-schema", "file": file}, language)
        if self.csv.header and self.csv.names is None:
            return note_text({"code": "draft-header", "file": file}, language)
        if self.csv.header:
            return note_text({"code": "draft-first-line", "file": file}, language)
        return note_text({"code": "draft-nothing", "file": file}, language)

    @property
    def unusable(self) -> tuple[str, ...]:
        """The columns of a type that no question can use; the draft has them as comments."""
        return tuple(c.name for c in self.columns if not c.usable)

    def toml(self) -> str:
        """The study file, to be completed by hand."""
        return "".join(_blocks(self))

    def added_to(self, text: str, file: str) -> str:
        """The text of a study file with this table behind all that it states; the rest stays as it is.

        >>> draft = TableDraft("b", "b.parquet", (ColumnDraft("age", "BIGINT", Kind.INTEGER),))
        >>> lines = draft.added_to("[tables.a]  # kept", "study.toml").splitlines()
        >>> [line for line in lines if line.startswith("[")]
        ['[tables.a]  # kept', '[tables.b]', '[tables.b.columns.age]']
        """
        before = section(read_study_document(file, text), "tables", file, "tables.NAME")
        if self.name.casefold() in {str(name).casefold() for name in before}:
            raise InvalidParameter(
                f"{file} has a table {self.name!r} already.",
                fix="Choose another name.",
                code="name-taken",
                facts={"name": self.name},
            )
        read, *rest = _blocks(self)
        lead = "".join(f"{line}\n" for line in read.split("\n")[:3])
        end = "\n" if text.endswith("\n") or not text else "\n\n"
        made = f"{text}{end}{lead}\n{''.join(rest)}"
        try:
            tomllib.loads(made)
        except tomllib.TOMLDecodeError:  # as tables = { … } on one line, which nothing can be added to
            raise InvalidParameter(
                f"A table cannot be added to {file} as it is written.",
                fix="Write each table there as [tables.NAME].",
                code="study-not-extended",
            ) from None
        return made


def draft(
    source: str, *, name: str | None = None, folder: str | Path = ".", csv: Mapping[str, object] | None = None
) -> TableDraft:
    """A study file to fill in for one table, to be kept in ``folder``.

    ``source`` is a CSV or Parquet file, a folder of Parquet files, or ``engine://…#table``.  A password in an address
    is left out.  Of a CSV file at most the first line is read, of anything else the stored types.  For CSV files,
    ``csv`` states how they are written, and must say whether there is a ``header``: without one, the first line is a
    person's row, and a study file is public.

    Fails: a first line that looks like values is refused, without a word of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "adult.csv"
    ...     _ = path.write_text("age,sex\\n39,Male\\n")
    ...     found = draft(str(path), folder=folder, csv={"header": True})
    >>> found.name, found.source, found.left["type"]
    ('adult', 'adult.csv', ('age', 'sex'))
    """
    where = read_source(_of_folder(source), csv)
    table = table_name(where) if name is None else name
    try:
        written = _written(where, csv) if isinstance(where, Files) and where.format == "csv" else None
        return TableDraft(table, source_text(where, Path(folder)), _columns(table, where), written)
    except OSError:
        raise InvalidParameter(
            "The source cannot be read.", fix="Check its path and its rights.", code="table-unreadable"
        ) from None


def _of_folder(source: str) -> str:
    """The Parquet files of a folder as a pattern; any other source as it is."""
    if "://" in source or not os.path.isdir(source):
        return source
    pattern = os.path.join(glob.escape(source), "*.parquet")
    if not glob.glob(pattern):
        name = PurePath(source).name or source
        raise InvalidParameter(
            f"The folder {name!r} has no Parquet files.",
            fix=f"Name the files, as '{name}/*.csv'.",
            code="folder-without-parquet",
            facts={"folder": name},
        )
    return pattern


def _written(source: Files, stated: Mapping[str, object] | None) -> CsvFormat:
    """How CSV files are written; refused if that does not fit their first line, or does not say what that is."""
    file = paths(source.pattern)[0]
    if stated is None or "header" not in stated:
        raise InvalidParameter(
            f"Does the first line of {Path(file).name!r} name its columns? A row there would become public.",
            fix="State whether there is a header; without one, state the names of all columns, in their order.",
            code="header-unstated",
        )
    if not os.path.getsize(file):
        raise empty_file(file)
    found = source.csv
    if found.header and found.names is None:
        doubted = doubt(first_line(file, found), Path(file).name, found.delimiter, found.trim)
        if doubted is not None:
            raise doubted
    return found


def _columns(name: str, source: Source) -> tuple[ColumnDraft, ...]:
    with closing(open_engine({name: source})) as engine:
        types = engine.describe(name)
        stored = {column: engine.dialect.stored(type_name) for column, type_name in types}
    if isinstance(source, Files) and source.format == "csv":
        return tuple(ColumnDraft(column) for column, _ in types)
    kinds = {column: None if found is None else found.kind for column, found in stored.items()}
    return tuple(ColumnDraft(column, type_name, kinds[column]) for column, type_name in types)


def table_name(source: Source) -> str:
    """A name that SQL accepts without quotes, from that of the file or table.

    >>> table_name(read_source("data/Adult 2020.csv")), table_name(read_source("visits/*.parquet"))
    ('adult_2020', 'visits')
    """
    if isinstance(source, Files):
        path = PurePath(re.sub(r"[.]gz$", "", source.pattern, flags=re.IGNORECASE)).with_suffix("")
        parts = [part for part in reversed(path.parts) if re.search(r"\w", part)]
        raw = parts[0] if parts else ""
    else:
        raw = source.table if isinstance(source, EngineTable) else ""
    plain = re.sub(r"\W+", "_", raw).strip("_").lower()
    return plain if re.match(r"[^\W\d]", plain) else f"table_{plain}".rstrip("_")


def named_after(file: str) -> str:
    """The name that a table has after its file, unless another is given.

    >>> named_after("Adult 2020.csv")
    'adult_2020'
    """
    return table_name(read_source(file))


def source_text(source: Source, folder: Path) -> str:
    """A source as a study file in ``folder`` states it: paths from there, addresses without a password.

    >>> source_text(read_source("postgresql://ana:secret@db/health#visits"), Path("."))
    'postgresql://ana@db/health#visits'
    """
    if isinstance(source, Files):
        return _path(source.pattern, folder)
    if not isinstance(source, EngineTable):
        raise InvalidParameter("A study file cannot hold a frame.", fix="Draft it for a file, or engine://…#table.")
    if in_file(source):
        return source.at(_path(source.path, folder)).address
    parts = urlsplit(source.address)
    if parts.password is None:
        return source.address
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{host}" if parts.username else host))


def _path(path: str, folder: Path) -> str:
    """The path from the folder; an absolute path that leads out of it stays as it is."""
    relative = os.path.relpath(path, folder)
    return path if os.path.isabs(path) and relative.startswith(os.pardir) else PurePath(relative).as_posix()


# ---- TOML ----------------------------------------------------------------------------------------------------------

HEAD = """\
# Drafted from {read}
# What you fill in is public: take it from a codebook or the law, never from the data.
# Columns that nobody will ask about may be deleted.

# [budget]  # to fill in: the most that all answers together may cost. Choose its kind before the first question:
# epsilon = 1  # alone: groups have public keys, noise is Laplace's
# delta = 1e-6  # with epsilon: also groups without public keys, and Gaussian noise; far below 1 / number of people
# rho = 0.1  # instead of epsilon: least noise for many questions; with a delta also groups without public keys

"""

_LEFT: dict[Kind | None, tuple[str, ...]] = {
    Kind.INTEGER: ("bounds = [lowest, highest]  # to fill in: needed for sums, means and quantiles",),
    Kind.REAL: (
        "bounds = [lowest, highest]  # to fill in: needed for sums, means and quantiles",
        "step = 0.01  # how finely values are read; by default the width of the bounds over 65,536",
    ),
    Kind.BOOLEAN: (),
    Kind.TEXT: ('keys = ["first", "second"]  # to fill in: groups that are public; others are selected privately',),
    Kind.DATE: ("bounds = [2020-01-01, 2024-12-31]  # to fill in: needed for date arithmetic; read by the day",),
    Kind.TIMESTAMP: (
        "bounds = [2020-01-01 00:00:00, 2024-12-31 23:59:59]  # to fill in, in UTC",
        'type = "date" reads the day alone, which can be grouped by',
    ),
    None: (
        "bounds = [lowest, highest]  # for numbers and dates",
        'keys = ["first", "second"]  # for groups that are public',
    ),
}
"""The settings of a column that are left to fill in, as comments."""


def _blocks(draft: TableDraft) -> Iterator[str]:
    yield HEAD.format(read=draft.read())
    table = tomlkit.table()
    table["source"] = draft.source
    if draft.csv is not None:
        table["csv"] = _csv(draft.csv)
    table["unit"] = _noted(
        "", 'to fill in: "row" if every row is another person, else the column that says whose a row is'
    )
    table["neighbors"] = _noted("add-remove", 'or "replace", if the number of people is public and fixed')
    table.add(tomlkit.comment("size = 1000  # the number of people, if it is public"))
    table.add(
        tomlkit.comment(
            "contribution = { groups = 5, rows = 3 }  # needed with an id: how much of one person a question keeps"
        )
    )
    yield _section(("tables", draft.name), table)
    for column in draft.columns:
        here = ("tables", draft.name, "columns", column.name)
        if column.usable:
            yield "\n" + _section(here, _column(column.kind))
        else:
            shown = "".join(c if c.isprintable() else " " for c in (column.stored or "")[:60])
            yield f"\n# {_header(here)}  # of type {shown}, which no question can use\n"


def _csv(written: CsvFormat) -> InlineTable:
    """How CSV files are written: whether they have a header, and what else was stated."""
    usual, table = CsvFormat(), tomlkit.inline_table()
    for setting in fields(CsvFormat):
        value = getattr(written, setting.name)
        if setting.name == "header" or value != getattr(usual, setting.name):
            table[setting.name] = list(value) if isinstance(value, tuple) else value
    return table


def _column(kind: Kind | None) -> Table:
    table = tomlkit.table()
    table["type"] = _noted("", f"to fill in: {', '.join(Kind)}") if kind is None else kind.value
    for setting in _LEFT[kind]:
        table.add(tomlkit.comment(setting))
    return table


def _noted(value: str, comment: str) -> Item:
    item = tomlkit.item(value).comment(comment)
    item.trivia.comment_ws = "  "
    return item


def _section(path: Sequence[str], table: Table) -> str:
    return f"{_header(path)}\n{table.as_string()}"


def _header(path: Sequence[str]) -> str:
    return f"[{tomlkit.key(path).as_string()}]"


def blank(epsilon: str, delta: str | None = None) -> str:
    """A study file with a budget and no tables, which are brought in the console.

    Fails: refused where that is no budget.

    >>> print(blank("0.5", "1e-6"))  # doctest: +ELLIPSIS
    # The most that all answers together may cost one person; ...
    [budget]
    epsilon = 0.5
    delta = 1e-6
    <BLANKLINE>
    """
    budget_of(epsilon, delta)
    lead = "# The most that all answers together may cost one person; tables are brought in the console.\n"
    amounts = {"epsilon": epsilon, **({} if delta is None else {"delta": delta})}
    return lead + "[budget]\n" + "".join(f"{name} = {_number(x.strip())}\n" for name, x in amounts.items())


def _number(text: str) -> str:
    """A number as TOML: as it is, or a fraction as a text."""
    return text if re.fullmatch(r"(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?", text) else tomlkit.item(text).as_string()
