"""Every estimator and tool of curador.learn once, in a process of its own; prints the version of scikit-learn.

Run by test_oldest.py with the oldest scikit-learn that pyproject.toml allows.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from curador import ApproxDP, Curator, Table, learn

DECLARED: dict[str, Any] = {"bounds": {"a": (0, 10), "b": (0, 10)}, "keys": {"k": ["x", "y"]}}
CLASSES: dict[str, Any] = {"classes": ["no", "yes"]}
MODELS: dict[str, tuple[Any, str | None]] = {
    "LogisticRegression": (learn.LogisticRegression(50, 1e-5, **DECLARED, **CLASSES), "c"),
    "LinearSVC": (learn.LinearSVC(50, 1e-5, **DECLARED, **CLASSES), "c"),
    "AdditiveClassifier": (learn.AdditiveClassifier(50, 1e-5, **DECLARED, **CLASSES), "c"),
    "GaussianNB": (learn.GaussianNB(50, **DECLARED, **CLASSES), "c"),
    "LinearRegression": (learn.LinearRegression(50, 1e-5, **DECLARED, label_bounds=(0, 10)), "y"),
    "Ridge": (learn.Ridge(1, epsilon=50, delta=1e-5, **DECLARED, label_bounds=(0, 10)), "y"),
    "PCA": (learn.PCA(2, epsilon=50, delta=1e-5, **DECLARED), None),
    "KMeans": (learn.KMeans(2, epsilon=50, **DECLARED), None),
}


def rows() -> pd.DataFrame:
    i = np.arange(2000)
    made = pd.DataFrame({"a": i % 11, "b": (7 * i) % 11, "k": np.where(i % 3 == 0, "x", "y"), "y": i % 11})
    return made.assign(c=np.where(i % 11 > 5, "yes", "no"))


def main() -> None:
    data = rows()
    X = data[["a", "b", "k"]]
    every = {n for n in dir(learn) if isinstance(getattr(learn, n), type) and hasattr(getattr(learn, n), "get_params")}
    for name, (model, label) in MODELS.items():
        y = None if label is None else data[label]
        try:
            clone(model).predict(X) if hasattr(model, "predict") else clone(model).transform(X)
        except NotFittedError:
            pass
        else:
            raise AssertionError(f"{name} answers before it is fitted")
        fitted = clone(model).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        for answer in ("predict", "predict_proba", "transform", "decision_function"):
            if hasattr(fitted, answer):
                assert (getattr(again, answer)(X) == getattr(fitted, answer)(X)).all(), (name, answer)
        if label == "c":
            assert fitted.score(X, y) > 0.9, name
            assert cross_val_score(model, X, y, cv=2).min() > 0.8, name
        if label == "y":
            assert fitted.score(X, y) > 0.9, name
        repr(fitted), fitted.get_params()
    tools = (learn.BoundsScaler((0, 10)), learn.BoundsBinner((0, 10), bins=4), learn.KeyEncoder({"k": ["x", "y"]}))
    for tool in tools:
        columns = ["k"] if isinstance(tool, learn.KeyEncoder) else ["a", "b"]
        assert len(clone(tool).set_output(transform="pandas").fit_transform(X[columns])) == len(X)
    steps = make_pipeline(learn.BoundsScaler((0, 10)), learn.LogisticRegression(50, 1e-5, bounds=(-1, 1), **CLASSES))
    assert steps.fit(X[["a", "b"]], data["c"]).score(X[["a", "b"]], data["c"]) > 0.9
    left = every - set(MODELS) - {type(tool).__name__ for tool in tools}
    assert not left, f"not tried: {left}"
    told = {"a": {"type": "integer", "bounds": [0, 10]}, "c": {"type": "text", "keys": ["no", "yes"]}}
    curator = Curator({"t": Table(data[["a", "c"]], columns=told)}, budget=ApproxDP(100, 1e-2))
    of = learn.LogisticRegression(1, 1e-5, bounds=(0, 10), **CLASSES, curator=curator, in_search=True)
    GridSearchCV(of, {"clip": [1, 3]}, cv=2, scoring=learn.ChargedAccuracy("0.1")).fit(data[["a"]], data["c"])
    assert len(curator.history()) == 9  # five fits, four scores
    assert curator.fit(learn.LogisticRegression(1, 1e-5), "t", features=["a"], label="c").privacy_.charge == "10"
    print(sklearn.__version__)


if __name__ == "__main__":
    main()
