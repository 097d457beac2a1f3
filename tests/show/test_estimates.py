"""Figures of estimates: what they show is what was estimated."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.show.curves import save
from curador.show.estimates import MOST, plot_estimates
from curador.show.summary import Summary

DRINKS = Summary("frequencies", ("tea", "té"), (0.7, -0.01), 10, low=(0.5, 0.0), high=(0.9, 0.2), error=(0.1, 0.1))
AGE = Summary("mean", ("mean",), (104.0,), 10, name="age", low=(80.0,), high=(100.0,), bounds=(0.0, 100.0))
WAVE = Summary("distribution", (0, 1), (0.25, 0.75), 10, edges=(0.0, 1.0, 4.0), biased=True)


def test_points_and_intervals_are_where_they_should_be() -> None:
    (axes,) = plot_estimates([DRINKS], title="krr").axes
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert np.array_equal(points.get_xydata(), [[0.7, 0], [-0.01, 1]])
    bars: Any = axes.collections[0]
    assert [segment.tolist() for segment in bars.get_segments()] == [[[0.5, 0], [0.9, 0]], [[0.0, 1], [0.2, 1]]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["tea", "té"]
    assert "intervals, all at once" in axes.get_xlabel()
    low, high = axes.get_xlim()
    assert low < -0.01 < 0.9 < high


def test_each_attribute_has_a_panel_of_its_own() -> None:
    figure = plot_estimates([DRINKS, AGE, WAVE], title="record, ε = 1")
    assert len(figure.axes) == 3
    drinks, age, wave = figure.axes
    assert age.get_title(loc="left") == "age"
    assert age.get_xlim() == (0.0, 104.0)  # an unbiased estimate may lie beyond the bounds
    assert "biased" in wave.get_xlabel()
    steps: Any = wave.patches[0]
    assert np.allclose(steps.get_data().values, [0.25, 0.25])  # densities, not shares
    boxes = [axes.get_position() for axes in (wave, age, drinks)]
    assert all(a.y1 < b.y0 for a, b in pairwise(boxes))


def test_of_many_keys_the_largest_are_shown() -> None:
    many = Summary("frequencies", tuple(range(100)), tuple(i / 4950 for i in range(100)), 10)
    (axes,) = plot_estimates([many]).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [str(99 - i) for i in range(MOST)]
    assert axes.get_title(loc="left") == "(the 30 largest of 100)"
    assert many.largest(100) == list(range(100))


def test_what_is_biased_or_has_no_interval_says_so() -> None:
    biased = Summary("frequencies", ("a",), (1.0,), 10, biased=True)
    sketched = Summary("frequencies", ("a",), (1.0,), 10, error=(0.1,))
    first, second = plot_estimates([biased, sketched]).axes
    assert "biased estimate" in first.get_xlabel()
    assert "no interval" in second.get_xlabel()


def test_hostile_labels_are_drawn_as_they_are(tmp_path: Path) -> None:
    odd = Summary("frequencies", ("$x^2$", "a\nb\x00", "<script>", "w" * 300), (0.1, 0.2, 0.3, 0.4), 10)
    (axes,) = plot_estimates([odd], title="$T$ $").axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["$x^2$", "a?b?", "<script>", "w" * 23 + "…"]
    text = save(plot_estimates([odd], title="$T$ $"), tmp_path / "x.svg").read_text()
    assert "<script>" not in text
    save(plot_estimates([odd]), tmp_path / "x.png")


def test_nothing_is_not_drawn() -> None:
    with pytest.raises(InvalidParameter, match="nothing to draw"):
        plot_estimates([])


def test_json_has_a_row_for_each_value() -> None:
    assert WAVE.to_json()["estimates"] == [
        {"bucket": 0, "value": 0.25, "from": 0.0, "to": 1.0},
        {"bucket": 1, "value": 0.75, "from": 1.0, "to": 4.0},
    ]
    assert DRINKS.to_json()["estimates"][1] == {
        "key": "té",
        "value": -0.01,
        "low": 0.0,
        "high": 0.2,
        "standard_error": 0.1,
    }
