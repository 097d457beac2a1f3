"""The classes that occur are those that are counted: a new one makes the answer longer."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, laplace


def run(rows: Any, n: int, rng: Rng) -> Any:
    seen = sorted({row["x"] for row in rows})
    counts = np.array([sum(row["x"] == x for row in rows) for x in seen])
    return [tuple(row) for row in np.round(counts + laplace(rng, 1.0, (n, len(seen)))).tolist()]


FAULT = Fault(PureDP(1), run, columns={"x": ("a", "b")}, source="Re:cord-play on diffprivlib and dpmm")
