"""The Rényi curve of an event: for every real order above 1, a bound on the divergence between neighbours.

One rule per event.  Closed forms are evaluated to sixty digits, so that an order of 1 + 1e-9 or of a million is as
good as any other.  Curves add up under (adaptive) composition, which is what they are for [Mir17].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from curador.accounting.events import (
    ApproxLoss,
    Composed,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialChoice,
    FixedSizeSampled,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    PoissonSampled,
    PureLoss,
    RandomizedAnswer,
    TruncatedLaplaceNoise,
    ZCDPLoss,
)
from curador.accounting.precise import dec, digits, float_above, lost_digits
from curador.accounting.rules.divergences import laplace_renyi, log_mean_power, renyi_divergence
from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, positive, rational, up
from curador.privacy import Neighbors, RenyiDP

ORDERS: tuple[float, ...] = (
    *(1 + x / 100 for x in (1, 2, 5)),
    *(1 + x / 10 for x in range(1, 100)),
    *(float(x) for x in range(11, 64)),
    *(float(x) for x in (72, 80, 96, 128, 160, 192, 256, 384, 512, 1024)),
)
"""The orders at which curves are kept unless a caller names others."""

_HUGE = 10**6  # an epsilon beyond which every curve here is as good as flat, and exponentials would leave their range


def renyi(event: Event, alpha: Number) -> float:
    """An upper bound on the Rényi divergence of order alpha between neighbours; order infinity is pure epsilon.

    Guarantee: (alpha, value)-Rényi DP [Mir17].
    Fails: orders of 1 or less are refused.

    >>> renyi(GaussianNoise(sigma=2, sensitivity=1), 8)
    1.0
    >>> renyi(2 * LaplaceNoise(scale=1, sensitivity=1), math.inf)
    2.0
    """
    if alpha == math.inf:
        pure = pure_epsilon(event)
        return math.inf if pure == math.inf else up(Fraction(pure))
    a = rational(alpha, "order")
    if a <= 1:
        raise InvalidParameter(f"A Rényi order must be above 1, got {alpha}.", fix="Choose orders such as 2, 8, 32.")
    return renyi_rule(event, a)


def renyi_curve(event: Event, orders: Iterable[Number] = ORDERS) -> RenyiDP:
    """The event's guarantee at each of the orders.

    >>> renyi_curve(GaussianNoise(sigma=1, sensitivity=1), [2, 4])
    RenyiDP(curve=((2.0, 1.0), (4.0, 2.0)))
    """
    return RenyiDP([(a, renyi(event, a)) for a in orders])


@singledispatch
def renyi_rule(event: Event, alpha: Fraction) -> float:
    """The rule behind :func:`renyi`, for finite orders above 1: register one per event."""
    raise NotPromised(
        f"No rule gives a Rényi curve for {type(event).__name__}.", fix="Describe it with PureLoss or ZCDPLoss."
    )


# ---- noise -----------------------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: LaplaceNoise, alpha: Fraction) -> float:
    return laplace_renyi(event.sensitivity, event.scale, alpha)  # thesis 5.2.1 for any sensitivity


@renyi_rule.register
def _(event: DiscreteLaplaceNoise, alpha: Fraction) -> float:
    # The sum over the integers of p(x)**alpha p(x - s)**(1 - alpha), divided by exp((alpha - 1) s / b), is
    # (1 + g**s + (1 - r) g (1 - g**(s-1)) / (1 - g)) / (1 + r) with r = exp(-1/b) and g = r**(2 alpha - 1).
    b, s, e = event.scale, event.sensitivity, event.epsilon
    with digits(2 * lost_digits(e) + lost_digits(alpha - 1) + lost_digits(1 / b) + lost_digits(1 / alpha)):
        r = dec(-1 / b).exp()
        g, rest = dec((1 - 2 * alpha) / b).exp(), dec((1 - 2 * alpha) * (s - 1) / b).exp()
        middle = (1 - r) * g * (1 - rest) / (1 - g)
        total = (1 + dec((1 - 2 * alpha) * e).exp() + middle) / (1 + r)
        return float_above(dec(e) + total.ln() / dec(alpha - 1))


@renyi_rule.register
def _(event: GaussianNoise, alpha: Fraction) -> float:
    return up(alpha * (event.sensitivity / event.sigma) ** 2 / 2)


@renyi_rule.register
def _(event: DiscreteGaussianNoise, alpha: Fraction) -> float:
    return up(alpha * event.sensitivity_squared / event.variance / 2)  # [CKS20]


@renyi_rule.register(TruncatedLaplaceNoise)
def _(event: TruncatedLaplaceNoise, alpha: Fraction) -> float:
    return math.inf  # the two supports differ


# ---- choices and worst cases -----------------------------------------------------------------------------------


@renyi_rule.register
def _(event: RandomizedAnswer, alpha: Fraction) -> float:
    k, p = event.categories, event.truth
    w = (1 - p) / (k - 1)
    # Outputs other than the two inputs look the same from both: they are one output.
    return renyi_divergence([p, w, (k - 2) * w], [w, p, (k - 2) * w], alpha)


@renyi_rule.register
def _(event: ExponentialChoice, alpha: Fraction) -> float:
    return bounded_range_renyi(event.epsilon, alpha)


@renyi_rule.register
def _(event: PureLoss, alpha: Fraction) -> float:
    return worst_pure_renyi(event.epsilon, alpha)


@renyi_rule.register
def _(event: ApproxLoss, alpha: Fraction) -> float:
    if event.delta > 0:
        return math.inf
    return worst_pure_renyi(event.epsilon, alpha) if event.epsilon else 0.0


@renyi_rule.register
def _(event: ZCDPLoss, alpha: Fraction) -> float:
    return up(alpha * event.rho)


def worst_pure_renyi(epsilon: Number, alpha: Number) -> float:
    """The largest Rényi divergence of order alpha of any epsilon-DP mechanism: that of randomised response.

    Guarantee: a ratio confined to [exp(-epsilon), exp(epsilon)] is worst on its ends, because its power is convex
        [BS16, Proposition 3.3 before the last step]; thesis proposition 5.1.2.

    >>> round(worst_pure_renyi(1, 2), 6), round(worst_pure_renyi(1, 1000), 3)
    (0.735326, 1.0)
    """
    e, a = _checked(epsilon, alpha)
    if e > _HUGE:
        return up(e)
    with digits(2 * lost_digits(e) + lost_digits(a - 1) + lost_digits(1 / a)):
        ratio = dec(e).exp()
        return log_mean_power([(ratio / (1 + ratio), ratio), (1 / (1 + ratio), 1 / ratio)], dec(a - 1))


def bounded_range_renyi(epsilon: Number, alpha: Number) -> float:
    """The largest Rényi divergence of order alpha of any mechanism of bounded range epsilon.

    Guarantee: the loss lies in [t - epsilon, t] for some t in [0, epsilon]; it is worst on the two ends, and the worst
        t is found in closed form [DR19, DDR20].  At most alpha epsilon**2 / 8, the zCDP of [CR21].

    >>> bounded_range_renyi(1, 2) < 2 / 8, round(bounded_range_renyi(1, 2), 6)
    (True, 0.240229)
    """
    e, a = _checked(epsilon, alpha)
    if e > _HUGE:
        return up(e)
    with digits(4 * lost_digits(e) + 2 * lost_digits(a - 1) + lost_digits(1 / a)):
        x, power = dec(e), dec(a - 1)
        # The moment is y**(alpha-1) (top - slope y) with y = e**t; it is largest at y = (alpha-1) top / (alpha slope).
        gone = (-power * x).exp()
        top, slope = (x.exp() - gone) / (x.exp() - 1), (1 - gone) / (x.exp() - 1)
        y = power * top / (dec(a) * slope)  # between 1 and e**epsilon, and there top - slope * y = top / alpha
        return float_above(y.ln() + (top / dec(a)).ln() / power)


def _checked(epsilon: Number, alpha: Number) -> tuple[Fraction, Fraction]:
    a = rational(alpha, "order")
    if a <= 1:
        raise InvalidParameter(f"A Rényi order must be above 1, got {alpha}.", fix="Choose orders such as 2, 8, 32.")
    return positive(epsilon, "epsilon"), a


# ---- events made of events -------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: Composed, alpha: Fraction) -> float:
    return _sum((count, renyi_rule(part, alpha)) for part, count in event.parts)


@renyi_rule.register
def _(event: Parallel, alpha: Fraction) -> float:
    """The largest part, or under replace the two largest together: a unit may leave one part and enter another."""
    curves = sorted((renyi_rule(part, alpha) for part in event.parts), reverse=True)
    return _sum((1, c) for c in curves[: 2 if event.neighbors is Neighbors.REPLACE else 1])


@renyi_rule.register
def _(event: PoissonSampled, alpha: Fraction) -> float:
    from curador.accounting.rules.sampled import poisson

    return poisson(event, alpha)


@renyi_rule.register
def _(event: FixedSizeSampled, alpha: Fraction) -> float:
    from curador.accounting.rules.sampled import fixed_size

    return fixed_size(event, alpha)


def _sum(terms: Iterable[tuple[int, float]]) -> float:
    pairs = list(terms)
    if any(x == math.inf for _, x in pairs):
        return math.inf
    return up(sum((n * rational(x) for n, x in pairs), start=Fraction(0)))
