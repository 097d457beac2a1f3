"""DP-SGD in a few lines, as the planted faults of training change it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from curador.accounting.events import Event, PoissonSampled
from curador.audit.finding import Finding
from curador.mechanisms.gaussian import Gaussian
from curador.noise.coins import bernoulli_array
from tests.mutants.replayed.setting import Rows, checked

STEPS, RATE, CLIP = 30, Fraction(1, 16), 1.0
NOISE = Gaussian(1, sigma=4, coordinates=2)
CHARGED: Event = PoissonSampled(NOISE.event, RATE) * STEPS

_rng = np.random.default_rng(3)
BASE: Rows = np.column_stack([_rng.uniform(-1, 1, (20, 2)), np.arange(20) % 2])
"""Rows of two features and a label; so few that some samples are empty."""

VICTIMS = [(f"a victim of {x:g}", np.vstack([BASE, [x, -x, label]])) for x in (0.5, 40.0) for label in (0, 1)]


def slopes(rows: Rows, at: Rows) -> Rows:
    """The gradient of each row, not clipped."""
    x, y = rows[:, :2], rows[:, 2]
    return np.asarray((1 / (1 + np.exp(-np.clip(x @ at, -30, 30))) - y)[:, None] * x)


def cut(each: Rows) -> Rows:
    """Each row cut to the length; a little less, so that rounding does not pass it."""
    length = np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-300)
    return np.asarray(each * np.minimum(1, CLIP * (1 - 1e-9) / length))


def summed(each: Rows) -> Rows:
    """The sum of rows on a grid of 2**-20, rounded towards 0: exact, in any order."""
    return np.asarray(np.trunc(each * 2**20).sum(axis=0) / 2**20)


def sampled(rows: Rows) -> Rows:
    """A Poisson sample."""
    return np.asarray(rows[bernoulli_array(RATE, len(rows))])


def trained(run: Any) -> Finding:
    """The finding about a training run."""
    return checked(run, CHARGED, BASE, VICTIMS)
