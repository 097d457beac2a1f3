"""How often each caller may come: a moving window, exact, and constant work for each request.

Written here since the memory storage of `limits` starts a thread for a request and then looks at every caller there is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable


class Rates:
    """At most so many requests of each name within any so many seconds; for one thread.

    >>> rates = Rates(2)
    >>> [rates.hit("ana") for _ in range(3)], rates.hit("bea")
    ([True, True, False], True)
    """

    def __init__(self, most: int, seconds: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._now = most, seconds, now
        self._seen: dict[str, deque[float]] = {}

    def hit(self, name: str) -> bool:
        """Whether this request may come; what is refused does not count."""
        now = self._now()
        self._forget(now - self._seconds)
        times = self._seen.pop(name, None) or deque()
        self._seen[name] = times  # the newest last
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) >= self._most:
            return False
        times.append(now)
        return True

    def _forget(self, before: float) -> None:
        """Drop the names that have not come for so long, so that strangers do not fill the memory."""
        while self._seen:
            name, times = next(iter(self._seen.items()))
            if times and times[-1] > before:
                return
            del self._seen[name]
