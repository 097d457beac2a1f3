"""NumPy's Laplace noise added to a double: the lowest bits of the sum tell the exact value."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng


def run(value: float, n: int, rng: Rng) -> Any:
    return value + rng.laplace(0.0, 1.0, n)


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)], notes=10_000, source="[Mir12]")
