"""Made-up tables in the place of private ones, from their declarations alone, to try questions on for free.

Values lie within the bounds, among the keys and along the trees that were declared; ids are shared between tables, so
that joins find something.  They contain nothing else of the real tables: not the number of rows, not one value.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from curador.curator.study.samples import Draws
from curador.numbers import whole
from curador.query.tables.columns import DAY, Column, Key, Kind, day_of, days, moment_of
from curador.query.tables.sources import Files
from curador.query.tables.table import Table

ROWS = 1000
"""How many rows a made-up table has where no public size was declared."""

MOST_MADE_UP_ROWS = 100_000
"""The most rows it has, however large the declared size."""

MISSING = 0.05
"""The share of NULL in a nullable column."""

TEXTS = tuple(f"text {i}" for i in range(1, 21))
NUMBERS = (0, 100)
DATES = (date(2020, 1, 1), date(2024, 12, 31))
"""Stand-ins for values of which nothing was declared; the same in all tables, so that joins find something."""

MadeUpValue = Key | float | None
MadeUpColumn = Sequence[MadeUpValue]


def made_up(tables: Mapping[str, Table], rows: int | None = None, seed: int = 0) -> dict[str, dict[str, MadeUpColumn]]:
    """The columns of made-up tables, by table and name.

    ``rows`` is the number of rows of every private table; by default its public size, if it declares one.

    >>> adult = Table("adult.csv", columns={"age": {"type": "integer", "bounds": [17, 90], "nullable": False}})
    >>> ages = made_up({"adult": adult})["adult"]["age"]
    >>> len(ages), min(ages) >= 17, max(ages) <= 90
    (1000, True, True)
    """
    many = None if rows is None else whole(rows, "rows", 1)
    start = whole(seed, "seed")
    return {
        name: _listed(table) if table.public else _private(name, table, many, start) for name, table in tables.items()
    }


def write(
    tables: Mapping[str, Table], made: Mapping[str, Mapping[str, MadeUpColumn]], folder: Path
) -> dict[str, Table]:
    """The same declarations over files in a folder, which hold the made-up columns.

    Fails: a key that is the empty text comes back as NULL, since a CSV file cannot distinguish the two.
    """
    found = {}
    for i, (name, columns) in enumerate(made.items()):
        path = folder / f"{i}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        found[name] = replace(tables[name], source=Files(str(path), "csv"))
    return found


# ---- private tables ----------------------------------------------------------------------------------------------


def _private(name: str, table: Table, rows: int | None, seed: int) -> dict[str, MadeUpColumn]:
    n = min(table.size or ROWS, MOST_MADE_UP_ROWS) if rows is None else rows
    found: dict[str, MadeUpColumn] = {
        c: _column(Draws(seed, name, c), declared, n) for c, declared in table.columns.items()
    }
    for tree_name, tree in table.trees.items():
        paths = Draws(seed, name, "tree", tree_name).among(list(tree.paths()), n)
        found |= dict(zip(tree.levels, zip(*paths, strict=True), strict=True))
    if table.unit.id is not None:
        found[table.unit.id] = _ids(Draws(seed, name, "unit"), table, n)
    return found


def _ids(draws: Draws, table: Table, n: int) -> MadeUpColumn:
    """The id of each row.  Unit i has the same id in every table, and some have more rows than count."""
    assert table.unit.id is not None
    column, kept = table.columns[table.unit.id], table.contribution
    owners = draws.owners(n, 3 if kept is None else kept.most)
    known = _domain(column)
    if known is not None:
        return [known[i % len(known)] for i in owners]
    if column.kind is Kind.TEXT:
        return [f"unit {i + 1}" for i in owners]
    first, last = (1, None) if column.bounds is None else (int(column.bounds[0]), int(column.bounds[1]))
    return [first + (i if last is None else i % (last - first + 1)) for i in owners]


def _column(draws: Draws, column: Column, n: int) -> MadeUpColumn:
    known = _domain(column)
    cells: MadeUpColumn = draws.among(known, n) if known is not None else _MAKERS[column.kind](draws, column, n)
    return draws.holes(cells, MISSING) if column.nullable else cells


def _domain(column: Column) -> Sequence[Key] | None:
    """All values, where they were declared."""
    return (False, True) if column.kind is Kind.BOOLEAN and column.keys is None else column.keys


def _integers(draws: Draws, column: Column, n: int) -> MadeUpColumn:
    low, high = NUMBERS if column.bounds is None else map(int, column.bounds)
    return draws.integers(low, high, n)


def _reals(draws: Draws, column: Column, n: int) -> MadeUpColumn:
    low, high = NUMBERS if column.bounds is None else map(float, column.bounds)
    return draws.reals(low, high, n)


def _dates(draws: Draws, column: Column, n: int) -> MadeUpColumn:
    low, high = map(days, DATES) if column.bounds is None else map(int, column.bounds)
    return [day_of(x) for x in draws.integers(low, high, n)]


def _moments(draws: Draws, column: Column, n: int) -> MadeUpColumn:
    low, high = map(int, column.bounds or (days(end) * DAY for end in DATES))
    return [moment_of(x) for x in draws.integers(low, high, n)]


def _texts(draws: Draws, column: Column, n: int) -> MadeUpColumn:
    return draws.among(TEXTS, n)


_MAKERS: Mapping[Kind, Callable[[Draws, Column, int], MadeUpColumn]] = {
    Kind.INTEGER: _integers,
    Kind.REAL: _reals,
    Kind.DATE: _dates,
    Kind.TIMESTAMP: _moments,
    Kind.TEXT: _texts,
}


# ---- public tables -----------------------------------------------------------------------------------------------


def _listed(table: Table) -> dict[str, MadeUpColumn]:
    """A public table lists things: each text or key once where it has such a column, so that a join finds one row."""
    columns = {name: _values(column) for name, column in table.columns.items()}
    names = [name for name, c in table.columns.items() if c.kind is Kind.TEXT or c.keys is not None]
    n = max(len(columns[name]) for name in names or columns)
    found: dict[str, MadeUpColumn] = {
        name: [values[i % len(values)] for i in range(n)] for name, values in columns.items()
    }
    for tree in table.trees.values():
        paths = list(tree.paths())
        found |= dict(zip(tree.levels, zip(*(paths[i % len(paths)] for i in range(n)), strict=True), strict=True))
    return found


def _values(column: Column) -> MadeUpColumn:
    known = _domain(column)
    if known is not None:
        return known
    if column.kind is Kind.TEXT:
        return TEXTS
    if column.kind is Kind.TIMESTAMP:
        low = int(column.bounds[0]) if column.bounds else days(DATES[0]) * DAY
        return [moment_of(low + n) for n in range(ROWS)]
    ends = column.bounds or (map(days, DATES) if column.kind is Kind.DATE else NUMBERS)
    low, high = map(int, ends)
    most = range(low, min(high, low + ROWS) + 1)
    return [day_of(x) for x in most] if column.kind is Kind.DATE else most
