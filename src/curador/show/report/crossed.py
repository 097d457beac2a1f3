"""Charts of two keys: lines where one is a date, bars side by side where both are few, a grid elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from curador.show.pages.bars import BarGroup, grouped_chart
from curador.show.pages.charts import MOST_SERIES, Axis, xy_chart
from curador.show.pages.dots import dot_chart
from curador.show.pages.heat import MOST_COLUMNS, MOST_ROWS, heat_chart
from curador.show.report.picture import Picture
from curador.show.report.reading import (
    Drawable,
    bar_of,
    caption_facts,
    date_ticks,
    day_of,
    from_zero,
    reach_of,
    short,
    track_of,
    value_of,
)
from curador.show.tables import Cell, real_text
from curador.show.words.say import say

FEW, SEVERAL = 4, 12
"""Bars of one name, and names, that are drawn side by side."""

Cells = Mapping[tuple[Cell, Cell], int]
"""The row of each pair of keys."""


def crossed(release: Drawable, name: str, rows: Sequence[int]) -> Picture | None:
    """A chart of an output over two keys; None where a pair stands twice, or there are too many for one."""
    first, second = (release.columns[g] for g in release.groups)
    cells = {(first[i], second[i]): i for i in rows}
    if len(cells) < len(rows):
        return None
    down, right = list(dict.fromkeys(a for a, _ in cells)), list(dict.fromkeys(b for _, b in cells))
    turned = {(b, a): i for (a, b), i in cells.items()}
    for group, along, kinds, at in ((0, down, right, cells), (1, right, down, turned)):
        if len(along) > 2 and len(kinds) <= MOST_SERIES and all(isinstance(k, date) for k in along):
            return _lines(release, name, release.groups[group], along, kinds, at)
    if len(down) < len(right):
        down, right, cells = right, down, turned
    if len(right) <= FEW and len(down) <= SEVERAL and len(cells) == len(down) * len(right):
        return _side_by_side(release, name, down, right, cells)
    if len(down) > MOST_ROWS or len(right) > MOST_COLUMNS:
        return None
    return _grid(release, name, down, right, cells)


def _lines(
    release: Drawable, name: str, group: str, along: Sequence[Cell], kinds: Sequence[Cell], cells: Cells
) -> Picture:
    """A line over dates for each of the other keys."""
    dates = sorted(along, key=day_of)
    tracks = []
    for kind in kinds:
        mine = [d for d in dates if (d, kind) in cells]
        tracks.append(track_of(release, name, short(kind), [cells[d, kind] for d in mine], tuple(map(day_of, mine))))
    caption = say("chart-by", release.language, **caption_facts(release, (name,)))
    x = Axis(group, ticks=date_ticks(dates))
    return Picture(caption, lambda width: xy_chart(tracks, title=caption, x=x, width=width))


def _side_by_side(release: Drawable, name: str, down: Sequence[Cell], right: Sequence[Cell], cells: Cells) -> Picture:
    groups = [BarGroup(short(a), tuple(bar_of(release, name, short(b), cells[a, b]) for b in right)) for a in down]
    caption = say("chart-by", release.language, **caption_facts(release, (name,)))
    drawer = grouped_chart if from_zero(release, (name,)) else dot_chart
    return Picture(caption, lambda width: drawer(groups, title=caption, width=width))


def _grid(release: Drawable, name: str, down: Sequence[Cell], right: Sequence[Cell], cells: Cells) -> Picture:
    rows, columns = {a: k for k, a in enumerate(down)}, {b: k for k, b in enumerate(right)}
    values = {(rows[a], columns[b]): value_of(release, name, i) for (a, b), i in cells.items()}
    reaches = [r for r in (reach_of(release, name, i) for i in cells.values()) if r is not None]
    facts = caption_facts(release, (name,))
    if reaches:
        facts["most"] = real_text(max(reaches), 3)
    caption = say("chart-heat" if reaches else "chart-heat-bare", release.language, **facts)
    names = [short(a) for a in down], [short(b) for b in right]
    return Picture(caption, lambda width: heat_chart(*names, values, title=caption, width=width))
