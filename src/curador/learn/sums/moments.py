"""Products of every two columns, summed over the rows: all that least squares and principal components need.

One row v adds v v', whose Frobenius norm is |v|**2; adding noise of one deviation along every direction of symmetric
matrices is a Gaussian release of that norm.  The entries on and above the diagonal add up to (|v|_1**2 + |v|**2) / 2,
which Laplace noise is for (docs/proofs/learn-sums.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from curador.learn.descent.whitened import moved_moments, noised_moments
from curador.learn.pricing import deviation_for, mu_of
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Floats, Ints
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.noise import SYSTEM, Entropy
from curador.numbers import rational
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP


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

    @property
    def deviation(self) -> float:
        """The deviation of the noise along any direction of length 1."""
        return float(self.noise.sigma)

    def release(self, exact: Ints, entropy: Entropy = SYSTEM) -> Floats:
        """Exact moments with noise."""
        return noised_moments(exact, self.noise, entropy)


@dataclass(frozen=True)
class LaplaceMoments:
    """The same with Laplace noise, for an ``epsilon`` alone; no entry of a row is above SCALE.

    >>> float(LaplaceMoments(2, 2 * SCALE**2, Fraction(1)).noise.sensitivity) / SCALE**2  # 1 + 1 + 1
    3.0
    """

    width: int
    most: int
    epsilon: Fraction
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    @property
    def noise(self) -> Laplace:
        """The noise of every moment on the diagonal and above it."""
        terms = self.most // SCALE**2  # so many entries of a row are not 0 at once
        moved = terms * (terms + 1) // 2 * SCALE**2 * self.copies * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2)
        entries = self.width * (self.width + 1) // 2
        return Laplace(Fraction(moved), self.epsilon, coordinates=entries, neighbors=self.neighbors)

    @property
    def deviation(self) -> float:
        """No deviation of the noise along a direction of length 1 is larger: u'Nu has at most twice the variance."""
        return float((2 * self.noise.variance) ** 0.5)

    def release(self, exact: Ints, entropy: Entropy = SYSTEM) -> Floats:
        """Exact moments with noise."""
        above = np.triu_indices(len(exact))
        noisy = np.asarray(self.noise.release(exact[above], entropy=entropy))
        return symmetric(noisy.tolist(), len(exact))


def moments_for(
    guarantee: Guarantee, width: int, most: int, copies: int, neighbors: Neighbors
) -> Moments | LaplaceMoments:
    """Noisy moments that keep a guarantee, with Gaussian noise or Laplace's, whichever is less.

    >>> moments_for(PureDP(1), 3, 3 * SCALE**2, 1, Neighbors.ADD_REMOVE).noise.kind
    'laplace'
    """
    choices: list[Moments | LaplaceMoments] = []
    if isinstance(guarantee, PureDP | ApproxDP):
        choices.append(LaplaceMoments(width, most, rational(guarantee.epsilon), copies, neighbors))
    if not isinstance(guarantee, PureDP) and (not isinstance(guarantee, ApproxDP) or guarantee.delta):
        choices.append(Moments(width, most, mu_of(guarantee), copies, neighbors))
    return min(choices, key=lambda one: one.deviation)


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
