"""Unary encoding whose own bit is never cleared: a reported 0 excludes a value for certain."""

from __future__ import annotations

from typing import Any

from curador.privacy import PureDP
from tests.mutants.fault import Fault, Rng, local
from tests.mutants.local import NeverClears

TASK = NeverClears(4, 1)


def run(value: Any, n: int, rng: Rng) -> Any:
    return local(TASK, value, n, rng)


FAULT = Fault(PureDP(float(TASK.epsilon)), run, pairs=[(0, 1)], source="pure-ldp 1.2.0")
