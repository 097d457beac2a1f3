"""Preprocessing by declarations: scaling, keys as columns, and parts of bounds, with nothing learned from rows.

There is nothing to pay for: fitting checks the columns and reads no value.  A scaler that takes means or extremes from
the rows would release them with the model; these take what was declared.  A row is transformed by itself.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from curador.errors import InvalidParameter, InvalidValue
from curador.learn.rows.declared import Bounds, Keys, as_numbers, columns_of, encoding_for, listed_columns
from curador.learn.rows.encoding import Encoding, Floats, codes
from curador.numbers import whole


class DeclaredTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The base: fitting compares the columns with what is declared, and reads no value."""

    @abstractmethod
    def _declared(self, names: Sequence[str]) -> Encoding:
        """The features of these columns; refused where one is not declared."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the columns; no value is read."""
        names, named = columns_of(X)
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":
            raise InvalidValue("Complex data not supported.", fix="Give real numbers.")
        self.encoding_ = self._declared(names)
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _columns(self, X: Any) -> list[Any]:
        """The columns of X, in the order of fitting."""
        check_is_fitted(self)
        names, named = columns_of(X)
        wanted = [f.name for f in self.encoding_.features]
        if named and hasattr(self, "feature_names_in_"):
            if list(names) != wanted:
                raise InvalidValue(
                    "The feature names should match those that were passed during fit.",
                    fix=f"Give the columns {', '.join(wanted)}.",
                )
            return [X[name] for name in wanted]
        if len(names) != len(wanted):
            raise InvalidValue(
                f"X has {len(names)} features, but {type(self).__name__} is expecting {len(wanted)} features as input.",
                fix="Give the columns of fitting, in that order.",
            )
        return listed_columns(X, len(wanted))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class BoundsScaler(OneToOneFeatureMixin, DeclaredTransformer):  # type: ignore[misc]
    """Numbers scaled by their declared bounds to lie between -1 and 1: nothing is learned, nothing is paid.

    What is beyond the bounds is cut to them; what is no finite number becomes 0, the middle.

    >>> BoundsScaler(bounds=[(0, 100), (0, 1)]).fit_transform([[50, 1.0], [200, float("nan")]]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds

    def _declared(self, names: Sequence[str]) -> Encoding:
        return encoding_for(names, self.bounds, None)

    def transform(self, X: Any) -> Floats:
        """The numbers between -1 and 1."""
        columns = self._columns(X)
        found = np.empty((len(columns[0]), len(columns)))
        for i, (feature, values) in enumerate(zip(self.encoding_.numbers, columns, strict=True)):
            numbers = as_numbers(values)
            half, middle = feature.high / 2 - feature.low / 2, feature.high / 2 + feature.low / 2
            with np.errstate(all="ignore"):
                scaled = (np.clip(numbers, feature.low, feature.high) - middle) / half
            found[:, i] = np.where(np.isfinite(numbers), np.clip(scaled, -1, 1), 0.0)
        return found

    def inverse_transform(self, X: Any) -> Floats:
        """Numbers between -1 and 1 in their own units."""
        check_is_fitted(self)
        found = np.array(X, dtype=np.float64)
        if found.ndim != 2 or found.shape[1] != self.n_features_in_:
            raise InvalidValue(f"X has shape {found.shape}.", fix=f"Give {self.n_features_in_} columns.")
        for i, feature in enumerate(self.encoding_.numbers):
            half, middle = feature.high / 2 - feature.low / 2, feature.high / 2 + feature.low / 2
            found[:, i] = found[:, i] * half + middle
        return found


class KeyEncoder(DeclaredTransformer):
    """One column between 0 and 1 for each declared key: nothing is learned, nothing is paid.

    ``keys`` are those of every column, by name, or a list for each in order.  What is none of them is 0 in all.

    >>> KeyEncoder(keys=[["F", "M"]]).fit_transform([["M"], ["?"]]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    def __init__(self, keys: Keys | Sequence[Sequence[object]] | None = None) -> None:
        self.keys = keys

    def _declared(self, names: Sequence[str]) -> Encoding:
        given = self.keys
        if given is not None and not isinstance(given, Mapping):
            if isinstance(given, str) or len(given) != len(names):
                raise InvalidParameter("There is one list of keys for each column.", fix="Give keys=[[…], […]].")
            given = dict(zip(names, given, strict=True))
        missing = [name for name in names if name not in (given or {})]
        if given is None or missing:
            raise InvalidParameter(
                f"The keys of every column have to be declared: {missing[0]!r} has none.",
                fix="Give keys=, chosen without looking at the data.",
            )
        return encoding_for(names, None, {name: given[name] for name in names})

    def transform(self, X: Any) -> Floats:
        """One column for each key."""
        columns = self._columns(X)
        rows = len(columns[0])
        found = np.zeros((rows, self.encoding_.width - 1))
        for feature, first, values in zip(self.encoding_.keyed, self.encoding_.starts, columns, strict=True):
            place = codes(list(values), feature.keys)
            known = np.flatnonzero(place >= 0)
            found[known, first + place[known]] = 1.0
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns: feature=key."""
        check_is_fitted(self)
        return np.array(self.encoding_.columns[:-1], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


class BoundsBinner(OneToOneFeatureMixin, DeclaredTransformer):  # type: ignore[misc]
    """The part of its declared bounds that each number is in, of ``bins`` equal ones: 0, 1, …; nothing is learned.

    What is beyond the bounds is in the outermost part, what is no number in none: -1.  The parts are keys for what
    comes after: ``GaussianNB(keys={"age": range(10)})``.

    >>> BoundsBinner(bounds=(0, 100), bins=4).fit_transform([[0], [30], [100], [float("nan")]]).ravel().tolist()
    [0, 1, 3, -1]
    """

    def __init__(self, bounds: Bounds | None = None, bins: int = 10) -> None:
        self.bounds = bounds
        self.bins = bins

    def _declared(self, names: Sequence[str]) -> Encoding:
        whole(self.bins, "bins", 2)
        return encoding_for(names, self.bounds, None)

    def transform(self, X: Any) -> NDArray[np.int64]:
        """The part of each number."""
        columns = self._columns(X)
        bins = int(self.bins)
        found = np.empty((len(columns[0]), len(columns)), np.int64)
        for i, (feature, values) in enumerate(zip(self.encoding_.numbers, columns, strict=True)):
            numbers = as_numbers(values)
            with np.errstate(all="ignore"):
                share = (np.clip(numbers, feature.low, feature.high) / 2 - feature.low / 2) / (
                    feature.high / 2 - feature.low / 2
                )
                part = np.clip(np.floor(share * bins), 0, bins - 1)
            found[:, i] = np.where(np.isnan(numbers), -1, part)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


Steps = TypeVar("Steps")


def check_pipeline(pipeline: Steps) -> Steps:
    """Return a pipeline as it is; refuse one with a step that learns from rows without privacy.

    A step of scikit-learn such as ``StandardScaler`` learns exact means from private rows.  A private model behind it
    cannot see that, and its guarantee does not cover it.  Allowed are the private models and declared transformers of
    this package, "passthrough" and "drop", in pipelines, unions and ``ColumnTransformer``.

    Guarantee: post-processing and one charge for each private model, if each step is one of those.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from curador.learn import GaussianNB
    >>> model = GaussianNB(epsilon=1, bounds=(-1, 1), classes=[0, 1])
    >>> check_pipeline(make_pipeline(BoundsScaler((0, 10)), model)).fit([[1.0], [9.0]], [0, 1]).classes_.tolist()
    [0, 1]
    >>> check_pipeline(make_pipeline(StandardScaler(), model))
    Traceback (most recent call last):
    curador.errors.InvalidParameter: StandardScaler may learn from private rows without noise, and the guarantee of ...
    """
    from curador.learn.model import PrivateModel

    inside: list[Any] = [pipeline]
    while inside:
        step = inside.pop()
        if step in (None, "passthrough", "drop") or isinstance(step, PrivateModel | DeclaredTransformer):
            continue
        parts = [getattr(step, name, None) for name in ("steps", "transformer_list", "transformers")]
        nested = next((part for part in parts if isinstance(part, list)), None)
        if nested is None:
            raise InvalidParameter(
                f"{type(step).__name__} may learn from private rows without noise, and the guarantee of the model "
                "behind it does not cover that.",
                fix="Use BoundsScaler, KeyEncoder or BoundsBinner, which learn nothing; or prepare each row by itself.",
                code="step-learns",
                facts={"step": type(step).__name__},
            )
        inside += [*(part[1] for part in nested), getattr(step, "remainder", None)]
    return pipeline
