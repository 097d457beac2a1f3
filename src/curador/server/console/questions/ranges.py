"""Groups of a number by ranges: of one with many values no list is public, and each value alone is few rows."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from curador import Table

FEWEST, LONGEST_LIST = 5, 200
"""How many ranges there are at least; and how many whole numbers are groups of their own, at most."""

STEPS = (1, 2, 5, 10)

FINEST = Fraction(1, 10**12)
"""Of bounds that can be written out."""


def ranged(name: str, table: Table) -> list[str]:
    """The edges of a column's ranges, round and within its bounds; none where its values are groups themselves.

    >>> people = Table("people.csv", columns={"pay": {"type": "real", "bounds": [0, 4500]}, "age": "integer"})
    >>> ranged("pay", people), ranged("age", people)
    (['0', '500', '1000', '1500', '2000', '2500', '3000', '3500', '4000', '4500'], [])
    """
    column = table.columns[name]
    kind = column.kind.value
    if kind not in ("integer", "real") or column.keys or column.bounds is None:
        return []
    low, high = (Fraction(x) for x in column.bounds)
    if high <= low or (kind == "integer" and high - low < LONGEST_LIST):
        return []
    if not FINEST <= high - low <= 1 / FINEST or any(Fraction(_written(x)) != x or x % FINEST for x in (low, high)):
        return []  # nobody would read such numbers
    unit = Fraction(10) ** math.floor(math.log10((high - low) / FEWEST))
    step = next(n * unit for n in reversed(STEPS) if n * unit * FEWEST <= high - low)
    first = (low // step + 1) * step
    inside = [first + k * step for k in range(4 * FEWEST) if first + k * step < high]
    return [_written(x) for x in (low, *inside, high)]


def _written(x: Fraction) -> str:
    return f"{Decimal(x.numerator) / Decimal(x.denominator):f}"
