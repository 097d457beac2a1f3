"""NumPy's Gaussian noise added to a double: the lowest bits of the sum tell the exact value."""

from __future__ import annotations

from typing import Any

from curador.privacy import ZCDP
from tests.mutants.fault import Fault, Rng


def run(value: float, n: int, rng: Rng) -> Any:
    return value + rng.normal(0.0, 1.0, n)


FAULT = Fault(ZCDP(0.5), run, pairs=[(0.0, 1.0)], source="arXiv 2112.05307")
