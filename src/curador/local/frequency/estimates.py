"""Estimated frequencies of listed keys: unbiased with variance and intervals, or projected and biased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from curador.local.task.estimate import LocalEstimate, frequency_summary
from curador.local.task.keys import LocalKey
from curador.local.task.limits import Floats, checked_miss, mean_chance, part_variance
from curador.local.task.tally import Tally
from curador.show.summary import EstimateNote, Summary

BIASED = EstimateNote("projected")


@dataclass(frozen=True, eq=False, repr=False)
class Projected(LocalEstimate):
    """Frequencies moved to the nearest ones that are at least 0 and sum to 1.

    Fails: biased.  Rare keys are pushed up and common ones down, so sums and differences are off too.  There are no
        intervals.  Projection helps when noise is large beside the frequencies, and hurts otherwise.

    >>> from curador.local import KRR
    >>> KRR(keys=["a", "b"], epsilon=2).estimate([0, 0, 0]).projected().values.tolist()
    [1.0, 0.0]
    """

    biased: ClassVar[bool] = True

    keys: tuple[LocalKey, ...]
    values: Floats
    users: int

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        return frequency_summary(self.keys, self.values, self.users, biased=True, notes=(BIASED,))


@dataclass(frozen=True, eq=False, repr=False)
class Frequencies(LocalEstimate):
    """Unbiased estimates of the frequency of each key among the people who reported.

    A report supports key v with probability ``p`` if v is the person's own, ``q`` if not.  ``variance`` is the formula
    of [WBLJ17] at the estimated frequencies.  It is conditional on the people, so only their coins vary.

    Guarantee: :meth:`interval` covers the frequencies of the people who reported, with at least the confidence asked
        for, for any data [Hoe56].  It also covers those of a population from which they are drawn independently.
    Assumes: every report was made by the task's randomizer.  A false report can move an estimate by up to 1/(p - q)
        people.

    >>> from curador.local import KRR
    >>> found = KRR(keys=["a", "b"], epsilon=2).estimate([0, 0, 0, 1])
    >>> found.keys, found.users, bool(abs(found.values.sum() - 1) < 1e-12)
    (('a', 'b'), 4, True)
    >>> low, high = found.interval(0.9)
    >>> bool((low <= found.values.clip(0, 1)).all() and (found.values.clip(0, 1) <= high).all())
    True
    """

    keys: tuple[LocalKey, ...]
    tally: Tally
    p: Fraction
    q: Fraction
    among: int | None = None
    """The number of people from whom these were drawn at random, if they were."""

    @property
    def users(self) -> int:
        return self.tally.users

    @property
    def values(self) -> Floats:
        """The estimates; unbiased estimates may lie below 0 or above 1."""
        return (self.tally.support / self.users - float(self.q)) / float(self.p - self.q)

    @property
    def counts(self) -> Floats:
        """The estimates in people."""
        return self.values * self.users

    @property
    def variance(self) -> Floats:
        """An estimate of each value's variance, from the coins and from the draw of people."""
        f = np.clip(self.values, 0.0, 1.0)
        drawn = 0.0 if self.among is None else f * (1 - f) * part_variance(self.users, self.among)
        return oracle_variance(self.p, self.q, f, self.users) + drawn

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = True) -> tuple[Floats, Floats]:
        """Lower and upper limits: for all keys at once, or for each key alone."""
        miss = checked_miss(confidence, len(self.keys) if simultaneous else 1)
        low, high = mean_chance(self.tally.support, self.users, miss)
        spread = float(self.p - self.q)
        return np.clip((low - float(self.q)) / spread, 0.0, 1.0), np.clip((high - float(self.q)) / spread, 0.0, 1.0)

    def of_a_part(self, users: int) -> Frequencies:
        """Treat these people as drawn at random from ``users``: the intervals then cover all of ``users``.

        A support count in a part drawn without replacement is again a sum of independent coins of the same mean chance:
        docs/proofs/local.md, section 6 [VM82].
        """
        return replace(self, among=users)

    def projected(self) -> Projected:
        """The nearest possible frequencies; biased."""
        return Projected(self.keys, on_simplex(self.values), self.users)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        limits = self.interval(confidence)
        return frequency_summary(
            self.keys, self.values, self.users, confidence=confidence, limits=limits, variance=self.variance
        )


def oracle_variance(p: Fraction, q: Fraction, frequency: Floats | float, users: int) -> Floats:
    """The variance of a frequency estimate, given the people.

    It is [f p(1-p) + (1-f) q(1-q)] / (n (p-q)**2) [WBLJ17].

    >>> float(oracle_variance(Fraction(3, 4), Fraction(1, 4), 0.0, 100))
    0.0075
    """
    own, others = float(p * (1 - p)), float(q * (1 - q))
    f = np.asarray(frequency, np.float64)
    return np.asarray((f * own + (1 - f) * others) / (users * float(p - q) ** 2))


def on_simplex(values: Floats | Sequence[float]) -> Floats:
    """The point nearest to ``values`` whose coordinates are at least 0 and sum to 1 [DSSC08].

    >>> on_simplex(np.array([0.9, 0.4, -0.3])).round(6).tolist()
    [0.75, 0.25, 0.0]
    """
    x = np.asarray(values, np.float64)
    falling = np.sort(x)[::-1]
    level = (np.cumsum(falling) - 1) / np.arange(1, x.size + 1)
    moved: Floats = np.maximum(x - level[np.flatnonzero(falling > level)[-1]], 0.0)
    return moved
