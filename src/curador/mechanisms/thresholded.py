"""Noisy counts of groups, shown only where they reach a threshold, when the keys come from the data.

The noise that shows a group is also the noise of the number shown.  So the noise of shown groups has another law: the
drawn law, given that the threshold was reached.  Intervals use that conditional law.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import ApproxLoss, DiscreteGaussianNoise, DiscreteLaplaceNoise, Event
from curador.mechanisms.base import checked_confidence, checked_epsilon, clamp, exactly_one, integer_array
from curador.mechanisms.keys import GroupSelection, checked_delta, checked_units, groups_moved, sorted_keys
from curador.noise import SYSTEM, Entropy
from curador.noise.arrays import checked_count
from curador.noise.decide import exp_minus
from curador.noise.gaussian import discrete_gaussian
from curador.noise.laplace import discrete_laplace
from curador.numbers import Number, positive, rational, set_fields, whole
from curador.privacy import Neighbors

SLACK = 1 + 2.0**-30
"""The factor by which chances are enlarged: they are computed in doubles, to far less than 2**-30 of themselves."""

SUMMED = 64
"""Up to this deviation tails of the integer Gaussian are summed term by term; above it, integrals enclose them."""

KNOWN, REACH = 35, 37
"""The deviations up to which tails are known; their sums go on to the second number, with weights above 1e-300."""

Chance = NDArray[np.float64]
Integers = NDArray[np.int64]


class Thresholded(GroupSelection):
    """Noisy counts of units, shown where they reach ``threshold``; the base of the two mechanisms below."""

    delta: Fraction
    groups: int
    neighbors: Neighbors
    threshold: int

    @property
    @abstractmethod
    def _noise_event(self) -> Event: ...

    @abstractmethod
    def _beyond(self, most: Fraction) -> int:
        """The least k >= 1 with P(noise >= k) <= most."""

    @abstractmethod
    def _sample(self, n: int, entropy: Entropy) -> NDArray[np.int64]: ...

    @abstractmethod
    def _reaches(self, a: Integers, b: Integers) -> Chance:
        """A lower bound on P(noise >= a, given noise >= b), for a >= 0 and b <= a."""

    @abstractmethod
    def _stays(self, a: Integers, b: Integers) -> Chance:
        """A lower bound on P(noise <= a, given noise >= b), for b <= a <= 0."""

    @property
    def event(self) -> Event:
        return self._noise_event + ApproxLoss(Fraction(0), self.delta, self.neighbors)

    def least(self, confidence: float = 0.95) -> int:
        # n + noise >= threshold fails when -noise, which has the same law, is at least n - threshold + 1.
        return self.threshold - 1 + self._beyond(1 - rational(checked_confidence(confidence)))

    def noisy(self, counts: Any, *, entropy: Entropy = SYSTEM) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Mark the groups that may be shown; return all noisy counts, of which the others' stay private."""
        units = checked_units(counts)
        found = clamp(units + self._sample(units.size, entropy))
        return (units > 0) & (found >= self.threshold), found

    def keep(self, counts: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
        return self.noisy(counts, entropy=entropy)[0]

    def release(self, keys: Any, counts: Any, *, entropy: Entropy = SYSTEM) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the keys that may be shown, sorted, and their noisy counts."""
        units = checked_units(counts)
        found, order = sorted_keys(keys, units)
        kept, noisy = self.noisy(units[order], entropy=entropy)
        return found[kept], noisy[kept]

    def interval(self, noisy: Any, confidence: float = 0.95) -> tuple[Integers, Integers]:
        """Intervals for the counts of shown groups, each given that its group was shown.

        Each contains its noisy count.  A noisy count hardly above the threshold carries little information: its
        interval goes down to 1, the least count of a shown group.

        Guarantee: each interval of a shown group covers with probability at least ``confidence``, for any count
        [WFB13].  Both tails are those of the exact law, rounded up (docs/proofs/keys.md).

        >>> low, high = ThresholdedLaplace(epsilon=1, delta=1e-6).interval([15, 18, 19, 1000])
        >>> list(zip(low.tolist(), high.tolist()))
        [(1, 17), (1, 21), (16, 22), (997, 1003)]
        """
        miss = (1 - checked_confidence(confidence)) / 2
        shown, back = np.unique(integer_array(noisy), return_inverse=True)

        def too_few(n: Integers) -> NDArray[np.bool_]:
            return self._reaches(shown - n, self.threshold - n) * SLACK <= miss

        def too_many(n: Integers) -> NDArray[np.bool_]:
            return self._stays(shown - n, self.threshold - n) * SLACK <= miss

        # The more units, the likelier a high noisy count; so one search finds each end (docs/proofs/keys.md).
        low = _edge(too_few, np.zeros_like(shown), shown)
        beyond, pace = shown + 1, 1
        while not (far := too_many(beyond)).all():
            beyond, pace = np.where(far, beyond, beyond + pace), 2 * pace
        high = _edge(too_many, beyond, shown)
        return low[back], high[back]

    def _one_unit(self) -> int:
        """The least threshold that a group of one unit reaches rarely enough for delta.

        Delta covers all that can differ.
        """
        return 1 + self._beyond(self.delta / groups_moved(self.groups, self.neighbors))


@dataclass(frozen=True, init=False)
class ThresholdedLaplace(Thresholded):
    """Counts of units with integer Laplace noise, shown where they reach a threshold.

    Guarantee: integer Laplace noise of l1 sensitivity ``groups`` beside a failure of probability delta, hence
    (epsilon, delta)-DP [KKMN09].  The threshold is the least that the exact law allows (docs/proofs/keys.md).
    Assumes: a unit is counted once in each of at most ``groups`` groups.

    >>> mechanism = ThresholdedLaplace(epsilon=1, delta=1e-6)
    >>> mechanism.threshold, mechanism.least(0.95)
    (15, 17)
    >>> keys, counts = mechanism.release(["b", "a", "c"], [1000, 2000, 0])
    >>> keys.tolist(), counts.dtype
    (['a', 'b'], dtype('int64'))
    """

    kind: ClassVar[str] = "thresholded-laplace"
    scale: Fraction
    delta: Fraction
    groups: int
    neighbors: Neighbors
    threshold: int

    def __init__(
        self, epsilon: Number, delta: Number, *, groups: int = 1, neighbors: Neighbors = Neighbors.ADD_REMOVE
    ) -> None:
        set_fields(self, delta=checked_delta(delta), groups=whole(groups, "groups", 1), neighbors=Neighbors(neighbors))
        set_fields(self, scale=groups_moved(self.groups, self.neighbors) / checked_epsilon(epsilon))
        checked_count(0, self.scale)
        set_fields(self, threshold=self._one_unit())

    @property
    def _noise_event(self) -> DiscreteLaplaceNoise:
        return DiscreteLaplaceNoise(self.scale, groups_moved(self.groups, self.neighbors), self.neighbors)

    def _beyond(self, most: Fraction) -> int:
        def tail(k: int, bits: int) -> Fraction:  # with q = exp(-1/scale), P(X >= k) = q**k / (1 + q)
            return Fraction(exp_minus(k / self.scale, bits)[1], (1 << bits) + exp_minus(1 / self.scale, bits)[0])

        return _least(tail, most, float(self.scale) * -math.log(2 * _float(most)))

    def _sample(self, n: int, entropy: Entropy) -> NDArray[np.int64]:
        return discrete_laplace(self.scale).sample(n, entropy)

    def _reaches(self, a: Integers, b: Integers) -> Chance:
        rate = float(1 / self.scale)
        q = math.exp(-rate)
        # Above the middle the law has no memory: an earlier level does not count.
        sure = 1 - np.exp(-rate * (1 - np.minimum(b, 0))) / (1 + q)
        return np.asarray(np.where(b >= 0, np.exp(-rate * (a - b)), np.exp(-rate * a) / (1 + q) / sure))

    def _stays(self, a: Integers, b: Integers) -> Chance:
        rate = float(1 / self.scale)
        q = math.exp(-rate)
        inside = np.exp(rate * a) * -np.expm1(-rate * (1 + a - b)) / (1 + q)
        return np.asarray(inside / (1 - np.exp(-rate * (1 - b)) / (1 + q)))


@dataclass(frozen=True, init=False)
class ThresholdedGaussian(Thresholded):
    """Counts of units with integer Gaussian noise, shown where they reach a threshold.

    Give ``rho``, the concentrated DP of the noise, or its deviation ``sigma``.  The threshold comes from the tail of
    this noise itself: the threshold of Laplace noise would be too low.

    Guarantee: integer Gaussian noise of squared l2 sensitivity ``groups`` [CKS20] beside a failure of probability
    delta (docs/proofs/keys.md).
    Assumes: a unit is counted once in each of at most ``groups`` groups.

    >>> mechanism = ThresholdedGaussian(delta=1e-6, sigma=4)
    >>> mechanism.threshold, mechanism.least(0.95)
    (21, 28)
    >>> ThresholdedGaussian(1e-6, rho=0.5, groups=4).variance
    Fraction(4, 1)
    """

    kind: ClassVar[str] = "thresholded-gaussian"
    variance: Fraction
    delta: Fraction
    groups: int
    neighbors: Neighbors
    threshold: int

    def __init__(
        self,
        delta: Number,
        *,
        rho: Number | None = None,
        sigma: Number | None = None,
        groups: int = 1,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        set_fields(self, delta=checked_delta(delta), groups=whole(groups, "groups", 1), neighbors=Neighbors(neighbors))
        if exactly_one({"rho": rho, "sigma": sigma}) == "rho":
            variance = groups_moved(self.groups, self.neighbors) / (2 * positive(rho, "rho"))
        else:
            variance = positive(sigma, "sigma") ** 2
        checked_count(0, variance, power=2)
        set_fields(self, variance=variance)
        set_fields(self, threshold=self._one_unit())

    @property
    def _noise_event(self) -> DiscreteGaussianNoise:
        # Equal counts carry noise alone: the dimension is the number of differing ones.
        moved = groups_moved(self.groups, self.neighbors)
        return DiscreteGaussianNoise(self.variance, moved, moved, self.neighbors)

    def _beyond(self, most: Fraction) -> int:
        def tail(k: int, bits: int) -> Fraction:
            return _gaussian_tail(self.variance, k, bits)

        return _least(tail, most, math.sqrt(self.variance) * -NormalDist().inv_cdf(_float(most)))

    def _sample(self, n: int, entropy: Entropy) -> NDArray[np.int64]:
        return discrete_gaussian(self.variance).sample(n, entropy)

    def _reaches(self, a: Integers, b: Integers) -> Chance:
        sigma = math.sqrt(self.variance)
        if sigma <= SUMMED:
            most = int(KNOWN * sigma)
            with np.errstate(divide="ignore", invalid="ignore"):
                found = self._from(np.minimum(a, most)) / self._from(b)
            return np.where(b > most, 1.0, found)
        # Weights fall from 0 on: the sum from a on is below the integral from a - 1, and the sum from b above the
        # integral from b, also for b < 0, since all weights together are above their integral (Poisson's formula).
        found = _normal_tail((a - 1) / sigma) / np.maximum(_normal_tail(b / sigma), 1e-300)
        return np.where((a < 1) | (b > KNOWN * sigma), 1.0, np.minimum(found, 1.0))

    def _stays(self, a: Integers, b: Integers) -> Chance:
        sigma = math.sqrt(self.variance)
        if sigma <= SUMMED:
            inside = self._from(-a) - self._from(1 - b)  # the numbers differ, unless both are small
            return np.asarray((inside + 2.0**-40 * self._from(-a)) / self._from(b))
        first = _normal_tail(np.maximum(-a - 1, 0) / sigma)
        between = first - _normal_tail(-b / sigma) + 2.0**-40 * first
        highest = (1.0 + a - b) * np.exp(-((a / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))
        return np.where(a > -1, 1.0, np.minimum(between, highest) / _normal_tail(b / sigma))

    def _from(self, k: Integers) -> Chance:
        """The weights from k on."""
        tail = _weights_from(self.variance)
        above = tail[np.minimum(np.abs(k), len(tail) - 1)]
        below = tail[0] + tail[1] - tail[np.minimum(np.abs(1 - k), len(tail) - 1)]
        return np.where(k >= 0, above, below)


def _edge(outside: Callable[[Integers], NDArray[np.bool_]], far: Integers, near: Integers) -> Integers:
    """Find the integer next to the last outside one, between ``far`` and ``near``.

    ``far`` is outside, ``near`` is not.
    """
    while (np.abs(near - far) > 1).any():
        middle = (near + far) // 2
        out = outside(middle)
        stop = np.abs(near - far) <= 1
        far, near = np.where(out & ~stop, middle, far), np.where(out | stop, near, middle)
    return near


@lru_cache(8)
def _weights_from(variance: Fraction) -> Chance:
    """The sums of exp(-j**2 / (2 variance)) over j >= k, for each k >= 0; the last is 0."""
    j = np.arange(math.ceil(REACH * math.sqrt(variance)) + 2, dtype=np.float64)
    # Below 2**-900 no other weight than the first is a double either way, and the variance itself may not be one.
    weights = np.exp(-(j**2) / max(float(2 * variance), 2.0**-900))
    tail = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    tail.flags.writeable = False  # cached, so shared between callers
    return tail


def _normal_tail(x: NDArray[np.float64]) -> Chance:
    from scipy.special import ndtr  # loaded where deviations are large

    return np.asarray(ndtr(-x))


def _least(tail: Callable[[int, int], Fraction], most: Fraction, guess: float) -> int:
    """The least k >= 1 with tail(k) <= most; the falling tail is enclosed to some 2**-60 of ``most``."""
    bits = 64 + most.denominator.bit_length()
    low = high = max(1, math.ceil(guess))
    pace = 1
    while tail(high, bits) > most:
        low, high, pace = high, high + pace, 2 * pace
    while low > 0 and tail(low, bits) <= most:
        low, high, pace = max(0, low - pace), low, 2 * pace
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle, bits) <= most else (middle, high)
    return high


def _float(chance: Fraction) -> float:
    """A probability as a float above 0: for first guesses only."""
    return max(float(chance), 1e-300)


_TWO_PI_BELOW = Fraction(6283185307179586, 10**15)


def _gaussian_tail(variance: Fraction, k: int, bits: int) -> Fraction:
    """P(X >= k) for the integer Gaussian and k >= 1, above the truth by less than a part in 200.

    From a on, (a + j)**2 >= a**2 + 2 a j makes each block of weights less than a geometric series.  Blocks of a
    sixteenth of the deviation keep the loss below exp(1/512).  The rest after the last block is a whole geometric
    series.
    """
    bits += variance.numerator.bit_length()

    def weight(x: Fraction, end: int) -> int:
        return exp_minus(x, bits)[end]

    one = 1 << bits
    if variance < 1:
        mass = one + 2 * sum(weight(x * x / (2 * variance), 0) for x in range(1, 9))
    else:  # Poisson's formula: the weights sum to sqrt(2 pi variance) and a little more
        mass = math.isqrt(math.floor(_TWO_PI_BELOW * variance * one * one))
    width = max(1, math.isqrt(math.floor(variance)) // 16)
    total, a = Fraction(0), k
    while True:
        most = weight(Fraction(a * a) / (2 * variance), 1)
        series = Fraction(most, one - weight(a / variance, 1))
        if series * (1 << 10) <= total or most <= 1:  # below one unit of the enclosure, blocks would not shrink
            return (total + series) * one / mass
        total += series * (one - weight(a * width / variance, 0)) / one
        a += width
