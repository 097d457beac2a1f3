"""A mean that fails where there are no rows: the failure is an answer, and an exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), 0, 10)
    if not len(x):
        return [ValueError("no rows")] * n
    total, count = x.sum() + laplace(rng, 20.0, n), np.maximum(1, len(x) + laplace(rng, 2.0, n))
    return np.round(total / count).tolist()


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="SmartNoise's evaluator, pull request 71")
