"""Noisy descent for linear models: whitened by noisy moments, with clipped rows, exact sums and Gaussian noise.

1. The moments of the encoded rows (sums of products of every two columns) are released with noise.
2. They give a linear map after which the columns are nearly uncorrelated and of one size: one step then goes far.
3. Each step sums the rows' gradients in the new coordinates, each row clipped to a length, and adds noise.

Everything that is summed is an integer vector of bounded length that depends on one row alone, so the sensitivity is
exact; see docs/proofs/learn.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, GaussianNoise, compose
from curador.learn.descent.slopes import PER_ONE, UNIT
from curador.learn.pricing import SLACK, deviation_for
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints
from curador.mechanisms.gaussian import Gaussian
from curador.noise import SYSTEM, Entropy
from curador.numbers import sqrt_up
from curador.privacy import Neighbors

FINE = 1 << 20
"""Weights are put on a grid of this many steps, so that margins are exact."""

HEAVIEST = 1 << 14
"""The largest weight of a feature; larger ones are cut, which costs nothing."""

FARTHEST_WEIGHT = 1e9
"""The largest weight in the coordinates of a descent."""

MAP_BITS = 12
"""Bits of the whitening map's fraction."""

STEEPEST = 1 << 22
"""No slope is larger, in its integers: sums of them are exact."""

FEWEST_STEPS, MOST_STEPS = 8, 128
"""The steps that a budget is given, where their number is not."""

CLEAR = 700
"""The budget of each column from which rows are clipped to their typical length after the map; less clips more."""

TIGHTEST = 1 / 16
"""The least part of that length."""

Slopes = Callable[[Floats, NDArray[np.int32]], Floats]


def steps_for(share: float) -> int:
    """How many steps are worth it, where ``share`` is the budget of each column: mu * rows / columns.

    >>> [steps_for(share) for share in (0, 10, 100, 10**6)]
    [8, 13, 40, 128]
    """
    return int(min(max(round(4 * sqrt(share)), FEWEST_STEPS), MOST_STEPS))


def clip_for(share: float, columns: int) -> Fraction:
    """The length that rows are clipped to for the same ``share``; after the map, a row is about the root of columns.

    >>> [float(clip_for(share, 100)) for share in (0, 10, 100, 10**6)]
    [0.62, 2.43, 5.23, 10.0]
    """
    part = min(max((share / CLEAR) ** (1 / 3), TIGHTEST), 1.0)
    return Fraction(round(100 * sqrt(columns) * part), 100)


@dataclass(frozen=True)
class Whitened:
    """The settings of a whitened descent: public numbers, chosen without looking at rows.

    ``mu`` is what everything costs together, as the distance of two Gaussians of deviation 1; the moments get ``share``
    of its square.  ``copies`` rows of one unit count, each as a row.  ``steps`` and ``clip`` follow from the noisy
    number of rows where they are not given.
    """

    mu: Fraction
    steps: int | None = None
    clip: Fraction | None = None
    learning_rate: Fraction = Fraction(6)
    share: Fraction = Fraction(1, 3)
    damping: Fraction = Fraction(3, 10)
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def moments(self, encoding: Encoding) -> Gaussian:
        """The noise of the moments, of the diagonal ones; those off it get less by the root of 2."""
        moved = moved_moments(encoding.most, self.copies, self.neighbors)
        sigma = deviation_for(moved, self.mu / sqrt_up(1 / self.share), encoding.width**2)
        return Gaussian(sensitivity=moved, sigma=sigma, coordinates=encoding.width**2, neighbors=self.neighbors)

    def chosen(self, rows: float, columns: int) -> tuple[int, Fraction]:
        """The steps and the clipping length: as given, or what the budget is worth on about so many rows."""
        units = self.copies * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2)
        share = float(self.mu) * max(rows, 0.0) / (columns * units)
        steps = steps_for(share) if self.steps is None else self.steps
        return steps, clip_for(share, columns) if self.clip is None else self.clip

    @property
    def given(self) -> bool:
        """Whether steps and clip are given, and so fixed before the moments."""
        return self.steps is not None and self.clip is not None

    def gradients(self, size: int, steps: int, clip: Fraction) -> Gaussian:
        """The noise of one of ``steps`` steps; a little more where they are charged as one release, for their grids."""
        moved = Fraction(clip_units(clip) * self.copies * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2))
        mu = self.mu / (1 if self.given else SLACK)
        sigma = deviation_for(moved, mu / sqrt_up(steps / (1 - self.share)), size)
        return Gaussian(sensitivity=moved, sigma=sigma, coordinates=size, neighbors=self.neighbors)

    def event(self, encoding: Encoding, outputs: int) -> Event:
        """All that is run, as one event.

        Steps whose number or length is chosen after the moments are together one Gaussian release, however many they
        are (docs/proofs/learn.md, Claim 7a).

        Fails: a guarantee that is too small for the most steps is refused here, and so never after the moments.
        """
        moments, size = self.moments(encoding).event, encoding.width * outputs
        if self.steps is not None and self.clip is not None:
            return compose(moments, self.gradients(size, self.steps, self.clip).event * self.steps)
        self.gradients(size, self.steps or MOST_STEPS, self.clip or Fraction(1))
        return compose(moments, one_release(self.mu * sqrt_up(1 - self.share), self.neighbors))

    def descend(
        self,
        design: Design,
        labels: NDArray[np.int32],
        slopes: Slopes,
        outputs: int,
        entropy: Entropy = SYSTEM,
        progress: Callable[[float], None] | None = None,
    ) -> tuple[Floats, Whitened]:
        """The weights of every encoded column, the mean of the second half of the steps; one column per output.

        Beside them the settings, with the steps and the clipping length that were chosen.
        """
        encoding = design.encoding
        moments = self.moments(encoding)
        noisy = noisy_moments(design, moments, entropy)
        made, rows = whitening(noisy, float(moments.sigma), float(self.damping))
        steps, clip = self.chosen(rows - float(moments.sigma) / SCALE**2, encoding.width)
        most = caps(design, made, clip_units(clip))
        shape = (encoding.width,) if outputs == 1 else (encoding.width, outputs)
        noise = self.gradients(encoding.width * outputs, steps, clip)
        at, mean = np.zeros(shape), np.zeros(shape)
        back = made.astype(np.float64) / (1 << MAP_BITS)
        far = float(self.learning_rate) / rows / (UNIT * SCALE * (1 << MAP_BITS))
        for step in range(steps):
            weights = np.clip(back @ at, -HEAVIEST, HEAVIEST)
            total = exactly(made, pulled(design, labels, slopes, weights, most))
            at = finite(at - far * np.asarray(noise.release(total, entropy=entropy)))
            if step >= steps // 2:
                mean += at
            if progress is not None:
                progress((step + 1) / steps)
        weights = np.asarray(np.clip(back @ (mean / (steps - steps // 2)), -HEAVIEST, HEAVIEST))
        return weights, replace(self, steps=steps, clip=clip)


def one_release(mu: Fraction, neighbors: Neighbors) -> GaussianNoise:
    """What Gaussian releases whose squares add up to that of ``mu`` / SLACK are at most, however they are divided."""
    return GaussianNoise(SLACK / mu, Fraction(1), neighbors)


def moved_moments(most: int, copies: int, neighbors: Neighbors) -> Fraction:
    """How far the moments of rows of squared length ``most`` move, in the Frobenius norm (docs/proofs/learn.md)."""
    return Fraction(most * copies) * (1 if neighbors is Neighbors.ADD_REMOVE else sqrt_up(Fraction(2)))


def clip_units(clip: Fraction) -> int:
    """The length that rows are clipped to, in the integers of the sum."""
    return int(clip * UNIT * SCALE * (1 << MAP_BITS))


def noisy_moments(design: Design, noise: Gaussian, entropy: Entropy = SYSTEM) -> Floats:
    """The moments with symmetric noise: of the deviation of ``noise`` on the diagonal, less off it."""
    return noised_moments(design.moments(), noise, entropy)


def noised_moments(exact: Ints, noise: Gaussian, entropy: Entropy = SYSTEM) -> Floats:
    """A symmetric matrix with symmetric noise: of the deviation of ``noise`` on the diagonal, less off it.

    The noise along any direction has the same deviation: it is a Gaussian of the Frobenius norm.
    """
    d = len(exact)
    off = Gaussian(noise.sensitivity, sigma=noise.sigma * sqrt_up(Fraction(1, 2)), coordinates=noise.coordinates)
    upper = np.triu_indices(d, 1)
    found = np.diag(np.asarray(noise.release(np.diagonal(exact), entropy=entropy)))
    found[upper] = off.release(exact[upper], entropy=entropy)
    found.T[upper] = found[upper]
    return found


def whitening(noisy: Floats, sigma: float, damping: float) -> tuple[Ints, float]:
    """A map on the grid after which noisy moments are nearly those of uncorrelated columns; and the rows, about.

    Directions that cannot be told from noise are damped: what is added to every moment is ``damping`` of what the noise
    alone reaches.
    """
    d = len(noisy)
    rows = max(float(noisy[-1, -1]) / SCALE**2, 1.0)
    size, turn = np.linalg.eigh(noisy)
    size = np.maximum(size, 0.0) + max(damping * sigma * d**0.5, float(SCALE**2))
    made = (turn * np.sqrt(rows * SCALE**2 / size)) @ turn.T
    grid = np.rint(made * (1 << MAP_BITS))
    return np.clip(grid, -(1 << 30), 1 << 30).astype(np.int64), rows


def lengths_cap(design: Design, clip: int) -> NDArray[np.int32]:
    """The same as :func:`caps` for rows as they are encoded."""
    found = np.empty(len(design), np.int32)
    for part, dense in design.blocks():
        squared = (dense * dense).sum(axis=1)  # whole numbers below 2**53: the same in any order
        found[part] = np.minimum(np.floor(clip / np.sqrt(squared) * (1 - 2.0**-40)), STEEPEST)
    return found


def caps(design: Design, made: Ints, clip: int) -> NDArray[np.int32]:
    """The largest integer that each row may be multiplied by, so that it stays within the clipping length.

    Guarantee: cap * |made @ row| <= clip for every row, worked out from the row alone: lengths come from whole
    numbers that doubles hold exactly, rounded upwards.
    """
    farthest = int(np.abs(made).sum(axis=1).max()) * SCALE
    shift = max(0, farthest.bit_length() - 22)
    found = np.empty(len(design), np.int32)
    turned = made.astype(np.float64).T
    for part, dense in design.blocks():
        length = np.floor(np.abs(dense @ turned) * 2.0**-shift) + 1
        squared = (length * length).sum(axis=1)
        found[part] = np.minimum(np.floor(clip * 2.0**-shift / np.sqrt(squared) * (1 - 2.0**-40)), STEEPEST)
    return found


def clipped(slopes: Floats, most: NDArray[np.int32]) -> Floats:
    """Slopes cut to what each row may have; of several, all by the same factor."""
    if slopes.ndim == 1:
        return np.asarray(np.clip(slopes, -most, most))
    length = np.sqrt((slopes * slopes).sum(axis=1))  # of whole numbers below 2**53: the same in any order
    factor = np.minimum(1.0, most / np.maximum(length, 1.0) * (1 - 2.0**-40))
    return np.asarray(np.trunc(slopes * factor[:, None]))


def finite(weights: Floats) -> Floats:
    """Weights as numbers that a step can start from, whatever step was before: no setting makes rows an error."""
    return np.asarray(np.clip(np.nan_to_num(weights, nan=0.0), -FARTHEST_WEIGHT, FARTHEST_WEIGHT))


def pulled(design: Design, labels: NDArray[np.int32], slopes: Slopes, weights: Floats, most: NDArray[np.int32]) -> Ints:
    """The sum over rows of each row times its clipped slope, at these weights."""
    on_grid = np.rint(weights * (PER_ONE * FINE / SCALE))
    total = np.zeros(weights.shape, np.int64)
    for part, piece in design.pieces():
        total += piece.summed(clipped(slopes(piece.dot(on_grid) / FINE, labels[part]), most[part]))
    return total


def exactly(made: Ints, total: Ints) -> Ints:
    """The exact product; in Python's integers where 64 bits might not hold it."""
    largest = int(np.abs(made).sum(axis=1).max()) * int(np.abs(total).max(initial=0))
    if largest < 1 << 62:
        return np.asarray(made @ total)
    return np.asarray(made.astype(object) @ total.astype(object))
