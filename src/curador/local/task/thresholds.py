"""Integer thresholds that keep an epsilon: the largest that do, and a proof by integers that given ones do.

For a rational epsilon > 0, e**-epsilon is irrational, so a ratio of two integers is never equal to e**epsilon and a
comparison to enough bits settles on which side it lies.  A comparison that is not settled counts as a violation.
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
    """Whether two probabilities of this ratio are within a factor exp(epsilon): shown, not approximated.

    >>> within_epsilon(Fraction(271828, 10**5), Fraction(1)), within_epsilon(Fraction(271829, 10**5), Fraction(1))
    (True, False)
    """
    return ratio * exp_minus_upper(epsilon) <= 1


def keep_threshold(categories: int, epsilon: Fraction, bits: int) -> int:
    """The largest t such that keeping a category with probability t/2**bits, else drawing any, keeps epsilon.

    A category is then reported with probability c + (1-c)/k or (1-c)/k, and 1 + ck/(1-c) <= exp(epsilon).

    >>> round(keep_threshold(2, Fraction(1), 32) / 2**32, 6)  # tanh(1/2)
    0.462117
    """
    s = exp_minus_upper(epsilon)
    return int((1 - s) / (1 - s + categories * s) * (1 << bits))


def inside_threshold(inside: int, outside: int, epsilon: Fraction, bits: int) -> int:
    """The largest t such that one of ``inside`` with probability t/2**bits, else one of ``outside``, keeps epsilon.

    Which one is uniform.  Any of the inside is then at most exp(epsilon) times as likely as any one of the outside.

    >>> round(inside_threshold(1, 1, Fraction(1), 32) / 2**32, 6)  # e/(e+1)
    0.731059
    """
    return int(inside / (inside + outside * exp_minus_upper(epsilon)) * (1 << bits))
