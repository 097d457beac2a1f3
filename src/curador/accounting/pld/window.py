"""Numerical parameters for a tolerance: the tilt, the window, the frequencies and the cells.

Nothing here needs to be right for the bounds to hold; a poor choice only makes them wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from curador.accounting.pld.cells import Atoms, Floats, connect, merge
from curador.accounting.pld.extremes import CountedPair
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.spectrum import Band, Spectrum

THETAS: Floats = np.append(0.0, np.geomspace(1e-4, 1e8, 97))
SHARE = 1e-10  # of delta: the most that a tail counted as infinite may add to it
_ROUGH = 256  # cells for a first look
_SURE = 30.0  # -log of the mass that the window, and the frequencies beyond the last, may leave out
_MOST_FREQUENCIES = 2**18
_MOST_CELLS = 2**18
_MOST_MU = 8.0
_LEAST_TAIL = 1e-290
# exp(-theta t) (1 - exp(-t)) is at most c = theta**theta / (theta + 1)**(theta + 1).
_LOG_C: Floats = -THETAS[1:] * np.log1p(1 / THETAS[1:]) - np.log1p(THETAS[1:])


class Rough(NamedTuple):
    """The rough cumulants of an event, for each of some thetas, and the P-mass counted as infinite."""

    cumulants: Callable[[Floats], Floats]
    infinite: float


def rough(pair: Pair, tail: float) -> Rough:
    """Take a first look at a pair."""
    if pair.closed:
        return Rough(partial(_by_formula, pair), pair.infinite)
    atoms = pair.sketch(tail) or merge(pair.cells(_ROUGH, tail))
    return Rough(partial(_of_atoms, atoms), atoms.infinite)


def _by_formula(pair: Pair, thetas: Floats) -> Floats:
    logs = pair.log_moment(thetas)  # type: ignore[arg-type]  # formulas take real numbers too, and are faster then
    return np.full(thetas.shape, math.nan) if logs is None else logs.real


def _of_atoms(atoms: Atoms, thetas: Floats) -> Floats:
    if not atoms.losses.size:  # all of it counts as infinite
        return np.full(thetas.shape, -math.inf)
    x = np.outer(thetas, atoms.losses) + np.log(atoms.masses)
    top = x.max(axis=1)
    return np.asarray(top + np.log(np.exp(x - top[:, None]).sum(axis=1)))


class WindowSketch:
    """The cumulants K(theta) = log E[exp(theta * loss); not infinite] of a composition, roughly."""

    def __init__(self, items: Iterable[CountedPair], tail: float) -> None:
        self.tail = tail
        self._parts = [(rough(item.above, tail), item) for item in items]
        finite = (item.summed(np.log1p(-np.minimum(part.infinite, 1 - 1e-16))) for part, item in self._parts)
        log_finite = float(sum(x.sum() for x in finite))
        self.infinite = -math.expm1(log_finite)  # the probability counted as infinite
        self.table = self(THETAS)

    def __call__(self, thetas: Floats) -> Floats:
        return np.asarray(sum(item.summed(part.cumulants(thetas)) for part, item in self._parts))

    def mean(self) -> float:
        """The mean loss."""
        return float((self.table[1] - self.table[0]) / (THETAS[1] - THETAS[0]))


class Aim(NamedTuple):
    """The likely place of the answer: the index in THETAS of a suitable tilt, and the epsilon."""

    at: int
    epsilon: float


def for_delta(table: Floats, log_delta: float) -> Aim:
    """Aim where the cumulants' bound on epsilon, (K + log c - log delta) / theta, is least [CKS20]."""
    bound = (table[1:] + _LOG_C - log_delta) / THETAS[1:]
    i = int(np.argmin(bound))
    return Aim(1 + i, max(0.0, float(bound[i])))


def for_epsilon(table: Floats, epsilon: float) -> Aim:
    """Aim where the cumulants' bound on log delta, K + log c - theta epsilon, is least."""
    return Aim(1 + int(np.argmin(table[1:] + _LOG_C - THETAS[1:] * epsilon)), epsilon)


def look_for_epsilon(items: list[CountedPair], delta: float) -> tuple[WindowSketch, Aim] | None:
    """A sketch and an aim, with as long a tail counted as infinite as hardly changes delta."""
    share = delta * SHARE / sum(item.total for item in items)
    tail = max(_LEAST_TAIL, share)
    while True:
        sketch = WindowSketch(items, tail)
        least = tail <= _LEAST_TAIL
        if sketch.infinite < delta:
            aim = for_delta(sketch.table, math.log(delta - sketch.infinite))
            # Of the part counted as infinite P has little, or Q has little even after a factor of exp(epsilon).
            enough = max(_LEAST_TAIL, share * math.exp(-min(600.0, aim.epsilon)))
            if not math.isfinite(aim.epsilon):
                return None
            if sketch.infinite <= delta * SHARE or tail <= 2 * enough:
                return sketch, aim
            tail = max(enough, tail * 1e-20)
        else:
            tail = max(_LEAST_TAIL, tail * 1e-20)
        if least:
            return None


def look_at_epsilon(items: list[CountedPair], epsilon: float, delta: float) -> tuple[WindowSketch, Aim] | None:
    """A sketch, and the tilt, for delta at a given epsilon, where delta is about the value aimed at."""
    share = SHARE / sum(item.total for item in items) * math.exp(-min(600.0, epsilon))
    sketch = WindowSketch(items, max(_LEAST_TAIL, delta * share))
    aim = for_epsilon(sketch.table, epsilon)
    return (sketch, aim) if np.isfinite(sketch.table[aim.at]) else None


class Sight(NamedTuple):
    """A rough reading of a sum's moments: an epsilon, and whether a smaller tilt would suit it."""

    epsilon: float
    smaller: bool


def seen(sum_: Spectrum, band: Band, log_delta: float) -> Sight:
    """The bound of :func:`for_delta` at the three tilts for which a spectrum has a real moment."""
    tilts = band.theta + band.more, band.theta, band.theta / 2
    moments = sum_.log_more, sum_.log_m, sum_.log_half
    larger, same, half = ((k - _log_cost(t) - log_delta) / t for k, t in zip(moments, tilts, strict=True))
    return Sight(max(0.0, min(larger, same, half)), half < same)


def _log_cost(theta: float) -> float:
    return theta * math.log1p(1 / theta) + math.log1p(theta)


class Window(NamedTuple):
    """A band, the deviation mu of the added normal loss, the number of cells, and the infinite tail."""

    band: Band
    mu: float
    cells: int
    tail: float


def plan_for(items: list[CountedPair], sketch: WindowSketch, aim: Aim, tolerance: float, slope: float = 0.0) -> Window:
    """Make a plan for an answer near ``aim``, where log delta falls at least as fast as ``slope``."""
    at = max(aim.at, int(np.searchsorted(THETAS, min(1.0, 3 / max(1.0, _deviation(sketch.table, aim.at))))))
    theta, e = float(THETAS[at]), aim.epsilon
    mu = min(1.0, math.sqrt(tolerance / 4 / (max(theta, slope) + 1)))  # adds about mu**2 slope / 2 to epsilon
    # Chernoff: all but exp(-_SURE) of the tilted law lies between two bounds, each from the best of some tilts.
    away = np.geomspace(1e-3 * theta, 2 * max(1.0, theta), 25)
    tilts = theta + np.concatenate([-away, [0.0], away])
    rise = sketch(tilts) + mu**2 / 2 * tilts * (tilts + 1)
    rise += _SURE - rise[len(away)]
    up, down = rise[len(away) + 1 :] / away, -rise[: len(away)] / away
    more, less = int(np.argmin(up)), int(np.argmax(down))
    window = 1.05 * max(2 * (e - float(down[less])), float(up[more]) - e, 2 * _SURE / theta)
    step = 2 * math.pi / window
    mu = min(max(mu, math.sqrt(2 * _SURE) / (_MOST_FREQUENCIES * step)), _MOST_MU)
    last = math.sqrt(2 * _SURE) / mu
    # Where the event's own moments vanish soon enough, no normal loss needs to be added.
    omegas = last * np.geomspace(1e-4, 16, 53)
    enough = np.flatnonzero((_decay(items, theta, omegas, sketch.tail) <= -_SURE) & (omegas < _MOST_FREQUENCIES * step))
    if len(enough):
        last, mu = float(omegas[enough[0]]), 0.0
    band = Band(theta, window, min(_MOST_FREQUENCIES, math.ceil(last / step) + 1), float(away[more]), float(away[less]))
    return Window(band, mu, cells_needed(items, band, sketch.tail, tolerance), sketch.tail)


def _deviation(table: Floats, at: int) -> float:
    """The standard deviation of the tilted loss, from the curvature of the cumulants."""
    at = min(at, len(THETAS) - 2)
    (a, b, c), (x, y, z) = THETAS[at - 1 : at + 2], table[at - 1 : at + 2]
    return math.sqrt(max(0.0, 2 * ((z - y) / (c - b) - (y - x) / (b - a)) / (c - a)))


def _decay(items: list[CountedPair], theta: float, omegas: Floats, tail: float) -> Floats:
    """A bound on the logarithm of all moments beyond each omega."""
    total = np.zeros_like(omegas)
    for item in items:
        slowest = item.above.log_decay(theta, omegas, tail)
        if item.below is not item.above:
            slowest = np.maximum(slowest, item.below.log_decay(theta, omegas, tail))
        total += item.summed(slowest)
    return total


def cells_needed(items: Iterable[CountedPair], band: Band, tail: float, tolerance: float) -> int:
    """The number of cells that keep connected dots and merged cells within about half the tolerance.

    Their distance in epsilon is that of their cumulants over theta, and falls as the square of the number of cells.
    """
    gap = 0.0
    for item in items:
        if not item.above.exact(band.tilts, band.end, tail):
            cells = item.above.cells(_ROUGH, tail)
            up, down = (_of_atoms(a, np.array([band.theta]))[0] for a in (connect(cells), merge(cells)))
            gap += item.total * float(up - down) / band.theta
    return int(min(_MOST_CELLS, max(_ROUGH, _ROUGH * math.sqrt(max(0.0, gap) / (tolerance / 2)))))
