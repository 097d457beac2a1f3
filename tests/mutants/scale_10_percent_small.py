"""Laplace noise of a scale 10 % too small."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(value: float, n: int, rng: Rng) -> Any:
    return value + laplace(rng, 0.9, n)


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)], notes=30_000)
