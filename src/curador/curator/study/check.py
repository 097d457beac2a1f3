"""Study files beside what is stored: drafted from it, and checked against it.  No row is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePath
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from curador.curator.curator import Curator
from curador.curator.study.draft import TableDraft
from curador.curator.study.tables import read_document, read_table
from curador.engines.registry import open_engine
from curador.engines.sql_engine import SqlEngine
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import Neighbors
from curador.query.tables.columns import Column, Kind, day_of
from curador.query.tables.sources import EngineTable, Files, Source, read_source
from curador.query.tables.table import Table, read_column

# ---- drafts ------------------------------------------------------------------------------------------------------


def draft(source: str, *, name: str | None = None, folder: str | Path = ".") -> TableDraft:
    """A study file to fill in for one table, to be kept in ``folder``.

    ``source`` is a CSV or Parquet file, or ``engine://…#table``.  Of a CSV file only the header line is looked at, of
    anything else the declared types.  A password in an address is left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "adult.csv"
    ...     _ = path.write_text("age,sex\\n39,Male\\n")
    ...     found = draft(str(path), folder=folder)
    >>> found.name, found.source, found.columns
    ('adult', 'adult.csv', (('age', None), ('sex', None)))
    """
    where = read_source(source)
    table = _name(where) if name is None else name
    return TableDraft(table, _relative(source, where, Path(folder)), _columns(table, where))


def _columns(name: str, source: Source) -> tuple[tuple[str, str | None], ...]:
    try:
        with closing(open_engine({name: source})) as engine:
            found = engine.describe(name)
    except OSError:
        raise InvalidParameter("The source cannot be read.", fix="Check its path and its rights.") from None
    untyped = isinstance(source, Files) and source.format == "csv"
    return tuple((column, None if untyped else declared) for column, declared in found)


def _name(source: Source) -> str:
    """A name that SQL takes without quotes, from that of the file or table."""
    if isinstance(source, Files):
        parts = [part for part in reversed(PurePath(source.pattern).with_suffix("").parts) if re.search(r"\w", part)]
        raw = parts[0] if parts else ""
    else:
        raw = source.table if isinstance(source, EngineTable) else ""
    plain = re.sub(r"\W+", "_", raw).strip("_").lower()
    return plain if re.match(r"[^\W\d]", plain) else f"table_{plain}".rstrip("_")


def _relative(text: str, source: Source, folder: Path) -> str:
    """The source as the study file names it: paths from its folder, addresses without a password."""
    if isinstance(source, Files):
        return _path(source.pattern, folder)
    parts = urlsplit(text)
    if parts.scheme == "duckdb":
        return f"duckdb:///{quote(_path(unquote(parts.path).removeprefix('/'), folder))}#{parts.fragment}"
    if parts.password is None:
        return text
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{host}" if parts.username else host))


def _path(path: str, folder: Path) -> str:
    """From the folder; a full path that leads out of it stays as it is."""
    relative = os.path.relpath(path, folder)
    return path if os.path.isabs(path) and relative.startswith(os.pardir) else PurePath(relative).as_posix()


# ---- checks ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnState:
    """One column: how it is declared and stored, what is public about it, and what is wrong or left to fill in.

    >>> ColumnState("age", "integer", "BIGINT", "17 … 90").wrong
    ''
    """

    name: str
    declared: str | None
    stored: str | None
    public: str = ""
    wrong: str = ""
    left: str = ""


@dataclass(frozen=True)
class TableState:
    """One table: what it protects, its columns, and what is wrong with it as a whole.

    >>> TableState("adult", "one row", ()).sound
    True
    """

    name: str
    protects: str
    columns: tuple[ColumnState, ...]
    wrong: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong and not any(c.wrong for c in self.columns)


@dataclass(frozen=True)
class StudyState:
    """A study file as it stands.

    >>> StudyState("study.toml", (), "epsilon 1").sound
    True
    """

    file: str
    tables: tuple[TableState, ...]
    budget: str = ""
    wrong: str = ""

    @property
    def sound(self) -> bool:
        """Whether questions can be asked; what is only left to fill in does not stand in the way."""
        return not self.wrong and all(t.sound for t in self.tables)


def check(path: str | Path) -> StudyState:
    """All that is wrong with a study file and all that is left to fill in, found without reading a row.

    >>> check("no-such.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: There is no study file no-such.toml. ...
    """
    file = Path(path)
    document = read_document(file)
    sections, budget = document.get("tables"), document.get("budget")
    if not isinstance(sections, Mapping) or not sections:
        raise InvalidParameter(f"{file.name} declares no tables.", fix="Add a section [tables.NAME].")
    tables = tuple(_table(str(name), settings, file.parent) for name, settings in sections.items())
    if not all(t.sound for t in tables):
        return StudyState(file.name, tables, _budget(budget))
    if budget is None:
        return StudyState(file.name, tables, wrong="No budget is stated. Add a section [budget], as epsilon = 1.")
    try:
        Curator(file, ledger="memory:").close()  # the study's own ledger is made by its first question
    except CuradorError as error:
        return StudyState(file.name, tables, wrong=_said(error))
    return StudyState(file.name, tables, _budget(budget))


def _budget(stated: object) -> str:
    if not isinstance(stated, Mapping):
        return ""
    if any(isinstance(amount, Mapping) for amount in stated.values()):
        return "; ".join(f"{name}: {_budget(amount)}" for name, amount in stated.items())
    return ", ".join(f"{name} {amount}" for name, amount in stated.items())


def _table(name: str, settings: object, folder: Path) -> TableState:
    """All that can be said of a table: every column is looked at, also where others or the table itself are wrong."""
    section = settings if isinstance(settings, Mapping) else {}
    given = section.get("columns")
    read = {str(c): _read(str(c), what) for c, what in given.items()} if isinstance(given, Mapping) else {}
    # A wrong column stands as text meanwhile.
    columns = {c: "text" if isinstance(found, str) else found for c, found in read.items()}
    protects = wrong = ""
    try:
        protects = _protects(read_table(name, {**section, "columns": columns} if section else settings, folder))
    except InvalidParameter as error:
        wrong = _said(error)
    try:
        source = read_table(name, {"source": section.get("source"), "unit": "row", "columns": columns}, folder).source
        with closing(open_engine({name: source})) as engine:
            stored = dict(engine.describe(name))
            fits = {c: _fit(engine, name, source, c, found) for c, found in read.items() if c in stored}
    except (CuradorError, OSError) as error:
        unread = _said(error) if isinstance(error, CuradorError) else "Its source cannot be read. Check its rights."
        return TableState(name, protects, tuple(_state(c, found, None) for c, found in read.items()), wrong or unread)
    id, public = str(section.get("unit")), section.get("public") is True
    declared = [_state(c, found, stored.get(c, ""), fits.get(c, ""), id) for c, found in read.items()]
    if public:  # its groups are read from it, and its values need no bounds
        declared = [replace(column, left="") for column in declared]
    others = [ColumnState(c, None, kind) for c, kind in stored.items() if c not in read]
    return TableState(name, protects, (*declared, *others), wrong)


def _protects(table: Table) -> str:
    if table.public:
        return "nobody, it is public"
    who = "one row" if table.unit.id is None else f"everything of one {table.unit.id!r}"
    return f"{who}, {'added or removed' if table.neighbors is Neighbors.ADD_REMOVE else 'replaced'}"


def _read(name: str, what: object) -> Column | str:
    """A column, or what is wrong with it."""
    try:
        return read_column(name, what)
    except InvalidParameter as error:
        if what == "" or (isinstance(what, Mapping) and what.get("type") == ""):
            return "type missing"
        return _said(error)


def _fit(engine: SqlEngine, table: str, source: Source, name: str, found: Column | str) -> str:
    """Why a stored column cannot be read as it is declared, if it cannot."""
    try:
        if isinstance(found, Column):
            engine.check({table: Table(source, columns={name: found})})
    except InvalidParameter:
        return f"cannot be read as {found.kind}" if isinstance(found, Column) else ""
    return ""


def _state(name: str, found: Column | str, stored: str | None, unfit: str = "", id: str | None = None) -> ColumnState:
    """``stored`` is "" for a column that is not there, None where the source could not be opened."""
    if isinstance(found, str):
        return ColumnState(name, None, stored or None, wrong=found)
    absent = "not in the source" if stored == "" else unfit
    return ColumnState(
        name, found.kind.value, stored or None, _public(found), absent, "" if name == id else _left(found)
    )


def _public(column: Column) -> str:
    said = []
    if column.bounds is not None:
        ends = [day_of(int(x)) if column.kind is Kind.DATE else float(x) for x in column.bounds]
        said.append(" … ".join(x.isoformat() if isinstance(x, date) else f"{x:,.12g}" for x in ends))
    if column.keys is not None:
        said.append(f"{len(column.keys)} keys")
    return ", ".join(said)


def _left(column: Column) -> str:
    if column.kind is Kind.TEXT and column.keys is None:
        return "no keys"
    if column.kind.counted and column.bounds is None:
        return "no bounds"
    return ""


def _said(error: CuradorError) -> str:
    return f"{error.what} {error.fix}"
