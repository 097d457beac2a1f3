"""What a run did, step by step: what it charged, read, drew and released, and the lines that did so."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from fractions import Fraction
from types import FrameType, TracebackType
from typing import Any

import numpy as np

RELEASE, DRAW, CHARGE, READ = "release", "draw", "charge", "read"
"""A mechanism releases; a sampler draws outside any mechanism; a ledger is charged; rows are read."""

INSIDE = ("/curador/audit/replay/", "/curador/mechanisms/", "/curador/noise/", "/curador/query/plan/steps.py")
"""Files that a step goes through: the line that caused it is further out."""

FRAMES = 4
"""How many lines of the way to a step are kept."""


@dataclass(frozen=True, eq=False)
class TraceStep:
    """One step: ``by`` what with which parameters, the exact ``value`` it was given, what came ``out``.

    ``keys`` are those of the groups that the value counts, where they are known; ``lines`` is the way to the step, the
    nearest first.  It holds exact values: never to be shown.
    """

    kind: str
    by: object
    value: Any = None
    out: Any = None
    lines: tuple[str, ...] = ()
    keys: tuple[object, ...] | None = None

    @property
    def line(self) -> str:
        """The line that caused it."""
        return self.lines[0] if self.lines else "an unknown line"

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.line}>"


@dataclass
class Trace:
    """The steps of one run, and how it ended: its answer, or its error, as an observer sees them."""

    steps: list[TraceStep] = field(default_factory=list)
    status: str = ""
    seen: str = ""
    lines: tuple[str, ...] = ()


def lines_here(start: int = 1) -> tuple[str, ...]:
    """The lines that led here, the nearest first, without those of mechanisms and of this room."""
    return _lines(sys._getframe(start))


def lines_of(error: BaseException) -> tuple[str, ...]:
    """The lines that led to an error, the nearest first."""
    at: TracebackType | None = error.__traceback__
    frames: list[tuple[FrameType, int]] = []
    while at is not None:
        frames.append((at.tb_frame, at.tb_lineno))
        at = at.tb_next
    found = [_line(frame, number) for frame, number in reversed(frames) if _outside(frame)]
    return tuple(found[:FRAMES])


def _lines(frame: FrameType | None) -> tuple[str, ...]:
    found: list[str] = []
    while frame is not None and len(found) < FRAMES:
        if _outside(frame):
            found.append(_line(frame, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def _outside(frame: FrameType) -> bool:
    return not any(part in frame.f_code.co_filename for part in INSIDE)


def _line(frame: FrameType, number: int) -> str:
    name = frame.f_code.co_filename
    short = "/".join(name.split("/")[-2:])
    text = linecache.getline(name, number).strip()
    return f"{short}:{number}: {text}" if text else f"{short}:{number}"


def seen(x: object) -> str:
    """An answer as an observer sees it, to the last bit; of a fitted model its fitted attributes.

    >>> seen({"b": np.array([0.1]), "a": Fraction(1, 3)})
    "{'a': 1/3, 'b': float64(1,)[0x1.999999999999ap-4]}"
    """
    if isinstance(x, bool | np.bool_ | str | bytes | None):
        return repr(x)
    if isinstance(x, int | np.integer | Fraction):
        return str(x)
    if isinstance(x, float | np.floating):
        return float(x).hex()
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{x.shape}[{', '.join(seen(y) for y in x.reshape(-1).tolist())}]"
    if isinstance(x, Mapping):
        return "{" + ", ".join(f"{k!r}: {seen(v)}" for k, v in sorted(x.items(), key=lambda kv: repr(kv[0]))) + "}"
    if isinstance(x, list | tuple):
        return "[" + ", ".join(map(seen, x)) + "]"
    if hasattr(x, "fit"):
        fitted = {k: v for k, v in vars(x).items() if k.endswith("_") and not k.startswith("_")}
        return f"{type(x).__name__}{seen(fitted)}"
    if is_dataclass(x) and not isinstance(x, type):
        return f"{type(x).__name__}{seen(vars(x) if hasattr(x, '__dict__') else repr(x))}"
    return repr(x)
