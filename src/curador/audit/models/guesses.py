"""What right guesses about many people prove of an epsilon, from one run of a mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.mechanisms.base import checked_confidence
from curador.numbers import probability, whole

SLACK = 1 + 1e-9
"""Chances are worked out in doubles, and taken to be larger by this factor."""

STEP, LARGEST = 1 / 64, 64.0
"""The grid on which an epsilon is searched from below, and its end."""

NEAR = 2048
"""How many steps below the right guesses are looked at one by one; those further away are bounded."""

SHARES = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Which parts of the people are guessed about, in turn, the surest first; each pays for its try."""


def chance_of_guesses(people: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """The most that the chance of at least so many right guesses can be, under (epsilon, delta)-DP.

    Each of ``people`` was in the data or not by a fair coin of its own; about ``guesses`` of them somebody guesses,
    knowing the output of one run, and is right ``right`` times or more.

    Guarantee: with B binomial of ``guesses`` trials at e**epsilon / (1 + e**epsilon), the right guesses are at most
        B + N, whatever the mechanism, where N is at most people * delta / (1 + e**epsilon) on average and may depend on
        B; the worst such N fills the outcomes just below ``right``.  Pure: Theorem 5.2 of [SNJ23].  With a delta the
        formula printed there is exceeded by a mechanism of two people; this one has its proof in docs/proofs/audit.md.
    Assumes: the number of guesses does not depend on the output; whom they are about may.

    >>> round(chance_of_guesses(100, 100, 75, math.log(3)), 3)  # a coin that is right three times in four
    0.553
    >>> chance_of_guesses(1000, 100, 75, 1.0) < chance_of_guesses(1000, 100, 75, 1.0, 1e-4) < 1
    True
    """
    from scipy.special import betainc

    if not 0 <= whole(right, "right") <= whole(guesses, "guesses") <= whole(people, "people"):
        raise InvalidParameter("There are at most as many right guesses as guesses, and as people.", fix="Count again.")
    if right == 0:
        return 1.0
    q = 1 / (1 + math.exp(-epsilon))
    all_right = float(betainc(right, guesses - right + 1.0, q))  # P(B >= right)
    return min(1.0, (all_right + _filled(people * float(delta) * (1 - q), guesses, right, q)) * SLACK)


def _filled(budget: float, guesses: int, right: int, q: float) -> float:
    """How much chance of outcomes below ``right`` is lifted to it, a step of one guess costing its chance once."""
    from scipy.special import betainc

    if not budget:
        return 0.0
    at = np.arange(right, max(0, right - NEAR) - 1, -1)
    reach = np.where(at > 0, betainc(np.maximum(at, 1), guesses - at + 1.0, q), 1.0)  # P(B >= at)
    chances, steps = np.diff(reach), np.arange(1, len(at))
    costs = np.cumsum(steps * chances)
    whole_steps = int(np.searchsorted(costs, budget, side="right"))
    left = budget - (float(costs[whole_steps - 1]) if whole_steps else 0.0)
    return float(chances[:whole_steps].sum()) + left / (whole_steps + 1)


def least_epsilon(people: int, guesses: int, right: int, delta: float = 0.0, confidence: float = 0.99) -> float:
    """The least epsilon that so many right guesses leave possible, at a confidence; 0 where they prove nothing.

    Guarantee: above the true epsilon with a chance of at most 1 - confidence.  The search goes up a fixed grid from 0
        and stops at the first epsilon that is not refuted: a floor above the truth has then refuted the first point of
        the grid above it, which the mechanism keeps too (docs/proofs/audit.md).

    >>> least_epsilon(1000, 1000, 500), 1.9 < least_epsilon(1000, 1000, 900) < math.log(9)
    (0.0, True)
    """
    miss = 1 - checked_confidence(confidence)
    probability(delta, "delta")

    def refuted(epsilon: float) -> bool:
        return chance_of_guesses(people, guesses, right, epsilon, delta) <= miss

    steps = 0
    while steps * STEP < LARGEST and refuted(steps * STEP):
        steps += 1
    return max(0, steps - 1) * STEP


@dataclass(frozen=True)
class Guesses:
    """The best of several sets of guesses: how many, how many were right, and the epsilon that they prove."""

    people: int
    guesses: int
    right: int
    floor: float


def proven(
    scores: NDArray[np.float64], inside: NDArray[np.bool_], *, delta: float = 0.0, confidence: float = 0.99
) -> Guesses:
    """What scores prove: those of the highest are guessed to be in, as many of the lowest to be out, others left open.

    Guarantee: as :func:`least_epsilon`, for all of ``SHARES`` together: each is tried at its part of the error.
    Assumes: scores were made without knowing who is in; each was in by a fair coin of its own.

    >>> rng = np.random.default_rng(1)
    >>> inside = rng.random(1000) < 0.5
    >>> proven(inside + 0.01 * rng.random(1000), inside).floor > 4, proven(rng.random(1000), inside).floor
    (True, 0.0)
    """
    found = np.asarray(scores, np.float64)
    order = np.argsort(np.nan_to_num(found, nan=-np.inf, posinf=np.inf, neginf=-np.inf), kind="stable")
    miss = (1 - checked_confidence(confidence)) / len(SHARES)
    people, tried = len(order), []
    for share in SHARES:
        half = max(1, int(share * people / 2))
        if 2 * half > people:
            continue
        right = int(inside[order[-half:]].sum() + (~inside[order[:half]]).sum())
        tried.append(Guesses(people, 2 * half, right, least_epsilon(people, 2 * half, right, delta, 1 - miss)))
    return max(tried, key=lambda g: g.floor, default=Guesses(people, 0, 0, 0.0))
