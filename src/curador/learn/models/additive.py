"""An additive classifier: a step function of every number, added up; a sum of trees of one split each, fitted at once.

Boosted trees of one split (as in explainable boosting) add up to one step function for each feature.  With the places
of the steps declared instead of searched for, all heights are weights of a linear model over bins, and are learned
together by noisy descent: no budget goes into choosing splits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curador.curator.curator import Curator
from curador.errors import InvalidParameter
from curador.learn.models.classifier import not_fitted
from curador.learn.models.linear import LinearLearner, LogisticRegression
from curador.learn.rows.declared import Bounds, Keys
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, KeyFeature
from curador.numbers import Number, whole

MOST_BINS = 1000
"""The most bins of one feature."""

Edges = int | Mapping[str, Sequence[float]]
"""How many bins of one width each number gets, or the edges of its bins, by its name."""


@dataclass(frozen=True)
class Binning:
    """The edges of the bins of every number, on its grid; a number is in the bin above the edges it reaches."""

    edges: tuple[tuple[int, ...], ...]

    def encoding(self, plain: Encoding) -> Encoding:
        """The features with their bins as keys beside them."""
        pairs = zip(plain.numbers, self.edges, strict=True)
        bins = [KeyFeature(f"{f.name} bin", tuple(range(len(e) + 1))) for f, e in pairs if e]
        return Encoding((*plain.features, *bins))

    def design(self, plain: Design) -> Design:
        """The rows with the bin of every number, each by itself."""
        columns = [plain.codes]
        for j, edges in enumerate(self.edges):
            if edges:
                found = np.searchsorted(np.array(edges), plain.numbers[:, j], side="right")
                columns.append(found.astype(np.int16)[:, None])
        return Design(self.encoding(plain.encoding), plain.numbers, np.concatenate(columns, axis=1))


def binning(encoding: Encoding, bins: Any) -> Binning:
    """The bins of every number of an encoding, from what was declared.

    >>> from curador.learn.rows.encoding import NumberFeature
    >>> binning(Encoding((NumberFeature("age", 0, 100),)), {"age": [25, 50]}).edges
    ((-512, 0),)
    >>> binning(Encoding((NumberFeature("age", 0, 100),)), 4).edges
    ((-512, 0, 512),)
    """
    found = []
    if isinstance(bins, Mapping) and (unknown := sorted(set(bins) - {f.name for f in encoding.numbers})):
        raise InvalidParameter(f"There are bins of {unknown[0]!r}, which is no number here.", fix="Name the numbers.")
    for feature in encoding.numbers:
        if isinstance(bins, Mapping):
            edges = np.unique([float(x) for x in bins.get(feature.name, ())])
            on_grid = feature.encoded(edges) if len(edges) else np.zeros(0, np.int16)
        else:
            count = whole(bins, "bins", 1)
            if count > MOST_BINS:
                raise InvalidParameter(f"There are more than {MOST_BINS} bins.", fix="Use fewer.")
            on_grid = np.rint(np.linspace(-SCALE, SCALE, count + 1)[1:-1]).astype(np.int16)
        if len(on_grid) >= MOST_BINS:
            raise InvalidParameter(f"{feature.name!r} has more than {MOST_BINS} bins.", fix="Use fewer.")
        found.append(tuple(sorted({int(x) for x in on_grid if -SCALE < x <= SCALE})))
    return Binning(tuple(found))


class AdditiveClassifier(LogisticRegression):
    """A classifier that adds up one step function for each number, and a height for each key.

    ``bins`` are how many bins of one width each number gets, or their edges by name, for numbers that crowd at one end:
    ``{"capital_gain": [1, 5000, 10000]}``; numbers that are not named stay straight lines.  The other parameters, the
    doors and the guarantee are those of :class:`LogisticRegression`.

    Assumes: edges, like bounds, were declared without looking at the data.

    >>> model = AdditiveClassifier(epsilon=1, delta=1e-5, bounds=(0, 10), classes=[0, 1], bins=5)
    >>> X = np.array([[1.0], [5.0], [9.0]] * 2000)
    >>> model.fit(X, [0, 1, 0] * 2000).predict([[1.0], [5.0], [9.0]]).tolist()  # no straight line does that
    [0, 1, 0]
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        rho: Number | None = None,
        bins: Edges = 16,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        classes: Sequence[Any] | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        solver: str = "auto",
        steps: int | None = None,
        clip: Number | None = None,
        learning_rate: Number | None = None,
        sample_rate: Number | None = None,
        noise_multiplier: Number | None = None,
        rows: int | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            rho=rho,
            bounds=bounds,
            keys=keys,
            classes=classes,
            curator=curator,
            table=table,
            in_search=in_search,
            solver=solver,
            steps=steps,
            clip=clip,
            learning_rate=learning_rate,
            sample_rate=sample_rate,
            noise_multiplier=noise_multiplier,
            rows=rows,
        )
        self.bins = bins

    def _bins(self, encoding: Encoding) -> Binning:
        return binning(encoding, self.bins)

    def _become(self, learner: LinearLearner, measurement: bytes) -> None:
        super()._become(learner, measurement)
        assert learner.binning is not None
        self.edges_ = learner.binning.edges

    @property
    def _binning(self) -> Binning:
        return Binning(tuple(tuple(int(x) for x in e) for e in self.edges_))

    def _wide(self, design: Design) -> Design:
        return self._binning.design(design)

    def _wide_encoding(self) -> Encoding:
        return self._binning.encoding(self.encoding_)

    def _check_fitted(self) -> None:
        edges = self.edges_
        right = isinstance(edges, tuple) and len(edges) == len(self.encoding_.numbers)
        if not right or any(list(e) != sorted({int(x) for x in e if -SCALE < x <= SCALE}) for e in edges):
            raise not_fitted()
        super()._check_fitted()

    def steps_of(self, feature: str) -> tuple[Floats, Floats]:
        """The steps of a number, for the second class: the ends of its pieces, and its height at their middles."""
        numbers = [f.name for f in self.encoding_.numbers]
        if feature not in numbers or len(self.classes_) != 2:
            raise InvalidParameter(f"{feature!r} has no steps here.", fix=f"Use one of {numbers}, with two classes.")
        j = numbers.index(feature)
        own = self.encoding_.numbers[j]
        ends = np.array([-SCALE, *self.edges_[j], SCALE], float)
        middles = (ends[:-1] + ends[1:]) / 2
        rows = np.zeros((len(middles), len(numbers)), np.int16)
        rows[:, j] = np.rint(middles)
        keyed = np.full((len(middles), len(self.encoding_.keyed)), -1, np.int16)
        heights = self._wide(Design(self.encoding_, rows, keyed)).dot(self.weights_.T)[:, 0] / SCALE
        return own.low + (ends + SCALE) / (2 * SCALE) * (own.high - own.low), np.asarray(heights - heights.mean())
