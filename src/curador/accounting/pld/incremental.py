"""A privacy-loss distribution that grows: the cost of adding an event does not depend on the history."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from curador.accounting.bracket import Bracket
from curador.accounting.events import Composed, Event
from curador.accounting.events.base import as_event, common_neighbors
from curador.accounting.pld.extremes import CountedPair, Extremes, counted_in_both_orders, in_both_orders, largest
from curador.accounting.pld.profile import Profile
from curador.accounting.pld.rules import parts
from curador.accounting.pld.solve import (
    around,
    finish,
    followed,
    hopeless,
    log_ratio,
    read_delta,
    read_tolerance,
    solve_lower,
    solve_upper,
    summed,
    without_delta,
    worst,
)
from curador.accounting.pld.spectrum import Band, Spectrum, nothing
from curador.accounting.pld.window import Sight, Window, look_for_epsilon, plan_for, seen
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.numbers import Number, set_fields, times

_ROOM = 4  # a plan is made for a history this many times as long
_FURTHER = 1.25  # the factor, roughly, by which epsilon may grow before a loose bracket is planned again
_LOOSE = 10  # a bracket wider than this many tolerances may deserve a plan of its own
_ROOT = 0.05  # the distance from its root at which following a bound ends, as a share of the tolerance
_KEPT = 64  # events whose spectra are cached
_RECENT = 64  # events that are listed before they are counted
_ENDLESS = 1e15  # beyond such losses doubles do not separate windows, and a search for one has no end
_BLIND = Window(Band(1.0, 64.0, 64, 1.0, 1.0), 1.0, 256, 1e-290)  # where there is nothing to aim at


_Added = tuple[tuple[Event, int], ...]


class History(Mapping[Event, int]):
    """Events and their counts; additions share the earlier history instead of copying it.

    The latest events stand in lists whose lengths fall by powers of two.  So each event is moved as often as its
    history has doubled since.  When the lists are as long as the counted part, they are counted too.
    """

    def __init__(self, counted: Mapping[Event, int], recent: tuple[_Added, ...] = ()) -> None:
        self._counted, self._recent = counted, recent

    def plus(self, event: Event, count: int) -> History:
        new: _Added = ((event, count),)
        before = self._recent
        while before and len(before[-1]) <= len(new):
            new, before = before[-1] + new, before[:-1]
        if len(new) > max(_RECENT, len(self._counted)):
            return History(History(self._counted, (*before, new))._all)
        return History(self._counted, (*before, new))

    def first(self) -> Event:
        return next(iter(self._counted)) if self._counted else self._recent[0][0][0]

    @cached_property
    def _all(self) -> Mapping[Event, int]:
        found = dict(self._counted)
        for event, count in (item for items in self._recent for item in items):
            found[event] = found.get(event, 0) + count
        return found

    def __getitem__(self, event: Event) -> int:
        return self._all[event]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def items(self) -> ItemsView[Event, int]:
        return self._all.items()

    def __bool__(self) -> bool:
        return bool(self._counted or self._recent)

    def __repr__(self) -> str:
        return repr(self._all)


class _Sum(NamedTuple):
    """The sum of an event, or of a history, in one order of the neighbours."""

    above: Spectrum
    below: Spectrum
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
            self.extremes + other.extremes.times(count),
        )


@lru_cache(maxsize=64)
def _aim(delta: Number, tolerance: float) -> tuple[float, float]:
    return read_delta(delta), read_tolerance(tolerance)


@dataclass(frozen=True, eq=False)
class _Order:
    """An order of the neighbours: a plan, the sum so far, and single events that may come again."""

    plan: Window
    total: _Sum
    planned: Sight  # the rough epsilon when the plan was made
    now: Sight  # and the present one
    kept: dict[Event, list[_Sum]] = field(default_factory=dict)
    near: dict[float, _Trail] = field(default_factory=dict)  # for a delta: the place to search first

    @property
    def outgrown(self) -> bool:
        """Whether the plan no longer suits the history: its tilt is too large, and was not when it was made."""
        return self.now.smaller and not self.planned.smaller

    @property
    def further(self) -> bool:
        """Whether epsilon is further than a plan for its past can know."""
        return self.now.epsilon > _FURTHER * self.planned.epsilon


class _Trail(NamedTuple):
    """The last epsilon, its last move, the slope of log delta there, and the bracket's width."""

    epsilon: float
    moved: float
    slope: float
    gap: float


def _sum(item: CountedPair, plan: Window, kept: int | None = None) -> _Sum:
    more, less = summed(item, plan, kept=kept)
    return _Sum(more, less, largest(item))


@dataclass(frozen=True, eq=False)
class IncrementalPLD:
    """A history of events as a few hundred complex numbers, from which epsilon can be read at any time.

    The plan is for ``delta``; other deltas are answered too, less tightly the further away they are.  A bracket is at
    most ten tolerances wide, times epsilon if that is above 1.  Sometimes a plan for just this history cannot give
    that: exponential choices, samples, a few distant losses.  Then the bracket is some percent wide, as a plan for the
    first two thirds of the history, or for four fifths of its epsilon, makes it.  One more event and a report cost the
    same after ten events and after thousands.  Once in a while all are planned again (docs/proofs/pld.md, 8).

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
    _due: int = 0  # events that may come before a loose bracket is planned again
    _target: float = field(init=False)
    _fine: float = field(init=False)

    def __post_init__(self) -> None:
        target, fine = _aim(self.delta, self.tolerance)
        set_fields(self, _target=target, _fine=fine)
        if not self._target > 0:
            raise InvalidParameter(
                "An incremental distribution is planned for a delta above 0.", fix="Choose a delta such as 1e-6."
            )
        if not self._orders:  # made from counts alone, such as those of a saved history
            counts = {as_event(e): n for e, c in self.counts.items() if (n := times(c)) and not as_event(e).empty}
            common_neighbors(counts)
            set_fields(self, counts=History(counts))
            if counts:
                set_fields(self, _orders=self._planned(counts, _ROOM))

    def add(self, event: Event, count: int = 1) -> IncrementalPLD:
        """Return the distribution after ``count`` more of this event."""
        n = times(count)
        if n == 0 or as_event(event).empty:
            return self
        history = self._history
        if history:
            common_neighbors((event, history.first()))
        longer, grown = history.plus(event, n), self._grow(event, n)
        if grown is None:
            return IncrementalPLD(self.delta, self.tolerance, longer)
        return IncrementalPLD(self.delta, self.tolerance, longer, grown, self._due - 1)

    @property
    def _history(self) -> History:
        return self.counts if isinstance(self.counts, History) else History(self.counts)

    def epsilon(self, delta: Number | None = None) -> Bracket:
        """The smallest epsilon for which the history is (epsilon, delta)-DP, as a bracket."""
        target, fine = self._target if delta is None else read_delta(delta), self._fine
        if not self.counts:
            return Bracket(0.0, 0.0)
        found = self._report(target)
        if not target:
            most = without_delta(Composed.of(*self.counts.items()), found.upper)
            return Bracket(min(found.lower, most), most)
        if math.isinf(found.upper) or found.width <= _LOOSE * fine * max(1.0, found.upper):
            return found
        if self._due > 0 and not any(order.further for order in self._orders):
            return found
        # The plan was for other laws, or for a longer history: a new plan for just this one is often much tighter.
        before = self._orders
        set_fields(self, _orders=self._planned(self.counts, 1), _due=max(1, len(self.counts) // 2))
        again = self._report(target)
        if again.width > found.width:  # no plan is better; the next is tried when the history has gone on
            set_fields(self, _orders=tuple(replace(order, planned=order.now) for order in before))
        return Bracket(max(found.lower, again.lower), min(found.upper, again.upper))

    def _report(self, delta: float) -> Bracket:
        return worst(partial(_read, order, delta, self._fine) for order in self._orders)

    @np.errstate(all="ignore")
    def _grow(self, event: Event, count: int) -> tuple[_Order, ...] | None:
        """Add an event to the orders; None if the plans no longer suit them."""
        found = in_both_orders(event)
        if len(found) > len(self._orders):
            return None
        grown = []
        for i, order in enumerate(self._orders):
            singles = order.kept.get(event)
            if singles is None:
                kept = max(len(order.total.above.phi), len(order.total.below.phi))
                singles = [_sum(item, order.plan, kept) for item in found[min(i, len(found) - 1)]]
                if len(order.kept) < _KEPT:
                    order.kept[event] = singles
            total = order.total
            for single in singles:
                total = total.plus(single, count, order.plan)
            now = seen(total.above, order.plan.band, math.log(self._target))
            grown.append(_Order(order.plan, total, order.planned, now, order.kept, order.near))
            if grown[-1].outgrown:
                return None
        return tuple(grown)

    @np.errstate(all="ignore")
    def _planned(self, counts: Mapping[Event, int], room: int) -> tuple[_Order, ...]:
        """Plan the orders from scratch, with room for a history ``room`` times as long."""
        made = []
        for items in counted_in_both_orders((e, n * count) for event, count in counts.items() for e, n in parts(event)):
            longer = [replace(item, count=room * item.count) for item in items]
            found = look_for_epsilon(longer, self._target) if longer and not hopeless(items, _ENDLESS) else None
            plan = _BLIND
            if found:
                plan = plan_for(longer, *found, self._fine * max(1.0, found[1].epsilon))
            start = nothing(plan.band)
            total = _Sum(start, start, Extremes())
            for item in items:
                total = total.plus(_sum(item, plan), 1, plan)
            now = seen(total.above, plan.band, math.log(self._target))
            made.append(_Order(plan, total, now, now))
        return tuple(made)


@np.errstate(all="ignore")
def _read(order: _Order, delta: float, tolerance: float, attained: float) -> Bracket:
    total = order.total
    less, more = around(delta)
    low, high = total.extremes.epsilon_floor(more), total.extremes.epsilon_ceiling(less)
    if high - low > tolerance and high > attained and delta > 0:
        profile = finish(order.plan, total.above, total.below)
        start = order.near.get(delta)
        order.near.clear()
        found = _follow(profile, less, more, start, tolerance * _ROOT) if start else None
        if found is None:
            first = min(high, start.epsilon if start else seen(total.above, order.plan.band, math.log(delta)).epsilon)
            found = _search(profile, less, more, first, tolerance * _ROOT)
        if found.epsilon < math.inf:
            order.near[delta] = found._replace(moved=found.epsilon - start.epsilon if start else 0.0)
        high = min(high, found.epsilon)
        low = max(low, found.epsilon - found.gap)
    return Bracket(min(low, high), high)


def _follow(profile: Profile, less: float, more: float, start: _Trail, tolerance: float) -> _Trail | None:
    """Follow both ends from their expected places; None if that fails.

    Two or three evaluations replace a search.
    """
    upper = followed(
        lambda e: log_ratio(profile.upper(e), less), start.epsilon + start.moved, start.slope, tolerance, above=False
    )
    if upper is None:
        return None
    high, slope = upper
    lower = followed(lambda e: log_ratio(profile.lower(e), more), high - start.gap, slope, tolerance, above=True)
    return None if lower is None else _Trail(high, 0.0, slope, high - lower[0])


def _search(profile: Profile, less: float, more: float, start: float, tolerance: float) -> _Trail:
    high = solve_upper(profile, less, start, tolerance)
    low = solve_lower(profile, more, high, tolerance)
    return _Trail(high, 0.0, profile.band.theta, high - low)
