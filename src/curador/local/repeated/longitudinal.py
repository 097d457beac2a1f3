"""Repeated questions to the same people: a permanent answer per value, randomised again each time.

The first time a person has a value, the device draws a permanent answer for it and stores that [EPK14].  Every report
is randomised again, from the permanent answer alone.  So any number of reports reveals no more than that answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import PureLoss
from curador.accounting.precise import dec, digits, fraction_above
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local.frequency.krr import OneKey, kept_or_uniform
from curador.local.task.keys import LocalKey, numbered
from curador.local.task.task import ONE_PERIOD, checked_threshold, task_from_json
from curador.local.task.thresholds import keep_threshold, within_epsilon
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, positive, set_fields, whole
from curador.privacy import Neighbors
from curador.show.summary import EstimateNote

NO_SLOT = -1
VALUES_MOST = 1 << 10


@dataclass(frozen=True, init=False)
class Longitudinal(OneKey, mechanism="longitudinal"):
    """A question asked many times of the same people.

    ``epsilon`` is for all reports a person will ever send, charged up front.

    A permanent answer is the key itself with probability keep/2**bits, else a uniform key.  A report is the permanent
    answer with probability again/2**bits, else a uniform key.  The first ``values`` different values of a person get a
    permanent answer each.  For later values the device repeats the answer it used last, because silence would reveal
    a change.

    Guarantee: for two histories of a person with the same changes, no sequence of reports is more than exp(epsilon)
        times as likely under one as under the other, whatever their number: docs/proofs/longitudinal.md.
    Assumes: the device keeps its state, and saves it before it sends.
    Fails: ``epsilon`` does not cover that something changed, nor when: an old and a new permanent answer may differ.
        Only the second randomisation blurs it; :meth:`anything` gives a loss that covers it too.

    >>> task = Longitudinal(["tea", "coffee", "water"], epsilon=4, values=2, first=1)
    >>> device, report = Device.of(task).report("tea")
    >>> device.used, 0 <= report < 3
    (1, True)
    >>> task.event
    Traceback (most recent call last):
    curador.errors.NotPromised: With more than one value that is protected, epsilon covers no change of value. ...
    >>> Longitudinal(3, epsilon=2, values=1, first=1).event
    PureLoss(epsilon=Fraction(2, 1), neighbors=<Neighbors.REPLACE: 'replace'>)
    """

    needs = ("keys", "values", "first")
    covers = EstimateNote("reports-changing")
    caution = ONE_PERIOD
    remembers = True

    values: int
    keep: int
    again: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        *,
        values: int,
        first: Number | None = None,
        rest: LocalKey | None = None,
        keep: int | None = None,
        again: int | None = None,
        bits: int = 32,
    ) -> None:
        self._begin(keys, epsilon, rest, bits)
        set_fields(self, values=checked_threshold(values, "values", VALUES_MOST + 1))
        keep = keep_threshold(self.size, self.epsilon / self.values, bits) if keep is None else keep
        set_fields(self, keep=checked_threshold(keep, "keep", 1 << bits))
        again = self._again(first) if again is None else again
        set_fields(self, again=checked_threshold(again, "again", 1 << bits))
        self._end()

    def _again(self, first: Number | None) -> int:
        """The most of the permanent answer that a report may keep for one report alone to keep ``first``."""
        if first is None:
            raise InvalidParameter("Say what one report may cost.", fix="Choose first below epsilon / values.")
        one = positive(first, "first")
        if one >= self.epsilon / self.values:
            raise InvalidParameter(
                f"One report at {one} leaves nothing to blur: the permanent answer keeps {self.epsilon / self.values}.",
                fix="Choose first below epsilon / values.",
            )
        return keep_threshold(self.size, one, 2 * self.bits) // self.keep

    @property
    def kept(self) -> Fraction:
        """The probability that a report is the key itself rather than a uniform key of either draw."""
        return Fraction(self.keep * self.again, 1 << 2 * self.bits)

    @property
    def p(self) -> Fraction:
        return self.kept + self.q

    @property
    def q(self) -> Fraction:
        return (1 - self.kept) / self.size

    @property
    def ratio(self) -> Fraction:
        """The largest probability ratio of all permanent answers together, hence of any reports on them."""
        return self._kept_ratio(Fraction(self.keep, 1 << self.bits)) ** self.values

    def _kept_ratio(self, kept: Fraction) -> Fraction:
        return 1 + kept * self.size / (1 - kept)

    @property
    def event(self) -> PureLoss:
        """The event of all reports together, where ``epsilon`` covers every change of a person's values.

        With one value it does: every report is about the first.  With more values it covers only histories with the
        same changes, and an event must not claim a bound that holds for some neighbours only.
        """
        if self.values > 1:
            raise NotPromised(
                "With more than one value that is protected, epsilon covers no change of value.",
                fix="Charge anything(reports), which covers all, or protect one value.",
            )
        return PureLoss(self.epsilon, Neighbors.REPLACE)

    def one_report_keeps(self, epsilon: Number) -> bool:
        """Whether one report alone keeps ``epsilon``: proved in integers.

        >>> task = Longitudinal(16, epsilon=4, values=2, first=1)
        >>> task.one_report_keeps(1), task.one_report_keeps("0.999999")
        (True, False)
        """
        return within_epsilon(self._kept_ratio(self.kept), positive(epsilon, "epsilon"))

    def anything(self, reports: int) -> PureLoss:
        """The loss that covers everything about a person, also changes.

        Each further report costs a second draw.

        >>> task = Longitudinal(16, epsilon=4, values=2, first=1)
        >>> [round(float(task.anything(n).epsilon), 2) for n in (1, 2, 10)]
        [1.0, 3.22, 21.01]
        """
        more = whole(reports, "reports", 1) - 1
        with digits():
            first = fraction_above(dec(self._kept_ratio(self.kept)).ln())
            each = fraction_above(dec(self._kept_ratio(Fraction(self.again, 1 << self.bits))).ln())
        return PureLoss(first + more * each, Neighbors.REPLACE)

    def permanent(self, own: NDArray[np.int64], entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """A permanent answer for each key by number."""
        return kept_or_uniform(own, self.keep, self.bits, self.size, entropy)

    def instant(self, answers: NDArray[Any], entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """A fresh report for each permanent answer."""
        return kept_or_uniform(answers, self.again, self.bits, self.size, entropy)

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        return self.instant(self.permanent(own, entropy), entropy)


@dataclass(frozen=True)
class Device:
    """The state of a person's device in a repeated task.

    It holds the values met, the permanent answer to each, and the value used last.

    The state never leaves the device.  A report makes a new state: save that first, then send the report.  A device
    that forgets draws its permanent answers again, which costs as much as that many new values.

    >>> task = Longitudinal(["tea", "coffee"], epsilon=2, values=1, first="1/2")
    >>> device, first = Device.of(task).report("tea")
    >>> later, second = device.report("coffee")  # beyond the one value that is protected: still a report on "tea"
    >>> later == device == Device.from_json(device.to_json())
    True
    """

    task: Longitudinal
    met: tuple[int, ...] = ()
    answers: tuple[int, ...] = ()
    last: int = NO_SLOT

    def __post_init__(self) -> None:
        keys, slots = range(self.task.size), range(len(self.met))
        sound = (
            all(type(x) is int and x in keys for x in (*self.met, *self.answers))
            and len(self.met) == len(self.answers) == len(set(self.met)) <= self.task.values
            and type(self.last) is int
            and (self.last in slots if slots else self.last == NO_SLOT)
        )
        if not sound:
            raise InvalidValue(
                "This is not the state of a device on this task.",
                fix="Restore the saved state; a new device spends epsilon again.",
            )

    @classmethod
    def of(cls, task: Longitudinal) -> Device:
        """A device that has not reported yet."""
        return cls(task)

    def asked(self, task: Longitudinal) -> Device:
        """Continue this device in another period of the task; the permanent answers stay, at no further cost."""
        if task.series != self.task.series:
            raise InvalidParameter("This is another task.", fix="Begin a state for it; it costs its own epsilon.")
        return Device(task, self.met, self.answers, self.last)

    @property
    def used(self) -> int:
        """The number of protected values that the person has had."""
        return len(self.met)

    def report(self, value: LocalKey, *, entropy: Entropy = SYSTEM) -> tuple[Device, int]:
        """Return the state to save, then the report to send."""
        own = numbered([value], self.task.keys, self.task.rest)
        kept = self._after(int(own[0]), entropy)
        answer = np.array([kept.answers[kept.last]], np.int64)
        return kept, int(self.task.instant(answer, entropy)[0])

    def _after(self, own: int, entropy: Entropy) -> Device:
        if own in self.met:
            return Device(self.task, self.met, self.answers, self.met.index(own))
        if self.used == self.task.values:
            return self
        answer = int(self.task.permanent(np.array([own], np.int64), entropy)[0])
        return Device(self.task, (*self.met, own), (*self.answers, answer), self.used)

    def to_json(self) -> dict[str, object]:
        """Write a plain dictionary that :meth:`from_json` reads back."""
        return {"task": self.task.to_json(), "met": list(self.met), "answers": list(self.answers), "last": self.last}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Device:
        """Read back a state, refused unless it is a state of its task."""
        kinds = {"task": Mapping, "met": list, "answers": list, "last": int}
        named = isinstance(data, Mapping) and set(data) == set(kinds)
        if not named or not all(isinstance(data[name], kind) for name, kind in kinds.items()):
            raise InvalidValue("This is not a device's state.", fix="Restore what to_json() wrote.")
        task = task_from_json(data["task"])
        if not isinstance(task, Longitudinal):
            raise InvalidValue("This state is of another kind of task.", fix="Restore what to_json() wrote.")
        return cls(task, tuple(data["met"]), tuple(data["answers"]), data["last"])
