"""The smallest error that so many runs would have found, for the noise that just keeps a claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from curador.audit.tester.certify import at_least, at_most
from curador.audit.tester.claim import floors
from curador.audit.tester.events import TRIED
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP

POWER = 0.9
"""How often an error of the size that is called detectable is found."""

UNLUCKY = (1 - POWER) / 4
"""Each of the two counts is worse than assumed with this chance; the rest is for choosing the event from outputs."""

NOTHING = "nothing, not even a release without noise"
HARDLY = "nothing: these outputs hardly differ"

Chances = NDArray[np.float64]
Law = Callable[[float], tuple[Chances, Chances]]
"""For noise of this share of the right scale, the chances of tails on the two neighbours."""


def detectable(claim: Guarantee, n: int, confidence: float, reached: float = 1.0) -> str:
    """In words, the smallest scale error that ``n`` runs on each side find at least nine times of ten.

    It is computed for the noise that just keeps the claim: Laplace noise for epsilon alone, Gaussian noise where
    there is a delta, a rho or a Rényi curve.  Where outputs showed only the part ``reached`` of the stated loss, as on
    neighbours that are not the worst, or behind hashes, an error must also make up for the rest.

    Assumes: the fault is one of scale, on the worst pair of neighbours, and the best tail is found; other faults
        need more runs or fewer.  tests/audit/tester/test_power.py plants the error and counts.

    >>> detectable(PureDP(1), 30_000, 0.999)
    'a scale error ≥ 13 % (Laplace noise)'
    >>> detectable(PureDP(1), 30_000, 0.999, reached=0.6)
    'a scale error ≥ 40 % (Laplace noise)'
    >>> detectable(PureDP(12), 1000, 0.999)
    'nothing, not even a release without noise'
    """
    noise, least = _least(claim, n, confidence)
    if least is None or reached <= 0:
        return NOTHING if least is None else HARDLY
    short = 1 - min(1.0, reached) ** (0.5 if isinstance(claim, ZCDP | RenyiDP) else 1.0)
    percent = max(least, math.ceil(100 * short))
    return f"a scale error ≥ {percent} % ({noise} noise)" if noise else f"chances that differ by {percent} %"


@cache
def _least(claim: Guarantee, n: int, confidence: float) -> tuple[str, int | None]:
    """The noise that just keeps a claim, and how many percent of it must be missing to be found; None for never."""
    noise, law = _reference(claim)
    if not _found(claim, law, 0.0, n, confidence):
        return noise, None
    low, high = 0.0, 1.0  # shares of the right scale: found at low, perhaps not at high
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if _found(claim, law, middle, n, confidence) else (low, middle)
    return noise, math.ceil(100 * (1 - low))


def _found(claim: Guarantee, law: Law, share: float, n: int, confidence: float) -> bool:
    """Whether unlucky counts of the best tail still contradict the claim."""
    from scipy.stats import binom

    own, other = law(max(share, 1e-9))
    judged, miss = n - n // 2, (1 - confidence) / (2 * TRIED)
    few, many = binom.ppf(UNLUCKY, judged, own), binom.ppf(1 - UNLUCKY, judged, other)
    return bool((floors(claim, at_least(few, judged, miss), at_most(many, judged, miss)).excess > 1).any())


def _reference(claim: Guarantee) -> tuple[str, Law]:
    """The noise that just keeps a claim about a number that moves by 1; two coins, where no finite noise does."""
    if isinstance(claim, PureDP) or (isinstance(claim, ApproxDP) and claim.delta == 0):
        return ("Laplace", _laplace(1 / claim.epsilon)) if 0 < claim.epsilon < math.inf else ("", _coins)
    sigma = _sigma(claim)
    return ("Gaussian", _gaussian(sigma)) if 0 < sigma < math.inf else ("", _coins)


def _coins(share: float) -> tuple[Chances, Chances]:
    """Two coins around a fair one, whose chances differ by all but this share."""
    return np.array([1 - share / 2]), np.array([share / 2])


def _sigma(claim: Guarantee) -> float:
    if isinstance(claim, ApproxDP):
        from curador.mechanisms.gaussian import Gaussian

        usable = 0 < claim.epsilon < 1e6 and claim.delta < 1
        return float(Gaussian(1, claim.epsilon, claim.delta).sigma) if usable else 0.0
    if isinstance(claim, ZCDP):
        return math.sqrt(1 / (2 * claim.rho)) if claim.rho > 0 else 0.0
    if isinstance(claim, RenyiDP):
        stated = [(order, epsilon) for order, epsilon in claim.curve if 0 < epsilon < math.inf and order < math.inf]
        return math.sqrt(max(order / (2 * epsilon) for order, epsilon in stated)) if stated else 0.0
    return 0.0


def _laplace(scale: float) -> Law:
    def law(share: float) -> tuple[Chances, Chances]:
        spread = scale * share
        at = np.linspace(0.5, 1, 17)
        return 1 - np.exp((at - 1) / spread) / 2, np.exp(-at / spread) / 2

    return law


def _gaussian(sigma: float) -> Law:
    from scipy.special import ndtr

    def law(share: float) -> tuple[Chances, Chances]:
        spread = sigma * share
        at = 0.5 + np.linspace(0, 1 + 6 * spread, 241)
        return ndtr((1 - at) / spread), ndtr(-at / spread)

    return law
