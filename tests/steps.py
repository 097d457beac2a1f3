"""How much work something is, in steps that no other process makes longer: calls of functions, Python's and C's.

Seconds, of the processor too, depend on the machine and on what else it does.  Work that grows too fast makes more
calls, on every machine the same number; a call that is long itself, as of a regular expression, is one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from itertools import count


@contextmanager
def at_most(most: int) -> Iterator[None]:
    """Fail at the end of the block if this thread called functions more often in it."""
    profile = Profile(subcalls=False)
    with profile:
        yield
    calls = sum(entry.callcount for entry in profile.getstats())
    assert calls <= most, f"{calls:,} calls of functions"


@contextmanager
def in_threads() -> Iterator[Callable[[], int]]:
    """How often the threads that begin in the block have called or left functions so far, as a server's do."""
    steps = count()
    threading.setprofile(lambda *_: next(steps))
    try:
        yield lambda: next(steps)
    finally:
        threading.setprofile(None)
