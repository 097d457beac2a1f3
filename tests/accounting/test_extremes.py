"""Numbers of every size in every event: a refusal in our own words, or an answer that is right."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import curador as cu
from curador import accounting as acc
from curador.accounting import events
from curador.errors import CuradorError

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
