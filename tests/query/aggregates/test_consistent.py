"""Margins that agree: the fit against least squares, its law, sums that are exact, and what is worth measuring."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates import consistent
from curador.query.aggregates.consistent import Axes, KeyTable, Margins, subsets, worth_measuring

SIZES = (3, 2, 4)
NOISED: tuple[tuple[Axes, float], ...] = (((0, 1), 2.0), ((1, 2), 1.5), ((0,), 0.7), ((), 3.0), ((0, 1), 9.0))


def design(sizes: tuple[int, ...], axes: Axes) -> NDArray[np.float64]:
    """One row for each number of a margin: the cells that it adds up."""
    rows = []
    for place in np.ndindex(*(sizes[i] for i in axes)):
        row = np.zeros(sizes)
        where: list[int | slice] = [slice(None)] * len(sizes)
        for i, key in zip(axes, place, strict=True):
            where[i] = key
        row[tuple(where)] = 1
        rows.append(row.ravel())
    return np.array(rows)


def test_the_fit_is_that_of_least_squares_and_its_terms_are_its_weights() -> None:
    """Against the matrices themselves, for margins of which none holds all cells."""
    margins, rng = Margins(SIZES, NOISED), np.random.default_rng(3)
    tables = [np.asarray(rng.normal(size=[SIZES[i] for i in axes])) for axes, _ in NOISED]
    matrix = np.vstack([design(SIZES, axes) for axes, _ in NOISED])
    weights = np.concatenate([np.full(math.prod(SIZES[i] for i in a), 1 / v) for a, v in NOISED])
    inverse = np.linalg.pinv(matrix.T @ (weights[:, None] * matrix))
    best = inverse @ matrix.T @ (weights * np.concatenate([t.ravel() for t in tables]))
    wanted: list[Axes] = [(0, 1), (1, 2), (2,), (1,), ()]
    noises = [IntegerLaplace(1, scale=math.sqrt(v / 2) + 2) for _, v in NOISED]
    for axes, found in margins.fitted(tables, wanted).items():
        rows = design(SIZES, axes)
        assert np.abs(found.ravel() - rows @ best).max() < 2**-9
        if axes in wanted:
            terms = margins.terms(axes, noises)
            exact = rows[0] @ inverse @ matrix.T * weights  # the weight of every noised number in the first one
            start = 0
            for (a, _), noise in zip(NOISED, noises, strict=True):
                size = math.prod(SIZES[i] for i in a)
                own = sorted(w for w, m, n in terms if m is noise for _ in range(n))
                kept = sorted(x for x in exact[start : start + size].tolist())
                own += [0.0] * (size - len(own))
                assert sorted(own) == pytest.approx(kept, abs=1e-12)
                start += size


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1.0, 1e3, 1e7, 2.0**40]),
)
def test_every_margin_is_exactly_the_sum_of_each_finer_one(sizes: list[int], seed: int, size: float) -> None:
    rng, cells = np.random.default_rng(seed), tuple(range(len(sizes)))
    chosen = [axes for axes in subsets(cells) if rng.random() < 0.6] or [cells]
    if cells not in chosen:
        chosen.append(cells)
    margins = Margins(tuple(sizes), tuple((axes, float(rng.uniform(0.1, 9))) for axes in chosen))
    tables = [np.asarray(rng.normal(0, size, [sizes[i] for i in axes])) for axes in chosen]
    found = margins.fitted(tables, subsets(cells))
    for axes in subsets(cells):
        for kept in subsets(axes):
            gone = tuple(j for j, i in enumerate(axes) if i not in kept)
            assert (found[axes].sum(axis=gone) == found[kept]).all()


def test_one_table_stays_as_it_is() -> None:
    big = np.array([[2**62, 1], [3, 4]], object)
    found = Margins((2, 2), (((0, 1), 1.0),)).fitted([big], [(0, 1), (1,), ()])
    assert found[(1,)].tolist() == [2**62 + 3, 5]
    assert int(found[()]) == 2**62 + 8


def test_keys_that_are_not_all_combinations_have_margins_too() -> None:
    cells = KeyTable((("a", 1), ("b", 2), ("a", 2)))
    assert not cells.full
    assert cells.gathered((0,), [5, 6, 7]) == [12, 6]
    assert cells.nodes((1,)) == ((1,), (2,))
    assert cells.gathered((), [5, 6, 7]) == [18]


def test_numbers_of_margins_find_their_places_in_any_order_of_keys() -> None:
    keys = (("b", 2), ("a", 1), ("b", 1), ("a", 2))
    cells = KeyTable(keys)
    shaped = cells.shaped((0, 1), np.arange(4))
    assert shaped.tolist() == [[0, 2], [3, 1]]  # b, a by 2, 1
    assert shaped.reshape(-1)[cells.flat((0, 1))].tolist() == [0, 1, 2, 3]


ROLLUP: list[Axes] = [(0, 1), (0,), ()]
CUBE: list[Axes] = [(0, 1), (0,), (1,), ()]


def errors(sizes: tuple[int, ...], shown: list[Axes], share: dict[Axes, float]) -> list[float]:
    margins = Margins(sizes, tuple((axes, 1 / s**2) for axes, s in share.items()))
    noises = [IntegerLaplace(1, scale=1) for _ in share]
    found = []
    for axes in shown:
        terms = zip(margins.terms(axes, noises), strict=True)
        variances = {id(noise): v for noise, (_, v) in zip(noises, margins.noised, strict=True)}
        found.append(math.sqrt(sum(n * w * w * variances[id(m)] for ((w, m, n),) in terms)))
    return found


@pytest.mark.parametrize("shown", [ROLLUP, CUBE, [(0,), (1,)]])
@pytest.mark.parametrize("sizes", [(2, 3), (5, 20), (30, 30), (50, 40), (2, 400)])
def test_what_is_measured_is_the_best_of_its_kind(sizes: tuple[int, int], shown: list[Axes]) -> None:
    """No other shares of what was chosen are better, nor any other choice by more than a third."""
    spreads = dict.fromkeys(CUBE, 1.0)
    weights = worth_measuring(sizes, shown, spreads, 1 / 3)
    roots = {axes: w ** (1 / 3) for axes, w in weights.items()}
    share = {axes: r / sum(roots.values()) for axes, r in roots.items()}

    def mean(share: dict[Axes, float]) -> float:
        return float(np.exp(np.mean(np.log(errors(sizes, shown, share)))))

    best = mean(share)
    for one in share:
        for factor in (0.8, 1.25):
            moved = {a: s * (factor if a == one else 1) for a, s in share.items()}
            assert best <= mean({a: s / sum(moved.values()) for a, s in moved.items()}) * (1 + 1e-3)
    for number in range(1, 4):
        for some in combinations(CUBE, number):
            if all(any(set(s) <= set(a) for a in some) for s in shown):
                assert best * 2 / 3 < mean(dict.fromkeys(some, 1 / number)) * (1 + 1e-9)


def test_cells_alone_keep_their_weight() -> None:
    assert worth_measuring((4, 5), ROLLUP, dict.fromkeys(CUBE, 3.0), 1 / 3) == {(0, 1): 1.0}
    assert (0, 1) in worth_measuring((60, 70), CUBE, dict.fromkeys(CUBE, 3.0), 1 / 3)
    assert len(worth_measuring((60, 70), CUBE, dict.fromkeys(CUBE, 3.0), 1 / 3)) > 1


def test_margins_of_many_columns_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by attack: a free plan took time for every subset of the columns that are grouped by."""

    def few(axes: Axes) -> list[Axes]:
        assert 2 ** len(axes) <= consistent.MOST_PARTS
        return subsets(axes)

    monkeypatch.setattr(consistent, "subsets", few)
    cells = tuple(range(19))
    shown = [cells, cells[:-1], ()]
    assert worth_measuring((2,) * 19, shown, dict.fromkeys(shown, 1.0), 1 / 3) == {cells: 1.0}
    assert not consistent.few_parts([tuple(range(i, i + 8)) for i in range(8)])  # each has few, together they do not


def test_measures_that_compare_alike_are_worked_out_once() -> None:
    """Found by attack: every sum of a CUBE took seconds of its own."""
    consistent._worth.cache_clear()
    found = [worth_measuring((60, 70), CUBE, dict.fromkeys(CUBE, x), 1 / 3) for x in (1.0, 0.1, 3e30, 1e-7 / 3)]
    assert all(one == found[0] for one in found)
    assert consistent._worth.cache_info().misses == 1


def test_margins_without_noise_count_only_where_they_hold_a_part() -> None:
    margins = Margins((2, 2), (((), 0.0), ((0,), 0.0), ((0, 1), 4.0)))
    tables = [np.array(400.0), np.array([190.0, 210.0]), np.array([[91.0, 102.0], [99.0, 112.0]])]
    found = margins.fitted(tables, [(), (0,), (0, 1)])
    assert found[()] == 400
    assert found[0,].tolist() == [190, 210]
    assert found[0, 1].sum(axis=1).tolist() == [190, 210]
