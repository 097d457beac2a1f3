"""Choosing where to look: the tilt, the window, the frequencies and the cells for a wanted tolerance.

Nothing here needs to be right for the bounds to hold; a poor choice only makes them wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from curador.accounting.pld.cells import Atoms, Floats, connect, merge
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.spectrum import Band

SKETCH = 256  # cells for a first look
_POSITIVE = np.geomspace(1e-4, 1e8, 145)
_FIRST = len(_POSITIVE) + 1
THETAS: Floats = np.concatenate([-_POSITIVE[::-1], [0.0], _POSITIVE])
_LAST = len(THETAS) - 2
# exp(-theta t) (1 - exp(-t)) is at most c = theta**theta / (theta + 1)**(theta + 1).
_LOG_C: Floats = -_POSITIVE * np.log1p(1 / _POSITIVE) - np.log1p(_POSITIVE)
_SURE = 30.0  # -log of what the window, and the frequencies beyond the last, may leave out
_MOST = 2**20  # frequencies, and cells


def cumulants(pair: Pair, tail: float) -> tuple[Floats, float]:
    """log of the mean of exp(theta * loss) for every theta in THETAS, roughly, and the mass counted as infinite."""
    logs = pair.log_moment(THETAS.astype(np.complex128))
    if logs is not None:
        return logs.real, pair.infinite
    atoms = merge(pair.cells(SKETCH, tail))
    return _log_moments(atoms, THETAS), atoms.infinite


def _log_moments(atoms: Atoms, thetas: Floats) -> Floats:
    x = np.outer(thetas, atoms.losses) + np.log(atoms.masses)
    top = x.max(axis=1)
    return np.asarray(top + np.log(np.exp(x - top[:, None]).sum(axis=1)))


class Aim(NamedTuple):
    """Where the answer is likely to be: the place in THETAS of the tilt that suits it, and the epsilon."""

    at: int
    epsilon: float


def for_delta(k: Floats, log_delta: float) -> Aim:
    """Where the bound on epsilon that the cumulants give, (K + log c - log delta) / theta, is least [CKS20]."""
    bound = (k[_FIRST:] + _LOG_C - log_delta) / THETAS[_FIRST:]
    i = int(np.argmin(bound))
    return Aim(_FIRST + i, max(0.0, float(bound[i])))


def for_epsilon(k: Floats, epsilon: float) -> Aim:
    """Where the same bound on log delta, K + log c - theta epsilon, is least."""
    return Aim(_FIRST + int(np.argmin(k[_FIRST:] + _LOG_C - THETAS[_FIRST:] * epsilon)), epsilon)


def log_chernoff(k: Floats, aim: Aim) -> float:
    """That bound on log delta."""
    return float(k[aim.at] - THETAS[aim.at] * aim.epsilon)


def mean(k: Floats) -> float:
    """The mean loss, from the slope of the cumulants at 0."""
    return float((k[_FIRST] - k[_FIRST - 2]) / (THETAS[_FIRST] - THETAS[_FIRST - 2]))


class Plan(NamedTuple):
    """A band, the deviation mu of the normal loss to be added, and how many cells."""

    band: Band
    mu: float
    cells: int


def band_for(k: Floats, aim: Aim, decay: Callable[[float, Floats], Floats], tolerance: float) -> tuple[Band, float]:
    """A band for an answer near ``aim``, given the cumulants and how fast the moments fall off; and mu."""
    at = min(aim.at, _LAST)
    at = max(at, int(np.searchsorted(THETAS, min(1.0, 3 / max(_deviation(k, at), 1.0)))))  # or the window is too wide
    theta = float(THETAS[at])
    mu = min(1.0, math.sqrt(tolerance / 4 / (theta + 1)))
    k = k + mu**2 / 2 * THETAS * (THETAS + 1)
    # Chernoff: all but exp(-_SURE) of the tilted law lies above the bounds left of theta and below those right of it.
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = (k - k[at] + _SURE) / (THETAS - theta)
    far = np.abs(THETAS) > 4 * max(1.0, theta)  # moments at tilts so far off are costly, and gain little
    less = int(np.argmax(np.where(far, -math.inf, bounds)[:at]))
    more = at + 1 + int(np.argmin(np.where(far, math.inf, bounds)[at + 1 :]))
    e = aim.epsilon
    window = 1.05 * max(2 * (e - float(bounds[less])), float(bounds[more]) - e, 2 * _SURE / theta)
    step = 2 * math.pi / window
    mu = max(mu, math.sqrt(2 * _SURE) / (_MOST * step))
    last = math.sqrt(2 * _SURE) / mu
    # Where the event's own moments vanish soon enough, no normal loss needs to be added.
    omegas = last * np.geomspace(1e-4, 16, 105)
    enough = np.flatnonzero((decay(theta, omegas) <= -_SURE) & (omegas < _MOST * step))
    if len(enough):
        last, mu = float(omegas[enough[0]]), 0.0
    band = Band(theta, window, math.ceil(last / step) + 1, float(THETAS[more]) - theta, theta - float(THETAS[less]))
    return band, mu


def _deviation(k: Floats, at: int) -> float:
    """The standard deviation of the tilted loss, from the curvature of the cumulants."""
    (a, b, c), (x, y, z) = THETAS[at - 1 : at + 2], k[at - 1 : at + 2]
    return math.sqrt(max(0.0, 2 * ((z - y) / (c - b) - (y - x) / (b - a)) / (c - a)))


def cells_needed(pairs: Iterable[tuple[Pair, int]], theta: float, tail: float, tolerance: float) -> int:
    """How many cells keep connected dots and merged cells within about half the tolerance of each other.

    Their distance in epsilon is that of their cumulants over theta, and falls as the square of the number of cells.
    """
    gap = 0.0
    for pair, count in pairs:
        cells = pair.cells(SKETCH, tail)
        up, down = (_log_moments(a, np.array([theta]))[0] for a in (connect(cells), merge(cells)))
        gap += count * float(up - down) / theta
    return int(min(_MOST, max(SKETCH, SKETCH * math.sqrt(max(0.0, gap) / (tolerance / 2)))))
