"""Single flight: of equal purchases at the same time, one is made, and the others wait for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary


class SingleFlight:
    """Of equal purchases at the same time the second waits, and finds the measurement in the ledger.

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
