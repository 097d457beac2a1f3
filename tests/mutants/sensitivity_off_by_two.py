"""A value in [-1, 1] may be replaced: it moves by 2, and the noise is for 1."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    return float(column(rows).sum()) + laplace(rng, 1.0, n)


FAULT = Fault(PureDP(1), run, pairs=[([{"x": -1.0}], [{"x": 1.0}])], notes=1000)
