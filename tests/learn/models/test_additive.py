"""Steps of numbers: the bins that were declared, each row by itself, and heights that no line has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curador import ApproxDP, Curator, InvalidParameter, Table
from curador.accounting.calibration import keeps
from curador.learn import AdditiveClassifier, LogisticRegression, load, save
from curador.learn.models.additive import Binning, binning
from curador.learn.rows.encoding import SCALE
from curador.privacy import Neighbors
from tests.learn.rows.test_design import ENCODING, dense, made

RNG = np.random.default_rng(1)
X = RNG.uniform(0, 10, (6000, 2))
Y = np.where((X[:, 0] > 3) & (X[:, 0] < 7), "in", "out")


def model(**more: Any) -> AdditiveClassifier:
    return AdditiveClassifier(1, 1e-5, bounds=(0, 10), classes=["in", "out"], bins=10, **more)


def test_steps_are_learned_where_no_line_would_do() -> None:
    line = LogisticRegression(1, 1e-5, bounds=(0, 10), classes=["in", "out"]).fit(X, Y)
    found = model().fit(X, Y)
    assert line.score(X, Y) < 0.7
    assert found.score(X, Y) > 0.97
    ends, heights = found.steps_of("x0")
    assert ends.tolist() == pytest.approx([*range(11)], abs=0.02)
    assert heights[4:6].max() < heights[[0, 1, 8, 9]].min() - 2
    flat = found.steps_of("x1")[1]
    assert np.ptp(flat) < np.ptp(heights) / 3


def test_bins_are_of_the_row_alone_and_as_declared() -> None:
    bins = binning(ENCODING, {"a": [-1, 1, 1, 99, -99]})
    assert bins.edges == ((-512, 0, SCALE), ())
    design = bins.design(made(500))
    assert bins.design(made(500).some(np.array([17]))).codes.tolist() == design.codes[[17]].tolist()
    assert (dense(design) ** 2).sum(axis=1).max() <= design.encoding.most
    for number, code in zip(design.numbers[:, 0], design.codes[:, -1], strict=True):
        assert code == sum(number >= edge for edge in bins.edges[0])


def test_the_event_is_that_of_the_wide_rows() -> None:
    learner = model()._learner(None, ENCODING, None, 1, Neighbors.ADD_REMOVE, None)
    assert learner.binning is not None
    assert learner.wide.most > ENCODING.most
    assert keeps(learner.event, ApproxDP(1, 1e-5))
    assert learner.event != learner.settings.event(ENCODING, 1)


def test_from_a_table_saved_and_scored(tmp_path: Any) -> None:
    import pyarrow as pa

    data = pa.table({"x": X[:, 0], "side": Y})
    columns = {"x": {"type": "real", "bounds": [0, 10]}, "side": {"type": "text", "keys": ["out", "in"]}}
    curator = Curator({"t": Table(data, columns=columns)}, budget=ApproxDP(3, 1e-4))
    found = curator.fit(AdditiveClassifier(1, 1e-5, bins={"x": [3, 7]}), "t", features=["x"], label="side")
    assert curator.score(found, "t", label="side", epsilon=1).accuracy > 0.97
    save(found, tmp_path / "m.json")
    again: Any = load(tmp_path / "m.json")
    assert again.predict([[1.0], [5.0]]).tolist() == ["out", "in"]
    curator.fit(AdditiveClassifier(1, 1e-5, bins={"x": [4]}), "t", features=["x"], label="side")
    assert len(curator.history()) == 3, "other bins are another model"


@pytest.mark.parametrize("bins", [0, -1, "many", {"z": [1]}, 5000])
def test_bins_that_are_wrong_are_refused(bins: Any) -> None:
    with pytest.raises(InvalidParameter):
        binning(ENCODING, bins)
    assert Binning(((), ())).encoding(ENCODING) == ENCODING
