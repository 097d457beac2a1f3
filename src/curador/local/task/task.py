"""A task: one question for many devices, as a small JSON document for device and collector.

Its thresholds are integers, and both sides compute every probability from them.  A device that reads a task checks in
integers that they keep the stated epsilon, and refuses the task otherwise.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, PureLoss
from curador.accounting.meaning import posterior
from curador.accounting.precise import dec, digits, float_above
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.forks import cached_property
from curador.local.devices import curador_device
from curador.local.task.draw import HALF
from curador.local.task.estimate import LocalEstimate
from curador.local.task.identity import ID_DIGITS, LABELS, canonical, checked_label, digest_of
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, short_words
from curador.local.task.planning import least_users
from curador.local.task.tally import Tally
from curador.local.task.thresholds import within_epsilon
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, down, positive, set_fields, up
from curador.privacy import Neighbors
from curador.show.summary import EstimateNote

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 1 << 30), 1024

ONE_PERIOD = EstimateNote("one-period")
"""The caution of tasks that devices answer again and again."""

_KINDS: dict[str, type[Task]] = {}


@dataclass(frozen=True, init=False)
class Task(ABC):
    """A question for many people, each of whom answers through a randomizer on their own device.

    Guarantee: each report is epsilon-locally DP [KLNRS11].  For any two values that a person may have, a report is at
        most exp(epsilon) times as likely under one as under the other.  Integer arithmetic proves it when a task is
        made.
    Assumes: fair bits on the device; one report per person and task.
    Fails: the guarantee covers the report, not the fact that a person took part.  A person who answers several tasks,
        or one task in several periods or segments, has spent the sum of their epsilons.  If devices remember a task
        (:attr:`remembers`), all its periods together cost its epsilon once.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon="1/2").named("letters", period="2026-11")
    >>> task.epsilon, task.delivered <= 0.5, task.to_json()["mechanism"]
    (Fraction(1, 2), True, 'krr')
    >>> task.id == task.named("letters", period="2026-12").id
    False
    """

    name: str = field(default="", kw_only=True)
    """A short name of the question, under which a task is published."""
    period: str | None = field(default=None, kw_only=True)
    """The time of the question, if it is asked again and again."""
    segment: str | None = field(default=None, kw_only=True)
    """The public part of the people that is asked, if parts are compared."""

    mechanism: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    """The options without which no such task can be made, besides epsilon; see :mod:`curador.local.task.build`."""
    takes: ClassVar[tuple[str, ...]] = ()
    """The further options that people choose, without thresholds, which are derived."""
    covers: ClassVar[EstimateNote] = EstimateNote("report-alone")
    """The reports of a person that epsilon covers."""
    caution: ClassVar[EstimateNote | None] = None
    """A warning to collectors, or None."""
    packed: ClassVar[bool] = False
    """Whether reports are rows of bytes as they are sent, rather than of integers."""
    remembers: ClassVar[bool] = False
    """Whether devices keep a permanent answer, from which the reports of all periods are made."""
    epsilon: Fraction

    def __init_subclass__(cls, mechanism: str = "") -> None:
        super().__init_subclass__()
        if mechanism:
            cls.mechanism = mechanism
            _KINDS[mechanism] = cls

    # -- the identity of the task

    def named(self, name: str, *, period: str | None = None, segment: str | None = None) -> Self:
        """Name the question, which makes it a task of its own; so do a period and a public segment."""
        made = object.__new__(type(self))
        set_fields(made, **{f.name: getattr(self, f.name) for f in fields(self)})
        set_fields(
            made,
            name=checked_label(name, "name"),
            period=None if period is None else checked_label(period, "period"),
            segment=None if segment is None else checked_label(segment, "segment"),
        )
        return made

    @property
    def title(self) -> str:
        """The task's name, period and segment, for people.

        >>> from curador.local import KRR
        >>> KRR(keys=2, epsilon=1).named("smokes", period="2026", segment="Spain").title
        'smokes · 2026 · Spain'
        """
        return " · ".join(filter(None, (self.name, self.period, self.segment)))

    @property
    def id(self) -> str:
        """The first 16 bytes of the SHA-256 of the task's canonical text, in hexadecimal.

        >>> from curador.local import KRR
        >>> len(KRR(keys=2, epsilon=1).id), KRR(keys=2, epsilon=1).id == KRR(keys=2, epsilon=2).id
        (32, False)
        """
        return self._digest[:ID_DIGITS]

    @cached_property
    def _digest(self) -> str:
        return digest_of(self.to_json())

    @cached_property
    def series(self) -> str:
        """The id for a device's memory and charges: without the period for a task that :attr:`remembers`."""
        return digest_of({**self.to_json(), "period": None})[:ID_DIGITS] if self.remembers else self.id

    @property
    def salt(self) -> str:
        """The salt of the task's public hash functions, if it has any."""
        return self.series

    # -- the guarantee

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """A fraction at or just above the largest ratio of a report's probabilities under two values."""

    @property
    def delivered(self) -> float:
        """The epsilon that the thresholds deliver: the logarithm of :attr:`ratio`, rounded up."""
        with digits():
            return float_above(dec(self.ratio).ln())

    @property
    def event(self) -> Event:
        """The event of a report, for any accountant."""
        return PureLoss(self.epsilon, Neighbors.REPLACE)

    def statement(self, language: str = "en") -> str:
        """The guarantee in words, for the people who are asked to report.

        >>> from curador.local import KRR
        >>> KRR(keys=2, epsilon=1).statement()[-72:]
        '50:50 is 73.2% sure after it at most. That is for one report per person.'
        """
        sure = ceil(1000 * posterior(up(self.epsilon)).upper) / 10
        power = self.epsilon if self.epsilon.denominator == 1 else f"({self.epsilon})"
        keeps = EstimateNote("report-keeps", (("power", str(power)), ("sure", f"{sure:g}")))
        return f"{keeps.text(language)} {self.covers.text(language)}"

    # -- on the device

    @abstractmethod
    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Draw a report for each person, from random bits of its own."""

    def answer(self, value: Any) -> bytes:
        """Draw one person's report as bytes, by the law of :meth:`randomize`.

        It is fast for a single person, and accepts any value.

        The stand-alone client draws it.  An unlisted value counts as the rest or the first key, and a value that is not
        a number as the lower bound.  Reports share no state.

        >>> from curador.local import KRR
        >>> KRR(keys=["tea", "water"], epsilon=1).answer("tea") in (b"\\0", b"\\1")
        True
        """
        task = self._client
        return task.draw(task.seen(value), curador_device.Source())

    def check(self, value: Any) -> dict[str, Any]:
        """For developers: what a value counts as on a device, with a note if it differs; nothing is drawn.

        >>> from curador.local import KRR
        >>> KRR(keys=["tea", "water"], epsilon=1).check("Tea")
        {'counts_as': 'tea', 'note': 'It is not among the keys.'}
        """
        return curador_device.check(self._client, value)

    @cached_property
    def _client(self) -> curador_device.Task:
        try:
            return curador_device._identify(json.loads(canonical(self.to_json())))
        except curador_device.Refused as refusal:
            raise InvalidParameter(f"No device would answer this task: {refusal}", fix="Change it.") from None

    # -- on the way

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """The number of bits that a report needs."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The layout of a report as bytes."""

    def to_bytes(self, reports: Any) -> NDArray[np.uint8]:
        """Pack reports of :meth:`randomize` as rows of bytes, the same bytes that any device sends."""
        return self.layout.pack(reports)

    def from_bytes(self, rows: Any) -> NDArray[Any]:
        """Unpack rows of bytes to reports; :meth:`tally` refuses rows that are not reports."""
        return self.layout.unpack(rows)

    # -- at the collector

    @abstractmethod
    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the reports, in an array of the layout's shape, that this task can have made.

        All are checked at once, so that a forged report costs the collector no more than an honest one.
        """

    def _checked(self, reports: Any) -> NDArray[Any]:
        """Convert reports to an array, refused if any could not have come from this task."""
        found = short_words(reports)
        if found.shape != (*found.shape[:1], *self.layout.shape) or (self.packed and found.dtype != np.uint8):
            raise InvalidValue("Reports on this task are of another form.", fix="Leave others out.")
        if not self._sound(found).all():
            raise InvalidValue("A report could not have come from this task.", fix="Leave it out.")
        return found

    @abstractmethod
    def tally(self, reports: Any) -> Tally:
        """Count reports, refused if any could not have come from this task; tallies of parts add up."""

    def empty_tally(self) -> Tally:
        """Make the tally of no reports.

        >>> from curador.local import KRR
        >>> KRR(keys=3, epsilon=1).empty_tally().support.tolist()
        [0, 0, 0]
        """
        return self.tally(self.from_bytes(np.zeros((0, self.layout.size), np.uint8)))

    @abstractmethod
    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> LocalEstimate:
        """Estimate from reports or from their :class:`Tally`.

        ``candidates`` are the keys to ask about, where a task does not list its keys; other tasks refuse them.
        ``confidence`` is that of a search (:class:`curador.local.HeavyHitters`).  Other estimates do not depend on it,
        because they give intervals of any confidence afterwards.
        """

    def _counted(self, reports: Any, candidates: Sequence[LocalKey] | None = None) -> Tally:
        """The tally for an estimate, by a task that lists its keys or has none."""
        if candidates is not None:
            raise InvalidParameter(
                f"The mechanism {self.mechanism} takes no candidates: it knows what to estimate.",
                fix="Leave the candidates out.",
                code="candidates-refused",
            )
        return reports if isinstance(reports, Tally) else self.tally(reports)

    # -- before launch

    def error(self, users: int, confidence: float = 0.95) -> float:
        """The distance within which all estimates from ``users`` people lie, together, with this confidence."""
        raise InvalidParameter(
            f"The error of {self.mechanism} is not known beforehand.", fix="Simulate it.", code="error-not-known"
        )

    def errors(self, users: int, confidence: float = 0.95) -> dict[str, float]:
        """The :meth:`error` of each attribute of a record; any other task has one entry under its own name."""
        return {self.name: self.error(users, confidence)}

    def users_needed(self, within: Number, confidence: float = 0.95) -> int:
        """The least number of people with which :meth:`error` is at most ``within``."""
        goal = down(positive(within, "within"))
        return least_users(
            lambda users: self.error(users, confidence) <= goal,
            what=f"No crowd of up to 2**40 people gives an error of {within}.",
            fix="Allow more error or epsilon.",
        )

    # -- as a document

    def to_json(self) -> dict[str, object]:
        """Write a plain dictionary that :func:`task_from_json` reads back exactly."""
        return {**{label: getattr(self, label) for label in LABELS}, **self.part_json()}

    def part_json(self) -> dict[str, object]:
        """The document without the name, as the part of a record."""
        own = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name not in LABELS}
        return {"mechanism": self.mechanism, **own}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Task:
        """Make a task of this kind from its fields, all of them required."""
        return cls(**body)


def task_kinds() -> Mapping[str, type[Task]]:
    """Map the name of every mechanism to its class.

    These are the tasks among the public names of :mod:`curador.local`.

    >>> task_kinds()["krr"].__qualname__, len(task_kinds()) >= 19
    ('KRR', True)
    """
    from curador import local

    for name in local.__all__:
        getattr(local, name)  # loads the class when first used, which registers it
    return _KINDS


def task_from_json(data: Mapping[str, object]) -> Task:
    """Read back a document of :meth:`Task.to_json`; refuse thresholds that do not keep the stated epsilon.

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
    if not isinstance(data, Mapping) or not {*LABELS} <= {*data}:
        raise InvalidParameter("This is not a task.", fix="Use to_json().")
    made = part_from_json({name: x for name, x in data.items() if name not in LABELS})
    name, period, segment = (data[label] for label in LABELS)
    if (name, period, segment) == ("", None, None):
        return made
    return made.named(name, period=period, segment=segment)  # type: ignore[arg-type]


def part_from_json(data: Mapping[str, object]) -> Task:
    """Read back a task without a name, as :func:`task_from_json` does.

    >>> from curador.local import KRR
    >>> part_from_json(KRR(keys=3, epsilon=1).part_json()).mechanism
    'krr'
    """
    if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
        raise InvalidParameter("This is not a task.", fix="Use to_json().")
    body = dict(data)
    kind = body.pop("mechanism", None)
    if not isinstance(kind, str) or (kind not in _KINDS and kind not in task_kinds()):
        raise InvalidParameter(f"No local mechanism is called {kind!r}.", fix="Upgrade Curador, or check the task.")
    made = _KINDS[kind]
    wanted = sorted(f.name for f in fields(made) if f.name not in LABELS)
    # Every field is required: a device must not fill in the omissions of a collector.
    if sorted(body) != wanted or any(x is None for name, x in body.items() if name != "rest"):
        raise InvalidParameter(f"A {kind} task has {wanted}; this one {sorted(body)}.", fix="Use to_json().")
    return made.from_json(body)


def _plain(x: object) -> object:
    if isinstance(x, Fraction):
        return str(x)
    if isinstance(x, Task):
        return x.part_json()
    return [_plain(y) for y in x] if isinstance(x, tuple) else x


def checked_threshold(threshold: object, name: str, most: int) -> int:
    """Check an integer strictly between 0 and ``most``: a decision without chance would reveal the value."""
    if isinstance(threshold, bool) or not isinstance(threshold, int) or not 0 < threshold < most:
        raise InvalidParameter(
            f"{name} must be an integer between 0 and {most}, both excluded; got {threshold!r}.",
            fix="Leave it out to have it derived; if it was, epsilon is too small for this many bits.",
        )
    return threshold


def checked_epsilon(epsilon: Number) -> Fraction:
    """Check an epsilon: above the range local reports reveal everything, below it nothing."""
    value = positive(epsilon, "epsilon")
    if not EPSILON_LEAST <= value <= EPSILON_MOST:
        raise InvalidParameter(f"A local epsilon lies between 2**-30 and {EPSILON_MOST}, got {epsilon}.", fix="Try 1.")
    return value


def checked_bits(bits: object) -> int:
    if type(bits) is not int or bits not in HALF:
        raise InvalidParameter(f"Thresholds have 16 or 32 bits, got {bits!r}.", fix="Choose bits=32.")
    return bits


def check_thresholds(task: Task) -> None:
    """Refuse a task whose thresholds cost more than its stated epsilon."""
    if not within_epsilon(task.ratio, task.epsilon):
        raise NotPromised(
            f"This task's thresholds do not keep epsilon = {task.epsilon}.",
            fix="Do not answer it; its author should leave the thresholds to be derived.",
        )


def check_informative(task: Task, more: Fraction, less: Fraction) -> None:
    """Refuse a task whose reports would not depend on the value: ``more`` is not above ``less``."""
    if more <= less:
        raise InvalidParameter(
            f"With epsilon = {task.epsilon} the reports would say nothing.", fix="Choose a larger epsilon."
        )
