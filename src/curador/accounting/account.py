"""The privacy loss of events fixed in advance, by any of five accountants.

``pld`` is the tight one and returns a bracket.  The others are upper bounds, each with its own theorem.  People know
them and compare with them, and some hold where the tight one does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from curador.accounting import convert, meaning
from curador.accounting.bracket import Bracket
from curador.accounting.composition import advanced_counted
from curador.accounting.events import (
    NOTHING,
    Composed,
    DiscreteLaplaceNoise,
    Event,
    FixedSizeSampled,
    PoissonSampled,
)
from curador.accounting.precise import nearest
from curador.accounting.rules.profiles import delta as single_delta
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi import ORDERS, renyi_curve
from curador.accounting.rules.tradeoffs import Curve, Tradeoff
from curador.accounting.rules.unpaired import unpaired_delta, unpaired_epsilon
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, down, nonnegative, probability, up
from curador.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from curador.accounting.meaning import MembershipGuess, Posterior

MOST_POINTS = 1000
"""The most epsilons of a profile."""

MANY_SAMPLES = 32
"""The most different samples whose Rényi curves are tried where a bracket came out wide."""

MANY_EXACT = 50
"""The most different noises whose orders need decimals, some hundredths of a second each."""

INTEGER_ORDERS = tuple(range(2, 257))
"""The orders of the moments accountant: the paper's 1 … 32 and more, one higher as Rényi orders."""


def epsilon(event: Event, delta: Number, method: str = "pld", tolerance: float = 1e-4) -> Bracket:
    """The epsilon of an event at a delta, by one of the accountants.

    * ``pld``: bounds from both sides by privacy-loss distributions, usually within ``tolerance``.  Where it is not
      tight and Rényi orders give less, that counts.  Without a known distribution, the Rényi curve bounds from above,
      and some mechanism that the event describes from below.
    * ``renyi``: the best conversion over a grid of Rényi orders [Mir17, CKS20];
    * ``moments``: the same at integer orders only, as the moments accountant does [ACGMMTZ16];
    * ``basic``: the sum of epsilons; delta is not used [DMNS06];
    * ``advanced``: the heterogeneous advanced composition theorem [KOV15].

    The upper-bound methods leave the lower end at 0.

    Guarantee: the event is (upper, delta)-DP.
    Assumes: the events are fixed in advance; budgets spent step by step use curador.accounting.filters.
    Fails: NotPromised where a method has no rule for the event.

    >>> from curador.accounting.events import LaplaceNoise
    >>> loss = 100 * LaplaceNoise(scale=20, sensitivity=1)
    >>> [round(epsilon(loss, "1e-6", method=m).upper, 2) for m in ("pld", "renyi", "advanced", "basic")]
    [2.19, 2.34, 2.69, 5.0]
    """
    if method not in METHODS:
        raise InvalidParameter(f"No accountant is called {method!r}.", fix=f"Use one of {', '.join(METHODS)}.")
    return METHODS[method](event, delta, tolerance)


def _pld(event: Event, delta: Number, tolerance: float) -> Bracket:
    from curador.accounting import pld

    try:
        found = pld.epsilon(event, delta, tolerance)
    except NotPromised:  # no pair of laws is known to dominate it
        return unpaired_epsilon(event, delta, tolerance)
    if found.upper - found.lower <= 10 * tolerance * max(1.0, found.lower) or _is_long(event):
        return found
    # The bounds are about different pairs: choices by score, for example, have no single worst pair.  Both theorems
    # hold.
    try:
        other = METHODS["renyi"](event, delta, tolerance).upper
    except (NotPromised, InvalidParameter):
        return found
    return Bracket(min(found.lower, other), min(found.upper, other))


def _is_long(event: Event) -> bool:
    """Whether many different samples or noises are drawn: each would need its own curve."""
    parts = [part for part, _ in Composed.of((event, 1)).parts]
    samples = sum(isinstance(part, PoissonSampled | FixedSizeSampled) or part.grouped for part in parts)
    exact = sum(isinstance(part, DiscreteLaplaceNoise) and part.sensitivity > 2 for part in parts)
    return samples > MANY_SAMPLES or exact > MANY_EXACT


def _renyi(orders: Iterable[float]) -> Callable[[Event, Number, float], Bracket]:
    def method(event: Event, delta: Number, tolerance: float) -> Bracket:
        return Bracket(0.0, convert.renyi_epsilon(dict(renyi_curve(event, orders).curve), delta).value)

    return method


def _basic(event: Event, delta: Number, tolerance: float) -> Bracket:
    probability(delta, "delta")
    total = pure_epsilon(event)
    if total == math.inf:
        raise NotPromised(
            "Basic composition adds pure epsilons, and part of this has none.", fix="Use method='pld' or 'renyi'."
        )
    return Bracket(0.0, up(total) if isinstance(total, Fraction) else total)


def _advanced(event: Event, delta: Number, tolerance: float) -> Bracket:
    pieces = []
    for part, count in Composed.of((event, 1)).parts:
        each = pure_epsilon(part)
        if each == math.inf:
            raise NotPromised(
                "Advanced composition is applied to pure epsilons here, and part of this has none.",
                fix="Use method='pld' or 'renyi'.",
            )
        pieces.append((PureDP(up(each) if isinstance(each, Fraction) else each), count))
    if not pieces:
        return Bracket(0.0, 0.0)
    return Bracket(0.0, advanced_counted(pieces, delta).epsilon)


METHODS: dict[str, Callable[[Event, Number, float], Bracket]] = {
    "pld": _pld,
    "renyi": _renyi(ORDERS),
    "moments": _renyi(INTEGER_ORDERS),
    "basic": _basic,
    "advanced": _advanced,
}


def delta(event: Event, epsilon: Number, tolerance: float = 1e-4) -> Bracket:
    """The delta of an event at an epsilon, bounded from both sides.

    >>> from curador.accounting.events import GaussianNoise
    >>> bracket = delta(4 * GaussianNoise(sigma=2, sensitivity=1), epsilon=1)
    >>> round(bracket.lower, 5) == round(bracket.upper, 5) == 0.12694
    True
    """
    from curador.accounting import pld

    try:
        return pld.delta(event, epsilon, tolerance)
    except NotPromised:  # no pair of laws is known to dominate it
        return unpaired_delta(event, epsilon, tolerance)


def _upper_deltas(event: Event, epsilons: Sequence[float]) -> list[float]:
    """Bound delta at each epsilon from above: exactly for single events, by distributions for the rest."""
    if len(epsilons) > MOST_POINTS:
        raise InvalidParameter(
            f"A curve of {len(epsilons)} points is not drawn; at most {MOST_POINTS} are.", fix="Give fewer epsilons."
        )
    try:
        return [single_delta(event, e) for e in epsilons]
    except NotPromised:
        pass
    from curador.accounting import pld

    order = sorted(range(len(epsilons)), key=epsilons.__getitem__)
    try:
        found = pld.upper_deltas(event, [epsilons[i] for i in order])
    except NotPromised:
        return [delta(event, e).upper for e in epsilons]
    return [x for _, x in sorted(zip(order, found, strict=True))]


def profile(event: Event, epsilons: Iterable[Number] | None = None) -> Curve:
    """The privacy profile: delta as a function of epsilon, an upper bound at every point.

    >>> from curador.accounting.events import LaplaceNoise
    >>> curve = profile(LaplaceNoise(scale=1, sensitivity=1), [0, 0.5, 1])
    >>> [round(y, 4) for y in curve.lines[0][1]]
    [0.3935, 0.2212, 0.0]
    """
    x = _epsilons(event) if epsilons is None else tuple(down(nonnegative(e, "epsilon")) for e in epsilons)
    return Curve(x, (("δ(ε)", tuple(_upper_deltas(event, x))),), "ε", "δ")


def _epsilons(event: Event, points: int = 101) -> tuple[float, ...]:
    """Epsilons from 0 up to a negligible delta, or to the pure epsilon if that is first.

    A delta is negligible at a billionth, or next above a stated failure.
    """
    top = nearest(Fraction(pure)) if (pure := pure_epsilon(event)) != math.inf else math.inf
    if top == math.inf or event == NOTHING:
        for aim in ("1e-9", "1e-7", "1e-5", "1e-3", "0.1"):
            if math.isfinite(top := epsilon(event, aim).upper):
                break
    if not math.isfinite(top):
        raise InvalidParameter("This event has no finite epsilon to draw up to.", fix="Give the epsilons yourself.")
    return tuple(top * i / (points - 1) for i in range(points))


def tradeoff(event: Event) -> Tradeoff:
    """The trade-off curve: the least false-negative rate of any test at every false-positive rate [DRS22].

    >>> from curador.accounting.events import LaplaceNoise
    >>> round(tradeoff(LaplaceNoise(scale=1, sensitivity=1)).fnr(0.1), 4)
    0.7282
    """
    return Tradeoff(tuple(_points(event)))


def posterior(event: Event, prior: Number = Fraction(1, 2), failure: Number | None = None) -> Posterior:
    """Bound an adversary's belief after the release, given the belief ``prior`` before it.

    >>> from curador.accounting.events import LaplaceNoise
    >>> round(posterior(LaplaceNoise(scale=1, sensitivity=1)).upper, 4)
    0.7311
    """
    return meaning.posterior(_promise(event, failure), prior, failure)


def decision(event: Event, prior: Number = Fraction(1, 2)) -> MembershipGuess:
    """Bound from below how often an adversary who must decide is wrong, and its advantage from above.

    >>> from curador.accounting.events import LaplaceNoise
    >>> round(decision(LaplaceNoise(scale=1, sensitivity=1)).advantage, 4)
    0.3935
    """
    return meaning.decision(tradeoff(event), prior)


def _promise(event: Event, failure: Number | None) -> PureDP | list[ApproxDP]:
    pure = pure_epsilon(event)
    if pure != math.inf:
        return PureDP(up(pure) if isinstance(pure, Fraction) else pure)
    return _points(event)


def _points(event: Event) -> list[ApproxDP]:
    x = _epsilons(event)
    return [ApproxDP(e, min(1.0, d)) for e, d in zip(x, _upper_deltas(event, x), strict=True)]
