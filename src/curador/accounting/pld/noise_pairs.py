"""The worst pair of output laws that each kind of noise allows, laid out by privacy loss.

Every pair here has the same law of loss in both orders of two neighbours; sampling makes them differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from curador.accounting.pld.cells import Cells, Complexes, Floats, atoms, join
from curador.accounting.pld.pairs import ERROR, Ends, Pair, some

_ONE_BY_ONE = 2.0**20  # variances below this have few enough integers for a cell each
_NARROW = 0.5  # cells narrower than this, in units of the noise, are summed by Taylor's series
_COUNTED = 2**52  # integers up to here are doubles, and so are their halves
_ROOT_TAU = math.sqrt(2 * math.pi)
_BY_ONE = 2**14  # the most probabilities computed one by one
_TAIL = 30.0
_SMOOTH = 25.0  # variances from here have the moments of the continuous Gaussian, period by period


@dataclass(frozen=True)
class Ramp:
    """P-mass exp(level + loss/2) on [-reach, reach]: a density, or on points ``step`` apart."""

    reach: float
    level: float
    step: float = 0.0

    def moment(self, z: Complexes | float, edge: float) -> Complexes:
        """Integrate exp(z * loss - loss/2) over exp((z - 1/2) edge), for z not 0 and of real part >= 0."""
        gaps = np.expm1(-z * self.step) if some(self.step) else -z
        whole = np.expm1(-z * (2 * self.reach + self.step)) / gaps
        return np.asarray(np.exp(self.level + edge / 2 + z * (self.reach - edge)) * whole)

    def cells(self, count: int) -> Cells:
        if not self.step:
            half = np.linspace(0.0, self.reach, count // 2 + 1)
            edges = np.append(-half[:0:-1], half)
            return self._blocks(edges[:-1], edges[1:], 2 * -np.expm1(-np.diff(edges) / 2))
        n = round(2 * self.reach / self.step) + 1
        cuts = np.rint(np.linspace(0.0, float(n), min(n, 2 * (count // 2)) + 1))
        cuts = np.unique(np.concatenate([cuts, [float(n // 2), float((n + 1) // 2)]]))
        size = np.diff(cuts)
        low = cuts[:-1] * self.step - self.reach
        high = low + (size - 1) * self.step
        if n > _COUNTED:  # the middle is known only to rounding, which pairs count as an error of losses
            low, high = (np.where(np.abs(x) < 2.0**-50 * self.reach, 0.0, x) for x in (low, high))
        shrink = np.expm1(-size * self.step / 2) / math.expm1(-self.step / 2)
        return self._blocks(low, high, shrink)

    def _blocks(self, low: Floats, high: Floats, shrink: Floats) -> Cells:
        return Cells(low, high, np.exp(self.level + high / 2) * shrink, np.exp(self.level - low / 2) * shrink)


@dataclass(frozen=True)
class Laplacian(Pair):
    """An atom at each end of the losses, a ramp between, and perhaps a part beyond the other law's reach."""

    edge: float
    edge_mass: float
    ramp: Ramp | None
    infinite: float = 0.0

    @property
    def error(self) -> float:
        return ERROR * (1 + self.edge)

    @property
    def formula(self) -> tuple[object, ...]:
        kind = self.ramp and (self.ramp.reach == self.edge, bool(self.ramp.reach), bool(self.ramp.step))
        return bool(self.edge_mass), bool(self.infinite), kind

    def extent(self, theta: float) -> float:
        return self.edge

    def ends(self) -> Ends:
        if some(self.edge_mass) or not self.ramp:
            return Ends(self.edge, self.edge_mass, self.infinite)
        return Ends(self.ramp.reach, 0.0, self.infinite)

    def cells(self, count: int, tail: float) -> Cells:
        masses = [self.edge_mass, self.edge_mass * math.exp(-self.edge)]
        ends = atoms([self.edge, -self.edge], masses, masses[::-1], self.infinite, self.infinite)
        return join(ends, self.ramp.cells(count)) if self.ramp else ends

    def log_moment(self, s: Complexes) -> Complexes:
        z = s + 0.5
        if not z.real.min() > 0:
            z = np.where(z.real < 0, -z, z)  # masses are exp(loss/2) times an even law, so moments are even in z
            z = np.where(z == 0, 1e-300, z)
        with np.errstate(divide="ignore"):
            return np.asarray((z - 0.5) * self.phase + np.log(self._rest(z)))

    def _rest(self, z: Complexes | float) -> Complexes:
        """The moment over exp((z - 1/2) phase), z = s + 1/2 of real part >= 0: each term is at most its mass."""
        if not self.ramp:
            return np.asarray(self.edge_mass * (1 + np.exp(-2 * z * self.edge)))
        if some(self.ramp.step) or some(self.ramp.reach != self.edge):
            ends = self.edge_mass * (1 + np.exp(-2 * z * self.edge)) if some(self.edge_mass) else 0.0
            return np.asarray(ends + self.ramp.moment(z, self.phase))
        gone = -np.expm1(-2 * z * self.edge)  # one exponential for both
        return np.asarray(self.edge_mass * (2 - gone) + np.exp(self.ramp.level + self.edge / 2) * gone / z)

    @property
    def phase(self) -> float:
        return self.ramp.reach if self.ramp and not some(self.edge_mass) else self.edge

    def tilted(self, theta: float, omega: Floats) -> Complexes:
        z = np.empty(len(omega), np.complex128)
        z.real, z.imag = theta + 0.5, omega
        return np.asarray(self._rest(z) / self._rest(theta + 0.5))

    def log_decay(self, theta: float, omega: Floats, tail: float) -> Floats:
        if not self.ramp or some(self.ramp.step):
            return np.zeros_like(omega)
        # Atoms keep their size; the integral of exp(z l) over an interval is at most the sum of its ends over |z|.
        z, reach = theta + 0.5, self.ramp.reach
        atoms = self.edge_mass * (1 + np.exp(-2 * z * self.edge))
        ends = np.exp(self.ramp.level + reach / 2 + theta * (reach - self.phase)) * (1 + np.exp(-2 * z * reach))
        return np.asarray(np.minimum(0.0, np.log((atoms + ends / omega) / self._rest(z))))


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
        return bool(np.all(self.spread >= _SMOOTH))

    @property
    def formula(self) -> tuple[object, ...] | None:
        return () if self.closed else None

    def extent(self, theta: float) -> float:
        return Normal(self.shift / np.sqrt(self.spread)).extent(theta)

    def ends(self) -> Ends:
        return Ends(math.inf, 0.0, 0.0)

    def cells(self, count: int, tail: float) -> Cells:
        v, d = self.spread, self.shift if self.shift < _COUNTED else float(self.shift)
        far = float(math.ceil(math.sqrt(v) * reach(tail)))
        if v < _ONE_BY_ONE:
            cuts = np.union1d(np.arange(-far, far + 1.0), np.arange(d // 2 - 1, d // 2 + 3.0))
        else:
            cuts = np.rint(np.linspace(-far, max(far, d // 2 + 3), count))
            cuts = np.union1d(cuts, [(d + 1) // 2, d // 2 + 1])
        # Blocks from one cut up to the next, none with loss 0 inside and another loss.
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

    def tilted(self, theta: float, omega: Floats) -> Complexes:
        logs = self.log_moment((theta + 1j * omega).astype(np.complex128))
        start = self.log_moment(np.array([theta + 0j]))
        return np.asarray(np.exp(logs - start))  # type: ignore[operator]  # both are formulas here


# ---- probabilities of noise between given edges, each to a relative error below 2**-40 --------------------------


def reach(tail: float) -> float:
    """The number of standard deviations that leave about ``tail`` outside; at most the range of doubles.

    >>> round(reach(1e-20), 2)
    9.26
    """
    return -NormalDist().inv_cdf(max(tail, math.exp(-680.0)))


_ROOT_2 = math.sqrt(2)


def ndtr(x: Floats) -> Floats:
    """The standard normal distribution function, by the C library.

    Scipy takes a quarter of a second to load.

    >>> ndtr(np.array([-40.0, 0.0])).tolist()
    [0.0, 0.5]
    """
    if x.size > _BY_ONE:
        from scipy import special

        return np.asarray(special.ndtr(x))
    return np.array([math.erfc(y) for y in (x / -_ROOT_2).ravel().tolist()]).reshape(x.shape) / 2


def log_ndtr(x: Floats) -> Floats:
    """The logarithm of :func:`ndtr`.

    It is right to a few units in the last place of 1 or of itself, whichever is larger.

    >>> log_ndtr(np.array([-40.0, 0.0, 40.0])).round(6).tolist()
    [-804.608442, -0.693147, 0.0]
    """
    found = np.zeros_like(x)
    found[np.isnan(x)] = math.nan
    middle, low = np.abs(x) <= _TAIL, x < -_TAIL
    if middle.any():
        near = x[middle]
        other = ndtr(-np.abs(near))
        found[middle] = np.where(near > 0, np.log1p(-other), np.log(other))
    if low.any():
        # Mills' ratio by its asymptotic series, whose next term is below 2**-54 from here on.
        far = x[low]
        t = 1 / (far * far)
        series = -t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t * (1 - 9 * t * (1 - 11 * t)))))
        found[low] = np.log1p(series) - far * far / 2 - np.log(-far) - 0.5 * math.log(2 * math.pi)
    return found


def normal_masses(x: Floats) -> Floats:
    """The standard normal mass below x[0], between consecutive edges, and above x[-1].

    Narrow cells use Taylor's series of the density about the middle, whose terms are Hermite polynomials: the
    difference of two distribution functions would cancel.  Wide cells do not cancel.

    >>> normal_masses(np.array([0.0]))
    array([0.5, 0.5])
    """
    width, m = np.diff(x), (x[1:] + x[:-1]) / 2
    below = ndtr(-np.abs(x))
    wide = np.where(
        x[1:] <= 0, below[1:] - below[:-1], np.where(x[:-1] >= 0, below[:-1] - below[1:], 1 - below[1:] - below[:-1])
    )
    with np.errstate(over="ignore", invalid="ignore"):
        h, m2 = width * width / 4, m * m
        he4 = (m2 - 6) * m2 + 3
        he6 = ((m2 - 15) * m2 + 45) * m2 - 15
        he8 = (((m2 - 28) * m2 + 210) * m2 - 420) * m2 + 105
        series = 1 + h * ((m2 - 1) / 6 + h * (he4 / 120 + h * (he6 / 5040 + h * he8 / 362880)))
        narrow = width * np.exp(-m2 / 2) / _ROOT_TAU * series
    inner = np.where(width * (np.abs(m) + 2) <= _NARROW, narrow, wide)
    return np.concatenate([ndtr(x[:1]), inner, ndtr(-x[-1:])])


def integer_masses(cuts: Floats, spread: float) -> Floats:
    """The masses of Gaussian noise on the integers below the first cut, between cuts, and from the last.

    Assumes: a spread of at least 2**20.  The sum over a block is the integral between half-integers plus two terms of
        Euler and Maclaurin's series for midpoints.  The next term is below 2**-42 of it.
    """
    z = (cuts - 0.5) / math.sqrt(spread)
    terms = z * np.exp(-z * z / 2) * (1 / 24 - 7 * (z * z - 3) / (5760 * spread)) / (spread * _ROOT_TAU)
    return normal_masses(z) + np.diff(terms, prepend=0.0, append=0.0)


def few_integer_masses(cuts: Floats, spread: float) -> Floats:
    """The masses of :func:`integer_masses` for a smaller spread, integer by integer.

    Beyond 39 deviations all masses are below the doubles.

    >>> few_integer_masses(np.array([0.0, 1.0]), 1.0).round(6)
    array([0.300529, 0.398942, 0.300529])
    """
    far = math.ceil(39 * math.sqrt(spread))
    x = np.arange(-far, far + 1.0)
    weights = np.exp(-(x**2) / (2 * spread))
    weights /= weights.sum()
    where = np.concatenate([[0], np.clip(cuts + far, 0, len(x)).astype(np.int64), [len(x)]])
    # Sums over blocks one by one: differences of cumulated sums would cancel in the tails.
    sums = np.add.reduceat(np.append(weights, 0.0), where[:-1])
    return np.where(where[1:] > where[:-1], sums, 0.0)
