"""Rows of a plan as packed integers: read at once, or by ranges of ids if memory is too small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol

from curador.engines.duckdb.cut import Integers, Totals
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.exact import BoundedRows
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.truncate import INDEX, UNIT

MOST_ROWS = 1 << 23
"""The most rows in memory at once, about 32 bytes each, unless one unit has more."""

PARTS = 4096
"""The ranges of ids whose rows are counted before the ranges are joined."""

MOST_BITS, FAR = 62, -(1 << 63)
"""The bits of a packed row beside its sign, one fewer than a word has; and the mark of a row that needs more."""

Ends = tuple[int, int]
"""The least and the largest id of a range."""


class Fetch(Protocol):
    """Runs a tree over the rows of units in a range.

    It returns columns of integers, of at most ``most`` rows.
    """

    def __call__(self, tree: nt.Select, ends: Ends | None = None, most: int | None = None) -> list[Integers]: ...


class Outcome(Enum):
    """The result of an attempt to count rows."""

    COUNTED = 1
    TOO_MANY = 2
    TOO_WIDE = 3


def counted(
    bounded: BoundedRows, fetch: Fetch, snapshot: AbstractContextManager[None] | None
) -> list[list[int]] | None:
    """The measures of every group; None if arrays cannot hold the rows.

    Too many rows for memory are read by ranges of ids, all in one ``snapshot``; None forbids that.  Units are cut one
    by one, so any grouping of them gives the same result.
    """
    totals = Totals(bounded)
    outcome = _count_range(totals, bounded, fetch, most=MOST_ROWS)
    if outcome is Outcome.TOO_MANY and snapshot is not None:
        with snapshot:
            every = (_count_range(totals, bounded, fetch, ends) for ends in _ranges(bounded, fetch))
            outcome = next((o for o in every if o is not Outcome.COUNTED), Outcome.COUNTED)
    return totals.results() if outcome is Outcome.COUNTED else None


def _count_range(
    totals: Totals, bounded: BoundedRows, fetch: Fetch, ends: Ends | None = None, most: int | None = None
) -> Outcome:
    """Read and count the rows of the units in a range."""
    (rows,) = fetch(packed(bounded, ends), ends, None if most is None else most + 1)
    if most is not None and len(rows) > most:
        return Outcome.TOO_MANY
    if not len(rows) or int(rows.min()) != FAR:
        totals.add(rows)
        return Outcome.COUNTED
    if len(rows).bit_length() + bounded.bits > MOST_BITS:
        return Outcome.TOO_WIDE
    del rows
    totals.add_apart(*fetch(apart(bounded, ends), ends))
    return Outcome.COUNTED


def packed(bounded: BoundedRows, ends: Ends | None = None) -> nt.Select:
    """Pack the id, the group and the values of units in a range into one integer.

    FAR stands for a row whose id is too large.

    >>> from curador.mechanisms.sensitivity import Contribution
    >>> from curador.engines.duckdb.dialects import DUCKDB
    >>> from curador.engines.render import render
    >>> tree = packed(BoundedRows(nt.table("s0"), 1, (), (), Contribution()))
    >>> render(tree, DUCKDB, {"s0": '"t"'})  # doctest: +ELLIPSIS
    'SELECT CASE WHEN (("u" >= CAST((-...) AS BIGINT)) AND ...) THEN (("u" * CAST(1 AS BIGINT)) + ...) ELSE ...'
    """
    most = 1 << (MOST_BITS - bounded.bits)
    whole = nt.plus(nt.times(nt.column(UNIT), nt.constant(1 << bounded.bits)), _rest(bounded))
    within = _between((-most, most - 1))
    return nt.select({"k": nt.case([(within, whole)], nt.constant(FAR))}, bounded.layer, _units(ends))


def apart(bounded: BoundedRows, ends: Ends | None = None) -> nt.Select:
    """Return the id, and the group and the values as one integer."""
    return nt.select({UNIT: nt.column(UNIT), "r": _rest(bounded)}, bounded.layer, _units(ends))


def _rest(bounded: BoundedRows) -> Node:
    rest: Node = nt.column(INDEX) if bounded.groups > 1 else nt.constant(0)
    for value in bounded.values:
        code = nt.minus(nt.column(value.name), nt.constant(value.low - 1))
        rest = nt.plus(nt.times(rest, nt.constant(1 << value.bits)), nt.function("COALESCE", [code, nt.constant(0)]))
    return rest


def _units(ends: Ends | None) -> Node | None:
    return None if ends is None else _between(ends)


def _between(ends: Ends) -> Node:
    u = nt.column(UNIT)
    return nt.both(nt.infix(">=", u, nt.constant(ends[0])), nt.infix("<=", u, nt.constant(ends[1])))


def _ranges(bounded: BoundedRows, fetch: Fetch, ends: Ends | None = None) -> Iterator[Ends]:
    """Yield ranges of ids with at most MOST_ROWS rows each, or a single id."""
    u = nt.column(UNIT)
    if ends is None:
        least, most = fetch(nt.select({"a": nt.least(u), "b": nt.largest(u)}, bounded.layer))
        ends = int(least[0]), int(most[0])
    low, high = ends
    width = (high - low) // PARTS + 1
    part = nt.select({"p": nt.divide(u, nt.constant(width))}, bounded.layer, _between(ends))
    numbers, rows = fetch(nt.select({"p": nt.column("p"), "n": nt.rows()}, part, group=("p",)), ends)
    sizes = dict(zip(numbers.tolist(), rows.tolist(), strict=True))
    begin, total = low, 0
    for number in sorted(sizes):
        first, last = max(low, _first(number, width)), min(high, _first(number + 1, width) - 1)
        if total + sizes[number] > MOST_ROWS:
            if total:
                yield begin, first - 1
            begin, total = first, 0
            if sizes[number] > MOST_ROWS:
                yield from [(first, last)] if first == last else _ranges(bounded, fetch, (first, last))
                begin = last + 1
                continue
        total += sizes[number]
    if total:
        yield begin, high


def _first(number: int, width: int) -> int:
    """The least id whose quotient by the width, without its fraction, is ``number``."""
    return number * width if number > 0 else (number - 1) * width + 1
