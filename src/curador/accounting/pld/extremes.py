"""What can be said about a composition without any transform: its largest losses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from curador.accounting.bracket import Bracket
from curador.accounting.events import Event
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.rules import orders, parts
from curador.accounting.safe import above, below


class Item(NamedTuple):
    """A pair that dominates an event, a pair that it attains, and how often it occurs."""

    above: Pair
    below: Pair
    count: int


def in_both_orders(event: Event) -> list[list[Item]]:
    """What is composed, for each order of two neighbours; a single list if the orders look alike."""
    found = [(orders(e), n) for e, n in parts(event)]
    many = max((len(o) for o, _ in found), default=1)
    return [[Item(*o[min(i, len(o) - 1)], n) for o, n in found] for i in range(many)]


@dataclass(frozen=True)
class Extremes:
    """The most that the loss can be, and the chance that it is infinite, or exactly the most."""

    ceiling: float  # no finite loss is above this
    infinite: Bracket  # the probability of an infinite loss
    top: float  # the loss reaches this, or comes arbitrarily close ...
    mass: float  # ... and is this, or more, with at least this probability, beside the infinite

    @classmethod
    def of(cls, items: Iterable[Item]) -> Extremes:
        ceiling = top = log_mass = never_below = never_above = 0.0
        for item in items:
            n, most, least = item.count, item.above.ends(), item.below.ends()
            slack = n * max(item.above.error, item.below.error)
            ceiling += n * most.top + slack
            top += n * least.top - slack
            log_mass += n * math.log(least.mass) - slack if least.mass else -math.inf
            never_below += n * _log_rest(least.infinite)
            never_above += n * _log_rest(most.infinite)
        infinite = Bracket(max(0.0, below(-math.expm1(never_below))), min(1.0, above(-math.expm1(never_above))))
        return cls(above(ceiling), infinite, below(top), math.exp(log_mass))

    def delta_floor(self, epsilon: float) -> float:
        """A lower bound on delta, from the infinite losses and the largest finite ones alone."""
        if not self.top > epsilon:
            return self.infinite.lower
        return below(self.infinite.lower + self.mass * -math.expm1(epsilon - self.top))

    def epsilon_floor(self, delta: float) -> float:
        """A lower bound on epsilon, from the same."""
        if delta < self.infinite.lower:
            return math.inf
        if delta == 0:
            return max(0.0, self.top)
        left = above((delta - self.infinite.lower) / self.mass) if self.mass else math.inf
        return max(0.0, below(self.top + math.log1p(-left))) if left < 1 else 0.0

    def epsilon_ceiling(self, delta: float) -> float:
        """An upper bound on epsilon, from the largest losses alone."""
        return max(0.0, self.ceiling) if delta >= self.infinite.upper else math.inf


def _log_rest(x: float) -> float:
    return math.log1p(-x) if x < 1 else -math.inf
