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

    Guarantee: above the true epsilon with a chance of at most 1 - confidence, by exact limits for both [CP34].
    Assumes: the runs were independent, and the event was chosen before they were seen.

    >>> round(epsilon_floor(30, 30, 0, 30, 0.99), 2), epsilon_floor(15, 30, 15, 30, 0.99)
    (1.64, 0.0)
    """
    miss = (1 - confidence) / 2
    least, most = at_least(yes, n, miss) - delta, at_most(other, of, miss)
    return max(0.0, math.log(least / most)) if least > 0 and most > 0 else 0.0
