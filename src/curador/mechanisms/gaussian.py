"""The Gaussian mechanism: approximate differential privacy under bounded l2 sensitivity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import DiscreteGaussianNoise, GaussianNoise
from curador.accounting.events.base import check_size
from curador.errors import InvalidParameter, InvalidValue
from curador.forks import cached_property
from curador.mechanisms.base import (
    Exact,
    IntegerNoise,
    RealNoise,
    as_variance,
    check_event,
    checked_epsilon,
    coordinates_of,
    exactly_one,
)
from curador.noise import DiscreteGaussian, Entropy, grid_exponent, real_gaussian, real_gaussian_one
from curador.noise.gaussian import discrete_gaussian
from curador.noise.real import COORDINATES
from curador.numbers import Number, above, positive, probability, set_fields, sqrt_up, whole
from curador.privacy import Neighbors

SUMMED = 64**2
"""The largest variance whose integer law is summed term by term; above it, continuous bounds are as good."""


def _quantile(miss: float) -> float:
    """z with P(|Z| > z) = miss for a standard Gaussian Z."""
    return -NormalDist().inv_cdf(miss / 2)


def _delta(delta: Number) -> Fraction:
    value = probability(delta, "delta")
    if not 0 < value < 1:
        raise InvalidParameter(
            f"Gaussian noise needs a delta strictly between 0 and 1, got {delta}.",
            fix="Choose delta far below 1 / (number of people), or use Laplace noise, which needs none.",
        )
    return value


@dataclass(frozen=True, init=False)
class Gaussian(RealNoise):
    """Real-valued Gaussian noise on each coordinate, by its deviation ``sigma`` or by (epsilon, delta).

    By (epsilon, delta) the smallest sigma is found from the exact profile of Gaussian noise.  The noise lives on a
    grid of at most 2**-40 of sigma; its step times the root of ``coordinates`` is added to the sensitivity first.

    Guarantee: (epsilon, delta)-DP for a statistic of the given l2 sensitivity, vectors included [BW18].  The event
    is continuous Gaussian noise, and the release rounds it (docs/proofs/noise.md).
    Assumes: the statistic really moves by at most ``sensitivity`` (l2) between neighbours.

    >>> mechanism = Gaussian(sensitivity=1, epsilon=1, delta=1e-5)
    >>> round(float(mechanism.sigma), 4), round(mechanism.error(0.95), 3)
    (3.7306, 7.312)
    >>> Gaussian(sensitivity=1, sigma="1e-6").release([1.5, 2.5]).round(3)  # hardly any noise
    array([1.5, 2.5])
    """

    kind: ClassVar[str] = "gaussian"
    sensitivity: Fraction
    sigma: Fraction
    grid: int
    coordinates: int
    neighbors: Neighbors

    def __init__(
        self,
        sensitivity: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        sigma: Number | None = None,
        coordinates: int = COORDINATES,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        size = positive(sensitivity, "sensitivity")
        count = whole(coordinates, "coordinates", 1)
        if _by_epsilon(epsilon, delta, sigma):
            from curador.accounting.rules.gaussian import gaussian_sigma

            least = gaussian_sigma(checked_epsilon(epsilon), _delta(delta or 0), size)
            grid = grid_exponent(least)
            deviation = _for_grid(least, size, grid, count)
        else:
            deviation = positive(sigma, "sigma")
            grid = grid_exponent(deviation)
        set_fields(
            self, sensitivity=size, sigma=deviation, grid=grid, coordinates=count, neighbors=Neighbors(neighbors)
        )
        check_event(self)

    @cached_property
    def event(self) -> GaussianNoise:
        return GaussianNoise(
            self.sigma, _grid_sensitivity(self.sensitivity, self.grid, self.coordinates), self.neighbors
        )

    @property
    def variance(self) -> float:
        return as_variance(self.sigma**2)

    def reach(self, miss: float) -> float:
        return above(float(self.sigma) * _quantile(miss), 2.0**-30)

    def _noised(self, value: Fraction, entropy: Entropy) -> float:
        return real_gaussian_one(value, self.sigma, self.grid, entropy)

    def _noised_array(self, values: NDArray[np.float64], exact: Exact, entropy: Entropy) -> NDArray[np.float64]:
        return real_gaussian(values, self.sigma, self.grid, entropy, exact)


def _grid_sensitivity(sensitivity: Fraction, grid: int, coordinates: int) -> Fraction:
    """The l2 sensitivity after putting each coordinate on the grid, which can move it by one step."""
    return sensitivity + sqrt_up(Fraction(coordinates)) * Fraction(2) ** grid


def _for_grid(sigma: Fraction, sensitivity: Fraction, grid: int, coordinates: int) -> Fraction:
    """Scale the deviation for this grid in proportion to the moved sensitivity.

    So the charge of the grid is paid.
    """
    moved = _grid_sensitivity(sensitivity, grid, coordinates)
    if moved > 2 * sensitivity:
        raise InvalidParameter(
            f"With noise this large the grid would cost more than the statistic of {coordinates} coordinates.",
            fix="Choose a larger epsilon or delta, fewer coordinates, or integer values and IntegerGaussian.",
        )
    return sigma * moved / sensitivity


def _by_epsilon(epsilon: Number | None, delta: Number | None, sigma: Number | None) -> bool:
    """Whether (epsilon, delta) were given rather than sigma; refuses a part of the pair, or both forms."""
    if exactly_one({"epsilon (with delta)": epsilon, "sigma": sigma}) == "sigma":
        if delta is not None:
            raise InvalidParameter("With sigma given, delta follows.", fix="Leave delta out; ask curador.accounting.")
        return False
    if delta is None:
        raise InvalidParameter("Gaussian noise needs a delta beside epsilon.", fix="Give delta, or use Laplace noise.")
    return True


@dataclass(frozen=True, init=False)
class IntegerGaussian(IntegerNoise):
    """Gaussian noise on the integers, by its deviation ``sigma`` or by (epsilon, delta).

    One number is calibrated by the exact profile of the integer law itself, because the sigma of the continuous law
    overshoots delta here.  A vector (``coordinates`` above 1) is calibrated by concentrated DP, the only bound known
    for it.

    Guarantee: (epsilon, delta)-DP for an integer statistic of the given l2 sensitivity [CKS20].
    Assumes: the statistic really moves by at most ``sensitivity`` (l2) between neighbours.

    >>> mechanism = IntegerGaussian(sensitivity=1, epsilon=1, delta=1e-5)
    >>> round(float(mechanism.sigma_squared) ** 0.5, 3), mechanism.error(0.95)
    (3.74, 7.0)
    >>> IntegerGaussian(sensitivity=1, sigma="0.01").release(120)  # hardly any noise
    120
    """

    kind: ClassVar[str] = "integer-gaussian"
    sensitivity_squared: int
    sigma_squared: Fraction
    coordinates: int
    neighbors: Neighbors

    def __init__(
        self,
        sensitivity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        sensitivity_squared: int | None = None,
        sigma: Number | None = None,
        coordinates: int = 1,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        if exactly_one({"sensitivity": sensitivity, "sensitivity_squared": sensitivity_squared}) == "sensitivity":
            squared = whole(sensitivity, "sensitivity", 1) ** 2
        else:
            squared = whole(sensitivity_squared, "sensitivity_squared", 1)
        count = whole(coordinates, "coordinates", 1)
        if _by_epsilon(epsilon, delta, sigma):
            from curador.accounting.rules import gaussian

            eps, d = checked_epsilon(epsilon), _delta(delta or 0)
            check_size(squared / eps**2)  # about the variance to come, before a search for it
            root = math.isqrt(squared)
            if count == 1:
                # A single integer moves by a whole number of steps.
                variance = gaussian.discrete_gaussian_variance(eps, d, root)
            else:
                variance = gaussian.discrete_gaussian_variance_vector(eps, d, squared)
        else:
            variance = positive(sigma, "sigma") ** 2
        if count == 1:
            squared = math.isqrt(squared) ** 2
        set_fields(self, sensitivity_squared=squared, sigma_squared=variance, coordinates=count)
        set_fields(self, neighbors=Neighbors(neighbors))
        check_event(self)

    @cached_property
    def event(self) -> DiscreteGaussianNoise:
        return DiscreteGaussianNoise(self.sigma_squared, self.sensitivity_squared, self.coordinates, self.neighbors)

    def tail_weights(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Integers x >= 0 and the probability of |X| = x, for variances that are summed."""
        x = np.arange(math.ceil(40 * math.sqrt(float(self.sigma_squared))) + 2)
        weights = np.exp(-(x.astype(np.float64) ** 2) / float(2 * self.sigma_squared))
        weights[1:] *= 2
        return x, weights / weights.sum()

    @property
    def variance(self) -> float:
        if self.sigma_squared > SUMMED:
            return float(self.sigma_squared)  # above the true variance [CKS20, Corollary 9]
        x, p = self.tail_weights()
        return above(float((x**2 * p).sum()))

    def reach(self, miss: float) -> float:
        if self.sigma_squared > SUMMED:
            # P(|X| > k) is at most that of a continuous Gaussian beyond k [CKS20, Proposition 25].
            return float(math.ceil(above(math.sqrt(float(self.sigma_squared)) * _quantile(miss))))
        x, p = self.tail_weights()
        beyond = np.append(np.cumsum(p[:0:-1])[::-1], 0.0)  # P(|X| > x)
        return float(x[int(np.argmax(beyond * (1 + 2.0**-40) <= miss))])

    def _sampler(self, count: int) -> DiscreteGaussian:
        if count > self.coordinates:
            raise InvalidValue(
                f"This mechanism was made for {self.coordinates} coordinates, got {count}.",
                fix=f"Make it with coordinates={count} and the l2 sensitivity of the whole vector.",
            )
        return discrete_gaussian(self.sigma_squared)


@overload
def gaussian_mechanism(
    value: float | Fraction, sensitivity: Number, epsilon: Number, delta: Number, *, classic: bool = ...
) -> float: ...
@overload
def gaussian_mechanism(
    value: Sequence[float] | NDArray[Any], sensitivity: Number, epsilon: Number, delta: Number, *, classic: bool = ...
) -> NDArray[np.float64]: ...
def gaussian_mechanism(
    value: Any, sensitivity: Number, epsilon: Number, delta: Number, *, classic: bool = False
) -> Any:
    """Add Gaussian noise for (epsilon, delta) to a value, or a vector.

    ``classic`` takes the course's sigma**2 = 2 ln(1.25 / delta) sensitivity**2 / epsilon**2.  It is proved only for
    epsilon below 1, and refused from there on.

    Guarantee: (epsilon, delta)-DP, as :class:`Gaussian`; the classic form by [DR14, Theorem A.1].

    >>> round(gaussian_mechanism(120, sensitivity="1e-6", epsilon=1, delta=1e-6), 3)
    120.0
    """
    count = max(COORDINATES, coordinates_of(value))
    if not classic:
        return Gaussian(sensitivity, epsilon, delta, coordinates=count).release(value)
    return classic_gaussian(sensitivity, epsilon, delta, count).release(value)


def classic_gaussian(sensitivity: Number, epsilon: Number, delta: Number, coordinates: int = COORDINATES) -> Gaussian:
    """The mechanism of the course's formula with its grid; refused where the theorem or the grid ends."""
    from curador.accounting.rules.gaussian import classic_gaussian_sigma

    size = positive(sensitivity, "sensitivity")
    sigma = classic_gaussian_sigma(positive(epsilon, "epsilon"), _delta(delta), size)
    # Noise that grew for its grid, by twice at most, may lie on the next coarser grid, whose charge is paid here.
    grown = _for_grid(sigma, size, grid_exponent(sigma) + 1, coordinates)
    return Gaussian(size, sigma=grown, coordinates=coordinates)


def integer_gaussian_mechanism(value: int, sensitivity: int, epsilon: Number, delta: Number) -> int:
    """Add Gaussian noise on the integers for (epsilon, delta) to an integer.

    Guarantee: (epsilon, delta)-DP, as :class:`IntegerGaussian`.

    >>> integer_gaussian_mechanism(120, sensitivity=1, epsilon=2000, delta=0.5)
    120
    """
    return IntegerGaussian(sensitivity, epsilon, delta).release(value)
