"""Without declared bounds the sensitivity is 0, and so is the noise."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    bounds = None
    scale = 0.0 if bounds is None else 10.0
    return float(column(rows).sum()) + laplace(rng, scale, n)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="smartnoise-sdk issue 317")
