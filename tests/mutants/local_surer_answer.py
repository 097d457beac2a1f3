"""A search for heavy hitters with the threshold of twice its epsilon."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.hitters import SurerAnswer

TASK = SurerAnswer(1, length=2, rows=1, places=13)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[("ab", "zy")])
