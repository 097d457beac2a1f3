"""Watching over long work: a deadline, and progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from curador.engines import Progress

TICK = 0.2
"""Seconds between two looks at the work."""


@contextmanager
def watched(
    seconds: float, stop: Callable[[], None], progress: Progress | None, done: Callable[[], float]
) -> Iterator[None]:
    """Run the body; after ``seconds`` call ``stop`` from another thread, and until then report ``done()``.

    >>> with watched(10, lambda: None, None, lambda: 0.0):
    ...     pass
    """
    over = threading.Event()

    def look() -> None:
        left = seconds
        while left > 0 and not over.wait(min(TICK, left) if progress is not None else left):
            left -= TICK if progress is not None else left
            if progress is not None:
                progress(done())
        if not over.is_set():
            stop()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
