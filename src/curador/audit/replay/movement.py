"""How far exact values moved between two runs, and how far the event that was paid for lets them.

Losses are of two kinds, which add up each by itself: of pure mechanisms as an epsilon, of Gaussian noise as a squared
distance in deviations.  See docs/proofs/audit.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import accumulate
from typing import Any

import numpy as np

from curador.accounting.events import (
    ApproxLoss,
    Composed,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialChoice,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    PoissonSampled,
    PureLoss,
    RandomizedAnswer,
    ZCDPLoss,
)
from curador.errors import NotPromised
from curador.mechanisms.base import Mechanism
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys, groups_moved
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import Selection, TopK
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import ThresholdedGaussian, ThresholdedLaplace
from curador.mechanisms.tree import ContinualCount
from curador.numbers import above
from curador.privacy import Neighbors


@dataclass(frozen=True)
class PathLoss:
    """What was lost, or may be: an epsilon of pure mechanisms, and squared deviations of Gaussian noise.

    >>> PathLoss(Fraction(1)) + PathLoss(Fraction(1), Fraction(2)) == PathLoss(Fraction(2), Fraction(2))
    True
    """

    pure: Fraction = Fraction(0)
    gaussian: Fraction = Fraction(0)

    def __add__(self, other: PathLoss) -> PathLoss:
        return PathLoss(self.pure + other.pure, self.gaussian + other.gaussian)

    def __mul__(self, times: int) -> PathLoss:
        return PathLoss(self.pure * times, self.gaussian * times)

    def within(self, other: PathLoss) -> bool:
        """Whether both kinds are at most the other's."""
        return self.pure <= other.pure and self.gaussian <= other.gaussian


@dataclass(frozen=True)
class Movement:
    """How far one exact value moved, the most that its mechanism was made for, and what it cost.

    Both are squares where the norm is l2.  ``shape`` says that there were more or fewer numbers.
    """

    far: Fraction = Fraction(0)
    most: Fraction | None = None
    loss: PathLoss = PathLoss()
    norm: str = "l1"
    shape: bool = False

    @property
    def beyond(self) -> bool:
        """Whether it moved further than it may."""
        return self.most is not None and self.far > self.most

    @property
    def words(self) -> str:
        """How far it moved, of how much, in words."""
        power = 0.5 if self.norm == "l2" else 1.0
        limit = "" if self.most is None else f", declared at most {float(self.most) ** power:.6g}"
        return f"moved by {float(self.far) ** power:.6g} ({self.norm}){limit}"


def exact_numbers(value: Any) -> list[Fraction | int]:
    """All numbers of a value, exactly."""
    flat: list[Any] = np.asarray(value, object).reshape(-1).tolist()
    return [int(x) if isinstance(x, int | np.integer) else Fraction(x) for x in flat]


def differences(one: Any, other: Any) -> list[Fraction]:
    """How far each number moved."""
    pairs = zip(exact_numbers(one), exact_numbers(other), strict=True)
    return [Fraction(y - x) for x, y in pairs if x != y]


def lengths(one: Any, other: Any) -> bool:
    """Whether two values have one shape."""
    return bool(np.shape(one) == np.shape(other))


# ---- what moved ------------------------------------------------------------------------------------------------------


Pairs = list[tuple[int | None, int | None]]
"""Places of the same group in two lists."""


@singledispatch
def movement(mechanism: Mechanism, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    """How far the exact values of one release are apart, in the norm of its mechanism; groups in ``pairs``."""
    raise NotPromised(
        f"Replay has no rule for {type(mechanism).__name__}.", fix="Test it as a black box, by its outputs."
    )


@movement.register
def _(mechanism: Laplace | IntegerLaplace, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    if not lengths(one, other):
        return Movement(shape=True)
    far = sum(map(abs, differences(one, other)), Fraction(0))
    return Movement(far, Fraction(mechanism.sensitivity), PathLoss(far / mechanism.scale))


@movement.register
def _(mechanism: Gaussian, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    if not lengths(one, other):
        return Movement(shape=True, norm="l2")
    far = sum((x * x for x in differences(one, other)), Fraction(0))
    return Movement(far, mechanism.sensitivity**2, PathLoss(gaussian=far / mechanism.sigma**2), "l2")


@movement.register
def _(mechanism: IntegerGaussian, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    if not lengths(one, other):
        return Movement(shape=True, norm="l2")
    far = sum((x * x for x in differences(one, other)), Fraction(0))
    most = Fraction(mechanism.sensitivity_squared)
    return Movement(far, most, PathLoss(gaussian=far / mechanism.sigma_squared), "l2")


@movement.register
def _(mechanism: Selection, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    if not lengths(one, other):
        return Movement(shape=True, norm="l∞")
    moved = differences(one, other)
    far = max(map(abs, moved), default=Fraction(0))
    if mechanism.monotonic and moved and min(moved) < 0 < max(moved):
        far = max(moved) - min(moved)  # not all one way: what the doubled effect of epsilon assumes
    return Movement(far, mechanism.sensitivity, PathLoss(mechanism.epsilon * far / mechanism.sensitivity), "l∞")


@movement.register
def _(mechanism: AboveThreshold, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    # Loss of the whole list at once: answers below the threshold are free [LSL17].
    if not lengths(one, other):
        return Movement(shape=True, norm="l∞")
    moved = differences(one, other)
    far = max(map(abs, moved), default=Fraction(0))
    if mechanism.monotonic and moved and min(moved) < 0 < max(moved):
        far = max(moved) - min(moved)
    return Movement(far, mechanism.sensitivity, PathLoss(mechanism.epsilon * far / mechanism.sensitivity), "l∞")


@movement.register
def _(mechanism: RandomizedResponse, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    if not lengths(one, other):
        return Movement(shape=True, norm="answers")
    far = Fraction(len(differences(one, other)))  # each answer is randomized by itself
    return Movement(far, Fraction(1), PathLoss(far * answer_loss(mechanism.event)), "answers")


def answer_loss(event: RandomizedAnswer) -> Fraction:
    """The epsilon of one answer, rounded up: the same wherever it is lost or paid for."""
    other = (1 - event.truth) / (event.categories - 1)
    return Fraction(above(math.log(max(event.truth / other, other / event.truth))))


@movement.register
def _(mechanism: TopK, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    found = movement(mechanism.each, one, other)
    return Movement(found.far, found.most, found.loss * mechanism.k, found.norm, found.shape)


@movement.register
def _(mechanism: Quantiles, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    # No limit of its own: a plan may let a unit have several values, and pays for each.
    here, there = Counter(np.asarray(one).tolist()), Counter(np.asarray(other).tolist())
    gone, come = (here - there).total(), (there - here).total()
    far = Fraction(gone + come if mechanism.neighbors is Neighbors.ADD_REMOVE else max(gone, come))
    return Movement(far, None, PathLoss(mechanism.epsilon * far), "values")


@movement.register
def _(
    mechanism: ThresholdedLaplace | ThresholdedGaussian | OptimalKeys, one: Any, other: Any, pairs: Pairs | None = None
) -> Movement:
    counts = [
        (0 if i is None else int(one[i]), 0 if j is None else int(other[j])) for i, j in pairs or aligned(one, other)
    ]
    moved = [abs(x - y) for x, y in counts if x != y]
    most = Fraction(groups_moved(mechanism.groups, mechanism.neighbors))
    far = Fraction(sum(moved))
    if max(moved, default=0) > 1:  # a unit counts once in a group
        far = max(far, most + 1)
    if isinstance(mechanism, ThresholdedLaplace):
        loss = PathLoss(far / mechanism.scale)
    elif isinstance(mechanism, ThresholdedGaussian):
        loss = PathLoss(gaussian=sum((Fraction(x * x) for x in moved), Fraction(0)) / mechanism.variance)
    else:
        loss = PathLoss(far * mechanism.each.epsilon)
    return Movement(far, most, loss, "units")


@movement.register
def _(mechanism: ContinualCount, one: Any, other: Any, pairs: Pairs | None = None) -> Movement:
    if not lengths(one, other):
        return Movement(shape=True)
    moved = [Fraction(y - x) for x, y in zip(exact_numbers(one), exact_numbers(other), strict=True)]
    far = sum(map(abs, moved), Fraction(0))
    most = Fraction(mechanism.sensitivity * (2 if mechanism.neighbors is Neighbors.REPLACE else 1))
    if np.ndim(one):  # a whole stream: each step ends one node, and moves of two steps meet in those that hold both
        sums = [Fraction(0), *accumulate(moved)]
        nodes = [sums[t] - sums[t & (t - 1)] for t in range(1, len(sums))]
    else:  # one step, which may be in a node of each length
        nodes = moved * mechanism.levels
    if mechanism.scale is not None:
        loss = PathLoss(sum(map(abs, nodes), Fraction(0)) / mechanism.scale)
    else:
        assert mechanism.variance is not None
        loss = PathLoss(gaussian=sum((x * x for x in nodes), Fraction(0)) / mechanism.variance)
    return Movement(far, most, loss)


def aligned(
    one: Any, other: Any, keys: Sequence[object] | None = None, others: Sequence[object] | None = None
) -> list[tuple[int | None, int | None]]:
    """Which groups of two lists of counts are the same: by their keys, or without them so that counts move least.

    A group that is in one list alone counts as moved from or to 0.

    >>> aligned([5, 9], [5, 1, 9]), aligned([5, 1], [5, 1], "ab", "ac")
    ([(0, 0), (None, 1), (1, 2)], [(0, 0), (1, None), (None, 1)])
    """
    if keys is not None and others is not None:
        place = {key: j for j, key in enumerate(others)}
        known = set(keys)
        here = [(i, place.get(key)) for i, key in enumerate(keys)]
        return [*here, *((None, j) for j, key in enumerate(others) if key not in known)]
    a, b = [int(x) for x in one], [int(x) for x in other]
    if len(a) == len(b):
        return [(i, i) for i in range(len(a))]
    cost = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    cost[1:, 0], cost[0, 1:] = np.cumsum(a), np.cumsum(b)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            cost[i + 1, j + 1] = min(cost[i, j] + abs(x - y), cost[i, j + 1] + x, cost[i + 1, j] + y)
    found: list[tuple[int | None, int | None]] = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and cost[i, j] == cost[i - 1, j - 1] + abs(a[i - 1] - b[j - 1]):
            i, j = i - 1, j - 1
            found.append((i, j))
        elif j and cost[i, j] == cost[i, j - 1] + b[j - 1]:
            j -= 1
            found.append((None, j))
        else:
            i -= 1
            found.append((i, None))
    return found[::-1]


# ---- what may be lost ------------------------------------------------------------------------------------------------


@singledispatch
def allowed(event: Event) -> PathLoss:
    """The most that an event lets neighbours differ by, in the two kinds of loss."""
    raise NotPromised(
        f"Replay has no rule for an event of kind {event.kind!r}.", fix="Test it as a black box, by its outputs."
    )


@allowed.register
def _(event: Composed) -> PathLoss:
    return sum((allowed(part) * times for part, times in event.parts), PathLoss())


@allowed.register
def _(event: Parallel) -> PathLoss:
    parts = [allowed(part) for part in event.parts]
    most = 1 if event.neighbors is Neighbors.ADD_REMOVE else 2
    pure, gaussian = (
        sorted(kind, reverse=True)[:most] for kind in ([p.pure for p in parts], [p.gaussian for p in parts])
    )
    return PathLoss(sum(pure, Fraction(0)), sum(gaussian, Fraction(0)))


@allowed.register
def _(event: PoissonSampled) -> PathLoss:
    return allowed(event.event)  # of a unit that is in the sample


@allowed.register
def _(event: LaplaceNoise | DiscreteLaplaceNoise | ExponentialChoice | PureLoss | ApproxLoss) -> PathLoss:
    return PathLoss(Fraction(event.epsilon))


@allowed.register
def _(event: RandomizedAnswer) -> PathLoss:
    return PathLoss(answer_loss(event))


@allowed.register
def _(event: GaussianNoise) -> PathLoss:
    return PathLoss(gaussian=(event.sensitivity / event.sigma) ** 2)


@allowed.register
def _(event: DiscreteGaussianNoise) -> PathLoss:
    return PathLoss(gaussian=Fraction(event.sensitivity_squared) / event.variance)


@allowed.register
def _(event: ZCDPLoss) -> PathLoss:
    return PathLoss(gaussian=2 * event.rho)
