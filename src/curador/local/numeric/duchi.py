"""Duchi's mechanism for one number, also Microsoft's one-bit mean.

The report is a coin whose bias is the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.numeric.base import LEVELS, Mean, NumericTask
from curador.local.task.draw import coins, level_coins
from curador.local.task.layout import Layout, below
from curador.local.task.limits import Floats, farthest_coins, mean_chance
from curador.local.task.task import check_thresholds, checked_threshold
from curador.local.task.thresholds import exp_minus_upper
from curador.noise import Entropy
from curador.numbers import Number, above, set_fields


@dataclass(frozen=True, init=False)
class Duchi(NumericTask, mechanism="duchi"):
    """Report a 1 with a probability that rises with the value.

    It rises from 1/2 - slope/2**17 at ``low`` to 1/2 + slope/2**17 at ``high``.

    Best for small epsilon.  On [0, m] it has the law of the one-bit mean of [DKY17].  Reports are coins, so intervals
    are those of coins [CP34, Hoe56].

    Guarantee: epsilon-local DP: the two ends' odds differ most, by less than a factor e**epsilon each way [DJW18].

    >>> task = Duchi(low=-1, high=1, epsilon=1)
    >>> sorted(set(task.randomize([-1.0, 0.0, 1.0, 7.5] * 50).tolist()))
    [0, 1]
    """

    slope: int

    def __init__(self, low: Number, high: Number, epsilon: Number, *, slope: int | None = None) -> None:
        self._begin(low, high, epsilon)
        slope = best_slope(self.epsilon) if slope is None else slope
        set_fields(self, slope=checked_threshold(slope, "slope", LEVELS))
        check_thresholds(self)

    @property
    def lean(self) -> Fraction:
        """The probability of a 1 less that of a 0, at the upper bound."""
        return Fraction(self.slope, LEVELS)

    @property
    def ratio(self) -> Fraction:
        return (1 + self.lean) / (1 - self.lean)

    @property
    def layout(self) -> Layout:
        return Layout(1)

    @property
    def report_bits(self) -> int:
        return 1

    @property
    def worst_variance(self) -> float:
        return self.unit_variance(0.0)

    @property
    def tail(self) -> float:
        return (float(1 / self.lean) + 1) / 3

    def unit_variance(self, value: float) -> float:
        return float(1 / self.lean**2) - value**2

    def _limits(self, found: Mean, miss: float) -> tuple[float, float]:
        # A report is one coin, also in a part of the people drawn at random: docs/proofs/local.md, section 6.
        chances = mean_chance(np.array([found.sums[0]]), found.users, miss)
        low, high = self._from_units(*((2 * chance - 1) / float(self.lean) for chance in chances))
        return float(low[0]), float(high[0])

    def _within(self, users: int, miss: float, sampled: bool) -> float:
        least, most = float((1 - self.lean) / 2), float((1 + self.lean) / 2)
        return above(2 * float(self.half) / float(self.lean) * farthest_coins(least, most, users, miss))

    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint8]:
        return one_bit(levels, self.slope, entropy).view(np.uint8)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, 2)

    def _sums(self, reports: NDArray[np.int64]) -> list[int]:
        return [int(np.count_nonzero(reports))]

    def _unit(self, users: int, sums: NDArray[np.int64]) -> Fraction:
        return Fraction(2 * int(sums[0]) - users, users) / self.lean

    def _decoded(self, reports: NDArray[np.int64]) -> Floats:
        return (2 * reports - 1) / float(self.lean)


def best_slope(epsilon: Fraction) -> int:
    """The steepest slope that keeps epsilon: (1 + s) / (1 - s) <= e**epsilon for s = slope / LEVELS.

    >>> round(best_slope(Fraction(1)) / LEVELS, 4)  # tanh(1/2)
    0.4621
    """
    e = exp_minus_upper(epsilon)
    return int((1 - e) / (1 + e) * LEVELS)


def one_bit(levels: NDArray[np.int64], slope: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Draw coins, True with probability exactly 1/2 + slope (2 level - LEVELS) / (2 LEVELS**2).

    >>> from curador.noise import SYSTEM
    >>> one_bit(np.array([0, LEVELS]), LEVELS, SYSTEM).tolist()
    [False, True]
    """
    # With chance slope/LEVELS a coin that falls True with chance level/LEVELS, else a fair one: the same law.
    told = coins(slope, 16, levels.size, entropy)
    own = level_coins(levels, entropy)
    fair = coins(1 << 15, 16, levels.size, entropy)
    return np.where(told, own, fair)
