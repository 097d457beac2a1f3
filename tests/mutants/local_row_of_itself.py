"""A search for heavy hitters whose row is the value's own."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.hitters import RowOfItself

TASK = RowOfItself(2, length=4, rows=2, places=13)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[("abcd", "bcde")])
