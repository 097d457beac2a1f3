"""Moments: what one row moves is within the sensitivity, and the noise is as long as that in every direction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from curador.learn.descent.whitened import moved_moments
from curador.learn.rows.encoding import SCALE
from curador.learn.sums.moments import LaplaceMoments, Moments, labelled, moments_for, symmetric, upper
from curador.privacy import ZCDP, ApproxDP, Neighbors, PureDP
from tests.learn.sums.rows import MIXED, length, made_up, single

MOST = MIXED.most + SCALE**2


def test_a_row_moves_the_moments_within_the_bound_and_reaches_it() -> None:
    rows = made_up(300, 1)
    labels = np.where(np.arange(300) % 2, SCALE, -SCALE)
    found = [length(labelled(single(rows, i), labels[i : i + 1])) for i in range(300)]
    assert max(found) == float(moved_moments(MOST, 1, Neighbors.ADD_REMOVE))
    assert max(found) > 0.99 * (MOST - SCALE**2)  # a bound without the label would be passed


def test_a_replaced_row_moves_them_within_its_bound() -> None:
    rows, labels = made_up(200, 2), np.random.default_rng(3).integers(-SCALE, SCALE + 1, 200)
    each = [labelled(single(rows, i), labels[i : i + 1]) for i in range(200)]
    found = max(length(a - b) for a in each[:60] for b in each)
    assert float(moved_moments(MOST, 1, Neighbors.ADD_REMOVE)) < found
    assert found <= float(moved_moments(MOST, 1, Neighbors.REPLACE))


def test_the_moments_of_all_are_the_sum_of_each() -> None:
    rows, labels = made_up(40, 4), np.random.default_rng(5).integers(-SCALE, SCALE + 1, 40)
    each = sum(labelled(single(rows, i), labels[i : i + 1]) for i in range(40))
    assert (labelled(rows, labels) == each).all()


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_the_event_costs_mu(neighbors: Neighbors) -> None:
    event = Moments(6, MOST, Fraction(1, 3), 2, neighbors).noise.event
    assert 0.999 < float(event.sensitivity / event.sigma) * 3 <= 1
    assert event.neighbors is neighbors


def test_noise_has_one_deviation_along_every_direction() -> None:
    """Of 1000 draws, the deviation along any direction is within 6 of its own errors of sigma (1e-8 by chance)."""
    release = Moments(3, SCALE**2, Fraction(1))
    draws = np.stack([release.release(np.zeros((3, 3), np.int64)) for _ in range(1000)])
    assert (draws == draws.transpose(0, 2, 1)).all()
    sigma = float(release.noise.sigma)
    for along in ([1.0, 0, 0], [0.6, 0.8, 0], [0.6, 0, -0.8]):
        u = np.array(along)
        assert np.std(u @ draws @ u) / sigma == pytest.approx(1, abs=6 / 2000**0.5)


def test_what_is_kept_is_the_whole() -> None:
    some = np.array([[1.5, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    assert (symmetric(upper(some), 3) == some).all()


def total(x: np.ndarray) -> int:
    """What the entries on and above the diagonal add up to, without their signs."""
    return int(np.abs(x[np.triu_indices(len(x))]).sum())


def test_laplace_noise_is_for_all_that_a_row_moves() -> None:
    """The bound is reached, and one that forgot the label, or the products of two columns, would be passed."""
    rows, labels = made_up(300, 5), np.where(np.arange(300) % 2, SCALE, -SCALE)
    each = [labelled(single(rows, i), labels[i : i + 1]) for i in range(300)]
    bound = LaplaceMoments(MIXED.width + 1, MOST, Fraction(1)).noise.sensitivity
    assert max(map(total, each)) == bound
    assert LaplaceMoments(MIXED.width + 1, MIXED.most, Fraction(1)).noise.sensitivity < bound
    replaced = LaplaceMoments(MIXED.width + 1, MOST, Fraction(1), neighbors=Neighbors.REPLACE).noise.sensitivity
    assert bound < max(total(a - b) for a in each[:60] for b in each) <= replaced
    assert LaplaceMoments(MIXED.width + 1, MOST, Fraction(1), copies=3).noise.sensitivity == 3 * bound


def test_laplace_noise_is_symmetric_of_its_scale_and_no_longer_than_is_said() -> None:
    made, exact = LaplaceMoments(4, 4 * SCALE**2, Fraction(1)), np.zeros((4, 4), np.int64)
    drawn = np.array([made.release(exact) for _ in range(2000)])
    assert (drawn == drawn.transpose(0, 2, 1)).all()
    along = np.array([0.5, 0.5, 0.5, 0.5])
    assert np.einsum("i,nij,j->n", along, drawn, along).std() < 1.1 * made.deviation
    for entry in (drawn[:, 0, 0], drawn[:, 1, 3]):
        assert np.abs(entry).mean() == pytest.approx(float(made.noise.scale), rel=0.1)  # 4.5 deviations of the mean


def test_the_noise_is_the_less_of_two() -> None:
    of = (MIXED.width, MIXED.most, 1, Neighbors.ADD_REMOVE)
    assert isinstance(moments_for(PureDP(1), *of), LaplaceMoments)
    assert isinstance(moments_for(ZCDP(1), *of), Moments)
    assert isinstance(moments_for(ApproxDP(1, 1e-5), *of), Moments)
    assert isinstance(moments_for(ApproxDP(1, 1e-300), *of), LaplaceMoments)
