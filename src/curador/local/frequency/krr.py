"""k-ary randomized response: report the own key, or a uniform one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting import events
from curador.local.frequency.estimates import Frequencies
from curador.local.frequency.oracle import Oracle
from curador.local.task.draw import coins, uniform
from curador.local.task.keys import LocalKey
from curador.local.task.layout import Layout, below
from curador.local.task.tally import checked_sum
from curador.local.task.task import checked_threshold
from curador.local.task.thresholds import keep_threshold
from curador.noise import Entropy
from curador.numbers import Number, set_fields


@dataclass(frozen=True, init=False)
class OneKey(Oracle):
    """A task whose report is the index of the key that it supports."""

    @property
    def layout(self) -> Layout:
        return Layout.below(self.size)

    @property
    def report_bits(self) -> int:
        return (self.size - 1).bit_length()

    def _sound(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return below(reports, self.size)

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> Frequencies:
        tally = self._counted(reports, candidates)
        checked_sum(tally)  # a report supports one key
        return super().estimate(tally)

    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(reports, minlength=self.size)


@dataclass(frozen=True, init=False)
class KRR(OneKey, mechanism="krr"):
    """Report the index of the own key with probability keep/2**bits, else the index of a uniform key.

    Best for few keys: the variance grows with their number.

    Guarantee: epsilon-local DP [War65], [KBR16].

    >>> task = KRR(keys=["tea", "coffee", "water"], epsilon=1)
    >>> task.randomize(["tea", "water", "tea"]).shape, task.delivered <= 1
    ((3,), True)
    """

    keep: int

    def __init__(
        self,
        keys: int | Sequence[LocalKey],
        epsilon: Number,
        *,
        rest: LocalKey | None = None,
        keep: int | None = None,
        bits: int = 32,
    ) -> None:
        self._begin(keys, epsilon, rest, bits)
        keep = keep_threshold(self.size, self.epsilon, bits) if keep is None else keep
        set_fields(self, keep=checked_threshold(keep, "keep", 1 << bits))
        self._end()

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, 1 << self.bits) + self.q

    @property
    def q(self) -> Fraction:
        return (1 - Fraction(self.keep, 1 << self.bits)) / self.size

    @property
    def ratio(self) -> Fraction:
        return self.p / self.q

    @property
    def event(self) -> events.Event:
        return events.RandomizedAnswer(self.size, self.p)

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        return kept_or_uniform(own, self.keep, self.bits, self.size, entropy)


def kept_or_uniform(own: NDArray[Any], keep: int, bits: int, size: int, entropy: Entropy) -> NDArray[Any]:
    """Keep each key index with probability exactly ``keep / 2**bits``; else draw a uniform one.

    >>> from curador.noise import SYSTEM
    >>> kept_or_uniform(np.array([2, 0]), 2**16, 16, 3, SYSTEM).tolist()
    [2, 0]
    """
    drawn = uniform(size, own.size, entropy)
    np.copyto(drawn, own, where=coins(keep, bits, own.size, entropy), casting="unsafe")
    return drawn
