"""Sums of independent losses, held as characteristic functions.

The functions are tilted, and known at a few thousand frequencies.

Let s = theta + i omega.  A law of loss L is stored as E[exp(s L)] / E[exp(theta L)] at omega = 0, 2 pi/W, 4 pi/W, ...
Composition multiplies.  The possible errors of rounding, of the fast Fourier transform and of inexact masses are added
up beside it.  Their units are those that :mod:`curador.accounting.pld.profile` turns into delta (docs/proofs/pld.md,
5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from curador.accounting.pld.cells import Atoms, Cells, Complexes, Floats
from curador.accounting.pld.pairs import Pair
from curador.forks import cached_property

UNIT = 2.0**-53  # the unit round-off of doubles
CELL_ERROR = 2.0**-40  # relative, of the mass in a cell: see masses.py
_FEW = 32  # atoms that are transformed one by one
_FFT = 16.0  # relative 2-norm error of a transform of size n: at most this times UNIT times log2(n)


@dataclass(frozen=True)
class Band:
    """The stored moments: the tilt theta, the window W, the number of frequencies, and two Chernoff tilts."""

    theta: float
    window: float
    count: int
    more: float
    less: float

    @cached_property
    def omega(self) -> Floats:
        return np.arange(0.0, self.count) * (2 * math.pi / self.window)

    @cached_property
    def points(self) -> Complexes:
        """The places of moments: theta + more, theta - less, theta / 2, then theta + i omega for each omega."""
        s = np.empty(self.count + 3, np.complex128)
        s[:3] = self.theta + self.more, self.theta - self.less, self.theta / 2
        s.real[3:], s.imag[3:] = self.theta, self.omega
        return s

    @property
    def tilts(self) -> tuple[float, float, float]:
        return self.theta, self.theta + self.more, self.theta - self.less

    @property
    def end(self) -> float:
        """The first frequency beyond the band."""
        return self.count * (2 * math.pi / self.window)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A law of loss under P: its moments on a band, with error bounds."""

    phi: Complexes  # E[exp((theta + i omega) L)] / E[exp(theta L)]
    log_m: float  # log E[exp(theta L); L finite]
    log_more: float  # the same at theta + more
    log_less: float  # the same at theta - less
    log_half: float  # the same at theta / 2, which shows whether a smaller tilt would be better
    log_finite: float  # log P(L finite)
    other: float  # Q-mass of finite losses that are counted as infinite
    lost: float  # P-mass that upper bounds must count as infinite and lower bounds must forget
    mass_error: float  # masses are right up to a factor exp(this), losses up to this
    rounding: float  # |phi - true| <= UNIT (rounding + omega drift) at each frequency
    drift: float
    transform: float  # plus this in 2-norm over all frequencies
    variance: float  # beyond the band, |phi| <= exp(log_decay - omega**2 variance / 2)
    log_decay: float
    dropped: float = 0.0  # |phi| is at most this at frequencies of the band that phi no longer holds

    def __add__(self, other: Spectrum) -> Spectrum:
        n = min(len(self.phi), len(other.phi))
        return Spectrum(
            self.phi[:n] * other.phi[:n],
            self.log_m + other.log_m,
            self.log_more + other.log_more,
            self.log_less + other.log_less,
            self.log_half + other.log_half,
            self.log_finite + other.log_finite,
            self.other + other.other,
            self.lost + other.lost,
            self.mass_error + other.mass_error,
            self.rounding + other.rounding + 4,
            self.drift + other.drift,
            self.transform + other.transform,
            self.variance + other.variance,
            self.log_decay + other.log_decay,
            self.dropped if len(self.phi) == n else other.dropped,
        )

    def times(self, count: int) -> Spectrum:
        """Repeat this loss ``count`` times, independently."""
        if count == 1:
            return self
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = np.where(self.phi == 0, 0.0, np.exp(count * np.log(self.phi)))
        return Spectrum(
            powers,
            count * self.log_m,
            count * self.log_more,
            count * self.log_less,
            count * self.log_half,
            count * self.log_finite,
            count * self.other,
            count * self.lost,
            count * self.mass_error,
            count * (self.rounding + 8),
            count * self.drift,
            count * self.transform,
            count * self.variance,
            count * self.log_decay,
            self.dropped,
        )

    def trimmed(self, band: Band) -> Spectrum:
        """Drop the last frequencies when no mass is left there; moments of a sum only get smaller."""
        if abs(self.phi[-1]) > UNIT**2:
            return self
        size = np.abs(self.phi)
        keep = len(size) - int(np.argmax(size[::-1] > UNIT**2))
        wrong = UNIT * (self.rounding + self.drift * band.end) + self.transform
        return replace(self, phi=self.phi[:keep], dropped=max(self.dropped, UNIT**2 + wrong))


def log_rest(infinite: float) -> float:
    """The log-probability of the rest."""
    return math.log1p(-infinite) if infinite < 1 else -math.inf


def nothing(band: Band) -> Spectrum:
    """The spectrum of a loss that is always 0."""
    return Spectrum(np.ones(band.count, np.complex128), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def of_pair(
    pair: Pair, band: Band, cells: int, tail: float, form: Callable[[Cells], Atoms], kept: int | None = None
) -> Spectrum:
    """The spectrum of a pair: by formula, by quadrature, or else of its cells made into atoms by ``form``.

    Only the first ``kept`` frequencies of the band may be needed: those that a sum, to which this is added, still has.
    """
    found = of_formula(pair, band, tail, kept) or of_nodes(pair, band, tail, kept)
    return found or of_atoms(form(pair.cells(cells, tail)), band, pair.error + CELL_ERROR, kept)


def of_stack(pair: Pair, counts: NDArray[np.int64], band: Band, tail: float, kept: int | None = None) -> Spectrum:
    """The spectrum of stacked pairs with counts: all have one formula, and moments multiply."""
    found = pair.log_moment(band.points[:4])
    assert found is not None, "stacked pairs are closed"
    logs = found.real
    omega = band.omega[:kept]
    phi = pair.tilted(band.theta, omega)
    if counts.max() == 1:
        product = np.multiply.reduce(phi, axis=0)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            product = np.where((phi == 0).any(axis=0), 0.0, np.exp((counts[:, None] * np.log(phi)).sum(axis=0)))
    log_more, log_less, log_half, log_m = (counts @ logs).tolist()

    def summed(x: object) -> float:
        return float((counts * np.ravel(np.broadcast_to(np.asarray(x, np.float64), (len(counts), 1)))).sum())

    extent = summed(pair.extent(band.theta))
    with np.errstate(divide="ignore"):
        log_finite = summed(np.log1p(-np.asarray(pair.infinite)))
    decay = pair.log_decay(band.theta, np.array([band.end]), tail)
    return Spectrum(
        product * np.exp(1j * summed(pair.phase) * omega),
        log_m,
        log_more,
        log_less,
        log_half,
        log_finite,
        other=0.0,
        lost=0.0,
        mass_error=summed(pair.error),
        rounding=summed(76.0) + 8 * float(counts @ np.abs(logs[:, 3])),
        drift=8 * extent,
        transform=0.0,
        variance=0.0,
        log_decay=summed(decay if decay.ndim > 1 else decay[0]),
    )


def of_formula(pair: Pair, band: Band, tail: float, kept: int | None = None) -> Spectrum | None:
    """The spectrum of a pair whose moments have a closed form."""
    logs = pair.log_moment(band.points if kept is None else band.points[: kept + 3])
    if logs is None:
        return None
    more, less, half, log_m = logs[:4].real.tolist()
    extent = pair.extent(band.theta)
    return Spectrum(
        np.exp(logs[3:] - log_m),
        log_m,
        more,
        less,
        half,
        log_rest(pair.infinite),
        other=0.0,
        lost=0.0,
        mass_error=pair.error,
        rounding=64 + 8 * abs(log_m),
        drift=8 * extent,
        transform=0.0,
        variance=pair.variance,
        log_decay=0.0 if pair.variance else beyond(pair, band, tail),
    )


def of_nodes(pair: Pair, band: Band, tail: float, kept: int | None = None) -> Spectrum | None:
    """The spectrum of a pair whose moments have a quadrature."""
    end = band.end if kept is None else band.omega[kept - 1]
    atoms = pair.nodes(band.tilts, end, tail)
    if atoms is None:
        return None
    found = of_atoms(atoms, band, pair.error, kept)
    # Nodes are where Gaussian weights of up to exp(-200) count, and depend on parameters that were rounded.
    return replace(
        found,
        rounding=found.rounding + 512 + 8 * (band.theta + 1) * pair.extent(band.theta),
        log_decay=beyond(pair, band, tail),
    )


def beyond(pair: Pair, band: Band, tail: float) -> float:
    return float(pair.log_decay(band.theta, np.array([band.end]), tail)[0])


def of_atoms(atoms: Atoms, band: Band, error: float, kept: int | None = None) -> Spectrum:
    """The spectrum of a law with atoms only, whose masses and losses are right up to ``error``."""
    if not len(atoms.losses):
        empty = replace(nothing(band), log_m=-math.inf, log_finite=log_rest(atoms.infinite), mass_error=error)
        return replace(empty, other=atoms.other, lost=atoms.lost)
    logs = np.log(atoms.masses)

    def log_moment(theta: float) -> tuple[float, Floats]:
        x = logs + theta * atoms.losses
        top = float(x.max())
        w = np.exp(x - top)
        return top + math.log(w.sum()), w / w.sum()

    log_m, weights = log_moment(band.theta)
    extent = float(np.abs(atoms.losses).max())
    phi, transform = transformed(atoms.losses, weights, band if kept is None else replace(band, count=kept))
    return Spectrum(
        phi,
        log_m,
        log_moment(band.theta + band.more)[0],
        log_moment(band.theta - band.less)[0],
        log_moment(band.theta / 2)[0],
        log_rest(atoms.infinite),
        other=atoms.other,
        lost=atoms.lost,
        mass_error=error,
        rounding=64 + 8 * (abs(log_m) + band.theta * extent),
        drift=4 * extent,
        transform=transform,
        variance=0.0,
        log_decay=0.0,
    )


def fast_length(least: int) -> int:
    """The least number from ``least`` on whose only prime factors are 2, 3 and 5.

    >>> fast_length(7), fast_length(31)
    (8, 32)
    """
    best = 1 << max(0, least - 1).bit_length()
    five = 1
    while five < best:
        odd = five
        while odd < best:
            best = min(best, odd << max(0, -(-least // odd) - 1).bit_length())
            odd *= 3
        five *= 5
    return best


def transformed(losses: Floats, weights: Floats, band: Band) -> tuple[Complexes, float]:
    """The sums of weights * exp(i omega losses) over the atoms, and a bound on their error in 2-norm.

    Each loss is a grid point plus a rest of at most half a step.  exp(i omega rest) is expanded in powers of the rest,
    and each power is one real transform.  As omega * rest <= pi/2, the remainder after some twenty powers is
    negligible.
    """
    if len(losses) <= _FEW:
        return weights @ np.exp(1j * np.outer(losses, band.omega)), 0.0
    n = fast_length(2 * band.count)
    position = losses * (n / band.window)
    index = np.rint(position)
    rest = 2 * (position - index)  # in half steps
    index = np.mod(index, n).astype(np.int64)
    half = np.arange(band.count) * (math.pi / n)  # omega times half a step
    phi = np.zeros(band.count, np.complex128)
    moment, factor, bound, j = weights, np.ones(band.count, np.complex128), 1.0, 0
    while bound > UNIT:
        phi += np.conj(np.fft.rfft(np.bincount(index, moment, n))[: band.count]) * factor
        j += 1
        moment, factor, bound = moment * rest, factor * (1j * half / j), bound * (math.pi / 2) / j
    norm = float(np.linalg.norm(np.bincount(index, weights, n)))
    return phi, math.exp(math.pi / 2) * _FFT * UNIT * math.log2(n) * math.sqrt(n) * norm
