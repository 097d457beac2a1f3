"""Sparse vector that gives the noisy value it compared, at no further cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(values: Any, n: int, rng: Rng) -> Any:
    threshold = laplace(rng, 2.0, (n, 1))
    noisy = np.asarray(values) + laplace(rng, 2.0, (n, len(values)))
    above = noisy >= threshold
    first = np.where(above.any(axis=1), above.argmax(axis=1), len(values))
    shown = np.append(noisy, np.full((n, 1), np.nan), axis=1)[np.arange(n), first]
    return np.stack([first, shown], axis=1)


FAULT = Fault(PureDP(1), run, pairs=[((0,) * 4 + (1,), (1,) * 4 + (0,))], source="Algorithm 3 of [LSL17]")
