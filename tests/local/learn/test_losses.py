"""Slopes and gradients against finite differences, the definition of a subgradient, and high precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from curador.local.learn.losses import Hinge, Logistic, Loss, Squared, chance
from tests.local.learn.people import Floats

LOSSES = [Squared(), Logistic(), Hinge()]
SCORES = np.array([-30.0, -3.0, -1.0, -0.7, 0.0, 0.4, 1.0, 2.0, 40.0])


def agrees(loss: Loss) -> bool:
    """Whether the gradient is the slope of the loss along every coordinate, away from the hinge's corner."""
    rng = np.random.default_rng(3)
    rows, beta = rng.uniform(-1, 1, (40, 3)), rng.normal(0, 1, 3)
    for y in (np.ones(40), -np.ones(40)):
        found = loss.gradients(beta, rows, y)
        smooth = np.abs(1 - y * (rows @ beta)) > 1e-3
        for j, unit in enumerate(np.eye(3)):
            h = 1e-5
            rise = (loss.value(rows @ (beta + h * unit), y) - loss.value(rows @ (beta - h * unit), y)) / (2 * h)
            if np.abs(rise - found[:, j])[smooth].max() > 1e-7:
                return False
    return True


class Halved(Squared):
    """A gradient that forgot its factor 2."""

    def slope(self, scores: Floats, answers: Floats) -> Floats:
        return scores - answers


class Uphill(Logistic):
    """A gradient with the wrong sign."""

    def slope(self, scores: Floats, answers: Floats) -> Floats:
        return -super().slope(scores, answers)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_the_slopes_of_the_loss(loss: Loss) -> None:
    assert agrees(loss)


@pytest.mark.parametrize("wrong", [Halved(), Uphill()])
def test_wrong_gradients_are_seen(wrong: Loss) -> None:
    assert not agrees(wrong)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_every_slope_is_a_subgradient(loss: Loss, y: float) -> None:
    """The loss lies above its tangents, at the corner too: L(b) >= L(a) + slope(a) (b - a)."""
    a, b = (grid.ravel() for grid in np.meshgrid(SCORES, SCORES))
    told = np.full(a.size, y)
    gap = loss.value(b, told) - loss.value(a, told) - loss.slope(a, told) * (b - a)
    assert gap.min() > -1e-12


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_logistic_loss_to_high_precision(y: float) -> None:
    loss, told = Logistic(), np.full(SCORES.size, y)
    with mpmath.workdps(50):
        for score, value, slope in zip(SCORES, loss.value(SCORES, told), loss.slope(SCORES, told), strict=True):
            z = mpmath.mpf(-y * score)
            assert value == pytest.approx(float(mpmath.log1p(mpmath.exp(z))), rel=1e-14)
            assert slope == pytest.approx(float(-y / (1 + mpmath.exp(-z))), rel=1e-14)


def test_nothing_overflows() -> None:
    far = np.array([-1e308, -750.0, 750.0, 1e308])
    assert chance(far).tolist() == pytest.approx([0, 0, 1, 1], abs=1e-300)
    assert np.isfinite(Logistic().slope(far, np.ones(4))).all()
    assert Hinge().slope(far, np.ones(4)).tolist() == [-1, -1, 0, 0]


def test_classifiers_never_need_clipping() -> None:
    """With rows between -1 and 1 every coordinate lies there too, wherever beta is."""
    rng = np.random.default_rng(4)
    rows, y = rng.uniform(-1, 1, (200, 5)), rng.choice([-1.0, 1.0], 200)
    for loss in (Logistic(), Hinge()):
        assert np.abs(loss.gradients(rng.normal(0, 10, 5), rows, y)).max() <= 1
