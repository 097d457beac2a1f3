"""Integer thresholds that keep an epsilon: the largest ones, and integer proofs for given ones.

For a rational epsilon > 0, e**-epsilon is irrational, so a ratio of two integers never equals e**epsilon.  A comparison
to enough bits then finds on which side it lies.  An undecided comparison counts as a violation.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from curador.noise.decide import exp_minus

BITS = 192


@lru_cache(256)
def exp_minus_upper(epsilon: Fraction) -> Fraction:
    """A fraction at or above exp(-epsilon), by less than 2**-190.

    >>> 0.36787944 < exp_minus_upper(Fraction(1)) < 0.36787945
    True
    """
    return Fraction(exp_minus(epsilon, BITS)[1], 1 << BITS)


def within_epsilon(ratio: Fraction, epsilon: Fraction) -> bool:
    """Prove that two probabilities of this ratio are within a factor exp(epsilon), without approximation.

    >>> within_epsilon(Fraction(271828, 10**5), Fraction(1)), within_epsilon(Fraction(271829, 10**5), Fraction(1))
    (True, False)
    """
    return ratio * exp_minus_upper(epsilon) <= 1


def keep_threshold(categories: int, epsilon: Fraction, bits: int) -> int:
    """The largest t that keeps epsilon: keep a category with probability t/2**bits, else draw any.

    A category is then reported with probability c + (1-c)/k or (1-c)/k, and 1 + ck/(1-c) <= exp(epsilon).

    >>> round(keep_threshold(2, Fraction(1), 32) / 2**32, 6)  # tanh(1/2)
    0.462117
    """
    s = exp_minus_upper(epsilon)
    return int((1 - s) / (1 - s + categories * s) * (1 << bits))


def inside_threshold(inside: int, outside: int, epsilon: Fraction, bits: int) -> int:
    """The largest threshold t for a choice between two sets that keeps epsilon.

    One of ``inside`` is drawn with probability t/2**bits, else one of ``outside``.

    Both draws are uniform.  Any inside is then at most exp(epsilon) times as likely as any outside.

    >>> round(inside_threshold(1, 1, Fraction(1), 32) / 2**32, 6)  # e/(e+1)
    0.731059
    """
    return int(inside / (inside + outside * exp_minus_upper(epsilon)) * (1 << bits))
