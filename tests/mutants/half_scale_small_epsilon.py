"""Laplace noise of half the right scale at an epsilon of 0.1, where there is much noise to look through."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(value: float, n: int, rng: Rng) -> Any:
    return value + laplace(rng, 5.0, n)


FAULT = Fault(PureDP(0.1), run, pairs=[(0.0, 1.0)], notes=30_000)
