"""Values of two keys as a grid of shaded cells, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from curador.errors import InvalidParameter
from curador.show.pages.bars import figures
from curador.show.pages.svg import LETTER, LINE, WIDE, box, escaped, framed, label, number, tick_text

MOST_ROWS, MOST_COLUMNS = 40, 24
LEAST, MOST = 0.06, 0.92
"""How much of its colour the palest and the darkest cell have."""


def heat_chart(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Mapping[tuple[int, int], float],
    *,
    title: str,
    desc: str = "",
    width: int = WIDE,
) -> str:
    """A cell for each pair of keys, darker the larger its value; below zero in another colour; blank where none is.

    The value stands in its cell where it has room.

    >>> drawn = heat_chart(["F", "M"], ["A", "B"], {(0, 0): 3, (0, 1): 12, (1, 0): -4}, title="people")
    >>> drawn.count("<rect"), drawn.count("minus")
    (3, 1)
    """
    if not 1 <= len(rows) <= MOST_ROWS or not 1 <= len(columns) <= MOST_COLUMNS:
        raise InvalidParameter(f"A grid shows {MOST_ROWS} by {MOST_COLUMNS} cells.", fix="Show fewer keys.")
    names = [_cut(name, 18 if width < 500 else 28) for name in rows]
    left = 12 + LETTER * max(map(len, names))
    wide = min(120.0, (width - left) / len(columns))
    heads = [_cut(name, 18) for name in columns]
    turned = LETTER * max(map(len, heads)) + 8 > wide
    top = 8 + (LETTER * max(map(len, heads)) * 0.9 if turned else LINE)
    tall = 26.0
    parts = [label(name, left - 8, top + tall * (i + 0.5) + 4, anchor="end") for i, name in enumerate(names)]
    for j, name in enumerate(heads):
        parts.append(_head(name, left + wide * (j + 0.5), top - 6, turned))
    largest = max((abs(v) for v in values.values() if math.isfinite(v)), default=0.0) or 1.0
    shown = {at: tick_text(figures(v)) for at, v in values.items() if math.isfinite(v)}
    fits = LETTER * max(map(len, shown.values()), default=0) + 4 <= wide
    for (i, j), text in shown.items():
        x, y, value = left + wide * j, top + tall * i, values[i, j]
        share = LEAST + (MOST - LEAST) * min(1.0, abs(value) / largest)
        parts.append(box(x + 1, y + 1, wide - 2, tall - 2, "cell minus" if value < 0 else "cell", share))
        if fits:
            kind = "value" if share < 0.45 else "value over" if share < 0.72 else "value full"
            parts.append(label(text, x + wide / 2, y + tall / 2 + 4, kind, "middle"))
    said = "; ".join(f"{rows[i]}, {columns[j]}: {text}" for (i, j), text in list(shown.items())[:100])
    return framed(parts, width, top + tall * len(rows) + 6, title, desc or said or title)


def _head(name: str, x: float, y: float, turned: bool) -> str:
    if not turned:
        return label(name, x, y, "tick", "middle")
    at = f"{number(x + 4)} {number(y)}"
    return (
        f'<text class="tick" x="{number(x + 4)}" y="{number(y)}" text-anchor="start" fill="currentColor" '
        f'transform="rotate(-60 {at})">{escaped(name)}</text>'
    )


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
