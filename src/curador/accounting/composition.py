"""Many releases about the same data: what the promises add up to.

Every theorem here lets the analyst choose each next mechanism after seeing the answers so far, but wants the
promises (how many, and their epsilon and delta) fixed in advance.  Where the costs too are chosen on the way,
use :mod:`curador.accounting.filters`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import reduce, singledispatch
from operator import add

from curador.accounting.optimal import as_approx, exact_pair, optimal_delta, optimal_epsilon
from curador.accounting.precise import dec, digits, nearest
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, above, positive, probability, rational, up, whole
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP

# ---- basic -----------------------------------------------------------------------------------------------------


def basic(guarantees: Iterable[Guarantee]) -> Guarantee:
    """The sum of promises of one kind; pure ones count as approximate with delta 0 where both occur.

    Guarantee: (sum of epsilons, sum of deltas) [DKMMN06, DR14 Thm 3.16]; for ZCDP and RenyiDP the sum of rho, and
        the sum at each common order [BS16, Mir17].

    >>> basic([PureDP(0.1)] * 10)
    PureDP(epsilon=1.0)
    >>> basic([PureDP(1), ApproxDP(0.5, 1e-6)])
    ApproxDP(epsilon=1.5, delta=1e-06)
    """
    parts = _some(guarantees)
    if {type(g) for g in parts} == {PureDP, ApproxDP}:
        return reduce(add, map(as_approx, parts))
    return reduce(add, parts)


def _some(guarantees: Iterable[Guarantee]) -> list[Guarantee]:
    parts = list(guarantees)
    if not parts:
        raise InvalidParameter("There is nothing to put together.", fix="Pass at least one guarantee.")
    return parts


def _proper(slack: Number, name: str) -> Fraction:
    value = probability(slack, name)
    if not 0 < value < 1:
        raise InvalidParameter(
            f"{name} must lie strictly between 0 and 1, got {slack}.",
            fix=f"Choose {name} well below 1/n, such as 1e-6, or use basic() for delta = 0.",
        )
    return value


def _log_inverse(x: Fraction) -> float:
    """log(1/x) for 0 < x < 1, to a few units in the last place also near 1 and below the smallest float."""
    if 2 * x > 1:
        return -math.log1p(-float(1 - x))
    return math.log(x.denominator) - math.log(x.numerator)


# ---- advanced --------------------------------------------------------------------------------------------------


def advanced(each: Guarantee, count: int, slack: Number) -> ApproxDP:
    """Advanced composition as the thesis states it (Theorem 3.3.2): k promises (epsilon, delta), some slack delta'.

    Guarantee: (eps sqrt(2k ln(1/delta')) + k eps (e**eps - 1), k delta + delta') [DRV10; DR14 Thm 3.20].

    >>> advanced(PureDP(0.1), 100, 1e-6)
    ApproxDP(epsilon=6.308...)
    """
    (eps, delta), k, slack_ = exact_pair(each), whole(count, "count"), _proper(slack, "slack")
    e = float(eps)
    try:
        total = above(e * math.sqrt(2 * k * _log_inverse(slack_)) + k * e * math.expm1(e))
    except OverflowError:
        total = math.inf
    return ApproxDP(total, up(min(Fraction(1), k * delta + slack_)))


def advanced_short(each: Guarantee, count: int, slack: Number, constant: int = 8) -> ApproxDP:
    """The short forms eps sqrt(8k ln(1/delta')) and eps sqrt(2k ln(1/delta')): returned only where they are true.

    Each is compared with the exact optimal composition, so a refusal means that the printed formula is false there,
    and an answer that it is a theorem there.  Simple conditions that suffice: for 8, e**eps - 1 <=
    sqrt(2 ln(1/delta') / k), or k <= 8 ln(1/delta'); for 2, k <= 2 ln(1/delta').

    Guarantee: (eps sqrt(constant k ln(1/delta')), k delta + delta'), by [KOV15, MV16].
    Fails: for larger k eps**2: at k = 1000, eps = 1 both are below the mean of the loss, k eps tanh(eps/2).

    >>> advanced_short(PureDP(0.1), 100, 1e-6)
    ApproxDP(epsilon=10.513...)
    >>> advanced_short(PureDP(1), 1000, 1e-6)
    Traceback (most recent call last):
    curador.errors.NotPromised: The short form promises epsilon 332.4... at delta 1e-06, but 1000 such releases ...
    """
    if constant not in (2, 8):
        raise InvalidParameter(f"No short form has the constant {constant}.", fix="Use constant=8 or constant=2.")
    (eps, delta), k, slack_ = exact_pair(each), whole(count, "count"), _proper(slack, "slack")
    promised = above(float(eps) * math.sqrt(constant * k * _log_inverse(slack_)))
    total = up(min(Fraction(1), k * delta + slack_))
    real = optimal_delta(each, k, promised)
    if real > total:
        raise NotPromised(
            f"The short form promises epsilon {promised:.6g} at delta {total:.3g}, but {k} such releases can have "
            f"delta {real:.3g} there.",
            fix=f"Use optimal_epsilon(), which gives {optimal_epsilon(each, k, total):.6g}, or advanced().",
        )
    return ApproxDP(promised, total)


def advanced_heterogeneous(guarantees: Iterable[Guarantee], slack: Number) -> ApproxDP:
    """Advanced composition of promises that differ.

    With m = sum eps_i tanh(eps_i/2) and s**2 = sum eps_i**2, the loss has mean at most m and a sub-Gaussian tail of
    variance s**2, which gives m + s sqrt(2 ln(1/delta')), and, by integrating that tail against e**-t,
    m + s sqrt(2 ln(e + s/delta')); the sum of the epsilons holds too, and the smallest of the three is returned.

    Guarantee: (that epsilon, 1 - (1 - delta') prod(1 - delta_i)) [KOV15 Thm 3.5].
    Fails: to be optimal. Computing the optimum exactly is #P-hard [MV16]; account for the events by their
        privacy-loss distribution where the last digit matters.

    >>> advanced_heterogeneous([PureDP(0.1)] * 50 + [PureDP(0.05)] * 50, 1e-6)
    ApproxDP(epsilon=4.432..., delta=1e-06)
    """
    return advanced_counted(Counter(_some(guarantees)).items(), slack)


def advanced_counted(guarantees: Iterable[tuple[Guarantee, int]], slack: Number) -> ApproxDP:
    """The same for promises with how often each is given, so that a million of one kind cost no more than one.

    Guarantee: as :func:`advanced_heterogeneous`.

    >>> advanced_counted([(PureDP(0.1), 50), (PureDP(0.05), 50)], 1e-6)
    ApproxDP(epsilon=4.432..., delta=1e-06)
    """
    parts, slack_ = [(*exact_pair(g), whole(k, "count")) for g, k in guarantees], _proper(slack, "slack")
    mean = math.fsum(k * float(e) * math.tanh(float(e) / 2) for e, _, k in parts)
    spread = math.sqrt(math.fsum(float(k * e * e) for e, _, k in parts))
    tail = _log_inverse(slack_)
    # ln(e + s/delta') from logarithms, so that a delta' below the smallest float still counts.
    wide = tail + math.log(spread) if spread else -math.inf
    mixed = max(wide, 1.0) + math.log1p(math.exp(-abs(wide - 1.0)))
    epsilon = min(up(sum(k * e for e, _, k in parts)), above(mean + spread * math.sqrt(2 * min(tail, mixed))))
    with digits():
        lost = 1 - math.prod(((1 - dec(d)) ** k for _, d, k in parts), start=1 - dec(slack_))
    # The plain sum bounds what is lost, and is exact where the product has run out of digits.
    return ApproxDP(epsilon, up(min(slack_ + sum(k * d for _, d, k in parts), Fraction(lost) + Fraction(1, 10**50))))


# ---- the thesis's Rényi form -----------------------------------------------------------------------------------


def event_bound(epsilon: Number, count: int, chance: Number) -> float:
    """How likely an output can be about D if it has the given chance about a neighbour (thesis, Proposition 4.2.1).

    With q the chance, L = ln(1/q) and r = n eps**2 / 2: at most exp(-(sqrt(L) - sqrt(r))**2) for L >= r, which is
    q exp(eps sqrt(2 n L) - n eps**2 / 2).  This is below the printed q exp(2 eps sqrt(n L)), which is therefore true,
    though its proof is not: the 2 alpha eps**2 it starts from is not enough for it, alpha eps**2 / 2 is.

    Guarantee: n pure promises are (n eps**2 / 2)-zCDP [BS16]; probability preservation [Mir17] at the best
        order sqrt(L/r).

    >>> event_bound(0.1, 100, 1e-6)
    0.0001163...
    """
    eps, n, q = positive(epsilon, "epsilon"), whole(count, "count"), probability(chance, "chance")
    if q in (0, 1):
        return float(q)
    tail, r = _log_inverse(q), nearest(n * eps**2 / 2)
    if tail <= r:
        return 1.0
    return min(1.0, above(math.exp(-((math.sqrt(tail) - math.sqrt(r)) ** 2)), relative=2.0**-36))


def renyi_advanced(epsilon: Number, count: int, delta: Number) -> ApproxDP:
    """n pure promises through their Rényi curve, with the constant that is true and no condition.

    Guarantee: (n eps**2 / 2 + eps sqrt(2 n ln(1/delta)), delta) [BS16 Prop 1.3 and 1.4].

    >>> renyi_advanced(0.1, 100, 1e-6)
    ApproxDP(epsilon=5.756..., delta=1e-06)
    """
    eps, n, d = positive(epsilon, "epsilon"), whole(count, "count"), _proper(delta, "delta")
    return ApproxDP(above(nearest(n * eps**2 / 2) + nearest(eps) * math.sqrt(2 * n * _log_inverse(d))), up(d))


def renyi_corollary(epsilon: Number, count: int, delta: Number) -> ApproxDP:
    """Corollary 4.2.1 of the thesis as printed: 4 eps sqrt(2 n ln(1/delta)), where ln(1/delta) >= n eps**2.

    True, but loose: under its own condition (1/2 + sqrt 2) eps sqrt(n ln(1/delta)) is enough, a third of it
    (:func:`renyi_advanced`).  It is below the plain sum n eps only for n > 32 ln(1/delta).

    Guarantee: (4 eps sqrt(2 n ln(1/delta)), delta) [Mir17 Cor 1].
    Assumes: ln(1/delta) >= n eps**2; refused otherwise.

    >>> renyi_corollary(0.1, 100, 1e-6)
    ApproxDP(epsilon=21.026..., delta=1e-06)
    """
    eps, n, d = positive(epsilon, "epsilon"), whole(count, "count"), _proper(delta, "delta")
    tail, need = _log_inverse(d), nearest(n * eps**2)
    if tail < above(need):
        raise NotPromised(
            f"The corollary needs ln(1/delta) >= n epsilon**2; here {tail:.6g} < {need:.6g}.",
            fix="Use renyi_advanced(), which needs no condition and is never larger.",
        )
    return ApproxDP(above(4 * nearest(eps) * math.sqrt(2 * n * tail)), up(d))


# ---- parallel, and afterwards ------------------------------------------------------------------------------------


def parallel(guarantees: Iterable[Guarantee], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Guarantee:
    """Promises about disjoint parts of the data, where a record's part is fixed by that record alone.

    Under add-remove, one record touches one part: the largest promise.  Under replace, a record may leave one part
    and enter another: two independent mechanisms each see one change, so epsilons and deltas, but also rho and
    Rényi divergences, of the two largest add up (divergences of independent outputs add; this is not a group of
    two, for which rho would count four times).

    Guarantee: the largest [McS09], or the sum of the two largest, in each number of the guarantee.
    Assumes: under replace, each part's promise covers a record entering, leaving or changing inside that part.
    Fails: for a split that depends on other records (sorted halves), and for promises about replacement only: exact
        counts of the parts are 0-DP when every part keeps its size, and give away who moved.

    >>> parallel([PureDP(1), PureDP(0.5), PureDP(0.25)])
    PureDP(epsilon=1.0)
    >>> parallel([PureDP(1), PureDP(0.5), PureDP(0.25)], Neighbors.REPLACE)
    PureDP(epsilon=1.5)
    """
    parts = _some(guarantees)
    if len({type(g) for g in parts}) > 1:
        raise InvalidParameter(
            "The parts are promised different kinds of guarantee.",
            fix="Convert all to one kind first (curador.accounting.convert).",
        )
    return _largest(parts[0], parts, 1 if Neighbors(neighbors) is Neighbors.ADD_REMOVE else 2)


def _top(numbers: Iterable[float], take: int) -> float:
    chosen = sorted(numbers, reverse=True)[:take]
    return math.inf if math.inf in chosen else up(sum(map(rational, chosen)))


@singledispatch
def _largest(kind: Guarantee, parts: Sequence[Guarantee], take: int) -> Guarantee:
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    tops = (_top([getattr(g, n) for g in parts], take) for n in names)
    return type(kind)(*(min(1.0, x) if n == "delta" else x for n, x in zip(names, tops, strict=True)))


@_largest.register
def _(kind: RenyiDP, parts: Sequence[RenyiDP], take: int) -> RenyiDP:
    curves = [dict(g.curve) for g in parts]
    return RenyiDP({a: _top([c[a] for c in curves], take) for a in curves[0] if all(a in c for c in curves)})


@dataclass(frozen=True, slots=True)
class PostProcessed:
    """The same guarantee, and the sentence that says why."""

    guarantee: Guarantee
    sentence: str


def post_process(guarantee: Guarantee, lang: str = "en") -> PostProcessed:
    """What is promised after anything is done to a release without looking at the data again: the same.

    Guarantee: unchanged, for deterministic and randomised maps [DR14 Prop 2.1]; data processing for ZCDP and RenyiDP.
    Assumes: the map sees the release and its own coins, nothing else of the data.

    >>> post_process(PureDP(1)).sentence
    'Post-processing is free: whatever is computed from the release alone keeps PureDP(epsilon=1.0).'
    """
    sentences = {
        "en": f"Post-processing is free: whatever is computed from the release alone keeps {guarantee!r}.",
        "es": f"El posprocesado es gratis: lo que se calcule solo a partir de lo publicado conserva {guarantee!r}.",
    }
    if lang not in sentences:
        raise InvalidParameter(f"No sentences in {lang!r}.", fix="Use lang='en' or lang='es'.")
    return PostProcessed(guarantee, sentences[lang])
