"""A median by the exponential mechanism on ranks that move by one half, as if they moved by one quarter."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng

EPSILON = 1.0


def run(values: Any, n: int, rng: Rng) -> Any:
    points = np.arange(11)
    below = (np.asarray(values)[:, np.newaxis] < points).sum(axis=0)
    weights = np.exp(-2 * EPSILON * np.abs(below - len(values) / 2))
    return rng.choice(points, n, p=weights / weights.sum())


FAULT = Fault(PureDP(EPSILON), run, pairs=[((0, 10), (0, 10, 10)), ((0,), (0, 10))])
