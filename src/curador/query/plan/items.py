"""The items that a question pays for, and what an epsilon or a rho buys of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.selection import TopK
from curador.mechanisms.sensitivity import Sensitivity
from curador.mechanisms.thresholded import Thresholded, ThresholdedGaussian, ThresholdedLaplace
from curador.numbers import log2_floor, sqrt_up
from curador.privacy import Neighbors
from curador.query.aggregates.measure import UNBOUNDED_BITS, Measure, RankSearch, Search
from curador.query.plan.split import INVERSE, shares
from curador.query.plan.steps import Largest, Noised, Ranked, Selected, Step

TYPICAL = 2.0
"""A 95 % error is near two deviations of a normal law; choices have no other deviation to compare with noise."""

MOST_POINTS_BITS = 50
"""Quantiles of a wider grid are searched in coarser steps."""


def tidy(x: Fraction, bits: int = 40) -> Fraction:
    """x > 0 rounded up to ``bits`` significant bits: events are stored, and need not carry eighty digits.

    >>> tidy(Fraction(1, 3), bits=4)
    Fraction(11, 32)
    """
    scale = Fraction(2) ** (bits - 1 - log2_floor(x))
    return math.ceil(x * scale) / scale


def root_down(x: Fraction) -> Fraction:
    """A fraction at most the square root of x > 0, of few digits.

    >>> root_down(Fraction(2)) ** 2 <= 2 < (root_down(Fraction(2)) * (1 + Fraction(1, 2**38))) ** 2
    True
    """
    return 1 / tidy(sqrt_up(1 / x))


@dataclass(frozen=True)
class NoiseItem:
    """A measure to be noised.

    ``weight`` is what its variance counts in the objective, ``coordinates`` how many groups may carry the noise, and
    ``counts_units`` says that each unit counts once in a group, so that the noisy count can select groups too.
    """

    measure: Measure
    sensitivity: Sensitivity
    weight: float
    coordinates: int
    counts_units: bool = False

    @property
    def code(self) -> dict[str, object]:
        return self.measure.code

    @property
    def spread(self) -> float:
        """The deviation that an epsilon of 1 buys; it falls as 1 / epsilon."""
        return math.sqrt(2) * float(self.sensitivity.l1)

    @property
    def spread_rho(self) -> float:
        """The deviation that a rho of 1 buys; it falls as 1 / sqrt(rho)."""
        return float(self.sensitivity.l2) / math.sqrt(2)

    def by_epsilon(self, epsilon: Fraction) -> tuple[Step, ...]:
        made = IntegerLaplace(self.sensitivity.l1, epsilon, neighbors=self.sensitivity.neighbors)
        return (Noised(self.measure, self.sensitivity, made),)

    def by_rho(self, rho: Fraction) -> tuple[Step, ...]:
        sigma = tidy(sqrt_up(self.sensitivity.l2_squared / (2 * rho)))  # [CKS20]
        return (Noised(self.measure, self.sensitivity, self._integer_gaussian(sigma)),)

    def by_unit_sigma(self, unit: Fraction, part: Fraction) -> Noised:
        """Continuous Gaussian noise whose (sensitivity / sigma)**2 is at most part / unit**2."""
        size = self.sensitivity.l2
        least = size * unit * sqrt_up(1 / part)
        sigma = tidy(least)
        while True:
            made = Gaussian(size, sigma=sigma, coordinates=self.coordinates, neighbors=self.sensitivity.neighbors)
            # The mechanism's own grid adds a little to the sensitivity: pay for it in proportion.
            if made.event.sensitivity * least <= size * sigma:
                return Noised(self.measure, self.sensitivity, made)
            sigma = tidy(least * made.event.sensitivity / size)

    def _integer_gaussian(self, sigma: Fraction) -> IntegerGaussian:
        return IntegerGaussian(
            sensitivity_squared=int(self.sensitivity.l2_squared),
            sigma=sigma,
            coordinates=self.coordinates,
            neighbors=self.sensitivity.neighbors,
        )


@dataclass(frozen=True)
class GaussianItem:
    """Several measures noised together by one Gaussian mechanism of (epsilon, delta).

    Guarantee: with mu_i = sensitivity_i / sigma_i, independent Gaussian noises are one Gaussian mechanism of
    mu**2 = sum of mu_i**2 [DRS22]; mu is that of (epsilon, delta) [BW18], and its square is divided.
    """

    parts: tuple[NoiseItem, ...]
    epsilon: Fraction
    delta: Fraction
    weight: float = 1.0

    @property
    def spread(self) -> float:
        """Its part of the objective is (sum of sqrt(weight) l2)**2 sigma**2, and sigma falls nearly as 1 / epsilon."""
        whole = sum(math.sqrt(n.weight) * float(n.sensitivity.l2) for n in self.parts)
        return whole * float(self.epsilon * unit_sigma(self.epsilon, self.delta))

    def by_epsilon(self, epsilon: Fraction) -> tuple[Step, ...]:
        unit = unit_sigma(epsilon, self.delta)
        inner = shares([n.weight * float(n.sensitivity.l2_squared) for n in self.parts], INVERSE)
        pairs = zip(self.parts, inner, strict=True)
        return tuple(replace(n.by_unit_sigma(unit, part), share=part) for n, part in pairs)


@lru_cache(256)
def unit_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The sigma of Gaussian noise for (epsilon, delta) at sensitivity 1, from above."""
    from curador.accounting.rules.gaussian import gaussian_sigma

    return gaussian_sigma(epsilon, delta, 1)


@dataclass(frozen=True)
class RankItem:
    """Quantiles of values; a unit changes ``rows`` values in each of ``groups`` groups.

    Bounds of a column are looked for among powers of two: of so few candidates the right one is found cheaply.
    """

    ranks: RankSearch
    rows: int
    groups: int
    neighbors: Neighbors
    weight: float

    @property
    def code(self) -> dict[str, object]:
        return self.ranks.code

    def _mechanism(self, epsilon: Fraction) -> Quantiles:
        m, wanted = self.ranks.measure, self.ranks.quantiles
        if self.ranks.search is not Search.VALUE:
            ends = (-UNBOUNDED_BITS - 1, UNBOUNDED_BITS + 1)
            return Quantiles(wanted, *ends, epsilon=epsilon, neighbors=self.neighbors)
        step = 1 << max(0, (m.high - m.low).bit_length() - MOST_POINTS_BITS)
        high = m.low + max(1, -(-(m.high - m.low) // step)) * step  # whole steps, at least one
        return Quantiles(wanted, m.low, high, epsilon=epsilon, step=step, neighbors=self.neighbors)

    @property
    def _typical(self) -> float:
        return self._mechanism(Fraction(1)).error(0.95) / TYPICAL

    @property
    def spread(self) -> float:
        return self._typical * self.rows * self.groups

    @property
    def spread_rho(self) -> float:
        levels = self._mechanism(Fraction(1)).levels
        return self._typical * self.rows * math.sqrt(self.groups / (8 * levels))

    def by_epsilon(self, epsilon: Fraction) -> tuple[Step, ...]:
        made = self._mechanism(epsilon / (self.rows * self.groups))
        return (Ranked(self.ranks, made, self.rows, self.groups),)

    def by_rho(self, rho: Fraction) -> tuple[Step, ...]:
        # groups * levels choices of range rows * epsilon / levels, each of rho range**2 / 8 [CR21].
        levels = self._mechanism(Fraction(1)).levels
        made = self._mechanism(root_down(8 * rho / (self.groups * levels)) * levels / self.rows)
        return (Ranked(self.ranks, made, self.rows, self.groups),)


@dataclass(frozen=True)
class TopItem:
    """The largest of ``cells`` public groups, a unit adding up to ``rows`` to the count of each it is in."""

    measure: Measure
    wanted: int
    rows: int
    cells: int
    neighbors: Neighbors
    weight: float

    @property
    def code(self) -> dict[str, object]:
        return {"top": self.k, "of": self.measure.code}

    @property
    def k(self) -> int:
        return min(self.wanted, self.cells)

    def _mechanism(self, epsilon: Fraction) -> TopK:
        # Under add-remove all counts move the same way.
        same_way = self.neighbors is Neighbors.ADD_REMOVE
        return TopK(self.k, self.rows, epsilon, monotonic=same_way, neighbors=self.neighbors)

    @property
    def spread(self) -> float:
        return self._mechanism(Fraction(1)).error(self.cells, 0.95) / TYPICAL

    @property
    def spread_rho(self) -> float:
        return self.spread / math.sqrt(8 * self.k)

    def by_epsilon(self, epsilon: Fraction) -> tuple[Step, ...]:
        return (Largest(self.measure, self._mechanism(epsilon)),)

    def by_rho(self, rho: Fraction) -> tuple[Step, ...]:
        return self.by_epsilon(root_down(8 * self.k * rho))  # k choices of range epsilon / k


Item = NoiseItem | GaussianItem | RankItem | TopItem


@dataclass(frozen=True)
class KeysItem:
    """Groups selected privately, a unit being in at most ``groups`` of them."""

    groups: int
    delta: Fraction
    neighbors: Neighbors

    def by_epsilon(self, epsilon: Fraction) -> Selected:
        return Selected(OptimalKeys(epsilon, self.delta, groups=self.groups, neighbors=self.neighbors))

    def by_rho(self, rho: Fraction) -> Selected:
        return Selected(ThresholdedGaussian(self.delta, rho=rho, groups=self.groups, neighbors=self.neighbors))

    def with_count_by_epsilon(self, count: NoiseItem, epsilon: Fraction) -> tuple[Step, ...]:
        """One noisy count of units that is released and selects."""
        chosen = ThresholdedLaplace(epsilon, self.delta, groups=self.groups, neighbors=self.neighbors)
        made = IntegerLaplace(count.sensitivity.l1, scale=chosen.scale, neighbors=self.neighbors)
        return self._both(count, chosen, made)

    def with_count_by_rho(self, count: NoiseItem, rho: Fraction) -> tuple[Step, ...]:
        sigma = tidy(sqrt_up(count.sensitivity.l2_squared / (2 * rho)))
        chosen = ThresholdedGaussian(self.delta, sigma=sigma, groups=self.groups, neighbors=self.neighbors)
        return self._both(count, chosen, count._integer_gaussian(sigma))

    def _both(self, count: NoiseItem, chosen: Thresholded, made: IntegerLaplace | IntegerGaussian) -> tuple[Step, ...]:
        return Selected(chosen), Noised(count.measure, count.sensitivity, made, selection=chosen)
