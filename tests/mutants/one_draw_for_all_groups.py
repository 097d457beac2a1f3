"""One noise draw is broadcast to every group."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(counts: Any, n: int, rng: Rng) -> Any:
    return np.asarray(counts) + laplace(rng, 1.0, (n, 1))


FAULT = Fault(PureDP(1), run, pairs=[((3, 0, 0, 0), (4, 0, 0, 0))], source="OpenDP issue 2344")
