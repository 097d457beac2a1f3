"""Rows of a plan as packed integers: read in one piece, or by ranges of ids where they are too many for memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from curador.engines.duckdb.cut import Integers, Totals
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.exact import BoundedRows
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.truncate import INDEX, UNIT

MOST_ROWS = 1 << 23
"""Rows that are held at once, unless one unit has more: in all about 32 bytes for each."""

PARTS = 4096
"""The ranges of ids whose rows are counted before they are put together."""

Ends = tuple[int, int]
"""The least and the largest id of a range."""


class Fetch(Protocol):
    """Runs a tree over the rows of units in a range, up to so many rows of its result; returns columns of integers."""

    def __call__(self, tree: nt.Select, ends: Ends | None = None, most: int | None = None) -> list[Integers]: ...


def counted(bounded: BoundedRows, fetch: Fetch) -> list[list[int]] | None:
    """The measures of every group; None if there are too many rows to be held at once."""
    found = fetch(packed(bounded), most=MOST_ROWS + 1)
    if len(found[0]) > MOST_ROWS:
        return None
    totals = Totals(bounded)
    totals.add(*found)
    return totals.results()


def counted_by_ranges(bounded: BoundedRows, fetch: Fetch) -> list[list[int]]:
    """The same, by ranges of ids: units are cut one by one, so it does not matter how they are put together."""
    totals = Totals(bounded)
    for ends in _ranges(bounded, fetch):
        totals.add(*fetch(packed(bounded, ends), ends))
    return totals.results()


def packed(bounded: BoundedRows, ends: Ends | None = None) -> nt.Select:
    """The id, and the group and the values as one integer, of the units in a range.

    >>> from curador.mechanisms.sensitivity import Contribution
    >>> packed(BoundedRows(nt.table("s0"), 4, (), (), Contribution())).columns[1]
    ('r', ColumnRef(name='g'))
    """
    rest: Node = nt.column(INDEX) if bounded.groups > 1 else nt.constant(0)
    for value in bounded.values:
        code = nt.minus(nt.column(value.name), nt.constant(value.low - 1))
        rest = nt.plus(nt.times(rest, nt.constant(1 << value.bits)), nt.function("COALESCE", [code, nt.constant(0)]))
    return nt.select({UNIT: nt.column(UNIT), "r": rest}, bounded.layer, _between(ends))


def _between(ends: Ends | None) -> Node | None:
    if ends is None:
        return None
    u = nt.column(UNIT)
    return nt.both(nt.infix(">=", u, nt.constant(ends[0])), nt.infix("<=", u, nt.constant(ends[1])))


def _ranges(bounded: BoundedRows, fetch: Fetch, ends: Ends | None = None) -> Iterator[Ends]:
    """Ranges of ids with at most MOST_ROWS rows each, or one id."""
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
