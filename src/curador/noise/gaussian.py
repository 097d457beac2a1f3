"""Gaussian noise on the integers, exact for every rational variance.

As for Laplace, one table gives small deviations.  A large sigma is split as g = k * 2**j + d.  The high part k comes
from a table of exp(-(k 2**j)**2 / (2 sigma**2)) with sigma / 2**j in [32, 64).  The low part is kept with probability
exp(-d (2 k 2**j + d) / (2 sigma**2)).  This exponent depends on k, so a refusal redraws everything.
See docs/proofs/noise.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.noise.arrays import CHUNK, EXP_ERROR, checked_count, flip, saturate
from curador.noise.decide import below_exp, below_exp_of_cell
from curador.noise.entropy import SYSTEM, Entropy
from curador.noise.table import InversionTable, gaussian_weights
from curador.numbers import log2_floor, positive

TABLE_MOST = 64**2


class _GaussianSplit:
    """Integers with probability proportional to exp(-x**2 / (2 variance)).

    ``signed``: x ranges over Z.  Otherwise x is the integer part of a continuous half-Gaussian; its low part then has a
    fraction whose bits are drawn only if they matter.
    """

    def __init__(self, variance: Fraction, *, signed: bool) -> None:
        self.variance, self.signed = variance, signed
        self.low = low = max(0, log2_floor(variance) // 2 - 5)
        step = 1 << low
        rate = step * step / (2 * variance)  # the table's weights are exp(-rate * k**2)
        self.table = InversionTable(gaussian_weights(rate), signed=False)
        self.word: type[np.uint32] | type[np.uint64] = np.uint32 if low <= 12 else np.uint64
        self.width = 32 if low <= 12 else 64
        self.keep_bits = self.width - 1 - low
        # d <= 2**low, so the exponent is at most rate * (2k + 1), and exp(-x) >= 1 - x: a V below this is kept.
        rate64 = math.ceil(rate * (1 << 64))
        sure = [max(0, (1 << 64) - rate64 * (2 * k + 1)) for k in range(self.table.reach)]
        sure.append(0)  # for every high part that the table finds only at level 3
        self.sure32 = [s >> 32 for s in sure]
        self.sure = np.array([s >> (64 - self.keep_bits) << (low + 1) for s in sure], self.word)
        self.inverse = float(1 / (2 * variance))
        # How much the exponent can grow with the fraction of d, for high parts within the table's reach.
        self.spread = 0.0 if signed else float((2 * self.table.reach * step + 1) / (2 * variance))

    def draw(self, entropy: Entropy) -> tuple[int, bool]:
        while True:
            done = self._attempt(self.table.draw(entropy), entropy)
            if done is not None:
                return done

    def finish(self, high: int, entropy: Entropy) -> tuple[int, bool]:
        """Draw a magnitude and sign whose high part is already drawn, as a Python integer of any size."""
        return self._attempt(high, entropy) or self.draw(entropy)

    def _attempt(self, high: int, entropy: Entropy) -> tuple[int, bool] | None:
        word = entropy.bits(self.low + 1 + 32)
        offset, sign, v = word & ((1 << self.low) - 1), (word >> self.low) & 1, word >> (self.low + 1)
        sure = self.sure32[min(high, self.table.reach)]
        if v < sure or self._keeps(high, offset, sign, v, 32, entropy):
            return (high << self.low) + offset + (sign if self.signed else 0), bool(sign)
        return None

    def _keeps(self, high: int, offset: int, sign: int, v: int, bits: int, entropy: Entropy) -> bool:
        base = high << self.low
        if self.signed:
            d = offset + sign  # the negative side starts at -1, so that zero is not counted twice
            return below_exp(v, bits, d * (2 * base + d) / (2 * self.variance), entropy)
        return below_exp_of_cell(v, bits, offset, base, self.variance, entropy)

    def attempt(self, n: int, entropy: Entropy) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[int, int]]:
        """Draw at most ``n`` magnitudes, their signs as 0 or -1, and signed outliers by place."""
        low, w = self.low, self.word
        high = np.empty(n, np.int64)
        far = self.table.fill(high, entropy)
        words = entropy.words(n, w)
        open_ = np.flatnonzero(words >= self.sure.take(high, mode="clip"))
        bits = words.view(np.int64) if self.width == 64 else words.astype(np.int64)
        out = np.left_shift(high, low)
        np.bitwise_or(out, bits & ((1 << low) - 1), out=out)
        minus = bits >> low
        minus &= 1
        if self.signed:
            out += minus
        np.negative(minus, out=minus)
        refused = open_[~self._settle(words[open_], high[open_], entropy)]
        outliers = {}
        if far:
            refused = np.setdiff1d(refused, np.array(sorted(far)), assume_unique=True)
            for place, k in far.items():
                x, negative = self.finish(k, entropy)
                outliers[place - int(np.count_nonzero(refused < place))] = -x if negative else x
        if refused.size:
            keep = np.ones(n, bool)
            keep[refused] = False
            out, minus = out[keep], minus[keep]
        return out, minus, outliers

    def _settle(
        self, words: NDArray[np.uint32 | np.uint64], high: NDArray[np.int64], entropy: Entropy
    ) -> NDArray[np.bool_]:
        """Decide which of these words to keep."""
        low, w = self.low, self.word
        d = (words & w((1 << low) - 1)).astype(np.float64)
        if self.signed:
            d += (words >> w(low)) & w(1)
        v = (words >> w(low + 1)).astype(np.float64) * 2.0**-self.keep_bits
        x = d * (high * 2.0 ** (low + 1) + d) * self.inverse
        p = np.exp(-x)
        kept = v + 2.0**-self.keep_bits <= p - (EXP_ERROR + self.spread)
        unsure = (~kept & (v < p + EXP_ERROR)) | (high >= self.table.reach)
        for k in np.flatnonzero(unsure):
            word = int(words[k])
            offset, sign = word & ((1 << low) - 1), (word >> low) & 1
            kept[k] = self._keeps(int(high[k]), offset, sign, word >> (low + 1), self.keep_bits, entropy)
        return kept


class DiscreteGaussian:
    """Integers x with probability proportional to exp(-x**2 / (2 variance)).

    Guarantee: exactly this law, given fair bits (docs/proofs/noise.md); the discrete Gaussian of [CKS20].

    >>> noise = DiscreteGaussian(Fraction(9))
    >>> type(noise.draw()), noise.sample(4).dtype, DiscreteGaussian(Fraction(1, 1000)).draw()
    (<class 'int'>, dtype('int64'), 0)
    """

    def __init__(self, variance: Fraction) -> None:
        self.variance = positive(variance, "variance")
        small = self.variance <= TABLE_MOST
        self._table = InversionTable(gaussian_weights(1 / (2 * self.variance)), signed=True) if small else None
        self._split = None if small else _GaussianSplit(self.variance, signed=True)

    def draw(self, entropy: Entropy = SYSTEM) -> int:
        """Draw a value, as a Python integer of any size."""
        if self._table:
            return self._table.draw(entropy)
        x, negative = self._split.draw(entropy)  # type: ignore[union-attr]
        return -x if negative else x

    def sample(self, n: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Draw an array of ``n`` independent values, clamped to plus or minus 2**62."""
        if self._split:
            return saturate(*_gather(self._split, n, entropy, halve=False))
        out = np.empty(checked_count(n, self.variance, power=2), np.int64)
        for i in range(0, n, CHUNK):
            part = out[i : i + CHUNK]
            saturate(part, self._table.fill(part, entropy))  # type: ignore[union-attr]
        return out


class RoundedGaussian:
    """Continuous Gaussian noise of the given variance, rounded to the nearest integer.

    Guarantee: exactly the law of round(Z), Z Gaussian.  Adding it to an integer is a rounding of adding Z, so all
    guarantees of continuous Gaussian noise hold, in any dimension (docs/proofs/noise.md).
    Assumes: a variance of at least 1; below that nearly every attempt would be refused.

    >>> RoundedGaussian(Fraction(2) ** 80).sample(3).dtype
    dtype('int64')
    """

    def __init__(self, variance: Fraction) -> None:
        self.variance = positive(variance, "variance")
        if self.variance < 1:
            raise InvalidParameter(
                f"Gaussian noise of variance {variance} is finer than the integers it is rounded to.",
                fix="Use a finer grid, at least one step per standard deviation.",
            )
        # |Z| in half steps has four times the variance; rounding to steps is (g + 1) // 2.
        self._split = _GaussianSplit(4 * self.variance, signed=False)

    def draw(self, entropy: Entropy = SYSTEM) -> int:
        """Draw a value, as a Python integer of any size."""
        g, negative = self._split.draw(entropy)
        return -((g + 1) >> 1) if negative else (g + 1) >> 1

    def sample_with_outliers(self, n: int, entropy: Entropy = SYSTEM) -> tuple[NDArray[np.int64], dict[int, int]]:
        """Draw ``n`` independent values, and by place the outliers, which may be too large for a word."""
        return _gather(self._split, n, entropy, halve=True)

    def sample(self, n: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Draw an array of ``n`` independent values, clamped to plus or minus 2**62."""
        return saturate(*self.sample_with_outliers(n, entropy))


def _gather(
    split: _GaussianSplit, n: int, entropy: Entropy, *, halve: bool
) -> tuple[NDArray[np.int64], dict[int, int]]:
    out = np.empty(checked_count(n, split.variance, power=2), np.int64)
    outliers = {}
    i = 0
    while i < n:
        missing = n - i
        some = min(CHUNK, missing)
        found, minus, far = split.attempt(some + some // 32 + 4, entropy)  # about 1 in 80 is refused
        found, minus = found[:missing], minus[:missing]
        if halve:
            found += 1
            np.right_shift(found, 1, out=found)
        flip(found, minus)
        out[i : i + found.size] = found
        for k, x in far.items():
            if k < missing:
                outliers[i + k] = (abs(x) + 1 >> 1) * (1 if x > 0 else -1) if halve else x
        i += found.size
    return out, outliers


@lru_cache(64)
def discrete_gaussian(variance: Fraction) -> DiscreteGaussian:
    """Make the sampler for this variance once: its tables take a millisecond."""
    return DiscreteGaussian(variance)
