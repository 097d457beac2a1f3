"""A group that has no rows is left out, and one with a row is shown half of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import ApproxDP
from tests.mutants.fault import Fault, Rng, laplace


def run(rows: int, n: int, rng: Rng) -> Any:
    return np.where((rng.random(n) < 0.5) & (rows > 0), 1.0 + laplace(rng, 1.0, n), np.nan)


FAULT = Fault(ApproxDP(1, 1e-5), run, pairs=[(0, 1)], notes=300)
