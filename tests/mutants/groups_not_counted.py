"""A unit is counted in three groups, and the noise is for one."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(counts: Any, n: int, rng: Rng) -> Any:
    return np.asarray(counts) + laplace(rng, 1.0, (n, len(counts)))


FAULT = Fault(PureDP(1), run, pairs=[((0, 0, 0), (1, 1, 1))])
