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
"""A margin for round-off in the incomplete beta function."""


def checked_miss(confidence: object, statements: int = 1) -> float:
    """The probability with which each of several statements may be wrong so that all hold with this confidence.

    This is Bonferroni's correction.

    >>> round(checked_miss(0.95, statements=5), 6)
    0.01
    """
    miss = 1 - checked_confidence(confidence)
    if miss <= 0:
        raise NotPromised("A confidence so close to 1 is beyond doubles.", fix="Try 0.999.")
    if miss > 0.5:
        raise NotPromised("These limits are proved for a confidence of at least 1/2.", fix="Try 0.95.")
    return miss / statements


def mean_chance(yes: NDArray[np.int64] | Floats, users: int, miss: float) -> tuple[Floats, Floats]:
    """Limits for the mean chance of ``users`` independent coins, ``yes`` of which fell True.

    Guarantee: covers with probability at least 1 - miss, whatever the chances, which may differ: Clopper and Pearson's
        interval, whose tails bound those of unlike coins too [CP34, Hoe56, GM14]; docs/proofs/local.md.

    >>> low, high = mean_chance(np.array([0, 50]), 100, 0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.3983], [0.0362, 0.6017])
    """
    from scipy.special import betaincinv

    yes = np.asarray(yes, np.float64)
    none, every = yes <= 0, yes >= users
    low = betaincinv(np.where(none, 1.0, yes), users - yes + 1, miss / 2)
    # The upper limit by the mirrored beta law, so that a tiny tail is never lost against 1.
    high = betaincinv(np.where(every, 1.0, users - yes), yes + 1, miss / 2)
    return (
        np.where(none, 0.0, low * (1 - MARGIN)),
        np.where(every, 1.0, 1 - high * (1 - MARGIN)),
    )


def part_variance(seen: int | NDArray[np.int64], users: int) -> Any:
    """The variance of a mean over ``seen`` of the users, drawn without replacement, as a part of the users' own.

    >>> part_variance(1, 10), part_variance(10, 10)
    (1.0, 0.0)
    """
    return (1 / seen - 1 / users) * users / max(users - 1, 1)


def bernstein(variance: float, tail: float, users: int, miss: float) -> float:
    """How far the mean of independent reports may be from its expectation, but for a chance of ``miss``.

    ``variance`` bounds each report's, and ``tail`` is b in E|X - EX|**m <= m!/2 variance b**(m-2): a third of the range
    for bounded reports, the scale for Laplace noise.

    Guarantee: P(|mean - expectation| >= w) <= 2 exp(-n w**2 / (2 (variance + b w))) [BLM13, Theorem 2.10].

    >>> round(bernstein(1.0, 0.0, 100, 0.05), 4)
    0.2716
    """
    log = math.log(2 / miss)
    return above((tail * log + math.sqrt((tail * log) ** 2 + 2 * users * variance * log)) / users)
