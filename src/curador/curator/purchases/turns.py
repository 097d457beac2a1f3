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
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

NOTICED = 0.05
"""Seconds: who waited so long for another was seen to wait."""


class SingleFlight:
    """Single flight: of equal purchases at the same time the second waits, and finds the measurement in the ledger.

    A flight is a lock of its own, held by ``with``: no interrupt can come between taking it and the promise to release
    it.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._flights: WeakValueDictionary[str, Lock] = WeakValueDictionary()  # those that somebody holds or waits for

    def of(self, name: str | None) -> AbstractContextManager[Any]:
        """The lock of one purchase; without a name there is nothing to wait for."""
        if name is None:
            return nullcontext()
        with self._guard:
            found = self._flights.get(name)
            if found is None:
                self._flights[name] = found = Lock()
            return found


@dataclass(frozen=True)
class Turns:
    """How a purchase goes on that waited for another, and how many read data at a time."""

    resume: Callable[[], None] = lambda: None
    reading: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def after(self, flight: AbstractContextManager[Any]) -> Callable[[], None]:
        """To be called before a flight is taken; what it returns, once it is: resumes if another had it."""
        taken, began = getattr(flight, "locked", lambda: False)(), monotonic()

        def resume() -> None:
            if taken or monotonic() - began > NOTICED:
                self.resume()

        return resume


NO_TURNS = Turns()
