"""Rényi curves of events that run on a random part of the data.

Poisson sampling under add-remove compares P0 (the unit is not there) with the mixture (1 - q) P0 + q P1.  Writing
r = P1/P0, the curve needs A = E[(1 + q (r - 1))**alpha] under P0.  Since r has mean 1, A - 1 is the mean of a function
g(y) at y = q (r - 1), with g(y) = (1 + y)**alpha - 1 - alpha y.  This g is convex and non-negative, so no digit is lost
however small q is.  Where some map swaps P0 and P1, which holds for every symmetric noise, this direction is the worse
one [MTZ19, Theorem 5].  Elsewhere the bound states how it covers the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, singledispatch

import numpy as np
from numpy.typing import NDArray

from curador.accounting import events as ev
from curador.accounting.precise import dec, digits, lost_digits, nearest
from curador.accounting.rules.central import gaussian_square, log_central
from curador.accounting.rules.divergences import log_mean_power, worst_pure_renyi
from curador.accounting.rules.profiles import as_poisson, fixed_rate, pure_epsilon
from curador.accounting.rules.renyi_rules import renyi_rule, renyi_values
from curador.numbers import above, rational
from curador.privacy import Neighbors

_Array = NDArray[np.float64]
_ATOMS = 2**16  # of a discrete law
_NODES = 2**18  # of a quadrature
_BLOCK = 2**8  # integer orders that are found together
_ORDER = 2**11  # the largest order with a sum over integer orders


def sampled_curve(event: ev.PoissonSampled | ev.FixedSizeSampled, orders: _Array) -> _Array:
    """The curve at many orders; the curve of the inner event is found once."""
    pairs = zip(map(rational, orders.tolist()), renyi_values(event.event, orders).tolist(), strict=True)
    if isinstance(event, ev.PoissonSampled):
        return np.array([poisson(event, a, d) for a, d in pairs])
    return np.array([fixed_size(event, a, d) for a, d in pairs])


def poisson(event: ev.PoissonSampled, alpha: Fraction, inside: float | None = None) -> float:
    """The curve of an event run on units taken independently with probability q.

    Guarantee: exact for Gaussian [MTZ19] and Laplace noise and for the worst pure event; for the rest the binomial
        bound of [ZW19, Theorem 5].  It is never more than mixing alone allows, the only bound known under replace.

    >>> from curador.accounting.rules.renyi import renyi
    >>> f"{renyi(ev.PoissonSampled(ev.GaussianNoise(1, 1), rate='0.01'), 4):.6e}"
    '3.631540e-04'
    """
    q, inner = event.rate, event.event
    whole = renyi_rule(inner, alpha) if inside is None else inside
    if q == 0 or q == 1 or whole == 0:
        return whole if q == 1 else 0.0
    bounds = [whole, _mixture(whole, q, alpha)]
    if event.neighbors is Neighbors.ADD_REMOVE:
        bounds.append(poisson_rule(inner, q, alpha))
    return min(bounds)


def fixed_size(event: ev.FixedSizeSampled, alpha: Fraction, inside: float | None = None) -> float:
    """The curve of an event run on a sample of fixed size without replacement.

    Guarantee: [WBK19, Theorem 9] at integer orders, their Corollary 10 between them; for pure events also the curve of
        the diluted epsilon [BBG18, Theorem 9]; the smallest of these and of mixing alone.
        Under add-remove that of the Poisson sample which costs the same.

    >>> from curador.accounting.rules.renyi import renyi
    >>> e = ev.FixedSizeSampled(ev.GaussianNoise(4, 1, Neighbors.REPLACE), batch=10, population=1000)
    >>> renyi(e, 8) < renyi(e.event, 8) / 50
    True
    """
    if event.neighbors is Neighbors.ADD_REMOVE:
        return poisson(as_poisson(event), alpha)
    q, inner = fixed_rate(event), event.event
    whole = renyi_rule(inner, alpha) if inside is None else inside
    if q == 1 or whole == 0:
        return whole
    bounds = [whole, _mixture(whole, q, alpha)]
    bounds.append(_between_integers(lambda a: _without_replacement(inner, q, a), alpha))
    diluted = pure_epsilon(event)
    if diluted != math.inf:
        bounds.append(worst_pure_renyi(Fraction(diluted), alpha))
    return min(bounds)


@singledispatch
def poisson_rule(event: ev.Event, q: Fraction, alpha: Fraction) -> float:
    """The curve of a Poisson sample of this event under add-remove, 0 < q < 1.

    Register a rule for an event with a better bound.
    """
    # No map is known to swap P0 and P1, so a factor 3 pays for the other direction [ZW19, Theorem 5].
    return _best(event, q, alpha, factor=3)


@poisson_rule.register
def _(event: ev.PoissonSampled, q: Fraction, alpha: Fraction) -> float:
    return poisson(ev.PoissonSampled(event.event, q * event.rate), alpha)  # a sample of a sample is a sample


@poisson_rule.register(ev.DiscreteGaussianNoise)
@poisson_rule.register(ev.RandomizedAnswer)
def _(event: ev.Event, q: Fraction, alpha: Fraction) -> float:
    return _best(event, q, alpha, factor=1)  # x -> shift - x, or exchanging two answers, swaps P0 and P1


@poisson_rule.register
def _(event: ev.PureLoss, q: Fraction, alpha: Fraction) -> float:
    return _worst_pure(event.epsilon, q, alpha)


@poisson_rule.register
def _(event: ev.GaussianNoise, q: Fraction, alpha: Fraction) -> float:
    return _sampled_gaussian(math.sqrt(nearest((event.sensitivity / event.sigma) ** 2)), q, alpha)


@poisson_rule.register
def _(event: ev.Composed, q: Fraction, alpha: Fraction) -> float:
    total = gaussian_square(event)
    if total is not None:  # Gaussian releases about one sample are one Gaussian release
        return _sampled_gaussian(math.sqrt(nearest(total)), q, alpha)
    return _best(event, q, alpha, factor=3)


@poisson_rule.register
def _(event: ev.LaplaceNoise, q: Fraction, alpha: Fraction) -> float:
    e, a = nearest(event.epsilon), nearest(alpha)
    # Panels on which the integrand grows by less than e**10 within twice their size, where 24 nodes leave less than
    # 2**-80 of it: by Cauchy's estimate, since |1 - q + q e**z| <= 1 - q + q e**(Re z).
    panels = math.ceil(e / min(5 / (a + 0.5), 1.5)) if e * a < 10**5 else 0
    if not panels:
        return _worst_pure(event.epsilon, q, alpha)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    half = e / panels
    loss = (-e + half * (2 * np.arange(panels)[:, None] + 1 + nodes)).ravel()
    # Under P0 the log ratio is -e or e beyond the two peaks, and has density e**(-(x + e)/2) / 4 between them.
    log_weight = np.log(np.tile(half * weights, panels)) - (loss + e) / 2 - math.log(4)
    losses = np.concatenate([[-e, e], loss])
    return _from_moments(np.concatenate([[-math.log(2), -math.log(2) - e], log_weight]), losses, q, alpha)


@poisson_rule.register
def _(event: ev.DiscreteLaplaceNoise, q: Fraction, alpha: Fraction) -> float:
    # Geometric noise is k times coarser geometric noise plus an independent remainder, so that on a grid k times
    # coarser, with the shift rounded up, the event is this one before post-processing.
    k = -(-event.sensitivity // _ATOMS)
    s, b = -(-event.sensitivity // k), nearest(event.scale / k)
    x = np.arange(s + 1, dtype=np.float64)
    log_weight = math.log(-math.expm1(-1 / b)) - x / b
    log_weight[0], log_weight[-1] = 0.0, -s / b
    return _from_moments(log_weight - math.log1p(math.exp(-1 / b)), (2 * x - s) / b, q, alpha)


# ---- bounds that need only the event's own curve ---------------------------------------------------------------


def _mixture(whole: float, q: Fraction, alpha: Fraction) -> float:
    """Compute log(1 - q + q exp((alpha - 1) D)) / (alpha - 1): joint convexity, and 1 without the unit."""
    if whole == math.inf:
        return math.inf
    power, rate = nearest(alpha - 1), nearest(q)
    x = power * whole
    moment = math.log1p(rate * math.expm1(x)) if x < 600 else x + math.log(rate) + math.exp(-x) / rate
    return above(moment / power)


def _best(event: ev.Event, q: Fraction, alpha: Fraction, factor: int) -> float:
    pure = pure_epsilon(event)
    bounds = [_between_integers(lambda a: _binomial(event, q, a, factor), alpha)]
    if pure != math.inf:
        bounds.append(_worst_pure(Fraction(pure), q, alpha))
    return min(bounds)


def _worst_pure(epsilon: Fraction, q: Fraction, alpha: Fraction) -> float:
    """The worst pure event, in both directions.

    A ratio within [e**-epsilon, e**epsilon] is worst on its ends.
    """
    if epsilon > 10**6:
        return math.inf
    with digits(2 * lost_digits(epsilon) + 2 * lost_digits(q) + lost_digits(alpha - 1) + lost_digits(1 / alpha)):
        r, rate = dec(epsilon).exp(), dec(q)
        high, low = 1 + rate * (r - 1), 1 + rate * (1 / r - 1)
        return log_mean_power([(high / (1 + r), high), (low * r / (1 + r), low)], dec(alpha - 1))


def _binomial(event: ev.Event, q: Fraction, a: int, factor: int) -> float:
    """Bound (a - 1) times the divergence at an integer order: E[(1 - q + q r)**a], term by term.

    The event's own curve bounds r**k.
    """
    k, d = np.arange(2.0, a + 1), _integer_orders(event, a)
    if not np.isfinite(d).all():
        return math.inf
    grown = _log_expm1((k - 1) * d + np.where(k > 2, math.log(factor), 0.0))
    return _log1p_sum(_log_choose(a), k * _log(q), (a - k) * _log(1 - q), grown)


def _without_replacement(event: ev.Event, q: Fraction, a: int) -> float:
    """Bound (a - 1) times the divergence at an integer order [WBK19, Theorem 9], Gaussian by its moments."""
    k, d = np.arange(2.0, a + 1), _integer_orders(event, a)
    if not np.isfinite(d).all():
        return math.inf
    pure = np.array(nearest(Fraction(p)) if (p := pure_epsilon(event)) != math.inf else math.inf)
    cap = np.minimum(math.log(2), k * _log_expm1(pure)) + (k - 1) * d
    cap[0] = min(cap[0], math.log(4) + float(_log_expm1(d[:1])[0]))
    central = np.array([log_central(event, i) for i in range(2, a + 1)])
    return _log1p_sum(_log_choose(a), k * _log(q), np.minimum(cap, math.log(4) + central))


def _integer_orders(event: ev.Event, a: int) -> _Array:
    """The divergences at the orders 2, 3, ..., a."""
    return _integer_blocks(event, 1 + (a - 2) // _BLOCK)[: a - 1]


@lru_cache(maxsize=16)
def _integer_blocks(event: ev.Event, blocks: int) -> _Array:
    return renyi_values(event, np.arange(2.0, _BLOCK * blocks + 2))


def _between_integers(scaled: Callable[[int], float], alpha: Fraction) -> float:
    """Bound a real order from bounds on (a - 1) D_a at the integers around it, by convexity.

    Beyond the orders in use there would be too many terms; then another bound must do.
    """
    if alpha > _ORDER:
        return math.inf
    below, share = math.floor(alpha), nearest(alpha - math.floor(alpha))
    low = scaled(below) if below > 1 else 0.0
    high = scaled(below + 1) if share else 0.0
    return above(((1 - share) * low + share * high if share else low) / nearest(alpha - 1))


# ---- moments by summation --------------------------------------------------------------------------------------


def _sampled_gaussian(mu: float, q: Fraction, alpha: Fraction) -> float:
    """The trapezoidal rule on the whole line, whose error is exponentially small [MTZ19 for the integral].

    The integrand is analytic for |Im z| < pi / mu.  It is at most as large there as on the line, up to exp(Im(z)**2 /
    2).  So a step of 2 pi c / (c**2 / 2 + depth), c < pi / mu, leaves about exp(-depth) of A; depth covers A - 1 too.
    """
    a, rate = nearest(alpha), nearest(q)
    depth = 60 - min(0.0, math.log(a) + math.log(nearest(alpha - 1)) + 2 * math.log(rate) + 2 * math.log(min(1.0, mu)))
    c = min(8.0, 3 / mu)
    step = 2 * math.pi * c / (c * c / 2 + depth)
    reach = math.sqrt(2 * depth)
    if a * mu / step > _NODES:
        return math.inf  # only orders far beyond use: the bound by mixing remains
    # (1 + y)**alpha times the density falls like a Gaussian beyond alpha mu, since alpha log(1 + y) climbs slower.
    z = np.arange(-math.ceil(reach / step), math.ceil((a * mu + reach) / step) + 1, dtype=np.float64) * step
    log_weight = -z * z / 2 + math.log(step / math.sqrt(2 * math.pi))
    return _from_moments(log_weight, mu * z - mu * mu / 2, q, alpha)


def _from_moments(log_weight: _Array, loss: _Array, q: Fraction, alpha: Fraction) -> float:
    """Compute log(1 + sum of weight * g(q (e**loss - 1))) / (alpha - 1)."""
    rate, power = nearest(q), nearest(alpha - 1)
    with np.errstate(over="ignore"):
        y = rate * np.expm1(loss)
    ell = np.where(loss < 600, np.log1p(np.minimum(y, 1e300)), math.log(rate) + loss)
    log_g = _log_g(y, ell, power)
    size = np.abs(log_weight) + np.abs(log_g) + (1 + power) * np.abs(loss)
    return above(_log1p_exp(_log_sum(log_weight + log_g, size)) / power)


def _log_g(y: _Array, ell: _Array, power: float) -> _Array:
    """Compute the log of (1 + y)**(1 + power) - 1 - (1 + power) y, where ell = log(1 + y)."""
    a = 1 + power
    small = np.abs(y) < 0.25 / a
    s = np.where(small, y, 0.0)
    series, term = np.zeros_like(s), np.full_like(s, a * power / 2)
    for k in range(2, 32):
        series += term
        term = term * s * (a - k) / (k + 1)
    big = power * ell
    with np.errstate(over="ignore", invalid="ignore"):
        # (1 + y) ((1 + y)**power - 1) - power y does not cancel when power is small.
        direct = (1 + y) * np.expm1(big) - power * y
        log_direct = np.where(big < 300, np.log(np.maximum(direct, 1e-320)), a * ell)
    return np.where(small, 2 * _safe_log(np.abs(s)) + _safe_log(series), log_direct)


def _safe_log(x: _Array) -> _Array:
    with np.errstate(divide="ignore"):
        return np.log(x)


def _log_sum(x: _Array, size: _Array) -> float:
    """Compute the log of the sum of exp(x), and charge the round-off of exponents with parts of that size."""
    top = float(np.max(x))
    if top == -math.inf:
        return top
    if not top < math.inf:  # beyond floats, NaN included: the widest bound
        return math.inf
    worst = float(np.max(size[x >= top - 45]))
    return top + math.log(float(np.sum(np.exp(x - top)))) + 2.0**-51 * worst


def _log1p_sum(*parts: _Array) -> float:
    """Compute log(1 + the sum of exp(sum of parts)) over the terms."""
    return _log1p_exp(_log_sum(np.sum(parts, axis=0), np.sum(np.abs(parts), axis=0)))


def _log1p_exp(x: float) -> float:
    return math.log1p(math.exp(x)) if x < 0 else x + math.log1p(math.exp(-x))


def _log_expm1(x: _Array) -> _Array:
    with np.errstate(over="ignore"):
        return np.where(x < 30, _safe_log(np.expm1(np.minimum(x, 30.0))), x + np.log1p(-np.exp(-np.maximum(x, 30.0))))


def _log(x: Fraction) -> float:
    return math.log1p(-nearest(1 - x)) if 2 * x > 1 else math.log(nearest(x))


@lru_cache(maxsize=512)
def _log_choose(n: int) -> _Array:
    """The logarithms of the binomial coefficients of n and 2, 3, ..., n."""
    return np.array([math.log(math.comb(n, k)) for k in range(2, n + 1)])
