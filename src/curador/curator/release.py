"""What leaves: noised values with their intervals, what they promise, and which charge paid for them.

A release holds plain values and nothing exact.  It is what a ledger stores and what a person reads.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.errors import InvalidParameter
from curador.privacy import Guarantee, Neighbors, guarantee_from_json

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table as RichTable
    from rich.text import Text

Cell = int | float | str | bool | date | None
Interval = tuple[float, float]

MOST_SHOWN = 50
"""How many rows are printed before the rest is only counted."""

REHEARSAL = "REHEARSAL on made-up rows, about nobody"
"""What a release of a rehearsal says wherever it is shown."""


@dataclass(frozen=True)
class Explained:
    """What a release keeps of its plan: words and plain values, and no way back to a table.

    >>> print(Explained("costs epsilon 1", {"tables": ["t"]}))
    costs epsilon 1
    """

    text: str
    values: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return dict(self.values)


@dataclass(frozen=True)
class Release:
    """Noised values, one row per group, and all that may be said of them.

    ``groups`` names the columns that tell groups apart.  ``intervals`` has one interval per row for each output that
    has them, ``ranks`` the error of quantiles, in ranks.  ``unit`` is the id of what is protected, None for a row.
    A ``rehearsal`` is about made-up rows: nobody's.  What is ``repeated`` was answered before, and cost nothing now.

    >>> from curador.privacy import PureDP
    >>> r = Release({"n": (1203,)}, (), {"n": ((1180.0, 1226.0),)}, {}, 0.95, PureDP(0.1), "7")
    >>> r["n"], r.value, r.interval("n")
    ((1203,), 1203, (1180.0, 1226.0))
    >>> print(r)
        n  95 % interval
    ────────────────────
    1,203  1,180 … 1,226
    <BLANKLINE>
    epsilon 0.1 for one row added or removed · charge 7
    """

    columns: Mapping[str, tuple[Cell, ...]]
    groups: tuple[str, ...]
    intervals: Mapping[str, tuple[Interval, ...]]
    ranks: Mapping[str, float]
    confidence: float
    guarantee: Guarantee
    charge: str
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    unit: str | None = None
    question: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    plan: Explained | None = field(default=None, repr=False, compare=False)
    rehearsal: bool = False
    repeated: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("columns", "intervals", "ranks", "question"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    # -- reading

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns that are noised."""
        return tuple(name for name in self.columns if name not in self.groups)

    def __getitem__(self, name: str) -> tuple[Cell, ...]:
        if name not in self.columns:
            raise InvalidParameter(
                f"The release has no column {name!r}.", fix=f"Its columns are {', '.join(self.columns)}."
            )
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        for i in range(len(self)):
            yield {name: cells[i] for name, cells in self.columns.items()}

    @property
    def value(self) -> Cell:
        """The one number of a release that has only one."""
        if len(self) != 1 or len(self.outputs) != 1:
            raise InvalidParameter(
                f"This release has {len(self)} rows of {len(self.outputs)} outputs, not one number.",
                fix='Read a column by its name, as in release["n"].',
            )
        return self.columns[self.outputs[0]][0]

    def interval(self, name: str, row: int = 0) -> Interval:
        """Where the protected statistic lies, with the release's confidence."""
        if name not in self.intervals:
            of = f"it is within {self.ranks[name]:.4g} ranks" if name in self.ranks else "it is not noised"
            raise InvalidParameter(f"{name!r} has no interval: {of}.", fix="Read release.ranks, or another column.")
        return self.intervals[name][row]

    def for_group(self, people: int) -> Guarantee:
        """What is promised to so many units together.

        >>> from curador.privacy import PureDP
        >>> Release({"n": (3,)}, (), {}, {}, 0.95, PureDP(0.1), "1").for_group(4)
        PureDP(epsilon=0.4)
        """
        from curador.accounting.rules.groups import group

        return group(self.guarantee, people)

    # -- other forms

    def to_dict(self) -> dict[str, Any]:
        """The release as plain values, which :meth:`from_dict` reads back."""
        return {
            "columns": {name: [_out(x) for x in cells] for name, cells in self.columns.items()},
            "dates": [name for name, cells in self.columns.items() if any(isinstance(x, date) for x in cells)],
            "groups": list(self.groups),
            "intervals": {name: [list(ends) for ends in found] for name, found in self.intervals.items()},
            "ranks": dict(self.ranks),
            "confidence": self.confidence,
            "guarantee": self.guarantee.to_json(),
            "neighbors": self.neighbors.value,
            "unit": self.unit,
            "charge": self.charge,
            "question": dict(self.question),
            "notes": list(self.notes),
            "rehearsal": self.rehearsal,
        }

    def to_json(self) -> str:
        """One line of JSON; equal releases make equal text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], plan: Explained | None = None, repeated: bool = False) -> Release:
        """Read back what :meth:`to_dict` wrote."""
        try:
            dates = set(data["dates"])
            return cls(
                {name: tuple(_in(x, name in dates) for x in cells) for name, cells in data["columns"].items()},
                tuple(data["groups"]),
                {name: tuple((float(a), float(b)) for a, b in found) for name, found in data["intervals"].items()},
                dict(data["ranks"]),
                data["confidence"],
                guarantee_from_json(data["guarantee"]),
                data["charge"],
                Neighbors(data["neighbors"]),
                data["unit"],
                data["question"],
                tuple(data["notes"]),
                plan,
                data["rehearsal"],
                repeated,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidParameter("This is no release as to_dict() writes them.", fix="Use to_dict().") from None

    def __reduce__(self) -> tuple[object, ...]:
        # Views of dictionaries do not travel; plain values do.
        return Release.from_dict, (self.to_dict(), self.plan, self.repeated)

    def flat(self) -> dict[str, tuple[Cell, ...]]:
        """Columns for a data frame: every output is followed by the lower and upper end of its interval."""
        out: dict[str, tuple[Cell, ...]] = {}
        for name, cells in self.columns.items():
            out[name] = cells
            if name in self.intervals:
                for i, end in enumerate(("lower", "upper")):
                    out[_unused(f"{name}_{end}", self.columns)] = tuple(ends[i] for ends in self.intervals[name])
        return out

    def to_arrow(self) -> Any:
        """A pyarrow Table with the interval's ends beside each output."""
        return _library("pyarrow").table({name: list(cells) for name, cells in self.flat().items()})

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the interval's ends beside each output."""
        return _library("pandas").DataFrame({name: list(cells) for name, cells in self.flat().items()})

    def to_polars(self) -> Any:
        """A Polars DataFrame with the interval's ends beside each output."""
        return _library("polars").DataFrame({name: list(cells) for name, cells in self.flat().items()})

    # -- for people

    def explain(self) -> str:
        """The plan that made this release, in words."""
        return "" if self.plan is None else self.plan.text

    def promise(self) -> str:
        """What is promised, to whom and by which charge, in one line."""
        who = "one row" if self.unit is None else f"everything of one {self.unit!r}"
        how = "added or removed" if self.neighbors is Neighbors.ADD_REMOVE else "replaced"
        said = ", ".join(f"{name} {value:g}" for name, value in _numbers(self.guarantee))
        promised = f"{said} for {who} {how} · charge {self.charge}"
        return f"{REHEARSAL} · would be {promised}" if self.rehearsal else promised

    def _shown(self) -> list[_Shown]:
        """What is printed, column by column: each output beside its interval."""
        found = []
        for name, cells in self.columns.items():
            found.append(_Shown(name, tuple(map(_text, cells[:MOST_SHOWN])), name in self.groups))
            if name in self.intervals:
                ends = tuple(map(_interval, self.intervals[name][:MOST_SHOWN]))
                found.append(_Shown(f"{float(100 * self.confidence):g} % interval", ends, of=name))
        return found

    def _below(self) -> list[str]:
        """What is said under the rows that are shown."""
        more = [f"… and {len(self) - MOST_SHOWN} more rows"] if len(self) > MOST_SHOWN else []
        ranks: dict[float, list[str]] = {}
        for name, most in self.ranks.items():
            ranks.setdefault(most, []).append(name)
        sure = f"{float(100 * self.confidence):g} % of the time"
        within = [f"{', '.join(names)}: within ± {most:.4g} ranks, {sure}" for most, names in ranks.items()]
        return [*more, *within, self.promise()]

    def __str__(self) -> str:
        columns = self._shown()
        lines = ["  ".join(cells) for cells in zip(*(c.aligned() for c in columns), strict=True)]
        lines.insert(1, "─" * len(lines[0]))
        return "\n".join(line.rstrip() for line in (*lines, "", *self._below()))

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RichTable | Text]:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        columns = self._shown()
        if sum(c.width + 3 for c in columns) > options.max_width:
            columns = _stacked(columns)
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for c in columns:
            style = "dim" if c.of else "" if c.group else "bold"
            table.add_column(Text(c.heading), justify="left" if c.group else "right", style=style)
        for row in zip(*(c.cells for c in columns), strict=True):
            table.add_row(*map(Text, row))  # as text: a key may look like markup
        yield table
        yield from map(Text, self._below())

    def _repr_html_(self) -> str:
        columns = self._shown()

        def cell(c: _Shown, text: str, tag: str) -> str:
            return f'<{tag} style="text-align:{"left" if c.group else "right"}">{html.escape(text)}</{tag}>'

        def line(texts: Sequence[str], tag: str) -> str:
            return f"<tr>{''.join(cell(c, text, tag) for c, text in zip(columns, texts, strict=True))}</tr>"

        body = "".join(line(row, "td") for row in zip(*(c.cells for c in columns), strict=True))
        table = f"<table><thead>{line([c.heading for c in columns], 'th')}</thead><tbody>{body}</tbody></table>"
        return table + "".join(f"<p>{html.escape(said)}</p>" for said in self._below())


@dataclass(frozen=True)
class _Shown:
    """One printed column: a group, an output, or the interval ``of`` an output."""

    heading: str
    cells: tuple[str, ...]
    group: bool = False
    of: str | None = None

    @property
    def width(self) -> int:
        return max(len(line) for cell in (self.heading, *self.cells) for line in cell.split("\n"))

    def aligned(self) -> list[str]:
        """Heading and cells of one width; numbers stand to the right."""
        return [x.ljust(self.width) if self.group else x.rjust(self.width) for x in (self.heading, *self.cells)]


def _stacked(columns: Sequence[_Shown]) -> list[_Shown]:
    """Intervals below their outputs instead of beside them, where there is little room."""
    below = {c.of: c for c in columns if c.of is not None}
    return [
        replace(c, cells=tuple(map("\n".join, zip(c.cells, below[c.heading].cells, strict=True))))
        if c.heading in below and not c.group
        else c
        for c in columns
        if c.of is None
    ]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidParameter(f"{name} is not installed.", fix=f"Run: pip install {name}") from None


def _out(x: Cell) -> object:
    return x.isoformat() if isinstance(x, date) else x


def _in(x: Any, dated: bool) -> Cell:
    found: Cell = date.fromisoformat(x) if dated and x is not None else x
    return found


def _unused(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += "_"
    return name


def _numbers(promise: Guarantee) -> list[tuple[str, float]]:
    return [(k, v) for k, v in promise.to_json().items() if isinstance(v, float | int) and (v or k != "delta")]


def _text(x: Cell) -> str:
    if x is None:
        return "NULL"
    if isinstance(x, bool | str | date):
        return str(x)
    return f"{x:,}" if isinstance(x, int) else _real(x)


def _real(x: float, digits: int = 6) -> str:
    """A number with so many significant digits and no exponent where none is needed."""
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    size = math.floor(math.log10(abs(x)))
    if not -5 <= size < 15:
        return f"{x:.{digits}g}"
    shown = f"{x:,.{max(0, digits - 1 - size)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _interval(ends: Interval) -> str:
    return f"{_real(ends[0], 5)} … {_real(ends[1], 5)}"
