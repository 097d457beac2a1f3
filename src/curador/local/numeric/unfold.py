"""Deconvolution: from the counts of noisy cells to a distribution, by EM with or without smoothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.local.task.estimate import LocalEstimate, plain_floats
from curador.local.task.limits import Floats
from curador.numbers import probability
from curador.show.summary import EstimateNote, Summary

GAIN = 1e-3
"""The least growth of the reports' log-likelihood after which EM continues [LWLSL20]."""

STEPS_MOST = 10_000


SMOOTH = EstimateNote("likely-smooth")
LIKELY = EstimateNote("likely")


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(LocalEstimate):
    """An estimated distribution: the share of people in each bucket between two edges.

    Fails: biased, towards smooth shapes if ``smooth``; there are no intervals.

    >>> found = Distribution(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5]), users=10, steps=1, smooth=True)
    >>> found.mean, found.quantile(0.25), found.biased
    (1.0, 0.5, True)
    """

    biased: ClassVar[bool] = True

    edges: Floats
    values: Floats
    users: int
    steps: int
    """The number of EM steps; ``STEPS_MOST`` if it did not converge."""
    smooth: bool

    @property
    def mean(self) -> float:
        """The mean, with every bucket's people in its middle."""
        return float(self.values @ (self.edges[1:] + self.edges[:-1]) / 2)

    def quantile(self, share: float) -> float:
        """The value below which this share of the people lies, interpolated within a bucket."""
        wanted = float(probability(share, "share"))
        return float(np.interp(wanted, np.append(0.0, np.cumsum(self.values)), self.edges))

    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        values, edges = plain_floats(self.values), plain_floats(self.edges)
        labels, note = tuple(range(len(values))), SMOOTH if self.smooth else LIKELY
        return (Summary("distribution", labels, values, self.users, edges=edges, biased=True, notes=(note,)),)


def unfolded(
    counts: NDArray[np.int64], window: int, near: float, far: float, *, smooth: bool = True, gain: float = GAIN
) -> tuple[Floats, int]:
    """Estimate the bucket frequencies behind reports of a square wave; also return the number of steps.

    A report from bucket i is each of the cells i … i + window - 1 with probability ``near``, any other with ``far``.
    Without smoothing the steps climb to the most likely frequencies [DLR77].  With it each step ends in a weighted mean
    of neighbouring buckets [SJWN90], which keeps noise from being taken for shape.

    >>> found, steps = unfolded(np.array([0, 500, 0]), 1, 0.8, 0.1, smooth=False)
    >>> found.round(3).tolist()
    [0.0, 1.0, 0.0]
    """
    if counts.sum() < 1:
        raise InvalidParameter("There is nothing to unfold.", fix="Collect some reports first.")
    buckets = counts.size - window + 1
    x = np.full(buckets, 1.0 / buckets)
    expected = _cell_law(x, window, near, far)
    for step in range(1, STEPS_MOST + 1):
        pull = counts / expected
        x *= far * pull.sum() + (near - far) * _windows(pull, window)
        x /= x.sum()
        if smooth:
            x = smoothed(x)
        before, expected = expected, _cell_law(x, window, near, far)
        if counts @ np.log(expected / before) < gain:
            return x, step
    return x, STEPS_MOST


def smoothed(x: Floats) -> Floats:
    """Average each number with its neighbours at weights 1, 2, 1; an end keeps what would leave it.

    >>> smoothed(np.array([0.0, 1.0, 0.0])).tolist(), smoothed(np.array([1.0, 0.0])).tolist()
    ([0.25, 0.5, 0.25], [0.75, 0.25])
    """
    wide = np.pad(x, 1, mode="edge")
    return (wide[:-2] + 2 * x + wide[2:]) / 4


def _cell_law(x: Floats, window: int, near: float, far: float) -> Floats:
    """The probability of each cell if the buckets have these frequencies."""
    return far + (near - far) * _windows(np.pad(x, window - 1), window)


def _windows(x: Floats, window: int) -> Floats:
    """The sums of every ``window`` neighbours."""
    running = np.append(0.0, np.cumsum(x))
    sums: Floats = np.maximum(running[window:] - running[:-window], 0.0)
    return sums
