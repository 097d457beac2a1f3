"""Sparse vector variants that were published and are wrong, as mechanisms that run [LSL17, Figure 1].

Each claims the epsilon it is made with.  They differ from curador's in one thing each, and none of them keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.sparse_vector import AboveThreshold, Watch
from curador.noise import SYSTEM, Entropy
from curador.noise.laplace import discrete_laplace
from curador.numbers import set_fields
from tests.mutants.fault import Rng, laplace


@dataclass(frozen=True, init=False)
class ForgottenCutoff(AboveThreshold):
    """Noise on the questions that does not grow with the cutoff, nor with the two ways a value may move.

    Algorithm 4 of [LSL17]: a quarter of epsilon for the threshold, the rest for each question.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        steps = self.grid.steps
        set_fields(self, threshold_scale=4 * steps / self.epsilon, question_scale=4 * steps / (3 * self.epsilon))


class EndlessWatch(Watch):
    """Goes on answering."""

    __slots__ = ()

    def _answer(self, steps: int) -> bool:
        self._left = self._mechanism.cutoff
        return super()._answer(steps)


@dataclass(frozen=True, init=False)
class NoCutoff(AboveThreshold):
    """Any number of answers above the threshold, with the noise of one: Algorithm 6 of [LSL17]."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scale = 2 * self.grid.steps / self.epsilon
        set_fields(self, threshold_scale=scale, question_scale=scale)

    def open(self, *, entropy: Entropy = SYSTEM) -> Watch:
        return EndlessWatch(self, entropy)


class BareWatch(EndlessWatch):
    """Compares exact values with the noisy threshold."""

    __slots__ = ()

    def _answer(self, steps: int) -> bool:
        return steps >= self._against


@dataclass(frozen=True, init=False)
class NoQuestionNoise(AboveThreshold):
    """Noise on the threshold alone, and any number of answers: Algorithm 5 of [LSL17]."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_fields(self, threshold_scale=2 * self.grid.steps / self.epsilon, question_scale=Fraction(1))

    def open(self, *, entropy: Entropy = SYSTEM) -> Watch:
        return BareWatch(self, entropy)


class RefreshedWatch(Watch):
    """Draws the threshold's noise anew after each answer above, at the scale of one."""

    __slots__ = ()

    def _answer(self, steps: int) -> bool:
        found = super()._answer(steps)
        if found:
            mechanism = self._mechanism
            noise = discrete_laplace(mechanism.threshold_scale).draw(self._entropy)
            self._against = mechanism.grid.floor(mechanism.threshold) + noise
        return found


@dataclass(frozen=True, init=False)
class RefreshedForFree(AboveThreshold):
    """A new noisy threshold after each answer above, as in [DR14], but without paying for each: the scale that is
    right for one is kept, and so is the noise of the questions of one answer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        one = AboveThreshold(self.threshold, self.epsilon, self.sensitivity)
        set_fields(self, threshold_scale=one.threshold_scale, question_scale=one.question_scale)

    def open(self, *, entropy: Entropy = SYSTEM) -> Watch:
        return RefreshedWatch(self, entropy)


def watched(
    values: Sequence[float],
    n: int,
    rng: Rng,
    *,
    threshold: float,
    question: float,
    cutoff: int,
    refreshed: bool = False,
) -> NDArray[np.int64]:
    """The answers of n runs against a threshold of 0 at once, by these scales of noise; 2 after the cutoff."""
    against, left = laplace(rng, threshold, n), np.full(n, cutoff)
    out = np.full((n, len(values)), 2, np.int64)
    for at, value in enumerate(values):
        above = value + (laplace(rng, question, n) if question else 0.0) >= against
        out[:, at] = np.where(left > 0, above, 2)
        if refreshed:
            against = np.where(above, laplace(rng, threshold, n), against)
        left = left - (above & (left > 0))
    return out
