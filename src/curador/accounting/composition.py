"""Composition theorems: the guarantee of many releases about the same data.

Under every theorem here the analyst may choose each next mechanism after seeing the answers so far.  But the promises
(their number, epsilon and delta) are fixed in advance.  If costs too are chosen on the way, use
:mod:`curador.accounting.filters`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import singledispatch

from curador.accounting.optimal import exact_pair
from curador.accounting.precise import dec, digits, lost_digits
from curador.errors import InvalidParameter
from curador.numbers import Number, above, probability, rational, times, up
from curador.privacy import ApproxDP, Guarantee, Neighbors, RenyiDP, total

# ---- basic -----------------------------------------------------------------------------------------------------


def basic(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Sum promises of one kind; pure ones count as approximate with delta 0 where both occur.

    Guarantee: (sum of epsilons, sum of deltas) [DKMMN06, DR14 Thm 3.16]; for ZCDP and RenyiDP the sum of rho, and
        the sum at each common order [BS16, Mir17].

    >>> from curador.privacy import PureDP
    >>> basic([PureDP(0.1)] * 10)
    PureDP(epsilon=1.0)
    >>> basic([PureDP(1), ApproxDP(0.5, 1e-6)])
    ApproxDP(epsilon=1.5, delta=1e-06)
    """
    return total(_some(guarantees))


def _some(guarantees: Iterable[Guarantee]) -> list[Guarantee]:
    parts = list(guarantees)
    if not parts:
        raise InvalidParameter("There is nothing to put together.", fix="Pass at least one guarantee.")
    return parts


def open_chance(slack: Number, name: str) -> Fraction:
    value = probability(slack, name)
    if not 0 < value < 1:
        raise InvalidParameter(
            f"{name} must lie strictly between 0 and 1, got {slack}.",
            fix=f"Choose {name} well below 1/n, such as 1e-6, or use basic() for delta = 0.",
        )
    return value


def log_inverse(x: Fraction) -> float:
    """Compute log(1/x) for 0 < x < 1, to a few units in the last place.

    That holds near 1 too, and below the smallest float.
    """
    if 2 * x > 1:
        return -math.log1p(-float(1 - x))
    return math.log(x.denominator) - math.log(x.numerator)


# ---- advanced --------------------------------------------------------------------------------------------------


def advanced(each: Guarantee, count: int, slack: Number) -> ApproxDP:
    """Advanced composition as in the thesis (Theorem 3.3.2).

    It composes k promises (epsilon, delta) with some slack delta'.

    Guarantee: (eps sqrt(2k ln(1/delta')) + k eps (e**eps - 1), k delta + delta') [DRV10; DR14 Thm 3.20].

    >>> from curador.privacy import PureDP
    >>> advanced(PureDP(0.1), 100, 1e-6)
    ApproxDP(epsilon=6.308...)
    """
    (eps, delta), k, slack_ = exact_pair(each), times(count), open_chance(slack, "slack")
    e = float(eps)
    try:
        total = above(e * math.sqrt(2 * k * log_inverse(slack_)) + k * e * math.expm1(e))
    except OverflowError:
        total = math.inf
    return ApproxDP(total, up(min(Fraction(1), k * delta + slack_)))


def advanced_heterogeneous(guarantees: Iterable[Guarantee], slack: Number) -> ApproxDP:
    """Advanced composition of promises that differ.

    Let m = sum eps_i tanh(eps_i/2) and s**2 = sum eps_i**2.  The loss has mean at most m and a sub-Gaussian tail of
    variance s**2, which gives m + s sqrt(2 ln(1/delta')).  Integrating that tail against e**-t gives
    m + s sqrt(2 ln(e + s/delta')).  The sum of the epsilons holds too, and the smallest of the three is returned.

    Guarantee: (that epsilon, 1 - (1 - delta') prod(1 - delta_i)) [KOV15 Thm 3.5].
    Fails: to be optimal.  Computing the optimum exactly is #P-hard [MV16]; account for the events by their
        privacy-loss distribution where the last digit matters.

    >>> from curador.privacy import PureDP
    >>> advanced_heterogeneous([PureDP(0.1)] * 50 + [PureDP(0.05)] * 50, 1e-6)
    ApproxDP(epsilon=4.432..., delta=1e-06)
    """
    return advanced_counted(Counter(_some(guarantees)).items(), slack)


def advanced_counted(guarantees: Iterable[tuple[Guarantee, int]], slack: Number) -> ApproxDP:
    """Compose promises given with their counts, so that a million of one kind cost no more than one.

    Guarantee: as :func:`advanced_heterogeneous`.

    >>> from curador.privacy import PureDP
    >>> advanced_counted([(PureDP(0.1), 50), (PureDP(0.05), 50)], 1e-6)
    ApproxDP(epsilon=4.432..., delta=1e-06)
    """
    parts, slack_ = [(*exact_pair(g), times(k)) for g, k in guarantees], open_chance(slack, "slack")
    mean = math.fsum(k * float(e) * math.tanh(float(e) / 2) for e, _, k in parts)
    spread = math.sqrt(math.fsum(float(k * e * e) for e, _, k in parts))
    tail = log_inverse(slack_)
    # ln(e + s/delta') from logarithms, so that a delta' below the smallest float still counts.
    wide = tail + math.log(spread) if spread else -math.inf
    mixed = max(wide, 1.0) + math.log1p(math.exp(-abs(wide - 1.0)))
    epsilon = min(up(sum(k * e for e, _, k in parts)), above(mean + spread * math.sqrt(2 * min(tail, mixed))))
    # As many digits more as a chance has zeros, and as a power of it has factors.
    with digits(max((lost_digits(d) + len(str(k)) for _, d, k in parts), default=0)):
        lost = 1 - math.prod(((1 - dec(d)) ** k for _, d, k in parts), start=1 - dec(slack_))
    # The plain sum bounds the loss, and is exact where the product has run out of digits.
    return ApproxDP(epsilon, up(min(slack_ + sum(k * d for _, d, k in parts), Fraction(lost) + Fraction(1, 10**50))))


# ---- parallel, and afterwards ------------------------------------------------------------------------------------


def parallel(guarantees: Iterable[Guarantee], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Guarantee:
    """Compose promises about disjoint parts of the data.

    A record's part is fixed by that record alone.

    Under add-remove, one record touches one part: the largest promise.  Under replace, a record may leave one part and
    enter another: two independent mechanisms each see one change.  So the two largest add up: epsilons and deltas, but
    also rho and Rényi divergences.  Divergences of independent outputs add; this is not a group of two, for which rho
    would count four times.

    Guarantee: the largest [McS09], or the sum of the two largest, in each number of the guarantee.
    Assumes: under replace, each part's promise covers a record entering, leaving or changing inside that part.
    Fails: for a split that depends on other records (sorted halves), and for promises about replacement only.  Exact
        counts of the parts are 0-DP when every part keeps its size, and reveal who moved.

    >>> from curador.privacy import PureDP
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
    """An unchanged guarantee, and the sentence that explains why."""

    guarantee: Guarantee
    sentence: str


def post_process(guarantee: Guarantee, lang: str = "en") -> PostProcessed:
    """The guarantee after post-processing, that is after any computation on the release alone: unchanged.

    Guarantee: unchanged, for deterministic and randomised maps [DR14 Prop 2.1]; data processing for ZCDP and RenyiDP.
    Assumes: the map sees the release and its own coins, nothing else of the data.

    >>> from curador.privacy import PureDP
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
