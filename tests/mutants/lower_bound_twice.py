"""The sensitivity of a sum in [-1, 10] is taken from the lower bound twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), -1, 10)
    return float(x.sum()) + laplace(rng, float(max(abs(-1), abs(-1))), n)


FAULT = Fault(PureDP(1), run, columns={"x": (-1.0, 10.0)}, source="diffprivlib issue 105")
