"""The state of a device in a study, which limits its reports to what the owner agreed to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from curador.errors import BudgetExceeded, InvalidParameter
from curador.local.learn.rounds import Round
from curador.noise import SYSTEM, Entropy
from curador.numbers import positive, set_fields, whole


@dataclass(frozen=True)
class Participant:
    """A person's part in a study: the agreed limit, and the number of rounds answered.

    ``reports`` is 1 where each person reports once, and the number of rounds where all report in each round.  The state
    never leaves the device.  An answer makes a new state: save that first, then send the report.  A lost report is
    spent all the same.

    Guarantee: all reports of the study together are epsilon-locally DP, however its rounds are published.  At most
        ``reports`` are made, each at epsilon / reports at most [DMNS06, DRV10].
    Assumes: the device keeps its state.
    Fails: studies that ask about the same data add up; so does a study that returns under another name.

    >>> from curador.local.learn import Scale, gradient_randomizer
    >>> from curador.local.learn.losses import Logistic
    >>> unit, way = Scale.between([(-1, 1)]), gradient_randomizer("duchi", 1, 2)
    >>> asked = Round(Logistic(), unit, unit, way, study="tea")
    >>> person, report = Participant("tea", Fraction(1)).answer(asked, [0.5], 1)
    >>> person.answered, person == Participant.from_json(person.to_json()), report.shape
    (1, True, (1, 1))
    >>> person.answer(asked, [0.5], 1)
    Traceback (most recent call last):
    curador.errors.BudgetExceeded: This device has made all the reports its owner agreed to: 1. ...
    """

    study: str
    epsilon: Fraction
    reports: int = 1
    answered: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.study, str):
            raise InvalidParameter("A study has a name.", fix="Give it as text.")
        set_fields(self, epsilon=positive(self.epsilon, "epsilon"))
        set_fields(self, reports=whole(self.reports, "reports", 1))
        set_fields(self, answered=whole(self.answered, "answered"))
        if self.answered > self.reports:
            raise InvalidParameter(
                "This device has made more reports than its owner agreed to.", fix="Restore what was saved."
            )

    @property
    def spent(self) -> Fraction:
        """An upper bound on the part of ``epsilon`` spent so far."""
        return self.epsilon * self.answered / self.reports

    def answer(
        self, asked: Round, values: Sequence[float], answer: float, *, entropy: Entropy = SYSTEM
    ) -> tuple[Participant, Any]:
        """Return the state to save, then the report to send; a value that is not a number counts as missing."""
        if asked.study != self.study:
            raise InvalidParameter("This is a round of another study.", fix="Answer it with that study's state.")
        if self.answered == self.reports:
            raise BudgetExceeded(
                f"This device has made all the reports its owner agreed to: {self.reports}.",
                fix="Do not answer; a report that was lost is spent.",
            )
        if asked.randomizer.epsilon * self.reports > self.epsilon:
            raise BudgetExceeded(
                f"A report at epsilon = {asked.randomizer.epsilon} is above what the owner agreed to: "
                f"{self.epsilon / self.reports}.",
                fix="Do not answer; the collector may ask for less.",
            )
        report = asked.report([values], [answer], entropy=entropy)
        return replace(self, answered=self.answered + 1), report

    def to_json(self) -> dict[str, object]:
        """Write a plain dictionary that :meth:`from_json` reads back."""
        own = {"reports": self.reports, "answered": self.answered}
        return {"study": self.study, "epsilon": str(self.epsilon), **own}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Participant:
        """Read back a state; every field is required."""
        kinds = {"study": str, "epsilon": str, "reports": int, "answered": int}
        named = isinstance(data, Mapping) and set(data) == set(kinds)
        if not named or any(type(data[name]) is not kind for name, kind in kinds.items()):
            raise InvalidParameter("This is not a device's state.", fix="Restore what to_json() wrote.")
        return cls(**data)
