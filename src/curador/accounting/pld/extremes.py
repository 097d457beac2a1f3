"""Bounds on a composition from its largest losses alone, without any transform."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curador.accounting.bracket import Bracket
from curador.accounting.events import Event
from curador.accounting.pld.cells import Floats
from curador.accounting.pld.noise_pairs import Normal
from curador.accounting.pld.pairs import Ends, Pair, stacked
from curador.accounting.pld.rules import Orders, bounded, orders, parts
from curador.accounting.pld.spectrum import log_rest
from curador.errors import InvalidParameter, NotPromised
from curador.forks import cached_property
from curador.numbers import above, below
from curador.privacy import Neighbors

Ints = NDArray[np.int64]
Numbers = float | Floats


_ROWS = 64  # pairs evaluated together: enough to hide the cost of a call, few enough for a cache
_MOST = 512  # different pairs without a formula
_OFTEN = 2**20  # counts up to this are exact in sums of floats


@dataclass(frozen=True, eq=False)
class CountedPair:
    """A pair that dominates an event, a pair that it attains, and the event's count; or several, stacked."""

    above: Pair
    below: Pair
    count: int | Ints

    @property
    def total(self) -> int:
        return self.count if isinstance(self.count, int) else int(self.count.sum())

    def summed(self, x: Numbers) -> Floats:
        """Sum count times the given number over the pairs: rows of numbers, or one row for all."""
        if isinstance(self.count, int):
            return np.asarray(self.count * np.asarray(x))
        rows = np.asarray(x)
        return np.asarray(self.count @ rows if rows.ndim > 1 else self.total * rows)


def in_both_orders(event: Event) -> list[list[CountedPair]]:
    """The composed pairs for each order of two neighbours; a single list if the orders look alike."""
    return counted_in_both_orders(parts(event))


def counted_in_both_orders(composed: Iterable[tuple[Event, int]]) -> list[list[CountedPair]]:
    """The composed pairs of counted events, none of which is itself a composition."""
    found = []
    for high, low, n in bounded(composed):
        first = _check_orders(high, orders(high))
        found.append((first, first if low is high else orders(low), n))
    many = max((len(o) for o, _, _ in found), default=1)
    made = [[_bounds(high, low, i, n) for high, low, n in found] for i in range(many)]
    costly = sum(item.above.formula is None and not item.above.variance for item in made[0])
    if costly > _MOST:
        raise InvalidParameter(
            f"Of more than {_MOST} different events the laws would have to be laid out one by one.",
            fix="Describe those that are alike by the one that costs most.",
        )
    return [_gathered(items) for items in made]


def _check_orders(event: Event, found: Orders) -> Orders:
    """Check the pairs of an event, which must compose: order i goes with order i of every other event.

    Under add-remove the orders are those of the unit, the same for all.  Under replace neither order comes first.  A
    part of the data may be left in one order while another is entered in the other.  So one pair has to dominate in
    both.
    """
    if event.neighbors is Neighbors.REPLACE and any(above != found[0][0] for above, _ in found[1:]):
        raise NotPromised(
            f"No single pair of laws is known that dominates {type(event).__name__} in both orders of its neighbours.",
            fix="Use the Rényi curve (method='renyi'), or restate the event as PureLoss or ApproxLoss.",
        )
    return found


def _bounds(high: Orders, low: Orders, i: int, count: int) -> CountedPair:
    return CountedPair(high[min(i, len(high) - 1)][0], low[min(i, len(low) - 1)][1], count)


def _gathered(items: list[CountedPair]) -> list[CountedPair]:
    """Merge all Gaussian noise, since normal losses add up to a normal loss, and stack like pairs."""
    if len(items) < 2:
        return items
    normal, like, rest = [], defaultdict[object, list[CountedPair]](list), []
    for item in items:
        if item.above.variance and item.above is item.below:
            normal.append(item)
        elif item.above.formula is not None and item.below.formula is not None and item.total <= _OFTEN:
            like[type(item.above), item.above.formula, type(item.below), item.below.formula].append(item)
        else:
            rest.append(item)
    variance = math.fsum(item.total * item.above.variance for item in normal)
    if len(normal) > 1 and variance < math.inf:
        whole = Normal(math.sqrt(variance))
        normal = [CountedPair(whole, whole, 1)]
    groups = (group[i : i + _ROWS] for group in like.values() for i in range(0, len(group), _ROWS))
    return [*rest, *normal, *map(_stack, groups)]


def _stack(items: list[CountedPair]) -> CountedPair:
    if len(items) == 1:
        return items[0]
    above = stacked([item.above for item in items])
    tight = all(item.above is item.below for item in items)
    below = above if tight else stacked([item.below for item in items])
    return CountedPair(above, below, np.array([item.total for item in items]))


@dataclass(frozen=True)
class Extremes:
    """The largest possible loss, and the chances that it is infinite, or exactly the largest."""

    ceiling: float = 0.0  # the least upper bound of finite losses
    top: float = 0.0  # some mechanism reaches this, or comes arbitrarily close,
    log_mass: float = 0.0  # and is there with this log-probability
    log_finite: tuple[float, float] = (0.0, 0.0)  # of a finite loss: for that mechanism, and in the worst case

    @classmethod
    def of(cls, items: Iterable[CountedPair]) -> Extremes:
        return sum((largest(item) for item in items), cls())

    def __add__(self, other: Extremes) -> Extremes:
        return Extremes(
            self.ceiling + other.ceiling,
            self.top + other.top,
            self.log_mass + other.log_mass,
            (self.log_finite[0] + other.log_finite[0], self.log_finite[1] + other.log_finite[1]),
        )

    def times(self, count: int) -> Extremes:
        """Repeat these losses ``count`` times; at least once, since 0 times infinity is undefined."""
        low, high = self.log_finite
        return Extremes(count * self.ceiling, count * self.top, count * self.log_mass, (count * low, count * high))

    @cached_property
    def infinite(self) -> Bracket:
        """The probability of an infinite loss."""
        low, high = (-math.expm1(x) for x in self.log_finite)
        return Bracket(max(0.0, below(low)), min(1.0, above(high)))

    def delta_floor(self, epsilon: float) -> float:
        """A lower bound on delta, from the infinite losses and the largest finite ones alone."""
        rest = math.exp(self.log_mass) * -math.expm1(epsilon - self.top) if self.top > epsilon else 0.0
        return max(0.0, below(self.infinite.lower + rest))

    def epsilon_floor(self, delta: float) -> float:
        """A lower bound on epsilon, from the same losses."""
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


def largest(item: CountedPair) -> Extremes:
    """Bounds on the largest losses of an event, with its count."""
    most = item.above.ends()
    least = most if item.below is item.above else item.below.ends()
    if isinstance(item.count, int):
        margin = max(item.above.error, item.below.error)
        mass = math.log(least.mass) - margin if least.mass else -math.inf
        finite = (log_rest(least.infinite), log_rest(most.infinite))
        return Extremes(most.top + margin, least.top - margin, mass, finite).times(item.count)
    slack = np.maximum(item.above.error, item.below.error)
    found = (most.top + slack, least.top - slack, _log(least.mass) - slack, _rest(least), _rest(most))
    ceiling, top, mass, low, high = (float(item.summed(x).sum()) for x in found)
    return Extremes(ceiling, top, mass, (low, high))


@np.errstate(divide="ignore")
def _log(x: float | Floats) -> Floats:
    return np.asarray(np.log(x))


@np.errstate(divide="ignore")
def _rest(ends: Ends) -> Floats:
    return np.asarray(np.log1p(-np.asarray(ends.infinite)))
