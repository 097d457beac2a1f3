"""Answers leave on a clock, so that how long a question took tells at most in which tick it ended.

The data decides how long an engine takes; what an analyst sees of that is one number, the tick [HPN11].  It is a
bound on what is told, not a cure: docs/proofs/clock.md says what holds and why, SECURITY.md what is left.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from anyio import CancelScope, CapacityLimiter


@dataclass(frozen=True)
class TickClock:
    """Waits for the next multiple of a tick; a tick of 0 waits for nothing.

    ``now`` and ``pause`` are the machine's own clock, unless a test has another.
    """

    tick: float
    now: Callable[[], float] = time.time
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    def next(self, now: float) -> float:
        """The first multiple that is after a time.

        >>> TickClock(0.5).next(10.2), TickClock(0.5).next(10.5)
        (10.5, 11.0)
        """
        return now if not self.tick else (math.floor(now / self.tick) + 1) * self.tick

    def wait(self, since: float | None = None) -> None:
        """Return at the next tick after a time, or after now; in a thread.

        With a time whose tick has passed it returns at once.
        """
        end = self.next(self.now() if since is None else since)
        while (left := (end := self._soon(end)) - self.now()) > 0:
            time.sleep(left)

    async def leave(self) -> None:
        """Return at the next tick."""
        end = self.next(self.now())
        while (left := (end := self._soon(end)) - self.now()) > 0:  # a timer may fire a little early
            await self.pause(left)

    def _soon(self, end: float) -> float:
        """The tick that is waited for; if the clock was set back since that was found, the next one that there is."""
        now = self.now()
        return end if end - now <= 2 * self.tick else self.next(now)

    def passed(self, since: float) -> bool:
        """Whether a tick has passed since a time: what ended then may be seen.

        >>> clock = TickClock(0.5, now=lambda: 10.4)
        >>> clock.passed(9.9), clock.passed(10.0), clock.passed(10.2)
        (True, False, False)
        """
        now = self.now()
        return not since <= now < self.next(since)

    @asynccontextmanager
    async def turn(self, places: CapacityLimiter) -> AsyncIterator[None]:
        """A place among those who pay, from the beginning of the work to the tick at which its answer leaves.

        So a purchase that waits for a place begins at a tick: a budget, which is not delayed, shows when it is charged.
        """
        async with places:
            try:
                yield
            finally:
                with CancelScope(shield=True):  # whoever stops waiting does not free the place before the tick
                    await self.leave()
