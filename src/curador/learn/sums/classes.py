"""Sums by class: how many rows, what their numbers add up to, and how many have each key; all with one noise.

A row adds to the sums of its class alone: SCALE for itself, each number x and 2 x**2 - 1 (in units of SCALE), and SCALE
for each of its keys.  The second is the square in the form that lies between -1 and 1, so that the square gets half the
noise.  Numbers may be cut into equal parts of their bounds instead, which then are keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Ints
from curador.learn.sums.noise import least_noise
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.privacy import Guarantee, Neighbors

APART = 6
"""Two numbers with their squares, in this form, are less than the root of this apart (docs/proofs/learn-sums.md)."""


def squares(x: NDArray[np.int16]) -> Ints:
    """2 x**2 - 1 of numbers in units of SCALE, each rounded by itself.

    >>> squares(np.array([-SCALE, 0, SCALE // 2, SCALE], np.int16)).tolist()
    [1024, -1024, -512, 1024]
    """
    wide = x.astype(np.int64)
    return np.asarray((2 * wide * wide - SCALE**2 + SCALE // 2) // SCALE)


def parts(x: NDArray[np.int16], bins: int) -> NDArray[np.int16]:
    """The part of its bounds that each number is in, of ``bins`` equal ones.

    >>> parts(np.array([-SCALE, -1, 0, SCALE], np.int16), 4).tolist()
    [0, 1, 2, 3]
    """
    return np.asarray(np.minimum((x.astype(np.int64) + SCALE) * bins // (2 * SCALE), bins - 1).astype(np.int16))


@dataclass(frozen=True)
class ClassSums:
    """The sums of ``classes`` classes by an encoding; ``bins`` parts for each number, 0 for sums of it.

    ``rounds`` such sums, of classes that may depend on those before, keep the guarantee together.
    """

    encoding: Encoding
    classes: int
    bins: int
    guarantee: Guarantee
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    rounds: int = 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many keys each feature has that is counted: parts of numbers first."""
        cut = (self.bins,) * len(self.encoding.numbers) if self.bins else ()
        return (*cut, *(f.width for f in self.encoding.keyed))

    @property
    def summed(self) -> int:
        """How many numbers are summed, with their squares."""
        return 0 if self.bins else len(self.encoding.numbers)

    @property
    def width(self) -> int:
        """How many sums each class has: its rows, numbers, their squares, and keys."""
        return 1 + 2 * self.summed + sum(self.sizes)

    @property
    def l1(self) -> Fraction:
        """How far one unit moves all sums in total."""
        one = (1 + 2 * self.summed + len(self.sizes)) * SCALE
        return Fraction(one * self.copies * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2))

    @property
    def l2_squared(self) -> Fraction:
        """The square of how far one unit moves all sums in length."""
        p, k = self.summed, len(self.sizes)
        one = 1 + 2 * p + k
        if self.neighbors is Neighbors.REPLACE:
            one = max(2 * one, APART * p + 2 * k)  # to another class, or within one
        return Fraction(one * SCALE**2 * self.copies**2)

    @cached_property
    def noise(self) -> Gaussian | Laplace:
        """The one noise of all sums of a round."""
        coordinates = self.classes * self.width
        return least_noise(self.guarantee, self.l1, self.l2_squared, coordinates, self.neighbors, self.rounds)

    def exact(self, design: Design, labels: NDArray[np.int32]) -> Ints:
        """The sums, one row for each class.  Rows of no class are left out.  Exact below 2**43 rows."""
        if (labels < 0).any():
            known = np.flatnonzero(labels >= 0)
            design, labels = design.some(known), labels[known]
        found = np.zeros((self.classes, self.width), np.int64)
        found[:, 0] = np.bincount(labels, minlength=self.classes) * SCALE
        p = self.summed
        for j in range(p):
            x = design.numbers[:, j]
            found[:, 1 + j] = np.bincount(labels, weights=x, minlength=self.classes)
            found[:, 1 + p + j] = np.bincount(labels, weights=squares(x), minlength=self.classes)
        at = 1 + 2 * p
        for codes, size in zip(coded(design, self.bins), self.sizes, strict=True):
            place = labels.astype(np.int64) * (size + 1) + codes + 1
            counted = np.bincount(place, minlength=self.classes * (size + 1)).reshape(self.classes, size + 1)
            found[:, at : at + size] = counted[:, 1:] * SCALE
            at += size
        return found


def coded(design: Design, bins: int) -> list[NDArray[np.int16]]:
    """The keys of the rows, and before them the parts that their numbers are in, where those are cut."""
    cut = [parts(design.numbers[:, j], bins) for j in range(design.numbers.shape[1])] if bins else []
    return [*cut, *(design.codes[:, j] for j in range(design.codes.shape[1]))]
