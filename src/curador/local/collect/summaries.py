"""The summaries of a collection: its tally as plain values for tables, files and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from curador.errors import InvalidValue
from curador.local.task.keys import LocalKey
from curador.local.task.tally import Tally
from curador.local.task.task import Task
from curador.show.summary import Summary


def summarize(
    task: Task,
    tally: Tally,
    *,
    candidates: Sequence[LocalKey] | None = None,
    confidence: float = 0.95,
    projected: bool = False,
) -> tuple[Summary, ...]:
    """Summarize a tally as plain values: one summary, or one for each attribute of a record.

    ``candidates`` are the keys to ask a sketch or RAPPOR about; other tasks refuse them.  ``projected`` moves
    frequencies to the nearest that are at least 0 and sum to 1, which biases them.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=2)
    >>> (found,) = summarize(task, task.tally([0, 0, 1]))
    >>> found.labels, len(found.low), found.biased
    (('a', 'b'), 2, False)
    """
    estimate = task.estimate(tally, candidates, confidence=confidence)
    found = (estimate.projected() if projected else estimate).summaries(confidence)
    if not all(map(isfinite, (x for one in found for x in (*one.values, *one.low, *one.high, *one.error)))):
        raise InvalidValue("This tally cannot be a count of reports on this task.", fix="Count the reports again.")
    known = () if task.caution is None else (task.caution,)
    return tuple(replace(one, notes=one.notes + known) for one in found)
