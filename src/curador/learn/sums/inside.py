"""The same sums worked out inside the engine of a table, so that no row leaves it: the same integers, bit for bit.

Which way is taken is decided by declarations alone: statements of very many columns are slower than reading rows, and
databases have limits.  Then, and for arrays, rows are read and summed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import numpy as np

from curador.curator.purchases.tallied import (
    Cells,
    Node,
    RecordTally,
    TableRows,
    TalliedRows,
    column,
    first_least,
    folded_square,
    on_grid,
    part_of,
    record,
    weighed,
)
from curador.curator.purchases.training import ReadRows
from curador.forks import cached_property
from curador.learn.rows.encoding import SCALE, Floats, Ints
from curador.learn.rows.records import RecordReader
from curador.learn.sums.classes import ClassSums

MOST_SUMS = 600
"""The most sums of one statement: a row of PostgreSQL has at most 1,664 columns."""

MOST_SETS = 1000
"""The most groupings of one statement."""

MOST_TERMS = 4000
"""The most terms of the distances from all centres."""

MOST_WIDTH = 2000
"""The most encoded columns whose products are tallied."""

LABEL, CLASS = "y", "c"


@dataclass(frozen=True)
class InsideSums:
    """Sums over the records of a table inside its engine; see :func:`inside`."""

    rows: TableRows
    reader: RecordReader

    # ---- columns ----------------------------------------------------------------------------------------------------

    @cached_property
    def _columns(self) -> dict[str, Node]:
        """The encoded columns: numbers n0, n1, …, codes of keys k0, k1, …, and the label, on its grid or as a code."""
        found: dict[str, Node] = {}
        numbers, keyed = 0, 0
        for i, one in enumerate(self.reader.columns):
            code = record(i) if one.keys is not None else on_grid(record(i), one.steps, SCALE)
            if one.name == self.reader.label:
                found[LABEL] = code
            elif one.keys is None:
                found[f"n{numbers}"] = code
                numbers += 1
            else:
                found[f"k{keyed}"] = code
                keyed += 1
        return found

    @property
    def _known(self) -> int | None:
        """The place of the label: a row without one, or with none of the classes, is left out."""
        return next((i for i, c in enumerate(self.reader.columns) if c.name == self.reader.label), None)

    @property
    def _numbers(self) -> list[str]:
        return [f"n{i}" for i in range(len(self.reader.encoding.numbers))]

    @property
    def _keyed(self) -> list[str]:
        return [f"k{j}" for j in range(len(self.reader.encoding.keyed))]

    def _tallied(self, layers: Sequence[Mapping[str, Node]], tallies: Sequence[RecordTally]) -> list[Cells]:
        return self.rows.tallied(TalliedRows((self._columns, *layers), self._known, tuple(tallies)))

    # ---- products of columns ----------------------------------------------------------------------------------------

    def moments(self, labelled: bool) -> Ints:
        """As :meth:`Design.moments`, or with the label as :func:`labelled`: the products of every two columns."""
        encoding = self.reader.encoding
        summed = [*self._numbers, *([LABEL] if labelled else [])]
        products = list(combinations_with_replacement(summed, 2))
        tallies = [RecordTally(((),), (*products, *((name,) for name in summed)))]
        if self._keyed:
            tallies.append(RecordTally(tuple((k,) for k in self._keyed), tuple((name,) for name in summed)))
        if pairs := list(combinations(self._keyed, 2)):
            tallies.append(RecordTally(tuple(pairs)))
        whole, *rest = self._tallied((), tallies)
        d = encoding.width
        at = {name: i for i, name in enumerate(self._numbers)} | {LABEL: d}
        found = np.zeros((d + labelled, d + labelled), np.int64)

        def put(i: int, j: int, x: int) -> None:
            found[i, j] = found[j, i] = x

        ((count, *sums),) = whole
        put(d - 1, d - 1, SCALE**2 * (count or 0))
        for (a, b), x in zip(products, sums, strict=False):
            put(at[a], at[b], x or 0)
        for name, x in zip(summed, sums[len(products) :], strict=True):
            put(at[name], d - 1, SCALE * (x or 0))
        for cells, tally in zip(rest, tallies[1:], strict=True):
            width = len(tally.names)
            for cell in cells:
                known = [(j, code) for j, code in enumerate(cell[:width]) if code is not None]
                places = [encoding.starts[j] + code for j, code in known if code >= 0]
                if len(places) < len(known):
                    continue  # what is none of the keys has no column
                put(places[0], places[-1], SCALE**2 * (cell[width] or 0))
                if len(places) == 1:
                    put(places[0], d - 1, SCALE**2 * (cell[width] or 0))
                    for name, x in zip(summed, cell[width + 1 :], strict=True):
                        put(places[0], at[name], SCALE * (x or 0))
        return found

    # ---- sums by class ----------------------------------------------------------------------------------------------

    def by_label(self, sums: ClassSums) -> Ints:
        """As :meth:`ClassSums.exact`, the classes being the keys of the label in the order that they are declared."""
        return self._classed(sums, (), column(LABEL))

    def by_centre(self, sums: ClassSums, centres: Floats) -> Ints:
        """As :meth:`ClassSums.exact`, the class of a row being its :func:`nearest` centre."""
        at = np.rint(centres * SCALE).astype(np.int64)
        # What is added to all distances makes them positive, so that the least is found by packing it with its place.
        added = int(2 * SCALE * np.abs(at).sum(axis=1).max()) + 1
        distances = [self._distance(centre, added) for centre in at]
        own = {name: column(name) for name in self._columns}
        places = {f"d{i}": x for i, x in enumerate(distances)}
        nearest = first_least([column(name) for name in places])
        return self._classed(sums, ({**own, **places},), nearest)

    def _distance(self, centre: Ints, added: int) -> Node:
        """The squared distance of a row from a centre, but for the row's own length, and with something added."""
        encoding = self.reader.encoding
        numbers = {name: -2 * int(x) for name, x in zip(self._numbers, centre, strict=False)}
        keys = {
            name: [-2 * SCALE * int(x) for x in centre[first : first + feature.width]]
            for name, first, feature in zip(self._keyed, encoding.starts, encoding.keyed, strict=True)
        }
        return weighed(numbers, keys, added + int((centre * centre).sum()))

    def _classed(self, sums: ClassSums, layers: Sequence[Mapping[str, Node]], of: Node) -> Ints:
        numbers, cut = self._numbers, [f"b{i}" for i in range(len(self._numbers))]
        columns: dict[str, Node] = {name: column(name) for name in self._keyed}
        columns[CLASS] = of
        if sums.bins:
            columns |= {b: part_of(column(n), sums.bins, SCALE) for b, n in zip(cut, numbers, strict=True)}
            summed, keyed = [], [*cut, *self._keyed]
        else:
            squared = [f"q{i}" for i in range(len(numbers))]
            columns |= {n: column(n) for n in numbers}
            columns |= {q: folded_square(column(n), SCALE) for q, n in zip(squared, numbers, strict=True)}
            summed, keyed = [*numbers, *squared], self._keyed
        tallies = [RecordTally(((CLASS,),), tuple((name,) for name in summed))]
        if keyed:
            tallies.append(RecordTally(tuple((CLASS, name) for name in keyed)))
        first, *rest = self._tallied((*layers, columns), tallies)
        found = np.zeros((sums.classes, sums.width), np.int64)
        for place, count, *totals in first:
            found[place, 0] = SCALE * (count or 0)
            found[place, 1 : 1 + len(summed)] = [x or 0 for x in totals]
        starts = 1 + len(summed) + np.cumsum([0, *sums.sizes])
        for cells in rest:
            for place, *codes, count in cells:
                ((j, code),) = ((j, code) for j, code in enumerate(codes) if code is not None)
                if code >= 0:
                    found[place, starts[j] + code] = SCALE * (count or 0)
        return found


def inside(read: ReadRows, reader: RecordReader, centres: int = 0) -> InsideSums | None:
    """Sums inside the engine, where rows are a table's and statements are not too large; else None.

    ``centres`` are the most centres from which distances are worked out.
    """
    if not isinstance(read, TableRows):
        return None
    encoding = reader.encoding
    p, k = len(encoding.numbers) + 1, len(encoding.keyed)
    small = max(p * (p + 1) // 2 + p, 2 * p) <= MOST_SUMS and max(k * (k - 1) // 2, p + k) <= MOST_SETS
    if not small or encoding.width > MOST_WIDTH or centres * encoding.width > MOST_TERMS:
        return None
    return InsideSums(read, reader)
