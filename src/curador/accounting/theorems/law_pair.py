"""A pair of laws as an event, given exactly: the worst distinction between two neighbours.

Use it for custom mechanisms with finitely many outputs, and for any mechanism whose worst pair is known.  It composes
with every other event.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np

from curador.accounting.events import Event
from curador.accounting.finite import FiniteMechanism
from curador.accounting.pld.cells import Atoms, Cells, atoms
from curador.accounting.pld.pairs import Ends, Pair
from curador.accounting.pld.rules import Orders, orders
from curador.accounting.precise import TINY, dec, digits, fraction_above, natural_log, nearest, upper_log
from curador.accounting.rules.divergences import law, renyi_divergence
from curador.accounting.rules.profiles import log_above, log_delta_rule, pure_epsilon
from curador.accounting.rules.renyi_rules import Floats, curve_rule, renyi_rule
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.numbers import Number, above, probability, set_fields, up, whole
from curador.privacy import Neighbors

MOST = 2**12
"""The most outputs of a pair: with more, give a coarser pair that dominates it."""

EXACT = 64
"""The most outputs for an exact divergence; with more, each order would take a second."""

_Law = Sequence[Fraction]
_ERROR = 2.0**-40  # relative, of masses and losses as doubles: more than their logarithms lose


@dataclass(frozen=True)
class LawPair(Event, kind="law-pair"):
    """Any mechanism that distinguishes two neighbours no better than ``p`` from ``q``, in either order.

    ``p`` and ``q`` are probabilities of the same outputs, as exact fractions or decimals that add up to 1.

    Assumes: under add-remove, ``p`` stands for the outputs with the unit and ``q`` for those without it.  For every two
        neighbours (p, q) dominates the mechanism with the unit in the first database.  So (q, p) does with the unit in
        the second [ZDW22].  Under replace no unit comes first.  For every two neighbours (p, q) dominates the mechanism
        in one order or the other, which may differ from event to event (docs/proofs/pld.md, 7).

    >>> LawPair(["0.75", "0.25"], ["0.25", "0.75"], "replace").p
    (Fraction(3, 4), Fraction(1, 4))
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        if not all(isinstance(x, Iterable) and not isinstance(x, str | bytes) for x in (self.p, self.q)):
            raise InvalidParameter("A law is a list of probabilities.", fix="Give one for each output, for both laws.")
        p, q = (tuple(law(list(x)).values()) for x in (self.p, self.q))
        if len(p) != len(q) or len(p) > MOST:
            raise InvalidParameter(
                f"The two laws have {len(p)} and {len(q)} outputs.",
                fix=f"Give both a probability for each of the same outputs, at most {MOST} of them.",
            )
        set_fields(self, p=p, q=q, neighbors=Neighbors(self.neighbors))

    @classmethod
    def of(cls, mechanism: FiniteMechanism, neighbors: Neighbors = Neighbors.REPLACE) -> LawPair:
        """Make the smallest pair that dominates all neighbouring rows of a finite mechanism.

        It dominates them in both orders.

        Take delta as a function of y = exp(epsilon).  It is the largest of the lines P(S) - y Q(S) over all neighbours
        and all sets S that collect the largest ratios.  A convex function that falls from 1 is the profile of one pair.

        Guarantee: delta of the pair is, at every epsilon, the largest delta of any two neighbours [ZDW22, Prop. 8].

        >>> LawPair.of(FiniteMechanism([["0.75", "0.25"], ["0.25", "0.75"]])).q
        (Fraction(1, 4), Fraction(3, 4))
        """
        rows = mechanism.matrix
        both = [(rows[i], rows[j]) for i, j in mechanism.neighbors]
        kept = _envelope(both + [(q, p) for p, q in both])
        return cls(tuple(p for p, _ in kept), tuple(q for _, q in kept), neighbors)

    def directions(self) -> tuple[tuple[_Law, _Law], ...]:
        """The two orders, or one where both look alike."""
        return self._directions

    @cached_property
    def _directions(self) -> tuple[tuple[_Law, _Law], ...]:
        if _by_ratio(self.p, self.q) == _by_ratio(self.q, self.p):
            return ((self.p, self.q),)
        return (self.p, self.q), (self.q, self.p)

    @cached_property
    def steps(self) -> tuple[_Steps, ...]:
        """For each order, the steps from which delta follows at any epsilon."""
        return tuple(_Steps.of(p, q) for p, q in self.directions())

    @cached_property
    def logarithms(self) -> tuple[tuple[Floats, Floats, Floats], ...]:
        """For each order log p and log p/q where p is not 0, and the size of the numbers in them."""
        return tuple(_logarithms(p, q) for p, q in self.directions())


@dataclass(frozen=True)
class _Steps:
    """Outputs by falling ratio of p to q: the probability of the first k under both laws."""

    certain: Fraction  # of outputs that q never gives
    each: tuple[tuple[Fraction, Fraction], ...]
    sums: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def of(cls, p: _Law, q: _Law) -> _Steps:
        pairs = sorted(_by_ratio(p, q).values(), key=_ratio, reverse=True)
        each = tuple((a, b) for a, b in pairs if b)
        sums = [(Fraction(0), Fraction(0))]
        for a, b in each:
            sums.append((sums[-1][0] + a, sums[-1][1] + b))
        return cls(sum((a for a, b in pairs if not b), start=Fraction(0)), each, tuple(sums))

    def delta(self, epsilon: Fraction) -> float:
        """The hockey-stick divergence, summed over the first outputs, whose p exceeds e**epsilon q."""
        if not epsilon:
            a, b = self.sums[bisect_left(self.each, True, key=lambda one: one[0] <= one[1])]
            return up(self.certain + a - b)
        with digits():
            ratio = dec(min(epsilon, Fraction(10**6))).exp()  # a smaller ratio only raises the bound
            slack = 1 + dec(TINY)
            a, b = self.sums[bisect_left(self.each, True, key=lambda one: slack * dec(one[0]) <= ratio * dec(one[1]))]
            return up(self.certain + fraction_above(max(Decimal(0), slack * dec(a) - ratio * dec(b))))


def _envelope(pairs: Iterable[tuple[_Law, _Law]]) -> list[tuple[Fraction, Fraction]]:
    """The smallest pair that dominates all of these, as masses of p and q with distinct ratios."""
    lines = {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
    for p, q in pairs:
        a = b = Fraction(0)
        for x, y in sorted(zip(p, q, strict=True), key=_ratio, reverse=True):
            a, b = a + x, b + y
            lines.add((a, b))
    hull: list[tuple[Fraction, Fraction]] = []
    for a, b in sorted(lines):
        while hull and b <= hull[-1][1]:  # more of p for no more of q
            hull.pop()
        while len(hull) > 1 and (a - hull[-1][0]) * (hull[-1][1] - hull[-2][1]) >= (hull[-1][0] - hull[-2][0]) * (
            b - hull[-1][1]
        ):
            hull.pop()
        hull.append((a, b))
    corners = [(Fraction(0), Fraction(0)), *hull, (Fraction(1), Fraction(1))]
    steps = [(a2 - a1, b2 - b1) for (a1, b1), (a2, b2) in pairwise(corners)]
    return [step for step in steps if any(step)]


def _ratio(point: tuple[Fraction, Fraction]) -> tuple[bool, Fraction]:
    """Order outputs by p / q; outputs that q never gives come last."""
    p, q = point
    return (q == 0 and p > 0), p / q if q else Fraction(0)


def _by_ratio(p: Sequence[Fraction], q: Sequence[Fraction]) -> dict[tuple[bool, Fraction], tuple[Fraction, Fraction]]:
    """The masses of each ratio: all that matters of a pair."""
    found: dict[tuple[bool, Fraction], tuple[Fraction, Fraction]] = {}
    for x, y in zip(p, q, strict=True):
        if x or y:
            a, b = found.get(_ratio((x, y)), (Fraction(0), Fraction(0)))
            found[_ratio((x, y))] = a + x, b + y
    return found


def replace_special(categories: int, truth: Number, neighbors: Neighbors = Neighbors.REPLACE) -> LawPair:
    """Randomised response where a neighbour's answer is replaced by a blank that answers uniformly.

    ``truth`` is the probability with which the answer is kept; else any of the ``categories`` answers is uniform.

    >>> replace_special(2, "0.5").p
    (Fraction(3, 4), Fraction(1, 4))
    """
    k, kept = whole(categories, "categories", 2), probability(truth, "truth")
    own = kept + (1 - kept) / k
    return LawPair((own, 1 - own), (Fraction(1, k), 1 - Fraction(1, k)), neighbors)


# ---- rules -------------------------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: LawPair, alpha: Fraction) -> float:
    if len(event.p) > EXACT:
        return float(_by_logarithms(event, np.array([nearest(alpha)]))[0])
    return max(renyi_divergence(p, q, alpha) for p, q in event.directions())


@curve_rule.register
def _(event: LawPair, orders: Floats) -> Floats:
    return _by_logarithms(event, orders)


def _by_logarithms(event: LawPair, orders: Floats) -> Floats:
    """Divergences from logarithms in doubles, each with a bound on the loss by rounding."""
    return np.asarray(np.max([_divergences(*logs, orders) for logs in event.logarithms], axis=0))


def _divergences(mass: Floats, loss: Floats, size: Floats, orders: Floats) -> Floats:
    """The log of the sum of p (p/q)**(alpha - 1), over alpha - 1; ``size`` bounds the parts of logarithms."""
    found = np.empty_like(orders)
    for i, power in enumerate((orders - 1).tolist()):
        terms = mass + power * loss + 2.0**-48 * (1 + power) * size
        top = float(terms.max())
        total = top + math.log(float(np.exp(terms - top).sum())) if top < math.inf else top
        found[i] = above(max(0.0, total + 2.0**-38) / power)
    return found


def _logarithms(p: _Law, q: _Law) -> tuple[Floats, Floats, Floats]:
    both = [(x, y) for x, y in zip(p, q, strict=True) if x]
    mass = np.array([natural_log(x) for x, _ in both])
    loss = np.array([natural_log(x / y) if y else math.inf for x, y in both])
    bits = [sum(n.bit_length() for z in pair for n in z.as_integer_ratio()) for pair in both]
    return mass, loss, 1.0 + np.array(bits)


@log_delta_rule.register
def _(event: LawPair, epsilon: Fraction) -> float:
    found = max(steps.delta(epsilon) for steps in event.steps)
    return upper_log(math.log(found)) if found else -math.inf


@pure_epsilon.register
def _(event: LawPair) -> Fraction | float:
    ratios = [(a, b) for p, q in event.directions() for a, b in zip(p, q, strict=True) if a]
    if any(not b for _, b in ratios):
        return math.inf
    return log_above(max(a / b for a, b in ratios))


@orders.register
def _(event: LawPair) -> Orders:
    pairs = [FinitePair(tuple(_by_ratio(p, q).values())) for p, q in event.directions()]
    if event.neighbors is Neighbors.REPLACE and len(pairs) > 1:
        # The neighbours of one event may be in the order (p, q) where those of another are in the order (q, p).
        worst = FinitePair(tuple(_envelope(event.directions())))
        return tuple((worst, pair) for pair in pairs)
    return tuple((pair, pair) for pair in pairs)


@dataclass(frozen=True)
class FinitePair(Pair):
    """Two laws on finitely many outputs with distinct ratios."""

    masses: tuple[tuple[Fraction, Fraction], ...]
    slack: float = _ERROR  # relative, of the masses

    @property
    def closed(self) -> bool:
        return False

    def exact(self, tilts: Sequence[float], omega: float, tail: float) -> bool:
        return True

    @property
    def infinite(self) -> float:
        return nearest(sum((p for p, q in self.masses if not q), start=Fraction(0)))

    @property
    def error(self) -> float:
        return self.slack + _ERROR * self.extent(0.0)

    def extent(self, theta: float) -> float:
        return max((abs(natural_log(p / q)) for p, q in self.masses if p and q), default=0.0)

    def ends(self) -> Ends:
        finite = [(natural_log(p / q), nearest(p)) for p, q in self.masses if p and q]
        return Ends(*max(finite, default=(-math.inf, 0.0)), self.infinite)

    def cells(self, count: int, tail: float) -> Cells:
        finite = [(p, q) for p, q in self.masses if p and q]
        missing = nearest(sum((q for p, q in self.masses if not p), start=Fraction(0)))
        losses = [natural_log(p / q) for p, q in finite]
        return atoms(losses, [nearest(p) for p, _ in finite], [nearest(q) for _, q in finite], self.infinite, missing)

    def nodes(self, tilts: Sequence[float], omega: float, tail: float) -> Atoms | None:
        c = self.cells(0, tail)
        keep = np.isfinite(c.low) & (c.p > 0)
        return Atoms(c.low[keep], c.p[keep], self.infinite)

    def sketch(self, tail: float) -> Atoms | None:
        return self.nodes((), 0.0, tail)
