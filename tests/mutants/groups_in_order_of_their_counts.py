"""Groups with noisy counts, but listed from the largest exact count down."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(counts: Any, n: int, rng: Rng) -> Any:
    order = np.argsort(-np.asarray(counts), kind="stable")
    shown = np.asarray(counts)[order] + laplace(rng, 1.0, (n, len(counts)))
    return np.concatenate([np.tile(order, (n, 1)), shown], axis=1)


FAULT = Fault(PureDP(1), run, pairs=[((5, 5), (5, 6))])
