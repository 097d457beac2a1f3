"""Bars with their intervals, as SVG: lying, so that names have room on a telephone too; one or several of a name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curador.errors import InvalidParameter
from curador.show.pages.charts import MOST_SERIES, PLAIN, Axis
from curador.show.pages.svg import LETTER, LINE, WIDE, Ruler, box, framed, label, line, span, tick_text, wrapped

MOST_BARS = 40
WIDEST = 7.8
"""The width of a letter of a name, in a broad font: names end at their bars, and may not begin outside of the chart."""


@dataclass(frozen=True)
class Bar:
    """One bar: its value, the ends of its interval, and a ``mark`` to compare with (a ceiling, a true value).

    >>> Bar("people", 120.0, low=118.0, high=122.0).mark is None
    True
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    alarm: bool = False


@dataclass(frozen=True)
class BarGroup:
    """Several bars of one name; each bar's own name is that of its series.

    >>> [bar.name for bar in BarGroup("2024", (Bar("women", 3), Bar("men", 2))).bars]
    ['women', 'men']
    """

    name: str
    bars: tuple[Bar, ...]


def bar_chart(
    bars: Sequence[Bar],
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    mark: str = "",
    width: int = WIDE,
) -> str:
    """Bars from zero, each with its number behind it; ``mark`` says what the thin stroke across a bar is.

    >>> drawn = bar_chart([Bar("a", 3, 2, 4, mark=3.5), Bar("<i>", 1)], title="bars", mark="exact")
    >>> drawn.count("<rect"), "&lt;i&gt;" in drawn, "<i>" in drawn
    (2, True, False)
    """
    groups = [BarGroup(b.name, (b,)) for b in bars]
    key = ([line(1, 4, 1, 16, "mark"), label(mark, 10, 14, "key")], LINE + 8) if mark else ([], 0.0)
    return row_chart(groups, _bar, title=title, desc=desc, x=x, key=key, width=width)


def grouped_chart(groups: Sequence[BarGroup], *, title: str, desc: str = "", x: Axis = PLAIN, width: int = WIDE) -> str:
    """Several bars for each name, one of each series, with the legend above.

    >>> drawn = grouped_chart([BarGroup("2024", (Bar("women", 3), Bar("men", 2)))], title="people")
    >>> drawn.count("<rect"), drawn.count("women")  # with those of the legend; drawn, and read aloud
    (4, 2)
    """
    key = legend([bar.name for bar in groups[0].bars] if groups else [], width)
    return row_chart(groups, _block, title=title, desc=desc, x=x, key=key, width=width)


Mark = Callable[[Bar, int, Ruler, float], list[str]]
"""Draws a value with its interval: which of its row it is, the scale, and its height in the chart."""


def row_chart(
    groups: Sequence[BarGroup],
    drawn: Mark,
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    key: tuple[list[str], float] = ([], 0.0),
    zero: bool = True,
    width: int = WIDE,
) -> str:
    """A row or more for each name: names at the left, long ones above on a telephone; marks along one scale; numbers.

    ``key`` is a legend and the room it takes.
    """
    if not 1 <= len(groups) <= MOST_BARS or not all(1 <= len(g.bars) <= MOST_SERIES for g in groups):
        raise InvalidParameter(f"A chart shows 1 to {MOST_BARS} bars.", fix="Show the largest.")
    above = width < 500 and LETTER * max(len(g.name) for g in groups) > 0.3 * width
    names = [wrapped(g.name, width - 10 if above else 0.34 * width) for g in groups]
    left = 6.0 if above else 16 + min(0.36 * width, WIDEST * max(len(t) for n in names for t in n))
    every = [b for g in groups for b in g.bars]
    shown = [[tick_text(figures(b.value), x.percent) for b in g.bars] for g in groups]
    right = width - 16 - LETTER * max(len(text) for texts in shown for text in texts)
    values = [v for b in every for v in (b.value, b.low, b.high, b.mark) if v is not None]
    across = Ruler(*(x.ends or span(values, zero=zero)), left, right)
    ticks = across.ticks(max(2, int((across.end - across.start) / 70)))
    y = 6.0 + key[1]
    top, body, thick = y, [], LINE if len(every) == len(groups) else LINE - 2
    rules: list[str] = []
    for group, name, texts in zip(groups, names, shown, strict=True):
        if above:
            for part in name:
                body.append(label(part, 0, y + 12))
                y += LINE
        tall = thick * len(group.bars) if above else max(LINE * len(name), thick * len(group.bars))
        if above:  # a line through all rows would cross their names
            rules += _rules(across, ticks, y - 2, y + tall + 4, zero)
        else:
            first = y + tall / 2 + 1 - LINE * (len(name) - 1) / 2 + 4
            body += [label(part, left - 10, first + LINE * k, anchor="end") for k, part in enumerate(name)]
        for i, (one, text) in enumerate(zip(group.bars, texts, strict=True)):
            middle = y + tall / 2 + 1 + thick * (i - (len(group.bars) - 1) / 2)
            body += drawn(one, i, across, middle)
            body.append(label(text, _beyond(one, across, zero, text) + 8, middle + 4, "value"))
        y += tall + (10 if above else 9)
    rules = rules or _rules(across, ticks, top, y - 2, zero)
    told = [label(tick_text(t, x.percent), across.at(t), y + 14, "tick", "middle") for t in ticks]
    return framed([*key[0], *rules, *told, *body], width, y + 26, title, desc or _spoken(groups, shown))


def _rules(across: Ruler, ticks: Sequence[float], top: float, bottom: float, zero: bool) -> list[str]:
    """A line at each tick; that at zero is darker where values are compared with it."""
    return [
        line(across.at(t), top, across.at(t), bottom, "axis" if zero and t == 0 else "rule")
        for t in sorted({*ticks, *([0.0] if zero else [])})
    ]


def _beyond(one: Bar, across: Ruler, zero: bool, text: str) -> float:
    """Where a bar and its interval end: its number stands behind that, and behind a mark that would cross it.

    Behind a mark that is farther off, it would be read as the mark's.
    """
    ends = [one.value, *([] if one.high is None else [one.high]), *([0.0] if zero else [])]
    end = max(across.at(v) for v in ends)
    mark = end if one.mark is None else across.at(one.mark)
    return mark if end < mark < end + 16 + LETTER * len(text) else end


def _bar(one: Bar, _: int, across: Ruler, middle: float) -> list[str]:
    start, end = sorted((across.at(0.0), across.at(one.value)))
    parts = [box(start, middle - 6, max(end - start, 1), 12, "alarm" if one.alarm else "bar")]
    parts += reach(one, across, middle, "reach")
    if one.mark is not None:
        at = across.at(one.mark)
        parts.append(line(at, middle - 9, at, middle + 9, "mark"))
    return parts


def _block(one: Bar, i: int, across: Ruler, middle: float) -> list[str]:
    start, end = sorted((across.at(0.0), across.at(one.value)))
    return [
        box(start, middle - 5, max(end - start, 1), 10, f"s{i + 1} block"),
        *reach(one, across, middle, "reach"),
    ]


def reach(one: Bar, across: Ruler, middle: float, kind: str) -> list[str]:
    """An interval: a line with a cap at each end; none where it has no end."""
    if one.low is None or one.high is None:
        return []
    low, high = across.at(one.low), across.at(one.high)
    caps = [at for at, end in ((low, one.low), (high, one.high)) if math.isfinite(end)]
    return [line(low, middle, high, middle, kind), *(line(at, middle - 4, at, middle + 4, kind) for at in caps)]


def legend(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """The names of series with a piece of each colour, line by line; and how much room they take."""
    parts, x, y = [], 0.0, 14.0
    for i, name in enumerate(names):
        wide = 18 + LETTER * len(name) + 18
        if x and x + wide > width:
            x, y = 0.0, y + LINE
        parts += [box(x, y - 9, 11, 10, f"s{i + 1} block"), label(name, x + 17, y, "key")]
        x += wide
    return parts, y + 11


def figures(value: float) -> float:
    """Four figures: a bar is no table."""
    return value if not value or not math.isfinite(value) or value == int(value) else float(f"{value:.4g}")


def _spoken(groups: Sequence[BarGroup], shown: Sequence[Sequence[str]]) -> str:
    single = all(len(g.bars) == 1 for g in groups)
    said = (
        g.name + ": " + ", ".join(t if single else f"{b.name} {t}" for b, t in zip(g.bars, texts, strict=True))
        for g, texts in zip(groups, shown, strict=True)
    )
    return "; ".join(said)
