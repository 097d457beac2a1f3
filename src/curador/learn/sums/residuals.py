"""Least squares from noisy moments, and a few noisy steps that correct what their noise did.

Moments alone give weights whose error is large in directions in which the columns hardly vary.  The same moments give a
map after which the columns are nearly uncorrelated and of one size; the sum of residuals times columns there, each row
cut to a length, needs little noise, and a step or some along it bring the weights close to the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, compose
from curador.learn.descent.slopes import UNIT
from curador.learn.descent.whitened import FINE, HEAVIEST, MAP_BITS, caps, clip_units, exactly, whitening
from curador.learn.pricing import deviation_for
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints
from curador.learn.sums.moments import LaplaceMoments, Moments, labelled, moments_for
from curador.mechanisms.gaussian import Gaussian
from curador.noise import SYSTEM, Entropy
from curador.numbers import sqrt_up
from curador.privacy import Guarantee, Neighbors


@dataclass(frozen=True)
class Residuals:
    """The settings of a regression: public numbers, chosen without looking at rows.

    ``mu`` is what everything costs together; the moments get ``share`` of its square, ``steps`` steps the rest.
    ``clip`` is how long a row may be after the map, times its residual in deviations, for each root of a column.
    """

    mu: Fraction
    steps: int = 5
    share: Fraction = Fraction(2, 5)
    clip: Fraction = Fraction(18, 5)
    damping: Fraction = Fraction(3, 10)
    first: Fraction = Fraction(2)
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def moments(self, encoding: Encoding) -> Moments:
        """The noisy moments of columns and label."""
        mu = self.mu / sqrt_up(1 / self.share)
        return Moments(encoding.width + 1, encoding.most + SCALE**2, mu, self.copies, self.neighbors)

    def length(self, encoding: Encoding) -> int:
        """What each row's part of a step is cut to, in the integers of the sum."""
        return clip_units(self.clip * sqrt_up(Fraction(encoding.width)))

    def gradients(self, encoding: Encoding) -> Gaussian:
        """The noise of one step."""
        moved = Fraction(self.length(encoding) * self.copies * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2))
        mu = self.mu / sqrt_up(self.steps / (1 - self.share))
        sigma = deviation_for(moved, mu, encoding.width)
        return Gaussian(sensitivity=moved, sigma=sigma, coordinates=encoding.width, neighbors=self.neighbors)

    def event(self, encoding: Encoding) -> Event:
        """All that is run, as one event."""
        return compose(self.moments(encoding).noise.event, self.gradients(encoding).event * self.steps)


@dataclass(frozen=True)
class MomentsAlone:
    """The settings of a regression from noisy moments and nothing else: all that is read are sums."""

    guarantee: Guarantee
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    first: Fraction = Fraction(1, 2)

    def moments(self, encoding: Encoding) -> Moments | LaplaceMoments:
        """The noisy moments of columns and label."""
        width, most = encoding.width + 1, encoding.most + SCALE**2
        return moments_for(self.guarantee, width, most, self.copies, self.neighbors)

    def event(self, encoding: Encoding) -> Event:
        """What is run."""
        return self.moments(encoding).noise.event

    def measured(self, exact: Ints, encoding: Encoding, entropy: Entropy = SYSTEM) -> Corrected:
        """Noisy moments, and the weights that they give."""
        of_moments = self.moments(encoding)
        noisy = of_moments.release(exact, entropy)
        at = solved(noisy, damped(of_moments.deviation, float(self.first), encoding.width))
        return Corrected(noisy, np.clip(at, -HEAVIEST, HEAVIEST), np.zeros(encoding.width))


@dataclass(frozen=True, eq=False, repr=False)
class Corrected:
    """What a regression measured: noisy moments, the weights before the last step, and that step."""

    moments: Floats
    at: Floats
    step: Floats


def corrected(
    design: Design,
    labels: Ints,
    settings: Residuals,
    entropy: Entropy = SYSTEM,
    progress: Callable[[float], None] | None = None,
) -> Corrected:
    """Measure: labels are integers between -SCALE and SCALE, one for each row.

    Guarantee: the event of the settings.  Every row's part of each sum is an integer vector that depends on that row
    and on what was released before, and is within the length that the noise is for.
    """
    encoding = design.encoding
    of_moments = settings.moments(encoding)
    sigma = float(of_moments.noise.sigma)
    noisy = of_moments.release(labelled(design, labels), entropy)
    made, rows = whitening(noisy[:-1, :-1], sigma, float(settings.damping))
    heaviest = min(HEAVIEST, (1 << 22) // encoding.width)  # so that predictions stay below 2**53
    at = np.clip(solved(noisy, damped(sigma, float(settings.first), encoding.width)), -heaviest, heaviest)
    deviation = residual_deviation(noisy, at, sigma)
    length, noise = settings.length(encoding), settings.gradients(encoding)
    most = caps(design, made, length)
    back = made.astype(np.float64) / (1 << MAP_BITS)
    move = np.zeros(encoding.width)
    for step in range(settings.steps):
        at = np.clip(at + move, -heaviest, heaviest)
        total = pulls(design, labels, at, made, most, UNIT / deviation)
        found = np.asarray(noise.release(total, entropy=entropy)) * (deviation / (UNIT * (1 << MAP_BITS)))
        move = back @ found / (rows * SCALE)
        if progress is not None:
            progress((step + 1) / settings.steps)
    return Corrected(noisy, at, move)


def pulls(design: Design, labels: Ints, weights: Floats, made: Ints, most: NDArray[np.int32], unit: float) -> Ints:
    """The map times the sum over rows of the row times its residual, in ``unit``, cut to what the row may have."""
    on_grid = np.rint(weights * FINE)
    total = np.zeros(len(weights), np.int64)
    for part, piece in design.pieces():
        residuals = (labels[part] * float(FINE) - piece.dot(on_grid)) * (unit / (SCALE * FINE))
        total += piece.summed(np.clip(np.rint(residuals), -most[part], most[part]))
    return exactly(made, total)


def damped(sigma: float, damping: float, width: int) -> float:
    """What is added to every moment, so that no direction that noise alone could make is trusted."""
    return float(max(damping * sigma * width**0.5, SCALE**2))


def solved(noisy: Floats, added: float) -> Floats:
    """Damped least squares from the moments of columns and label alone [Wan18]."""
    d = len(noisy) - 1
    size, turn = np.linalg.eigh(noisy[:d, :d])
    return np.asarray(turn @ ((turn.T @ noisy[:d, d]) / (np.maximum(size, 0.0) + added)))


def residual_deviation(noisy: Floats, weights: Floats, sigma: float) -> float:
    """The deviation of residuals by noisy moments, in units of the label's half width, and no less than noise allows.

    Along (weights, -1) the noise of moments has the deviation sigma * (|weights|**2 + 1).
    """
    rows = max(float(noisy[-2, -2]), float(SCALE**2))
    along = np.append(weights, -1.0)
    found = max(float(along @ noisy @ along), sigma * float(along @ along))
    return float(min(max((found / rows) ** 0.5, 1 / SCALE), 1.0))


def weights_of(moments: Floats, at: Floats, step: Floats, added: float, alpha: float) -> Floats:
    """The weights by the last step, with a penalty of ``alpha`` times the squared weights but for the intercept.

    ``alpha`` is in the units of columns between -1 and 1, so those of scikit-learn after such a scaling.
    """
    d = len(at)
    size, turn = np.linalg.eigh(moments[:d, :d])
    curved = (turn * (np.maximum(size, 0.0) + added)) @ turn.T
    penalty = np.full(d, alpha * SCALE**2)
    penalty[-1] = 0.0
    return np.asarray(at + np.linalg.solve(curved + np.diag(penalty), curved @ step - penalty * at))
