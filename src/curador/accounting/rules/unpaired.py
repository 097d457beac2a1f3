"""Bounds for events without a dominating pair of laws: the Rényi curve above, a mechanism below.

Concentrated losses, integer Gaussian vectors and several releases about one sample have no privacy-loss distribution
here.  Their Rényi curve holds all the same, and some mechanism that they describe has a distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from curador.accounting import convert
from curador.accounting import events as ev
from curador.accounting.bracket import Bracket
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi import renyi_curve
from curador.accounting.rules.renyi_rules import renyi_rule
from curador.errors import NotPromised
from curador.numbers import Number, probability, rational, sqrt_up, up


def unpaired_epsilon(event: ev.Event, delta: Number, tolerance: float) -> Bracket:
    """The epsilon of an event at a delta: from above by its Rényi curve, from below by :func:`attained`.

    Guarantee: the event is (upper, delta)-DP [Mir17, CKS20], and some mechanism that it describes is not
        (e, delta)-DP for any e below ``lower``.

    >>> bracket = unpaired_epsilon(ev.ZCDPLoss("0.5"), 1e-5, 1e-4)
    >>> round(bracket.lower, 3), round(bracket.upper, 3)
    (4.377, 4.729)
    """
    from curador.accounting import pld

    upper = unpaired_upper(event, delta)
    return Bracket(min(pld.epsilon(attained(event), delta, tolerance).lower, upper), upper)


def unpaired_upper(event: ev.Event, delta: Number) -> float:
    """The upper end of :func:`unpaired_epsilon` alone, which is cheaper.

    >>> round(unpaired_upper(ev.ZCDPLoss("0.5") + ev.ApproxLoss(0, "1e-6"), 1e-5), 3)
    4.752
    """
    rest, lost = _split(event)
    left = probability(delta, "delta") - lost
    if left <= 0:
        return _pure(event)
    return min(_pure(event), convert.renyi_epsilon(dict(renyi_curve(rest).curve), left).value)


def unpaired_delta(event: ev.Event, epsilon: Number, tolerance: float) -> Bracket:
    """The delta of an event at an epsilon, from above and below by the same means.

    >>> bracket = unpaired_delta(ev.ZCDPLoss("0.5"), 4, 1e-3)
    >>> f"{bracket.lower:.2e} {bracket.upper:.2e}"
    '4.71e-05 1.96e-04'
    """
    from curador.accounting import pld

    rest, lost = _split(event)
    pure, upper = _pure(event), 0.0
    if pure == math.inf or rational(pure) > rational(epsilon):
        found = rational(convert.renyi_delta(dict(renyi_curve(rest).curve), epsilon).value) + lost
        upper = up(min(Fraction(1), found))
    return Bracket(min(pld.delta(attained(event), epsilon, tolerance).lower, upper), upper)


def _pure(event: ev.Event) -> float:
    try:
        value = pure_epsilon(event)
    except NotPromised:
        return math.inf
    return up(value) if isinstance(value, Fraction) else value


def _split(event: ev.Event) -> tuple[ev.Event, Fraction]:
    """Split off the deltas that the event itself states, and return their sum.

    An (epsilon, delta)-DP release gives everything away with probability delta, and is epsilon-DP else [KOV15].  The
    union bound adds the deltas up.
    """
    kept: list[tuple[ev.Event, int]] = []
    lost = Fraction(0)
    for part, count in ev.Composed.of((event, 1)).parts:
        if isinstance(part, ev.ApproxLoss) and part.delta:
            lost += count * part.delta
            if part.epsilon:
                kept.append((ev.PureLoss(part.epsilon, part.neighbors), count))
        else:
            kept.append((part, count))
    return ev.Composed.of(*kept), min(Fraction(1), lost)


# ---- from below --------------------------------------------------------------------------------------------------


def attained(event: ev.Event) -> ev.Event:
    """An event with a known distribution; this event describes all the mechanisms that it describes.

    >>> attained(ev.DiscreteGaussianNoise(variance=4, sensitivity_squared=5, dimension=3))
    Composed(parts=((DiscreteGaussianNoise(... sensitivity_squared=1, dimension=1...
    """
    from curador.accounting.pld.rules import orders, parts

    found = attained_rule(event)
    try:
        for part, _ in parts(found):
            orders(part)
    except NotPromised:
        return ev.NOTHING  # a mechanism that releases nothing: a trivial bound, but a true one
    return found


@singledispatch
def attained_rule(event: ev.Event) -> ev.Event:
    """The rule behind :func:`attained`: register one where an event describes a mechanism of a known law."""
    return event


@attained_rule.register
def _(event: ev.ZCDPLoss) -> ev.Event:
    return ev.GaussianNoise(sqrt_up(1 / (2 * event.rho)), Fraction(1), event.neighbors)


@attained_rule.register
def _(event: ev.DiscreteGaussianNoise) -> ev.Event:
    """A shift of several coordinates, whole numbers whose squares add up to at most the sensitivity's."""
    left = event.sensitivity_squared
    shifts: list[int] = []
    while left and len(shifts) < event.dimension:
        shifts.append(math.isqrt(left))
        left -= shifts[-1] ** 2
    alone = (ev.DiscreteGaussianNoise(event.variance, s * s, 1, event.neighbors) for s in shifts)
    return ev.compose(*alone) if event.dimension > 1 else event


@attained_rule.register
def _(event: ev.PoissonSampled) -> ev.Event:
    return ev.PoissonSampled(_one(attained_rule(event.event)), event.rate)


@attained_rule.register
def _(event: ev.FixedSizeSampled) -> ev.Event:
    return ev.FixedSizeSampled(_one(attained_rule(event.event)), event.batch, event.population)


def _one(event: ev.Event) -> ev.Event:
    """The largest of several releases about one sample, if they have no joint law.

    The others may be constant.
    """
    from curador.accounting.pld.rules import orders

    try:
        orders(event)
    except NotPromised:
        return _largest([part for part, _ in ev.Composed.of((event, 1)).parts])
    return event


def _largest(events: Iterable[ev.Event]) -> ev.Event:
    """The event of the largest divergence at one order, since no number orders them all."""
    return max(events, key=lambda event: renyi_rule(event, Fraction(8)), default=ev.NOTHING)


@attained_rule.register
def _(event: ev.Composed) -> ev.Event:
    return ev.Composed.of(*((attained(part), count) for part, count in event.parts)) if event.parts else ev.NOTHING


@attained_rule.register
def _(event: ev.Parallel) -> ev.Event:
    return attained(_largest(event.parts))  # the others release nothing
