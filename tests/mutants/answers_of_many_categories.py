"""Randomized response among ten answers with the truth probability that is right for two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng


def run(answer: int, n: int, rng: Rng) -> Any:
    truth = rng.random(n) < math.e / (1 + math.e)
    return np.where(truth, answer, (answer + rng.integers(1, 10, n)) % 10)


FAULT = Fault(PureDP(1), run, pairs=[(0, 9)])
