"""The law of a weighted sum of sums of noises: between points worked out, a little above, never below."""

from __future__ import annotations

import numpy as np
import pytest

from curador.mechanisms.gaussian import IntegerGaussian
from curador.mechanisms.intervals import NoiseSum, repeated, repeated_error
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates.ratios import SumsTest

LAPLACE = (
    NoiseSum(((1.0, IntegerLaplace(500_000, 1), 20),)),
    NoiseSum(((1.0, IntegerLaplace(10_000, 1), 20),)),
    NoiseSum(((0.5, IntegerLaplace(200, 1), 40),)),
)
GAUSS = (
    NoiseSum(((1.0, IntegerGaussian(sigma=500_000, sensitivity=1), 20),)),
    NoiseSum(((1.0, IntegerGaussian(sigma=10_000, sensitivity=1), 20),)),
    NoiseSum(((0.5, IntegerGaussian(sigma=200, sensitivity=1), 40),)),
)
MOST = (1.0, 100.0, 5000.0)


@pytest.mark.parametrize("noises", [LAPLACE, GAUSS], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("miss", [0.05, 0.001])
def test_a_sum_of_sums_is_kept_up_to_its_error_and_little_beyond(
    noises: tuple[NoiseSum, NoiseSum, NoiseSum], miss: float
) -> None:
    test = SumsTest(noises, MOST, miss)
    rng = np.random.default_rng(5)
    weights = [np.ones(60), rng.uniform(0, MOST[1], 60), rng.uniform(0, MOST[2], 60)]
    weights[1][:3], weights[2][1:4] = (0, MOST[1], 0), (0, MOST[2], 0)
    errors = [
        repeated_error(repeated(list(zip(each, noises, strict=True))), 1 - miss)
        for each in zip(*(w.tolist() for w in weights), strict=True)
    ]
    # Steps of integers are small here; what they add, at small scales, is another matter.
    assert test.keeps(np.array(errors) * 0.985, weights).all()
    assert not test.keeps(np.array(errors) * 1.03, weights).any()


def test_what_was_moved_to_a_grid_is_added() -> None:
    moved = tuple(NoiseSum(noise.terms, rounded=7.0) for noise in LAPLACE)
    weights = [np.ones(1), np.full(1, 20.0), np.full(1, 300.0)]
    low, high = 0.0, 1e9
    for _ in range(60):
        middle = (low + high) / 2
        kept = bool(SumsTest(LAPLACE, MOST, 0.05).keeps(np.array([middle]), weights)[0])
        low, high = (middle, high) if kept else (low, middle)
    assert SumsTest(moved, MOST, 0.05).keeps(np.array([low + 0.99 * 7 * 321]), weights).all()
    assert not SumsTest(moved, MOST, 0.05).keeps(np.array([high + 1.01 * 7 * 321]), weights).any()
