"""The Laplace mechanism: pure differential privacy for numbers and vectors of bounded l1 sensitivity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import DiscreteLaplaceNoise, LaplaceNoise
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.mechanisms.base import (
    Exact,
    IntegerNoise,
    RealNoise,
    as_variance,
    check_event,
    coordinates_of,
    exactly_one,
    real_scalar,
)
from curador.noise import DiscreteLaplace, Entropy, grid_exponent, real_laplace, real_laplace_one
from curador.noise.laplace import FEW, discrete_laplace
from curador.noise.real import COORDINATES
from curador.numbers import Number, above, positive, rational, set_fields, whole
from curador.privacy import Neighbors


@dataclass(frozen=True, init=False)
class Laplace(RealNoise):
    """Real-valued Laplace noise of scale sensitivity / epsilon on each coordinate.

    The noise lives on a grid of at most 2**-40 of the scale.  One step for each of ``coordinates`` is added to the
    sensitivity before the scale is set.

    Guarantee: epsilon-DP for a statistic of the given l1 sensitivity, vectors included [DMNS06].  The event is
    continuous Laplace noise, and the release rounds it (docs/proofs/noise.md).
    Assumes: the statistic really moves by at most ``sensitivity`` in total between neighbours.

    >>> mechanism = Laplace(sensitivity=1, epsilon=0.5)
    >>> round(mechanism.variance, 6), round(mechanism.error(0.95), 3)
    (8.0, 5.991)
    >>> Laplace(sensitivity=1, epsilon=10**6).release([120, 10]).round(3)  # hardly any noise
    array([120.,  10.])
    >>> mechanism.event.epsilon
    Fraction(1, 2)
    """

    kind: ClassVar[str] = "laplace"
    sensitivity: Fraction
    scale: Fraction
    grid: int
    coordinates: int
    neighbors: Neighbors

    def __init__(
        self,
        sensitivity: Number,
        epsilon: Number | None = None,
        *,
        scale: Number | None = None,
        coordinates: int = COORDINATES,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        size = positive(sensitivity, "sensitivity")
        count = whole(coordinates, "coordinates", 1)
        if exactly_one({"epsilon": epsilon, "scale": scale}) == "epsilon":
            eps = positive(epsilon, "epsilon")
            grid = grid_exponent(size / eps)
            steps = count * Fraction(2) ** grid
            if steps > size:
                raise InvalidParameter(
                    f"At epsilon {float(eps):.3g} the grid would cost more than the statistic of {count} coordinates.",
                    fix="Choose a larger epsilon, fewer coordinates, or integer values and IntegerLaplace.",
                )
            spread = (size + steps) / eps
        else:
            spread = positive(scale, "scale")
            grid = grid_exponent(spread)
        set_fields(self, sensitivity=size, scale=spread, grid=grid, coordinates=count, neighbors=Neighbors(neighbors))
        check_event(self)

    @cached_property
    def event(self) -> LaplaceNoise:
        # Putting each coordinate on the grid can part two neighbours by one more step.
        moved = self.sensitivity + self.coordinates * Fraction(2) ** self.grid
        return LaplaceNoise(self.scale, moved, self.neighbors)

    @property
    def variance(self) -> float:
        return as_variance(2 * self.scale**2)

    def reach(self, miss: float) -> float:
        return above(float(self.scale) * -math.log(miss), 2.0**-30)

    def _noised(self, value: Fraction, entropy: Entropy) -> float:
        return real_laplace_one(value, self.scale, self.grid, entropy)

    def _noised_array(self, values: NDArray[np.float64], exact: Exact, entropy: Entropy) -> NDArray[np.float64]:
        return real_laplace(values, self.scale, self.grid, entropy, exact)


@dataclass(frozen=True, init=False)
class IntegerLaplace(IntegerNoise):
    """Laplace noise on the integers (the two-sided geometric mechanism), of scale sensitivity / epsilon.

    Guarantee: epsilon-DP for an integer statistic of the given l1 sensitivity, vectors included [GRS12].
    Assumes: the statistic really moves by at most ``sensitivity`` in total between neighbours.

    >>> mechanism = IntegerLaplace(sensitivity=1, epsilon=0.5)
    >>> mechanism.error(0.95)
    6.0
    >>> precise = IntegerLaplace(sensitivity=1, epsilon=1000)  # hardly any noise
    >>> precise.release(120), precise.release([120, 10])
    (120, array([120,  10]))
    """

    kind: ClassVar[str] = "integer-laplace"
    sensitivity: int
    scale: Fraction
    neighbors: Neighbors

    def __init__(
        self,
        sensitivity: Number,
        epsilon: Number | None = None,
        *,
        scale: Number | None = None,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        size = whole(sensitivity, "sensitivity", 1)
        given = exactly_one({"epsilon": epsilon, "scale": scale})
        spread = size / positive(epsilon, "epsilon") if given == "epsilon" else positive(scale, "scale")
        set_fields(self, sensitivity=size, scale=spread, neighbors=Neighbors(neighbors))
        check_event(self)

    @cached_property
    def event(self) -> DiscreteLaplaceNoise:
        return DiscreteLaplaceNoise(self.scale, self.sensitivity, self.neighbors)

    @property
    def variance(self) -> float:
        # 2q / (1-q)**2 with q = exp(-1/scale) is 1 / (2 sinh(1 / (2 scale))**2), which does not cancel.
        half = float(1 / (2 * self.scale))
        return above(0.5 / math.sinh(half) ** 2 if half < 350 else 2 * math.exp(-2 * half))

    def reach(self, miss: float) -> float:
        # P(|X| > k) = 2 q**(k+1) / (1+q): the least whole k that brings it to the misses.
        rate = float(1 / self.scale)
        reach = (math.log(2 / miss) - math.log1p(math.exp(-rate))) / rate - 1
        return float(max(0, math.ceil(above(reach) if reach > 0 else reach)))

    def _sampler(self, count: int) -> DiscreteLaplace:
        return discrete_laplace(self.scale, short=count < FEW)


@overload
def laplace_mechanism(value: float | Fraction, sensitivity: Number, epsilon: Number) -> float: ...
@overload
def laplace_mechanism(
    value: Sequence[float] | NDArray[Any], sensitivity: Number, epsilon: Number
) -> NDArray[np.float64]: ...
def laplace_mechanism(value: Any, sensitivity: Number, epsilon: Number) -> Any:
    """The course's function: a value, or a vector, plus Laplace noise.

    Its variance is 2 (sensitivity / epsilon)**2.

    Guarantee: epsilon-DP, as :class:`Laplace`.

    >>> round(laplace_mechanism(120, sensitivity=1, epsilon=10**6), 3)
    120.0
    """
    return Laplace(sensitivity, epsilon, coordinates=max(COORDINATES, coordinates_of(value))).release(value)


@overload
def integer_laplace_mechanism(value: int | np.integer[Any], sensitivity: int, epsilon: Number) -> int: ...
@overload
def integer_laplace_mechanism(
    value: Sequence[int] | NDArray[Any], sensitivity: int, epsilon: Number
) -> NDArray[np.int64]: ...
def integer_laplace_mechanism(value: Any, sensitivity: int, epsilon: Number) -> Any:
    """Add Laplace noise on the integers to an integer, or to a vector of integers.

    Guarantee: epsilon-DP, as :class:`IntegerLaplace`.

    >>> integer_laplace_mechanism(120, sensitivity=1, epsilon=1000)
    120
    """
    return IntegerLaplace(sensitivity, epsilon).release(value)


def local_laplace_mechanism(value: float, lower: Number, upper: Number, epsilon: Number) -> float:
    """Add Laplace noise to a person's own number in [lower, upper], before it leaves the device.

    The sensitivity is the width of the interval, because any two values may be neighbours; a value outside is
    clamped, so that it is protected too.

    Guarantee: epsilon-local DP [DMNS06].

    >>> round(local_laplace_mechanism(7, -1, 1, epsilon=10**6), 3)  # clamped to 1
    1.0
    """
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if low >= high:
        raise InvalidParameter(f"The interval [{lower}, {upper}] is empty.", fix="Give lower < upper.")
    inside = max(low, min(high, real_scalar(value)))
    return Laplace(high - low, epsilon, neighbors=Neighbors.REPLACE).release(inside)
