"""Running totals by a tree of which every step is in three nodes, with noise for one."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(steps: Any, n: int, rng: Rng) -> Any:
    a, b, c, d = (np.asarray(x, np.float64) for x in steps)
    noise = laplace(rng, 1.0, (n, 4))
    first, pair, third, four = a + noise[:, 0], a + b + noise[:, 1], c + noise[:, 2], a + b + c + d + noise[:, 3]
    return np.stack([first, pair, pair + third, four], axis=1)


FAULT = Fault(PureDP(1), run, pairs=[((0, 0, 0, 0), (1, 0, 0, 0))])
