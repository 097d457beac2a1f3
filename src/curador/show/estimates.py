"""Figures of what was estimated from local reports: points with their intervals, and distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from curador.errors import InvalidParameter
from curador.show.curves import COLOURS, _matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EstimateKind = Literal["frequencies", "mean", "means", "distribution"]
MOST = 30
"""Rows of one panel; of more, the largest are shown."""

_INK, _FAINT, _SIZE = "#333333", "#dddddd", 9.0
_ROW, _WIDTH, _EDGE = 0.24, 6.4, 0.2  # inches


@dataclass(frozen=True)
class Estimated:
    """What was estimated about one attribute, as plain values.

    ``low`` and ``high`` are limits that hold for all values at once, and empty if there are none.  A distribution has
    an edge more than values.

    >>> found = Estimated("frequencies", ("a", "b"), (0.7, 0.3), users=10, low=(0.5, 0.1), high=(0.9, 0.5))
    >>> [row["key"] for row in found.to_json()["estimates"]]
    ['a', 'b']
    """

    kind: EstimateKind
    labels: tuple[str | int, ...]
    values: tuple[float, ...]
    users: int
    name: str = ""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    error: tuple[float, ...] = ()
    """Standard errors, where they are known."""
    edges: tuple[float, ...] = ()
    bounds: tuple[float, float] | None = None
    """Between which a mean lies."""
    biased: bool = False
    confidence: float | None = None
    """How often all limits hold together, with those of a record's other attributes."""
    approximate: bool = False
    """Whether the limits are right in the long run only."""
    note: str = ""
    """What to know before using the numbers."""

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, with a row for each value."""
        key = {"frequencies": "key", "means": "coordinate", "mean": "mean", "distribution": "bucket"}[self.kind]
        columns: dict[str, Sequence[Any]] = {key: self.labels, "value": self.values}
        for title, column in (("low", self.low), ("high", self.high), ("standard_error", self.error)):
            if column:
                columns[title] = column
        if self.edges:
            columns |= {"from": self.edges[:-1], "to": self.edges[1:]}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        said = {"name": self.name, "kind": self.kind, "users": self.users, "biased": self.biased}
        limits = {"confidence": self.confidence, "approximate_limits": self.approximate}
        return {**said, **limits, "note": self.note, "estimates": rows}

    def largest(self, most: int) -> list[int]:
        """The rows to show, at most so many: all in their order, or the largest first."""
        every = list(range(len(self.values)))
        return every if len(every) <= most else sorted(every, key=lambda i: -self.values[i])[:most]


def as_percent(share: float) -> str:
    """A share in percent, with as many digits as it was given with.

    >>> as_percent(0.95), as_percent(0.999), as_percent(0.57)
    ('95%', '99.9%', '57%')
    """
    return f"{100 * share:.12g}%"


def one_line(text: object) -> str:
    """A name as it may be shown: what could move a cursor, start a line or turn the text around is a question mark.

    >>> one_line("te\\x1b[31ma")
    'te?[31ma'
    """
    return "".join(c if c.isprintable() else "?" for c in str(text))


def plot_estimates(found: Sequence[Estimated], *, title: str = "") -> Figure:
    """One panel for each attribute: a point and its interval for each key or mean, or a distribution.

    >>> drinks = Estimated("frequencies", ("tea", "coffee"), (0.7, 0.3), 10, low=(0.5, 0.1), high=(0.9, 0.5))
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


def _panel(axes: Axes, one: Estimated) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=_SIZE)
    axes.set_axisbelow(True)
    heading = " ".join(filter(None, (one_line(one.name), _cut(one))))
    axes.set_title(heading, loc="left", color=_INK, size=10, parse_math=False)
    if not one.values:
        axes.set_axis_off()
        axes.text(0, 0.5, "nothing was found" if one.users else "nobody reported", color=_INK, size=_SIZE, va="center")
        return
    (_distribution if one.kind == "distribution" else _points)(axes, one)


def _points(axes: Axes, one: Estimated) -> None:
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
    axes.set_yticks(y, [_short(one.labels[i]) for i in rows], parse_math=False)
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


def _distribution(axes: Axes, one: Estimated) -> None:
    edges = np.array(one.edges)
    density = np.array(one.values) / np.diff(edges)
    axes.stairs(density, edges, fill=True, color=COLOURS[4], alpha=0.55)
    axes.stairs(density, edges, color=COLOURS[0], linewidth=1.4)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=_FAINT, linewidth=0.6)
    axes.set_ylabel("density", color=_INK, size=_SIZE)
    axes.set_xlabel(_axis(one), color=_INK, size=_SIZE)


def _axis(one: Estimated) -> str:
    what = {"frequencies": "share of people", "mean": "mean", "means": "mean", "distribution": "value"}[one.kind]
    sure = "" if one.confidence is None else f"{as_percent(one.confidence)} "
    limits = f"approximate {sure}interval" if one.approximate else f"{sure}interval"
    several = "s" if len(one.low) > 1 else ""
    together = ", all attributes at once" if one.name else ", all at once" if several else ""
    around = f"line: {limits}{several}{together}" if one.low else ""
    if one.error and not one.low:
        around = "line: one standard error, no interval"
    return ", ".join(filter(None, (what, around, "biased estimate" if one.biased else "")))


def _cut(one: Estimated) -> str:
    whole = len(one.values)
    return f"(the {MOST} largest of {whole:,})" if one.kind != "distribution" and whole > MOST else ""


def _short(label: str | int) -> str:
    text = one_line(label)
    return text if len(text) <= 24 else text[:23] + "…"


def _width(one: Estimated) -> float:
    """Room for the labels, in inches; a letter is about two thirds as wide as high, wide ones as wide."""
    if one.kind == "distribution":
        return 0.4
    shown = [_short(one.labels[i]) for i in one.largest(MOST)]
    wide = (sum(0.62 if ord(c) < 0x2E80 else 1.1 for c in text) for text in shown)
    return max(wide, default=0.0) * _SIZE / 72
