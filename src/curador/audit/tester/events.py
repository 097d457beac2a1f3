"""Sets of outputs that are likelier on one neighbour than on the other, chosen on outputs that do not judge them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.audit.tester.certify import nearly
from curador.audit.tester.claim import floors
from curador.audit.tester.features import Feature, cell, features
from curador.audit.tester.outputs import Numbers, Outputs
from curador.privacy import Guarantee

TRIED = 4
"""So many events are certified; each costs the others some certainty."""

SHORT = 6
"""So many features are looked at with all outputs, if a look at some of them shows that there are more."""

SCREENED = 2000
"""Outputs of a side on which features are compared first."""

FEW_VALUES = 256
"""A feature of at most so many values is not cut into cells."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class OutputSet:
    """Outputs whose feature lies in some cells, and on which side they are likelier (0 or 1)."""

    feature: Feature
    edges: Numbers
    inside: NDArray[np.bool_]
    side: int
    words: dict[int, str]

    def happens(self, some: Outputs) -> int:
        """In how many of the outputs."""
        return int(np.count_nonzero(self.inside[_cells(self.feature, self.feature.read(some), self.edges)]))

    def in_words(self) -> str:
        """The set, so that a reader can look for it.

        >>> OutputSet(Feature("x", None), np.array([0.0, 1.0]), np.array([False, True, True, False]), 0, {}).in_words()
        'x is at least 0'
        """
        if self.feature.symbol:
            named = [self.words.get(int(x), "") for x in self.edges[self.inside[: len(self.edges)]]]
            known = [word for word in named if word]
            if known and len(named) <= 3 and not self.inside[-1]:
                return f"{self.feature.name} is {' or '.join(known)}"
            return f"{self.feature.name} is one of {len(named)} values" + (" or a rare one" if self.inside[-1] else "")
        return f"{self.feature.name} is {_ranges(self.edges, self.inside)}"


def _ranges(edges: Numbers, inside: NDArray[np.bool_]) -> str:
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    found, cells = [], inside[:-1]
    starts = np.flatnonzero(cells & ~np.concatenate([[False], cells[:-1]]))
    stops = np.flatnonzero(cells & ~np.concatenate([cells[1:], [False]])) + 1
    for a, b in zip(starts, stops, strict=True):
        low, high = ends[a], ends[b]
        if high == np.inf:
            found.append("not missing" if low == -np.inf else f"at least {low:.6g}")
        else:
            found.append(f"below {high:.6g}" if low == -np.inf else f"from {low:.6g} to below {high:.6g}")
    if inside[-1]:
        found.append("missing")
    return " or ".join(found) if len(found) <= 3 else f"{' or '.join(found[:2])} or in {len(found) - 2} more ranges"


def choose(first: Outputs, second: Outputs, claim: Guarantee, judged: int, miss: float) -> list[OutputSet]:
    """The events that promise the highest floor when ``judged`` other outputs of each side judge them."""
    half = min(len(first), len(second)) // 2
    learn = first.part(slice(half)), second.part(slice(half))
    found = features(*learn)
    if len(found) > SHORT:
        one, two = (side.part(slice(SCREENED)) for side in (first, second))

        def promised(feature: Feature) -> float:
            return max((excess for excess, _ in _of(feature, one, two, claim, judged, miss)), default=0.0)

        found = sorted(found, key=promised, reverse=True)[:SHORT]
    best = [candidate for feature in found for candidate in _of(feature, first, second, claim, judged, miss)]
    best.sort(key=lambda candidate: -candidate[0])
    return [event for _, event in best[:TRIED]]


def _of(
    feature: Feature, first: Outputs, second: Outputs, claim: Guarantee, judged: int, miss: float
) -> Iterator[tuple[float, OutputSet]]:
    """For each side the best threshold on a feature, and the best set of its cells by their likelihood ratio."""
    values = [feature.read(side) for side in (first, second)]
    half = min(map(len, values)) // 2
    early, late = [x[:half] for x in values], [x[half:] for x in values]
    edges = _symbol_edges(early) if feature.symbol else _edges(late if feature.learned else values)
    size = len(edges) + 2
    ends = [np.bincount(_cells(feature, x, edges), minlength=size) for x in late]
    starts = [np.bincount(_cells(feature, x, edges), minlength=size) for x in early]
    all_of = ends if feature.learned else [a + b for a, b in zip(starts, ends, strict=True)]

    def candidates() -> Iterator[tuple[int, Counts, list[Counts]]]:
        if not feature.symbol:
            upwards = np.arange(size - 1)  # what is missing is neither high nor low
            for order in (upwards, upwards[::-1]):
                for side in (0, 1):
                    yield side, order, all_of
        if not feature.learned:
            ratio = np.log((starts[1] + 0.5) / (starts[0] + 0.5))
            for side in (0, 1):
                yield side, np.argsort(ratio if side == 0 else -ratio, kind="stable"), ends

    for side, order, counts in candidates():
        shares = [np.cumsum(c[order]) / max(1, c.sum()) * judged for c in counts]
        own = nearly(shares[side], judged, miss, -1)
        other = nearly(shares[1 - side], judged, miss, 1)
        excess = floors(claim, own, other).excess
        cut = int(excess.argmax())
        if excess[cut] > 0:
            inside = np.zeros(size, bool)
            inside[order[: cut + 1]] = True
            yield float(excess[cut]), OutputSet(feature, edges, inside, side, first.words)


def _cells(feature: Feature, x: Numbers, edges: Numbers) -> NDArray[np.int64]:
    """The cell of each value: of symbols, the symbol itself, and the last for those that were not seen before."""
    if not feature.symbol:
        return cell(x, edges)
    at = np.minimum(np.searchsorted(edges, x), len(edges) - 1)
    return np.where(edges[at] == x, at, len(edges) + 1)


def _symbol_edges(sides: list[Numbers]) -> Numbers:
    return np.unique(np.concatenate(sides))


def _edges(sides: list[Numbers]) -> Numbers:
    """Where to cut: every value, if there are few; else equal shares, far tails, both ends of each side, and atoms."""
    known = [x[~np.isnan(x)] for x in sides]
    pooled = np.sort(np.concatenate(known))
    n = len(pooled)
    if not n:
        return np.empty(0)
    steps = np.flatnonzero(pooled[1:] != pooled[:-1])
    if len(steps) < FEW_VALUES:
        return np.asarray(np.concatenate([pooled[:1], pooled[steps + 1]]))
    cells = 64 if n < 200_000 else 256
    at = np.concatenate([np.arange(1, cells) * n // cells, *_tails(n)])
    ends = [x for side in known if len(side) for x in (side.min(), np.nextafter(side.max(), np.inf))]
    return np.unique(np.concatenate([pooled[np.unique(at)], ends, *_atoms(pooled, steps)]))


def _tails(n: int) -> list[Any]:
    deep = np.unique(np.geomspace(2, n / 64, 24).astype(np.int64)) if n > 256 else np.empty(0, np.int64)
    return [deep, n - 1 - deep]


def _atoms(pooled: Numbers, steps: NDArray[np.int64]) -> list[Numbers]:
    """Values that are repeated often, each a cell of its own."""
    bounds = np.concatenate([[-1], steps, [len(pooled) - 1]])
    often = np.flatnonzero(np.diff(bounds) > max(8, len(pooled) // 1000))[:64]
    atoms = pooled[bounds[often + 1]]
    return [atoms, np.nextafter(atoms, np.inf)]
