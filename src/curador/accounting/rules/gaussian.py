"""Gaussian noise, on the line and on the integers: its exact privacy profile, and its calibration.

Everything is written with the Mills ratio R(x) = (1 - Phi(x)) / phi(x), which stays of moderate size where
probabilities underflow.  Differences of it are taken as integrals, because subtraction would cancel.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from curador.accounting.convert import zcdp_rho
from curador.accounting.precise import exp_upper, least_dyadic, least_float, nearest, open_delta, upper_log
from curador.errors import NotPromised
from curador.numbers import Number, above, nonnegative, positive, rational, sqrt_up, whole

_LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)
_SMALL_GRID = 2**22  # variances below this are summed term by term
_STEEP = 1 / 64  # relative decay per integer above which few terms matter, so they are summed one by one

_Array = NDArray[np.float64]


def gaussian_log_delta(sigma: Number, sensitivity: Number, epsilon: Number) -> float:
    """The natural logarithm of :func:`gaussian_delta`, for deltas below all doubles.

    >>> round(gaussian_log_delta(1, 1, 100), 3)
    -4960.255
    """
    s, d, e = positive(sigma, "sigma"), positive(sensitivity, "sensitivity"), nonnegative(epsilon, "epsilon")
    return upper_log(_gaussian_log_delta(d / s, e))


def gaussian_delta(sigma: Number, sensitivity: Number, epsilon: Number) -> float:
    """The smallest delta for which Gaussian noise is (epsilon, delta)-DP, rounded up.

    Guarantee: exact for l2 sensitivity in any dimension [BW18, Theorem 8]; never below the true value.

    >>> round(gaussian_delta(1, 1, 1), 6)
    0.126937
    """
    return exp_upper(gaussian_log_delta(sigma, sensitivity, epsilon))


def gaussian_epsilon(sigma: Number, sensitivity: Number, delta: Number) -> float:
    """The smallest epsilon for which Gaussian noise is (epsilon, delta)-DP, rounded up.

    >>> round(gaussian_epsilon(1, 1, "1e-5"), 4)
    4.3772
    """
    s, d, target = positive(sigma, "sigma"), positive(sensitivity, "sensitivity"), open_delta(delta)
    return least_float(lambda e: exp_upper(upper_log(_gaussian_log_delta(d / s, e))) <= target)


def gaussian_sigma(epsilon: Number, delta: Number, sensitivity: Number) -> Fraction:
    """The smallest sigma (to 50 bits, from above) for which Gaussian noise is (epsilon, delta)-DP.

    Guarantee: the rounded-up delta of the result is at most the one asked for [BW18].
    Fails: delta = 0 is refused, since no Gaussian noise is pure.

    >>> round(float(gaussian_sigma(1, "1e-5", 1)), 4)
    3.7306
    """
    e, target, d = nonnegative(epsilon, "epsilon"), open_delta(delta), positive(sensitivity, "sensitivity")
    return d * least_dyadic(lambda s: exp_upper(upper_log(_gaussian_log_delta(1 / s, e))) <= target, Fraction(1))


def classic_gaussian_sigma(epsilon: Number, delta: Number, sensitivity: Number) -> Fraction:
    """The textbook sigma = sqrt(2 ln(1.25/delta)) sensitivity / epsilon, rounded up.

    Guarantee: (epsilon, delta)-DP [DR14, Theorem A.1]; larger than :func:`gaussian_sigma`.
    Assumes: 0 < epsilon < 1.
    Fails: for epsilon >= 1 the theorem is silent, and the formula false (epsilon 10, delta 1e-5 gives 2.3e-5).

    >>> round(float(classic_gaussian_sigma("0.5", "1e-5", 1)), 3)
    9.69
    """
    e, target, d = positive(epsilon, "epsilon"), open_delta(delta), positive(sensitivity, "sensitivity")
    if e >= 1:
        raise NotPromised(
            f"The classic Gaussian theorem holds only for epsilon < 1, got {epsilon}.",
            fix="Use gaussian_sigma, which is exact for every epsilon.",
        )
    log = Fraction(above(math.log(1.25) - math.log(target)))
    return sqrt_up(2 * log, 50) * d / e


# ---- on the integers -------------------------------------------------------------------------------------------


def discrete_gaussian_log_delta(variance: Number, sensitivity: int, epsilon: Number) -> float:
    """The natural logarithm of :func:`discrete_gaussian_delta`, for deltas below all doubles."""
    v, s, e = positive(variance, "variance"), whole(sensitivity, "sensitivity", 1), nonnegative(epsilon, "epsilon")
    return upper_log(_discrete_log_delta(v, s, e))


def discrete_gaussian_delta(variance: Number, sensitivity: int, epsilon: Number) -> float:
    """The smallest delta for which the integer Gaussian is (epsilon, delta)-DP, rounded up.

    Guarantee: exact in one dimension [CKS20, Theorem 7]; never below the true value.  The worst shift is the largest
    one.  The law is log-concave, so the best test is a threshold, and a threshold gains with the shift.

    >>> round(discrete_gaussian_delta(1, 1, 1), 6)
    0.141351
    """
    return exp_upper(discrete_gaussian_log_delta(variance, sensitivity, epsilon))


def discrete_gaussian_variance(epsilon: Number, delta: Number, sensitivity: int) -> Fraction:
    """A small variance for which the integer Gaussian is (epsilon, delta)-DP in one dimension.

    Guarantee: the delta of the returned variance was itself computed, rounded up, and is at most the target.
    Fails: the integer profile need not fall as the variance grows; a larger variance must be checked again.

    >>> v = discrete_gaussian_variance(1, "1e-5", 1)
    >>> discrete_gaussian_delta(v, 1, 1) <= 1e-5, float(v) > float(gaussian_sigma(1, "1e-5", 1)) ** 2
    (True, True)
    """
    e, target, s = nonnegative(epsilon, "epsilon"), open_delta(delta), whole(sensitivity, "sensitivity", 1)
    start = gaussian_sigma(e, rational(target), s) ** 2
    return least_dyadic(lambda v: exp_upper(upper_log(_discrete_log_delta(v, s, e))) <= target, start)


def discrete_gaussian_variance_vector(epsilon: Number, delta: Number, sensitivity_squared: int) -> Fraction:
    """A variance for which integer Gaussian noise on a vector is (epsilon, delta)-DP.

    Guarantee: the noise is rho-zCDP with rho = sensitivity_squared / (2 variance) in any dimension.  A rho-zCDP
        mechanism is (epsilon, delta)-DP by the best order [CKS20, Corollary 13].

    >>> v = discrete_gaussian_variance_vector(1, "1e-5", 1)
    >>> v > discrete_gaussian_variance(1, "1e-5", 1)
    True
    """
    s2 = whole(sensitivity_squared, "sensitivity_squared", 1)
    return Fraction(s2) / (2 * zcdp_rho(epsilon, delta))


# ---- the profile on the line -----------------------------------------------------------------------------------


def _gaussian_log_delta(mu: Fraction, e: Fraction) -> float:
    """Compute log delta by Mills ratios, log(phi(t) (R(t) - R(t + mu))).

    Here t = e / mu - mu / 2, which rewrites [BW18].
    """
    t = e / mu - mu / 2
    tf, bf = nearest(t), nearest(t + mu)
    log_phi = -nearest(t * t / 2) - _LOG_ROOT_TAU
    if tf < -1:  # delta is of order one: the plain difference is safe, and R(t) might overflow
        from scipy.special import ndtr

        return math.log(float(ndtr(-tf)) - math.exp(log_phi) * float(_mills(np.array([bf]))[0]))
    drop = _mills_drop(tf, bf, nearest(mu))
    # Where the Mills ratio underflows this far out, R(x) is 1 / x to all digits.
    return log_phi + (math.log(drop) if drop > 0 else math.log(nearest(mu)) - math.log(tf) - math.log(bf))


def _mills(x: _Array) -> _Array:
    """The Mills ratio R(x)."""
    from scipy.special import erfcx

    return math.sqrt(math.pi / 2) * np.asarray(erfcx(x / math.sqrt(2)), dtype=np.float64)


def _mills_slope(x: _Array) -> _Array:
    """Compute -R'(x) = 1 - x R(x) without cancellation: by the continued fraction of R where x is large."""
    k = np.zeros_like(x)
    big = np.maximum(x, 3.0)
    for n in range(60, 0, -1):  # k = 1/(x + 2/(x + 3/(x + ...))) and R = 1/(x + k); at x >= 3 sixty levels suffice
        k = n / (big + k)
    return np.where(x < 3.0, 1 - x * _mills(np.minimum(x, 3.0)), k / (big + k))


def _mills_drop(t: float, b: float, width: float) -> float:
    """R(t) - R(b), where b = t + width and t >= -1."""
    if width >= 1:
        r = _mills(np.array([t, b]))
        return float(r[0] - r[1])
    nodes, weights = _legendre(24)
    # The integrand is entire and of scale one, so 24 points on an interval below 1 leave less than 2**-60.
    return width / 2 * float(weights @ _mills_slope(t + width / 2 * (1 + nodes)))


@cache
def _legendre(n: int) -> tuple[_Array, _Array]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


# ---- the profile on the integers -------------------------------------------------------------------------------


def _discrete_log_delta(v: Fraction, s: int, e: Fraction) -> float:
    """Compute log delta of the integer Gaussian.

    It is the sum over integers x > a of p(x) (1 - exp(-(s/v) (x - a))).  Here a = e v / s - s / 2.
    """
    a = e * v / s - Fraction(s, 2)
    m = math.floor(a) + 1
    slope, gap = nearest(s / v), nearest(m - a)
    if v < _SMALL_GRID or m > _STEEP * v:
        log_top, total = _direct_sum(v, m, slope, gap)
    else:
        log_top, total = _smooth_sum(v, m, s, slope, gap)
    return log_top - _log_mass(v) + math.log(total)


def _direct_sum(v: Fraction, m: int, slope: float, gap: float) -> tuple[float, float]:
    """The sum term by term, relative to its largest weight, plus a bound on the omitted terms."""
    var = nearest(v)
    first = max(m, -math.ceil(9.5 * math.sqrt(var)) - 1)
    top = max(first, 0)
    # Weights fall below exp(-45) of the largest after this many steps to the right of it.
    far = nearest(top)
    steps = 1 + math.ceil(90 * var / (far + math.hypot(far, math.sqrt(90 * var))))
    j = np.arange(first - top, steps, dtype=np.float64)
    weights = np.exp(-(2 * far + j) * j / (2 * var))
    # Beyond either end the weights fall at least geometrically, and 1 bounds the other factor.
    lost = math.exp(-(2 * far + steps) * steps / (2 * var)) / -math.expm1(-(far + steps) / var)
    if first > m:
        lost += float(weights[0]) / -math.expm1(first / var)
    total = float(np.sum(weights * -np.expm1(-slope * (gap + (top - m) + j))))
    return -nearest(Fraction(top) ** 2 / (2 * v)), total + lost


def _smooth_sum(v: Fraction, m: int, s: int, slope: float, gap: float) -> tuple[float, float]:
    """The sum of :func:`_direct_sum` for a wide law, by Euler-Maclaurin with its remainder charged.

    With L(x) the tail sum from x over the weight at x, the sum is w(m) (L(m) - exp(-slope * gap) L(m + s)).
    """
    sigma = nearest(sqrt_up(v, 60))
    u, mu = nearest(m) / sigma, nearest(s) / sigma
    if u < -1:  # order one: subtract the part left of m and the part of the shifted law right of it
        left, error = _tail(1 - m, sigma)
        right, error_right = _tail(m + s, sigma)
        half = nearest(1 - m) / sigma
        inside = math.exp(-half * half / 2) * (left - error)
        inside += math.exp(-u * u / 2 - slope * gap) * (right - error_right)
        return 0.0, sigma * math.exp(_LOG_ROOT_TAU) - inside
    log_top = -nearest(Fraction(m) ** 2 / (2 * v))
    after, error_after = _tail(m + s, sigma)
    if u + mu > 4 * _STEEP * sigma:  # the two tails differ by a factor: no cancellation
        before, error = _tail(m, sigma)
        return log_top, before + error - math.exp(-slope * gap) * (after - error_after)
    here, there = _corrections(u, sigma), _corrections(u + mu, sigma)
    drop = sigma * _mills_drop(u, u + mu, mu) + sum(x - y for x, y in zip(here, there, strict=True))
    error = error_after + _remainder(u, sigma) + 2.0**-50 * sum(map(abs, here + there))
    return log_top, drop - math.expm1(-slope * gap) * after + error


def _tail(x: int, sigma: float) -> tuple[float, float]:
    """The tail sum of the integer Gaussian from x >= -sigma over its weight at x, and an error bound."""
    u = nearest(x) / sigma
    if u > 4 * _STEEP * sigma:
        j = np.arange(math.ceil(45 / (u / sigma)) + 1, dtype=np.float64)
        return float(np.sum(np.exp(-(u / sigma) * j - (j / sigma) ** 2 / 2))), math.exp(-45) * (sigma / u + 1)
    total = sigma * float(_mills(np.array([u]))[0]) + 0.5 + sum(_corrections(u, sigma))
    return total, _remainder(u, sigma)


def _corrections(u: float, sigma: float) -> list[float]:
    """B_2k / (2k)! times the odd derivatives of the weight: the Euler-Maclaurin terms for k = 1 to 4."""
    y, t = u / sigma, (1 / sigma) ** 2  # Hermite polynomials over powers of sigma, so that no power overflows
    z = y * y
    hermite = [y, y * (z - 3 * t), y * (z * (z - 10 * t) + 15 * t**2)]
    hermite.append(y * (z * (z * (z - 21 * t) + 105 * t**2) - 105 * t**3))
    return [h / c for h, c in zip(hermite, (12, -720, 30240, -1209600), strict=True)]


def _remainder(u: float, sigma: float) -> float:
    """Bound the Euler-Maclaurin remainder after four terms, over the weight at u >= -1.

    It is at most 2 zeta(8) / (2 pi)**8 / sigma**7 times the integral over y > 0 of |He_8(u + y)| exp(-u y - y**2/2).
    Here |He_8(u + y)| is at most the sum of |coefficients| 2**7 (|u|**k + y**k).
    """
    total = 0.0
    for k, c in ((8, 1.0), (6, 28.0), (4, 210.0), (2, 420.0), (0, 105.0)):
        moment = 2 ** ((k - 1) / 2) * math.gamma((k + 1) / 2)
        # Over sigma**7: u**k min(1.26, 1/u), as a power of u / sigma where that is large.
        here = (u / sigma) ** 7 * u ** (k - 8) if u > 1 else abs(u) ** k * min(1.26, 1 / max(u, 0.1)) * (1 / sigma) ** 7
        total += c * 2**7 * (here + moment * (1 / sigma) ** 7)
    growth = 64 if u < 0 else 1  # exp(y) <= e exp(y**2 / 4) bounds what the negative u adds
    return growth * 2 * 1.005 / (2 * math.pi) ** 8 * total


def _log_mass(v: Fraction) -> float:
    """The log of the sum of exp(-x**2 / (2 v)) over the integers.

    By Poisson summation the sum is at least sqrt(2 pi v).
    """
    if v >= 4:  # where it is larger by a factor of less than 1 + 2**-110
        return 0.5 * math.log(nearest(v)) + _LOG_ROOT_TAU
    return math.log1p(2 * sum(math.exp(-x * x / (2 * nearest(v))) for x in range(30, 0, -1)))
