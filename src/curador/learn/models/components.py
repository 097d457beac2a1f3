"""Principal components from noisy moments."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from curador.accounting.events import Event
from curador.curator.curator import Curator
from curador.curator.purchases.training import ReadRows, RecordColumn
from curador.errors import InvalidParameter, InvalidValue
from curador.learn.madeup import ROWS
from curador.learn.model import PrivateModel
from curador.learn.rows.declared import Bounds, Keys
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints, require_few
from curador.learn.rows.records import RecordReader
from curador.learn.sums.inside import inside
from curador.learn.sums.moments import LaplaceMoments, Moments, moments_for, symmetric, upper
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number
from curador.privacy import Guarantee, Neighbors


@dataclass(frozen=True)
class MomentsLearner:
    """Measures the moments of the encoded rows: settings and declarations, no data."""

    reader: RecordReader | None
    encoding: Encoding
    moments: Moments | LaplaceMoments
    guarantee: Guarantee

    @property
    def event(self) -> Event:
        return self.moments.noise.event

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.moments.noise.kind})

    @property
    def code(self) -> Mapping[str, object]:
        return {"learner": "moments", "noise": self.moments.noise.kind, "settings": self.moments}

    def notes(self, rows: int | None) -> list[dict[str, Any]]:
        """What will be done."""
        number = rows or ROWS
        noise = f"{self.moments.deviation / (number * SCALE**2):.2g}"
        return [
            {"code": "fit-moments", "columns": self.encoding.width},
            {"code": "fit-covariances", "rows": f"{number:,}", "noise": noise},
        ]

    def learn(self, read: ReadRows, progress: Any = None) -> bytes:
        """Learn from the records of a table: summed inside its engine, or some at a time."""
        assert self.reader is not None, "made for records"
        if (there := inside(read, self.reader)) is not None:
            return self._noised(there.moments(labelled=False), SYSTEM)
        exact = np.zeros((self.encoding.width, self.encoding.width), np.int64)

        def add(design: Design, classes: NDArray[np.int32], values: Ints) -> None:
            nonlocal exact
            exact += design.moments()

        self.reader.each(read, add)
        return self._noised(exact, SYSTEM)

    def train(self, design: Design, labels: None, entropy: Entropy = SYSTEM, progress: Any = None) -> bytes:
        """Learn from encoded rows."""
        return self._noised(design.moments(), entropy)

    def _noised(self, exact: Ints, entropy: Entropy) -> bytes:
        return json.dumps({"moments": upper(self.moments.release(exact, entropy))}).encode()


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateModel):  # type: ignore[misc]
    """Principal components, learned with differential privacy.

    The guarantee is ``epsilon`` alone, with ``delta``, or ``rho``.  From a table: ``curator.fit(model, "adult",
    features=[…])``, where bounds and keys are the table's.  From arrays: ``bounds`` are declared here, ``keys`` for
    columns of a frame that hold keys; with ``curator`` it is charged to its ``table``.

    Components are those of features scaled by their bounds to lie between -1 and 1, and of one column between 0 and 1
    for each key.  ``n_components`` is how many are shown: a number, a share of the variance below 1, or all.  It is no
    part of what is bought: :meth:`with_components`, or the same fit with another number, is free.

    Guarantee: what is said in ``privacy_``, for one unit of the table, or one row of the arrays [DTTZ14]
    (docs/proofs/learn-sums.md).
    Assumes: bounds and keys were declared without looking at the data.
    Fails: what depends on a row is never an error: see :mod:`curador.learn.rows.declared`.

    >>> X = [[i % 11, 10 - i % 11, 5] for i in range(20000)]
    >>> model = PCA(1, epsilon=1, delta=1e-5, bounds=(0, 10)).fit(X)
    >>> abs(model.components_).round(1).tolist(), model.transform(X).shape
    ([[0.7, 0.7, 0.0]], (20000, 1))
    """

    def __init__(
        self,
        n_components: Number | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
    ) -> None:
        self.n_components = n_components
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.keys = bounds, keys
        self.curator, self.table, self.in_search = curator, table, in_search

    def _learner(
        self,
        reader: RecordReader | None,
        encoding: Encoding,
        label: RecordColumn | None,
        copies: int,
        neighbors: Neighbors,
        rows: int | None,
    ) -> MomentsLearner:
        if label is not None:
            raise InvalidParameter("Principal components have no label.", fix="Leave label out.")
        self._shown(np.ones(encoding.width - 1))  # refused before anything is paid
        require_few(encoding.width**2)
        moments = moments_for(self._guarantee, encoding.width, encoding.most, copies, neighbors)
        return MomentsLearner(reader, encoding, moments, self._guarantee)

    def _labels(self, y: Any, rows: int) -> None:
        """None are read."""

    def _become(self, learner: MomentsLearner, measurement: bytes) -> None:
        self.moments_ = symmetric(json.loads(measurement)["moments"], learner.encoding.width)
        self._show()

    def _show(self) -> None:
        """Make the fitted attributes from noisy moments, which need not be those of any rows."""
        rows = max(float(self.moments_[-1, -1]), float(SCALE**2))
        self.mean_ = self.moments_[:-1, -1] / rows
        size, turn = np.linalg.eigh(self.moments_[:-1, :-1] / rows - np.outer(self.mean_, self.mean_))
        size, turn = np.maximum(size[::-1], 0.0), turn[:, ::-1].T
        heaviest = np.take_along_axis(turn, np.abs(turn).argmax(axis=1)[:, None], axis=1)
        k = self._shown(size)
        self.components_ = np.ascontiguousarray(np.where(heaviest < 0, -turn, turn)[:k])
        self.explained_variance_ = size[:k]
        self.explained_variance_ratio_ = size[:k] / max(float(size.sum()), np.finfo(float).tiny)
        self.n_components_ = k

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _shown(self, size: Floats) -> int:
        """How many components are shown."""
        wanted = self.n_components
        if wanted is None:
            return len(size)
        refusal = InvalidParameter(
            f"n_components is a number up to {len(size)}, or a share of the variance below 1, got {wanted!r}.",
            fix="Choose one, or leave it out for all.",
            code="settings-refused",
        )
        try:
            number = math.nan if isinstance(wanted, bool | str) else float(wanted)
        except (TypeError, ValueError, OverflowError):  # no number, or one beyond doubles
            number = math.nan
        if not math.isfinite(number):
            raise refusal
        if 0 < number < 1:
            reached = np.cumsum(size) / max(float(size.sum()), np.finfo(float).tiny)
            return min(int(np.searchsorted(reached, number)) + 1, len(size))
        if number != int(number) or not 1 <= number <= len(size):
            raise refusal
        return int(number)

    def with_components(self, n_components: Number | None) -> Self:
        """The same measurement with another number of components; free."""
        check_is_fitted(self)
        other = copy(self)
        other.n_components = n_components
        other._show()
        return other

    def transform(self, X: Any) -> Floats:
        """The rows by their components, from the mean."""
        found = self._design(X).dot(np.append(self.components_, np.zeros((self.n_components_, 1)), axis=1).T) / SCALE
        return np.asarray(found - self.components_ @ self.mean_)

    def inverse_transform(self, X: Any) -> Floats:
        """Rows of columns from components: numbers in their own unit, keys as how much of each."""
        check_is_fitted(self)
        given = np.asarray(X, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.n_components_:
            raise InvalidValue(
                f"X has shape {given.shape}, but there are {self.n_components_} components.",
                fix="Give one column for each component.",
            )
        found = given @ self.components_ + self.mean_
        for i, feature in enumerate(self.encoding_.numbers):
            half, middle = feature.high / 2 - feature.low / 2, feature.high / 2 + feature.low / 2
            found[:, i] = found[:, i] * half + middle
        return np.asarray(found)
