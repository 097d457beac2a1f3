"""Values are clipped into a copy, and the sum is that of the originals."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = column(rows)
    np.clip(x, 0, 10)
    return float(x.sum()) + laplace(rng, 10.0, n)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, hostile=True, source="smartnoise-sdk issue 622")
