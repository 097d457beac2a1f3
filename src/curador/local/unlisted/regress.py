"""Frequencies of candidate keys from the bits of Bloom filters, by weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.local.frequency.estimates import on_simplex
from curador.local.task.estimate import LocalEstimate, frequency_summary
from curador.local.task.keys import LocalKey
from curador.local.task.limits import Floats, checked_miss
from curador.numbers import above
from curador.show.summary import EstimateNote, Summary

APART = 1e-9
"""The least distance from a linear relation at which candidates' filters can be distinguished."""


LISTED = EstimateNote("candidates-listed")


@dataclass(frozen=True, eq=False, repr=False)
class Regressed(LocalEstimate):
    """Estimated frequencies of candidate keys among the people who reported.

    Guarantee: unbiased if every person's key is a candidate.  ``variance`` is then that of the coins and of the draw of
        cohorts, at the estimated frequencies.
    Fails: a key that people have, but that is not a candidate, is counted towards the candidates that share its bits,
        unseen.  :meth:`interval` is approximate: right in the long run, if every key is a candidate.

    >>> from curador.local import Rappor
    >>> task = Rappor(epsilon=4)
    >>> task.estimate(task.randomize(["a", "b"] * 500), ["a", "b", "c"]).values.shape
    (3,)
    """

    keys: tuple[LocalKey, ...]
    users: int
    values: Floats
    variance: Floats
    moved: float
    """The most people by which a report, perhaps forged, can move an estimate against another of its cohort."""

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = True) -> tuple[Floats, Floats]:
        """Approximate limits by a normal law of this variance: for all keys at once, or for each alone."""
        from scipy.special import ndtri

        reach = -ndtri(checked_miss(confidence, len(self.keys) if simultaneous else 1) / 2) * np.sqrt(self.variance)
        return np.clip(self.values - reach, 0.0, 1.0), np.clip(self.values + reach, 0.0, 1.0)

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        return frequency_summary(
            self.keys,
            self.values,
            self.users,
            confidence=confidence,
            limits=self.interval(confidence),
            variance=self.variance,
            notes=(LISTED,),
            approximate=True,
        )


@dataclass(frozen=True, eq=False)
class Filters:
    """The bits of each candidate in each cohort that has people, and the least-squares estimate from them.

    >>> Filters(np.array([[[1, 0], [0, 1]]]), np.array([10])).solve(np.array([[0.25, 0.75]])).tolist()
    [0.25, 0.75]
    """

    bits: Floats
    """Cohort by filter bit by candidate, 0 or 1."""
    people: Floats
    """The number of people in each cohort."""

    @property
    def users(self) -> float:
        return float(self.people.sum())

    @cached_property
    def weights(self) -> Floats:
        """The weight of each bit of each cohort for each candidate, cohorts weighted by their people."""
        cohorts, places, keys = self.bits.shape
        root = np.repeat(np.sqrt(self.people), places)
        left, scale, right = np.linalg.svd(self.bits.reshape(-1, keys) * root[:, np.newaxis], full_matrices=False)
        if scale.size < keys or scale[-1] <= APART * scale[0]:
            raise InvalidParameter(
                "The filters of these candidates do not tell them apart.",
                fix="Name fewer candidates, or make the task with more cohorts or longer filters.",
            )
        inverse: Floats = (right.T / scale) @ left.T * root
        return inverse.reshape(keys, cohorts, places)

    def solve(self, share: Floats) -> Floats:
        """Solve for the frequencies that fit the share of people in each cohort who set each bit."""
        found: Floats = np.einsum("vji,ji->v", self.weights, share)
        return found

    def variance(self, frequency: Floats, p: float, q: float) -> Floats:
        """The variance of each estimate, given the people.

        A set bit is reported with chance p, another with q.
        """
        weights = self.weights
        set_ = self.bits @ frequency
        coin = (set_ * p * (1 - p) + (1 - set_) * q * (1 - q)) / ((p - q) ** 2 * self.people[:, np.newaxis])
        noise = np.einsum("vji,ji->v", weights**2, coin)
        # Cohorts are parts of all people without replacement: docs/proofs/local.md, RAPPOR.
        gain = weights.swapaxes(0, 1) @ self.bits
        within = (gain**2 @ frequency - (gain @ frequency) ** 2) / self.people[:, np.newaxis]
        parts = within.sum(axis=0) * self.users - frequency * (1 - frequency)
        total: Floats = noise + np.maximum(parts, 0.0) / max(self.users - 1, 1.0)
        return total

    def estimate(self, keys: tuple[LocalKey, ...], share: Floats, p: float, q: float) -> Regressed:
        """Estimate the frequencies of these candidates, with their variance."""
        values = self.solve(share)
        return Regressed(keys, round(self.users), values, self.variance(on_simplex(values), p, q), self.moved(p, q))

    def moved(self, p: float, q: float) -> float:
        """The number of people by which a report can move an estimate: by the bits of its cohort, each alone."""
        most = (np.abs(self.weights).sum(axis=2) / self.people).max()
        return above(float(most) * self.users / (p - q), 2.0**-30)
