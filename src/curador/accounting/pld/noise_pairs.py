"""The worst pair of output laws that each kind of noise allows, laid out by privacy loss.

Every pair here has the same law of loss in both orders of two neighbours; sampling is what makes them differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from curador.accounting.pld.cells import Cells, Complexes, Floats, atoms, join
from curador.accounting.pld.masses import few_integer_masses, integer_masses, normal_masses, reach
from curador.accounting.pld.pairs import ERROR, Ends, Pair, log_sum

_ONE_BY_ONE = 2.0**20  # variances below this have few enough integers for a cell each
_SMOOTH = 25.0  # variances from here have the moments of the continuous Gaussian, period by period


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
        gaps = np.expm1(-z * self.step) if self.step else -z
        with np.errstate(divide="ignore"):
            total = np.log(np.expm1(-z * (2 * self.reach + self.step)) / gaps)
        return np.asarray(self.level + z * self.reach + total)

    def cells(self, count: int) -> Cells:
        if not self.step:
            half = np.linspace(0.0, self.reach, count // 2 + 1)
            edges = np.append(-half[:0:-1], half)
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

    def ends(self) -> Ends:
        if self.edge_mass or not self.ramp:
            return Ends(self.edge, self.edge_mass, self.infinite)
        return Ends(self.ramp.reach, 0.0, self.infinite)

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
        # Atoms keep their size; the integral of exp(z l) over an interval is at most the sum of its ends over |z|.
        with np.errstate(divide="ignore"):
            atoms = np.log(self.edge_mass) + np.logaddexp(theta * self.edge, -(1 + theta) * self.edge)
            z = theta + 0.5
            ends = self.ramp.level + np.logaddexp(z * self.ramp.reach, -z * self.ramp.reach)
        return np.asarray(np.minimum(0.0, np.logaddexp(atoms - log_m, ends - log_m - np.log(omega))))


@dataclass(frozen=True)
class Normal(Pair):
    """N(mu, 1) against N(0, 1): under P the loss is normal with mean mu**2/2 and variance mu**2."""

    mu: float

    @property
    def variance(self) -> float:
        return self.mu**2

    def extent(self, theta: float) -> float:
        return (abs(theta) + 1) * self.mu**2 + 9 * self.mu

    def ends(self) -> Ends:
        return Ends(math.inf, 0.0, 0.0)

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
    def closed(self) -> bool:
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
        if not self.closed:
            return None
        # Losses lie on a lattice, so moments repeat in the imaginary direction; within a period Poisson's summation
        # formula leaves the continuous Gaussian's moment and terms below exp(-pi**2 spread / 2).
        a = self.shift / self.spread
        turns = np.rint(s.imag * (a / (2 * math.pi)))
        near = s - 2j * math.pi / a * turns
        return np.asarray((near * (near + 1) * a + 2j * math.pi * turns) * (self.shift / 2))
