"""How often a classifier is right on private rows: two noised counts, charged like any answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import DiscreteLaplaceNoise, Event
from curador.curator.purchases.training import ReadRows
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Ints
from curador.learn.rows.records import RecordReader
from curador.mechanisms.intervals import combined_error
from curador.mechanisms.laplace import IntegerLaplace
from curador.numbers import Number, positive, rational
from curador.privacy import Guarantee, Neighbors, PureDP

Predicts = Callable[[Design], NDArray[np.int32]]
"""The number of the class of each row, each by itself."""


@dataclass(frozen=True)
class ScoreLearner:
    """Counts the rows that a model is right about, and those that it is not.

    Guarantee: a row counts in one of the two, so a unit of m rows moves both together by at most m (2m under replace):
    Laplace noise of that scale on each is epsilon-DP [DMNS06].
    """

    reader: RecordReader | None
    predicts: Predicts
    model: str
    copies: int
    neighbors: Neighbors
    guarantee: Guarantee

    @property
    def noise(self) -> IntegerLaplace:
        """The noise of each count."""
        assert isinstance(self.guarantee, PureDP)
        moved = self.copies * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2)
        return IntegerLaplace(moved, rational(self.guarantee.epsilon), neighbors=self.neighbors)

    @property
    def event(self) -> Event:
        return self.noise.event

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.noise.kind})

    @property
    def code(self) -> Mapping[str, object]:
        return {"learner": "score", "model": self.model, "epsilon": self.noise.event.epsilon}

    def notes(self, rows: int | None) -> Sequence[Mapping[str, Any]]:
        """What will be done."""
        return ({"code": "score-counts", "error": f"{self.noise.error(0.95):,.0f}"},)

    def learn(self, read: ReadRows, progress: Any = None) -> bytes:
        """The two counts of a table's rows, noised; the rows are read some at a time."""
        assert self.reader is not None, "made for records"
        total = np.zeros(2, np.int64)

        def add(design: Design, classes: NDArray[np.int32], values: Ints) -> None:
            nonlocal total
            total += self._counted(design, classes)

        self.reader.each(read, add)
        return self._noised(total)

    def train(self, design: Design, classes: NDArray[np.int32], progress: Any = None) -> bytes:
        """The two counts of encoded rows, noised; rows of no class are left out, each by itself."""
        known = np.flatnonzero(classes >= 0)
        return self._noised(self._counted(design.some(known), classes[known]))

    def _counted(self, design: Design, classes: NDArray[np.int32]) -> Ints:
        right = 0
        for part, piece in design.pieces():
            right += int((self.predicts(piece) == classes[part]).sum())
        return np.array([right, len(design) - right])

    def _noised(self, total: Ints) -> bytes:
        found = self.noise.release(total)
        return json.dumps({"right": int(found[0]), "wrong": int(found[1])}).encode()


@dataclass(frozen=True)
class ModelScore:
    """The share of rows that a classifier is right about, and where it lies, 95 % of the time.

    Of a search it is the score of the best of some ``tries``, so many in the mean, and mostly above the true share: the
    interval is made for that.

    >>> from curador.mechanisms.laplace import IntegerLaplace
    >>> score = ModelScore(8000, 2000, IntegerLaplace(1, "0.1"), "1")
    >>> score.accuracy, [round(x, 3) for x in score.interval()]
    (0.8, [0.798, 0.803])
    """

    right: int
    wrong: int
    noise: IntegerLaplace
    charge: str
    tries: int = 1

    @property
    def accuracy(self) -> float:
        """The noised share; within 0 and 1."""
        rows = max(self.right + self.wrong, 1)
        return min(1.0, max(0.0, self.right / rows))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where the share lies: those for which the noise could be what it would have to be (Fieller).

        How many tries there are does not depend on their noise.  So that one of them misses has a chance of at most
        their mean number times that of one [Wald's equation], and the best is one of them.
        """
        confidence = 1 - (1 - confidence) / self.tries
        shares = np.linspace(0, 1, 2001)
        kept = [
            float(p)
            for p in shares
            if abs(self.right * (1 - p) - self.wrong * p)
            <= combined_error([(1 - float(p), self.noise), (-float(p), self.noise)], confidence)
        ]
        step = float(shares[1])
        return (max(0.0, kept[0] - step), min(1.0, kept[-1] + step)) if kept else (0.0, 1.0)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.accuracy:.2%} ({low:.2%} … {high:.2%})"


def score_from(measurement: bytes, event: Event, charge: str) -> ModelScore | None:
    """The score that a charge bought, from what was measured; None where the event is not that of a score.

    >>> from curador.mechanisms.laplace import IntegerLaplace
    >>> made = score_from(b'{"right": 3, "wrong": 1}', IntegerLaplace(1, 2).event, "7")
    >>> made.accuracy, made.noise == IntegerLaplace(1, 2)
    (0.75, True)
    """
    if not isinstance(event, DiscreteLaplaceNoise):
        return None
    noise, kept = (
        IntegerLaplace(event.sensitivity, scale=event.scale, neighbors=event.neighbors),
        json.loads(measurement),
    )
    return ModelScore(kept["right"], kept["wrong"], noise, charge)


class ChargedAccuracy:
    """A scorer for scikit-learn's searches: how often a classifier is right, bought from its curator each time.

    A search with it is charged for every fit and for every score.  The ones of scikit-learn read private rows for
    nothing, so clones of a model with a curator refuse them.

    >>> ChargedAccuracy("0.1")
    ChargedAccuracy(epsilon=0.1)
    """

    def __init__(self, epsilon: Number) -> None:
        self.epsilon = positive(epsilon, "epsilon")

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """The noised share of rows that a fitted model is right about."""
        score: ModelScore = model.charged_score(X, y, self.epsilon)
        return score.accuracy

    def __repr__(self) -> str:
        return f"ChargedAccuracy(epsilon={float(self.epsilon):g})"
