"""The tables that a study file declares."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any

from curador.curator.study.document import read_study_document
from curador.engines.registry import engine_entry, in_file
from curador.errors import InvalidParameter
from curador.privacy import Unit
from curador.query.language.expressions import Literal
from curador.query.language.text import sql_text
from curador.query.tables.columns import Column, Kind, day_of, moment_of
from curador.query.tables.names import distinct, identifier, refuse_unknown
from curador.query.tables.sources import EngineTable, Files, Source, read_source
from curador.query.tables.table import Table

TABLE_SETTINGS = ("source", "csv", "unit", "neighbors", "size", "contribution", "public", "columns", "trees")


def read_tables(path: str | Path) -> dict[str, Table]:
    """The tables of a study file, by name; paths in it are relative to its folder.

    Fails: every refusal names the file, the table, the column and what to write instead.
    """
    file = Path(path)
    return tables_from(read_study_document(file), file.name, file.parent)


def tables_from(
    document: Mapping[str, object], where: str = "the study", folder: Path | None = None
) -> dict[str, Table]:
    """The tables of a study document; other sections are ignored.

    >>> study = {"tables": {"adult": {"source": "adult.csv", "unit": "row", "columns": {"age": "integer"}}}}
    >>> tables_from(study)["adult"].columns["age"].kind
    <Kind.INTEGER: 'integer'>
    """
    tables = document.get("tables")
    if not isinstance(tables, Mapping) or not tables:
        raise InvalidParameter(
            f"{where} declares no tables.",
            fix="Add a section [tables.NAME]; or state a [budget] alone, and bring tables in the console.",
        )
    distinct(map(str, tables), "tables")
    found: dict[str, Table] = {}
    for name, settings in tables.items():
        try:
            found[name] = read_table(name, settings, folder)
        except InvalidParameter as error:
            what, facts = f"{where}, table {name!r}: {error.what}", {"table": name, **error.facts}
            raise InvalidParameter(what, fix=error.fix, code=error.code, facts=facts) from None
    return found


def read_table(name: str, settings: object, folder: Path | None = None) -> Table:
    """One table from its section; relative paths are taken from ``folder``.

    >>> read_table("t", {"source": "t.csv", "unit": "row", "columns": {"age": "integer"}}).unit
    Unit(id=None)
    """
    if not isinstance(settings, Mapping):
        raise InvalidParameter("It is not a section.", fix=f"Write [tables.{name}] and its settings below.")
    refuse_unknown(settings, TABLE_SETTINGS, "It")
    for needed in ("source", "columns"):
        if not settings.get(needed):
            raise InvalidParameter(f"It has no {needed}.", fix=f"Add {needed}.")
    return declared_again(name, settings, _source(settings["source"], settings.get("csv"), folder))


def declared_again(name: str, settings: Mapping[str, Any], source: object) -> Table:
    """A table of these settings whose rows are, or were, elsewhere: as :func:`settings_of` says them."""
    public = _flag(settings.get("public", False), "public")
    rest = {k: settings[k] for k in ("neighbors", "size") if k in settings}
    return Table(
        source,
        unit=Unit.row() if public else _unit(settings.get("unit")),
        columns=settings["columns"],
        contribution=settings.get("contribution"),
        name=name,
        public=public,
        trees=settings.get("trees", {}),
        **rest,
    )


def settings_of(table: Table) -> dict[str, Any]:
    """The declarations of a table as :func:`read_table` reads them, but for where its rows are.

    >>> adult = Table("adult.csv", columns={"age": {"type": "integer", "bounds": [17, 90]}})
    >>> settings_of(adult)["columns"]
    {'age': {'type': 'integer', 'bounds': ['17', '90']}}
    >>> read_table("adult", {"source": "elsewhere.csv", **settings_of(adult)}).columns == adult.columns
    True
    """
    found: dict[str, Any] = {"public": True} if table.public else {"unit": _stated_unit(table.unit)}
    found["neighbors"] = table.neighbors.value
    if table.size is not None:
        found["size"] = table.size
    if (kept := table.contribution) is not None:
        found["contribution"] = (
            {"rows": kept.total} if kept.total is not None else {"groups": kept.groups, "rows": kept.rows}
        )
    found["columns"] = {name: _column_settings(column) for name, column in table.columns.items()}
    if table.trees:
        trees = {
            name: {"levels": list(tree.levels), "children": _nested(tree.children)}
            for name, tree in table.trees.items()
        }
        found["trees"] = trees
    return found


def _stated_unit(unit: Unit) -> object:
    if unit.id is None:
        return "row"
    return {"id": unit.id} if unit.id == "row" else unit.id


def _column_settings(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"type": column.kind.value}
    if column.bounds is not None:
        read: Callable[[Fraction], str] = str
        if column.kind is Kind.DATE:
            read = lambda x: day_of(int(x)).isoformat()  # noqa: E731
        elif column.kind is Kind.TIMESTAMP:
            read = lambda x: moment_of(int(x)).isoformat()  # noqa: E731
        found["bounds"] = [read(end) for end in column.bounds]
    if column.step is not None:
        found["step"] = str(column.step)
    if column.keys is not None:
        found["keys"] = [key.isoformat() if isinstance(key, date) else key for key in column.keys]
    if not column.nullable:
        found["nullable"] = False
    return found


def _nested(node: object) -> object:
    if isinstance(node, Mapping):
        return {name: _nested(below) for name, below in node.items()}
    return list(node) if isinstance(node, tuple) else node


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameter(f"{name} is {value!r}.", fix="Write true or false.")
    return value


def _source(text: object, csv: object, folder: Path | None) -> Source:
    """The source, with paths from ``folder``; the address of an unknown engine is refused."""
    if not isinstance(text, str):
        raise InvalidParameter(f"Its source is {text!r}.", fix="Write a path or engine://…#table, in quotes.")
    source = read_source(text, csv)
    engine_entry(source)
    if folder is None:
        return source
    if isinstance(source, Files):
        return replace(source, pattern=str(PurePath(glob.escape(str(folder)), source.pattern)))
    return source.at(folder / source.path) if isinstance(source, EngineTable) and in_file(source) else source


def _unit(unit: object) -> Unit:
    """The unit: "row", the name of an id column, or {id = "row"} for an id column of that name."""
    if isinstance(unit, Mapping) and list(unit) == ["id"]:
        return Unit.of(identifier(unit["id"], "A unit's id"))
    if not isinstance(unit, str) or not unit:
        raise InvalidParameter(
            "It does not say what is protected.",
            fix='Write unit = "row" if every row is another person, else the column that says whose a row is.',
            code="unit-unsaid",
        )
    return Unit.row() if unit == "row" else Unit.of(identifier(unit, "A unit's id"))


def listed_values(table: Table) -> dict[str, tuple[object, ...] | None]:
    """The values that each column may have, where they are listed: its keys, or those of a tree."""
    found: dict[str, tuple[object, ...] | None] = {name: column.keys for name, column in table.columns.items()}
    for tree in table.trees.values():
        for depth, level in enumerate(tree.levels, 1):
            found[level] = found[level] or tuple(dict.fromkeys(path[-1] for path in tree.paths(depth)))
    return found


def keys_in_sql(table: Table) -> dict[str, list[str]]:
    """The keys of each column that has some, as they are written in SQL.

    >>> keys_in_sql(Table("t.csv", columns={"town": {"type": "text", "keys": ["Lugo", "L'Escala"]}, "age": "integer"}))
    {'town': ["'Lugo'", "'L''Escala'"]}
    """
    listed = {name: keys for name, keys in listed_values(table).items() if keys is not None}
    return {name: [sql_text(Literal(key)) for key in keys] for name, keys in listed.items()}  # type: ignore[arg-type]
