"""Exact uniform integers, exact biased coins, and exact choices with weights exp(-score)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.noise.arrays import EXP_ERROR
from curador.noise.decide import MORE, below_exp, below_fraction, exp_minus
from curador.noise.decide import below as _below
from curador.noise.entropy import SYSTEM, Entropy
from curador.numbers import probability, rational, whole

BLOCK = 1 << 10


def uniform_below(n: int, entropy: Entropy = SYSTEM) -> int:
    """Draw a uniform integer in [0, n).

    >>> uniform_below(1)
    0
    """
    return _below(whole(n, "n", 1), entropy)


def uniform_below_array(n: int, size: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
    """Draw an array of independent uniform integers in [0, n), n up to 2**62.

    >>> uniform_below_array(1, 4)
    array([0, 0, 0, 0])
    """
    n, size = whole(n, "n", 1), whole(size, "size")
    if n > 1 << 62:
        raise InvalidParameter("Arrays of uniform integers reach up to 2**62.", fix="Draw single values instead.")
    mask = np.uint64((1 << (n - 1).bit_length()) - 1)
    out = np.empty(size, np.int64)
    open_ = np.arange(size)
    while open_.size:
        drawn = (entropy.words(open_.size, np.uint64) & mask).view(np.int64)
        out[open_] = drawn
        open_ = open_[drawn >= n]
    return out


def bernoulli(p: Fraction, entropy: Entropy = SYSTEM) -> bool:
    """Draw a coin that is True with probability exactly p.

    >>> bernoulli(Fraction(0)), bernoulli(Fraction(1))
    (False, True)
    """
    p = probability(p, "p")
    return below_fraction(entropy.bits(MORE), MORE, p, entropy)


def bernoulli_array(p: Fraction, size: int, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
    """Draw independent coins, each True with probability exactly p.

    >>> bernoulli_array(Fraction(1), 3)
    array([ True,  True,  True])
    """
    p, size = probability(p, "p"), whole(size, "size")
    if p == 1:
        return np.ones(size, bool)
    cut = math.floor(p * (1 << MORE))
    words = entropy.words(size, np.uint64)
    out: NDArray[np.bool_] = words < np.uint64(cut)
    for k in np.flatnonzero(words == np.uint64(cut)):
        out[k] = below_fraction(cut, MORE, p, entropy)
    return out


def bernoulli_exp(x: Fraction, entropy: Entropy = SYSTEM) -> bool:
    """Draw a coin that is True with probability exactly exp(-x), for a rational x >= 0.

    >>> bernoulli_exp(Fraction(0))
    True
    """
    x = _exponent(x)
    return below_exp(entropy.bits(MORE), MORE, x, entropy)


def bernoulli_exp_array(gaps: NDArray[np.int64], rate: Fraction, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
    """Draw independent coins, the i-th True with probability exactly exp(-rate * gaps[i]).

    Gaps are integers >= 0.

    >>> bernoulli_exp_array(np.array([0, 0]), Fraction(1, 2))
    array([ True,  True])
    """
    rate = _exponent(rate)
    if (gaps < 0).any():
        raise InvalidParameter("exp(-rate * gap) is a probability only for gaps >= 0.", fix="Give gaps >= 0.")
    words = entropy.words(gaps.size, np.uint64)
    v = words.astype(np.float64) * 2.0**-64
    p = np.exp(-(gaps * _float_rate(rate)))
    out: NDArray[np.bool_] = v < p - 2 * EXP_ERROR
    for k in np.flatnonzero(~out & (v < p + 2 * EXP_ERROR)):
        out[k] = below_exp(int(words[k]), 64, int(gaps[k]) * rate, entropy)
    return out


def choose(
    gaps: NDArray[np.int64], rate: Fraction, sizes: NDArray[np.int64] | None = None, entropy: Entropy = SYSTEM
) -> int:
    """Draw an index i with probability exactly proportional to sizes[i] * exp(-rate * gaps[i]).

    Gaps and sizes are integers >= 0, sizes below 2**53; sizes default to 1.

    Guarantee: exactly this law, given fair bits.  A uniform number is compared with enclosures of the cumulative
    weights, first in floating point with its error bounded, then in exact integers.

    >>> choose(np.array([0, 10**9]), Fraction(1))
    0
    """
    rate = _exponent(rate)
    gaps = np.asarray(gaps, np.int64)
    sizes = np.ones(gaps.size, np.int64) if sizes is None else np.asarray(sizes, np.int64)
    if gaps.ndim != 1 or gaps.shape != sizes.shape or not sizes.any() or (sizes < 0).any() or (gaps < 0).any():
        raise InvalidParameter("There is nothing to choose from.", fix="Give gaps >= 0 and sizes >= 0, not all zero.")
    # Only differences matter; a least gap of zero keeps the weights from all vanishing.  An empty piece may have a
    # smaller gap, and has no weight at any gap.
    gaps = np.maximum(gaps - gaps[sizes > 0].min(), 0)
    u = entropy.bits(64)
    weights = sizes * np.exp(-(gaps * _float_rate(rate)))
    # Summed in blocks, so that rounding grows with the root of the number of pieces.
    tops = np.cumsum(np.add.reduceat(weights, np.arange(0, weights.size, BLOCK)))
    at = u * 2.0**-64 * tops[-1]
    margin = tops[-1] * (8 * EXP_ERROR + (BLOCK + tops.size) * 2.0**-50)
    block = min(int(np.searchsorted(tops, at, side="right")), tops.size - 1)
    start = block * BLOCK
    cuts = np.cumsum(weights[start : start + BLOCK]) + (tops[block - 1] if block else 0.0)
    j = int(np.searchsorted(cuts, at, side="right"))
    if j < cuts.size and at < cuts[j] - margin:
        before = cuts[j - 1] if j else tops[block - 1] if block else -margin
        if at > before + margin:
            return start + j
    return _choose_exactly(gaps, rate, sizes, u, entropy)


def _choose_exactly(gaps: NDArray[np.int64], rate: Fraction, sizes: NDArray[np.int64], u: int, entropy: Entropy) -> int:
    bits = 64
    last = int(np.flatnonzero(sizes)[-1])
    while True:
        p = bits + 64
        power = {int(g): exp_minus(int(g) * rate, p) for g in np.unique(gaps)}
        lo = list(accumulate(int(s) * power[int(g)][0] for g, s in zip(gaps, sizes, strict=True)))
        hi = list(accumulate(int(s) * power[int(g)][1] for g, s in zip(gaps, sizes, strict=True)))
        # U in [u, u+1] / 2**bits lies in piece j if C[j-1] <= U Z <= C[j] for all enclosed C and Z;
        # the last piece that is not empty has no upper end to pass.
        for j, (start, end) in enumerate(zip([0, *hi[:-1]], lo, strict=True)):
            if start << bits <= u * lo[-1] and ((u + 1) * hi[-1] <= end << bits or j == last):
                return j
        u, bits = (u << MORE) | entropy.bits(MORE), bits + MORE


def _float_rate(rate: Fraction) -> float:
    # exp(-rate) is below every margin long before 2**64, where the product with a gap still cannot overflow.
    return float(min(rate, Fraction(1 << 64)))


def _exponent(x: Fraction) -> Fraction:
    x = rational(x, "exponent")
    if x < 0:
        raise InvalidParameter(f"exp(-x) is a probability only for x >= 0, got {x}.", fix="Pass x >= 0.")
    return x
