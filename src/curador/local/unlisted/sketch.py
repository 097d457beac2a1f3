"""Apple's private count-mean sketches: draw one of many hash functions, report the hashed key.

Keys need no list beforehand; the collector asks for any of them later.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.local.frequency.oracle import CELLS
from curador.local.frequency.unary import unspared
from curador.local.frequency.walsh import parity, walsh_hadamard
from curador.local.task.draw import coins, uniform
from curador.local.task.estimate import LocalEstimate, frequency_summary
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, below
from curador.local.task.limits import Floats, bernstein, checked_miss, mean_chance
from curador.local.task.tally import Tally, checked_counts
from curador.local.task.task import Task, check_informative, check_thresholds, checked_epsilon, checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.local.unlisted.digest import candidate_keys, check_table, checked_places, free_keys, hashed
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, number_of_people, rational, set_fields
from curador.show.summary import EstimateNote, Summary

BITS = 32
ROWS_MOST = 1 << 16


HASHED = EstimateNote("hashed")


@dataclass(frozen=True, eq=False, repr=False)
class Sketched(LocalEstimate):
    """Estimated frequencies of keys from a sketch.

    Guarantee: unbiased over the draw of hash functions and coins, whatever other keys people have.  ``variance`` is the
        formula's for both, at the estimated frequency and for others that are all the same key.  :meth:`interval`
        covers the frequencies among all who reported, with at least the confidence asked for, over both [CP34, Hoe56,
        BLM13].
    Assumes: hash functions like random ones.  So neither the task's name nor the candidates were chosen because keys
        meet.
    Fails: in one task the hash functions are fixed.  A rare key that meets a common one in more rows than usual is
        overestimated however many people report.  Intervals do not shrink below the possible size of that error.

    >>> task = CountMean(epsilon=4, rows=64, places=256)
    >>> found = task.estimate(task.randomize(["a", "b"] * 500), ["a", "b", "c"])
    >>> low, high = found.interval(0.99)
    >>> found.values.shape, bool((low[:2] <= 0.5).all() and (0.5 <= high[:2]).all())
    ((3,), True)
    """

    keys: tuple[LocalKey, ...]
    users: int
    values: Floats
    variance: Floats
    support: NDArray[np.int64]
    """The number of reports that support each key."""
    task: Sketch

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = True) -> tuple[Floats, Floats]:
        """Lower and upper limits: for all keys at once, or for each key alone."""
        # Half of the chance to be wrong for the coins, half for the hash functions: docs/proofs/local.md, section 11.
        miss = checked_miss(confidence, len(self.keys) if simultaneous else 1) / 2
        low, high = mean_chance(self.support, self.users, miss)
        p, q, m = float(self.task.p), float(self.task.q), self.task.places
        met = bernstein(1 / m, 1 / 3, self.task.rows, miss)
        ends = [((chance - q) / (p - q) - 1 / m + side) * m / (m - 1) for chance, side in ((low, -met), (high, met))]
        return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        return frequency_summary(
            self.keys,
            self.values,
            self.users,
            confidence=confidence,
            limits=self.interval(confidence),
            variance=self.variance,
            notes=(HASHED,),
        )


@dataclass(frozen=True, init=False)
class Sketch(Task):
    """A task whose reports support the own key more often than others.

    They support any key that the drawn hash function sends to the place of the own key.

    Given the hash functions, a report supports key d with probability p if d is the person's own; if not, with p for
    the rows in which the two meet and q for the others.
    """

    takes = ("rows", "places")

    epsilon: Fraction
    rows: int
    places: int
    true: int

    def __init__(self, epsilon: Number, *, rows: int = 1024, places: int = 1024, true: int | None = None) -> None:
        set_fields(
            self,
            epsilon=checked_epsilon(epsilon),
            rows=checked_threshold(rows, "rows", ROWS_MOST + 1),
            places=checked_places(places, "places"),
        )
        check_table(self.rows * self.places)
        derived = inside_threshold(1, 1, self.epsilon / self.changed, BITS)
        set_fields(self, true=checked_threshold(derived if true is None else true, "true", 1 << BITS))
        check_informative(self, self.p, self.q)
        check_thresholds(self)

    @property
    @abstractmethod
    def changed(self) -> int:
        """The largest number of reported bits that two values change."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The probability that a report supports a key whose hash differs from that of the own key."""

    @property
    def p(self) -> Fraction:
        """The probability that a report supports the person's own key."""
        return Fraction(self.true, 1 << BITS)

    @property
    def ratio(self) -> Fraction:
        return (self.p / (1 - self.p)) ** self.changed

    @abstractmethod
    def _randomize(self, row: NDArray[np.int64], place: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        """Draw reports of people who drew these rows, in which their keys have these places."""

    @abstractmethod
    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports that support each place of each row."""

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Draw a report for each value, from a hash function and coins of its own."""
        keys = free_keys(values)
        row = uniform(self.rows, len(keys), entropy).astype(np.int64)
        place = hashed(keys, row, self.salt, self.places)
        piece = max(1, CELLS // self.places)
        parts = [slice(i, i + piece) for i in range(0, max(1, len(keys)), piece)]
        return np.concatenate([self._randomize(row[part], place[part], entropy) for part in parts])

    def tally(self, reports: Any) -> Tally:
        """Count the reports that support each place of each row: the sketch.

        Tallies of parts add up.
        """
        found = self._checked(reports)
        return Tally(len(found), self._support(found))

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> Sketched:
        """Estimate the frequencies of any keys, from reports or from their :class:`Tally`."""
        keys, tally = candidate_keys(candidates), self._counted(reports)
        if not tally.users or tally.support.shape != (self.rows, self.places):
            raise InvalidParameter("There are no reports on this task.", fix="Collect some first.")
        checked_counts(tally.support, np.int64(tally.users))
        every = np.arange(self.rows)
        support = np.array(
            [tally.support[every, hashed([key] * self.rows, every, self.salt, self.places)].sum() for key in keys]
        )
        # Another key meets the own one with chance 1/places, and is then supported like it.
        met = float(self.q + (self.p - self.q) / self.places)
        values = (support / tally.users - met) / (float(self.p) - met)
        variance = [self.variance(tally.users, min(max(float(f), 0.0), 1.0)) for f in values]
        return Sketched(keys, tally.users, values, np.array(variance), support, self)

    def variance(self, users: int, frequency: float = 0.0, concentration: float | None = None) -> float:
        """The variance of an estimate over coins and hash functions, before any report.

        ``concentration`` is the sum of the squared frequencies of all other keys; left out, the largest possible.
        """
        f, n, m = rational(frequency, "frequency"), number_of_people(users), self.places
        others = (1 - f) ** 2 if concentration is None else rational(concentration, "concentration")
        if not 0 <= f <= 1 or not 0 <= others <= (1 - f) ** 2:
            raise InvalidParameter("These are no frequencies.", fix="They are at least 0 and sum to 1.")
        p, q = self.p, self.q
        met = q + (p - q) / m
        spread = (p - q) ** 2 * Fraction(m - 1, m * m) / self.rows  # of a stranger's chance, over the hash functions
        coin = f * p * (1 - p) + (1 - f) * (met * (1 - met) - spread)
        return float((coin / n + others * spread) / (p - met) ** 2)


@dataclass(frozen=True, init=False)
class CountMean(Sketch, mechanism="count-mean"):
    """The row and a bit per place that states whether the key is there, true with probability true/2**32.

    A report is the row in two bytes and the packed bits.

    Guarantee: epsilon-local DP: the row is drawn without looking, and two keys change two bits at most [App17].

    >>> CountMean(epsilon=4, rows=64, places=256).randomize(["a", "b"]).shape
    (2, 34)
    """

    packed = True

    @property
    def changed(self) -> int:
        return 2

    @property
    def q(self) -> Fraction:
        return 1 - self.p

    @property
    def layout(self) -> Layout:
        return Layout(1, 2 + (self.places + 7) // 8)

    @property
    def report_bits(self) -> int:
        return (self.rows - 1).bit_length() + self.places

    def _randomize(self, row: NDArray[np.int64], place: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint8]:
        cells = ~coins(self.true, BITS, row.size * self.places, entropy).reshape(row.size, self.places)
        cells[np.arange(row.size), place] ^= True
        return np.concatenate([_two_bytes(row), np.packbits(cells, axis=1)], axis=1)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return unspared(reports, self.places) & (_row_of(reports) < self.rows)

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        table = np.zeros((self.rows, self.places), np.int64)
        piece = max(1, CELLS // self.places)
        for i in range(0, len(reports), piece):
            some = reports[i : i + piece]
            some = some[np.argsort(_row_of(some))]
            drawn, first = np.unique(_row_of(some), return_index=True)
            bits = np.unpackbits(some[:, 2:], axis=1, count=self.places)
            table[drawn] += np.add.reduceat(bits, first, axis=0, dtype=np.int64)
        return table


@dataclass(frozen=True, init=False)
class HadamardCountMean(Sketch, mechanism="hadamard-count-mean"):
    """The row, a column of the Hadamard matrix, and one bit: the sign there of the key's place.

    The column is uniform; the bit is true with probability true/2**32, 1 for +1.  A report is a row of three integers.

    Guarantee: epsilon-local DP: row and column are drawn without looking, and the rest is one bit [App17].

    >>> HadamardCountMean(epsilon=4, rows=64, places=256).randomize(["a", "b"]).shape
    (2, 3)
    """

    @property
    def changed(self) -> int:
        return 1

    @property
    def q(self) -> Fraction:
        return Fraction(1, 2)  # the signs of two places agree in half of the columns

    @property
    def layout(self) -> Layout:
        return Layout.below(max(self.rows, self.places), 3)

    @property
    def report_bits(self) -> int:
        return (self.rows - 1).bit_length() + self.places.bit_length()

    def _randomize(self, row: NDArray[np.int64], place: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        column = uniform(self.places, row.size, entropy).astype(np.int64)
        plus = parity(column & place) == 0
        said = plus == coins(self.true, BITS, row.size, entropy)
        return np.stack([row, column, said], axis=1).astype(np.uint32)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, np.array([self.rows, self.places, 2]))

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        row, column, said = reports.T.astype(np.int64)
        where = (row * self.places + column) * 2 + said
        both = np.bincount(where, minlength=2 * self.rows * self.places).reshape(self.rows, self.places, 2)
        signed = np.stack([walsh_hadamard(row) for row in both[:, :, 1] - both[:, :, 0]])
        # The agreements less the disagreements, and both together.
        table: NDArray[np.int64] = (signed + both.sum(axis=(1, 2))[:, np.newaxis]) // 2
        return table


def _two_bytes(row: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.stack([row >> 8, row & 255], axis=1).astype(np.uint8)


def _row_of(reports: NDArray[np.uint8]) -> NDArray[np.int64]:
    return reports[:, 0].astype(np.int64) * 256 + reports[:, 1]
