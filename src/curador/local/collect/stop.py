"""Stopping a long collection by a signal; messages that arrived are written first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

SIGNALS = signal.SIGINT, signal.SIGTERM


@dataclass
class Stop:
    """The request to stop, with its signal, if there was one.

    >>> Stop(reader=0).code, Stop(reader=0, signal=signal.SIGINT).code
    (0, 130)
    """

    reader: int
    """A pipe that becomes readable when a signal arrives, for use with ``select``."""
    signal: int = 0

    @property
    def code(self) -> int:
        """The exit code, numbered as shells do."""
        return 128 + self.signal if self.signal else 0


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Let the first signal ask the body to stop; a second one ends the program as usual.

    >>> with stoppable() as stop:
    ...     os.kill(os.getpid(), signal.SIGTERM)
    ...     os.read(stop.reader, 1), stop.code
    (b'.', 143)
    """
    reader, writer = os.pipe()
    stop = Stop(reader)
    before: dict[int, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        stop.signal = number
        os.write(writer, b".")
        signal.signal(number, before[number])

    if threading.current_thread() is threading.main_thread():  # other threads get no signals
        before = {number: signal.signal(number, ask) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)
