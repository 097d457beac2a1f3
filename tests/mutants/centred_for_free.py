"""Values are centred at their exact mean before a noisy sum of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace, on_grid


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), 0, 10)
    centred = x - x.mean() if len(x) else x
    return on_grid(float((centred**2).sum()) + laplace(rng, 25.0, n))


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="diffprivlib issue 104")
