"""Events: descriptions of mechanisms, without data, for any accountant.

An event names the law of the noise, the most that the protected statistic can move between neighbours, and who those
neighbours are.  A bound on its privacy loss needs nothing else about the release, now or later.
Parameters are exact fractions.  Repetition is written ``n * event`` and lives only in :class:`Composed`.

Reading order:

* base — the base of every event, its JSON, and the checks of its numbers
* single — noise, choices, and mechanisms known only by their guarantee
* made — samples, parts of the data, and compositions
"""

from curador.accounting.events.base import DEEPEST, KINDS, LARGEST_LOSS, Event, event_from_json, set_made_of
from curador.accounting.events.made import NOTHING, Composed, FixedSizeSampled, Parallel, PoissonSampled, compose
from curador.accounting.events.single import (
    ApproxLoss,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialChoice,
    GaussianNoise,
    LaplaceNoise,
    PureLoss,
    RandomizedAnswer,
    TruncatedLaplaceNoise,
    ZCDPLoss,
)

__all__ = [
    "DEEPEST",
    "KINDS",
    "LARGEST_LOSS",
    "NOTHING",
    "ApproxLoss",
    "Composed",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "Event",
    "ExponentialChoice",
    "FixedSizeSampled",
    "GaussianNoise",
    "LaplaceNoise",
    "Parallel",
    "PoissonSampled",
    "PureLoss",
    "RandomizedAnswer",
    "TruncatedLaplaceNoise",
    "ZCDPLoss",
    "compose",
    "event_from_json",
    "set_made_of",
]
