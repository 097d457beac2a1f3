"""What counts say about one chance: exact limits as plain numbers, and the floor that two of them put under epsilon."""

from __future__ import annotations

import math

from curador.audit.tester import certify


def at_least(yes: int, n: int, miss: float) -> float:
    """The chance of a thing that happened ``yes`` times of ``n`` is at least this, but for a chance of ``miss`` [CP34].

    >>> round(at_least(30, 30, 0.005), 3), at_least(0, 30, 0.005)
    (0.838, 0.0)
    """
    return float(certify.at_least(yes, n, miss))


def at_most(yes: int, n: int, miss: float) -> float:
    """It is at most this, but for a chance of ``miss`` [CP34].

    >>> round(at_most(0, 30, 0.005), 3), at_most(30, 30, 0.005)
    (0.162, 1.0)
    """
    return float(certify.at_most(yes, n, miss))


def epsilon_floor(yes: int, n: int, other: int, of: int, confidence: float, delta: float = 0.0) -> float:
    """The least epsilon (at ``delta``) under which an event may happen ``yes`` of ``n`` times, and ``other`` of ``of``.

    With t at least the one chance and f at most the other, t - delta <= e^epsilon f; and so for the event that it does
    not happen, 1 - f - delta <= e^epsilon (1 - t).  Both follow from the same two limits.

    Guarantee: above the true epsilon with a chance of at most 1 - confidence, by exact limits for both [CP34].
    Assumes: the runs were independent, and the event was chosen before they were seen.

    >>> round(epsilon_floor(30, 30, 0, 30, 0.99), 2), epsilon_floor(15, 30, 15, 30, 0.99)
    (1.64, 0.0)
    >>> round(epsilon_floor(900, 1000, 200, 1000, 0.99), 2)  # by what does not happen: 800 of 1,000 times, and 100
    1.8
    """
    miss = (1 - confidence) / 2
    least, most = at_least(yes, n, miss), at_most(other, of, miss)
    return max(_ratio(least - delta, most), _ratio(1 - most - delta, 1 - least), 0.0)


def _ratio(above: float, below: float) -> float:
    return math.log(above / below) if above > 0 and below > 0 else 0.0
