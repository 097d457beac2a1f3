"""Duchi's mechanism for vectors, in odd and even dimensions, by every way it can go."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import Duchi, DuchiVector, task_from_json
from curador.local.numeric import vector
from tests.local.exact_law import Law, Tree, keeps_its_word, worst_ratio
from tests.mutants import local as mutants


def law(task: Any, corner: tuple[bool, ...]) -> Law:
    """The probability of each report on a corner; other values are mixtures of corners."""
    tree, found = Tree(), dict[Any, Fraction]()
    places = [patch.object(module, name, getattr(tree, name)) for module in (vector, mutants) for name in ("coins",)]
    places.append(patch.object(mutants, "uniform", tree.uniform))
    with places[0], places[1], places[2]:
        while True:
            tree.begin()
            report = tuple(task._orient(np.array([corner]), None)[0].tolist())
            found[report] = found.get(report, Fraction(0)) + tree.chance
            if not tree.advance():
                return found


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", ["1/2", 1, 3])
def test_every_report_has_its_probability(dimension: int, epsilon: Any) -> None:
    task = DuchiVector(-1, 1, epsilon, dimension)
    corners = list(product([False, True], repeat=dimension))
    laws = [law(task, corner) for corner in corners]
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    for corner, one in zip(corners, laws, strict=True):
        for j in range(dimension):
            mean = sum((p * (1 if report[j] else -1) for report, p in one.items()), start=Fraction(0)) * task.reach
            assert mean == (1 if corner[j] else -1)


@pytest.mark.parametrize("dimension", [2, 4])
def test_ties_on_both_sides_break_the_promise_in_even_dimensions(dimension: int) -> None:
    broken = mutants.TiesOnBothSides(-1, 1, 1, dimension)
    laws = [law(broken, corner) for corner in product([False, True], repeat=dimension)]
    assert worst_ratio(laws) == 1 / (1 - broken.p)
    assert not keeps_its_word(broken, laws)
    sound = mutants.TiesOnBothSides(-1, 1, 1, dimension + 1)  # where there are no ties
    assert keeps_its_word(sound, [law(sound, corner) for corner in product([False, True], repeat=dimension + 1)])


def test_reach() -> None:
    """B = 1 / ((2 pi - 1) E|W|/d), with E|W| found by adding up all corners."""
    for d in range(1, 11):
        mean = Fraction(sum(abs(sum(w)) for w in product([-1, 1], repeat=d)), d * 2**d)
        task = DuchiVector(-1, 1, 1, d)
        assert task.reach == 1 / (mean * (2 * task.p - 1))
    assert float(DuchiVector(-1, 1, 1, 3).reach) == pytest.approx(4.3279, abs=1e-4)
    assert float(DuchiVector(-1, 1, 1, 5).reach) == pytest.approx(5.7705, abs=1e-4)
    assert float(DuchiVector(-1, 1, 1, 1).worst_variance) == pytest.approx(Duchi(-1, 1, 1).worst_variance, rel=1e-3)


@pytest.mark.parametrize(("dimension", "epsilon"), [(2, 1), (3, 0.5), (16, 1), (16, 4)])
def test_mean_squared_error_is_the_formulas(dimension: int, epsilon: float) -> None:
    users, runs = 200, 100
    values = np.random.default_rng(dimension).uniform(-1, 1, (users, dimension))
    task = DuchiVector(-1, 1, epsilon, dimension)
    errors = [task.estimate(task.randomize(values)).values - values.mean(axis=0) for _ in range(runs)]
    formula = (task.worst_variance - (values**2).mean()) / users
    assert abs(np.mean(np.square(errors)) / formula - 1) < 5 * math.sqrt(2 / (runs * dimension))


def test_estimates_are_in_the_units_of_the_data() -> None:
    task = DuchiVector(0, 100, 2, 3)
    values = np.tile([20.0, 50.0, 120.0], (50_000, 1))
    found = task.estimate(task.randomize(values))
    low, high = found.interval(1 - 1e-9)
    assert (low <= [20, 50, 100]).all()
    assert (high >= [20, 50, 100]).all()
    assert np.abs(found.values - [20, 50, 100]).max() < 6.5 * math.sqrt(task.variance(50_000))
    assert found.variance == task.variance(50_000)
    narrow, wide = found.interval(0.9, simultaneous=False), found.interval(0.9)
    assert (wide[0] <= narrow[0]).all()
    assert (narrow[1] <= wide[1]).all()


def test_a_task_is_a_small_document_and_refuses() -> None:
    task = DuchiVector(0, 1, "1/2", 12)
    assert task_from_json(json.loads(json.dumps(task.to_json()))) == task
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "epsilon": "0.4"})
    for name, bad in (("true", 1 << 31), ("true", 5), ("true", 1 << 32), ("dimension", 0), ("dimension", 1.5)):
        with pytest.raises(InvalidParameter):
            task_from_json({**task.to_json(), name: bad})
    values: list[Any] = [[0.5] * 12, [[0.5] * 11], [[math.nan] * 12]]
    for some in values:
        with pytest.raises(InvalidValue):
            task.randomize(some)
    with pytest.raises(InvalidValue):
        task.estimate(np.full((2, 2), 255, np.uint8))
    with pytest.raises(InvalidParameter):
        task.estimate(task.randomize(np.zeros((0, 12))))
