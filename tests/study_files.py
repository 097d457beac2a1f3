"""Declared tables written as study files, so that tests can read them back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

import tomlkit

from curador.query.tables.columns import Column, Kind, day_of
from curador.query.tables.sources import EngineTable, Files
from curador.query.tables.table import Table


def written(tables: Mapping[str, Table]) -> str:
    """The ``[tables]`` of a study file."""
    return tomlkit.dumps({"tables": {name: _table(table) for name, table in tables.items()}})


def _table(table: Table) -> dict[str, Any]:
    source, id = table.source, table.unit.id
    assert isinstance(source, Files | EngineTable)
    stated: dict[str, Any] = {"source": source.pattern if isinstance(source, Files) else source.address}
    if table.public:
        stated["public"] = True
    else:
        stated |= {"unit": "row" if id is None else {"id": id}, "neighbors": table.neighbors.value}
    if table.size is not None:
        stated["size"] = table.size
    if table.contribution is not None:
        stated["contribution"] = {"groups": table.contribution.groups, "rows": table.contribution.rows}
    stated["columns"] = {name: _column(column) for name, column in table.columns.items()}
    stated["trees"] = {n: {"levels": t.levels, "children": _plain(t.children)} for n, t in table.trees.items()}
    return stated


def _column(column: Column) -> dict[str, Any]:
    stated: dict[str, Any] = {"type": column.kind.value}
    if column.bounds is not None:
        stated["bounds"] = [day_of(int(x)) if column.kind is Kind.DATE else _plain(x) for x in column.bounds]
    if column.step is not None:
        stated["step"] = _plain(column.step)
    if column.keys is not None:
        stated["keys"] = list(column.keys)
    return stated if column.nullable else {**stated, "nullable": False}


def _plain(x: object) -> bool | int | str | date | list[Any] | dict[str, Any]:
    if isinstance(x, Fraction):
        return int(x) if x.denominator == 1 else str(x)  # a fraction is written as one: "1/3"
    if isinstance(x, Mapping):
        return {str(name): _plain(below) for name, below in x.items()}
    assert isinstance(x, tuple)
    return list(x)
