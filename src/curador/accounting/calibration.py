"""Calibration: the noise for a guarantee, the epsilon for an accuracy, the queries that fit a budget.

The accountant checks every answer before it is returned, so answers err on the side of privacy.  The noise found
keeps the promise, and a little less noise may keep it too.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, TypeVar

from curador.accounting import filters
from curador.accounting.events import Event, PoissonSampled
from curador.accounting.rules.costs import losses
from curador.accounting.rules.groups import for_group
from curador.accounting.rules.profiles import delta as profile_delta
from curador.accounting.rules.unpaired import unpaired_upper
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, positive, probability, rational, whole
from curador.privacy import ApproxDP, Guarantee

REACH = 200
"""The most doublings of the noise, or of an epsilon, before a search gives up."""

FINE = Fraction(1, 10**5)
"""The relative distance from the least noise at which a search ends."""


class HasEvent(Protocol):
    """Anything that states its event: a mechanism."""

    @property
    def event(self) -> Event: ...


class HasError(HasEvent, Protocol):
    """A mechanism that also knows its error."""

    def error(self, confidence: float = ...) -> float: ...


M = TypeVar("M", bound=HasEvent)
N = TypeVar("N", bound=HasError)


def keeps(event: Event, target: Guarantee) -> bool:
    """Whether an event, fixed in advance, is certain to keep a promise.

    >>> from curador.accounting.events import LaplaceNoise
    >>> from curador.privacy import PureDP
    >>> keeps(10 * LaplaceNoise(scale=10, sensitivity=1), PureDP(1)), keeps(11 * LaplaceNoise(10, 1), PureDP(1))
    (True, False)
    """
    # The cheapest check first, and exact checks before brackets, because mechanisms are calibrated by exact ones.  A
    # bracket's upper end is a little above the truth, so noise that just keeps a promise would fail by the bracket.
    return any(_proves(partial(way, event, target)) for way in (_by_sums, _by_profile, _by_distribution))


def _proves(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except NotPromised:  # no theorem of this kind is about the event
        return False


def _by_sums(event: Event, target: Guarantee) -> bool:
    """Check by epsilons and deltas, rhos or Rényi divergences that add up, in exact fractions."""
    currency, ceiling = filters.exact_ceiling(target)
    spent = losses(event, currency, None)
    return all(most == math.inf or x <= rational(most) for x, most in zip(spent, ceiling, strict=True))


def _by_profile(event: Event, target: Guarantee) -> bool:
    """Check by the exact profile of a single event."""
    return isinstance(target, ApproxDP) and profile_delta(event, target.epsilon) <= target.delta


def _by_distribution(event: Event, target: Guarantee) -> bool:
    """Check by privacy-loss distributions, or by the Rényi curve without them."""
    from curador.accounting import pld

    if not isinstance(target, ApproxDP) or target.delta < pld.LEAST_DELTA:
        return False
    try:
        return pld.upper_epsilon(event, target.delta) <= target.epsilon
    except NotPromised:
        return unpaired_upper(event, target.delta) <= target.epsilon


def calibrate(
    mechanism: Callable[..., M],
    target: Guarantee,
    *,
    count: int = 1,
    rate: Number | None = None,
    group: int = 1,
    **parameters: Any,
) -> M:
    """Find the mechanism with the least noise that, run ``count`` times, keeps the promise.

    ``mechanism`` is a class that takes ``scale`` or ``sigma``; the other parameters are passed to it.  With ``rate``
    each run sees a Poisson sample of the units.  The promise is to ``group`` units together, such as the records of one
    person.

    Guarantee: the result keeps ``target`` by the tight accountant; its noise is within 1e-5 of the least that does.
    Fails: NotPromised where no amount of noise keeps it.

    >>> from curador import ApproxDP, Gaussian, Laplace, PureDP
    >>> round(float(calibrate(Laplace, PureDP(1), sensitivity=2, count=10).scale), 3)
    20.0
    >>> round(float(calibrate(Gaussian, ApproxDP(1, 1e-5), sensitivity=1, count=100).sigma), 2)
    37.31
    """
    times = whole(count, "count", 1)
    names = inspect.signature(mechanism).parameters
    noise = next((name for name in ("sigma", "scale") if name in names), None)
    if noise is None:
        raise InvalidParameter(
            f"{mechanism!r} has neither sigma nor scale to choose.", fix="Calibrate a mechanism that adds noise."
        )

    def made(size: Fraction) -> M:
        return mechanism(**parameters, **{noise: size})

    def good(size: Fraction) -> bool:
        event: Event = made(size).event
        event = event if rate is None else PoissonSampled(event, probability(rate, "rate"))
        return keeps(times * for_group(event, group), target)

    return made(_least(good, "noise keeps this promise", leap=True))


def how_many(event: Event, budget: Guarantee) -> int:
    """Count how many times an event fits a budget when all are fixed in advance.

    >>> from curador.accounting.events import GaussianNoise, LaplaceNoise
    >>> from curador.privacy import PureDP
    >>> how_many(LaplaceNoise(scale=10, sensitivity=1), PureDP(1))
    10
    >>> how_many(GaussianNoise(sigma=10, sensitivity=1), ApproxDP(1, 1e-6))
    5
    """
    most = 1
    while keeps(most * event, budget):
        most *= 2
        if most > 1 << 40:
            raise InvalidParameter("More than a trillion of these fit.", fix="Ask for a smaller budget.")
    fits, fails = most // 2, most
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if keeps(middle * event, budget) else (fits, middle)
    return fits


def for_accuracy(make: Callable[[Fraction], N], error: Number, confidence: float = 0.95) -> N:
    """Find the mechanism of least epsilon whose error stays within plus or minus ``error`` this often.

    ``make`` builds the mechanism for an epsilon.

    >>> from curador import Laplace
    >>> mechanism = for_accuracy(lambda epsilon: Laplace(1, epsilon), error=10)
    >>> round(float(mechanism.event.epsilon), 3), mechanism.error(0.95) <= 10
    (0.3, True)
    """
    wanted = positive(error, "error")
    return make(_least(lambda epsilon: make(epsilon).error(confidence) <= wanted, "epsilon reaches this accuracy"))


def _least_power(good: Callable[[Fraction], bool], what: str, leap: bool) -> int:
    """The least power of two that is good, tried one after the other.

    With ``leap`` the search goes in strides that double, and then between the last two.  A mixture of many normals
    takes a tenth of a second to judge.  A free explanation may ask where no noise is enough: two hundred steps took
    half a minute.
    """
    low, high = 0, 1
    while not good(Fraction(2**high)):
        if high == REACH:
            raise NotPromised(f"No {what}.", fix="Ask for less, or change the other parameters.")
        low, high = high, min(2 * high if leap else high + 1, REACH)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(Fraction(2**middle)) else (middle, high)
    return high


def _least(good: Callable[[Fraction], bool], what: str, leap: bool = False) -> Fraction:
    """The least positive number that is good, from above; larger numbers must be good too."""
    high = Fraction(1)
    if good(high):
        while good(high / 2):
            high /= 2
            if high < Fraction(1, 2**REACH):
                return high
    else:
        high = Fraction(2 ** _least_power(good, what, leap))
    low = high / 2
    while high - low > FINE * high:
        # The geometric middle, to a few digits: exact fractions would grow without end.
        middle = Fraction(round(math.sqrt(float(low / high)) * 2**20), 2**20) * high
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
