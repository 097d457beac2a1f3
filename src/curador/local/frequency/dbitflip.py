"""Microsoft's dBitFlip: noisy yes or no answers about a few random keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.local.frequency.estimates import Projected, on_simplex, oracle_variance
from curador.local.frequency.oracle import CELLS, KeyedTask
from curador.local.frequency.subset import choose_cells
from curador.local.task.draw import coins, word_for
from curador.local.task.estimate import LocalEstimate, frequency_summary
from curador.local.task.keys import LocalKey, names_of, numbered
from curador.local.task.layout import Layout, below
from curador.local.task.limits import Floats, checked_miss, mean_chance, part_variance
from curador.local.task.tally import Tally, checked_counts
from curador.local.task.task import checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, number_of_people, rational, set_fields
from curador.show.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class PartFrequencies(LocalEstimate):
    """Unbiased frequency estimates, each from the people who were asked about its key.

    Guarantee: :meth:`interval` covers the frequencies among all who reported, with at least the confidence asked for,
        for any data [Hoe56, VM82].  It also covers those of a population from which they are drawn independently.
    Assumes: every report was made by the task's randomizer.  A liar may choose what to be asked about.  So one lie
        moves an estimate as far as all people who are asked, by up to :attr:`moved` people.

    >>> task = DBitFlip(keys=["a", "b", "c"], epsilon=2, sampled=1)
    >>> found = task.estimate([[1], [2], [5], [0]])
    >>> found.keys, found.seen.tolist()
    (('a', 'b', 'c'), [2, 1, 1])
    """

    keys: tuple[LocalKey, ...]
    users: int
    seen: NDArray[np.int64]
    """The number of people asked about each key."""
    yes: NDArray[np.int64]
    """The number of yes answers about each key."""
    p: Fraction
    q: Fraction

    @property
    def values(self) -> Floats:
        """The estimates; unbiased estimates may lie below 0 or above 1."""
        return (self.yes / self.seen - float(self.q)) / float(self.p - self.q)

    @property
    def moved(self) -> Floats:
        """The number of people by which one report instead of another about the same key moves each estimate."""
        return self.users / self.seen / float(self.p - self.q)

    @property
    def variance(self) -> Floats:
        """An estimate of each value's variance, from the coins and from the draw of keys."""
        return _variance(self.p, self.q, np.clip(self.values, 0.0, 1.0), self.seen, self.users)

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = True) -> tuple[Floats, Floats]:
        """Lower and upper limits: for all keys at once, or for each key alone."""
        seen: Any = self.seen
        low, high = mean_chance(self.yes, seen, checked_miss(confidence, len(self.keys) if simultaneous else 1))
        spread = float(self.p - self.q)
        return np.clip((low - float(self.q)) / spread, 0.0, 1.0), np.clip((high - float(self.q)) / spread, 0.0, 1.0)

    def projected(self) -> Projected:
        """The nearest possible frequencies; biased."""
        return Projected(self.keys, on_simplex(self.values), self.users)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        limits = self.interval(confidence)
        return frequency_summary(
            self.keys, self.values, self.users, confidence=confidence, limits=limits, variance=self.variance
        )


@dataclass(frozen=True, init=False)
class DBitFlip(KeyedTask, mechanism="dbitflip"):
    """Answer about ``sampled`` random keys whether each is the own key.

    Each answer is true with probability true/2**bits.

    A report is a row of 2 * key number + answer, by rising key.  Reports are short even for many keys.  The error grows
    as if only the people asked about a key had reported on it.

    Guarantee: epsilon-local DP.  The keys are drawn without looking at the value.  Two values change at most two
        answers [DKY17].  With one answer given, one changes, and it may then be twice as sure.

    >>> task = DBitFlip(keys=1000, epsilon=1, sampled=4)
    >>> task.report_bits, task.randomize([5, 999]).shape
    (44, (2, 4))
    """

    needs = ("keys", "sampled")

    sampled: int
    true: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        sampled: int,
        *,
        rest: LocalKey | None = None,
        true: int | None = None,
        bits: int = 32,
    ) -> None:
        self._begin(keys, epsilon, rest, bits)
        set_fields(self, sampled=checked_threshold(sampled, "sampled", self.size + 1))
        derived = inside_threshold(1, 1, self.epsilon / self.changed, bits)
        set_fields(self, true=checked_threshold(derived if true is None else true, "true", 1 << bits))
        self._end()

    @property
    def changed(self) -> int:
        """The largest number of answers that two values change."""
        return min(2, self.sampled)

    @property
    def p(self) -> Fraction:
        """The probability of a yes about the own key."""
        return Fraction(self.true, 1 << self.bits)

    @property
    def q(self) -> Fraction:
        """The probability of a yes about any other key."""
        return 1 - self.p

    @property
    def ratio(self) -> Fraction:
        return (self.p / self.q) ** self.changed

    @property
    def layout(self) -> Layout:
        return Layout.below(2 * self.size, self.sampled)

    @property
    def report_bits(self) -> int:
        return self.sampled * (2 * self.size - 1).bit_length()

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Draw a report, a row of answers, for each value."""
        own = numbered(values, self.keys, self.rest)
        piece = max(1, CELLS // self.size)
        rows = [self._randomize(own[i : i + piece], entropy) for i in range(0, own.size, piece)]
        return np.concatenate(rows) if rows else np.zeros((0, self.sampled), word_for(2 * self.size))

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        cells = np.zeros((own.size, self.size), bool)
        choose_cells(cells, np.arange(own.size), self.sampled, self.size, entropy)
        asked = np.nonzero(cells)[1].reshape(own.size, self.sampled)
        truth = asked == own[:, np.newaxis]
        said = truth == coins(self.true, self.bits, truth.size, entropy).reshape(truth.shape)
        reports: NDArray[Any] = (2 * asked + said).astype(word_for(2 * self.size))
        return reports

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        asked = reports >> 1
        once: NDArray[np.bool_] = np.asarray((asked[:, 1:] > asked[:, :-1]).all(axis=1))  # and in order
        return below(reports, 2 * self.size) & once

    def tally(self, reports: Any) -> Tally:
        """Count per key the people asked and the yes answers: two rows.  Tallies of parts add up."""
        found = self._checked(reports)
        counts = np.bincount(found.reshape(-1), minlength=2 * self.size)
        return Tally(len(found), np.stack([counts[0::2] + counts[1::2], counts[1::2]]))

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> PartFrequencies:
        """Estimate unbiased frequencies with variance and intervals, from reports or their :class:`Tally`."""
        tally = self._counted(reports, candidates)
        if not tally.users or tally.support.shape != (2, self.size) or not tally.support[0].all():
            raise InvalidParameter("Some of these keys were asked of no one.", fix="Collect more reports.")
        seen, yes = tally.support
        checked_counts(yes, seen)
        checked_counts(seen, np.int64(tally.users))
        return PartFrequencies(names_of(self.keys), tally.users, seen, yes, self.p, self.q)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """The variance of an estimated frequency before any report, if as many are asked as expected."""
        f = rational(frequency, "frequency")
        if not 0 <= f <= 1:
            raise InvalidParameter(f"A frequency lies in [0, 1], got {frequency}.", fix="Choose one that does.")
        n = number_of_people(users)
        return float(_variance(self.p, self.q, np.array(float(f)), np.array(n * self.sampled / self.size), n))


def _variance(p: Fraction, q: Fraction, frequency: Floats, seen: NDArray[Any], users: int) -> Floats:
    """The variance of the coins, plus that of a part drawn without replacement."""
    drawn = frequency * (1 - frequency) * part_variance(seen, users)
    total: Floats = oracle_variance(p, q, frequency, 1) / seen + drawn
    return total
