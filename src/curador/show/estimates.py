"""Figures of estimates from local reports: points with their intervals, and distributions."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from curador.errors import InvalidParameter
from curador.show.curves import COLOURS, _matplotlib, save
from curador.show.files import write_atomically
from curador.show.summary import Summary, as_percent, one_line, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 30
"""Rows of one panel; of more, the largest are shown."""

LABEL = 24
"""Characters of a label next to a panel."""

_INK, _FAINT, _SIZE = "#333333", "#dddddd", 9.0
_ROW, _WIDTH, _EDGE = 0.24, 6.4, 0.2  # inches


def plot_estimates(found: Sequence[Summary], *, title: str = "") -> Figure:
    """One panel for each attribute: a point and its interval for each key or mean, or a distribution.

    >>> drinks = Summary("frequencies", ("tea", "coffee"), (0.7, 0.3), 10, low=(0.5, 0.1), high=(0.9, 0.5))
    >>> plot_estimates([drinks], title="krr, ε = 1, n = 10")
    <Figure size 640x158 with 1 Axes>
    """
    _matplotlib()
    from matplotlib.figure import Figure

    if not found:
        raise InvalidParameter("There is nothing to draw.", fix="Estimate something first.")
    inner = [2.6 if one.kind == "distribution" else _ROW * max(2, len(one.largest(MOST))) for one in found]
    heads = [0.3 if one.name or _cut(one) else 0.0 for one in found]
    top, foot = (0.45 if title else _EDGE), 0.65
    height = top + sum(inner) + sum(heads) + foot * len(found)
    left = 0.35 + max(0.4, *(_width(one) for one in found))
    figure = Figure(figsize=(_WIDTH, height))
    if title:
        figure.text(_EDGE / _WIDTH, 1 - 0.28 / height, title, color=_INK, size=11, va="center", parse_math=False)
    y = height - top
    for one, tall, head in zip(found, inner, heads, strict=True):
        y -= head + tall
        box = (left / _WIDTH, y / height, 1 - (left + _EDGE) / _WIDTH, tall / height)
        _panel(figure.add_axes(box), one)
        y -= foot
    return figure


def write_plot(found: Sequence[Summary], path: Path, *, title: str = "") -> Path:
    """Draw :func:`plot_estimates` into a PNG or SVG file; an older figure stays until the new one is complete.

    >>> drinks = Summary("frequencies", ("tea", "coffee"), (0.7, 0.3), 10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plot([drinks], Path(folder) / "drinks.svg").read_text()[:5]
    '<?xml'
    """
    try:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # a box stands for it
            drawn = save(plot_estimates(found, title=title), Path(folder) / path.name)
            return write_atomically(path, drawn.read_bytes())
    except OSError:
        raise InvalidParameter(f"{path.name} cannot be written.", fix="Choose another place.") from None


def _panel(axes: Axes, one: Summary) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=_SIZE)
    axes.set_axisbelow(True)
    heading = " ".join(filter(None, (one_line(one.name), _cut(one))))
    axes.set_title(heading, loc="left", color=_INK, size=10, parse_math=False)
    if not one.values:
        axes.set_axis_off()
        axes.text(0, 0.5, "nothing was found" if one.users else "no reports", color=_INK, size=_SIZE, va="center")
        return
    (_distribution if one.kind == "distribution" else _points)(axes, one)


def _points(axes: Axes, one: Summary) -> None:
    rows = one.largest(MOST)
    y = np.arange(len(rows))
    values = np.array([one.values[i] for i in rows])
    axes.grid(axis="x", color=_FAINT, linewidth=0.6)
    if one.low:
        low, high = (np.array([column[i] for i in rows]) for column in (one.low, one.high))
        axes.hlines(y, low, high, color=COLOURS[4], linewidth=4.5, alpha=0.55)
    elif one.error:
        error = np.array([one.error[i] for i in rows])
        axes.hlines(y, values - error, values + error, color=COLOURS[6], linewidth=1)
    axes.plot(values, y, "o", color=COLOURS[0], markersize=5, markerfacecolor="white" if one.biased else COLOURS[0])
    axes.set_yticks(y, [shortened(one.labels[i], LABEL) for i in rows], parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    if one.kind == "frequencies":
        axes.axvline(0, color=_INK, linewidth=0.8)
        axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:g} %")
        if max(high.max() if one.low else 0.0, values.max()) <= 0:
            axes.set_xlim(right=0.01)
    elif one.bounds:  # unbiased estimates may lie beyond
        axes.set_xlim(min(one.bounds[0], values.min()), max(one.bounds[1], values.max()))
    axes.set_xlabel(_axis(one), color=_INK, size=_SIZE)


def _distribution(axes: Axes, one: Summary) -> None:
    edges = np.array(one.edges)
    density = np.array(one.values) / np.diff(edges)
    axes.stairs(density, edges, fill=True, color=COLOURS[4], alpha=0.55)
    axes.stairs(density, edges, color=COLOURS[0], linewidth=1.4)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=_FAINT, linewidth=0.6)
    axes.set_ylabel("density", color=_INK, size=_SIZE)
    axes.set_xlabel(_axis(one), color=_INK, size=_SIZE)


def _axis(one: Summary) -> str:
    what = {"frequencies": "share of people", "mean": "mean", "means": "mean", "distribution": "value"}[one.kind]
    sure = "" if one.confidence is None else f"{as_percent(one.confidence)} "
    limits = f"approximate {sure}interval" if one.approximate else f"{sure}interval"
    several = "s" if len(one.low) > 1 else ""
    together = ", all attributes at once" if one.name else ", all at once" if several else ""
    around = f"line: {limits}{several}{together}" if one.low else ""
    if one.error and not one.low:
        around = "line: one standard error, no interval"
    return ", ".join(filter(None, (what, around, "biased estimate" if one.biased else "")))


def _cut(one: Summary) -> str:
    whole = len(one.values)
    return f"(the {MOST} largest of {whole:,})" if one.kind != "distribution" and whole > MOST else ""


def _width(one: Summary) -> float:
    """Room for the labels, in inches; a letter is about two thirds as wide as high, wide ones as wide."""
    if one.kind == "distribution":
        return 0.4
    shown = [shortened(one.labels[i], LABEL) for i in one.largest(MOST)]
    wide = (sum(0.62 if ord(c) < 0x2E80 else 1.1 for c in text) for text in shown)
    return max(wide, default=0.0) * _SIZE / 72
