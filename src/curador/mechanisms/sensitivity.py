"""The largest change of a statistic by one unit: by rule, and by search to check the rules.

The sensitivity of a statistic is its largest change between neighbours [DMNS06].  Laplace noise needs it in the l1
norm, Gaussian noise in l2, scores and single coordinates in l-infinity.  Everything is exact; the l2 sensitivity is
stored squared so that it stays a fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple, TypeVar

from curador.errors import InvalidParameter
from curador.numbers import Number, rational, set_fields, sqrt_up, whole
from curador.privacy import Neighbors

_Record = TypeVar("_Record")

_ZERO = Fraction(0)

LARGEST_SEARCH = 1_000_000
"""The most databases that :func:`search` visits."""

MOST_CONTRIBUTED = 1 << 62
"""The most groups of a unit, and the most rows in each, as for all integers: the squares of norms fit doubles."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The largest change of a statistic between neighbours, in three norms.

    >>> s = Sensitivity(l1=2, l2_squared=2, linf=1)
    >>> s.l1, float(s.l2), s.neighbors.value
    (Fraction(2, 1), 1.4142135623730951, 'add-remove')
    """

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        for name in ("l1", "l2_squared", "linf"):
            set_fields(self, **{name: rational(getattr(self, name), name)})
        set_fields(self, neighbors=Neighbors(self.neighbors))
        # The largest changes obey the inequalities of the norms: linf <= l2 <= l1, and Hölder.
        ordered = min(self.l1, self.linf) >= 0 and self.linf**2 <= self.l2_squared <= self.l1 * self.linf
        if not ordered or (self.l1 > 0) != (self.linf > 0):
            raise InvalidParameter(
                f"No statistic has l1 = {self.l1}, l2 squared = {self.l2_squared} and linf = {self.linf}.",
                fix="Give norms with linf**2 <= l2_squared <= l1 * linf, or use a rule of mechanisms.sensitivity.",
            )

    @property
    def l2(self) -> Fraction:
        """The l2 sensitivity, rounded up where it is irrational."""
        return sqrt_up(self.l2_squared)

    def covers(self, other: Sensitivity) -> bool:
        """Whether noise for this sensitivity also protects a statistic of the other.

        >>> bounded_sum(0, 10).covers(count()), count().covers(bounded_sum(0, 10))
        (True, False)
        """
        wider = self.l1 >= other.l1 and self.l2_squared >= other.l2_squared and self.linf >= other.linf
        return wider and self.neighbors is other.neighbors


@dataclass(frozen=True, slots=True)
class Contribution:
    """The bounds on a unit's contribution: at most ``groups`` groups, at most ``rows`` rows in each.

    ``total`` is the most rows in all groups together, where that is the limit (:func:`in_all`).  ``fewest`` is the
    number of rows that every unit is known to have: 1 where a unit is a row and no filter drops it.  It matters only
    under replace, where a unit that is always present cannot vanish; 0 is always safe.

    >>> Contribution(rows=3, groups=5)
    Contribution(rows=3, groups=5, fewest=0)
    """

    rows: int = 1
    groups: int = 1
    fewest: int = 0
    total: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, least in (("rows", 1), ("groups", 1), ("fewest", 0)):
            set_fields(self, **{name: whole(getattr(self, name), name, least)})
            if getattr(self, name) > MOST_CONTRIBUTED:
                raise InvalidParameter(f"A unit has at most {MOST_CONTRIBUTED:,} {name}.", fix=f"Choose fewer {name}.")
        if self.total is not None and (whole(self.total, "total", 1) != self.rows or self.groups > self.rows):
            raise InvalidParameter(
                f"Of {self.total} rows in all, up to {self.rows} are in each of {self.groups} groups.",
                fix="Use in_all(rows).",
            )
        if self.fewest > self.rows or (self.fewest and self.groups > 1):
            raise InvalidParameter(
                f"A unit of at most {self.rows} rows in each of {self.groups} groups "
                f"does not always have {self.fewest} of them.",
                fix="Choose fewest <= rows, and fewest = 0 where a unit may reach several groups.",
            )

    @property
    def most(self) -> int:
        """The most rows of a unit, in all groups together."""
        return self.rows * self.groups if self.total is None else self.total


def in_all(rows: int) -> Contribution:
    """Limit each unit to ``rows`` rows, in whatever groups.

    >>> in_all(20).most, in_all(20).groups
    (20, 20)
    """
    return Contribution(rows=rows, groups=rows, total=rows)


ONE = Contribution()
"""At most one row of each unit: the unit is a row, and a filter may drop it."""


# ---- the rules -----------------------------------------------------------------------------------------------


def count(
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE, contribution: Contribution = ONE, cells: int | None = 1
) -> Sensitivity:
    """The number of rows that meet a condition: 1, under both kinds of neighbours.

    ``cells`` is the number of groups of the answer; None where it is not known (see :func:`histogram`).

    >>> count().l1, count("replace").l1, count(contribution=Contribution(rows=3)).l1
    (Fraction(1, 1), Fraction(1, 1), Fraction(3, 1))
    """
    most, fewest = contribution.rows, contribution.fewest
    return _spread(_scalar(most), _scalar(most - fewest), neighbors, contribution, cells)


def histogram(
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE, contribution: Contribution = ONE, bins: int | None = None
) -> Sensitivity:
    """Rows counted in disjoint bins, released together: l1 is 1 under add-remove and 2 under replace.

    A replaced row leaves one bin and enters another, so it is seen twice; no single bin moves by more than 1.

    >>> histogram().l1, histogram("replace").l1, histogram("replace").l2_squared, histogram("replace").linf
    (Fraction(1, 1), Fraction(2, 1), Fraction(2, 1), Fraction(1, 1))
    """
    return count(neighbors, contribution, cells=bins)


def scaled(size: Sensitivity, factor: int) -> Sensitivity:
    """Convert to smaller units of the same statistic: ``factor`` of them make one.

    >>> scaled(histogram("replace"), 4).l2_squared
    Fraction(32, 1)
    """
    return Sensitivity(factor * size.l1, factor**2 * size.l2_squared, factor * size.linf, size.neighbors)


def bounded_sum(
    lo: Number,
    hi: Number,
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
    contribution: Contribution = ONE,
    cells: int | None = 1,
) -> Sensitivity:
    """A sum of values clipped to [lo, hi]: max(|lo|, |hi|) under add-remove, hi - lo under replace.

    Under replace hi - lo holds where every unit is in the sum (``fewest=1``) or 0 lies in [lo, hi].  Otherwise the
    filter may drop the replaced row, and the change is counted from 0.

    Fails: without bounds one row moves the sum without limit; refused.

    >>> bounded_sum(0, 200_000).l1, bounded_sum(-1, 1, "replace").l1
    (Fraction(200000, 1), Fraction(2, 1))
    >>> bounded_sum(18, 90, "replace").l1, bounded_sum(18, 90, "replace", Contribution(fewest=1)).l1
    (Fraction(90, 1), Fraction(72, 1))
    """
    low, high = _bounds(lo, hi, "a sum")
    most, fewest = contribution.rows, contribution.fewest
    width = max(fewest * high, most * high) - min(fewest * low, most * low)
    reach = most * max(abs(low), abs(high))
    return _spread(_scalar(reach), _scalar(width), neighbors, contribution, cells)


def mean(lo: Number, hi: Number, n: int, neighbors: Neighbors | str = Neighbors.REPLACE) -> Sensitivity:
    """The mean of exactly ``n`` values clipped to [lo, hi], ``n`` public: (hi - lo) / n.

    Assumes: every one of the n units has one row in the mean, so neighbours are of the replace kind.
    Fails: under add-remove n itself is private; refused.  Over tables of any size the sensitivity is (hi - lo) / 2,
    from one row to two, however many rows there are; and the mean of no rows is undefined.  Release
    :func:`sum_and_count` and divide afterwards.

    >>> mean(0, 200_000, n=10_000).l1
    Fraction(20, 1)
    """
    size = _fixed_size(n, neighbors, "mean", "Release sum_and_count() and divide the noisy answers")
    total = bounded_sum(lo, hi, Neighbors.REPLACE, Contribution(fewest=1))
    return Sensitivity(*_scalar(total.l1 / size), Neighbors.REPLACE)


def sum_and_count(
    lo: Number,
    hi: Number,
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
    contribution: Contribution = ONE,
    cells: int | None = 1,
) -> Sensitivity:
    """The pair (sum of x - c, number of rows), c the middle of [lo, hi]: a mean whose n is private.

    The noisy sum over the noisy count, plus c, estimates the mean: post-processing, at no further cost.  Centring
    halves the reach of a row to h = (hi - lo) / 2.  Under add-remove l1 is h + 1.  Under replace both coordinates
    cannot move most at once, so l1 is max(2h, h + 1), less than the 2h + 1 of its parts.

    >>> sum_and_count(0, 10).l1, sum_and_count(0, 10, "replace").l1, sum_and_count(0, 10).l2_squared
    (Fraction(6, 1), Fraction(10, 1), Fraction(26, 1))
    """
    low, high = _bounds(lo, hi, "a sum")
    h, r, f = (high - low) / 2, contribution.rows, contribution.fewest
    reach = _Norms(r * (h + 1), r**2 * (h**2 + 1), r * max(h, Fraction(1)))
    # A unit is (s, m) with f <= m <= r rows and |s| <= m h.  Each norm of a difference is convex in m, so the
    # largest is from (r h, r) to (-m h, m) at m = r or m = f.
    swap = _Norms(
        max(2 * r * h, (r + f) * h + r - f),
        max((2 * r * h) ** 2, ((r + f) * h) ** 2 + (r - f) ** 2),
        max(2 * r * h, Fraction(r - f)),
    )
    return _spread(reach, swap, neighbors, contribution, cells)


def variance(lo: Number, hi: Number, n: int, neighbors: Neighbors | str = Neighbors.REPLACE) -> Sensitivity:
    """The variance (divided by n) of exactly ``n`` values clipped to [lo, hi].

    Its sensitivity is (hi - lo)**2 (n - 1) / n**2.  Let m be the mean of the other n - 1 values.  Then the variance is
    a constant plus (x - m)**2 (n - 1) / n**2, and |x - m| <= hi - lo.
    Assumes: as :func:`mean`, n is public and neighbours are of the replace kind.

    >>> variance(0, 1, n=2).l1, variance(0, 10, n=100).l1
    (Fraction(1, 4), Fraction(99, 100))
    """
    size = _fixed_size(n, neighbors, "variance", "Release noisy sums of x and of x**2 and a noisy count")
    low, high = _bounds(lo, hi, "a variance")
    return Sensitivity(*_scalar((high - low) ** 2 * Fraction(size - 1, size**2)), Neighbors.REPLACE)


def vector(*parts: Sensitivity) -> Sensitivity:
    """Several statistics of the same rows as one vector: l1 and l2 squared add up, linf does not.

    It holds for any statistics; a rule of their own may give less (:func:`histogram`, :func:`sum_and_count`).

    >>> adults, readers = count(), count()
    >>> vector(adults, readers).l1
    Fraction(2, 1)
    """
    kinds = {p.neighbors for p in parts}
    if len(kinds) != 1:
        raise InvalidParameter(
            "A vector of statistics needs at least one, all about the same neighbours.",
            fix="Work each part out for add-remove, or each for replace.",
        )
    l1, l2_squared = sum((p.l1 for p in parts), _ZERO), sum((p.l2_squared for p in parts), _ZERO)
    return Sensitivity(l1, l2_squared, max(p.linf for p in parts), kinds.pop())


# ---- the search ----------------------------------------------------------------------------------------------


def search(
    function: Callable[[tuple[_Record, ...]], object],
    domain: Sequence[_Record],
    rows: int,
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
) -> Sensitivity:
    """Find the sensitivity of any function, by trying every pair of neighbours over a small domain.

    Add-remove tries every database of at most ``rows`` rows, replace every one of exactly ``rows`` rows.  For a unit
    of several rows let ``domain`` list whole units.  The function returns a number, or a sequence of numbers, and the
    search is exact where it returns integers or fractions.

    Assumes: the function does not look at the order of the rows.
    Fails: the result is a lower bound for larger domains and tables; a rule needs a proof.

    >>> search(lambda ages: sum(age >= 18 for age in ages), domain=(17, 18), rows=5).l1
    Fraction(1, 1)
    >>> search(lambda x: sum(x) / 4, domain=(0, 10, 20), rows=4, neighbors="replace") == mean(0, 20, n=4)
    True
    """
    kind, size = Neighbors(neighbors), whole(rows, "rows", 1)
    if not domain or _too_many(len(domain), size):
        raise InvalidParameter(
            f"There are no databases, or more than {LARGEST_SEARCH}, of {size} rows over {len(domain)} records.",
            fix="Choose a small domain that has a record, and a small number of rows.",
        )
    answers: dict[tuple[int, ...], tuple[Fraction, ...]] = {}

    def answer(database: tuple[int, ...]) -> tuple[Fraction, ...]:
        if database not in answers:
            answers[database] = _numbers(function(tuple(domain[i] for i in database)))
        return answers[database]

    pairs = _replacements if kind is Neighbors.REPLACE else _removals
    most = _Norms(_ZERO, _ZERO, _ZERO)
    for d, e in pairs(len(domain), size):
        most = _Norms(*map(max, most, _change(answer(d), answer(e))))
    return Sensitivity(*most, kind)


def _too_many(records: int, rows: int) -> bool:
    # C(42, 21) alone exceeds the limit, so a number of a million digits is never computed.
    return min(records, rows) > 20 or math.comb(records + rows, rows) > LARGEST_SEARCH


# Databases are multisets of indices into the domain, as sorted tuples.


def _removals(records: int, rows: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for size in range(1, rows + 1):
        for database in combinations_with_replacement(range(records), size):
            for i in range(size):
                if i == 0 or database[i] != database[i - 1]:
                    yield database, database[:i] + database[i + 1 :]


def _replacements(records: int, rows: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for others in combinations_with_replacement(range(records), rows - 1):
        yield from combinations([tuple(sorted((*others, x))) for x in range(records)], 2)


def _numbers(answer: object) -> tuple[Fraction, ...]:
    values = answer if isinstance(answer, Iterable) and not isinstance(answer, str) else (answer,)
    return tuple(rational(x, "the function's answer") for x in values)


def _change(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> _Norms:
    if len(a) != len(b):
        raise InvalidParameter(
            f"The function answers {len(a)} numbers for one database and {len(b)} for another.",
            fix="Let it answer vectors of one length; give absent groups a 0.",
        )
    moves = [abs(x - y) for x, y in zip(a, b, strict=True)]
    return _Norms(sum(moves, _ZERO), sum((m * m for m in moves), _ZERO), max(moves, default=_ZERO))


# ---- shared by the rules -------------------------------------------------------------------------------------


class _Norms(NamedTuple):
    l1: Fraction
    l2_squared: Fraction
    linf: Fraction


def _scalar(change: Fraction | int) -> _Norms:
    return _Norms(Fraction(change), Fraction(change) ** 2, Fraction(change))


def _spread(
    reach: _Norms, swap: _Norms, neighbors: Neighbors | str, contribution: Contribution, cells: int | None
) -> Sensitivity:
    """Spread a unit over its groups.

    ``reach`` is the most that it puts into one group.  ``swap`` is the largest change of a group when the old and the
    new unit are both in it.  Replaced units share k groups and are alone in g - k others each.  So l1 and l2 squared
    are at most k swap + 2 (g - k) reach: linear in k, largest at its ends.  Both need k + 2 (g - k) <= cells.
    """
    kind, g = Neighbors(neighbors), contribution.groups
    if cells is not None and whole(cells, "cells", 1) < g:
        raise InvalidParameter(
            f"A unit cannot reach {g} groups of an answer that has {cells}.",
            fix=f"Pass at least {g} cells, or count the unit's rows over all groups: Contribution(rows=...).",
        )
    if kind is Neighbors.ADD_REMOVE:
        return Sensitivity(g * reach.l1, g * reach.l2_squared, reach.linf, kind)
    shared = 0 if cells is None else max(0, 2 * g - cells)
    ends = [
        _Norms(
            k * swap.l1 + 2 * (g - k) * reach.l1,
            k * swap.l2_squared + 2 * (g - k) * reach.l2_squared,
            max(swap.linf if k else _ZERO, reach.linf if k < g else _ZERO),
        )
        for k in (shared, g)
    ]
    worst = _Norms(*map(max, *ends))
    return Sensitivity(*worst, kind)


def _bounds(lo: object, hi: object, what: str) -> tuple[Fraction, Fraction]:
    for bound in (lo, hi):
        if bound is None or (isinstance(bound, float) and math.isinf(bound)):
            raise InvalidParameter(
                f"The sensitivity of {what} over [{lo}, {hi}] is infinite: one row can move it without limit.",
                fix="Clip the values to finite bounds chosen without looking at the data.",
            )
    low, high = rational(lo, "lo"), rational(hi, "hi")
    if low > high:
        raise InvalidParameter(f"The bounds [{lo}, {hi}] hold no value.", fix="Choose lo <= hi.")
    return low, high


def _fixed_size(n: object, neighbors: Neighbors | str, what: str, instead: str) -> int:
    if n is None or Neighbors(neighbors) is not Neighbors.REPLACE:
        raise InvalidParameter(
            f"The {what} of a table whose number of rows is private does not get steadier with more rows.",
            fix=f"{instead}, or pass a public n with neighbors='replace'.",
        )
    return whole(n, "n", 1)
