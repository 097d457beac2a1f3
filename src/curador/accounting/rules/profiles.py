"""The privacy profile of an event: the smallest delta for each epsilon.

Also the pure epsilon, if it exists.

One rule per event.  A rule bounds the natural logarithm of delta(epsilon) for epsilon >= 0 from above, by a closed form
whose terms are all positive.  So neither a delta of 1e-400 nor one that is nearly 1 loses its digits.  Events made of
several others are for the privacy-loss distributions.  Here they are refused, unless one theorem gives their profile
from that of their part.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch

from curador.accounting import events as ev
from curador.accounting.convert import zcdp_log_delta
from curador.accounting.precise import (
    TINY,
    dec,
    digits,
    exp_upper,
    float_above,
    fraction_above,
    lost_digits,
    nearest,
    sum_above,
    upper_log,
)
from curador.accounting.rules.gaussian import discrete_gaussian_log_delta, gaussian_log_delta
from curador.accounting.rules.groups import for_group
from curador.errors import NotPromised
from curador.numbers import Number, rational
from curador.privacy import Neighbors

_SLACK = Decimal("1e-55")  # more than sixty digits lose in a product
_NEAR = Fraction(1, 10**15)  # a distance to 1 that leaves 45 of sixty digits to a logarithm
_HUGE = 10**6  # an epsilon beyond which sampling is not credited, so that no exponential leaves its range


def delta(event: ev.Event, epsilon: Number) -> float:
    """An upper bound on the smallest delta for which the event is (epsilon, delta)-DP.

    Guarantee: exact up to rounding (upwards) for every single noise, choice and worst case; by conversion for
        ZCDPLoss and for integer Gaussian vectors.  A delta below all doubles becomes the smallest double.
    Fails: for compositions, which raise NotPromised; use the privacy-loss distributions.

    >>> round(delta(ev.LaplaceNoise(1, 1), "0.5"), 6), delta(ev.LaplaceNoise(1, 1), 1)
    (0.221199, 0.0)
    """
    return exp_upper(log_delta(event, epsilon))


def log_delta(event: ev.Event, epsilon: Number) -> float:
    """The natural logarithm of :func:`delta`; minus infinity for 0.

    >>> round(log_delta(ev.TruncatedLaplaceNoise(1, 1, 1000), 1), 3)
    -1000.152
    """
    e = rational(epsilon, "epsilon")
    if e >= 0:
        return log_delta_rule(event, e)
    # Both orders of a pair of neighbours count, so delta(-e) = 1 - exp(-e) (1 - delta(e)).
    x = nearest(e)
    return upper_log(math.log(-math.expm1(x) + math.exp(x) * exp_upper(log_delta_rule(event, -e))))


@singledispatch
def log_delta_rule(event: ev.Event, epsilon: Fraction) -> float:
    """The rule behind :func:`log_delta`, for epsilon >= 0: register one per event."""
    raise NotPromised(
        f"No closed form gives delta for {type(event).__name__}.",
        fix="Use the privacy-loss distributions (curador.accounting.epsilon), or the Rényi curve.",
    )


# ---- noise -----------------------------------------------------------------------------------------------------


@log_delta_rule.register
def _(event: ev.LaplaceNoise, epsilon: Fraction) -> float:
    # 1 - exp((epsilon - epsilon0) / 2): the mass left of the midpoint between the two peaks.
    return _log(_one_less_exp((event.epsilon - epsilon) / 2))


@log_delta_rule.register
def _(event: ev.DiscreteLaplaceNoise, epsilon: Fraction) -> float:
    s, b = event.sensitivity, event.scale
    if epsilon >= event.epsilon:
        return -math.inf
    # The best test decides "not shifted" up to k; F(k) - e**epsilon F(k - s) in geometric sums, with r = exp(-1/b), is
    # ((1 - exp(epsilon - (s - k)/b)) + r (1 - exp(-k/b))) / (1 + r).
    k = math.ceil((s - epsilon * b) / 2) - 1
    r = math.exp(-nearest(1 / b))
    return _log((_one_less_exp((s - k) / b - epsilon) + r * _one_less_exp(k / b)) / (1 + r))


@log_delta_rule.register
def _(event: ev.TruncatedLaplaceNoise, epsilon: Fraction) -> float:
    b, shift, bound = event.scale, event.sensitivity, event.bound
    if shift >= 2 * bound:
        return 0.0
    kept = _one_less_exp(bound / b)
    if epsilon * b < min(shift, 2 * bound - shift):
        # The test is a threshold between the peaks: (2 (1 - exp(-a)) + exp(-bound/b) (e**epsilon - 1)) / (2 kept).
        a = (shift - epsilon * b) / (2 * b)
        return _log(_one_less_exp(a) / kept + _growth(epsilon, bound / b) / (2 * kept))
    if shift <= bound:  # only the part beyond the shifted law's reach counts: F(shift - bound)
        return upper_log(nearest((shift - bound) / b) + math.log(_one_less_exp(shift / b) / (2 * kept)))
    return _log(1 - _growth((2 * bound - shift) / b, bound / b) / (2 * kept))


@log_delta_rule.register
def _(event: ev.GaussianNoise, epsilon: Fraction) -> float:
    return gaussian_log_delta(event.sigma, event.sensitivity, epsilon)


@log_delta_rule.register
def _(event: ev.DiscreteGaussianNoise, epsilon: Fraction) -> float:
    if event.dimension == 1:
        return discrete_gaussian_log_delta(event.variance, math.isqrt(event.sensitivity_squared), epsilon)
    return zcdp_log_delta(event.sensitivity_squared / (2 * event.variance), epsilon)  # [CKS20]


# ---- choices and worst cases -----------------------------------------------------------------------------------


@log_delta_rule.register
def _(event: ev.ExponentialChoice, epsilon: Fraction) -> float:
    # A loss confined to [t - e0, t] is worst on its two ends; the worst t is (e0 + epsilon) / 2 [DDR20].
    if epsilon >= event.epsilon:
        return -math.inf
    return upper_log(
        2 * math.log(_one_less_exp((event.epsilon - epsilon) / 2)) - math.log(_one_less_exp(event.epsilon))
    )


@log_delta_rule.register
def _(event: ev.RandomizedAnswer, epsilon: Fraction) -> float:
    often, seldom = sorted((event.truth, (1 - event.truth) / (event.categories - 1)), reverse=True)
    if seldom == 0:
        return _log(nearest(often))
    if epsilon >= pure_epsilon(event):
        return -math.inf
    with digits():
        gap = dec(often) * (1 + _SLACK) - dec(epsilon).exp() * dec(seldom)
        return upper_log(float_above(gap.ln())) if gap > 0 else -math.inf


@log_delta_rule.register
def _(event: ev.PureLoss, epsilon: Fraction) -> float:
    return _worst(event.epsilon, Fraction(0), epsilon)


@log_delta_rule.register
def _(event: ev.ApproxLoss, epsilon: Fraction) -> float:
    return _worst(event.epsilon, event.delta, epsilon)


@log_delta_rule.register
def _(event: ev.ZCDPLoss, epsilon: Fraction) -> float:
    return zcdp_log_delta(event.rho, epsilon)


# ---- events made of one event ----------------------------------------------------------------------------------


@log_delta_rule.register
def _(event: ev.PoissonSampled, epsilon: Fraction) -> float:
    if event.neighbors is Neighbors.REPLACE:
        # With probability 1 - rate both runs are equal; hockey-stick divergences are jointly convex.
        return _log(nearest(event.rate)) + log_delta_rule(event.event, epsilon)
    return _amplify(event.event, event.rate, epsilon)  # [BBG18, Theorem 8]


@log_delta_rule.register
def _(event: ev.FixedSizeSampled, epsilon: Fraction) -> float:
    if event.neighbors is Neighbors.ADD_REMOVE:
        return log_delta_rule(as_poisson(event), epsilon)
    return _amplify(event.event, fixed_rate(event), epsilon)  # [BBG18, Theorem 9]


@log_delta_rule.register
def _(event: ev.Parallel, epsilon: Fraction) -> float:
    if event.neighbors is Neighbors.REPLACE and len(event.parts) > 1:
        raise NotPromised(
            "Under replace a unit may move between parts, so two of them are composed.",
            fix="Use the privacy-loss distributions on the two most expensive parts.",
        )
    return max((log_delta_rule(part, epsilon) for part in event.parts), default=-math.inf)


@log_delta_rule.register
def _(event: ev.Composed, epsilon: Fraction) -> float:
    if not event.parts:
        return -math.inf
    (part, count), *rest = event.parts
    if count == 1 and not rest:
        return log_delta_rule(part, epsilon)
    raise NotPromised(
        "The profile of a composition is not a closed form.",
        fix="Use the privacy-loss distributions (curador.accounting.epsilon), or the Rényi curve.",
    )


# ---- pure epsilon ----------------------------------------------------------------------------------------------


@singledispatch
def pure_epsilon(event: ev.Event) -> Fraction | float:
    """The pure epsilon of an event: an exact fraction, or one just above a logarithm, or infinity.

    Guarantee: epsilon-DP [DMNS06]; sums for compositions; for parts of the data the largest under add-remove and
        the two largest together under replace; log(1 + q (e**epsilon - 1)) for a sample [BBG18].
    Assumes: under replace, each part's event also covers a unit that enters or leaves that part.

    >>> pure_epsilon(3 * ev.LaplaceNoise(2, 1)), pure_epsilon(ev.GaussianNoise(1, 1))
    (Fraction(3, 2), inf)
    """
    raise NotPromised(
        f"No rule gives a pure epsilon for {type(event).__name__}.",
        fix="Describe it with a known event, or PureLoss.",
    )


@pure_epsilon.register(ev.LaplaceNoise)
@pure_epsilon.register(ev.DiscreteLaplaceNoise)
@pure_epsilon.register(ev.ExponentialChoice)
@pure_epsilon.register(ev.PureLoss)
def _(event: ev.LaplaceNoise | ev.DiscreteLaplaceNoise | ev.ExponentialChoice | ev.PureLoss) -> Fraction | float:
    return event.epsilon


@pure_epsilon.register(ev.TruncatedLaplaceNoise)
@pure_epsilon.register(ev.GaussianNoise)
@pure_epsilon.register(ev.DiscreteGaussianNoise)
@pure_epsilon.register(ev.ZCDPLoss)
def _(event: ev.Event) -> Fraction | float:
    return math.inf


@pure_epsilon.register
def _(event: ev.ApproxLoss) -> Fraction | float:
    return event.epsilon if event.delta == 0 else math.inf


@pure_epsilon.register
def _(event: ev.RandomizedAnswer) -> Fraction | float:
    seldom, often = sorted((event.truth, (1 - event.truth) / (event.categories - 1)))
    return math.inf if seldom == 0 else log_above(often / seldom)


@pure_epsilon.register
def _(event: ev.PoissonSampled) -> Fraction | float:
    inner = pure_epsilon(event.event)
    if event.rate == 0:
        return Fraction(0)
    if event.neighbors is Neighbors.REPLACE:  # no bound relates the runs with and without the unit
        return inner
    return _dilute(inner, event.rate)


@pure_epsilon.register
def _(event: ev.FixedSizeSampled) -> Fraction | float:
    if event.neighbors is Neighbors.ADD_REMOVE:
        return pure_epsilon(as_poisson(event))
    return _dilute(pure_epsilon(event.event), fixed_rate(event))


@pure_epsilon.register
def _(event: ev.Parallel) -> Fraction | float:
    largest = sorted((pure_epsilon(part) for part in event.parts), reverse=True)
    return sum(largest[: 2 if event.neighbors is Neighbors.REPLACE else 1], start=Fraction(0))


@pure_epsilon.register
def _(event: ev.Composed) -> Fraction | float:
    return sum_above((count, pure_epsilon(part)) for part, count in event.parts)


# ---- shared by the rules ---------------------------------------------------------------------------------------


def fixed_rate(event: ev.FixedSizeSampled) -> Fraction:
    """The share of the population in a sample.

    >>> fixed_rate(ev.FixedSizeSampled(ev.LaplaceNoise(1, 1, Neighbors.REPLACE), 10, 1000))
    Fraction(1, 100)
    """
    return Fraction(event.batch, event.population)


def as_poisson(event: ev.FixedSizeSampled) -> ev.PoissonSampled:
    """A fixed-size sample under add-remove, as the Poisson sample that costs the same.

    A further unit is in the batch with chance batch / population, and takes the place of another there.  So the batch
    moves by two units (docs/proofs/batches.md, 4).

    >>> as_poisson(ev.FixedSizeSampled(ev.GaussianNoise(1, 1), 10, 1000))
    PoissonSampled(event=GaussianNoise(sigma=..., sensitivity=Fraction(2, 1), ...), rate=Fraction(1, 100), ...)
    """
    if event.batch == event.population:
        raise NotPromised(
            "Under add-remove the smaller of two neighbours has too few units for this batch.",
            fix="Choose a batch smaller than the population.",
        )
    if has_samples(event.event):
        raise NotPromised(
            "No theorem here covers a sample inside a fixed-size sample.", fix="Sample the innermost event only."
        )
    return ev.PoissonSampled(for_group(event.event, 2), fixed_rate(event))


def has_samples(event: ev.Event) -> bool:
    """Whether the event is run on a part of the units, or has parts that are.

    >>> has_samples(2 * ev.PoissonSampled(ev.PureLoss(1), "0.5")), has_samples(2 * ev.PureLoss(1))
    (True, False)
    """
    if isinstance(event, ev.Composed):
        return any(has_samples(part) for part, _ in event.parts)
    return hasattr(event, "event") or (isinstance(event, ev.Parallel) and any(map(has_samples, event.parts)))


def _one_less_exp(x: Fraction) -> float:
    """Compute 1 - exp(-x), and 0 below 0."""
    return -math.expm1(-nearest(x)) if x > 0 else 0.0


def _growth(x: Fraction, y: Fraction) -> float:
    """Compute exp(-y) (exp(x) - 1) for 0 <= x <= y."""
    return math.exp(nearest(x - y)) * _one_less_exp(x)


def _log(x: float) -> float:
    """Bound the logarithm of the number that ``x`` approximates from above."""
    return upper_log(math.log(x)) if x > 0 else -math.inf


def _worst(epsilon0: Fraction, delta0: Fraction, epsilon: Fraction) -> float:
    """The profile of the worst (epsilon0, delta0)-DP mechanism [KOV15]."""
    rest = _one_less_exp(epsilon0 - epsilon) / (1 + math.exp(-nearest(epsilon0)))
    return _log(nearest(delta0) + nearest(1 - delta0) * rest)


def _amplify(event: ev.Event, rate: Fraction, epsilon: Fraction) -> float:
    """Compute rate * delta(x) at exp(x) = 1 + (exp(epsilon) - 1) / rate.

    x is rounded down, since delta falls.
    """
    if rate == 0:
        return -math.inf
    floor = epsilon
    if epsilon < _HUGE:
        with digits():
            floor = Fraction(((dec(epsilon).exp() - 1) / dec(rate) + 1).ln()) * (1 - TINY)
    return _log(nearest(rate)) + log_delta_rule(event, floor)


def _dilute(inner: Fraction | float, rate: Fraction) -> Fraction | float:
    """Compute log(1 + rate (exp(inner) - 1)), exactly for rate 1, rounded up otherwise."""
    if rate == 1 or inner > _HUGE:
        return inner
    loss = Fraction(inner)
    with digits(lost_digits(loss)):
        return log_above(1 + fraction_above(dec(rate) * (dec(loss).exp() - 1)))


def log_above(x: Fraction) -> Fraction:
    """The natural logarithm of x >= 1, from above, however close to 1.

    Next to 1 it is x - 1 less half its square.

    >>> log_above(1 + Fraction(1, 10**400)) == Fraction(1, 10**400), log_above(Fraction(1))
    (True, Fraction(0, 1))
    """
    if x - 1 < _NEAR:
        return x - 1
    with digits():
        return fraction_above(dec(x).ln())
