"""Scripted entropy and exact laws: what a sampler must decide on given bits, and what its law must then be.

A sampler is exact when two things hold.  Each decision it takes on a prefix of bits is right for every continuation
of that prefix (the entropies below hand out chosen prefixes), and the decisions together have the closed-form law
(the oracles below, mpmath at 1,800 bits, sharing no code with the samplers).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

MP = mpmath.mp.clone()
MP.prec = 1800
Real = Any
"""An mpmath number of the context above; mpmath has no types."""

# ---- entropy -------------------------------------------------------------------------------------------------


class AskedForMore(Exception):
    """A sampler asked for bits beyond its script."""


class Script:
    """Entropy that hands out the given answers in order: sequences to ``words``, integers to ``bits``.

    ``then`` answers what is asked after the script: 0 or 1 is that bit for ever, None refuses.
    """

    def __init__(self, *answers: int | Sequence[int] | NDArray[Any], then: int | None = None) -> None:
        self.answers, self.then = list(answers), then
        self.asked: list[int] = []

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        self.asked.append(n)
        if n == 0:
            return np.empty(0, dtype)
        if not self.answers:
            return np.full(n, self._rest(8 * np.dtype(dtype).itemsize), dtype)
        answer = self.answers.pop(0)
        assert not isinstance(answer, int), "the script had bits where words were asked"
        assert len(answer) == n, f"the script had {len(answer)} words where {n} were asked"
        return np.array(answer, dtype)

    def bits(self, k: int) -> int:
        self.asked.append(k)
        if not self.answers:
            return self._rest(k)
        answer = self.answers.pop(0)
        assert isinstance(answer, int), "the script had words where bits were asked"
        assert 0 <= answer < 1 << k, f"{answer} is no {k}-bit answer"
        return answer

    def _rest(self, k: int) -> int:
        if self.then is None:
            raise AskedForMore
        return (1 << k) - 1 if self.then else 0


class Refused(Exception):
    """A sampler asked for a second word, so it refused the first."""


class OneWord:
    """Entropy for one attempt of a sampler that keeps or refuses a word: the word, then 64-bit extensions of it."""

    def __init__(self, word: int, *extensions: int) -> None:
        self.word: int | None = word
        self.extensions = list(extensions)

    def _take(self) -> int:
        word, self.word = self.word, None
        if word is None:
            raise Refused
        return word

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        return np.array([self._take()] if n else [], dtype)

    def bits(self, k: int) -> int:
        if k != 64:
            return self._take()
        if not self.extensions:
            raise AskedForMore
        return self.extensions.pop(0)


class Stream:
    """A reproducible stream of fair-looking bits, so that two runs can be compared sample by sample."""

    def __init__(self, seed: int) -> None:
        self.seed, self.calls = seed, 0

    def _bytes(self, n: int) -> bytes:
        self.calls += 1
        return hashlib.shake_128(f"{self.seed}/{self.calls}".encode()).digest(n)

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        return np.frombuffer(self._bytes(n * np.dtype(dtype).itemsize), dtype)

    def bits(self, k: int) -> int:
        return int.from_bytes(self._bytes((k + 7) // 8), "little") & ((1 << k) - 1)


LIBRARY_EXP = np.exp


def shifted_exp(relative: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """numpy.exp, were it off by this factor everywhere."""
    return lambda x: np.asarray(LIBRARY_EXP(x) * (1 + relative))


SHIFTS = (0.0, 2.0**-41, -(2.0**-41))
"""Relative errors of numpy.exp that the samplers must not notice."""


def verdict(v: int, nb: int, threshold: Real) -> bool | None:
    """Whether the cell [v, v+1] / 2**nb lies below a threshold; None where the threshold runs through it."""
    assert nb < MP.prec - 100
    if MP.mpf(v + 1) <= MP.ldexp(threshold, nb):
        return True
    if MP.mpf(v) >= MP.ldexp(threshold, nb):
        return False
    return None


def measured(decide: Callable[[int], bool | None], bits: int) -> tuple[Fraction, Fraction]:
    """Bounds on the chance that a decision says True, found by searching its ``bits``-bit prefixes for the two
    places where it stops saying True and starts saying False."""

    def first(stop: Callable[[bool | None], bool]) -> int:
        low, high = 0, 1 << bits
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if stop(decide(middle)) else (middle + 1, high)
        return low

    unit = 1 << bits
    return Fraction(first(lambda said: said is not True), unit), Fraction(first(lambda said: said is False), unit)


def near_log_two(k: int, side: int) -> Fraction:
    """A rational within 2**-k of log 2, above it or below: exp(-x) next to 1/2, where cheap bounds touch exact ones."""
    return Fraction(int(MP.floor(MP.ldexp(MP.log(2), k + 100))), 1 << (k + 100)) + side * Fraction(1, 1 << k)


# ---- laws ----------------------------------------------------------------------------------------------------


def real(x: Fraction | int) -> Real:
    x = Fraction(x)
    return MP.mpf(x.numerator) / x.denominator


@cache
def exp_minus(x: Fraction | int) -> Real:
    return MP.exp(-real(x))


def within(value: Real, low: Fraction, high: Fraction) -> bool:
    """Whether a number computed to 1,800 bits lies in an interval, give or take the last hundred of those bits."""
    slack = MP.ldexp(abs(value), 100 - MP.prec)
    return bool(real(low) - slack <= value <= real(high) + slack)


def discrete_laplace(scale: Fraction, x: int) -> Real:
    q = exp_minus(1 / scale)
    return (1 - q) / (1 + q) * exp_minus(abs(x) / scale)


def geometric(rate: Fraction, x: int) -> Real:
    return (1 - exp_minus(rate)) * exp_minus(rate * x)


@cache
def theta(variance: Fraction) -> Real:
    """The sum of exp(-x**2 / (2 variance)) over the integers, by Poisson's formula where that converges faster."""
    v = real(variance)
    if v < 1 / (2 * MP.pi):
        return 1 + 2 * _sum(lambda k: MP.exp(-k * k / (2 * v)))
    return MP.sqrt(2 * MP.pi * v) * (1 + 2 * _sum(lambda k: MP.exp(-2 * MP.pi**2 * v * k * k)))


def _sum(term: Callable[[int], Real]) -> Real:
    total, k = MP.mpf(0), 1
    while (t := term(k)) > MP.ldexp(1, -MP.prec - 20):
        total, k = total + t, k + 1
    return total


def discrete_gaussian(variance: Fraction, x: int) -> Real:
    return exp_minus(x * x / (2 * variance)) / theta(variance)


def rounded_laplace(scale: Fraction, x: int) -> Real:
    """P(round(Z) = x) for a continuous Laplace Z."""
    half = Fraction(1, 2)
    if x == 0:
        return 1 - exp_minus(half / scale)
    return (exp_minus((abs(x) - half) / scale) - exp_minus((abs(x) + half) / scale)) / 2


def rounded_gaussian(variance: Fraction, x: int) -> Real:
    """P(round(Z) = x) for a continuous Gaussian Z."""
    unit = MP.sqrt(2 * real(variance))
    half = MP.mpf(1) / 2
    if x == 0:
        return MP.erf(half / unit)
    return (MP.erfc((abs(x) - half) / unit) - MP.erfc((abs(x) + half) / unit)) / 2


def cumulative(chances: Iterable[Real]) -> list[Real]:
    total, out = MP.mpf(0), []
    for chance in chances:
        total += chance
        out.append(total)
    return out
