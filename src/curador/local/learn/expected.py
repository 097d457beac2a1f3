"""The expected cost of report noise to a model, before any report, and a warning if it is large."""

from __future__ import annotations

import math
import warnings

import numpy as np

from curador.local.learn.losses import Hinge, Logistic, Loss, Squared
from curador.local.learn.schedule import Schedule

SPREAD = 1 / 3
"""The mean square of a feature that is spread evenly from -1 to 1."""
CURVATURE: dict[type[Loss], float] = {Squared: 2 * SPREAD, Logistic: SPREAD / 4, Hinge: SPREAD / 4}
"""The second derivative of the mean loss in a coefficient, for such features; the hinge counts as the logistic loss."""
CONSTANT: dict[type[Loss], float] = {Squared: SPREAD, Logistic: math.log(2), Hinge: 1.0}
"""The loss of a constant where answers are spread evenly, or both classes are as frequent."""
EXPLAINED = 0.1
"""The part of a constant's loss that features explain in the example of the warning."""


class NoisyModelWarning(UserWarning):
    """The noise alone is expected to cost more than features often explain: a constant may do better."""


def noise_loss(loss: Loss, schedule: Schedule, step: float, average: bool) -> float:
    """Estimate how much report noise raises the mean loss.

    Features are taken as spread evenly between their bounds.

    The noise of round t enters beta times the step, and fades as later steps pull beta back.  The sum of its remains is
    exact, with the variance of a report at worst.  It is taken in the mean of the last half of the iterates, or in the
    last iterate.

    >>> from curador.local.learn.randomizers import SampledHybrid
    >>> from curador.local.learn.schedule import Once
    >>> from fractions import Fraction
    >>> few, many = (Once(n, 20, SampledHybrid(Fraction(1), 11)) for n in (30_000, 3_000_000))
    >>> noise_loss(Squared(), few, 1.0, True) > 90 * noise_loss(Squared(), many, 1.0, True)
    True
    """
    curvature, rounds = CURVATURE[type(loss)], schedule.rounds
    people = schedule.users * schedule.reports_each / rounds
    steps = step / np.sqrt(np.arange(1, rounds + 1))
    first = rounds - math.ceil(rounds / 2) if average else rounds - 1
    # Backwards: the contribution of one unit that enters beta in round t to the sum of the iterates that count.
    total, left = 0.0, 0.0
    for t in range(rounds - 1, -1, -1):
        left = (t >= first) + (left * (1 - steps[t + 1] * curvature) if t + 1 < rounds else 0.0)
        total += (steps[t] * left) ** 2
    variance = schedule.randomizer.worst_variance / people * total / (rounds - first) ** 2
    # Features count by their mean square, the intercept fully.
    return float(variance * (schedule.randomizer.dimension - 1 + 1 / SPREAD) * curvature / 2)


def warn_of_noise(loss: Loss, schedule: Schedule, step: float, average: bool) -> None:
    """Warn, before any report, if the noise is expected to cost more than a tenth of a constant's loss."""
    with np.errstate(all="ignore"):  # steps may be of any size
        costs, most = noise_loss(loss, schedule, step, average), EXPLAINED * CONSTANT[type(loss)]
    if costs > most:
        warnings.warn(
            f"The noise of this model is expected to add about {costs:.2g} to its mean loss, on scales from -1 to 1. "
            f"Unless the features explain more than that, a constant does better: a constant loses up to "
            f"{CONSTANT[type(loss)]:.2g}. More people, a larger epsilon or fewer features make it less.",
            NoisyModelWarning,
            stacklevel=4,
        )
