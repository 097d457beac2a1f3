"""RAPPOR that remembers every bit of its filter: a remembered 0 excludes values."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, FromNumpy, Rng
from tests.mutants.local_further import NeverClears

TASK = NeverClears(4, bloom=32, cohorts=1)


def run(value: Any, n: int, rng: Rng) -> Any:
    return TASK.remember([value] * n, entropy=FromNumpy(rng))


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[("a", "b")], source="pure-ldp 1.2.0")
