"""Uniform noise of the variance of Laplace noise: as much noise, and no privacy at its ends."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, on_grid


def run(value: float, n: int, rng: Rng) -> Any:
    return value + on_grid(rng.uniform(-1, 1, n) * 6**0.5)


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)])
