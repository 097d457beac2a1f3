"""The Rényi curve of an event: a bound on the divergence between neighbours for every order above 1.

Curves add up under adaptive composition, which is their use [Mir17].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from curador.accounting import events as ev
from curador.accounting.events.made import made_of
from curador.accounting.precise import open_order
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi_rules import renyi_rule, renyi_values
from curador.errors import InvalidParameter
from curador.numbers import Number, up
from curador.privacy import RenyiDP

ORDERS: tuple[float, ...] = (
    *(1 + x / 100 for x in (1, 2, 5)),
    *(1 + x / 10 for x in range(1, 100)),
    *(float(x) for x in range(11, 64)),
    *(float(x) for x in (72, 80, 96, 128, 160, 192, 256, 384, 512, 1024)),
)
"""The default orders of curves."""


MANY_SLOW = 128
"""The most different events whose curves each take a good part of a second."""


def renyi(event: ev.Event, alpha: Number) -> float:
    """Bound the Rényi divergence of order alpha between neighbours; order infinity is pure epsilon.

    Guarantee: (alpha, value)-Rényi DP [Mir17].
    Fails: orders of 1 or less are refused.

    >>> renyi(ev.GaussianNoise(sigma=2, sensitivity=1), 8)
    1.0
    >>> renyi(2 * ev.LaplaceNoise(scale=1, sensitivity=1), math.inf)
    2.0
    """
    if alpha == math.inf:
        pure = pure_epsilon(event)
        return math.inf if pure == math.inf else up(Fraction(pure))
    return renyi_rule(event, open_order(alpha))


def renyi_curve(event: ev.Event, orders: Iterable[Number] = ORDERS) -> RenyiDP:
    """The event's guarantee at each of the orders.

    >>> renyi_curve(ev.GaussianNoise(sigma=1, sensitivity=1), [2, 4])
    RenyiDP(curve=((2.0, 1.0), (4.0, 2.0)))
    """
    given = list(orders)
    if len(_slow(event)) > MANY_SLOW:
        raise InvalidParameter(
            f"There are more than {MANY_SLOW} different private selections, or epochs of balls in bins, in this event.",
            fix="Give alike ones the same parameters, or account for parts and add up their guarantees.",
        )
    if isinstance(event, ev.Composed) and len(event.parts) == 1 and event.parts[0][1] == 1:
        event = event.parts[0][0]
    if not event.depth:  # a single mechanism: its closed form, to the last digit
        return RenyiDP([(a, renyi(event, a)) for a in given])
    finite = np.array([up(open_order(a)) for a in given if a != math.inf])
    found = iter(renyi_values(event, finite).tolist())
    return RenyiDP([(a, renyi(event, a) if a == math.inf else next(found)) for a in given])


def _slow(event: ev.Event) -> set[ev.Event]:
    """The different events inside this one, itself too, whose curves are slow."""
    found = {event} if event.slow else set()
    return found.union(*map(_slow, made_of(event)))
