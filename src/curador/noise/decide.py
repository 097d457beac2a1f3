"""Exact yes-or-no decisions about uniform numbers whose bits are drawn only as needed.

A uniform U is known by a prefix of its bits: it lies in the cell [v, v+1] / 2**nb.  A decision about U is returned
only when it is the same for the whole cell; otherwise more bits are appended to the same prefix.  Redrawing instead
would condition the law on not being near a boundary.  Integers only: no libm is trusted here.
"""

from __future__ import annotations

from fractions import Fraction

from curador.noise.entropy import Entropy

MORE = 64
"""The number of bits appended to an undecided prefix."""


def exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    """Enclose exp(-x) by integers, lo <= 2**bits * exp(-x) <= hi, for a rational x >= 0.

    They are at most a few units apart.  The argument is halved until it is below 2**-8, the alternating series summed
    in fixed point, and the result squared back.  Every step carries its own bound on the rounding.

    >>> exp_minus(Fraction(0), 10)
    (1024, 1024)
    >>> lo, hi = exp_minus(Fraction(1), 40)
    >>> lo <= 404487723187.74 <= hi, hi - lo <= 1
    (True, True)
    """
    if x == 0:
        return 1 << bits, 1 << bits
    # log2(e) > 13/10, so beyond this point 2**bits * exp(-x) is below 1.
    if x * 13 >= (bits + 1) * 10:
        return 0, 1
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 9)
    p = bits + halvings + 24
    one = 1 << p
    z = (x.numerator << p) // (x.denominator << halvings)  # z <= 2**p * x / 2**halvings < z + 1
    total, term, n = one, one, 0
    while term:
        n += 1
        term = (term * z) // (n << p)
        total += -term if n & 1 else term
    # Each floored term is below its true value by less than 2, the first omitted term is below 2, and z by less than 1.
    lo, hi = total - 2 * n - 3, total + 2 * n + 2
    for _ in range(halvings):
        lo, hi = (lo * lo) >> p, ((hi * hi) >> p) + 1
    shift = p - bits
    return lo >> shift, -(-hi >> shift)


def below_exp(v: int, nb: int, x: Fraction, entropy: Entropy) -> bool:
    """Decide U < exp(-x), for U in the cell [v, v+1] / 2**nb.

    >>> from curador.noise.entropy import SYSTEM
    >>> below_exp(0, 8, Fraction(1), SYSTEM), below_exp(255, 8, Fraction(1), SYSTEM)
    (True, False)
    """
    while True:
        lo, hi = exp_minus(x, nb + MORE)
        if (v + 1) << MORE <= lo:
            return True
        if v << MORE >= hi:
            return False
        v, nb = (v << MORE) | entropy.bits(MORE), nb + MORE


def below_fraction(v: int, nb: int, p: Fraction, entropy: Entropy) -> bool:
    """Decide U < p, for U in the cell [v, v+1] / 2**nb and p in [0, 1]."""
    while True:
        scaled = p * (1 << nb)
        if v + 1 <= scaled:
            return True
        if v >= scaled:
            return False
        v, nb = (v << MORE) | entropy.bits(MORE), nb + MORE


def below_exp_of_cell(v: int, nb: int, d: int, base: int, variance: Fraction, entropy: Entropy) -> bool:
    """Decide V < exp(-D (2 base + D) / (2 variance)), for V in its cell and D uniform in [d, d+1].

    This is the acceptance step of the rounded Gaussian.  Both V and the fraction of D get more bits until all points
    of the two cells agree.  The exponent grows with D, so its ends decide.
    """
    db = 0
    while True:
        unit = 1 << db
        at = [Fraction(e * (2 * base * unit + e), 1) / (2 * variance * unit * unit) for e in (d, d + 1)]
        if (v + 1) << MORE <= exp_minus(at[1], nb + MORE)[0]:
            return True
        if v << MORE >= exp_minus(at[0], nb + MORE)[1]:
            return False
        v, nb = (v << MORE) | entropy.bits(MORE), nb + MORE
        d, db = (d << MORE) | entropy.bits(MORE), db + MORE


def below(n: int, entropy: Entropy) -> int:
    """Draw a uniform integer in [0, n).

    >>> from curador.noise.entropy import SYSTEM
    >>> below(1, SYSTEM)
    0
    """
    k = (n - 1).bit_length()
    while (u := entropy.bits(k)) >= n:
        pass
    return u
