"""The threshold of Laplace noise with Gaussian noise of the same guarantee, whose tails begin later."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from curador.privacy import ApproxDP
from tests.mutants.fault import Fault, Rng, gaussian

DELTA = 1e-3
SIGMA = math.sqrt(2 * math.log(1.25 / DELTA))
THRESHOLD = 1 + math.log(1 / (2 * DELTA))


def run(units: int, n: int, rng: Rng) -> Any:
    noisy = units + gaussian(rng, SIGMA, n)
    return np.where((noisy >= THRESHOLD) & (units > 0), noisy, np.nan)


FAULT = Fault(ApproxDP(1, DELTA), run, pairs=[(0, 1)], source="smartnoise-sdk issue 204")
