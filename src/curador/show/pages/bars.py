"""Bars with their intervals, as SVG: lying, so that names have room on a telephone too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from curador.errors import InvalidParameter
from curador.show.pages.charts import PLAIN, Axis
from curador.show.pages.svg import LETTER, LINE, WIDE, Ruler, framed, label, line, number, span, tick_text, wrapped

MOST_BARS = 40


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


def bar_chart(
    bars: Sequence[Bar],
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    mark: str = "",
    width: int = WIDE,
) -> str:
    """Bars from zero, with their numbers in a column at the right; ``mark`` says what the thin stroke across a bar is.

    >>> drawn = bar_chart([Bar("a", 3, 2, 4, mark=3.5), Bar("<i>", 1)], title="bars", mark="exact")
    >>> drawn.count("<rect"), "&lt;i&gt;" in drawn, "<i>" in drawn
    (2, True, False)
    """
    if not 1 <= len(bars) <= MOST_BARS:
        raise InvalidParameter(f"A chart shows 1 to {MOST_BARS} bars.", fix="Show the largest.")
    narrow = width < 500
    names = [wrapped(b.name, width - 10 if narrow else 0.34 * width) for b in bars]
    left = 0.0 if narrow else 14 + min(0.36 * width, LETTER * max(len(t) for n in names for t in n))
    values = [v for b in bars for v in (b.value, b.low, b.high, b.mark) if v is not None]
    shown = [tick_text(_figures(b.value), x.percent) for b in bars]
    right = width - 16 - LETTER * max(map(len, shown))
    ends = x.ends or span(values, zero=True)
    across = Ruler(*ends, left, right)
    parts, y = [], 6.0
    if mark:
        parts += [line(1, 4, 1, 16, "mark"), label(mark, 10, 14, "key")]
        y += LINE + 8
    top = y
    body = []
    for one, name, text in zip(bars, names, shown, strict=True):
        if narrow:
            for part in name:
                body.append(label(part, 0, y + 12))
                y += LINE
        tall = max(LINE * len(name), LINE) if not narrow else LINE
        middle = y + tall / 2 + 1
        if not narrow:
            first = middle - LINE * (len(name) - 1) / 2 + 4
            body += [label(part, left - 10, first + LINE * k, anchor="end") for k, part in enumerate(name)]
        body += _one(one, across, middle)
        body.append(label(text, width, middle + 4, "value", "end"))
        y += tall + (10 if narrow else 9)
    zero = across.at(0.0)
    parts += body if narrow else [line(zero, top, zero, y - 2, "axis"), *body]
    return framed(parts, width, y + 4, title, desc or _spoken(bars, shown))


def _one(one: Bar, across: Ruler, middle: float) -> list[str]:
    start, end = sorted((across.at(0.0), across.at(one.value)))
    kind = "alarm" if one.alarm else "bar"
    parts = [
        f'<rect class="{kind}" x="{number(start)}" y="{number(middle - 6)}" '
        f'width="{number(max(end - start, 1))}" height="12" rx="2"/>'
    ]
    if one.low is not None and one.high is not None:
        low, high = across.at(one.low), across.at(one.high)
        parts += [line(low, middle, high, middle, "reach")]
        parts += [line(e, middle - 4, e, middle + 4, "reach") for e in (low, high)]
    if one.mark is not None:
        at = across.at(one.mark)
        parts.append(line(at, middle - 9, at, middle + 9, "mark"))
    return parts


def _figures(value: float) -> float:
    """Four figures: a bar is no table."""
    return value if not value or not math.isfinite(value) or value == int(value) else float(f"{value:.4g}")


def _spoken(bars: Sequence[Bar], shown: Sequence[str]) -> str:
    return "; ".join(f"{b.name}: {text}" for b, text in zip(bars, shown, strict=True))
