"""Answers leave on a clock, so that how long a question took tells at most in which tick it ended.

The data decides how long an engine takes; what an analyst sees of that is one number, the tick [HPN11].  It is a
bound on what is told, not a cure: SECURITY.md says what is left.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from anyio import CapacityLimiter, WouldBlock


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
        """Return at the next tick after a time, or after now; in a thread."""
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

    @asynccontextmanager
    async def turn(self, places: CapacityLimiter) -> AsyncIterator[None]:
        """A place among those who pay.  Who waits for one, which another leaves once it is answered, begins at a tick:
        a budget, which is not delayed, shows when it is charged.
        """
        mine = object()
        try:
            places.acquire_on_behalf_of_nowait(mine)
        except WouldBlock:
            await places.acquire_on_behalf_of(mine)
            try:
                await self.leave()
            except BaseException:
                places.release_on_behalf_of(mine)
                raise
        try:
            yield
        finally:
            places.release_on_behalf_of(mine)
