"""The interface of an engine, and the exact integers it returns, which never leave the curator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from curador.errors import EngineFailed
from curador.query.aggregates.measure import Measure
from curador.query.sql_plan.exact import Exact, Statement
from curador.query.tables.columns import Key, Kind, day_of, moment_of
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.query.sql_plan.prepared import Preparation, Prepared

Progress = Callable[[float], None]
"""Callback during long work: the fraction done, from 0 to 1, or -1 where it is unknown."""

Take = Callable[[NDArray[np.int64]], None]
"""Receives some rows of integers at a time, a column for each that is read."""

ValueCounts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The distinct values on their grid, in increasing order, and the number of times each occurs."""

Cells = list[tuple[int | None, ...]]
"""The rows of a tally: the cell, its number of rows, then sums over them; see query/records/tally.py."""

AT_ONCE = 1 << 16
"""The rows that are passed on at a time."""

LONGEST_WAIT = 300.0
"""The default timeout of a plan, in seconds."""


class ExactCounts:
    """The result of an engine: exact integers for every group, to be noised at once.

    It has no useful repr, cannot be pickled and is never part of an error, so that it does not leave by accident.

    >>> ExactCounts((), {"rows": [3]}, {})
    ExactCounts(<exact, not shown>)
    """

    __slots__ = ("_columns", "_keys", "_lists")

    def __init__(
        self,
        keys: Sequence[tuple[Key | None, ...]],
        columns: Mapping[Measure, Sequence[int]],
        lists: Mapping[Measure, Sequence[ValueCounts]],
    ) -> None:
        self._keys, self._columns, self._lists = tuple(keys), columns, lists

    @property
    def keys(self) -> tuple[tuple[Key | None, ...], ...]:
        """The groups: the public keys in their order, or the keys found, sorted."""
        return self._keys

    def column(self, measure: Measure) -> Sequence[int]:
        """The integer of each group."""
        return self._columns[measure]

    def values(self, measure: Measure) -> Sequence[ValueCounts]:
        """For each group, the values of a measure and how often each occurs."""
        return self._lists[measure]

    def __repr__(self) -> str:
        return "ExactCounts(<exact, not shown>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an exact answer does not leave the curator")


class Engine(Protocol):
    """An engine, as the curator uses it.

    Guarantee: every plan reads one snapshot.  Only prepared copies are written, and privately what exceeds memory.  Any
    error while rows are read is the constant one of :func:`failed`, without the database's words.
    """

    @property
    def name(self) -> str:
        """The scheme of its addresses, such as duckdb."""
        ...

    def describe(self, table: str) -> list[tuple[str, str]]:
        """List the columns of a table, and their types by the engine's names; no row is read."""
        ...

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse a table whose declared columns are missing, or cannot be read as they are declared."""
        ...

    def identities(self, table: str) -> tuple[str, ...]:
        """Addresses that the database or disk gives the rows of a table.

        Two names of the same rows share an address.
        """
        ...

    def listed(self, exact: Exact) -> list[tuple[Key, ...]]:
        """List the distinct rows of a public table without NULLs, in order; ``exact`` is a listing."""
        ...

    def sql(self, exact: Exact) -> tuple[str, ...]:
        """The statements as this engine will run them; arrays may find the same result instead."""
        ...

    def run(self, exact: Exact, progress: Progress | None = None) -> ExactCounts:
        """Compute the exact integers."""
        ...

    def records(self, exact: Exact, take: Take, progress: Progress | None = None) -> None:
        """Pass the rows of the only statement to ``take``, some at a time, all from one snapshot."""
        ...

    def tallied(self, exact: Exact, progress: Progress | None = None) -> list[Cells]:
        """Run the statements of tallies, all on one snapshot."""
        ...

    def prepare(
        self, preparation: Preparation, path: str | Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        """Store a table with its ranks, at ``path`` where the engine writes files, and use it from now on."""
        ...

    def attach(self, prepared: Prepared) -> None:
        """Use a table that was prepared before."""
        ...

    def reopen(self) -> None:
        """Open again what was opened before a fork; called before a charge, so that a refusal costs nothing."""
        ...

    def close(self) -> None:
        """Close connections and release the data."""
        ...


def failed() -> EngineFailed:
    """Make the only error for a failure after a row was read; a reason could depend on rows.

    >>> print(failed())  # doctest: +ELLIPSIS
    The engine could not run the plan. To do: ... (Cost: the charge is kept, as for an answer.)
    """
    return EngineFailed(
        "The engine could not run the plan.",
        fix="Ask again later, or ask the curator to look at the engine; asking again is a new charge.",
        cost="the charge is kept, as for an answer",
        code="engine-failed",
    )


# ---- from rows to an answer ----------------------------------------------------------------------------------

ResultRows = Sequence[Sequence[Any]] | NDArray[np.int64]
"""The rows that a statement returned; rows of integers only may be given as one array."""


def exact_counts(exact: Exact, results: Sequence[ResultRows]) -> ExactCounts:
    """Assemble the answer from the rows of every statement, in the order of the keys.

    >>> from curador.mechanisms.sensitivity import Contribution
    >>> from curador.query.aggregates.measure import MeasureKind
    >>> from curador.query.sql_plan import ir as nt
    >>> rows, tree = Measure(MeasureKind.ROWS), nt.select({"m0": nt.rows()}, nt.table("s0"))
    >>> exact = Exact((), (Statement(tree, (rows,)),), ((3,), (1,)), (Kind.INTEGER,), Contribution())
    >>> exact_counts(exact, [[(1, 40)]]).column(rows)
    [0, 40]
    """
    keys: Sequence[tuple[Key | None, ...]]
    if exact.keys is not None:
        keys = exact.keys
    else:
        width = len(exact.kinds)
        read = [[(_key(row[:width], exact.kinds), row[width:]) for row in rows] for rows in results]
        keys = sorted({key for rows in read for key, _ in rows}, key=_order)
        place = {key: i for i, key in enumerate(keys)}
        results = [[(place[key], *rest) for key, rest in rows] for rows in read]
    columns: dict[Measure, Sequence[int]] = {}
    lists: dict[Measure, Sequence[ValueCounts]] = {}
    for statement, rows in zip(exact.statements, results, strict=True):
        if statement.listed:
            lists[statement.measures[0]] = _value_counts(rows, len(keys))
        else:
            columns |= _columns(statement, rows, len(keys))
    return ExactCounts(keys, columns, lists)


def _columns(statement: Statement, rows: ResultRows, size: int) -> dict[Measure, list[int]]:
    places, *columns = zip(*rows, strict=True) if len(rows) == size and size else ((),)
    if len(columns) == len(statement.measures) and list(places) == list(range(size)):  # every group, in its place
        # A sum of no values is NULL.
        return {m: [0 if n is None else int(n) for n in c] for m, c in zip(statement.measures, columns, strict=True)}
    found = {measure: [0] * size for measure in statement.measures}
    filled = list(found.values())
    for place, *numbers in rows:
        for column, n in zip(filled, numbers, strict=True):
            column[int(place)] = 0 if n is None else int(n)  # a sum of no values is NULL
    return found


def _value_counts(rows: ResultRows, size: int) -> list[ValueCounts]:
    if not isinstance(rows, np.ndarray):
        rows = np.array([[int(x) for x in row] for row in rows], np.int64).reshape(-1, 3)
    table = rows
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    cuts = np.searchsorted(table[:, 0], np.arange(size + 1))
    return [(table[a:b, 1], table[a:b, 2]) for a, b in pairwise(cuts)]


def _key(values: Sequence[Any], kinds: Sequence[Kind]) -> tuple[Key | None, ...]:
    return tuple(None if v is None else _KEYS[kind](v) for v, kind in zip(values, kinds, strict=True))


_KEYS: dict[Kind, Callable[[Any], Key]] = {
    Kind.INTEGER: int,
    Kind.BOOLEAN: bool,
    Kind.TEXT: str,
    Kind.DATE: lambda n: day_of(int(n)),
    Kind.TIMESTAMP: lambda n: moment_of(int(n)),
}


def _order(key: tuple[Key | None, ...]) -> tuple[tuple[bool, Any], ...]:
    """Order keys by their values, the same on every engine; NULL comes first."""
    return tuple((part is not None, part if part is not None else 0) for part in key)
