"""Every rule equals exhaustive search where the domain is small, and every wrong rule does not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting import course
from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import (
    MOST_CONTRIBUTED,
    Contribution,
    Sensitivity,
    bounded_sum,
    count,
    histogram,
    mean,
    search,
    sum_and_count,
    variance,
    vector,
)
from curador.numbers import Number
from curador.privacy import Neighbors
from tests.strategies import NOT_COUNTS, NOT_NUMBERS

both = pytest.mark.parametrize("neighbors", Neighbors)
EVERYONE = Contribution(fewest=1)
BOUNDS = [(0, 5), (-2, 3), (-3, 1), (18, 90), (-4, -1), (2, 2), (Fraction(-1, 3), Fraction(1, 2))]


# ---- the search itself, against pairs built from the definition -------------------------------------------------


def by_definition(
    function: Callable[[tuple[int, ...]], Sequence[int]], records: int, rows: int, neighbors: Neighbors
) -> tuple[int, int, int]:
    """The three norms by comparing every database with every other, adjacent as the course defines it."""
    sizes = [rows] if neighbors is Neighbors.REPLACE else range(rows + 1)
    every = [d for n in sizes for d in product(range(records), repeat=n)]
    shapes = {d: course.histogram(d, range(records)) for d in every}
    moves = [
        [abs(a - b) for a, b in zip(function(d), function(e), strict=True)]
        for d, e in product(every, repeat=2)
        if course.adjacent(shapes[d], shapes[e], neighbors)
    ]
    return max(map(sum, moves)), max(sum(x * x for x in m) for m in moves), max(map(max, moves))


@both
@given(st.integers(2, 3), st.integers(1, 3), st.data())
@settings(max_examples=40)
def test_search_is_the_definition(neighbors: Neighbors, records: int, rows: int, data: st.DataObject) -> None:
    """Over functions that are arbitrary tables, not only sums over rows."""
    every = [d for n in range(rows + 1) for d in combinations_with_replacement(range(records), n)]
    pair = st.tuples(st.integers(-99, 99), st.integers(-99, 99))
    table = dict(zip(every, data.draw(st.lists(pair, min_size=len(every), max_size=len(every))), strict=True))

    def function(database: tuple[int, ...]) -> tuple[int, int]:
        return table[tuple(sorted(database))]

    norms = by_definition(function, records, rows, neighbors)
    assert search(function, range(records), rows, neighbors) == Sensitivity(*norms, neighbors)  # type: ignore[arg-type]


# ---- rules against search, for units of several rows in several groups ------------------------------------------

Unit = tuple[tuple[int, Fraction], ...]  # (group, value) pairs


def units(values: Sequence[Number], cells: int, c: Contribution) -> list[Unit]:
    """Everything one unit may contribute, given extreme values and the contribution it is cut to."""

    def rows_in(groups: tuple[int, ...]) -> Iterator[Unit]:
        inside = [v for n in range(1, c.rows + 1) for v in combinations_with_replacement(values, n)]
        for choice in product(inside, repeat=len(groups)):
            yield tuple((g, Fraction(v)) for g, vs in zip(groups, choice, strict=True) for v in vs)

    every = [u for n in range(c.groups + 1) for groups in combinations(range(cells), n) for u in rows_in(groups)]
    return [u for u in every if len(u) >= c.fewest]


def found(
    per_row: Callable[[Fraction], tuple[Fraction, ...]],
    values: Sequence[Number],
    cells: int,
    contribution: Contribution,
    neighbors: Neighbors,
    many: int = 1,
) -> Sensitivity:
    """Search over ``many`` units for the sum, group by group, of what ``per_row`` makes of each row."""

    def grouped(database: tuple[Unit, ...]) -> tuple[Fraction, ...]:
        totals = [[Fraction(0)] * len(per_row(Fraction(0))) for _ in range(cells)]
        for unit in database:
            for group, value in unit:
                totals[group] = [t + x for t, x in zip(totals[group], per_row(value), strict=True)]
        return tuple(x for total in totals for x in total)

    return search(grouped, units(values, cells, contribution), many, neighbors)


SHAPES = [
    # (contribution, cells)
    (Contribution(), 1),
    (Contribution(), 2),
    (Contribution(), 3),
    (Contribution(fewest=1), 1),
    (Contribution(fewest=1), 2),
    (Contribution(rows=2), 1),
    (Contribution(rows=2, fewest=1), 1),
    (Contribution(rows=2, fewest=2), 2),
    (Contribution(rows=2), 2),
    (Contribution(groups=2), 2),
    (Contribution(groups=2), 3),
    (Contribution(groups=2), 4),
    (Contribution(rows=2, groups=2), 3),
]
shapes = pytest.mark.parametrize(("contribution", "cells"), SHAPES)
bounds = pytest.mark.parametrize(("lo", "hi"), BOUNDS)


@both
@shapes
def test_count_is_what_search_finds(neighbors: Neighbors, contribution: Contribution, cells: int) -> None:
    assert count(neighbors, contribution, cells) == found(lambda _: (Fraction(1),), [0], cells, contribution, neighbors)


@pytest.mark.thin(60)
@both
@shapes
@bounds
def test_bounded_sum_is_what_search_finds(
    neighbors: Neighbors, contribution: Contribution, cells: int, lo: Number, hi: Number
) -> None:
    rule = bounded_sum(lo, hi, neighbors, contribution, cells)
    assert rule == found(lambda x: (x,), [lo, hi], cells, contribution, neighbors)


@pytest.mark.thin(60)
@both
@shapes
@bounds
def test_sum_and_count_is_what_search_finds(
    neighbors: Neighbors, contribution: Contribution, cells: int, lo: Any, hi: Any
) -> None:
    rule = sum_and_count(lo, hi, neighbors, contribution, cells)
    centre = Fraction(lo + hi) / 2
    assert rule == found(lambda x: (x - centre, Fraction(1)), [lo, hi], cells, contribution, neighbors)


@both
def test_other_units_and_values_inside_the_bounds_change_nothing(neighbors: Neighbors) -> None:
    few = Contribution(rows=2)
    rule = bounded_sum(-2, 3, neighbors, few)
    assert rule == found(lambda x: (x,), [-2, -1, 0, 1, 3], 1, few, neighbors, many=2)


@both
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_unknown_cells_are_as_many_as_can_hurt(neighbors: Neighbors, groups: int) -> None:
    some = Contribution(rows=2, groups=groups)
    for rule in (count, lambda *a: bounded_sum(-1, 4, *a), lambda *a: sum_and_count(-1, 4, *a)):
        assert rule(neighbors, some, None) == rule(neighbors, some, 2 * groups) == rule(neighbors, some, 99)
        assert rule(neighbors, some, None).covers(rule(neighbors, some, groups))


def test_contributions_multiply() -> None:
    some = Contribution(rows=3, groups=5)
    assert count(contribution=some, cells=None) == Sensitivity(15, 45, 3)  # type: ignore[arg-type]
    assert bounded_sum(0, 10, contribution=some, cells=None) == Sensitivity(150, 4500, 30)  # type: ignore[arg-type]
    assert count("replace", some, None) == Sensitivity(30, 90, 3, "replace")  # type: ignore[arg-type]


# ---- the course's statistics ------------------------------------------------------------------------------------


def adults(ages: Sequence[int]) -> int:
    return sum(age >= 18 for age in ages)


@both
def test_adults_of_the_course(neighbors: Neighbors) -> None:
    city = [30] * 120 + [10] * 5
    assert (adults(city), adults([*city, 18])) == (120, 121)
    assert search(adults, (17, 18), 122, neighbors) == count(neighbors)
    assert count(neighbors).l1 == 1


@both
def test_two_counts_of_the_course_move_by_two(neighbors: Neighbors) -> None:
    people = list(product((17, 18), (False, True)))  # age, has read the Quijote

    def f_c(city: Sequence[tuple[int, bool]]) -> tuple[int, int]:
        return adults([age for age, _ in city]), sum(read for _, read in city)

    rule = vector(count(neighbors), count(neighbors))
    assert rule == search(f_c, people, 3, neighbors)
    assert rule == Sensitivity(2, 2, 1, neighbors)  # type: ignore[arg-type]


def test_course_values_of_sum_and_mean() -> None:
    top = 200_000
    assert bounded_sum(0, top).l1 == bounded_sum(0, top, "replace").l1 == top
    assert mean(0, top, n=10_000).l1 == Fraction(top, 10_000) == 20
    assert mean(0, 1, n=50).l1 == Fraction(1, 50)  # the noisy mean of x in [0, 1]: 1/(nb)-DP, not 1/b
    # The local mean of the slides: one value in [-1, 1], any x against any x'.
    assert search(lambda x: x[0], (-1, 0, 1), 1, "replace") == bounded_sum(-1, 1, "replace", EVERYONE)
    assert bounded_sum(-1, 1, "replace", EVERYONE).l1 == 2
    # A sum over {0, 1}^n.
    assert search(sum, (0, 1), 4, "replace") == bounded_sum(0, 1, "replace", EVERYONE)


@pytest.mark.parametrize(("neighbors", "l1", "l2_squared"), [("add-remove", 1, 1), ("replace", 2, 2)])
def test_histogram_is_one_or_two(neighbors: str, l1: int, l2_squared: int) -> None:
    def bins(rows: Sequence[int]) -> list[int]:
        return [list(rows).count(b) for b in range(3)]

    assert histogram(neighbors) == histogram(neighbors, bins=3) == search(bins, range(3), 3, neighbors)
    assert histogram(neighbors) == Sensitivity(l1, l2_squared, 1, neighbors)  # type: ignore[arg-type]


def test_one_bin_of_everyone_never_moves_under_replace() -> None:
    assert histogram("replace", EVERYONE, bins=1).l1 == 0 == search(len, range(3), 3, "replace").l1


@bounds
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_mean_and_variance_of_n_rows(lo: Any, hi: Any, n: int) -> None:
    domain = [Fraction(lo), Fraction(lo + hi) / 2, Fraction(hi)]

    def average(x: Sequence[Fraction]) -> Fraction:
        return Fraction(sum(x)) / n

    def spread(x: Sequence[Fraction]) -> Fraction:
        return sum(((v - average(x)) ** 2 for v in x), Fraction(0)) / n

    assert mean(lo, hi, n) == search(average, domain, n, Neighbors.REPLACE)
    assert variance(lo, hi, n) == search(spread, domain, n, Neighbors.REPLACE)


def test_wrong_rules_are_rejected_by_the_search() -> None:
    n, top = 4, 20
    domain = (0, 5, top)
    average = search(lambda x: Fraction(sum(x), n), domain, n, "replace")
    total = search(sum, domain, n, "replace")
    everyone = bounded_sum(0, top, "replace", EVERYONE)
    assert average != everyone  # the course's frequent error: B where B/n is enough ...
    assert everyone.covers(average)  # ... wastes accuracy, not privacy;
    assert not mean(0, top, n).covers(total)  # B/n on the sum, as exercise 3 has it, breaks the promise
    bins = search(lambda x: [x.count(v) for v in domain], domain, n, "replace")
    assert not Sensitivity(1, 1, 1, "replace").covers(bins)  # type: ignore[arg-type]
    # hi - lo where a filter may drop the replaced row
    filtered = search(lambda x: sum(v for v in x if v is not None), (None, 18, 90), 2, "replace")
    assert not bounded_sum(18, 90, "replace", EVERYONE).covers(filtered)
    assert bounded_sum(18, 90, "replace") == filtered
    # the centred rule for a pair that was not centred
    raw = search(lambda x: (sum(x), len(x)), (80, 90), 2)
    assert not sum_and_count(80, 90).covers(raw)


@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_a_mean_of_unknown_n_does_not_get_steadier(rows: int) -> None:
    """Even with the empty table sent to the middle, the sensitivity stays (hi - lo) / 2 at every size."""
    lo, hi = 0, 10
    moved = search(lambda x: Fraction(sum(x), len(x)) if x else Fraction(lo + hi, 2), (lo, hi), rows)
    assert moved.l1 == Fraction(hi - lo, 2)
    for n in (None, rows):
        with pytest.raises(InvalidParameter, match="sum_and_count"):
            mean(lo, hi, n, Neighbors.ADD_REMOVE)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="private"):
        mean(lo, hi, None)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="count"):
        variance(lo, hi, rows, "add-remove")


@both
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=4))
@settings(max_examples=30)
def test_a_vector_covers_its_statistics(neighbors: Neighbors, weights: list[tuple[int, int]]) -> None:
    domain = range(len(weights))
    first, second = (search(lambda x, k=k: sum(weights[i][k] for i in x), domain, 2, neighbors) for k in (0, 1))  # type: ignore[misc]
    together = search(lambda x: [sum(weights[i][k] for i in x) for k in (0, 1)], domain, 2, neighbors)
    assert vector(first, second).covers(together)
    assert together.linf == vector(first, second).linf


def test_disjoint_counts_do_better_than_a_vector() -> None:
    apart = search(lambda x: (x.count("a"), x.count("b")), "ab", 3)
    assert vector(count(), count()).covers(apart)
    assert apart == histogram() != vector(count(), count())


# ---- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule", [bounded_sum, sum_and_count, lambda a, b: mean(a, b, 3), lambda a, b: variance(a, b, 3)]
)
def test_unbounded_statistics_are_refused(rule: Callable[[Any, Any], Sensitivity]) -> None:
    for lo, hi in [(0, math.inf), (-math.inf, 0), (None, 1), (0, None), (-math.inf, math.inf)]:
        with pytest.raises(InvalidParameter, match=r"infinite.*Clip"):
            rule(lo, hi)
    with pytest.raises(InvalidParameter, match="lo <= hi"):
        rule(1, 0)
    for bad in (math.nan, True, "many", [1]):
        with pytest.raises(InvalidParameter, match="lo"):
            rule(bad, 1)


@pytest.mark.parametrize(
    "numbers", [(-1, 1, 1), (1, 2, 1), (2, 2, 2), (1, 0, 1), (1, 1, 0), (0, 0, 1), (2, 0, 0), (-1, 0, 0), (-1, 1, -1)]
)
def test_no_statistic_has_such_norms(numbers: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InvalidParameter, match="No statistic"):
        Sensitivity(*numbers)


@pytest.mark.parametrize("bad", NOT_NUMBERS)
def test_norms_are_finite_numbers(bad: Any) -> None:
    for place in range(3):
        norms: list[Any] = [1, 1, 1]
        norms[place] = bad
        with pytest.raises(InvalidParameter):
            Sensitivity(*norms)


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_contributions_are_counts(bad: Any) -> None:
    for name in ("rows", "groups"):
        with pytest.raises(InvalidParameter, match=name):
            Contribution(**{name: bad})
    with pytest.raises(InvalidParameter, match="cells"):
        count(cells=bad if bad is not None else 0)
    with pytest.raises(InvalidParameter):
        mean(0, 1, bad)


@pytest.mark.parametrize("bad", [{"fewest": 2}, {"fewest": -1}, {"fewest": 0.5}, {"groups": 2, "fewest": 1}])
def test_contributions_make_sense(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Contribution(**bad)


@pytest.mark.parametrize("name", ["rows", "groups", "fewest"])
def test_contributions_have_a_size_that_can_be_planned(name: str) -> None:
    """Beyond doubles a plan raised a bare OverflowError."""
    for many in (MOST_CONTRIBUTED + 1, 10**300, 10**400):
        with pytest.raises(InvalidParameter, match=name):
            Contribution(**{name: many})
    Contribution(rows=MOST_CONTRIBUTED, groups=MOST_CONTRIBUTED)


def test_a_unit_cannot_reach_more_groups_than_there_are() -> None:
    with pytest.raises(InvalidParameter, match="cannot reach 3 groups"):
        count(contribution=Contribution(groups=3))


def test_neighbours_do_not_mix() -> None:
    with pytest.raises(InvalidParameter, match="same neighbours"):
        vector(count(), count("replace"))
    with pytest.raises(InvalidParameter, match="at least one"):
        vector()
    with pytest.raises(InvalidParameter, match="add-remove"):
        count("friends")
    assert not count().covers(count("replace"))


def test_searches_that_cannot_be_done_are_refused() -> None:
    for domain, rows in [((), 3), (range(50), 50), (range(10**9), 10**9), (range(2), 10**6)]:
        with pytest.raises(InvalidParameter, match="databases"):
            search(len, domain, rows)
    for bad in NOT_COUNTS:
        with pytest.raises(InvalidParameter, match="rows"):
            search(len, (0, 1), bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [math.nan, math.inf, None, "x", True, [math.inf], [[1]]])
def test_answers_must_be_finite_numbers(answer: object) -> None:
    with pytest.raises(InvalidParameter, match="answer"):
        search(lambda x: answer if x else 0, (0, 1), 2)


def test_answers_must_keep_their_length() -> None:
    with pytest.raises(InvalidParameter, match="absent groups"):
        search(lambda x: sorted(set(x)), (0, 1), 2)


def test_l2_is_never_rounded_down() -> None:
    root = histogram("replace").l2
    assert root**2 >= 2 > (root - Fraction(1, 10**20)) ** 2
