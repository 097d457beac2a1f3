"""The steps of a plan on exact integers: add noise, choose by rank, choose groups.

A step is made before any data is read and is the only thing that turns exact integers into something that may leave.
Each knows its event, the kind of its mechanism, and the code that identifies it in a ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import NOTHING, Event, ExponentialChoice
from curador.errors import InvalidParameter
from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.keys import GroupSelection
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.selection import TopK
from curador.mechanisms.sensitivity import Sensitivity
from curador.mechanisms.thresholded import Thresholded
from curador.noise import SYSTEM, Entropy
from curador.noise.arrays import ARRAY_MOST
from curador.query.aggregates.measure import Measure, RankSearch, Search

EXACT_DOUBLE = 1 << 53
MACHINE_WORD = 1 << 60

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Noised:
    """A measure with independent noise in every group.

    Without a mechanism no unit can move the measure, and what is released is the ``constant`` that the declarations
    imply: never what an engine found.  ``selection`` is set where the selection of groups already draws this noise: it
    shows a group where the noised number reaches its threshold.

    Guarantee: that of its mechanism, for the sensitivity of the measure over all groups.
    """

    measure: Measure
    sensitivity: Sensitivity
    mechanism: AdditiveNoise | None
    share: Fraction = Fraction(0)
    selection: Thresholded | None = None
    constant: int | None = None

    def __post_init__(self) -> None:
        if self.mechanism is None and (self.sensitivity.l1 != 0 or self.constant is None):
            raise InvalidParameter("A measure that a unit can move needs noise.", fix="Give the step a mechanism.")

    @property
    def selects(self) -> bool:
        """Whether a group is shown by this noised number, which then no longer has the mechanism's own law."""
        return self.selection is not None

    @property
    def event(self) -> Event:
        return NOTHING if self.mechanism is None or self.selects else self.mechanism.event

    @property
    def code(self) -> dict[str, object]:
        """The measure and its noise, in codes and numbers."""
        noise: list[object] = ["constant", self.constant]
        if self.mechanism is not None:
            noise = [self.mechanism.kind, self.mechanism.event.to_json()]
        return {"noised": self.measure.code, "noise": noise, "keyed": self.selects}

    def error(self, confidence: float = 0.95) -> float:
        """The bound on one group's noise, on the measure's grid, holding with probability at least ``confidence``."""
        return 0.0 if self.mechanism is None else self.mechanism.error(confidence)

    def ends(self, values: Numbers, confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where each protected integer lies, with probability at least ``confidence``, given that its group is shown.

        Guarantee: where the number itself decides that, by the law that is left [WFB13]; elsewhere the noise is
        independent of the choice of groups, and its own law holds (docs/proofs/plans.md, section 6).
        """
        if self.selection is not None:
            low, high = self.selection.interval(values, confidence)
            return low.astype(np.float64), high.astype(np.float64)
        reach, found = self.error(confidence), values.astype(np.float64)
        return found - reach, found + reach

    def noise(self, values: Sequence[int], entropy: Entropy = SYSTEM) -> Numbers:
        """Every group's integer with noise: integers, or doubles from Gaussian noise.

        Machine arrays where they hold the numbers exactly, single numbers of any size where they do not: the law of
        what is released is the same.
        """
        if self.mechanism is None:
            return self.constants(len(values))
        numbers = [int(v) for v in values]
        real = isinstance(self.mechanism, Gaussian)
        largest = max(map(abs, numbers), default=0)
        scale = getattr(self.mechanism, "scale", Fraction(0))  # of Laplace noise; variances have a wider limit
        spread = getattr(self.mechanism, "sigma_squared", Fraction(0))
        if largest < (EXACT_DOUBLE if real else MACHINE_WORD) and (
            real or (scale <= ARRAY_MOST and spread <= ARRAY_MOST**2)
        ):
            given = np.array(numbers, np.float64 if real else np.int64)
            return np.asarray(self.mechanism.release(given, entropy=entropy))
        drawn = [self.mechanism.release(Fraction(v) if real else v, entropy=entropy) for v in numbers]
        return np.array(drawn, np.float64) if real else _integers(drawn)

    def constants(self, groups: int) -> Numbers:
        """The public integer of every group, where no unit can move the measure."""
        assert self.constant is not None
        return _integers([self.constant] * groups)


def _integers(numbers: list[int]) -> Numbers:
    small = all(abs(x) < MACHINE_WORD for x in numbers)
    return np.array(numbers, np.int64 if small else object)


@dataclass(frozen=True)
class Ranked:
    """Quantiles of the values in every group, each group by itself.

    One unit changes up to ``rows`` values in each of up to ``groups`` groups.

    Guarantee: in one group and at one level of halving, a unit's rows fall into parts that are chosen in
    independently of each other, k of them in one part moving its scores k times as far: together of bounded range
    rows * epsilon / levels, since ranges of independent choices add up [DR19].  Levels and groups compose.
    """

    ranks: RankSearch
    mechanism: Quantiles
    rows: int
    groups: int
    share: Fraction = Fraction(0)

    @property
    def event(self) -> Event:
        levels = self.mechanism.levels
        choice = ExponentialChoice(self.rows * self.mechanism.epsilon / levels, self.mechanism.neighbors)
        return (self.groups * levels) * choice

    @property
    def code(self) -> dict[str, object]:
        """The search and its mechanism, in codes and numbers."""
        grid = [str(x) for x in (self.mechanism.epsilon, self.mechanism.lower, self.mechanism.upper)]
        return {"ranked": self.ranks.code, "noise": [self.mechanism.kind, self.event.to_json(), grid]}

    def error(self, confidence: float = 0.95) -> float:
        """How many rows every quantile of one group is within of its rank, with probability at least ``confidence``."""
        return self.mechanism.error(confidence)

    def noise(self, values: Numbers, counts: Numbers, entropy: Entropy = SYSTEM) -> NDArray[np.float64]:
        """The quantiles of one group, from its distinct values on the grid and how often each occurs."""
        numbers, times = np.asarray(values, np.int64), np.asarray(counts, np.int64)
        powers = self.ranks.search is not Search.VALUE
        given = magnitudes(numbers) if powers else numbers
        found = self.mechanism.release(np.repeat(given.astype(np.float64), times), entropy=entropy)
        if powers:
            return np.array([float(power_bound(int(k), self.ranks.search is Search.UPPER)) for k in found])
        return found


def magnitudes(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many bits each number has, with its sign: k for 2**(k-1) … 2**k - 1, -k for their negatives.

    >>> magnitudes(np.array([0, 1, 5, -8])).tolist()
    [0, 1, 3, -4]
    """
    bits = np.frexp(np.abs(values).astype(np.float64))[1]  # exact below 2**53
    return np.asarray(np.sign(values) * bits, np.int64)


def power_bound(magnitude: int, upper: bool) -> int:
    """A power of two, or 0, that bounds every number of a magnitude.

    >>> [power_bound(k, upper=True) for k in (0, 3, -4)], [power_bound(k, upper=False) for k in (0, 3, -4)]
    ([0, 8, -8], [0, 4, -16])
    """
    if magnitude < 0:
        return -power_bound(-magnitude, not upper)
    return 0 if magnitude == 0 else 1 << (magnitude if upper else magnitude - 1)


@dataclass(frozen=True)
class Largest:
    """The groups with most rows, chosen privately; their counts are another step."""

    measure: Measure
    mechanism: TopK
    share: Fraction = Fraction(0)

    @property
    def event(self) -> Event:
        return self.mechanism.event

    @property
    def code(self) -> dict[str, object]:
        """The number of groups to choose and the mechanism, in codes and numbers."""
        noise = [self.mechanism.kind, self.event.to_json()]
        return {"largest": self.measure.code, "k": self.mechanism.k, "noise": noise}

    def noise(self, counts: Sequence[int], entropy: Entropy = SYSTEM) -> list[int]:
        """The places of the chosen groups."""
        return self.mechanism.release([int(c) for c in counts], entropy=entropy)


@dataclass(frozen=True)
class Selected:
    """The private selection of groups to show, where the keys come from the data.

    Guarantee: that of its mechanism, given that a unit is counted once in each group it keeps.
    """

    mechanism: GroupSelection
    share: Fraction = Fraction(0)

    @property
    def event(self) -> Event:
        return self.mechanism.event

    @property
    def code(self) -> dict[str, object]:
        """The selection in codes and numbers."""
        return {"selected": [self.mechanism.kind, self.event.to_json()]}


Step = Noised | Ranked | Largest | Selected
"""One part of a plan that is paid for: its ``share`` of the budget, its ``event``, ``mechanism`` and ``code``."""
