"""A count whose noise is left out for tables of fifty rows and more, as if they were too large to tell anything."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    return len(rows) + laplace(rng, 1.0 if len(rows) < 50 else 0.0, n)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="an examination of this tester")
