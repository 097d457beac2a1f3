"""Bounds on the Rényi divergence between neighbours, one rule per event.

They hold at every finite order above 1.

Closed forms are evaluated to sixty digits, so that an order of 1 + 1e-9 or of a million is as good as any other.  A
curve of many orders is evaluated in doubles with charged round-off, if a form exists that does not cancel.  The rules
of sampled events are in :mod:`curador.accounting.rules.sampled`; :mod:`curador.accounting.rules.renyi` puts all of them
behind one function.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from curador.accounting import events as ev
from curador.accounting.precise import dec, digits, float_above, lost_digits, nearest
from curador.accounting.rules.divergences import (
    bounded_range_renyi,
    laplace_renyi,
    renyi_divergence,
    worst_pure_renyi,
)
from curador.errors import NotPromised
from curador.numbers import rational, up
from curador.privacy import Neighbors


@singledispatch
def renyi_rule(event: ev.Event, alpha: Fraction) -> float:
    """The divergence of an event at one order: register one rule per event."""
    raise NotPromised(
        f"No rule gives a Rényi curve for {type(event).__name__}.", fix="Describe it with PureLoss or ZCDPLoss."
    )


# ---- noise -----------------------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: ev.LaplaceNoise, alpha: Fraction) -> float:
    return laplace_renyi(event.sensitivity, event.scale, alpha)  # thesis 5.2.1 for any sensitivity


@renyi_rule.register
def _(event: ev.DiscreteLaplaceNoise, alpha: Fraction) -> float:
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
def _(event: ev.GaussianNoise, alpha: Fraction) -> float:
    return up(alpha * (event.sensitivity / event.sigma) ** 2 / 2)


@renyi_rule.register
def _(event: ev.DiscreteGaussianNoise, alpha: Fraction) -> float:
    return up(alpha * event.sensitivity_squared / event.variance / 2)  # [CKS20]


@renyi_rule.register(ev.TruncatedLaplaceNoise)
def _(event: ev.TruncatedLaplaceNoise, alpha: Fraction) -> float:
    return math.inf  # the two supports differ


# ---- choices and worst cases -----------------------------------------------------------------------------------


@renyi_rule.register
def _(event: ev.RandomizedAnswer, alpha: Fraction) -> float:
    k, p = event.categories, event.truth
    w = (1 - p) / (k - 1)
    # Outputs other than the two inputs look the same from both: they are one output.
    return renyi_divergence([p, w, (k - 2) * w], [w, p, (k - 2) * w], alpha)


@renyi_rule.register
def _(event: ev.ExponentialChoice, alpha: Fraction) -> float:
    return bounded_range_renyi(event.epsilon, alpha)


@renyi_rule.register
def _(event: ev.PureLoss, alpha: Fraction) -> float:
    return worst_pure_renyi(event.epsilon, alpha)


@renyi_rule.register
def _(event: ev.ApproxLoss, alpha: Fraction) -> float:
    if event.delta > 0:
        return math.inf
    return worst_pure_renyi(event.epsilon, alpha) if event.epsilon else 0.0


@renyi_rule.register
def _(event: ev.ZCDPLoss, alpha: Fraction) -> float:
    return up(alpha * event.rho)


# ---- events made of events -------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: ev.Composed, alpha: Fraction) -> float:
    return _sum((count, renyi_rule(part, alpha)) for part, count in event.parts)


@renyi_rule.register
def _(event: ev.Parallel, alpha: Fraction) -> float:
    """The largest part, or under replace the two largest together, since a unit may change its part."""
    curves = sorted((renyi_rule(part, alpha) for part in event.parts), reverse=True)
    return _sum((1, c) for c in curves[: 2 if event.neighbors is Neighbors.REPLACE else 1])


@renyi_rule.register
def _(event: ev.PoissonSampled, alpha: Fraction) -> float:
    from curador.accounting.rules.sampled import poisson  # built on these rules

    return poisson(event, alpha)


@renyi_rule.register
def _(event: ev.FixedSizeSampled, alpha: Fraction) -> float:
    from curador.accounting.rules.sampled import fixed_size

    return fixed_size(event, alpha)


def _sum(terms: Iterable[tuple[int, float]]) -> float:
    pairs = list(terms)
    if any(x == math.inf for _, x in pairs):
        return math.inf
    return up(sum((n * rational(x) for n, x in pairs), start=Fraction(0)))


# ---- many orders at once ---------------------------------------------------------------------------------------

Floats = NDArray[np.float64]

_UNIT = 2.0**-52
_SAFE = 2.0**-44  # relative: more than a dozen operations in doubles lose
_SMALL, _LARGE = 2.0**-6, 300.0  # sizes of exponents: below, series are summed; above, logarithms are
_SELDOM = 1e-280  # a probability above this is one to the last digit
_TERMS = 12
_FACTORIALS = np.array([float(math.factorial(k)) for k in range(2, _TERMS)])[:, None]


def renyi_values(event: ev.Event, orders: Floats) -> Floats:
    """The divergences of an event at many orders above 1, each rounded up.

    >>> renyi_values(ev.LaplaceNoise(1, 1), np.array([2.0, 4.0])).round(6)
    array([0.619124, 0.813689])
    """
    found = curve_rule(event, orders)
    missing = np.flatnonzero(np.isnan(found)).tolist()
    if missing:
        found = found.copy()
        found[missing] = [renyi_rule(event, rational(orders[i].item())) for i in missing]
    return found


@singledispatch
def curve_rule(event: ev.Event, orders: Floats) -> Floats:
    """Upper bounds at many orders by a form in doubles; NaN where the rule for one order is to be used."""
    return np.full_like(orders, math.nan)


@curve_rule.register(ev.PoissonSampled)
@curve_rule.register(ev.FixedSizeSampled)
def _(event: ev.PoissonSampled | ev.FixedSizeSampled, orders: Floats) -> Floats:
    from curador.accounting.rules.sampled import sampled_curve

    return sampled_curve(event, orders)


@curve_rule.register
def _(event: ev.GaussianNoise, orders: Floats) -> Floats:
    return _concentrated((event.sensitivity / event.sigma) ** 2 / 2, orders)


@curve_rule.register
def _(event: ev.DiscreteGaussianNoise, orders: Floats) -> Floats:
    return _concentrated(event.sensitivity_squared / event.variance / 2, orders)


@curve_rule.register
def _(event: ev.ZCDPLoss, orders: Floats) -> Floats:
    return _concentrated(event.rho, orders)


def _concentrated(rho: Fraction, orders: Floats) -> Floats:
    return np.asarray(_in_range(rho) * orders * (1 + _SAFE))


@curve_rule.register
def _(event: ev.LaplaceNoise, orders: Floats) -> Floats:
    # A - 1 = (alpha (e**((alpha-1) x) - 1) + (alpha-1) (e**(-alpha x) - 1)) / (2 alpha - 1), A the moment.  For small
    # alpha x the two parts cancel, and the series of their difference, led by alpha (alpha-1) x**2 / 2, does not.
    x, p = _in_range(event.epsilon), orders - 1
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = orders * np.expm1(p * x), p * np.expm1(-orders * x)
        excess = (first + second + _UNIT * (16 + orders * x) * (first - second)) / (2 * orders - 1)
        small = orders * x < _SMALL
        if small.any():
            a = orders[small]
            k = np.arange(2.0, _TERMS)[:, None]
            terms = (a * ((a - 1) * x) ** k + (a - 1) * (-a * x) ** k) / _FACTORIALS
            excess[small] = terms.sum(axis=0) / (2 * a - 1) * (1 + 2.0**-40)
        far = x + (np.log(orders / (2 * orders - 1)) + np.exp(-orders * x)) / p
    return _from_excess(excess, far * (1 + _SAFE) + _SAFE * x, p * x, p)


@curve_rule.register
def _(event: ev.PureLoss, orders: Floats) -> Floats:
    return _worst_pure(event.epsilon, orders)


@curve_rule.register
def _(event: ev.ApproxLoss, orders: Floats) -> Floats:
    if event.delta or not event.epsilon:
        return np.full_like(orders, math.inf if event.delta else 0.0)
    return _worst_pure(event.epsilon, orders)


def _worst_pure(epsilon: Fraction, orders: Floats) -> Floats:
    x = _in_range(epsilon)
    return _response(x, 1 / (1 + math.exp(x)) if x < 2 * _LARGE else math.nan, orders)


@curve_rule.register
def _(event: ev.RandomizedAnswer, orders: Floats) -> Floats:
    seldom, often = sorted((event.truth, (1 - event.truth) / (event.categories - 1)))
    if not 0 < seldom < often:
        return np.full_like(orders, math.inf if not seldom else 0.0)
    gap = often / seldom - 1
    return _response(math.log1p(_in_range(gap)), nearest(seldom), orders)


@curve_rule.register
def _(event: ev.DiscreteLaplaceNoise, orders: Floats) -> Floats:
    if event.sensitivity > 2:
        return np.full_like(orders, math.nan)
    # The losses are one number and its opposite, or also 0.
    x, r = _in_range(event.epsilon), math.exp(-_in_range(1 / event.scale))
    return _response(x, math.exp(-x) / (1 + r), orders)


def _response(x: float, seldom: float, orders: Floats) -> Floats:
    """Two losses x and -x, and perhaps 0: A - 1 = seldom (e**(alpha x) - 1) (1 - e**((1 - alpha) x))."""
    p = orders - 1
    if not seldom > _SELDOM:
        return np.full_like(orders, math.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        excess = seldom * np.expm1(orders * x) * -np.expm1(-p * x) * (1 + _UNIT * (64 + orders * x))
        shrink = math.log(seldom) + np.log(-np.expm1(-p * x))
        far = np.logaddexp(0.0, orders * x + shrink) * (1 + _SAFE) + _SAFE * (1 + orders * x - shrink)
    return _from_excess(excess, far / p, orders * x, p)


@curve_rule.register
def _(event: ev.ExponentialChoice, orders: Floats) -> Floats:
    x, p = _in_range(event.epsilon), orders - 1
    quadratic = orders * (x * x / 8) * (1 + _SAFE)  # [CR21]
    if x > _LARGE:
        return np.full_like(orders, math.nan)
    # As bounded_range_renyi: top = 1 + slope.
    slope = -np.expm1(-p * x) / math.expm1(x)
    place, height = np.log(p * (1 + slope) / (orders * slope)), np.log((1 + slope) / orders)
    error = 64 * _UNIT * (1 + np.abs(place) + (1 + np.abs(height)) / p)
    return np.minimum(quadratic, place + height / p + error)


def _from_excess(excess: Floats, far: Floats, size: Floats, power: Floats) -> Floats:
    """Compute log(1 + excess) / power, or ``far`` for large exponents; NaN where nothing is known."""
    with np.errstate(invalid="ignore"):
        near = np.log1p(excess) / power * (1 + _SAFE)
    return np.where(size < _LARGE, near, far)


def _in_range(x: Fraction) -> float:
    """The nearest double, where that is accurate; else NaN, and the rule for one order is used."""
    return nearest(x) if Fraction(1, 10**100) < x < 10**100 else math.nan


@curve_rule.register
def _(event: ev.Composed, orders: Floats) -> Floats:
    total = np.zeros_like(orders)
    for part, count in event.parts:
        total += nearest(count) * renyi_values(part, orders)
    return np.asarray(total * (1 + 2.0**-50 * (2 + len(event.parts))))


@curve_rule.register
def _(event: ev.Parallel, orders: Floats) -> Floats:
    if not event.parts:
        return np.zeros_like(orders)
    curves = np.sort([renyi_values(part, orders) for part in event.parts], axis=0)[::-1]
    return np.asarray(curves[: 2 if event.neighbors is Neighbors.REPLACE else 1].sum(axis=0) * (1 + _SAFE))
