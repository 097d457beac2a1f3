"""Divergences between probability laws: Kullback-Leibler, Rényi, f, hockey-stick and total variation.

Laws are given exactly: as fractions, or as numbers read as the decimals they print as.  Divergences are returned as
floats, correct to the last bits and rounded up.  Conventions: 0 log 0 = 0, and a divergence is infinite where the first
law has mass and the second has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from curador.accounting.precise import TINY, dec, digits, float_above, fraction_above, lost_digits, open_order
from curador.errors import InvalidParameter
from curador.numbers import LONGEST, Number, positive, probability, rational, up

Law = Mapping[Hashable, Number] | Sequence[Number]
"""A distribution on finitely many points: by name, or by position."""

Kernel = Mapping[Hashable, Law] | Sequence[Law]
"""A random map: for each point, the law of its image."""

_HUGE = 10**6  # an epsilon beyond which every curve here is as good as flat, and exponentials would leave their range


# ---- laws ------------------------------------------------------------------------------------------------------


def law(p: Law) -> dict[Hashable, Fraction]:
    """Read a distribution as exact fractions; refused unless its probabilities sum to exactly 1.

    >>> law([0.25, 0.75])
    {0: Fraction(1, 4), 1: Fraction(3, 4)}
    """
    items = p.items() if isinstance(p, Mapping) else enumerate(p)
    masses = {x: probability(mass, f"the probability of {x!r}") for x, mass in items}
    total = _total(masses.values())
    if total != 1:
        raise InvalidParameter(
            f"Probabilities must add up to exactly 1, got {float(total)!r}.",
            fix="Pass fractions, or decimals that add up to 1.",
        )
    return masses


def _total(masses: Iterable[Fraction]) -> Fraction:
    """Sum masses; refuse fractions so long that adding up would take too long."""
    found = list(masses)
    common = 1
    for mass in found:
        common = math.lcm(common, mass.denominator)
        if common.bit_length() > 8 * LONGEST:
            raise InvalidParameter(
                "Probabilities have a common denominator of at most two thousand digits.",
                fix="Give decimals, or fractions of one denominator.",
            )
    return Fraction(sum(mass.numerator * (common // mass.denominator) for mass in found), common)


def push(p: Law, kernel: Kernel) -> dict[Hashable, Fraction]:
    """The law of K(X) when X has law p: the image of a distribution under a random map (thesis A.0.3).

    >>> push([0.5, 0.5], [[1, 0], [0.5, 0.5]])
    {0: Fraction(3, 4), 1: Fraction(1, 4)}
    """
    rows = dict(kernel.items() if isinstance(kernel, Mapping) else enumerate(kernel))
    out: dict[Hashable, Fraction] = {}
    for x, mass in law(p).items():
        if x not in rows:
            raise InvalidParameter(f"The kernel does not say where {x!r} goes.", fix="Give it one law per point.")
        for y, share in law(rows[x]).items():
            out[y] = out.get(y, Fraction(0)) + mass * share
    return out


def _pairs(p: Law, q: Law) -> list[tuple[Fraction, Fraction]]:
    one, two = law(p), law(q)
    zero = Fraction(0)
    return [(one.get(x, zero), two.get(x, zero)) for x in one | two]


# ---- divergences -----------------------------------------------------------------------------------------------


def renyi_divergence(p: Law, q: Law, alpha: Number) -> float:
    """The Rényi divergence of order alpha > 0.

    Order 1 is Kullback-Leibler, order infinity the largest log ratio.

    Guarantee: thesis definition 2.2.1 and [EH14]; the supremum of order infinity runs over the support of p.

    >>> round(renyi_divergence([0.75, 0.25], [0.25, 0.75], 2), 6)
    0.847298
    >>> renyi_divergence([0.5, 0.5], [1, 0], 2)
    inf
    """
    pairs = _pairs(p, q)
    if alpha == math.inf:
        return _worst_ratio(pairs)
    a = positive(alpha, "alpha")
    if a == 1:
        return _kl(pairs)
    return _renyi(pairs, a)


def kl(p: Law, q: Law) -> float:
    """The Kullback-Leibler divergence, in nats (thesis definition 2.1.1).

    >>> round(kl([0.5, 0.5], [0.25, 0.75]), 6)
    0.143841
    """
    return _kl(_pairs(p, q))


def f_divergence(
    p: Law, q: Law, f: Callable[[Fraction], Number], *, at_zero: Number = math.inf, at_infinity: Number = math.inf
) -> float:
    """The f-divergence: the mean under q of f(p/q), for a convex f with f(1) = 0 (thesis A.0.2).

    Where q has mass and p has none, ``at_zero`` (the limit of f at 0) counts.  Where p has mass and q has none,
    ``at_infinity`` (the limit of f(t)/t) counts.  ``f`` is called with exact positive ratios.

    >>> f_divergence([0.5, 0.5], [0.25, 0.75], lambda t: (t - 1) ** 2, at_zero=1)
    0.33333333333333337
    """
    if rational(f(Fraction(1)), "f(1)") != 0:
        raise InvalidParameter("An f-divergence needs f(1) = 0.", fix="Subtract f(1) from f.")
    total = Fraction(0)
    for a, b in _pairs(p, q):
        limit, mass = (at_zero, b) if a == 0 else (at_infinity, a)
        if a and b:
            total += b * rational(f(a / b), "f(p/q)")
        elif mass and limit == math.inf:
            return math.inf
        elif mass:
            total += mass * rational(limit, "the limit of f")
    return up(total)


def hockey_stick(p: Law, q: Law, epsilon: Number) -> float:
    """The smallest delta with P(S) <= e**epsilon Q(S) + delta for every set S.

    >>> hockey_stick([0.75, 0.25], [0.25, 0.75], 0)
    0.5
    """
    e = rational(epsilon, "epsilon")
    pairs = _pairs(p, q)
    if e == 0:
        return up(sum((max(Fraction(0), a - b) for a, b in pairs), start=Fraction(0)))
    certain = sum((a for a, b in pairs if not b), start=Fraction(0))
    with digits():
        ratio = dec(min(e, Fraction(10**6))).exp()  # a smaller ratio only raises the bound
        slack = 1 + dec(TINY)
        rest = sum((max(Decimal(0), slack * dec(a) - ratio * dec(b)) for a, b in pairs if b), start=Decimal(0))
        return up(certain + fraction_above(rest))


def total_variation(p: Law, q: Law) -> float:
    """The largest difference between two laws of the probability of an event: half the l1 distance.

    >>> total_variation([0.75, 0.25], [0.25, 0.75])
    0.5
    """
    return hockey_stick(p, q, 0)


def _worst_ratio(pairs: list[tuple[Fraction, Fraction]]) -> float:
    if any(a and not b for a, b in pairs):
        return math.inf
    with digits():
        worst = max(a / b for a, b in pairs if a)
        return float_above(dec(worst).ln()) if worst > 1 else 0.0


def _kl(pairs: list[tuple[Fraction, Fraction]]) -> float:
    if any(a and not b for a, b in pairs):
        return math.inf
    apart = sum(abs(a - b) for a, b in pairs)
    if apart == 0:
        return 0.0
    # Terms cancel when the laws are close, but by Pinsker no further than to the square of their distance.
    with digits(2 * lost_digits(Fraction(apart))):
        return float_above(sum((dec(a) * dec(a / b).ln() for a, b in pairs if a), start=Decimal(0)))


def _renyi(pairs: list[tuple[Fraction, Fraction]], alpha: Fraction) -> float:
    shared = [(a, b) for a, b in pairs if a and b]
    if not shared or (alpha > 1 and any(a and not b for a, b in pairs)):
        return math.inf
    apart = sum(abs(a - b) for a, b in pairs)
    if apart == 0:
        return 0.0
    # D_alpha >= min(alpha, 1) apart**2 / 2 [EH14, Theorem 31], and round-off is divided by alpha - 1.
    extra = 2 * lost_digits(Fraction(apart)) + lost_digits(abs(alpha - 1)) + lost_digits(min(alpha, 1 / alpha))
    with digits(extra):
        return log_mean_power([(dec(a), dec(a / b)) for a, b in shared], dec(alpha - 1))


def log_mean_power(weighted: list[tuple[Decimal, Decimal]], power: Decimal) -> float:
    """Compute log(sum of weight * ratio**power) / power, rounded up.

    That is D of order 1 + power from the first law's masses.

    >>> with digits():
    ...     round(log_mean_power([(Decimal("0.75"), Decimal(3)), (Decimal("0.25"), 1 / Decimal(3))], Decimal(1)), 6)
    0.847298
    """
    exponents = [power * r.ln() for _, r in weighted]
    top = max(exponents)  # factored out, so that no order is too large
    total = sum((w * (e - top).exp() for (w, _), e in zip(weighted, exponents, strict=True)), start=Decimal(0))
    return float_above((top + total.ln()) / power)


# ---- closed forms ----------------------------------------------------------------------------------------------


def bernoulli_renyi(p: Number, q: Number, alpha: Number) -> float:
    """The Rényi divergence of two coins (thesis proposition 2.4.1).

    >>> bernoulli_renyi(0.75, 0.25, 2) == renyi_divergence([0.25, 0.75], [0.75, 0.25], 2)
    True
    """
    a, b = probability(p, "p"), probability(q, "q")
    return renyi_divergence([1 - a, a], [1 - b, b], alpha)


def gaussian_renyi(mean1: Number, sigma1: Number, mean2: Number, sigma2: Number, alpha: Number) -> float:
    """The Rényi divergence of two normal laws (thesis proposition 2.4.2).

    Infinite where the mixed variance (1 - alpha) sigma1**2 + alpha sigma2**2 is not positive, because the integral is
    infinite.  The first law's tails are then too heavy for the second.

    >>> gaussian_renyi(0, 1, 1, 1, 8)
    4.0
    >>> gaussian_renyi(0, 2, 0, 1, 2)
    inf
    """
    v1, v2 = positive(sigma1, "sigma1") ** 2, positive(sigma2, "sigma2") ** 2
    square = (rational(mean1, "mean1") - rational(mean2, "mean2")) ** 2
    if alpha == math.inf:
        if v1 == v2:
            return 0.0 if square == 0 else math.inf
        if v1 > v2:
            return math.inf
        with digits():  # the largest log ratio of the densities
            return float_above(dec(square / (v2 - v1)) / 2 + dec(v2 / v1).ln() / 2)
    a = positive(alpha, "alpha")
    mixed = (1 - a) * v1 + a * v2
    if mixed <= 0:
        return math.inf
    if v1 == v2:
        return up(a * square / (2 * v1))
    if a == 1:
        with digits(2 * lost_digits(abs(v1 - v2) / v2)):
            return float_above(dec((square + v1 - v2) / (2 * v2)) + dec(v2 / v1).ln() / 2)
    with digits(2 * lost_digits(abs(v1 - v2) / v2) + 2 * lost_digits(abs(a - 1))):
        logs = dec(v2 / v1).ln() / 2 + dec(v2 / mixed).ln() / (2 * dec(a - 1))
        return float_above(dec(a * square / (2 * mixed)) + logs)


def laplace_renyi(shift: Number, scale: Number, alpha: Number) -> float:
    """The Rényi divergence of a Laplace law and its shift (thesis proposition 2.4.3).

    Order infinity gives |shift| / scale (corollary 5.2.1) and order 1 the limit x + exp(-x) - 1 with that x.

    >>> laplace_renyi(1, 2, math.inf), round(laplace_renyi(1, 2, 1), 6)
    (0.5, 0.106531)
    """
    x = abs(rational(shift, "shift")) / positive(scale, "scale")
    if alpha == math.inf or x == 0:
        return up(x)
    a = positive(alpha, "alpha")
    with digits(
        2 * lost_digits(x) + 2 * lost_digits(abs(a - 1)) + 2 * lost_digits(abs(2 * a - 1)) + lost_digits(min(a, 1 / a))
    ):
        d = dec(x)
        if a == 1:
            return float_above(d + (-d).exp() - 1)
        if 2 * a == 1:
            return float_above(d - 2 * (1 + d / 2).ln())
        # exp((alpha - 1) x) is factored out of the mean, so that no order is too large.
        mean = (dec(a) + dec(a - 1) * dec((1 - 2 * a) * x).exp()) / dec(2 * a - 1)
        return float_above(d + mean.ln() / dec(a - 1))


# ---- the worst laws that a bound on the loss allows ------------------------------------------------------------


def worst_pure_renyi(epsilon: Number, alpha: Number) -> float:
    """The largest Rényi divergence of order alpha of any epsilon-DP mechanism.

    It is that of randomised response.

    Guarantee: a ratio confined to [exp(-epsilon), exp(epsilon)] is worst on its ends, because its power is convex
        [BS16, Proposition 3.3 before the last step]; thesis proposition 5.1.2.

    >>> round(worst_pure_renyi(1, 2), 6), round(worst_pure_renyi(1, 1000), 3)
    (0.735326, 1.0)
    """
    e, a = positive(epsilon, "epsilon"), open_order(alpha)
    if e > _HUGE:
        return up(e)
    with digits(2 * lost_digits(e) + lost_digits(a - 1) + lost_digits(1 / a)):
        ratio = dec(e).exp()
        return log_mean_power([(ratio / (1 + ratio), ratio), (1 / (1 + ratio), 1 / ratio)], dec(a - 1))


def bounded_range_renyi(epsilon: Number, alpha: Number) -> float:
    """The largest Rényi divergence of order alpha of any mechanism of bounded range epsilon.

    Guarantee: the loss lies in [t - epsilon, t] for some t in [0, epsilon]; it is worst on the two ends, and the worst
        t is found in closed form [DR19, DDR20].  At most alpha epsilon**2 / 8, the zCDP of [CR21].

    >>> bounded_range_renyi(1, 2) < 2 / 8, round(bounded_range_renyi(1, 2), 6)
    (True, 0.240229)
    """
    e, a = positive(epsilon, "epsilon"), open_order(alpha)
    if e > _HUGE:
        return up(e)
    with digits(4 * lost_digits(e) + 2 * lost_digits(a - 1) + lost_digits(1 / a)):
        x, power = dec(e), dec(a - 1)
        # The moment is y**(alpha-1) (top - slope y) with y = e**t; it is largest at y = (alpha-1) top / (alpha slope).
        gone = (-power * x).exp()
        top, slope = (x.exp() - gone) / (x.exp() - 1), (1 - gone) / (x.exp() - 1)
        y = power * top / (dec(a) * slope)  # between 1 and e**epsilon, and there top - slope * y = top / alpha
        return float_above(y.ln() + (top / dec(a)).ln() / power)
