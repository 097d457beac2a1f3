"""One task of each kind, with values for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from curador.local import (
    KRR,
    OLH,
    OUE,
    SUE,
    CountMean,
    DBitFlip,
    Duchi,
    DuchiVector,
    Hadamard,
    HadamardCountMean,
    HeavyHitters,
    Hybrid,
    LocalLaplace,
    Longitudinal,
    Piecewise,
    Range,
    Rappor,
    Record,
    SquareWave,
    SubsetSelection,
)

WORDS = ["tea", "coffee", "water", "juice", "té", "水"]
MANY = [WORDS[i % 6] for i in range(300)]
REALS = np.linspace(-1.5, 1.5, 300)
MIXED: dict[str, Any] = {"age": Range(0, 100), "drink": WORDS, "smokes": 2}
COLUMNS = {"age": [float(i % 90) for i in range(300)], "drink": MANY, "smokes": [i % 2 for i in range(300)]}

_TASKS: list[tuple[Any, Any]] = [
    (KRR(WORDS, 1), MANY),
    (KRR(300, 1, bits=16), [i % 300 for i in range(300)]),
    (SUE(WORDS, 1), MANY),
    (OUE(WORDS, 8, rest="té"), [*MANY, "?", "x"]),
    (OLH(1000, 1), list(range(300))),
    (Hadamard(WORDS, 1), MANY),
    (SubsetSelection(20, 1), [i % 20 for i in range(300)]),
    (LocalLaplace(-1, 1, "1/2"), REALS),
    (Duchi(-1, 1, 1), REALS),
    (Piecewise(-1, 1, 2), REALS),
    (Hybrid(-1, 1, "1/2"), REALS),
    (Hybrid(-1, 1, 3), REALS),
    (DuchiVector(-1, 1, 1, 10), np.tile(REALS, (10, 1)).T),
    (Record(MIXED, 1), COLUMNS),
    (Record(MIXED, 6), COLUMNS),
    (SquareWave(-1, 1, 1, buckets=40), REALS),
    (DBitFlip(WORDS, 1, 2), MANY),
    (Rappor(4, bloom=32, cohorts=300), MANY),
    (CountMean(4, rows=300, places=32), MANY),
    (HadamardCountMean(4, rows=16, places=512), MANY),
    (HeavyHitters(2, length=4, rows=8, places=31), MANY),
    (HeavyHitters(3, kind="integers", length=2, rows=4, places=13), [i * i - 9 for i in range(300)]),
    (Longitudinal(WORDS, 2, values=1, first=1), MANY),
]
EVERY_TASK: list[tuple[Any, Any]] = [(task.named("q"), values) for task, values in _TASKS]
"""(task, values)"""
