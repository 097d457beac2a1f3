"""Records the steps of a run, and freezes what they released, so that a run on a neighbour goes the same way.

While :func:`watched` runs, and only in the thread that runs it, the release of every mechanism and the source of random
bytes are replaced by ones that record.  A replay returns what was recorded, whatever the exact values are: with the
same transcript, each step is asked of both tables as adaptive composition asks it (docs/proofs/audit.md).

Guarantee: nothing outside this room can start it; it takes no setting, and a curator that the auditor did not make
refuses to sell anything to the thread that is being watched.  Other threads see nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from sys import _getframe
from threading import Lock, get_ident
from types import FrameType
from typing import Any

import numpy as np

from curador.audit.replay.movement import aligned
from curador.audit.replay.trace import DRAW, RELEASE, Trace, TraceStep, lines_here, lines_of, seen
from curador.curator.purchase import Buyer
from curador.errors import InvalidParameter
from curador.mechanisms.base import IntegerNoise, RealNoise
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import Selection, TopK
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import Thresholded
from curador.mechanisms.tree import ContinualCount, RunningCount
from curador.noise import entropy as source

RELEASES: tuple[tuple[type, str], ...] = (
    (RealNoise, "release"),
    (IntegerNoise, "release"),
    (Selection, "release"),
    (TopK, "release"),
    (Quantiles, "release"),
    (AboveThreshold, "release"),
    (RandomizedResponse, "release"),
    (Thresholded, "noisy"),
    (OptimalKeys, "keep"),
    (ContinualCount, "release"),
    (RunningCount, "add"),
)
"""The releases that replay knows: the class and its method.  Others draw as they do, and their draws are frozen."""

GROUPED = (Thresholded, OptimalKeys)
"""Those that select groups, of which a neighbour may have others."""

NOISING = "/curador/query/answer/noise.py"
NOISE_ROOM = "/curador/noise/"
COINS = "bernoulli_array"
"""The only sampler that may draw more for more rows: a coin for each, as a Poisson sample needs."""

_ONE = Lock()


class Parted(BaseException):
    """Two runs went different ways; not an Exception, so that nothing between here and the replay catches it."""

    def __init__(self, said: str, lines: tuple[str, ...], kind: str = "control-flow") -> None:
        super().__init__(said)
        self.said, self.lines, self.kind = said, lines, kind


@dataclass
class WatchedRun:
    """One run as it is watched: what it does, and what it is compared with, if it is a replay."""

    trace: Trace = field(default_factory=Trace)
    before: Trace | None = None
    thread: int = field(default_factory=get_ident)
    inside: int = 0
    admitted: list[object] = field(default_factory=list)

    @property
    def mine(self) -> bool:
        """Whether this is the thread that is watched, and not inside a release already."""
        return get_ident() == self.thread and not self.inside

    def next(self, kind: str, what: object) -> TraceStep | None:
        """The step that the recorded run took here; None while recording."""
        if self.before is None:
            return None
        place = len(self.trace.steps)
        if place >= len(self.before.steps):
            raise Parted(f"one {kind} more than in the recorded run", lines_here(3))
        found = self.before.steps[place]
        if found.kind != kind:
            raise Parted(f"a {kind} where the recorded run had a {found.kind} ({found.line})", lines_here(3))
        if found.by != what:
            raise Parted(f"a {kind} with other parameters: {_apart(found.by, what)}", lines_here(3))
        return found

    def note(self, kind: str, what: object) -> None:
        """A step without a value: a charge, or a reading of rows."""
        if self.mine:
            self.next(kind, what)
            self.trace.steps.append(TraceStep(kind, what, lines=lines_here(2)))


_WATCH: list[WatchedRun] = []


def current() -> WatchedRun | None:
    """The run that this thread is watched in, if any."""
    return next((w for w in _WATCH if w.thread == get_ident()), None)


@contextmanager
def watched(before: Trace | None = None) -> Iterator[WatchedRun]:
    """WatchedRun what this thread does; with ``before``, frozen to what was recorded there.

    Fails: only one run is watched at a time.
    """
    if not _ONE.acquire(blocking=False):
        raise InvalidParameter("Another run is being watched.", fix="Replay one after the other.")
    watch = WatchedRun(before=before)
    kept = [(kind, name, kind.__dict__[name]) for kind, name in (*RELEASES, (Buyer, "buy"))]
    fresh = source._fresh
    try:
        _WATCH.append(watch)
        for kind, name, original in kept[:-1]:
            setattr(kind, name, _recording(watch, original))
        Buyer.buy = _guarding(watch, Buyer.buy)  # type: ignore[method-assign]
        source._fresh = _drawing(watch, fresh)
        yield watch
    finally:
        source._fresh = fresh
        for kind, name, original in kept:
            setattr(kind, name, original)
        _WATCH.clear()
        _ONE.release()


def run_watched(run: Callable[[], object], before: Trace | None = None) -> Trace:
    """The trace of one run, with how it ended.  What comes out is seen by the auditor alone."""
    with watched(before) as watch:
        try:
            watch.trace.seen, watch.trace.status = seen(run()), "answered"
        except Parted:
            raise
        except Exception as error:  # noqa: BLE001  whatever an observer would see, ours or not
            watch.trace.seen, watch.trace.status = f"{type(error).__name__}: {error}", "error"
            watch.trace.lines = lines_of(error)
        if before is not None and len(watch.trace.steps) < len(before.steps):
            missing = before.steps[len(watch.trace.steps)]
            if watch.trace.status == "answered" or before.status != "answered":
                raise Parted(f"a {missing.kind} less than in the recorded run", missing.lines)
        return watch.trace


def _recording(watch: WatchedRun, original: Callable[..., Any]) -> Callable[..., Any]:
    def release(self: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.mine:
            return original(self, value, *args, **kwargs)
        mechanism = self._mechanism if isinstance(self, RunningCount) else self
        value = list(value) if isinstance(mechanism, AboveThreshold) else value  # it may be read only once
        held = watch.next(RELEASE, mechanism)
        watch.inside += 1
        try:
            out = original(self, value, *args, **kwargs)  # in a replay too: a refusal of the value is seen
        finally:
            watch.inside -= 1
        given = deepcopy(value)
        keys = _keys(_getframe(1)) if isinstance(mechanism, GROUPED) else None
        if held is not None:
            out = _frozen(held, given, keys, out)
        watch.trace.steps.append(TraceStep(RELEASE, mechanism, given, deepcopy(out), lines_here(2), keys))
        return out

    return release


def _keys(frame: FrameType | None) -> tuple[object, ...] | None:
    """The keys of the groups that a question selects among, in the order of their counts."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(NOISING) and frame.f_code.co_name == "noise":
            found, places = frame.f_locals["found"], frame.f_locals["places"]
            return tuple(found.keys[i] for i in places)
        frame = frame.f_back
    return None


def _frozen(held: TraceStep, value: Any, keys: tuple[object, ...] | None, out: Any) -> Any:
    """What was recorded, for the groups that are there now."""
    if not isinstance(held.by, GROUPED):
        # Sparse vector stops where its noise says: how many answers it gives is one of its outputs.
        if not isinstance(held.by, AboveThreshold) and np.shape(held.out) != np.shape(out):
            words = f"a release of shape {np.shape(out)} where the recorded one has {np.shape(held.out)}"
            raise Parted(words, lines_here(3), "shape")
        return deepcopy(held.out)
    pairs = aligned(held.value, value, held.keys, keys)
    old = held.out if isinstance(held.out, tuple) else (held.out,)
    new = [np.zeros(len(value), column.dtype) for column in old]
    for i, j in pairs:
        if i is not None and j is not None:
            for column, kept in zip(new, old, strict=True):
                column[j] = kept[i]
        elif i is not None and old[0][i]:
            raise Parted("a shown group is gone", lines_here(3))
    return tuple(new) if isinstance(held.out, tuple) else new[0]


def _drawing(watch: WatchedRun, fresh: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def drawn(n: int) -> bytes:
        if not watch.mine:
            return fresh(n)
        sampler, parameters = _sampler(_getframe(1))
        held = watch.next(DRAW, (sampler, parameters))
        if held is None:
            out = fresh(n)
        elif len(held.out) == n or sampler == COINS:
            # Coins of rows that were not there come up: the victim is in every sample.
            out = held.out[:n] + bytes(max(0, n - len(held.out)))
        else:
            raise Parted(f"{n} random bytes where the recorded run took {len(held.out)}", lines_here(2))
        watch.trace.steps.append(TraceStep(DRAW, (sampler, parameters), None, out, lines_here(2)))
        return out

    return drawn


def _sampler(frame: FrameType | None) -> tuple[str, str]:
    """The sampler that draws, and its numbers: what is outermost in the room of noise."""
    found: FrameType | None = None
    while frame is not None and NOISE_ROOM in frame.f_code.co_filename:
        found, frame = frame, frame.f_back
    if found is None:
        return "bytes", ""
    code, values = found.f_code, found.f_locals
    names = [n for n in code.co_varnames[: code.co_argcount] if n not in ("n", "size", "entropy", "self")]
    told = {n: values[n] for n in names if isinstance(values.get(n), int | Fraction)}
    own = values.get("self")
    told |= {n: getattr(own, n) for n in ("scale", "variance") if hasattr(own, n)}
    return code.co_name, ", ".join(f"{n} = {x}" for n, x in sorted(told.items()))


def _guarding(watch: WatchedRun, original: Callable[..., Any]) -> Callable[..., Any]:
    def buy(self: Any, *args: Any, **kwargs: Any) -> Any:
        if get_ident() == watch.thread and not any(self is known for known in watch.admitted):
            raise InvalidParameter(
                "A curator that the auditor did not make sells nothing while a run is watched.",
                fix="Replay questions by the auditor's own functions, which make tables up.",
            )
        return original(self, *args, **kwargs)

    return buy


def _apart(one: object, other: object) -> str:
    return f"{one} against {other}"[:400]
