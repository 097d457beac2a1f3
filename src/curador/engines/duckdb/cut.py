"""The rows that each unit keeps, computed on arrays: docs/proofs/truncation.md, section 1.

A row is one integer: the unit's number, the public group's, and the measured values, from the highest bits to the
lowest.  Sorted, the rows of a unit lie together, within them those of a group, and within those the values in order.
NULL is 0, and so comes first, as in the statements.  Then whole blocks of units are cut at once.

Sums are exact: numbers are added in parts of 26 bits, as doubles, of at most 2**26 rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curador.query.aggregates.measure import MeasureKind
from curador.query.sql_plan.exact import BoundedRows
from curador.query.sql_plan.truncate import PRIME, SHIFT, GroupColumns, golden, modulus

Integers = NDArray[np.int64]

BLOCK = 1 << 17
"""The rows that are cut at once: the arrays made from them fit a processor's cache."""

PART = 26
"""The bits that are added at once: 2**26 such numbers are below 2**53, and 2**37 below 2**63."""


class Totals:
    """The measures of the kept rows in every group, added up block by block."""

    def __init__(self, bounded: BoundedRows) -> None:
        self._bounded, self._cells = bounded, GroupColumns(bounded.groups)
        self._rows, self._units = _zeros(bounded), _zeros(bounded)
        self._absent = [_zeros(bounded) for _ in bounded.values]
        self._sums: dict[_Sum, list[Integers]] = {}
        for m, i in bounded.measures:
            if i is not None and m.kind is not MeasureKind.PRESENT:
                self._sums.setdefault(_Sum(i, m.centre if m.kind is MeasureKind.SQUARES else None), [])

    # ---- cutting -----------------------------------------------------------------------------------------------

    def add(self, packed: Integers) -> None:
        """Cut and count some rows with all of their units: the id in the upper bits, below it the rest."""
        self._add(packed, lambda units: units)

    def add_apart(self, units: Integers, rest: Integers) -> None:
        """Cut and count rows whose ids are too large for packing; the ids are numbered in their order."""
        order = np.argsort(units)
        units = units[order]
        starts, known = _runs(units)
        numbers = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(units)))
        numbers <<= self._bounded.bits
        numbers |= rest[order]
        self._add(numbers, lambda units: known[units])

    def _add(self, packed: Integers, id_of: Callable[[Integers], Integers]) -> None:
        packed.sort()
        for block in _blocks(packed, self._bounded.bits):
            self._add_block(block, id_of)

    def _add_block(self, packed: Integers, id_of: Callable[[Integers], Integers]) -> None:
        bounded, rows = self._bounded, self._bounded.limits.rows
        starts, pairs = _runs(packed >> bounded.value_bits)
        sizes = np.diff(starts, append=len(packed))
        units = pairs >> bounded.group_bits
        groups = pairs & ((1 << bounded.group_bits) - 1)
        kept = self._first_groups(units, groups, id_of)
        few = sizes <= rows
        whole = few if kept is None else few & kept
        found = packed[np.repeat(whole, sizes)]
        many = np.flatnonzero(~few if kept is None else kept & ~few)
        if len(many):
            # (place * rows + r) mod n < rows: where (place * rows + r) / n passes a whole number.
            n = sizes[many][:, None]
            r = _starts(self._mixed_number(id_of(units[many]), groups[many]), self._cells)[:, None] % n
            places = -((r - np.arange(1, rows + 1) * n) // rows)
            found = np.concatenate([found, packed[(starts[many][:, None] + places - 1).ravel()]])
        self._count(found)
        if any(m.kind is MeasureKind.UNITS for m, _ in bounded.measures):
            self._units += np.bincount(groups if kept is None else groups[kept], minlength=bounded.groups)

    def _first_groups(
        self, units: Integers, groups: Integers, id_of: Callable[[Integers], Integers]
    ) -> NDArray[np.bool_] | None:
        """Mark the pairs of unit and group that are among the unit's first by mixed number; None for all."""
        limit = self._bounded.limits.groups
        if limit >= self._bounded.groups:
            return None
        starts, _ = _runs(units)
        sizes = np.diff(starts, append=len(units))
        over = sizes > limit
        if not over.any():
            return None
        kept = ~np.repeat(over, sizes)
        those, sizes = np.flatnonzero(~kept), sizes[over]
        mixed = self._mixed_number(id_of(units[those]), groups[those])
        kept[those] = mixed <= np.repeat(_smallest(mixed, sizes, limit), sizes)
        return kept

    def _mixed_number(self, ids: Integers, groups: Integers) -> Integers:
        """The mixed number of unit and group.

        :func:`curador.query.sql_plan.truncate.mixed` writes it in SQL.
        """
        size = self._bounded.groups
        x = np.fmod(ids, PRIME)  # with the sign of the id, as in SQL
        if size > 1:
            x += groups * (PRIME // size)
        y = x * x % PRIME + SHIFT
        h: Integers = y * y % modulus(self._cells)
        return h * size + groups if size > 1 else h

    # ---- counting ----------------------------------------------------------------------------------------------

    def _count(self, kept: Integers) -> None:
        bounded = self._bounded
        groups = (kept >> bounded.value_bits) & ((1 << bounded.group_bits) - 1)
        self._rows += np.bincount(groups, minlength=bounded.groups)
        below, codes = bounded.value_bits, []
        for value, absent in zip(bounded.values, self._absent, strict=True):
            below -= value.bits
            codes.append((kept >> below) & ((1 << value.bits) - 1))
            none = codes[-1] == 0
            if none.any():
                absent += np.bincount(groups[none], minlength=bounded.groups)
        for what, parts in self._sums.items():
            x, value = codes[what.value], bounded.values[what.value]
            if what.centre is not None:
                x = np.where(x == 0, 0, x + (value.low - 1 - what.centre)) ** 2
            _add_up(parts, groups, x, bounded.groups)

    def results(self) -> list[list[int]]:
        """Return a row for every group: its index, and the measures as the statement has them."""
        columns = [list(range(self._bounded.groups))]
        for m, i in self._bounded.measures:
            if m.kind is MeasureKind.UNITS:
                columns.append(self._units.tolist())
                continue
            rows: list[int] = (self._rows if i is None else self._rows - self._absent[i]).tolist()
            if i is None or m.kind is MeasureKind.PRESENT:
                columns.append(rows)
            elif m.kind is MeasureKind.SQUARES:
                columns.append(self._whole(_Sum(i, m.centre)))
            else:
                moved = self._bounded.values[i].low - 1 - m.centre
                columns.append([x + moved * n for x, n in zip(self._whole(_Sum(i)), rows, strict=True)])
        return [list(row) for row in zip(*columns, strict=True)]

    def _whole(self, what: _Sum) -> list[int]:
        found = [0] * self._bounded.groups
        for j, part in enumerate(self._sums[what]):
            found = [x + (y << PART * j) for x, y in zip(found, part.tolist(), strict=True)]
        return found


class _Sum(NamedTuple):
    """A sum over kept rows: of the codes of a value, or of squares of its distance from a centre."""

    value: int
    centre: int | None = None


def _zeros(bounded: BoundedRows) -> Integers:
    return np.zeros(bounded.groups, np.int64)


def _add_up(parts: list[Integers], groups: Integers, x: Integers, size: int) -> None:
    """Add numbers from 0 on to the sums of their groups, each sum in parts of 26 bits."""
    for begin in range(0, len(x), 1 << PART):
        left, g, j = x[begin : begin + (1 << PART)], groups[begin : begin + (1 << PART)], 0
        while (most := int(left.max())) > 0:
            if j == len(parts):
                parts.append(np.zeros(size, np.int64))
            part = left & ((1 << PART) - 1) if most >> PART else left
            parts[j] += np.bincount(g, part, minlength=size).astype(np.int64)
            left, j = left >> PART, j + 1


def _runs(x: Integers) -> tuple[Integers, Integers]:
    """Find the starts of runs of equal numbers, and the numbers."""
    changed = np.empty(len(x), bool)
    changed[0] = True
    np.not_equal(x[1:], x[:-1], out=changed[1:])
    starts = np.flatnonzero(changed)
    return starts, x[starts]


def _smallest(x: Integers, sizes: Integers, place: int) -> Integers:
    """The number at a place, from 1, among each run's numbers in order; every run has more.

    Runs are put into the rows of a matrix with others of about their size: short rows sort much faster.
    """
    found, starts = np.empty(len(sizes), np.int64), np.cumsum(sizes) - sizes
    fewer, width, most = 0, 16, int(sizes.max())
    while fewer < most:
        alike = np.flatnonzero((sizes > fewer) & (sizes <= width))
        if len(alike):
            places = np.arange(width)
            rows = x.take(starts[alike][:, None] + places, mode="clip")
            rows[places >= sizes[alike][:, None]] = np.iinfo(np.int64).max
            rows.sort(axis=1)
            found[alike] = rows[:, place - 1]
        fewer, width = width, 2 * width
    return found


def _blocks(packed: Integers, bits: int) -> Iterator[Integers]:
    """Yield the sorted rows in blocks of whole units: about as many rows as fit the cache, or one unit."""
    begin = 0
    while begin < len(packed):
        end = begin + BLOCK
        if end < len(packed):
            unit = int(packed[end]) >> bits
            end = int(np.searchsorted(packed, unit << bits))
            if end == begin:
                end = int(np.searchsorted(packed, (unit + 1) << bits))
        yield packed[begin:end]
        begin = end


def _starts(mixed: Integers, cells: GroupColumns) -> Integers:
    """The place of the first cell, as :func:`curador.query.sql_plan.truncate.start` writes it in SQL."""
    prime = modulus(cells)
    assert cells.size is not None
    return mixed // cells.size * golden(prime) % prime
