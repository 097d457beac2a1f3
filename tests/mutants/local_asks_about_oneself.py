"""dBitFlip that always asks about the own key: the keys asked about tell which it may be."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.local_further import AsksAboutOneself

TASK = AsksAboutOneself(6, 1, 2)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[(0, 5)])
