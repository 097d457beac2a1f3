"""A choice of epsilon 2 by permute-and-flip that states the rho of the exponential mechanism, a quarter."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import ZCDP
from tests.mutants.fault import Fault, Rng, on_grid


def run(scores: Any, n: int, rng: Rng) -> Any:
    # Exponential noise and the largest: the same law as permuting and flipping.
    return (np.asarray(scores) + on_grid(rng.exponential(1.0, (n, len(scores))))).argmax(axis=1)


FAULT = Fault(ZCDP(0.5), run, pairs=[((0, 0), (1, -1)), ((0, 2), (1, 1))], source="OpenDP issue 2911")
