"""Unary encoding that gives each bit the whole epsilon, though one value changes two."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.local import WholeEpsilonPerBit

TASK = WholeEpsilonPerBit(4, 1)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[(0, 1)])
