"""A mechanism made for a guarantee keeps it, says the accountant: exactly, not up to a tolerance."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from curador import accounting as acc
from curador import privacy
from curador.accounting import events
from curador.errors import InvalidParameter
from curador.mechanisms.base import KINDS, Mechanism
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, TopK
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import ThresholdedGaussian, ThresholdedLaplace
from curador.mechanisms.tree import ContinualCount
from curador.privacy import Neighbors

ev: Any = events  # events and guarantees read ints, strings, decimals and fractions
dp: Any = privacy
EPSILONS = ("1/3", "0.1", "1", "2.5", "1/1000")
DELTAS = ("1e-5", "1/7", "1e-12", "1e-40", "1e-300", "1e-320")

PURE: list[Callable[[Fraction, Neighbors], Mechanism]] = [
    lambda e, n: Laplace(3, e, neighbors=n),
    lambda e, n: Laplace("0.1", e, coordinates=1000, neighbors=n),
    lambda e, n: IntegerLaplace(3, e, neighbors=n),
    lambda e, n: ExponentialMechanism(1, e, neighbors=n),
    lambda e, n: PermuteAndFlip(1, e, neighbors=n),
    lambda e, n: ReportNoisyMax(1, e, neighbors=n),
    lambda e, n: TopK(7, 1, e, neighbors=n),
    lambda e, n: Quantiles(["1/4", "1/2", "3/4"], 0, 100, epsilon=e, neighbors=n),
    lambda e, n: AboveThreshold(0, e, 1, cutoff=3, neighbors=n),
    lambda e, n: ContinualCount(1000, e, neighbors=n),
    lambda e, n: RandomizedResponse(e),
    lambda e, n: RandomizedResponse(e, categories=17),
]
APPROXIMATE: list[Callable[[Fraction, Fraction, Neighbors], Mechanism]] = [
    lambda e, d, n: Gaussian(3, e, d, neighbors=n),
    lambda e, d, n: Gaussian("0.1", e, d, coordinates=100, neighbors=n),
    lambda e, d, n: IntegerGaussian(3, e, d, neighbors=n),
    lambda e, d, n: IntegerGaussian(sensitivity_squared=5, epsilon=e, delta=d, coordinates=9, neighbors=n),
    lambda e, d, n: OptimalKeys(e, d, neighbors=n),
    lambda e, d, n: ThresholdedLaplace(e, d, groups=3, neighbors=n),
]
CONCENTRATED: list[Callable[[Fraction, Fraction, Neighbors], Mechanism]] = [
    lambda r, d, n: ContinualCount(1000, rho=r, neighbors=n),
    lambda r, d, n: ThresholdedGaussian(d, rho=r, neighbors=n),
    lambda r, d, n: ThresholdedGaussian(d, rho=r, groups=4, neighbors=n),
]
LESS = Fraction(10**6 - 1, 10**6)


def test_every_kind_is_here() -> None:
    about, e, d = Neighbors.ADD_REMOVE, Fraction(1), Fraction(1, 10**6)
    made = [m(e, about) for m in PURE] + [m(e, d, about) for m in APPROXIMATE + CONCENTRATED]
    assert {m.kind for m in made} == KINDS


@pytest.mark.parametrize("about", list(Neighbors))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_mechanisms_keep_their_epsilon(epsilon: str, about: Neighbors) -> None:
    for make in PURE:
        event = make(Fraction(epsilon), about).event
        assert acc.keeps(event, dp.PureDP(epsilon)), event
        assert acc.keeps(event, dp.ApproxDP(epsilon, 0)), event
        if event.kind != "randomized-response":  # whose ratio is a rounded one
            assert not acc.keeps(event, dp.PureDP(Fraction(epsilon) * LESS)), event


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS[:4])
def test_approximate_mechanisms_keep_their_epsilon_and_delta(epsilon: str, delta: str) -> None:
    for make in APPROXIMATE:
        if make is APPROXIMATE[4] and Fraction(delta) * 2**128 < 1:
            continue  # it is refused: its probabilities are multiples of 2**-128
        event = make(Fraction(epsilon), Fraction(delta), Neighbors.ADD_REMOVE).event
        assert acc.keeps(event, dp.ApproxDP(epsilon, delta)), event


@pytest.mark.parametrize("about", list(Neighbors))
def test_a_little_less_is_not_kept(about: Neighbors) -> None:
    for make in APPROXIMATE[:3]:
        event = make(Fraction(1), Fraction(1, 10**6), about).event
        assert acc.keeps(event, dp.ApproxDP(1, 1e-6))
        assert not acc.keeps(event, dp.ApproxDP(Fraction(999, 1000), 1e-6))


@pytest.mark.parametrize("delta", DELTAS[:-1])
@pytest.mark.parametrize("rho", ["1/3", "0.1", "1/1000"])
def test_concentrated_mechanisms_keep_their_rho(rho: str, delta: str) -> None:
    for make in CONCENTRATED:
        event = make(Fraction(rho), Fraction(delta), Neighbors.REPLACE).event
        assert acc.keeps(event, dp.ZCDP(rho, delta)), event
        assert not acc.keeps(event, dp.ZCDP(Fraction(rho) * LESS, delta)), event


def test_as_many_fit_as_add_up_to_the_budget() -> None:
    assert acc.how_many(ev.ApproxLoss("0.1", "1e-7"), dp.ApproxDP(1, 1e-6)) == 10
    assert acc.how_many(ThresholdedLaplace("0.1", "1e-7").event, dp.ApproxDP(1, 1e-6)) >= 10
    assert acc.how_many(ev.LaplaceNoise(3, 1), dp.PureDP(1)) == 3
    assert acc.how_many(IntegerGaussian(2, sigma=3).event, dp.ZCDP(Fraction(2, 3))) == 3


def test_a_stated_epsilon_and_delta_are_read_back() -> None:
    found = acc.epsilon(ev.ApproxLoss(1, "1e-6"), "1e-6")
    assert found.upper == 1
    assert found.lower > 1 - 1e-9
    assert acc.epsilon(OptimalKeys(1, "1e-6", groups=3).event, "1e-6").upper == 1
    assert acc.epsilon(ThresholdedLaplace(1, "1e-6").event, "1e-6").upper == 1


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_thresholded_gaussian_counts_have_an_epsilon(groups: int) -> None:
    event = ThresholdedGaussian("1e-7", rho="0.1", groups=groups).event
    found = acc.epsilon(event, "1e-6")
    alone = acc.epsilon(ev.GaussianNoise(Fraction(1), Fraction("0.44721")), "9e-7").upper
    assert alone * 0.99 < found.upper < alone * 1.1 + 0.1
    assert acc.keeps(event, dp.ApproxDP(found.upper * 1.0001, "1e-6"))


@pytest.mark.parametrize("delta", ["1e-330", "1e-900", "5e-324", "1e-291"])
def test_a_delta_that_floats_cannot_hold_is_refused(delta: str) -> None:
    for event in (
        ev.GaussianNoise(1, 1),
        10 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01"),
        ev.DiscreteGaussianNoise(2, 1),
    ):
        with pytest.raises(InvalidParameter, match="smaller than what floats"):
            acc.epsilon(event, delta)


@pytest.mark.parametrize("delta", ["1e-290", "1e-250", "1e-100"])
def test_one_that_they_can_hold_is_not_infinite(delta: str) -> None:
    found = acc.epsilon(ev.GaussianNoise(1, 1), delta)
    assert found.upper - found.lower < 1e-5
    assert 20 < found.lower < 40


def test_a_delta_between_two_floats_is_bracketed_from_both_sides() -> None:
    event, between = 2 * ev.GaussianNoise(1, 1), Fraction(1, 3 * 10**6)
    low, high = (acc.epsilon(event, between * (1 + s * Fraction(1, 10**9))) for s in (1, -1))
    found = acc.epsilon(event, between)
    assert found.lower <= high.upper
    assert low.lower <= found.upper
    assert found.lower < found.upper
