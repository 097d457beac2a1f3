"""Which charts a release has: chosen by what its columns are, never by what a number should look like.

Values with intervals: bars where they are compared with zero (counts, sums), dots elsewhere; lines over dates and over
many ordered keys; a grid for two keys.  Of many groups the largest are drawn, and all of them as one falling line.
Outputs share a chart only where they share a scale: counts, or quantiles of one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from curador.show.pages.bars import Bar, BarGroup, bar_chart, grouped_chart
from curador.show.pages.charts import MOST_SERIES, PLAIN, Axis, xy_chart
from curador.show.pages.columns import MOST_COLUMNS, column_chart
from curador.show.pages.dots import dot_chart
from curador.show.pages.svg import span
from curador.show.report.crossed import crossed
from curador.show.report.picture import Picture
from curador.show.report.reading import (
    Drawable,
    bar_of,
    caption_facts,
    date_ticks,
    day_of,
    from_zero,
    function_of,
    is_number,
    name_of,
    track_of,
    value_of,
)
from curador.show.tables import cell_text, real_text
from curador.show.words.say import say

MOST_DRAWN, LARGEST = 40, 30
"""So many groups are drawn one by one; of more, the largest."""
STEEP = 50
"""The largest over the middle value from which values are drawn on a logarithmic scale."""


def pictures(release: Drawable) -> list[Picture]:
    """The charts of a release, in the order of its outputs; none where nothing in it is a number.

    Guarantee: reads nothing but the release, so that it is free and promises what the release does.
    """
    stamp = say("report-made-up", release.language) if release.rehearsal else ""
    found = [one for names in _families(release) for one in _drawn(release, names)]
    return [replace(one, stamp=stamp) for one in found]


# ---- what shares a scale --------------------------------------------------------------------------------------------


def _families(release: Drawable) -> list[tuple[str, ...]]:
    """Outputs that share a chart: all counts; the quantiles of one column; every other one alone."""
    outputs = [n for n, cells in release.columns.items() if n not in release.groups and any(map(is_number, cells))]
    found: dict[object, list[str]] = {}
    for name in outputs:
        function, column = function_of(release, name)
        alike = ("count",) if function == "count" else (function, column) if function == "quantiles" else (name,)
        found.setdefault(alike, []).append(name)
    return [tuple(names[i : i + MOST_SERIES]) for names in found.values() for i in range(0, len(names), MOST_SERIES)]


# ---- which chart ----------------------------------------------------------------------------------------------------


def _drawn(release: Drawable, names: tuple[str, ...]) -> Iterator[Picture]:
    rows = _rows(release, names)
    if not rows:
        return
    keys = [[release.columns[g][i] for g in release.groups] for i in rows]
    if len(release.groups) == 1 and len(rows) > 2:
        along = [k[0] for k in keys]
        if all(isinstance(k, date) for k in along):
            yield _over_dates(release, names, rows)
            return
        if all(map(is_number, along)) and len(set(along)) == len(along):
            yield _over_numbers(release, names, rows)
            return
    if len(release.groups) == 2 and len(names) == 1:
        both = crossed(release, names[0], rows)
        if both is not None:
            yield both
            return
    yield from _by_name(release, names, rows)


def _rows(release: Drawable, names: Sequence[str]) -> list[int]:
    """The rows that have a number to draw; totals over grouping sets are left to the table."""
    sets = bool(release.question.get("sets")) and len(release.groups) > 0
    return [
        i
        for i in range(len(release))
        if any(is_number(release.columns[n][i]) for n in names)
        and not (sets and any(release.columns[g][i] is None for g in release.groups))
    ]


def _by_name(release: Drawable, names: tuple[str, ...], rows: Sequence[int]) -> Iterator[Picture]:
    language, shown = release.language, list(rows)
    drawer = grouped_chart if release.groups and from_zero(release, names) else dot_chart
    first = max(names, key=lambda n: max((abs(value_of(release, n, i)) for i in rows), default=0.0))
    code = "chart-by" if release.groups else "chart-one"
    if len(shown) > MOST_DRAWN:
        shown = sorted(shown, key=lambda i: -value_of(release, first, i))[:LARGEST]
        code = "chart-several"
    groups = [BarGroup(name_of(release, i), tuple(bar_of(release, n, n, i) for n in names)) for i in shown]
    if not release.groups:
        groups = [BarGroup(n, (bar_of(release, n, n, shown[0]),)) for n in names]
    facts = {**caption_facts(release, names), "shown": f"{len(shown):,}", "n": f"{len(rows):,}"}
    caption = say(code, language, **facts)
    if len(groups[0].bars) == 1 and drawer is grouped_chart:
        bars = [Bar(g.name, b.value, b.low, b.high) for g in groups for b in g.bars]
        yield Picture(caption, lambda width: bar_chart(bars, title=caption, width=width))
    else:
        yield Picture(caption, lambda width: drawer(groups, title=caption, width=width))
    if len(rows) > MOST_DRAWN:
        yield _ranked(release, first, rows)


def _ranked(release: Drawable, name: str, rows: Sequence[int]) -> Picture:
    """All values of an output from the largest to the smallest."""
    order = sorted(rows, key=lambda i: -value_of(release, name, i))
    track = track_of(release, name, name, order, tuple(float(k + 1) for k in range(len(order))))
    facts = {**caption_facts(release, (name,)), "n": f"{len(order):,}"}
    largest, middle = track.y[0], track.y[len(order) // 2]
    x, y, code = Axis(say("chart-place", release.language)), PLAIN, "chart-ranked"
    if middle > 0 and largest > STEEP * middle:  # on a plain scale nothing but the first few would be seen
        least = max(min(v for v in track.y if v > 0), largest / 1e6)
        ends = span([least, largest], log=True)
        y, code, facts["least"] = Axis(log=True, ends=ends), "chart-ranked-log", real_text(ends[0])
    caption = say(code, release.language, **facts)
    return Picture(caption, lambda width: xy_chart([track], title=caption, x=x, y=y, width=width))


def _over_dates(release: Drawable, names: tuple[str, ...], rows: Sequence[int]) -> Picture:
    (group,) = release.groups
    order = sorted(rows, key=lambda i: day_of(release.columns[group][i]))
    days = tuple(day_of(release.columns[group][i]) for i in order)
    tracks = [track_of(release, n, n, order, days) for n in names]
    caption = say("chart-by", release.language, **caption_facts(release, names))
    x = Axis(group, ticks=date_ticks([release.columns[group][i] for i in order]))
    return Picture(caption, lambda width: xy_chart(tracks, title=caption, x=x, width=width))


def _over_numbers(release: Drawable, names: tuple[str, ...], rows: Sequence[int]) -> Picture:
    """Numbered keys: a histogram where values are compared with zero and there are few; lines elsewhere."""
    (group,) = release.groups
    order = sorted(rows, key=lambda i: value_of(release, group, i))
    caption = say("chart-by", release.language, **caption_facts(release, names))
    if len(names) == 1 and from_zero(release, names) and len(order) <= MOST_COLUMNS:
        bars = [bar_of(release, names[0], cell_text(release.columns[group][i]), i) for i in order]
        axis = Axis(group)
        return Picture(caption, lambda width: column_chart(bars, title=caption, x=axis, width=width))
    places = tuple(value_of(release, group, i) for i in order)
    tracks = [track_of(release, n, n, order, places) for n in names]
    return Picture(caption, lambda width: xy_chart(tracks, title=caption, x=Axis(group), width=width))
