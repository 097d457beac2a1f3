"""Local hashing with linear hashes; the collector inverts them for all keys by one fast transform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.frequency.oracle import Oracle
from curador.local.frequency.walsh import parity, walsh_hadamard
from curador.local.task.draw import coins, uniform, word_for
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, below
from curador.local.task.task import checked_threshold
from curador.local.task.thresholds import keep_threshold
from curador.noise import Entropy
from curador.numbers import Number, set_fields

HASH_MOST = 8


@dataclass(frozen=True, init=False)
class OLH(Oracle, mechanism="olh"):
    """Draw a hash of ``hash_bits`` bits; report it, and the own key's hash by k-RR.

    Bit j of the hash of key number v is the parity of mask[j] & v, for masks drawn at random.  Two keys collide with
    probability exactly 2**-hash_bits, so each key's estimate has local hashing's law [WBLJ17].  The joint law of all
    keys may differ.  The support of v is a mean of characters of v, so the collector needs one bincount for each and
    one transform: docs/proofs/local.md.  A row of a report is the masks, then the answer.

    Guarantee: epsilon-local DP: the hash is drawn without looking at the key, and the answer is k-RR's.

    >>> task = OLH(keys=1000, epsilon=1)
    >>> task.hash_bits, task.report_bits, task.randomize([5, 999]).shape
    (2, 22, (2, 3))
    """

    hash_bits: int
    keep: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        *,
        rest: LocalKey | None = None,
        hash_bits: int | None = None,
        keep: int | None = None,
        bits: int = 32,
    ) -> None:
        self._begin(keys, epsilon, rest, bits)
        hash_bits = best_hash_bits(self.epsilon) if hash_bits is None else hash_bits
        set_fields(self, hash_bits=checked_threshold(hash_bits, "hash_bits", HASH_MOST + 1))
        keep = keep_threshold(self.answers, self.epsilon, bits) if keep is None else keep
        set_fields(self, keep=checked_threshold(keep, "keep", 1 << bits))
        self._end()

    @property
    def answers(self) -> int:
        """The number of values of a hash."""
        return 1 << self.hash_bits

    @property
    def key_bits(self) -> int:
        """The number of bits that number the keys."""
        return (self.size - 1).bit_length()

    @property
    def p(self) -> Fraction:
        kept = Fraction(self.keep, 1 << self.bits)
        return kept + (1 - kept) / self.answers

    @property
    def q(self) -> Fraction:
        return Fraction(1, self.answers)

    @property
    def ratio(self) -> Fraction:
        return self.p * self.answers / (1 - Fraction(self.keep, 1 << self.bits))

    @property
    def width(self) -> int:
        return self.hash_bits + 1

    @property
    def layout(self) -> Layout:
        return Layout.below(max(1 << self.key_bits, self.answers), self.hash_bits + 1)

    @property
    def report_bits(self) -> int:
        return self.hash_bits * (self.key_bits + 1)

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        word = word_for(max(1 << self.key_bits, self.answers))
        reports = np.empty((own.size, self.hash_bits + 1), word)
        keys, hashed = own.astype(word), np.zeros(own.size, np.uint8)
        for j in range(self.hash_bits):
            mask = uniform(1 << self.key_bits, own.size, entropy)
            hashed |= parity(mask & keys) << np.uint8(j)
            reports[:, j] = mask
        answer = uniform(self.answers, own.size, entropy)
        np.copyto(answer, hashed, where=coins(self.keep, self.bits, own.size, entropy))
        reports[:, -1] = answer
        return reports

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, np.array([1 << self.key_bits] * self.hash_bits + [self.answers]))

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        # 1{h(v) = y} = 2**-b sum over subsets J of the b bits of (-1)**(parity(y, J) + <xor of the masks in J, v>).
        cells = 1 << self.key_bits
        columns = [np.ascontiguousarray(reports[:, j]).astype(np.int64) for j in range(self.hash_bits)]
        answer = reports[:, -1].astype(np.int64)
        spectrum = np.zeros(cells, np.int64)
        spectrum[0] = len(reports)  # the empty subset
        # In Gray-code order one mask enters or leaves at a time.
        mask, sign, subset = np.zeros(len(reports), np.int64), np.zeros(len(reports), np.int64), 0
        for step in range(1, self.answers):
            j = (step & -step).bit_length() - 1
            subset ^= 1 << j
            mask ^= columns[j]
            sign ^= (answer >> j) & 1
            both = np.bincount(mask * 2 + sign, minlength=2 * cells)
            spectrum += both[0::2] - both[1::2]
        return walsh_hadamard(spectrum)[: self.size] // self.answers


def best_hash_bits(epsilon: Fraction) -> int:
    """The hash length of least variance for rare keys; any length is private, so floats may choose it.

    >>> [best_hash_bits(Fraction(e)) for e in (1, 2, 4)]
    [2, 3, 6]
    """
    grown = math.exp(min(float(epsilon), 50.0))
    # The variance is (e**epsilon - 1 + g)**2 / (g - 1), g = 2**b, times a factor that does not depend on g.
    return min(range(1, HASH_MOST + 1), key=lambda b: (grown - 1 + (1 << b)) ** 2 / ((1 << b) - 1))
