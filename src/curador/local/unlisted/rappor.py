"""RAPPOR: a Bloom filter of the value, randomised once permanently and then again for every report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.local.frequency.oracle import CELLS
from curador.local.frequency.unary import unspared
from curador.local.task.draw import coins, uniform
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout
from curador.local.task.tally import Tally, checked_counts, checked_sum
from curador.local.task.task import ONE_PERIOD, Task, check_thresholds, checked_epsilon, checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.local.unlisted.digest import candidate_keys, checked_places, free_keys, hashed
from curador.local.unlisted.regress import Filters, Regressed
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, set_fields
from curador.show.summary import EstimateNote

BITS = 32
HASHES_MOST = 16
COHORTS_MOST = 1 << 16


@dataclass(frozen=True, init=False)
class Rappor(Task, mechanism="rappor"):
    """Reports on strings without a list of them; the collector names candidates afterwards.

    Each person draws a cohort, which has ``hashes`` hash functions of its own.  These set the bits of their value in a
    filter of ``bloom`` bits.  :meth:`remember` keeps each bit with probability true/2**32, else flips it: done once,
    and stored on the device.  :meth:`report` sends 1 with probability high/2**32 for a remembered 1, low/2**32 for a 0.

    A row is the cohort in two bytes and the packed bits, the first the highest.

    Guarantee: epsilon-local DP for the remembered bits, so for *all* reports made from them together, however many.
        Two values change at most 2 * hashes bits [EPK14].  One report alone costs less, :attr:`one_report`.
    Assumes: the device remembers.  If it forgets, or the value changes, that costs epsilon again.

    >>> task = Rappor(epsilon=4).named("homepages")
    >>> kept = task.remember(["example.org"])
    >>> task.report(kept).shape, task.one_report < task.ratio
    ((1, 18), True)
    """

    takes = ("bloom", "hashes", "cohorts")
    covers = EstimateNote("reports-remembered")
    caution = ONE_PERIOD
    packed = True
    remembers = True

    epsilon: Fraction
    bloom: int
    hashes: int
    cohorts: int
    true: int
    high: int
    low: int

    def __init__(
        self,
        epsilon: Number,
        *,
        bloom: int = 128,
        hashes: int = 2,
        cohorts: int = 64,
        true: int | None = None,
        high: int = 3 << (BITS - 2),
        low: int = 1 << (BITS - 1),
    ) -> None:
        set_fields(
            self,
            epsilon=checked_epsilon(epsilon),
            bloom=checked_places(bloom, "bloom"),
            hashes=checked_threshold(hashes, "hashes", HASHES_MOST + 1),
            cohorts=checked_threshold(cohorts, "cohorts", COHORTS_MOST + 1),
            high=checked_threshold(high, "high", 1 << BITS),
            low=checked_threshold(low, "low", 1 << BITS),
        )
        derived = inside_threshold(1, 1, self.epsilon / (2 * self.hashes), BITS)
        set_fields(self, true=checked_threshold(derived if true is None else true, "true", 1 << BITS))
        if self.p <= self.q or self.low >= self.high:
            raise InvalidParameter("These reports would say nothing.", fix="Choose a larger epsilon, and low < high.")
        check_thresholds(self)

    @property
    def kept(self) -> Fraction:
        """The probability that a bit is remembered as it is."""
        return Fraction(self.true, 1 << BITS)

    @property
    def p(self) -> Fraction:
        """The probability that a bit of the value's filter is reported as 1."""
        return (self.kept * self.high + (1 - self.kept) * self.low) / (1 << BITS)

    @property
    def q(self) -> Fraction:
        """The probability that any other bit is reported as 1."""
        return ((1 - self.kept) * self.high + self.kept * self.low) / (1 << BITS)

    @property
    def ratio(self) -> Fraction:
        return (self.kept / (1 - self.kept)) ** (2 * self.hashes)

    @property
    def one_report(self) -> Fraction:
        """The :attr:`ratio` of a single report by a person who never sends another."""
        return (self.p * (1 - self.q) / (self.q * (1 - self.p))) ** self.hashes

    @property
    def layout(self) -> Layout:
        return Layout(1, 2 + (self.bloom + 7) // 8)

    @property
    def report_bits(self) -> int:
        return self.bloom + (self.cohorts - 1).bit_length()

    def filters(self, values: Any, cohort: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The Bloom filter of each value in its cohort, a row of bits."""
        keys = free_keys(values)
        cells = np.zeros((len(keys), self.bloom), bool)
        for j in range(self.hashes):
            cells[np.arange(len(keys)), hashed(keys, cohort * self.hashes + j, self.salt, self.bloom)] = True
        return cells

    def remember(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.uint8]:
        """Draw the permanent answer, a row per value; a device stores it and makes every report from it."""
        keys = free_keys(values)
        cohort = uniform(self.cohorts, len(keys), entropy).astype(np.int64)
        cells = self.filters(keys, cohort)
        kept = coins(self.true, BITS, cells.size, entropy).reshape(cells.shape)
        return _rows(cohort, cells == kept)

    def report(self, remembered: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.uint8]:
        """Draw a report from each row of a device's memory; call it once per report, with the same rows."""
        cohort, cells = self._read(self._checked(remembered))
        answers = coins(self.high, BITS, cells.size, entropy), coins(self.low, BITS, cells.size, entropy)
        return _rows(cohort, np.where(cells, answers[0].reshape(cells.shape), answers[1].reshape(cells.shape)))

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.uint8]:
        """Draw a report for each value, from devices that forget.

        Use it to simulate, or where each person reports only once.
        """
        return self.report(self.remember(values, entropy=entropy), entropy=entropy)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return unspared(reports, self.bloom) & (_cohort(reports) < self.cohorts)

    def _read(self, rows: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        return _cohort(rows), np.unpackbits(rows[:, 2:], axis=1, count=self.bloom).astype(bool)

    def tally(self, reports: Any) -> Tally:
        """Count for each cohort the reports, then how often each bit is set.  Tallies of parts add up."""
        counts = np.zeros((self.cohorts, 1 + self.bloom), np.int64)
        found = self._checked(reports)
        piece = max(1, CELLS // self.bloom)
        for i in range(0, len(found), piece):
            cohort, cells = self._read(found[i : i + piece])
            for j in np.unique(cohort):
                mine = cells[cohort == j]
                counts[j, 0] += len(mine)
                counts[j, 1:] += mine.sum(axis=0)
        return Tally(len(found), counts)

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> Regressed:
        """Estimate the frequencies of candidate keys, by least squares on the bits of all cohorts [EPK14]."""
        keys, tally = candidate_keys(candidates), self._counted(reports)
        if not tally.users or tally.support.shape != (self.cohorts, 1 + self.bloom):
            raise InvalidParameter("There are no reports on this task.", fix="Collect some first.")
        checked_sum(Tally(tally.users, tally.support[:, 0]))
        checked_counts(tally.support, tally.support[:, :1])
        used = np.flatnonzero(tally.support[:, 0])
        people, yes = tally.support[used, 0], tally.support[used, 1:]
        bits = np.stack([self.filters(keys, np.full(len(keys), j)).T for j in used]).astype(float)
        p, q = float(self.p), float(self.q)
        share = (yes / people[:, np.newaxis] - q) / (p - q)
        return Filters(bits, people.astype(float)).estimate(keys, share, p, q)


def _cohort(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    return rows[:, 0].astype(np.int64) * 256 + rows[:, 1]


def _rows(cohort: NDArray[np.int64], cells: NDArray[np.bool_]) -> NDArray[np.uint8]:
    where = np.stack([cohort >> 8, cohort & 255], axis=1).astype(np.uint8)
    return np.concatenate([where, np.packbits(cells, axis=1)], axis=1)
