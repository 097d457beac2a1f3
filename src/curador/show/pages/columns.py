"""Upright bars in a row, as SVG: a histogram, or values of keys that have an order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from curador.errors import InvalidParameter
from curador.show.pages.bars import Bar, figures
from curador.show.pages.charts import PLAIN, Axis
from curador.show.pages.svg import LETTER, LINE, WIDE, Ruler, box, framed, label, line, span, tick_text

MOST_COLUMNS = 120


def column_chart(
    bars: Sequence[Bar], *, title: str, desc: str = "", x: Axis = PLAIN, y: Axis = PLAIN, width: int = WIDE
) -> str:
    """Bars from zero, side by side in their order; as many of their names below as have room.

    >>> drawn = column_chart([Bar("20", 3, 2, 4), Bar("30", 5), Bar("40", -1)], title="ages")
    >>> drawn.count("<rect"), drawn.count('class="reach"')
    (3, 3)
    """
    if not 1 <= len(bars) <= MOST_COLUMNS:
        raise InvalidParameter(f"A histogram shows 1 to {MOST_COLUMNS} bars.", fix="Join some of them.")
    values = [v for b in bars for v in (b.value, b.low, b.high) if v is not None]
    ends = y.ends or span(values, zero=True)
    left, right, top = 58.0, width - 8.0, 8 + LINE * bool(y.name)
    bottom = top + min(260.0, max(190.0, 0.36 * width))
    up = Ruler(*ends, bottom, top)
    step = (right - left) / len(bars)
    parts = [] if not y.name else [label(y.name, 0, 12, "name")]
    for tick in up.ticks(5):
        at = up.at(tick)
        parts += [line(left, at, right, at, "rule"), label(tick_text(tick, y.percent), left - 8, at + 4, "tick", "end")]
    widest = LETTER * max(len(b.name) for b in bars) + 10
    every = max(1, math.ceil(widest / step))
    zero, wide = up.at(0.0), max(1.0, step - min(6.0, 0.25 * step))
    for k, one in enumerate(bars):
        middle = left + step * (k + 0.5)
        start, end = sorted((zero, up.at(one.value)))
        parts.append(box(middle - wide / 2, start, wide, max(end - start, 1), "alarm" if one.alarm else "bar"))
        parts += _reach(one, up, middle, min(4.0, wide / 3))
        if k % every == 0 and left + widest / 2 - 10 <= middle + widest / 2 <= right + 40:
            parts.append(
                label(one.name, min(max(middle, widest / 2), width - widest / 2 + 5), bottom + 18, "tick", "middle")
            )
    parts.append(line(left, zero, right, zero, "axis"))
    tall = bottom + 26
    if x.name:
        parts.append(label(x.name, (left + right) / 2, bottom + 38, "name", "middle"))
        tall += 18
    return framed(parts, width, tall, title, desc or _spoken(bars))


def _reach(one: Bar, up: Ruler, middle: float, cap: float) -> list[str]:
    if one.low is None or one.high is None:
        return []
    low, high = up.at(one.low), up.at(one.high)
    caps = [at for at, end in ((low, one.low), (high, one.high)) if math.isfinite(end)]
    across = (line(middle - cap, at, middle + cap, at, "reach") for at in caps)
    return [line(middle, low, middle, high, "reach"), *across]


def _spoken(bars: Sequence[Bar]) -> str:
    return "; ".join(f"{b.name}: {tick_text(figures(b.value))}" for b in bars)
