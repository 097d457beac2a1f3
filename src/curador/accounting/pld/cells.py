"""A pair of laws cut into intervals of privacy loss, and the effect of sampling on them.

In a cell the loss log(dP/dQ) lies between ``low`` and ``high``; P puts mass ``p`` there and Q puts ``q``.  A cell with
low = high is an atom.  An atom at plus infinity holds outputs that Q never gives, one at minus infinity those that P
never gives.  Nothing else about a pair is needed to bound its privacy loss from both sides (docs/proofs/pld.md, 2 and
3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

UNDERFLOW = 2.0**-1000
"""An upper bound on all the mass that underflow can lose."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Intervals of loss and the mass of P and of Q in each; together they hold all of both laws."""

    low: Floats
    high: Floats
    p: Floats
    q: Floats


def atoms(
    losses: Sequence[float], p: Sequence[float], q: Sequence[float], infinite: float = 0.0, missing: float = 0.0
) -> Cells:
    """Make cells of one loss each.

    ``infinite`` is P's mass where Q has none, ``missing`` Q's where P has none.

    >>> atoms([1.0, -1.0], [0.73, 0.27], [0.27, 0.73]).low
    array([  1.,  -1.,  inf, -inf])
    """
    where = np.array([*losses, math.inf, -math.inf])
    return Cells(where, where, np.array([*p, infinite, 0.0]), np.array([*q, 0.0, missing]))


def join(*parts: Cells) -> Cells:
    """Join all of these cells."""
    return Cells(*(np.concatenate([getattr(c, name) for c in parts]) for name in ("low", "high", "p", "q")))


def thinned(cells: Cells, rate: Fraction) -> Cells:
    """Release nothing with probability 1 - rate, and show that: the loss is then 0."""
    f, rest = float(rate), float(1 - rate)
    return join(atoms([0.0], [rest], [rest]), Cells(cells.low, cells.high, f * cells.p, f * cells.q))


def sampled(cells: Cells, rate: Fraction) -> Cells:
    """Replace P by (1 - rate) Q + rate P and keep Q: the unit took part with probability ``rate``.

    >>> c = sampled(atoms([1.0], [1.0], [math.exp(-1)]), Fraction(1, 10))
    >>> bool(abs(c.low[0] - math.log(0.9 + 0.1 * math.e)) < 1e-15)
    True
    """
    mixed = float(rate) * cells.p + float(1 - rate) * cells.q
    # A cell without a lower end keeps none, so that it is unlikely and endless in the other order too.
    low = np.where((cells.low == -math.inf) & (cells.high > -math.inf), -math.inf, diluted(cells.low, rate))
    return Cells(low, diluted(cells.high, rate), mixed, cells.q)


def diluted(loss: Floats, rate: Fraction) -> Floats:
    """Compute log(1 - rate + rate e**loss), to a few units in the last place.

    Losses may have any size and sign.
    """
    f, rest = float(rate), float(1 - rate)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        near = np.log1p(f * np.expm1(np.clip(loss, -1.0, 1.0)))
        below = np.log(rest + f * np.exp(np.minimum(loss, -1.0)))
        above = loss + np.log(f + rest * np.exp(-np.maximum(loss, 1.0)))
    return np.where(loss > 1.0, above, np.where(loss < -1.0, below, near))


def swapped(cells: Cells) -> Cells:
    """Exchange P and Q, so that every loss changes its sign."""
    return Cells(-cells.high, -cells.low, cells.q, cells.p)


def mirrored(cells: Cells) -> Cells:
    """Keep the pair where the loss is above 0, and replace it by its exchange where the loss is below.

    Assumes: no cell has 0 strictly inside.
    """
    above = cells.low >= 0
    above &= cells.high > 0
    kept = Cells(cells.low[above], cells.high[above], cells.p[above], cells.q[above])
    rest = [max(0.0, 1.0 - float(kept.p.sum() + kept.q.sum()))]
    return join(kept, swapped(kept), atoms([0.0], rest, rest))


class Atoms(NamedTuple):
    """A law of the loss under P that has only atoms, with the mass counted as an infinite loss."""

    losses: Floats
    masses: Floats
    infinite: float  # P-mass of an infinite loss
    other: float = 0.0  # Q's mass there, if the loss is really finite
    lost: float = 0.0  # P-mass that no atom holds


def connect(cells: Cells) -> Atoms:
    """Split every cell between its two ends, keeping the mass of P and of Q.

    The result dominates this pair.

    Guarantee: for every epsilon, delta is at least that of the cells [DGKKM22, "connect the dots"].  Unbounded cells
        count as an infinite loss.

    >>> connect(Cells(*map(np.array, ([0.0], [1.0], [0.6], [0.4])))).losses
    array([0., 1.])
    """
    low, high, p, q = cells.low, cells.high, cells.p, cells.q
    with np.errstate(all="ignore"):
        # a + b = p and a exp(-low) + b exp(-high) = q
        b = (p - q * np.exp(low)) / -np.expm1(low - high)
    # Cells without width, lower end or a number are put at the upper end.
    b = np.where((low == high) | (low == -math.inf) | np.isnan(b), p, np.clip(b, 0.0, p))
    b = np.where(high == math.inf, p, b)
    return _atoms(np.concatenate([low, high]), np.concatenate([p - b, b]), cells)


def merge(cells: Cells) -> Atoms:
    """Forget where in its cell a loss was: one atom at log(p/q) each, a pair that this one dominates.

    Guarantee: for every epsilon, delta is at most that of the cells, by data processing.  Unbounded cells count as an
        infinite loss, so subtract exp(epsilon) times ``other`` from delta.

    >>> bool(abs(merge(Cells(*map(np.array, ([0.0], [1.0], [0.6], [0.4])))).losses[0] - math.log(1.5)) < 1e-15)
    True
    """
    with np.errstate(all="ignore"):
        middle = np.log(cells.p) - np.log(cells.q)
    # Where a mass has underflowed the ratio is meaningless; the lower end is always safe.
    where = np.where(np.isfinite(middle), np.clip(middle, cells.low, cells.high), cells.low)
    return _atoms(np.where(cells.high == math.inf, math.inf, where), cells.p, cells)


def _atoms(losses: Floats, masses: Floats, cells: Cells) -> Atoms:
    endless = cells.high == math.inf
    keep = (masses > 0) & np.isfinite(losses)
    other = float(cells.q[endless].sum())
    if bool((endless & (cells.low < math.inf)).any()):  # finite losses: what Q has there may have underflown
        other += UNDERFLOW
    return Atoms(losses[keep], masses[keep], float(cells.p[endless].sum()), other)
