"""Events without a known pair of laws: answered from both sides, by a curve and by a mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import curador as cu
from curador import accounting as acc
from curador.accounting import events
from curador.accounting.rules.renyi import renyi
from curador.accounting.rules.unpaired import attained
from curador.privacy import Neighbors

ev: Any = events  # every parameter may be an int, a float, text or a fraction
MP = mpmath.mp.clone()
MP.dps = 30


def gaussian_delta(mu: float, epsilon: float) -> Any:
    a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return MP.ncdf(a) - MP.exp(epsilon) * MP.ncdf(b)


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_a_concentrated_loss_lies_between_the_gaussian_and_its_curve(rho: Fraction, delta: float) -> None:
    found = acc.epsilon(ev.ZCDPLoss(rho), delta)
    mu = math.sqrt(2 * rho)
    assert gaussian_delta(mu, found.lower * (1 - 1e-3)) > delta  # a Gaussian is one of what the event describes
    assert gaussian_delta(mu, found.lower + 2e-3) < delta
    best = min((rho * a + (math.log(1 / delta) + (a - 1) * math.log(1 - 1 / a) - math.log(a)) / (a - 1)) for a in GRID)
    assert found.lower <= found.upper <= best * (1 + 1e-2)


GRID = [1 + x / 50 for x in range(1, 2000)]


@pytest.mark.parametrize(
    "event",
    [
        ev.ZCDPLoss("0.2"),
        ev.ZCDPLoss("0.2") + ev.LaplaceNoise(2, 1),
        ev.DiscreteGaussianNoise(9, 4, dimension=3) + ev.PureLoss("0.1"),
        ev.PoissonSampled(ev.ZCDPLoss("0.2"), "0.1"),
        ev.PoissonSampled(ev.LaplaceNoise(2, 1) + ev.LaplaceNoise(3, 1), "0.1"),
        ev.Parallel((ev.ZCDPLoss("0.2"), ev.LaplaceNoise(1, 1))),
        ev.FixedSizeSampled(ev.ZCDPLoss("0.2", Neighbors.REPLACE), 1, 10),
    ],
)
def test_the_default_answers_both_ways(event: events.Event) -> None:
    found = acc.epsilon(event, 1e-6)
    assert 0 <= found.lower <= found.upper < math.inf
    # One curve, evaluated one order at a time and all at once, each rounded up.
    assert found.upper <= acc.epsilon(event, 1e-6, method="renyi").upper * (1 + 1e-12)
    at = acc.delta(event, found.upper)
    assert at.lower <= at.upper <= 1e-6 * 1.01  # and the two directions agree
    assert acc.delta(event, found.lower * 0.99).upper >= 1e-6 or found.lower == 0


def test_continual_counts_and_integer_vectors_have_an_epsilon() -> None:
    for event in (cu.ContinualCount(horizon=64, rho="0.1").event, ev.DiscreteGaussianNoise(100, 4, dimension=5)):
        found = acc.epsilon(event, 1e-6)
        assert 0 < found.lower <= found.upper < 2 * found.lower
        assert acc.profile(event).lines[0][1][-1] <= 1e-9 * 1.01


def test_what_a_loss_states_itself_is_paid_first() -> None:
    """Rényi curves end where a delta begins, so a delta is taken out before, and added afterwards."""
    both = ev.ZCDPLoss("0.2") + 3 * ev.ApproxLoss("0.1", "1e-7")
    assert acc.renyi(both, 2) == math.inf
    alone = acc.epsilon(ev.ZCDPLoss("0.2") + 3 * ev.PureLoss("0.1"), 7e-7).upper
    assert acc.epsilon(both, 1e-6).upper == pytest.approx(alone, rel=1e-6)
    assert acc.epsilon(both, 2e-7).upper == math.inf  # less than it loses for sure
    assert acc.delta(both, 50).upper >= 3e-7


def test_shifts_of_integer_vectors_are_as_large_as_allowed() -> None:
    for squared, dimension in [(1, 2), (2, 2), (5, 3), (7, 2), (1000, 4)]:
        event = ev.DiscreteGaussianNoise(4, squared, dimension)
        found = attained(event)
        assert renyi(found, 2) <= renyi(event, 2)
        assert len(ev.Composed.of((found, 1)).parts) <= dimension
    assert renyi(attained(ev.DiscreteGaussianNoise(4, 5, 3)), 2) == renyi(ev.DiscreteGaussianNoise(4, 5, 3), 2)
