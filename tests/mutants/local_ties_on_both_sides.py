"""A vector of two numbers whose corners at a right angle are drawn from both halves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng

CORNERS = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])


def run(corner: Any, n: int, rng: Rng) -> Any:
    agreed = CORNERS @ np.asarray(corner)
    towards = rng.random(n) < math.e / (1 + math.e)
    halves = [CORNERS[agreed <= 0], CORNERS[agreed >= 0]]  # at 0 a corner is in both
    picked = [half[rng.integers(0, len(half), n)] for half in halves]
    return np.where(towards[:, np.newaxis], picked[1], picked[0])


FAULT = Fault(PureDP(1), run, pairs=[((1, 1), (1, -1)), ((1, 1), (-1, -1))], source="[NXYHSS16]")
