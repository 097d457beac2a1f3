"""A missing value guessed by what a model says of the rest, of people that it learned from and of others [YGFJ18]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.audit.models.scores import Score, membership_score
from curador.errors import InvalidParameter
from curador.mechanisms.base import checked_confidence


@dataclass(frozen=True)
class AttributeRisk:
    """How often a value was guessed: of members, of others, and without a model.

    ``advantage`` is members less others: what is due to having been learned from.  What others lose too is what the
    model says of everybody, and no privacy of a member (imputation).  ``rows`` says how many of both were guessed.
    """

    members: float
    others: float
    baseline: float
    interval: tuple[float, float]
    confidence: float
    rows: tuple[int, int]

    @property
    def advantage(self) -> float:
        """How much oftener it was guessed of members."""
        return self.members - self.others

    def sentence(self) -> str:
        """In words."""
        low, high = self.interval
        return (
            f"guessed of members {self.members:.1%}, of others {self.others:.1%}, without a model {self.baseline:.1%}; "
            f"advantage {self.advantage:+.1%} ({low:+.1%} … {high:+.1%} at {self.confidence:.0%})"
        )


def attack_attribute(
    model: Any,
    members: tuple[Any, Any],
    others: tuple[Any, Any],
    column: Any,
    values: Sequence[Any],
    *,
    score: Score = membership_score,
    confidence: float = 0.99,
) -> AttributeRisk:
    """Guess a column of rows by a model: of all ``values`` the one with which the model knows the row best.

    ``column`` is a number for arrays, a name for data frames.  The attacker knows all the rest of a row, its label and
    how common each value is, from every second of the others.  Only the rest of them are guessed: of rows that chose
    the likeliest value it would be guessed too often, and the advantage come out too small.

    Guarantee: with ``confidence`` the true advantage of this model and attacker lies in ``interval``: two exact limits
        of binomials [CP34], each at half the error.
    Assumes: others are independent draws from the population, without a part in the model; members are all rows that
        it learned from, or independent draws of them.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.integers(0, 2, (400, 12)).astype(float), rng.integers(0, 2, 400)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
    >>> attack_attribute(tree, (X[:200], y[:200]), (X[200:], y[200:]), 0, [0.0, 1.0]).advantage > 0.1
    True
    """
    if len(values) < 2:
        raise InvalidParameter("There is nothing to guess among.", fix="Give two values or more.")
    if not len(members[0]) or len(others[0]) < 2:
        raise InvalidParameter("There is nobody to guess of.", fix="Give a member, and two others or more.")
    truth = np.asarray(_column(_some(others[0], slice(0, None, 2)), column))
    judged = _some(others[0], slice(1, None, 2)), _some(others[1], slice(1, None, 2))
    common = np.array([np.mean(truth == v) for v in values]) + 1 / (len(truth) + len(values))
    right = [_right(model, *rows, column, values, np.log(common), score) for rows in (members, judged)]
    sizes = len(right[0]), len(right[1])
    lows, highs = zip(*(_limits(int(r.sum()), len(r), confidence) for r in right), strict=True)
    baseline = float(np.mean(np.asarray(_column(members[0], column)) == values[int(np.argmax(common))]))
    interval = lows[0] - highs[1], highs[0] - lows[1]
    return AttributeRisk(float(right[0].mean()), float(right[1].mean()), baseline, interval, confidence, sizes)


def _right(
    model: Any, X: Any, y: Any, column: Any, values: Sequence[Any], common: NDArray[np.float64], score: Score
) -> NDArray[np.bool_]:
    tried = np.stack([score(model, _replaced(X, column, v), y) for v in values], axis=1)
    # A score is the log-odds of the label: what the model says of it, given the value, times how common the value is.
    chances = -np.logaddexp(0.0, -tried) + common
    best = np.array(values, dtype=object)[chances.argmax(axis=1)]
    return np.asarray(best == np.asarray(_column(X, column), dtype=object), bool)


def _some(rows: Any, where: slice) -> Any:
    if rows is None:  # a model without labels
        return None
    return rows.iloc[where] if hasattr(rows, "iloc") else np.asarray(rows)[where]


def _column(X: Any, column: Any) -> Any:
    return X[column].to_numpy() if hasattr(X, "iloc") else np.asarray(X)[:, column]


def _replaced(X: Any, column: Any, value: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.assign(**{column: value})
    changed = np.array(X)
    changed[:, column] = value
    return changed


def _limits(right: int, of: int, confidence: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    miss = (1 - checked_confidence(confidence)) / 4
    low = float(betaincinv(right, of - right + 1, miss)) if right else 0.0
    high = 1 - float(betaincinv(of - right, right + 1, miss)) if right < of else 1.0
    return low, high
