"""Counts by key with noise, but one key in the middle of the list was forgotten: its count is exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace

KEYS = ("a", "b", "c", "d", "e")


def run(rows: Any, n: int, rng: Rng) -> Any:
    counts = np.array([sum(row["x"] == key for row in rows) for key in KEYS], np.float64)
    return counts + laplace(rng, 1.0, (n, len(KEYS))) * (np.array(KEYS) != "c")


FAULT = Fault(PureDP(1), run, columns={"x": KEYS}, source="an examination of this tester")
