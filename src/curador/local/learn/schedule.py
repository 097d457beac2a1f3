"""The people of each round and their epsilon, fixed in advance and independent of the data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.errors import InvalidParameter, InvalidValue
from curador.local.learn.randomizers import GradientRandomizer
from curador.noise import SYSTEM, Entropy
from curador.numbers import whole

Ways = Callable[[Fraction], GradientRandomizer]
"""The randomizer for a given epsilon per report."""

TOLERANCE = 0.5
"""The typical error of a mean gradient in its worst coordinate, where coordinates lie between -1 and 1."""
LEAST_ROUNDS, MOST_ROUNDS = 10, 200
"""Limits of the rounds: fewer do not get far, and more only take time, as averaging already uses every report."""


@dataclass(frozen=True)
class Schedule(ABC):
    """The number of rounds, the people of each, and the reports of a person."""

    users: int
    rounds: int
    randomizer: GradientRandomizer

    @property
    @abstractmethod
    def reports_each(self) -> int:
        """The largest number of reports that a person makes."""

    @property
    def epsilon(self) -> Fraction:
        """The total epsilon that a person spends, an exact fraction."""
        return self.reports_each * self.randomizer.epsilon

    @property
    def event(self) -> Event:
        """The event of all reports of a person, for any accountant."""
        return self.reports_each * self.randomizer.event

    @abstractmethod
    def groups(self, entropy: Entropy = SYSTEM) -> Iterator[NDArray[np.intp]]:
        """The people of each round, by number."""

    @classmethod
    @abstractmethod
    def most_rounds(cls, users: int, epsilon: Fraction, ways: Ways) -> int:
        """The largest number of rounds that these people can fill with groups of :func:`group_size`."""

    @classmethod
    @abstractmethod
    def users_needed(cls, epsilon: Fraction, ways: Ways) -> int:
        """The number of people who fill the fewest rounds."""

    @classmethod
    @abstractmethod
    def of(cls, users: int, rounds: int, epsilon: Fraction, ways: Ways) -> Schedule:
        """Make the schedule with this number of rounds."""


@dataclass(frozen=True)
class Once(Schedule):
    """Everybody reports in one round only, at the whole epsilon; groups are disjoint and drawn at random.

    Guarantee: epsilon-local DP for everybody: a second report is never made (docs/proofs/local-learning.md).

    >>> from curador.local.learn.randomizers import Corners
    >>> plan = Once.of(10, 3, Fraction(1), lambda epsilon: Corners(epsilon, 2))
    >>> groups = list(plan.groups())
    >>> [len(group) for group in groups], sorted(np.concatenate(groups).tolist()) == list(range(10))
    ([4, 3, 3], True)
    """

    @property
    def reports_each(self) -> int:
        return 1

    def groups(self, entropy: Entropy = SYSTEM) -> Iterator[NDArray[np.intp]]:
        # Sort by random words: rows are often stored in an order, and a group should resemble the whole.
        order = np.argsort(entropy.words(self.users, np.uint64), kind="stable")
        yield from np.array_split(order, self.rounds)

    @classmethod
    def most_rounds(cls, users: int, epsilon: Fraction, ways: Ways) -> int:
        return users // group_size(ways(epsilon))

    @classmethod
    def users_needed(cls, epsilon: Fraction, ways: Ways) -> int:
        return LEAST_ROUNDS * group_size(ways(epsilon))

    @classmethod
    def of(cls, users: int, rounds: int, epsilon: Fraction, ways: Ways) -> Once:
        if users < rounds:
            raise InvalidValue(
                f"{rounds} rounds need at least {rounds} people who report once; there are {users}.",
                fix="Ask more people, or take fewer rounds.",
            )
        return cls(users, rounds, ways(epsilon))


@dataclass(frozen=True)
class Every(Schedule):
    """Everybody reports in every round, at epsilon divided by the number of rounds.

    This is the form in the course's slides.

    Guarantee: epsilon-local DP for everybody, by adaptive composition [DMNS06, DRV10].
    Fails: this is nearly always the worse form.  T reports at epsilon/T carry about T times less than one at epsilon.

    >>> from curador.local.learn.randomizers import Corners
    >>> plan = Every.of(10, 3, Fraction(1), lambda epsilon: Corners(epsilon, 2))
    >>> plan.randomizer.epsilon, plan.epsilon, [len(group) for group in plan.groups()]
    (Fraction(1, 3), Fraction(1, 1), [10, 10, 10])
    """

    @property
    def reports_each(self) -> int:
        return self.rounds

    def groups(self, entropy: Entropy = SYSTEM) -> Iterator[NDArray[np.intp]]:
        for _ in range(self.rounds):
            yield np.arange(self.users)

    @classmethod
    def most_rounds(cls, users: int, epsilon: Fraction, ways: Ways) -> int:
        fewer, more = 0, MOST_ROUNDS + 1  # a smaller epsilon never needs fewer people
        while more - fewer > 1:
            middle = (fewer + more) // 2
            enough = group_size(ways(epsilon / middle)) <= users
            fewer, more = (middle, more) if enough else (fewer, middle)
        return fewer

    @classmethod
    def users_needed(cls, epsilon: Fraction, ways: Ways) -> int:
        return group_size(ways(epsilon / LEAST_ROUNDS))

    @classmethod
    def of(cls, users: int, rounds: int, epsilon: Fraction, ways: Ways) -> Every:
        return cls(users, rounds, ways(epsilon / rounds))


FORMS: Mapping[str, type[Schedule]] = {"once": Once, "every": Every}


def group_size(randomizer: GradientRandomizer) -> int:
    """The number of reports whose mean gradient is typically off by less than :data:`TOLERANCE`.

    The error is that of the worst coordinate.  The largest of d errors with variance v/m each is about
    sqrt(2 log(2 d) v / m).  For all mechanisms but Laplace's, v is of the order d / epsilon**2.  So this is the m of
    the order d log d / epsilon**2 of [WXYZ19], with its constant.

    >>> from curador.local.learn.randomizers import SampledHybrid
    >>> [group_size(SampledHybrid(Fraction(epsilon), 11)) for epsilon in (1, 2, 4)]
    [1439, 556, 332]
    """
    v = randomizer.worst_variance
    return math.ceil(2 * math.log(2 * randomizer.dimension) * v / TOLERANCE**2)


def make_schedule(participation: str, users: int, rounds: int | None, epsilon: Fraction, ways: Ways) -> Schedule:
    """Make the schedule for these people; by default as many rounds as groups of :func:`group_size` allow.

    >>> from curador.local.learn.randomizers import Corners
    >>> ways = lambda epsilon: Corners(epsilon, 4)
    >>> make_schedule("once", 100_000, None, Fraction(1), ways).rounds
    180
    >>> try:
    ...     make_schedule("once", 5_000, None, Fraction(1), ways)
    ... except InvalidValue as refusal:
    ...     print(refusal.what)
    5,000 people are too few to learn 4 coefficients at epsilon = 1: it takes 5,540 at least.
    """
    if participation not in FORMS:
        raise InvalidParameter(
            f"participation says how often a person reports, got {participation!r}.", fix="Choose 'once' or 'every'."
        )
    form = FORMS[participation]
    if rounds is not None:
        return form.of(users, whole(rounds, "rounds", 1), epsilon, ways)
    found = min(form.most_rounds(users, epsilon, ways), MOST_ROUNDS)
    if found < LEAST_ROUNDS:
        raise InvalidValue(
            f"{users:,} people are too few to learn {ways(epsilon).dimension} coefficients at epsilon = {epsilon}: "
            f"it takes {form.users_needed(epsilon, ways):,} at least.",
            fix="Ask more people, raise epsilon, use fewer features, or set rounds=… and live with the noise.",
        )
    return form.of(users, found, epsilon, ways)
