"""Counts and sums over records, worked out where they are: integers in, integers out, so the same on every engine.

Above the statement that reads records stand layers of columns that are worked out from them, row by row, and on top how
many rows there are in each cell of some columns, and what products of columns add up to there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from curador.query.records.columns import Records
from curador.query.records.lower import lower_records
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.exact import Exact, Statement
from curador.query.sql_plan.ir import Node


@dataclass(frozen=True)
class RecordTally:
    """One statement: the rows in each cell, and sums of products over them.

    ``cells`` are lists of columns; rows with the same values of a list are a cell, and no list at all makes one cell of
    all rows.  A row of the result has the columns of all lists, NULL for those that are not in its own, then the
    number of rows, then one sum for each of ``sums``: of a column, or of the product of two.
    """

    cells: tuple[tuple[str, ...], ...]
    sums: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of all lists, each once.

        >>> RecordTally((("a", "b"), ("a", "c"))).names
        ('a', 'b', 'c')
        """
        return tuple(dict.fromkeys(name for names in self.cells for name in names))


@dataclass(frozen=True)
class TalliedRows:
    """Records, layers of columns that are worked out from them, which rows are kept, and what is tallied.

    The columns of the records are v0, v1, … in their order; each layer sees those of the layer below alone.  Rows whose
    column at the place ``known`` is missing, or none of its keys, are left out.
    """

    layers: Sequence[Mapping[str, Node]]
    known: int | None
    tallies: tuple[RecordTally, ...]


def record(place: int) -> Node:
    """A column of the records, by its place."""
    return nt.column(f"v{place}")


def lower_tallies(records: Records, wanted: TalliedRows) -> Exact:
    """One statement for each tally; of each unit the same rows as :func:`lower_records` reads.

    Guarantee: what is worked out from a row cannot fail and depends on that row alone, as long as its integers stay
    below 2**63, which is the caller's to see to.
    """
    read = lower_records(records)
    layer: nt.Select = read.statements[0].tree
    kept = None if wanted.known is None else nt.infix(">=", record(wanted.known), nt.constant(0))
    for i, columns in enumerate(wanted.layers):
        # Fenced, so that no engine works a column out again in every product.
        layer = nt.select(columns, layer, kept if i == 0 else None, fence=True)
    statements = tuple(Statement(_tally(tally, layer), ()) for tally in wanted.tallies)
    return Exact(read.scans, statements, read.keys, read.kinds, read.contribution)


def _tally(tally: RecordTally, layer: nt.Select) -> nt.Select:
    found: dict[str, Node] = {name: nt.column(name) for name in tally.names}
    found["m"] = nt.rows()
    for i, names in enumerate(tally.sums):
        first, *rest = map(nt.column, names)
        found[f"s{i}"] = nt.total(nt.times(first, rest[0]) if rest else first)
    sets = tally.cells if tally.names else ()
    return nt.select(found, layer, sets=sets)


# ---- columns worked out from records -----------------------------------------------------------------------------


def on_grid(place: Node, steps: int, scale: int) -> Node:
    """A place from 0 to ``steps`` as the nearest whole number from -scale to scale, of two the even one; -1 as 0.

    Assumes: steps * scale is below 2**60, and scale is even.
    """
    t = nt.plus(nt.times(place, nt.constant(4 * scale)), nt.constant(steps))
    whole, left = nt.divide(t, nt.constant(2 * steps)), nt.remainder(t, nt.constant(2 * steps))
    tie = nt.case([(nt.infix("=", left, nt.constant(0)), nt.remainder(whole, nt.constant(2)))], nt.constant(0))
    found = nt.minus(nt.minus(whole, tie), nt.constant(scale))
    return nt.case([(nt.infix("<", place, nt.constant(0)), nt.constant(0))], found)


def folded_square(x: Node, scale: int) -> Node:
    """2 x**2 - 1 of a number in units of ``scale``, to the nearest of them, of two the upper."""
    doubled = nt.times(nt.times(x, x), nt.constant(2))
    return nt.minus(nt.divide(nt.plus(doubled, nt.constant(scale // 2)), nt.constant(scale)), nt.constant(scale))


def part_of(x: Node, bins: int, scale: int) -> Node:
    """Which of ``bins`` equal parts of -scale … scale a number is in."""
    moved = nt.times(nt.plus(x, nt.constant(scale)), nt.constant(bins))
    return nt.function("LEAST", [nt.divide(moved, nt.constant(2 * scale)), nt.constant(bins - 1)])


def weighed(numbers: Mapping[str, int], keys: Mapping[str, Sequence[int]], constant: int) -> Node:
    """A constant, plus columns times their weights, plus for each keyed column the weight of its key (-1 has none)."""
    found = nt.constant(constant)
    for name, weight in numbers.items():
        if weight:
            found = nt.plus(found, nt.times(nt.column(name), nt.constant(weight)))
    for name, weights in keys.items():
        known = [(nt.infix("=", nt.column(name), nt.constant(i)), nt.constant(w)) for i, w in enumerate(weights) if w]
        if known:
            found = nt.plus(found, nt.case(known, nt.constant(0)))
    return found


def first_least(values: Sequence[Node]) -> Node:
    """The place of the least of some numbers from 0 on, the first of several.

    Assumes: the numbers times how many they are stay below 2**63.
    """
    many = len(values)
    if many == 1:
        return nt.constant(0)
    packed = [nt.plus(nt.times(x, nt.constant(many)), nt.constant(i)) for i, x in enumerate(values)]
    return nt.remainder(nt.function("LEAST", packed), nt.constant(many))
