"""Statistical tests with their error rates stated: chi-square against a claimed law and against wrong ones.

One call of :func:`check` raises a false alarm with a chance of at most about 1e-9: 1e-10 for rejecting the claimed law
(up to ten times that, because the chi-square law is only approximate so far in its tail; every bin expects at least
a thousand samples) and, for each wrong law, at most 1e-10 for failing to reject it, which is asserted, not hoped.
So a suite of a few hundred calls stays below one false alarm in a million runs, and the power against every wrong
law named is above 1 - 1e-10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 1e-10
LEAST_EXPECTED = 1000

Floats = NDArray[np.float64]
Cdf = Callable[[Floats], Floats]
"""P(X <= x) as a function of an array of x."""


def critical(bins: int) -> float:
    """Where the chi-square test of this many bins rejects."""
    return float(stats.chi2.isf(LEVEL, bins - 1))


def statistic(counts: NDArray[np.int64], chances: Floats) -> float:
    expected = counts.sum() * chances
    return float(((counts - expected) ** 2 / expected).sum())


def miss(n: int, true: Floats, wrong: Floats) -> float:
    """A bound on the chance that n samples of ``true`` pass the chi-square test against ``wrong``.

    The statistic is at least n times the squared l1 distance of frequencies and ``wrong`` (Cauchy-Schwarz).  So passing
    needs frequencies at least t = |true - wrong| - sqrt(critical / n) away from ``true`` in l1, that is some set of
    bins t/2 above its chance: at most exp(-n t**2 / 2) for each of 2**bins sets, by Hoeffding's inequality.
    """
    t = float(np.abs(true - wrong).sum()) - np.sqrt(critical(true.size) / n)
    return float(2.0**true.size * np.exp(-n * t * t / 2)) if t > 0 else 1.0


def check(counts: NDArray[np.int64], claimed: Floats, wrong: Mapping[str, Floats]) -> None:
    """Assert that counts fit the claimed law and fit none of the wrong ones, at the same level."""
    n = int(counts.sum())
    assert abs(claimed.sum() - 1) < 1e-9
    assert n * claimed.min() >= LEAST_EXPECTED, f"too few samples for bins of {claimed.min():.1e}"
    assert statistic(counts, claimed) < critical(claimed.size), f"not the claimed law: {counts} for {n * claimed}"
    for name, law in wrong.items():
        assert miss(n, claimed, law) <= LEVEL, f"{n} samples cannot tell {name}: miss {miss(n, claimed, law):.1e}"
        assert statistic(counts, law) >= critical(claimed.size), f"not told from {name}"


def bin_edges(cdf: Cdf, candidates: Floats, bins: int) -> Floats:
    """Upper ends of about ``bins`` bins of equal chance, chosen from the candidates (ascending)."""
    at = np.searchsorted(cdf(candidates), np.arange(1, bins) / bins)
    return np.unique(candidates[np.minimum(at, candidates.size - 1)])


def chances(cdf: Cdf, edges: Floats) -> Floats:
    """The chance of each bin: up to the first edge, between edges, beyond the last."""
    return np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))


def check_samples(
    samples: NDArray[np.int64] | Floats, cdf: Callable[[float], Cdf], candidates: Sequence[float] | Floats, bins: int
) -> None:
    """Assert that samples have the law ``cdf(1.0)`` and neither that with its scale times 0.9 nor times 1.1."""
    edges = bin_edges(cdf(1.0), np.asarray(candidates, np.float64), bins)
    counts = np.bincount(np.searchsorted(edges, samples, side="left"), minlength=edges.size + 1)
    wrong = {f"scale times {factor}": chances(cdf(factor), edges) for factor in (0.9, 1.1)}
    check(counts, chances(cdf(1.0), edges), wrong)
