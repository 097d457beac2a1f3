"""How long free work may compute: a question decides how long it takes to plan, and whoever asks it pays nothing.

Planning is bounded by counting what a question has, but no count foresees every question.  So it is also stopped after
some seconds of its thread's own time on the processor, which do not depend on what else the machine does.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread, get_ident
from typing import TypeVar

from curador.curator.stoppable import ready_to_stop
from curador.errors import QuestionRefused

T = TypeVar("T")

AGAIN = 0.05
"""Seconds after which a thread that goes on is stopped again: what is raised while an object is dropped is ignored."""


class _Stopped(BaseException):
    """The thread has computed for too long; no refusal, so that nobody takes it for an answer."""


class _ThreadWatch:
    """Stops one thread once it has computed for some seconds, unless its work has ended by then."""

    def __init__(self, seconds: float) -> None:
        self._thread, self._clock = get_ident(), time.pthread_getcpuclockid(get_ident())
        self._end = time.clock_gettime(self._clock) + seconds
        self._over, self._guard, self._stopped = Event(), Lock(), False

    def begin(self) -> None:
        Thread(target=self._watch, name="curador-cpu", daemon=True).start()

    def _watch(self) -> None:
        while not self._over.is_set():
            with self._guard:  # the thread, and so its clock, is there until its work is over
                if self._over.is_set():
                    return
                left = self._end - time.clock_gettime(self._clock)
                if left <= 0:
                    self._stopped = True
                    _stop(self._thread)
            self._over.wait(left if left > 0 else AGAIN)  # it computes no faster than time passes

    def end(self) -> None:
        """Stop nothing from here on; what was not raised yet is raised here, where it ends.

        CPython can take it back, too, but is then left looking for it at every step, for ever and in all threads.
        """
        with self._guard:
            self._over.set()
        if self._stopped:
            with suppress(_Stopped):
                _stop(self._thread)
                while True:
                    pass


def _stop(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Stopped))


def bounded(task: Callable[[], T], seconds: float) -> T:
    """Do something that reads no data and keeps nothing, unless it computes for longer than some seconds.

    Guarantee: whatever it computes, it is refused at most a moment after that, at the next step of the interpreter.
    Assumes: the task may be stopped at any instant, as by Ctrl-C; it starts no thread, which might be stopped in its
        place, and loads no module: Python would keep the lock of an import that is stopped as it begins.  Where Python
        cannot tell a thread's time (it can on Linux), nothing is bounded.

    >>> bounded(lambda: 1 + 1, 5)
    2
    """
    if not hasattr(time, "pthread_getcpuclockid"):
        return task()
    ready_to_stop()
    watch = _ThreadWatch(seconds)
    try:
        try:
            watch.begin()
            return task()
        finally:
            watch.end()
    except _Stopped:
        _surely(watch.end)
    raise QuestionRefused(
        f"Planning this takes more than {seconds:g} seconds of the server's time.",
        fix="Ask for less at once.",
        code="planning-too-long",
        facts={"seconds": f"{seconds:g}"},
    )


def _surely(work: Callable[[], None]) -> None:
    """Do something to its end, also if the thread is stopped once more meanwhile."""
    while True:
        try:
            return work()
        except _Stopped:
            continue
