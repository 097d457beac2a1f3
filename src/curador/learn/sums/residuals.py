"""Least squares from noisy moments, and a few noisy steps that correct what their noise did.

Moments alone give weights whose error is large in directions in which the columns hardly vary.  The same moments give a
map after which the columns are nearly uncorrelated and of one size; the sum of residuals times columns there, each row
cut to a length, needs little noise, and a step or some along it bring the weights close to the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, PureLoss, compose
from curador.learn.descent.slopes import UNIT
from curador.learn.descent.whitened import FINE, HEAVIEST, MAP_BITS, caps, clip_units, exactly, one_release, whitening
from curador.learn.pricing import SLACK, deviation_for, mu_of
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints
from curador.learn.sums.moments import LaplaceMoments, Moments, labelled, moments_for
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.noise import SYSTEM, Entropy
from curador.numbers import rational, sqrt_up
from curador.privacy import Guarantee, Neighbors, PureDP

CURVED = 2**-0.5
"""What is added to moments, in deviations of their noise times the root of columns: half of what that noise reaches.

A step is then never twice too far, whatever the noise did to the curvature.
"""


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


@dataclass(frozen=True)
class FromConstant:
    """The settings of a regression that begins with the mean of the labels, and adds only what noise cannot feign.

    ``budget`` is an epsilon where the noise is Laplace's, else a distance of Gaussians.  The mean gets the part
    ``first`` of it (of its square, for Gaussian noise).  The rest buys moments and at most ``steps`` steps; or, where
    rows are fewer than ``clear`` deviations of the moments, the mean once more.  Of each move so much is left out that
    noise alone would lose at most the part ``wasted`` of the labels' variance.
    """

    budget: Fraction
    pure: bool
    first: Fraction = Fraction(1, 40)
    clear: int = 36
    wasted: Fraction = Fraction(1, 50)
    steps: int = 5
    copies: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    @property
    def rest(self) -> Fraction:
        """The budget of what follows the first mean; a little less where all of it is charged as one release."""
        return self.budget * (1 - self.first) if self.pure else self.budget / SLACK / sqrt_up(1 / (1 - self.first))

    def mean(self, budget: Fraction) -> Gaussian | Laplace:
        """The noise of the number of rows and of the sum of their labels."""
        twice = self.neighbors is not Neighbors.ADD_REMOVE
        if self.pure:
            moved = Fraction(2 * SCALE * self.copies * (1 + twice))
            return Laplace(moved, budget, coordinates=2, neighbors=self.neighbors)
        length = SCALE * self.copies * (Fraction(2) if twice else sqrt_up(Fraction(2)))
        return Gaussian(length, sigma=deviation_for(length, budget, 2), coordinates=2, neighbors=self.neighbors)

    @property
    def begin(self) -> Gaussian | Laplace:
        """The noise of the first mean."""
        return self.mean(self.budget * self.first if self.pure else self.budget / sqrt_up(1 / self.first))

    def along(self, steps: int) -> Residuals:
        """The steps along residuals, and the moments before them, that the rest pays for."""
        return Residuals(self.rest, steps, copies=self.copies, neighbors=self.neighbors)

    def moments(self, encoding: Encoding) -> Moments | LaplaceMoments:
        """The noisy moments of columns and label."""
        if not self.pure:
            return self.along(1).moments(encoding)
        return LaplaceMoments(encoding.width + 1, encoding.most + SCALE**2, self.rest, self.copies, self.neighbors)

    def event(self, encoding: Encoding) -> Event:
        """All that is run, as one event: what follows the first mean keeps the rest, whatever that mean was.

        Fails: a guarantee that is too small for any of it is refused here, and so never after the mean.
        """
        begin = self.begin.event
        self.mean(self.rest)
        self.moments(encoding)
        if self.pure:
            return compose(begin, PureLoss(self.rest, self.neighbors))
        self.along(self.steps).gradients(encoding)
        return compose(begin, one_release(self.budget * sqrt_up(1 - self.first), self.neighbors))

    def measured(
        self,
        exact: Ints,
        encoding: Encoding,
        rows: tuple[Design, Ints] | None = None,
        entropy: Entropy = SYSTEM,
        progress: Callable[[float], None] | None = None,
    ) -> Corrected:
        """Measure, from the exact moments; and for Gaussian noise from the rows and their labels."""
        d, moments = encoding.width, self.moments(encoding)
        both = np.array([exact[-2, -2], exact[-2, -1]]) // SCALE  # whole: the intercept is SCALE in every row
        counted = np.asarray(self.begin.release(both, entropy=entropy)) * SCALE
        noisy, at = np.zeros((d + 1, d + 1)), np.zeros(d)
        if counted[0] < self.clear * moments.deviation:
            counted = np.asarray(self.mean(self.rest).release(both, entropy=entropy)) * SCALE
            at[-1] = _mean(noisy, counted)
            return Corrected(noisy, at, np.zeros(d))
        noisy = moments.release(exact, entropy)
        again, own = np.array([noisy[-2, -2], noisy[-2, -1]]), np.array([1.0, 0.5]) * moments.deviation**2
        part = own / (own + self.begin.variance * SCALE**2)
        at[-1] = middle = _mean(noisy, part * counted + (1 - part) * again)
        spread = max((noisy[-1, -1] - moments.deviation) / noisy[-2, -2] - middle**2, 1 / SCALE**2)
        allowed = float(self.wasted) * spread * float(noisy[-2, -2])
        size, turn = np.linalg.eigh(noisy[:d, :d])
        size = np.maximum(size, 0.0) + damped(moments.deviation, CURVED, d)
        told = noisy[:d, -1] - middle * noisy[:d, -2]
        told[-1] = 0.0
        noise = moments.deviation * sqrt((1 + middle**2) / 2)
        move = turn @ (kept(turn.T @ told, noise, 1 / size, allowed) / size)
        if rows is None:
            return Corrected(noisy, at, move)
        return self._stepped(noisy, turn, at + move, allowed, rows, entropy, progress)

    def _stepped(
        self,
        noisy: Floats,
        turn: Floats,
        at: Floats,
        allowed: float,
        rows: tuple[Design, Ints],
        entropy: Entropy,
        progress: Callable[[float], None] | None,
    ) -> Corrected:
        """Steps along residuals from these weights: fewer where each would lose more than is allowed."""
        design, labels = rows
        encoding, sigma, d = design.encoding, self.moments(design.encoding).deviation, len(at)
        made, number = whitening(noisy[:-1, :-1], sigma, CURVED)
        back, heaviest = made.astype(np.float64) / (1 << MAP_BITS), min(HEAVIEST, (1 << 22) // d)
        at, move = np.clip(at, -heaviest, heaviest), np.zeros(d)
        deviation = residual_deviation(noisy, at, sigma)
        unit, steps = deviation / (UNIT * (1 << MAP_BITS)), self.steps
        while steps > 1 and (float(self.along(steps).gradients(encoding).sigma) * unit) ** 2 * d > allowed * number:
            steps -= 1
        noise, most = self.along(steps).gradients(encoding), caps(design, made, self.along(steps).length(encoding))
        for step in range(steps):
            at = np.clip(at + move, -heaviest, heaviest)
            total = pulls(design, labels, at, made, most, UNIT / deviation)
            found = turn.T @ np.asarray(noise.release(total, entropy=entropy)) * unit
            held = kept(found, float(noise.sigma) * unit, np.full(d, 1 / number), allowed)
            move = back @ (turn @ held) / (number * SCALE)
            if progress is not None:
                progress((step + 1) / steps)
        return Corrected(noisy, at, move)


def from_constant(guarantee: Guarantee, copies: int, neighbors: Neighbors) -> FromConstant:
    """The settings for a guarantee.

    >>> from_constant(PureDP(1), 1, Neighbors.ADD_REMOVE).budget
    Fraction(1, 1)
    """
    pure = isinstance(guarantee, PureDP)
    budget = rational(guarantee.epsilon) if isinstance(guarantee, PureDP) else mu_of(guarantee)
    return FromConstant(budget, pure, copies=copies, neighbors=neighbors)


def _mean(noisy: Floats, counted: Floats) -> float:
    """The mean label by noisy counts, which are put in their places among the moments."""
    noisy[-2, -2] = max(counted[0], float(SCALE**2))
    noisy[-2, -1] = noisy[-1, -2] = counted[1]
    return float(np.clip(counted[1] / noisy[-2, -2], -1, 1))


def feigned(threshold: float) -> float:
    """The mean square of what :func:`kept` keeps of noise of deviation 1.

    >>> [round(feigned(x), 4) for x in (0, 1, 4, 9)]
    [1.0, 0.3333, 0.0333, 0.0013]
    """
    root = sqrt(threshold)
    density, above = exp(-threshold / 2) / sqrt(2 * pi), erfc(root / sqrt(2)) / 2
    return 2 * ((root + threshold * root) * density + (1 - 2 * threshold - threshold**2) * above)


def kept(found: Floats, noise: float, cost: Floats, allowed: float) -> Floats:
    """Numbers with noise, each less what noise alone may have made of it [Bre95].

    Of noise alone so little is left that its squares, times their ``cost``, add up to what is ``allowed`` in the mean.
    """
    alone = noise**2 * float(cost.sum())
    low, high = 0.0, 64.0
    if alone <= allowed:
        return found
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if feigned(middle) * alone <= allowed else (middle, high)
    return np.asarray(found * np.maximum(1 - high * noise**2 / np.maximum(found**2, noise**2 * 1e-9), 0.0))


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
