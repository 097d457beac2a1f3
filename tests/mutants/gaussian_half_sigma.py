"""Gaussian noise of half the deviation that the classic formula asks for, at a delta of 1e-5."""

from __future__ import annotations

import math
from typing import Any

from curador.privacy import ApproxDP
from tests.mutants.fault import Fault, Rng, gaussian

SIGMA = math.sqrt(2 * math.log(1.25e5))


def run(value: float, n: int, rng: Rng) -> Any:
    return value + gaussian(rng, SIGMA / 2, n)


FAULT = Fault(ApproxDP(1, 1e-5), run, pairs=[(0.0, 1.0)], notes=1_000_000)
