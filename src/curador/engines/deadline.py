"""A deadline for a plan, and reports of its progress, both from other threads."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from curador.engines.engine import Progress
from curador.forks import after_fork

TICK = 0.2
"""Seconds between two progress reports, and between two attempts to stop late work."""


def reported(progress: Progress | None, done: Callable[[], float]) -> AbstractContextManager[None]:
    """Run the body, however long it takes; ``progress`` is called as in :func:`watched`."""
    return nullcontext() if progress is None else watched(math.inf, lambda: None, progress, done)


def of_percent(done: Callable[[], float]) -> Callable[[], float]:
    """Convert percent to the part done, from 0 to 1; -1 where it is unknown.

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
    """Run the body, with a deadline after ``seconds``.

    At the deadline another thread calls ``stop`` until the body ends, and TimeoutError is raised.  Until then
    ``progress`` is called with ``done()`` every :data:`TICK` seconds, unless it is None.

    >>> stopped = threading.Event()
    >>> with watched(0.01, stopped.set, None, lambda: 0.0):
    ...     _ = stopped.wait(10)
    Traceback (most recent call last):
    TimeoutError
    """
    watch = _Watch(time.monotonic() + seconds, stop)
    reporter = None if progress is None else threading.Thread(target=watch.report, args=(progress, done), daemon=True)
    try:
        if reporter is not None:
            reporter.start()
        _clock.add(watch)
        yield
    finally:
        watch.over.set()
        stopper = _clock.remove(watch)
        for thread in (reporter, stopper):
            if thread is not None and thread.ident is not None:  # None if it could not be started
                thread.join()
        if stopper is not None:
            raise TimeoutError


class _Watch:
    """A piece of work: its deadline, and whether it has ended."""

    def __init__(self, end: float, stop: Callable[[], object]) -> None:
        self.end, self._stop = end, stop
        self.over = threading.Event()
        self.stopper: threading.Thread | None = None

    def report(self, progress: Progress, done: Callable[[], float]) -> None:
        while not self.over.wait(TICK):
            with suppress(Exception):  # an error of the report must not end the watch
                progress(done())

    def stop(self) -> None:
        while not self.over.is_set():  # repeatedly: the work may be between two interruptible steps
            with suppress(Exception):
                self._stop()
            self.over.wait(TICK)


class _Clock:
    """A single thread for the deadlines of all work.

    A thread for each would cost more than reading most questions' rows.
    """

    def __init__(self) -> None:
        self.made_anew()
        after_fork(self)

    def made_anew(self) -> None:
        """Forget the parent's thread in a forked child, which does not have it."""
        self._changed = threading.Condition()
        self._watches: set[_Watch] = set()
        self._wakes, self._runs, self._stays = math.inf, False, False

    def keep(self) -> None:
        """Run the thread from here on, also without anything to watch."""
        with self._changed:
            self._stays = True
            self._begin()

    def add(self, watch: _Watch) -> None:
        with self._changed:
            self._watches.add(watch)
            self._begin()
            if watch.end < self._wakes:
                self._changed.notify()

    def _begin(self) -> None:
        if not self._runs:
            threading.Thread(target=self._look, daemon=True).start()
            self._runs = True

    def remove(self, watch: _Watch) -> threading.Thread | None:
        """Forget work that has ended; return the thread that was stopping it, if it was late."""
        with self._changed:
            self._watches.discard(watch)
            return watch.stopper

    def _look(self) -> None:
        """Stop late work, each by a thread of its own; end when nothing is left, unless the clock is kept."""
        with self._changed:
            while self._watches or self._stays:
                now = time.monotonic()
                for watch in [w for w in self._watches if w.end <= now]:
                    stopper = threading.Thread(target=watch.stop, daemon=True)
                    with suppress(RuntimeError):  # no thread can be started now: it is tried again
                        stopper.start()
                        self._watches.remove(watch)
                        watch.stopper = stopper
                ends = (w.end if w.end > now else now + TICK for w in self._watches)
                self._wakes = min(ends, default=math.inf if self._stays else now)
                # Some deadlines are infinite.
                self._changed.wait(min(max(0.0, self._wakes - now), threading.TIMEOUT_MAX))
            self._wakes, self._runs = math.inf, False


_clock = _Clock()


def keep_clock() -> None:
    """Run the thread of all deadlines from here on.

    A thread that may be stopped must not start it.
    """
    _clock.keep()
