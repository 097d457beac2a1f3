"""A search for heavy hitters where short values are reported on at the level they end at."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.hitters import LevelOfItself

TASK = LevelOfItself(2, length=4, rows=2, places=13)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[("a", "abcd")])
