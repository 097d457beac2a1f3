"""Laplace noise of half the right scale."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(value: float, n: int, rng: Rng) -> Any:
    return value + laplace(rng, 0.5, n)


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)], notes=1_000)
