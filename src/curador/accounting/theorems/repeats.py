"""Private selection: run a mechanism a random number of times, and show only the best output.

Tuning hyperparameters is the usual case: each run draws a setting at random, trains and scores; the best is released.
The number of runs must be drawn from one of the laws here, never fixed in advance [LT19, PS22].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from curador.accounting import convert
from curador.accounting.events import Event, set_made_of
from curador.accounting.events.base import LARGEST_LOSS
from curador.accounting.precise import exp_upper, nearest
from curador.accounting.rules.profiles import log_delta_rule, pure_epsilon
from curador.accounting.rules.renyi import ORDERS
from curador.accounting.rules.renyi_rules import Floats, curve_rule, renyi_rule, renyi_values
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import above, below, positive, probability, rational, up
from curador.privacy import Neighbors

DEEPEST_SELECTION = 4
"""The deepest nesting of selections."""


@dataclass(frozen=True)
class RepeatAndSelect(Event, kind="repeat-and-select"):
    """The best of K runs of the event, K of a truncated negative binomial law.

    P(K = k) is proportional to (1 - gamma)**k C(k + shape - 1, k) for k >= 1.  Shape 1 is geometric with mean 1 /
    gamma, shape 0 logarithmic.

    Assumes: "best" is by an order of the outputs that does not depend on the data.  Scores are part of the output, so
        the event pays for them.  Neither K nor any other output is shown.

    >>> from curador import accounting as acc
    >>> from curador.accounting.events import LaplaceNoise
    >>> tuned = RepeatAndSelect(LaplaceNoise(scale=10, sensitivity=1), shape=1, gamma="0.1")
    >>> float(pure_epsilon(tuned))
    0.3
    """

    slow: ClassVar[bool] = True

    event: Event
    shape: Fraction
    gamma: Fraction
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        shape, gamma = rational(self.shape, "shape"), probability(self.gamma, "gamma")
        if not (shape > -1 and 0 < gamma < 1):
            raise InvalidParameter(
                f"shape must be above -1 and gamma between 0 and 1, got {self.shape} and {self.gamma}.",
                fix="Use shape=1 and gamma = 1 / mean for a geometric number of runs.",
            )
        for name, size in (("shape", abs(shape)), ("gamma", gamma), ("1 - gamma", 1 - gamma)):
            _check_size(size, name)
        set_made_of(self, [_selected(self.event)], shape=shape, gamma=gamma)

    @property
    def mean(self) -> float:
        """The mean number of runs, from above.

        >>> from curador.accounting.events import LaplaceNoise
        >>> round(RepeatAndSelect(LaplaceNoise(1, 1), shape=1, gamma="0.1").mean, 9)
        10.0
        """
        eta, odds = nearest(self.shape), nearest((1 - self.gamma) / self.gamma)
        if self.shape == 0:
            return above(odds / self.lost)
        return above(eta * odds / -math.expm1(-eta * self.lost), 2.0**-40)

    @property
    def lost(self) -> float:
        """-log(gamma), also next to 1."""
        near = self.gamma > Fraction(1, 2)
        return -math.log1p(-nearest(1 - self.gamma)) if near else -math.log(self.gamma)


@dataclass(frozen=True)
class PoissonRepeatAndSelect(Event, kind="poisson-repeat-and-select"):
    """The best of K runs of the event, K of a Poisson law; with K = 0 a public value.

    Assumes: as :class:`RepeatAndSelect`.

    >>> from curador.accounting.events import GaussianNoise
    >>> from curador import accounting as acc
    >>> acc.epsilon(PoissonRepeatAndSelect(GaussianNoise(10, 1), mean=20), 1e-6).upper < 1.2
    True
    """

    slow: ClassVar[bool] = True

    event: Event
    mean: Fraction
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        mean = positive(self.mean, "mean")
        _check_size(mean, "mean")
        set_made_of(self, [_selected(self.event)], mean=mean)


def _check_size(x: Fraction, name: str) -> None:
    if x and not 1 / LARGEST_LOSS <= x <= LARGEST_LOSS:
        raise InvalidParameter(
            f"{name} is beyond 1e100, or below 1e-100.", fix="Choose a number of runs that is meant."
        )


def _selected(event: Event) -> Event:
    if _nesting(event) >= DEEPEST_SELECTION:
        raise InvalidParameter(
            f"A best of bests is at most {DEEPEST_SELECTION} deep.",
            fix="Select once among all runs.",
        )
    return event


def _nesting(event: object) -> int:
    """The number of nested selections."""
    own = isinstance(event, RepeatAndSelect | PoissonRepeatAndSelect)
    inner = [getattr(event, "event", None), *getattr(event, "parts", ())]
    found = (_nesting(e[0] if isinstance(e, tuple) else e) for e in inner if e is not None)
    return own + max(found, default=0)


# ---- rules -------------------------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: RepeatAndSelect, alpha: Fraction) -> float:
    return _selected_renyi(event, nearest(alpha), renyi_rule(event.event, alpha))


@curve_rule.register
def _(event: RepeatAndSelect, orders: Floats) -> Floats:
    inner = zip(orders.tolist(), renyi_values(event.event, orders).tolist(), strict=True)
    return np.array([_selected_renyi(event, a, d) for a, d in inner])


def _selected_renyi(event: RepeatAndSelect, alpha: float, divergence: float) -> float:
    """[PS22, Theorem 2], at this order or, since divergences grow with the order, at a larger one."""
    more, mean = _more(event), math.log(event.mean)
    runs = [(alpha, divergence), *(x for x in _curve(event.event) if x[0] > alpha)]
    found = min(d + max(0.0, mean) / (a - 1) for a, d in runs) + more
    pure = pure_epsilon(event)
    bound = math.inf if pure == math.inf else up(Fraction(pure))
    return min(bound, above(found, 2.0**-40) if found < math.inf else math.inf)


@lru_cache(maxsize=256)
def _curve(event: Event) -> tuple[tuple[float, float], ...]:
    """The curve at the usual orders; for an event made of others in doubles, since there may be many."""
    if event.depth:
        return tuple(zip(ORDERS, renyi_values(event, np.array(ORDERS)).tolist(), strict=True))
    return tuple((a, renyi_rule(event, rational(a))) for a in ORDERS)


@lru_cache(maxsize=256)
def _more(event: RepeatAndSelect) -> float:
    """(1 + shape) times the least of (1 - 1/a) D_a - log(gamma) / a over orders a."""
    terms = [(1 - 1 / a) * d + event.lost / a for a, d in _curve(event.event)]
    pure = pure_epsilon(event.event)
    if pure != math.inf:
        terms.append(nearest(Fraction(pure)))
    return above(nearest(1 + event.shape) * min(terms))


@renyi_rule.register
def _(event: PoissonRepeatAndSelect, alpha: Fraction) -> float:
    return _poisson_renyi(event, nearest(alpha - 1), renyi_rule(event.event, alpha))


@curve_rule.register
def _(event: PoissonRepeatAndSelect, orders: Floats) -> Floats:
    inner = zip(orders.tolist(), renyi_values(event.event, orders).tolist(), strict=True)
    return np.array([_poisson_renyi(event, a - 1, d) for a, d in inner])


def _poisson_renyi(event: PoissonRepeatAndSelect, power: float, divergence: float) -> float:
    """Bound the divergence by [PS22, Theorem 6].

    The sum is D, the mean times delta(e) where exp(e) <= 1 + 1/(alpha - 1), and log(mean)/(alpha - 1).
    """
    at = _delta(event.event, rational(max(0.0, below(math.log1p(1 / power)))))
    return above(divergence + nearest(event.mean) * at + max(0.0, math.log(event.mean)) / power, 2.0**-40)


@lru_cache(maxsize=1024)
def _delta(event: Event, epsilon: Fraction) -> float:
    try:
        return exp_upper(log_delta_rule(event, epsilon))
    except NotPromised:
        return convert.renyi_delta(dict(_curve(event)), epsilon).value


@pure_epsilon.register
def _(event: RepeatAndSelect) -> Fraction | float:
    inner = pure_epsilon(event.event)
    return inner if inner == math.inf else (2 + event.shape) * Fraction(inner)


@pure_epsilon.register
def _(event: PoissonRepeatAndSelect) -> Fraction | float:
    """The limit of the curve: epsilon, and the mean times the total variation."""
    inner = pure_epsilon(event.event)
    return inner if inner == math.inf else Fraction(inner) + event.mean * rational(_delta(event.event, Fraction(0)))
