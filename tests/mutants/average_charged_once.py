"""A noisy sum over a noisy count, each at the whole epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), 0, 10)
    return np.stack([float(x.sum()) + laplace(rng, 10.0, n), len(x) + laplace(rng, 1.0, n)], axis=1)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="smartnoise-sdk issue 202")
