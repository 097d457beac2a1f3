"""Probabilities of normal noise between given edges, each to a relative error below 2**-40."""

from __future__ import annotations

import math

import numpy as np

from curador.accounting.pld.cells import Floats

_NARROW = 0.5
_ROOT_TAU = math.sqrt(2 * math.pi)


def reach(tail: float) -> float:
    """How many standard deviations leave about ``tail`` outside; at most what doubles can tell from 0.

    >>> round(reach(1e-20), 2)
    9.26
    """
    from scipy.special import ndtri_exp

    return float(-ndtri_exp(max(math.log(tail), -680.0)))


def normal_masses(x: Floats) -> Floats:
    """The standard normal mass below x[0], between consecutive edges, and above x[-1].

    Narrow cells use Taylor's series of the density about the middle, whose terms are Hermite polynomials, since the
    difference of two distribution functions would cancel; wide cells do not cancel.

    >>> normal_masses(np.array([0.0]))
    array([0.5, 0.5])
    """
    from scipy.special import ndtr

    width, m = np.diff(x), (x[1:] + x[:-1]) / 2
    below = ndtr(-np.abs(x))
    wide = np.where(
        x[1:] <= 0, below[1:] - below[:-1], np.where(x[:-1] >= 0, below[:-1] - below[1:], 1 - below[1:] - below[:-1])
    )
    with np.errstate(over="ignore", invalid="ignore"):
        h, m2 = width * width / 4, m * m
        he4 = (m2 - 6) * m2 + 3
        he6 = ((m2 - 15) * m2 + 45) * m2 - 15
        he8 = (((m2 - 28) * m2 + 210) * m2 - 420) * m2 + 105
        series = 1 + h * ((m2 - 1) / 6 + h * (he4 / 120 + h * (he6 / 5040 + h * he8 / 362880)))
        narrow = width * np.exp(-m2 / 2) / _ROOT_TAU * series
    inner = np.where(width * (np.abs(m) + 2) <= _NARROW, narrow, wide)
    return np.concatenate([ndtr(x[:1]), inner, ndtr(-x[-1:])])


def integer_masses(cuts: Floats, spread: float) -> Floats:
    """The same for Gaussian noise on the integers, below the first cut, from each cut up to the next, and so on.

    Assumes: a spread of at least 2**20.  The sum over a block is the integral between half-integers plus two terms of
        Euler and Maclaurin's series for midpoints; the next is below 2**-42 of it.
    """
    z = (cuts - 0.5) / math.sqrt(spread)
    terms = z * np.exp(-z * z / 2) * (1 / 24 - 7 * (z * z - 3) / (5760 * spread)) / (spread * _ROOT_TAU)
    return normal_masses(z) + np.diff(terms, prepend=0.0, append=0.0)


def few_integer_masses(cuts: Floats, spread: float) -> Floats:
    """The same for a smaller spread, integer by integer; beyond 39 deviations there is nothing that a double holds.

    >>> few_integer_masses(np.array([0.0, 1.0]), 1.0).round(6)
    array([0.300529, 0.398942, 0.300529])
    """
    far = math.ceil(39 * math.sqrt(spread))
    x = np.arange(-far, far + 1.0)
    weights = np.exp(-(x**2) / (2 * spread))
    weights /= weights.sum()
    where = np.concatenate([[0], np.clip(cuts + far, 0, len(x)).astype(np.int64), [len(x)]])
    # Sums over blocks one by one: differences of cumulated sums would cancel in the tails.
    sums = np.add.reduceat(np.append(weights, 0.0), where[:-1])
    return np.where(where[1:] > where[:-1], sums, 0.0)
