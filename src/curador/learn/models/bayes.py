"""Naive Bayes: numbers by bell curves, keys by their counts, from sums by class with one noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.curator.curator import Curator
from curador.curator.purchases.training import ReadRows, RecordColumn
from curador.errors import InvalidParameter
from curador.learn.madeup import ROWS, made_up, tried_on
from curador.learn.models.classifier import PrivateClassifier, in_order, not_fitted, require_numbers
from curador.learn.rows.declared import Bounds, Keys
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints, require_few
from curador.learn.rows.records import RecordReader
from curador.learn.score import Predicts
from curador.learn.sums.classes import ClassSums, coded
from curador.learn.sums.inside import inside
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, whole
from curador.privacy import ZCDP, Guarantee, Neighbors
from curador.show.tables import percent

NARROWEST = 2.0**-20
"""The least variance of a number between -1 and 1: that of its grid."""

LEAST_PART = 0.1
"""The least variance of a number within a class, as a part of its variance in all rows.

A number that piles up at one value has hardly any in some class: its bell curve then outweighs everything else, and the
more so, the less noise there is.
"""


@dataclass(frozen=True)
class BayesLearner:
    """Measures sums by class: settings and declarations, no data."""

    reader: RecordReader | None
    encoding: Encoding
    classes: tuple[Any, ...]
    sums: ClassSums
    guarantee: Guarantee

    @property
    def event(self) -> Event:
        return self.sums.noise.event

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.sums.noise.kind})

    @property
    def code(self) -> Mapping[str, object]:
        return {
            "learner": "class-sums",
            "classes": len(self.classes),
            "bins": self.sums.bins,
            "noise": self.sums.noise.kind,
            "event": self.event.to_json(),
        }

    def notes(self, rows: int | None) -> list[dict[str, Any]]:
        """What will be done."""
        sums, noise = self.sums.width * len(self.classes), self.sums.noise.variance**0.5 / SCALE
        said: dict[str, Any] = {"code": "fit-class-sums", "classes": len(self.classes), "sums": sums}
        said["noise"] = f"{noise:.3g}"
        number = tried_on(rows or ROWS, 100 * len(self.classes) * (len(self.encoding.features) + 1))
        if not number:
            return [said]
        design, labels = made_up(self.encoding, number, len(self.classes))
        right = [percent(one._right(design, labels)) for one in (self, self.plain())]
        return [said, {"code": "fit-made-up", "rows": f"{number:,}", "noised": right[0], "plain": right[1]}]

    def plain(self) -> BayesLearner:
        """The same with next to no noise, for rows that are not private."""
        return replace(self, sums=replace(self.sums, guarantee=ZCDP(10**6)))

    def _right(self, design: Design, labels: NDArray[np.int32]) -> float:
        """How much a model of these rows is right about them."""
        model = GaussianNB()
        model._become(self, self.train(design, labels))
        return float((model._joint(design).argmax(axis=1) == labels).mean())

    def learn(self, read: ReadRows, progress: Any = None) -> bytes:
        """Learn from the records of a table: summed inside its engine, or some at a time."""
        assert self.reader is not None, "made for records"
        (label,) = (c for c in self.reader.columns if c.name == self.reader.label)
        place = in_order(label.keys or ())
        if (there := inside(read, self.reader)) is not None:
            return self._noised(there.by_label(self.sums)[np.argsort(place)], SYSTEM)
        exact = np.zeros((len(self.classes), self.sums.width), np.int64)

        def add(design: Design, classes: NDArray[np.int32], values: Ints) -> None:
            nonlocal exact
            exact += self.sums.exact(design, place[classes])

        self.reader.each(read, add)
        return self._noised(exact, SYSTEM)

    def train(
        self, design: Design, classes: NDArray[np.int32], entropy: Entropy = SYSTEM, progress: Any = None
    ) -> bytes:
        """Learn from encoded rows; those of no class are left out, each by itself."""
        return self._noised(self.sums.exact(design, classes), entropy)

    def _noised(self, exact: Ints, entropy: Entropy) -> bytes:
        noisy = np.asarray(self.sums.noise.release(exact, entropy=entropy))
        return json.dumps({"sums": noisy.tolist()}).encode()


class GaussianNB(PrivateClassifier):
    """Naive Bayes, learned with differential privacy: numbers by bell curves, keys by their counts.

    The guarantee is ``epsilon`` alone, ``epsilon`` with ``delta``, or ``rho``; the noise is Laplace's or Gauss's,
    whichever is less.  From a table: ``curator.fit(model, "adult", features=[…], label="income")``, where bounds, keys
    and classes are the table's.  From arrays: ``bounds`` and ``classes`` are declared here, ``keys`` for columns of a
    frame that hold keys; with ``curator`` it is charged to its ``table``.  With ``bins``, numbers are cut into so many
    equal parts of their bounds, which are counted: better for those that are far from a bell curve.

    Guarantee: what is said in ``privacy_``, for one unit of the table, or one row of the arrays
    (docs/proofs/learn-sums.md).
    Assumes: bounds, keys and classes were declared without looking at the data.
    Fails: what depends on a row is never an error: see :mod:`curador.learn.rows.declared`.

    >>> model = GaussianNB(epsilon=1, bounds=(0, 10), classes=["no", "yes"])
    >>> X = [[1.0], [2.0], [8.0], [9.0]] * 1000
    >>> model.fit(X, ["no", "no", "yes", "yes"] * 1000).predict([[0.0], [10.0]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        classes: Sequence[Any] | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        bins: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.keys, self.classes = bounds, keys, classes
        self.curator, self.table, self.in_search = curator, table, in_search
        self.bins = bins

    def _learner(
        self,
        reader: RecordReader | None,
        encoding: Encoding,
        label: RecordColumn | None,
        copies: int,
        neighbors: Neighbors,
        rows: int | None,
    ) -> BayesLearner:
        classes = self._classes(label)
        bins = 0 if self.bins is None else whole(self.bins, "bins", 2)
        if bins > SCALE:
            raise InvalidParameter(f"{bins} bins are more than {SCALE}.", fix="Use fewer.")
        sums = ClassSums(encoding, len(classes), bins, self._guarantee, copies, neighbors)
        require_few(sums.width * len(classes))
        return BayesLearner(reader, encoding, classes, sums, self._guarantee)

    def _become(self, learner: BayesLearner, measurement: bytes) -> None:
        sums = learner.sums
        noisy = np.array(json.loads(measurement)["sums"], np.float64) / SCALE
        noise = sums.noise.variance**0.5 / SCALE
        self.bins_, self.classes_ = sums.bins, np.array(learner.classes)
        self.class_count_ = np.maximum(noisy[:, 0], 1.0)
        self.class_prior_ = self.class_count_ / self.class_count_.sum()
        p, count = sums.summed, self.class_count_[:, None]
        # Between -1 and 1.  A variance below what noise alone makes of it says nothing.
        mean = np.clip(noisy[:, 1 : 1 + p] / count, -1, 1)
        square = (noisy[:, 1 + p : 1 + 2 * p] / count + 1) / 2
        total = self.class_prior_ @ square - (self.class_prior_ @ mean) ** 2
        least = np.maximum(np.minimum(noise / count, 1) + NARROWEST, LEAST_PART * np.clip(total, 0, 1))
        variance = np.clip(square - mean**2, least, 1)
        self.scaled_means_, self.scaled_variances_ = mean, variance
        numbers = learner.encoding.numbers[:p]
        half = np.array([f.high / 2 - f.low / 2 for f in numbers])
        self.theta_ = mean * half + np.array([f.high / 2 + f.low / 2 for f in numbers])
        self.var_ = variance * half**2
        self.key_log_prob_ = []
        at = 1 + 2 * p
        for size in sums.sizes:
            # To each count is added what noise alone would reach: a key that was hardly seen says little.
            likely = np.maximum(noisy[:, at : at + size], 0) + 1 + noise
            self.key_log_prob_.append(np.log(likely / likely.sum(axis=1, keepdims=True)))
            at += size

    def _check_fitted(self) -> None:
        if type(self.bins_) is not int or not 0 <= self.bins_ <= SCALE:
            raise not_fitted()
        classes, numbers = len(self.classes_), len(self.encoding_.numbers)
        p = 0 if self.bins_ else numbers
        sizes = [*[self.bins_] * (numbers - p), *(f.width for f in self.encoding_.keyed)]
        require_numbers(self.class_prior_, (classes,), 1, above=0)
        require_numbers(self.scaled_means_, (classes, p), 1)
        require_numbers(self.scaled_variances_, (classes, p), 1, above=0)
        if not isinstance(self.key_log_prob_, list) or len(self.key_log_prob_) != len(sizes):
            raise not_fitted()
        for likely, size in zip(self.key_log_prob_, sizes, strict=True):
            require_numbers(likely, (classes, size), 1e6)

    def _predicts(self) -> Predicts:
        return lambda design: self._joint(design).argmax(axis=1).astype(np.int32)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """The logarithm of the density of each row together with each class."""
        return self._joint(self._design(X))

    def _joint(self, design: Design) -> Floats:
        """The same of encoded rows: sums of a few terms in one order, so each row's own, wherever it stands."""
        mean, variance = self.scaled_means_, self.scaled_variances_
        found = np.tile(np.log(self.class_prior_), (len(design), 1))
        for j in range(mean.shape[1]):
            away = design.numbers[:, j, None] / SCALE - mean[:, j]
            found -= (away**2 / variance[:, j] + np.log(2 * np.pi * variance[:, j])) / 2
        for codes, likely in zip(coded(design, self.bins_), self.key_log_prob_, strict=True):
            none = np.zeros((len(self.classes_), 1))  # what is none of the keys says nothing
            found += np.append(likely, none, axis=1)[:, codes].T
        return np.asarray(found)

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the chance of each class."""
        joint = self.predict_joint_log_proba(X)
        joint -= joint.max(axis=1, keepdims=True)
        return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class, for each row."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        place = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[place])
