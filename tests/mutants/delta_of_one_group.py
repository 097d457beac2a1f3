"""A unit may join ten groups, and the threshold gives each of them the whole delta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from curador.privacy import ApproxDP
from tests.mutants.fault import Fault, Rng, laplace

DELTA = 0.01
THRESHOLD = 1 + 10 * math.log(1 / (2 * DELTA))


def run(units: Any, n: int, rng: Rng) -> Any:
    exact = np.asarray(units)
    noisy = exact + laplace(rng, 10.0, (n, len(units)))
    return np.where((noisy >= THRESHOLD) & (exact > 0), noisy, np.nan)


FAULT = Fault(ApproxDP(1, DELTA), run, pairs=[((0,) * 10, (1,) * 10)])
