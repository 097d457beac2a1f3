"""How well a model knows a row: the score by which an attacker guesses whether it was learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter

Score = Callable[[Any, Any, Any], NDArray[np.float64]]
"""A model, rows and labels: one number for each row, higher where the model knows it better."""

SURE = 1e-12


def membership_score(model: Any, X: Any, y: Any = None) -> NDArray[np.float64]:
    """The score of each row by what a model says: any of scikit-learn's interface.

    The log-odds of its own label, as [CCNSTT22] has them; without chances the margin towards it; of a number the
    squared error; without labels how near a centre or how far from its components a row is.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> membership_score(model, [[0.0], [3.0]], [0, 0]).round(1).tolist()
    [1.4, -1.4]
    """
    if hasattr(model, "predict_proba") and y is not None:
        chances = np.clip(np.asarray(model.predict_proba(X), np.float64), SURE, 1)
        own = _own(chances, y, model.classes_)
        return np.asarray(np.log(own) - np.log(np.maximum(chances.sum(axis=1) - own, SURE)))
    if hasattr(model, "decision_function") and y is not None:
        margins = np.asarray(model.decision_function(X), np.float64)
        if margins.ndim == 1:
            return np.where(np.asarray(y) == model.classes_[1], margins, -margins)
        own = _own(margins, y, model.classes_)
        return np.asarray(own - np.where(margins == own[:, None], -np.inf, margins).max(axis=1))
    if y is not None and hasattr(model, "predict"):
        error = np.asarray(model.predict(X), np.float64) - np.asarray(y, np.float64)
        return -(error * error)
    if hasattr(model, "inverse_transform"):
        error = np.asarray(X, np.float64) - np.asarray(model.inverse_transform(model.transform(X)), np.float64)
        return np.asarray(-(error * error).sum(axis=1))
    if hasattr(model, "transform"):
        return np.asarray(-np.asarray(model.transform(X), np.float64).min(axis=1))
    raise InvalidParameter(
        "This model says nothing of a row.", fix="Give score=, which takes a model, rows and labels."
    )


def _own(columns: NDArray[np.float64], y: Any, classes: Any) -> NDArray[np.float64]:
    """The column of each row's own label; of a label that is no class, the least."""
    place = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    at = np.array([place.get(label, -1) for label in np.asarray(y).tolist()])
    return np.asarray(np.where(at >= 0, columns[np.arange(len(at)), at], columns.min(axis=1)))


def some_rows(X: Any, kept: NDArray[np.bool_]) -> Any:
    """Rows of an array or a data frame."""
    return X.iloc[np.flatnonzero(kept)] if hasattr(X, "iloc") else np.asarray(X)[kept]


def joined_rows(one: Any, other: Any) -> Any:
    """Two arrays or data frames, one after the other."""
    if hasattr(one, "iloc"):
        import pandas as pd

        return pd.concat([one, other], ignore_index=True)
    return np.concatenate([np.asarray(one), np.asarray(other)])
