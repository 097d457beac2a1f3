"""Margins of one table that agree: totals that are sums of their parts, from several noised tables of the same rows.

A table of groups has one axis for each column that is grouped by.  A *margin* is named by the axes it keeps: () is the
total, all axes are the cells.  Where several margins were noised, each with its own noise, the least-squares fit of all
of them is found without the cells themselves: a margin is a sum of parts, one for each subset T of its axes (what T
adds beyond its own subsets), parts of different T are independent, and what several margins say of one part is averaged
by precision.  So every fitted number is a fixed linear combination of noised ones (docs/proofs/consistent.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.intervals import RepeatedTerm
from curador.query.aggregates.base import Array

Axes = tuple[int, ...]
"""The axes of a margin, ascending."""

GRID = 10
"""Fitted numbers are held to 2**-GRID, divided further by how many cells add up: then doubles add them up exactly."""

EXACT = 52
"""Bits that a double holds."""


# ---- cells and their margins -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyTable:
    """Public keys as the cells of a table, with one axis for each column.

    >>> cells = KeyTable((("F", 1), ("F", 2), ("M", 1), ("M", 2)))
    >>> cells.sizes, cells.full, cells.nodes((0,)), cells.gathered((0,), [1, 2, 3, 4])
    ((2, 2), True, (('F',), ('M',)), [3, 7])
    """

    keys: tuple[tuple[Any, ...], ...]

    @property
    def axes(self) -> Axes:
        return tuple(range(len(self.keys[0])))

    @cached_property
    def _values(self) -> tuple[dict[Any, int], ...]:
        """The keys of each axis, by their place in the order in which they come."""
        found: list[dict[Any, int]] = []
        for axis in self.axes:
            found.append({})
            for key in self.keys:
                found[-1].setdefault(key[axis], len(found[-1]))
        return tuple(found)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self._values))

    @cached_property
    def full(self) -> bool:
        """Whether every combination of keys is a cell."""
        return math.prod(self.sizes) == len(self.keys)

    def nodes(self, axes: Axes) -> tuple[tuple[Any, ...], ...]:
        """The keys of a margin, in the order in which cells have them."""
        return tuple(dict.fromkeys(tuple(key[i] for i in axes) for key in self.keys))

    def places(self, axes: Axes) -> NDArray[np.int64]:
        """For each cell, the place of its node in a margin."""
        order: dict[tuple[Any, ...], int] = {}
        found = (order.setdefault(tuple(key[i] for i in axes), len(order)) for key in self.keys)
        return np.fromiter(found, np.int64, len(self.keys))

    def gathered(self, axes: Axes, numbers: Sequence[int]) -> list[int]:
        """The sums of the cells' integers in each node of a margin, exactly."""
        places = self.places(axes)
        found = [0] * (int(places.max()) + 1)
        for i, n in zip(places.tolist(), numbers, strict=True):
            found[i] += int(n)
        return found

    def flat(self, axes: Axes) -> NDArray[np.int64]:
        """For each node of a margin, its place in an array with one dimension per axis, laid out in a row."""
        found = np.zeros(len(nodes := self.nodes(axes)), np.int64)
        for j, i in enumerate(axes):
            found = found * self.sizes[i] + np.fromiter((self._values[i][n[j]] for n in nodes), np.int64, len(nodes))
        return found

    def shaped(self, axes: Axes, numbers: NDArray[Any]) -> NDArray[Any]:
        """The numbers of a margin's nodes, in an array with one dimension per axis."""
        out = np.empty_like(numbers)
        out[self.flat(axes)] = numbers
        return out.reshape([self.sizes[i] for i in axes])


def subsets(axes: Axes) -> list[Axes]:
    """All subsets of some axes, smaller ones first.

    >>> subsets((0, 2))
    [(), (0,), (2,), (0, 2)]
    """
    return [found for size in range(len(axes) + 1) for found in combinations(axes, size)]


def _within(small: Axes, large: Axes) -> bool:
    return set(small) <= set(large)


def _size(sizes: Sequence[int], axes: Iterable[int]) -> int:
    return math.prod(sizes[i] for i in axes)


# ---- the fit ---------------------------------------------------------------------------------------------------------


def summed(x: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """The sum over some axes, exact: in Python's integers where 64 bits might not hold it.

    >>> summed(np.array([2**61, 2**61, 2**61]), (0,)).item() == 3 * 2**61
    True
    """
    if x.dtype.kind == "i" and int(np.abs(x).max(initial=0)) * x.size >= 1 << 62:
        x = x.astype(object)
    return np.asarray(x.sum(axis=axes))


@dataclass(frozen=True)
class Margins:
    """Margins of one table of ``sizes`` that were noised, each by its axes and the variance of its noise.

    The same axes may be there more than once, noised each time.  What has no noise has a variance of 0.

    >>> both = Margins((2,), (((), 1.0), ((0,), 1.0)))  # a total, and its two parts
    >>> fit = both.fitted([np.array(12.0), np.array([4.0, 6.0])], [(), (0,)])
    >>> fit[()].item(), fit[(0,)].tolist()
    (11.33349609375, [4.66650390625, 6.6669921875])
    """

    sizes: tuple[int, ...]
    noised: tuple[tuple[Axes, float], ...]

    def _shares(self, part: Axes) -> list[float]:
        """How much each margin counts in what is known of a part; nothing where it does not hold it."""
        held = [_within(part, axes) for axes, _ in self.noised]
        known = any(here and not variance for here, (_, variance) in zip(held, self.noised, strict=True))
        precision = [
            0.0
            if not here
            else float(not variance)  # of a constant, or noise so small that a double has none
            if known
            else 1 / (variance * _size(self.sizes, set(axes) - set(part)))
            for here, (axes, variance) in zip(held, self.noised, strict=True)
        ]
        whole = math.fsum(precision)
        return [p / whole for p in precision]

    def fitted(self, tables: Sequence[NDArray[Any]], wanted: Iterable[Axes]) -> dict[Axes, NDArray[Any]]:
        """The margins wanted, each within one that was noised; every one is exactly the sum of each finer one.

        The tables have one dimension per axis.  Of a single table, sums as they are; of several, numbers on a grid.
        """
        wanted = list(wanted)
        if len(tables) == 1:
            axes = self.noised[0][0]
            return {w: summed(tables[0], tuple(j for j, i in enumerate(axes) if i not in w)) for w in wanted}
        needed = sorted({part for w in wanted for part in subsets(w)}, key=lambda part: (len(part), part))
        parts = {part: self._part(part, tables) for part in needed}
        loose = {part: self._whole(part, parts) for part in needed}
        return self._agreed(loose)

    def _part(self, part: Axes, tables: Sequence[NDArray[Any]]) -> Array:
        """What a margin adds beyond its own margins: averaged over all tables that hold it, centred on every axis."""
        found = np.zeros([self.sizes[i] for i in part])
        for (axes, _), table, share in zip(self.noised, tables, self._shares(part), strict=True):
            if share:
                summed = table.astype(np.float64).sum(axis=tuple(j for j, i in enumerate(axes) if i not in part))
                found = found + share * summed
        for j in range(len(part)):
            found = found - found.mean(axis=j, keepdims=True)
        return np.asarray(found)

    def _whole(self, axes: Axes, parts: Mapping[Axes, Array]) -> Array:
        found = np.zeros([self.sizes[i] for i in axes])
        for part in subsets(axes):
            spread = parts[part].reshape([self.sizes[i] if i in part else 1 for i in axes])
            found = found + spread / _size(self.sizes, set(axes) - set(part))
        return found

    def _agreed(self, loose: Mapping[Axes, Array]) -> dict[Axes, NDArray[Any]]:
        """The same on a grid that doubles add up on exactly: the last of each axis is what the others leave."""
        out: dict[Axes, NDArray[Any]] = {}
        bits = _bits(loose)
        for axes, x in loose.items():  # fewer axes come first
            found = np.rint(x * 2.0**bits) / 2.0**bits
            for j in range(len(axes)):
                others = found.take(range(found.shape[j] - 1), axis=j).sum(axis=j)
                np.moveaxis(found, j, -1)[..., -1] = out[axes[:j] + axes[j + 1 :]] - others
            out[axes] = found
        return out

    @property
    def rounded(self) -> float:
        """How far numbers on the grid are from the fit, at most, unless they are so large that it is coarser."""
        return 0.0 if len(self.noised) == 1 else 2.0**-GRID

    def moved(self, found: Mapping[Axes, NDArray[Any]]) -> float:
        """How far these numbers on the grid are from the fit, at most."""
        if len(self.noised) == 1:
            return 0.0
        return max(self.rounded, max(x.size for x in found.values()) * 2.0 ** -_bits(found))

    def terms(self, wanted: Axes, noises: Sequence[AdditiveNoise | None]) -> list[RepeatedTerm]:
        """The noise of any one number of a fitted margin: the weights of noised numbers, and how many have each.

        The weight of a number depends only on which axes its key shares with the wanted one.
        """
        found: list[RepeatedTerm] = []
        shares = {part: self._shares(part) for part in subsets(wanted)} if len(noises) > 1 else {}
        for j, ((axes, _), noise) in enumerate(zip(self.noised, noises, strict=True)):
            if noise is None:
                continue
            common = tuple(i for i in wanted if i in axes)
            if len(noises) == 1:
                found.append((1.0, noise, _size(self.sizes, set(axes) - set(wanted))))
                continue
            weights = np.array([shares[_chosen(common, bits)][j] for bits in range(1 << len(common))])
            weights = weights.reshape((2,) * len(common)) / _size(self.sizes, set(wanted) - set(common))
            counts = np.array(float(_size(self.sizes, set(axes) - set(wanted))))
            for place, i in enumerate(common):
                n = self.sizes[i]
                # A part without this axis counts 1/n; one with it 1 - 1/n where the keys agree, and -1/n where not.
                weights = np.moveaxis(
                    np.tensordot([[1 / n, -1 / n], [1 / n, 1 - 1 / n]], weights, (1, place)), 0, place
                )
                counts = np.multiply.outer(counts, [n - 1.0, 1.0])
            pairs = zip(weights.ravel().tolist(), counts.ravel().tolist(), strict=True)
            found += [(w, noise, int(n)) for w, n in pairs if w and n]
        return found


def _bits(margins: Mapping[Axes, NDArray[Any]]) -> int:
    """The bits behind the point of a grid on which doubles hold every sum."""
    largest = max(float(np.abs(x).sum()) for x in margins.values())
    most = max(x.size for x in margins.values())
    return min(GRID + (most - 1).bit_length(), EXACT - math.frexp(largest)[1])


def _chosen(axes: Axes, bits: int) -> Axes:
    """The axes whose bit is set, the first axis having the highest."""
    return tuple(i for place, i in enumerate(axes) if bits >> (len(axes) - 1 - place) & 1)


# ---- which margins to measure ----------------------------------------------------------------------------------------

ROUNDS = 80
"""Rounds in which shares are improved; each lowers the error."""

LEAST_SHARE = 0.01
"""A margin whose share falls below this is left out: what it would add is not worth a noise of its own."""

FAINT = 1e-4
"""Shares are taken to be at least this while they are improved."""

WORTH = 2 / 3
"""Other margins are measured, and take from the cells, where the geometric mean of the errors falls to this part of
what cells alone have.  They are one measurement with a plain GROUP BY: whoever has bought one has the other."""

MOST_PARTS = 1024
"""The most parts of margins that are fitted together: planning and fitting take time for each, and are free."""


def few_parts(margins: Iterable[Axes]) -> bool:
    """Whether margins have few enough parts together to be fitted: their number doubles with every axis.

    >>> few_parts([(0, 1), (1, 2)]), few_parts([tuple(range(19))])
    (True, False)
    """
    found: set[Axes] = set()
    for axes in margins:
        if 1 << len(axes) > MOST_PARTS:
            return False
        found.update(subsets(axes))
    return len(found) <= MOST_PARTS


def worth_measuring(
    sizes: Sequence[int], shown: Sequence[Axes], spreads: Mapping[Axes, float], power: float
) -> dict[Axes, float]:
    """The margins to measure so that the geometric mean of the errors of those shown is least; each with a weight.

    ``spreads`` are the deviations that one unit of budget buys of each margin shown and of the cells, ``power`` how
    shares follow importance (``query.plan.split``).  A weight says how much the variance of a margin counts when a
    budget is divided; that of the cells alone is 1.  Only declared sizes matter.  Of margins with many parts
    (:func:`few_parts`) the cells alone are measured.

    The sum of log variances is concave in the variances of what is measured, so that dividing the budget by its slopes
    lowers it [HL04], round by round.

    >>> worth_measuring((2, 3), [(0, 1), (0,), ()], {a: 1.0 for a in [(0, 1), (0,), ()]}, 1 / 3)
    {(0, 1): 1.0}
    >>> list(worth_measuring((50, 40), [(0, 1), (0,), ()], {a: 1.0 for a in [(0, 1), (0,), ()]}, 1 / 3))
    [(0, 1), (0,), ()]
    """
    cells = tuple(range(len(sizes)))
    if not few_parts(shown):
        return {cells: 1.0}
    # Only how spreads compare matters, and measures of one question mostly compare alike: worked out once for them.
    compared = tuple((a, float(f"{spreads[a] / spreads[cells]:.12g}")) for a in dict.fromkeys([cells, *shown]))
    return dict(_worth(tuple(sizes), tuple(shown), compared, power))


@lru_cache(maxsize=256)
def _worth(
    sizes: Axes, shown: tuple[Axes, ...], compared: tuple[tuple[Axes, float], ...], power: float
) -> tuple[tuple[Axes, float], ...]:
    spreads = dict(compared)
    every, cells = list(spreads), tuple(range(len(sizes)))
    outer = [a for a in every if a in shown and not any(_within(a, b) and a != b for b in shown)]
    parts = _Parts.of(sizes, shown)
    best = _improved(parts, [cells], spreads, power)
    for start in ([cells], outer, every, list(dict.fromkeys([*outer, *shown]))):
        found = _improved(parts, start, spreads, power)
        if found[0] < best[0] + 2 * len(shown) * math.log(WORTH):
            best = found
    return tuple(best[1].items())


@dataclass(frozen=True, eq=False, repr=False)
class _Parts:
    """All parts of the margins shown, and how much each counts in them: the same whatever is measured."""

    sizes: Axes
    shown: tuple[Axes, ...]
    masks: NDArray[np.int64]
    size: Array
    seen: Array

    @classmethod
    def of(cls, sizes: Axes, shown: tuple[Axes, ...]) -> _Parts:
        parts = sorted({part for s in shown for part in subsets(s)})
        least = np.array([math.prod(1 - 1 / sizes[i] for i in p) for p in parts])
        size = np.array([float(_size(sizes, p)) for p in parts])
        found = cls(sizes, shown, np.array([_mask(p) for p in parts], np.int64), size, least)
        return replace(found, seen=least * np.array([found.held(s) for s in shown]) ** 2)

    def held(self, axes: Axes) -> Array:
        """How precisely a margin of variance 1 says each part; nothing where it does not hold it."""
        return np.where((self.masks & ~_mask(axes)) == 0, self.size / _size(self.sizes, axes), 0.0)

    def objective(self, held: Array, variances: Sequence[float]) -> tuple[float, list[float]]:
        """The sum of the log variances of the fitted margins, and its slope in the variance of each measured one."""
        v = np.array(variances)
        precision = (held / v[:, None]).sum(axis=0)
        fitted = self.seen @ (1 / precision)
        slopes = (1 / fitted) @ (self.seen / precision**2) @ (held / (v**2)[:, None]).T
        return float(np.log(fitted).sum()), slopes.tolist()


def _mask(axes: Axes) -> int:
    return sum(1 << i for i in axes)


def _improved(
    parts: _Parts, start: Sequence[Axes], spreads: Mapping[Axes, float], power: float
) -> tuple[float, dict[Axes, float]]:
    """The sum of log variances that some margins reach, and the weights for it; those not worth a noise are dropped."""
    margins, shown = list(start), parts.shown
    share = {a: 1 / len(margins) for a in margins}
    while True:
        held = np.array([parts.held(a) for a in margins])
        for _ in range(ROUNDS if len(margins) > 1 else 1):
            variances = [spreads[a] ** 2 / max(share[a], FAINT) ** (1 / power - 1) for a in margins]
            value, slopes = parts.objective(held, variances)
            wanted = [(slope * spreads[a] ** 2) ** power for a, slope in zip(margins, slopes, strict=True)]
            share = {a: w / math.fsum(wanted) for a, w in zip(margins, wanted, strict=True)}
        needed = [a for a in margins if any(_within(s, a) and not _covered(s, margins, a) for s in shown)]
        small = [a for a in margins if share[a] < LEAST_SHARE and a not in needed]
        if not small:
            unit = spreads[tuple(range(len(parts.sizes)))] ** 2 / len(shown)
            return value, {a: slope * unit for a, slope in zip(margins, slopes, strict=True)}
        margins.remove(min(small, key=lambda a: share[a]))
        share = {a: share[a] / math.fsum(share[b] for b in margins) for a in margins}


def _covered(axes: Axes, margins: Sequence[Axes], but: Axes) -> bool:
    return any(_within(axes, other) for other in margins if other != but)
