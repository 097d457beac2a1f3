"""Figures that others have published or computed, reproduced.

Where the same formula is used, to the digits that were printed.  Where ours is another bound on the same quantity, the
bracket must hold what is known to be true and lie below what others call an upper bound.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from curador import Gaussian
from curador.accounting import account, convert, optimal, pld
from curador.accounting import calibration as calibrate
from curador.accounting import composition as compose
from curador.accounting.events import ApproxLoss, Event, GaussianNoise, LaplaceNoise, PoissonSampled, PureLoss
from curador.accounting.rules.divergences import renyi_divergence
from curador.accounting.rules.gaussian import gaussian_delta, gaussian_epsilon
from curador.accounting.rules.profiles import delta
from curador.accounting.rules.renyi import renyi, renyi_curve
from curador.numbers import Number
from curador.privacy import ApproxDP, PureDP, RenyiDP

OPACUS = (*(1 + x / 10 for x in range(1, 100)), *map(float, range(12, 64)))
GOOGLE = (*(1 + x / 10 for x in range(1, 100)), *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0)


def gaussian(sigma: Number, sensitivity: Number = 1) -> GaussianNoise:
    return GaussianNoise(sigma, sensitivity)  # type: ignore[arg-type]


def sampled(sigma: Number, rate: Number) -> PoissonSampled:
    """One step of private gradient descent."""
    return PoissonSampled(gaussian(sigma), rate)  # type: ignore[arg-type]


def by_moments(event: Event, orders: tuple[float, ...], d: Number) -> float:
    """Epsilon as the libraries compute it: the improved conversion at the best of their orders."""
    return min(convert.improved_epsilon(a, z, d) for a, z in renyi_curve(event, orders).curve)


# ---- tests of other libraries ------------------------------------------------------------------------------------


def test_opacus_moments() -> None:
    assert by_moments(2250 * sampled("1.5", "0.04"), OPACUS, "1e-5") == pytest.approx(7.32911117143, abs=1e-10)


def test_tf_privacy_moments() -> None:
    """60,000 rows in batches of 150, fifteen epochs."""
    steps = 15 * 60_000 // 150
    assert by_moments(steps * sampled("1.3", "0.0025"), GOOGLE, "1e-5") == pytest.approx(0.7242234026, abs=5e-11)


def test_dp_accounting_conversion() -> None:
    curve = dict.fromkeys(range(2, 33), 1.1)
    assert convert.renyi_epsilon(RenyiDP(curve), "1e-5").value == pytest.approx(1.32783806176, abs=5e-12)


def test_dp_accounting_sigma_by_moments() -> None:
    """Its search stops within 1e-6 of epsilon 1; at the sigma that it prints, ours is that close too."""
    assert by_moments(gaussian("4.530877117"), GOOGLE, "1e-6") == pytest.approx(1, abs=1e-6)
    assert by_moments(gaussian("4.5309"), GOOGLE, "1e-6") < 1 < by_moments(gaussian("4.5308"), GOOGLE, "1e-6")


@pytest.mark.parametrize(
    ("alpha", "value"),
    [("1.5", 1.50305526), ("2.5", 1.78011825), (5, 1.90919693), (50, 1.98145168), (100, 1.98469545)],
)
def test_dp_accounting_randomized_response_against_a_uniform_answer(alpha: Number, value: float) -> None:
    """Ten answers, p = 0.3 of the time a uniform one; a unit replaced by nobody always answers uniformly."""
    truth, lie = Fraction(7, 10) + Fraction(3, 100), Fraction(3, 100)
    assert renyi_divergence([truth] + [lie] * 9, [Fraction(1, 10)] * 10, alpha) == pytest.approx(value, abs=5e-9)


def test_dp_accounting_three_gaussians() -> None:
    bracket = pld.delta(3 * gaussian(math.sqrt(3)), 1)
    assert bracket.lower == pytest.approx(0.126936, abs=1e-6)
    assert bracket.upper == pytest.approx(0.126936, abs=1e-6)
    assert gaussian_delta(1, 1, 1) == pytest.approx(bracket.upper, rel=1e-9)


def test_dp_accounting_sampled_sigma() -> None:
    """Its search is a little above the truth, as an upper bound must be."""
    event = sampled("0.67379294682", "0.01")
    assert delta(event, 1) == pytest.approx(1e-5, rel=2e-6)
    assert delta(event, 1) <= 1e-5
    assert delta(sampled("0.6737", "0.01"), 1) > 1e-5
    bracket = pld.epsilon(event, "1e-5")
    assert bracket.lower <= 1 <= bracket.upper + 1e-6


@pytest.mark.parametrize(("d", "corner"), [("0.06", 22), ("0.1", 20)])
def test_dp_accounting_optimal_composition(d: str, corner: int) -> None:
    """Thirty (1, 0.001) promises: it prints the corner of the region, ours is the exact point left of it."""
    each = ApproxDP(1, 0.001)
    fitting = [c.epsilon for c in optimal.optimal_corners(each, 30) if c.delta <= float(d)]
    assert min(fitting) == corner
    exact = optimal.optimal_epsilon(each, 30, d)
    assert corner - 1 < exact <= corner
    bracket = pld.epsilon(30 * ApproxLoss(1, Fraction(1, 1000)), d)  # type: ignore[arg-type]
    assert bracket.lower <= exact <= bracket.upper
    assert bracket.width < 1e-4


@pytest.mark.parametrize(("alpha", "value"), [(2, "1.718134e-04"), (4, "3.631540e-04"), (10, "3.827042e-02")])
def test_autodp_sampled_gaussian(alpha: int, value: str) -> None:
    assert f"{renyi(sampled(1, '0.01'), alpha):.6e}" == value


def test_opendp_zero_concentrated() -> None:
    assert convert.zcdp_epsilon("1/32", "1e-3").value == pytest.approx(0.6880024554878086, rel=1e-12)
    assert convert.zcdp_delta("1/32", 0).value == pytest.approx(0.1508457845622862, rel=1e-12)


# ---- certified brackets, and what other accountants answer --------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "d", "low", "high", "others"),
    [
        (10_000 * sampled(1, "0.01"), "1e-5", 6.1877119, 6.1877127, (6.187745, 6.190976, 6.19804, 6.71276)),
        (100_000 * sampled(1, "0.01"), "1e-5", 25.573104, 25.573109, (25.573273, 25.58974, 27.2379)),
        (10_000 * sampled("0.8", "0.004"), "1e-5", 3.534761, 3.534822, (3.534866, 3.539399, 3.94049)),
        (10_000 * LaplaceNoise(100, 1), "1e-6", 4.876251, 4.876258, (4.885516, 4.89117, 5.21032, 6.26154, 100)),  # type: ignore[arg-type]
    ],
    ids=["sgd", "long sgd", "small sgd", "laplace"],
)
def test_brackets_hold_the_truth_and_beat_the_others(
    event: Event, d: str, low: float, high: float, others: tuple[float, ...]
) -> None:
    bracket = pld.epsilon(event, d)
    assert bracket.lower <= high
    assert low <= bracket.upper
    assert bracket.width <= 1e-4 * max(1.0, high)
    assert bracket.upper <= min(others) + 1e-4 * max(1.0, high)
    assert bracket.upper < max(others)


def test_the_central_limit_is_not_a_bound() -> None:
    """The Gaussian limit of DP-SGD, which one library offers, prints 6.00708: below what can really be lost."""
    assert pld.epsilon(10_000 * sampled(1, "0.01"), "1e-5").lower > 6.18


def test_ten_thousand_small_queries() -> None:
    loss = 10_000 * LaplaceNoise(100, 1)  # type: ignore[arg-type]
    assert account.epsilon(loss, "1e-6", "basic").upper == 100
    assert compose.advanced(PureDP(0.01), 10_000, "1e-6").epsilon == pytest.approx(6.26154, abs=5e-6)
    assert convert.zcdp_epsilon(10_000 * Fraction(1, 20_000), "1e-6").value == pytest.approx(5.22153, abs=5e-6)
    # Theirs is at a grid of orders too, a slightly worse one.
    assert account.epsilon(loss, "1e-6", "renyi").upper == pytest.approx(5.2103, abs=1e-4)
    assert optimal.optimal_epsilon(PureDP(0.01), 10_000, "1e-6") == pytest.approx(4.885516, abs=5e-7)
    worst = pld.epsilon(10_000 * PureLoss(Fraction(1, 100)), "1e-6")
    assert worst.lower <= 4.885516 <= worst.upper + 1e-6


def test_sigma_of_a_training_run() -> None:
    bracket = pld.epsilon(10_000 * sampled("3.8128", "0.01"), "1e-5", tolerance=1e-6)
    assert bracket.lower <= 1.0000063
    assert bracket.upper >= 1.0000044
    assert bracket.width < 1e-5
    found = calibrate.calibrate(Gaussian, ApproxDP(1, 1e-5), sensitivity=1, count=10_000, rate="0.01")
    assert 3.8128 < found.sigma < 3.8134  # others: 3.81324, 3.8408, 3.8559, 4.1259


@pytest.mark.parametrize(("d", "value"), [("1e-14", 7.868736), ("1e-40", 13.610921)])
def test_small_deltas_of_a_hundred_gaussians(d: str, value: float) -> None:
    exact = gaussian_epsilon(1, 1, d)
    assert exact == pytest.approx(value, abs=5e-7)
    bracket = pld.epsilon(100 * gaussian(10), d)
    assert bracket.lower <= exact <= bracket.upper
    assert bracket.width < 2e-3
