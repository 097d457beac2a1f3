"""The numbers, intervals and keys of a release, as charts read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from curador.show.pages.bars import Bar
from curador.show.pages.charts import Track
from curador.show.release import Shown
from curador.show.tables import Cell, cell_text, percent

LONGEST_NAME = 60
"""Characters of a key in a chart; the table has all of them."""
MONTHS, YEARS = 62, 3 * 366
"""So many days apart, dates are told by months, and by years."""
FROM_ZERO = ("count", "count_distinct", "sum", "tree")
"""What is compared with zero; other functions (means, quantiles, …) lie where they lie."""


class Drawable(Shown, Protocol):
    """A release, as charts see it: also by its question."""

    @property
    def question(self) -> Mapping[str, Any]: ...


def function_of(release: Drawable, output: str) -> tuple[str, str]:
    """The function that an output is, and of what, as the question says; nothing where it does not."""
    for asked in release.question.get("aggregates", ()):
        function = str(asked["aggregate"]["function"])
        if asked["name"] == output or (function == "quantiles" and output.startswith(f"{asked['name']}_p")):
            return function, str(asked["aggregate"]["column"])
    return "", ""


def from_zero(release: Drawable, names: Sequence[str]) -> bool:
    """Whether outputs are compared with zero."""
    known = {function_of(release, name)[0] for name in names} - {""}
    return known <= set(FROM_ZERO) and not set(names) & set(release.ranks)


def is_number(x: Cell) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def value_of(release: Drawable, name: str, row: int) -> float:
    x = release.columns[name][row]
    return float(x) if isinstance(x, int | float) and is_number(x) else math.nan


def _ends(release: Drawable, name: str, row: int) -> tuple[float, float] | None:
    if name not in release.intervals:
        return None
    low, high = release.intervals[name][row]
    return None if isinstance(low, date) else (float(low), float(high))


def reach_of(release: Drawable, name: str, row: int) -> float | None:
    ends = _ends(release, name, row)
    return None if ends is None or not all(map(math.isfinite, ends)) else (ends[1] - ends[0]) / 2


def bar_of(release: Drawable, output: str, name: str, row: int) -> Bar:
    low, high = _ends(release, output, row) or (None, None)
    value = value_of(release, output, row)
    return Bar(name, 0.0 if math.isnan(value) else value, low, high)


def track_of(release: Drawable, output: str, name: str, rows: Sequence[int], x: tuple[float, ...]) -> Track:
    ends = [_ends(release, output, i) for i in rows]
    bands = None if any(e is None for e in ends) else [e for e in ends if e is not None]
    low, high = (None, None) if bands is None else (tuple(e[0] for e in bands), tuple(e[1] for e in bands))
    return Track(name, x, tuple(value_of(release, output, i) for i in rows), low=low, high=high)


def name_of(release: Drawable, row: int) -> str:
    return " · ".join(short(release.columns[g][row]) for g in release.groups)


def short(key: Cell) -> str:
    text = " ".join(cell_text(key).split()) or "“”"
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def caption_facts(release: Drawable, names: Sequence[str]) -> dict[str, str]:
    groups = ", ".join(release.groups)
    return {"output": ", ".join(names), "groups": groups, "confidence": percent(release.confidence)}


def day_of(x: Cell) -> float:
    if isinstance(x, datetime):
        return x.toordinal() + (x.hour + x.minute / 60) / 24
    assert isinstance(x, date)
    return float(x.toordinal())


def date_ticks(keys: Sequence[Cell]) -> tuple[tuple[float, str], ...]:
    """Ticks at the dates that are there: years, months or days, as they are apart."""
    dates = [k for k in keys if isinstance(k, date)]
    far = day_of(dates[-1]) - day_of(dates[0])
    form = "%Y-%m-%d" if far <= MONTHS else "%Y-%m" if far <= YEARS else "%Y"
    texts: dict[str, float] = {}
    for k in dates:
        texts.setdefault(k.strftime(form), day_of(k))
    return tuple((at, text) for text, at in texts.items())
