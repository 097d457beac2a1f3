"""One rule per event: a bound on the Rényi divergence between neighbours, at every finite order above 1.

Closed forms are evaluated to sixty digits, so that an order of 1 + 1e-9 or of a million is as good as any other.  The
rules of sampled events are in :mod:`curador.accounting.rules.sampled`; :mod:`curador.accounting.rules.renyi` puts all
of them behind one function.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch

from curador.accounting import events as ev
from curador.accounting.precise import dec, digits, float_above, lost_digits
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
    """The largest part, or under replace the two largest together: a unit may leave one part and enter another."""
    curves = sorted((renyi_rule(part, alpha) for part in event.parts), reverse=True)
    return _sum((1, c) for c in curves[: 2 if event.neighbors is Neighbors.REPLACE else 1])


def _sum(terms: Iterable[tuple[int, float]]) -> float:
    pairs = list(terms)
    if any(x == math.inf for _, x in pairs):
        return math.inf
    return up(sum((n * rational(x) for n, x in pairs), start=Fraction(0)))
