"""Continual counting: a running total at every step, by noisy sums over a binary tree of time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import DiscreteGaussianNoise, DiscreteLaplaceNoise
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.forks import OneProcess
from curador.mechanisms.base import (
    Mechanism,
    check_event,
    checked_confidence,
    exactly_one,
    integer_array,
    integer_scalar,
)
from curador.noise import SYSTEM, DiscreteGaussian, DiscreteLaplace, Entropy
from curador.noise.arrays import checked_count
from curador.noise.gaussian import discrete_gaussian
from curador.noise.laplace import discrete_laplace
from curador.numbers import Number, above, positive, set_fields, whole
from curador.privacy import Neighbors

NODE = 1 << 56
"""The clamp of nodes: a sum of 41 of them stays inside a machine word, and no allowed scale comes near it."""

_LOW = 31
"""The low bits of an integer, which are summed apart from the others."""


@dataclass(frozen=True, init=False)
class ContinualCount(Mechanism):
    """A running total of integers over up to ``horizon`` steps.

    Each node of a binary tree of time is noised once.

    Steps are gathered in dyadic intervals.  A total is the sum of at most log2 of them, and a step is in one interval
    of each of the ``levels`` lengths.  Give ``epsilon`` for Laplace noise, ``rho`` (concentrated DP) or ``sigma`` for
    Gaussian noise.

    Guarantee: for the whole stream, integer Laplace noise of l1 sensitivity levels * sensitivity, or integer Gaussian
    noise of squared l2 sensitivity levels * sensitivity**2 [DNPR10, CSS11].  Under replace the first doubles; the
    second is four times as large, or twice if not ``signed`` (docs/proofs/tree.md).
    Assumes: a unit adds at most ``sensitivity`` to the increment of one step, in size; under replace it may leave one
    step and join another.  ``signed=False``: its contribution is never below 0, as in a count of rows.
    Fails: nothing is released after the horizon; the whole cost is spent at opening.

    >>> mechanism = ContinualCount(horizon=1000, epsilon=1)
    >>> mechanism.levels, mechanism.event
    (10, DiscreteLaplaceNoise(scale=Fraction(10, 1), sensitivity=10, neighbors=<Neighbors.ADD_REMOVE: 'add-remove'>))
    >>> ContinualCount(horizon=4, epsilon=1000).release([1, 0, 1, 1])  # hardly any noise
    array([1, 1, 2, 3])
    >>> mechanism.error(0.95, step=8), mechanism.error(0.95)  # one node, and the step with most nodes
    (30.0, 84.0)
    """

    horizon: int
    sensitivity: int
    scale: Fraction | None
    variance: Fraction | None
    signed: bool
    neighbors: Neighbors

    def __init__(
        self,
        horizon: int,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
        sigma: Number | None = None,
        sensitivity: int = 1,
        signed: bool = True,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        set_fields(
            self,
            horizon=whole(horizon, "horizon", 1),
            sensitivity=whole(sensitivity, "sensitivity", 1),
            signed=bool(signed),
            neighbors=Neighbors(neighbors),
        )
        if self.horizon >= 1 << 40:
            raise InvalidParameter("A horizon of 2**40 steps or more is not meant.", fix="Take coarser steps.")
        given = exactly_one({"epsilon": epsilon, "rho": rho, "sigma": sigma})
        scale = self._moved * self.sensitivity / positive(epsilon, "epsilon") if given == "epsilon" else None
        variance = None
        if given == "rho":
            variance = self._squared / (2 * positive(rho, "rho"))
        elif given == "sigma":
            variance = positive(sigma, "sigma") ** 2
        # The wider limit of arrays, so that sums of noise stay far inside machine words.
        checked_count(0, (scale or Fraction(1)) * 1024)
        checked_count(0, (variance or Fraction(1)) * 1024**2, power=2)
        set_fields(self, scale=scale, variance=variance)
        check_event(self)

    @property
    def kind(self) -> str:
        return "tree-gaussian" if self.scale is None else "tree-laplace"

    @property
    def levels(self) -> int:
        """The number of interval lengths, and so the most nodes of a step."""
        return self.horizon.bit_length()

    @property
    def _moved(self) -> int:
        """The number of nodes that a unit can move; under replace it may leave one step and join another."""
        return self.levels * (2 if self.neighbors is Neighbors.REPLACE else 1)

    @property
    def _squared(self) -> int:
        """The distance by which a unit can move the nodes, in squared l2 norm.

        Under replace the unit that leaves and the one that joins each move it by sqrt(levels) sensitivities.  With the
        same sign they pull against each other where a node holds both; with different signs they move it together.
        """
        together = 2 if self.signed and self.neighbors is Neighbors.REPLACE else 1
        return together * self._moved * self.sensitivity**2

    @property
    def event(self) -> DiscreteLaplaceNoise | DiscreteGaussianNoise:
        if self.scale is not None:
            return DiscreteLaplaceNoise(self.scale, self._moved * self.sensitivity, self.neighbors)
        assert self.variance is not None
        return DiscreteGaussianNoise(self.variance, self._squared, self._moved, self.neighbors)

    @property
    def _noise(self) -> DiscreteLaplace | DiscreteGaussian:
        if self.scale is not None:
            return discrete_laplace(self.scale)
        assert self.variance is not None
        return discrete_gaussian(self.variance)

    def nodes(self, step: int) -> int:
        """The number of noisy nodes in the total after this step."""
        if not 1 <= whole(step, "step", 1) <= self.horizon:
            raise InvalidParameter(f"Step {step} is beyond the horizon {self.horizon}.", fix="Ask for an earlier step.")
        return step.bit_count()

    def error(self, confidence: float = 0.95, step: int | None = None) -> float:
        """Bound the error of the total after a step (by default, any step), at least this often."""
        # The step below the horizon with most nodes is all ones, except perhaps for its length.
        most = max(self.horizon.bit_count(), self.levels - 1)
        count = most if step is None else self.nodes(step)
        miss = 1 - checked_confidence(confidence)
        if self.scale is not None:
            return float(_laplace_reach(self.scale, count, miss))
        assert self.variance is not None
        return float(_gaussian_reach(self.variance, count, miss))

    def open(self, *, entropy: Entropy = SYSTEM) -> RunningCount:
        """Start counting; one event for the whole stream."""
        return RunningCount(self, entropy)

    def release(self, increments: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Release the noisy running totals of increments known in advance; sums beyond 2**56 are clamped."""
        empty = isinstance(increments, list | tuple) and not increments
        given = np.zeros(0, np.int64) if empty else integer_array(increments)
        if given.ndim != 1:
            raise InvalidValue("Expected one increment per step.", fix="Pass a list or an array of one dimension.")
        if given.size > self.horizon:
            raise InvalidValue(
                f"There are {given.size} increments for a horizon of {self.horizon} steps.",
                fix="Make it with a longer horizon, which costs a little more noise.",
            )
        # Clamping nodes, exact and noisy, keeps every sum inside a machine word.  The first never parts neighbours, the
        # second is post-processing; noise clamped at 2**62 ends at a node's clamp either way.
        sums = _Sums(given)
        out = np.zeros(given.size, np.int64)
        steps = np.arange(1, given.size + 1)
        for level in range(given.size.bit_length()):
            # Among the intervals of length 2**level, totals use the first, third, fifth, …: those that end a set bit.
            ends = (2 * np.arange(((given.size >> level) + 1) // 2) + 1) << level
            nodes = sums.between(ends - (1 << level), ends)
            noisy = np.clip(nodes + self._noise.sample(nodes.size, entropy), -NODE, NODE)
            place = steps >> level
            used = (place & 1).astype(bool)
            out[used] += noisy[place[used] >> 1]
        return out


class _Sums:
    """Sums of runs of integers up to 2**61, clamped to ``NODE``.

    They are held in two parts, since a word may be too small.
    """

    def __init__(self, given: NDArray[np.int64]) -> None:
        start = np.zeros(1, np.int64)
        self._high = np.concatenate([start, np.cumsum(given >> _LOW)])
        self._low = np.concatenate([start, np.cumsum(given & ((1 << _LOW) - 1))])

    def between(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        low = self._low[ends] - self._low[starts]
        high = self._high[ends] - self._high[starts] + (low >> _LOW)
        most = NODE >> _LOW
        found = (np.clip(high, -most - 1, most) << _LOW) + (low & ((1 << _LOW) - 1))
        return np.asarray(np.clip(found, -NODE, NODE))


class RunningCount(OneProcess):
    """An open :class:`ContinualCount`: it holds exact sums, so it must not be shown to an analyst.

    Guarantee: all its releases are one event of its mechanism; threads may share it, forked children and copies not.

    >>> running = ContinualCount(horizon=2, epsilon=1000).open()
    >>> running.add(3), running.add(4)
    (3, 7)
    >>> running.add(1)
    Traceback (most recent call last):
    curador.errors.NotPromised: All 2 steps of the horizon have been taken. To do: ...
    """

    __slots__ = ("_entropy", "_lock", "_mechanism", "_state")

    def __init__(self, mechanism: ContinualCount, entropy: Entropy) -> None:
        super().__init__()
        self._mechanism, self._entropy, self._lock = mechanism, entropy, Lock()
        # For each length of interval, the last one that the total still uses: its exact and its noisy sum.
        self._state = 0, [0] * mechanism.levels, [0] * mechanism.levels

    @property
    def _step(self) -> int:
        return self._state[0]

    @property
    def _exact(self) -> list[int]:
        return self._state[1]

    @property
    def _noisy(self) -> list[int]:
        return self._state[2]

    @property
    def step(self) -> int:
        """The number of steps taken."""
        return self._step

    def add(self, increment: int) -> int:
        """Take a step and release the noisy total up to it."""
        value = integer_scalar(increment)
        self.require_home()
        with self._lock:
            if self._step == self._mechanism.horizon:
                raise NotPromised(
                    f"All {self._step} steps of the horizon have been taken.",
                    fix="Open a new one, which is paid for again, with a longer horizon.",
                    cost="the whole event was spent at opening; nothing was drawn and nothing more was spent",
                )
            step = self._step + 1
            # The interval that ends here consists of the step and of the shorter intervals before it, now done with.
            level = (step & -step).bit_length() - 1
            exact = value + sum(self._exact[:level])
            noisy = exact + self._mechanism._noise.draw(self._entropy)
            sums = [0] * level + [exact] + self._exact[level + 1 :], [0] * level + [noisy] + self._noisy[level + 1 :]
            # One assignment: an interrupt before it leaves the step untaken, and no interval is counted twice.
            self._state = step, *sums
            return sum(self._noisy)


# ---- bounds on sums of nodes -------------------------------------------------------------------------------------


@lru_cache(256)
def _laplace_reach(scale: Fraction, count: int, miss: float) -> int:
    """The least x with P(|S| > x) <= miss, S the sum of ``count`` independent integer Laplace noises.

    With q = exp(-1/scale), the generating function is ((1-q)**2 / ((1-qz)(1-q/z)))**count.  It splits into partial
    fractions: for s >= 0, P(S = s) is a mixture of negative binomials, all weights positive (docs/proofs/tree.md).
    """
    from scipy.special import betaincc

    rate = float(1 / scale)
    q, rest = math.exp(-rate), -math.expm1(-rate)
    weights = [(1 + q) ** -count]
    for j in range(1, count):
        ways = sum(math.comb(count, i) * math.comb(j - 1, i - 1) * q ** (2 * i) for i in range(1, j + 1))
        weights.append(ways * (1 + q) ** -(count + j))
    shapes = np.arange(count, 0, -1)

    def beyond(x: int) -> float:
        return 2 * float(np.dot(weights, betaincc(shapes, float(x + 1), rest)))

    return _least(beyond, miss)


@lru_cache(256)
def _gaussian_reach(variance: Fraction, count: int, miss: float) -> int:
    """An x with P(|S| > x) <= miss, S the sum of ``count`` independent integer Gaussian noises.

    Each is subgaussian [CKS20].  From variance 1 on, the sum is within (1 + 2.1 exp(-pi**2 variance))**count of an
    integer Gaussian of the summed variance (docs/proofs/tree.md).  The tail of that is below the continuous one
    [CKS20].
    """
    deviation = math.sqrt(float(variance * count))
    subgaussian = math.ceil(above(deviation * math.sqrt(2 * math.log(2 / miss)))) - 1
    if variance < 1:
        return max(0, subgaussian)
    factor = math.exp(count * math.log1p(2.1 * math.exp(-(math.pi**2) * float(variance))))
    return min(subgaussian, math.ceil(above(-NormalDist().inv_cdf(miss / 2 / factor) * deviation)))


def _least(beyond: Callable[[int], float], miss: float) -> int:
    """The least x >= 0 at which a falling probability, known to 2**-30 of itself, is at most ``miss``."""
    high = 1
    while beyond(high) * (1 + 2.0**-30) > miss:
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if beyond(middle) * (1 + 2.0**-30) <= miss else (middle, high)
    return high
