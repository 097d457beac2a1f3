"""Made-up people for the tests, and an auditor who watches what leaves their devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from curador.local.learn.randomizers import GradientRandomizer
from curador.local.learn.rounds import Round
from tests.exact import Stream

Floats = NDArray[np.float64]


def people(n: int, features: int = 4, seed: int = 1) -> tuple[Floats, Floats]:
    """Features between -1 and 1, and a score that depends on them, with mean 0 and standard deviation 1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, features))
    weights = np.linspace(-1, 1.5, features)
    return X, X @ weights / np.sqrt(np.square(weights).sum() / 3)


def answers(n: int, features: int = 4, seed: int = 1, noise: float = 0.1) -> tuple[Floats, Floats]:
    """Targets between -1 and 1, nearly linear in the features."""
    X, score = people(n, features, seed)
    return X, np.clip(0.3 * score + np.random.default_rng(seed + 1).normal(0, noise, n), -1, 1)


def labels(n: int, features: int = 4, seed: int = 1, sharp: float = 4.0) -> tuple[Floats, NDArray[np.int64]]:
    """Classes 0 and 1, likelier to be 1 as the score rises."""
    X, score = people(n, features, seed)
    chances = 1 / (1 + np.exp(-sharp * score))
    return X, (np.random.default_rng(seed + 1).random(n) < chances).astype(np.int64)


@contextmanager
def watched() -> Iterator[Counter[float]]:
    """What each person has spent, seen at the device's door; people are told apart by their first feature."""
    spent: Counter[float] = Counter()
    report = Round.report

    def seen(self: Round, values: Floats, told: Floats, **options: Any) -> Any:
        for person in values[:, 0].tolist():
            spent[person] += self.randomizer.epsilon  # type: ignore[assignment]
        return report(self, values, told, **options)

    with patch.object(Round, "report", seen):
        yield spent


def breaks_its_word(way: GradientRandomizer, one: Floats, other: Floats, runs: int = 2000, seed: int = 7) -> bool:
    """Whether reports on two vectors show, beyond a chance of 1e-9, that some report is more than e**epsilon likelier.

    Reports are looked at through the signs of what they say about each coordinate: post-processing only hides.
    """
    entropy = Stream(seed)

    def signs(vector: Floats) -> Counter[Any]:
        told = (way.randomize(vector[np.newaxis, :], entropy=entropy) for _ in range(runs))
        return Counter(tuple(np.sign(way.mean(report)).tolist()) for report in told)

    first, second = signs(one), signs(other)
    # If p <= e**epsilon q, then of the reports of this kind a share of at most e**epsilon / (e**epsilon + 1) is p's.
    share = 1 / (1 + np.exp(-float(way.epsilon)))
    kinds = set(first) | set(second)
    sums = [(a[kind], first[kind] + second[kind]) for kind in kinds for a in (first, second)]
    return any(binom.sf(k - 1, n, share) < 1e-9 / len(sums) for k, n in sums)
