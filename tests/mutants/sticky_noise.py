"""The same question always gets the same noise, seeded by the question: two tables give two constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(value: float, n: int, rng: Rng) -> Any:
    return np.full(n, value + float(laplace(np.random.default_rng(7), 1.0, 1)[0]))


FAULT = Fault(PureDP(1), run, pairs=[(0.0, 1.0)], source="arXiv 1804.06752, Diffix")
