"""Numbers of every size in every event: a refusal in our own words, or an answer that is right."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

import curador as cu
from curador import accounting as acc
from curador.accounting import events
from curador.accounting.composition import advanced_counted
from curador.accounting.convert import optimal_delta, optimal_epsilon
from curador.accounting.rules.renyi import renyi_curve
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import ApproxDP

ev: Any = events  # every parameter may be an int, a float, text or a fraction
SIZES: list[Any] = [1, "1e400", "1e-400", 10**400, "1e100", "1e-100", 2**63, 10**200]
SHAPES: list[Any] = [
    (ev.LaplaceNoise, 2),
    (ev.DiscreteLaplaceNoise, 2),
    (ev.GaussianNoise, 2),
    (ev.DiscreteGaussianNoise, 2),
    (ev.TruncatedLaplaceNoise, 3),
    (ev.ExponentialChoice, 1),
    (ev.RandomizedAnswer, 2),
    (ev.PureLoss, 1),
    (ev.ApproxLoss, 2),
    (ev.ZCDPLoss, 1),
]
ASKED: list[Any] = [
    lambda e: acc.epsilon(e, 1e-6),
    lambda e: acc.delta(e, 1),
    lambda e: acc.renyi(e, 2),
    lambda e: acc.keeps(e, cu.ApproxDP(1, 1e-6)),
    lambda e: acc.epsilon(ev.PoissonSampled(e, "0.5"), 1e-6),
    lambda e: acc.pld.IncrementalPLD().add(e, 3).epsilon(),
    lambda e: acc.event_from_json(e.to_json()),
]
MADE: list[Any] = [lambda e: e, lambda e: ev.PoissonSampled(e, "0.5"), lambda e: ev.FixedSizeSampled(e, 1, 10)]


@pytest.mark.thin(5)
@pytest.mark.parametrize(("shape", "numbers"), SHAPES)
def test_an_event_of_any_size_is_answered_or_refused(shape: Any, numbers: int) -> None:
    made = []
    for sizes in itertools.product(SIZES, repeat=numbers):
        try:
            made.append(shape(*sizes))
        except CuradorError:
            continue
    assert made
    for event in made[:: 1 + len(made) // 4]:
        for ask in ASKED:
            try:
                ask(event)
            except CuradorError:
                continue


@pytest.mark.parametrize("size", [10**20, 10**40, 10**100])
def test_integer_noise_of_many_steps_is_nearly_continuous(size: int) -> None:
    """Beyond 2**63 steps sampling it was an error of NumPy's, beyond 10**308 each question of ours one of Python's."""
    for fine, smooth in (
        (ev.DiscreteLaplaceNoise(size, size), ev.LaplaceNoise(1, 1)),
        (ev.DiscreteGaussianNoise(size**2, size**2), ev.GaussianNoise(1, 1)),
    ):
        for made in MADE:
            found, known = acc.epsilon(made(fine), 1e-6), acc.epsilon(made(smooth), 1e-6)
            assert found.lower <= known.upper * (1 + 1e-9)
            assert known.lower * (1 - 1e-9) <= found.upper < known.upper * 1.001
    with pytest.raises(CuradorError, match="1e100 steps"):
        ev.DiscreteLaplaceNoise("1e400", 10**400)
    with pytest.raises(CuradorError, match="1e100 steps"):
        ev.DiscreteGaussianNoise("1e201", 10**201)


def test_a_gaussian_for_an_epsilon_beyond_all_sense_keeps_it() -> None:
    for epsilon in (2**60, 2**64):
        mechanism = cu.Gaussian(1, epsilon, "1e-100")
        assert acc.keeps(mechanism.event, cu.ApproxDP(epsilon, 1e-100))
        assert float(mechanism.sigma) == pytest.approx((2 * epsilon) ** -0.5, rel=1e-6)


@pytest.mark.parametrize("digits", [17, 20, 60, 61, 100])
def test_orders_next_to_one_have_their_numbers(digits: int) -> None:
    """Or are refused where no double says them; before, raw errors."""
    order = 1 + Fraction(1, 10**digits)
    assert optimal_delta(order, "0.1", "0.01") <= 1
    assert optimal_epsilon(order, "0.1", "0.01") > 10 ** (digits - 1)
    with pytest.raises(InvalidParameter):
        renyi_curve(2 * cu.Laplace(1, 1).event, [order])


def test_chances_of_1e_60_add_up_however_small_they_are() -> None:
    for delta, count in (("4e-61", 10**60), ("3e-56", 10**55), ("1e-99", 10**99)):
        said = advanced_counted([(ApproxDP(0, float(delta)), count)], "1e-6").delta
        assert said >= -math.expm1(-float(Fraction(delta) * count)) * (1 - 1e-12)
        assert said <= float(Fraction(delta) * count) + 2e-6


def test_counts_that_no_double_holds_are_refused() -> None:
    for count in (10**101, 10**309):
        with pytest.raises(InvalidParameter, match="count this large"):
            count * cu.Laplace(1, 1).event
        with pytest.raises(InvalidParameter, match="count this large"):
            advanced_counted([(ApproxDP(1, 0), count)], "1e-6")
    assert acc.epsilon(10**100 * cu.Laplace(1, "0.1").event, 1e-6, method="advanced").upper > 1e90
    product = 10**90 * (10**90 * cu.Laplace(1, 1).event)
    for what in (lambda: hash(product), lambda: events.Composed(((cu.Laplace(1, 1).event, 10**400),))):
        with pytest.raises(InvalidParameter, match="count this large"):
            what()
