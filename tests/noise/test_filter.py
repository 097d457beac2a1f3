"""The float filter: an exponential that is off by less than it assumes must not change a single sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    Entropy,
    RoundedGaussian,
    RoundedLaplace,
    bernoulli_exp_array,
    choose,
)
from curador.noise.arrays import EXP_ERROR
from tests.exact import Stream

COUNT = 200_000
GAPS = np.arange(64)
COINS = np.arange(COUNT) % 97

SAMPLERS: dict[str, Callable[[Entropy], NDArray[np.generic]]] = {
    "laplace, 32-bit words": lambda e: DiscreteLaplace(Fraction(1000)).sample(COUNT, e),
    "laplace, 64-bit words": lambda e: DiscreteLaplace(Fraction(1 << 30)).sample(COUNT, e),
    "laplace, rounded": lambda e: RoundedLaplace(Fraction(1 << 40)).sample(COUNT, e),
    "gaussian, 32-bit words": lambda e: DiscreteGaussian(Fraction(10**8)).sample(COUNT, e),
    "gaussian, 64-bit words": lambda e: DiscreteGaussian(Fraction(1 << 60)).sample(COUNT, e),
    "gaussian, rounded": lambda e: RoundedGaussian(Fraction(1 << 80)).sample(COUNT, e),
    "coins": lambda e: bernoulli_exp_array(COINS, Fraction(1, 40), e),
    "choices": lambda e: np.array([choose(GAPS, Fraction(1, 20), entropy=e) for _ in range(8_000)]),
}
samplers = pytest.mark.parametrize("name", SAMPLERS)

true_exp = np.exp


def perturbed(relative: float, seed: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """An exponential with a relative error of exactly plus or minus this, the sign drawn anew for every value."""
    signs = Stream(seed)

    def exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
        sign = 1.0 - 2.0 * (signs.words(x.size, np.uint16) & 1).reshape(x.shape)
        return np.asarray(true_exp(x) * (1 + relative * sign))

    return exp


@samplers
@pytest.mark.parametrize("seed", [1, 2])
def test_an_inexact_exponential_changes_nothing(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With errors of 2**-41, a thousand times what libraries promise, every sample is the same for the same bits."""
    before = SAMPLERS[name](Stream(seed))
    monkeypatch.setattr(np, "exp", perturbed(2.0**-41, seed))
    assert np.array_equal(SAMPLERS[name](Stream(seed)), before)


@samplers
def test_a_wrong_exponential_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: errors of 2**-12, beyond what the filter assumes, do change samples; so the filter does decide."""
    before = SAMPLERS[name](Stream(1))
    monkeypatch.setattr(np, "exp", perturbed(2.0**-12, 1))
    assert not np.array_equal(SAMPLERS[name](Stream(1)), before)


def test_numpy_keeps_the_assumption() -> None:
    """numpy.exp here, against the standard library, is within 2**-50 relative: far inside the assumed bound."""
    x = -np.linspace(0, 40, 100_001)
    true = np.array([math.exp(v) for v in x])
    assert np.abs(np.exp(x) / true - 1).max() < 2.0**-50 < EXP_ERROR / 1000
