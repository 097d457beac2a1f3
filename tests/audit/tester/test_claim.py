"""Floors from two chances: never above a loss that is known, and reached where an event shows it all."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from curador.accounting.account import epsilon
from curador.accounting.events import DiscreteGaussianNoise, DiscreteLaplaceNoise
from curador.audit.tester.claim import floors
from curador.errors import NotPromised
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP

SPAN = np.arange(-200, 201)


def tails(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The chances of every tail from below, of a law on the integers and of the same one moved by 1."""
    law = weights / weights.sum()
    own, other = np.cumsum(law[:-1]), np.concatenate([[0.0], np.cumsum(law[:-2])])
    kept = (other > 1e-30) & (own < 1 - 1e-9)
    return own[kept], other[kept]


LAPLACE = tails(np.exp(-np.abs(SPAN) / 2))
GAUSSIAN = tails(np.exp(-(SPAN**2) / 8))


def test_a_pure_floor_reaches_epsilon_and_no_more() -> None:
    p, q = LAPLACE
    least = floors(PureDP(0.5), p, q).least
    assert least.max() == pytest.approx(0.5, abs=1e-9)
    event = DiscreteLaplaceNoise(Fraction(2), 1)
    for delta in (0.01, 0.1, 0.2):
        most = floors(ApproxDP(0.5, delta), p, q).least.max()
        assert 0.8 * epsilon(event, delta).upper < most <= epsilon(event, delta).upper


def test_concentrated_floors_stay_below_rho() -> None:
    p, q = GAUSSIAN
    rho = float(DiscreteGaussianNoise(Fraction(4), 1).sensitivity_squared) / (2 * 4)
    found = floors(ZCDP(rho), p, q)
    assert 0.4 * rho < found.least.max() <= rho
    assert (found.excess <= 1).all()
    assert (floors(ZCDP(rho, 0.1), p, q).least <= found.least + 1e-12).all()
    assert floors(ZCDP(rho, 1), p, q).least.max() == 0


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, math.inf])
def test_renyi_floors_are_the_divergence_of_two_coins(order: float) -> None:
    p, q = 0.3, 0.1
    pairs = [(p, q), (1 - p, 1 - q)]
    if order == math.inf:
        exact = max(math.log(a / b) for a, b in pairs)
    else:
        exact = math.log(sum(a**order * b ** (1 - order) for a, b in pairs)) / (order - 1)
    found = floors(RenyiDP({order: 0.1}), p, q)
    assert float(found.least) == pytest.approx(exact)
    assert float(found.order) == order
    assert float(found.excess) == pytest.approx(exact / 0.1)


def test_of_several_orders_the_one_that_is_exceeded_most_counts() -> None:
    curve = RenyiDP({2: 5.0, 8: 0.01})
    assert float(floors(curve, 0.3, 0.1).order) == 8


@pytest.mark.parametrize("claim", [PureDP(1), ApproxDP(1, 0.01), ZCDP(0.5), ZCDP(0.5, 0.01), RenyiDP({2: 1, 32: 9})])
def test_floors_grow_with_one_chance_and_fall_with_the_other(claim: Guarantee) -> None:
    chances = np.linspace(0.02, 0.98, 25)
    for other in chances:
        assert (
            np.diff(floors(claim, chances[chances > other], np.full((chances > other).sum(), other)).excess) >= 0
        ).all()
    for own in chances:
        below = chances[chances < own]
        assert (np.diff(floors(claim, np.full(below.size, own), below).excess) <= 0).all()
    assert floors(claim, 0.3, 0.3).least == 0
    assert floors(claim, 0.0, 0.3).least == 0
    assert np.isfinite(floors(claim, 1.0, 1e-9).least)


def test_other_claims_are_refused() -> None:
    with pytest.raises(NotPromised):
        floors(Fraction(1), 0.5, 0.1)  # type: ignore[arg-type]
