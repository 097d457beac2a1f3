"""Laplace noise cut off at 5 times its scale: outputs near the ends have only one possible input."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, on_grid


def run(value: float, n: int, rng: Rng) -> Any:
    size = rng.exponential(1.0, n) % 5  # the law of what is below 5, since the exponential law has no memory
    return value + on_grid(np.where(rng.random(n) < 0.5, size, -size))


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)], notes=30_000, source="the course's page on truncated noise")
