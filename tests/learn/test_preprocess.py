"""Preprocessing by declarations: no value is read when fitting, and each row is transformed by itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression as LogisticOfOthers
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from curador.errors import CuradorError, InvalidParameter
from curador.learn import (
    PCA,
    BoundsBinner,
    BoundsScaler,
    GaussianNB,
    KeyEncoder,
    LinearRegression,
    LogisticRegression,
    check_pipeline,
    load,
    save,
)
from curador.learn.rows.encoding import SCALE, NumberFeature

FRAME = pd.DataFrame({"age": [0, 25.0, 100, 300, np.nan], "height": [1.0, 1.5, 2, -np.inf, 0]})
BOUNDS = {"age": (0, 100), "height": (1, 2)}
NAN = float("nan")


class Untouchable:
    """Columns that may be named and not be read."""

    columns = ("age", "height")
    shape = (3, 2)

    def __getitem__(self, name: object) -> None:
        raise AssertionError("a value was read")

    def __array__(self, *args: Any, **settings: Any) -> None:
        raise AssertionError("a value was read")


@pytest.mark.parametrize(
    "made", [BoundsScaler(BOUNDS), BoundsBinner(BOUNDS), KeyEncoder({"age": [1, 2], "height": ["x"]})]
)
def test_fitting_reads_no_value(made: Any) -> None:
    fitted = made.fit(Untouchable())
    assert fitted.feature_names_in_.tolist() == ["age", "height"]
    with pytest.raises(AssertionError, match="was read"):
        fitted.transform(Untouchable())


def test_numbers_are_scaled_by_their_bounds() -> None:
    scaler = BoundsScaler(BOUNDS).fit(FRAME)
    found = scaler.transform(FRAME)
    assert found.tolist() == [[-1, -1], [-0.5, 0], [1, 1], [1, 0], [0, -1]]
    assert scaler.inverse_transform(found)[:3] == pytest.approx(FRAME.to_numpy()[:3])
    assert scaler.get_feature_names_out().tolist() == ["age", "height"]
    encoded = NumberFeature("age", 0, 100).encoded(FRAME["age"].to_numpy())
    assert encoded.tolist() == (found[:, 0] * SCALE).tolist()  # as models scale it themselves


def test_keys_become_columns() -> None:
    frame = pd.DataFrame({"sex": ["F", None, "M"], "job": [3, 1, 7]})
    encoder = KeyEncoder({"job": [1, 2, 3], "sex": ["F", "M"]}).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["sex=F", "sex=M", "job=1", "job=2", "job=3"]
    assert encoder.transform(frame).tolist() == [[1, 0, 0, 0, 1], [0, 0, 1, 0, 0], [0, 1, 0, 0, 0]]
    assert encoder.set_output(transform="pandas").transform(frame).columns[0] == "sex=F"


def test_numbers_are_in_parts_of_their_bounds() -> None:
    found = BoundsBinner(BOUNDS, bins=4).fit(FRAME).transform(FRAME)
    assert found.tolist() == [[0, 0], [1, 2], [3, 3], [3, 0], [-1, 0]]


def test_a_row_is_transformed_by_itself() -> None:
    some = np.random.default_rng(0).normal(0, 3, (500, 3))
    for made in (BoundsScaler((-2, 2)), BoundsBinner((-2, 2), bins=7)):
        whole = made.fit(some).transform(some)
        assert (np.vstack([made.transform(row[None, :]) for row in some]) == whole).all()


def test_they_stand_before_models_in_a_pipeline() -> None:
    rows = np.arange(4000)
    frame = pd.DataFrame({"age": rows % 100, "sex": np.where(rows % 3, "F", "M")})
    label = (frame["age"] > 50).astype(int)
    before = make_column_transformer(
        (BoundsScaler({"age": (0, 100)}), ["age"]), (KeyEncoder({"sex": ["F", "M"]}), ["sex"])
    )
    line = make_pipeline(before, LinearRegression(1, 1e-5, bounds=(-1, 1), label_bounds=(0, 1)))
    assert line.fit(frame, label).score(frame, label) > 0.6
    parts = BoundsBinner({"age": (0, 100)}, bins=10).set_output(transform="pandas")
    bayes = make_pipeline(parts, GaussianNB(1, keys={"age": range(10)}, classes=[0, 1]))
    assert bayes.fit(frame[["age"]], label).score(frame[["age"]], label) > 0.95


@pytest.mark.parametrize(
    "made",
    [
        BoundsScaler(),
        BoundsScaler({"age": (0, 100)}),
        BoundsScaler([(0, 1)]),
        BoundsScaler((1, 0)),
        BoundsBinner(BOUNDS, bins=1),
        KeyEncoder(),
        KeyEncoder({"age": [1]}),
        KeyEncoder([[1]]),
        KeyEncoder("ab"),
        KeyEncoder([[1, 1], [2]]),
    ],
)
def test_what_is_not_declared_is_refused(made: Any) -> None:
    with pytest.raises(CuradorError):
        made.fit(FRAME)


def test_other_columns_are_refused() -> None:
    scaler = BoundsScaler(BOUNDS).fit(FRAME)
    with pytest.raises(CuradorError, match="names"):
        scaler.transform(FRAME[["height", "age"]])
    with pytest.raises(CuradorError, match="3 features"):
        scaler.transform([[1, 2, 3]])
    with pytest.raises(CuradorError, match="shape"):
        scaler.inverse_transform([[1]])
    assert BoundsScaler((0, 1)).fit([[NAN]]).transform([[NAN]]).tolist() == [[0]]


EXPECTED = {
    "check_dtype_object": "an error that depends on a value would say who is in the data",
    "check_estimators_empty_data_messages": "no rows are rows like any other",
}


@pytest.mark.parametrize("made", [BoundsScaler((-100, 100)), BoundsBinner((-100, 100))])
def test_checks_of_scikit_learn(made: Any) -> None:
    found = check_estimator(made, on_fail=None, on_skip=None, expected_failed_checks=EXPECTED)
    assert {x["check_name"]: x["exception"] for x in found if x["status"] == "failed"} == {}


def test_a_pipeline_that_learns_from_rows_is_refused_by_its_check() -> None:
    """Nested too; a model cannot see what stands before it, so its sentence says which rows it counts."""
    model = LogisticRegression(1, 1e-5, bounds=(-1, 1), classes=[0, 1], steps=4)
    columns = ColumnTransformer([("n", BoundsScaler((0, 10)), [0]), ("k", KeyEncoder([["a"]]), [1])], remainder="drop")
    private = make_pipeline("passthrough", PCA(epsilon=1, bounds=(0, 1)), model)
    for fine in (model, make_pipeline(columns, model), private):
        assert check_pipeline(fine) is fine
    learned: Any
    for learned in (
        make_pipeline(StandardScaler(), model),
        make_pipeline(FeatureUnion([("a", BoundsScaler((0, 10))), ("b", MinMaxScaler())]), model),
        make_pipeline(ColumnTransformer([("n", BoundsScaler((0, 10)), [0])], remainder=StandardScaler()), model),
        make_pipeline(BoundsScaler((0, 10)), LogisticOfOthers()),
    ):
        with pytest.raises(InvalidParameter, match="may learn from private rows") as refused:
            check_pipeline(learned)
        assert refused.value.code == "step-learns"


def test_the_sentence_of_a_model_of_arrays_says_which_rows_it_counts(tmp_path: Path) -> None:
    model = GaussianNB(1, bounds=(-1, 1), classes=[0, 1]).fit([[0.5], [-0.5]], [0, 1])
    assert "what a transformer learned from rows before is not covered" in model.privacy_.sentence()
    assert "transformador" in model.privacy_.sentence("es")
    save(model, tmp_path / "model.json")
    assert load(tmp_path / "model.json").privacy_ == model.privacy_
    older = json.loads((tmp_path / "model.json").read_text())
    del older["privacy"]["arrays"]
    (tmp_path / "older.json").write_text(json.dumps(older))
    assert load(tmp_path / "older.json").privacy_ == model.privacy_  # what no ledger counted was of arrays
    assert "transformer" not in replace(model.privacy_, arrays=False).sentence()
