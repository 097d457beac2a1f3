"""Linear regression, plain and with a penalty, from noisy moments and a few steps that correct them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from curador.accounting.events import Event
from curador.curator.curator import Curator
from curador.curator.purchases.training import ReadRows, RecordColumn
from curador.errors import InvalidParameter, InvalidValue
from curador.learn.madeup import ROWS, made_up_numbers, tried_on
from curador.learn.model import PrivateModel, scores_for_free
from curador.learn.models.linear import in_units
from curador.learn.pricing import mu_of
from curador.learn.rows.declared import Bounds, Keys, as_numbers, labels_array
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints, NumberFeature, require_few
from curador.learn.rows.records import RecordReader, feature_of
from curador.learn.sums.inside import inside
from curador.learn.sums.moments import labelled, symmetric, upper
from curador.learn.sums.residuals import (
    CURVED,
    Corrected,
    FromConstant,
    MomentsAlone,
    Residuals,
    corrected,
    damped,
    from_constant,
    weights_of,
)
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, nonnegative, whole
from curador.privacy import ZCDP, Guarantee, Neighbors, PureDP
from curador.show.tables import percent

MOST_STEPS = 10_000
"""The most steps of a regression: a few are enough."""

LARGEST_ALPHA = 10**280
"""The largest penalty: a double holds it."""


@dataclass(frozen=True)
class RegressionLearner:
    """Measures what a linear regression needs: settings and declarations, no data."""

    reader: RecordReader | None
    encoding: Encoding
    label: NumberFeature
    settings: FromConstant | Residuals | MomentsAlone
    guarantee: Guarantee

    @property
    def event(self) -> Event:
        return self.settings.event(self.encoding)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.settings.moments(self.encoding).noise.kind})

    @property
    def code(self) -> Mapping[str, object]:
        if isinstance(self.settings, MomentsAlone):
            made = self.settings.moments(self.encoding)
            return {"learner": "regression-moments", "noise": made.noise.kind, "settings": made}
        if isinstance(self.settings, FromConstant):
            return {"learner": "regression-from-constant", "settings": self.settings}
        return {"learner": "regression", "settings": self.settings}

    def notes(self, rows: int | None) -> list[dict[str, Any]]:
        """What will be done."""
        columns = self.encoding.width
        said: dict[str, Any] = {"code": "fit-moments", "columns": columns + 1}
        steps = 1
        if isinstance(self.settings, FromConstant):
            fewest = self.settings.clear * self.settings.moments(self.encoding).deviation / SCALE**2
            said = {"code": "fit-from-constant", "columns": columns, "rows": f"{math.ceil(fewest):,}"}
            steps = 1 if self.settings.pure else self.settings.steps
        elif isinstance(self.settings, Residuals):
            clip, steps = f"{float(self.settings.clip) * columns**0.5:.3g}", self.settings.steps
            said = {"code": "fit-regression", "steps": steps, "columns": columns, "clip": clip}
        number = tried_on(rows or ROWS, 2 * columns**2 + 2 * steps * columns, steps, columns)
        told = [said, *self.encoding.notes()]
        if not number:
            return told
        design, labels = made_up_numbers(self.encoding, number)
        noised, plain = (percent(round(one._explained(design, labels), 3)) for one in (self, self.plain()))
        return [*told, {"code": "fit-made-up-line", "rows": f"{number:,}", "noised": noised, "plain": plain}]

    def plain(self) -> RegressionLearner:
        """The same with next to no noise, for rows that are not private."""
        if isinstance(self.settings, MomentsAlone):
            return replace(self, settings=replace(self.settings, guarantee=ZCDP(10**9)))
        if isinstance(self.settings, FromConstant):
            return replace(self, settings=replace(self.settings, budget=Fraction(10**6)))
        return replace(self, settings=replace(self.settings, mu=Fraction(10**6)))

    def _explained(self, design: Design, labels: Ints) -> float:
        """The share of the variance of made-up labels that a fit to them explains; none where it is worse than that."""
        found = self.measured(self._measured(design, labels))
        weights = weights_of(found["moments"], found["at"], found["step"], found["damping"], 0.0)
        left = labels / SCALE - design.dot(weights) / SCALE
        return max(0.0, 1 - float((left**2).mean() / max((labels / SCALE).var(), 1e-9)))

    def learn(self, read: ReadRows, progress: Any = None) -> bytes:
        """Learn from the records of a table."""
        assert self.reader is not None, "made for records"
        if isinstance(self.settings, MomentsAlone) or (isinstance(self.settings, FromConstant) and self.settings.pure):
            return self._kept(self.settings.measured(self._exact(read, self.reader), self.encoding))
        design, _, labels = self.reader.read(read)
        return self._measured(design, labels, progress=progress)

    def _exact(self, read: ReadRows, reader: RecordReader) -> Ints:
        """The moments of records: summed inside the engine, or some at a time."""
        if (there := inside(read, reader)) is not None:
            return there.moments(labelled=True)
        exact = np.zeros((self.encoding.width + 1, self.encoding.width + 1), np.int64)

        def add(design: Design, classes: NDArray[np.int32], labels: Ints) -> None:
            nonlocal exact
            exact += labelled(design, labels)

        reader.each(read, add)
        return exact

    def train(self, design: Design, values: Floats, entropy: Entropy = SYSTEM, progress: Any = None) -> bytes:
        """Learn from encoded rows; those whose label is no number are left out, each by itself."""
        if not np.isfinite(values).all():
            known = np.flatnonzero(np.isfinite(values))
            design, values = design.some(known), values[known]
        return self._measured(design, self.label.encoded(values).astype(np.int64), entropy, progress)

    def _measured(self, design: Design, labels: Ints, entropy: Entropy = SYSTEM, progress: Any = None) -> bytes:
        if isinstance(self.settings, MomentsAlone):
            return self._kept(self.settings.measured(labelled(design, labels), self.encoding, entropy))
        if isinstance(self.settings, FromConstant):
            rows = None if self.settings.pure else (design, labels)
            exact = labelled(design, labels)
            return self._kept(self.settings.measured(exact, self.encoding, rows, entropy, progress))
        return self._kept(corrected(design, labels, self.settings, entropy, progress))

    def _kept(self, found: Corrected) -> bytes:
        kept = {"moments": upper(found.moments), "at": found.at.tolist(), "step": found.step.tolist()}
        return json.dumps(kept).encode()

    def measured(self, measurement: bytes) -> dict[str, Any]:
        """What was released, and how strongly it is damped: all that weights are made of."""
        kept, d = json.loads(measurement), self.encoding.width
        sigma = self.settings.moments(self.encoding).deviation
        settings = self.settings
        damping = settings.first if isinstance(settings, MomentsAlone) else CURVED
        if isinstance(settings, Residuals):
            damping = settings.damping
        return {
            "moments": symmetric(kept["moments"], d + 1),
            "at": np.array(kept["at"]),
            "step": np.array(kept["step"]),
            "damping": damped(sigma, float(damping), d),
            "bounds": (self.label.low, self.label.high),
        }


class _Regression(RegressorMixin, PrivateModel):  # type: ignore[misc]
    """The base of linear regressions."""

    label_bounds: tuple[float, float] | None
    steps: int | None

    def _learner(
        self,
        reader: RecordReader | None,
        encoding: Encoding,
        label: RecordColumn | None,
        copies: int,
        neighbors: Neighbors,
        rows: int | None,
    ) -> RegressionLearner:
        self._alpha()  # refused before anything is paid
        require_few((encoding.width + 1) ** 2)
        guarantee = self._guarantee
        pure = isinstance(guarantee, PureDP)
        steps = None if self.steps is None else whole(self.steps, "steps", 0)
        if steps is not None and steps > MOST_STEPS:
            raise InvalidParameter(
                f"steps is above {MOST_STEPS:,}.",
                fix="Choose fewer.",
                code="setting-too-large",
                facts={"name": "steps", "most": MOST_STEPS},
            )
        if steps and pure:
            raise InvalidParameter(
                "Steps along residuals need Gaussian noise, which an epsilon alone does not pay for.",
                fix="Leave steps out, for moments alone; or give delta too.",
                code="model-needs-delta",
            )
        settings: FromConstant | Residuals | MomentsAlone = MomentsAlone(guarantee, copies, neighbors)
        if steps is None:
            settings = from_constant(guarantee, copies, neighbors)
        elif steps:
            settings = Residuals(mu_of(guarantee), steps, copies=copies, neighbors=neighbors)
        return RegressionLearner(reader, encoding, self._target(reader, label), settings, guarantee)

    def _target(self, reader: RecordReader | None, label: RecordColumn | None) -> NumberFeature:
        """The label as a number between bounds: those of the table, or those that were declared here."""
        if reader is not None:
            if label is None or label.keys is not None:
                raise InvalidParameter("A regression predicts a number.", fix="Give label=, a column with bounds.")
            if self.label_bounds is not None:
                raise InvalidParameter(
                    "The table declares the label's bounds.", fix="Leave label_bounds out, or use fit(X, y)."
                )
            found = feature_of(label)
            assert isinstance(found, NumberFeature)
            return found
        bounds = self.label_bounds
        if bounds is None or len(tuple(bounds)) != 2:
            raise InvalidParameter(
                "The label's bounds have to be declared: a pair (low, high).",
                fix="Give label_bounds=, chosen without looking at the data.",
            )
        return NumberFeature("y", float(bounds[0]), float(bounds[1]))

    def _labels(self, y: Any, rows: int) -> Floats:
        if y is None:
            raise InvalidValue("This model requires y to be passed, but the target y is None.", fix="Give the labels.")
        array = labels_array(y)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1 or len(array) != rows:
            raise InvalidValue(
                f"y should be a 1d array of {rows} labels, got an array of shape {array.shape} instead.",
                fix="Give one label for each row.",
            )
        return as_numbers(array)

    def _become(self, learner: RegressionLearner, measurement: bytes) -> None:
        self.measured_ = learner.measured(measurement)
        self._weigh()

    def _alpha(self) -> float:
        return 0.0

    def _weigh(self) -> None:
        """Make the fitted attributes from what was measured."""
        low, high = self.measured_["bounds"]
        weights = weights_of(
            self.measured_["moments"],
            self.measured_["at"],
            self.measured_["step"],
            self.measured_["damping"],
            self._alpha(),
        )
        self.weights_ = weights * (high / 2 - low / 2)
        self.weights_[-1] += high / 2 + low / 2
        coef, intercept = in_units(self.weights_[None, :], self.encoding_)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])

    @available_if(scores_for_free)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of variance that is explained; for rows that are not private, and refused with a curator."""
        self._public_rows()
        return float(super().score(X, y, sample_weight))

    def predict(self, X: Any) -> Floats:
        """The expected label of each row."""
        return np.asarray(self._design(X).dot(self.weights_) / SCALE)


class LinearRegression(_Regression):
    """Linear regression by least squares, learned with differential privacy.

    The guarantee is ``epsilon`` alone, with ``delta``, or ``rho``.  From a table: ``curator.fit(model, "adult",
    features=[…], label="hours")``, where all bounds are the table's.  From arrays: ``bounds`` and ``label_bounds``
    are declared here, ``keys`` for columns of a frame that hold keys; with ``curator`` it is charged to its ``table``.

    First the mean of the label is measured, then noisy moments of features and label [Wan18], and where there is a
    delta up to five noisy steps along the residuals.  What noise alone could have made is left out, so that few rows
    or a small budget give the mean and nothing worse.  Columns of 0 and 1 cost as much as numbers: give the column
    that they come from, with ``keys``.  With ``steps`` given there is no mean before, and nothing is left out; none
    are moments alone.  Without delta, all that is read are sums, worked out inside the engine of a table.

    Guarantee: what is said in ``privacy_``, for one unit of the table, or one row of the arrays
    (docs/proofs/learn-sums.md).
    Assumes: bounds and keys were declared without looking at the data.
    Fails: what depends on a row is never an error; a row without a label is left out.

    >>> model = LinearRegression(epsilon=1, delta=1e-5, bounds=(0, 10), label_bounds=(0, 30))
    >>> X = [[i % 11] for i in range(20000)]
    >>> model.fit(X, [3 * x[0] for x in X]).predict([[5.0]]).round().tolist()
    [15.0]
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        label_bounds: tuple[float, float] | None = None,
        keys: Keys | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        steps: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.label_bounds, self.keys = bounds, label_bounds, keys
        self.curator, self.table, self.in_search = curator, table, in_search
        self.steps = steps


class Ridge(_Regression):
    """Linear regression with a penalty of ``alpha`` times the squared weights, learned with differential privacy.

    As :class:`LinearRegression`.  The penalty is on the weights of features that are scaled by their bounds to lie
    between -1 and 1, of a label scaled likewise, and not on the intercept.  It is no part of what is bought:
    :meth:`with_alpha`, or the same fit with another ``alpha``, is free.

    >>> model = Ridge(alpha=10, epsilon=1, delta=1e-5, bounds=(0, 10), label_bounds=(0, 30))
    >>> X = [[i % 11] for i in range(20000)]
    >>> model = model.fit(X, [3 * x[0] for x in X])
    >>> round(model.predict([[5.0]])[0]), bool(model.with_alpha(10**6).coef_[0] < model.coef_[0])
    (15, True)
    """

    def __init__(
        self,
        alpha: Number = 1,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        label_bounds: tuple[float, float] | None = None,
        keys: Keys | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        steps: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.label_bounds, self.keys = bounds, label_bounds, keys
        self.curator, self.table, self.in_search = curator, table, in_search
        self.steps = steps

    def _alpha(self) -> float:
        alpha = nonnegative(self.alpha, "alpha")
        if alpha > LARGEST_ALPHA:
            raise InvalidParameter("alpha is beyond 1e300.", fix="Choose a smaller one.")
        return float(alpha)

    def with_alpha(self, alpha: Number) -> Self:
        """The same measurement with another penalty; free."""
        check_is_fitted(self)
        other = copy(self)
        other.alpha = alpha
        other._weigh()
        return other
