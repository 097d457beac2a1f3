"""Models as files: the same model again, nothing of the rows in it, and nothing run when one is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.learn import LogisticRegression, load, save
from curador.learn.saved import to_json

X = np.array([[1.0, 2.0], [8.0, 3.0]] * 50)
Y = np.array(["no", "yes"] * 50)


def fitted() -> LogisticRegression:
    return LogisticRegression(epsilon="1/2", delta=1e-5, bounds=(0, 10), classes=("no", "yes"), steps=3).fit(X, Y)


def test_a_saved_model_is_read_again(tmp_path: Path) -> None:
    model = fitted()
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert isinstance(again, LogisticRegression)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.get_params() == model.get_params()
    assert again.privacy_ == model.privacy_
    assert again.classes_.tolist() == ["no", "yes"]
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_a_file_holds_nothing_of_the_rows() -> None:
    """Twice the rows, other values: the same file but for the noised numbers and what is made of them."""

    def shape(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: shape(v) for k, v in x.items()}
        if isinstance(x, list):
            return [shape(v) for v in x]
        return type(x).__name__ if isinstance(x, float) else x

    model = LogisticRegression(epsilon="1/2", delta=1e-5, bounds=(0, 10), classes=("no", "yes"), steps=3)
    few, many = to_json(fitted()), to_json(model.fit(np.vstack([X, X[::-1] + 1]), np.concatenate([Y, Y])))
    assert shape(few) == shape(many)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"model": "save"},
        {"model": "os"},
        {"model": "ModelPrivacy"},
        {"fitted": {"__class__": 1}},
        {"fitted": {"predict": 1}},
        {"settings": {"magic": 1}},
        {"features": [{"name": "a"}]},
        {"privacy": {}},
    ],
)
def test_other_files_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({**to_json(fitted()), **change}))
    with pytest.raises(InvalidParameter):
        load(tmp_path / "m.json")


def test_a_file_that_is_not_there_or_no_json(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="cannot be read"):
        load(tmp_path / "none.json")
    (tmp_path / "m.json").write_bytes(b"\xff\x00")
    with pytest.raises(InvalidParameter, match="not a model"):
        load(tmp_path / "m.json")
