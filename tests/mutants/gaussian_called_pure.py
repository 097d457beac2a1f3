"""Gaussian noise sold as an epsilon without a delta."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, gaussian


def run(value: float, n: int, rng: Rng) -> Any:
    return value + gaussian(rng, 1.0, n)


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)])
