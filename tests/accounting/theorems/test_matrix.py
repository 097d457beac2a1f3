"""Sensitivities of encoders against every allowed set of steps, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador import accounting as acc
from curador.accounting import events as ev
from curador.accounting.theorems import matrix
from curador.accounting.theorems.matrix import banded_event, encoder_sensitivity, matrix_event, tree_encoder
from curador.errors import InvalidParameter, NotPromised
from curador.privacy import Neighbors


def allowed(steps: int, participations: int, separation: int) -> Iterator[tuple[int, ...]]:
    for k in range(1, participations + 1):
        for chosen in combinations(range(steps), k):
            if all(b - a >= separation for a, b in pairwise(chosen)):
                yield chosen


def largest(encoder: list[list[Fraction]], participations: int, separation: int) -> Fraction:
    """The largest squared norm of a signed sum of columns: signs are the moves of a unit in one dimension."""
    best = Fraction(0)
    for chosen in allowed(len(encoder[0]), participations, separation):
        for signs in product((1, -1), repeat=len(chosen)):
            moved = (
                sum((s * row[j] for s, j in zip(signs, chosen, strict=True)), start=Fraction(0)) for row in encoder
            )
            best = max(best, sum((x * x for x in moved), start=Fraction(0)))
    return best


def lower(n: int, values: list[int]) -> list[list[Fraction]]:
    it = iter(values)
    return [[Fraction(next(it), 4) if j < i else Fraction(1 if j == i else 0) for j in range(n)] for i in range(n)]


@settings(max_examples=30)
@given(st.lists(st.integers(-4, 4), min_size=15, max_size=15), st.integers(1, 4), st.integers(1, 4))
def test_no_allowed_set_of_steps_moves_further(values: list[int], participations: int, separation: int) -> None:
    encoder = lower(6, values)
    true = largest(encoder, participations, separation)
    found = encoder_sensitivity(encoder, participations, separation)  # type: ignore[arg-type]
    assert found**2 >= true
    if participations == 1 or separation >= 6:
        assert found**2 <= true * (1 + Fraction(1, 10**13))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 8), min_size=6, max_size=6), st.integers(1, 4), st.integers(1, 4))
def test_falling_toeplitz_encoders_are_exact(values: list[int], participations: int, separation: int) -> None:
    column = [Fraction(x, 8) for x in sorted([*values, 8], reverse=True)]
    encoder = [[column[i - j] if i >= j else Fraction(0) for j in range(7)] for i in range(7)]
    true = largest(encoder, participations, separation)
    found = encoder_sensitivity(encoder, participations, separation)  # type: ignore[arg-type]
    assert true <= found**2 <= true * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("bands", [1, 2, 3])
@pytest.mark.parametrize("participations", [1, 2, 3])
def test_banded_encoders_are_exact_at_their_separation(bands: int, participations: int) -> None:
    rows = [
        [Fraction((3 * i + 5 * j) % 7 + 1, 4) if 0 <= i - j < bands else Fraction(0) for j in range(7)]
        for i in range(7)
    ]
    true = largest(rows, participations, bands)
    found = encoder_sensitivity(rows, participations, bands)  # type: ignore[arg-type]
    assert true <= found**2 <= true * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
def test_trees_move_by_their_levels(steps: int) -> None:
    tree = tree_encoder(steps)
    exact = [[Fraction(x) for x in row] for row in tree.tolist()]
    assert encoder_sensitivity(tree) ** 2 == pytest.approx(float(largest(exact, 1, 1)), rel=1e-12)
    assert len(tree) == sum(steps // 2**i for i in range(steps.bit_length()))
    if steps == 8:
        for k, b in ((2, 1), (2, 3), (3, 2)):
            assert encoder_sensitivity(tree, k, b) ** 2 >= largest(exact, k, b)
        every = encoder_sensitivity(tree, 8)
        assert every**2 == pytest.approx(sum(sum(row) ** 2 for row in tree.tolist()), rel=1e-12)  # every step


def test_an_epoch_of_ftrl_is_one_gaussian_release() -> None:
    event = matrix_event(tree_encoder(1000), sigma=10, clip=2, participations=1)
    assert event.sensitivity == pytest.approx(2 * math.sqrt(10), rel=1e-12)
    assert acc.epsilon(event, 1e-6).width < 1e-3
    steps = matrix_event(np.eye(100), sigma=10, participations=4, separation=10)
    assert acc.epsilon(steps, 1e-6).upper == pytest.approx(
        acc.epsilon(4 * ev.GaussianNoise(Fraction(10), Fraction(1)), 1e-6).upper, rel=1e-4
    )


@pytest.mark.parametrize(("participations", "separation"), [(1, 1), (2, 1), (2, 3)])
def test_who_replaces_a_unit_may_take_part_in_other_steps(participations: int, separation: int) -> None:
    """Every two sets of steps, each unit adding 1 to those of its own: nothing moves farther than is charged."""
    tree = tree_encoder(8).astype(int)
    sets = [tree[:, list(chosen)].sum(axis=1) for chosen in allowed(8, participations, separation)]
    farthest = max(int(((a - b) ** 2).sum()) for a, b in product(sets, repeat=2))

    def squared(**more: Any) -> Fraction:
        event = matrix_event(tree, 1, participations=participations, separation=separation, **more)
        return event.sensitivity**2

    assert squared(neighbors=Neighbors.REPLACE) >= farthest > squared()  # what add-remove charges is too little
    assert squared(neighbors=Neighbors.REPLACE, same_steps=True) == squared() == squared(same_steps=True)


def test_a_band_of_one_is_private_gradient_descent() -> None:
    event: Any = banded_event(np.eye(1000), sigma=1, rate="0.01")
    assert event == 1000 * ev.PoissonSampled(
        ev.GaussianNoise(Fraction(1), event.parts[0][0].event.sensitivity), Fraction(1, 100)
    )
    assert acc.epsilon(event, 1e-5).upper == pytest.approx(1.8282, abs=1e-3)
    four = np.tril(np.ones((12, 12))) - np.tril(np.ones((12, 12)), -4)
    bands: Any = banded_event(four, sigma=1, rate="0.01")
    ((part, count),) = bands.parts
    assert count == 3
    assert part.event.sensitivity == pytest.approx(2, rel=1e-12)


WRONG: list[Any] = [[], [[]], [[1, 0], [1]], [[0, 0], [0, 0]], [[math.inf]], 3, "ab", [["x"]]]


@pytest.mark.parametrize("encoder", WRONG)
def test_what_is_no_encoder_is_refused(encoder: Any) -> None:
    with pytest.raises(InvalidParameter):
        encoder_sensitivity(encoder)


def test_encoders_that_look_ahead_are_refused() -> None:
    with pytest.raises(NotPromised, match="later step"):
        matrix_event([[1, 1], [1, 0]], sigma=1)
    with pytest.raises(NotPromised, match="triangular"):
        banded_event([[1, 1], [1, 0]], sigma=1, rate="0.1")
    with pytest.raises(InvalidParameter, match="steps"):
        encoder_sensitivity(np.ones((1, matrix.MOST + 1)))


def test_entries_of_any_size_keep_their_sensitivity() -> None:
    """Squares of 1e-162 vanish in doubles, and those of 1e200 overflow."""
    tiny = np.full((10001, 1), 1.5e-162)
    tiny[0] = 2e-162
    event = matrix_event(tiny, sigma="1e-160")
    assert event.sensitivity**2 >= Fraction(15, 10**163) ** 2 * 10000
    assert acc.epsilon(event, 1e-6).upper > 7.8  # it was 0.08
    steps = [[Fraction(3), Fraction(0), Fraction(0)], [Fraction(-1), Fraction(2), Fraction(0)], [Fraction(1)] * 3]
    for participations, size in ((1, "1e-200"), (2, "1e-200"), (3, "1e200"), (1, "1e-400"), (2, "1e300")):
        scale = Fraction(size)
        encoder: Any = [[x * scale for x in row] for row in steps]
        found = encoder_sensitivity(encoder, participations)
        true = largest(encoder, participations, 1)
        assert true <= found**2 <= true * 2
        if 1e-300 < scale < 1e300:
            doubles = encoder_sensitivity(np.array(encoder, np.float64), participations)
            assert float(doubles / found) == pytest.approx(1, rel=1e-12)
    for bad in ([[1e200]], [[1e-200]], np.array([[1e300]])):
        with pytest.raises(InvalidParameter, match="loss"):
            matrix_event(bad, sigma=1)
    banded = banded_event(np.array([[1.5e-162, 0], [1.5e-162, 1.5e-162]]), "1e-162", "0.5")
    assert Fraction(45, 10**325) <= banded.parts[0][0].event.sensitivity ** 2  # type: ignore[attr-defined]


def test_entries_that_are_no_doubles_are_rounded_up() -> None:
    assert matrix_event([["0.1"]], 1).sensitivity >= Fraction(1, 10)
    for encoder in ([[2**53 + 1]], np.array([[2**53 + 1]], np.int64)):
        assert encoder_sensitivity(encoder) >= 2**53 + 1
    thirds: Any = [[Fraction(1, 3), 0], [Fraction(1, 7), Fraction(1, 3)]]
    assert encoder_sensitivity(thirds, 2) ** 2 >= largest(thirds, 2, 1)
    tiny: Any = [[1, "1e-500"], [1, 0]]
    with pytest.raises(NotPromised, match="later step"):  # an entry too small for a double still is one
        encoder_sensitivity(tiny)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=5, max_size=5), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_sets_that_are_bounded_and_not_searched_are_never_too_small(rows: list[list[int]], separation: int) -> None:
    encoder: Any = [[0 if j > i else x or int(i == j) for j, x in enumerate(row)] for i, row in enumerate(rows)]
    for most in (2, 3, 5):
        exact = [[Fraction(x) for x in row] for row in encoder]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(matrix, "_SLOW", 0)
            patch.setattr(matrix, "_LONG", 0)
            assert encoder_sensitivity(encoder, most, separation) ** 2 >= largest(exact, most, separation)
        bound = encoder_sensitivity(np.abs(np.array(encoder, np.float64)), most, separation)
        assert bound**2 * (1 + Fraction(1, 10**9)) >= largest([[abs(x) for x in r] for r in exact], most, separation)


def test_many_participations_are_not_searched_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "_sums_after", None)
    monkeypatch.setattr(matrix, "_LONG", 2**22)  # of 2**28, so that a small encoder is a long one
    for steps, most, apart in ((300, 300, 1), (1500, 600, 2), (600, 16, 8)):
        encoder = np.tril(np.ones((steps, steps)))
        encoder[-1, 0] = 2.0  # no Toeplitz matrix
        assert encoder_sensitivity(encoder, most, apart) ** 2 >= sum((i // apart + 1) ** 2 for i in range(most * apart))
