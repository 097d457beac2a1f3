"""Measures: the exact integers per group before noise, and how far one unit can move them.

A measure is one integer per group (or, for quantiles, the values themselves).  Every answer is computed from noised
measures: a mean from a centred sum and a count, a variance from those and a sum of squares.  Answers that need the
same measure share it, so it is paid for once.

With v the value on its grid (an integer, N stands for N / 2**bits) and c the middle of its bounds:

========  =======================================================  =================
kind      integer in each group                                    moved by one unit
========  =======================================================  =================
rows      rows                                                     R in a group
present   rows in which the column is not NULL                     R
units     units with at least one row                              1
sum       the sum of v (NULL counts as nothing)                    R max |v|
centred   the sum of v - c                                         R max |v - c|
squares   the sum of (v - c)**2                                    R max (v - c)**2
distinct  values that occur, of public keys where it has any       min(R, keys)
values    the values v themselves, sorted, for a choice by rank    R ranks
around    rows in each of the cells around values chosen by rank   R in a cell
========  =======================================================  =================

R is the rows a unit keeps in a group, and it keeps at most G groups.  The rules of ``mechanisms.sensitivity`` make
norms over all groups of this, for either kind of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from curador.mechanisms import sensitivity
from curador.mechanisms.sensitivity import Contribution, Sensitivity
from curador.privacy import Neighbors
from curador.query.language.expressions import Expr

UNBOUNDED_BITS = 50
UNBOUNDED = 1 << UNBOUNDED_BITS
"""Where no bounds are declared, a private search for them looks this far on the grid, to both sides."""

AROUND_BITS = 8
"""Rows around chosen values are counted in parts of this grid, so that integer noise is nearly continuous: dozens of
such counts are added up, and what rounding may add to each would add up too."""


class MeasureKind(StrEnum):
    """The kinds of measures; the table above defines each."""

    ROWS = "rows"
    PRESENT = "present"
    UNITS = "units"
    SUM = "sum"
    CENTRED = "centred"
    SQUARES = "squares"
    DISTINCT = "distinct"
    VALUES = "values"
    AROUND = "around"


ADDED_UP = frozenset(MeasureKind) - {MeasureKind.DISTINCT, MeasureKind.VALUES, MeasureKind.AROUND}
"""Measures of which that of a total is the sum of those of its parts, where each unit is in one part."""


@dataclass(frozen=True)
class Measure:
    """One integer for each group, on a grid of 2**-bits; ``low`` and ``high`` bound what one row adds.

    ``centre`` is c of the table above; ``low``, ``high`` and ``centre`` are on the column's own grid.  ``level`` is set
    for sums over groups: what is grouped by there, in an order of its own, which leaves so many ``nodes``.  They are
    computed from the groups themselves.

    A measure is its own key: exact integers, sensitivities and noise are joined by it, never by its label.

    >>> Measure(MeasureKind.ROWS).label, Measure(MeasureKind.ROWS).bits
    ('rows', 0)
    """

    kind: MeasureKind
    column: Expr | None = None
    low: int = 0
    high: int = 0
    centre: int = 0
    grid: int = 0
    keys: int = 0
    level: tuple[Expr, ...] | None = None
    nodes: int = 0

    @property
    def label(self) -> str:
        """A short text for people; nothing is decided by it."""
        if self.level is not None:
            return (
                f"{self.of_groups.label} by {', '.join(map(str, self.level))}"
                if self.level
                else f"{self.of_groups.label} in all"
            )
        return self.kind.value if self.column is None else f"{self.kind.value}({self.column})"

    @property
    def code(self) -> dict[str, object]:
        """The measure in codes and numbers, which identify it in a ledger."""
        return {
            "kind": self.kind.value,
            "column": None if self.column is None else self.column.to_json(),
            "range": [self.low, self.high, self.centre, self.grid],
            "keys": self.keys,
            "level": None if self.level is None else [e.to_json() for e in self.level],
            "nodes": self.nodes,
        }

    @property
    def of_groups(self) -> Measure:
        """The measure in the groups themselves, which an engine computes."""
        return self if self.level is None and not self.nodes else replace(self, level=None, nodes=0)

    @property
    def bits(self) -> int:
        """The grid of the integer itself: squares have twice the bits of what is squared."""
        if self.kind is MeasureKind.AROUND:
            return AROUND_BITS
        return 2 * self.grid if self.kind is MeasureKind.SQUARES else self.grid

    @property
    def counts(self) -> bool:
        """Whether it counts something, rather than adding values up."""
        return self.kind in (MeasureKind.ROWS, MeasureKind.PRESENT, MeasureKind.UNITS, MeasureKind.DISTINCT)

    @property
    def reach(self) -> int:
        """The most one row adds, in size."""
        if self.counts or self.kind is MeasureKind.VALUES:
            return 1
        furthest = max(self.high - self.centre, self.centre - self.low)
        return furthest**2 if self.kind is MeasureKind.SQUARES else furthest

    def sensitivity(self, contribution: Contribution, neighbors: Neighbors, cells: int | None) -> Sensitivity:
        """How far one unit moves this measure over all groups, in steps of its grid; exact.

        ``cells`` is how many groups the answer has, None where they are selected privately.

        >>> age = Measure(MeasureKind.CENTRED, None, low=17, high=90, centre=53)
        >>> age.sensitivity(Contribution(rows=3, groups=5), Neighbors.ADD_REMOVE, 16).l1 == 5 * 3 * 37
        True
        >>> Measure(MeasureKind.UNITS).sensitivity(Contribution(rows=3, groups=5), Neighbors.ADD_REMOVE, 16).l1
        Fraction(5, 1)
        """
        if self.level is not None:  # all groups of a unit may lie in one node (docs/proofs/consistent.md)
            counted = self.kind in (MeasureKind.UNITS, MeasureKind.DISTINCT)
            own = (
                Measure(MeasureKind.PRESENT) if counted else self.of_groups
            )  # a unit counts once in each of its groups
            return own.sensitivity(Contribution(rows=contribution.most), neighbors, self.nodes)
        in_all = contribution.total is not None
        if contribution.total is not None and self.kind not in (MeasureKind.UNITS, MeasureKind.VALUES):
            # Rows are added or replaced one by one: the norms are at most those of as many rows in one group.
            contribution = Contribution(rows=contribution.total)
        if self.kind is MeasureKind.ROWS:
            return sensitivity.count(neighbors, contribution, cells)
        # NULLs and filters can drop any row of what is below, so no unit is known to be always there.
        free = Contribution(contribution.rows, contribution.groups)
        if self.kind in (MeasureKind.SUM, MeasureKind.CENTRED):
            return sensitivity.bounded_sum(self.low - self.centre, self.high - self.centre, neighbors, free, cells)
        if self.kind is MeasureKind.SQUARES:
            return sensitivity.bounded_sum(0, self.reach, neighbors, free, cells)
        if self.kind is MeasureKind.AROUND:
            # The cells of all groups are disjoint, and there are several even where there is one group.
            return sensitivity.scaled(sensitivity.histogram(neighbors, free), 1 << AROUND_BITS)
        # Over several groups, rows in all may change more keys than there are in one.
        few = free.rows if in_all or not self.keys else min(free.rows, self.keys)
        rows = {MeasureKind.UNITS: 1, MeasureKind.DISTINCT: few}.get(self.kind, free.rows)
        return sensitivity.count(neighbors, Contribution(rows, free.groups), cells)


class Search(StrEnum):
    """The target of a choice by rank: values on the grid, or powers of two below or above them."""

    VALUE = "value"
    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True)
class RankSearch:
    """Quantiles to be found among the values of a measure.

    >>> RankSearch(Measure(MeasureKind.VALUES), Search.VALUE, (Fraction(1, 2),)).code["quantiles"]
    ['1/2']
    """

    measure: Measure
    search: Search
    quantiles: tuple[Fraction, ...]

    @property
    def label(self) -> str:
        """A short text for people; nothing is decided by it."""
        shown = ", ".join(f"{float(100 * q):g} %" for q in self.quantiles)
        what = "quantiles" if self.search is Search.VALUE else "power of two at"
        return f"{what} {shown} of {self.measure.column}"

    @property
    def code(self) -> dict[str, object]:
        """The search in codes and numbers, which identify it in a ledger."""
        return {"of": self.measure.code, "search": self.search.value, "quantiles": [str(q) for q in self.quantiles]}
