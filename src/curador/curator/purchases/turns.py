"""Purchases that wait for each other: equal ones, and those for which there is no place to read.

A server hides from analysts how long a purchase takes.  An equal purchase is charged after the first one ended, and a
budget shows the charge: so it goes on at the next tick, whether it came before that end or after it in the same tick.
Proof: docs/proofs/clock.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from time import time
from typing import Any, Protocol
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
        self._ended: deque[Flight] = deque()  # those that ended in this tick

    def end(self, flight: Flight, now: float) -> None:
        """Note that a purchase ended, and keep its flight until that has passed."""
        flight.ended = now
        self._ended.append(flight)

    def of(self, name: str | None, passed: Callable[[float], bool]) -> Flight:
        """The flight of one purchase; without a name there is nothing to wait for."""
        if name is None:
            return Flight()
        with self._guard:
            while self._ended and passed(self._ended[0].ended):
                self._ended.popleft()
            found = self._flights.get(name)
            if found is None:
                self._flights[name] = found = Flight()
            return found


class Pace(Protocol):
    """When the end of a purchase may be seen: a server's clock, or at once."""

    def now(self) -> float:
        """The time."""
        ...

    def passed(self, ended: float) -> bool:
        """Whether what ended at a time may be seen now."""
        ...

    def wait(self, since: float) -> None:
        """Return once what ended at a time may be seen."""
        ...


class Unpaced:
    """Nobody is to be kept from seeing how long a purchase takes."""

    def now(self) -> float:
        return time()

    def passed(self, ended: float) -> bool:
        return True

    def wait(self, since: float) -> None:
        return


@dataclass(frozen=True)
class Turns:
    """When a purchase goes on that waited for another, and how many read data at a time."""

    pace: Pace = field(default_factory=Unpaced)
    reading: AbstractContextManager[Any] = field(default_factory=nullcontext)


NO_TURNS = Turns()
