"""Sums by class: what one row moves is within the bounds the noise is for, and reaches them."""

from __future__ import annotations

import numpy as np
import pytest

from curador.learn.rows.encoding import SCALE
from curador.learn.sums.classes import APART, ClassSums, parts, squares
from curador.learn.sums.noise import least_noise
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.privacy import ZCDP, ApproxDP, Neighbors, PureDP
from tests.learn.sums.rows import MIXED, length, made_up, single

ROWS = made_up(200, 21)
CLASSES = np.random.default_rng(22).integers(0, 3, 200).astype(np.int32)


def sums(bins: int, neighbors: Neighbors = Neighbors.ADD_REMOVE, copies: int = 1) -> ClassSums:
    return ClassSums(MIXED, 3, bins, PureDP(1), copies, neighbors)


def each(bins: int) -> list[np.ndarray]:
    return [sums(bins).exact(single(ROWS, i), CLASSES[i : i + 1]) for i in range(len(ROWS))]


def test_every_number_and_its_square_are_within_what_they_count_for() -> None:
    """All numbers there are, and all pairs of them."""
    x = np.arange(-SCALE, SCALE + 1).astype(np.int16)
    t = squares(x)
    wide = x.astype(np.int64)
    assert (wide**2 + t**2).max() == 2 * SCALE**2
    assert np.abs(t).max() == SCALE
    assert np.abs(t - (2 * wide**2 / SCALE - SCALE)).max() <= 0.5
    apart = (wide[:, None] - wide) ** 2 + (t[:, None] - t) ** 2
    assert 5 * SCALE**2 < apart.max() < APART * SCALE**2


@pytest.mark.parametrize("bins", [0, 5])
def test_a_row_moves_the_sums_within_the_bounds_and_reaches_them(bins: int) -> None:
    total = max(int(np.abs(one).sum()) for one in each(bins))
    assert total == sums(bins).l1
    assert max(length(one) ** 2 for one in each(bins)) == pytest.approx(float(sums(bins).l2_squared))


@pytest.mark.parametrize("bins", [0, 5])
def test_a_replaced_row_moves_them_within_its_bounds(bins: int) -> None:
    rows = each(bins)
    moved = [a - b for a in rows[:40] for b in rows]
    replaced = sums(bins, Neighbors.REPLACE)
    assert sums(bins).l1 < max(int(np.abs(m).sum()) for m in moved) <= replaced.l1
    found = max(int((m**2).sum()) for m in moved)
    assert sums(bins).l2_squared < found <= replaced.l2_squared
    assert found > 0.8 * replaced.l2_squared


def test_several_rows_of_a_unit_count_each() -> None:
    assert sums(0, copies=3).l1 == 3 * sums(0).l1
    assert sums(0, copies=3).l2_squared == 9 * sums(0).l2_squared


@pytest.mark.parametrize("bins", [0, 5])
def test_the_sums_of_all_are_those_of_each(bins: int) -> None:
    assert (sums(bins).exact(ROWS, CLASSES) == sum(each(bins))).all()
    none = np.where(np.arange(200) % 2, CLASSES, -1).astype(np.int32)
    assert (sums(bins).exact(ROWS, none) == sum(each(bins)[1::2])).all()
    assert (sums(bins).exact(made_up(0, 1), np.zeros(0, np.int32)) == 0).all()


def test_sums_are_what_they_say() -> None:
    found = sums(0).exact(ROWS, CLASSES)
    mine = CLASSES == 1
    assert found[1, 0] == SCALE * mine.sum()
    assert found[1, 1] == ROWS.numbers[mine, 0].astype(int).sum()
    assert found[1, 4] == squares(ROWS.numbers[mine, 1]).sum()
    assert found[1, 5:].tolist() == [SCALE * int((ROWS.codes[mine, 0] == k).sum()) for k in range(3)]
    cut = sums(5).exact(ROWS, CLASSES)
    assert cut[1, 1:6].tolist() == [SCALE * int((parts(ROWS.numbers[mine, 0], 5) == k).sum()) for k in range(5)]


def test_the_noise_is_the_less_and_keeps_the_guarantee() -> None:
    few, many = (ClassSums(MIXED, 2, 0, ApproxDP(1, 1e-5)), ClassSums(MIXED, 2, 0, ApproxDP(0.5, 0.01)))
    assert few.noise.kind == "laplace"
    assert many.noise.kind == "gaussian"
    for one in (few, many):
        pure = ClassSums(MIXED, 2, 0, PureDP(one.guarantee._numbers()["epsilon"]))
        assert one.noise.variance <= pure.noise.variance
    assert isinstance(few.noise, Laplace)
    assert float(few.noise.event.sensitivity / few.noise.scale) == pytest.approx(1)
    gaussian = ClassSums(MIXED, 2, 0, ZCDP(0.5)).noise
    assert isinstance(gaussian, Gaussian)
    assert 0.999 < float(gaussian.event.sensitivity / gaussian.sigma) <= 1
    assert least_noise(ApproxDP(1, 0), few.l1, few.l2_squared, 9, few.neighbors).kind == "laplace"
