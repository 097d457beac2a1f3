"""Bounds on false support: the reports that support a value without holders, through hash collisions.

Two prefixes whose three coefficients differ collide in at most two rows (``prefixes``), and these rows are public.  So
the collisions of known frequent prefixes are counted.  The rest, none of them very frequent, are bounded by chance.
docs/proofs/heavy-hitters.md has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local.task.limits import MARGIN, Floats, beta_margin
from curador.local.unlisted.prefixes import Bytes, all_places, coefficients

GRID = tuple(2.0 ** (-i / 2) for i in range(33))
"""Frequencies below which collisions are left to chance.  The reports choose one of them, so all must hold."""

_TILTS = np.geomspace(0.01, 64, 200)
TWICE = 2
"""The most rows in which two prefixes collide."""


@dataclass(frozen=True, eq=False)
class KnownValues:
    """The prefixes of a level with most support: an upper bound and an estimate of the frequency of each.

    ``rest`` bounds the frequency of every other prefix of the level.

    >>> known = KnownValues(np.array([[97, 98]], np.uint8), np.array([0.6]), np.array([0.5]), rest=0.1)
    >>> known.those_above(0.7).most.size
    0
    """

    prefixes: Bytes
    most: Floats
    seems: Floats
    rest: float

    def those_above(self, most: float) -> KnownValues:
        """Keep the prefixes whose bound is larger."""
        some = self.most > most
        return KnownValues(self.prefixes[some], self.most[some], self.seems[some], max(self.rest, most))

    def collision_shares(self, codes: Bytes, salt: str, rows: int, places: int) -> Floats:
        """The share of rows in which each value collides with each of these; 1 for twins, 0 with itself."""
        width = self.prefixes.shape[1]
        mine, theirs = (coefficients(one, salt, places) for one in (codes[:, :width], self.prefixes))
        times = np.zeros((len(codes), len(self.prefixes)), np.int32)
        for a, b in zip(all_places(mine, rows, places), all_places(theirs, rows, places), strict=True):
            times += a[:, None] == b
        column = {prefix.tobytes(): i for i, prefix in enumerate(self.prefixes)}
        for i, prefix in enumerate(codes[:, :width]):
            if prefix.tobytes() in column:
                times[i, column[prefix.tobytes()]] = 0
        return times / rows


def at_most(support: NDArray[np.int64], people: int, q: float, p: float, part: float) -> Floats:
    """Upper bounds on the frequencies of prefixes with this support.

    Guarantee: with probability at least 1 - part, no prefix of frequency f had so little support that its limit is
        below f.  The frequencies of all sum to 1, and each misses with a chance of at most part * f.

    >>> at_most(np.array([500]), 1000, 0.25, 0.75, 0.05).round(2).tolist()
    [0.57]
    """
    from scipy.special import betaincinv

    least, some = np.full(support.shape, 2.0**-16), support.clip(0, people - 1)
    for _ in range(2):
        # Clopper and Pearson's upper limit.  A miss that refutes one frequency also refutes larger ones.
        lower = betaincinv(people - some, some + 1, part * least * (1 - MARGIN))
        chance = 1 - lower * (1 - beta_margin(people))
        most = np.maximum(least, (chance - q) / (p - q))
        least = most / 2
    return np.where(support < people, np.minimum(most, 1.0), 1.0)


def among(frequency: Floats | float, people: int, users: int, part: float) -> Floats:
    """Upper bounds on frequencies among people who were drawn from all users, from bounds among all.

    Guarantee: with probability at least 1 - part for all prefixes with a holder: Bernstein's inequality, which also
        holds for draws without replacement [Hoe63].

    >>> float(among(0.01, 100_000, 1_000_000, 0.01).round(4))
    0.0114
    """
    f = np.asarray(frequency, np.float64)
    frequent = np.maximum(f, 1 / people)
    # Below 1/people, more is allowed for by the rarest, one of the users: this bounds the allowance of all of them.
    rare = np.asarray(_bound_in_draw(1 / people, math.log(users / part), people))
    found: Floats = np.maximum(_bound_in_draw(frequent, np.log(1 / (part * frequent)), people), rare)
    return np.where(f > 0, np.minimum(found * (1 + MARGIN), 1.0), 0.0)


def _bound_in_draw(frequency: Any, log: Any, people: int) -> Any:
    third = log / (3 * people)
    return frequency + third + np.sqrt(third**2 + 2 * frequency * log / people)


def by_chance(rows: int, places: int, largest: float, miss: float) -> float:
    """Bound the share of people who collide with a key by chance.

    No prefix is more frequent than ``largest``.

    Guarantee: holds but for a chance of ``miss`` over hash functions whose coefficients are like random ones, unless
        all three coefficients of two prefixes agree.

    >>> 1 / 1021 < by_chance(256, 1021, 0.001, 1e-9) < by_chance(256, 1021, 0.01, 1e-9) < 0.0025
    True
    >>> by_chance(256, 1021, 1, 1e-9) == 2 / 256
    True
    """
    # Words of 32 bits, divided: no residue is more likely than this many times as another; for two of them.
    bias = (1 + places / 2**32) ** 2
    two = bias * rows * (rows - 1) / 2 / places**2
    one = max(0.0, bias * rows / places - 2 * two)
    cumulant = np.log1p(one * np.expm1(_TILTS) + two * np.expm1(2 * _TILTS))
    share = ((cumulant + largest * math.log(1 / miss)) / (_TILTS * rows)).min() * (1 + MARGIN)
    return min(1.0, TWICE / rows, float(share))


@dataclass(frozen=True, eq=False)
class Collisions:
    """The support of a key without holders: by chance, and by collisions with frequent prefixes.

    >>> known = KnownValues(np.array([[97, 255]], np.uint8), np.array([0.9]), np.array([0.8]), rest=0.001)
    >>> found = Collisions.of([known], [1.0], miss=1e-6, salt="", rows=64, places=251)
    >>> keys = np.array([[97, 255], [98, 255], [103, 255]], np.uint8)
    >>> ((found.allowed(keys) - found.chance) / 0.9 * 64).round(9).tolist()
    [0.0, 0.0, 1.0]
    """

    chance: float
    known: tuple[KnownValues, ...]
    weights: tuple[float, ...]
    salt: str
    rows: int
    places: int

    @classmethod
    def of(
        cls, known: Sequence[KnownValues], weights: Sequence[float], miss: float, *, salt: str, rows: int, places: int
    ) -> Collisions:
        """Choose the part left to chance so that the bounds are low.

        The people are of several levels with these shares.
        """
        both = list(zip(known, weights, strict=True))
        rest = max(weight * one.rest for one, weight in both)
        most = np.concatenate([weight * one.most for one, weight in both])
        chances = {left: by_chance(rows, places, left, miss / len(GRID)) for left in GRID if left >= rest}
        cost = {left: chance + most[most > left].sum() / places for left, chance in chances.items()}
        left = min(cost, key=cost.__getitem__)
        kept = tuple(one.those_above(left / weight) for one, weight in both)
        return cls(chances[left], kept, tuple(weights), salt, rows, places)

    def allowed(self, codes: Bytes) -> Floats:
        """Bound the share of people who collide with each value, if it has no holder."""
        once, always = np.full(len(codes), self.chance), np.zeros(len(codes))
        for known, weight in zip(self.known, self.weights, strict=True):
            share = known.collision_shares(codes, self.salt, self.rows, self.places)
            once += np.where(share < 1, share, 0) @ (weight * known.most)
            always += (share == 1) @ (weight * known.most)
        found: Floats = np.minimum(np.minimum(once, TWICE / self.rows) + always, 1.0)
        return found

    def expected(self, codes: Bytes) -> Floats:
        """The bias of estimates by these collisions, beyond the mean contribution of other keys."""
        found = np.zeros(len(codes))
        for known, weight in zip(self.known, self.weights, strict=True):
            share = known.collision_shares(codes, self.salt, self.rows, self.places)
            found += (share - 1 / self.places) @ (weight * known.seems)
        return found / (1 - 1 / self.places)
