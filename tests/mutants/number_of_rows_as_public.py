"""A mean with the noise that is right if everybody knows how many rows there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace, on_grid


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = np.clip(column(rows), 0, 10)
    return on_grid((float(x.mean()) if len(x) else 5.0) + laplace(rng, 10.0 / max(1, len(x)), n))


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="smartnoise-core issue 356")
