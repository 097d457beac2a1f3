"""Five batches of a shuffled table, accounted for as if each had drawn every row by a coin of 1/5."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from curador.accounting.account import delta
from curador.accounting.events import GaussianNoise, PoissonSampled
from curador.privacy import ApproxDP
from tests.mutants.fault import Fault, Rng, gaussian

STEPS, SIGMA = 5, 0.25
EVENT = STEPS * PoissonSampled(GaussianNoise(Fraction(1, 4), Fraction(1)), Fraction(1, STEPS))
CLAIM = ApproxDP(1, delta(EVENT, 1).upper)


def run(value: float, n: int, rng: Rng) -> Any:
    batch = rng.integers(0, STEPS, n)
    return value * (np.arange(STEPS) == batch[:, np.newaxis]) + gaussian(rng, SIGMA, (n, STEPS))


FAULT = Fault(CLAIM, run, pairs=[(0.0, 1.0)], source="Opacus issues 80 and 128; Annamalai et al., NDSS 2026")
