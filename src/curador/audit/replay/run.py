"""Anything that uses mechanisms, replayed on neighbours: the one loop behind every replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from curador.accounting.events import Event
from curador.audit.finding import Finding
from curador.audit.replay.compare import Violation, compared, untouched
from curador.audit.replay.seam import Parted, run_watched
from curador.audit.replay.trace import RELEASE
from curador.errors import InvalidParameter
from curador.privacy import Guarantee

World = TypeVar("World")


def replay(
    subject: str,
    run: Callable[[World], object],
    base: World,
    neighbours: Iterable[tuple[str, World]],
    *,
    charged: Event | None = None,
    claim: Guarantee | None = None,
    scope: str | None = None,
) -> Finding:
    """Run on ``base``, then on each named neighbour with the noise frozen; the first difference is a violation.

    ``charged`` is the event that pays for a run.  Without it the run pays by itself, from a ledger of the auditor's.

    ``details["reach"]`` is the largest part of a declared sensitivity that a neighbour used: 1 is a real test of it.

    Guarantee: a violation is one: with the same transcript the neighbours part in something that composition does not
        cover, and the floor is infinite; or by more than was paid for, and it is what they lost (docs/proofs/audit.md).
        An audit that finds none proves nothing of other neighbours.
    Assumes: the rows are the auditor's own, or the caller may see them; the run is a function of its rows and of
        curador's noise.

    >>> import numpy as np
    >>> from curador.mechanisms.laplace import Laplace
    >>> noise = Laplace(100, epsilon=1)
    >>> ages, older = np.full(50, 40.0), np.append(np.full(50, 40.0), 1e6)
    >>> def clipped(x): return noise.release(np.clip(x, 0, 100).sum())
    >>> def forgotten(x): np.clip(x, 0, 100); return noise.release(x.sum())
    >>> print(replay("sum", clipped, ages, [("old", older)], charged=noise.event).sentence())
    sum: no violation found with n = 1; would have found any exact value that moves further than declared ...
    >>> replay("sum", forgotten, ages, [("old", older)], charged=noise.event).details["kind"]
    'distance'
    """
    here = run_watched(lambda: run(base))
    releases = sum(step.kind == RELEASE for step in here.steps)
    if here.status == "error" and not releases:
        raise InvalidParameter(f"The run to be recorded failed: {here.seen}", fix="Replay something that answers.")
    found = untouched(here, charged)
    which, tried, reach = "the recorded run itself", 0, 0.0
    if found is None:
        for label, world in neighbours:
            tried, which = tried + 1, label
            try:
                there = run_watched(lambda world=world: run(world), here)  # type: ignore[misc]
            except Parted as apart:
                found = Violation(apart.kind, apart.said, apart.lines)
            else:
                found, moved = compared(here, there, charged, scope)
                reach = max(reach, moved)
            if found is not None:
                break
    details: dict[str, object] = {"neighbours": tried, "releases": releases, "steps": len(here.steps)}
    details["reach"] = reach
    if found is None:
        words = f"any exact value that moves further than declared at one of {releases} releases"
        if releases and not reach and tried:
            words = "nothing of a sensitivity: no neighbour moved an exact value"
        return Finding(subject, claim, 0.0, 1.0, tried, detectable=words, details=details)
    details |= {"kind": found.kind, "neighbour": which, "lines": list(found.lines)}
    witness = f"{found.witness} ({which})"
    return Finding(subject, claim, found.least, 1.0, max(tried, 1), violated=True, witness=witness, details=details)
