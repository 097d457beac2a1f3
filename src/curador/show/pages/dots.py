"""Dots with their intervals, as SVG: for values that are not compared with zero, as means and quantiles."""

from __future__ import annotations

from collections.abc import Sequence

from curador.show.pages.bars import Bar, BarGroup, legend, reach, row_chart
from curador.show.pages.charts import PLAIN, Axis
from curador.show.pages.svg import WIDE, Ruler, number


def dot_chart(groups: Sequence[BarGroup], *, title: str, desc: str = "", x: Axis = PLAIN, width: int = WIDE) -> str:
    """A row for each name with a dot for each series, over a scale that need not begin at zero.

    >>> drawn = dot_chart([BarGroup("women", (Bar("age", 38.5, 37, 40),))], title="mean age")
    >>> drawn.count("<circle"), "38.5" in drawn
    (1, True)
    """
    series = [bar.name for bar in groups[0].bars] if groups else []
    key = legend(series, width) if len(series) > 1 else ([], 0.0)
    return row_chart(groups, _dot, title=title, desc=desc, x=x, key=key, zero=False, width=width)


def _dot(one: Bar, i: int, across: Ruler, middle: float) -> list[str]:
    at = number(across.at(one.value))
    circle = f'<circle class="s{i + 1} dot" cx="{at}" cy="{number(middle)}" r="5" fill="currentColor"/>'
    return [*reach(one, across, middle, f"s{i + 1} reach"), circle]
