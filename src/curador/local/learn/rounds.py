"""One round: what the collector publishes, what a device answers, and the descent that joins the rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.local.learn.losses import Loss
from curador.local.learn.randomizers import GradientRandomizer
from curador.local.learn.schedule import Schedule
from curador.local.limits import Floats
from curador.noise import SYSTEM, Entropy
from curador.rational import Number, rational


@dataclass(frozen=True, eq=False)
class Scale:
    """Declared bounds, between which values are clamped and put on the scale from -1 to 1.

    >>> Scale.between([(0, 10), (-1, 1)]).unit(np.array([[5.0, 0.5], [99.0, -7.0]])).tolist()
    [[0.0, 0.5], [1.0, -1.0]]
    """

    low: Floats
    high: Floats

    @classmethod
    def between(cls, bounds: Sequence[tuple[Number, Number]]) -> Scale:
        """The scale of these pairs (low, high)."""
        try:
            ends = [(float(rational(low, "low")), float(rational(high, "high"))) for low, high in bounds]
        except OverflowError:
            raise InvalidParameter("A bound is too large for a double.", fix="Choose closer bounds.") from None
        low, high = np.array(ends).reshape(-1, 2).T
        if not (low < high).all():
            raise InvalidParameter("A lower bound is not below its upper bound.", fix="Choose low < high.")
        return cls(low, high)

    @property
    def middle(self) -> Floats:
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> Floats:
        """Half the distance of the bounds: what 1 is."""
        return self.high / 2 - self.low / 2

    def unit(self, values: Floats) -> Floats:
        return np.clip((np.clip(values, self.low, self.high) - self.middle) / self.half, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Round:
    """What the collector publishes in one round; with it, a device needs only its own person's data.

    Guarantee: :meth:`report` is the only place where data are read, and each of its reports is epsilon-locally DP, with
        the randomizer's epsilon, whatever beta is and whoever chose it.

    >>> from fractions import Fraction
    >>> from curador.local.learn.losses import Logistic
    >>> from curador.local.learn.randomizers import Corners
    >>> asked = Round(Logistic(), Scale.between([(0, 10)]), Scale.between([(-1, 1)]), Corners(Fraction(1), 2))
    >>> reports = asked.report(np.array([[3.0], [8.0]]), np.array([-1.0, 1.0]))
    >>> len(reports), asked.gradient(reports).shape
    (2, (2,))
    """

    loss: Loss
    features: Scale
    target: Scale
    randomizer: GradientRandomizer
    beta: Floats | None = None
    """One coefficient per feature and the intercept, on the scales from -1 to 1; None for all 0."""

    def clipped(self, values: Floats, answers: Floats) -> Floats:
        """Each person's gradient at beta, every coordinate clipped."""
        rows = np.column_stack([self.features.unit(values), np.ones(len(values))])
        beta = np.zeros(rows.shape[1]) if self.beta is None else self.beta
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.loss.gradients(beta, rows, self.target.unit(answers))
        most = float(self.randomizer.clip)
        # A beta so large that there is no gradient must not make a device refuse, which would depend on its data.
        return np.clip(np.nan_to_num(found, nan=0.0), -most, most)

    def report(self, values: Floats, answers: Floats, *, entropy: Entropy = SYSTEM) -> Any:
        """On the devices: one report per person, of their clipped gradient."""
        return self.randomizer.randomize(self.clipped(values, answers), entropy=entropy)

    def gradient(self, reports: Any) -> Floats:
        """At the collector: the mean of the clipped gradients, unbiased."""
        return self.randomizer.mean(reports)


def descend(
    first: Round,
    schedule: Schedule,
    values: Floats,
    answers: Floats,
    *,
    step: float,
    alpha: float,
    entropy: Entropy = SYSTEM,
) -> tuple[Floats, tuple[int, ...]]:
    """Steps of size step/sqrt(t) against the reported gradients: beta before and after each, and who took part.

    The penalty alpha/2 |beta|**2 leaves out the intercept.  The collector knows it, so it costs no noise; it is taken
    at the new beta rather than the old (a proximal step), which is steady for any alpha.
    """
    if len(values) != schedule.users:
        raise InvalidValue("The schedule is for another number of people.", fix="Make it for these.")
    beta = np.zeros(schedule.randomizer.dimension)
    penalised = np.append(np.ones(len(beta) - 1), 0.0)
    path, users = [beta], []
    for t, group in enumerate(schedule.groups(entropy), start=1):
        asked = replace(first, beta=beta)
        found = asked.gradient(asked.report(values[group], answers[group], entropy=entropy))
        size = step / np.sqrt(t)
        beta = (beta - size * found) / (1 + size * alpha * penalised)
        path.append(beta)
        users.append(len(group))
    return np.array(path), tuple(users)


def settled(path: Floats) -> Floats:
    """The mean of the last half of the iterates: the first ones only lead there [PJ92, RSS12].

    >>> settled(np.array([[0.0], [8.0], [4.0], [2.0]])).tolist()
    [3.0]
    """
    steps = len(path) - 1
    return np.asarray(path[-math.ceil(steps / 2) :].mean(axis=0))
