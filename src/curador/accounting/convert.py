"""Conversions between guarantees: pure, zero-concentrated, Rényi and approximate.

Each conversion states its theorem.  Each result is an upper bound at any order: the theorem holds at every order, and
the formula is evaluated upwards at the chosen one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from curador.accounting.precise import (
    TINY,
    dec,
    digits,
    exp_upper,
    float_above,
    least_dyadic,
    least_float,
    lost_digits,
    nearest,
    open_delta,
    open_order,
    upper_log,
)
from curador.numbers import Number, above, nonnegative, positive, rational, up
from curador.privacy import RenyiDP

RenyiCurve = RenyiDP | Mapping[float, float] | Iterable[tuple[float, float]]
"""A Rényi curve: a guarantee, or pairs of order and epsilon."""


_HUGE = 10**6  # beyond such exponents the closed form is as good, and decimals would leave their range


@dataclass(frozen=True, slots=True)
class AtOrder:
    """A converted number and the Rényi order at which it was reached.

    >>> AtOrder(1.5, 8.0)
    AtOrder(value=1.5, order=8.0)
    """

    value: float
    order: float


NEGLIGIBLE = Fraction(1, 10**9)
"""An epsilon below which tanh(epsilon / 2) is epsilon / 2 in doubles."""


# ---- pure and zero-concentrated --------------------------------------------------------------------------------


def pure_to_zcdp(epsilon: Number) -> float:
    """The rho of any epsilon-DP mechanism: epsilon**2 / 2, the usual form.

    Guarantee: rho-zCDP [BS16, Proposition 1.4].

    >>> pure_to_zcdp("0.5")
    0.125
    """
    return up(positive(epsilon, "epsilon") ** 2 / 2)


def pure_to_zcdp_tight(epsilon: Number) -> float:
    """The smallest rho that holds for every epsilon-DP mechanism: epsilon * tanh(epsilon / 2).

    Guarantee: the worst mechanism is randomised response, with (a - 1) D_a = ln cosh((a - 1/2) e) - ln cosh(e/2).
    Since ln cosh(sqrt(x)) is concave, D_a / a falls as a grows, and its limit at a = 1 is the value here.  For an
    epsilon so small that digits would be lost the result is epsilon**2 / 2, which is above it, since tanh(x) <= x.

    >>> round(pure_to_zcdp_tight(1), 6), pure_to_zcdp_tight("1e-100")
    (0.462117, 5e-201)
    """
    e = positive(epsilon, "epsilon")
    if e < NEGLIGIBLE:
        return up(e**2 / 2)
    with digits():
        x = (-dec(e)).exp()
        return float_above(dec(e) * (1 - x) / (1 + x))


def zcdp_delta(rho: Number, epsilon: Number) -> AtOrder:
    """The delta of any rho-zCDP mechanism at a given epsilon, and the best order.

    Guarantee: (epsilon, delta)-DP [CKS20, Corollary 13].

    >>> round(zcdp_delta("1/32", 0).value, 12)
    0.150845784562
    """
    r, e = positive(rho, "rho"), rational(epsilon, "epsilon")
    log, a = _zcdp_log_delta(r, e)
    return AtOrder(exp_upper(log), a)


def zcdp_log_delta(rho: Number, epsilon: Number) -> float:
    """The natural logarithm of :func:`zcdp_delta`, for deltas below all doubles.

    >>> round(zcdp_log_delta(1, 100))
    -2455
    """
    return _zcdp_log_delta(positive(rho, "rho"), rational(epsilon, "epsilon"))[0]


def zcdp_epsilon(rho: Number, delta: Number) -> AtOrder:
    """The epsilon of any rho-zCDP mechanism at a given delta, and the best order.

    Guarantee: (epsilon, delta)-DP [CKS20, Corollary 13].

    >>> round(zcdp_epsilon("1/32", "1e-3").value, 12)
    0.688002455488
    """
    r, target = positive(rho, "rho"), open_delta(delta)
    value = least_float(lambda e: exp_upper(_zcdp_log_delta(r, e)[0]) <= target)
    return AtOrder(value, _zcdp_log_delta(r, rational(value))[1])


def zcdp_rho(epsilon: Number, delta: Number) -> Fraction:
    """The largest rho (to 50 bits, from below) such that every rho-zCDP mechanism is (epsilon, delta)-DP.

    >>> rho = zcdp_rho(1, "1e-5")
    >>> zcdp_delta(rho, 1).value <= 1e-5 < zcdp_delta(rho * Fraction(1001, 1000), 1).value
    True
    """
    e, target = nonnegative(epsilon, "epsilon"), open_delta(delta)
    return 1 / least_dyadic(lambda x: exp_upper(_zcdp_log_delta(1 / x, e)[0]) <= target, Fraction(1))


def _zcdp_log_delta(rho: Fraction, epsilon: Fraction) -> tuple[float, float]:
    """Bound min over a of (a-1)(a rho - epsilon) - log(a-1) + a log(1-1/a) from above, with the minimiser."""
    r, e = nearest(rho), nearest(epsilon)

    def slope(a: float) -> float:
        return (2 * a - 1) * r - e + math.log1p(-1 / a)

    low, high = 1.0, 2.0
    while slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(100):  # the slope increases; any order is valid, so the bisection need not be certified
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    a = max(high, 1 + 2.0**-40)
    exponent = (Fraction(a) - 1) * (Fraction(a) * rho - epsilon)  # exact: large terms cancel here
    rest = _log_gain(a - 1)
    return min(0.0, above(upper_log(nearest(exponent)) + rest, 2.0**-50, 2.0**-45 * (1 + abs(rest)))), a


# ---- Rényi ------------------------------------------------------------------------------------------------------


def renyi_epsilon(curve: RenyiCurve, delta: Number) -> AtOrder:
    """The epsilon of a Rényi curve at a delta, the best over its orders, and its order.

    Guarantee: (epsilon, delta)-DP by :func:`improved_epsilon`, then by :func:`optimal_epsilon` where that helps.

    >>> renyi_epsilon({a: 1.1 for a in range(2, 33)}, "1e-5")
    AtOrder(value=1.3278380617..., order=32.0)
    """
    target = open_delta(delta)
    value, a, zeta = min((improved_epsilon(a, zeta, delta), a, zeta) for a, zeta in _points(curve))
    if value not in (0.0, math.inf) and a < math.inf and optimal_delta(a, zeta, value) < 0.999 * target:
        value = min(value, optimal_epsilon(a, zeta, delta))
    return AtOrder(value, a)


def renyi_delta(curve: RenyiCurve, epsilon: Number) -> AtOrder:
    """The delta of a Rényi curve at an epsilon, the best over its orders, and its order.

    >>> renyi_delta({2: 1, 8: 4}, 6)
    AtOrder(value=4.08172...e-08, order=8.0)
    """
    e = rational(epsilon, "epsilon")
    candidates = sorted((_improved_log_delta(rational(a), rational(z), e), a, z) for a, z in _finite(curve))[:3]
    found = [AtOrder(_worst_pure_delta(z, e), a) for a, z in _points(curve) if a == math.inf]
    found += [AtOrder(optimal_delta(a, z, epsilon), a) for _, a, z in candidates]
    return min(found, key=lambda x: x.value, default=AtOrder(1.0, math.inf))


def thesis_epsilon(alpha: Number, zeta: Number, delta: Number) -> float:
    """The conversion zeta + log(1/delta) / (alpha - 1), at one order.

    Guarantee: (result, delta)-DP (thesis proposition 4.3.1, [Mir17, Proposition 3]).

    >>> round(thesis_epsilon(32, "1.1", "1e-5"), 6)
    1.471385
    """
    return _epsilon(alpha, zeta, delta, lambda power: 0.0)


def improved_epsilon(alpha: Number, zeta: Number, delta: Number) -> float:
    """The conversion zeta + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1), at one order.

    Guarantee: (result, delta)-DP [CKS20, Proposition 12; BBGHS20, Theorem 21]; always below the thesis's.

    >>> round(improved_epsilon(32, "1.1", "1e-5"), 6)
    1.327838
    """
    return _epsilon(alpha, zeta, delta, lambda power: _log_gain(power) / power)


def _epsilon(alpha: Number, zeta: Number, delta: Number, gain: Callable[[float], float]) -> float:
    target = open_delta(delta)
    if math.inf in (alpha, zeta):
        return math.inf if zeta == math.inf else up(rational(zeta, "zeta"))
    power, z = nearest(open_order(alpha) - 1), nearest(rational(zeta, "zeta"))
    terms = z, -math.log(target) / power, gain(power)
    return max(0.0, above(sum(terms), 2.0**-50, 2.0**-48 * sum(map(abs, terms))))


def optimal_delta(alpha: Number, zeta: Number, epsilon: Number) -> float:
    """The smallest delta that follows from one point (alpha, zeta) of a Rényi curve.

    Guarantee: for the ratio r of any two laws, (r - e**epsilon)+ <= A r**alpha + B r + C.  The right side touches 0
        at t x and the line at x.  Taking means, delta <= A exp((alpha-1) zeta) + B + C for every t in [0, 1).  The
        best t makes it tight [ALCKS21]; t = 0 is the improved bound [CKS20].  Where zeta is large the right side only
        meets 0 at 0, climbing, and gives 1 - exp(epsilon - zeta).

    >>> optimal_delta(2, "0.1", 0) < 0.1622 < 0.2762 < zcdp_delta("0.05", 0).value * 2
    True
    """
    a, e = open_order(alpha), rational(epsilon, "epsilon")
    if zeta == math.inf:
        return 1.0
    z = rational(zeta, "zeta")
    improved = exp_upper(_improved_log_delta(a, z, e))
    if e > _HUGE or (a - 1) * z > _HUGE:
        return improved
    with digits():
        odds = dec(z - e).exp()
        if odds > dec(a / (a - 1) * (1 + TINY)):
            return min(improved, float_above(1 - 1 / odds))
    power, af, grown = nearest(a - 1), nearest(a), nearest((a - 1) * z)

    def rough(log_t: float) -> float:
        t1 = math.exp(power * log_t)
        if t1 >= 1:
            return math.inf
        t2, k = t1 * math.exp(log_t), 1 / -math.expm1(power * log_t)
        room = 1 - k * (1 - af * t1 + power * t2) / af
        if room <= 0:
            return math.inf
        x = nearest(e) - math.log(room)
        if x > 700 or grown - power * x > 700:
            return math.inf
        return k / af * math.exp(grown - power * x) - k * t1 + power * k * t2 * math.exp(x) / af

    log_t = _golden(lambda s: rough(-math.exp(s)), math.log(1e-6), math.log(700 / min(power, 1.0)))
    lost = 2 * lost_digits(a - 1)
    with digits(lost):
        t = -Decimal(repr(math.exp(log_t)))
        t1, t2 = (dec(a - 1) * t).exp(), (dec(a) * t).exp()
        k = 1 / (1 - t1)
        x = dec(e).exp() / (1 - k * (1 - dec(a) * t1 + dec(a - 1) * t2) / dec(a))
        first = k / dec(a) * (dec((a - 1) * z) - dec(a - 1) * x.ln()).exp()
        total = first - k * t1 + dec(a - 1) * k * t2 * x / dec(a)
        rounded = Decimal(10) ** -(45 + lost) * (first + k * t1 + k * t2 * x)
        return min(improved, float_above(max(Decimal(0), total) + rounded))


def optimal_epsilon(alpha: Number, zeta: Number, delta: Number) -> float:
    """The smallest epsilon that follows from one point (alpha, zeta) of a Rényi curve.

    Guarantee: :func:`optimal_delta` of the result is at most delta.

    >>> round(improved_epsilon(2, "0.1", "0.01"), 3), round(optimal_epsilon(2, "0.1", "0.01"), 3)
    (3.319, 1.286)
    """
    target = open_delta(delta)
    if zeta == math.inf:
        return math.inf
    return least_float(lambda e: optimal_delta(alpha, zeta, e) <= target)


def _improved_log_delta(a: Fraction, zeta: Fraction, epsilon: Fraction) -> float:
    rest = _log_gain(nearest(a - 1))
    return min(0.0, above(upper_log(nearest((a - 1) * (zeta - epsilon))) + rest, 2.0**-50, 2.0**-45 * (1 + abs(rest))))


def _log_gain(power: float) -> float:
    """Compute a log(1 - 1/a) - log(a - 1) for a = 1 + power, without cancellation for any power."""
    if power < 1:
        return power * math.log(power) - (1 + power) * math.log1p(power)
    return (1 + power) * math.log1p(-1 / (1 + power)) - math.log(power)


def _worst_pure_delta(epsilon0: float, epsilon: Fraction) -> float:
    if epsilon0 == math.inf or epsilon >= rational(epsilon0):
        return 1.0 if epsilon0 == math.inf else 0.0
    return above(-math.expm1(nearest(epsilon - rational(epsilon0))) / (1 + math.exp(-epsilon0)))


def _points(curve: RenyiCurve) -> list[tuple[float, float]]:
    return list((curve if isinstance(curve, RenyiDP) else RenyiDP(curve)).curve)


def _finite(curve: RenyiCurve) -> list[tuple[float, float]]:
    return [(a, z) for a, z in _points(curve) if math.inf not in (a, z)]


def _golden(f: Callable[[float], float], low: float, high: float) -> float:
    """Find where f is smallest, by golden section.

    Any point is valid, so a wrong guess costs only tightness.
    """
    ratio = (math.sqrt(5) - 1) / 2
    x, y = high - ratio * (high - low), low + ratio * (high - low)
    fx, fy = f(x), f(y)
    while high - low > 1e-7:
        if fx <= fy:
            high, y, fy = y, x, fx
            x = high - ratio * (high - low)
            fx = f(x)
        else:
            low, x, fx = x, y, fy
            y = low + ratio * (high - low)
            fy = f(y)
    return (low + high) / 2
