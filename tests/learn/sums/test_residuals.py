"""Steps of least squares: each row's part is within the length the noise is for, whatever the weights and the map."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.accounting.events import Composed
from curador.learn.descent.whitened import STEEPEST, caps
from curador.learn.rows.encoding import SCALE
from curador.learn.sums.residuals import Residuals, corrected, damped, pulls, residual_deviation, weights_of
from curador.mechanisms.gaussian import Gaussian
from curador.privacy import Neighbors
from tests.learn.sums.rows import MIXED, length, made_up, single

ROWS = made_up(120, 7)
LABELS = np.random.default_rng(8).integers(-SCALE, SCALE + 1, 120)
SETTINGS = Residuals(Fraction(1))


def longest(cut: bool, seed: int) -> float:
    """The longest part of any row, for weights and a map at random."""
    some = np.random.default_rng(seed)
    weights = some.normal(0, 10.0 ** some.integers(-1, 4), MIXED.width)
    made = some.integers(-(1 << int(some.integers(6, 20))), 1 << 16, (MIXED.width, MIXED.width))
    most = caps(ROWS, made, SETTINGS.length(MIXED)) if cut else np.full(len(ROWS), STEEPEST, np.int32)
    unit = 2.0 ** some.integers(8, 24)
    return max(
        length(pulls(single(ROWS, i), LABELS[i : i + 1], weights, made, most[i : i + 1], unit))
        for i in range(len(ROWS))
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_row_moves_a_step_within_its_length(seed: int) -> None:
    assert longest(True, seed) <= SETTINGS.length(MIXED)


def test_without_cutting_it_would_not() -> None:
    assert max(longest(False, seed) for seed in range(6)) > SETTINGS.length(MIXED)


def test_the_sum_of_all_is_the_sum_of_each_and_caps_are_the_rows_own() -> None:
    made = np.random.default_rng(9).integers(-5000, 5000, (MIXED.width, MIXED.width))
    weights = np.linspace(-3, 2, MIXED.width)
    most = caps(ROWS, made, SETTINGS.length(MIXED))
    each = [
        pulls(
            single(ROWS, i), LABELS[i : i + 1], weights, made, caps(single(ROWS, i), made, SETTINGS.length(MIXED)), 4e3
        )
        for i in range(len(ROWS))
    ]
    assert (pulls(ROWS, LABELS, weights, made, most, 4e3) == sum(each)).all()


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("copies", [1, 3])
def test_all_costs_add_up_to_mu(neighbors: Neighbors, copies: int) -> None:
    settings = Residuals(Fraction(1, 5), copies=copies, neighbors=neighbors)
    noises = [settings.moments(MIXED).noise, *[settings.gradients(MIXED)] * settings.steps]
    squared = sum((noise.event.sensitivity / noise.event.sigma) ** 2 for noise in noises)
    assert 0.999 < float(squared) * 25 <= 1
    assert noises[1].sensitivity == settings.length(MIXED) * copies * (1 if neighbors is Neighbors.ADD_REMOVE else 2)
    assert isinstance(settings.event(MIXED), Composed)


def test_with_hardly_any_noise_it_is_least_squares() -> None:
    rows = made_up(400, 10)
    dense = np.concatenate([block for _, block in rows.blocks()]) / SCALE
    labels = np.rint(SCALE * (dense @ [0.3, -0.2, 0.1, 0, 0.05, 0.1])).astype(np.int64)
    settings = Residuals(Fraction(10**6), steps=12)
    found = corrected(rows, labels, settings)
    kept = (found.moments, found.at, found.step, damped(float(settings.moments(MIXED).noise.sigma), 0.3, MIXED.width))
    weights = weights_of(*kept, 0.0)
    assert np.abs(dense @ weights - labels / SCALE).max() < 0.01
    penalty = weights_of(*kept, 1e9)
    assert np.abs(penalty[:-1]).max() < 1e-3 < np.abs(weights[:-1]).max()


def test_residuals_are_never_thought_smaller_than_noise_allows() -> None:
    exact = np.diag([100.0, 100.0, 1.0]) * SCALE**2
    assert residual_deviation(exact, np.zeros(2), 0.0) == pytest.approx(0.1)
    assert residual_deviation(exact, np.zeros(2), 4.0 * SCALE**2) == pytest.approx(0.2)
    assert residual_deviation(-exact, np.ones(2), 0.0) == 1 / SCALE


def test_every_sum_is_released_with_the_noise_that_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moments once, on the diagonal and above it, then one sum for each step: nothing else is read."""
    drawn = []
    release = Gaussian.release

    def counted(self: Gaussian, value: Any, **settings: Any) -> Any:
        drawn.append((self.sigma, np.size(value)))
        return release(self, value, **settings)

    monkeypatch.setattr(Gaussian, "release", counted)
    settings = Residuals(Fraction(1, 4), steps=3)
    corrected(ROWS, LABELS, settings)
    moments, step = settings.moments(MIXED).noise.sigma, settings.gradients(MIXED).sigma
    d = MIXED.width
    assert [size for _, size in drawn] == [d + 1, d * (d + 1) // 2, d, d, d]
    assert drawn[0][0] == moments
    assert float(drawn[1][0]) == pytest.approx(float(moments) / 2**0.5)
    assert drawn[1][0] ** 2 >= moments**2 / 2
    assert {sigma for sigma, _ in drawn[2:]} == {step}
