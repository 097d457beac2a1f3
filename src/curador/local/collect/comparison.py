"""The difference between two estimates of one question: over periods, or between public segments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from curador.errors import InvalidParameter
from curador.local.task.estimate import LocalEstimate
from curador.local.task.task import Task
from curador.mechanisms.base import checked_confidence
from curador.numbers import above, below
from curador.show.summary import EstimateNote, Summary

DIFFERENCE = EstimateNote("difference")


@dataclass(frozen=True, eq=False, repr=False)
class Difference(LocalEstimate):
    """The difference of two estimates of the same keys or numbers.

    Guarantee: the intervals of :meth:`summaries` cover all true differences together, with at least the confidence
        asked for.  Each side misses with at most half of the chance, so the two groups may share people.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["tea", "water"], epsilon=4)
    >>> found = Difference(task.estimate([0] * 300 + [1] * 300), task.estimate([0] * 450 + [1] * 150))
    >>> [round(value, 2) for value in found.summaries()[0].values]
    [0.26, -0.26]
    """

    first: LocalEstimate
    second: LocalEstimate

    @property
    def users(self) -> int:
        """The number of reports that both estimates are from."""
        return self.first.users + self.second.users

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        each = math.nextafter(1 - (1 - checked_confidence(confidence)) / 2, 1.0)
        both = zip(self.first.summaries(each), self.second.summaries(each), strict=True)
        return tuple(_less(one, other, confidence) for one, other in both)


def compare(first: Task, second: Task, before: LocalEstimate, after: LocalEstimate) -> Difference:
    """Subtract the first estimate from the second.

    The tasks must ask the same of different times or segments.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["tea", "water"], epsilon=4)
    >>> old, new = (task.named("drinks", period=year) for year in ("2025", "2026"))
    >>> compare(old, new, old.estimate([0, 1]), new.estimate([0, 0])).users
    4
    """
    if first.id == second.id:
        raise InvalidParameter("These are reports on one task.", fix="Compare two periods or segments of a question.")
    if (first.name, first.mechanism) != (second.name, second.mechanism):
        raise InvalidParameter(
            f"{first.title} and {second.title} are different questions.",
            fix="Compare tasks of one name and mechanism, which differ in their period or segment.",
        )
    return Difference(before, after)


def _less(one: Summary, other: Summary, confidence: float) -> Summary:
    if (one.kind, one.labels, one.name) != (other.kind, other.labels, other.name):
        raise InvalidParameter("These estimates are not of the same keys.", fix="Ask both about the same.")
    if not one.low or not other.low:
        raise InvalidParameter("Estimates without intervals cannot be compared.", fix="Leave them as they are.")
    pairs = list(zip(one.low, one.high, other.low, other.high, strict=True))
    return replace(
        other,
        values=tuple(b - a for a, b in zip(one.values, other.values, strict=True)),
        low=tuple(below(low - high) for _, high, low, _ in pairs),
        high=tuple(above(high - low) for low, _, _, high in pairs),
        error=(),
        bounds=None,
        users=one.users + other.users,
        confidence=confidence,
        approximate=one.approximate or other.approximate,
        notes=(DIFFERENCE,),
    )
