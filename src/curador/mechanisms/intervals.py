"""Confidence intervals for functions of several noisy numbers: sums, differences, ratios.

They cover the protected statistic (clipped and truncated as it was), not the population behind the sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import DiscreteGaussianNoise, DiscreteLaplaceNoise, Event, GaussianNoise, LaplaceNoise
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.mechanisms.base import AdditiveNoise, checked_confidence
from curador.mechanisms.gaussian import SUMMED, Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.laws.sums import ASIDE, Law, laplace_sum_error, likely_apart, sum_error
from curador.mechanisms.laws.tails import TINY, laplace_tail
from curador.numbers import above, sqrt_up

MOST_LAPLACES = 6
"""The most Laplace noises whose exact sum law is used; with more, doubles lose too many digits."""

HALVINGS = 45
"""Bisection steps: after these, a size is known to 2**-45 of its bound."""

Array = NDArray[np.float64]

FAINT = 2.0**-100
"""A weight at which a term adds nothing to the error but still counts as a term."""

RepeatedTerm = tuple[float, AdditiveNoise, int]
"""A weight, the mechanism whose independent noise it multiplies, and the number of such noises."""


def noise_of(event: Event) -> AdditiveNoise:
    """The law of the noise that an event adds to a number, for intervals of numbers noised elsewhere.

    >>> noise_of(IntegerLaplace(1, epsilon="0.1").event).error(0.95)
    30.0
    """
    match event:
        case LaplaceNoise():
            return Laplace(event.sensitivity, scale=event.scale)
        case DiscreteLaplaceNoise():
            return IntegerLaplace(event.sensitivity, scale=event.scale)
        case GaussianNoise():
            return Gaussian(event.sensitivity, sigma=event.sigma)
        case DiscreteGaussianNoise():
            squared, sigma = event.sensitivity_squared, sqrt_up(event.variance)
            return IntegerGaussian(sensitivity_squared=squared, sigma=sigma, coordinates=event.dimension)
    raise InvalidParameter("This event adds no noise to a number.", fix="Give the event of additive noise.")


@dataclass(frozen=True)
class NoiseSum:
    """The noise of a weighted sum of noisy numbers: a law for computations, never drawn from.

    ``rounded`` is the distance by which the number was moved to a grid besides.

    >>> round(NoiseSum(((1.0, Laplace(1, 1), 6),)).variance, 6)
    12.0
    """

    terms: tuple[RepeatedTerm, ...]
    rounded: float = 0.0

    @property
    def variance(self) -> float:
        return math.fsum(n * w * w * noise.variance for w, noise, n in self.terms)

    def error(self, confidence: float = 0.95) -> float:
        """The bound on the noise of the sum, in size, at least this often."""
        return repeated_error(self.terms, confidence)

    def reach(self, miss: float) -> float:
        """The bound that the noise of the sum exceeds with probability at most ``miss``."""
        return repeated_reach(self.terms, miss)


Noise = AdditiveNoise | NoiseSum
"""The noise on a number: drawn for it, or composed of noises drawn for others."""

Term = tuple[float, Noise]
"""A weight, and the independent noise that it multiplies."""


def repeated(terms: Sequence[Term]) -> list[RepeatedTerm]:
    """Expand terms to the noises that were drawn.

    >>> [(w, n) for w, _, n in repeated([(2, NoiseSum(((3.0, Laplace(1, 1), 6),))), (1, Laplace(1, 1))])]
    [(6.0, 6), (1, 1)]
    """
    found: list[RepeatedTerm] = []
    for weight, noise in terms:
        made = noise.terms if isinstance(noise, NoiseSum) else ((1, noise, 1),)
        found += ((weight * w, m, n) for w, m, n in made)
    return found


def combined_error(terms: Sequence[Term], confidence: float = 0.95) -> float:
    """Bound the error of a weighted sum of independently noised values, at least this often.

    Guarantee: exact for any number of Gaussian terms and for two Laplace terms, integer noise being within 1 of
    continuous noise (docs/proofs/noise.md); otherwise as :func:`repeated_error`.

    >>> a, b = Laplace(1, 1), Laplace(1, 1)
    >>> round(a.error(0.95), 3), round(combined_error([(1, a), (-1, b)], 0.95), 3)
    (2.996, 4.113)
    """
    return repeated_error(repeated(terms), confidence)


def repeated_error(terms: Sequence[RepeatedTerm], confidence: float = 0.95) -> float:
    """Bound the error of a weighted sum whose terms are repeated, each time with noise of its own.

    Guarantee: covers at least this often.  The bound is the lesser of two: the law of the sum (docs/proofs/answers.md),
    or an equal share of the misses for each term.

    >>> round(repeated_error([(1, Laplace(1, 1), 6)], 0.95), 2), round(6 * Laplace(1, 1).error(1 - 0.05 / 6), 2)
    (6.93, 28.72)
    """
    return repeated_reach(terms, 1 - checked_confidence(confidence))


def repeated_reach(terms: Sequence[RepeatedTerm], miss: float) -> float:
    """Bound the error of :func:`repeated_error`, given the chance of a miss.

    Near a confidence of 1, doubles separate chances of a miss, but not confidences.
    """
    _finite(*(w for w, _, _ in terms))
    terms = [(w, m, n) for w, m, n in terms if w != 0 and n > 0]
    if not terms:
        raise InvalidParameter("There is nothing to combine.", fix="Give at least one term with a weight.")
    if len(terms) == 1 and terms[0][2] == 1:
        weight, only, _ = terms[0]
        return above(abs(weight) * only.reach(miss))
    # Weights of any size: squares of very large and of very small weights leave doubles.
    size = max(-1000, math.frexp(max(abs(w) for w, _, _ in terms))[1])
    found = _scaled_reach([(math.ldexp(w, -size), m, n) for w, m, n in terms], miss)
    return found * 2.0 ** (size // 2) * 2.0 ** (size - size // 2)


def _scaled_reach(terms: Sequence[RepeatedTerm], miss: float) -> float:
    """Bound the error for weights of which the largest is about 1."""
    count = sum(n for _, _, n in terms)
    laplaces = [(w, m, n) for w, m, n in terms if isinstance(m, Laplace | IntegerLaplace)]
    found = _each(terms, count, miss)
    if len(laplaces) == len(terms):
        far = [(abs(w) * laplace_distance(m), n) for w, m, n in laplaces if isinstance(m, IntegerLaplace)]
        scales, slack = [(abs(w) * float(m.scale), n) for w, m, n in laplaces], sum(n * d for d, n in far)
        if count == 2:
            return above(_two_laplaces(scales[0][0], scales[-1][0], miss) + slack, 2.0**-30)
        found = min(found, laplace_sum_error(scales, miss) + slack)
        if far:
            found = min(found, laplace_sum_error(scales, miss * (1 - ASIDE)) + likely_apart(far, miss * ASIDE))
    gaussians = [(abs(w), m, n) for w, m, n in terms if isinstance(m, Gaussian | IntegerGaussian)]
    if len(gaussians) == len(terms):
        spread = math.hypot(*(math.sqrt(n) * w * _sigma(m) for w, m, n in gaussians))
        integers = [(w, m, n) for w, m, n in gaussians if isinstance(m, IntegerGaussian)]
        aside = miss * ASIDE if integers else 0.0
        z = -NormalDist().inv_cdf((miss - aside) / 2) * (1 + 2.0**-40)
        near = spread * z + sum(n * w * gaussian_distance(m, aside / count) for w, m, n in integers)
        if not integers:
            return above(near, 2.0**-30)
        found = min(found, near, spread * math.sqrt(2 * math.log(2 / miss)))  # subgaussian [CKS20]
    if count == 2:  # ratios compare many pairs of weights, and need a norm of them
        return above(found, 2.0**-30)
    known = [(abs(w), law, n) for w, m, n in terms if (law := _law(m)) is not None]
    return above(min(found, sum_error(tuple(known), miss)) if len(known) == len(terms) else found, 2.0**-30)


def bounded_reach(
    noise: AdditiveNoise, squares: NDArray[np.float64], widest: float, miss: float
) -> NDArray[np.float64]:
    """An upper bound on :func:`repeated_reach` for sums of one noise, from the sums of squared weights.

    It is infinite for noises other than these.

    Guarantee: Laplace noise is sub-gamma [BLM13] and Gaussian noise subgaussian, on integers too [CKS20].
    """
    log, wider = math.log(2 / miss), 1 + 2.0**-30
    if isinstance(noise, Laplace | IntegerLaplace):
        return np.asarray(float(noise.scale) * (np.sqrt(4 * log * squares) + widest * log) * wider)
    if isinstance(noise, Gaussian | IntegerGaussian):
        return np.asarray(_sigma(noise) * np.sqrt(2 * log * squares) * wider)
    return np.full(squares.shape, math.inf)


def _law(noise: AdditiveNoise) -> Law | None:
    """The kind and size of a noise whose transform is known."""
    if isinstance(noise, Laplace | IntegerLaplace):
        return "laplace" if isinstance(noise, Laplace) else "integer-laplace", float(noise.scale)
    if isinstance(noise, Gaussian | IntegerGaussian):
        kind = "gaussian" if isinstance(noise, Gaussian) else "integer-gaussian"
        return kind, _sigma(noise)
    return None


def _each(terms: Sequence[RepeatedTerm], count: int, miss: float) -> float:
    """An equal share of the misses for each term; holds for any noise."""
    return sum(n * abs(w) * m.reach(miss / count) for w, m, n in terms)


def _finite(*numbers: float) -> None:
    if not all(map(math.isfinite, numbers)):
        raise InvalidParameter("Expected finite numbers, got NaN or infinity.", fix="Leave such terms out.")


@lru_cache(256)
def _two_laplaces(a: float, b: float, miss: float) -> float:
    """Find the x that |A + B| exceeds with probability ``miss``.

    A and B are independent Laplace noises of scales a and b.
    """
    a, b = max(a, b), min(a, b)

    def tail(x: float) -> float:
        if a - b < 1e-6 * a:  # the limit b -> a from above: a sum of two of scale a
            return (1 + x / a / 2) * math.exp(-x / a)
        part = b / a  # squares of the scales may be beyond doubles
        small = part * part * math.exp(-x / b) if b else 0.0  # a scale below all doubles
        return (math.exp(-x / a) - small) / (1 - part * part)

    low, high = 0.0, a
    while tail(high) > miss:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > miss else (low, middle)
    return high


# ---- sums of independent noises --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SumTest:
    """Tests whether a weighted sum of independent noises may be as large as x, in many places at once.

    Guarantee: a sum is further from 0 than the tested sizes with probability at most ``miss``.  Its exact law shows
    that for Gaussian noises and for up to six Laplace noises, where integer noise is at most 1 from continuous noise
    (docs/proofs/noise.md).  A union bound shows it for any noises, also for sums of them.

    >>> test = SumTest((Laplace(1, 1), Laplace(1, 1)), miss=0.05)
    >>> test.keeps(np.array([4.1, 4.2]), [1.0, -1.0]).tolist()
    [True, False]
    """

    noises: tuple[Noise, ...]
    miss: float

    def keeps(self, x: NDArray[Any] | float, weights: Sequence[NDArray[Any] | float]) -> NDArray[np.bool_]:
        """Whether the sum with these weights may be x or more in size."""
        return np.asarray(self.room(x, weights) >= 0)

    def room(self, x: NDArray[Any] | float, weights: Sequence[NDArray[Any] | float]) -> Array:
        """Estimate how much larger x might be and still be kept; below 0 where it is not kept.

        It is nearly straight in x and in the weights, which helps a search for its zero.  Rounding in the logarithm is
        far below the amount by which a tail is rounded up.
        """
        sizes = [np.abs(w) for w in weights]
        if len(sizes) > 1 and self._laplaces:
            scales = [size * scale for size, scale in zip(sizes, self._scales, strict=True)]
            tail = laplace_tail(np.asarray(x - self._slack(sizes), np.float64), scales)
            widest = reduce(np.maximum, scales)
            room = (np.log(np.maximum(tail, TINY)) - math.log(self.miss)) * np.maximum(widest, TINY)
            return np.asarray(np.minimum(room, self._union(sizes) - x) if self._whole else room)
        return np.asarray(self.reach(sizes) - x)

    def reach(self, weights: Sequence[NDArray[Any] | float]) -> Array:
        """The least size found that the sum exceeds with probability at most ``miss``."""
        sizes = [np.abs(w) for w in weights]
        found = self._union(sizes)
        if len(sizes) > 1 and self._laplaces:
            kept, outside = np.zeros_like(found), found
            for _ in range(HALVINGS):
                middle = (kept + outside) / 2
                yes = self.keeps(middle, sizes)
                kept, outside = np.where(yes, middle, kept), np.where(yes, outside, middle)
            found = outside
        if self._gaussians:
            pairs = zip(sizes, self._gaussians, strict=True)
            spread = reduce(np.hypot, (s * _sigma(m) for s, m in pairs))
            integers = sum(isinstance(m, IntegerGaussian) for m in self._gaussians)
            z = -NormalDist().inv_cdf(self.miss * (1 - integers / 1000) / 2) * (1 + 2.0**-40)
            # Gaussian noises are subgaussian of their sigma, integer ones too [CKS20], and so are their sums.
            found = np.minimum(found, spread * math.sqrt(2 * math.log(2 / self.miss)) * (1 + 2.0**-40))
            found = np.minimum(found, spread * z + self._slack(sizes))
        return np.asarray(found)

    def outgrown(self, place: int) -> float:
        """A bound on |y| beyond which the noise in one place cannot keep w y, for every large weight w."""
        alone = self._alone[place]
        if len(self.noises) > 1 and self._laplaces:
            return min(alone, self._slacks[place] - math.log(self.miss) * float(self._laplaces[place].scale))
        if self._gaussians:
            return float(self.reach([float(i == place) for i in range(len(self.noises))]))
        return alone

    def steepest(self, weights: Sequence[NDArray[Any] | float]) -> Array:
        """The largest of the bounds that keep a sum with these weights; each is a norm of the weights."""
        sizes = [np.abs(w) for w in weights]
        # An exact law is below the union bound for its own noise, and integer noise is near continuous noise.
        found = self._union(sizes) + 2 * self._slack(sizes)
        if self._gaussians:
            pairs = zip(sizes, self._gaussians, strict=True)
            spread = reduce(np.hypot, (s * _sigma(m) for s, m in pairs))
            found = np.maximum(found, spread * math.sqrt(2 * math.log(2 / self.miss)) + self._slack(sizes))
        return np.asarray(found * (1 + 2.0**-20))

    @cached_property
    def _laplaces(self) -> tuple[Laplace | IntegerLaplace, ...]:
        found = tuple(m for m in self.noises if isinstance(m, Laplace | IntegerLaplace))
        return found if len(found) == len(self.noises) <= MOST_LAPLACES else ()

    @cached_property
    def _gaussians(self) -> tuple[Gaussian | IntegerGaussian, ...]:
        found = tuple(m for m in self.noises if isinstance(m, Gaussian | IntegerGaussian))
        return found if len(found) == len(self.noises) else ()

    @cached_property
    def _scales(self) -> tuple[float, ...]:
        return tuple(float(m.scale) for m in self._laplaces)

    @cached_property
    def _whole(self) -> bool:
        """Whether some of the noise is on the integers, so that the union bound may be the lesser one."""
        return any(self._slacks)

    def _union(self, sizes: Sequence[NDArray[Any] | float]) -> Array:
        return _weigh(sizes, self._alone)

    def _slack(self, sizes: Sequence[NDArray[Any] | float]) -> Array:
        return _weigh(sizes, self._slacks)

    @cached_property
    def _alone(self) -> tuple[float, ...]:
        """The bound on each noise alone, with an equal share of the misses."""
        return tuple(_reach(m, self.miss / len(self.noises)) for m in self.noises)

    @cached_property
    def _slacks(self) -> tuple[float, ...]:
        """The distances of integer noises from continuous ones.

        Gaussian noise uses a thousandth of the misses.
        """
        return tuple(
            laplace_distance(m)
            if isinstance(m, IntegerLaplace)
            else gaussian_distance(m, self.miss / 1000)
            if isinstance(m, IntegerGaussian)
            else 0.0
            for m in self.noises
        )


def _weigh(sizes: Sequence[NDArray[Any] | float], by: Sequence[float]) -> Array:
    total = sizes[0] * by[0]
    for size, x in zip(sizes[1:], by[1:], strict=True):
        total = total + size * x
    return np.asarray(total)


@lru_cache(1024)
def _reach(noise: Noise, miss: float) -> float:
    return float(noise.reach(miss))


def laplace_distance(noise: IntegerLaplace) -> float:
    """Bound the distance of integer Laplace noise from coupled continuous noise of its scale and sign.

    Guarantee: docs/proofs/noise.md, section 3.

    >>> [round(laplace_distance(IntegerLaplace(1, scale=scale)), 3) for scale in (1000, 1)]
    [0.5, 0.62]
    """
    scale = float(noise.scale)
    shift = scale * -math.log1p(math.expm1(-1 / scale) / 2)
    return above(max(shift, 1 - shift))


@lru_cache(256)
def gaussian_distance(noise: IntegerGaussian, miss: float) -> float:
    """Bound the distance of integer Gaussian noise from continuous noise of its sigma, but for ``miss``.

    Guarantee: docs/proofs/noise.md, section 4.

    >>> round(gaussian_distance(IntegerGaussian(1, sigma=3), 1e-4), 2)
    0.56
    """
    if noise.sigma_squared > SUMMED or not miss:
        return 1.0
    sizes, chances = noise.tail_weights()
    least = np.cumsum(chances[::-1])[::-1] / 2  # P(X >= x) for x >= 1
    apart, sigma, law = 0.5, math.sqrt(noise.sigma_squared), NormalDist()
    for x, p in zip(sizes[1:].tolist(), least[1:].tolist(), strict=True):
        if p <= 0:
            break
        shift = x - sigma * -law.inv_cdf(p)
        apart = max(apart, float(shift), float(1 - shift))
        if 2 * p <= miss:  # X is x or more in size no more often than this
            return float(min(apart + 1e-6, 1.0))
    return 1.0


def _sigma(noise: Gaussian | IntegerGaussian) -> float:
    if isinstance(noise, Gaussian):
        return float(noise.sigma)
    # The square may be beyond doubles where its root is not.
    square = noise.sigma_squared
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(square / Fraction(4) ** half), half)


# ---- ratios of two noisy numbers -----------------------------------------------------------------------------------


def ratio_interval(
    numerator: float, top: AdditiveNoise, denominator: float, bottom: AdditiveNoise, confidence: float = 0.95
) -> tuple[float, float]:
    """The interval of a ratio, such as a mean from a noisy sum and a noisy count.

    A ratio r is kept if the noise can explain ``numerator - r * denominator`` (Fieller).  A denominator that may be
    zero leaves the interval without ends.

    Guarantee: covers at least this often, whatever the true ratio is [Fie54].

    >>> low, high = ratio_interval(5000.0, Laplace(100, 1), 100.0, Laplace(1, 1))
    >>> low < 50 < high < 55
    True
    >>> ratio_interval(5000.0, Laplace(100, 1), 1.0, Laplace(1, 1))
    (-inf, inf)
    """
    confidence = checked_confidence(confidence)
    _finite(numerator, denominator)

    def excess(ratio: float) -> float:
        return abs(numerator - ratio * denominator) - combined_error([(1.0, top), (-ratio, bottom)], confidence)

    # Far out only the denominator's noise counts; unless the line outgrows it, no ratio is ever excluded.
    if abs(denominator) <= combined_error([(FAINT, top), (-1.0, bottom)], confidence):
        return -math.inf, math.inf
    centre = numerator / denominator
    return _edge(excess, centre, -1.0), _edge(excess, centre, 1.0)


def _edge(excess: Callable[[float], float], centre: float, side: float) -> float:
    """Find the nearest point on one side where the excess turns positive.

    It stays positive.  The error is convex in the ratio, as a norm of the weights [Bob10], and lies below its own
    asymptote.  So it cannot catch up with a straight line that has passed it.
    """
    step = max(abs(centre), 1.0) * 2.0**-20
    inside = centre
    while excess(outside := centre + side * step) < 0:
        inside, step = outside, 2 * step
        if step > 2.0**1000:
            return side * math.inf
    while abs(outside - inside) > 1e-10 * step:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if excess(middle) < 0 else (inside, middle)
    return outside
