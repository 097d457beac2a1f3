"""True against false alarms of an attack, and the most that a guarantee allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from curador.audit.models.canaries import epsilon_and_delta
from curador.privacy import Guarantee


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Shares of members found (``tpr``) at each share of others taken for members (``fpr``).

    >>> curve = RocCurve.of(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False]))
    >>> curve.auc, curve.at(0.5)
    (0.75, 1.0)
    """

    fpr: NDArray[np.float64] = field(repr=False)
    tpr: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(cls, scores: NDArray[np.float64], inside: NDArray[np.bool_]) -> RocCurve:
        """The curve of scores; equal scores are one step."""
        order = np.argsort(-scores, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
        yes, no = np.cumsum(inside[order]), np.cumsum(~inside[order])
        tpr, fpr = yes[ends] / max(1, yes[-1]), no[ends] / max(1, no[-1])
        return cls(np.append(0.0, fpr), np.append(0.0, tpr))

    @property
    def auc(self) -> float:
        """The area under it: the chance that a member scores above another; 0.5 is a coin."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def at(self, fpr: float) -> float:
        """The share of members found with at most this share of false alarms."""
        return float(self.tpr[np.searchsorted(self.fpr, fpr, side="right") - 1])


def ceiling_at(claim: Guarantee | None, fpr: float) -> float:
    """The largest share of members that any attack finds at this share of false alarms, under a guarantee [KOV15].

    >>> from curador.privacy import PureDP
    >>> round(ceiling_at(PureDP(1), 0.01), 4), ceiling_at(None, 0.01)
    (0.0272, 1.0)
    """
    epsilon, delta = epsilon_and_delta(claim)
    if math.isinf(epsilon):
        return 1.0
    return min(1.0, math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr))


def ceiling_auc(claim: Guarantee | None) -> float:
    """The largest area under the curve of any attack, under a guarantee.

    >>> from curador.privacy import PureDP
    >>> [round(ceiling_auc(PureDP(e)), 3) for e in (0.1, 1, 10)]
    [0.525, 0.731, 1.0]
    """
    epsilon, delta = epsilon_and_delta(claim)
    if math.isinf(epsilon):
        return 1.0
    # The curve has two straight pieces, meeting where fpr = (1 - delta) / (1 + e**epsilon), and then 1.
    meet = (1 - delta) / (1 + math.exp(epsilon))
    top = math.exp(epsilon) * meet + delta
    return min(1.0, meet * (delta + top) / 2 + (1 - delta - meet) * (top + 1) / 2 + delta)
