"""The mechanisms of curador by the code of their kind, to be tested."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from curador.errors import InvalidParameter
from curador.mechanisms.base import Mechanism
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, TopK
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import ThresholdedGaussian, ThresholdedLaplace
from curador.mechanisms.tree import ContinualCount
from curador.numbers import Number, positive, probability

Made = Callable[[Fraction, Fraction, int], Mechanism]

_MADE: dict[str, Made] = {
    "exponential": lambda e, d, s: ExponentialMechanism(s, e),
    "exponential-quantiles": lambda e, d, s: Quantiles.median(0, 10, epsilon=e),
    "exponential-top-k": lambda e, d, s: TopK(2, sensitivity=s, epsilon=e),
    "gaussian": lambda e, d, s: Gaussian(s, e, d),
    "integer-gaussian": lambda e, d, s: IntegerGaussian(s, e, d),
    "integer-laplace": lambda e, d, s: IntegerLaplace(s, e),
    "laplace": lambda e, d, s: Laplace(s, e),
    "optimal-keys": lambda e, d, s: OptimalKeys(epsilon=e, delta=d),
    "permute-and-flip": lambda e, d, s: PermuteAndFlip(s, e),
    "randomized-response": lambda e, d, s: RandomizedResponse(e),
    "report-noisy-max": lambda e, d, s: ReportNoisyMax(s, e),
    "sparse-vector": lambda e, d, s: AboveThreshold(0, epsilon=e, sensitivity=s),
    "thresholded-gaussian": lambda e, d, s: ThresholdedGaussian(d / 2, sigma=Gaussian(1, e, d / 2).sigma),
    "thresholded-laplace": lambda e, d, s: ThresholdedLaplace(epsilon=e, delta=d),
    "tree-gaussian": lambda e, d, s: ContinualCount(horizon=4, rho=e**2 / 2, sensitivity=s),
    "tree-laplace": lambda e, d, s: ContinualCount(horizon=4, epsilon=e, sensitivity=s),
}


KINDS = tuple(_MADE)
"""The codes of all kinds."""


def named(kind: str, epsilon: Number, delta: Number = Fraction(1, 100), sensitivity: int = 1) -> Mechanism:
    """A small mechanism of a kind; ``delta`` counts where the kind has one.

    >>> named("laplace", 1).event.epsilon
    Fraction(1, 1)
    """
    if kind not in _MADE:
        raise InvalidParameter(f"No mechanism is called {kind!r}.", fix=f"Choose one of {', '.join(_MADE)}.")
    return _MADE[kind](positive(epsilon, "epsilon"), probability(delta, "delta"), sensitivity)
