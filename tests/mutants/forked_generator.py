"""Two workers with copies of one generator: their answers differ by the exact difference."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(values: Any, n: int, rng: Rng) -> Any:
    workers = [rng, copy.deepcopy(rng)]
    return np.stack([value + laplace(worker, 2.0, n) for value, worker in zip(values, workers, strict=True)], axis=1)


FAULT = Fault(PureDP(1), run, pairs=[((0.0, 0.0), (1.0, 0.0))], source="arXiv 2307.03543 on seeding")
