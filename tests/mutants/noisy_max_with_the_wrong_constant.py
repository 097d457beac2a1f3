"""Report noisy max with exponential noise of scale 1/epsilon where scores may move both ways, which takes 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, on_grid


def run(scores: Any, n: int, rng: Rng) -> Any:
    return (np.asarray(scores) + on_grid(rng.exponential(1.0, (n, len(scores))))).argmax(axis=1)


FAULT = Fault(PureDP(1), run, pairs=[((0, 0, 0, 0), (1, -1, -1, -1)), ((-4, 0, 0, 0), (-3, -1, -1, -1))])
