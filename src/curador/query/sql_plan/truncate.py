"""Cuts every unit to a number of groups and of rows in each, by its own rows and public constants alone.

Groups: a unit keeps the ``groups`` of its groups that come first in the order of a mixed number of unit and group.
Rows: the n rows of a unit in a group are put in the order of the values that are measured, at places i = 1 … n, and
those are kept for which (i * rows + r) mod n < rows, where r = 0 … n - 1 comes from the mixed number.  That is a
systematic sample with a random start: exactly ``rows`` rows, spread evenly over the values, each row as likely as
another.  Taking the rows with the smallest hash of their values instead would favour rare values, since equal
values have equal hashes.  Rows of equal values are exchangeable, so the order of the source does not matter.

The mixed number is a polynomial of degree four modulo primes near 2**30, so that no product leaves 62 bits and every
engine works out the same.  It has no key: privacy needs only that the choice reads nothing but the unit's own rows.

Guarantee: docs/proofs/truncation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from curador.mechanisms.sensitivity import Contribution
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.ir import Node
from curador.query.tables.columns import Kind

PRIME = 1_073_741_789
"""The largest prime below 2**30."""

SMALL_PRIME = 16_777_213
"""The largest prime below 2**24: times 128 groups it still fits 32 bits, which sort faster."""

SMALL_GROUPS = 128

SHIFT = 715_827_883
"""Added between the two squarings, so that the polynomial is not a fourth power."""

MOST_ROWS_PER_GROUP = 1 << 20
"""The most rows per group that can be asked for: places times rows stay below 2**62."""

UNIT, INDEX, MIXED = "u", "g", "h"
"""Columns of the layers: the unit's id, the number of the public group, the mixed number."""


@dataclass(frozen=True)
class GroupColumns:
    """The groups as columns of a layer: the index of one of ``size`` public keys, or the values ``names``."""

    size: int | None
    names: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that distinguish groups; none where there is one group."""
        return self.names if self.size is None else (INDEX,) * (self.size > 1)


def golden(prime: int) -> int:
    """A multiplier that spreads small numbers over 0 … prime - 1.

    >>> golden(101)
    62
    """
    return round(Fraction("0.6180339887") * prime)


def hashed(x: Node, kind: Kind) -> Node:
    """A number between -PRIME and PRIME for a value of any kind but real; NULL for NULL."""
    if kind is Kind.TEXT:
        return nt.text_hash(x)
    if kind is Kind.BOOLEAN:
        return nt.case([(x, nt.constant(1)), (nt.opposite(x), nt.constant(0))])
    return nt.remainder(x, nt.number(PRIME))


def mixed(layer: nt.FromItem, unit: Kind, cells: GroupColumns, values: Sequence[str]) -> nt.Select:
    """The layer with the mixed number of unit and group: with public keys, one that also determines the group."""
    kept: dict[str, Node] = {c: nt.column(c) for c in (UNIT, *cells.columns, *values)}
    x = hashed(nt.column(UNIT), unit)
    place = _place(cells)
    if place is not None:
        x = nt.plus(x, place)
    layer = nt.select({**kept, "x": x}, layer, fence=True)
    squared = nt.remainder(nt.times(nt.column("x"), nt.column("x")), nt.number(PRIME))
    layer = nt.select({**kept, "y": nt.plus(squared, nt.number(SHIFT))}, layer)
    again = nt.remainder(nt.times(nt.column("y"), nt.column("y")), nt.number(modulus(cells)))
    if cells.size is not None and cells.size > 1:
        del kept[INDEX]
        again = nt.plus(nt.times(again, nt.number(cells.size)), nt.column(INDEX))
    if cells.size is not None and cells.size <= SMALL_GROUPS:
        again = nt.narrow(again)
    return nt.select({**kept, MIXED: again}, layer)


def _place(cells: GroupColumns) -> Node | None:
    """A number for the group, between -PRIME and PRIME: public ones lie evenly spread."""
    if cells.size is not None:
        return nt.times(nt.column(INDEX), nt.number(PRIME // cells.size)) if cells.size > 1 else None
    place: Node | None = None
    for name, kind in zip(cells.names, cells.kinds, strict=True):
        # NULL is a group of its own; any number does for it, ties are broken by the values themselves.
        number = nt.function("COALESCE", [hashed(nt.column(name), kind), nt.constant(SHIFT)])
        place = number if place is None else nt.plus(place, number)
        place = nt.remainder(nt.times(place, nt.number(golden(PRIME) // 2)), nt.number(PRIME))
    return place


def modulus(cells: GroupColumns) -> int:
    """The prime of the last step."""
    return SMALL_PRIME if cells.size is not None and cells.size <= SMALL_GROUPS else PRIME


def group_order(cells: GroupColumns) -> tuple[str, ...]:
    """The columns that order a unit's groups: with public keys the mixed number differs from group to group."""
    return (MIXED, *cells.names)


def parts(cells: GroupColumns) -> tuple[str, ...]:
    """The columns that identify a unit and a group."""
    own = (MIXED,) if cells.size is not None and cells.size > 1 else cells.names
    return (UNIT, *own)


def start(cells: GroupColumns) -> Node:
    """A number from the mixed one, fresh for each unit and group, whose remainders are near uniform."""
    h: Node = nt.column(MIXED)
    if cells.size is not None and cells.size > 1:
        h = nt.divide(h, nt.number(cells.size))  # the remainder of h itself would be the group's, not the unit's
    prime = modulus(cells)
    # Kept groups have small numbers; the multiplier spreads them again.  In 64 bits: h may have 32.
    return nt.remainder(nt.times(h, nt.constant(golden(prime))), nt.number(prime))


def truncated(
    layer: nt.FromItem, unit: Kind, cells: GroupColumns, values: Sequence[str], limits: Contribution, units: bool
) -> nt.Select:
    """The rows that are kept of every unit: columns of the group, ``values``, and with ``units`` the id.

    ``layer`` has the id, never NULL, the group and the values.  Where rows are limited in all groups together, they
    are chosen as if there were one group, spread evenly over groups and then over values.
    """
    if limits.total is not None and cells.columns:
        every = (*cells.columns, *values)
        return truncated(layer, unit, GroupColumns(1), every, Contribution(rows=limits.total), units)
    rows = limits.rows
    layer = mixed(layer, unit, cells, values)
    kept: dict[str, Node] = {c: nt.column(c) for c in (UNIT, *cells.names, *values, MIXED)}
    first: Node | None = None
    if cells.size is None or limits.groups < cells.size:
        layer = nt.select({**kept, "d": nt.rank((UNIT,), group_order(cells), dense=True)}, layer)
        first = nt.infix("<=", nt.column("d"), nt.number(limits.groups))
    places = {"i": nt.rank(parts(cells), tuple(values) or (MIXED,), dense=False), "n": nt.rows_over(parts(cells))}
    layer = nt.select({**kept, **places}, layer, where=first)
    i, n = nt.column("i"), nt.column("n")
    turned = nt.plus(nt.times(i, nt.number(rows)), nt.remainder(start(cells), n))
    keep = nt.either(nt.infix("<=", n, nt.number(rows)), nt.infix("<", nt.remainder(turned, n), nt.number(rows)))
    shown: dict[str, Node] = {c: nt.column(c) for c in ((UNIT,) * units + cells.names + tuple(values))}
    if cells.size is not None and cells.size > 1:
        shown[INDEX] = nt.remainder(nt.column(MIXED), nt.number(cells.size))
    if not shown:
        shown["n"] = n  # a layer needs a column, also where rows alone are counted
    return nt.select(shown, layer, where=keep)


# ---- ranks to be stored --------------------------------------------------------------------------------------

GROUP_RANK, ROW_RANK = "d", "p"
"""Columns of a prepared table: the place of the group among the unit's, and of the row among its in the group."""


def ranked(layer: nt.FromItem, unit: Kind, cells: GroupColumns, values: Sequence[str], turned: int = 0) -> nt.Select:
    """Every row with its two ranks: those up to (groups, rows) are what a unit keeps, whatever the limits.

    The rows of a unit in a group are ordered by a mixed number of their place among the values, so that the first
    ones are a sample of any size in which each row is as likely as another.  ``turned`` gives each of several tables
    an order of its own, so that places that are kept in one say nothing of those in another.
    """
    layer = mixed(layer, unit, cells, values)
    kept: dict[str, Node] = {c: nt.column(c) for c in (UNIT, *values)}
    group: dict[str, Node] = {c: nt.column(c) for c in (*cells.names, MIXED)}
    ranks = {
        GROUP_RANK: nt.constant(1) if cells.size == 1 else nt.rank((UNIT,), group_order(cells), dense=True),
        "i": nt.rank(parts(cells), tuple(values) or (MIXED,), dense=False),
    }
    layer = nt.select({**kept, **group, **ranks}, layer)
    group[GROUP_RANK] = nt.column(GROUP_RANK)
    place = nt.plus(nt.column("i"), nt.constant(turned * SHIFT % PRIME)) if turned else nt.column("i")
    turn = nt.remainder(nt.times(place, nt.constant(golden(PRIME))), nt.number(PRIME))
    layer = nt.select({**kept, **group, "i": nt.column("i"), "x": nt.plus(start(cells), turn)}, layer, fence=True)
    squared = nt.remainder(nt.times(nt.column("x"), nt.column("x")), nt.number(PRIME))
    layer = nt.select({**kept, **group, "i": nt.column("i"), "y": nt.plus(squared, nt.number(SHIFT))}, layer)
    again = nt.remainder(nt.times(nt.column("y"), nt.column("y")), nt.number(PRIME))
    layer = nt.select({**kept, **group, "i": nt.column("i"), "z": again}, layer)
    row = nt.rank(parts(cells), ("z", "i"), dense=False)
    return nt.select({**kept, GROUP_RANK: nt.narrow(nt.column(GROUP_RANK)), ROW_RANK: nt.narrow(row)}, layer)
