"""The worst pair of output laws that each kind of noise allows, laid out by privacy loss.

Every pair here has the same law of loss in both orders of two neighbours; sampling is what makes them differ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from curador.accounting.pld.cells import Atoms, Cells, Complexes, Floats, atoms, join, thinned
from curador.accounting.pld.masses import few_integer_masses, integer_masses, normal_masses, reach

ERROR = 2.0**-48  # relative, of what a formula of a few operations gives
_ONE_BY_ONE = 2.0**21  # variances below this have few enough integers for a cell each
_SMOOTH = 25.0  # variances from here have the moments of the continuous Gaussian, period by period


class Ends(NamedTuple):
    """The supremum of the finite losses, the P-mass of exactly that loss, and the P-mass of an infinite one."""

    top: float
    mass: float
    infinite: float


class Pair(ABC):
    """A pair of laws (P, Q) that dominates what an event can do to two neighbours [ZDW22]."""

    @property
    def infinite(self) -> float:
        """The P-mass where Q has none, for pairs with a formula."""
        return 0.0

    @property
    def exact(self) -> bool:
        """Whether moments come from a formula or a quadrature, so that one spectrum bounds from both sides."""
        return True

    @property
    def error(self) -> float:
        """What the parameters, as doubles, may have changed: masses by this factor, losses by this much."""
        return ERROR

    @property
    def variance(self) -> float:
        """The variance of an independent normal part of the loss: its moments fall off as a normal law's."""
        return 0.0

    @abstractmethod
    def extent(self, theta: float) -> float:
        """The size of the losses that matter after tilting by exp(theta * loss)."""

    @abstractmethod
    def cells(self, count: int, tail: float) -> Cells:
        """About ``count`` cells, none with 0 strictly inside.

        Of an unbounded cell, the law for which its losses are unlikely has a mass of about ``tail``.
        """

    def ends(self) -> Ends:
        """The largest finite loss and what lies exactly there and beyond."""
        c = self.cells(2, 0.1)
        finite = (c.p > 0) & (c.low < math.inf)
        top = float(np.max(c.high[finite], initial=-math.inf))
        return Ends(top, float(c.p[finite & (c.low == top)].sum()), float(c.p[c.low == math.inf].sum()))

    def log_moment(self, s: Complexes) -> Complexes | None:
        """log of the integral of exp(s * loss) under P over finite losses, where a formula gives it."""
        return None

    def nodes(self, tilts: Sequence[float], omega: float, tail: float) -> Atoms | None:
        """Atoms with the same moments at theta + i w, for each theta in ``tilts`` and |w| <= omega, up to rounding."""
        return None

    def log_decay(self, theta: float, omega: Floats, tail: float) -> Floats:
        """For each omega, a bound on log |E exp((theta + i w) L) / E exp(theta L)| that holds for all w >= omega."""
        return np.zeros_like(omega)


def log_sum(*logs: Complexes) -> Complexes:
    """log(exp(a) + exp(b) + ...), for complex logarithms of any size."""
    if len(logs) == 1:
        return logs[0]
    top = np.max([x.real for x in logs], axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.sum([np.exp(x - top) for x in logs], axis=0)))


@dataclass(frozen=True)
class Points(Pair):
    """A loss and its opposite, or none, with the masses of P, which Q has the other way round.

    Randomised response, and the worst of all (epsilon, delta)-DP mechanisms; ``infinite`` is the mass of either law
    that the other never reaches.
    """

    loss: float
    masses: tuple[float, float, float]  # at loss, at 0 and at -loss
    infinite: float = 0.0

    @property
    def error(self) -> float:
        return ERROR * (1 + self.loss)

    def extent(self, theta: float) -> float:
        return self.loss

    def cells(self, count: int, tail: float) -> Cells:
        losses = [self.loss, 0.0, -self.loss]
        return atoms(losses, self.masses, self.masses[::-1], self.infinite, self.infinite)

    def log_moment(self, s: Complexes) -> Complexes:
        losses = (self.loss, 0.0, -self.loss)
        return log_sum(*(math.log(m) + s * x for x, m in zip(losses, self.masses, strict=True) if m))


@dataclass(frozen=True)
class Ramp:
    """P-mass exp(level + loss/2) on [-reach, reach]: a density, or on points ``step`` apart."""

    reach: float
    level: float
    step: float = 0.0

    def log_moment(self, s: Complexes) -> Complexes:
        z = s + 0.5
        z = np.where(z.real < 0, -z, z)  # the integral is even in z
        z = np.where(z == 0, 1e-300, z)
        if self.step:
            total = np.expm1(-z * (2 * self.reach + self.step)) / np.expm1(-z * self.step)
        else:
            total = np.expm1(-2 * self.reach * z) / -z
        with np.errstate(divide="ignore"):
            return np.asarray(self.level + z * self.reach + np.log(total))

    def cells(self, count: int) -> Cells:
        if not self.step:
            edges = np.linspace(-self.reach, self.reach, 2 * (count // 2) + 1)
            return self._blocks(edges[:-1], edges[1:], 2 * -np.expm1(-np.diff(edges) / 2))
        n = round(2 * self.reach / self.step) + 1
        cuts = np.rint(np.linspace(0, n, min(n, 2 * (count // 2)) + 1))
        cuts = np.unique(np.concatenate([cuts, [n // 2, (n + 1) // 2]]))
        size = np.diff(cuts)
        low = cuts[:-1] * self.step - self.reach
        shrink = np.expm1(-size * self.step / 2) / math.expm1(-self.step / 2)
        return self._blocks(low, low + (size - 1) * self.step, shrink)

    def _blocks(self, low: Floats, high: Floats, shrink: Floats) -> Cells:
        return Cells(low, high, np.exp(self.level + high / 2) * shrink, np.exp(self.level - low / 2) * shrink)


@dataclass(frozen=True)
class Laplacian(Pair):
    """An atom at each end of the losses, a ramp between, and perhaps a part that the other law never reaches."""

    edge: float
    edge_mass: float
    ramp: Ramp | None
    infinite: float = 0.0

    @property
    def error(self) -> float:
        return ERROR * (1 + self.edge)

    def extent(self, theta: float) -> float:
        return self.edge

    def cells(self, count: int, tail: float) -> Cells:
        masses = [self.edge_mass, self.edge_mass * math.exp(-self.edge)]
        ends = atoms([self.edge, -self.edge], masses, masses[::-1], self.infinite, self.infinite)
        return join(ends, self.ramp.cells(count)) if self.ramp else ends

    def log_moment(self, s: Complexes) -> Complexes:
        logs = [self.ramp.log_moment(s)] if self.ramp else []
        if self.edge_mass:
            m = math.log(self.edge_mass)
            logs += [m + s * self.edge, m - (1 + s) * self.edge]
        return log_sum(*logs)

    def log_decay(self, theta: float, omega: Floats, tail: float) -> Floats:
        if not self.ramp or self.ramp.step:
            return np.zeros_like(omega)
        log_m = float(self.log_moment(np.array([theta + 0j]))[0].real)
        # Atoms keep their size; the integral of exp(z l) over an interval is at most (its ends) / |z|.
        ends = (
            (math.log(self.edge_mass) if self.edge_mass else -math.inf)
            + np.logaddexp(theta * self.edge, -(1 + theta) * self.edge)
            - log_m
        )
        ramp = self.ramp.level + np.logaddexp(*((theta + 0.5) * x for x in (self.ramp.reach, -self.ramp.reach))) - log_m
        return np.minimum(0.0, np.logaddexp(ends, ramp - np.log(omega)))


@dataclass(frozen=True)
class Normal(Pair):
    """N(mu, 1) against N(0, 1): under P the loss is normal with mean mu**2/2 and variance mu**2."""

    mu: float

    @property
    def variance(self) -> float:
        return self.mu**2

    def extent(self, theta: float) -> float:
        return (abs(theta) + 1) * self.mu**2 + 9 * self.mu

    def cells(self, count: int, tail: float) -> Cells:
        far = reach(tail)
        x = np.union1d(np.linspace(-far, max(far, self.mu / 2 + 1), count), [self.mu / 2])
        loss = self.mu * (x - self.mu / 2)
        low, high = np.append(-math.inf, loss), np.append(loss, math.inf)
        return Cells(low, high, normal_masses(x - self.mu), normal_masses(x))

    def log_moment(self, s: Complexes) -> Complexes:
        return np.asarray(s * (s + 1) * (self.mu**2 / 2))

    def log_decay(self, theta: float, omega: Floats, tail: float) -> Floats:
        return omega**2 * (-self.variance / 2)


@dataclass(frozen=True)
class IntegerNormal(Pair):
    """Gaussian noise on the integers, exp(-x**2 / (2 spread)), against itself shifted by ``shift``."""

    spread: float
    shift: int

    @property
    def exact(self) -> bool:
        return self.spread >= _SMOOTH

    def extent(self, theta: float) -> float:
        return Normal(self.shift / math.sqrt(self.spread)).extent(theta)

    def cells(self, count: int, tail: float) -> Cells:
        v, d = self.spread, self.shift
        far = math.ceil(math.sqrt(v) * reach(tail))
        if v < _ONE_BY_ONE:
            cuts = np.union1d(np.arange(-far, far + 1.0), np.arange(d // 2 - 1, d // 2 + 3.0))
        else:
            cuts = np.rint(np.linspace(-far, max(far, d // 2 + 3), count))
            cuts = np.union1d(cuts, [(d + 1) // 2, d // 2 + 1])
        # Blocks from one cut up to the next, none with loss 0 inside and another.
        first, last = (np.append(-math.inf, cuts), np.append(cuts - 1, math.inf))
        low, high = ((2 * x - d) * (d / (2 * v)) for x in (first, last))
        masses = integer_masses if v >= _ONE_BY_ONE else few_integer_masses
        return Cells(low, high, masses(cuts - d, v), masses(cuts, v))

    def log_moment(self, s: Complexes) -> Complexes | None:
        if not self.exact:
            return None
        # Losses lie on a lattice, so moments repeat in the imaginary direction; within a period Poisson's summation
        # formula leaves the continuous Gaussian's moment and terms below exp(-pi**2 spread / 2).
        a = self.shift / self.spread
        turns = np.rint(s.imag * (a / (2 * math.pi)))
        near = s - 2j * math.pi / a * turns
        return np.asarray((near * (near + 1) * a + 2j * math.pi * turns) * (self.shift / 2))


@dataclass(frozen=True)
class Thinned(Pair):
    """The base with probability ``rate``, else nothing, and which of the two is plain to see."""

    base: Pair
    rate: Fraction

    @property
    def error(self) -> float:
        return self.base.error + ERROR

    @property
    def exact(self) -> bool:
        return self.base.exact

    @property
    def infinite(self) -> float:
        return float(self.rate) * self.base.infinite

    def extent(self, theta: float) -> float:
        return self.base.extent(theta)

    def cells(self, count: int, tail: float) -> Cells:
        return thinned(self.base.cells(count, tail), self.rate)

    def log_moment(self, s: Complexes) -> Complexes | None:
        inner = self.base.log_moment(s)
        if inner is None:
            return None
        return log_sum(np.full(s.shape, math.log(1 - self.rate) + 0j), math.log(self.rate) + inner)


@dataclass(frozen=True)
class Mixed(Pair):
    """The base run on a sample; ``shape`` says what the sample does to its cells."""

    base: Pair
    rate: Fraction
    shape: Callable[[Cells, Fraction], Cells]

    @property
    def exact(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return self.base.error + 8 * ERROR

    def extent(self, theta: float) -> float:
        return self.base.extent(theta)

    def cells(self, count: int, tail: float) -> Cells:
        return self.shape(self.base.cells(count, tail), self.rate)
