"""Real-valued Laplace and Gaussian noise on a power-of-two grid, free of floating-point leaks.

The grid is 2**e with the scale at least 2**40 steps.  The value is put on the grid.  Exactly rounded continuous noise
is added as an integer number of steps, and one IEEE addition turns the exact sum into a double.  The sum is a rounding
of value + continuous noise, and the addition a function of the sum alone, so both are post-processing.  So nothing
reveals more than the continuous mechanism: neither porous doubles [Mir12], nor a Gaussian's low bits [Jin22],
nor the precision of the sum [Haney22].  Putting the value on the grid moves it by up to half a step, and neighbouring
values apart by up to one step.  Callers charge :func:`step` to every coordinate's sensitivity for this.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.noise.arrays import CHUNK
from curador.noise.entropy import SYSTEM, Entropy
from curador.noise.gaussian import RoundedGaussian
from curador.noise.laplace import RoundedLaplace
from curador.numbers import log2_floor

GRID_BITS = 40
STEPS_BITS = 42
"""Up to 2**42 steps of scale, all noise but the outliers stays below 2**53 steps: an exact double."""
COORDINATES = 1 << 10
"""The number of coordinates that a grid of 2**-40 of the scale serves at a charge below 2**-30 of the scale."""

LARGEST = sys.float_info.max

EXTREME = 900
"""Scales are kept within 2**-900 … 2**900, so that every step and every noise value is a normal double."""


@lru_cache(64)
def _laplace(scale: Fraction, e: int) -> RoundedLaplace:
    return RoundedLaplace(_steps(scale, e))


@lru_cache(64)
def _gaussian(sigma: Fraction, e: int) -> RoundedGaussian:
    return RoundedGaussian(_steps(sigma, e) ** 2)


def grid_exponent(scale: Fraction) -> int:
    """The exponent e of the grid 2**e on which noise of this scale is drawn.

    >>> grid_exponent(Fraction(1)), grid_exponent(Fraction(1000))
    (-40, -31)
    """
    e = log2_floor(scale)
    if abs(e) > EXTREME:
        raise InvalidParameter(
            f"A noise scale of about 2**{e} is outside 2**-{EXTREME} … 2**{EXTREME}.",
            fix="Change the unit of the data.",
        )
    return e - GRID_BITS


def step(scale: Fraction) -> Fraction:
    """The grid's step: the most that putting values on the grid can add to the distance of two neighbours.

    >>> step(Fraction(1)) == Fraction(1, 2**40)
    True
    """
    return Fraction(2) ** grid_exponent(scale)


def real_laplace(
    values: NDArray[np.float64],
    scale: Fraction,
    e: int,
    entropy: Entropy = SYSTEM,
    exact: Mapping[int, Fraction] = MappingProxyType({}),
) -> NDArray[np.float64]:
    """Add independent Laplace noise of the given scale to values on the grid 2**e.

    ``exact`` has, by place, the values that are not doubles.

    >>> scale = Fraction(1, 10**6)
    >>> real_laplace(np.array([1.0, 2.0]), scale, grid_exponent(scale)).round(3)
    array([1., 2.])
    """
    return _release(values, exact, _laplace(scale, e), e, entropy)


def real_gaussian(
    values: NDArray[np.float64],
    sigma: Fraction,
    e: int,
    entropy: Entropy = SYSTEM,
    exact: Mapping[int, Fraction] = MappingProxyType({}),
) -> NDArray[np.float64]:
    """Add independent Gaussian noise of the given standard deviation to values on the grid 2**e.

    >>> sigma = Fraction(1, 10**6)
    >>> real_gaussian(np.array([1.0, 2.0]), sigma, grid_exponent(sigma)).round(3)
    array([1., 2.])
    """
    return _release(values, exact, _gaussian(sigma, e), e, entropy)


def real_laplace_one(value: Fraction, scale: Fraction, e: int, entropy: Entropy = SYSTEM) -> float:
    """Add Laplace noise to an exact value on the grid 2**e, and round to the nearest double."""
    return _nearest(value, _laplace(scale, e).draw(entropy), e)


def real_gaussian_one(value: Fraction, sigma: Fraction, e: int, entropy: Entropy = SYSTEM) -> float:
    """Add Gaussian noise to an exact value on the grid 2**e, and round to the nearest double."""
    return _nearest(value, _gaussian(sigma, e).draw(entropy), e)


def _release(
    values: NDArray[np.float64],
    exact: Mapping[int, Fraction],
    noise: RoundedLaplace | RoundedGaussian,
    e: int,
    entropy: Entropy,
) -> NDArray[np.float64]:
    flat = values.reshape(-1)
    out = np.empty(flat.size)
    places = sorted(exact)
    for i in range(0, flat.size, CHUNK):
        part = flat[i : i + CHUNK]
        steps, outliers = noise.sample_with_outliers(part.size, entropy)
        out[i : i + CHUNK] = _add(part, steps, outliers, e)
        for place in places[bisect_left(places, i) : bisect_left(places, i + CHUNK)]:
            out[place] = _nearest(exact[place], outliers.get(place - i, int(steps[place - i])), e)
    return out.reshape(values.shape)


def _steps(scale: Fraction, e: int) -> Fraction:
    """Compute the scale in grid steps; refuse noise that could leave the doubles' 53 bits or exponents."""
    steps = scale / Fraction(2) ** e
    if steps > 1 << STEPS_BITS or abs(e) > EXTREME + GRID_BITS:
        raise InvalidParameter(
            f"A grid of 2**{e} does not suit noise of scale {scale}.", fix="Use the exponent of grid_exponent(scale)."
        )
    return steps


def _on_grid(values: NDArray[np.float64], e: int) -> NDArray[np.float64]:
    # From 2**(52 + e) on, every double is a multiple of 2**e already, and scaling it could overflow.
    fine = np.abs(values) < 2.0 ** (52 + e)
    return np.where(fine, np.rint(np.where(fine, values, 0.0) * 2.0**-e) * 2.0**e, values)


def _add(
    values: NDArray[np.float64], noise: NDArray[np.int64], outliers: dict[int, int], e: int
) -> NDArray[np.float64]:
    # Below 2**53 steps the noise is an exact double, so either addition rounds the exact sum once.
    with np.errstate(over="ignore"):
        out = values * 2.0**-e
        if out.max(initial=0.0) < 2.0**52 and out.min(initial=0.0) > -(2.0**52):
            np.rint(out, out=out)
            out += noise
            out *= 2.0**e  # below 2**54 steps: exact, and far from the largest double
        else:
            out = _on_grid(values, e) + noise.astype(np.float64) * 2.0**e
            np.clip(out, -LARGEST, LARGEST, out=out)
    for i, steps in outliers.items():
        out[i] = _nearest(Fraction(float(values[i])), steps, e)
    return out


def _nearest(value: Fraction, steps: int, e: int) -> float:
    # Integers are rounded to the nearest double, and scaling by 2**e is then exact: one rounding in all.
    total = _whole_steps(value, e) + steps
    try:
        return math.ldexp(total, e) if total.bit_length() <= 1000 else float(total * Fraction(2) ** e)
    except OverflowError:
        return math.copysign(LARGEST, 1 if total > 0 else -1)


def _whole_steps(value: Fraction, e: int) -> int:
    """Round a value to steps of 2**e; shifting is several times faster than dividing fractions."""
    n, d = value.numerator, value.denominator
    if e < 0:
        n <<= -e
    else:
        d <<= e
    return n if d == 1 else round(Fraction(n, d))
