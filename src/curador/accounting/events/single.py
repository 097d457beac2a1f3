"""Events that are one mechanism: noise, choices, and mechanisms known only by their guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from curador.accounting.events.base import Event, check_loss, check_size, read_chance, set_checked
from curador.numbers import nonnegative, positive, probability, whole
from curador.privacy import Neighbors

# ---- noise added to a number or a vector -------------------------------------------------------------------


@dataclass(frozen=True)
class LaplaceNoise(Event, kind="laplace"):
    """Continuous Laplace noise, or a rounding of it, on a statistic of given l1 sensitivity.

    Vectors need no dimension here.  A shift of total size s spread over coordinates is never easier to see than the
    whole shift in one of them (docs/proofs/vector-laplace.md).

    >>> LaplaceNoise(scale=2, sensitivity=1).epsilon
    Fraction(1, 2)
    """

    scale: Fraction
    sensitivity: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, scale=positive(self.scale, "scale"), sensitivity=positive(self.sensitivity, "sensitivity"))
        check_loss(self.epsilon)

    @property
    def epsilon(self) -> Fraction:
        return self.sensitivity / self.scale


@dataclass(frozen=True)
class DiscreteLaplaceNoise(Event, kind="discrete-laplace"):
    """Laplace noise on the integers (two-sided geometric); the sensitivity is a whole number."""

    scale: Fraction
    sensitivity: int
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, scale=positive(self.scale, "scale"), sensitivity=whole(self.sensitivity, "sensitivity", 1))
        check_loss(self.epsilon)
        check_size(self.scale**2)

    @property
    def epsilon(self) -> Fraction:
        return self.sensitivity / self.scale


@dataclass(frozen=True)
class TruncatedLaplaceNoise(Event, kind="truncated-laplace"):
    """Laplace noise conditioned on |noise| <= bound: no pure epsilon, an exact (epsilon, delta)."""

    scale: Fraction
    sensitivity: Fraction
    bound: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(
            self,
            scale=positive(self.scale, "scale"),
            sensitivity=positive(self.sensitivity, "sensitivity"),
            bound=positive(self.bound, "bound"),
        )
        check_loss(self.sensitivity / self.scale)
        check_loss(self.bound / self.scale)


@dataclass(frozen=True)
class GaussianNoise(Event, kind="gaussian"):
    """Continuous Gaussian noise, or a rounding of it, on a statistic of given l2 sensitivity."""

    sigma: Fraction
    sensitivity: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, sigma=positive(self.sigma, "sigma"), sensitivity=positive(self.sensitivity, "sensitivity"))
        check_loss((self.sensitivity / self.sigma) ** 2)


@dataclass(frozen=True)
class DiscreteGaussianNoise(Event, kind="discrete-gaussian"):
    """Gaussian noise on the integers; ``variance`` is the parameter sigma**2 of exp(-x**2 / (2 sigma**2)).

    The sensitivity is given squared, so that it stays rational for vectors.  In one dimension the exact
    profile is known; in more, only the Rényi curve is (CKS20).
    """

    variance: Fraction
    sensitivity_squared: int
    dimension: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(
            self,
            variance=positive(self.variance, "variance"),
            sensitivity_squared=whole(self.sensitivity_squared, "sensitivity_squared", 1),
            dimension=whole(self.dimension, "dimension", 1),
        )
        check_loss(self.sensitivity_squared / self.variance)
        check_size(self.variance)


# ---- choices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExponentialChoice(Event, kind="exponential"):
    """The exponential mechanism: pure epsilon, and of bounded range epsilon (DR19)."""

    epsilon: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, epsilon=positive(self.epsilon, "epsilon"))
        check_loss(self.epsilon)


@dataclass(frozen=True)
class RandomizedAnswer(Event, kind="randomized-response"):
    """An answer among ``categories``: the true one with probability ``truth``, else another, uniformly."""

    categories: int
    truth: Fraction
    neighbors: Neighbors = Neighbors.REPLACE

    def __post_init__(self) -> None:
        set_checked(self, categories=whole(self.categories, "categories", 2), truth=read_chance(self.truth, "truth"))


# ---- mechanisms known only by their guarantee --------------------------------------------------------------


@dataclass(frozen=True)
class PureLoss(Event, kind="pure"):
    """Anything that is epsilon-DP; accounted as the worst such mechanism."""

    epsilon: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, epsilon=positive(self.epsilon, "epsilon"))
        check_loss(self.epsilon)


@dataclass(frozen=True)
class ApproxLoss(Event, kind="approximate"):
    """Anything that is (epsilon, delta)-DP; accounted as the worst such mechanism."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=probability(self.delta, "delta"))
        check_loss(self.epsilon)


@dataclass(frozen=True)
class ZCDPLoss(Event, kind="zcdp"):
    """Anything that is rho-zCDP."""

    rho: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        set_checked(self, rho=positive(self.rho, "rho"))
        check_loss(self.rho)
