"""Heavy hitters: the values that many people have, found byte by byte, without a list of candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.local.frequency.local_hashing import OLH
from curador.local.frequency.oracle import CELLS
from curador.local.task.draw import uniform, word_for
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, below
from curador.local.task.limits import checked_miss
from curador.local.task.planning import least_users
from curador.local.task.tally import Tally, checked_counts, checked_sum
from curador.local.task.task import Task, check_thresholds, checked_epsilon, checked_threshold
from curador.local.unlisted.chances import FREQUENCIES, found_chance
from curador.local.unlisted.collisions import TWICE
from curador.local.unlisted.digest import check_table
from curador.local.unlisted.evidence import nearly_always_reached, rarely_reached
from curador.local.unlisted.prefix_search import Hitters, PrefixSearch
from curador.local.unlisted.prefixes import Bytes, coded, coefficients, place
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, number_of_people, positive, probability, rational, set_fields, whole

KINDS = {"text": 2, "integers": 3}
"""The kinds of values, with the default frequency of drawing the last level.  Strings are also tested by people of
earlier levels.  Integers are tested by those of the last level alone, who must separate more values."""

LENGTH_MOST, LAST_MOST, PLACES_MOST = 64, 64, 1 << 16
BEAM = 1024


@dataclass(frozen=True, init=False)
class HeavyHitters(Task, mechanism="heavy-hitters"):
    """Frequent values without a list: each person reports once, on one prefix of their value.

    The collector puts the frequent prefixes together.

    A value is ``length`` bytes.  For a string these are its UTF-8, cut if it is longer; for an integer its distance
    from -2**(8 length - 1), clamped.  A device draws a level, the length of the prefix to report: 2, 3, … bytes, the
    full length ``last`` times as often as another.  It also draws one of ``rows``, a public hash function that sends
    the prefix to one of ``places``.  It reports that place by linear local hashing (:class:`OLH`) at the whole
    epsilon.  A row of a report is level, row, masks and answer.  All rules are in docs/proofs/heavy-hitters.md.

    A tally has a line for each level: the number of people who drew it, and then the Walsh spectrum of each row.  These
    are sums over reports, so tallies of parts add up, and no report must be stored.

    Guarantee: epsilon-local DP: level, row and masks are drawn without looking at the value, and the answer is k-RR's
        [BNST17, WBLJ17].
    Assumes: fair bits on the device; one report per person and task.
    Fails: the frequency of a frequent value is not hidden, since the reports of its holders reveal it together.

    >>> task = HeavyHitters(epsilon=4, length=6)
    >>> task.levels, task.report_bits, task.randomize(["tea", "coffee"]).shape
    (5, 77, (2, 9))
    >>> found = task.find(task.randomize(["tea"] * 6000 + ["coffee"] * 4000))
    >>> found.keys, found.cut
    (('tea', 'coffee'), (False, False))
    """

    takes = ("kind", "length")

    epsilon: Fraction
    kind: str
    length: int
    last: int
    rows: int
    places: int
    hash_bits: int
    keep: int

    def __init__(
        self,
        epsilon: Number,
        *,
        kind: str = "text",
        length: int = 12,
        last: int | None = None,
        rows: int = 256,
        places: int = 1021,
        hash_bits: int | None = None,
        keep: int | None = None,
    ) -> None:
        if not isinstance(kind, str) or kind not in KINDS:
            raise InvalidParameter(f"Values are {' or '.join(KINDS)}, not {kind!r}.", fix='Choose kind="text".')
        set_fields(
            self,
            epsilon=checked_epsilon(epsilon),
            kind=kind,
            length=checked_threshold(length, "length", LENGTH_MOST + 1),
            last=checked_threshold(KINDS[kind] if last is None else last, "last", LAST_MOST + 1),
            places=_prime(places),
        )
        # More rows than places would repeat hash functions.
        set_fields(self, rows=checked_threshold(rows, "rows", self.places + 1))
        oracle = OLH(self.places, self.epsilon, hash_bits=hash_bits, keep=keep)
        set_fields(self, hash_bits=oracle.hash_bits, keep=oracle.keep)
        check_table(math.prod(self._shape))
        check_thresholds(self)

    @cached_property
    def oracle(self) -> OLH:
        """The oracle that reports a place."""
        return OLH(self.places, self.epsilon, hash_bits=self.hash_bits, keep=self.keep)

    @property
    def widths(self) -> range:
        """The lengths of the prefixes, level by level."""
        return range(min(2, self.length), self.length + 1)

    @property
    def levels(self) -> int:
        """The number of prefix lengths."""
        return len(self.widths)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The probability of drawing each level."""
        slots = self.levels - 1 + self.last
        return (*[Fraction(1, slots)] * (self.levels - 1), Fraction(self.last, slots))

    @property
    def p(self) -> Fraction:
        """The probability that a report supports the person's own prefix."""
        return self.oracle.p

    @property
    def q(self) -> Fraction:
        """The probability that a report supports a prefix whose hash differs from that of the own prefix."""
        return self.oracle.q

    @property
    def stranger(self) -> Fraction:
        """The mean probability that a report supports a prefix other than the own one.

        The mean is over hash functions.
        """
        return self.q + (self.p - self.q) / self.places

    @property
    def ratio(self) -> Fraction:
        return self.oracle.ratio

    @property
    def report_bits(self) -> int:
        return (self.levels - 1).bit_length() + (self.rows - 1).bit_length() + self.oracle.report_bits

    @property
    def layout(self) -> Layout:
        return Layout.below(self._most, self.hash_bits + 3)

    @property
    def _most(self) -> int:
        return max(self.levels, self.rows, self._cells, self.oracle.answers)

    @property
    def _cells(self) -> int:
        """The length of a row's spectrum."""
        return 1 << self.oracle.key_bits

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Draw a report for each value, from a level, a row and coins of its own."""
        codes, number = coded(values, self.length, self.kind == "text")
        piece = max(1, CELLS // self.oracle.width)
        parts = [number[i : i + piece] for i in range(0, max(1, number.size), piece)]
        return np.concatenate([self._randomize(codes, part, entropy) for part in parts])

    def _randomize(self, codes: Bytes, number: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        """Draw reports on the values whose codes have these numbers."""
        slot = uniform(self.levels - 1 + self.last, number.size, entropy).astype(np.int64)
        level = np.minimum(slot, self.levels - 1)
        row = uniform(self.rows, number.size, entropy)
        masked = self.oracle._randomize(self._places(codes, number, level, row), entropy)
        return np.column_stack([level, row, masked]).astype(word_for(self._most))

    def _places(
        self, codes: Bytes, number: NDArray[np.int64], level: NDArray[np.int64], row: NDArray[Any]
    ) -> NDArray[np.int64]:
        """The place of each person's prefix in their drawn row; a prefix of several people is hashed once."""
        found = np.empty(number.size, np.int64)
        for i, width in enumerate(self.widths):
            drew = np.flatnonzero(level == i)
            different, which = np.unique(number[drew], return_inverse=True)
            three = coefficients(codes[different, :width], self.salt, self.places)
            found[drew] = place(three[which], row[drew], self.places)
        return found

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        masks = [self._cells] * self.hash_bits
        return below(reports, np.array([self.levels, self.rows, *masks, self.oracle.answers]))

    def tally(self, reports: Any) -> Tally:
        """Count for each level the people who drew it, and then each row's spectrum.  Tallies of parts add up."""
        found = self._checked(reports)
        counts = np.zeros(self._shape, np.int64)
        piece = max(1, CELLS // found.shape[1])
        for i in range(0, len(found), piece):
            self._count(found[i : i + piece].astype(np.int64), counts)
        return Tally(len(found), counts)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.levels, 1 + self.rows * self._cells

    def _count(self, reports: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        level, row, answer = reports[:, 0], reports[:, 1], reports[:, -1]
        counts[:, 0] += np.bincount(level, minlength=self.levels)
        flat = counts.reshape(-1)
        start = level * counts.shape[1] + 1 + row * self._cells
        mask, minus = np.zeros_like(row), np.zeros_like(row)
        # g 1{h(v) = y} - 1 is a sum of signed characters of v over all subsets of the masks but the empty one; in
        # Gray-code order one mask enters or leaves at a time.
        for step in range(1, self.oracle.answers):
            j = (step & -step).bit_length() - 1
            mask ^= reports[:, 2 + j]
            minus ^= (answer >> j) & 1
            where, odd = start + mask, minus.astype(bool)
            np.add.at(flat, where[~odd], 1)
            np.subtract.at(flat, where[odd], 1)

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> Hitters:
        """Find the frequent values, as :meth:`find` does; they need no candidates."""
        return self.find(self._counted(reports, candidates), confidence=confidence)

    def find(
        self, reports: Any, *, at_least: Number = 0, confidence: float = 0.95, beam: int = BEAM, most: int | None = None
    ) -> Hitters:
        """Find the frequent values, from reports or from their :class:`Tally`.

        At each level the ``beam`` best prefixes go on, unless they are too rare for values of frequency ``at_least``.
        So asking for frequent values only is faster.  A complete value is found if it has more support than chance
        explains, together with what colliding values may add.  At most ``most`` of them are named; the rest of the
        answer is about all.
        """
        tally = self._counted(reports)
        if tally.support.shape != self._shape or not (tally.support[:, 0] > 0).all():
            raise InvalidParameter("There are too few reports on this task.", fix="Collect some for each level.")
        people = tally.support[:, 0]
        checked_counts(people, np.int64(tally.users))
        checked_sum(Tally(tally.users, people))
        # Each report adds or subtracts 1 in this many places, which may coincide.
        farthest = np.maximum(tally.support[:, 1:].max(axis=1), ~tally.support[:, 1:].min(axis=1))
        checked_counts(farthest, people * (self.oracle.answers - 1))
        wanted, miss = probability(at_least, "at_least"), checked_miss(confidence)
        # One half for frequent prefixes with too little support, the other for values that chance makes up.
        found = PrefixSearch(self, tally, float(wanted), miss / 2, whole(beam, "beam", 1)).run()
        found = replace(found, confidence=confidence)
        return found if most is None else found.first(whole(most, "most"))

    def variance(self, users: int, frequency: float = 0.0, people: int | None = None) -> float:
        """The variance of an estimated frequency, from ``people`` of the users (those of the last level).

        The variance is over coins, levels and rows, for hash functions whose keys collide as often as by chance.
        """
        f, n = rational(frequency, "frequency"), number_of_people(users)
        m = max(1, math.floor(n * self.shares[-1])) if people is None else whole(people, "people", 1)
        if not 0 <= f <= 1 or m > n:
            raise InvalidParameter("This is not a frequency, or is of more people than reported.", fix="Try 0.01.")
        p, r = self.p, self.stranger
        coin = (f * p * (1 - p) + (1 - f) * r * (1 - r)) / (m * (p - r) ** 2)
        # The people are a part of all, drawn without replacement.
        drawn = f * (1 - f) * (Fraction(1, m) - Fraction(1, n)) * Fraction(n, max(1, n - 1))
        return float(coin + drawn)

    def users_needed(self, within: Number, confidence: float = 0.95, *, beam: int = BEAM) -> int:
        """A number of people with which :meth:`find` finds a value.

        The value has frequency ``within`` or more, and is found with probability ``confidence``.

        Assumes: at any length, the prefixes frequent enough to compete fill at most a quarter of the beam.  No prefix
            that is tested has all three coefficients of the value's.
        Fails: no crowd is enough for values rarer than 2/rows, which others may meet that often.  Just above that
            frequency the number is many times what is needed.  :meth:`find` allows for the actual collisions, and so
            names rarer values, but hardly any below 1/places.

        >>> task = HeavyHitters(epsilon=4, length=8)
        >>> 2e4 < task.users_needed(0.05) < task.users_needed(0.02) < 1e6
        True
        """
        f, miss, beam = float(positive(within, "frequency")), checked_miss(confidence), whole(beam, "beam", 4)
        if f > 1:
            raise InvalidParameter(f"A frequency is at most 1, got {within}.", fix="Try 0.01.")
        return least_users(
            lambda users: self._enough(users, f, miss, beam),
            what="No crowd of up to 2**40 people is enough.",
            fix="Look for more frequent ones, or choose more rows.",
            relative=1000,
        )

    def chance(self, users: int, frequency: Number, confidence: float = 0.95, *, size: int | None = None) -> float:
        """Estimate the chance of finding a value that this share of the people have; see :meth:`chances`."""
        f, n = float(probability(frequency, "frequency")), number_of_people(users)
        longest = self.length if size is None else whole(size, "size", 0)
        return found_chance(self, n, f, checked_miss(confidence), BEAM, min(longest, self.length))

    def chances(self, users: int, confidence: float = 0.95) -> dict[float, float]:
        """Estimate for some shares of the people the chance of finding a value that they have: for planning.

        The estimate is for values of the full length.  Shorter texts are found more often, and every value less often
        if there are very many frequent ones.  :meth:`users_needed` is a bound, and many times as large.

        >>> HeavyHitters(epsilon=4, length=8).chances(10**6)[0.05] > 0.999
        True
        """
        return {f: self.chance(users, f, confidence) for f in FREQUENCIES}

    def _enough(self, users: int, frequency: float, miss: float, beam: int) -> bool:
        """Whether a key of this frequency passes each level, and the bar at the last."""
        p, q, r = float(self.p), float(self.q), float(self.stranger)
        own, met = q + (p - q) * frequency, q + (p - q) * min(1.0, TWICE / self.rows)
        part, longer = miss / (4 * self.levels), max(256 * beam, 1 << 16)  # at most this many continuations
        for level, share in enumerate(self.shares):
            people = nearly_always_reached(users, float(share), part)
            # Markov: strangers take another quarter of the beam with at most this chance.
            goal = rarely_reached(people, r, part * beam / (4 * longer))
            if level + 1 == self.levels:  # the longest values are tested at a quarter of the miss
                goal = max(goal, rarely_reached(people, met, miss / (4 * self.levels * longer)))
            if nearly_always_reached(people, own, part) < goal:
                return False
        return True


def _prime(places: object) -> int:
    """How many places a row has: a prime, so that two prefixes meet in two rows at most."""
    if (
        type(places) is not int
        or not 2 <= places < PLACES_MOST
        or any(places % i == 0 for i in range(2, math.isqrt(places) + 1))
    ):
        raise InvalidParameter(f"places must be a prime below {PLACES_MOST}, got {places!r}.", fix="Choose 1021.")
    return places
