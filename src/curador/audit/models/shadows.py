"""Membership by likelihood ratio: shadow models say how a score is with a row and without it [CCNSTT22]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.audit.finding import Finding
from curador.audit.models.canaries import Fit, finding_of
from curador.audit.models.curves import RocCurve, ceiling_at, ceiling_auc
from curador.audit.models.scores import Score, membership_score, some_rows
from curador.errors import InvalidParameter
from curador.numbers import whole
from curador.privacy import Guarantee

LOW = (0.001, 0.01, 0.1)
"""Shares of false alarms at which found members are told."""


@dataclass(frozen=True, eq=False)
class MembershipRisk:
    """What an attack with shadow models found: its curve, and the epsilon that it proves."""

    curve: RocCurve
    finding: Finding
    targets: int
    shadows: int
    rows: int

    @property
    def auc(self) -> float:
        """The area under the curve; 0.5 is a coin."""
        return self.curve.auc

    def to_dict(self) -> dict[str, object]:
        """Plain values, with the curve on a hundred points, for a report or a plot."""
        grid = np.concatenate([np.logspace(-4, -1, 31), np.linspace(0.11, 1, 90)])
        claim = self.finding.claim
        return {
            "auc": self.auc,
            "ceiling_auc": ceiling_auc(claim),
            "tpr": {str(x): self.curve.at(x) for x in LOW},
            "ceiling_tpr": {str(x): ceiling_at(claim, x) for x in LOW},
            "floor": self.finding.floor,
            "confidence": self.finding.confidence,
            "targets": self.targets,
            "shadows": self.shadows,
            "rows": self.rows,
            "roc": {"fpr": grid.tolist(), "tpr": [self.curve.at(float(x)) for x in grid]},
        }

    def sentence(self) -> str:
        """In words; never that a model is safe."""
        found = ", ".join(f"{self.curve.at(x):.2%} at {x:.1%} false alarms" for x in LOW[1:])
        return f"AUC {self.auc:.3f} (a coin: 0.5), members found: {found}; {self.finding.sentence()}"


def attack_membership(
    fit: Fit,
    X: Any,
    y: Any,
    *,
    claim: Guarantee | None = None,
    shadows: int = 64,
    targets: int = 8,
    score: Score = membership_score,
    confidence: float = 0.99,
    seed: int | None = None,
    subject: str = "a model",
) -> MembershipRisk:
    """Attack the members of a model: it is fitted to a random half of the rows, and shadow models to other halves.

    Each shadow says how a row scores where it is in and where it is out; the score of a target is held against both.

    Guarantee: the floor holds as that of canaries does, each row's coin in each target being its own [SNJ23].
    Assumes: rows are independent enough that one row's coin changes one score; the area and the shares found are what
        this attack reached, no bound on others.

    >>> rng = np.random.default_rng(0)
    >>> class Mean:
    ...     def __init__(self, rows): self.rows = rows
    ...     def transform(self, X): return np.abs(X - self.rows.mean(axis=0)).sum(axis=1, keepdims=True)
    >>> risk = attack_membership(lambda X, y: Mean(X), rng.normal(size=(40, 60)), None, shadows=16, targets=4, seed=1)
    >>> risk.auc > 0.6, risk.targets
    (True, 4)
    """
    if whole(shadows, "shadows") < 8:
        raise InvalidParameter("Fewer than 8 shadow models say nothing.", fix="Train 16 or more.")
    rng = np.random.default_rng(seed)
    rows, count = len(X), shadows + whole(targets, "targets", 1)
    inside = rng.random((count, rows)) < 0.5
    found = np.empty((count, rows))
    for i, coins in enumerate(inside):
        labels = None if y is None else some_rows(y, coins)
        found[i] = score(fit(some_rows(X, coins), labels), X, y)
    ratio = _ratio(found[:shadows], inside[:shadows], found[shadows:])
    members = inside[shadows:].reshape(-1)
    scores = ratio.reshape(-1)
    finding = finding_of(subject, scores, members, claim, confidence, "likelihood ratio", shadows=shadows)
    return MembershipRisk(RocCurve.of(scores, members), finding, targets, shadows, rows)


def _ratio(found: NDArray[np.float64], inside: NDArray[np.bool_], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much likelier each score of a target is with the row than without it, by normal laws of one spread a row.

    One spread for both, and for few shadows mostly that of all rows: fitting more would fit noise [CCNSTT22].
    """
    with_row, without = (_mean(found, side) for side in (inside, ~inside))
    centred = found - np.where(inside, with_row, without)
    own = (centred**2).mean(axis=0)
    weight = len(found) / (len(found) + 64)
    spread = np.maximum(weight * own + (1 - weight) * own.mean(), 1e-12)
    return np.asarray(((target - without) ** 2 - (target - with_row) ** 2) / (2 * spread))


def _mean(found: NDArray[np.float64], side: NDArray[np.bool_]) -> NDArray[np.float64]:
    number = side.sum(axis=0)
    total = np.where(side, found, 0).sum(axis=0)
    return np.asarray(np.where(number > 0, total / np.maximum(number, 1), found.mean(axis=0)))
