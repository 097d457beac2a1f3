"""Confidence intervals for what is computed from several noisy numbers: sums, differences, ratios.

They cover the protected statistic (clipped and truncated as it was), not the population it was sampled from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from curador.errors import InvalidParameter
from curador.mechanisms.base import AdditiveNoise, checked_confidence
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.numbers import above

FAINT = 2.0**-100
"""A weight at which a term no longer adds to the error but still counts as one."""

Term = tuple[float, AdditiveNoise]
"""A weight, and the mechanism whose independent noise it multiplies."""

RepeatedTerm = tuple[float, AdditiveNoise, int]
"""A term, and how many there are of it, each with noise of its own."""


def combined_error(terms: Sequence[Term], confidence: float = 0.95) -> float:
    """A weighted sum of independently noised values is off by at most this, at least this often.

    Guarantee: exact for any number of Gaussian terms and for two Laplace terms; otherwise as :func:`repeated_error`.

    >>> a, b = Laplace(1, 1), Laplace(1, 1)
    >>> round(a.error(0.95), 3), round(combined_error([(1, a), (-1, b)], 0.95), 3)
    (2.996, 4.113)
    """
    return repeated_error([(weight, noise, 1) for weight, noise in terms], confidence)


def repeated_error(terms: Sequence[RepeatedTerm], confidence: float = 0.95) -> float:
    """The same, where each term is there several times, each time with noise of its own.

    Guarantee: covers at least this often.  Gaussians add up exactly, and so do Laplace terms up to what integer noise
    differs from continuous noise (docs/proofs/answers.md); integer Gaussians by their subgaussian tail [CKS20], or by
    an equal share of the misses for each, whichever is less; what is mixed, by equal shares.

    >>> round(repeated_error([(1, Laplace(1, 1), 6)], 0.95), 2), round(6 * Laplace(1, 1).error(1 - 0.05 / 6), 2)
    (6.93, 28.72)
    """
    confidence = checked_confidence(confidence)
    _finite(*(w for w, _, _ in terms))
    terms = [(w, m, n) for w, m, n in terms if w != 0 and n > 0]
    if not terms:
        raise InvalidParameter("There is nothing to combine.", fix="Give at least one term with a weight.")
    count, miss = sum(n for _, _, n in terms), 1 - confidence
    if count == 1:
        weight, only, _ = terms[0]
        return above(abs(weight) * only.error(confidence))
    gaussians = [(w, m, n) for w, m, n in terms if isinstance(m, Gaussian)]
    if len(gaussians) == len(terms):
        spread = math.hypot(*(w * float(m.sigma) * math.sqrt(n) for w, m, n in gaussians))
        first = gaussians[0][1]
        return above(spread * first.error(confidence) / float(first.sigma))
    laplaces = [(w, m, n) for w, m, n in terms if isinstance(m, Laplace | IntegerLaplace)]
    if len(laplaces) == len(terms):
        slack = sum(n * abs(w) * _slack(m) for w, m, n in laplaces)
        scales = [(abs(w) * float(m.scale), n) for w, m, n in laplaces]
        if count == 2:
            first_scale, last_scale = scales[0][0], scales[-1][0]
            return above(_two_laplaces(first_scale, last_scale, miss) + slack, 2.0**-30)
        return above(
            min(_each(terms, count, miss), laplace_sum_error(scales, miss) + slack, subgamma(scales, miss)), 2.0**-30
        )
    if all(isinstance(m, Gaussian | IntegerGaussian) for _, m, _ in terms):
        spread = math.sqrt(
            sum(
                n * w * w * float(m.sigma) ** 2 if isinstance(m, Gaussian) else n * w * w * float(m.sigma_squared)
                for w, m, n in terms
                if isinstance(m, Gaussian | IntegerGaussian)
            )
        )
        return above(min(_each(terms, count, miss), spread * math.sqrt(2 * math.log(2 / miss))), 2.0**-30)
    return above(_each(terms, count, miss))


def _each(terms: Sequence[RepeatedTerm], count: int, miss: float) -> float:
    """An equal share of the misses for each term: true of any noise."""
    share = 1 - miss / count
    return sum(n * abs(w) * m.error(share) for w, m, n in terms) if share < 1 else math.inf


def subgamma(scales: Sequence[tuple[float, int]], miss: float) -> float:
    """What the sum of Laplace terms, continuous or integer, exceeds with probability at most ``miss``, in closed form.

    Guarantee: of scale s, E exp(tX) <= 1 / (1 - (ts)**2), with equality for continuous noise; so the sum is sub-gamma
    [BLM13] with variance V, the sum of 2 s**2, and c, the largest scale (docs/proofs/answers.md).
    """
    log = math.log(2 / miss)
    return math.sqrt(4 * log * sum(n * s * s for s, n in scales)) + max(s for s, _ in scales) * log


LEAST_EXACT = 1e-4
"""Misses below this are not read from the inverted transform, but bounded."""

MOST_POINTS = 200_000
"""The most points at which a transform is read."""


def laplace_sum_error(scales: Sequence[tuple[float, int]], miss: float) -> float:
    """What the sum of independent continuous Laplace terms, by scale and how many, exceeds with probability ``miss``.

    The characteristic function is inverted by the midpoint rule [GP51]: its error is the chance of a sum beyond the
    period, and what is cut off; a bound on both is added to the tail, so the result is never too small.

    >>> round(laplace_sum_error([(1.0, 1), (1.0, 1)], 0.05), 2)
    4.13
    """
    largest = max(s for s, _ in scales)
    return largest * _unit_sum_error(tuple(sorted((s / largest, n) for s, n in scales)), miss)


@lru_cache(maxsize=4096)
def _unit_sum_error(scales: tuple[tuple[float, int], ...], miss: float) -> float:
    """The same for scales of which the largest is 1."""
    bound = subgamma(scales, miss)
    if miss < LEAST_EXACT:
        return bound
    step = math.pi / subgamma(scales, 1e-10)
    size, times = np.array([s for s, _ in scales]), np.array([float(n) for _, n in scales])
    reach, least = 1.0, -math.log(miss * 0.01)
    while float((times * np.log1p((size * reach) ** 2)).sum()) < least:  # until the transform is below a hundredth
        reach *= 1.1
    if reach > MOST_POINTS * step:
        return bound
    places = np.arange(math.ceil(reach / step)) + 0.5
    weights = np.exp(-(times @ np.log1p(np.outer(size, places * step) ** 2))) / (places * math.pi)

    def tail(x: float) -> float:
        return 1 - 2 * float(np.sin(places * (step * x)) @ weights) + miss * 0.01

    low, high = 0.0, bound
    if tail(high) > miss:
        return bound
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > miss else (low, middle)
    return high


def _finite(*numbers: float) -> None:
    if not all(map(math.isfinite, numbers)):
        raise InvalidParameter("Expected finite numbers, got NaN or infinity.", fix="Leave such terms out.")


def _slack(mechanism: Laplace | IntegerLaplace) -> float:
    # Integer noise is |x| = floor(scale E + c), 0 <= c < 1, for a standard exponential E (docs/proofs/noise.md):
    # with the same sign and the same E, it is never further than 1 from continuous noise.
    return 1.0 if isinstance(mechanism, IntegerLaplace) else 0.0


def _two_laplaces(a: float, b: float, miss: float) -> float:
    """The x that |A + B| exceeds with probability ``miss``, for independent Laplace A, B of scales a, b."""
    a, b = max(a, b), min(a, b)

    def tail(x: float) -> float:
        if a - b < 1e-6 * a:  # the limit b -> a, which is above: one scale a twice
            return (1 + x / (2 * a)) * math.exp(-x / a)
        return (a * a * math.exp(-x / a) - b * b * math.exp(-x / b)) / (a * a - b * b)

    low, high = 0.0, a
    while tail(high) > miss:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > miss else (low, middle)
    return high


def ratio_interval(
    numerator: float, top: AdditiveNoise, denominator: float, bottom: AdditiveNoise, confidence: float = 0.95
) -> tuple[float, float]:
    """Where a ratio lies, such as a mean from a noisy sum and a noisy count.

    A ratio r is kept if the noise on ``numerator - r * denominator`` could be what it would have to be (Fieller).
    A denominator that may be zero leaves the interval without ends.

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
    """The nearest point on one side where the excess turns positive.

    It stays positive: the error is convex in the ratio (it is a norm of the weights [Bob10]) and lies below its own
    asymptote, so it cannot catch up with a straight line that has passed it.
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
