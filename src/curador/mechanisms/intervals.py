"""Confidence intervals for what is computed from several noisy numbers: sums, differences, ratios.

They cover the protected statistic (clipped and truncated as it was), not the population it was sampled from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from curador.errors import InvalidParameter
from curador.mechanisms.base import AdditiveNoise, checked_confidence
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.numbers import above

FAINT = 2.0**-100
"""A weight at which a term no longer adds to the error but still counts as one."""

Term = tuple[float, AdditiveNoise]
"""A weight, and the mechanism whose independent noise it multiplies."""


def combined_error(terms: Sequence[Term], confidence: float = 0.95) -> float:
    """A weighted sum of independently noised values is off by at most this, at least this often.

    Guarantee: exact for any number of Gaussian terms and for two Laplace terms; otherwise each term is given an equal
    share of the misses, which covers too but is wider.

    >>> a, b = Laplace(1, 1), Laplace(1, 1)
    >>> round(a.error(0.95), 3), round(combined_error([(1, a), (-1, b)], 0.95), 3)
    (2.996, 4.113)
    """
    confidence = checked_confidence(confidence)
    _finite(*(w for w, _ in terms))
    terms = [(w, m) for w, m in terms if w != 0]
    if not terms:
        raise InvalidParameter("There is nothing to combine.", fix="Give at least one term with a weight.")
    if len(terms) == 1:
        weight, only = terms[0]
        return above(abs(weight) * only.error(confidence))
    gaussians = [(w, m) for w, m in terms if isinstance(m, Gaussian)]
    if len(gaussians) == len(terms):
        spread = math.hypot(*(w * float(m.sigma) for w, m in gaussians))
        first = gaussians[0][1]
        return above(spread * first.error(confidence) / float(first.sigma))
    laplaces = [(w, m) for w, m in terms if isinstance(m, Laplace | IntegerLaplace)]
    if len(laplaces) == len(terms) == 2:
        slack = sum(abs(w) * _slack(m) for w, m in laplaces)
        (w, m), (v, n) = laplaces
        return above(_two_laplaces(abs(w) * float(m.scale), abs(v) * float(n.scale), 1 - confidence) + slack, 2.0**-30)
    share = 1 - (1 - confidence) / len(terms)
    return above(sum(abs(w) * m.error(share) for w, m in terms))


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
