"""Tables as text: columns of one width, for terminals, notebooks and pages; and as CSV."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

FORMULA, SIGNED = ("=", "+", "-", "@", "＝", "＋", "－", "＠"), re.compile(r"[+-][0-9]+([.][0-9]+)?")
"""How a cell begins that spreadsheets take for a formula, also in full width; and what they take for a number."""

Cell = int | float | str | bool | date | None
"""A value that a table can show."""


@dataclass(frozen=True)
class TextColumn:
    """One printed column; numbers stand to the ``right``.  ``of`` names the column that this one belongs to."""

    heading: str
    cells: tuple[str, ...]
    right: bool = True
    of: str | None = None

    @property
    def width(self) -> int:
        return max(len(line) for cell in (self.heading, *self.cells) for line in cell.split("\n"))

    def aligned(self) -> list[str]:
        """Heading and cells, all of one width."""
        width = self.width  # once: it looks at every cell
        return [x.rjust(width) if self.right else x.ljust(width) for x in (self.heading, *self.cells)]


def text_table(columns: Sequence[TextColumn]) -> list[str]:
    """The lines of a table, with a rule below its headings.

    >>> print(*text_table([TextColumn("sex", ("F", "M"), right=False), TextColumn("n", ("12", "7"))]), sep="\\n")
    sex   n
    ───────
    F    12
    M     7
    """
    lines = ["  ".join(cells) for cells in zip(*(c.aligned() for c in columns), strict=True)]
    return [line.rstrip() for line in (lines[0], "─" * len(lines[0]), *lines[1:])]


def html_table(columns: Sequence[TextColumn]) -> str:
    """The same as HTML, every text escaped."""

    def line(texts: Sequence[str], tag: str) -> str:
        cells = (
            f'<{tag} style="text-align:{"right" if c.right else "left"}">{html.escape(text)}</{tag}>'
            for c, text in zip(columns, texts, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line(row, "td") for row in zip(*(c.cells for c in columns), strict=True))
    return f"<table><thead>{line([c.heading for c in columns], 'th')}</thead><tbody>{body}</tbody></table>"


def stacked(columns: Sequence[TextColumn]) -> list[TextColumn]:
    """The columns, those that belong to another put below its cells: for where there is little room."""
    below = {c.of: c for c in columns if c.of is not None}
    return [
        replace(c, cells=tuple(map("\n".join, zip(c.cells, below[c.heading].cells, strict=True))))
        if c.heading in below and c.right
        else c
        for c in columns
        if c.of is None
    ]


def cell_text(x: Cell) -> str:
    """A value as a table shows it.

    >>> cell_text(12345), cell_text(0.5), cell_text(None)
    ('12,345', '0.5', 'NULL')
    """
    if x is None:
        return "NULL"
    if isinstance(x, bool | str | date):
        return str(x)
    return f"{x:,}" if isinstance(x, int) else real_text(x)


def real_text(x: float, digits: int = 6) -> str:
    """A number with ``digits`` significant digits, and no exponent where none is needed."""
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    size = math.floor(math.log10(abs(x)))
    if not -5 <= size < 15:
        return f"{x:.{digits}g}"
    return trimmed(f"{x:,.{max(0, digits - 1 - size)}f}")


def trimmed(number: str) -> str:
    """A number's text without zeros at the end of its fraction.

    >>> trimmed("1,200.50"), trimmed("1,200.00"), trimmed("1,200")
    ('1,200.5', '1,200', '1,200')
    """
    return number.rstrip("0").rstrip(".") if "." in number else number


def percent(x: float) -> str:
    """A share in percent: "95 %"."""
    return f"{float(100 * x):g} %"


def percents(x: float, low: float, high: float) -> tuple[str, str, str]:
    """A share in percent and the ends of its interval, rounded outwards, to two digits of the interval's width.

    >>> percents(0.93794, 0.937921, 0.937965), percents(0.8, 0.55, 1.0)
    (('93.7940 %', '93.7921 %', '93.7965 %'), ('80 %', '55 %', '100 %'))
    """
    width = 100 * (high - low)
    digits = min(4, max(0, 1 - math.floor(math.log10(width)))) if width > 0 else 4
    size = 10**digits
    ends = math.floor(100 * size * low + 1e-6) / size, math.ceil(100 * size * high - 1e-6) / size
    share, least, most = (f"{value:.{digits}f} %" for value in (100 * x, *ends))
    return share, least, most


def inert(cell: Any) -> Any:
    """A cell for CSV: before a text that a spreadsheet would run as a formula stands an apostrophe.

    Numbers stay as they are, negative ones too; so does a text that is a number.

    >>> inert("=1+1"), inert("\\t@x"), inert(-3), inert("-3"), inert("a=1")
    ("'=1+1", "'\\t@x", -3, '-3', 'a=1')
    """
    formula = isinstance(cell, str) and cell.lstrip().startswith(FORMULA) and not SIGNED.fullmatch(cell)
    return f"'{cell}" if formula else cell


def csv_text(columns: Mapping[str, Sequence[Any]], end: str = "\r\n") -> str:
    """Columns as CSV, every cell and heading :func:`inert`; texts are quoted where another delimiter would split them.

    >>> csv_text({"k": ("a;=1", "b"), "n": (-1, None)}, "\\n")
    'k,n\\n"a;=1",-1\\nb,\\n'
    """
    out = io.StringIO(newline="")
    plain = csv.writer(out, lineterminator=end)
    quoted = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_NONNUMERIC)
    for row in ([*columns], *zip(*columns.values(), strict=True)):
        cells = [inert(cell) for cell in row]
        split = any(isinstance(cell, str) and (";" in cell or "\t" in cell) for cell in cells)
        (quoted if split else plain).writerow(cells)
    return out.getvalue()
