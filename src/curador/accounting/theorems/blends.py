"""A random choice among several pairs of laws; the output shows the choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from curador.accounting.pld.cells import Atoms, Cells, Complexes, join
from curador.accounting.pld.pairs import ERROR, Ends, Pair, log_sum
from curador.accounting.precise import nearest


@dataclass(frozen=True)
class Blend(Pair):
    """Several pairs with their chances; the output shows which was drawn.

    This is the worst case, because divergences are jointly convex.
    """

    parts: tuple[tuple[Fraction, Pair], ...]

    @property
    def closed(self) -> bool:
        return all(pair.closed for _, pair in self.parts)

    @property
    def infinite(self) -> float:
        return sum(nearest(w) * pair.infinite for w, pair in self.parts)

    @property
    def error(self) -> float:
        return max(pair.error for _, pair in self.parts) + ERROR

    def extent(self, theta: float) -> float:
        return max(pair.extent(theta) for _, pair in self.parts)

    def exact(self, tilts: Sequence[float], omega: float, tail: float) -> bool:
        return self.closed or all(not p.closed and p.exact(tilts, omega, tail) for _, p in self.parts)

    def ends(self) -> Ends:
        found = [(nearest(w), pair.ends()) for w, pair in self.parts]
        top = max(e.top for _, e in found)
        mass = sum(w * e.mass for w, e in found if e.top == top)
        return Ends(top, mass, sum(w * e.infinite for w, e in found))

    def cells(self, count: int, tail: float) -> Cells:
        found = [(nearest(w), pair.cells(count, tail)) for w, pair in self.parts]
        return join(*(Cells(c.low, c.high, w * c.p, w * c.q) for w, c in found))

    def log_moment(self, s: Complexes) -> Complexes | None:
        logs = [pair.log_moment(s) for _, pair in self.parts]
        known = [np.log(nearest(w)) + x for (w, _), x in zip(self.parts, logs, strict=True) if x is not None]
        return log_sum(*known) if len(known) == len(logs) else None

    def nodes(self, tilts: Sequence[float], omega: float, tail: float) -> Atoms | None:
        return self._join([pair.nodes(tilts, omega, tail) for _, pair in self.parts])

    def sketch(self, tail: float) -> Atoms | None:
        return self._join([pair.sketch(tail) for _, pair in self.parts])

    def _join(self, found: Sequence[Atoms | None]) -> Atoms | None:
        known = [(nearest(w), x) for (w, _), x in zip(self.parts, found, strict=True) if x is not None]
        if len(known) < len(found):
            return None
        return Atoms(
            np.concatenate([x.losses for _, x in known]),
            np.concatenate([w * x.masses for w, x in known]),
            *(sum(w * getattr(x, name) for w, x in known) for name in ("infinite", "other", "lost")),
        )
