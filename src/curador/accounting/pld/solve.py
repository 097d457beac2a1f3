"""epsilon for a delta and delta for an epsilon, each as a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from numbers import Real

import numpy as np

from curador.accounting.bracket import Bracket
from curador.accounting.events import Event
from curador.accounting.pld.cells import Atoms, Cells, connect, merge
from curador.accounting.pld.extremes import CountedPair, Extremes, in_both_orders
from curador.accounting.pld.noise_pairs import Normal
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.profile import Profile
from curador.accounting.pld.spectrum import Spectrum, nothing, of_pair, of_stack
from curador.accounting.pld.window import THETAS, Window, for_epsilon, look_at_epsilon, look_for_epsilon, plan_for
from curador.accounting.rules.costs import plain_sum
from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import CuradorError, InvalidParameter, NotPromised
from curador.numbers import Number, above, below, down, nonnegative, rational, up

LEAST_DELTA = 1e-290
"""The least delta, except 0, with an epsilon: below it, underflow may lose more than a small part."""

_MOST = 10**300
APART = 8
"""The number of epsilons of a curve that share a distribution."""

_PLAIN = 1e-6  # a delta for which a first look is good enough
_TRIES = 3  # the number of finer plans for a bracket that came out too wide
_FAR = 1e6
_LARGEST = 1e6  # the largest loss with a promise
ROOT = 1e-5  # the distance from its root at which following a bound ends, as a share of the tolerance
_SURELY = 1 - 2.0**-30
_DECIMAL = 2.0**-51  # relative: a float stands for the decimal that it prints as


def epsilon(event: Event, delta: Number, tolerance: float = 1e-4) -> Bracket:
    """The smallest epsilon for which the event is (epsilon, delta)-DP, as a bracket.

    Guarantee: the event is (upper, delta)-DP under adaptive composition of its parts [ZDW22].  Some mechanism that it
        describes is not (e, delta)-DP for any e below ``lower``.  Every error of the computation is inside
        (docs/proofs/pld.md).  The bracket is meant to be narrower than ``tolerance``, times epsilon if that is above 1.
        Where that is impossible it is wider, and ``upper`` may be infinite.
    Assumes: the events and their counts are fixed in advance; for costs chosen on the way use a filter.
    Fails: NotPromised for events without a known dominating pair.

    >>> from curador.accounting.events import GaussianNoise, PoissonSampled
    >>> epsilon(10_000 * PoissonSampled(GaussianNoise(sigma=1, sensitivity=1), rate="0.01"), delta=1e-5)
    Bracket(lower=6.187712..., upper=6.187712...)
    """
    target, fine = read_delta(delta), read_tolerance(tolerance)
    found = worst(partial(_epsilon, items, target, fine) for items in in_both_orders(event))
    most = min(found.upper, _plain(event, delta))
    most = most if target else without_delta(event, most)
    return Bracket(min(found.lower, most), most)


def upper_epsilon(event: Event, delta: Number, tolerance: float = 1e-4) -> float:
    """The upper end of :func:`epsilon` alone, which is cheaper.

    >>> from curador.accounting.events import GaussianNoise
    >>> round(upper_epsilon(GaussianNoise(sigma=1, sensitivity=1), 1e-5), 4)
    4.3772
    """
    target, fine = read_delta(delta), read_tolerance(tolerance)
    found = worst(partial(_epsilon, items, target, fine, lower=False) for items in in_both_orders(event)).upper
    most = min(found, _plain(event, delta))
    return most if target else without_delta(event, most)


def _plain(event: Event, delta: Number) -> float:
    """The sum of epsilons if the sum of deltas is at most this.

    It is exact, where a bracket would be just above.
    """
    total, lost = plain_sum(event)
    return up(total) if isinstance(total, Fraction) and lost <= rational(delta) else math.inf


def delta(event: Event, epsilon: Number, tolerance: float = 1e-3) -> Bracket:
    """The smallest delta for which the event is (epsilon, delta)-DP, as a bracket.

    Guarantee: as for :func:`epsilon`.  The bracket is meant to be narrower than ``tolerance`` times delta.

    >>> from curador.accounting.events import PureLoss
    >>> bracket = delta(30 * PureLoss(1), epsilon=21)
    >>> round(bracket.lower, 6), round(bracket.upper, 6)
    (0.048071, 0.048071)
    """
    exact, fine = nonnegative(epsilon, "epsilon"), min(1.0, read_tolerance(tolerance))
    if exact > _MOST:
        raise InvalidParameter("An epsilon above 1e300 promises nothing.", fix="Choose epsilon <= 10.")
    found = worst(partial(_delta_at, items, down(exact), fine) for items in in_both_orders(event))
    return Bracket(min(1.0, found.lower), min(1.0, _not_zero(event, exact, found.upper)))


def without_delta(event: Event, found: float) -> float:
    """The epsilon at delta 0, by distributions and the pure rule.

    Distributions lose chances below doubles; the rule does not.

    >>> from curador.accounting.events import ApproxLoss
    >>> without_delta(ApproxLoss(1, "1e-400"), found=1.0)
    inf
    """
    pure = _pure(event)
    return math.inf if pure == math.inf else max(found, math.ulp(0.0)) if pure else found


def _not_zero(event: Event, epsilon: Fraction | float, found: float) -> float:
    """A delta by distributions, at least the smallest double if the rule proves that it is not 0."""
    return max(found, math.ulp(0.0)) if found <= 0 and _pure(event) > epsilon else max(0.0, found)


def _pure(event: Event) -> Fraction | float:
    try:
        return pure_epsilon(event)
    except NotPromised:  # then only the distribution is known
        return Fraction(0)


def upper_deltas(event: Event, epsilons: Sequence[float], tolerance: float = 1e-3) -> list[float]:
    """Bound delta at each of many epsilons from above, in rising order.

    A distribution for one epsilon bounds delta at every other, and nearly as tightly at those close by.  So every
    :data:`APART` epsilons share one.

    >>> from curador.accounting.events import PureLoss
    >>> [round(d, 4) for d in upper_deltas(30 * PureLoss(1), [19.0, 21.0])]
    [0.1124, 0.0481]
    """
    found = np.zeros(len(epsilons))
    for items in in_both_orders(event):
        known = Extremes.of(items)
        top = known.epsilon_ceiling(known.infinite.upper)
        best = np.where(np.array([around(e)[0] for e in epsilons]) >= top, known.infinite.upper, 1.0)
        for i in sorted({*range(0, len(epsilons), APART), len(epsilons) - 1}):
            for profile in _profiles(items, epsilons[i], float(best[i]), tolerance) if best[i] == 1 else ():
                for j in range(max(0, i - APART), min(len(epsilons), i + APART)):
                    best[j] = min(best[j], profile.upper(around(epsilons[j])[0]))
        found = np.maximum(found, np.minimum.accumulate(best))
    return [_not_zero(event, e, float(x)) for e, x in zip(epsilons, found, strict=True)]


@np.errstate(all="ignore")
def _profiles(items: list[CountedPair], epsilon: float, high: float, tolerance: float) -> list[Profile]:
    """Distributions for delta at one epsilon, the later ones aimed better."""
    made: list[Profile] = []
    for _ in range(_TRIES - 1):
        looked = None if hopeless(items) else look_at_epsilon(items, epsilon, high * 1e-10)
        if not looked:
            break
        slope = float(THETAS[looked[1].at])
        made.append(build(items, plan_for(items, *looked, tolerance / (1 + slope), slope), False))
        high = min(high, made[-1].upper(epsilon))
        if high > _PLAIN:
            break
    return made


def worst(orders: Iterable[Callable[[float], Bracket]]) -> Bracket:
    """The larger bracket over the orders of the neighbours; its decimals, too, are on the safe side.

    Each order is given the value already attained by the others, so that it need not be exact below that.
    """
    low = high = -math.inf
    for order in orders:
        try:
            found = order(max(0.0, low))
        except CuradorError:
            raise
        except ArithmeticError:  # results beyond floats become the widest bracket
            found = Bracket(max(0.0, low), math.inf)
        low, high = max(low, found.lower), max(high, found.upper)
    if high == -math.inf:  # no order at all is not a loss of 0
        raise ValueError("A bracket is found for each order of the neighbours, and none was given.")
    return Bracket(max(0.0, below(low, _DECIMAL)), above(high, _DECIMAL))


def read_delta(x: Number) -> float:
    """Read a delta that is 0 or in [LEAST_DELTA, 1), rounded down; refuse others."""
    value = rational(x, "delta")
    if not 0 <= value < 1:
        raise InvalidParameter(f"delta must lie in [0, 1), got {x}.", fix="Choose delta well below 1/n, such as 1e-6.")
    if 0 < value < rational(LEAST_DELTA):
        raise InvalidParameter(
            f"A delta below {LEAST_DELTA:g} is smaller than what floats leave uncounted.",
            fix="Choose a larger delta, or 0 for the pure epsilon.",
        )
    return down(value)


def around(x: float) -> tuple[float, float]:
    """Floats below and above every number whose largest float below is ``x``, as decimals or as doubles."""
    if x == 0:
        return 0.0, 0.0
    return math.nextafter(x, 0.0), math.nextafter(math.nextafter(x, math.inf), math.inf)


def read_tolerance(x: float) -> float:
    """Read a tolerance above 0; below 1e-9 nothing is gained."""
    if isinstance(x, bool) or not isinstance(x, Real) or not 0 < x < math.inf:
        raise InvalidParameter(f"tolerance must be above 0, got {x}.", fix="Choose a tolerance such as 1e-4.")
    return max(float(x), 1e-9)


# ---- one order of the neighbours -------------------------------------------------------------------------------


@np.errstate(all="ignore")  # overflow makes the bracket wide, by the rules of Profile
def _epsilon(items: list[CountedPair], delta: float, tolerance: float, attained: float, lower: bool = True) -> Bracket:
    known = Extremes.of(items)
    less, more = around(delta)
    low, high = known.epsilon_floor(more), known.epsilon_ceiling(less)
    if min(delta, _SURELY) <= known.infinite.lower or high - low <= tolerance or high <= attained or hopeless(items):
        return Bracket(min(low, high), high)
    found = look_for_epsilon(items, delta)
    if not found:
        return Bracket(low, high)
    sketch, aim = found
    slope = 0.0
    for _ in range(_TRIES):
        wanted = tolerance * max(1.0, aim.epsilon)
        profile = build(items, plan_for(items, sketch, aim, wanted, slope), lower)
        start = min(high, aim.epsilon)
        high = min(high, solve_upper(profile, less, start, wanted * ROOT))
        if not lower:
            break
        low = max(low, solve_lower(profile, more, high, wanted * ROOT))
        if high - low <= tolerance * max(1.0, low) or high <= attained or high == math.inf or _loose(items):
            break
        # The answer is at an atom, or not where the moments predicted: aim again, at the slope found or more.
        aim = for_epsilon(sketch.table, high)
        slope = max(profile.slope(high), 16 * max(slope, profile.band.theta))
    return Bracket(min(low, high), high)


def hopeless(items: list[CountedPair], largest: float = _LARGEST) -> bool:
    """Whether some loss is too large for a promise, while its law would need very many frequencies."""
    return any(np.max(item.above.extent(0.0)) > largest for item in items)


def _loose(items: list[CountedPair]) -> bool:
    """Whether the two bounds are about different pairs, so that no effort brings them together."""
    return any(item.above is not item.below for item in items)


@np.errstate(all="ignore")
def _delta_at(items: list[CountedPair], epsilon: float, tolerance: float, attained: float) -> Bracket:
    known = Extremes.of(items)
    less, more = around(epsilon)  # delta falls
    low = known.delta_floor(more)
    if less >= known.epsilon_ceiling(known.infinite.upper):
        return Bracket(low, known.infinite.upper)
    high, slope = 1.0, 0.0
    for _ in range(_TRIES):
        if (
            known.infinite.lower > _SURELY
            or hopeless(items)
            or not (found := look_at_epsilon(items, epsilon, max(low, high * 1e-10)))
        ):
            break
        sketch, aim = found
        slope = max(slope, float(THETAS[aim.at]))
        profile = build(items, plan_for(items, sketch, aim, tolerance / (1 + slope), slope), True)
        high = min(high, profile.upper(less))
        # Far below the mean loss rounding hides how near delta is to 1, but delta is larger there than further up.
        low = max(low, *(profile.lower(e) for e in np.linspace(more, max(more, sketch.mean()), 9).tolist()))
        if high - low <= tolerance * high or high <= attained or _loose(items):
            break
        slope = max(profile.slope(epsilon), 16 * slope)
    return Bracket(min(low, high), high)


def build(items: list[CountedPair], plan: Window, lower: bool) -> Profile:
    """The profile of a composition."""
    more = less = nothing(plan.band)
    for item in items:
        # Frequencies without any mass left need not be found for the rest.
        kept = max(len(more.phi), len(less.phi))
        up_to, down_to = summed(item, plan, lower, kept)
        one = more is less and up_to is down_to
        more = (more + up_to).trimmed(plan.band)
        less = more if one else (less + down_to).trimmed(plan.band)
    return finish(plan, more, less)


def summed(item: CountedPair, plan: Window, lower: bool = True, kept: int | None = None) -> tuple[Spectrum, Spectrum]:
    """The spectra of an event with its count.

    One is of a pair that dominates it, the other of a pair that it dominates.
    """
    more = _summed(item.above, item, plan, connect, kept)
    if not lower or (item.above is item.below and item.above.exact(plan.band.tilts, plan.band.end, plan.tail)):
        return more, more
    return more, _summed(item.below, item, plan, merge, kept)


def _summed(pair: Pair, item: CountedPair, plan: Window, form: Callable[[Cells], Atoms], kept: int | None) -> Spectrum:
    if not isinstance(item.count, int):
        found = of_stack(pair, item.count, plan.band, plan.tail, kept)
    else:
        found = of_pair(pair, plan.band, plan.cells, plan.tail, form, kept).times(item.count)
    # Unread frequencies are unknown; a sum that lacks them has a bound of its own.
    return found if kept is None or kept >= plan.band.count else replace(found, dropped=1.0)


def finish(plan: Window, more: Spectrum, less: Spectrum) -> Profile:
    """Make the profile of two composed spectra, with the plan's normal loss added to both."""
    if plan.mu:
        extra = of_pair(Normal(plan.mu), plan.band, 0, 1.0, connect)
        more, less = more + extra, less + extra
    return Profile(plan.band, more, less, plan.mu)


def solve_upper(profile: Profile, delta: float, start: float, tolerance: float) -> float:
    """Find an epsilon at which the profile's upper bound is at most delta.

    It is infinite if there seems to be none.
    """
    return crossing(lambda e: log_ratio(profile.upper(e), delta), start, profile.band.theta, tolerance)[1]


def solve_lower(profile: Profile, delta: float, start: float, tolerance: float) -> float:
    """Find an epsilon at which the profile's lower bound is above delta, or 0."""
    return crossing(lambda e: log_ratio(profile.lower(e), delta), start, profile.band.theta, tolerance)[0]


def log_ratio(x: float, y: float) -> float:
    """Compute the logarithm of x / y, for y above 0."""
    return math.log(x / y) if x > 0 else -math.inf


def crossing(f: Callable[[float], float], start: float, rate: float, tolerance: float) -> tuple[float, float]:
    """Bracket a root: two points at most ``tolerance`` apart, f above 0 only at the first.

    f falls about as -rate x.  If f is not above 0 anywhere from 0 on, both are 0.  If it seems never to come down, the
    second is infinite.

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


def followed(
    f: Callable[[float], float], start: float, rate: float, tolerance: float, above: bool
) -> tuple[float, float] | None:
    """Follow f from ``start`` to its root; None if the root is not near.

    The result is a point about ``tolerance`` from the root, on the chosen side, and the rate.

    Guarantee: f was evaluated at the point itself, and is above 0 there, or is not, as chosen.

    >>> followed(lambda x: 2 - 2 * x, 0.9, 1.9, 1e-3, above=False)
    (1.0005..., 2.0...)
    """
    x, y = start, f(start) if start > 0 else math.inf
    for _ in range(_TRIES):
        if not abs(y) < math.inf or not rate > 0:
            break
        if above is (y > 0) and abs(y) <= rate * tolerance:
            return x, rate
        new = x + y / rate + (-tolerance if above else tolerance) / 2
        if not 0 < new < _FAR:
            break
        value = f(new)
        if abs(new - x) > tolerance:
            rate = (y - value) / (new - x)
        x, y = new, value
    return (x, rate) if above is (y > 0) and abs(y) <= rate * tolerance else None
