"""Apple's sketch whose column is the key's own place."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.local_further import ColumnOfItself

TASK = ColumnOfItself(1, rows=2, places=8)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[("a", "b")])
