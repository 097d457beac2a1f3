"""Trials read no private row, and show what settings do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.learn import GaussianNB, LinearRegression, LogisticRegression
from curador.learn.score import ModelScore
from curador.learn.trials import Trials, batch_curve, epsilon_curve, learning_curve, score_curve
from curador.mechanisms.laplace import IntegerLaplace
from tests.curator.test_training import held

DECLARED: dict[str, Any] = {"bounds": {"a": (0, 10)}, "keys": {"k": ["x", "y"]}, "classes": [0, 1]}


def test_more_epsilon_and_more_rows_are_more_right() -> None:
    for found in (
        epsilon_curve(LogisticRegression(delta=1e-5, **DECLARED), ["0.001", 2], rows=3000, repeats=4),
        learning_curve(GaussianNB("0.05", **DECLARED), [10, 8000], repeats=4),
    ):
        assert found.source == "made-up"
        assert found.plain is not None
        assert found.right[0] + 0.05 < found.right[1] < found.plain + 0.02


def test_batches_are_of_dp_sgd_at_one_cost() -> None:
    model = LogisticRegression(
        "0.1", 1e-5, solver="sgd", steps=20, bounds=dict.fromkeys("abcdef", (0, 1)), classes=[0, 1]
    )
    found = batch_curve(model, [5, 1000], rows=2000, repeats=3)
    assert found.places == (5, 1000)
    assert found.right[0] < found.right[1]
    assert found.plain is not None
    for wrong in (LogisticRegression(1, 1e-5, **DECLARED), model.set_params(noise_multiplier=1)):
        with pytest.raises(InvalidParameter, match="DP-SGD"):
            batch_curve(wrong, [20])


def test_public_rows_are_split_in_two() -> None:
    X = np.array([[1.0], [9.0]] * 500)
    model = GaussianNB(50, bounds=(0, 10), classes=["no", "yes"])
    found = epsilon_curve(model, [1, 50], public=(X, ["no", "yes"] * 500), repeats=2)
    assert found.source == "public"
    assert len(found.runs[0]) == 2
    with pytest.raises(InvalidParameter, match="500 rows"):
        learning_curve(model, [600], public=(X, ["no", "yes"] * 500))


def test_a_model_with_a_curator_is_not_tried() -> None:
    curator = held()
    model = LogisticRegression(delta=1e-5, **DECLARED, curator=curator)
    with pytest.raises(InvalidParameter, match="private rows"):
        epsilon_curve(model, [1], public=([[1.0, "x"]], [0]))
    with pytest.raises(InvalidParameter, match="private rows"):
        learning_curve(model, [10])
    assert len(curator.history()) == 0
    with pytest.raises(InvalidParameter, match="classifier"):
        epsilon_curve(LinearRegression(1), [1])
    with pytest.raises(InvalidParameter, match="names"):
        epsilon_curve(GaussianNB(1, bounds=(0, 1), classes=[0, 1]), [1])


def test_scores_that_were_bought_are_drawn_with_their_intervals() -> None:
    noise = IntegerLaplace(1, "0.01")
    found = score_curve({1: ModelScore(8000, 2000, noise, "2"), 0.1: ModelScore(7000, 3000, noise, "1")})
    assert found.places == (0.1, 1)
    assert found.source == "charged"
    assert found.bars is not None
    assert all(0.005 < bar < 0.05 for bar in found.bars)
    with pytest.raises(InvalidParameter, match="no scores"):
        score_curve({1: 0.8})  # type: ignore[dict-item]


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_figure_says_on_which_rows(language: str) -> None:
    pytest.importorskip("matplotlib")
    notes = set()
    for source in ("made-up", "public", "charged"):
        figure = Trials("rows", (10, 100), ((0.5, 0.6), (0.7, 0.8)), source, plain=0.9).plot(language)
        notes.add(figure.legends[0].get_title().get_text())
        (axes,) = figure.axes
        assert axes.get_ylim()[0] > 0.4
    assert len(notes) == 3
    with pytest.raises(InvalidParameter):
        Trials("rows", (1,), ((0.5,),), "private")
