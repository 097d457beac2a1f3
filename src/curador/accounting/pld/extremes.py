"""Bounds on a composition from its largest losses alone, without any transform."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from curador.accounting.bracket import Bracket
from curador.accounting.events import Event
from curador.accounting.pld.noise_pairs import Normal
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.rules import orders, parts
from curador.accounting.pld.spectrum import log_rest
from curador.numbers import above, below


@dataclass(frozen=True)
class CountedPair:
    """A pair that dominates an event, a pair that it attains, and how often it occurs."""

    above: Pair
    below: Pair
    count: int


def in_both_orders(event: Event) -> list[list[CountedPair]]:
    """The pairs that are composed, for each order of two neighbours; a single list if the orders look alike."""
    found = [(orders(e), n) for e, n in parts(event)]
    many = max((len(o) for o, _ in found), default=1)
    return [_gathered([CountedPair(*o[min(i, len(o) - 1)], n) for o, n in found]) for i in range(many)]


def _gathered(items: list[CountedPair]) -> list[CountedPair]:
    """The same with all Gaussian noise as one: normal losses add up to a normal loss."""
    normal = [item for item in items if item.above.variance and item.above is item.below]
    variance = sum(item.count * item.above.variance for item in normal)
    if len(normal) < 2 or not variance < math.inf:
        return items
    whole = Normal(math.sqrt(variance))
    return [*(item for item in items if item not in normal), CountedPair(whole, whole, 1)]


@dataclass(frozen=True)
class Extremes:
    """The most that the loss can be, and the chances that it is infinite, or exactly the most."""

    ceiling: float = 0.0  # no finite loss is above this
    top: float = 0.0  # some mechanism reaches this, or comes arbitrarily close,
    log_mass: float = 0.0  # and is there with this log-probability
    log_finite: tuple[float, float] = (0.0, 0.0)  # of a finite loss: for that mechanism, and in the worst case

    @classmethod
    def of(cls, items: Iterable[CountedPair]) -> Extremes:
        return sum((_one(item).times(item.count) for item in items), cls())

    def __add__(self, other: Extremes) -> Extremes:
        return Extremes(
            self.ceiling + other.ceiling,
            self.top + other.top,
            self.log_mass + other.log_mass,
            (self.log_finite[0] + other.log_finite[0], self.log_finite[1] + other.log_finite[1]),
        )

    def times(self, count: int) -> Extremes:
        """These losses ``count`` times over; at least once, since 0 times infinity is undefined."""
        low, high = self.log_finite
        return Extremes(count * self.ceiling, count * self.top, count * self.log_mass, (count * low, count * high))

    @property
    def infinite(self) -> Bracket:
        """The probability of an infinite loss."""
        low, high = (-math.expm1(x) for x in self.log_finite)
        return Bracket(max(0.0, below(low)), min(1.0, above(high)))

    def delta_floor(self, epsilon: float) -> float:
        """A lower bound on delta, from the infinite losses and the largest finite ones alone."""
        rest = math.exp(self.log_mass) * -math.expm1(epsilon - self.top) if self.top > epsilon else 0.0
        return max(0.0, below(self.infinite.lower + rest))

    def epsilon_floor(self, delta: float) -> float:
        """A lower bound on epsilon, from the same."""
        if delta < self.infinite.lower:
            return math.inf
        if delta == 0:
            return max(0.0, below(self.top))
        log_left = math.log(delta - self.infinite.lower) - self.log_mass if delta > self.infinite.lower else -math.inf
        left = above(math.exp(log_left)) if log_left < 0 else 1.0
        return max(0.0, below(self.top + math.log1p(-left))) if left < 1 else 0.0

    def epsilon_ceiling(self, delta: float) -> float:
        """An upper bound on epsilon, from the largest losses alone."""
        return max(0.0, above(self.ceiling)) if delta >= self.infinite.upper else math.inf


def _one(item: CountedPair) -> Extremes:
    most = item.above.ends()
    least = most if item.below is item.above else item.below.ends()
    slack = max(item.above.error, item.below.error)
    return Extremes(
        most.top + slack,
        least.top - slack,
        math.log(least.mass) - slack if least.mass else -math.inf,
        (log_rest(least.infinite), log_rest(most.infinite)),
    )
