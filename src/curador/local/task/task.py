"""A task: what both the device and the collector need to know, and nothing else.  It is a small JSON document.

The thresholds in it are integers, and both sides compute every probability from them.  A device that reads a task
checks, in integers, that they keep the epsilon the task states, and refuses it otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, PureLoss
from curador.accounting.precise import dec, digits, float_above
from curador.errors import InvalidParameter, NotPromised
from curador.local.task.draw import HALF
from curador.local.task.layout import Layout
from curador.local.task.tally import Tally
from curador.local.task.thresholds import within_epsilon
from curador.numbers import Number, positive
from curador.privacy import Neighbors

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 1 << 30), 1024

_KINDS: dict[str, type[Task]] = {}


class Task(ABC):
    """One question put to many people, each of whom answers through a randomizer on their own device.

    Guarantee: each report is epsilon-locally DP [KLNRS11]: whatever two values a person may have, no report is more
        than exp(epsilon) times as likely under one as under the other.  Integers show it whenever a task is made.
    Assumes: fair bits on the device; one report per person and task.
    Fails: the guarantee covers what is reported, not that a person took part.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon="1/2")
    >>> task.epsilon, task.delivered <= 0.5, task.to_json()["mechanism"]
    (Fraction(1, 2), True, 'krr')
    """

    mechanism: ClassVar[str]
    epsilon: Fraction

    def __init_subclass__(cls, mechanism: str = "") -> None:
        super().__init_subclass__()
        if mechanism:
            cls.mechanism = mechanism
            _KINDS[mechanism] = cls

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of one report's probabilities under two values: a fraction at or just above it."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """How many bits a report needs."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """How a report is written as bytes."""

    @abstractmethod
    def _checked(self, reports: Any) -> NDArray[Any]:
        """Reports as an array, refused if any could not have come from this task."""

    @abstractmethod
    def tally(self, reports: Any) -> Tally:
        """Count reports, refused if any could not have come from this task; tallies of parts add up."""

    def to_bytes(self, reports: Any) -> NDArray[np.uint8]:
        """A row of bytes for each report that the task's ``randomize`` made: the same bytes that any device sends."""
        return self.layout.pack(reports)

    def from_bytes(self, rows: Any) -> NDArray[Any]:
        """The reports that rows of bytes are; :meth:`tally` refuses those that are none."""
        return self.layout.unpack(rows)

    @property
    def delivered(self) -> float:
        """The epsilon that the thresholds deliver: the logarithm of :attr:`ratio`, rounded up."""
        with digits():
            return float_above(dec(self.ratio).ln())

    @property
    def event(self) -> Event:
        """What one report is, for any accountant."""
        return PureLoss(self.epsilon, Neighbors.REPLACE)

    def to_json(self) -> dict[str, object]:
        """A plain dictionary that :func:`task_from_json` reads back exactly."""
        own = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]
        return {"mechanism": self.mechanism, **own}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Task:
        """A task of this kind from its fields, all of which are there."""
        return cls(**body)


def task_from_json(data: Mapping[str, object]) -> Task:
    """Read back what :meth:`Task.to_json` wrote, refusing thresholds that do not keep the stated epsilon.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b", "c"], epsilon=1)
    >>> task_from_json(task.to_json()) == task
    True
    >>> try:
    ...     task_from_json({**task.to_json(), "epsilon": "1/2"})
    ... except NotPromised as refusal:
    ...     print(refusal.what)
    This task's thresholds do not keep epsilon = 1/2.
    """
    if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
        raise InvalidParameter("This is not a task.", fix="Use to_json().")
    body = dict(data)
    kind = body.pop("mechanism", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidParameter(f"No local mechanism is called {kind!r}.", fix="Upgrade Curador, or check the task.")
    made = _KINDS[kind]
    wanted = sorted(f.name for f in fields(made))  # type: ignore[arg-type]
    # Everything is written out: a device must not fill in what the collector did not say.
    if sorted(body) != wanted or any(x is None for name, x in body.items() if name != "rest"):
        raise InvalidParameter(f"A {kind} task says {wanted}; this one {sorted(body)}.", fix="Use to_json().")
    return made.from_json(body)


def _plain(x: object) -> object:
    if isinstance(x, Fraction):
        return str(x)
    if isinstance(x, Task):
        return x.to_json()
    return [_plain(y) for y in x] if isinstance(x, tuple) else x


def checked_threshold(threshold: object, name: str, most: int) -> int:
    """An integer strictly between 0 and ``most``: a decision that is made without chance gives the value away."""
    if isinstance(threshold, bool) or not isinstance(threshold, int) or not 0 < threshold < most:
        raise InvalidParameter(
            f"{name} must be an integer between 0 and {most}, both excluded; got {threshold!r}.",
            fix="Leave it out to have it derived; if it was, epsilon is too small for this many bits.",
        )
    return threshold


def checked_epsilon(epsilon: Number) -> Fraction:
    """An epsilon with which local reports can be of any use: more says everything, less nothing."""
    value = positive(epsilon, "epsilon")
    if not EPSILON_LEAST <= value <= EPSILON_MOST:
        raise InvalidParameter(f"A local epsilon lies between 2**-30 and {EPSILON_MOST}, got {epsilon}.", fix="Try 1.")
    return value


def checked_bits(bits: object) -> int:
    if type(bits) is not int or bits not in HALF:
        raise InvalidParameter(f"Thresholds have 16 or 32 bits, got {bits!r}.", fix="Choose bits=32.")
    return bits


def check_promise(task: Task) -> None:
    """Refuse a task whose thresholds cost more than it states."""
    if not within_epsilon(task.ratio, task.epsilon):
        raise NotPromised(
            f"This task's thresholds do not keep epsilon = {task.epsilon}.",
            fix="Do not answer it; whoever wrote it should leave the thresholds to be derived.",
        )
