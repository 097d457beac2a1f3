"""The piecewise mechanism where who is not inside draws from all cells, the window's too."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.local import AnyCellElse

TASK = AnyCellElse(-1, 1, 2)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[(-1.0, 1.0)])
