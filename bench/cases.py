"""What a bench file declares: a case, our side of it, and each peer's side, as code that runs in its own process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Code:
    """One side of a case: ``setup`` before the clock, then ``run``, which does ``per`` operations."""

    run: str
    setup: str = ""
    per: int = 1
    clock: str = "own"  # "children" counts the CPU of the processes that ``run`` starts; "found" takes its ``found``


@dataclass(frozen=True, slots=True)
class Case:
    """One line of comparison.  A peer is named as its requirements file in bench/peers is.

    ``faster`` says how many times faster than a peer we want to be; ``most`` the CPU seconds we allow ourselves, or the
    bytes where ``unit`` is "B".
    """

    name: str
    ours: Code
    peers: Mapping[str, Code] = field(default_factory=dict)
    faster: Mapping[str, float] = field(default_factory=dict)
    most: float | None = None
    unit: str = "s"
