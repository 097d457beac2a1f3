"""Scores so far below the best that their distance is clamped: later choices and stated errors must not suffer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.mechanisms import selection
from curador.mechanisms.selection import (
    FARTHEST,
    ExponentialMechanism,
    PermuteAndFlip,
    ReportNoisyMax,
    Selection,
    TopK,
)
from tests.mechanisms.branches import MP, TINY, Law, law, real

FINE = "1.099511627773"
"""A sensitivity of almost 2**40 steps: 2**21 of it are as far as gaps go."""


def law_of(mechanism: Any, scores: Any) -> Law:
    return law(lambda: tuple(mechanism.release(scores)), selection, 0)


@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, object), lambda x: np.array(x, np.float64)])
@pytest.mark.parametrize(
    ("sensitivity", "scores"),
    [
        (1, [3_000_000_000, 700_000_000, 699_999_999, 12]),
        (1, [3, 2**40, 2**33 + 1, 2**33]),
        (FINE, [5_000_000, 0, 2, 3]),
        (FINE, [12_000_000, 0, 6_000_000, 3]),  # far below the best, and the next far below the second
    ],
)
def test_each_choice_of_several_is_exponential_among_those_left(sensitivity: Any, scores: Any, kind: Any) -> None:
    mechanism = TopK(3, sensitivity, 3, monotonic=True)
    rate = 1 / Fraction(sensitivity)
    found = law_of(mechanism, kind(scores))
    for picked, chance in found.items():
        left, wanted = list(range(len(scores))), real(1)
        for place in picked:
            best = max(scores[i] for i in left)
            weights = {i: MP.exp(-real(rate * (best - scores[i]))) for i in left}
            wanted *= weights[place] / sum(weights.values())
            left.remove(place)
        assert abs(chance - wanted) <= TINY


def test_the_usual_scores_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("measured again")

    monkeypatch.setattr(selection.ScoreGrid, "floor", refuse)
    assert TopK(3, 1, 10**6).release(np.array([5, 2**30, 2**20, 0])) == [1, 2, 0]


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_an_error_that_would_reach_the_clamp_is_infinite(kind: type[Selection]) -> None:
    assert kind(FINE, "1e-6").error(2, 0.95) == math.inf
    assert kind(1, "1e-10").error(2, 0.95) == math.inf
    assert TopK(2, FINE, "1e-6").error(3, 0.95) == math.inf
    assert kind(1, "1e-10").error(1, 0.95) < 1e-8  # the only candidate is chosen whatever epsilon is


def test_noise_that_would_reach_the_clamp_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="does not fit"):
        ReportNoisyMax(FINE, "1e-6")


def test_an_error_below_the_clamp_is_attained_where_it_says() -> None:
    mechanism = ExponentialMechanism(FINE, "4e-6")
    stated = mechanism.error(2, 0.95)
    assert FARTHEST / 2 < stated / float(mechanism.grid.step) < FARTHEST
    assert mechanism.probabilities([stated * 10, 0])[1] <= 0.05
