"""How often a classifier is right on private rows: two noised counts, charged like any answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import DiscreteLaplaceNoise, Event
from curador.curator.purchases.training import ReadRows
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Floats, Ints
from curador.learn.rows.records import RecordReader
from curador.mechanisms.base import checked_confidence
from curador.mechanisms.intervals import combined_error
from curador.mechanisms.laplace import IntegerLaplace
from curador.numbers import Number, positive, rational
from curador.privacy import Guarantee, Neighbors, PureDP
from curador.show.tables import percents

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
    (0.8, [0.798, 0.802])
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
        """Where the share lies: the shares for which the noise could be what it would have to be (Fieller).

        Guarantee: covers at least this often (docs/proofs/learn.md, 7).  Of a search with several tries, each interval
            misses at most its share of the misses [Wald's equation].
        """
        miss = (1 - checked_confidence(confidence)) / self.tries
        above_zero = max(self.right, 0), max(self.wrong, 0)
        if not any(above_zero):
            return 0.0, 1.0
        # Noise below zero says that a class of rows is small.  Where it is so far below that no share explains it,
        # it is read as zero, which every share explains better.
        for right, wrong in ((self.right, self.wrong), above_zero):
            kept = partial(self._kept, right, wrong, miss)
            if kept(best := min(1.0, max(0.0, right / max(right + wrong, 1)))):
                return _end(kept, best, 0.0), _end(kept, best, 1.0)
        raise AssertionError("a share at which the noise would be zero is kept")

    def _kept(self, right: int, wrong: int, miss: float, share: float) -> bool:
        """Whether the noise is this large at least as often as ``miss``, if this is the share."""
        off = abs((1 - share) * right - share * wrong)
        if min(right, wrong) < 0:  # here only the bound of continuous noise is known to be convex in the share
            return off <= combined_error([(1 - share, self.noise), (-share, self.noise)], 1 - miss)
        scale = float(self.noise.scale)
        rounding = 2.0**-45 * (right + wrong + 64 * scale)
        return 2 * (_tail(share, off - rounding, scale) + _beyond(right + wrong, scale)) >= miss

    def texts(self) -> tuple[str, str, str]:
        """The share and the ends of its interval in percent, with as many digits as the interval allows."""
        return percents(self.accuracy, *self.interval())

    def __str__(self) -> str:
        share, low, high = self.texts()
        return f"{share} ({low} … {high})"


def _end(kept: Callable[[float], bool], inside: float, outside: float) -> float:
    """The end of an interval, by bisection: a share that is not kept, or the outermost one."""
    if kept(outside):
        return outside
    while abs(inside - outside) > 2.0**-50:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if kept(middle) else (inside, middle)
    return outside


def _tail(share: float, least: float, scale: float) -> float:
    """How often (1 - share) X - share Y is at least this, for X and Y of integer Laplace noise; at least that often.

    A sum over the noise with the smaller weight, in pieces of at most 1/128 of the scale.

    >>> q = math.exp(-1)
    >>> round(_tail(1.0, 2.0, 1.0), 6), round(q**2 / (1 + q), 6)
    (0.098938, 0.098938)
    """
    small, large = min(share, 1 - share), max(share, 1 - share)
    piece = max(1, int(scale / 128))
    most = piece * math.ceil((40 * scale + 1) / piece)
    starts = np.arange(-most, most, piece, dtype=np.float64)
    ends = _reaches(np.append(starts, float(most)), scale)
    needed = np.ceil((least - small * (starts + (piece - 1))) / large - 2.0**-40)
    found = ((ends[:-1] - ends[1:]) * _reaches(needed, scale)).sum() + 2 * ends[-1]
    return float(found)


def _beyond(rows: int, scale: float) -> float:
    """At least the chance of all noise beyond two counts of so many rows that leaves their share as it is."""
    q = math.exp(-1 / scale)
    return -math.expm1(-1 / scale) * q / (1 + q) ** 2 * math.exp(-rows / scale)


def _reaches(least: Floats, scale: float) -> Floats:
    """How often integer Laplace noise of this scale is at least each of these whole numbers."""
    whole = 1 + math.exp(-1 / scale)
    half = np.exp(-np.abs(least - 0.5) / scale) * (math.exp(-0.5 / scale) / whole)
    return np.asarray(np.where(least > 0, half, 1 - half))


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

    A search with it is charged for every fit and for every score, which its model allows by ``in_search=True``.  The
    scorers of scikit-learn read private rows for nothing, so copies of a model with a curator refuse them.

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
