"""Optimal composition: the best bound on k equal guarantees that holds for all mechanisms, exactly.

The worst k promises (eps, delta) are k coins.  With probability delta each gives everything away, else it is randomised
response.  So the loss is (k - 2j) eps where j of the answers are lies [KOV15, MV16].  Decimals of 60 digits have no
range to overflow, and every sum here has positive terms, so logarithms are not needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch

from curador.accounting.precise import dec, digits
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, nonnegative, probability, rational, up, whole
from curador.privacy import ApproxDP, Guarantee, PureDP

MOST = 10**6
"""The most promises whose losses are enumerated, in about a second."""

MOST_CORNERS = 10**4
"""The most promises whose corners are listed."""

_HUGE = 10**6  # keeps e**(k eps) inside the range of decimals for any k that can be enumerated
_SLACK = Decimal("1e-45")  # far above the loss of 60 digits over 10**8 products and sums, far below any delta in use


@singledispatch
def as_approx(guarantee: Guarantee) -> ApproxDP:
    """Convert a pure promise to an approximate one with delta 0.

    >>> as_approx(PureDP(1))
    ApproxDP(epsilon=1.0, delta=0.0)
    """
    raise NotPromised(
        f"This composition theorem is about (epsilon, delta), not {guarantee!r}.",
        fix="Add guarantees of that kind with basic(), or convert them first (curador.accounting.convert).",
    )


@as_approx.register
def _(guarantee: ApproxDP) -> ApproxDP:
    return guarantee


@as_approx.register
def _(guarantee: PureDP) -> ApproxDP:
    return ApproxDP(guarantee.epsilon, 0)


def exact_pair(guarantee: Guarantee) -> tuple[Fraction, Fraction]:
    """The epsilon and delta of a pure or approximate promise, as fractions.

    An epsilon that promises nothing is refused.

    >>> exact_pair(ApproxDP(0.1, 0))
    (Fraction(1, 10), Fraction(0, 1))
    """
    g = as_approx(guarantee)
    if g.epsilon > _HUGE:
        raise InvalidParameter(
            f"An epsilon of {g.epsilon:g} promises nothing.", fix="Give each release an epsilon below a million."
        )
    return rational(g.epsilon), rational(g.delta)


def _count(x: object, most: int, least: int = 0) -> int:
    count = whole(x, "count", least)
    if count > most:
        raise InvalidParameter(
            f"The optimal theorem goes through every loss of {count} promises; at most {most} are allowed here.",
            fix="Account for count * PureLoss(epsilon), or ApproxLoss, by epsilon(): as tight, at any count.",
        )
    return count


def _up(x: Decimal) -> float:
    return up(Fraction(x))


def _given_away(delta: Fraction, k: int) -> Decimal:
    """An upper bound of 1 - (1 - delta)**k."""
    if k * delta <= Fraction(1, 10**20):
        return dec(k * delta)
    return min(Decimal(1), 1 - (1 - dec(delta)) ** k + _SLACK)


def _staircase(eps: Fraction, k: int) -> Iterator[tuple[Decimal, Decimal]]:
    """For j = 0, 1, ..., yield the chances of at most j lies among k answers, about D and its neighbour."""
    lie = (-dec(eps)).exp()
    p = (1 + lie) ** -k
    q = p * lie**k
    here = there = Decimal(0)
    for j in range(k + 1):
        here, there = here + p, there + q
        yield here, there
        ways = Decimal(k - j) / (j + 1)
        p, q = p * ways * lie, q * ways / lie


def optimal_delta(each: Guarantee, count: int, epsilon: Number) -> float:
    """The smallest delta at ``epsilon`` for k promises of any mechanisms: exact, rounded up.

    Guarantee: 1 - (1 - delta)**k (1 - H), with H the hockey-stick divergence of k randomised responses.  It is exact by
        [KOV15 Thm 3.3] at its corners and by [MV16] between them.

    >>> optimal_delta(PureDP(0.5), 1000, 151.7)
    0.0241...
    """
    (eps, delta), k, target = exact_pair(each), _count(count, MOST), nonnegative(epsilon, "epsilon")
    with digits():
        lost = _given_away(delta, k)
        seen = Decimal(0)
        # Losses (k - 2j) eps above the target: j = 0 .. steps - 1.
        steps = 0 if k * eps <= target else min(k, math.ceil((k - target / eps) / 2) - 1) + 1
        for j, (here, there) in enumerate(_staircase(eps, k), start=1):
            if j > steps:
                break
            if j == steps:
                seen = max(Decimal(0), here - dec(target).exp() * there) + here * _SLACK
        return min(1.0, _up(lost + seen - lost * seen))


def optimal_epsilon(each: Guarantee, count: int, delta: Number) -> float:
    """The smallest epsilon at ``delta`` for k promises of any mechanisms: exact, rounded up.

    One pass over the k + 1 values of the loss; ten thousand promises take some hundredths of a second.

    >>> optimal_epsilon(PureDP("0.01"), 10_000, 1e-6)
    4.8855...
    """
    (eps, d), k, wanted = exact_pair(each), _count(count, MOST), probability(delta, "delta")
    if wanted == 1 or (k * eps == 0 and k * d <= wanted):
        return 0.0
    with digits():
        lost = _given_away(d, k)
        if dec(wanted) < lost:
            raise NotPromised(
                f"{k} releases with delta {float(d):g} give away {float(lost):.6g}; no epsilon brings that to {delta}.",
                fix="Ask for a larger delta, or give each release a smaller one.",
            )
        left = (dec(wanted) - lost) / (1 - lost)
        if left <= _SLACK:
            return up(k * eps)
        step = (-2 * dec(eps)).exp()
        edge = (k * dec(eps)).exp()
        for j, (here, there) in enumerate(_staircase(eps, k)):
            edge *= step  # e to the next loss, (k - 2j - 2) eps
            if here - edge * there >= left or k - 2 * j - 2 <= 0:
                # Between two losses delta(x) = here - e**x there.
                ratio = (here - left + here * _SLACK) / there
                if ratio <= 1:
                    return 0.0
                return min(up(k * eps), _up(ratio.ln() * (1 + _SLACK) + _SLACK))
    raise AssertionError("the last step of the staircase always answers")  # pragma: no cover


def optimal_corners(each: Guarantee, count: int) -> tuple[ApproxDP, ...]:
    """The corners ((k - 2i) eps, delta_i) of the region of k promises, largest epsilon first.

    Guarantee: each corner holds, and no mechanism-independent promise holds below the broken line through them
        [KOV15 Thm 3.3].

    >>> optimal_corners(PureDP(1), 2)
    (ApproxDP(epsilon=2.0, delta=0.0), ApproxDP(epsilon=0.0, delta=0.462...))
    """
    (eps, delta), k = exact_pair(each), _count(count, MOST_CORNERS, 1)
    with digits():
        lost = _given_away(delta, k)
        corners = [ApproxDP(up(k * eps), min(1.0, _up(lost)))]
        step = (-2 * dec(eps)).exp()
        edge = (k * dec(eps)).exp()
        for i, (here, there) in enumerate(_staircase(eps, k), start=1):
            if 2 * i > k:
                break
            edge *= step
            seen = max(Decimal(0), here - edge * there) + here * _SLACK
            corners.append(ApproxDP(up((k - 2 * i) * eps), min(1.0, _up(lost + seen - lost * seen))))
        return tuple(corners)
