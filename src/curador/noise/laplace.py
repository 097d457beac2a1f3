"""Laplace noise on the integers, exact for every rational scale.

One table gives small scales.  A large scale t is split as t = tau * 2**j with tau in [16, 32).  The high part H comes
from the table of exp(-h / tau).  The low j bits l are uniform and kept with probability exp(-l / t).  Most are kept
without any arithmetic, because exp(-x) >= 1 - x.  The rest are decided in floating point where the error bound allows,
and in exact integers elsewhere.  See docs/proofs/noise.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from curador.noise.arrays import CHUNK, EXP_ERROR, checked_count, flip, saturate
from curador.noise.decide import below_exp
from curador.noise.entropy import SYSTEM, Entropy
from curador.noise.table import InversionTable, geometric_weights
from curador.numbers import log2_floor, positive

TABLE_MOST = 24

FEW, SHORT_MOST = 1 << 10, 4
"""Fewer draws of one scale than FEW use a short table: tau lies in [4, 8), and only scales up to SHORT_MOST are one
table.  The law is the same; more low parts are refused, and a quarter of the table is computed."""


class _LaplaceSplit:
    """Integers G >= 0 or, when ``signed``, X in Z with probability proportional to exp(-|x| / scale)."""

    def __init__(self, scale: Fraction, *, signed: bool, short: bool = False) -> None:
        self.scale, self.signed = scale, signed
        self.low = low = max(0, log2_floor(scale) - (2 if short else 4))
        self.table = InversionTable(geometric_weights((1 << low) / scale), signed=False)
        self.word: type[np.uint32] | type[np.uint64] = np.uint32 if low <= 12 else np.uint64
        self.width = 32 if low <= 12 else 64
        # l + s <= 2**low = scale / tau, and exp(-x) >= 1 - x: a V below this is kept whatever l and s are.
        self.keep_bits = max(0, self.width - 1 - low)  # none are left where arrays are refused
        sure = max(Fraction(0), 1 - (1 << low) / scale)
        self.sure32 = math.floor(sure * (1 << 32))
        self.sure = self.word(math.floor(sure * (1 << self.keep_bits)) << (low + 1))

    def draw(self, entropy: Entropy) -> int:
        return self.finish(self.table.draw(entropy), entropy)

    def finish(self, high: int, entropy: Entropy) -> int:
        """Draw a value whose high part is already drawn, as a Python integer of any size."""
        low = self.low
        while True:
            word = entropy.bits(low + 1 + 32)
            offset, sign, v = word & ((1 << low) - 1), (word >> low) & 1, word >> (low + 1)
            # The negative side starts at -1, so that zero is not counted twice.
            d = offset + sign if self.signed else offset
            if v < self.sure32 or below_exp(v, 32, d / self.scale, entropy):
                g = (high << low) + d
                return -g if self.signed and sign else g

    def fill(self, out: NDArray[np.int64], entropy: Entropy) -> tuple[NDArray[np.int64], dict[int, int]]:
        """Fill ``out``; return the signs as 0 or -1 (spare fair coins when not ``signed``) and the outliers."""
        low, w = self.low, self.word
        outliers = {i: self.finish(high, entropy) for i, high in self.table.fill(out, entropy).items()}
        words = entropy.words(out.size, w)
        open_ = np.flatnonzero(words >= self.sure)
        if open_.size:
            words = words.copy()
            self._settle(words, open_, entropy)
        bits = words.view(np.int64) if self.width == 64 else words.astype(np.int64)
        np.left_shift(out, low, out=out)
        np.bitwise_or(out, bits & ((1 << low) - 1), out=out)
        minus = bits << (63 - low)
        minus >>= 63  # the bit above the low ones, as 0 or all ones
        if self.signed:
            np.bitwise_xor(out, minus, out=out)  # -(g + 1): the negative side starts at -1, so that zero occurs once
        return minus, outliers

    def _settle(self, words: NDArray[np.uint32 | np.uint64], open_: NDArray[np.intp], entropy: Entropy) -> None:
        """Decide the words that were not surely kept; refused words are redrawn until all are kept."""
        low, w = self.low, self.word
        while open_.size:
            word = words[open_]
            d = (word & w((1 << low) - 1)).astype(np.float64)
            if self.signed:
                d += (word >> w(low)) & w(1)
            v = (word >> w(low + 1)).astype(np.float64) * 2.0**-self.keep_bits
            p = np.exp(d * float(-1 / self.scale))
            kept = v + 2.0**-self.keep_bits <= p - EXP_ERROR
            for k in np.flatnonzero(~kept & (v < p + EXP_ERROR)):
                whole = int(word[k])
                exponent = (
                    Fraction((whole & ((1 << low) - 1)) + ((whole >> low) & 1 if self.signed else 0)) / self.scale
                )
                kept[k] = below_exp(whole >> (low + 1), self.keep_bits, exponent, entropy)
            open_ = open_[~kept]
            words[open_] = entropy.words(open_.size, w)
            open_ = open_[words[open_] >= self.sure]


class DiscreteLaplace:
    """Integers x with probability proportional to exp(-|x| / scale).

    ``short`` is for few draws: made faster, drawn more slowly.

    Guarantee: exactly this law, given fair bits (docs/proofs/noise.md); two-sided geometric noise [GRS12].

    >>> noise = DiscreteLaplace(Fraction(3))
    >>> type(noise.draw()), noise.sample(4).dtype, DiscreteLaplace(Fraction(1, 1000)).draw()
    (<class 'int'>, dtype('int64'), 0)
    """

    def __init__(self, scale: Fraction, *, short: bool = False) -> None:
        self.scale = positive(scale, "scale")
        small = self.scale <= (SHORT_MOST if short else TABLE_MOST)
        self._table = InversionTable(geometric_weights(1 / self.scale), signed=True) if small else None
        self._split = None if small else _LaplaceSplit(self.scale, signed=True, short=short)

    def draw(self, entropy: Entropy = SYSTEM) -> int:
        """Draw a value, as a Python integer of any size."""
        return (self._table or self._split).draw(entropy)  # type: ignore[union-attr]

    def sample(self, n: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Draw an array of ``n`` independent values, clamped to plus or minus 2**62."""
        out = np.empty(checked_count(n, self.scale), np.int64)
        for i in range(0, n, CHUNK):
            part = out[i : i + CHUNK]
            outliers = self._table.fill(part, entropy) if self._table else self._split.fill(part, entropy)[1]  # type: ignore[union-attr]
            saturate(part, outliers)
        return out


class RoundedLaplace:
    """Continuous Laplace noise of the given scale, rounded to the nearest integer.

    Guarantee: exactly the law of round(Z), Z Laplace.  Adding it to an integer is a rounding of adding Z, so all
    guarantees of continuous Laplace noise hold (docs/proofs/noise.md).

    >>> RoundedLaplace(Fraction(2) ** 40).sample(3).dtype
    dtype('int64')
    """

    def __init__(self, scale: Fraction) -> None:
        self.scale = positive(scale, "scale")
        # |Z| in half steps is a one-sided geometric of twice the scale; rounding to steps is (g + 1) // 2.
        self._split = _LaplaceSplit(2 * self.scale, signed=False)

    def draw(self, entropy: Entropy = SYSTEM) -> int:
        """Draw a value, as a Python integer of any size."""
        x = (self._split.draw(entropy) + 1) >> 1
        return -x if entropy.bits(1) else x

    def sample_with_outliers(self, n: int, entropy: Entropy = SYSTEM) -> tuple[NDArray[np.int64], dict[int, int]]:
        """Draw ``n`` independent values, and by place the outliers, which may be too large for a word."""
        out = np.empty(checked_count(n, self.scale), np.int64)
        outliers = {}
        for i in range(0, n, CHUNK):
            part = out[i : i + CHUNK]
            minus, far = self._split.fill(part, entropy)
            part += 1
            np.right_shift(part, 1, out=part)
            flip(part, minus)
            for k, g in far.items():
                outliers[i + k] = -((g + 1) >> 1) if minus[k] else (g + 1) >> 1
        return out, outliers

    def sample(self, n: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Draw an array of ``n`` independent values, clamped to plus or minus 2**62."""
        return saturate(*self.sample_with_outliers(n, entropy))


@lru_cache(64)
def discrete_laplace(scale: Fraction, short: bool = False) -> DiscreteLaplace:
    """Make the sampler for this scale once: its tables take a millisecond, a short one a quarter."""
    return DiscreteLaplace(scale, short=short)
