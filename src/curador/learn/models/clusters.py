"""K-means, from noisy counts and sums of a few rounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from curador.accounting.events import Event
from curador.curator.curator import Curator
from curador.curator.purchases.training import ReadRows, RecordColumn
from curador.errors import InvalidParameter
from curador.learn.madeup import A_DRAW, ROWS, made_up, tried_on
from curador.learn.model import PrivateModel, scores_for_free
from curador.learn.rows.declared import Bounds, Keys
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, require_few
from curador.learn.rows.records import RecordReader
from curador.learn.sums.centres import SumsAt, centred, growth, nearest
from curador.learn.sums.classes import ClassSums
from curador.learn.sums.inside import inside
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, whole
from curador.privacy import ZCDP, Guarantee, Neighbors

MOST_ROUNDS = 1003
"""The most rounds, with those in which centres grow."""

MOST_COMPARED = 1 << 24
"""The most numbers when every two centres are compared."""


@dataclass(frozen=True)
class CentresLearner:
    """Finds the centres of clusters: settings and declarations, no data."""

    reader: RecordReader | None
    encoding: Encoding
    wanted: int
    sums: ClassSums
    guarantee: Guarantee

    @property
    def event(self) -> Event:
        return self.sums.noise.event * self.sums.rounds

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.sums.noise.kind})

    @property
    def code(self) -> Mapping[str, object]:
        return {"learner": "centres", "clusters": self.wanted, "event": self.event.to_json()}

    def notes(self, rows: int | None) -> list[dict[str, Any]]:
        """What will be done."""
        noise, rounds = f"{self.sums.noise.variance**0.5 / SCALE:.3g}", self.sums.rounds
        said: dict[str, Any] = {"code": "fit-centres", "clusters": self.wanted, "rounds": rounds, "noise": noise}
        width = self.encoding.width
        classes = self.sums.classes
        a_round = A_DRAW * classes * width + classes**3 * width / rounds  # and once, all of them become fewer
        number = tried_on(rows or ROWS, 10 * rounds * classes * width, rounds, width, a_round)
        if not number:
            return [said]
        design, _ = made_up(self.encoding, number, 2)
        plain = replace(self, sums=replace(self.sums, guarantee=ZCDP(10**6)))
        noised, least = (f"{one._apart(design):.3g}" for one in (self, plain))
        return [said, {"code": "fit-made-up-centres", "rows": f"{number:,}", "noised": noised, "plain": least}]

    def _apart(self, design: Design) -> float:
        """How far rows are from the centres of a fit to them: the mean of the squared distance, in scaled columns."""
        centres = np.array(json.loads(self.train(design, None))["centres"], np.float64)
        return float((distances(design, centres).min(axis=1) ** 2).mean())

    def learn(self, read: ReadRows, progress: Any = None) -> bytes:
        """Learn from the records of a table: summed inside its engine, or of rows that are read."""
        assert self.reader is not None, "made for records"
        there = inside(read, self.reader, self.sums.classes)
        if there is not None:
            return self._centred(lambda at: there.by_centre(self.sums, at), SYSTEM, progress)
        design, _, _ = self.reader.read(read)
        return self.train(design, None, progress=progress)

    def train(self, design: Design, labels: None, entropy: Entropy = SYSTEM, progress: Any = None) -> bytes:
        """Learn from encoded rows."""
        return self._centred(lambda at: self.sums.exact(design, nearest(design, at)), entropy, progress)

    def _centred(self, exact: SumsAt, entropy: Entropy, progress: Any) -> bytes:
        found = centred(exact, self.sums, self.wanted, entropy, progress)
        return json.dumps({"centres": found.tolist()}).encode()


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, PrivateModel):  # type: ignore[misc]
    """Clusters around ``n_clusters`` centres, learned with differential privacy.

    The guarantee is ``epsilon`` alone, ``epsilon`` with ``delta``, or ``rho``; the noise is Laplace's or Gauss's,
    whichever is less.  From a table: ``curator.fit(model, "adult", features=[…])``, where bounds and keys are the
    table's.  From arrays: ``bounds`` are declared here, ``keys`` for columns of a frame that hold keys; with
    ``curator`` it is charged to its ``table``.

    Distances are those of features scaled by their bounds to lie between -1 and 1, and of one column between 0 and 1
    for each key.  Centres are grown in three rounds from the middle of the bounds and moved in ``rounds`` more.  There
    is no ``labels_``: ask :meth:`predict` about rows that you hold.

    Guarantee: what is said in ``privacy_``, for one unit of the table, or one row of the arrays
    (docs/proofs/learn-sums.md).
    Assumes: bounds and keys were declared without looking at the data.
    Fails: what depends on a row is never an error: see :mod:`curador.learn.rows.declared`.

    >>> X = [[1.0], [3.0], [7.0], [9.0]] * 1000
    >>> model = KMeans(2, epsilon=1, delta=1e-5, bounds=(0, 10)).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round().tolist())
    [2.0, 8.0]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        rounds: int = 3,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.keys = bounds, keys
        self.curator, self.table, self.in_search = curator, table, in_search
        self.rounds = rounds

    def _learner(
        self,
        reader: RecordReader | None,
        encoding: Encoding,
        label: RecordColumn | None,
        copies: int,
        neighbors: Neighbors,
        rows: int | None,
    ) -> CentresLearner:
        if label is not None:
            raise InvalidParameter("Clusters have no label.", fix="Leave label out.")
        wanted = whole(self.n_clusters, "n_clusters", 1)
        rounds = 3 + whole(self.rounds, "rounds", 1)
        if rounds > MOST_ROUNDS:
            raise InvalidParameter(
                f"rounds is above {MOST_ROUNDS - 3:,}.",
                fix="Choose fewer.",
                code="setting-too-large",
                facts={"name": "rounds", "most": MOST_ROUNDS - 3},
            )
        require_few(max(growth(wanted)) ** 2 * encoding.width, MOST_COMPARED)
        sums = ClassSums(encoding, max(growth(wanted)), 0, self._guarantee, copies, neighbors, rounds)
        return CentresLearner(reader, encoding, wanted, sums, self._guarantee)

    def _labels(self, y: Any, rows: int) -> None:
        """None are read."""

    def _become(self, learner: CentresLearner, measurement: bytes) -> None:
        self.scaled_centers_ = np.array(json.loads(measurement)["centres"], np.float64)
        self.cluster_centers_ = self.scaled_centers_.copy()
        for i, feature in enumerate(learner.encoding.numbers):
            half, middle = feature.high / 2 - feature.low / 2, feature.high / 2 + feature.low / 2
            self.cluster_centers_[:, i] = self.scaled_centers_[:, i] * half + middle
        self.n_iter_ = learner.sums.rounds

    @property
    def _n_features_out(self) -> int:
        return len(self.scaled_centers_)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster of each row: its nearest centre."""
        return nearest(self._design(X), self.scaled_centers_)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Learn from arrays, and the cluster of each of their rows: what is learned is private, this is not."""
        return self.fit(X).predict(X)

    def transform(self, X: Any) -> Floats:
        """The distance of each row from each centre, in scaled columns."""
        return distances(self._design(X), self.scaled_centers_)

    @available_if(scores_for_free)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of the squared distances of the rows from their nearest centres, in scaled columns.

        For rows that are not private: refused with a curator.
        """
        self._public_rows()
        return -float((self.transform(X).min(axis=1) ** 2).sum())


def distances(design: Design, at: Floats) -> Floats:
    """The distance of each row from each centre, in scaled columns."""
    found = np.empty((len(design), len(at)))
    for part, dense in design.blocks():
        rows = dense[:, :-1] / SCALE
        squared = (rows**2).sum(axis=1)[:, None] - 2 * rows @ at.T + (at**2).sum(axis=1)
        found[part] = np.sqrt(np.maximum(squared, 0))
    return found
