"""Steps of least squares: each row's part is within the length the noise is for, whatever the weights and the map."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.accounting.calibration import keeps
from curador.accounting.events import Composed, GaussianNoise
from curador.learn.descent.whitened import STEEPEST, caps
from curador.learn.rows.encoding import SCALE
from curador.learn.sums.residuals import (
    FromConstant,
    Residuals,
    corrected,
    damped,
    from_constant,
    kept,
    pulls,
    residual_deviation,
    weights_of,
)
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP
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


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("guarantee", [ApproxDP(1, 1e-5), ZCDP(10), PureDP(1)])
def test_what_follows_the_mean_costs_what_was_charged(guarantee: Guarantee, neighbors: Neighbors) -> None:
    """The mean again, or moments and however many steps: no more than the one release that is charged for them."""
    settings = from_constant(guarantee, 2, neighbors)
    event = settings.event(MIXED)
    assert keeps(event, guarantee)
    assert not keeps(replace(settings, budget=settings.budget * Fraction(101, 100)).event(MIXED), guarantee)
    assert isinstance(event, Composed)
    if isinstance(guarantee, PureDP):
        assert settings.budget * settings.first + settings.rest == 1
        for one in (settings.mean(settings.rest), settings.moments(MIXED).noise):
            assert isinstance(one, Laplace)
            assert one.event.sensitivity / one.event.scale <= settings.rest
        return
    ((charged, _),) = (part for part in event.parts if part[0] != settings.begin.event)
    assert isinstance(charged, GaussianNoise)

    def cost(one: Gaussian | Laplace) -> Fraction:
        assert isinstance(one, Gaussian)
        return (one.event.sensitivity / one.event.sigma) ** 2

    again = settings.mean(settings.rest)
    assert cost(again) <= (charged.sensitivity / charged.sigma) ** 2
    for steps in range(1, settings.steps + 1):
        all_steps = steps * cost(settings.along(steps).gradients(MIXED))
        assert cost(settings.moments(MIXED).noise) + all_steps <= (charged.sensitivity / charged.sigma) ** 2


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_counts_and_labels_move_by_no_more_than_is_said(neighbors: Neighbors) -> None:
    ends = [np.array([SCALE, y]) for y in (-SCALE, 0, SCALE)]
    for pure in (True, False):
        told = FromConstant(Fraction(1), pure, copies=3, neighbors=neighbors).mean(Fraction(1)).sensitivity
        worst = 0.0
        for one, other in itertools.product(ends, repeat=2):
            moved = 3 * one - (3 * other if neighbors is Neighbors.REPLACE else 0)
            alone = 3 * one  # a unit of no rows is one, too
            for each in (moved, alone):
                worst = max(worst, float(np.abs(each).sum() if pure else np.linalg.norm(each)))
        assert worst <= float(told) * (1 + 1e-12)
        assert worst > float(told) / 2 - 1e-9


def test_what_noise_alone_makes_is_left_out() -> None:
    some = np.random.default_rng(2).normal(0, 3, 200_000)
    for part in (0.5, 0.01, 1e-4):
        left = kept(some, 3, np.ones(len(some)), part * 9 * len(some))
        assert (left**2).mean() / 9 == pytest.approx(part, rel=0.3)
    assert (kept(some, 3, np.ones(len(some)), 10.0 * len(some)) == some).all()
    strong = np.array([100.0, -50.0])
    assert kept(strong, 1, np.ones(2), 1e-6) == pytest.approx(strong, rel=0.02)
