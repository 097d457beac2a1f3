"""What leaves a device: the epsilon of each report to the last digit, unbiased means, draws that see no data."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, InvalidValue
from curador.local import LocalLaplace
from curador.local.learn.randomizers import MECHANISMS, Corners, Sampled, SampledHybrid, Split, gradient_randomizer
from curador.noise import Entropy
from tests.exact import Stream
from tests.local.learn.people import Floats, breaks_its_word

NAMES = sorted(MECHANISMS)
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(11)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("dimension", [1, 2, 5, 12])
def test_a_report_costs_epsilon_exactly(name: str, epsilon: Fraction, dimension: int) -> None:
    assert pure_epsilon(gradient_randomizer(name, epsilon, dimension).event) == epsilon


@pytest.mark.parametrize(
    ("epsilon", "dimension", "sampled"), [("0.1", 9, 1), ("4.9", 9, 1), (5, 9, 2), ("24.9", 9, 9), (90, 9, 9)]
)
def test_how_many_coordinates_are_drawn(epsilon: Any, dimension: int, sampled: int) -> None:
    """max(1, min(d, floor(epsilon / 2.5))), each with an equal share."""
    way = gradient_randomizer("hybrid", epsilon, dimension)
    assert isinstance(way, Sampled)
    assert way.sampled == sampled
    assert way.task.epsilon * sampled == way.epsilon
    which, told = way.randomize(np.zeros((30, dimension)), entropy=Stream(1))
    assert which.shape == told.shape == (30, sampled)
    assert all(len(set(row)) == sampled for row in which.tolist())


def draws(way: Sampled, vector: Floats) -> NDArray[np.int64]:
    which: NDArray[np.int64] = way.randomize(np.tile(vector, (300, 1)), entropy=Stream(5))[0]
    return which


class DrawsTheLargest(SampledHybrid):
    """Reports the coordinate that says most, as if the choice told nothing."""

    def _reports(self, gradients: Floats, entropy: Entropy) -> Any:
        which = np.abs(gradients).argmax(axis=1)[:, np.newaxis]
        told = self.task.randomize(np.take_along_axis(gradients, which, axis=1), entropy=entropy)
        return which, told.reshape(which.shape)


def test_the_coordinates_drawn_do_not_depend_on_the_vector() -> None:
    """With the same coins the same coordinates, whatever the vector: so their law is the same, too."""
    one, other = np.array([1.0, 0.0, 0.0, 0.2]), np.array([0.0, -0.5, 0.9, 0.0])
    for name in ("piecewise", "hybrid"):
        for epsilon in (1, 6):
            way = gradient_randomizer(name, epsilon, 4)
            assert isinstance(way, Sampled)
            assert (draws(way, one) == draws(way, other)).all()
    wrong = DrawsTheLargest(Fraction(1), 4)
    assert (draws(wrong, one) != draws(wrong, other)).any()


def test_every_coordinate_is_drawn_as_often() -> None:
    way = SampledHybrid(Fraction(5), 6)
    seen = Counter(way.randomize(np.zeros((6000, 6)), entropy=Stream(2))[0].ravel().tolist())
    assert sorted(seen) == list(range(6))
    deviation = math.sqrt(6000 * (1 / 3) * (2 / 3))  # each person draws a given coordinate with chance 2/6
    assert max(abs(count - 2000) for count in seen.values()) < 5 * deviation


class Raw(Corners):
    """Forgets to randomise."""

    def _reports(self, gradients: Floats, entropy: Entropy) -> Any:
        return gradients

    def mean(self, reports: Any) -> Floats:
        return np.asarray(reports.mean(axis=0))


class WholeEpsilonEach(Split):
    """Gives every coordinate the whole epsilon."""

    @cached_property
    def task(self) -> LocalLaplace:
        return LocalLaplace(-1, 1, self.epsilon)


class SameSign(Corners):
    """Randomises the size of a coordinate but never its sign."""

    def _reports(self, gradients: Floats, entropy: Entropy) -> Any:
        return np.sign(gradients) * (1 + entropy.words(gradients.size, np.uint8).reshape(gradients.shape))

    def mean(self, reports: Any) -> Floats:
        return np.asarray(reports.mean(axis=0))


LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])


@pytest.mark.parametrize("name", NAMES)
def test_an_audit_finds_nothing_in_sound_randomizers(name: str) -> None:
    assert not breaks_its_word(gradient_randomizer(name, 1, 2), LOW, HIGH)


@pytest.mark.parametrize("broken", [Raw, SameSign, WholeEpsilonEach])
def test_an_audit_catches_broken_ones(broken: type[Corners]) -> None:
    assert breaks_its_word(broken(Fraction(1), 2), LOW, HIGH)


def test_the_accountant_sees_a_whole_epsilon_on_each_coordinate() -> None:
    assert pure_epsilon(WholeEpsilonEach(Fraction(1), 5).event) == 5


def spread(way: Any, vectors: Floats, runs: int = 60) -> tuple[Floats, Floats]:
    """Mean and variance of the estimates over repeated reports of the same people."""
    entropy = Stream(way.dimension)
    found = np.array([way.mean(way.randomize(vectors, entropy=entropy)) for _ in range(runs)])
    return found.mean(axis=0), found.var(axis=0, ddof=1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("epsilon", "clip"), [(1, 1), (6, 2)])
def test_means_are_unbiased_with_at_most_the_variance_stated(name: str, epsilon: int, clip: int) -> None:
    users, runs, d = 3000, 60, 4
    way = gradient_randomizer(name, epsilon, d, clip)
    vectors = clip * np.random.default_rng(6).uniform(-1, [1.0, 0.5, 0.0, -0.8], (users, d))
    mean, variance = spread(way, vectors, runs)
    most = clip**2 * way.worst_variance / users
    assert np.abs(mean - vectors.mean(axis=0)).max() < 5 * math.sqrt(most / runs)
    assert variance.max() < most * (1 + 5 * math.sqrt(2 / runs))
    # And not by a formula that is far too large: the truth is at least a fifth of it.
    assert variance.max() > most / 5
    # A mean of people who are all half as large is told from these.
    assert np.abs(mean - vectors.mean(axis=0) / 2).max() > 5 * math.sqrt(most / runs)


def test_a_coordinate_nobody_drew_counts_as_zero() -> None:
    way = SampledHybrid(Fraction(1), 5)
    which, told = way.randomize(np.ones((1, 5)), entropy=Stream(1))
    found = way.mean((which, told))
    assert np.flatnonzero(found).tolist() == which.ravel().tolist()


@pytest.mark.parametrize("name", NAMES)
def test_bad_vectors_and_parameters_are_refused(name: str) -> None:
    way = gradient_randomizer(name, 6, 3)
    with pytest.raises(InvalidValue):
        way.randomize(np.full((2, 3), math.nan))
    for bad in ((name, 0, 3), (name, -1, 3), (name, math.inf, 3), (name, 1, 0), (name, 1, 2.5), (name, 1, 3, 0)):
        with pytest.raises(InvalidParameter):
            gradient_randomizer(*bad)


@pytest.mark.parametrize("name", NAMES)
def test_no_reports_are_refused(name: str) -> None:
    way = gradient_randomizer(name, 6, 3)
    with pytest.raises(InvalidParameter, match="no reports"):
        way.mean(way.randomize(np.zeros((0, 3))))


def test_reports_that_no_device_makes_are_refused() -> None:
    split, sampled = Split(Fraction(6), 3), SampledHybrid(Fraction(6), 3)
    for bad in (np.zeros(3, int), np.zeros((2, 4), int)):
        with pytest.raises(InvalidValue):
            split.mean(bad)
    ones = np.ones((2, 2), np.uint32)
    assert sampled.mean((np.array([[0, 1], [1, 2]]), ones)).shape == (3,)
    for which in ([[0, 3], [1, 2]], [[-1, 1], [1, 2]], [[1, 1], [1, 2]], [[0, 1]], [[0], [1]], [0, 1]):
        with pytest.raises(InvalidValue):
            sampled.mean((np.array(which), ones))
    with pytest.raises(InvalidValue):
        sampled.mean((np.array([[0, 1], [1, 2]]), np.full((2, 2), 1 << 31, np.uint32)))


def test_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="laplace, duchi, piecewise, hybrid"):
        gradient_randomizer("gaussian", 1, 3)
