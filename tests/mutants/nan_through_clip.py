"""NaN passes the clip, and the sum with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    return float(np.clip(column(rows), 0, 10).sum()) + laplace(rng, 10.0, n)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, hostile=True, source="Re:cord-play; diffprivlib")
