"""Centres of clusters, grown from noisy sums: no row is a starting point, and none is ever released.

1. One centre in the middle of the bounds.  Its rows' noisy count, means and variances say where it is worth splitting:
   along the column of the largest spread.  So many centres are grown in three rounds, more than are wanted.
2. Those are merged to the number that is wanted, each two whose union adds the least spread [War63], by their counts.
3. A few rounds move each centre to the noisy mean of its rows; one with hardly any rows is given up, and another split.

All that is read in a round is one noisy sum by class, the class of a row being its nearest centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Floats, Ints
from curador.learn.sums.classes import ClassSums
from curador.noise import SYSTEM, Entropy

FEWEST = 3.0
"""A centre whose noisy count is below so many deviations of its noise is given up."""

SumsAt = Callable[[Floats], Ints]
"""The exact sums of the rows that are nearest to each of some centres."""

HALVES = 2 / np.pi
"""What splitting a bell curve in the middle takes of its variance."""


def growth(wanted: int) -> tuple[int, int, int]:
    """How many centres there are after each round of growing.

    >>> growth(8)
    (4, 16, 32)
    """
    return (wanted + 1) // 2, 2 * wanted, 4 * wanted


def nearest(design: Design, centres: Floats) -> NDArray[np.int32]:
    """The nearest centre of each row, the first of several.  Exact: each row's own, wherever it stands.

    Centres are put on the grid of the rows.
    """
    on_grid = np.rint(centres * SCALE)
    weights = np.append(-2 * on_grid.T, np.zeros((1, len(centres))), axis=0)
    lengths = (on_grid * on_grid).sum(axis=1)  # whole numbers below 2**53
    found = np.empty(len(design), np.int32)
    for part, piece in design.pieces():
        found[part] = (piece.dot(weights) + lengths).argmin(axis=1)
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Cluster:
    """About how many rows are nearest to a centre, their mean, and the variance of each column."""

    count: float
    mean: Floats
    spread: Floats

    def halves(self, lowest: Floats) -> tuple[Cluster, Cluster]:
        """The two halves of a bell curve, along the column of the largest spread."""
        j = int(self.spread.argmax())
        step, left = np.zeros_like(self.mean), self.spread.copy()
        step[j] = (self.spread[j] * HALVES) ** 0.5
        left[j] *= 1 - HALVES
        low, high = np.clip(self.mean - step, lowest, 1), np.clip(self.mean + step, lowest, 1)
        return Cluster(self.count / 2, low, left), Cluster(self.count / 2, high, left)


def clusters(noisy: Floats, sums: ClassSums) -> list[Cluster]:
    """The clusters that noisy sums are about; those of hardly any rows are left out."""
    p, noise = sums.summed, sums.noise.variance**0.5 / SCALE
    found = []
    for one in noisy / SCALE:
        count = float(one[0])
        if count < max(FEWEST * noise, 1.0):
            continue
        mean = one[1 : 1 + p] / count
        share = np.clip(one[1 + 2 * p :] / count, 0, 1)
        square = (one[1 + p : 1 + 2 * p] / count + 1) / 2
        # What noise alone makes of a variance is taken off, so that no noise is split.
        spread = np.append(square - mean**2, share - share**2) - noise / count
        found.append(Cluster(count, np.append(np.clip(mean, -1, 1), share), np.maximum(spread, 0)))
    return found


def grown(found: list[Cluster], wanted: int, lowest: Floats) -> list[Cluster]:
    """So many clusters: each time the one is split whose split takes most."""
    found = list(found) or [Cluster(1.0, np.maximum(lowest, 0), np.full(len(lowest), 1 / 3))]
    while len(found) < wanted:
        most = max(range(len(found)), key=lambda i: found[i].count * float(found[i].spread.max()))
        found[most : most + 1] = found[most].halves(lowest)
    return found


def merged(found: list[Cluster], wanted: int) -> Floats:
    """The means of so many groups of clusters, and each the mean of the clusters nearest to it."""
    counts, means = np.array([c.count for c in found]), np.array([c.mean for c in found])
    left, at = counts.copy(), means.copy()
    while len(at) > wanted:
        apart = ((at[:, None] - at) ** 2).sum(axis=2) * (left[:, None] * left / (left[:, None] + left))
        np.fill_diagonal(apart, np.inf)
        i, j = sorted(divmod(int(apart.argmin()), len(at)))
        at[i] = (left[i] * at[i] + left[j] * at[j]) / (left[i] + left[j])
        left[i] += left[j]
        at, left = np.delete(at, j, axis=0), np.delete(left, j)
    for _ in range(100):
        group = ((means[:, None] - at) ** 2).sum(axis=2).argmin(axis=1)
        total = np.bincount(group, weights=counts, minlength=len(at))
        moved = at.copy()
        for one in np.flatnonzero(total > 0):
            mine = group == one
            moved[one] = (counts[mine, None] * means[mine]).sum(axis=0) / total[one]
        if np.array_equal(moved, at):
            break
        at = moved
    return at


def centred(
    exact: SumsAt,
    sums: ClassSums,
    wanted: int,
    entropy: Entropy = SYSTEM,
    progress: Callable[[float], None] | None = None,
) -> Floats:
    """The centres of so many clusters, in columns between -1 and 1 for numbers, 0 and 1 for keys.

    Guarantee: that of ``sums``, for all its rounds.  Centres are functions of what earlier rounds released.
    """
    p, d = sums.summed, sums.encoding.width - 1
    lowest = np.append(np.full(p, -1.0), np.zeros(d - p))
    at = np.zeros((1, d))
    for step in range(sums.rounds):
        noisy = np.asarray(sums.noise.release(exact(at), entropy=entropy))
        found = clusters(noisy[: len(at)], sums)
        if step < 3:
            at = np.array([c.mean for c in grown(found, growth(wanted)[step], lowest)])
        elif step == 3 and len(found) > wanted:
            at = merged(found, wanted)
        else:
            at = np.array([c.mean for c in grown(found, wanted, lowest)])
        if progress is not None:
            progress((step + 1) / sums.rounds)
    return at
