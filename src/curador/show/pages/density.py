"""Where a noised answer falls, as SVG: areas under curves, with a stroke at what they are about."""

from __future__ import annotations

from collections.abc import Sequence

from curador.errors import InvalidParameter
from curador.show.pages.bars import legend
from curador.show.pages.charts import MOST_SERIES, PLAIN, Axis, Track
from curador.show.pages.svg import WIDE, Ruler, framed, label, line, polygon, polyline, span, tick_text


def density_chart(
    series: Sequence[Track],
    *,
    title: str,
    desc: str = "",
    x: Axis = PLAIN,
    marks: Sequence[tuple[str, float]] = (),
    width: int = WIDE,
) -> str:
    """Areas under curves over one axis; how high they are says only where more of the chance lies.

    ``marks`` are places with a name: a true value, the ends of an interval.

    >>> noise = Track("epsilon 1", (-2, 0, 2), (0.1, 0.5, 0.1))
    >>> drawn = density_chart([noise], title="noise", marks=[("the count", 0.0)])
    >>> drawn.count("<polygon"), "the count" in drawn
    (1, True)
    """
    if not 1 <= len(series) <= MOST_SERIES:
        raise InvalidParameter(f"A chart shows 1 to {MOST_SERIES} series.", fix="Split them over several charts.")
    key, top = legend([one.name for one in series], width) if any(one.name for one in series) else ([], 4.0)
    top += 18 if marks else 6
    left, right, bottom = 8.0, width - 8.0, top + min(200.0, max(130.0, 0.28 * width))
    along = [v for one in series for v in one.x] + [v for _, v in marks]
    across = Ruler(*(x.ends or span(along)), left, right)
    up = Ruler(0.0, max(v for one in series for v in one.y) or 1.0, bottom, top + 4)
    parts = list(key)
    for i, one in enumerate(series):
        places = [(across.at(a), up.at(b)) for a, b in zip(one.x, one.y, strict=True)]
        feet = [(across.at(one.x[-1]), bottom), (across.at(one.x[0]), bottom)]
        parts += [polygon([*places, *feet], f"s{i + 1} band"), polyline(places, f"s{i + 1} line")]
    for name, value in marks:
        at = across.at(value)
        parts += [line(at, top, at, bottom, "mark"), label(name, at, top - 5, "key", _anchor(at, left, right))]
    for tick in across.ticks(max(2, int((right - left) / 80))):
        at = across.at(tick)
        parts.append(line(at, bottom, at, bottom + 5, "axis"))
        parts.append(label(tick_text(tick, x.percent), at, bottom + 19, "tick", "middle"))
    parts += [
        line(left, bottom, right, bottom, "axis"),
        label(x.name, (left + right) / 2, bottom + 38, "name", "middle"),
    ]
    said = "; ".join([*(one.name for one in series if one.name), *(f"{n}: {tick_text(v)}" for n, v in marks)])
    return framed(parts, width, bottom + (46 if x.name else 26), title, desc or said or title)


def _anchor(at: float, left: float, right: float) -> str:
    return "start" if at - left < 60 else "end" if right - at < 60 else "middle"
