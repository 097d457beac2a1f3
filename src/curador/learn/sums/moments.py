"""Products of every two columns, summed over the rows: all that least squares and principal components need.

One row v adds v v', whose Frobenius norm is |v|**2; adding noise of one deviation along every direction of symmetric
matrices is a Gaussian release of that norm (docs/proofs/learn-sums.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from curador.learn.descent.whitened import moved_moments, noised_moments
from curador.learn.pricing import deviation_for
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Floats, Ints
from curador.mechanisms.gaussian import Gaussian
from curador.noise import SYSTEM, Entropy
from curador.privacy import Neighbors


@dataclass(frozen=True)
class Moments:
    """The noisy moments of rows of squared length at most ``most``, with ``width`` columns, at a cost of ``mu``.

    >>> round(float(Moments(1, 1, Fraction(1, 2)).noise.sigma), 4)
    2.0
    """

    width: int
    most: int
    mu: Fraction
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    @property
    def noise(self) -> Gaussian:
        """The noise of the moments on the diagonal; off it they get less by the root of 2."""
        moved = moved_moments(self.most, self.copies, self.neighbors)
        sigma = deviation_for(moved, self.mu, self.width**2)
        return Gaussian(sensitivity=moved, sigma=sigma, coordinates=self.width**2, neighbors=self.neighbors)

    def release(self, exact: Ints, entropy: Entropy = SYSTEM) -> Floats:
        """Exact moments with noise."""
        return noised_moments(exact, self.noise, entropy)


def labelled(design: Design, labels: Ints) -> Ints:
    """The exact moments of the rows, each with its label as one more column at the end.

    Assumes: labels are at most 2**22 in absolute value.
    """
    d = design.encoding.width
    total = np.zeros((d + 1, d + 1), np.int64)
    total[:d, :d] = design.moments()
    total[:d, d] = total[d, :d] = design.summed(labels.astype(np.float64))
    total[d, d] = (labels * labels).sum()
    return total


def upper(moments: Floats) -> list[float]:
    """What is kept of symmetric moments: the diagonal and above."""
    found: list[float] = moments[np.triu_indices(len(moments))].tolist()
    return found


def symmetric(kept: list[float], width: int) -> Floats:
    """Moments from what was kept of them.

    >>> symmetric([1.0, 2.0, 3.0], 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    found = np.zeros((width, width))
    found[np.triu_indices(width)] = kept
    return found + np.triu(found, 1).T
