"""DP-SGD as the course teaches it: a Poisson sample of the rows, each gradient clipped, noise on the *sum* [ACGMMTZ16].

Every row is taken by a coin of its own, the gradient of each is cut to a length, the sum gets Gaussian noise, and only
then is it divided by the size that a sample is expected to have.  Noise on the mean instead, as the course words it,
would be larger by that size: a model of nothing but noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.account import epsilon as epsilon_of
from curador.accounting.calibration import calibrate
from curador.accounting.events import Event, PoissonSampled
from curador.accounting.rules.groups import for_group
from curador.curator.purchases.training import budget_of
from curador.errors import InvalidParameter
from curador.learn.descent.slopes import UNIT
from curador.learn.descent.whitened import HEAVIEST, Slopes, finite, lengths_cap, pulled
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats
from curador.mechanisms.gaussian import Gaussian
from curador.noise import SYSTEM, Entropy
from curador.noise.coins import bernoulli_array
from curador.noise.real import COORDINATES as COORDINATES
from curador.numbers import Number, positive, rational, up
from curador.privacy import ApproxDP, Guarantee, Neighbors


@dataclass(frozen=True)
class PoissonDescent:
    """The settings of DP-SGD: public numbers, chosen without looking at rows.

    ``rows`` is the number of rows that is declared; with the ``sample_rate`` it says what a sum is divided by.
    ``noise_multiplier`` is the deviation of the noise in units of ``clip``; a sum has at most ``coordinates`` numbers.
    Each row has a coin of its own, also where a unit has up to ``copies`` rows: how many of them are drawn is then
    binomial, and so the unit's part of the sum.
    """

    noise_multiplier: Fraction
    sample_rate: Fraction
    rows: int
    steps: int
    clip: Fraction
    learning_rate: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    copies: int = 1
    coordinates: int = COORDINATES

    @property
    def noise(self) -> Gaussian:
        """The noise of one sum."""
        moved = Fraction(sum_units(self.clip) * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2))
        sigma = self.noise_multiplier * sum_units(self.clip)
        return Gaussian(sensitivity=moved, sigma=sigma, coordinates=self.coordinates, neighbors=self.neighbors)

    @property
    def all_steps(self) -> Event:
        """All steps, as one event: as a unit of so many rows sees them (docs/proofs/batches.md, 5)."""
        return for_group(PoissonSampled(self.noise.event, self.sample_rate), self.copies) * self.steps

    def event(self, encoding: Encoding, outputs: int) -> Event:
        """All steps, as one event, whatever the encoding."""
        return self.all_steps

    def descend(
        self,
        design: Design,
        labels: NDArray[np.int32],
        slopes: Slopes,
        outputs: int,
        entropy: Entropy = SYSTEM,
        progress: Callable[[float], None] | None = None,
    ) -> tuple[Floats, PoissonDescent]:
        """The weights of every encoded column, the mean of the second half of the steps, and these settings."""
        d = design.encoding.width
        most = lengths_cap(design, sum_units(self.clip))
        shape = (d,) if outputs == 1 else (d, outputs)
        at, mean, noise = np.zeros(shape), np.zeros(shape), self.noise
        far = float(self.learning_rate / (self.sample_rate * self.rows)) / (UNIT * SCALE)
        for step in range(self.steps):
            chosen = np.flatnonzero(bernoulli_array(self.sample_rate, len(design), entropy))
            some = design.some(chosen)
            weights = np.clip(at, -HEAVIEST, HEAVIEST)
            total = pulled(some, labels[chosen], slopes, weights, most[chosen])
            at = finite(at - far * np.asarray(noise.release(total, entropy=entropy)))
            if step >= self.steps // 2:
                mean += at
            if progress is not None:
                progress((step + 1) / self.steps)
        return np.asarray(np.clip(mean / (self.steps - self.steps // 2), -HEAVIEST, HEAVIEST)), self


def sum_units(clip: Fraction) -> int:
    """The length that rows are clipped to, in the integers of the sum."""
    return int(clip * UNIT * SCALE)


def calibrated(
    noise_multiplier: Number | None,
    budget: tuple[Number | None, Number | None, Number | None],
    **settings: Any,
) -> tuple[PoissonDescent, Guarantee]:
    """DP-SGD with the least noise that keeps a budget; or with a given noise, and what that costs at the delta.

    Fails: a rho is refused, since no theorem gives the rho of a Poisson sample.
    """
    epsilon, delta, rho = budget
    if rho is not None or delta is None:
        raise InvalidParameter(
            "DP-SGD is paid with epsilon and delta.",
            fix='Give both, or use solver="whitened" with rho.',
            code="sgd-needs-delta",
        )
    if noise_multiplier is not None:
        if epsilon is not None:
            raise InvalidParameter(
                "A noise_multiplier says what DP-SGD costs.", fix="Leave epsilon out, or noise_multiplier."
            )
        made = PoissonDescent(positive(noise_multiplier, "noise_multiplier"), **settings)
        exact = rational(delta, "delta")
        return made, ApproxDP(epsilon_of(made.all_steps, exact).upper, up(exact))  # never below what epsilon is for
    target = budget_of(epsilon, delta)
    assert isinstance(target, ApproxDP)
    unit = PoissonDescent(Fraction(1), **settings)
    return replace(unit, noise_multiplier=_least_noise(unit, target)), target


@lru_cache(maxsize=256)
def _least_noise(unit: PoissonDescent, target: ApproxDP) -> Fraction:
    """The least noise for a budget, kept: it takes seconds for a unit of many rows, and explanations are free."""
    found = calibrate(
        Gaussian,
        target,
        count=unit.steps,
        rate=unit.sample_rate,
        group=unit.copies,
        sensitivity=unit.noise.sensitivity,
        coordinates=unit.coordinates,
        neighbors=unit.neighbors,
    )
    return found.sigma / sum_units(unit.clip)
