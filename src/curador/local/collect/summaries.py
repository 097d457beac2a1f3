"""What a task's estimate says, as plain values: for tables, files and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from math import ceil, isfinite, nextafter
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.local.frequency.dbitflip import PartFrequencies
from curador.local.frequency.estimates import Frequencies, Projected
from curador.local.frequency.oracle import Oracle
from curador.local.numeric.base import Mean
from curador.local.numeric.record import Record
from curador.local.numeric.unfold import Distribution
from curador.local.numeric.vector import Means
from curador.local.repeated.longitudinal import Longitudinal
from curador.local.task.keys import LocalKey
from curador.local.task.tally import Tally
from curador.local.task.task import Task
from curador.local.unlisted.heavy_hitters import HeavyHitters
from curador.local.unlisted.prefix_search import Hitters
from curador.local.unlisted.rappor import Rappor
from curador.local.unlisted.regress import Regressed
from curador.local.unlisted.sketch import Sketch, Sketched
from curador.show.estimates import Estimated, as_percent

BIASED = "Biased: moved to the nearest frequencies that are at least 0 and sum to 1; there are no intervals."
SMOOTH = "Biased: the most likely distribution that is smooth; there are no intervals."
LIKELY = "Biased: the most likely distribution; there are no intervals."
HASHED = "Keys that meet by the public hash functions are counted for each other; the intervals allow for that."
LISTED = "Unbiased only if every person's key is a candidate; the intervals are approximate."
NOT_COMPLETE = "There are too few reports to say of any value, however frequent, that it would be here."
FOUND = "Values that were only just found are overestimated on average; there are no intervals."
NOBODY = "Nobody reported on it."
JOINT = "The intervals hold for all keys of all attributes at once."
ONE_PERIOD = (
    "A folder is for one period, with one report of each person. Those of a second period would be counted as other "
    "people, and the intervals would be too narrow: use a folder for each period."
)


def findings(
    task: Task,
    tally: Tally,
    *,
    candidates: Sequence[LocalKey] | None = None,
    confidence: float = 0.95,
    projected: bool = False,
) -> tuple[Estimated, ...]:
    """What is estimated from a tally: one finding, or one for each attribute of a record.

    ``candidates`` are the keys to ask a sketch or RAPPOR about, and nothing else takes any.  ``projected`` moves
    frequencies to ones that could be true, which biases them.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=2)
    >>> (found,) = findings(task, task.tally([0, 0, 1]))
    >>> found.labels, len(found.low), found.biased
    (('a', 'b'), 2, False)
    """
    estimate = _estimated(task, tally, candidates, confidence)
    each = _each(confidence, len(task.names)) if isinstance(task, Record) else confidence
    found = tuple(_noted(one, confidence, caution(task)) for one in shown(estimate, each, projected))
    if projected and not any(one.biased for one in found):
        raise InvalidParameter("Only frequencies can be projected.", fix="Leave projected out.")
    if not all(map(isfinite, (x for one in found for x in (*one.values, *one.low, *one.high, *one.error)))):
        raise InvalidValue("No reports on this task can be counted like this.", fix="Count the reports again.")
    return _all_attributes(task, found) if isinstance(task, Record) else found


@singledispatch
def caution(task: Any) -> str:
    """What to know about a task before its reports are collected; mostly nothing.

    >>> from curador.local import KRR, Rappor
    >>> caution(KRR(keys=2, epsilon=1)), caution(Rappor(epsilon=1))[:31]
    ('', 'A folder is for one period, wit')
    """
    return ""


@caution.register(Longitudinal)
@caution.register(Rappor)
def _(task: Longitudinal | Rappor) -> str:
    return ONE_PERIOD


def _each(confidence: float, statements: int) -> float:
    """The confidence of each statement with which all hold together; never rounded down."""
    return confidence if statements == 1 else nextafter(1 - (1 - confidence) / statements, 1.0)


def _noted(one: Estimated, confidence: float, more: str) -> Estimated:
    return replace(one, confidence=confidence if one.low else None, note=" ".join(filter(None, (one.note, more))))


def _all_attributes(task: Record, found: tuple[Estimated, ...]) -> tuple[Estimated, ...]:
    """One finding for each attribute, also for those that nobody drew, and what the intervals are about."""
    known = {one.name: replace(one, note=JOINT) if one.low and len(task.names) > 1 else one for one in found}
    return tuple(
        known.get(name)
        or Estimated("frequencies" if isinstance(part, Oracle) else "mean", (), (), 0, name=name, note=NOBODY)
        for name, part in zip(task.names, task.parts, strict=True)
    )


@singledispatch
def _estimated(task: Any, tally: Tally, candidates: Sequence[LocalKey] | None, confidence: float) -> Any:
    if candidates is not None:
        raise InvalidParameter(
            f"The mechanism {task.mechanism} knows its keys; it takes no candidates.", fix="Leave --candidates out."
        )
    return task.estimate(tally)


@_estimated.register(Sketch)
@_estimated.register(Rappor)
def _(task: Sketch | Rappor, tally: Tally, candidates: Sequence[LocalKey] | None, confidence: float) -> Any:
    if candidates is None:
        raise InvalidParameter(
            f"The mechanism {task.mechanism} does not list its keys.",
            fix="Name the keys to ask about: candidates=[…], or --candidates.",
        )
    return task.estimate(tally, candidates)


@_estimated.register
def _(task: HeavyHitters, tally: Tally, candidates: Sequence[LocalKey] | None, confidence: float) -> Any:
    if candidates is not None:
        raise InvalidParameter("Heavy hitters are found without candidates.", fix="Leave --candidates out.")
    return task.find(tally, confidence=confidence)


@singledispatch
def shown(estimate: Any, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    """An estimate of any kind as plain values: register one rule per kind.

    >>> shown(Projected(("a", "b"), np.array([1.0, 0.0])), 0.95, False)[0].biased
    True
    """
    raise InvalidParameter(f"{type(estimate).__name__} is no estimate.", fix="Pass what estimate() gave.")


@shown.register(Frequencies)
@shown.register(PartFrequencies)
def _(estimate: Frequencies | PartFrequencies, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    if projected:
        return tuple(replace(one, users=estimate.users) for one in shown(estimate.projected(), confidence, False))
    return (_with_limits(estimate, confidence),)


@shown.register
def _(estimate: Projected, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    values = _floats(estimate.values)
    return (Estimated("frequencies", estimate.keys, values, 0, biased=True, note=BIASED),)


@shown.register
def _(estimate: Sketched, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    return (replace(_with_limits(estimate, confidence), note=HASHED),)


@shown.register
def _(estimate: Regressed, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    return (replace(_with_limits(estimate, confidence), note=LISTED, approximate=True),)


@shown.register
def _(estimate: Hitters, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    labels = tuple(f"{key}…" if cut else key for key, cut in zip(estimate.keys, estimate.cut, strict=True))
    note = NOT_COMPLETE
    if estimate.complete_above <= 1:
        least = ceil(1e5 * estimate.complete_above) / 1e3  # rounded up: what is said to be complete is
        sure = (
            f"With {as_percent(confidence)} confidence every value that {least:g}% of the people or more have is here"
        )
        note = f"{sure}; others may be."
    made = _frequencies(estimate, error=_floats(np.sqrt(estimate.variance)), note=f"{note} {FOUND}")
    return (replace(made, labels=labels),)


@shown.register
def _(estimate: Mean, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    low, high = estimate.interval(confidence)
    return (
        Estimated(
            kind="mean",
            labels=("mean",),
            values=(estimate.value,),
            users=estimate.users,
            low=(low,),
            high=(high,),
            error=(float(np.sqrt(estimate.variance)),),
            bounds=(float(estimate.task.low), float(estimate.task.high)),
        ),
    )


@shown.register
def _(estimate: Means, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    low, high = (_floats(limit) for limit in estimate.interval(confidence))
    values = _floats(estimate.values)
    bounds = float(estimate.task.low), float(estimate.task.high)
    error = (float(np.sqrt(estimate.variance)),) * len(values)
    labels = tuple(range(len(values)))
    return (Estimated("means", labels, values, estimate.users, low=low, high=high, error=error, bounds=bounds),)


@shown.register
def _(estimate: Distribution, confidence: float, projected: bool) -> tuple[Estimated, ...]:
    values, edges = _floats(estimate.values), _floats(estimate.edges)
    note = SMOOTH if estimate.smooth else LIKELY
    labels = tuple(range(len(values)))
    return (Estimated("distribution", labels, values, estimate.users, edges=edges, biased=True, note=note),)


@shown.register(dict)
def _(estimate: dict[str, Any], confidence: float, projected: bool) -> tuple[Estimated, ...]:
    return tuple(
        replace(found, name=name)
        for name, part in estimate.items()
        for found in shown(part, confidence, projected and isinstance(part, Frequencies))
    )


def _with_limits(estimate: Any, confidence: float) -> Estimated:
    low, high = (_floats(limit) for limit in estimate.interval(confidence))
    return _frequencies(estimate, low=low, high=high, error=_floats(np.sqrt(estimate.variance)))


def _frequencies(estimate: Any, **more: Any) -> Estimated:
    return Estimated("frequencies", estimate.keys, _floats(estimate.values), estimate.users, **more)


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, np.float64).tolist())
