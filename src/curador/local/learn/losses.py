"""Convex losses of the score x·β and the answer y, and their slopes in the score.

The gradient in β is the slope times x, so a device needs to know nothing else about a model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from curador.local.task.limits import Floats


class Loss(ABC):
    """A convex loss of one person's score and answer."""

    @abstractmethod
    def value(self, scores: Floats, answers: Floats) -> Floats:
        """The loss of each person."""

    @abstractmethod
    def slope(self, scores: Floats, answers: Floats) -> Floats:
        """The derivative of the loss in the score; at a corner, one of its subgradients."""

    def gradients(self, beta: Floats, rows: Floats, answers: Floats) -> Floats:
        """The gradient in beta of each row.

        >>> Squared().gradients(np.array([0.5, 0.0]), np.array([[1.0, 1.0]]), np.array([1.0]))
        array([[-1., -1.]])
        """
        return self.slope(rows @ beta, answers)[:, np.newaxis] * rows


@dataclass(frozen=True)
class Squared(Loss):
    """(x·β - y)**2, of linear regression.

    >>> Squared().slope(np.array([2.0]), np.array([-1.0]))
    array([6.])
    """

    def value(self, scores: Floats, answers: Floats) -> Floats:
        return np.square(scores - answers)

    def slope(self, scores: Floats, answers: Floats) -> Floats:
        return 2 * (scores - answers)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y x·β)) for y = -1 or 1, of logistic regression.

    >>> Logistic().slope(np.array([0.0, 800.0, -800.0]), np.array([1.0, 1.0, 1.0]))
    array([-0.5, -0. , -1. ])
    """

    def value(self, scores: Floats, answers: Floats) -> Floats:
        return np.logaddexp(0.0, -answers * scores)

    def slope(self, scores: Floats, answers: Floats) -> Floats:
        return -answers * chance(-answers * scores)


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y x·β) for y = -1 or 1, of the support vector machine.

    >>> Hinge().slope(np.array([0.0, 2.0, -3.0]), np.array([1.0, 1.0, -1.0])).tolist()
    [-1.0, -0.0, 0.0]
    """

    def value(self, scores: Floats, answers: Floats) -> Floats:
        return np.maximum(0.0, 1 - answers * scores)

    def slope(self, scores: Floats, answers: Floats) -> Floats:
        return -answers * (answers * scores < 1)


LOSSES: Mapping[str, type[Loss]] = {"squared": Squared, "logistic": Logistic, "hinge": Hinge}


def chance(scores: Floats) -> Floats:
    """1 / (1 + exp(-score)), without overflow on either side.

    >>> chance(np.array([-800.0, 0.0, 800.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(scores))
    return np.asarray(np.where(scores >= 0, 1.0, small) / (1 + small))
