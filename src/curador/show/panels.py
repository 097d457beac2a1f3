"""Errors of several methods side by side: small panels over epsilon or the number of people, one legend for all."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curador.errors import InvalidParameter
from curador.numbers import set_fields
from curador.show.curves import COLOURS, _matplotlib
from curador.show.words.say import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*"
"""One shape for each colour, so that lines can be distinguished in print and with colour blindness."""

LETTERS = 48
"""How many letters of a note fit below one panel."""

_INK, _FAINT = "#333333", "#dddddd"


@dataclass(frozen=True, eq=False)
class RepeatedRuns:
    """Measurements of repeated runs at several places: one row per place, one column per run.

    >>> found = RepeatedRuns([1, 2], [[1.0, 3.0], [0.5, 0.5]])
    >>> found.mean.tolist(), found.reach.tolist()
    ([2.0, 0.5], [2.0, 0.0])
    """

    x: ArrayLike
    runs: ArrayLike
    bars: ArrayLike | None = None
    """How far each bar reaches, where that is known otherwise."""

    def __post_init__(self) -> None:
        x, runs = np.asarray(self.x, np.float64), np.asarray(self.runs, np.float64)
        if x.ndim != 1 or runs.ndim != 2 or len(runs) != len(x) or not runs.size:
            raise InvalidParameter("There is one row of runs for each place.", fix="Pass x and a table of runs.")
        if not (np.isfinite(x).all() and np.isfinite(runs).all() and (np.diff(x) > 0).all()):
            raise InvalidParameter("Runs are numbers over an increasing x.", fix="Sort the places; drop failed runs.")
        set_fields(self, x=x)
        set_fields(self, runs=runs)

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.asarray(np.asarray(self.runs, np.float64).mean(axis=1))

    @property
    def reach(self) -> NDArray[np.float64]:
        """Two standard errors of the mean, 0 for a single run; or the bars that were given."""
        if self.bars is not None:
            return np.asarray(self.bars, np.float64)
        runs = np.asarray(self.runs, np.float64)
        if runs.shape[1] == 1:
            return np.zeros(len(runs))
        return np.asarray(2 * runs.std(axis=1, ddof=1) / math.sqrt(runs.shape[1]))


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel: measured lines, levels to compare with, and what its axes are.

    >>> Panel("BR", {"hybrid": RepeatedRuns([1, 2], [[1.0], [0.5]])}, ylabel="error").logy
    True
    """

    title: str
    lines: Mapping[str, RepeatedRuns]
    levels: Mapping[str, float] | None = None
    xlabel: str = ""
    ylabel: str = ""
    logy: bool = True
    bottom: float | None = 0.0
    """Where the axis begins if it is not logarithmic; None for a little below the lines."""


def plot_panels(panels: Sequence[Panel], *, columns: int, title: str = "", note: str = "") -> Figure:
    """Panels row by row, with one legend below them; a label has the same colour and shape in each.

    >>> panel = Panel("BR", {"hybrid": RepeatedRuns([0.5, 1, 2], [[3.0, 4.0], [1.0, 1.5], [0.5, 0.4]])})
    >>> plot_panels([panel, panel], columns=2)
    <Figure size 640x320 with 2 Axes>
    """
    if not panels or not 1 <= columns <= len(panels):
        raise InvalidParameter(f"{len(panels)} panels do not fill {columns} columns.", fix="Pass one panel at least.")
    lines = list(dict.fromkeys(label for panel in panels for label in panel.lines))
    levels = list(dict.fromkeys(label for panel in panels for label in panel.levels or {}))
    if not 1 <= len(lines) <= len(COLOURS):
        raise InvalidParameter(f"A figure shows 1 to {len(COLOURS)} lines, got {len(lines)}.", fix="Split them.")
    _matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    rows = math.ceil(len(panels) / columns)
    noted = textwrap.wrap(note, LETTERS * columns)
    height = 2.6 * rows + 0.6 + (0.35 if title else 0.0) + 0.2 * len(noted)
    figure = Figure(figsize=(3.2 * columns, height), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
    grid = np.ravel(np.asarray(figure.subplots(rows, columns, squeeze=False)))
    for axes, panel in zip(grid, panels, strict=False):
        _fill(axes, panel, lines, levels)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    shown = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    order = [*lines, *levels]
    legend = figure.legend(
        [shown[label] for label in order],
        order,
        loc="outside lower center",
        ncols=min(len(order), max(2, 2 * columns)),
        frameon=False,
        fontsize=9,
        title="\n".join(noted) or None,
        title_fontproperties={"size": 8},
    )
    legend.get_title().set_color("#666666")
    if title:
        figure.suptitle(title, x=0.01, ha="left", color=_INK, size=12, parse_math=False)
    return figure


def _fill(axes: Axes, panel: Panel, lines: Sequence[str], levels: Sequence[str]) -> None:
    for i, label in enumerate(lines):
        if label in panel.lines:
            found = panel.lines[label]
            # Slightly shifted, so that bars at the same place can be distinguished.
            x = np.asarray(found.x) * 1.035 ** (i - (len(lines) - 1) / 2)
            below = np.minimum(found.reach, 0.9 * found.mean) if panel.logy else found.reach
            axes.errorbar(
                x, found.mean, yerr=np.vstack([below, found.reach]), label=label, gid=label, color=COLOURS[i],
                marker=MARKERS[i], markersize=4.5, linewidth=1.5, elinewidth=1, capsize=2,
            )  # fmt: skip
    for i, label in enumerate(levels):
        if label in (panel.levels or {}):
            dashes = ((0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))[i % 3]
            axes.axhline((panel.levels or {})[label], label=label, color="#555555", linewidth=1.2, linestyle=dashes)
    axes.set_xscale("log", base=2)
    places = sorted({float(x) for line in panel.lines.values() for x in np.asarray(line.x)})
    axes.set_xticks(places, [_short(x) for x in places])
    axes.set_xticks([], minor=True)
    if panel.logy:
        _log_scale(axes)
    elif panel.bottom is not None:
        axes.set_ylim(bottom=panel.bottom)  # the top is where the highest bar ends
    axes.set_title(panel.title, loc="left", color=_INK, size=10, parse_math=False)
    axes.set_xlabel(panel.xlabel, color=_INK, size=9)
    axes.set_ylabel(panel.ylabel, color=_INK, size=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=8)
    axes.grid(axis="y", color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)


def _log_scale(axes: Axes) -> None:
    """A logarithmic axis whose ticks are plain numbers, and enough of them where it spans less than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    near = math.log10(high / low) < 2
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if near else (1.0,), numticks=12))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if near:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))


def _short(x: float) -> str:
    """A tick's label: 0.5, 2, 10k, 1M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if x >= unit:
            return f"{x / unit:g}{name}"
    return f"{x:g}"


def plot_trials(
    along: str, lines: RepeatedRuns, source: str, plain: float | None = None, language: str = "en", title: str = ""
) -> Figure:
    """How right a model was along epsilon, rows or the size of a batch, and on which rows that was measured.

    >>> plot_trials("epsilon", RepeatedRuns([0.1, 1], [[0.7, 0.72], [0.8, 0.81]]), "public", 0.82)
    <Figure size 320x360 with 1 Axes>
    """
    panel = Panel(
        title,
        {say("trials-noised", language): lines},
        None if plain is None else {say("trials-plain", language): plain},
        say(f"trials-{along}", language),
        say("trials-right", language),
        logy=False,
        bottom=None,
    )
    return plot_panels([panel], columns=1, note=say(f"trials-{source}", language))
