"""Noise on a coarse grid is added to the exact value: the fraction of the sum is the value's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng


def run(value: float, n: int, rng: Rng) -> Any:
    return value + np.round(rng.laplace(0.0, 8.0, n))


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 0.25)])
