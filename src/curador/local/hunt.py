"""The search for heavy hitters in a tally: prefixes grow byte by byte, and only those with most support go on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from curador.local.domain import Key
from curador.local.evidence import nearly_always_reached, rarely_reached
from curador.local.limits import Floats
from curador.local.prefixes import END, Bytes, all_places, coefficients, ended, extended, key_of
from curador.local.tally import Tally
from curador.local.walsh import walsh_hadamard

if TYPE_CHECKING:
    from curador.local.hitters import HeavyHitters

CAP = 4.0
"""A level adds to a prefix's score by how many standard deviations its support is above chance; by these at most, so
that a very frequent prefix does not carry all its continuations along.  No promise depends on it."""

KNOWN = 64
"""How many of the most frequent keys found are taken out where others meet them."""


@dataclass(frozen=True, eq=False)
class Hitters:
    """Values that many people have, the most frequent first.

    ``cut`` says of each whether it stands for all values that begin (of integers: lie beyond) there.  ``values`` are
    estimated frequencies, ``variance`` theirs given the hash functions.  ``crowded`` says whether the beam had to leave
    prefixes out; all the same, every key as frequent as ``complete_above`` was found.

    Guarantee: with the confidence asked for, over the coins of the devices: no key is here that nobody has and that
        meets nobody's; and none is missing whose frequency is ``complete_above`` or more, whatever the hash functions
        and the other values are [BNST17, Hoe56]; docs/proofs/heavy-hitters.md.
    Fails: a key that nobody has may meet frequent ones by the public hash functions, in more rows than usual.  The
        most frequent keys found are taken out where others meet them; the rest are not.  Keys just above what was
        needed to be found are overestimated on average, since the others are not shown: there are no intervals.

    >>> Hitters(("tea",), (False,), 1000, np.array([0.5]), np.array([0.01]), 0.2, False).counts.tolist()
    [500.0]
    """

    keys: tuple[Key, ...]
    cut: tuple[bool, ...]
    users: int
    values: Floats
    variance: Floats
    complete_above: float
    crowded: bool

    @property
    def counts(self) -> Floats:
        """How many people that is."""
        return self.values * self.users

    def first(self, most: int) -> Hitters:
        """The first so many keys of these."""
        some = slice(most)
        return replace(
            self, keys=self.keys[some], cut=self.cut[some], values=self.values[some], variance=self.variance[some]
        )


@dataclass(frozen=True, eq=False)
class Suspects:
    """Complete values that were chosen by people of earlier levels, and what the people of ``levels`` say of them.

    >>> two = Suspects(range(3, 4), np.zeros((2, 4), np.uint8), 100, np.array([30, 20]), 25)
    >>> two.those(two.support >= two.bar).support.tolist()
    [30]
    """

    levels: range
    codes: Bytes
    people: int
    support: NDArray[np.int64]
    bar: int

    def those(self, some: NDArray[np.bool_]) -> Suspects:
        """Some of these, by the same people."""
        return replace(self, codes=self.codes[some], support=self.support[some])


class Hunt:
    """One search of a tally: how rare, how sure and how wide.

    Assumes: somebody drew each level.

    >>> from curador.local.hitters import HeavyHitters
    >>> task = HeavyHitters(4, length=2, rows=16, places=61)
    >>> hunt = Hunt(task, task.tally(task.randomize(["ab"] * 1000)), at_least=0.1, miss=0.025, beam=16)
    >>> hunt.run().keys[0]
    'ab'
    """

    def __init__(self, task: HeavyHitters, tally: Tally, at_least: float, miss: float, beam: int) -> None:
        self.task, self.tally, self.at_least, self.miss, self.beam = task, tally, at_least, miss, beam
        self.text = task.kind == "text"
        self.people = [int(n) for n in tally.support[:, 0]]
        self.p, self.q, self.stranger = float(task.p), float(task.q), float(task.stranger)
        self.table = lru_cache(None)(self._table)

    def run(self) -> Hitters:
        """Search, judge, and say what may have been missed."""
        suspects, left_out = self._search()
        over = [group.those(group.support >= group.bar) for group in suspects]
        bars = [(group.people, group.bar) for group in suspects if len(group.codes)]
        people = np.concatenate([np.full(len(group.codes), group.people) for group in over])
        bar = np.concatenate([np.full(len(group.codes), group.bar) for group in over])
        support = np.concatenate([group.support for group in over])
        values, named = self._frequency(support, people), list[int]()
        tables = self._tables(over)
        for i in np.argsort(-values, kind="stable"):
            if values[i] < self._frequency(bar[i], people[i]):  # explained by those it meets
                bars.append((int(people[i]), int(support[i]) + 1))
                continue
            named.append(int(i))
            if len(named) <= KNOWN:
                values -= values[i] * self._met_by(int(i), tables, people)
        named.sort(key=lambda i: -values[i])
        codes = np.concatenate([group.codes for group in over])
        keys = [key_of(codes[i], self.text) for i in named]
        users, shares = self.tally.users, values.clip(0, 1)
        return Hitters(
            tuple(key for key, _ in keys),
            tuple(cut for _, cut in keys),
            users,
            values[named],
            np.array([self.task.variance(users, float(shares[i]), int(people[i])) for i in named]),
            self._complete_above(left_out, bars),
            max(left_out, default=-1) >= 0,
        )

    def _search(self) -> tuple[list[Suspects], list[int]]:
        """The complete values to judge, and the largest support left out by the beam at each level but the last."""
        task, suspects, left_out = self.task, list[Suspects](), list[int]()
        prefixes, score = np.zeros((1, 0), np.uint8), np.zeros(1)
        for level, width in enumerate(task.widths):
            while prefixes.shape[1] < width:
                which, prefixes = extended(prefixes, task.length, self.text)
                score = score[which]
            if level + 1 == task.levels:
                suspects.append(self._judged(prefixes, range(level, level + 1)))
                break
            support = self.support(level, prefixes)
            score = score + np.minimum(self._sigmas(support, self.people[level]), CAP)
            possible = np.flatnonzero(support >= self._least(self.people[level]))
            kept, dropped = self._best(possible, support, score)
            left_out.append(int(support[dropped].max(initial=-1)))
            prefixes, score = prefixes[kept], score[kept]
            done = ended(prefixes, self.text)
            suspects.append(self._judged(prefixes[done], range(level + 1, task.levels)))
            prefixes, score = prefixes[~done], score[~done]
        return suspects, left_out

    def _best(
        self, possible: NDArray[np.int64], support: NDArray[np.int64], score: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What goes on and what does not: half of the beam by support, which promises are about, the rest by score."""
        by_support = possible[np.argsort(-support[possible], kind="stable")]
        half = (self.beam + 1) // 2
        rest = by_support[half:]
        rest = rest[np.argsort(-score[rest], kind="stable")]
        room = self.beam - half
        return np.concatenate([by_support[:half], rest[:room]]), rest[room:]

    def _judged(self, codes: Bytes, levels: range) -> Suspects:
        """Suspects, by people who had no part in choosing them.

        Given the earlier levels, those that nobody has are supported by independent coins of the chance of strangers.
        Each level's suspects have the same part in what may be made up.
        """
        people = sum(self.people[level] for level in levels)
        whole = _whole(codes, self.task.length)
        support = sum(
            (self.support(i, whole[:, : self.task.widths[i]]) for i in levels), np.zeros(len(codes), np.int64)
        )
        bar = rarely_reached(people, self.stranger, self.miss / (self.task.levels * max(1, len(codes))))
        return Suspects(levels, whole, people, support, max(bar, self._least(people)))

    def support(self, level: int, prefixes: Bytes) -> NDArray[np.int64]:
        """How many reports of a level support each prefix."""
        task = self.task
        three = coefficients(prefixes, task.salt, task.places)
        excess = np.zeros(len(prefixes), np.int64)
        for signed, place in zip(self.table(level), all_places(three, task.rows, task.places), strict=True):
            excess += signed[place]
        # For each report g 1{supports} - 1 was summed, g being how many answers there are.
        support: NDArray[np.int64] = (excess + self.people[level]) // task.oracle.answers
        return support

    def _table(self, level: int) -> list[NDArray[np.int64]]:
        spectra = self.tally.support[level, 1:].reshape(self.task.rows, -1)
        return [walsh_hadamard(spectrum) for spectrum in spectra]

    def _sigmas(self, support: NDArray[np.int64] | int, people: int) -> Floats:
        spread = math.sqrt(people * self.stranger * (1 - self.stranger))
        return np.asarray((support - people * self.stranger) / spread)

    def _frequency(self, support: NDArray[np.int64], people: NDArray[np.int64]) -> Floats:
        return np.asarray((support / people - self.stranger) / (self.p - self.stranger))

    def _least(self, people: int) -> int:
        """What support a key of frequency ``at_least`` has but for its part of the miss."""
        return self._reached(people, self.at_least) if self.at_least > 0 else 0

    def _reached(self, people: int, frequency: float) -> int:
        # Keys may be missed with a chance in proportion to their frequencies, which sum to 1.
        chance = self.q + (self.p - self.q) * frequency
        return nearly_always_reached(people, chance, self.miss * frequency / self.task.levels)

    def _complete_above(self, left_out: list[int], bars: list[tuple[int, int]]) -> float:
        """The least frequency from which on keys pass every level and every bar, but for their parts of the miss."""
        goals = [(people, most + 1) for people, most in zip(self.people, left_out, strict=False)] + bars

        def passes(frequency: float) -> bool:
            return all(self._reached(people, frequency) >= goal for people, goal in goals)

        low, high = self.at_least, 1.0
        if passes(low):
            return low
        if not passes(high):
            return math.inf
        while high - low > 1e-3 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if passes(middle) else (middle, high)
        return high

    def _tables(self, over: list[Suspects]) -> list[tuple[int, NDArray[np.int64], NDArray[np.uint32]]]:
        """For each level, its people, whom of the suspects they judge, and the places of all in every row."""
        task, found = self.task, []
        codes = np.concatenate([group.codes for group in over])
        levels = [group.levels for group in over for _ in group.codes]
        for level, width in enumerate(task.widths):
            judged = np.flatnonzero([level in one for one in levels])
            if judged.size:
                three = coefficients(codes[:, :width], task.salt, task.places)
                found.append((self.people[level], judged, np.stack([*all_places(three, task.rows, task.places)])))
        return found

    def _met_by(
        self, known: int, tables: list[tuple[int, NDArray[np.int64], NDArray[np.uint32]]], people: NDArray[np.int64]
    ) -> Floats:
        """How much more of a key's people support each other one than strangers do in the mean; nothing of oneself."""
        met = np.zeros(people.size)
        for users, judged, table in tables:
            met[judged] += users * (table[:, judged] == table[:, [known]]).mean(axis=0)
        excess: Floats = (met / people - 1 / self.task.places) / (1 - 1 / self.task.places)
        excess[known] = 0
        return excess


def _whole(codes: Bytes, length: int) -> Bytes:
    """Complete values with all of their ends."""
    filled = np.full((len(codes), length), END, np.uint8)
    filled[:, : codes.shape[1]] = codes
    return filled
