"""The Rényi curve of Gaussian noise where a unit is in exactly one of T batches, chosen at random.

Let r_1 … r_T be independent log-normal ratios exp(mu z - mu**2/2), z normal.  S = (r_1 + … + r_T) / T is the ratio of
the outputs with the unit to those without it.  The curve needs E[S**a] if the unit is in the first database, and
E[S**(1-a)] if it is in the second.  Both are under the law without the unit (docs/proofs/batches.md, 2).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from curador.accounting.precise import nearest
from curador.numbers import above

_Array = NDArray[np.float64]
MOST_ORDER = 256
"""The largest order of the curve; beyond it the batch of the unit counts as known."""

_MOST_MU, _MOST_BATCHES = 8.0, 10**6
_POINTS = 3000  # of the Laplace transform


def allocated_renyi(mu: float, batches: int, alpha: Fraction) -> float:
    """The larger of the two divergences of order alpha; infinity where it is not computed.

    >>> round(allocated_renyi(1.0, 100, Fraction(2)), 6), round(math.log(1 + (math.e - 1) / 100), 6)
    (0.017037, 0.017037)
    """
    if alpha > MOST_ORDER or not 1e-6 < mu <= _MOST_MU or not 2 <= batches <= _MOST_BATCHES:
        return math.inf
    return max(_with_unit(mu, batches, alpha), _without_unit(mu, batches, alpha))


# ---- E[S**a]: whole orders by counting, others by convexity -------------------------------------------------------


def _with_unit(mu: float, batches: int, alpha: Fraction) -> float:
    logs = _log_powers(mu, batches)
    low, share = math.floor(alpha), nearest(alpha - math.floor(alpha))
    scaled = (1 - share) * logs[low] + (share * logs[low + 1] if share else 0.0)
    return above(scaled / nearest(alpha - 1))


@lru_cache(maxsize=64)
def _log_powers(mu: float, batches: int) -> tuple[float, ...]:
    """log E[S**n] from above: n! / T**n times the coefficient of z**n in (sum of E[r**k] z**k / k!)**T."""
    n = np.arange(MOST_ORDER + 1.0)
    factorial = np.cumsum(np.log(np.maximum(n, 1.0)))
    base = n * (n - 1) * (mu * mu / 2) - factorial
    power, left = np.where(n == 0, 0.0, -np.inf), batches
    while left:
        if left & 1:
            power = _product(power, base)
        base, left = _product(base, base), left >> 1
    # Squaring doubles earlier errors: in all, T times a few units of the logarithms of the first factors.
    wrong = 2.0**-49 * (batches + 64) + 2.0**-46 * (np.abs(power) + factorial + n * math.log(batches))
    return tuple(np.maximum(0.0, factorial + power - n * math.log(batches) + wrong).tolist())


def _product(a: _Array, b: _Array) -> _Array:
    """The coefficients of a product of two series, as logarithms; all are positive, so nothing cancels."""
    size = len(a)
    rows = np.full((size, size), -np.inf)
    for k in range(size):
        rows[k, k:] = a[k] + b[: size - k]
    top = rows.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(rows - safe).sum(axis=0)))


# ---- E[S**-m] by its Laplace transform ----------------------------------------------------------------------------


def _without_unit(mu: float, batches: int, alpha: Fraction) -> float:
    """Bound E[S**-m] from above, the integral of u**(m-1) f(u/T)**T / Gamma(m).

    Here f(v) = E[exp(-v r)] and m = alpha - 1.  f falls, so between two points the integral is at most f(u_0/T)**T
    (u_1**m - u_0**m) / m.  log f is convex, so f is below the line through the points, in logarithms.  The integral of
    that is one of the incomplete gamma function.  The smaller counts.  Up to the first point f is at most 1.  From the
    last on it is at most (s / (e v))**s E[r**-s] for every s > 0, since exp(-x) <= (s / (e x))**s.
    """
    from scipy.special import gammaln

    m = nearest(alpha - 1)
    u, log_f = _transform(mu, batches)
    first = m * math.log(u[0]) - float(gammaln(m + 1))
    s = (m + np.geomspace(1.0, 1e4, 60)) / batches
    last = _log_tail(s, u[-1:], mu, batches)[0]
    last += m * math.log(u[-1]) - np.log(s * batches - m) - float(gammaln(m))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        steps = m * np.log(u[:-1]) + np.log(np.expm1(m * np.diff(np.log(u)))) - float(gammaln(m + 1))
        logs = np.concatenate([np.fmin(log_f[:-1] + steps, _under_chords(m, u, log_f)), [first, float(last.min())]])
    top = float(logs.max())
    if not top < math.inf:  # also for NaN
        return math.inf
    total = top + math.log(float(np.exp(logs - top).sum()))
    return above(max(0.0, total + 1e-10) / m)


def _under_chords(m: float, u: _Array, log_f: _Array) -> _Array:
    """The log of the integral under each chord, from above.

    It is infinite where the gamma functions are inaccurate.
    """
    from scipy.special import gammainc, gammaincc

    rate = -np.diff(log_f) / np.diff(u)
    low, high = rate * u[:-1], rate * u[1:]
    # Of the two functions the one not close to 1 there; both are good to 5e-13 of themselves.
    tail = low > m
    more = np.where(tail, gammaincc(m, low), gammainc(m, high))
    less = np.where(tail, gammaincc(m, high), gammainc(m, low))
    between = np.where(more > 1e-290, more - less + 1e-12 * more, np.inf)
    found = log_f[:-1] + low - m * np.log(rate) + np.log(between)
    return np.where((rate > 0) & np.isfinite(found), found, np.inf)


def _log_tail(s: _Array, u: _Array, mu: float, batches: int) -> _Array:
    """T log of (s / (e v))**s E[r**-s] at v = u / T, a row for each u: above T log f(v)."""
    size = s * batches
    return np.asarray(size * (np.log(size) - 1 - np.log(u)[:, None]) + size * (s + 1) * (mu * mu / 2))


@lru_cache(maxsize=64)
def _transform(mu: float, batches: int) -> tuple[_Array, _Array]:
    """Points u, and T log f(u/T) from above, by the trapezoidal rule on the whole line.

    exp(-v r) is analytic and at most 1 in size for |Im z| < pi / (2 mu).  So a step of 2 pi a / (a**2/2 + 60), with a
    at most that width, leaves exp(-60).
    """
    u = np.geomspace(1e-12, 1e14, _POINTS)
    a = min(math.pi / (2 * mu), 8.0)
    step = 2 * math.pi * a / (a * a / 2 + 60)
    z = np.arange(-math.ceil(12 / step), math.ceil(12 / step) + 1) * step
    weight = np.exp(-z * z / 2) * (step / math.sqrt(2 * math.pi))
    ratio = np.exp(mu * z - mu * mu / 2)
    log_f = np.empty_like(u)
    for start in range(0, _POINTS, 256):
        part = u[start : start + 256, None] / batches
        # 1 - f, so that little is lost where f is close to 1; E[r] = 1 bounds it too.
        gone = -np.expm1(-part * ratio) @ weight
        log_f[start : start + 256] = np.log1p(-gone * (1 - 2.0**-45))
    far = _log_tail(np.geomspace(1e-2, 1e4, 120), u, mu, batches).min(axis=1)  # where 1 - f is 1
    return u, np.minimum(batches * log_f, far + 1e-9)
