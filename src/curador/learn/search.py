"""The best of several settings by private selection: some are tried, a random number of times, and one is shown.

A search that shows all its scores pays for all of them.  Here each try draws one of the candidates, fits it, and counts
with noise how often it is right; after each try a coin says whether it was the last; and of all tries only the best is
released, with its score.  That costs about two to three tries, however many there are [LT19, PS22].
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from curador.accounting.calibration import keeps
from curador.accounting.events import Event, compose
from curador.accounting.theorems import RepeatAndSelect
from curador.curator.purchase import Bought
from curador.curator.purchases.training import Learner, ReadRows, Records, TrainingRun, budget_of
from curador.errors import InvalidParameter
from curador.learn.models.classifier import PrivateClassifier, in_order
from curador.learn.rows.encoding import Encoding
from curador.learn.rows.records import RecordReader, encoding_of
from curador.learn.score import ModelScore
from curador.learn.spent import ModelPrivacy
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.noise import SYSTEM, Entropy
from curador.noise.coins import bernoulli, uniform_below
from curador.numbers import Number, sqrt_up, whole
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP

SHARE = Fraction(1, 10)
"""What the score of a try gets of its rho; the rest is its fit's."""

MOST_TRIES = 1000
"""The largest mean number of tries."""

HALVINGS = 7
"""How often the rho of a try is narrowed down, from a factor of 4 or so: to about one per cent."""


def one_try(rho: Fraction, moved: int, neighbors: Neighbors) -> Event:
    """What one try is, at most: a Gaussian release that any fit of its rho is no worse than, and two noised counts.

    A fit at rho is made of Gaussian releases whose squared ratios add up to 2 rho, and so is dominated by one Gaussian
    [DRS22].  Which candidate is drawn does not depend on the data.
    """
    fitted = Gaussian(1, sigma=1 / sqrt_up(2 * rho * (1 - SHARE)), neighbors=neighbors)
    return compose(fitted.event, score_noise(rho, moved, neighbors).event)


def score_noise(rho: Fraction, moved: int, neighbors: Neighbors) -> IntegerLaplace:
    """The noise of each of the two counts of a try: an epsilon of which the rho is epsilon**2 / 2."""
    return IntegerLaplace(moved, 1 / sqrt_up(1 / (2 * rho * SHARE)), neighbors=neighbors)


@lru_cache(maxsize=64)
def rho_of_try(guarantee: Guarantee, runs: int, moved: int, neighbors: Neighbors) -> Fraction:
    """The largest rho of a try for which the best of a geometric number of tries, ``runs`` in the mean, is promised."""

    def good(rho: Fraction) -> bool:
        return keeps(RepeatAndSelect(one_try(rho, moved, neighbors), Fraction(1), Fraction(1, runs)), guarantee)

    high = _above(guarantee)
    while good(high):
        high *= 2
    low = high / 4
    while not good(low):
        low, high = low / 4, low
        if high < Fraction(1, 1 << 60):
            raise InvalidParameter("This guarantee is too small for a search.", fix="Give a larger one.")
    for _ in range(HALVINGS):
        middle = high * Fraction(round(math.sqrt(low / high) * 2**20), 2**20)
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def _above(guarantee: Guarantee) -> Fraction:
    """About the rho that a guarantee allows without any selection: where to look from."""
    assert isinstance(guarantee, ApproxDP)
    far = -math.log(guarantee.delta)
    return Fraction((math.sqrt(far + guarantee.epsilon) - math.sqrt(far)) ** 2).limit_denominator(1 << 40)


@dataclass(frozen=True)
class SearchLearner:
    """Tries candidates and keeps the best: settings and declarations, no data.

    Guarantee: the number of tries is geometric, each try keeps :func:`one_try`, and of all outcomes the largest is
    released, in an order that is fixed: [LT19 Theorem 3.4, PS22 Theorem 2].
    """

    reader: RecordReader
    encoding: Encoding
    candidates: tuple[PrivateClassifier, ...]
    learners: tuple[Any, ...]
    runs: int
    rho: Fraction
    moved: int
    neighbors: Neighbors
    guarantee: Guarantee

    @property
    def event(self) -> Event:
        return RepeatAndSelect(one_try(self.rho, self.moved, self.neighbors), Fraction(1), Fraction(1, self.runs))

    @property
    def noise(self) -> IntegerLaplace:
        """The noise of each count."""
        return score_noise(self.rho, self.moved, self.neighbors)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.noise.kind}).union(*(one.kinds for one in self.learners))

    @property
    def code(self) -> Mapping[str, object]:
        tried = [{"model": type(m).__name__, **one.code} for m, one in zip(self.candidates, self.learners, strict=True)]
        return {"learner": "search", "runs": self.runs, "rho": self.rho, "candidates": tried}

    def notes(self, rows: int | None) -> Sequence[Mapping[str, Any]]:
        """What will be done."""
        return (
            {
                "code": "fit-search",
                "candidates": len(self.candidates),
                "runs": self.runs,
                "rho": f"{float(self.rho):.3g}",
            },
            {"code": "score-counts", "error": f"{self.noise.error(0.95):,.0f}"},
        )

    def learn(self, read: ReadRows, progress: Any = None, entropy: Entropy = SYSTEM) -> bytes:
        """Try until a coin says stop.  How many tries there were is told to nobody, so no progress is."""
        design, keys, _ = self.reader.read(read)
        (label,) = (c for c in self.reader.columns if c.name == self.reader.label)
        labels = in_order(label.keys or ())[keys]
        best: tuple[int, int, bytes] | None = None
        kept: dict[str, Any] = {}
        last = False
        while not last:
            place = uniform_below(len(self.candidates), entropy)
            model, learner = clone(self.candidates[place]), self.learners[place]
            content = learner.train(design, labels, entropy)
            model._settle(learner, content, True)
            right = 0
            for part, piece in design.pieces():
                right += int((model._predicts()(piece) == labels[part]).sum())
            found = self.noise.release(np.array([right, len(design) - right]), entropy=entropy)
            order = (int(found[0]) - int(found[1]), -place, content)  # of any two outcomes one is the larger
            if best is None or order > best:
                best = order
                kept = {"candidate": place, "model": content.decode(), "right": int(found[0]), "wrong": int(found[1])}
            last = bernoulli(Fraction(1, self.runs), entropy)
        return json.dumps(kept).encode()


class PrivateSearch:
    """The best of several classifiers on a table, chosen by private selection and paid for once.

    ``candidates`` are classifiers of :mod:`curador.learn` without a guarantee of their own; ``runs`` is how many tries
    there are in the mean, each of a candidate drawn at random: about twice as many as candidates is a good number.  The
    guarantee is ``epsilon`` with ``delta``.  Fit it with ``curator.fit``: then ``best_model_`` is the
    model, ``best_candidate_`` its place among the candidates, and ``best_score_`` its noised score on the same rows,
    which is mostly too good, being the best of several; its interval holds all the same.

    Guarantee: what is said in ``privacy_``, for the model, its place and its score together (docs/proofs/learn.md, 6).
    Assumes: how long it takes is not seen: it depends on the number of tries.
    Fails: DP-SGD has no rho, and is no candidate.  The search has none either: the divergences of a best of several do
        not go to 0 with the order, as those of a rho do.  So ``rho`` is refused, and a ledger in rho pays for none.

    >>> from curador.learn import LinearSVC, LogisticRegression
    >>> PrivateSearch([LogisticRegression(clip=1), LinearSVC()], epsilon=1, delta=1e-5, runs=4).runs
    4
    """

    def __init__(
        self,
        candidates: Sequence[PrivateClassifier],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        runs: int = 8,
    ) -> None:
        self.candidates, self.runs = tuple(candidates), whole(runs, "runs", 2)
        self.guarantee = budget_of(epsilon, delta, rho)
        if isinstance(self.guarantee, ZCDP):
            raise InvalidParameter("The best of several tries has no rho.", fix="Give epsilon and delta.")
        if not self.candidates or not all(isinstance(one, PrivateClassifier) for one in self.candidates):
            raise InvalidParameter("Candidates are classifiers of curador.learn.", fix="Give one at least.")
        if any(x is not None for one in self.candidates for x in (one.epsilon, one.delta, one.rho)):
            raise InvalidParameter("A candidate has a guarantee of its own.", fix="Leave it out: the search has one.")
        if any(one.curator is not None for one in self.candidates):
            raise InvalidParameter("A candidate has a curator.", fix="Leave it out, and use curator.fit(search, …).")
        if self.runs > MOST_TRIES:
            raise InvalidParameter(f"More than {MOST_TRIES:,} tries.", fix="Use fewer.")

    def keyed(self, names: Sequence[str], label: str | None) -> Mapping[str, Sequence[Any]]:
        """Which columns of a table are read as keys: those of the candidates, which have to agree."""
        found = [one.keyed(names, label) for one in self.candidates]
        if any(one != found[0] for one in found):
            raise InvalidParameter("Candidates differ in their keys or classes.", fix="Declare the same in all.")
        return found[0]

    def learner(self, records: Records, label: str | None) -> Learner:
        """What will be done with records of a table."""
        if label is None:
            raise InvalidParameter("A search is for classifiers.", fix="Give label=, a column with keys.")
        if isinstance(self.guarantee, PureDP) or (isinstance(self.guarantee, ApproxDP) and not self.guarantee.delta):
            raise InvalidParameter(
                "Its tries have Gaussian noise, which an epsilon alone does not pay for.",
                fix="Give epsilon and delta.",
                code="model-needs-delta",
            )
        neighbors = records.rows.table.neighbors
        moved = records.limit * (1 if neighbors is Neighbors.ADD_REMOVE else 2)
        made = [clone(one).set_params(rho=Fraction(1)) for one in self.candidates]
        for one in made:
            one.learner(records, label)  # refused before the search for its noise, which takes a while
        rho = rho_of_try(self.guarantee, self.runs, moved, neighbors)
        made = [one.set_params(rho=rho * (1 - SHARE)) for one in made]
        reader = RecordReader(records.columns, label)
        learners = tuple(one.learner(records, label) for one in made)
        for one in learners:
            assert isinstance(one.guarantee, ZCDP), "a fit at a rho"
        return SearchLearner(
            reader,
            encoding_of(records, label),
            tuple(made),
            learners,
            self.runs,
            rho,
            moved,
            neighbors,
            self.guarantee,
        )

    def take(self, run: TrainingRun, bought: Bought) -> Self:
        """Become what was bought."""
        assert isinstance(run.learner, SearchLearner)
        found, learner = json.loads(bought.measurement), run.learner
        place = int(found["candidate"])
        unit, charge = run.records.rows.table.unit.id, str(bought.charge.id)
        self.privacy_ = ModelPrivacy(run.guarantee, run.event, run.neighbors, unit, charge)
        self.best_candidate_ = place
        self.best_model_ = clone(learner.candidates[place])
        self.best_model_._settle(learner.learners[place], found["model"].encode(), True)
        self.best_model_.privacy_ = self.privacy_
        self.best_score_ = ModelScore(found["right"], found["wrong"], learner.noise, charge, learner.runs)
        return self
