"""K-means: both doors, keys as columns, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.learn.models.clusters import KMeans
from curador.privacy import ApproxDP, PureDP
from curador.query.tables.table import Table

CENTRES = np.array([[20, 20], [20, 80], [80, 50]])


def points(count: int) -> pd.DataFrame:
    some = np.random.default_rng(2)
    at = CENTRES[some.integers(0, 3, count)] + some.normal(0, 4, (count, 2))
    return pd.DataFrame(at.clip(0, 100).round(2), columns=["a", "b"])


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    points(6000).to_csv(tmp_path / "points.csv", index=False)
    columns: dict[str, Any] = {name: {"type": "real", "bounds": [0, 100]} for name in "ab"}
    return Curator({"points": Table(tmp_path / "points.csv", columns=columns)}, budget=ApproxDP(10, 1e-3))


def sorted_centres(model: KMeans) -> Any:
    return model.cluster_centers_[np.lexsort(model.cluster_centers_.T[::-1].round(-1))]


@pytest.mark.parametrize("settings", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-5}])
def test_both_doors_find_the_centres(curator: Curator, settings: dict[str, Any]) -> None:
    held = KMeans(3, bounds=(0, 100), **settings).fit(points(6000))
    bought = curator.fit(KMeans(3, **settings), "points", features=["a", "b"])
    for model in (held, bought):
        assert sorted_centres(model) == pytest.approx(CENTRES, abs=8)
    left = curator.budget("points").remaining
    again = curator.fit(KMeans(3, **settings), "points", features=["a", "b"])
    assert curator.budget("points").remaining == left
    assert (again.cluster_centers_ == bought.cluster_centers_).all()


def test_distances_and_clusters_agree() -> None:
    model = KMeans(3, epsilon=1, bounds=(0, 100))
    frame = points(3000)
    found = model.fit_predict(frame)
    away = model.transform(frame)
    assert away.shape == (3000, 3)
    assert (away.argmin(axis=1) == found).mean() > 0.999
    assert model.score(frame) == pytest.approx(-(away.min(axis=1) ** 2).sum())
    assert model.score(frame) / 3000 > -0.05  # one cluster alone: 0.6
    assert not hasattr(model, "labels_")
    assert model.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2"]


def test_keys_are_columns_too() -> None:
    frame = pd.DataFrame({"a": [0.5] * 4000, "k": ["x", "y"] * 2000})
    model = KMeans(2, rho=1, bounds={"a": (0, 1)}, keys={"k": ["x", "y"]}).fit(frame)
    assert sorted(model.cluster_centers_[:, 1]) == pytest.approx([0, 1], abs=0.05)


def test_what_is_bought_is_the_centres(curator: Curator) -> None:
    run = curator.training(KMeans(3, epsilon=1), "points", features=["a", "b"])
    assert run.guarantee == PureDP(1)
    assert run.kinds == {"laplace"}
    kept = json.loads(run.run(curator._engines))
    assert list(kept) == ["centres"]
    assert np.shape(kept["centres"]) == (3, 2)
    other = curator.training(KMeans(4, epsilon=1), "points", features=["a", "b"])
    assert run.identity != other.identity


def test_one_cluster_is_the_mean() -> None:
    model = KMeans(1, rho=10, bounds=(0, 100)).fit(points(2000))
    assert model.cluster_centers_[0] == pytest.approx(points(2000).mean(), abs=1)


@pytest.mark.parametrize("change", [{"n_clusters": 0}, {"rounds": 0}, {"bounds": None}, {"n_clusters": 2.5}])
def test_what_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CuradorError):
        KMeans(epsilon=1, bounds=(0, 1)).set_params(**change).fit([[0.5]])


def test_a_label_is_refused(curator: Curator) -> None:
    with pytest.raises(CuradorError, match="no label"):
        curator.fit(KMeans(epsilon=1), "points", features=["a"], label="b")
