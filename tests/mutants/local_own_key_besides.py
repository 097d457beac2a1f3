"""Subset selection that adds the own key to a set of others of full size."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.local import OwnKeyBesides

TASK = OwnKeyBesides(6, 1)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[(0, 1)])
