"""Charts over two axes, as SVG: lines, points with their intervals, and the ROC of a test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from curador.errors import InvalidParameter
from curador.show.pages.svg import (
    LETTER,
    LINE,
    WIDE,
    Ruler,
    date_ticks,
    framed,
    label,
    line,
    number,
    polygon,
    polyline,
    span,
    tick_text,
    wrapped,
)

STYLES = ("line", "dashed", "points", "steps")
MOST_SERIES = 6
MOST_POINTS = 3000
"""Points of a line: more than a screen has across, and they would only make the page long."""


@dataclass(frozen=True)
class Track:
    """Points of one name, drawn as a ``line``, a ``dashed`` line, ``steps`` or single ``points``.

    ``low`` and ``high`` are the ends of intervals: a band around a line, a bar through a point.

    >>> Track("floor", (1, 2), (0.5, 0.9)).style
    'line'
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: str = "line"
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.style not in STYLES or not self.x or any(len(v) != len(self.x) for v in self._given()):
            raise InvalidParameter(f"{self.name!r} cannot be drawn.", fix="Give as many y as x, and a known style.")

    def _given(self) -> Iterator[tuple[float, ...]]:
        yield from (v for v in (self.y, self.low, self.high) if v is not None)


@dataclass(frozen=True)
class Axis:
    """What an axis shows: its ``name``, whether it is logarithmic or in ``percent``, its ends if they are given.

    ``ticks`` are places with their texts, where plain numbers would say nothing: dates.

    With ``dates`` its values are days since 1970, UTC.

    >>> Axis("epsilon", log=True).ends is None
    True
    """

    name: str = ""
    log: bool = False
    percent: bool = False
    dates: bool = False
    ends: tuple[float, float] | None = None
    ticks: tuple[tuple[float, str], ...] = ()


PLAIN = Axis()


def xy_chart(
    series: Sequence[Track],
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    y: Axis = PLAIN,
    width: int = WIDE,
    square: bool = False,
    diagonal: bool = False,
) -> str:
    """Lines and points over two axes.  The legend stands above, in the order of the series.

    >>> drawn = xy_chart([Track("<b>", (0, 1), (0, 1))], title="a chart")
    >>> drawn.startswith('<svg class="chart"'), "<b>" in drawn, "&lt;b&gt;" in drawn
    (True, False, True)
    """
    if not 1 <= len(series) <= MOST_SERIES:
        raise InvalidParameter(f"A chart shows 1 to {MOST_SERIES} series.", fix="Split them over several charts.")
    legend, top = _legend(series, width)
    top += LINE + 4  # the name of the upright axis
    left, right, below = 58.0, width - 24.0, 46.0
    side = min(right - left, 420.0)
    if square:
        right = left + side
    tall = side if square else min(300.0, max(210.0, 0.45 * width))
    bottom = top + tall
    across = Ruler(*(x.ends or span(_all(series, "x"), log=x.log)), left, right, x.log)
    up = Ruler(*(y.ends or span(_all(series, "y"), log=y.log, zero=not y.log)), bottom, top, y.log)
    parts = [*legend, *_axes(across, up, x, y)]
    if diagonal:
        parts.append(line(across.start, up.start, across.end, up.end, "diagonal"))
    for i, one in enumerate(series):
        parts += _drawn(one, i, across, up)
    return framed(parts, width, bottom + below, title, desc or _spoken(series))


def line_chart(
    series: Sequence[Track],
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    y: Axis = PLAIN,
    width: int = WIDE,
) -> str:
    """Lines over two axes, with bands where they have intervals.

    >>> 'class="s1 line"' in line_chart([Track("y", (0, 1, 2), (1, 4, 9))], title="squares")
    True
    """
    return xy_chart(series, title=title, desc=desc, x=x, y=y, width=width)


def scatter_chart(
    series: Sequence[Track],
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    y: Axis = PLAIN,
    width: int = WIDE,
) -> str:
    """Points over two axes, with bars where they have intervals.

    >>> scatter_chart([Track("y", (0, 1), (1, 4))], title="points").count("<circle")
    3
    """
    points = [Track(s.name, s.x, s.y, "points", s.low, s.high) for s in series]
    return xy_chart(points, title=title, desc=desc, x=x, y=y, width=width)


def roc_chart(
    series: Sequence[Track],
    *,
    title: str,
    desc: str = "",
    x: str = "",
    y: str = "",
    width: int = WIDE,
    tradeoff: bool = False,
) -> str:
    """The two rates of a test on a unit square, with guessing as the diagonal.

    Upright is the true-positive rate; with ``tradeoff`` the false-negative rate, and the diagonal falls.

    >>> 'class="diagonal"' in roc_chart([Track("attack", (0, 0.1, 1), (0, 0.6, 1), "steps")], title="ROC")
    True
    """
    across, up = Axis(x, percent=True, ends=(0, 1)), Axis(y, percent=True, ends=(0, 1))
    if not tradeoff:
        return xy_chart(series, title=title, desc=desc, x=across, y=up, width=width, square=True, diagonal=True)
    guessing = Track("", (0.0, 1.0), (1.0, 0.0), "dashed")
    return xy_chart([*series, guessing], title=title, desc=desc, x=across, y=up, width=width, square=True)


# ---- pieces --------------------------------------------------------------------------------------------------------


def _all(series: Sequence[Track], name: str) -> list[float]:
    found = [v for one in series for v in getattr(one, name)]
    if name == "y":
        found += [v for one in series for ends in (one.low, one.high) if ends is not None for v in ends]
    return found


def _legend(series: Sequence[Track], width: float) -> tuple[list[str], float]:
    """The names of the series with a piece of each, line by line; and where the chart may begin."""
    parts, x, y = [], 0.0, 12.0
    named = [(i, one) for i, one in enumerate(series) if one.name]
    if not named:
        return [], 4.0
    for i, one in named:
        lines = wrapped(one.name, width - 30)
        wide = 26 + LETTER * max(map(len, lines)) + 18
        if x and x + wide > width:
            x, y = 0.0, y + LINE
        if one.style == "points":
            parts.append(_dot(x + 10, y - 4, i))
        else:
            parts.append(line(x, y - 4, x + 20, y - 4, f"s{i + 1} {one.style}"))
        for text in lines:
            parts.append(label(text, x + 26, y, "key"))
            y += LINE
        y -= LINE
        x += wide
    return parts, y + 14


def _axes(across: Ruler, up: Ruler, x: Axis, y: Axis) -> Iterator[str]:
    for tick in up.ticks(5):
        at = up.at(tick)
        yield line(across.start, at, across.end, at, "rule")
        yield label(tick_text(tick, y.percent), across.start - 8, at + 4, "tick", "end")
    room = max(2, int((across.end - across.start) / 60))
    plain = date_ticks(across, room) if x.dates else ((t, tick_text(t, x.percent)) for t in across.ticks(room))
    given = x.ticks or tuple(plain)
    for tick, text in given[:: max(1, math.ceil(len(given) / room))]:
        at = across.at(tick)
        yield line(at, up.start, at, up.start + 5, "axis")
        yield label(text, at, up.start + 19, "tick", "middle")
    yield line(across.start, up.start, across.end, up.start, "axis")
    yield label(x.name, (across.start + across.end) / 2, up.start + 39, "name", "middle")
    yield label(y.name, 0, up.end - 12, "name")


def thinned(one: Track, most: int = MOST_POINTS) -> Track:
    """The same line with fewer points: of each stretch its first, its lowest and its highest.

    >>> long = Track("n", tuple(range(10_000)), tuple(float(x == 777) for x in range(10_000)))
    >>> short = thinned(long, 300)
    >>> len(short.x) <= 300, max(short.y), short.x[-1]
    (True, 1.0, 9999)
    """
    n = len(one.x)
    if n <= most or one.style == "points":
        return one
    kept, pieces = {n - 1}, most // 3 - 1
    for k in range(pieces):
        stretch = [i for i in range(k * n // pieces, (k + 1) * n // pieces) if not math.isnan(one.y[i])]
        if stretch:
            kept |= {stretch[0], min(stretch, key=one.y.__getitem__), max(stretch, key=one.y.__getitem__)}
    order = sorted(kept)

    def of(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(values[i] for i in order)

    low, high = (None if v is None else of(v) for v in (one.low, one.high))
    return replace(one, x=of(one.x), y=of(one.y), low=low, high=high)


def _drawn(one: Track, i: int, across: Ruler, up: Ruler) -> Iterator[str]:
    one, kind = thinned(one), f"s{i + 1}"
    places = [(across.at(a), up.at(b)) for a, b in zip(one.x, one.y, strict=True) if not math.isnan(b)]
    if one.style == "points":
        for k, (a, b) in enumerate(zip(one.x, one.y, strict=True)):
            if one.low is not None and one.high is not None:
                yield line(across.at(a), up.at(one.low[k]), across.at(a), up.at(one.high[k]), f"{kind} reach")
            yield _dot(across.at(a), up.at(b), i)
        return
    if one.low is not None and one.high is not None:
        band = [(across.at(a), up.at(b)) for a, b in zip(one.x, one.high, strict=True)]
        band += [(across.at(a), up.at(b)) for a, b in zip(reversed(one.x), reversed(one.low), strict=True)]
        yield polygon(band, f"{kind} band")
    if one.style == "steps":
        places = [p for k, (a, b) in enumerate(places) for p in ([(a, places[k - 1][1])] if k else []) + [(a, b)]]
    yield polyline(places, f"{kind} {one.style}")


def _dot(x: float, y: float, i: int) -> str:
    return f'<circle class="s{i + 1} dot" cx="{number(x)}" cy="{number(y)}" r="4" fill="currentColor"/>'


def _spoken(series: Sequence[Track]) -> str:
    """The chart for those who hear it: each series from its first to its last point."""
    said = (
        f"{one.name}: {tick_text(one.y[0])} ({tick_text(one.x[0])}) … {tick_text(one.y[-1])} ({tick_text(one.x[-1])})"
        for one in series
        if one.name
    )
    return "; ".join(said)
