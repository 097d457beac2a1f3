"""What the planted faults share: fifty ages, victims to add to them, and the replay of a function of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.audit.finding import Finding
from curador.audit.replay.run import replay

Rows = NDArray[np.float64]
AGES: Rows = np.asarray(np.arange(50) * 1.75 + 1.0, np.float64)
EXTRA = (0.0, 100.0, 1e6, -1e6, math.nan, math.inf)


def ages() -> list[tuple[str, Rows]]:
    """The ages and one more."""
    return [(f"one more, {x:g}", np.append(AGES, x)) for x in EXTRA]


def read(x: Rows, low: float = 0.0, high: float = 100.0) -> Rows:
    """Values within their bounds; what is no number is the lower one."""
    return np.clip(np.nan_to_num(x, nan=low, posinf=high, neginf=low), low, high)


def checked(run: Callable[[Any], object], charged: Event, base: Any = AGES, neighbours: Any = None) -> Finding:
    """The finding about one function of the ages, or of another base."""
    return replay("a planted fault", run, base, ages() if neighbours is None else neighbours, charged=charged)
