"""Sparse vector whose noise does not grow with the five answers above that it gives."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng
from tests.mutants.sparse_vector import watched


def run(values: Any, n: int, rng: Rng) -> Any:
    return watched(values, n, rng, threshold=4.0, question=4 / 3, cutoff=5)


FAULT = Fault(PureDP(1), run, pairs=[((0,) * 10, (1,) * 5 + (-1,) * 5)], notes=10_000, source="Algorithm 4 of [LSL17]")
