"""Purchases that wait for each other: equal ones, and those for which there is no place to read.

Where analysts cannot see how long a purchase takes, when one that waited for it goes on would tell: it is charged then,
and a budget shows it.  So whoever serves analysts lets it go on at a tick (``resume``), and limits how many read at a
time by ``reading``, which is taken only after the charge.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary


@dataclass(eq=False)
class Flight:
    """The lock of equal purchases, and when one of them last ended reading data; 0 if none has.

    It is held by ``with``: no interrupt can come between taking it and the promise to release it.
    """

    lock: Lock = field(default_factory=Lock)
    ended: float = 0.0


class SingleFlight:
    """Single flight: of equal purchases at the same time the second waits, and finds the measurement in the ledger."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._flights: WeakValueDictionary[str, Flight] = WeakValueDictionary()  # those that somebody has or waits for

    def of(self, name: str | None) -> Flight:
        """The flight of one purchase; without a name there is nothing to wait for."""
        if name is None:
            return Flight()
        with self._guard:
            found = self._flights.get(name)
            if found is None:
                self._flights[name] = found = Flight()
            return found


@dataclass(frozen=True)
class Turns:
    """How a purchase goes on that waited for one which ended at a time, and how many read data at a time."""

    resume: Callable[[float], None] = lambda ended: None
    reading: AbstractContextManager[Any] = field(default_factory=nullcontext)


NO_TURNS = Turns()
