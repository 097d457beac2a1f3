"""The variance is passed where the deviation belongs: below 1 it is the smaller of the two."""

from __future__ import annotations

from typing import Any

from curador.privacy import ZCDP
from tests.mutants.fault import Fault, Rng, gaussian

SIGMA = 0.5  # for rho = 2


def run(value: float, n: int, rng: Rng) -> Any:
    return value + gaussian(rng, SIGMA**2, n)


FAULT = Fault(ZCDP(2), run, pairs=[(0.0, 1.0)], source="smartnoise-core issue 316")
