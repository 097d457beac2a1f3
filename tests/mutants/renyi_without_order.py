"""The Rényi loss of Gaussian noise stated without its order: right at order 1 alone."""

from __future__ import annotations

from typing import Any

from curador.privacy import RenyiDP
from tests.mutants.fault import Fault, Rng, gaussian


def run(value: float, n: int, rng: Rng) -> Any:
    return value + gaussian(rng, 1.0, n)


FAULT = Fault(RenyiDP({4: 0.5, 16: 0.5}), run, pairs=[(0.0, 1.0)])
