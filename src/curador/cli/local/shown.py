"""Estimates on a terminal: a row for each key, with a bar and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.text import Text

from curador.cli.screen import bullet, console, grid, say
from curador.show.estimates import Estimated, as_percent, one_line

WIDE = 24  # letters of a bar
STEPS = 24  # of a distribution, which has too many buckets for a terminal


def print_findings(found: Sequence[Estimated], top: int) -> None:
    """Print what was found, the largest values of each, and what to know about them."""
    for one in found:
        if one.name:
            say(f"\n{one_line(one.name)} ({people(one.users)})", "bold")
        if not one.values and one.users:
            say("Nothing was found.")
        elif one.values:
            (_distribution if one.kind == "distribution" else _rows)(one, top)
        if one.note:
            bullet(one.note, "yellow" if one.biased else "dim")


def people(number: int) -> str:
    """How many they are.

    >>> people(1), people(2000)
    ('1 person', '2,000 people')
    """
    return "1 person" if number == 1 else f"{number:,} people"


def _rows(one: Estimated, top: int) -> None:
    rows, scale = one.largest(top), max(0.0, *one.values, *one.high)
    table = grid()
    table.add_column("" if one.kind == "mean" else "key" if one.kind == "frequencies" else "coordinate")
    table.add_column("biased estimate" if one.biased else "estimate", justify="right")
    if one.low:
        together = "" if len(one.low) == 1 else ", about" if one.approximate else " for all"
        sure = "" if one.confidence is None else f"{as_percent(one.confidence)} "
        table.add_column(f"{sure}interval{together}", justify="right")
    elif one.error:
        table.add_column("standard error", justify="right")
    if one.kind == "frequencies":
        table.add_column("", no_wrap=True)
    for i in rows:
        cells: list[Text | str] = [Text(_short(one.labels[i])), _number(one, one.values[i])]
        if one.low:
            cells.append(f"{_number(one, one.low[i])} … {_number(one, one.high[i])}")
        elif one.error:
            cells.append(_number(one, one.error[i]))
        if one.kind == "frequencies":
            cells.append(_bar(one, i, scale))
        table.add_row(*cells)
    console.print(table)
    if len(rows) < len(one.values):
        say(f"… and {len(one.values) - len(rows):,} more; --top shows them.", "dim")


def _bar(one: Estimated, i: int, scale: float) -> Text:
    """Up to the lower limit it is full, up to the estimate half, up to the upper limit light."""

    def cells(value: float) -> int:
        return round(WIDE * min(max(value / scale, 0.0), 1.0)) if scale > 0 else 0

    value = cells(one.values[i])
    low, high = (cells(one.low[i]), cells(one.high[i])) if one.low else (value, value)
    low, high = min(low, value), max(high, value)
    return Text.assemble(("█" * low, "cyan"), ("▓" * (value - low), "cyan"), ("░" * (high - value), "cyan"))


def _distribution(one: Estimated, top: int) -> None:
    buckets = len(one.values)
    even = max(d for d in range(1, STEPS + 1) if buckets % d == 0)
    steps = even if 2 * even >= min(STEPS, buckets) else min(STEPS, buckets)
    cuts = [round(j * buckets / steps) for j in range(steps + 1)]
    shares = [sum(one.values[a:b]) for a, b in pairwise(cuts)]
    table = grid()
    table.add_column("from", justify="right")
    table.add_column("to", justify="right")
    table.add_column("biased estimate", justify="right")
    table.add_column("", no_wrap=True)
    for (a, b), share in zip(pairwise(cuts), shares, strict=True):
        bar = Text("█" * round(WIDE * share / max(shares)), "cyan")
        table.add_row(f"{one.edges[a]:.6g}", f"{one.edges[b]:.6g}", f"{share:z.2%}", bar)
    console.print(table)


def _number(one: Estimated, value: float) -> str:
    return f"{value:z.2%}" if one.kind == "frequencies" else f"{value:z.6g}"


def _short(label: str | int) -> str:
    text = one_line(label)
    return text if len(text) <= 20 else text[:19] + "…"
