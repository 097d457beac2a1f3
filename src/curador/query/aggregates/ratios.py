"""Intervals for ratios of noisy numbers, in many groups at once: :func:`curador.ratio_interval` on arrays.

A ratio r is kept if the noise on ``top - r * bottom`` could be what it would have to be (Fieller).  The ratios of
interest are known to lie within plus or minus ``limit``, so only those are searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.base import AdditiveNoise, checked_confidence
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates.base import Array

HALVINGS = 40
"""Bisection steps: after these, an edge is known to 2**-40 of the range."""

Kept = Callable[[Array, Array], NDArray[np.bool_]]
"""Whether noise on top - r * bottom may be as large as x: takes x and r, both arrays."""


def ratio_bounds(
    top: NDArray[Any],
    top_noise: AdditiveNoise | None,
    bottom: NDArray[Any],
    bottom_noise: AdditiveNoise | None,
    limit: float,
    confidence: float = 0.95,
) -> tuple[Array, Array]:
    """Where each ratio lies, given noisy numerators and denominators; None is a number without noise.

    Guarantee: each interval covers its true ratio with probability at least ``confidence``, given that it lies within
        ``limit`` [Fie54].

    >>> sums, counts = np.array([500, 3]), np.array([100, 2])
    >>> low, high = ratio_bounds(sums, IntegerLaplace(10, 1), counts, IntegerLaplace(1, 1), limit=10)
    >>> bool(4 < low[0] < 5 < high[0] < 6), low[1].item(), high[1].item()
    (True, -10.0, 10.0)
    """
    x, y = np.asarray(top, np.float64), np.asarray(bottom, np.float64)
    keeps, outgrown = _test(top_noise, bottom_noise, 1 - checked_confidence(confidence))

    def kept(r: Array) -> NDArray[np.bool_]:
        return keeps(np.abs(x - r * y), r)

    # Unless the line outgrows the denominator's noise, no ratio far out is ever excluded: nothing is known.
    known = (np.abs(y) > outgrown) & (y != 0)
    with np.errstate(over="ignore"):
        guess = np.clip(np.divide(x, y, out=np.zeros_like(x), where=known), -limit, limit)
    inside_limit = kept(guess)
    edges = []
    for end in (-limit, limit):
        inside, outside = guess.copy(), np.full_like(guess, end)
        reaches = kept(outside)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            yes = kept(middle)
            inside, outside = np.where(yes, middle, inside), np.where(yes, outside, middle)
        # Where the best ratio lies beyond the limit and the limit itself is excluded, the limit is what is left.
        edge = np.where(inside_limit, np.where(reaches, end, outside), guess)
        edges.append(np.where(known, edge, end))
    return edges[0], edges[1]


def _test(top: AdditiveNoise | None, bottom: AdditiveNoise | None, miss: float) -> tuple[Kept, float]:
    """The test of one ratio, and the size of a denominator beyond which far ratios are excluded."""
    if bottom is None or top is None:
        reach = 0.0 if top is None else top.error(1 - miss)
        own = 0.0 if bottom is None else bottom.error(1 - miss)
        return (lambda x, r: x <= reach + np.abs(r) * own), own
    if isinstance(top, IntegerLaplace) and isinstance(bottom, IntegerLaplace):
        a, b = float(top.scale), float(bottom.scale)
        # Integer noise is never further than 1 from continuous noise (mechanisms.intervals).
        return (lambda x, r: two_laplaces(x - 1 - np.abs(r), a, np.abs(r) * b) > miss), 1 + b * -np.log(miss)
    if isinstance(top, Gaussian) and isinstance(bottom, Gaussian):
        z = NormalDist().inv_cdf(1 - miss / 2) * (1 + 2.0**-40)
        a, b = float(top.sigma), float(bottom.sigma)
        return (lambda x, r: x <= z * np.hypot(a, r * b)), z * b
    # Half of the misses to each: wider, but true of any pair.
    one, other = top.error(1 - miss / 2), bottom.error(1 - miss / 2)
    if isinstance(top, IntegerGaussian) and isinstance(bottom, IntegerGaussian):
        # Integer Gaussians are subgaussian of their sigma [CKS20], and so are their sums.
        z = math.sqrt(2 * math.log(2 / miss)) * (1 + 2.0**-40)
        a, b = math.sqrt(top.sigma_squared), math.sqrt(bottom.sigma_squared)
        return (lambda x, r: x <= np.minimum(one + np.abs(r) * other, z * np.hypot(a, r * b))), min(other, z * b)
    return (lambda x, r: x <= one + np.abs(r) * other), other


def two_laplaces(x: Array, a: Array | float, b: Array) -> Array:
    """P(abs(A + B) > x) for independent Laplace A, B of scales a and b; 1 for x < 0.

    >>> two_laplaces(np.array([0.0, 3.0]), 1.0, np.array([1.0, 0.0])).round(4)
    array([1.    , 0.0498])
    """
    wide, narrow = np.maximum(np.maximum(a, b), 1e-100), np.minimum(a, b)
    narrow = np.maximum(narrow, wide * 1e-9)  # a scale of nothing, without dividing by it
    z = np.maximum(x, 0.0)
    close = wide - narrow < 1e-6 * wide
    gap = np.where(close, 1.0, (wide - narrow) * (wide + narrow))
    apart = (wide**2 * np.exp(-z / wide) - narrow**2 * np.exp(-z / narrow)) / gap
    alike = (1 + z / (2 * wide)) * np.exp(-z / wide)  # the limit of one scale twice, which is above
    return np.asarray(np.where(x < 0, 1.0, np.where(close, alike, apart)))
