"""Scores put on a grid that divides their sensitivity, so that rounding them costs nothing.

Rounding down to whole steps commutes with moving by whole steps.  So if the sensitivity is a whole number of steps,
two scores at most one sensitivity apart are at most that many steps apart once rounded down, and scores that all
move the same way still do (docs/proofs/selection.md).  Nothing is charged, and integers are on the grid already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.mechanisms.base import real_scalar
from curador.numbers import positive

BITS = 30
"""A sensitivity is at least 2**30 steps."""

MOST_STEPS = 1 << 40
"""A sensitivity whose numerator is above this gets exactly so many steps, which integers may then miss."""

FARTHEST = 1 << 61
"""A score further than this below the best counts as this far below, at least 2**20 sensitivities: that too moves by
no more than the scores do."""

LARGEST_EPSILON = 1 << 64
"""Beyond this an epsilon is a slip of the pen, and machine floats would overflow."""


def checked_epsilon(epsilon: object) -> Fraction:
    """An epsilon above 0 for a choice."""
    value = positive(epsilon, "epsilon")
    if value > LARGEST_EPSILON:
        raise InvalidParameter("An epsilon above 2**64 promises nothing.", fix="Choose epsilon <= 10.")
    return value


@dataclass(frozen=True)
class ScoreGrid:
    """Multiples of ``step``, of which a sensitivity holds exactly ``steps``.

    >>> ScoreGrid.of(Fraction(1)).gaps([3, 5, 4.5]) / 2**30
    array([2. , 0. , 0.5])
    >>> ScoreGrid.of(Fraction(2, 3)).gaps([1, 3])  # whole numbers are whole numbers of steps
    array([3221225472,          0])
    """

    steps: int
    step: Fraction

    @classmethod
    def of(cls, sensitivity: Fraction) -> ScoreGrid:
        """The grid for scores of this sensitivity."""
        p = sensitivity.numerator
        # With p / q = sensitivity and steps = p 2**k, one is q 2**k steps: a whole number.
        steps = p << max(0, BITS + 1 - p.bit_length()) if p <= MOST_STEPS else MOST_STEPS
        return cls(steps, sensitivity / steps)

    def floor(self, score: object) -> int:
        """How many whole steps a score is, rounded down, exactly."""
        return real_scalar(score) // self.step

    def gaps(self, scores: Any) -> NDArray[np.int64]:
        """How many steps each score lies below the best.

        The same numbers give the same gaps whatever types carry them: a type that depends on the data, say a list
        of ints beside a list with one float in it, must not change the law.
        """
        given = scores if isinstance(scores, np.ndarray) else None
        listed = isinstance(scores, Sequence) and not isinstance(scores, str | bytes)
        if not (listed if given is None else given.ndim == 1):
            raise InvalidValue("Scores come one per candidate.", fix="Pass a list or an array of one dimension.")
        if len(scores) == 0:
            raise InvalidValue("There is nothing to choose from.", fix="Pass at least one score.")
        if given is not None and given.dtype.kind in "iu":
            return self._of_integers(given)
        if given is not None and given.dtype.kind == "f":
            return self._of_floats(given.astype(np.float64))
        return self._exactly([real_scalar(x) for x in scores])

    def _of_integers(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        per_unit = 1 / self.step
        if per_unit.denominator != 1 or per_unit > FARTHEST:
            return self._exactly(scores.tolist())
        c = per_unit.numerator
        # Machine words subtract modulo 2**64, and the true differences lie in [0, 2**64).
        below = scores.max().astype(np.uint64) - scores.astype(np.uint64)
        near = below <= np.uint64(FARTHEST // c)
        out: NDArray[np.int64] = np.where(near, np.where(near, below, 0).astype(np.int64) * c, FARTHEST)
        return out

    def _of_floats(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        if not np.isfinite(scores).all():
            raise InvalidValue("A score is NaN or infinite.", fix="Give every candidate a finite score.")
        c = int(1 / self.step)
        # A product with a power of two is exact, as long as it stays a machine number.
        if c * self.step == 1 and c & (c - 1) == 0 and np.abs(scores).max() < FARTHEST / c:
            steps = np.floor(scores * float(c)).astype(np.int64)
            out: NDArray[np.int64] = np.minimum(steps.max() - steps, FARTHEST)
            return out
        return self._exactly(scores.tolist())

    def _exactly(self, scores: list[Any]) -> NDArray[np.int64]:
        n, d = self.step.numerator, self.step.denominator
        steps = [(a * d) // (b * n) for a, b in (x.as_integer_ratio() for x in scores)]
        best = max(steps)
        return np.array([min(best - s, FARTHEST) for s in steps], np.int64)
