"""A study file compared with the stored tables; no value is shown, and of CSV files only whether they are tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from curador.curator.curator import Curator
from curador.curator.study.document import read_study_document
from curador.curator.study.header import doubts
from curador.curator.study.tables import read_table
from curador.engines.column_sql import check_column
from curador.engines.dialect import Dialect
from curador.engines.engine import Engine
from curador.engines.registry import open_engine
from curador.errors import CuradorError, InvalidParameter
from curador.query.tables.columns import Column, Kind, day_of, moment_of
from curador.query.tables.sources import Files
from curador.query.tables.table import Table, read_column
from curador.show.explain import keys_text, protects_text

LARGER = ("UBIGINT", "HUGEINT")
"""Types whose integers may be larger than an integer id can be."""


@dataclass(frozen=True)
class ColumnState:
    """A column: its declared and its stored type, its public bounds and keys, and what is wrong or left to fill in.

    ``declared`` is None for a stored column that the study does not declare, ``stored`` for a declared one that is not
    in the source.
    """

    name: str
    declared: str | None
    stored: str | None
    public: str = ""
    wrong: str = ""
    left: str = ""


@dataclass(frozen=True)
class TableState:
    """A table: what it protects, its columns, what is wrong with it as a whole, and what is doubtful.

    >>> TableState("adult", "one row", (ColumnState("age", "integer", None, wrong="not in the source"),)).sound
    False
    """

    name: str
    protects: str
    columns: tuple[ColumnState, ...]
    wrong: str = ""
    doubts: tuple[str, ...] = ()
    public: bool = False

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it or its columns; doubts are to be looked at."""
        return not self.wrong and not any(c.wrong for c in self.columns)


@dataclass(frozen=True)
class StudyState:
    """A study file: its tables, its budget, and what is wrong with it as a whole."""

    file: str
    tables: tuple[TableState, ...]
    budget: str = ""
    wrong: str = ""

    @property
    def sound(self) -> bool:
        """Whether questions can be asked; settings that are left to fill in do not prevent that."""
        return not self.wrong and all(t.sound for t in self.tables)


def check(path: str | Path, language: str = "en") -> StudyState:
    """Find everything that is wrong with a study file, and everything that is left to fill in; no value is shown.

    CSV files are read once, as the first question does: to see whether they are tables as they are declared.

    The language is of what tables protect, and of how many keys there are.

    >>> check("no-such.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: There is no study file no-such.toml. ...
    """
    file = Path(path)
    document = read_study_document(file)
    sections, budget = document.get("tables"), document.get("budget")
    if not isinstance(sections, Mapping) or not sections:
        raise InvalidParameter(f"{file.name} declares no tables.", fix="Add a section [tables.NAME].")
    tables = tuple(_table(str(name), settings, file.parent, language) for name, settings in sections.items())
    if not all(t.sound for t in tables):
        return StudyState(file.name, tables, _budget(budget))
    if budget is None:
        return StudyState(file.name, tables, wrong="No budget is stated. Add a section [budget], as epsilon = 1.")
    try:
        Curator(file, ledger="memory:").close()  # the study's own ledger is created by its first question
    except CuradorError as error:
        return StudyState(file.name, tables, wrong=_message(error))
    return StudyState(file.name, tables, _budget(budget))


def _budget(stated: object) -> str:
    if not isinstance(stated, Mapping):
        return ""
    if any(isinstance(amount, Mapping) for amount in stated.values()):
        return "; ".join(f"{name}: {_budget(amount)}" for name, amount in stated.items())
    return ", ".join(f"{name} {amount}" for name, amount in stated.items())


def _table(name: str, settings: object, folder: Path, language: str) -> TableState:
    """The state of a table: every column is checked, also where others or the table itself are wrong."""
    section = settings if isinstance(settings, Mapping) else {}
    given = section.get("columns")
    read = {str(c): _read(str(c), what) for c, what in given.items()} if isinstance(given, Mapping) else {}
    # A wrong column is declared as text meanwhile, so that the rest can be checked.
    columns = {c: "text" if isinstance(found, str) else found for c, found in read.items()}
    protects = wrong = ""
    try:
        table = read_table(name, {**section, "columns": columns} if section else settings, folder)
        protects, wrong = _protects(table, language), _without_limits(table)
    except InvalidParameter as error:
        wrong = _message(error)
    stored_as = {setting: section[setting] for setting in ("source", "csv") if setting in section}
    try:
        read_as = read_table(name, {**stored_as, "unit": "row", "columns": columns}, folder)
        source, doubtful = read_as.source, tuple(doubts(name, read_as))
        with closing(open_engine({name: source})) as engine:
            stored = dict(engine.describe(name))
            fits = {c: _fit(engine.dialect, stored, c, found) for c, found in read.items() if c in stored}
            wrong = wrong or _no_table(engine, name, read_as, stored)
    except (CuradorError, OSError) as error:
        unread = _message(error) if isinstance(error, CuradorError) else "Its source cannot be read. Check its rights."
        return TableState(
            name, protects, tuple(_state(c, found, None, language) for c, found in read.items()), wrong or unread
        )
    id, public = str(section.get("unit")), section.get("public") is True
    large = [] if public else _large_ids(id, read.get(id), stored.get(id, ""))
    declared = [_state(c, found, stored.get(c, ""), language, fits.get(c, ""), id) for c, found in read.items()]
    if public:  # its groups are read from it, and its values need no bounds
        declared = [replace(column, left="") for column in declared]
    # A first line that may be a row is not shown.
    shown = {} if doubtful else stored
    others = [ColumnState(c, None, kind) for c, kind in shown.items() if c not in read]
    return TableState(name, protects, (*declared, *others), wrong, (*doubtful, *large), public)


def _no_table(engine: Engine, name: str, table: Table, stored: Mapping[str, str]) -> str:
    """The refusal that every question about CSV files would get, which are not a table; an empty text otherwise."""
    if not isinstance(table.source, Files) or table.source.format != "csv" or not table.columns.keys() <= stored.keys():
        return ""
    try:
        engine.check({name: table})
    except CuradorError as error:
        return _message(error)
    return ""


def _large_ids(id: str, declared: Column | str | None, stored: str) -> list[str]:
    if not isinstance(declared, Column) or declared.kind is not Kind.INTEGER or stored not in LARGER:
        return []
    what = (
        f"Ids in {id!r} are stored as {stored}: those of 2**63 and more are nobody's, and their rows count in nothing."
    )
    return [f'{what} Declare it as text: type = "text".']


def _without_limits(table: Table) -> str:
    """What is wrong with a table of ids that does not say how much of one counts: every question is refused."""
    if table.public or table.unit.id is None or table.contribution is not None:
        return ""
    return (
        f"It does not say how much of one {table.unit.id!r} counts, so questions are refused. Add contribution = "
        "{ groups = 5, rows = 3 }: one is counted in at most 5 groups, with at most 3 rows in each."
    )


def _protects(table: Table, language: str) -> str:
    return protects_text(None if table.public else (table.unit.id, table.neighbors.value), language)


def _read(name: str, what: object) -> Column | str:
    """The column, or a text that says what is wrong with it."""
    try:
        return read_column(name, what)
    except InvalidParameter as error:
        if what == "" or (isinstance(what, Mapping) and what.get("type") == ""):
            return "type missing"
        return _message(error)


def _fit(dialect: Dialect, types: Mapping[str, str], name: str, found: Column | str) -> str:
    """The reason why a stored column cannot be read as it is declared, or an empty text."""
    if isinstance(found, str):
        return ""
    try:
        check_column(name, found.kind, dialect, types)
    except InvalidParameter:
        return f"cannot be read as {found.kind}"
    return ""


def _state(
    name: str, found: Column | str, stored: str | None, language: str, unfit: str = "", id: str | None = None
) -> ColumnState:
    """The state of a column; ``stored`` is "" where it is missing, None where the source could not be opened."""
    if isinstance(found, str):
        return ColumnState(name, None, stored or None, wrong=found)
    absent = "not in the source" if stored == "" else unfit
    return ColumnState(
        name, found.kind.value, stored or None, _public(found, language), absent, "" if name == id else _left(found)
    )


def _public(column: Column, language: str) -> str:
    shown = []
    if column.bounds is not None:
        shapes = {Kind.DATE: day_of, Kind.TIMESTAMP: moment_of}
        shape = shapes.get(column.kind)
        ends = [float(x) if shape is None else shape(int(x)) for x in column.bounds]
        shown.append(" … ".join(x.isoformat() if isinstance(x, date) else f"{x:,.12g}" for x in ends))
    if column.keys is not None:
        shown.append(keys_text(len(column.keys), language))
    return ", ".join(shown)


def _left(column: Column) -> str:
    if column.kind is Kind.TEXT and column.keys is None:
        return "no keys"
    if column.kind.counted and column.bounds is None:
        return "no bounds"
    return ""


def _message(error: CuradorError) -> str:
    return f"{error.what} {error.fix}"
