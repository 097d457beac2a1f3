"""Private selection of groups: the keys of a GROUP BY that may be shown.

The keys themselves come from the data.

Counts are of units, each counted once in a group, and a group without units never appears.  The result of ``keep`` has
one entry per group found in the data; only the groups it marks may be released, in an order that does not depend on the
data.  The number of groups and the order in which they were found are private too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import ApproxLoss, Event
from curador.errors import InvalidParameter, InvalidValue
from curador.mechanisms.base import Mechanism, checked_confidence, checked_epsilon, integer_array
from curador.noise import SYSTEM, Entropy
from curador.noise.decide import exp_minus
from curador.numbers import Number, probability, rational, set_fields, whole
from curador.privacy import Neighbors

WORD = 64
FINE = 2 * WORD
"""Keeping probabilities are whole multiples of 2**-128: one machine word decides, and in a tie a second."""

LONGEST = 1 << 18
"""The most counts that a table of keeping probabilities may need before it reaches 1."""


def groups_moved(groups: int, neighbors: Neighbors) -> int:
    """The most groups whose number of units differs between neighbours.

    Under replace these are the groups left and the groups joined.
    """
    return groups * (2 if neighbors is Neighbors.REPLACE else 1)


LEAST_DELTA = Fraction(1, 10**323)
"""The least delta of a selection: thresholds for less take long to find, and no accountant can follow them."""


def checked_delta(delta: object) -> Fraction:
    value = probability(delta, "delta")
    if not 0 < value < 1:
        raise InvalidParameter(
            f"Selecting groups needs a delta strictly between 0 and 1, got {delta}.",
            fix="Choose delta far below 1 / (number of people), or give the keys as public.",
        )
    if value < LEAST_DELTA:
        raise InvalidParameter(
            "A delta below 1e-323 is smaller than what doubles can aim at.", fix="Choose a larger delta, such as 1e-12."
        )
    return value


def checked_units(counts: Any) -> NDArray[np.int64]:
    none = isinstance(counts, list | tuple) and not counts  # NumPy would make an empty list one of floats
    found = np.zeros(0, np.int64) if none else integer_array(counts)
    if found.ndim != 1 or (found < 0).any():
        raise InvalidValue("Expected one count of units, 0 or more, for each group.", fix="Pass a list of counts.")
    return found


class GroupSelection(Mechanism):
    """A mechanism that decides which groups may be shown."""

    @abstractmethod
    def keep(self, counts: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
        """Mark the groups that may be shown, by their numbers of units; see the warning of this module."""

    @abstractmethod
    def least(self, confidence: float = 0.95) -> int:
        """The least number of units from which a group is shown at least this often."""


def sorted_keys(keys: Any, counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sort the keys, and return their old places; the order in the data must not be seen."""
    try:
        found, first = np.unique(np.asarray(keys), return_index=True)
    except (ValueError, TypeError):
        raise InvalidValue("Keys must be of one kind that can be sorted.", fix="Use keep() and sort them.") from None
    if np.ndim(keys) != 1 or found.size != counts.size:
        raise InvalidValue("Expected each key once, beside its count of units.", fix="Count units by key first.")
    return found, first


@dataclass(frozen=True, init=False)
class OptimalKeys(GroupSelection):
    """Groups kept with the largest probability that (epsilon, delta) allows for their number of units.

    A unit in up to ``groups`` groups is protected by giving each decision the same part of epsilon and delta.  That is
    optimal for one group, and only sound for more.

    Guarantee: (epsilon, delta)-DP [DVGM22].  The probabilities are rounded down to multiples of 2**-128 in a way that
    keeps every inequality (docs/proofs/keys.md).
    Assumes: a unit is counted once in each of at most ``groups`` groups.

    >>> mechanism = OptimalKeys(epsilon=1, delta=1e-6)
    >>> mechanism.keep([0, 1000, 0]), mechanism.least(0.95), mechanism.sure
    (array([False,  True, False]), 16, 28)
    >>> mechanism.probability(1) <= Fraction(1, 10**6), round(float(mechanism.probability(14)), 3)
    (True, 0.7)
    """

    kind: ClassVar[str] = "optimal-keys"
    epsilon: Fraction
    delta: Fraction
    groups: int
    neighbors: Neighbors

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        *,
        groups: int = 1,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        set_fields(
            self,
            epsilon=checked_epsilon(epsilon),
            delta=checked_delta(delta),
            groups=whole(groups, "groups", 1),
            neighbors=Neighbors(neighbors),
        )
        each = self.each
        if each.delta * (1 << FINE) < 1:
            raise InvalidParameter(f"delta for each group must be at least 2**-{FINE}.", fix="Choose a larger delta.")
        # Each half of the way to 1 takes about ln(1 + tanh(epsilon / 2) / delta) / epsilon units [DVGM22].
        if 2 * math.log1p(float(min(each.epsilon, Fraction(1)) / each.delta)) > LONGEST * each.epsilon:
            raise InvalidParameter(
                f"At epsilon {float(each.epsilon):.1g} for each group, none of less than {LONGEST} units is sure.",
                fix="Choose a larger epsilon, fewer groups per unit, or ThresholdedLaplace.",
            )

    @property
    def each(self) -> ApproxLoss:
        """The cost of a decision."""
        moved = groups_moved(self.groups, self.neighbors)
        return ApproxLoss(self.epsilon / moved, self.delta / moved, self.neighbors)

    @property
    def event(self) -> Event:
        moved = groups_moved(self.groups, self.neighbors)
        return self.each if moved == 1 else moved * self.each

    @property
    def sure(self) -> int:
        """The number of units from which a group is always kept."""
        return len(_chances(self.each.epsilon, self.each.delta)) - 1

    def probability(self, units: int) -> Fraction:
        """The exact probability that a group with this many units is kept."""
        chances = _chances(self.each.epsilon, self.each.delta)
        return Fraction(chances[min(whole(units, "units"), len(chances) - 1)], 1 << FINE)

    def least(self, confidence: float = 0.95) -> int:
        wanted = math.ceil(rational(checked_confidence(confidence)) * (1 << FINE))
        return bisect_left(_chances(self.each.epsilon, self.each.delta), wanted)

    def release(self, keys: Any, counts: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Return the keys that may be shown, sorted."""
        units = checked_units(counts)
        found, order = sorted_keys(keys, units)
        return found[self.keep(units[order], entropy=entropy)]

    def keep(self, counts: Any, *, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
        units = checked_units(counts)
        chances = _chances(self.each.epsilon, self.each.delta)
        high = _high(self.each.epsilon, self.each.delta)
        at = np.minimum(units, len(chances) - 1)
        words = entropy.words(units.size, np.uint64)
        cut = high[at]
        kept: NDArray[np.bool_] = words < cut
        for k in np.flatnonzero(words == cut):  # the next 64 bits of the same uniform number decide
            kept[k] = entropy.bits(WORD) < chances[at[k]] & ((1 << WORD) - 1)
        kept[at == len(chances) - 1] = True
        return kept


@lru_cache(8)
def _chances(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """The probabilities of keeping 0, 1, 2, … units up to the first that is 1, in units of 2**-128.

    (epsilon, delta)-DP requires p(n) <= e**eps p(n-1) + delta and 1 - p(n-1) <= e**eps (1 - p(n)) + delta.  With
    e**-eps enclosed and everything rounded down, each step satisfies both for the p(n-1) that it really starts from.
    """
    one, spare = 1 << FINE, 2 * FINE
    high = exp_minus(epsilon, spare)[1]  # at least 2**spare e**-eps
    share = math.floor(delta * one)
    chances = [0]
    while (p := chances[-1]) < one:
        grown = (p << spare) // high + share
        shrunk = one + (-max(0, one - p - share) * high >> spare)
        chances.append(min(max(p, min(grown, shrunk)), one))
    return tuple(chances)


@lru_cache(8)
def _high(epsilon: Fraction, delta: Fraction) -> NDArray[np.uint64]:
    """The first machine word of each keeping probability; the last probability is 1 and has none."""
    high = np.array([min(p >> WORD, (1 << WORD) - 1) for p in _chances(epsilon, delta)], np.uint64)
    high.flags.writeable = False  # cached, so shared between callers
    return high
