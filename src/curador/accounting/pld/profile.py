"""delta as a function of epsilon, from a spectrum, with every error charged to delta.

For t = loss - epsilon, delta is the mean of (1 - exp(-t))+ under P.  Let s = theta + i omega.  Tilted by theta that
function is g(t) = exp(-theta t) (1 - exp(-t))+, with transform 1 / (s (s + 1)).  A sum over the frequencies 2 pi k / W
is the mean of g repeated with period W, which is never below g.  So the upper bound needs no window.

The sum over frequencies ends because a normal loss of variance mu**2 is in it.  If the event has none, one is added.
The upper bound is then that of a strictly worse event.  The lower bound subtracts the most that it can have added,
which is mu**2 exp(mu**2/8) in place of the transform (docs/proofs/pld.md, 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from curador.accounting.pld.cells import UNDERFLOW, Complexes, Floats
from curador.accounting.pld.spectrum import UNIT, Band, Spectrum
from curador.forks import cached_property

_NEGLIGIBLE = 2.0**-70  # terms this small beside the largest are counted as errors instead


@dataclass(frozen=True, eq=False)
class Series:
    """A trigonometric sum in epsilon that is within ``error(epsilon)`` of a mean over the tilted law."""

    terms: Complexes
    turns: Complexes  # -i omega
    fixed_error: float
    drift_error: float  # per unit of epsilon

    def __call__(self, epsilon: float) -> float:
        return float(np.add.reduce((self.terms * np.exp(epsilon * self.turns)).real))

    def error(self, epsilon: float) -> float:
        return self.fixed_error + self.drift_error * abs(epsilon)


def series(spectrum: Spectrum, band: Band, correction: float) -> Series:
    """The sum that inverts a spectrum with weights 1 / (s (s + 1)) - correction, and its error."""
    n = len(spectrum.phi)
    turns, g, beyond, total, per_omega, norm = _weights(band, correction)
    terms = spectrum.phi * g[:n]
    # |phi| <= 1, so an error at one frequency costs at most its weight; products of errors are in the exponential.
    worst = UNIT * (spectrum.rounding + spectrum.drift * band.end) + spectrum.transform
    wrong = UNIT * ((spectrum.rounding + 64) * total + spectrum.drift * per_omega)
    wrong = (wrong + spectrum.transform * norm) * _exp(worst)
    wrong += spectrum.dropped * float(beyond[n]) + _beyond(spectrum, band, correction)
    sizes = np.abs(terms)
    keep = n - int((sizes[::-1] > _NEGLIGIBLE * sizes[0]).argmax())
    wrong += float(sizes[keep:].sum())
    return Series(terms[:keep], turns[:keep], wrong if worst < 1 else math.inf, 2 * UNIT * per_omega)


@lru_cache(maxsize=16)
def _weights(band: Band, correction: float) -> tuple[Complexes, Complexes, Floats, float, float, float]:
    """The frequencies times -i, their weights, the sums of weight sizes from each on, and three norms."""
    omega = band.omega
    s = (band.theta + 1j * omega).astype(np.complex128)
    g: Complexes = (1 / (s * (s + 1)) - correction) * (2 / band.window)
    g[0] /= 2
    size = np.abs(g)
    beyond = np.append(np.cumsum(size[::-1])[::-1], 0.0) * (1 + 2.0**-30)
    return (
        np.asarray(-1j * omega, np.complex128),
        g,
        beyond,
        float(size.sum()),
        float(size @ omega),
        float(np.linalg.norm(g)),
    )


def _beyond(spectrum: Spectrum, band: Band, correction: float) -> float:
    """A bound on all frequencies beyond the band."""
    step, omega = 2 * math.pi / band.window, band.end
    most = 2 / band.window * _exp(spectrum.log_decay - omega**2 * spectrum.variance / 2)
    if correction:  # each is at most exp(-omega step v) of the one before
        return most * (omega**-2 + correction) / -math.expm1(-omega * step * spectrum.variance)
    return most * (omega**-2 + 1 / (omega * step))  # the sum of omega**-2


@dataclass(frozen=True, eq=False)
class Profile:
    """Bounds on delta(epsilon) for an order of the neighbours, tight near the epsilon of the band.

    ``above`` and ``below`` are spectra that include the added normal loss of variance mu**2, if any.
    """

    band: Band
    above: Spectrum
    below: Spectrum
    mu: float

    @cached_property
    def _upper(self) -> Series:
        return series(self.above, self.band, 0.0)

    @cached_property
    def _lower(self) -> Series:
        if self.below is self.above and not self.mu:
            return self._upper
        return series(self.below, self.band, self.mu**2 * math.exp(self.mu**2 / 8))

    def upper(self, epsilon: float) -> float:
        """An upper bound on delta(epsilon); 1 where it cannot be computed."""
        a = self.above
        e = epsilon - 2 * a.mass_error
        mean = self._upper(e) + self._upper.error(e)
        if not mean < math.inf:
            return 1.0
        log = a.log_m - self.band.theta * e + a.mass_error + (math.log(mean) if mean > 0 else -math.inf)
        infinite = (-math.expm1(a.log_finite) + a.lost) * (1 + 2 * a.mass_error) + UNDERFLOW
        value = (infinite + _exp(log)) * (1 + self._careless(a, e))
        return min(1.0, value) if value >= 0 else 1.0

    def lower(self, epsilon: float) -> float:
        """A lower bound on delta(epsilon); 0 where it cannot be computed."""
        b = self.below
        e = epsilon + 2 * b.mass_error
        mean = self._lower(e) - self._lower.error(e) - self._copies_bound(e)
        log = b.log_m - self.band.theta * e - b.mass_error + (math.log(mean) if mean > 0 else -math.inf)
        # Outcomes that count as infinite, taken all together, add their P-mass less exp(epsilon) times their Q-mass.
        least = _exp(epsilon + math.log(b.other)) * (1 + 2**-20) if b.other else 0.0
        infinite = -math.expm1(b.log_finite) * (1 - 2 * b.mass_error) - least
        value = (max(0.0, infinite) + _exp(log)) * (1 - self._careless(b, e))
        return min(1.0, value) if 0 <= value < 1 + _NEGLIGIBLE else 0.0

    def slope(self, epsilon: float) -> float:
        """The rough rate at which log delta falls."""
        a, b = self.upper(epsilon * 0.999), self.upper(epsilon)
        return math.log(a / b) / (epsilon * 0.001) if 0 < b < a else 0.0

    def _careless(self, x: Spectrum, e: float) -> float:
        return 4 * UNIT * (16 + abs(x.log_m) + self.band.theta * abs(e))

    def _copies_bound(self, e: float) -> float:
        """A Chernoff bound on the contribution to the mean of the periodic copies of g, a window W apart."""
        b, w, x = self.band, self.band.window, self.below
        under = _exp(x.log_less - x.log_m + b.less * (e - w / 2))
        over = _exp(x.log_more - x.log_m - b.more * (e + w))
        return 1.001 * (_exp(-b.theta * w / 2) + under + over) / -math.expm1(-b.theta * w)


def _exp(x: float) -> float:
    return math.inf if x >= 700 else math.exp(x)  # and NaN stays NaN
