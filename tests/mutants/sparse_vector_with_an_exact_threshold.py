"""Sparse vector without noise on the threshold, as if answers below it were free."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(values: Any, n: int, rng: Rng) -> Any:
    above = np.asarray(values) + laplace(rng, 1.0, (n, len(values))) >= 1.0
    return np.where(above.any(axis=1), above.argmax(axis=1), len(values))


FAULT = Fault(PureDP(1), run, pairs=[((0,) * 10, (1,) * 10)])
