"""The search for heavy hitters in a tally: a beam search over prefixes, which grow byte by byte."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from curador.local.frequency.walsh import walsh_hadamard
from curador.local.task.estimate import LocalEstimate, frequency_summary
from curador.local.task.keys import LocalKey
from curador.local.task.limits import Floats
from curador.local.task.tally import Tally
from curador.local.unlisted.collisions import Collisions, KnownValues, among, at_most
from curador.local.unlisted.evidence import nearly_always_reached, rarely_reached
from curador.local.unlisted.prefixes import END, Bytes, all_places, coefficients, ended, extended, key_of
from curador.show.summary import EstimateNote, Summary, as_percent

if TYPE_CHECKING:
    from curador.local.unlisted.heavy_hitters import HeavyHitters

CAP = 4.0
"""The most that a level adds to a prefix's score, in standard deviations of its support above chance.  With this cap a
very frequent prefix does not carry all its continuations along.  No promise depends on it."""

KNOWN = 256
"""The most prefixes of a level whose collisions are counted."""


NOT_COMPLETE = EstimateNote("search-too-few")
FOUND = EstimateNote("search-over")


@dataclass(frozen=True, eq=False, repr=False)
class Hitters(LocalEstimate):
    """Values that many people have, the most frequent first.

    ``cut`` marks a value that stands for all values which begin there (integers: lie beyond it).  ``values`` are
    estimated frequencies, ``variance`` their variances given the hash functions.  ``crowded`` is true if the beam left
    prefixes out.  Even then, every key as frequent as ``complete_above`` was found.  With more people that frequency
    stays above about 1/places, which strangers add to every key.  It is infinite if nothing can be promised.

    Guarantee: both statements hold with the confidence asked for.  First, every key here has a holder or is the twin of
        one that has, over the coins of the devices and over hash functions like random ones.  Second, no key of
        frequency ``complete_above`` or more is missing, whatever the hash functions are [BNST17, Hoe56];
        docs/proofs/heavy-hitters.md.
    Assumes: people did not choose their values by looking at the hash functions of this task.
    Fails: twins are prefixes all three coefficients of which agree, one pair in places**3; no report separates them.
        If both are seen, neither is named.  Keys just above the support needed are overestimated on average, since the
        others are not shown: there are no intervals.

    >>> Hitters(("tea",), (False,), 1000, np.array([0.5]), np.array([0.01]), 0.2, False).counts.tolist()
    [500.0]
    """

    keys: tuple[LocalKey, ...]
    cut: tuple[bool, ...]
    users: int
    values: Floats
    variance: Floats
    complete_above: float
    crowded: bool
    confidence: float = 0.95
    """The confidence of the search."""

    @property
    def counts(self) -> Floats:
        """The estimates in people."""
        return self.values * self.users

    def first(self, most: int) -> Hitters:
        """Return the ``most`` most frequent of these."""
        some = slice(most)
        return replace(
            self, keys=self.keys[some], cut=self.cut[some], values=self.values[some], variance=self.variance[some]
        )

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        """Summarize without limits; the note states how complete the list is, at the confidence of the search."""
        labels = tuple(f"{key}…" if cut else key for key, cut in zip(self.keys, self.cut, strict=True))
        note = NOT_COMPLETE
        if self.complete_above <= 1:
            least = math.ceil(1e5 * self.complete_above) / 1e3  # rounded up: the list is complete above it
            known = (("confidence", as_percent(self.confidence)), ("least", f"{least:g}"))
            note = EstimateNote("search-complete", known)
        return frequency_summary(labels, self.values, self.users, variance=self.variance, notes=(note, FOUND))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Complete values with their support among the people of ``levels``.

    They were chosen by people of earlier levels.

    >>> two = Candidates(range(3, 4), np.zeros((2, 4), np.uint8), 100, np.array([30, 20]))
    >>> two.those(two.support >= 25).support.tolist()
    [30]
    """

    levels: range
    codes: Bytes
    people: int
    support: NDArray[np.int64]

    def those(self, some: NDArray[np.bool_]) -> Candidates:
        """Select some of these, by the same people."""
        return replace(self, codes=self.codes[some], support=self.support[some])


class PrefixSearch:
    """A search of a tally: for values of at least this frequency, with this miss and beam.

    Assumes: each level was drawn by at least one person.

    >>> from curador.local.unlisted.heavy_hitters import HeavyHitters
    >>> task = HeavyHitters(4, length=2, rows=16, places=61)
    >>> search = PrefixSearch(task, task.tally(task.randomize(["ab"] * 1000)), at_least=0.1, miss=0.025, beam=16)
    >>> search.run().keys[0]
    'ab'
    """

    def __init__(self, task: HeavyHitters, tally: Tally, at_least: float, miss: float, beam: int) -> None:
        self.task, self.tally, self.at_least, self.miss, self.beam = task, tally, at_least, miss, beam
        self.text = task.kind == "text"
        self.people = [int(n) for n in tally.support[:, 0]]
        self.p, self.q, self.stranger = float(task.p), float(task.q), float(task.stranger)
        self.table = lru_cache(None)(self._table)
        self.seen: list[list[tuple[Bytes, NDArray[np.int64]]]] = [[] for _ in task.widths]

    def run(self) -> Hitters:
        """Search, test the candidates, and bound the frequency of missed values."""
        candidates, left_out = self._search()
        known = self._known_values(left_out)
        goals = [(people, most + 1) for people, most in zip(self.people, left_out, strict=False)]
        found = [self._select(group, known) for group in candidates]
        goals += [(named.people, missed + 1) for named, _, missed in found]
        values = np.concatenate([self._frequency(named.support, named.people) - met for named, met, _ in found])
        people = np.concatenate([np.full(len(named.codes), named.people) for named, _, _ in found])
        codes = np.concatenate([named.codes for named, _, _ in found])
        order = np.argsort(-values, kind="stable")
        keys = [key_of(codes[i], self.text) for i in order]
        users, shares = self.tally.users, values.clip(0, 1)
        return Hitters(
            tuple(key for key, _ in keys),
            tuple(cut for _, cut in keys),
            users,
            values[order],
            np.array([self.task.variance(users, float(shares[i]), int(people[i])) for i in order]),
            self._complete_above(goals),
            max(left_out, default=-1) >= 0,
        )

    def _select(self, group: Candidates, known: list[KnownValues]) -> tuple[Candidates, Floats, int]:
        """Return the named candidates, the bias of their estimates, and the others' largest support.

        The bias comes from collisions.

        Given the earlier levels, reports support a candidate without holders as independent coins, with the chance of
        its collisions.  The candidates of each level have the same share of the miss.
        """
        task, part = self.task, self.miss / (4 * self.task.levels * max(1, len(group.codes)))
        weights = [self.people[level] / group.people for level in group.levels]
        collisions = Collisions.of(
            [known[level] for level in group.levels],
            weights,
            part,
            salt=task.salt,
            rows=task.rows,
            places=task.places,
        )

        def bar(share: float) -> int:
            return rarely_reached(group.people, self.q + (self.p - self.q) * share, 2 * part)

        over = group.support >= max(bar(collisions.chance), self._least(group.people))
        some = group.those(over)
        allowed = collisions.allowed(some.codes)
        bars = {share: bar(share) for share in set(allowed.tolist())}
        good = some.support >= np.array([bars[share] for share in allowed.tolist()], np.int64)
        good &= ~self._twins(some)
        over[over] = good
        named = group.those(over)
        return named, collisions.expected(named.codes), int(group.support[~over].max(initial=-1))

    def _twins(self, group: Candidates) -> NDArray[np.bool_]:
        """Mark the candidates with the same coefficients as another at a level that tests them."""
        found = np.zeros(len(group.codes), bool)
        for level in group.levels:
            three = coefficients(group.codes[:, : self.task.widths[level]], self.task.salt, self.task.places)
            _, which, times = np.unique(three, axis=0, return_inverse=True, return_counts=True)
            found |= times[which.reshape(-1)] > 1
        return found

    def _known_values(self, left_out: list[int]) -> list[KnownValues]:
        """The most frequent prefixes of each level, with a bound on the frequency of all others.

        A prefix that was never looked up begins with one that was left out, or is rarer than ``at_least``.
        """
        found, unseen, users = list[KnownValues](), self.at_least, self.tally.users
        part = self.miss / (4 * self.task.levels)
        for level, people in enumerate(self.people):
            prefixes = np.concatenate([some for some, _ in self.seen[level]])
            support = np.concatenate([some for _, some in self.seen[level]])
            order = np.argsort(-support, kind="stable")[: KNOWN + 1]
            prefixes, support = prefixes[order], support[order]
            most = self._at_most(level, support)
            last = float(most[KNOWN]) if len(most) > KNOWN else 0.0
            rest = float(among(max(unseen, last), people, users, part))
            seems = self._frequency(support, people).clip(0, 1)
            found.append(KnownValues(prefixes[:KNOWN], among(most[:KNOWN], people, users, part), seems[:KNOWN], rest))
            if level < len(left_out) and left_out[level] >= 0:
                unseen = max(unseen, float(self._at_most(level, np.array([left_out[level]]))[0]))
        return found

    def _at_most(self, level: int, support: NDArray[np.int64]) -> Floats:
        return at_most(support, self.people[level], self.q, self.p, self.miss / (self.task.levels + 1))

    def _search(self) -> tuple[list[Candidates], list[int]]:
        """Return the complete values to test, and the largest support that each earlier beam left out."""
        task, candidates, left_out = self.task, list[Candidates](), list[int]()
        prefixes, score = np.zeros((1, 0), np.uint8), np.zeros(1)
        for level, width in enumerate(task.widths):
            while prefixes.shape[1] < width:
                which, prefixes = extended(prefixes, task.length, self.text)
                score = score[which]
            if level + 1 == task.levels:
                candidates.append(self._test(prefixes, range(level, level + 1)))
                break
            support = self.support(level, prefixes)
            score = score + np.minimum(self._sigmas(support, self.people[level]), CAP)
            possible = np.flatnonzero(support >= self._least(self.people[level]))
            kept, dropped = self._best(possible, support, score)
            left_out.append(int(support[dropped].max(initial=-1)))
            prefixes, score = prefixes[kept], score[kept]
            done = ended(prefixes, self.text)
            candidates.append(self._test(prefixes[done], range(level + 1, task.levels)))
            prefixes, score = prefixes[~done], score[~done]
        return candidates, left_out

    def _best(
        self, possible: NDArray[np.int64], support: NDArray[np.int64], score: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The beam and the rest: half of the beam by support, which the guarantee is about, half by score."""
        by_support = possible[np.argsort(-support[possible], kind="stable")]
        half = (self.beam + 1) // 2
        rest = by_support[half:]
        rest = rest[np.argsort(-score[rest], kind="stable")]
        room = self.beam - half
        return np.concatenate([by_support[:half], rest[:room]]), rest[room:]

    def _test(self, codes: Bytes, levels: range) -> Candidates:
        """Candidates with the support of people who had no part in choosing them."""
        whole, support = _whole(codes, self.task.length), np.zeros(len(codes), np.int64)
        for level in levels:
            support += self.support(level, whole[:, : self.task.widths[level]])
        return Candidates(levels, whole, sum(self.people[level] for level in levels), support)

    def support(self, level: int, prefixes: Bytes) -> NDArray[np.int64]:
        """Count the reports of a level that support each prefix."""
        task = self.task
        three = coefficients(prefixes, task.salt, task.places)
        excess = np.zeros(len(prefixes), np.int64)
        for signed, place in zip(self.table(level), all_places(three, task.rows, task.places), strict=True):
            excess += signed[place]
        # The spectrum sums g 1{supports} - 1 over reports, where g is the number of answers.
        support: NDArray[np.int64] = (excess + self.people[level]) // task.oracle.answers
        most = np.argsort(-support, kind="stable")[: KNOWN + 1]
        self.seen[level].append((prefixes[most], support[most]))
        return support

    def _table(self, level: int) -> list[NDArray[np.int64]]:
        spectra = self.tally.support[level, 1:].reshape(self.task.rows, -1)
        return [walsh_hadamard(spectrum) for spectrum in spectra]

    def _sigmas(self, support: NDArray[np.int64] | int, people: int) -> Floats:
        spread = math.sqrt(people * self.stranger * (1 - self.stranger))
        return np.asarray((support - people * self.stranger) / spread)

    def _frequency(self, support: NDArray[np.int64], people: int) -> Floats:
        return np.asarray((support / people - self.stranger) / (self.p - self.stranger))

    def _least(self, people: int) -> int:
        """The support that a key of frequency ``at_least`` reaches but for its part of the miss."""
        return self._support_needed(people, self.at_least) if self.at_least > 0 else 0

    def _support_needed(self, people: int, frequency: float) -> int:
        # Keys may be missed with a chance in proportion to their frequencies, which sum to 1.
        chance = self.q + (self.p - self.q) * frequency
        return nearly_always_reached(people, chance, self.miss * frequency / (self.task.levels + 1))

    def _complete_above(self, goals: list[tuple[int, int]]) -> float:
        """The least frequency of keys with more support than all omissions, but for their parts of the miss."""

        def passes(frequency: float) -> bool:
            return all(self._support_needed(people, frequency) >= goal for people, goal in goals)

        low, high = self.at_least, 1.0
        if passes(low):
            return low
        if not passes(high):
            return math.inf
        while high - low > 1e-3 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if passes(middle) else (middle, high)
        return high


def _whole(codes: Bytes, length: int) -> Bytes:
    """Pad complete values with their end bytes."""
    filled = np.full((len(codes), length), END, np.uint8)
    filled[:, : codes.shape[1]] = codes
    return filled
