"""Statements of the course and the thesis, with their true constants.

The rest of the package does not need them.

Databases as histograms over a finite universe of records, the short forms of advanced composition, and the lemmas on
Rényi divergences.  docs/course/ names the statement of each function.  docs/course-errata.md lists the printed
statements that are false, and what holds instead.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

from curador.accounting.composition import log_inverse, open_chance
from curador.accounting.optimal import exact_pair, optimal_delta, optimal_epsilon
from curador.accounting.precise import dec, digits, float_above, nearest, open_order
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, above, positive, probability, rational, up, whole
from curador.privacy import ApproxDP, Guarantee, Neighbors

# ---- databases as histograms over a finite universe ------------------------------------------------------------


def histogram(database: Iterable[Hashable], universe: Sequence[Hashable]) -> tuple[int, ...]:
    """Write a database as the number of times each possible record occurs.

    >>> universe = [(group, rh) for group in ("A", "B", "AB", "O") for rh in "+-"]
    >>> blood = ["A+", "A+", "AB-", "B+", "A-", "AB+", "O+", "O+"]
    >>> histogram([(x[:-1], x[-1]) for x in blood], universe)
    (2, 1, 1, 0, 1, 1, 2, 0)
    """
    counts = dict.fromkeys(universe, 0)
    for record in database:
        if record not in counts:
            raise InvalidParameter(f"{record!r} is not in the universe.", fix="List every possible record.")
        counts[record] += 1
    return tuple(counts.values())


def norm(d: Sequence[int]) -> int:
    """The size of a database given as a histogram: its l1 norm.

    >>> norm((2, 1, 1, 0, 1, 1, 2, 0))
    8
    """
    return sum(abs(x) for x in d)


def distance(d: Sequence[int], e: Sequence[int]) -> int:
    """The l1 distance of two histograms: records to add or remove to get from one to the other.

    A replaced record counts twice: once removed, once added.

    >>> distance((2, 1, 0), (1, 1, 1))
    2
    """
    if len(d) != len(e):
        raise InvalidParameter("These histograms are over different universes.", fix="Count the same records in both.")
    return norm([a - b for a, b in zip(d, e, strict=True)])


def hamming_distance(x: Sequence[object], y: Sequence[object]) -> int:
    """Count the rows in which two databases of the same length differ.

    >>> hamming_distance(["ana", "bea", "luz"], ["ana", "eva", "luz"])
    1
    """
    if len(x) != len(y):
        raise InvalidParameter(
            f"Hamming distance compares rows one by one; got {len(x)} and {len(y)} rows.",
            fix="Compare databases of the same length, or use distance() on their histograms.",
        )
    return sum(a != b for a, b in zip(x, y, strict=True))


def adjacent(d: Sequence[int], e: Sequence[int], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> bool:
    """Whether two histograms are neighbours: one record added or removed, or one replaced.

    >>> adjacent((2, 1), (2, 2)), adjacent((2, 1), (1, 2)), adjacent((2, 1), (1, 2), Neighbors.REPLACE)
    (True, False, True)
    """
    if Neighbors(neighbors) is Neighbors.REPLACE:
        return norm(d) == norm(e) and distance(d, e) == 2
    return distance(d, e) == 1


# ---- the noise ------------------------------------------------------------------------------------------------


def laplace_density(x: Number, location: Number = 0, scale: Number = 1) -> float:
    """The density of Lap(µ, b) at ``x``, as the course draws it.

    >>> laplace_density(0), laplace_density(3, location=3, scale=2)
    (0.5, 0.25)
    """
    b = positive(scale, "scale")
    away = abs(rational(x, "x") - rational(location, "location")) / b
    return math.exp(-away) / (2 * float(b))


# ---- advanced composition, as printed --------------------------------------------------------------------------


def advanced_short(each: Guarantee, count: int, slack: Number, constant: int = 8) -> ApproxDP:
    """The short forms of advanced composition, returned only where they are true.

    They are eps sqrt(8k ln(1/delta')) and eps sqrt(2k ln(1/delta')).  Each is compared with the exact optimal
    composition.  So a refusal means that the printed formula is false there, and an answer that it is a theorem there.
    Simple conditions suffice: for 8, e**eps - 1 <= sqrt(2 ln(1/delta') / k), or k <= 8 ln(1/delta'); for 2,
    k <= 2 ln(1/delta').

    Guarantee: (eps sqrt(constant k ln(1/delta')), k delta + delta'), by [KOV15, MV16].
    Fails: for larger k eps**2: at k = 1000, eps = 1 both are below the mean of the loss, k eps tanh(eps/2).

    >>> from curador.privacy import PureDP
    >>> advanced_short(PureDP(0.1), 100, 1e-6)
    ApproxDP(epsilon=10.513...)
    >>> advanced_short(PureDP(1), 1000, 1e-6)
    Traceback (most recent call last):
    curador.errors.NotPromised: The short form promises epsilon 332.4... at delta 1e-06, but 1000 such releases ...
    """
    if constant not in (2, 8):
        raise InvalidParameter(f"No short form has the constant {constant}.", fix="Use constant=8 or constant=2.")
    (eps, delta), k, slack_ = exact_pair(each), whole(count, "count"), open_chance(slack, "slack")
    promised = above(float(eps) * math.sqrt(constant * k * log_inverse(slack_)))
    total = up(min(Fraction(1), k * delta + slack_))
    real = optimal_delta(each, k, promised)
    if real > total:
        raise NotPromised(
            f"The short form promises epsilon {promised:.6g} at delta {total:.3g}, but {k} such releases can have "
            f"delta {real:.3g} there.",
            fix=f"Use optimal_epsilon(), which gives {optimal_epsilon(each, k, total):.6g}, or advanced().",
        )
    return ApproxDP(promised, total)


def event_bound(epsilon: Number, count: int, chance: Number) -> float:
    """Bound the chance of an output about D, given its chance about a neighbour.

    This is the thesis, Proposition 4.2.1.

    Let q be the chance, L = ln(1/q) and r = n eps**2 / 2.  The bound is exp(-(sqrt(L) - sqrt(r))**2) for L >= r, which
    is q exp(eps sqrt(2 n L) - n eps**2 / 2).  It is below the printed q exp(2 eps sqrt(n L)), which is therefore true.
    The printed proof is not: it starts from 2 alpha eps**2, which is not enough for it, while alpha eps**2 / 2 is.

    Guarantee: n pure promises are (n eps**2 / 2)-zCDP [BS16]; probability preservation [Mir17] at the best
        order sqrt(L/r).

    >>> event_bound(0.1, 100, 1e-6)
    0.0001163...
    """
    eps, n, q = positive(epsilon, "epsilon"), whole(count, "count"), probability(chance, "chance")
    if q in (0, 1):
        return float(q)
    tail, r = log_inverse(q), nearest(n * eps**2 / 2)
    if tail <= r:
        return 1.0
    return min(1.0, above(math.exp(-((math.sqrt(tail) - math.sqrt(r)) ** 2)), relative=2.0**-36))


def renyi_advanced(epsilon: Number, count: int, delta: Number) -> ApproxDP:
    """Compose n pure promises through their Rényi curve, with the true constant and no condition.

    Guarantee: (n eps**2 / 2 + eps sqrt(2 n ln(1/delta)), delta) [BS16 Prop 1.3 and 1.4].

    >>> renyi_advanced(0.1, 100, 1e-6)
    ApproxDP(epsilon=5.756..., delta=1e-06)
    """
    eps, n, d = positive(epsilon, "epsilon"), whole(count, "count"), open_chance(delta, "delta")
    return ApproxDP(above(nearest(n * eps**2 / 2) + nearest(eps) * math.sqrt(2 * n * log_inverse(d))), up(d))


def renyi_corollary(epsilon: Number, count: int, delta: Number) -> ApproxDP:
    """Corollary 4.2.1 of the thesis as printed: 4 eps sqrt(2 n ln(1/delta)).

    It needs ln(1/delta) >= n eps**2.

    True, but loose: under its own condition (1/2 + sqrt 2) eps sqrt(n ln(1/delta)) is enough, a third of it
    (:func:`renyi_advanced`).  It is below the plain sum n eps only for n > 32 ln(1/delta).

    Guarantee: (4 eps sqrt(2 n ln(1/delta)), delta) [Mir17 Cor 1].
    Assumes: ln(1/delta) >= n eps**2; refused otherwise.

    >>> renyi_corollary(0.1, 100, 1e-6)
    ApproxDP(epsilon=21.026..., delta=1e-06)
    """
    eps, n, d = positive(epsilon, "epsilon"), whole(count, "count"), open_chance(delta, "delta")
    tail, need = log_inverse(d), nearest(n * eps**2)
    if tail < above(need):
        raise NotPromised(
            f"The corollary needs ln(1/delta) >= n epsilon**2; here {tail:.6g} < {need:.6g}.",
            fix="Use renyi_advanced(), which needs no condition and is never larger.",
        )
    return ApproxDP(above(4 * nearest(eps) * math.sqrt(2 * n * tail)), up(d))


# ---- lemmas on Rényi divergences -------------------------------------------------------------------------------


def probability_bound(q: Number, divergence: float, alpha: Number) -> float:
    """Bound P(A) when Q(A) = q and the divergence of order alpha > 1 is known.

    Guarantee: P(A) <= (exp(D) q) ** ((alpha - 1) / alpha) (thesis proposition 2.3.4, [Mir17, Proposition 10]).

    >>> round(probability_bound(0.01, 0.5, 2), 6)
    0.128403
    """
    mass, d = probability(q, "q"), divergence
    if mass == 0 or d == math.inf:
        return 0.0 if d < math.inf else 1.0
    if alpha == math.inf:
        power = Fraction(1)
    else:
        a = open_order(alpha)
        power = (a - 1) / a
    with digits():
        bound = (dec(power) * (dec(rational(d, "divergence")) + dec(mass).ln())).exp()
        return min(1.0, float_above(bound))


def weak_triangle(alpha: Number, p: Number, first: float, second: float) -> float:
    """Bound D_alpha(P, Q) through a third law R, for 1/p + 1/q = 1 and p > 1.

    ``first`` is D of order p alpha of (P, R) and ``second`` is D of order q (alpha - 1/p) of (R, Q); see
    :func:`weak_triangle_orders`.  p = 2, infinity and 1 give the three special cases.

    Guarantee: D_alpha(P, Q) <= (alpha - 1/p) / (alpha - 1) * first + second (thesis proposition 2.3.5).

    >>> weak_triangle(2, 2, 0.5, 0.25)
    1.0
    """
    a, inverse = open_order(alpha), _inverse(p)
    if math.inf in (first, second):
        return math.inf
    return up((a - inverse) / (a - 1) * rational(first, "first") + rational(second, "second"))


def weak_triangle_orders(alpha: Number, p: Number) -> tuple[float, float]:
    """The orders of the two divergences of :func:`weak_triangle`, rounded up (D grows with the order).

    >>> weak_triangle_orders(3, 2), weak_triangle_orders(3, math.inf), weak_triangle_orders(3, 1)
    ((6.0, 5.0), (inf, 3.0), (3.0, inf))
    """
    a, inverse = open_order(alpha), _inverse(p)
    return (
        up(a / inverse) if inverse else math.inf,
        up((a - inverse) / (1 - inverse)) if inverse != 1 else math.inf,
    )


def pure_renyi_bound(zeta: Number, alpha: Number) -> float:
    """Bound D_alpha of two laws whose log ratios stay within zeta by alpha zeta**2 / 2.

    Guarantee: the thesis's lemma 2.3.3 with its true constant, a quarter of the 2 alpha zeta**2 stated there
        [BS16, Proposition 3.3].

    >>> pure_renyi_bound(0.5, 2)
    0.25
    """
    a, z = rational(alpha, "alpha"), positive(zeta, "zeta")
    if a < 1:
        raise InvalidParameter(f"The lemma is about orders of at least 1, got {alpha}.", fix="Choose alpha >= 1.")
    return up(a * z * z / 2)


def _inverse(p: Number) -> Fraction:
    if p == math.inf:
        return Fraction(0)
    value = rational(p, "p")
    if value < 1:
        raise InvalidParameter(f"Hölder's exponent p must be at least 1, got {p}.", fix="Choose 1 <= p <= infinity.")
    return 1 / value
