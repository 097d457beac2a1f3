"""A release: noised values with their intervals, their guarantee, and the charge that paid for them.

A release is made from a measurement that a ledger keeps, a question, a confidence and a language, as often as wanted
and free of charge.  It holds plain values and nothing exact.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib import import_module
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.curator.purchase import Bought
from curador.curator.releases.notes import Note, bought_remarks
from curador.errors import InvalidParameter
from curador.numbers import set_fields
from curador.privacy import Guarantee, Neighbors, guarantee_from_json
from curador.query.answer.postprocess import Answered, answered
from curador.query.answer.reading import reading_notes
from curador.query.plan.plan import LARGEST_KEPT, Plan
from curador.show import release as shown
from curador.show.explain import explain, kept_text
from curador.show.tables import Cell, csv_text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from rich.console import Console, ConsoleOptions, RenderableType

    from curador.show.report.document import ReportPage
    from curador.show.report.plot import Plot

Interval = tuple[Any, Any]


@dataclass(frozen=True, repr=False)
class Release:
    """Noised values, one row per group, and all that may be stated about them.

    ``groups`` names the columns that identify groups.  ``intervals`` has one interval per row for each output that
    has them, without ends (infinite) where a denominator may be zero; ``ranks`` the error of quantiles, in ranks.
    ``unit`` is the id of what is protected, None for a row.
    ``remarks`` are notes for the reader, as codes; :attr:`notes` are their texts.  A ``rehearsal`` is about
    made-up rows.  ``repeated``: its measurement was bought before, and this presentation of it was free.  ``seal`` is
    the ledger's: whoever holds the ledger can verify by it that nothing was changed; empty for a ledger in memory.
    ``at`` is when it was charged, UTC, where that is known.

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
    question: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[Note, ...] = ()
    rehearsal: bool = False
    language: str = "en"
    facts: Mapping[str, Any] | None = field(default=None, compare=False)
    repeated: bool = field(default=False, compare=False)
    seal: str = field(default="", compare=False)
    at: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("columns", "intervals", "ranks", "question"):
            set_fields(self, **{name: MappingProxyType(dict(getattr(self, name)))})
        set_fields(self, remarks=tuple(dict(note) for note in self.remarks))

    # -- reading

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns that are noised."""
        return tuple(name for name in self.columns if name not in self.groups)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader, in the release's language."""
        return shown.notes(self)

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

    def numbers(self, name: str) -> tuple[float, ...]:
        """A noised column as numbers, for arithmetic; a column of groups is refused.

        >>> from curador.privacy import PureDP
        >>> sum(Release({"n": (3, 4)}, (), {}, {}, 0.95, PureDP(0.1), "1").numbers("n"))
        7.0
        """
        found = self[name]
        if name in self.groups:
            raise InvalidParameter(f"{name!r} is a column of groups; it is not noised.", fix="Read release[name].")
        return tuple(float(x) for x in found if isinstance(x, int | float))

    def interval(self, name: str, row: int = 0) -> Interval:
        """Where the protected statistic lies, with the release's confidence."""
        _ = self[name]  # refuses a name that no column has
        if name not in self.intervals:
            of = "it is not noised, or is no number"
            of = f"it is within {self.ranks[name]:.4g} ranks" if name in self.ranks else of
            raise InvalidParameter(f"{name!r} has no interval: {of}.", fix="Read release.ranks, or another column.")
        return self.intervals[name][row]

    def for_group(self, people: int) -> Guarantee:
        """The guarantee for a group of ``people`` units together.

        >>> from curador.privacy import PureDP
        >>> Release({"n": (3,)}, (), {}, {}, 0.95, PureDP(0.1), "1").for_group(4)
        PureDP(epsilon=0.4)
        """
        from curador.accounting.rules.groups import group

        return group(self.guarantee, people)

    # -- other forms

    def to_dict(self) -> dict[str, Any]:
        """The release as plain values, which :meth:`from_dict` reads back."""
        notes = [{**note, "text": text} for note, text in zip(self.remarks, self.notes, strict=True)]
        return self._plain() | {"notes": notes, "language": self.language, "seal": self.seal}

    def _plain(self) -> dict[str, Any]:
        """All but the words and the seal.  A release has many cells, and every one is sealed: so by whole columns."""
        dates = [
            name for name, cells in self.columns.items() if any(issubclass(t, date) for t in set(map(type, cells)))
        ]
        return {
            "columns": {
                name: [_out(x) for x in cells] if name in dates else list(cells) for name, cells in self.columns.items()
            },
            "dates": dates,
            "groups": list(self.groups),
            "intervals": {name: _ends_out(found) for name, found in self.intervals.items()},
            "ranks": dict(self.ranks),
            "confidence": self.confidence,
            "guarantee": self.guarantee.to_json(),
            "neighbors": self.neighbors.value,
            "unit": self.unit,
            "charge": self.charge,
            "question": dict(self.question),
            "notes": self.remarks,
            "rehearsal": self.rehearsal,
        }

    @property
    def content(self) -> str:
        """All that is sealed: everything but the words, which a language and a version may choose."""
        return sealed_part(self._plain())

    def to_json(self) -> str:
        """One line of JSON; equal releases make equal text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Release:
        """Read back what :meth:`to_dict` wrote."""
        try:
            dates = set(data["dates"])
            return cls(
                {name: tuple(_in(x, name in dates) for x in cells) for name, cells in data["columns"].items()},
                tuple(data["groups"]),
                {
                    name: tuple(_ends_in(low, high, name in dates) for low, high in found)
                    for name, found in data["intervals"].items()
                },
                dict(data["ranks"]),
                data["confidence"],
                guarantee_from_json(data["guarantee"]),
                data["charge"],
                Neighbors(data["neighbors"]),
                data["unit"],
                data["question"],
                tuple({k: v for k, v in note.items() if k != "text"} for note in data["notes"]),
                data["rehearsal"],
                data["language"],
                seal=str(data.get("seal", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise InvalidParameter("These are not the values of a release.", fix="Pass what to_dict() made.") from None

    def __reduce__(self) -> tuple[object, ...]:
        # Views of dictionaries do not travel; plain values do.
        return _rebuilt, (self.to_dict(), None if self.facts is None else dict(self.facts), self.repeated, self.at)

    @property
    def kept(self) -> str:
        """How much of one unit is in it at most, where more can have been left out; no interval covers that.

        >>> from curador.privacy import PureDP
        >>> cut = {"code": "rows-left-out", "unit": "pid", "rows": 10, "groups": None}
        >>> Release({"n": (3,)}, (), {}, {}, 0.95, PureDP(0.1), "1", remarks=(cut,)).kept
        "10 rows of each 'pid'"
        """
        cut = (note for note in self.remarks if note["code"] == "rows-left-out")
        return next((kept_text(note, self.language) for note in cut), "")

    @property
    def about(self) -> dict[str, Any]:
        """What a table of its numbers must not be without: guarantee, confidence, errors in ranks, what was cut."""
        notes = {"ranks": dict(self.ranks), "kept": self.kept, "notes": list(self.notes)}
        return {"guarantee": self.statement(), "confidence": self.confidence, **notes}

    def flat(self) -> dict[str, tuple[Cell, ...]]:
        """Columns for files and data frames: every output is followed by the ends of its interval, or by its ranks.

        Where numbers were made to agree with those of other tables, a column ``adjusted`` names these; where something
        can have been cut from units, a last column ``kept`` says how much of one is in it at most.
        """
        out = self._numbers()
        with_them = next((str(note["names"]) for note in self.remarks if note["code"] == "adjusted"), "")
        for name, text in (("adjusted", with_them), ("kept", self.kept)):
            if text:
                out[_unused(name, out)] = (text,) * len(self)
        return out

    def _numbers(self) -> dict[str, tuple[Cell, ...]]:
        out: dict[str, tuple[Cell, ...]] = {}
        for name, cells in self.columns.items():
            out[name] = cells
            if name in self.intervals:
                for i, end in enumerate(("lower", "upper")):
                    out[_unused(f"{name}_{end}", self.columns)] = tuple(ends[i] for ends in self.intervals[name])
            if name in self.ranks:
                out[_unused(f"{name}_ranks", self.columns)] = (self.ranks[name],) * len(cells)
        return out

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table with the interval's ends next to each output; its metadata hold :attr:`about`."""
        table = _library("pyarrow").table({name: _held(cells) for name, cells in self._numbers().items()})
        found: pyarrow.Table = table.replace_schema_metadata({"curador": json.dumps(self.about, ensure_ascii=False)})
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with the interval's ends next to each output; its ``attrs`` hold :attr:`about`."""
        frame: pandas.DataFrame = _library("pandas").DataFrame({n: list(cells) for n, cells in self._numbers().items()})
        frame.attrs["curador"] = self.about
        return frame

    def to_csv(self) -> str:
        """CSV of the columns of :meth:`flat`; before texts that a spreadsheet would run stands an apostrophe."""
        return csv_text(self.flat(), end="\n")

    def to_polars(self) -> polars.DataFrame:
        """A Polars DataFrame of the columns of :meth:`flat`; it can hold nothing else."""
        frame: polars.DataFrame = _library("polars").DataFrame(
            {name: _held(cells) for name, cells in self.flat().items()}
        )
        return frame

    # -- for people

    def explain(self) -> str:
        """The plan that made this release, in words; empty where only its values were kept."""
        return "" if self.facts is None else explain(self.facts, self.language)

    def statement(self) -> str:
        """The guarantee, for whom it holds, and its charge, in one line."""
        return shown.statement(self)

    def __str__(self) -> str:
        return shown.as_text(self)

    __repr__ = __str__

    def report(self, *, title: str = "", language: str | None = None) -> ReportPage:
        """One HTML file: charts, table, what is promised, how it was made, and the receipt; ``.save(…)`` writes it.

        >>> from curador.privacy import PureDP
        >>> r = Release({"n": (1203,)}, (), {"n": ((1180.0, 1226.0),)}, {}, 0.95, PureDP(0.1), "7")
        >>> r.report(title="People").html.startswith("<!doctype html>")
        True
        """
        from curador.curator.releases.reporting import release_report

        return release_report(self, title, language)

    def plot(self, *, language: str | None = None) -> Plot:
        """The charts of the report: a notebook shows them, ``.svg`` is their text, ``.save("x.svg")`` writes them.

        >>> from curador.privacy import PureDP
        >>> r = Release({"k": ("a", "b"), "n": (3, 4)}, ("k",), {}, {}, 0.95, PureDP(0.1), "7")
        >>> r.plot().svg.startswith("<svg xmlns=")
        True
        """
        from curador.curator.releases.reporting import release_plot

        return release_plot(self, language)

    def _repr_html_(self) -> str:
        from curador.show.report.fragments import fragment
        from curador.show.report.scoped import scoped

        return scoped(fragment(self, shown.MOST_SHOWN).html)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield from shown.as_rich(self, options.max_width)


def present(
    plan: Plan,
    bought: Bought,
    *,
    rehearsal: bool = False,
    language: str = "en",
    together: Answered | None = None,
    notes: tuple[Note, ...] = (),
) -> Release:
    """A measurement as a release, for the question, confidence and language that are wanted now.

    ``together`` is its answer where it was made to agree with others, and ``notes`` say so.

    Guarantee: post-processing; reads nothing but the measurement and what this request gave [DR14].
    """
    found = together or _answered(plan, bought.measurement)
    return Release(
        found.columns,
        found.groups,
        found.intervals,
        found.ranks,
        plan.confidence,
        plan.guarantee,
        bought.charge.id,
        plan.neighbors,
        plan.checked.table.unit.id,
        plan.question.to_json(),
        (*plan.facts["notes"], *notes, *reading_notes(plan, found), *bought_remarks(bought, plan.guarantee)),
        rehearsal,
        language,
        plan.facts,
        bought.repeated,
        at="" if rehearsal else bought.charge.at,
    )


def _answered(plan: Plan, measurement: bytes) -> Answered:
    """The columns of a measurement; the last small ones of a plan are kept with it, for whoever asks again."""
    kept: tuple[bytes, Answered] | None = plan.__dict__.get("_answered")
    if kept is None or kept[0] != measurement:
        kept = measurement, answered(plan, plan.read_back(measurement))
        if len(measurement) <= LARGEST_KEPT:
            plan.__dict__["_answered"] = kept
    return kept[1]


def sealed_part(data: Mapping[str, Any]) -> str:
    """Canonical JSON of a release or a publication without its seal, its language and the texts of its notes."""
    notes = [{name: x for name, x in note.items() if name != "text"} for note in data["notes"]]
    kept = {name: x for name, x in data.items() if name not in ("seal", "language", "notes")}
    return json.dumps({**kept, "notes": notes}, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _rebuilt(data: Mapping[str, Any], facts: Mapping[str, Any] | None, repeated: bool, at: str) -> Release:
    made = Release.from_dict(data)
    set_fields(made, facts=facts, repeated=repeated, at=at)
    return made


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidParameter(f"{name} is not installed.", fix=f"Run: pip install {name}") from None


def _held(cells: Sequence[Cell]) -> list[Cell]:
    """Cells as Arrow holds them: a column with a whole number of more than 64 bits becomes one of doubles."""
    if any(type(x) is int and not -(2**63) <= x < 2**63 for x in cells):
        return [float(x) if type(x) is int else x for x in cells]
    return list(cells)


def _ends_out(found: Sequence[Interval]) -> list[list[object]]:
    """Intervals as JSON holds them: null where one has no end."""
    finite = math.isfinite
    if set(map(type, chain.from_iterable(found))) <= {int, float}:
        return [[low if finite(low) else None, high if finite(high) else None] for low, high in found]
    return [[_out(x) if isinstance(x, date) or finite(x) else None for x in ends] for ends in found]


def _ends_in(low: Any, high: Any, dated: bool) -> Interval:
    if dated:
        return _in(low, True), _in(high, True)
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def _out(x: Cell) -> object:
    return x.isoformat() if isinstance(x, date) else x


def _in(x: Any, dated: bool) -> Cell:
    if not dated or x is None:
        found: Cell = x
        return found
    return datetime.fromisoformat(x) if "T" in x else date.fromisoformat(x)


def _unused(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += "_"
    return name
