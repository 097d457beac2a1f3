"""A round of learning, on both sides, and the descent over all rounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.forks import cached_property
from curador.local.learn.losses import LOSSES, Loss
from curador.local.learn.randomizers import GradientRandomizer, randomizer_from_json, randomizer_to_json
from curador.local.learn.reading import EDGE, own_data
from curador.local.learn.schedule import Schedule
from curador.local.numeric.base import FINEST
from curador.local.task.limits import Floats
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, rational, set_fields


@dataclass(frozen=True)
class Scale:
    """Declared bounds; values are clamped to them and put on the scale from -1 to 1.

    >>> Scale.between([(0, 10), (-1, 1)]).unit(np.array([[5.0, 0.5], [99.0, -7.0]])).tolist()
    [[0.0, 0.5], [1.0, -1.0]]
    """

    bounds: tuple[tuple[Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        try:
            pairs = tuple((rational(low, "low"), rational(high, "high")) for low, high in self.bounds)
        except (TypeError, ValueError) as problem:
            if isinstance(problem, InvalidParameter):
                raise
            raise InvalidParameter("Bounds are pairs (low, high).", fix="Give one pair for each.") from None
        if any(low >= high for low, high in pairs):
            raise InvalidParameter("A lower bound is not below its upper bound.", fix="Choose low < high.")
        for low, high in pairs:
            most = max(abs(low), abs(high))
            if most > EDGE or high - low < max(most / FINEST, Fraction(1, EDGE)):
                raise InvalidParameter(
                    "Doubles do not tell the values between these bounds apart.", fix="Measure in other units."
                )
        set_fields(self, bounds=pairs)

    @classmethod
    def between(cls, bounds: Sequence[tuple[Number, Number]]) -> Scale:
        """Make the scale of these pairs (low, high)."""
        return cls(bounds)  # type: ignore[arg-type]  # made exact there

    @property
    def width(self) -> int:
        """The number of values of a person on the scale."""
        return len(self.bounds)

    @cached_property
    def low(self) -> Floats:
        return np.array([float(low) for low, _ in self.bounds])

    @cached_property
    def high(self) -> Floats:
        return np.array([float(high) for _, high in self.bounds])

    @property
    def middle(self) -> Floats:
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> Floats:
        """Half the distance of the bounds: the unit of the scale."""
        return self.high / 2 - self.low / 2

    def unit(self, values: Floats) -> Floats:
        return np.clip((np.clip(values, self.low, self.high) - self.middle) / self.half, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Round:
    """The document that the collector publishes in a round; a device adds only its own person's data.

    Guarantee: only :meth:`report` reads data, and each of its reports is epsilon-locally DP, with the randomizer's
        epsilon, for any beta.  That holds for one report per row.  So a round is refused before a coin is
        drawn if its parts do not fit each other, and data are if they do not fit the round.

    >>> from curador.local.learn.losses import Logistic
    >>> from curador.local.learn.randomizers import Corners
    >>> asked = Round(Logistic(), Scale.between([(0, 10)]), Scale.between([(-1, 1)]), Corners(Fraction(1), 2))
    >>> reports = asked.report(np.array([[3.0], [8.0]]), np.array([-1.0, 1.0]))
    >>> len(reports), asked.gradient(reports).shape
    (2, (2,))
    >>> Round.from_json(asked.to_json()).to_json() == asked.to_json()
    True
    """

    loss: Loss
    features: Scale
    target: Scale
    randomizer: GradientRandomizer
    beta: Floats | None = None
    """The coefficient of each feature and the intercept, on the scales from -1 to 1; None for all 0."""
    study: str = ""
    """The study of this round; it shows a device whether it has answered already."""

    def __post_init__(self) -> None:
        if self.target.width != 1:
            raise InvalidParameter("A target has one pair of bounds.", fix="Declare the bounds of one answer.")
        size = self.features.width + 1
        if self.randomizer.dimension != size:
            raise InvalidParameter(
                f"The gradient of {size - 1} features and an intercept has {size} coordinates; the randomizer is for "
                f"{self.randomizer.dimension}.",
                fix="Make it for as many.",
            )
        if not isinstance(self.study, str):
            raise InvalidParameter("A study has a name.", fix="Give it as text.")
        if self.beta is not None:
            set_fields(self, beta=_coefficients(self.beta, size))

    def clipped(self, values: Any, answers: Any) -> Floats:
        """Each person's gradient at beta, every coordinate clipped."""
        # No beta and no value may make a device refuse: a refusal would depend on its data.  So neither
        # numpy's settings nor a gradient of NaN may raise here.
        with np.errstate(all="ignore"):
            own, targets = own_data(values, answers, self.features.width)
            rows = np.column_stack([self.features.unit(own), np.ones(len(own))])
            beta = np.zeros(rows.shape[1]) if self.beta is None else self.beta
            found = self.loss.gradients(beta, rows, self.target.unit(targets))
            if found.shape != rows.shape:
                raise InvalidParameter("A loss has one gradient per person.", fix="Return as many rows as there are.")
            most = float(self.randomizer.clip)
            return np.clip(np.nan_to_num(found, nan=0.0), -most, most)

    def report(self, values: Any, answers: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """On the devices: randomise each person's clipped gradient, of a row of features and an answer."""
        return self.randomizer.randomize(self.clipped(values, answers), entropy=entropy)

    def gradient(self, reports: Any) -> Floats:
        """At the collector: the mean of the clipped gradients, unbiased."""
        return self.randomizer.mean(reports)

    def to_json(self) -> dict[str, object]:
        """Write a plain dictionary for devices, which :meth:`from_json` reads back.

        Fractions and beta are exact.
        """
        name = next((name for name, kind in LOSSES.items() if type(self.loss) is kind), None)
        if name is None:
            raise InvalidParameter("Devices do not know this loss.", fix=f"Choose one of {', '.join(LOSSES)}.")
        return {
            "study": self.study,
            "loss": name,
            "features": [[str(low), str(high)] for low, high in self.features.bounds],
            "target": [str(end) for end in self.target.bounds[0]],
            "randomizer": randomizer_to_json(self.randomizer),
            "beta": None if self.beta is None else self.beta.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Round:
        """Read back a round on a device.

        A round whose parts do not fit is refused, which makes each row a single report.
        """
        kinds = {
            "study": str,
            "loss": str,
            "features": list,
            "target": list,
            "randomizer": Mapping,
            "beta": list | None,
        }
        named = isinstance(data, Mapping) and set(data) == set(kinds)
        if not named or not all(isinstance(data[name], kind) for name, kind in kinds.items()):
            raise InvalidParameter("This is not a round.", fix="Use what to_json() wrote.")
        pairs, beta = [*data["features"], data["target"]], data["beta"] or []
        if not all(type(pair) is list and all(type(end) is str for end in pair) for pair in pairs):
            raise InvalidParameter("Bounds are written as exact fractions.", fix="Use what to_json() wrote.")
        if not all(type(x) in (int, float) for x in beta):
            raise InvalidParameter("beta is written as numbers.", fix="Use what to_json() wrote.")
        if data["loss"] not in LOSSES:
            raise InvalidParameter("No loss has this name.", fix=f"Choose one of {', '.join(LOSSES)}.")
        return cls(
            LOSSES[data["loss"]](),
            Scale(tuple(data["features"])),
            Scale((data["target"],)),
            randomizer_from_json(data["randomizer"]),
            data["beta"],
            data["study"],
        )


def _coefficients(beta: Any, size: int) -> Floats:
    """Copy beta, so that it cannot change after its check.  Beta is public, so a refusal reveals nothing."""
    try:
        found = np.array(beta)
    except (ValueError, OverflowError):
        found = np.zeros(0)
    numbers = found.dtype.kind in "iuf"
    with np.errstate(all="ignore"):
        found = found.astype(np.float64) if numbers else found
    if not numbers or found.shape != (size,) or not np.isfinite(found).all():
        raise InvalidParameter(
            f"beta is {size} finite numbers: one for each feature, and the intercept.", fix="Give it as one row."
        )
    found.setflags(write=False)
    return found


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
    """Take steps of size step/sqrt(t) against the reported gradients.

    Return all betas and the participants.

    The penalty alpha/2 |beta|**2 leaves out the intercept.  The collector knows it, so it costs no noise.  It is taken
    at the new beta rather than the old (a proximal step), which is stable for any alpha.
    """
    if len(values) != schedule.users:
        raise InvalidValue("The schedule is for another number of people.", fix="Make it for these.")
    if first.randomizer != schedule.randomizer:
        raise InvalidParameter("The schedule is for other reports than the round's.", fix="Give both one randomizer.")
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
    """The mean of the last half of the iterates; the first half only leads there [PJ92, RSS12].

    >>> settled(np.array([[0.0], [8.0], [4.0], [2.0]])).tolist()
    [3.0]
    """
    steps = len(path) - 1
    return np.asarray(path[-math.ceil(steps / 2) :].mean(axis=0))
