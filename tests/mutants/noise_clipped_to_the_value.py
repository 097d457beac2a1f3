"""Negative noise is dropped, so that a count never shrinks: an atom at the exact value."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(value: float, n: int, rng: Rng) -> Any:
    return value + np.maximum(laplace(rng, 1.0, n), 0.0)


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)])
