"""Sparse vector that goes on answering with the noise of one answer."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng
from tests.mutants.sparse_vector import watched


def run(values: Any, n: int, rng: Rng) -> Any:
    return watched(values, n, rng, threshold=2.0, question=2.0, cutoff=10)


FAULT = Fault(PureDP(1), run, pairs=[((0,) * 10, (1,) * 5 + (-1,) * 5)], notes=10_000, source="Algorithm 6 of [LSL17]")
