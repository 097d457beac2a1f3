"""Laplace noise on the device: simple, and the worst of the mean oracles unless epsilon is large."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting import events
from curador.local.numeric.base import LEVELS, NumericTask
from curador.local.task.layout import Layout
from curador.local.task.limits import Floats
from curador.local.task.thresholds import BITS
from curador.noise import DiscreteLaplace, Entropy
from curador.noise.decide import exp_minus
from curador.numbers import Number, up
from curador.privacy import Neighbors

LOW = (1 << 32) - 1


@lru_cache(64)
def _noise(scale: Fraction) -> DiscreteLaplace:
    return DiscreteLaplace(scale)


@dataclass(frozen=True, init=False)
class LocalLaplace(NumericTask, mechanism="laplace"):
    """Report the value's level plus integer Laplace noise of scale LEVELS / epsilon.

    Guarantee: epsilon-local DP: two values are at most LEVELS steps apart [DMNS06, GRS12].

    >>> task = LocalLaplace(low=0, high=1, epsilon=1)
    >>> task.randomize([0.25, 0.75]).shape, task.delivered
    ((2,), 1.0)
    """

    def __init__(self, low: Number, high: Number, epsilon: Number) -> None:
        self._begin(low, high, epsilon)

    @property
    def scale(self) -> Fraction:
        """The noise's scale in steps."""
        return LEVELS / self.epsilon

    @property
    def ratio(self) -> Fraction:
        bits = BITS + 2 * math.ceil(self.epsilon)  # enough bits for a lower end above 0
        return Fraction(1 << bits, exp_minus(self.epsilon, bits)[0])

    @property
    def delivered(self) -> float:
        return up(self.epsilon)

    @property
    def event(self) -> events.Event:
        return events.DiscreteLaplaceNoise(self.scale, LEVELS, Neighbors.REPLACE)

    @property
    def layout(self) -> Layout:
        return Layout(8, signed=True)

    @property
    def report_bits(self) -> int:
        return 64

    @property
    def worst_variance(self) -> float:
        # With :attr:`tail`, chosen so that both hold for the integers and for the rounding of the level.
        return 2 * self._reach**2

    @property
    def tail(self) -> float:
        return self._reach

    @property
    def _reach(self) -> float:
        # |noise| <= scale E + 1 for a standard exponential E (docs/proofs/noise.md), and rounding adds at most 1 more;
        # so E|X|**m <= m! (scale + 2)**m, by Minkowski's inequality.
        return float((self.scale + 2) * 2 / LEVELS)

    @property
    def _beyond(self) -> int:
        """The largest distance of a report below 0 or above LEVELS."""
        # Noise exceeds this many scales with a chance of e**-64; a forged report cannot exceed it either.
        return 64 * math.ceil(self.scale)

    @property
    def _farthest_unit(self) -> float:
        return 2 * self._beyond / LEVELS + 2  # 1, and a little more

    def unit_variance(self, value: float) -> float:
        return 2 / (math.sinh(float(1 / (2 * self.scale))) * LEVELS) ** 2

    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        noisy: NDArray[np.int64] = levels + _noise(self.scale).sample(levels.size, entropy)
        return noisy.clip(-self._beyond, LEVELS + self._beyond)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        within: NDArray[np.bool_] = (-self._beyond <= reports) & (reports <= LEVELS + self._beyond)
        return within

    def _sums(self, reports: NDArray[np.int64]) -> list[int]:
        return [int((reports >> 32).sum()), int((reports & LOW).sum())]  # in halves, so that no sum can wrap

    def _unit(self, users: int, sums: NDArray[np.int64]) -> Fraction:
        total = (int(sums[0]) << 32) + int(sums[1])
        return Fraction(2 * total, users * LEVELS) - 1

    def _decoded(self, reports: NDArray[np.int64]) -> Floats:
        return (2 * reports - LEVELS) / LEVELS
