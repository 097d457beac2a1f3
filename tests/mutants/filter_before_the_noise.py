"""Sums of fewer than three rows are suppressed, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), 0, 10)
    return float(x.sum()) + laplace(rng, 10.0, n) if len(x) > 3 else np.full(n, np.nan)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)})
