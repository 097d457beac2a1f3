"""Moments of |p/q - 1| against quadrature, and fixed-size samples of Gaussian noise against three laws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from curador import accounting as acc
from curador.accounting import events
from curador.accounting.rules.central import log_central
from curador.accounting.rules.renyi import renyi
from curador.privacy import Neighbors

ev: Any = events  # every parameter may be an int, a float, text or a fraction


@pytest.mark.parametrize("mu", ["0.05", "0.2", "0.4"])
@pytest.mark.parametrize("k", [2, 3, 4, 7, 12])
def test_central_moments_against_quadrature(mu: str, k: int) -> None:
    m = float(mu)
    z, step = np.linspace(-15, 15 + k * m, 400_001, retstep=True)
    ratio = np.expm1(m * z - m * m / 2)
    true = math.log(float(np.sum(np.abs(ratio) ** k * np.exp(-z * z / 2)) * step / math.sqrt(2 * math.pi)))
    found = log_central(ev.GaussianNoise(1, mu), k)
    assert true - 1e-9 <= found
    assert found <= true + (1e-9 if k % 2 == 0 else 0.25)  # odd ones by their neighbours
    assert log_central(2 * ev.GaussianNoise(2, mu), k) == log_central(ev.GaussianNoise(1, Fraction(mu) / 2) * 2, k)


def test_where_nothing_is_gained_nothing_is_computed() -> None:
    assert log_central(ev.LaplaceNoise(1, 1), 4) == math.inf
    assert log_central(ev.GaussianNoise(1, 1), 100) == math.inf
    assert log_central(ev.GaussianNoise(100, 1), 1000) == math.inf


@pytest.mark.parametrize("sigma", [2.0, 5.0])
@pytest.mark.parametrize("rate", [(1, 10), (1, 100)])
@pytest.mark.parametrize("alpha", [2, 3, 6, 16])
def test_no_three_laws_one_step_apart_do_worse(sigma: float, rate: tuple[int, int], alpha: int) -> None:
    """The sample has the unit or its replacement with the rate, else neither: three laws, at most one shift apart."""
    q = rate[0] / rate[1]
    bound = renyi(ev.FixedSizeSampled(ev.GaussianNoise(Fraction(sigma), 1, Neighbors.REPLACE), *rate), alpha)
    z = np.linspace(-12, 12 + alpha / sigma, 200_001)

    def law(x: float) -> Any:
        return -((z - x / sigma) ** 2) / 2

    for one, two, rest in ((1, 0, 0.5), (1, 0, 0), (0, 1, 0), (0, 1, 1), (0.5, -0.5, 0)):
        p, r = (np.logaddexp(math.log(1 - q) + law(rest), math.log(q) + law(x)) for x in (one, two))
        true = math.log(float(np.sum(np.exp(alpha * p + (1 - alpha) * r)) / np.sum(np.exp(r)))) / (alpha - 1)
        assert true <= bound * (1 + 1e-9)


def published(variance: float, q: float, alpha: int) -> float:
    """The bound that dp_accounting computes, by mpmath: four moments, or twice the curve's, for each order."""
    mp = mpmath.mp.clone()
    mp.dps = 120
    v = mp.mpf(variance)

    def b(k: int) -> Any:
        return mp.fsum((-1) ** (k - i) * mp.binomial(k, i) * mp.exp(i * (i - 1) * v / 2) for i in range(k + 1))

    total = mp.one
    for k in range(2, alpha + 1):
        pair = 4 * mp.sqrt(b(2 * (k // 2)) * b(2 * ((k + 1) // 2)))
        total += mp.binomial(alpha, k) * mp.mpf(q) ** k * min(pair, 2 * mp.exp(k * (k - 1) * v / 2))
    return float(mp.log(total) / (alpha - 1))


@pytest.mark.parametrize(("sigma", "rate"), [(5, (1, 100)), (4, (1, 100)), (10, (1, 10)), (1, (1, 100))])
def test_as_tight_as_the_published_bound(sigma: int, rate: tuple[int, int]) -> None:
    event = ev.FixedSizeSampled(ev.GaussianNoise(sigma, 1, Neighbors.REPLACE), *rate)
    for alpha in (2, 5, 20, 40):
        known = published(1 / sigma**2, rate[0] / rate[1], alpha)
        assert renyi(event, alpha) <= known * (1 + 1e-9)


def test_a_run_with_fixed_batches_is_cheaper_than_before() -> None:
    event = 500 * ev.FixedSizeSampled(ev.GaussianNoise(10, 1, Neighbors.REPLACE), 100, 1000)
    assert acc.epsilon(event, 1e-5, method="renyi").upper < 2  # 3.35 by the plain theorem
