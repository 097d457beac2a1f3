"""What a planted fault is: what it claims, how it runs, and where it may be looked for.

Each other file of this folder that ends in a ``FAULT`` is one; ``tests/audit/tester/test_faults.py`` finds them all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.audit.finding import Finding
from curador.audit.tester.neighbours import InputPair, table_pairs
from curador.audit.tester.search import worst
from curador.privacy import Guarantee

Rng = np.random.Generator
GRID = 2.0**20


@dataclass(frozen=True)
class Fault:
    """A mechanism that does not keep its claim.

    ``pairs``: neighbouring inputs, where a mechanism is told which; or ``columns``: the domain of a table, and the
    tester finds them.  ``notes``: runs on each side that a prototype needed, where it was measured; the tester may need
    at most twice as many.  ``source``: where the fault was seen.
    """

    claim: Guarantee
    run: Callable[[Any, int, Rng], Any]
    pairs: Sequence[tuple[Any, Any]] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    hostile: bool = False
    notes: int | None = None
    source: str = ""

    def audit(self, n: int, seed: int = 0, confidence: float = 0.999) -> Finding:
        """The finding of ``n`` runs on each side; the same every time."""
        rng = np.random.default_rng([n, seed])
        told = [InputPair(f"{a!r} and {b!r}", a, b) for a, b in self.pairs]
        pairs = told or table_pairs(self.columns, hostile=self.hostile)
        return worst(lambda value, times: self.run(value, times, rng), pairs, self.claim, n=n, confidence=confidence)


class FromNumpy:
    """Bits for mechanisms of the library, from a seeded generator: a fault is the same every time."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        return np.frombuffer(self._rng.bytes(n * np.dtype(dtype).itemsize), dtype=dtype)

    def bits(self, k: int) -> int:
        size = (k + 7) // 8
        return int.from_bytes(self._rng.bytes(size), "little") >> (8 * size - k)


def on_grid(x: Any) -> NDArray[np.float64]:
    """Noise on a grid of 2**-20, so that a fault is the one that is planted, and not that of floating noise."""
    return np.round(np.asarray(x) * GRID) / GRID


def laplace(rng: Rng, scale: float, size: Any) -> NDArray[np.float64]:
    return on_grid(rng.laplace(0, scale, size))


def gaussian(rng: Rng, sigma: float, size: Any) -> NDArray[np.float64]:
    return on_grid(rng.normal(0, sigma, size))


def column(rows: Sequence[Mapping[str, Any]], name: str = "x") -> NDArray[np.float64]:
    """One column of a table as an array."""
    return np.array([row[name] for row in rows], np.float64)


def local(task: Any, values: Any, n: int, rng: Rng) -> Any:
    """The reports of a task on one value, as rows of bytes."""
    return task.to_bytes(task.randomize([values] * n, entropy=FromNumpy(rng)))


def every() -> dict[str, Fault]:
    """All faults, by the names of their files."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        fault = getattr(importlib.import_module(f"tests.mutants.{file.stem}"), "FAULT", None)
        if isinstance(fault, Fault):
            found[file.stem] = fault
    return found
