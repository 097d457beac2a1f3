"""What leaves: noised values with their intervals, what they promise, and which charge paid for them.

A release holds plain values and nothing exact.  It is what a ledger stores and what a person reads.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.errors import InvalidParameter
from curador.privacy import Guarantee, Neighbors, guarantee_from_json

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Cell = int | float | str | bool | date | None
Interval = tuple[float, float]

MOST_SHOWN = 50
"""How many rows are printed before the rest is only counted."""


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

    >>> from curador.privacy import PureDP
    >>> r = Release({"n": (1203,)}, (), {"n": ((1180.0, 1226.0),)}, {}, 0.95, PureDP(0.1), "7")
    >>> r["n"], r.value, r.interval("n")
    ((1203,), 1203, (1180.0, 1226.0))
    >>> print(r)
    n      95 % interval
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
        }

    def to_json(self) -> str:
        """One line of JSON; equal releases make equal text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], plan: Explained | None = None) -> Release:
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
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidParameter("This is no release as to_dict() writes them.", fix="Use to_dict().") from None

    def __reduce__(self) -> tuple[object, ...]:
        # Views of dictionaries do not travel; plain values do.
        return Release.from_dict, (self.to_dict(), self.plan)

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
        return f"{said} for {who} {how} · charge {self.charge}"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        """A header and rows of text: each output beside its interval."""
        head, columns = [], []
        for name, cells in self.columns.items():
            head.append(name)
            columns.append([_text(x) for x in cells])
            if name in self.intervals:
                head.append(f"{float(100 * self.confidence):g} % interval")
                columns.append([_interval(ends) for ends in self.intervals[name]])
            elif name in self.ranks:
                head.append("within")
                columns.append([f"± {self.ranks[name]:.4g} ranks"] * len(cells))
        return head, [list(row) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        head, rows = self._shown()
        cut = rows[:MOST_SHOWN]
        widths = [max(map(len, column)) for column in zip(head, *cut, strict=True)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (head, *cut)]
        lines.insert(1, "─" * (sum(widths) + 2 * (len(widths) - 1)))
        if len(rows) > MOST_SHOWN:
            lines.append(f"… and {len(rows) - MOST_SHOWN} more rows")
        return "\n".join(line.rstrip() for line in (*lines, "", self.promise()))

    __repr__ = __str__

    def __rich__(self) -> RichTable:
        from rich.table import Table
        from rich.text import Text

        head, rows = self._shown()
        table = Table(caption=Text(self.promise()), caption_justify="left")
        for name in head:
            plain = name in self.groups
            table.add_column(Text(name), justify="left" if plain else "right", style="" if plain else "bold")
        for row in rows[:MOST_SHOWN]:
            table.add_row(*map(Text, row))  # as text: a key may look like markup
        if len(rows) > MOST_SHOWN:
            table.add_row(Text(f"… and {len(rows) - MOST_SHOWN} more rows"))
        return table

    def _repr_html_(self) -> str:
        head, rows = self._shown()

        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(x)}</{tag}>" for x in cells) + "</tr>"

        body = "".join(line(row, "td") for row in rows[:MOST_SHOWN])
        more = f"<p>… and {len(rows) - MOST_SHOWN} more rows</p>" if len(rows) > MOST_SHOWN else ""
        table = f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
        return f"{table}{more}<p>{html.escape(self.promise())}</p>"


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
