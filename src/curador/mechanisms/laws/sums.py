"""Bounds on a weighted sum of independent noises, from its law or in closed form.

The law is read from its transform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Law = tuple[str, float]
"""A kind of noise, and its size: the scale of Laplace noise, the sigma of Gaussian noise."""

LawTerm = tuple[float, Law, int]
"""A non-negative weight, a noise, and the number of such noises."""

ASIDE = 0.01
"""The share of the misses for integer noise far from continuous noise."""

SMOOTHED = 0.004
"""The deviation of the normal noise that smooths a sum, relative to the sum's own."""

REACHED = 3.0
"""The number of the smoothing noise's deviations by which a result is moved outwards."""


@lru_cache(maxsize=4096)
def sum_error(terms: tuple[LawTerm, ...], miss: float) -> float:
    """Bound the size of a sum of independent noises, exceeded with probability at most ``miss``.

    The transform of the sum, smoothed by a little normal noise, is inverted by the midpoint rule [GP51].  The possible
    error of that, and the shift by smoothing, are added, so that the result is never too small
    (docs/proofs/answers.md).

    >>> round(sum_error(((1.0, ("gaussian", 1.0), 4),), 0.05), 2)  # 3.92, and what smoothing moves
    3.95
    """
    # Squares of very large and of very small noises leave doubles; powers of two scale without rounding.
    size = max(-1000, math.frexp(max(w * law[1] for w, law, _ in terms))[1])
    found = _scaled_error([(math.ldexp(w, -size), law, n) for w, law, n in terms], miss)
    return found * 2.0 ** (size // 2) * 2.0 ** (size - size // 2)


def _scaled_error(terms: Sequence[LawTerm], miss: float) -> float:
    """Compute :func:`sum_error` for terms of which the largest is about 1."""
    bound = _tail_bound(terms, miss)
    if miss < LEAST_EXACT or not bound:
        return bound
    # Not far below that of the noise: it only scales the smoothing.
    deviation = math.sqrt(sum(n * (w * law[1]) ** 2 * (2 if law[0].endswith("laplace") else 1) for w, law, n in terms))
    smooth = SMOOTHED * deviation
    step = math.pi / (_tail_bound(terms, 1e-10) + 7 * smooth)
    reach = math.sqrt(2 * math.log(1000 / miss)) / smooth
    if reach > MOST_POINTS * step:
        return bound
    places = np.arange(math.ceil(reach / step)) + 0.5
    t: NDArray[np.float64] = np.asarray(places * step, np.float64)
    log = -((t * smooth) ** 2) / 2
    for w, law, n in terms:
        log += n * _log_transform(t * w, law)
    weights = np.exp(log) / (places * math.pi)

    def tail(x: float) -> float:
        return (1 - 2 * float(np.sin(t * x) @ weights) + miss * 0.005) * OUTWARDS

    low, high = 0.0, bound
    if tail(high) > miss:
        return bound
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > miss else (low, middle)
    return min(bound, high + REACHED * smooth)


OUTWARDS = 2 / (1 + math.erf(REACHED / math.sqrt(2)))
"""Smoothing leaves a sum beyond x + REACHED deviations beyond x with one over this of its probability, at least."""


def _tail_bound(terms: Sequence[LawTerm], miss: float) -> float:
    """A sub-gamma bound, as :func:`subgamma`; Gaussian noises, integer ones too, are subgaussian [CKS20]."""
    log = math.log(2 / miss)
    squares = sum(n * (w * law[1]) ** 2 * (1.0 if law[0].endswith("laplace") else 0.5) for w, law, n in terms)
    widest = max((w * law[1] for w, law, _ in terms if law[0].endswith("laplace")), default=0.0)
    return math.sqrt(4 * log * squares) + widest * log


def _log_transform(t: NDArray[np.float64], law: Law) -> NDArray[np.float64]:
    """The logarithm of a noise's characteristic function, which is positive."""
    kind, size = law
    if kind == "laplace":
        return -np.log1p((size * t) ** 2)
    if kind == "integer-laplace":
        return -np.log1p((np.sin(t / 2) / math.sinh(0.5 / size)) ** 2) if size > 1e-3 else np.zeros_like(t)
    if kind == "gaussian" or size > 1e6:  # the steps of such noise are far below the resolution of t
        return -((size * t) ** 2) / 2
    if size < 1e-2:  # 0, but for less than any double
        return np.zeros_like(t)
    if size < 0.5:  # few integers
        k = np.arange(1, 12)
        chances = np.exp(-(k**2) / (2 * size * size))
        found = 1 + 2 * np.cos(np.multiply.outer(t, k)) @ chances
        return np.asarray(np.log(found / (1 + 2 * chances.sum())), np.float64)
    # By Poisson's summation, a sum of normal densities around the multiples of 2 pi.
    near = np.abs((t + math.pi) % (2 * math.pi) - math.pi)
    others, whole = np.zeros_like(t), 1.0
    for m in (-2, -1, 1, 2):
        others += np.exp(-(size**2) * ((2 * math.pi * m) ** 2 + 4 * math.pi * m * near) / 2)
        whole += math.exp(-((size * 2 * math.pi * m) ** 2) / 2)
    return np.asarray(-((size * near) ** 2) / 2 + np.log1p(others) - math.log(whole), np.float64)


# ---- Laplace noises alone -------------------------------------------------------------------------------------------


def likely_apart(distances: Sequence[tuple[float, int]], miss: float) -> float:
    """Bound the distance of a sum of integer noises from that of continuous ones, but for ``miss``.

    Each noise is within its distance of the continuous one.

    Guarantee: the differences are symmetric, bounded and independent [Hoe63].
    """
    return math.sqrt(2 * math.log(2 / miss) * sum(n * d * d for d, n in distances))


def subgamma(scales: Sequence[tuple[float, int]], miss: float) -> float:
    """Bound a sum of Laplace terms, continuous or integer, in closed form, but for ``miss``.

    Guarantee: of scale s, E exp(tX) <= 1 / (1 - (ts)**2), with equality for continuous noise.  So the sum is sub-gamma
    [BLM13] with variance V, the sum of 2 s**2, and c, the largest scale (docs/proofs/answers.md).
    """
    log = math.log(2 / miss)
    return math.sqrt(4 * log * sum(n * s * s for s, n in scales)) + max(s for s, _ in scales) * log


LEAST_EXACT = 1e-4
"""The least chance of a miss read from the inverted transform; smaller ones are bounded."""

MOST_POINTS = 200_000
"""The most points at which a transform is read."""


def laplace_sum_error(scales: Sequence[tuple[float, int]], miss: float) -> float:
    """Bound a sum of independent continuous Laplace terms, but for ``miss``.

    Terms are given by scale and number.

    The characteristic function is inverted by the midpoint rule [GP51].  Its error is the chance of a sum beyond the
    period, and the part cut off.  A bound on both is added to the tail, so the result is never too small.

    >>> round(laplace_sum_error([(1.0, 1), (1.0, 1)], 0.05), 2)
    4.13
    """
    largest = max(s for s, _ in scales)
    return largest * _unit_sum_error(tuple(sorted((s / largest, n) for s, n in scales)), miss)


@lru_cache(maxsize=4096)
def _unit_sum_error(scales: tuple[tuple[float, int], ...], miss: float) -> float:
    """Compute :func:`laplace_sum_error` for scales of which the largest is 1."""
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
