"""Quantiles of bounded values, by the exponential mechanism over a declared grid.

One or several are found at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, ExponentialChoice
from curador.errors import InvalidParameter, InvalidValue
from curador.forks import cached_property
from curador.mechanisms.base import Mechanism, checked_confidence, checked_epsilon, real_array
from curador.noise import SYSTEM, Entropy, choose, uniform_below, uniform_below_array
from curador.numbers import Number, above, positive, probability, rational, set_fields, up
from curador.privacy import Neighbors

MOST_POINTS = 1 << 52
MOST_PARTS = 1 << 20
"""The largest b for quantiles that are multiples of 1/b, so that ranks times b fit machine words."""

LARGEST = Fraction(2) ** 1000

TIE_BITS = 20
"""The bits by which the search grid of several quantiles is finer, so that equal values separate."""


@dataclass(frozen=True, init=False)
class Quantiles(Mechanism):
    """Values at given quantiles of data in [lower, upper], on the grid lower, lower + step, …, upper.

    A point y is off by the distance of q n from the ranks it covers, [number below y, number up to y].  So a value
    shared by many is a right answer to all their ranks.  One quantile is one exponential choice.  Several are found by
    halving: the middle one first, then those below it in the data below it, and so on.  Each of the log2 levels costs
    the same, because a unit is in one part of each level only.

    Guarantee: epsilon-DP [Smith11, KSS22].  The scores of two points part by at most 2 max(q, 1-q) under add-remove and
    2 under replace (1 for the least and the largest).  Levels compose (docs/proofs/selection.md).
    Assumes: one value per unit; bounds and step are declared, never read from the data.  Values outside are clamped.

    >>> mechanism = Quantiles([0.25, 0.5, 0.75], lower=0, upper=100, epsilon=60)
    >>> mechanism.release(np.arange(10_001) / 100)
    array([25., 50., 75.])
    >>> mechanism.levels, mechanism.event == 2 * ExponentialChoice(30)
    (2, True)
    >>> round(Quantiles.median(0, 100, epsilon=1).error(0.95), 1)  # in ranks
    7.5
    """

    kind: ClassVar[str] = "exponential-quantiles"
    quantiles: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction
    step: Fraction
    epsilon: Fraction
    neighbors: Neighbors

    def __init__(
        self,
        quantiles: Sequence[Number],
        lower: Number,
        upper: Number,
        *,
        epsilon: Number,
        step: Number = 1,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        wanted = tuple(probability(q, "quantile") for q in quantiles)
        low, high, grain = rational(lower, "lower"), rational(upper, "upper"), positive(step, "step")
        if not wanted:
            raise InvalidParameter("No quantile was asked for.", fix="Give at least one, such as 0.5.")
        if math.lcm(*(q.denominator for q in wanted)) > MOST_PARTS:
            raise InvalidParameter("These quantiles are finer than a millionth.", fix="Round them.")
        if low >= high or ((high - low) / grain).denominator != 1:
            raise InvalidParameter(
                f"[{lower}, {upper}] does not hold a whole number of steps of {step}.", fix="Change upper or step."
            )
        if max(abs(low), abs(high)) > LARGEST or grain < 1 / LARGEST:
            raise InvalidParameter("These bounds or this step leave the range of doubles.", fix="Change the unit.")
        if (high - low) / grain >= MOST_POINTS:
            raise InvalidParameter(f"The grid has more than {MOST_POINTS} points.", fix="Take a larger step.")
        set_fields(self, quantiles=wanted, lower=low, upper=high, step=grain)
        set_fields(self, epsilon=checked_epsilon(epsilon), neighbors=Neighbors(neighbors))

    @classmethod
    def median(
        cls,
        lower: Number,
        upper: Number,
        *,
        epsilon: Number,
        step: Number = 1,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> Quantiles:
        """Release the middle value."""
        return cls([Fraction(1, 2)], lower, upper, epsilon=epsilon, step=step, neighbors=neighbors)

    @cached_property
    def levels(self) -> int:
        """The number of times the list of quantiles is halved."""
        return len(set(self.quantiles)).bit_length()

    @property
    def event(self) -> Event:
        choice = ExponentialChoice(self.epsilon / self.levels, self.neighbors)
        return choice if self.levels == 1 else self.levels * choice

    @property
    def points(self) -> int:
        """The number of points of the declared grid."""
        return int((self.upper - self.lower) / self.step) + 1

    @property
    def _finer(self) -> int:
        """The number of parts of each point, to break ties; one quantile needs none."""
        return 1 if self.levels == 1 else 1 << min(TIE_BITS, (MOST_POINTS // self.points).bit_length() - 1)

    def error(self, confidence: float = 0.95) -> float:
        """The bound on the ranks between all released values and their quantiles, at least this often.

        For several quantiles this assumes that no two values agree once ties are broken (to 2**-20 of a step).
        """
        distinct = sorted(set(self.quantiles))
        miss = (1 - checked_confidence(confidence)) / len(distinct)
        others = self.points * self._finer - 1
        # Some point is right, so each choice is further off than this only that often (see ExponentialMechanism).
        reach = Fraction(above(max(0.0, math.log(others) + math.log1p(-miss) - math.log(miss))))

        def worst(wanted: list[Fraction], part: RankPart, root: bool) -> Fraction:
            """A part whose ends are off by e has its target off by at most e, so errors add up on the way down."""
            if not wanted:
                return Fraction(0)
            q, below, beyond = _middle(wanted, part)
            down = max(worst(*below, False), worst(*beyond, False))
            return reach / self._rate(q, root) + (down and down + 1)  # the one value on the cut

        return up(worst(distinct, ALL, True))

    def release(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.float64]:
        """Release the values at the quantiles, in the order of ``quantiles``; without data, a uniform guess."""
        data, finer = self._on_grid(values), self._finer
        if finer > 1:
            # A random place within the step, drawn for each unit alone: neighbours stay neighbours.
            data = data * finer + uniform_below_array(finer, data.size, entropy)
        data.sort()
        found: dict[Fraction, int] = {}

        def halve(
            data: NDArray[np.int64], ends: tuple[int, int], wanted: list[Fraction], part: RankPart, root: bool
        ) -> None:
            if not wanted:
                return
            q, below, beyond = _middle(wanted, part)
            at = pick(data, q, ends, self._rate(q, root), entropy)
            found[below[1][1]] = at
            cut = int(np.searchsorted(data, at))  # a unit goes down or up by its own value alone
            halve(data[:cut], (ends[0], at), *below, False)
            halve(data[cut:], (at, ends[1]), *beyond, False)

        halve(data, (0, self.points * finer - 1), sorted(set(self.quantiles)), ALL, True)
        return np.array([float(self.lower + self.step * (found[q] // finer)) for q in self.quantiles])

    def _on_grid(self, values: Any) -> NDArray[np.int64]:
        """Number each value's nearest point; always in doubles, so that the type of the data does not matter."""
        given, _ = real_array(values, sys.maxsize)
        if given.ndim != 1:
            raise InvalidValue("Expected one value per unit.", fix="Pass a list or an array of one dimension.")
        low, high = float(self.lower), float(self.upper)
        places = np.rint((np.clip(given, low, high) - low) / float(self.step))
        return np.clip(places.astype(np.int64), 0, self.points - 1)

    def _rate(self, q: Fraction, root: bool) -> Fraction:
        """The change in log-weight for one rank, when quantile q of a part is chosen."""
        share = self.epsilon / self.levels
        # The most that the scores of two points part when a unit joins or leaves, and when it changes.
        extreme = q in (0, 1)
        spread = Fraction(1) if extreme else 2 * max(q, 1 - q)
        if self.neighbors is Neighbors.ADD_REMOVE:
            return share / spread
        # Where all data is one part a changed unit stays in it; further down it may leave one part and join another.
        return share / (1 if extreme else 2) if root else share / (2 * spread)


RankPart = tuple[Fraction, Fraction]
"""The part of all ranks that some of the data holds, from one quantile to another."""

ALL: RankPart = (Fraction(0), Fraction(1))
Half = tuple[list[Fraction], RankPart]


def _middle(wanted: list[Fraction], part: RankPart) -> tuple[Fraction, Half, Half]:
    """Split the wanted quantiles at the middle one, which is given as a quantile of the part."""
    i = len(wanted) // 2
    q, (start, end) = wanted[i], part
    return (q - start) / (end - start), (wanted[:i], (start, q)), (wanted[i + 1 :], (q, end))


def pick(data: NDArray[np.int64], q: Fraction, ends: tuple[int, int], rate: Fraction, entropy: Entropy) -> int:
    """Draw a point y between the ends, likelier the nearer q n is to y's ranks.

    The probability is proportional to exp(-rate * distance of q n from y's ranks).

    >>> pick(np.array([3, 3, 3]), Fraction(1, 2), (0, 9), Fraction(1000), SYSTEM)
    3
    """
    starts, sizes, gaps = pieces(data, q, ends)
    j = choose(gaps, rate / q.denominator, sizes, entropy)
    return int(starts[j]) + uniform_below(int(sizes[j]), entropy)


def pieces(
    data: NDArray[np.int64], q: Fraction, ends: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group the points between the ends into runs of equal score.

    Each run has a start, a size, and a gap in ranks / q's parts.

    A run is a distinct value of the sorted data, or the gap before, between or after them.
    """
    first = np.flatnonzero(np.diff(data, prepend=data[:1] - 1))
    distinct, below = data[first], first.astype(np.int64)
    up_to = np.append(below[1:], data.size)[: distinct.size]
    starts = np.empty(2 * distinct.size + 1, np.int64)
    starts[0], starts[1::2], starts[2::2] = ends[0], distinct, distinct + 1
    sizes = np.diff(starts, append=ends[1] + 1)
    low, high = np.empty_like(starts), np.empty_like(starts)
    low[0], low[1::2], low[2::2] = 0, below, up_to
    high[0], high[1::2], high[2::2] = 0, up_to, up_to
    target = q.numerator * data.size
    gaps = np.maximum(np.maximum(q.denominator * low - target, target - q.denominator * high), 0)
    return starts, sizes, gaps


def median_mechanism(values: Any, lower: Number, upper: Number, epsilon: Number, step: Number = 1) -> float:
    """Release the median of values clamped to [lower, upper], as a point of the grid of that step.

    Guarantee: epsilon-DP under add-remove, as :class:`Quantiles`.

    >>> median_mechanism([40] * 2000, 0, 100, epsilon=1)
    40.0
    """
    return float(Quantiles.median(lower, upper, epsilon=epsilon, step=step).release(values)[0])
