"""Two runs, and what parts them: each way in which a replay may betray a unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from curador.accounting.events import Event
from curador.audit.replay.movement import PathLoss, aligned, allowed, movement
from curador.audit.replay.trace import CHARGE, DRAW, READ, RELEASE, Trace, TraceStep
from curador.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Violation:
    """What parts two runs: its ``kind`` (a code), in words, the lines that caused it, and the epsilon it proves.

    ``least`` is infinite where composition does not cover what parts them: no epsilon follows from what was charged.
    """

    kind: str
    what: str
    lines: tuple[str, ...] = ()
    least: float = math.inf

    @property
    def witness(self) -> str:
        """In words, with the line."""
        return f"{self.what}, at {self.lines[0]}" if self.lines else self.what


def untouched(trace: Trace, charged: Event | None) -> Violation | None:
    """Whether one run by itself reads or draws before it has paid."""
    if charged is not None:
        return None
    paid = False
    for step in trace.steps:
        paid = paid or step.kind == CHARGE
        if not paid and step.kind in (READ, RELEASE, DRAW):
            return Violation("charge-order", f"a {step.kind} before anything was charged", step.lines)
    return None


def compared(
    here: Trace, there: Trace, charged: Event | None, scope: str | None = None
) -> tuple[Violation | None, float]:
    """The first thing that parts a recorded run from its replay on a neighbour, None if nothing does; and its reach.

    ``charged`` is the event that was paid for; without it, the charges of the run itself are, and only those of
    ``scope``: what a unit of that scope may lose.  The reach is the largest part of a declared sensitivity that an
    exact value moved by: near 0, the neighbour was no test.
    """
    reach = 0.0
    paid = PathLoss() if charged is None else allowed(charged)
    lost = PathLoss()
    for one, other in zip(here.steps, there.steps, strict=False):
        if one.kind == CHARGE and charged is None:
            scopes, event = _charge(one)
            paid = paid + (allowed(event) if scope is None or scope in scopes else PathLoss())
        if one.kind != RELEASE:
            continue
        mechanism = one.by
        assert isinstance(mechanism, Mechanism)
        known = one.keys is not None and other.keys is not None
        pairs = aligned(one.value, other.value, one.keys, other.keys) if known else None
        moved = movement(mechanism, one.value, other.value, pairs)
        name = type(mechanism).__name__
        if moved.shape:
            return Violation("shape", f"{name} was given more or fewer numbers", other.lines), reach
        if moved.most is not None:
            reach = max(reach, float(moved.far / moved.most) ** (0.5 if moved.norm == "l2" else 1.0))
        if moved.beyond:
            least = _epsilon(lost + moved.loss)
            return Violation("distance", f"an exact value of {name} {moved.words}", other.lines, least), reach
        lost = lost + moved.loss
        if not lost.within(paid):
            words = f"after {name} neighbours have lost {_words(lost)}, and {_words(paid)} was charged"
            return Violation("undercharged", words, other.lines, _epsilon(lost)), reach
    if (here.status, here.seen) != (there.status, there.seen):
        if there.status == "error" or here.status == "error":
            lines = there.lines or here.lines
            return Violation("error", "an error depends on the rows", lines), reach
        last = there.steps[-1].lines if there.steps else ()
        words = f"the answer changes though every release is the same, {_where(here, there)}"
        return Violation("answer", words, last), reach
    return None, reach


def _charge(step: TraceStep) -> tuple[tuple[str, ...], Event]:
    assert isinstance(step.by, tuple)
    scopes, event = step.by
    return scopes, event


def _epsilon(loss: PathLoss) -> float:
    """A pure epsilon that the loss proves; Gaussian noise proves none, so infinite: no epsilon without a delta."""
    return float(loss.pure) if not loss.gaussian else math.inf


def _words(loss: PathLoss) -> str:
    parts = [f"epsilon {float(loss.pure):.6g}"] if loss.pure or not loss.gaussian else []
    if loss.gaussian:
        parts.append(f"{float(loss.gaussian) ** 0.5:.6g} deviations")
    return " and ".join(parts)


def _where(here: Trace, there: Trace) -> str:
    """Around which place two answers part, without the numbers: those may be exact."""
    pairs = enumerate(zip(here.seen, there.seen, strict=False))
    at = next((i for i, (x, y) in pairs if x != y), min(len(here.seen), len(there.seen)))
    return f"from character {at} of {len(here.seen)} on"
