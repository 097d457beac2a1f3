"""Curves as figures: δ against ε, the two errors of a test, Rényi divergence against its order, densities of noise.

A figure belongs to its caller: nothing is registered with pyplot, so there is nothing to close and no global state.
Lines carry their labels themselves, where they collide least, in colours that most people can distinguish.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curador.accounting.rules.tradeoffs import Curve, Tradeoff
from curador.errors import CuradorError, InvalidParameter, install
from curador.privacy import RenyiDP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawable = tuple[ArrayLike, ArrayLike] | Curve | Tradeoff | RenyiDP
"""Two sequences (x, y), or something that knows its own curve."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#444444", "#8c564b")
"""Okabe and Ito's palette, without its yellow and with a brown: distinguishable with most kinds of colour blindness."""

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "epsilon": "privacy loss ε",
        "delta": "δ",
        "fpr": "false-positive rate",
        "fnr": "least false-negative rate",
        "guessing": "guessing",
        "order": "order α",
        "divergence": "Rényi divergence of order α",
        "value": "value",
        "density": "density",
    },
    "es": {
        "epsilon": "pérdida de privacidad ε",
        "delta": "δ",
        "fpr": "tasa de falsos positivos",
        "fnr": "menor tasa de falsos negativos",
        "guessing": "azar",
        "order": "orden α",
        "divergence": "divergencia de Rényi de orden α",
        "value": "valor",
        "density": "densidad",
    },
}
SUFFIXES = (".png", ".svg")

_INK, _FAINT, _SIZE = "#333333", "#dddddd", 9.0
_Points = NDArray[np.float64]
_Box = tuple[float, float, float, float]  # left, low, right, high


class _Line(NamedTuple):
    label: str
    x: _Points
    y: _Points


# ---- figures -----------------------------------------------------------------------------------------------------


def plot_profile(curves: Mapping[str, Drawable], *, lang: str = "en", title: str = "", least: float = 1e-12) -> Figure:
    """The privacy profile: δ as a function of ε, one line per label, on a logarithmic axis down to ``least``.

    >>> plot_profile({"Laplace": ([0, 0.5, 1], [0.39, 0.22, 0.0])})
    <Figure size 640x420 with 1 Axes>
    """
    if not 0 < least < 1:
        raise InvalidParameter(f"The lowest δ to show must lie between 0 and 1, got {least}.", fix="Try 1e-12.")
    words, lines = _words(lang), _read(curves)
    for line in lines:
        _within(line, line.y, 0.0, 1.0, "δ")
        if not np.any(line.y > least):
            raise InvalidParameter(f"No δ of {line.label!r} is above {least}.", fix="Show smaller ones, or drop it.")
    last = max(_last_seen(line, least) for line in lines)
    outside = [line.label for line in lines if line.x[-1] == last and line.y[-1] > least]
    figure, axes = _blank(words["epsilon"], words["delta"], title, outside)
    axes.set_yscale("log")
    axes.set_ylim(least, 1.0)
    axes.set_xlim(0.0, last)
    # Where δ is 0 the line leaves through the floor, as it would at any other place of a logarithmic axis.
    _draw(axes, [line._replace(y=np.maximum(line.y, least * least)) for line in lines])
    return figure


def plot_tradeoff(curves: Mapping[str, Drawable], *, lang: str = "en", title: str = "") -> Figure:
    """The trade-off between an adversary's two errors, with what guessing achieves as the diagonal.

    >>> from curador.privacy import PureDP
    >>> from curador.accounting.rules.tradeoffs import tradeoff
    >>> plot_tradeoff({"ε = 1": tradeoff(PureDP(1))})
    <Figure size 520x505 with 1 Axes>
    """
    words, lines = _words(lang), _read(curves)
    for line in lines:
        for values, name in ((line.x, "false-positive rate"), (line.y, "false-negative rate")):
            _within(line, values, 0.0, 1.0, name)
    figure, axes = _blank(words["fpr"], words["fnr"], title, size=(5.2, 5.3 if title else 5.05))
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    axes.set_aspect("equal")
    axes.plot([0, 1], [1, 0], color=_INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.text(0.825, 0.235, words["guessing"], rotation=-45, ha="center", va="center", size=_SIZE, color=_INK)
    _draw(axes, lines, at=0.5, avoid=[_Line("", np.array([0.0, 1.0]), np.array([1.0, 0.0]))])
    return figure


def plot_renyi(curves: Mapping[str, Drawable], *, lang: str = "en", title: str = "") -> Figure:
    """The Rényi curve: the divergence between neighbours as a function of its order; infinite values are left out.

    >>> plot_renyi({"σ = 2": RenyiDP({2: 0.25, 4: 0.5, 8: 1})}, lang="es")
    <Figure size 640x420 with 1 Axes>
    """
    words, lines = _words(lang), [_finite(line) for line in _read(curves)]
    for line in lines:
        _within(line, line.x, 1.0, math.inf, "order")
        _within(line, line.y, 0.0, math.inf, "divergence")
    first, last = min(float(line.x[0]) for line in lines), max(float(line.x[-1]) for line in lines)
    figure, axes = _blank(words["order"], words["divergence"], title, [z.label for z in lines if z.x[-1] == last])
    if last > 20 * first:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(first, last)
    axes.set_ylim(0.0, 1.05 * max(float(line.y.max()) for line in lines) or 1.0)
    _draw(axes, lines)
    return figure


def plot_densities(curves: Mapping[str, Drawable], *, lang: str = "en", title: str = "") -> Figure:
    """Densities of noise, one line per label.

    >>> plot_densities({"b = 1": ([-1, 0, 1], [0.18, 0.5, 0.18])})
    <Figure size 640x420 with 1 Axes>
    """
    words, lines = _words(lang), [_finite(line) for line in _read(curves)]
    for line in lines:
        _within(line, line.y, 0.0, math.inf, "density")
    figure, axes = _blank(words["value"], words["density"], title)
    axes.set_xlim(min(float(line.x[0]) for line in lines), max(float(line.x[-1]) for line in lines))
    axes.set_ylim(0.0, 1.05 * max(float(line.y.max()) for line in lines) or 1.0)
    _draw(axes, lines, at=0.55)
    return figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as PNG or SVG, by the ending of the path; the same figure gives the same bytes.

    >>> import tempfile
    >>> figure = plot_profile({"Laplace": ([0, 0.5, 1], [0.39, 0.22, 0.0])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure, Path(folder) / "profile.svg").name
    'profile.svg'
    """
    matplotlib = _matplotlib()
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidParameter(f"Figures are saved as PNG or SVG, not {target.name!r}.", fix="End the path in .png.")
    # Text stays text, so that it can be read aloud and searched; ids come from the content, not from a clock.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "curador"}):
        dated = {"Date": None} if target.suffix.lower() == ".svg" else {"Software": "curador"}
        figure.savefig(target, dpi=160, metadata=dated)
    return target


# ---- what may be drawn ---------------------------------------------------------------------------------------------


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise CuradorError("Plots need matplotlib, which is not installed.", fix=install("plots")) from None
    return matplotlib


def _words(lang: str) -> dict[str, str]:
    if lang not in WORDS:
        raise InvalidParameter(f"No labels in {lang!r}.", fix="Use lang='en' or lang='es'.")
    return WORDS[lang]


def _read(curves: Mapping[str, Drawable]) -> list[_Line]:
    lines = [line for label, curve in curves.items() for line in _lines(curve, str(label))]
    if not 1 <= len(lines) <= len(COLOURS):
        raise InvalidParameter(
            f"A figure shows 1 to {len(COLOURS)} lines, got {len(lines)}.", fix="Split them over several figures."
        )
    return lines


@singledispatch
def _lines(curve: Any, label: str) -> Iterator[_Line]:
    """The lines that a curve stands for, each checked: register one rule per kind of curve."""
    try:
        x, y = (np.asarray(values, dtype=np.float64) for values in curve)
    except (TypeError, ValueError):
        raise InvalidParameter(f"{label!r} is not a curve.", fix="Pass two sequences (x, y), or a Curve.") from None
    if not (x.ndim == y.ndim == 1 and len(x) == len(y) >= 2):
        raise InvalidParameter(f"{label!r} needs as many y as x, and two or more.", fix="Check the two sequences.")
    if np.isnan(x).any() or np.isnan(y).any() or np.isinf(x).any() or not (np.diff(x) > 0).all():
        raise InvalidParameter(f"{label!r} must be numbers over an increasing x.", fix="Sort the points by x.")
    yield _Line(label, x, y)


@_lines.register
def _(curve: Curve, label: str) -> Iterator[_Line]:
    for name, y in curve.lines:
        yield from _lines((curve.x, y), label if len(curve.lines) == 1 else f"{label}, {name}")


@_lines.register
def _(curve: Tradeoff, label: str) -> Iterator[_Line]:
    yield from _lines(tuple(zip(*curve.corners(), strict=True)), label)


@_lines.register
def _(curve: RenyiDP, label: str) -> Iterator[_Line]:
    yield from _lines(tuple(zip(*((a, e) for a, e in curve.curve if a < math.inf), strict=True)), label)


def _within(line: _Line, values: _Points, low: float, high: float, name: str) -> None:
    if (values < low).any() or (values > high).any():
        raise InvalidParameter(f"A {name} of {line.label!r} is out of range.", fix=f"Give {low:g} to {high:g}.")


def _finite(line: _Line) -> _Line:
    keep = np.isfinite(line.y)
    if keep.sum() < 2:
        raise InvalidParameter(f"{line.label!r} is infinite nearly everywhere.", fix="Draw its privacy profile.")
    return _Line(line.label, line.x[keep], line.y[keep])


def _last_seen(line: _Line, least: float) -> float:
    """Where the line leaves through the floor, or ends."""
    seen = int(np.flatnonzero(line.y > least)[-1])
    return float(line.x[min(seen + 1, len(line.x) - 1)])


# ---- drawing ---------------------------------------------------------------------------------------------------------


def _blank(
    xlabel: str, ylabel: str, title: str, labels: Iterable[str] = (), size: tuple[float, float] = (6.4, 4.2)
) -> tuple[Figure, Axes]:
    """An empty figure, with room on the right for ``labels``."""
    _matplotlib()
    from matplotlib.figure import Figure

    width, height = size
    fitting = [w / 72 for w in (_extent(label)[0] for label in labels) if w / 72 < width / 3]
    left, right = 0.75, 0.2 + max(fitting, default=0.0)
    bottom, top = 0.6, 0.45 if title else 0.2
    figure = Figure(figsize=size)
    axes = figure.add_axes((left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height))
    axes.set_xlabel(xlabel, color=_INK)
    axes.set_ylabel(ylabel, color=_INK)
    axes.set_title(title, loc="left", color=_INK, size=11, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=_SIZE)
    axes.grid(axis="y", color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _draw(axes: Axes, lines: Sequence[_Line], *, at: float = 1.0, avoid: Sequence[_Line] = ()) -> None:
    """The lines and their labels: after those that reach the right edge, next to the others near the share ``at``."""
    for line, colour in zip(lines, COLOURS, strict=False):
        axes.plot(line.x, line.y, color=colour, linewidth=1.8, solid_capstyle="round", gid=line.label)
    scale = 72 / axes.figure.dpi  # places are measured in points
    frame = axes.get_window_extent().get_points() * scale
    edge = float(axes.figure.bbox.width) * scale
    tracks = [_track(axes.transData.transform(np.column_stack(z[1:])) * scale, frame) for z in (*lines, *avoid)]
    sizes = [_extent(line.label) for line in lines]
    boxes = _column(tracks, sizes, frame, edge) if at == 1 else {}
    for i in range(len(lines)):
        if i not in boxes:
            taken = list(boxes.values())
            priced = (
                (cost + _covered(box, tracks, taken, frame, edge), box)
                for cost, box in _places(tracks[i], at, *sizes[i])
            )
            boxes[i] = min(priced)[1]
    for i, (left, low, _, high) in boxes.items():
        x, y = axes.transAxes.inverted().transform([left / scale, (low + high) / 2 / scale])
        axes.text(
            x,
            y,
            lines[i].label,
            color=COLOURS[i],
            size=_SIZE,
            va="center",
            parse_math=False,
            transform=axes.transAxes,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
        )


def _column(tracks: list[_Points], sizes: list[tuple[float, float]], frame: _Points, edge: float) -> dict[int, _Box]:
    """Boxes right of the lines that end at the right edge, in the order of the lines and pushed apart."""
    left = frame[1, 0] + 5
    reach = [i for i, (w, _) in enumerate(sizes) if tracks[i][-1][0] > frame[1, 0] - 4 and left + w <= edge]
    reach.sort(key=lambda i: float(tracks[i][-1][1]))
    middles = [float(tracks[i][-1][1]) for i in reach]
    for _ in range(200):
        for k in range(len(reach) - 1):
            lack = sizes[reach[k]][1] - (middles[k + 1] - middles[k])
            if lack > 0:
                middles[k], middles[k + 1] = middles[k] - lack / 2, middles[k + 1] + lack / 2
        middles = [min(max(y, frame[0, 1]), frame[1, 1]) for y in middles]
    return {
        i: (left, y - h / 2, left + w, y + h / 2) for i, y in zip(reach, middles, strict=True) for w, h in [sizes[i]]
    }


def _extent(label: str) -> tuple[float, float]:
    """Width and height of a label, in points."""
    from matplotlib.textpath import TextPath

    measured = "x" + label.replace("$", "S")  # neither empty nor taken for a formula
    # Screens round the widths of letters up; the letter put in front is more than what that adds.
    return 1.03 * float(TextPath((0, 0), measured, size=_SIZE).get_extents().width) - 0.4 * _SIZE, 1.2 * _SIZE


def _track(points: _Points, frame: _Points) -> _Points:
    """Points every few pixels along what is visible of a line."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    along = np.linspace(0, length[-1], max(2, min(4000, math.ceil(length[-1] / 3))))
    dense = np.column_stack([np.interp(along, length, points[:, k]) for k in (0, 1)])
    seen = dense[np.all((dense >= frame[0] - 1) & (dense <= frame[1] + 1), axis=1)]
    return seen if len(seen) else dense[:1]


def _places(track: _Points, at: float, w: float, h: float) -> Iterator[tuple[float, _Box]]:
    """Boxes for a label right, left, above and below of points of its line, each with a cost for being elsewhere."""
    last, gap = len(track) - 1, 5.0
    home = track[round(at * last)]
    # The far ends are where all lines meet.
    near = track[math.floor(max(0.0, at - 0.4) * last) : math.ceil(min(1.0, at + 0.4) * last) + 1]
    for x, y in near[:: max(1, len(near) // 80)].tolist():
        away = 0.08 * math.dist((x, y), home)
        sides = ((x + gap, y - h / 2), (x - gap - w, y - h / 2), (x - w / 2, y + gap), (x - w / 2, y - gap - h))
        for extra, (left, low) in enumerate(sides):
            yield away + 0.5 * extra, (left, low, left + w, low + h)


def _covered(box: _Box, tracks: list[_Points], taken: list[_Box], frame: _Points, edge: float) -> float:
    """How much a label in this box would hide, or lie outside."""
    left, low, right, high = box
    cost = 3.0 * sum(
        float(np.all((t > (left - 2, low - 1)) & (t < (right + 2, high + 1)), axis=1).sum()) for t in tracks
    )
    cost += 1000.0 * sum(left < b[2] and right > b[0] and low < b[3] and high > b[1] for b in taken)
    return cost + 5000.0 * (left < frame[0, 0] + 2 or low < frame[0, 1] + 1 or high > frame[1, 1] + 6 or right > edge)
