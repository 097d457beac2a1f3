"""The base of the mean oracles: a bounded number in, an integer report out, an unbiased mean."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.task.estimate import LocalEstimate
from curador.local.task.keys import LocalKey
from curador.local.task.limits import Floats, bernstein, checked_miss, outwards, part_variance
from curador.local.task.tally import Tally
from curador.local.task.task import Task, checked_epsilon
from curador.local.task.values import LARGEST, reals
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, down, number_of_people, rational, set_fields, up
from curador.show.summary import Summary

LEVEL_BITS = 16
LEVELS = 1 << LEVEL_BITS
"""The steps between the bounds; values are rounded up or down at random, so that they stay unbiased."""


FINEST = 1 << 40
"""The least distance of the bounds, relative to their size, so that doubles resolve the steps between them."""


@dataclass(frozen=True, repr=False)
class Mean(LocalEstimate):
    """An unbiased estimate of the mean of the values, clamped to their bounds, of the people who reported.

    Guarantee: ``interval`` covers that mean with at least the confidence asked for, for any data.

    >>> from curador.local import Duchi
    >>> task = Duchi(low=0, high=10, epsilon=1)
    >>> found = task.estimate(task.randomize([4.0] * 1000))
    >>> found.users, found.interval(0.95)[0] < found.value < found.interval(0.95)[1]
    (1000, True)
    """

    value: float
    users: int
    variance: float
    """An upper bound on the variance of ``value``, given the people, over all possible values."""
    task: NumericTask
    sampled: bool = False
    """Whether these people were drawn at random from more people; ``value`` then estimates the mean of all."""
    sums: tuple[int, ...] = ()
    """The sums of the reports; the mean is computed from them."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Lower and upper limit of the mean."""
        limits = self.task._limits(self, checked_miss(confidence))
        low, high = np.clip(limits, down(self.task.low), up(self.task.high))
        return float(low), float(high)

    def of_a_part(self, users: int) -> Mean:
        """Treat these people as drawn at random from ``users``, and add a bound on the variance of the draw.

        Assumes: reports are bounded, as all but Laplace's are: docs/proofs/local.md, section 6.
        """
        half = float(self.task.half)
        most = half * half * part_variance(self.users, users)
        return replace(self, variance=self.variance + most, sampled=True)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        low, high = self.interval(confidence)
        made = Summary(
            "mean",
            ("mean",),
            (self.value,),
            self.users,
            low=(low,),
            high=(high,),
            error=(math.sqrt(self.variance),),
            bounds=(float(self.task.low), float(self.task.high)),
            confidence=confidence,
        )
        return (made,)


@dataclass(frozen=True, init=False)
class Bounded(Task):
    """A task about numbers between public bounds; values beyond them are clamped on the device."""

    needs: ClassVar[tuple[str, ...]] = ("low", "high")

    low: Fraction
    high: Fraction
    epsilon: Fraction

    def _begin(self, low: Number, high: Number, epsilon: Number) -> None:
        bottom, top = rational(low, "low"), rational(high, "high")
        if bottom >= top:
            raise InvalidParameter(f"low must be below high, got {low} and {high}.", fix="Choose low < high.")
        most = max(abs(bottom), abs(top))
        if most > LARGEST / 4 or top - bottom < max(most / FINEST, 1 / Fraction(LARGEST)):
            raise InvalidParameter(
                f"Doubles do not tell the values between {low} and {high} apart.",
                fix="Measure from low, in other units.",
            )
        set_fields(self, low=bottom, high=top, epsilon=checked_epsilon(epsilon))

    @property
    def half(self) -> Fraction:
        """Half the distance of the bounds: the unit of the scale from -1 to 1."""
        return (self.high - self.low) / 2

    def _from_units(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Convert limits on the scale from -1 to 1 to limits of the numbers, rounded outwards."""
        middle, half = float(self.low + self.half), float(self.half)
        # Limits beyond the bounds are clipped there later; clipped at twice the distance they cannot overflow.
        bottom, top = (middle + half * np.clip(x, -2.0, 2.0) for x in (low, high))
        return outwards(bottom, top, abs(middle) + 2 * half)

    def _levels(self, values: Floats, entropy: Entropy) -> NDArray[np.int64]:
        held = np.clip(values.reshape(-1), float(self.low), float(self.high))
        share = (held - float(self.low)) / float(2 * self.half)
        fine = np.rint(np.clip(share, 0.0, 1.0) * 2.0 ** (2 * LEVEL_BITS)).astype(np.int64)
        # Up with the chance of the remainder above the step below.  Rounding precedes the noise, so any law is private.
        levels: NDArray[np.int64] = (fine + entropy.words(fine.size, np.uint16)) >> LEVEL_BITS
        return levels


@dataclass(frozen=True, init=False)
class NumericTask(Bounded):
    """A task about one bounded number for each person, and their mean."""

    @abstractmethod
    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        """Draw reports for values on the steps 0 … LEVELS."""

    @abstractmethod
    def _sums(self, reports: NDArray[np.int64]) -> list[int]:
        """The integer sums of the reports; :meth:`_unit` computes the mean from them."""

    @abstractmethod
    def _unit(self, users: int, sums: NDArray[np.int64]) -> Fraction:
        """The mean of the decoded reports, on the scale from -1 to 1."""

    @abstractmethod
    def _decoded(self, reports: NDArray[np.int64]) -> Floats:
        """Decode each report as an unbiased estimate of its value, on the scale from -1 to 1."""

    @abstractmethod
    def unit_variance(self, value: float) -> float:
        """The variance of a decoded report on ``value``, on the scale from -1 to 1."""

    @property
    @abstractmethod
    def worst_variance(self) -> float:
        """The largest :meth:`unit_variance` of any value."""

    @property
    @abstractmethod
    def tail(self) -> float:
        """The b of :func:`curador.local.task.limits.bernstein` for a decoded report."""

    @property
    def _farthest_unit(self) -> float:
        """An upper bound on the distance of a decoded report from 0."""
        return 3 * self.tail

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Draw a report for each value, from coins of its own."""
        return self._report(self.read(values), entropy)

    def read(self, values: Any) -> Floats:
        """Convert values to numbers, refused if any is not a number; nothing is drawn."""
        return reals(values).reshape(-1)

    def _report(self, read: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        return self._randomize(self._levels(read, entropy), entropy)

    def _checked(self, reports: Any) -> NDArray[Any]:
        return super()._checked(reports).astype(np.int64, copy=False)  # no sum of these can wrap

    def tally(self, reports: Any) -> Tally:
        """Sum the reports exactly; tallies of parts add up to the tally of the whole."""
        found = self._checked(reports)
        return Tally(len(found), np.array(self._sums(found), np.int64))

    def estimate(self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95) -> Mean:
        """Estimate the mean without bias, with variance and interval, from reports or their :class:`Tally`."""
        tally = self._counted(reports, candidates)
        if not tally.users or tally.support.shape != (len(self._sums(np.zeros(0, np.int64))),):
            raise InvalidParameter("There are no reports on this task.", fix="Collect some first.")
        unit = self._unit(tally.users, tally.support)
        if abs(unit) > self._farthest_unit:
            raise InvalidValue("This tally counts more than there was.", fix="Count the reports again.")
        most = Fraction(sys.float_info.max)  # unbiased means may lie far beyond the bounds, and so beyond doubles
        value = float(max(-most, min(most, self.low + self.half + self.half * unit)))
        variance = float(self.half) * float(self.half) * self.worst_variance / tally.users
        return Mean(value, tally.users, variance, self, sums=tuple(tally.support.tolist()))

    def _limits(self, found: Mean, miss: float) -> tuple[float, float]:
        """Limits of the mean that hold with probability 1 - ``miss``, whatever the data."""
        reach = self._within(found.users, miss, found.sampled)
        return outwards(found.value - reach, found.value + reach, abs(found.value) + reach)

    def variance(self, users: int, value: Number | None = None) -> float:
        """The variance of the mean before any report, when all values are ``value``, or at worst."""
        n, scale = number_of_people(users), float(self.half)
        if value is None:
            return scale * scale * self.worst_variance / n
        unit = (rational(value, "value") - self.low) / self.half - 1
        if abs(unit) > 1:
            raise InvalidParameter(f"{value} is beyond the bounds.", fix="Choose a value between low and high.")
        return scale * scale * self.unit_variance(float(unit)) / n

    def error(self, users: int, confidence: float = 0.95, *, sampled: bool = False) -> float:
        """The distance from the true mean within which the estimate lies, at least this often, for any data.

        If the users are ``sampled`` from more people, the true mean is that of all these people.
        """
        return self._within(number_of_people(users), checked_miss(confidence), sampled)

    def _within(self, users: int, miss: float, sampled: bool) -> float:
        # Between -1 and 1 values vary by at most 1 among people.
        return float(self.half) * bernstein(self.worst_variance + sampled, self.tail, users, miss)
