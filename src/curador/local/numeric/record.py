"""Records of many attributes, numbers and categories: each person reports on a few, drawn at random."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.forks import cached_property
from curador.local.frequency.estimates import Frequencies
from curador.local.frequency.oracle import Oracle
from curador.local.frequency.planning import best_oracle
from curador.local.frequency.subset import choose_cells
from curador.local.numeric.base import Mean
from curador.local.numeric.duchi import Duchi
from curador.local.numeric.hybrid import Hybrid
from curador.local.numeric.piecewise import Piecewise
from curador.local.repeated.longitudinal import Longitudinal
from curador.local.task.estimate import LocalEstimate
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout
from curador.local.task.tally import Tally, checked_sum
from curador.local.task.task import Task, check_thresholds, checked_epsilon, checked_threshold, part_from_json
from curador.local.unlisted.evidence import nearly_always_reached
from curador.mechanisms.base import checked_confidence
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, number_of_people, rational, set_fields
from curador.show.summary import EstimateKind, EstimateNote, Summary

AttributeOracle = Oracle | Hybrid | Piecewise | Duchi
"""The randomizers of an attribute; Laplace's is missing, since the intervals of a part need bounded noise."""

AttributeEstimate = TypeVar("AttributeEstimate", bound=LocalEstimate, covariant=True)

NOBODY = EstimateNote("nobody-reported")
JOINT = EstimateNote("joint-intervals")

NAMES_MOST = 1 << 10
PLANNED = 100_000
"""The number of people for which the oracles of categories are chosen; it hardly matters to the choice."""
FEWER = 0.1
"""The share of the miss for an attribute that fewer people draw than foreseen."""
WORTH = Fraction(5, 2)
"""The epsilon that a further attribute is worth [WXYZ19, Section IV]."""


@dataclass(frozen=True)
class Range:
    """The bounds of a number.

    >>> Range(0, 100)
    Range(low=0, high=100)
    """

    low: Number
    high: Number


@dataclass(frozen=True)
class Choice:
    """The keys of a category, and the key that stands for everything else.

    >>> Choice(["no", "yes"], rest="no").rest
    'no'
    """

    keys: int | Sequence[LocalKey]
    rest: LocalKey | None = None


AttributeKind = Range | Choice | Sequence[LocalKey] | int
"""The kinds of attributes: a number between bounds, or one of some keys."""


@dataclass(frozen=True, eq=False, repr=False)
class RecordEstimate(LocalEstimate, Mapping[str, AttributeEstimate]):
    """The estimates of a record by attribute, a mapping without the attributes that no person drew.

    Guarantee: the intervals of :meth:`summaries` hold for all attributes at once, each at its share of the miss.

    >>> task = Record({"age": Range(0, 100), "smokes": ["no", "yes"]}, epsilon=6)
    >>> found = task.estimate(task.randomize({"age": [40.0] * 90, "smokes": ["no"] * 90}))
    >>> list(found), found["age"].users, [one.name for one in found.summaries(0.9)]
    (['age', 'smokes'], 90, ['age', 'smokes'])
    """

    task: Record
    users: int
    attributes: Mapping[str, AttributeEstimate]

    def __getitem__(self, name: str) -> AttributeEstimate:
        return self.attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def projected(self) -> RecordEstimate[LocalEstimate]:
        """Project all frequencies, and leave means as they are; refused if there are only means."""
        moved: dict[str, LocalEstimate] = {
            name: one.projected() if isinstance(one, Frequencies) else one for name, one in self.attributes.items()
        }
        if not any(one.biased for one in moved.values()):
            super().projected()  # refused
        return RecordEstimate(self.task, self.users, moved)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        return tuple(
            self._summary(name, part, confidence) for name, part in zip(self.task.names, self.task.parts, strict=True)
        )

    def _summary(self, name: str, part: AttributeOracle, confidence: float) -> Summary:
        if name not in self.attributes:
            kind: EstimateKind = "frequencies" if isinstance(part, Oracle) else "mean"
            return Summary(kind, (), (), 0, name=name, notes=(NOBODY,))
        several = len(self.task.names)
        # The confidence of each statement so that all hold together; never rounded down.
        each = confidence if several == 1 else math.nextafter(1 - (1 - confidence) / several, 1.0)
        (one,) = self.attributes[name].summaries(each)
        if not one.low:
            return replace(one, name=name)
        return replace(one, name=name, confidence=confidence, notes=(JOINT,) if several > 1 else one.notes)


@dataclass(frozen=True, init=False)
class Record(Task, mechanism="record"):
    """Reports on ``sampled`` attributes, drawn by each person, each at an equal share of epsilon.

    Numbers are reported by :class:`Hybrid`, categories by :func:`best_oracle`.  The draw of attributes does not depend
    on the values, and a report states it.  An attribute is estimated from the people who drew it, a uniform part of
    all.  That is unbiased for all, with less variance than counting the others as zeros.

    Guarantee: epsilon-local DP: the draw is independent of the record, and the shares add up [WXYZ19].
        Intervals cover the frequencies and means of all who reported, not only of those who drew the attribute.
    Assumes: every report was made by the task's randomizer.  A liar may choose the attribute, and so weighs there as
        much as names/sampled people.

    >>> task = Record({"age": Range(0, 100), "smokes": ["no", "yes"]}, epsilon=2)
    >>> reports = task.randomize({"age": [30, 40, 50, 60] * 100, "smokes": ["no", "yes", "no", "no"] * 100})
    >>> found = task.estimate(reports)
    >>> found["age"].users + found["smokes"].users
    400
    """

    needs = ("attributes",)
    takes = ("sampled",)
    packed = True

    names: tuple[str, ...]
    parts: tuple[AttributeOracle, ...]
    epsilon: Fraction
    sampled: int

    def __init__(self, attributes: Mapping[str, AttributeKind], epsilon: Number, *, sampled: int | None = None) -> None:
        whole_epsilon, d = checked_epsilon(epsilon), len(attributes)
        if not d or not all(isinstance(name, str) for name in attributes):
            raise InvalidParameter("A record has attributes, named by strings.", fix="Name at least one.")
        if sampled is None:
            sampled = max(1, min(d, math.floor(whole_epsilon / WORTH)))
        share = whole_epsilon / checked_threshold(sampled, "sampled", d + 1)
        self._set(tuple(attributes), tuple(_part(kind, share) for kind in attributes.values()), whole_epsilon, sampled)

    def _set(self, names: tuple[str, ...], parts: tuple[AttributeOracle, ...], epsilon: Fraction, sampled: int) -> None:
        if len(names) > NAMES_MOST:
            raise InvalidParameter(f"A record has at most {NAMES_MOST} attributes.", fix="Ask about fewer.")
        set_fields(self, names=names, parts=parts, epsilon=epsilon, sampled=sampled)
        check_thresholds(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Record:
        names, parts = body["names"], body["parts"]
        if not isinstance(names, list) or not isinstance(parts, list) or not 0 < len(names) == len(parts):
            raise InvalidParameter("A record has one part for each name.", fix="Use to_json().")
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise InvalidParameter("A record's names are different strings.", fix="Use to_json().")
        kinds = (part.get("mechanism") if isinstance(part, Mapping) else None for part in parts)
        if any(kind in (None, cls.mechanism, Longitudinal.mechanism) for kind in kinds):  # before reading any part
            raise InvalidParameter("A record cannot be made of these parts.", fix="Use to_json().")
        read = tuple(part_from_json(part) for part in parts)
        if not all(isinstance(part, AttributeOracle) for part in read):
            raise InvalidParameter("A record cannot be made of these parts.", fix="Use to_json().")
        made = object.__new__(cls)
        sampled = checked_threshold(body["sampled"], "sampled", len(names) + 1)
        made._set(tuple(names), read, checked_epsilon(body["epsilon"]), sampled)  # type: ignore[arg-type]
        return made

    @property
    def ratio(self) -> Fraction:
        return math.prod(sorted((part.ratio for part in self.parts), reverse=True)[: self.sampled], start=Fraction(1))

    @property
    def report_bits(self) -> int:
        index = (len(self.names) - 1).bit_length()
        return sum(sorted((part.report_bits + index for part in self.parts), reverse=True)[: self.sampled])

    @property
    def layout(self) -> Layout:
        return Layout(1, self.sampled * self._slot)

    @property
    def _slot(self) -> int:
        # An attribute's number in two bytes, then its report, padded with zeros to the longest.
        return 2 + max(part.layout.size for part in self.parts)

    def randomize(self, values: Mapping[str, Any], *, entropy: Entropy = SYSTEM) -> NDArray[np.uint8]:
        """Draw a report, a row of bytes, for each person.

        It holds the drawn attributes by rising number, with their reports.
        """
        if not isinstance(values, Mapping) or set(values) != set(self.names):
            raise InvalidValue(f"This task is about {list(self.names)}.", fix="Give one column for each.")
        # All values are read before any attribute is drawn: else a refusal would show who drew which.
        columns = [part.read(values[name]) for name, part in zip(self.names, self.parts, strict=True)]
        if len({column.size for column in columns}) != 1:
            raise InvalidValue("The columns are not of one length.", fix="Give one value per person in each.")
        n = columns[0].size
        drawn = np.zeros((len(self.names), n), bool)
        choose_cells(drawn.T, np.arange(n), self.sampled, len(self.names), entropy)
        reports = np.zeros((n, self.sampled, self._slot), np.uint8)
        filled = np.zeros(n, np.int64)
        for j, (part, column) in enumerate(zip(self.parts, columns, strict=True)):
            people = np.flatnonzero(drawn[j])
            slot = filled[people]
            reports[people, slot, :2] = j >> 8, j & 255
            rows = part.to_bytes(part._report(column[people], entropy))
            reports[people, slot, 2 : 2 + rows.shape[1]] = rows
            filled[people] += 1
        return reports.reshape(n, self.layout.size)

    def errors(self, users: int, confidence: float = 0.95) -> dict[str, float]:
        """Bound the error of each attribute's estimates, all together, with this confidence, for any data.

        Refused for so few people that perhaps some attribute is never drawn.

        >>> task = Record({"age": Range(0, 100), "smokes": ["no", "yes"]}, epsilon=2)
        >>> sorted(task.errors(10**4)) == ["age", "smokes"] and task.errors(10**6)["smokes"] < 0.01
        True
        """
        n, several = number_of_people(users), len(self.names)
        miss = (1 - checked_confidence(confidence)) / several
        mine, drawn = n, self.sampled < several
        if drawn:
            mine = nearly_always_reached(n, self.sampled / several, miss * FEWER)
            miss *= 1 - FEWER
        if mine < 1:
            raise InvalidParameter(
                f"With {n} people some attribute is perhaps never drawn.",
                fix="Ask more people, or about fewer attributes.",
                code="error-not-known",
            )
        # With more people than ``mine`` every part is off by less.
        each = math.nextafter(1 - miss, 1.0)
        return {
            name: part.error(mine, each) if isinstance(part, Oracle) else part.error(mine, each, sampled=drawn)
            for name, part in zip(self.names, self.parts, strict=True)
        }

    def _by_attribute(self, reports: NDArray[np.uint8]) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8]]]:
        """For each attribute number found in the reports, yield the slots that have it, and their bytes."""
        slots = reports.reshape(-1, self._slot)
        number = slots[:, 0].astype(np.uint16) << np.uint16(8) | slots[:, 1]
        order = np.argsort(number, kind="stable")  # a counting sort: numbers are short
        present, first = np.unique(number[order], return_index=True)
        for j, where in zip(present.tolist(), np.split(order, first[1:]), strict=False):  # no slots still give one part
            yield j, where, slots[where, 2:]

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        number = np.full(len(reports) * self.sampled, -1)  # of the sound slots
        for j, where, rows in self._by_attribute(reports):
            if j < len(self.parts):
                part = self.parts[j]
                size = part.layout.size
                fits = part._sound(part.from_bytes(rows[:, :size])) & ~rows[:, size:].any(axis=1)
                number[where[fits]] = j
        drawn = number.reshape(len(reports), self.sampled)
        sound: NDArray[np.bool_] = (drawn[:, 0] >= 0) & (drawn[:, 1:] > drawn[:, :-1]).all(axis=1)  # none drawn twice
        return sound

    def tally(self, reports: Any) -> Tally:
        """Count for each attribute its reports, then its part's counts, one after the other.

        Tallies of parts add up to the tally of the whole.
        """
        found = self._checked(reports)
        support = np.zeros(sum(self._sizes), np.int64)
        mine = np.split(support, np.cumsum(self._sizes)[:-1])
        for j, _, rows in self._by_attribute(found):
            part = self.parts[j]
            one = part.tally(part.from_bytes(rows[:, : part.layout.size]))
            mine[j][0], mine[j][1:] = one.users, one.support
        return Tally(len(found), support)

    @cached_property
    def _sizes(self) -> list[int]:
        return [1 + part.empty_tally().support.size for part in self.parts]

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> RecordEstimate[Frequencies | Mean]:
        """Estimate each attribute's frequencies or mean, with intervals for all who reported."""
        tally = self._counted(reports, candidates)
        if not tally.users or tally.support.shape != (sum(self._sizes),):
            raise InvalidParameter("There are no reports on this task.", fix="Collect some first.")
        supports = np.split(tally.support, np.cumsum(self._sizes)[:-1])
        checked_sum(Tally(tally.users * self.sampled, np.array([mine[0] for mine in supports])))
        found: dict[str, Frequencies | Mean] = {
            name: part.estimate(Tally(int(mine[0]), mine[1:])).of_a_part(tally.users)
            for name, part, mine in zip(self.names, self.parts, supports, strict=True)
            if mine[0]
        }
        return RecordEstimate(self, tally.users, found)


def _part(kind: AttributeKind, epsilon: Fraction) -> AttributeOracle:
    if isinstance(kind, Range):
        return Hybrid(rational(kind.low, "low"), rational(kind.high, "high"), epsilon)
    chosen = kind if isinstance(kind, Choice) else Choice(kind)
    return best_oracle(chosen.keys, epsilon, PLANNED, rest=chosen.rest)
