"""What the models made of sums have in common: files, explanations, units, and scikit-learn's own checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from curador.accounting.calibration import keeps
from curador.curator.curator import Curator
from curador.errors import InvalidParameter
from curador.learn import PCA, GaussianNB, KMeans, LinearRegression, Ridge, load, save
from curador.learn.model import PrivateModel
from curador.learn.rows.encoding import Encoding, KeyFeature, NumberFeature
from curador.learn.saved import to_json
from curador.privacy import ApproxDP, Neighbors
from curador.query.tables.table import Table

MADE: dict[str, Callable[..., Any]] = {
    "linear": LinearRegression,
    "ridge": Ridge,
    "components": PCA,
    "bayes": GaussianNB,
    "binned": lambda **settings: GaussianNB(bins=4, **settings),
    "clusters": lambda **settings: KMeans(2, **settings),
}
GUARANTEES = [(1, 1e-5, None), ("0.01", 1e-7, None), (None, None, "1e-9"), (None, None, 2), ("0.5", None, None)]
ANSWERS = ("predict", "predict_proba", "transform")
LABELS = {"linear": "c", "ridge": "c", "bayes": "k", "binned": "k"}


def held(name: str, rows: int = 60) -> Any:
    frame = frame_of(rows)
    declared: dict[str, Any] = {"bounds": {"a": (0, 9), "b": (0, 9)}, "keys": {"j": ["x", "y"]}}
    if LABELS.get(name) == "c":
        declared["label_bounds"] = (0, 9)
    elif name in LABELS:
        declared["classes"] = ["no", "yes"]
    model = MADE[name](epsilon="1/2", delta=1e-5, **declared)
    return model.fit(frame[["a", "b", "j"]], frame[LABELS[name]] if name in LABELS else None)


def frame_of(rows: int) -> pd.DataFrame:
    i = np.arange(rows)
    return pd.DataFrame(
        {
            "who": i // 3,
            "a": i % 10,
            "b": (i * 7) % 10,
            "c": (i * 3) % 10,
            "j": np.where(i % 2, "x", "y"),
            "k": np.where(i % 10 > 4, "yes", "no"),
        }
    )


@pytest.mark.parametrize("name", MADE)
def test_a_saved_model_is_read_again(name: str, tmp_path: Path) -> None:
    model = held(name)
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert type(again) is type(model)
    assert again.privacy_ == model.privacy_
    X = frame_of(20)[["a", "b", "j"]]
    asked = [answer for answer in ANSWERS if hasattr(model, answer)]
    assert asked
    for answer in asked:
        assert (getattr(again, answer)(X) == getattr(model, answer)(X)).all()
    if name == "ridge":
        assert isinstance(again, Ridge)
        assert (again.with_alpha(50).coef_ == model.with_alpha(50).coef_).all()
    if name == "components":
        assert isinstance(again, PCA)
        assert (again.with_components(1).components_ == model.components_[:1]).all()
        assert (again.get_feature_names_out() == model.get_feature_names_out()).all()


@pytest.mark.parametrize("name", MADE)
def test_a_file_has_the_same_shape_whatever_the_rows_are(name: str) -> None:
    def shape(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: shape(v) for k, v in x.items()}
        if isinstance(x, list):
            return [shape(v) for v in x]
        return "number" if isinstance(x, float) else x

    assert shape(to_json(held(name, 30))) == shape(to_json(held(name, 90)))


@pytest.mark.parametrize("name", MADE)
def test_a_unit_of_several_rows_pays_for_all_of_them(name: str, tmp_path: Path) -> None:
    """Three rows of each person count, and the noise is three times that of one."""
    frame_of(300).to_csv(tmp_path / "t.csv", index=False)
    numbers: dict[str, Any] = {n: {"type": "integer", "bounds": [0, 9]} for n in "abc"}
    keys: dict[str, Any] = {"j": {"type": "text", "keys": ["x", "y"]}, "k": {"type": "text", "keys": ["no", "yes"]}}
    table = Table(
        tmp_path / "t.csv", columns={"who": {"type": "integer"}, **numbers, **keys}, unit="who", contribution=3
    )
    curator = Curator({"t": table}, budget=ApproxDP(5, 1e-3))
    model = MADE[name](epsilon=1, delta=1e-5)
    settings: dict[str, Any] = {"features": ["a", "b", "j"], "label": LABELS.get(name)}
    many = curator.training(model, "t", **settings)
    one = curator.training(model, "t", contribution=1, **settings)
    noises = [deviation(run.learner) for run in (one, many)]
    assert noises[1] == pytest.approx(3 * noises[0], rel=1e-6)
    fitted: PrivateModel = curator.fit(model, "t", **settings)
    assert fitted.privacy_.unit == "who"
    for language in ("en", "es"):
        assert many.explain(language).count("\n") >= 3
    if name == "components":  # others say what their noise does to made-up rows
        assert many.explain() == curator.training(model, "t", **settings).explain()


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("name", MADE)
def test_the_event_keeps_the_guarantee(name: str, guarantee: tuple[Any, ...], neighbors: Neighbors) -> None:
    """Small ones too; one a little smaller is not kept."""
    encoding = Encoding((NumberFeature("a", 0, 9), *(KeyFeature(f"j{i}", tuple(range(99))) for i in range(9))))
    epsilon, delta, rho = guarantee
    extra: dict[str, Any] = {"label_bounds": (0, 9)} if LABELS.get(name) == "c" else {}
    extra |= {"classes": [0, 1]} if LABELS.get(name) == "k" else {}
    model = MADE[name](epsilon=epsilon, delta=delta, rho=rho, **extra)
    learner = model._learner(None, encoding, None, 2, neighbors, None)
    assert keeps(learner.event, learner.guarantee)
    assert not keeps(learner.event, learner.guarantee.share("0.98"))


def deviation(learner: Any) -> float:
    """The deviation of the first noise of a learner."""
    if hasattr(learner, "sums"):
        return float(learner.sums.noise.variance**0.5)
    noise = learner.moments.noise if hasattr(learner, "moments") else learner.settings.moments(learner.encoding).noise
    return float(noise.sigma)


@pytest.mark.parametrize("name", ["linear", "bayes", "clusters"])
def test_a_score_on_private_rows_is_not_free(name: str) -> None:
    model = held(name)
    rows = frame_of(20)
    asked = [rows[["a", "b", "j"]], *([rows[LABELS[name]]] if name in LABELS else [])]
    assert np.isfinite(model.score(*asked))
    model.curator = object()
    with pytest.raises(InvalidParameter, match="charged"):
        model.score(*asked)


DECLARED = "classes are declared, never read from the labels"
VALUES = "an error that depends on a value would say who is in the data"
NOISE = "two fits have different noise"
EXPECTED = {
    "check_classifiers_classes": DECLARED,
    "check_classifiers_train": DECLARED,
    "check_classifiers_regression_target": VALUES,
    "check_classifiers_one_label": VALUES,
    "check_clustering": "no label of a row is kept in a model",
    "check_dtype_object": VALUES,
    "check_estimators_empty_data_messages": VALUES,
    "check_fit_idempotent": NOISE,
    "check_methods_subset_invariance": NOISE,
    "check_methods_sample_order_invariance": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_regressors_int": NOISE,
    "check_supervised_y_2d": NOISE,
    "check_supervised_y_no_nan": VALUES,
    "check_transformer_general": NOISE,
    "check_transformer_data_not_an_array": NOISE,
}


@pytest.mark.parametrize("name", ["linear", "ridge", "components", "bayes", "clusters"])
def test_checks_of_scikit_learn(name: str) -> None:
    declared: dict[str, Any] = {"bounds": (-5, 5) if LABELS.get(name) == "c" else (-100, 100)}
    if LABELS.get(name) == "c":
        declared["label_bounds"] = (-500, 500)
    elif name in LABELS:
        declared["classes"] = [0, 1]
    model = MADE[name](epsilon=1000, delta=1e-5, **declared)
    found = check_estimator(model, on_fail=None, on_skip=None, expected_failed_checks=EXPECTED)
    failed = {x["check_name"]: x["exception"] for x in found if x["status"] == "failed"}
    assert failed == {}
    assert sum(x["status"] == "passed" for x in found) > 30


@pytest.mark.parametrize(
    ("name", "said"),
    [("clusters", "squared distances from centres is"), ("components", "along any direction has noise of deviation")],
)
def test_what_settings_reach_is_said_before_anything_is_paid(name: str, said: str) -> None:
    columns = {column: {"type": "real", "bounds": [0, 10]} for column in "ab"}
    curator = Curator({"t": Table("no-such.csv", columns=columns)}, budget=ApproxDP(2, 1e-4))
    few, many = (MADE[name](epsilon=epsilon, delta=1e-5) for epsilon in ("0.001", 1))
    texts = [curator.training(model, "t", features=["a", "b"]).explain() for model in (few, many)]
    assert all(said in " ".join(text.split()) for text in texts)
    assert texts[0] != texts[1]
    wide = {"k": {"type": "text", "keys": [str(i) for i in range(1500)]}}
    held_wide = Curator({"t": Table("no-such.csv", columns=wide)}, budget=ApproxDP(2, 1e-4))
    assert "made-up" not in held_wide.training(many, "t", features=["k"]).explain()
