"""Sparse vector that compares exact values with the noisy threshold."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng
from tests.mutants.sparse_vector import watched


def run(values: Any, n: int, rng: Rng) -> Any:
    return watched(values, n, rng, threshold=2.0, question=0.0, cutoff=10)


FAULT = Fault(PureDP(1), run, pairs=[((0,) * 10, (1,) * 5 + (-1,) * 5)], notes=300, source="Algorithm 5 of [LSL17]")
