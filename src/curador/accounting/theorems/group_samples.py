"""A group, or one person with several records, in a Poisson sample.

A random number of them takes part.

k units that join or leave together are in the sample j at a time with binomial chances.  They move a Gaussian release
by at most j steps.  The law with them is a mixture of normal laws.  The worst case is that all moves point the same
way, by Kahane's inequality for convex functions of sums of log-normal variables (docs/proofs/batches.md, 5).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from curador.accounting.events import Event, PoissonSampled, set_made_of
from curador.accounting.events.base import read_chance
from curador.accounting.pld.cells import Cells, Floats
from curador.accounting.pld.noise_pairs import Normal, normal_masses, reach
from curador.accounting.pld.pairs import ERROR, Ends, Pair, Points
from curador.accounting.pld.rules import Orders, orders, taken
from curador.accounting.precise import natural_log, nearest
from curador.accounting.rules.costs import Losses, plain_sum
from curador.accounting.rules.groups import for_group
from curador.accounting.rules.profiles import has_samples, log_delta_rule, pure_epsilon
from curador.accounting.rules.renyi_rules import renyi_rule
from curador.accounting.theorems.blends import Blend
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import above, log2_floor, rational, up, whole
from curador.privacy import Neighbors

MOST = 64
"""The largest group with a mixture of its own; a larger one counts as taking part together, or not at all."""

_BITS = 128  # of a rate; with size 64 weights keep 120
_MOST_TERMS = 2**22  # of a moment; beyond, the group counts as one unit
_SILENT = Points(0.0, (0.0, 1.0, 0.0))


@dataclass(frozen=True)
class GroupSampled(Event, kind="group-sampled"):
    """The event on a Poisson sample, as seen by ``size`` units that join or leave together.

    Under replace they change together.

    Assumes: the units of a group are all in one database and none in the other, as all records of a person are.  Some
        must not join while others leave.

    >>> from curador import accounting as acc
    >>> from curador.accounting.events import GaussianNoise
    >>> step = PoissonSampled(GaussianNoise(sigma=2, sensitivity=1), rate="0.01")
    >>> acc.for_group(step, 4)
    GroupSampled(event=GaussianNoise(...), rate=Fraction(1, 100), size=4, ...)
    >>> round(acc.epsilon(1000 * acc.for_group(step, 4), 1e-5).upper, 2)
    2.89
    """

    grouped: ClassVar[bool] = True
    event: Event
    rate: Fraction
    size: int
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.event, Event) or has_samples(self.event):
            raise InvalidParameter(
                "A group in a sample has an event that is not sampled again.", fix="Use for_group() of the sample."
            )
        set_made_of(self, [self.event], rate=read_chance(self.rate, "rate"), size=whole(self.size, "size", 1))

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The chances that 0, 1, … of the group are in the sample."""
        return _weights(self.rate, self.size)

    @property
    def as_one(self) -> bool:
        """Whether the group counts as one unit.

        It does if it is too large for chances of its own, or if all or none take part.
        """
        return self.size > MOST or self.rate in (0, 1)

    @property
    def together(self) -> PoissonSampled:
        """The group as one unit that takes part if any of its members does."""
        return together(self.event, self.rate, self.size)


@lru_cache(maxsize=64)
def _weights(rate: Fraction, size: int) -> tuple[Fraction, ...]:
    """Compute the binomial chances.

    For a rate of very many digits they are right to 2**-120 of themselves, far inside the pairs' error.
    """
    taken, left = (_short(x) for x in (rate, 1 - rate))
    return tuple(math.comb(size, j) * taken**j * left ** (size - j) for j in range(size + 1))


def _short(x: Fraction) -> Fraction:
    if not x or max(x.numerator.bit_length(), x.denominator.bit_length()) <= _BITS:
        return x
    shift = Fraction(2) ** (log2_floor(x) - _BITS)
    return round(x / shift) * shift


@lru_cache(maxsize=64)
def _logs(weights: tuple[Fraction, ...]) -> tuple[Floats, Floats]:
    """The numbers j whose chance is not 0, and the logarithms of those chances."""
    found = [(j, natural_log(w)) for j, w in enumerate(weights) if w]
    return np.array([float(j) for j, _ in found]), np.array([x for _, x in found])


@lru_cache(maxsize=64)
def together(event: Event, rate: Fraction, size: int) -> PoissonSampled:
    """A group as one unit, in the sample if any of its members is: k steps, at the rate 1 - (1 - q)**k."""
    some = Fraction(1) - (1 - rate) ** size if size <= MOST else min(Fraction(1), size * rate)
    return PoissonSampled(for_group(event, size), min(Fraction(1), rational(up(some))))


def group_sampled(event: PoissonSampled, k: int) -> Event:
    """The rule of :func:`for_group` for a Poisson sample."""
    size = whole(k, "k", 1)
    if has_samples(event.event):
        raise NotPromised("No theorem here covers a group in a sample of a sample.", fix="Sample the innermost event.")
    if size == 1:
        return event
    found = GroupSampled(event.event, event.rate, size)
    if found.as_one or (event.neighbors is not Neighbors.REPLACE and _variance(event.event) is None):
        _ = found.together  # refused now if k steps have no known bound
    return found


def _variance(event: Event) -> float | None:
    """The mu**2 of Gaussian noise."""
    try:
        found = orders(event)
    except NotPromised:
        return None
    return found[0][0].variance or None if len(found) == 1 and found[0][0] is found[0][1] else None


# ---- rules -------------------------------------------------------------------------------------------------------


@pure_epsilon.register
def _(event: GroupSampled) -> Fraction | float:
    return pure_epsilon(event.together)


@plain_sum.register
def _(event: GroupSampled) -> Losses:
    return plain_sum(event.together)


@log_delta_rule.register
def _(event: GroupSampled, epsilon: Fraction) -> float:
    if not event.as_one and (event.neighbors is Neighbors.REPLACE or _variance(event.event) is not None):
        raise NotPromised("No closed form gives delta for a mixture.", fix="Use the privacy-loss distributions.")
    return log_delta_rule(event.together, epsilon)


@renyi_rule.register
def _(event: GroupSampled, alpha: Fraction) -> float:
    bound = renyi_rule(event.together, alpha)
    if event.as_one:
        return bound
    power = nearest(alpha - 1)
    if event.neighbors is Neighbors.REPLACE:  # the number that takes part may show: the mean of exp((alpha - 1) D)
        each = [renyi_rule(for_group(event.event, j), alpha) if j else 0.0 for j in range(event.size + 1)]
        if math.inf in each:
            return bound
        logs = [power * d + natural_log(w) for d, w in zip(each, event.weights, strict=True) if w]
        return min(bound, above(max(0.0, _log_sum(logs) + 1e-13) / power))
    variance = _variance(event.event)
    if variance is None:
        return bound
    moments = (_log_moment(math.sqrt(variance), event.weights, a) for a in (nearest(alpha), -power))
    return min(bound, above(max(0.0, *moments) / power))


def _log_sum(logs: Iterable[float]) -> float:
    terms = list(logs)
    top = max(terms)
    return top + math.log(math.fsum(math.exp(x - top) for x in terms))


def _log_ratio(z: Floats, mu: float, weights: tuple[Fraction, ...]) -> Floats:
    """Compute log A(z), A = sum of w_j exp(j mu z - j**2 mu**2 / 2): the ratio of the mixture to N(0, 1)."""
    j, logs = (x[:, None] for x in _logs(weights))
    rows = logs + j * mu * z - j * j * mu * mu / 2
    top = rows.max(axis=0)
    return np.asarray(top + np.log(np.exp(rows - top).sum(axis=0)))


def _log_moment(mu: float, weights: tuple[Fraction, ...], a: float) -> float:
    """Bound log E[A**a] for z normal, from above, by the trapezoidal rule on the whole line.

    A is a polynomial in exp(mu z) of degree k with positive coefficients.  For |Im z| <= c = pi / (3 k mu) its terms
    lie within 60 degrees.  So A(Re z) / 2 <= |A| <= A(Re z), and the rule errs by exp(-depth) of the moment.
    """
    k = len(weights) - 1
    depth = 60 + max(0.0, -a) * math.log(2)
    c = min(8.0, math.pi / (3 * k * mu))
    step = 2 * math.pi * c / (c * c / 2 + depth)
    # A**a climbs no faster than exp(a k mu z), and for a < 0 it is at most w_0**a.
    far = math.sqrt(2 * depth + 2 * max(0.0, -a) * -natural_log(weights[0]))
    top_node = max(0.0, a) * k * mu + far
    if (far + top_node) / step * len(weights) > _MOST_TERMS:
        return math.inf
    z = np.arange(-math.ceil(far / step), math.ceil(top_node / step) + 1.0) * step
    logs = a * _log_ratio(z, mu, weights) - z * z / 2
    top = float(logs.max())
    total = top + math.log(float(np.exp(logs - top).sum())) + math.log(step / math.sqrt(2 * math.pi))
    size = abs(top) + float(np.abs(z[np.argmax(logs)])) ** 2
    return total + 1e-13 + 2.0**-48 * size


@taken.register
def _(event: GroupSampled) -> tuple[Event, Fraction]:
    return event.event, event.rate


@orders.register
def _(event: GroupSampled) -> Orders:
    if event.as_one:
        # For a group that is too large, a single member attains the lower end.
        most = orders(event.together)
        known = orders(PoissonSampled(event.event, event.rate)) if event.size > MOST else most
        # A pair that is the same in both directions appears once.
        most, known = most * (len(known) if len(most) == 1 else 1), known * (len(most) if len(known) == 1 else 1)
        return tuple((worst, low) for (worst, _), (_, low) in zip(most, known, strict=True))
    if event.neighbors is Neighbors.REPLACE:
        parts = [(w, orders(for_group(event.event, j))) for j, w in enumerate(event.weights) if j]
        if any(len(found) > 1 for _, found in parts):
            raise NotPromised("No theorem here covers a group in this sample.", fix="Sample another event.")
        mixed = Blend(((event.weights[0], _SILENT), *((w, found[0][0]) for w, found in parts)))
        # A single member may be all that matters.
        return ((mixed, orders(PoissonSampled(event.event, event.rate))[0][1]),)
    variance = _variance(event.event)
    if variance is None:
        alone = orders(PoissonSampled(event.event, event.rate))
        return tuple((worst, low) for (worst, _), (_, low) in zip(orders(event.together), alone, strict=True))
    pairs = (NormalMixture(math.sqrt(variance), event.weights, added) for added in (False, True))
    return tuple((pair, pair) for pair in pairs)


@dataclass(frozen=True)
class NormalMixture(Pair):
    """The mixture of N(j mu, 1), j = 0, 1, …, with these weights against N(0, 1).

    ``added`` exchanges the two.
    """

    mu: float
    weights: tuple[Fraction, ...]
    added: bool

    @property
    def closed(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return 8 * ERROR + 2.0**-50 * float(-_logs(self.weights)[1].min())

    def extent(self, theta: float) -> float:
        return Normal((len(self.weights) - 1) * self.mu).extent(theta)

    def ends(self) -> Ends:
        return Ends(-natural_log(self.weights[0]) if self.added else math.inf, 0.0, 0.0)

    def cells(self, count: int, tail: float) -> Cells:
        far, k = reach(tail), len(self.weights) - 1
        zero = self._even()
        x = np.union1d(np.linspace(-far, max(far, k * self.mu + 1), count), [zero])
        loss = _log_ratio(x, self.mu, self.weights)
        # The ratio climbs with x; rounding must not contradict that, and at the even point it is 0.
        loss = np.maximum.accumulate(np.where(x < zero, np.minimum(loss, 0.0), np.maximum(loss, 0.0)))
        loss[x == zero] = 0.0
        p = sum(nearest(w) * normal_masses(x - j * self.mu) for j, w in enumerate(self.weights))
        q, low, high = normal_masses(x), np.append(-math.inf, loss), np.append(loss, math.inf)
        if self.added:
            return Cells(-high, -low, q, np.asarray(p))
        return Cells(low, high, np.asarray(p), q)

    def _even(self) -> float:
        """The point where the ratio is 1: A climbs from w_0 < 1 without end."""
        low, high = -1.0, 1.0
        while float(_log_ratio(np.array([high]), self.mu, self.weights)[0]) < 0:
            high *= 2
        while float(_log_ratio(np.array([low]), self.mu, self.weights)[0]) > 0:
            low *= 2
        for _ in range(80):
            middle = (low + high) / 2
            above_one = float(_log_ratio(np.array([middle]), self.mu, self.weights)[0]) > 0
            low, high = (low, middle) if above_one else (middle, high)
        return high
