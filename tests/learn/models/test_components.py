"""Principal components: both doors, what is bought, and what is shown of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA as Exact

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.learn.models.components import PCA
from curador.learn.rows.encoding import SCALE
from curador.privacy import ApproxDP
from curador.query.tables.table import Table


def points(count: int) -> pd.DataFrame:
    some = np.random.default_rng(0)
    long, wide = some.normal(0, 15, count), some.normal(0, 5, count)
    frame = pd.DataFrame({"a": 60 + long + wide, "b": 40 - long + wide, "c": 50 + some.normal(0, 2, count)})
    return frame.clip(0, 100).round(3)


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    points(5000).to_csv(tmp_path / "points.csv", index=False)
    columns: dict[str, Any] = {name: {"type": "real", "bounds": [0, 100]} for name in "abc"}
    return Curator({"points": Table(tmp_path / "points.csv", columns=columns)}, budget=ApproxDP(10, 1e-3))


def test_with_hardly_any_noise_they_are_those_of_scaled_rows() -> None:
    frame = points(3000)
    model = PCA(rho=10**6, bounds=(0, 100)).fit(frame)
    exact = Exact().fit((frame - 50) / 50)
    assert np.abs(model.components_ @ exact.components_.T) == pytest.approx(np.eye(3), abs=0.01)
    assert model.explained_variance_ == pytest.approx(exact.explained_variance_, abs=1e-4)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)
    assert model.mean_ == pytest.approx(exact.mean_, abs=1e-3)
    assert np.abs(model.transform(frame)) == pytest.approx(np.abs(exact.transform((frame - 50) / 50)), abs=0.01)
    assert model.inverse_transform(model.transform(frame)) == pytest.approx(frame.to_numpy(), abs=0.1)


def test_both_doors_find_the_long_direction(curator: Curator) -> None:
    held = PCA(1, epsilon=1, delta=1e-5, bounds=(0, 100)).fit(points(5000))
    bought = curator.fit(PCA(1, epsilon=1, delta=1e-5), "points", features=["a", "b", "c"])
    for model in (held, bought):
        assert np.abs(model.components_) == pytest.approx(np.array([[0.71, 0.71, 0]]), abs=0.1)
    assert bought.get_feature_names_out().tolist() == ["pca0"]
    assert bought.feature_names_in_.tolist() == ["a", "b", "c"]


def test_rows_that_come_in_parts_are_the_same_rows(curator: Curator) -> None:
    run = curator.training(PCA(rho=10**6), "points", features=["a", "b", "c"])
    learner: Any = run.learner
    read = np.stack([np.arange(10), np.arange(10), np.arange(10)], axis=1).astype(np.int64) * 100
    kept = []
    for sizes in ([10], [3, 0, 7], [0, 10]):

        def parts(take: Any, sizes: list[int] = sizes) -> None:
            for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True):
                take(read[start : start + size])

        kept.append(np.array(json.loads(learner.learn(parts))["moments"]) / SCALE**2)
    assert kept[1] == pytest.approx(kept[0], abs=0.05)
    assert kept[2] == pytest.approx(kept[0], abs=0.05)
    assert kept[0][-1] == pytest.approx(10, abs=0.05)


def test_another_number_of_what_was_bought_is_free(curator: Curator) -> None:
    first = curator.fit(PCA(1, epsilon=1, delta=1e-5), "points", features=["a", "b", "c"])
    left = curator.budget("points").remaining
    other = curator.fit(PCA(3, epsilon=1, delta=1e-5), "points", features=["a", "b", "c"])
    assert curator.budget("points").remaining == left
    assert (other.components_[:1] == first.components_).all()
    assert (first.with_components(None).components_ == other.components_).all()
    assert first.with_components(0.5).n_components_ == 1
    assert first.with_components(0.9999).n_components_ == 3
    assert first.n_components_ == 1


def test_keys_are_columns_too() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0] * 500, "k": ["x", "y"] * 500})
    model = PCA(1, rho=10**6, bounds={"a": (0, 1)}, keys={"k": ["x", "y"]}).fit(frame)
    back = model.inverse_transform(model.transform(frame))
    assert back[:2] == pytest.approx(np.array([[0, 1, 0], [1, 0, 1]]), abs=0.02)


@pytest.mark.parametrize("wanted", [0, 4, 1.5, -1, "two", True])
def test_a_number_that_cannot_be_is_refused_before_rows_are_read(wanted: Any) -> None:
    with pytest.raises(CuradorError, match="n_components"):
        PCA(wanted, rho=1, bounds=(0, 1)).fit([[0.5, 0.5, 0.5]])


def test_a_label_and_wrong_shapes_are_refused(curator: Curator) -> None:
    with pytest.raises(CuradorError, match="no label"):
        curator.fit(PCA(rho=0.1), "points", features=["a"], label="b")
    with pytest.raises(CuradorError, match="components"):
        PCA(2, rho=1, bounds=(0, 1)).fit([[0.5, 0.5]]).inverse_transform([[1.0]])


def test_no_rows_at_all_are_fitted() -> None:
    model = PCA(rho=0.01, bounds=[(0, 1), (0, 1)]).fit(np.zeros((0, 2)))
    assert np.isfinite(model.transform([[0.5, 0.5]])).all()
    assert (model.explained_variance_ >= 0).all()
