"""Report noisy max that gives the noisy score too, with the noise that is right for the place alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, on_grid


def run(scores: Any, n: int, rng: Rng) -> Any:
    noisy = np.asarray(scores) + on_grid(rng.exponential(2.0, (n, len(scores))))
    return np.stack([noisy.argmax(axis=1), noisy.max(axis=1)], axis=1)


FAULT = Fault(PureDP(1), run, pairs=[((0, 0, 0, 0), (1, 1, 1, 1))])
