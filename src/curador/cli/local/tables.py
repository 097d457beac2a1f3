"""Estimates on a terminal: a row for each key, with a bar and its interval."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from curador.cli.screen import bullet, console, grid, say, spoken, words
from curador.show.summary import Summary, one_line, people

WIDE = 24  # characters of a bar
STEPS = 24  # of a distribution, which has too many buckets for a terminal


def print_summaries(found: Sequence[Summary], top: int, *, bars: bool = True) -> None:
    """Print the largest values of each summary, with bars for frequencies, and its note."""
    for one in found:
        if one.name:
            say(f"\n{one_line(one.name)} ({people(one.users, spoken())})", "bold")
        if not one.values and one.users:
            say(words("nothing-found"))
        elif one.values:
            if one.kind == "distribution":
                _distribution(one)
            else:
                _rows(one, top, bars and one.kind == "frequencies")
        if one.notes:
            bullet(one.note_in(spoken()), "yellow" if one.biased else "dim")


def _rows(one: Summary, top: int, barred: bool) -> None:
    headings, *cells = one.table(top, spoken())
    rows, scale = one.largest(top), max(0.0, *one.values, *one.high)
    bars = [_bar(one, i, scale) for i in rows] if barred else None
    _print(headings, cells, bars)
    if len(rows) < len(one.values):
        say(words("more-rows", n=f"{len(one.values) - len(rows):,}"), "dim")


def _bar(one: Summary, i: int, scale: float) -> Text:
    """A bar: full up to the lower limit, half up to the estimate, light up to the upper limit."""

    def cells(value: float) -> int:
        return round(WIDE * min(max(value / scale, 0.0), 1.0)) if scale > 0 else 0

    value = cells(one.values[i])
    low, high = (cells(one.low[i]), cells(one.high[i])) if one.low else (value, value)
    low, high = min(low, value), max(high, value)
    return Text.assemble(("█" * low, "cyan"), ("▓" * (value - low), "cyan"), ("░" * (high - value), "cyan"))


def _distribution(one: Summary) -> None:
    coarse = one.merged(STEPS)
    headings, *cells = coarse.table(language=spoken())
    most = max(coarse.values)
    _print(headings, cells, [Text("█" * round(WIDE * share / most), "cyan") for share in coarse.values], left=0)


def _print(headings: Sequence[str], cells: Sequence[Sequence[str]], bars: Sequence[Text] | None, left: int = 1) -> None:
    """A table whose first ``left`` columns are labels, and whose last is a bar if there are any."""
    table = grid()
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i < left else "right")
    if bars is not None:
        table.add_column("", no_wrap=True)
    for i, row in enumerate(cells):
        table.add_row(*map(Text, row), *([] if bars is None else [bars[i]]))
    console.print(table)
