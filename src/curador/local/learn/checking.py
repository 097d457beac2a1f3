"""Checks of arrays from scikit-learn's interface; no refusal contains a person's value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from curador.errors import InvalidParameter, InvalidValue
from curador.local.task.limits import Floats
from curador.numbers import Number

Bounds = tuple[Number, Number] | Sequence[tuple[Number, Number]]
"""One pair (low, high) for all features, or a pair for each."""


@contextmanager
def fresh_fit(model: BaseEstimator) -> Iterator[None]:
    """Clear the fitted attributes before a fit, and again if it fails.

    >>> model = BaseEstimator()
    >>> model.coef_ = 1.0
    >>> with fresh_fit(model):
    ...     hasattr(model, "coef_")
    False
    """
    _forget(model)
    try:
        yield
    except BaseException:
        _forget(model)
        raise


def _forget(model: BaseEstimator) -> None:
    for name in [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]:
        delattr(model, name)


_SHAPES_ONLY = (
    r"Found array with \d+ (sample|feature)\(s\) \(shape=[\d, ()]+\) while a minimum of \d+ is required"
    r"|Found input variables with inconsistent numbers of samples: [\d, \[\]]+"
    r"|X has \d+ features, but \w+ is expecting \d+ features as input"
    r"|y should be a 1d array, got an array of shape [\d, ()]+ instead"
    r"|.*requires y to be passed, but the target y is None"
)
"""Messages of scikit-learn that contain no value.  Its other messages may quote a person's data."""


def validated(model: BaseEstimator, *data: ArrayLike, **options: Any) -> Any:
    """Check arrays as scikit-learn does, refused in our words: learning needs two people, prediction one.

    No message contains a value, because it may end up in a log.

    >>> validated(BaseEstimator(), [["secret"], ["1"]], [0, 1])
    Traceback (most recent call last):
    curador.errors.InvalidValue: X and y are not arrays of numbers. ...
    """
    try:
        with np.errstate(all="ignore"):
            return validate_data(model, *data, dtype=np.float64, ensure_min_samples=len(data), **options)
    except (TypeError, ValueError, OverflowError, AttributeError) as problem:
        message = str(problem)
    # Outside the handler, so that the refusal does not chain scikit-learn's error.
    raise InvalidValue(
        _reason(message), fix="Give one row of finite numbers, and where you learn one answer, per person."
    )


def _reason(message: str) -> str:
    found = re.match(_SHAPES_ONLY, message)
    if found:
        return f"{found[0]}."
    known = {
        "Reshape your data": "Expected a 2D array of people and features. Reshape your data.",
        "NaN": "There is NaN or infinity among the numbers.",
        "infinity": "There is NaN or infinity among the numbers.",
        "parse": "Sparse data are not read.",
        "Complex data": "Complex data not supported.",
        "feature names": "The feature names should match those that were passed during fit.",
    }
    return next((ours for theirs, ours in known.items() if theirs in message), "X and y are not arrays of numbers.")


def declared_classes(classes: Any) -> NDArray[Any]:
    """The two classes, sorted: two texts or two numbers.

    >>> declared_classes(["yes", "no"]).tolist()
    ['no', 'yes']
    """
    named = [] if isinstance(classes, str) or not isinstance(classes, Iterable) else list(classes)
    texts = [isinstance(one, str) for one in named]
    numbers = [isinstance(one, Real | np.bool_) and bool(np.isfinite(float(one))) for one in named]
    if len(named) != 2 or not (all(texts) or all(numbers)) or named[0] == named[1]:
        raise InvalidParameter(
            f"There must be two different classes, got {classes!r}.", fix="Declare two texts or numbers, as in [0, 1]."
        )
    return np.unique(np.asarray(named))


def signs(labels: NDArray[Any], declared: NDArray[Any]) -> Floats:
    """-1 for the first class and 1 for the second; other labels are refused.

    >>> signs(np.array(["no", "yes"]), np.array(["no", "yes"])).tolist()
    [-1.0, 1.0]
    """
    try:
        kind = type_of_target(labels)
    except (TypeError, ValueError):
        kind = "unknown"
    if kind not in ("binary", "multiclass"):
        raise InvalidValue(f"Unknown label type: {kind}.", fix="Give one of the two classes per person.")
    if kind == "multiclass":
        raise InvalidValue(
            "Only binary classification is supported. The type of the target is multiclass.",
            fix="Join classes, or learn one model for each against the rest, each at a share of epsilon.",
        )
    first, second = (np.asarray(labels == one, bool) for one in declared)
    if not (first | second).all():
        raise InvalidValue(
            f"Some labels are none of the classes {declared.tolist()}.",
            fix="Declare the classes that y has, or leave those rows out.",
        )
    return np.where(second, 1.0, -1.0)


def pairs(bounds: Any, features: int) -> list[tuple[Number, Number]]:
    """A pair of bounds for each feature.

    >>> pairs((0, 1), 2)
    [(0, 1), (0, 1)]
    """
    try:
        found = np.asarray(bounds, dtype=object)
    except ValueError:  # rows of several lengths that numpy cannot lay out
        found = np.zeros(0, object)
    if found.shape == (2,):
        found = np.tile(found, (features, 1))
    if found.shape != (features, 2):
        raise InvalidParameter(
            f"Bounds are a pair (low, high), or one for each of the {features} features.", fix="Declare them all."
        )
    return [(low, high) for low, high in found]
