"""The width of the data sets the noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = column(rows)
    width = float(np.abs(x).max()) if len(x) else 0.0
    return float(x.sum()) + laplace(rng, width, n)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="diffprivlib issue 20")
