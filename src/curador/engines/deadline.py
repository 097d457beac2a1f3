"""A deadline for a plan, and reports of its progress, both from a watching thread."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from curador.engines.engine import Progress

TICK = 0.2
"""Seconds between two progress reports, and between two attempts to stop late work."""


def reported(progress: Progress | None, done: Callable[[], float]) -> AbstractContextManager[None]:
    """Run the body, however long it takes; ``progress`` is called as in :func:`watched`."""
    return nullcontext() if progress is None else watched(math.inf, lambda: None, progress, done)


def of_percent(done: Callable[[], float]) -> Callable[[], float]:
    """The part that is done, 0 to 1, of what tells percent; -1 where it is unknown.

    >>> of_percent(lambda: 25.0)(), of_percent(lambda: -1.0)()
    (0.25, -1.0)
    """

    def part() -> float:
        found = done()
        return found / 100 if found >= 0 else -1.0

    return part


@contextmanager
def watched(
    seconds: float, stop: Callable[[], object], progress: Progress | None, done: Callable[[], float]
) -> Iterator[None]:
    """Run the body; after ``seconds`` call ``stop`` from another thread until the body ends, and raise TimeoutError.

    Until then ``progress`` is called with ``done()`` every :data:`TICK` seconds, unless it is None.

    >>> stopped = threading.Event()
    >>> with watched(0.01, stopped.set, None, lambda: 0.0):
    ...     _ = stopped.wait(10)
    Traceback (most recent call last):
    TimeoutError
    """
    over, late = threading.Event(), threading.Event()
    end = time.monotonic() + seconds

    def look() -> None:
        while (left := end - time.monotonic()) > 0:
            if over.wait(min(TICK, left) if progress is not None else left):
                return
            if progress is not None:
                with suppress(Exception):  # an error of the report must not end the watch
                    progress(done())
        late.set()
        while not over.is_set():  # repeatedly: the work may be between two interruptible steps
            with suppress(Exception):
                stop()
            over.wait(TICK)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        if late.is_set():
            raise TimeoutError
