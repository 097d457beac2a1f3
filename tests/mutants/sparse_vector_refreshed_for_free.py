"""Sparse vector with a new threshold after each answer above, and the noise that is right for one."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng
from tests.mutants.sparse_vector import watched


def run(values: Any, n: int, rng: Rng) -> Any:
    return watched(values, n, rng, threshold=1.0, question=2.0, cutoff=10, refreshed=True)


FAULT = Fault(
    PureDP(2), run, pairs=[((0,) * 10, (1, -1) * 5), ((0,) * 10, (1,) * 10)], source="[DR14] without its split"
)
