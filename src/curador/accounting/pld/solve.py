"""epsilon for a delta and delta for an epsilon, each as a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from curador.accounting.bracket import Bracket
from curador.accounting.events import Event
from curador.accounting.pld.cells import Floats, connect, merge
from curador.accounting.pld.extremes import Extremes, Item, in_both_orders
from curador.accounting.pld.pairs import Normal
from curador.accounting.pld.plan import (
    Aim,
    Plan,
    band_for,
    cells_needed,
    cumulants,
    for_delta,
    for_epsilon,
    log_chernoff,
    mean,
)
from curador.accounting.pld.profile import Profile
from curador.accounting.pld.spectrum import Band, Spectrum, nothing, of_pair
from curador.errors import InvalidParameter
from curador.rational import Number, rational, up

_TRIES = 3  # how often a bracket that came out too wide is tried again with a finer plan
_LEAST_TAIL = 1e-290
_FAR = 1e6
_SHARE = 1e-10  # of delta, that a tail may add to it


def epsilon(event: Event, delta: Number, tolerance: float = 1e-4) -> Bracket:
    """The smallest epsilon for which the event is (epsilon, delta)-DP, as a bracket.

    Guarantee: the event is (upper, delta)-DP under adaptive composition of what it lists [ZDW22], and some mechanism
        that it describes is not (e, delta)-DP for any e below ``lower``; every error of the computation is inside
        (docs/proofs/pld.md).  The bracket is meant to be narrower than ``tolerance``, times epsilon if that is
        above 1; where it cannot be, it is wider, and ``upper`` may be infinite.
    Assumes: what is run, and how often, is fixed in advance; for costs chosen on the way use a filter.
    Fails: NotPromised for events without a known dominating pair.

    >>> from curador.accounting.events import GaussianNoise, PoissonSampled
    >>> epsilon(10_000 * PoissonSampled(GaussianNoise(sigma=1, sensitivity=1), rate="0.01"), delta=1e-5)
    Bracket(lower=6.187712..., upper=6.187712...)
    """
    target, fine = _delta(delta), _tolerance(tolerance)
    found = [_epsilon(items, target, fine) for items in in_both_orders(event)]
    return Bracket(max(b.lower for b in found), max(b.upper for b in found))


def upper_epsilon(event: Event, delta: Number, tolerance: float = 1e-4) -> float:
    """The upper end of :func:`epsilon` alone, which is cheaper.

    >>> from curador.accounting.events import GaussianNoise
    >>> round(upper_epsilon(GaussianNoise(sigma=1, sensitivity=1), 1e-5), 4)
    4.3772
    """
    target, fine = _delta(delta), _tolerance(tolerance)
    return max(_epsilon(items, target, fine, lower=False).upper for items in in_both_orders(event))


def delta(event: Event, epsilon: Number, tolerance: float = 1e-4) -> Bracket:
    """The smallest delta for which the event is (epsilon, delta)-DP, as a bracket.

    Guarantee: as for :func:`epsilon`; the ends are about what delta is at epsilon minus and plus half the tolerance.

    >>> from curador.accounting.events import PureLoss
    >>> bracket = delta(30 * PureLoss(1), epsilon=20)
    >>> round(bracket.lower, 6), round(bracket.upper, 6)
    (0.083594, 0.083594)
    """
    e, fine = up(_at_least_0(epsilon)), _tolerance(tolerance)
    found = [_delta_at(items, e, fine) for items in in_both_orders(event)]
    return Bracket(max(b.lower for b in found), max(b.upper for b in found))


def _delta(x: Number) -> float:
    value = rational(x, "delta")
    if not 0 <= value < 1:
        raise InvalidParameter(f"delta must lie in [0, 1), got {x}.", fix="Choose delta well below 1/n, such as 1e-6.")
    return float(value)


def _at_least_0(x: Number) -> float:
    value = rational(x, "epsilon")
    if value < 0:
        raise InvalidParameter(f"epsilon must be at least 0, got {x}.", fix="Choose epsilon >= 0.")
    return value


def _tolerance(x: float) -> float:
    if not 0 < x < math.inf:
        raise InvalidParameter(f"tolerance must be above 0, got {x}.", fix="Choose a tolerance such as 1e-4.")
    return max(float(x), 1e-9)


# ---- one order of the neighbours -------------------------------------------------------------------------------


def _epsilon(items: list[Item], delta: float, tolerance: float, lower: bool = True) -> Bracket:
    known = Extremes.of(items)
    low, high = known.epsilon_floor(delta), known.epsilon_ceiling(delta)
    if delta <= known.infinite.lower or high - low <= tolerance or not (found := look(items, delta)):
        return Bracket(min(low, high), high)
    k, aim, tail = found
    for attempt in range(_TRIES):
        wanted = tolerance * max(1.0, aim.epsilon) / 8**attempt
        profile = build(items, made_for(items, k, aim, tail, wanted), tail, lower)
        fine, rate = wanted / 1000, profile.band.theta
        high = min(high, crossing(lambda e: _log_ratio(profile.upper(e), delta), aim.epsilon, rate, fine)[1])
        if not lower:
            break
        low = max(low, crossing(lambda e: _log_ratio(profile.lower(e), delta), min(high, aim.epsilon), rate, fine)[0])
        if high - low <= tolerance * max(1.0, low) or any(item.above is not item.below for item in items):
            break
    return Bracket(min(low, high), high)


def look(items: list[Item], delta: float) -> tuple[Floats, Aim, float] | None:
    """Cumulants, where to aim, and how much of a tail may count as infinite, so that delta hardly changes."""
    share = delta * _SHARE / sum(item.count for item in items)
    tail = max(_LEAST_TAIL, share)
    while True:
        k, infinite = all_cumulants(items, tail)
        if infinite < delta and math.isfinite((aim := for_delta(k, math.log(delta - infinite))).epsilon):
            # Of what counts as infinite, P has little, or Q has little even after a factor of exp(epsilon).
            enough = max(_LEAST_TAIL, share * math.exp(-min(600.0, aim.epsilon)))
            if infinite <= delta * _SHARE or tail <= 2 * enough:
                return k, aim, tail
            tail = max(enough, tail * 1e-20)
        elif tail > _LEAST_TAIL:
            tail = max(_LEAST_TAIL, tail * 1e-20)
        else:
            return None


def all_cumulants(items: list[Item], tail: float) -> tuple[Floats, float]:
    """The cumulants of a composition, and the probability of a loss that counts as infinite."""
    k, log_finite = np.zeros(1), 0.0
    for item in items:
        each, infinite = cumulants(item.above, tail)
        k = k + item.count * each
        log_finite += item.count * math.log1p(-min(infinite, 1 - 1e-16))
    return k, -math.expm1(log_finite)


def _delta_at(items: list[Item], epsilon: float, tolerance: float) -> Bracket:
    known = Extremes.of(items)
    low = known.delta_floor(epsilon)
    if epsilon >= known.ceiling or known.infinite.lower == 1:
        return Bracket(low, known.infinite.upper)
    total = sum(item.count for item in items)
    share = _SHARE / total * math.exp(-min(600.0, epsilon))
    k, infinite = all_cumulants(items, max(_LEAST_TAIL, 1e-40 * share))
    aim = for_epsilon(k, epsilon)
    tail = max(_LEAST_TAIL, share * max(infinite, math.exp(min(0.0, log_chernoff(k, aim)))))
    k, _ = all_cumulants(items, tail)
    aim = for_epsilon(k, epsilon)
    profile = build(items, made_for(items, k, aim, tail, tolerance * max(1.0, epsilon)), tail, True)
    high = profile.upper(epsilon)
    # Far below the mean loss rounding hides how near delta is to 1, but delta is larger there than further up.
    low = max(low, *(profile.lower(e) for e in np.linspace(epsilon, max(epsilon, mean(k)), 9).tolist()))
    return Bracket(min(low, high), high)


def made_for(items: list[Item], k: Floats, aim: Aim, tail: float, tolerance: float) -> Plan:
    """A plan for these items, whose cumulants are k, and an answer near ``aim``."""

    def decay(theta: float, omega: Floats) -> Floats:
        return reduce(np.add, (i.count * _slower(i, theta, omega, tail) for i in items))

    band, mu = band_for(k, aim, decay, tolerance)
    rough = ((item.above, item.count) for item in items if not item.above.exact)
    return Plan(band, mu, cells_needed(rough, band.theta, tail, tolerance))


def _slower(item: Item, theta: float, omega: Floats, tail: float) -> Floats:
    decay = item.above.log_decay(theta, omega, tail)
    return decay if item.below is item.above else np.maximum(decay, item.below.log_decay(theta, omega, tail))


def build(items: list[Item], plan: Plan, tail: float, lower: bool) -> Profile:
    """The profile of a composition."""
    above = below = nothing(plan.band)
    for item in items:
        more, less = leaf(item, plan, tail, lower)
        above, below = above + more.times(item.count), below + less.times(item.count)
    return finish(plan, above, below)


def leaf(item: Item, plan: Plan, tail: float, lower: bool = True) -> tuple[Spectrum, Spectrum]:
    """The spectra of one event: of a pair that dominates it, and of a pair that it dominates."""
    above = of_pair(item.above, plan.band, plan.cells, tail, connect)
    if not lower or (item.above is item.below and item.above.exact):
        return above, above
    return above, of_pair(item.below, plan.band, plan.cells, tail, merge)


def finish(plan: Plan, above: Spectrum, below: Spectrum) -> Profile:
    """The profile of two composed spectra, with the plan's normal loss added to both."""
    if plan.mu:
        extra = of_pair(Normal(plan.mu), plan.band, 0, 0.0, connect)
        above, below = above + extra, below + extra
    return Profile(plan.band, above, below, plan.mu)


def _log_ratio(x: float, y: float) -> float:
    return math.log(x) - math.log(y) if x > 0 else -math.inf


def crossing(f: Callable[[float], float], start: float, rate: float, tolerance: float) -> tuple[float, float]:
    """Two points at most ``tolerance`` apart, f above 0 at the first and not at the second; f falls about as -rate x.

    If f is nowhere above 0 from 0 on, both are 0; if it seems never to come down, the second is infinite.

    >>> a, b = crossing(lambda x: 1 - x, 3.0, 1.0, 1e-9)
    >>> a < 1 <= b
    True
    """
    right, y = start, f(start)
    left, high = right, y
    step = tolerance
    while y > 0:  # go right
        step = max(2 * step, min(1.5 * y, 10.0) / rate)
        left, high, right = right, y, right + step
        y = f(right)
        if step > _FAR * (1 + start):
            return left, math.inf
    while high <= 0:  # go left
        if left == 0:
            return 0.0, 0.0
        step = max(2 * step, min(-1.5 * high, 10.0) / rate)
        right, y, left = left, high, max(0.0, left - step)
        high = f(left)
    for _ in range(64):
        if right - left <= tolerance:
            break
        middle = left + (right - left) * (high / (high - y) if y > -math.inf else 0.5)
        # A little to the side of the root, so that the next point is likely to close in from there.
        middle += tolerance / 3 if middle - left < right - middle else -tolerance / 3
        middle = min(max(middle, left + 0.05 * (right - left)), right - 0.05 * (right - left))
        value = f(middle)
        if value > 0:
            left, high = middle, value
        else:
            right, y = middle, value
    return left, right
