"""Parameters of every size in every mechanism: refused in our own words when it is made, or all of it works."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import curador as cu
from curador.errors import CuradorError, InvalidParameter

SIZES: list[Any] = [1, "1e400", "1e-400", 10**400, "1e100", "1e-100", "1e308", 2**63, "1e-12", 1e300]
SHAPES: list[Any] = [
    (lambda a, b: cu.Laplace(a, b), 2),
    (lambda a, b: cu.Laplace(a, scale=b), 2),
    (lambda a, b: cu.IntegerLaplace(a, b), 2),
    (lambda a, b: cu.IntegerLaplace(a, scale=b), 2),
    (lambda a, b, c: cu.Gaussian(a, b, c), 3),
    (lambda a, b: cu.Gaussian(a, sigma=b), 2),
    (lambda a, b: cu.IntegerGaussian(a, sigma=b), 2),
    (lambda a, b: cu.IntegerGaussian(a, b, "1e-6"), 2),
    (lambda a: cu.RandomizedResponse(a), 1),
    (lambda a, b: cu.ExponentialMechanism(a, b), 2),
    (lambda a, b: cu.PermuteAndFlip(a, b), 2),
    (lambda a, b: cu.ReportNoisyMax(a, b), 2),
    (lambda a, b: cu.AboveThreshold(1, a, 1, cutoff=b), 2),
    (lambda a, b: cu.AboveThreshold(a, 1, b), 2),
    (lambda a, b: cu.ContinualCount(8, a, sensitivity=b), 2),
    (lambda a: cu.ContinualCount(8, rho=a), 1),
]


@pytest.mark.parametrize(("make", "numbers"), SHAPES)
def test_a_mechanism_that_is_made_has_an_event_an_error_and_a_variance(make: Any, numbers: int) -> None:
    """Among what was made and failed later: errors of integer noise, variances, cutoffs, and 2**64 as an epsilon."""
    made = []
    for sizes in itertools.product(SIZES, repeat=numbers):
        try:
            made.append(make(*sizes))
        except CuradorError:
            continue
    assert made
    for mechanism in made[:: 1 + len(made) // 20]:
        assert mechanism.event is not None
        for name in ("error", "variance"):
            value = getattr(mechanism, name, 0.0)
            if callable(value):
                try:
                    value = value(0.95)
                except CuradorError:
                    continue
            if isinstance(value, float):
                assert value >= 0
                assert not math.isnan(value)


NEAR: list[Any] = [Fraction(10**20 - 1, 10**20), "0.99999999999999999999", "1e-400", 1e-300, 5e-324]
SHORT: Any = np.float32(3)
ERRORS: list[Any] = [
    (lambda c: cu.Laplace(1, 1).error(c)),
    (lambda c: cu.Laplace(1, 1).interval(SHORT, c)),
    (lambda c: cu.IntegerLaplace(1, 1).error(c)),
    (lambda c: cu.Gaussian(1, sigma=1).error(c)),
    (lambda c: cu.IntegerGaussian(1, sigma=100).error(c)),
    (lambda c: cu.ExponentialMechanism(1, 1).error(10, c)),
    (lambda c: cu.PermuteAndFlip(1, 1).error(10, c)),
    (lambda c: cu.ReportNoisyMax(1, 1).error(10, c)),
    (lambda c: cu.TopK(3, 1, 1).error(10, c)),
    (lambda c: cu.AboveThreshold(0, 1, 1).error(10, c)),
    (lambda c: cu.ContinualCount(1000, 1).error(c)),
    (lambda c: cu.ContinualCount(1000, rho=1).error(c)),
    (lambda c: cu.Quantiles.median(0, 9, epsilon=1).error(c)),
    (lambda c: cu.OptimalKeys(1, 1e-6).least(c)),
    (lambda c: cu.ThresholdedLaplace(1, 1e-6).least(c)),
    (lambda c: cu.ThresholdedGaussian(1e-6, sigma=4).least(c)),
    (lambda c: cu.ThresholdedLaplace(1, 1e-6).interval([20], c)),
]


@pytest.mark.parametrize("error", ERRORS)
def test_a_confidence_that_no_double_tells_from_0_or_1_is_refused(error: Any) -> None:
    """Of a threshold, the least count for it was looked for without end; others failed in words that are not ours."""
    for confidence in NEAR:
        with pytest.raises(InvalidParameter, match="No double tells"):
            error(confidence)
    for confidence in (1 - 2.0**-53, 2.0**-53):
        error(confidence)
