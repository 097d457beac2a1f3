"""A count in which rows between the bounds count three times, and the noise is for one."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, column, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    x = column(rows)
    return len(x) + 2 * float(((x > 2) & (x < 8)).sum()) + laplace(rng, 1.0, n)


FAULT = Fault(PureDP(1), run, columns={"x": (0.0, 10.0)}, source="an examination of this tester")
