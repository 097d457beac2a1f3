"""The hybrid mechanism: the piecewise one or Duchi's, by a coin that does not look at the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.local.numeric.base import Mean, NumericTask
from curador.local.numeric.duchi import Duchi
from curador.local.numeric.piecewise import BITS, Piecewise
from curador.local.task.draw import coins
from curador.local.task.layout import Layout, below
from curador.local.task.limits import Floats
from curador.local.task.tally import checked_counts
from curador.local.task.task import check_thresholds
from curador.noise import Entropy
from curador.numbers import Number, set_fields


@dataclass(frozen=True, init=False)
class Hybrid(NumericTask, mechanism="hybrid"):
    """A report of the piecewise mechanism with probability mix/2**32, else of Duchi's.

    Either is made at the whole epsilon.

    With mix = 1 - e**(-epsilon/2) the variance does not depend on the value, and at worst is below both parts'.  For
    epsilon below 0.609… it is not below both, and mix is 0 [WXYZ19].  Reports 0 and 1 are Duchi's, the rest the cells
    plus 2.

    Guarantee: epsilon-local DP: the coin is independent of the value, and either part keeps epsilon.

    >>> Hybrid(low=-1, high=1, epsilon="0.5").mix, Hybrid(low=-1, high=1, epsilon=2).mix > 0
    (0, True)
    """

    slope: int
    window: int
    inside: int
    mix: int

    def __init__(
        self,
        low: Number,
        high: Number,
        epsilon: Number,
        *,
        slope: int | None = None,
        window: int | None = None,
        inside: int | None = None,
        mix: int | None = None,
    ) -> None:
        self._begin(low, high, epsilon)
        coin = Duchi(low, high, epsilon, slope=slope)
        cell = Piecewise(low, high, epsilon, window=window, inside=inside)
        set_fields(self, slope=coin.slope, window=cell.window, inside=cell.inside, mix=0)
        if mix is None:
            set_fields(self, mix=int(-math.expm1(-min(float(self.epsilon), 100.0) / 2) * ((1 << BITS) - 1)))
            if self.worst_variance >= coin.worst_variance:
                set_fields(self, mix=0)
        elif isinstance(mix, bool) or not isinstance(mix, int) or not 0 <= mix < 1 << BITS:
            raise InvalidParameter(f"mix must be an integer from 0 below 2**{BITS}, got {mix!r}.", fix="Leave it out.")
        else:
            set_fields(self, mix=mix)
        check_thresholds(self)

    @cached_property
    def one(self) -> Duchi:
        """The part that reports a coin."""
        return Duchi(self.low, self.high, self.epsilon, slope=self.slope)

    @cached_property
    def wide(self) -> Piecewise:
        """The part that reports a cell."""
        return Piecewise(self.low, self.high, self.epsilon, window=self.window, inside=self.inside)

    @property
    def ratio(self) -> Fraction:
        return max(self.one.ratio, self.wide.ratio)

    @property
    def layout(self) -> Layout:
        return Layout.below(self.wide.cells + 2 if self.mix else 2)

    @property
    def report_bits(self) -> int:
        return (self.wide.cells + 1).bit_length() if self.mix else 1

    @property
    def worst_variance(self) -> float:
        # Quadratic in the value, and even: the worst is in the middle or at an end.
        rounding = self.wide.worst_variance - self.wide.unit_variance(1.0)
        return max(self.unit_variance(0.0), self.unit_variance(1.0)) + rounding

    @property
    def tail(self) -> float:
        return max(self.one.tail, self.wide.tail) if self.mix else self.one.tail

    def unit_variance(self, value: float) -> float:
        # Both parts are unbiased, so the variances mix as the reports do.
        share = self.mix / (1 << BITS)
        return share * self.wide.unit_variance(value) + (1 - share) * self.one.unit_variance(value)

    def _limits(self, found: Mean, miss: float) -> tuple[float, float]:
        return super()._limits(found, miss) if self.mix else self.one._limits(found, miss)

    def _within(self, users: int, miss: float, sampled: bool) -> float:
        return super()._within(users, miss, sampled) if self.mix else self.one._within(users, miss, sampled)

    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        bit = self.one._randomize(levels, entropy).astype(np.uint32)
        if not self.mix:
            return bit
        cell = self.wide._randomize(levels, entropy) + np.uint32(2)
        return np.where(coins(self.mix, BITS, levels.size, entropy), cell, bit)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, self.wide.cells + 2 if self.mix else 2)

    def _sums(self, reports: NDArray[np.int64]) -> list[int]:
        cells = reports[reports >= 2] - 2
        return [int(np.count_nonzero(reports == 1)), len(cells), *self.wide._sums(cells)]

    def _unit(self, users: int, sums: NDArray[np.int64]) -> Fraction:
        ones, cells = int(sums[0]), int(sums[1])
        checked_counts(np.array([ones, cells]), np.array([users - cells, users]))
        total = Fraction(0)  # of both parts' decoded reports
        if users > cells:
            total += (users - cells) * self.one._unit(users - cells, np.array([ones]))
        if cells:
            total += cells * self.wide._unit(cells, sums[2:])
        return total / users

    def _decoded(self, reports: NDArray[np.int64]) -> Floats:
        return np.where(reports < 2, self.one._decoded(reports), self.wide._decoded(reports - 2))
