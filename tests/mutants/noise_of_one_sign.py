"""Exponential noise, which never goes below the exact value."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, on_grid


def run(value: float, n: int, rng: Rng) -> Any:
    return value + on_grid(rng.exponential(1.0, n))


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)])
