"""A privacy-loss distribution that grows: adding an event costs the same however long the history is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from curador.accounting.bracket import Bracket
from curador.accounting.events import Event
from curador.accounting.events.base import as_event, common_neighbors
from curador.accounting.pld.cells import Floats
from curador.accounting.pld.extremes import CountedPair, Extremes, counted_in_both_orders, in_both_orders
from curador.accounting.pld.rules import parts
from curador.accounting.pld.solve import (
    around,
    finish,
    hopeless,
    read_delta,
    read_tolerance,
    solve_lower,
    solve_upper,
    summed,
    worst,
)
from curador.accounting.pld.spectrum import Band, Spectrum, nothing
from curador.accounting.pld.window import THETAS, Window, for_delta, look_for_epsilon, plan_for, rough
from curador.errors import InvalidParameter
from curador.numbers import Number, set_fields, whole

_ROOM = 4  # a plan is made for a history this many times as long
_OUTGROWN = 1.6  # how far the best tilt may fall below the plan's
_ROOT = 0.05  # how close to its root a bound is followed, as a share of the tolerance
_KEPT = 64  # events whose spectra are kept for the next time
_ENDLESS = 1e15  # a loss beyond which doubles tell no window apart, and a search for one has no end
_BLIND = Window(Band(1.0, 64.0, 64, 1.0, 1.0), 1.0, 256, 1e-290)  # where nothing can be aimed at


class _Sum(NamedTuple):
    """The sum of an event, or of a history, in one order of the neighbours."""

    above: Spectrum
    below: Spectrum
    table: Floats  # cumulants at THETAS
    extremes: Extremes

    def plus(self, other: _Sum, count: int, plan: Window) -> _Sum:
        more = self.above + other.above.times(count)
        # Where one pair bounds from both sides, so far and now, the two sums are one.
        one = self.below is self.above and other.below is other.above
        less = more if one else self.below + other.below.times(count)
        trimmed = more.trimmed(plan.band)
        return _Sum(
            trimmed,
            trimmed if one else less.trimmed(plan.band),
            self.table + count * other.table,
            self.extremes + other.extremes.times(count),
        )


@lru_cache(maxsize=64)
def _aim(delta: Number, tolerance: float) -> tuple[float, float]:
    return read_delta(delta), read_tolerance(tolerance)


@dataclass(frozen=True, eq=False)
class _Order:
    """One order of the neighbours: a plan, the sum so far, and single events that may come again."""

    plan: Window
    total: _Sum
    kept: dict[Event, list[_Sum]] = field(default_factory=dict)
    near: dict[float, float] = field(default_factory=dict)  # where epsilon last was for a delta: where to look first


def _sum(item: CountedPair, plan: Window, kept: int | None = None) -> _Sum:
    more, less = summed(item, plan, kept=kept)
    table = item.summed(rough(item.above, plan.tail).cumulants(THETAS))
    return _Sum(more, less, table, Extremes.of([item]))


_LOOSE = 10
"""A bracket of so many tolerances is not what was asked for, and worth a plan of its own."""


@dataclass(frozen=True, eq=False)
class IncrementalPLD:
    """A history of events as a few hundred complex numbers, from which epsilon is read at any time.

    ``delta`` is the one it is planned for; other deltas are answered too, less tightly the further away they are.
    Laws with few, distant losses (randomized response, samples of the worst pure event) are bracketed less tightly
    than by ``epsilon``: to one percent.

    Guarantee: as for :func:`curador.accounting.pld.epsilon`.  A report, not a filter: the events may not depend on the
        answers so far [docs/proofs/pld.md, 8].

    >>> from curador.accounting.events import GaussianNoise, LaplaceNoise
    >>> loss = IncrementalPLD(delta=1e-6)
    >>> for _ in range(3):
    ...     loss = loss.add(LaplaceNoise(scale=10, sensitivity=1)).add(GaussianNoise(sigma=20, sensitivity=1))
    >>> loss.epsilon()
    Bracket(lower=0.59700..., upper=0.59700...)
    """

    delta: Number = 1e-6
    tolerance: float = 1e-4
    counts: Mapping[Event, int] = field(default_factory=dict)
    _orders: tuple[_Order, ...] = ()
    _target: float = field(init=False)
    _fine: float = field(init=False)

    def __post_init__(self) -> None:
        target, fine = _aim(self.delta, self.tolerance)
        set_fields(self, _target=target, _fine=fine)
        if not self._target > 0:
            raise InvalidParameter(
                "An incremental distribution is planned for a delta above 0.", fix="Choose a delta such as 1e-6."
            )
        if not self._orders:  # made from counts alone, such as those of a history that was kept
            counts = {as_event(e): n for e, c in self.counts.items() if (n := whole(c, "count"))}
            common_neighbors(counts)
            set_fields(self, counts=counts, _orders=self._planned(counts) if counts else ())

    def add(self, event: Event, count: int = 1) -> IncrementalPLD:
        """The distribution after ``count`` more of this event."""
        n = whole(count, "count")
        if n == 0:
            return self
        common_neighbors((event, *islice(self.counts, 1)))
        counts = {**self.counts, event: self.counts.get(event, 0) + n}
        return IncrementalPLD(self.delta, self.tolerance, counts, self._grown(event, n) or self._planned(counts))

    def epsilon(self, delta: Number | None = None) -> Bracket:
        """The smallest epsilon for which the history is (epsilon, delta)-DP, as a bracket."""
        target, fine = self._target if delta is None else read_delta(delta), self._fine
        if not self.counts:
            return Bracket(0.0, 0.0)
        found = worst(partial(_read, order, target, fine) for order in self._orders)
        if math.isinf(found.upper) or found.width <= _LOOSE * fine * max(1.0, found.upper):
            return found
        # Planned for other laws than were added since: planned anew for all of them, it is often much tighter.
        planned = self._planned(self.counts)
        anew = worst(partial(_read, order, target, fine) for order in planned)
        if delta is None and anew.width < found.width:  # the same history, in a better form for what is added next
            set_fields(self, _orders=planned)
        return Bracket(max(found.lower, anew.lower), min(found.upper, anew.upper))

    @np.errstate(all="ignore")
    def _grown(self, event: Event, count: int) -> tuple[_Order, ...] | None:
        """The orders with the event added, or None if the plans no longer suit them."""
        found = in_both_orders(event)
        if len(found) > len(self._orders):
            return None
        grown = []
        for i, order in enumerate(self._orders):
            singles = order.kept.get(event)
            items = found[min(i, len(found) - 1)]
            if singles is None:
                kept = max(len(order.total.above.phi), len(order.total.below.phi))
                singles = [_sum(item, order.plan, kept) for item in items]
                if len(order.kept) < _KEPT:
                    order.kept[event] = singles
            total = order.total
            for single in singles:
                total = total.plus(single, count, order.plan)
            aim = for_delta(total.table, math.log(self._target))
            if THETAS[aim.at] * _OUTGROWN < order.plan.band.theta:
                return None
            grown.append(_Order(order.plan, total, order.kept, order.near))
        return tuple(grown)

    @np.errstate(all="ignore")
    def _planned(self, counts: Mapping[Event, int]) -> tuple[_Order, ...]:
        """The orders from scratch, with room for more."""
        made = []
        for items in counted_in_both_orders((e, n * count) for event, count in counts.items() for e, n in parts(event)):
            longer = [replace(item, count=_ROOM * item.count) for item in items]
            found = look_for_epsilon(longer, self._target) if longer and not hopeless(items, _ENDLESS) else None
            plan = _BLIND
            if found:
                plan = plan_for(longer, *found, self._fine * max(1.0, found[1].epsilon))
            start = nothing(plan.band)
            total = _Sum(start, start, np.zeros_like(THETAS), Extremes())
            for item in items:
                total = total.plus(_sum(item, plan), 1, plan)
            made.append(_Order(plan, total))
        return tuple(made)


@np.errstate(all="ignore")
def _read(order: _Order, delta: float, tolerance: float, attained: float) -> Bracket:
    total = order.total
    less, more = around(delta)
    low, high = total.extremes.epsilon_floor(more), total.extremes.epsilon_ceiling(less)
    if high - low > tolerance and high > attained and delta > 0:
        profile = finish(order.plan, total.above, total.below)
        start = order.near.get(delta) or for_delta(total.table, math.log(delta)).epsilon
        found = solve_upper(profile, less, min(high, start), tolerance * _ROOT)
        high = min(high, found)
        order.near.clear()
        if found < math.inf:
            order.near[delta] = found
        low = max(low, solve_lower(profile, more, high, tolerance * _ROOT))
    return Bracket(min(low, high), high)
