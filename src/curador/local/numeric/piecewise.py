"""The piecewise mechanism on a grid: report a cell, usually of a window that moves with the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.local.numeric.base import LEVELS, NumericTask
from curador.local.task.draw import coins, uniform
from curador.local.task.layout import Layout, below
from curador.local.task.limits import Floats
from curador.local.task.task import check_thresholds, checked_threshold
from curador.local.task.thresholds import inside_threshold
from curador.noise import Entropy
from curador.numbers import Number, set_fields

BITS = 32


@dataclass(frozen=True, init=False)
class Piecewise(NumericTask, mechanism="piecewise"):
    """A uniform cell of a window with probability inside/2**32, else a uniform cell outside it.

    There are LEVELS + window cells.  The window starts at the cell of the value's level, so it slides from one end to
    the other.  Best for large epsilon.  This is the mechanism of [WXYZ19] with integers for its reals.  Estimates from
    the cells are exactly unbiased, and the variance is that of the grid (docs/proofs/local.md).

    Guarantee: epsilon-local DP: a cell inside is at most e**epsilon times as likely as one outside.

    >>> task = Piecewise(low=0, high=100, epsilon=2)
    >>> found = task.estimate(task.randomize([20.0] * 4000))
    >>> abs(found.value - 20) < 20
    True
    """

    window: int
    inside: int

    def __init__(
        self, low: Number, high: Number, epsilon: Number, *, window: int | None = None, inside: int | None = None
    ) -> None:
        self._begin(low, high, epsilon)
        w = checked_threshold(best_window(self.epsilon) if window is None else window, "window", LEVELS)
        inside = inside_threshold(w, LEVELS, self.epsilon, BITS) if inside is None else inside
        set_fields(self, window=w, inside=checked_threshold(inside, "inside", 1 << BITS))
        # The gain is above 0 exactly if a cell inside is likelier than a cell outside, which ``ratio`` supposes.
        checked_threshold(math.ceil(self.gain * (1 << BITS)), "inside", 1 << BITS)
        check_thresholds(self)

    @property
    def p(self) -> Fraction:
        """The probability of the window."""
        return Fraction(self.inside, 1 << BITS)

    @property
    def gain(self) -> Fraction:
        """The shift of the mean cell when the window moves by one."""
        return self.p - (1 - self.p) * self.window / LEVELS

    @property
    def cells(self) -> int:
        return LEVELS + self.window

    @property
    def ratio(self) -> Fraction:
        return self.p * LEVELS / ((1 - self.p) * self.window)

    @property
    def layout(self) -> Layout:
        return Layout.below(self.cells)

    @property
    def report_bits(self) -> int:
        return (self.cells - 1).bit_length()

    @cached_property
    def worst_variance(self) -> float:
        # A level rounded at random varies by at most 1/4; the second moment of the cell grows by gain times that.
        return self.unit_variance(1.0) + 1 / float(self.gain * LEVELS**2)

    @property
    def tail(self) -> float:
        return ((self.cells - 1) / float(self.gain * LEVELS) + 1) / 3

    def unit_variance(self, value: float) -> float:
        # In cells from the middle: of W cells around c the mean square is c**2 + (W**2 - 1)/12.
        n, w, p, gain = self.cells, self.window, float(self.p), float(self.gain)
        centre = value * LEVELS / 2
        square = centre**2 + (w * w - 1) / 12
        rest = (n * (n * n - 1) / 12 - w * square) / LEVELS
        return (p * square + (1 - p) * rest - (gain * centre) ** 2) / (gain * LEVELS / 2) ** 2

    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        near = levels + uniform(self.window, levels.size, entropy)
        far = uniform(LEVELS, levels.size, entropy).astype(np.int64)
        far += self.window * (far >= levels)  # the cells outside, numbered past the window
        return np.where(coins(self.inside, BITS, levels.size, entropy), near, far).astype(np.uint32)

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, self.cells)

    def _sums(self, reports: NDArray[np.int64]) -> list[int]:
        return [int(reports.sum())]

    def _unit(self, users: int, sums: NDArray[np.int64]) -> Fraction:
        return (Fraction(2 * int(sums[0]), users) - (self.cells - 1)) / (self.gain * LEVELS)

    def _decoded(self, reports: NDArray[np.int64]) -> Floats:
        return (2 * reports - (self.cells - 1)) / float(self.gain * LEVELS)


def best_window(epsilon: Fraction) -> int:
    """The window of the continuous mechanism, e**(-epsilon/2) times the outside; any window is private.

    >>> round(best_window(Fraction(2)) / LEVELS, 4)  # 1/e
    0.3679
    """
    return min(LEVELS - 1, max(1, round(LEVELS * math.exp(-min(float(epsilon), 100.0) / 2))))
