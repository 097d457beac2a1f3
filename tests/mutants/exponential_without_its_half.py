"""The exponential mechanism with weights exp(epsilon score), without the half."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng


def run(scores: Any, n: int, rng: Rng) -> Any:
    weights = np.exp(np.asarray(scores, np.float64))
    return rng.choice(len(scores), n, p=weights / weights.sum())


FAULT = Fault(PureDP(1), run, pairs=[((0, 0, 0, 0), (1, -1, -1, -1)), ((-4, 0, 0, 0), (-3, -1, -1, -1))])
