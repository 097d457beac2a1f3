"""Randomizers of gradients, and the mean gradient from many reports: one class per mechanism."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.errors import InvalidParameter, InvalidValue
from curador.forks import cached_property
from curador.local.frequency.subset import choose_cells
from curador.local.learn.reading import sized, vectors
from curador.local.numeric.base import NumericTask
from curador.local.numeric.hybrid import Hybrid
from curador.local.numeric.laplace import LocalLaplace
from curador.local.numeric.piecewise import Piecewise
from curador.local.numeric.record import WORTH
from curador.local.numeric.vector import DuchiVector
from curador.local.task.limits import Floats
from curador.local.task.task import EPSILON_LEAST, EPSILON_MOST, Task
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, positive, set_fields, whole


@dataclass(frozen=True)
class GradientRandomizer(ABC):
    """A report of a vector whose coordinates are clipped to [-clip, clip].

    Guarantee: one report is epsilon-locally DP for any two vectors that a person may have.  A row of any other length
        than ``dimension`` is refused before a coin is drawn, since its report would cost more.
    Assumes: fair bits on the device.
    """

    epsilon: Fraction
    dimension: int
    clip: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        epsilon, dimension = positive(self.epsilon, "epsilon"), whole(self.dimension, "dimension", 1)
        if not EPSILON_LEAST <= epsilon <= EPSILON_MOST * dimension:
            raise InvalidParameter(
                f"A report on {dimension} coordinates spends between 2**-30 and {EPSILON_MOST * dimension}.",
                fix="Choose an epsilon between them, such as 1.",
            )
        for name, value in (("epsilon", epsilon), ("dimension", dimension), ("clip", sized(self.clip, "clip"))):
            set_fields(self, **{name: value})
        _ = self.task  # refused here, not in the middle of a round

    @property
    @abstractmethod
    def task(self) -> Task:
        """The task that each person answers."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The event of one report, for any accountant."""

    @property
    @abstractmethod
    def worst_variance(self) -> float:
        """The largest variance that a person adds to a coordinate of the mean, on the scale from -1 to 1."""

    def randomize(self, gradients: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """Draw a report for each row; nothing else leaves a device."""
        # A device must not fail for some values only, whatever numpy's settings about underflow.
        with np.errstate(all="ignore"):
            return self._reports(vectors(gradients, self.dimension), entropy)

    @abstractmethod
    def _reports(self, gradients: Floats, entropy: Entropy) -> Any:
        """Draw a report for each row of ``dimension`` numbers."""

    @abstractmethod
    def mean(self, reports: Any) -> Floats:
        """The mean of the clipped vectors, unbiased in every coordinate with a report, else 0."""


@dataclass(frozen=True)
class Corners(GradientRandomizer):
    """All coordinates at once, one bit each: :class:`curador.local.DuchiVector`.

    Guarantee: epsilon-local DP [DJW18].

    >>> way = Corners(Fraction(1), 3)
    >>> way.mean(way.randomize(np.zeros((50, 3)))).shape
    (3,)
    """

    @cached_property
    def task(self) -> DuchiVector:
        """The task that each person answers."""
        return DuchiVector(-self.clip, self.clip, self.epsilon, self.dimension)

    @property
    def event(self) -> Event:
        return self.task.event

    @property
    def worst_variance(self) -> float:
        return self.task.worst_variance

    def _reports(self, gradients: Floats, entropy: Entropy) -> NDArray[np.uint8]:
        return self.task.randomize(gradients, entropy=entropy)

    def mean(self, reports: NDArray[np.uint8]) -> Floats:
        return self.task.estimate(reports).values


@dataclass(frozen=True)
class Split(GradientRandomizer):
    """Laplace noise on every coordinate, each with an equal share of epsilon.

    Guarantee: epsilon-local DP: the shares are exact fractions that add up to epsilon [DMNS06].

    >>> way = Split(Fraction(1), 3)
    >>> way.task.epsilon, way.randomize(np.zeros((50, 3))).shape
    (Fraction(1, 3), (50, 3))
    """

    @cached_property
    def task(self) -> LocalLaplace:
        """The task that each person answers about each coordinate."""
        return LocalLaplace(-self.clip, self.clip, self.epsilon / self.dimension)

    @property
    def event(self) -> Event:
        return self.dimension * self.task.event

    @property
    def worst_variance(self) -> float:
        return self.task.worst_variance

    def _reports(self, gradients: Floats, entropy: Entropy) -> NDArray[np.int64]:
        return self.task.randomize(gradients, entropy=entropy).reshape(gradients.shape)

    def mean(self, reports: NDArray[np.int64]) -> Floats:
        if np.ndim(reports) != 2 or np.shape(reports)[1] != self.dimension:
            raise InvalidValue(f"Reports are rows of {self.dimension} integers.", fix="Leave others out.")
        return np.array([self.task.estimate(told).value for told in reports.T])


@dataclass(frozen=True)
class Sampled(GradientRandomizer):
    """A few coordinates, drawn without looking at the vector, each with an equal share of epsilon.

    A report states which coordinates were drawn.  There are max(1, min(d, floor(2 epsilon / 5))) of them [WXYZ19].  A
    coordinate's mean is taken over the people who drew it.

    Guarantee: epsilon-local DP: the draw has the same law for all vectors, and the shares add up [WXYZ19].
    """

    kind: ClassVar[type[Piecewise] | type[Hybrid]]

    @property
    def sampled(self) -> int:
        """The number of coordinates that a person reports."""
        return max(1, min(self.dimension, math.floor(self.epsilon / WORTH)))

    @cached_property
    def task(self) -> NumericTask:
        """The task that each person answers about each drawn coordinate."""
        return self.kind(-self.clip, self.clip, self.epsilon / self.sampled)

    @property
    def event(self) -> Event:
        return self.sampled * self.task.event

    @property
    def worst_variance(self) -> float:
        # Of n people n·sampled/dimension report a coordinate, and these differ from all by at most 1 each.
        return self.dimension / self.sampled * (self.task.worst_variance + 1)

    def _reports(
        self, gradients: Floats, entropy: Entropy
    ) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger[Any]]]:
        """For each person, the coordinates drawn and the reports on them."""
        drawn = np.zeros((len(gradients), self.dimension), bool)
        choose_cells(drawn, np.arange(len(gradients)), self.sampled, self.dimension, entropy)
        which = np.nonzero(drawn)[1].reshape(-1, self.sampled)
        told = self.task.randomize(np.take_along_axis(gradients, which, axis=1), entropy=entropy)
        return which, told.reshape(which.shape)

    def mean(self, reports: tuple[NDArray[np.int64], NDArray[np.unsignedinteger[Any]]]) -> Floats:
        which, told = (np.asarray(part) for part in reports)
        if which.shape != told.shape or which.ndim != 2 or which.shape[1] != self.sampled:
            raise InvalidValue(f"Each person reports on {self.sampled} coordinates.", fix="Leave others out.")
        if not which.size:
            raise InvalidParameter("There are no reports.", fix="Collect some first.")
        if which.min() < 0 or which.max() >= self.dimension or (np.diff(which, axis=1) <= 0).any():
            raise InvalidValue("Coordinates are different, in order and within the vector.", fix="Leave others out.")
        found = np.zeros(self.dimension)
        for j in np.unique(which):
            found[j] = self.task.estimate(told[which == j]).value
        return found


@dataclass(frozen=True)
class SampledPiecewise(Sampled):
    """Sampled coordinates by :class:`curador.local.Piecewise`.

    >>> way = SampledPiecewise(Fraction(6), 4)
    >>> way.sampled, way.task.epsilon, way.mean(way.randomize(np.zeros((50, 4)))).shape
    (2, Fraction(3, 1), (4,))
    """

    kind = Piecewise


@dataclass(frozen=True)
class SampledHybrid(Sampled):
    """Sampled coordinates by :class:`curador.local.Hybrid`.

    >>> which, reports = SampledHybrid(Fraction(1), 4).randomize(np.zeros((50, 4)))
    >>> which.shape, reports.shape
    ((50, 1), (50, 1))
    """

    kind = Hybrid


MECHANISMS: Mapping[str, type[GradientRandomizer]] = {
    "laplace": Split,
    "duchi": Corners,
    "piecewise": SampledPiecewise,
    "hybrid": SampledHybrid,
}


def gradient_randomizer(mechanism: str, epsilon: Number, dimension: int, clip: Number = 1) -> GradientRandomizer:
    """The randomizer of this name: laplace, duchi, piecewise or hybrid.

    >>> gradient_randomizer("duchi", "1/2", 10)
    Corners(epsilon=Fraction(1, 2), dimension=10, clip=Fraction(1, 1))
    """
    if not isinstance(mechanism, str) or mechanism not in MECHANISMS:
        raise InvalidParameter(
            f"No mechanism for gradients is called {mechanism!r}.", fix=f"Choose one of {', '.join(MECHANISMS)}."
        )
    kind = MECHANISMS[mechanism]
    return kind(positive(epsilon, "epsilon"), dimension, positive(clip, "clip"))


def randomizer_to_json(way: GradientRandomizer) -> dict[str, object]:
    """Write a plain dictionary that :func:`randomizer_from_json` reads back exactly.

    >>> randomizer_to_json(SampledHybrid(Fraction(1, 2), 4))
    {'mechanism': 'hybrid', 'epsilon': '1/2', 'dimension': 4, 'clip': '1'}
    """
    name = next((name for name, kind in MECHANISMS.items() if type(way) is kind), None)
    if name is None:
        raise InvalidParameter("Devices do not know this mechanism.", fix=f"Choose one of {', '.join(MECHANISMS)}.")
    return {"mechanism": name, "epsilon": str(way.epsilon), "dimension": way.dimension, "clip": str(way.clip)}


def randomizer_from_json(data: Mapping[str, Any]) -> GradientRandomizer:
    """Read back a randomizer; every parameter is required.

    >>> randomizer_from_json({"mechanism": "duchi", "epsilon": "1/2", "dimension": 4, "clip": "1"})
    Corners(epsilon=Fraction(1, 2), dimension=4, clip=Fraction(1, 1))
    """
    kinds = {"mechanism": str, "epsilon": str, "dimension": int, "clip": str}
    if (
        not isinstance(data, Mapping)
        or set(data) != set(kinds)
        or any(type(data[k]) is not v for k, v in kinds.items())
    ):
        raise InvalidParameter("This is not a randomizer for gradients.", fix="Use what to_json() wrote.")
    return gradient_randomizer(**data)
