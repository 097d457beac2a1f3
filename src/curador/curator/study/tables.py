"""Study files: tables declared in TOML, read and written."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import Unit
from curador.query.tables.columns import Column, Kind, day_of, distinct, identifier, suggestion
from curador.query.tables.sources import EngineTable, Files, read_source
from curador.query.tables.table import Table, Tree

TABLE_SETTINGS = ("source", "unit", "neighbors", "size", "contribution", "public", "columns", "trees")


def read_tables(path: str | Path) -> dict[str, Table]:
    """The tables of a study file, by name; paths in it are relative to it.

    Fails: every refusal names the file, the table, the column and what to write instead.
    """
    file = Path(path)
    return tables_from(read_document(file), file.name, file.parent)


def read_document(path: str | Path) -> dict[str, object]:
    """A study file as plain values, as yet unchecked.

    >>> read_document("no-such.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: There is no study file no-such.toml. ...
    """
    file = Path(path)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InvalidParameter(
            f"There is no study file {file.name}.", fix="Check the path, or draft one with `curador init`."
        ) from None
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(f"{file.name} cannot be read as text.", fix="Check its rights and encoding.") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"{file.name} is not TOML: {error}.", fix="Correct that line.") from None


def tables_from(
    document: Mapping[str, object], where: str = "the study", folder: Path | None = None
) -> dict[str, Table]:
    """The tables of a study that was already read; other sections are left to those who know them.

    >>> study = {"tables": {"adult": {"source": "adult.csv", "unit": "row", "columns": {"age": "integer"}}}}
    >>> tables_from(study)["adult"].columns["age"].kind
    <Kind.INTEGER: 'integer'>
    """
    tables = document.get("tables")
    if not isinstance(tables, Mapping) or not tables:
        raise InvalidParameter(f"{where} declares no tables.", fix="Add a section [tables.NAME].")
    distinct(map(str, tables), "tables")
    found: dict[str, Table] = {}
    for name, settings in tables.items():
        try:
            found[name] = read_table(name, settings, folder)
        except InvalidParameter as error:
            raise InvalidParameter(f"{where}, table {name!r}: {error.what}", fix=error.fix) from None
    return found


def read_table(name: str, settings: object, folder: Path | None = None) -> Table:
    """One table from its section; relative paths are taken from ``folder``.

    >>> read_table("t", {"source": "t.csv", "unit": "row", "columns": {"age": "integer"}}).unit
    Unit(id=None)
    """
    if not isinstance(settings, Mapping):
        raise InvalidParameter("It is not a section.", fix=f"Write [tables.{name}] and its settings below.")
    for setting in settings:
        if setting not in TABLE_SETTINGS:
            raise InvalidParameter(f"Unknown setting {setting!r}.", fix=suggestion(setting, TABLE_SETTINGS))
    for needed in ("source", "columns"):
        if not settings.get(needed):
            raise InvalidParameter(f"It has no {needed}.", fix=f"Add {needed}.")
    public = _flag(settings.get("public", False), "public")
    rest = {k: settings[k] for k in ("neighbors", "size") if k in settings}
    return Table(
        _source(settings["source"], folder),
        unit=Unit.row() if public else _unit(settings.get("unit")),
        columns=settings["columns"],
        contribution=_limits(settings.get("contribution")),
        name=name,
        public=public,
        trees=_trees(settings.get("trees", {})),
        **rest,
    )


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameter(f"{name} is {value!r}.", fix="Write true or false.")
    return value


def _source(text: object, folder: Path | None) -> object:
    if not isinstance(text, str):
        raise InvalidParameter(f"Its source is {text!r}.", fix="Write a path or engine://…#table, in quotes.")
    source = read_source(text)
    if folder is None:
        return source
    if isinstance(source, Files):
        return replace(source, pattern=str(folder / source.pattern))
    if isinstance(source, EngineTable) and source.engine == "duckdb":
        path = unquote(urlsplit(source.url).path).removeprefix("/")
        return replace(source, url=f"duckdb:///{quote(str(folder / path))}")
    return source


def _unit(unit: object) -> Unit:
    """ "row", the name of an id column, or {id = "row"} for an id column of that name."""
    if isinstance(unit, Mapping) and list(unit) == ["id"]:
        return Unit.of(identifier(unit["id"], "A unit's id"))
    if not isinstance(unit, str) or not unit:
        raise InvalidParameter(
            "It does not say what is protected.",
            fix='Write unit = "row" if every row is another person, else the column that says whose a row is.',
        )
    return Unit.row() if unit == "row" else Unit.of(identifier(unit, "A unit's id"))


def _limits(limits: object) -> Contribution | None:
    if limits is None:
        return None
    if not isinstance(limits, Mapping) or set(limits) != {"groups", "rows"}:
        raise InvalidParameter(f"Contribution is {limits!r}.", fix="Write contribution = { groups = 5, rows = 3 }.")
    return Contribution(groups=limits["groups"], rows=limits["rows"])


def _trees(trees: object) -> dict[str, Tree]:
    if not isinstance(trees, Mapping):
        raise InvalidParameter("trees is not a section.", fix="Write [tables.NAME.trees.TREE].")
    found = {}
    for name, tree in trees.items():
        if not isinstance(tree, Mapping) or set(tree) != {"levels", "children"}:
            raise InvalidParameter(f"Tree {name!r} needs levels and children.", fix="Declare both, and nothing else.")
        found[name] = Tree(tree["levels"], tree["children"])
    return found


# ---- out -----------------------------------------------------------------------------------------------------


def write_table(name: str, table: Table) -> str:
    """A table as a section of a study file; :func:`read_tables` reads it back.

    >>> print(write_table("adult", Table("adult.csv", columns={"age": Column("integer", bounds=(17, 90))})))
    [tables.adult]
    source = "adult.csv"
    unit = "row"
    neighbors = "add-remove"
    <BLANKLINE>
    [tables.adult.columns.age]
    type = "integer"
    bounds = [17, 90]
    <BLANKLINE>
    """
    return "\n".join(_table_lines(name, table)) + "\n"


def _table_lines(name: str, table: Table) -> Iterator[str]:
    here = f"tables.{toml_key(name)}"
    yield f"[{here}]"
    yield f"source = {toml_text(_source_text(table))}"
    if table.public:
        yield "public = true"
    else:
        id = table.unit.id
        yield 'unit = "row"' if id is None else f"unit = {{ id = {toml_text(id)} }}"
        yield f"neighbors = {toml_text(table.neighbors)}"
    if table.size is not None:
        yield f"size = {table.size}"
    if table.contribution is not None:
        yield f"contribution = {{ groups = {table.contribution.groups}, rows = {table.contribution.rows} }}"
    for column, declared in table.columns.items():
        yield ""
        yield f"[{here}.columns.{toml_key(column)}]"
        yield from _column_lines(declared)
    for tree, declared_tree in table.trees.items():
        yield ""
        yield f"[{here}.trees.{toml_key(tree)}]"
        yield f"levels = {_plain(declared_tree.levels)}"
        yield f"children = {_plain(declared_tree.children)}"


def _source_text(table: Table) -> str:
    source = table.source
    if isinstance(source, Files):
        return source.pattern
    if isinstance(source, EngineTable):
        return f"{source.url}#{source.schema + '.' if source.schema else ''}{source.table}"
    raise InvalidParameter("A frame in memory has no place in a study file.", fix="Store it as Parquet first.")


def _column_lines(column: Column) -> Iterator[str]:
    yield f"type = {toml_text(column.kind)}"
    if column.bounds is not None:
        shown = [day_of(int(x)) if column.kind is Kind.DATE else x for x in column.bounds]
        yield f"bounds = {_plain(shown)}"
    if column.step is not None:
        yield f"step = {_plain(column.step)}"
    if column.keys is not None:
        yield f"keys = {_plain(column.keys)}"
    if not column.nullable:
        yield "nullable = false"


def _plain(x: object) -> str:
    if isinstance(x, bool):
        return str(x).lower()
    if isinstance(x, str):
        return toml_text(x)
    if isinstance(x, Fraction) and x.denominator > 1:
        return toml_text(str(x))  # a fraction is written as one: "1/3"
    if isinstance(x, int | date | Fraction):
        return str(x)
    if isinstance(x, Mapping):
        return "{ " + ", ".join(f"{toml_key(str(k))} = {_plain(v)}" for k, v in x.items()) + " }"
    assert isinstance(x, Iterable)
    return "[" + ", ".join(map(_plain, x)) + "]"


def toml_text(x: str) -> str:
    """A text as TOML writes it.

    >>> toml_text('the "best"')
    '"the \\\\"best\\\\""'
    """
    return json.dumps(x, ensure_ascii=False).replace("\x7f", "\\u007F")


def toml_key(name: str) -> str:
    """A name as TOML writes it.

    >>> toml_key("age"), toml_key("first name")
    ('age', '"first name"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)
