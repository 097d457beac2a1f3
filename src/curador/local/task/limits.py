"""Confidence limits that hold for any data and any number of reports, not only asymptotically."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import NotPromised
from curador.mechanisms.base import checked_confidence
from curador.numbers import above

Floats = NDArray[np.float64]

MARGIN = 2.0**-40
"""A margin for round-off in sums and products of a few doubles."""
SLACK = 2.0**-49
"""An upper bound on the error of a dozen roundings in a sum of doubles, relative to its largest term."""
LARGE = 1 << 40
GRID = 65
FLAT = 1e-5
"""The part of a maximum that two grids of 65 may miss: 2**-11 of the way, where it is flat."""


def checked_miss(confidence: object, statements: int = 1) -> float:
    """The chance of a miss for each of several statements, so that all hold with this confidence.

    Each gets an equal part: Bonferroni's correction.

    >>> round(checked_miss(0.95, statements=5), 6)
    0.01
    """
    miss = 1 - checked_confidence(confidence)
    if miss <= 0:
        raise NotPromised("A confidence so close to 1 is beyond doubles.", fix="Try 0.999.")
    if miss > 0.5:
        raise NotPromised("These limits are proved for a confidence of at least 1/2.", fix="Try 0.95.")
    return miss / statements


def beta_margin(users: int | NDArray[np.int64]) -> Any:
    """Bound the relative error of the incomplete beta function for this number of users.

    Its round-off moves tails by a part that grows with the users, hence chances by a part that grows with their root.
    Against exact sums of up to 3e9 users the error stayed below a quarter of this bound.  From 2**40 users on the bound
    stays constant.

    >>> bool(beta_margin(1) < 1e-12 < beta_margin(10**9) < 1e-9)
    True
    """
    return MARGIN * (1 + np.sqrt(np.minimum(np.asarray(users, np.float64), LARGE)) / 64)


def outwards(low: Any, high: Any, size: float) -> tuple[Any, Any]:
    """Move limits apart by more than the round-off of sums of a few numbers up to ``size``.

    >>> low, high = outwards(2.0**40, 2.0**40, 2.0**40)
    >>> bool(low < 2.0**40 < high), bool(high - low < 0.01)
    (True, True)
    """
    slack = size * SLACK + 2.0**-1070  # roundings below the normal doubles are of one size
    return low - slack, high + slack


def mean_chance(yes: NDArray[np.int64] | Floats, users: int, miss: float) -> tuple[Floats, Floats]:
    """Limits for the mean chance of ``users`` independent coins, ``yes`` of which fell True.

    Guarantee: covers with probability at least 1 - miss, even if the chances differ.  This is Clopper and Pearson's
        interval, whose tails also bound those of unlike coins [CP34, Hoe56, GM14]; docs/proofs/local.md.

    >>> low, high = mean_chance(np.array([0, 50]), 100, 0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.3983], [0.0362, 0.6017])
    """
    yes = np.asarray(yes, np.float64)
    # Mirrored, so that a tiny tail is not lost against 1; and outwards, where doubles next to 1 are too coarse for it.
    high = np.nextafter(1 - _lower(users - yes, users, miss), 2.0)
    return _lower(yes, users, miss), np.where(yes >= users, 1.0, np.minimum(high, 1.0))


def _lower(yes: Floats, users: int, miss: float) -> Floats:
    from scipy.special import betaincinv

    none = yes <= 0
    low = betaincinv(np.where(none, 1.0, yes), users - yes + 1, miss / 2)
    return np.where(none, 0.0, low * (1 - beta_margin(users)))


def farthest_coins(least: float, most: float, users: int, miss: float) -> float:
    """Bound the distance between the share of True among ``users`` coins and their mean chance.

    The mean chance lies between ``least`` and ``most``.

    Guarantee: whenever the limits of :func:`mean_chance` cover, which fails with probability ``miss``, the share is
        no farther away than this, whatever it is: docs/proofs/local.md, section 4.

    The bound is the farthest over all counts, also fractional ones, so it falls with more users.

    >>> round(farthest_coins(0.25, 0.75, 100, 0.05), 4), farthest_coins(0.0, 0.0, 100, 0.05) < 1e-9
    (0.1029, True)
    """
    return max(_farthest_above(least, most, users, miss), _farthest_above(1 - most, 1 - least, users, miss))


def _farthest_above(least: float, most: float, users: int, miss: float) -> float:
    """Bound the distance of the share of True above its mean chance."""
    # A count beyond the first has a lower limit at most the chance; up to there ``least`` is farthest.
    first = _count_above(least, users, miss)
    farthest = first / users - least
    last = first if most <= least else _count_above(most, users, miss)
    if last <= first:
        return farthest
    # Between them the distance rises, perhaps to a maximum, and falls; two grids find it up to the margin.
    begin, end = first, last
    for _ in range(2):
        counts = np.linspace(begin, end, GRID)
        distances = counts / users - np.maximum(_lower(counts, users, miss), least)
        top = int(distances.argmax())
        begin, end = counts[max(top - 1, 0)], counts[min(top + 1, GRID - 1)]
    return max(farthest, float(distances[top]) * (1 + FLAT))


def _count_above(chance: float, users: int, miss: float) -> float:
    """An upper bound on the largest count, also fractional, whose lower limit is at most this chance."""
    from scipy.special import betainc

    if chance <= 0:
        return 0.0
    chance = min(1.0, chance / (1 - 2 * beta_margin(users)))  # once for the limits, once for the function below
    low, high = 0.0, float(users)
    if betainc(high, 1.0, chance) * (1 + MARGIN) >= miss / 2:
        return high
    while high - low > 1e-12 * users:
        middle = (low + high) / 2
        low, high = (middle, high) if betainc(middle, users - middle + 1, chance) >= miss / 2 else (low, middle)
    return high


def part_variance(seen: int | NDArray[np.int64], users: int) -> Any:
    """The relative variance of a mean over ``seen`` of the users, drawn without replacement.

    It is a part of the users' own variance.

    >>> part_variance(1, 10), part_variance(10, 10)
    (1.0, 0.0)
    """
    return (1 / seen - 1 / users) * users / max(users - 1, 1)


def bernstein(variance: float, tail: float, users: int, miss: float) -> float:
    """Bound the distance of a mean of independent reports from its expectation.

    The bound fails with a chance of ``miss``.

    ``variance`` bounds the variance of each report.  ``tail`` is b in E|X - EX|**m <= m!/2 variance b**(m-2).  For
    bounded reports b is a third of the range, for Laplace noise the scale.

    Guarantee: P(|mean - expectation| >= w) <= 2 exp(-n w**2 / (2 (variance + b w))) [BLM13, Theorem 2.10].

    >>> round(bernstein(1.0, 0.0, 100, 0.05), 4)
    0.2716
    """
    log = math.log(2 / miss)
    return above((tail * log + math.sqrt((tail * log) ** 2 + 2 * users * variance * log)) / users)
