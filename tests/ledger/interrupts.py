"""Interrupts at every instant at which Python can raise one.

A signal's handler runs between two instructions of the main thread, and CPython looks for it only at some of them: at
the beginning of a function, after a call, and where a loop goes back.  So does this, by tracing instructions.
"""

from __future__ import annotations

import dis
import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any

_LOOKS = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD"}


class Interrupt(BaseException):
    """What the handler of a signal may raise; not an Exception, as KeyboardInterrupt is not."""


@cache
def _looking(code: CodeType) -> frozenset[int]:
    """The places in a function right after an instruction at which signals are looked for.

    CPython raises at that instruction, and this at the next one.  Where the two are in different blocks (the last call
    of a ``try``, before its ``finally``) the next one would be an instant that there is not.
    """
    found = list(dis.get_instructions(code))
    entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]

    def handler(offset: int) -> int | None:
        return next((entry.target for entry in entries if entry.start <= offset < entry.end), None)

    return frozenset(
        after.offset
        for before, after in itertools.pairwise(found)
        if (before.opname in _LOOKS or "JUMP_BACKWARD" in before.opname)
        and handler(before.offset) == handler(after.offset)
    )


def interrupted(work: Callable[[], object], at: int | None, files: tuple[str, ...]) -> int:
    """Run work with an interrupt at the instant of this number in files whose names end so; the instants seen.

    Raises Interrupt, unless the work ends before that instant.
    """
    seen = 0

    def instant() -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            raise Interrupt(at)

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode" and frame.f_lasti in _looking(frame.f_code):
            instant()
        return local

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.endswith(files):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        instant()
        return local

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        work()
    finally:
        sys.settrace(before)
    return seen


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail what hangs."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"nothing went on within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
