"""A release on a terminal, in a notebook, in a log: its rows with their intervals, and its guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Protocol

from curador.privacy import Guarantee, Neighbors
from curador.show.explain import UNDECLARED, WIDTH, guarantee_text, note_text, whom
from curador.show.tables import Cell, TextColumn, cell_text, percent, stacked, text_table, trimmed
from curador.show.words.say import say

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_DECIMALS = 6
MOST_SHOWN = 50
"""How many rows are printed before the rest is only counted."""


class Shown(Protocol):
    """The properties of a release that are shown."""

    @property
    def columns(self) -> Mapping[str, tuple[Cell, ...]]: ...
    @property
    def groups(self) -> tuple[str, ...]: ...
    @property
    def intervals(self) -> Mapping[str, tuple[tuple[Any, Any], ...]]: ...
    @property
    def ranks(self) -> Mapping[str, float]: ...
    @property
    def confidence(self) -> float: ...
    @property
    def guarantee(self) -> Guarantee: ...
    @property
    def charge(self) -> str: ...
    @property
    def neighbors(self) -> Neighbors: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def remarks(self) -> tuple[Mapping[str, Any], ...]: ...
    @property
    def rehearsal(self) -> bool: ...
    @property
    def language(self) -> str: ...
    def __len__(self) -> int: ...


def statement(release: Shown) -> str:
    """The guarantee, for whom it holds, and its charge, in one line."""
    text = say(
        "statement",
        release.language,
        guarantee=guarantee_text(release.guarantee, release.language),
        unit=whom(release.unit, release.language),
        neighbors=say(release.neighbors.value, release.language),
    )
    return _charged(text, release.charge, release.rehearsal, release.language)


def publication_statement(
    guarantee: Guarantee, tight: Guarantee | None, charge: str, language: str, *, rehearsal: bool = False
) -> str:
    """The guarantee of all releases of a batch together, in one line."""
    whole = guarantee_text(guarantee, language)
    told = {} if tight is None else {"tight": guarantee_text(tight, language)}
    text = say("together-tight" if told else "together", language, guarantee=whole, **told)
    return _charged(text, charge, rehearsal, language)


def _charged(text: str, charge: str, rehearsal: bool, language: str) -> str:
    """A guarantee with the charge that paid for it; a rehearsal was not charged, and names none."""
    if rehearsal:
        return say("rehearsal", language, statement=text)
    return say("charged", language, statement=text, charge=charge)


def notes(release: Shown) -> tuple[str, ...]:
    """Notes for the reader, in the release's language."""
    return tuple(note_text(note, release.language) for note in release.remarks)


CLIPPED = ("clipped-per-unit", "clipped-beside")
CUT = (
    *CLIPPED,
    "rows-left-out",
    "joined",
    "joined-outer",
    "joined-inside",
    "public-join-once",
    "prepared-before-filter",
    "prepared-for-others",
)
"""Notes on what was cut from units: no interval covers it."""

WARNED = ("nothing-learned", "nothing-learned-in", "step-is-coarse", "below-zero")
"""Notes on numbers that mislead who reads them alone."""

BESIDE = (
    *CUT,
    "without-keys",
    *WARNED,
    *UNDECLARED,
    "quality-fine",
    "quality-found",
    "quality-size",
    "quality",
    "adjusted",
    "apart-cut",
    "apart-null",
)
"""Notes that are shown wherever the numbers are: without them these would mislead."""


def beside(release: Shown, codes: tuple[str, ...] = BESIDE) -> tuple[str, ...]:
    """The notes without which the numbers would mislead, in the release's language."""
    return tuple(note_text(note, release.language) for note in release.remarks if note["code"] in codes)


def as_text(release: Shown) -> str:
    """The release as plain text."""
    return "\n".join([*text_table(shown_columns(release)), "", *_below(release)])


def as_rich(release: Shown, width: int) -> Iterator[RenderableType]:
    """The release for a terminal of ``width`` columns."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    columns = shown_columns(release)
    if sum(c.width + 3 for c in columns) > width:
        columns = stacked(columns)
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for c in columns:
        style = "dim" if c.of else "bold" if c.right else ""
        table.add_column(Text(c.heading), justify="right" if c.right else "left", style=style)
    for row in zip(*(c.cells for c in columns), strict=True):
        table.add_row(*map(Text, row))  # as text: a key may look like markup
    yield table
    yield from map(Text, (*marks(release), *beside(release), statement(release)))


def shown_columns(release: Shown, most: int = MOST_SHOWN, *, near: bool = False) -> list[TextColumn]:
    """The printed columns of the first ``most`` rows: each output next to its interval.

    With ``near``, numbers have the digits that their intervals leave a meaning.
    """
    heading = say("interval", release.language, confidence=percent(release.confidence))
    found = []
    for name, cells in release.columns.items():
        texts = tuple(map(cell_text, cells[:most]))
        if name in release.intervals:
            told_as = near_text if near else _precise_text
            texts = tuple(told_as(x, *ends) for x, ends in zip(cells[:most], release.intervals[name], strict=False))
        found.append(TextColumn(name, texts, name not in release.groups))
        if name in release.intervals:
            whole = near and all(isinstance(x, int) for x in cells[:most])
            told = _whole_ends if whole else _near_ends if near else _ends_text
            ends = (told(a, b) for a, b in release.intervals[name][:most])
            found.append(TextColumn(heading, tuple(ends), of=name))
    return found


def near_text(x: Cell, low: Any, high: Any) -> str:
    """A number to a twentieth of its interval, or finer: further digits are noise.

    >>> near_text(5.76415, 1.0, 8.0), near_text(2930.43, 2308.8, 3595.3), near_text(12, 3.0, 20.0)
    ('5.8', '2,930', '12')
    """
    places = _places(low, high)
    return cell_text(x) if places is None or not isinstance(x, float) else f"{x:,.{places}f}"


def _near_ends(low: Any, high: Any) -> str:
    """An interval with one digit more than its number has, rounded outwards."""
    places = _places(low, high)
    if places is None:
        return _ends_text(low, high)
    unit = 10.0 ** (places + 1 if places else 0)
    ends = math.floor(low * unit + 1e-9) / unit, math.ceil(high * unit - 1e-9) / unit
    return " … ".join(f"{end + 0.0:,.{places + 1 if places else 0}f}" for end in ends)


def _whole_ends(low: Any, high: Any) -> str:
    """An interval of a whole number, rounded outwards.

    >>> _whole_ends(-2.0, 10.5)
    '-2 … 11'
    """
    if isinstance(low, date) or not math.isfinite(high - low):
        return _ends_text(low, high)
    return f"{math.floor(low + 1e-9):,} … {math.ceil(high - 1e-9):,}"


def _places(low: Any, high: Any) -> int | None:
    """The decimals of a number that an interval leaves a meaning; None where it does not say."""
    if isinstance(low, date) or not (math.isfinite(high - low) and high > low) or max(abs(low), abs(high)) > 1e12:
        return None
    places = math.ceil(-math.log10((high - low) / 20))
    return None if places > MOST_DECIMALS else max(0, places)


def _ends_text(low: Any, high: Any) -> str:
    """An interval in five digits, or as many as its width needs, rounded outwards.

    >>> _ends_text(2308.84, 3595.37), _ends_text(1976.641, 1976.678), _ends_text(0.1, math.inf)
    ('2,308.8 … 3,595.4', '1,976.641 … 1,976.678', '0.1 … ∞')
    """
    if isinstance(low, date):
        return f"{cell_text(low)} … {cell_text(high)}"
    width = high - low
    wanted = 2 - math.floor(math.log10(width)) if 0 < width < math.inf else -400
    return f"{_end_text(low, wanted, ROUND_FLOOR)} … {_end_text(high, wanted, ROUND_CEILING)}"


def _end_text(x: float, wanted: int, rounding: str) -> str:
    if not math.isfinite(x):
        return "∞" if x > 0 else "-∞"
    if x == 0:
        return "0"
    size = math.floor(math.log10(abs(x)))
    unit = Decimal(1).scaleb(-min(max(4 - size, wanted), 16 - size))  # a double has no more than seventeen digits
    units = Decimal(x) / unit
    near = units.to_integral_value()
    end = unit * (near if abs(near - units) < Decimal("1e-6") else units.to_integral_value(rounding))
    if not -5 <= size < 15:
        return f"{end.normalize():g}"
    return trimmed(f"{end:,f}")


def _precise_text(x: Cell, low: Any, high: Any) -> str:
    """A number as tables show it, or with as many digits as a twentieth of its interval needs.

    >>> _precise_text(100049.94, 100049.911, 100049.968), _precise_text(12.345678, 3.0, 20.0)
    ('100,049.94', '12.3457')
    """
    if not isinstance(x, float) or isinstance(low, date) or not 0 < high - low < math.inf or not 0 < abs(x) < math.inf:
        return cell_text(x)
    size = math.floor(math.log10(abs(x)))
    places = min(math.ceil(-math.log10((high - low) / 20)), 16 - size)
    if places <= 5 - size or not -5 <= size < 15:
        return cell_text(x) if places <= 5 - size else f"{x:.{places + size + 1}g}"
    return trimmed(f"{x:,.{max(0, places)}f}")


def _below(release: Shown) -> list[str]:
    """The lines below the rows of a text."""
    broken = (line for text in beside(release) for line in wrap(text, WIDTH))
    return [*marks(release), *broken, statement(release)]


def marks(release: Shown, most: int = MOST_SHOWN) -> list[str]:
    """What belongs to the numbers: rows that are not shown, and errors in ranks."""
    lines = []
    if len(release) > most:
        lines.append(say("more-rows", release.language, n=len(release) - most))
    alike: dict[float, list[str]] = {}
    for name, reach in release.ranks.items():
        alike.setdefault(reach, []).append(name)
    for reach, names in alike.items():
        outputs, ranks = ", ".join(names), f"{reach:.4g}"
        lines.append(
            say("within-ranks", release.language, outputs=outputs, ranks=ranks, confidence=percent(release.confidence))
        )
    return lines
