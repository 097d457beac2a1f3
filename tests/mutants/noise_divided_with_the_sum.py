"""A mean whose noise is divided by the exact number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace, on_grid


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), 0, 10)
    return on_grid((float(x.sum()) + laplace(rng, 10.0, n)) / max(1, len(x)))


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)})
