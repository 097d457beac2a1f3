"""Panels show the means they were given with their bars, the same colours everywhere, and one legend for all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from curador.errors import InvalidParameter
from curador.show.curves import save
from curador.show.panels import Panel, RepeatedRuns, plot_panels

FOUND = RepeatedRuns([0.5, 1, 2], [[8.0, 10.0, 12.0], [2.0, 3.0, 4.0], [1.0, 1.0, 1.0]])
OTHER = RepeatedRuns([0.5, 2], [[30.0], [20.0]])


def points(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Each line of a panel by its label."""
    made = {}
    for bars in axes.containers:
        x, y = bars.lines[0].get_data()
        made[bars.get_label()] = (np.asarray(x).tolist(), np.asarray(y).tolist())
    return made


def test_means_and_two_standard_errors() -> None:
    assert FOUND.mean.tolist() == [10, 3, 1]
    assert FOUND.reach == pytest.approx([2 * 2 / math.sqrt(3), 2 * 1 / math.sqrt(3), 0])
    assert OTHER.reach.tolist() == [0, 0]


def test_a_panel_shows_its_numbers() -> None:
    figure = plot_panels([Panel("BR", {"a": FOUND, "b": OTHER}, {"level": 5.0}, "x", "y")], columns=1)
    (axes,) = figure.axes
    shown = points(axes)
    assert shown["a"][1] == [10, 3, 1]
    assert shown["b"][1] == [30, 20]
    assert shown["a"][0] == pytest.approx([0.5, 1, 2], rel=0.03)  # a little aside of b's
    assert shown["a"][0][0] != shown["b"][0][0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.5", "1", "2"]
    assert axes.get_yscale() == "log"
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("x", "y", "BR")
    bar = axes.containers[0].lines[2][0].get_segments()[0]  # type: ignore[attr-defined]
    assert bar[:, 1] == pytest.approx([10 - FOUND.reach[0], 10 + FOUND.reach[0]])


def test_a_bar_below_zero_is_cut_on_a_logarithmic_axis_only() -> None:
    wide = RepeatedRuns([1, 2], [[0.1, 9.0], [0.1, 9.0]])

    def low(logy: bool) -> float:
        (axes,) = plot_panels([Panel("", {"a": wide}, logy=logy)], columns=1).axes
        return float(axes.containers[0].lines[2][0].get_segments()[0][0, 1])  # type: ignore[attr-defined]

    assert wide.mean[0] < wide.reach[0]
    assert low(True) == pytest.approx(wide.mean[0] / 10)
    assert low(False) == pytest.approx(wide.mean[0] - wide.reach[0])


def test_a_label_looks_the_same_in_every_panel_and_stands_once_in_the_legend() -> None:
    panels = [Panel("one", {"a": FOUND, "b": OTHER}), Panel("two", {"b": OTHER}, {"level": 1.0})]
    figure = plot_panels(panels, columns=2, title="Title", note="Note")
    first, second = (
        {bars.get_label(): (bars.lines[0].get_color(), bars.lines[0].get_marker()) for bars in axes.containers}  # type: ignore[attr-defined]
        for axes in figure.axes
    )
    assert first["b"] == second["b"] != first["a"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "level"]
    assert legend.get_title().get_text() == "Note"
    assert figure.get_suptitle() == "Title"


def test_nothing_covers_anything() -> None:
    panels = [Panel(f"panel {i}", {"a": FOUND, "b": OTHER}, {"level": 5.0}, "x", "y") for i in range(6)]
    figure = plot_panels(panels, columns=3, title="Title", note="A note of some length, about the bars.")
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes: list[Any] = [axes.get_tightbbox(renderer) for axes in figure.axes]
    boxes.append(figure.legends[0].get_window_extent(renderer))
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])
        assert one.x0 >= 0
        assert one.y0 >= 0
        assert one.x1 <= figure.bbox.x1 + 1


def test_a_share_starts_at_zero() -> None:
    (axes,) = plot_panels([Panel("", {"a": FOUND}, logy=False)], columns=1).axes
    assert axes.get_ylim()[0] == 0.0


def test_a_long_note_is_wrapped_and_not_cut() -> None:
    note = "Bars are two standard errors, over few repetitions. " * 4
    figure = plot_panels([Panel("", {"a": FOUND})] * 2, columns=2, note=note)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    shown = figure.legends[0].get_title()
    assert shown.get_text().replace("\n", " ") == note.strip()
    box = shown.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("logy", [True, False])
def test_no_bar_leaves_its_panel(logy: bool) -> None:
    far = RepeatedRuns([1, 2], [[0.5, 90.0], [0.1, 0.2]])
    (axes,) = plot_panels([Panel("", {"a": FOUND, "b": far}, {"level": 70.0}, logy=logy)], columns=1).axes
    assert axes.get_ylim()[1] > far.mean[0] + far.reach[0] > 100


@pytest.mark.parametrize(
    ("x", "runs"),
    [
        ([1, 2], [[1.0]]),
        ([2, 1], [[1.0], [2.0]]),
        ([1], [1.0]),
        ([], np.zeros((0, 3))),
        ([1], [[math.nan]]),
        ([math.inf], [[1.0]]),
        ([1], np.zeros((1, 0))),
    ],
)
def test_bad_runs_are_refused(x: Any, runs: Any) -> None:
    with pytest.raises(InvalidParameter):
        RepeatedRuns(x, runs)


def test_bad_figures_are_refused() -> None:
    panel = Panel("", {"a": FOUND})
    for panels, columns in (([], 1), ([panel], 2), ([panel], 0), ([Panel("", {})], 1)):
        with pytest.raises(InvalidParameter):
            plot_panels(panels, columns=columns)
    many = Panel("", {str(i): FOUND for i in range(9)})
    with pytest.raises(InvalidParameter, match="1 to 8 lines"):
        plot_panels([many], columns=1)


def test_figures_are_saved(tmp_path: Path) -> None:
    figure = plot_panels([Panel("ε", {"a": FOUND})] * 3, columns=2)
    assert isinstance(figure, Figure)
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 3
    for name in ("a.png", "a.svg"):
        assert save(figure, tmp_path / name).stat().st_size > 5000
