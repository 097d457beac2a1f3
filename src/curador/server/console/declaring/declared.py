"""Whose rows they are and what is public about the columns: from a form to a section of the study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from curador.curator.study.draft import TableDraft
from curador.errors import InvalidParameter
from curador.server.console.declaring.typed import READ, Mistakes, Mistyped, listed, shown, whole
from curador.server.console.declaring.written import HowWritten
from curador.server.console.forms import Filled, amount

KINDS = ("integer", "real", "boolean", "text", "date", "timestamp")
BOUNDED = ("integer", "real", "date", "timestamp")
LISTED = ("integer", "text")
"""The types that have bounds in the form, and those whose values are listed; a study file may state more by hand."""

LIMITS = ("groups", "rows")

MOST_LIMIT = 10**6


@dataclass(frozen=True)
class Declared:
    """A section of a study file, and what was left out of it."""

    name: str
    settings: Mapping[str, Any]
    left_out: Sequence[str]
    budget: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Around:
    """What the study around a table leaves to choose.

    ``neighbors`` is that of the other tables, where one budget is for all; ``own_budget`` is whether every table has
    one; ``selects`` whether the budget pays for groups that are not listed.  ``limits`` are those that must be stated
    with an id: a table that was declared without one of them may stay so.
    """

    neighbors: str | None
    own_budget: bool
    selects: bool
    limits: tuple[str, ...] = LIMITS


def read_declared(form: Filled, found: TableDraft, how: HowWritten, around: Around, wrong: Mistakes) -> Declared:
    """The section that a form declares."""
    settings: dict[str, Any] = {"source": found.source}
    names = [column.name for column in found.columns if column.usable]
    if found.csv is not None:
        settings["csv"] = _csv(found)
    unit = form["unit"].removeprefix("=") if form["unit"].startswith("=") else ""
    if form["unit"] != "row" and unit not in names:
        wrong.say("unit", "unit-unsaid")
    settings["unit"] = {"id": unit} if unit == "row" else unit or "row"
    settings["neighbors"] = around.neighbors or ("replace" if form["neighbors"] == "replace" else "add-remove")
    if settings["neighbors"] == "replace" and form["size"].strip():
        settings["size"] = _limit(form, "size", "size-odd", wrong, 10**15)
    if unit:
        stated = [place for place in LIMITS if place in around.limits or form[place].strip()]
        limits = {place: _limit(form, place, f"{place}-needed", wrong) for place in stated}
        if limits:
            settings["contribution"] = limits
    columns = {name: _column(form, i, how, wrong) for i, name in enumerate(names) if form[f"type-{i}"]}
    if not columns:
        wrong.say("type-0", "no-column")
    if unit:
        columns.setdefault(unit, {"type": "text"})
    if "csv" in settings and not any(column["type"] == "boolean" for column in columns.values()):
        settings["csv"] = {name: x for name, x in settings["csv"].items() if name not in ("yes", "no")}
    settings["columns"] = columns
    left = [name for name in names if name not in columns]
    return Declared(found.name, settings, left, _budget(form, wrong) if around.own_budget else None)


def _csv(found: TableDraft) -> dict[str, Any]:
    """How the file is written; what is usual is not stated, but for the header."""
    assert found.csv is not None
    stated = dict(found.csv.code)
    if found.csv.decimal is None:
        del stated["decimal"]
    usual = {"names": None, "delimiter": ",", "encoding": "utf-8", "trim": False, "thousands": None}
    plain = {name: list(x) if isinstance(x, tuple) else x for name, x in stated.items()}
    return {name: x for name, x in plain.items() if name not in usual or x != usual[name]}


def _limit(form: Filled, place: str, code: str, wrong: Mistakes, most: int = MOST_LIMIT) -> int:
    try:
        made = whole(form[place]) if form[place].strip() else 0
    except Mistyped:
        made = 0
    if not 1 <= made <= most:
        wrong.say(place, code, most=f"{most:,}")
    return made


def _budget(form: Filled, wrong: Mistakes) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for place, below in (("epsilon", None), ("delta", 1)):
        text = form[f"budget-{place}"].strip()
        if not text and place == "delta":
            continue
        try:
            made[place] = _plain(amount(text, place, below))
        except InvalidParameter:
            wrong.say(f"budget-{place}", f"budget-{place}")
    return made


def _plain(x: Fraction) -> int | float | str:
    return x.numerator if x.denominator == 1 else float(x) if Fraction(repr(float(x))) == x else str(x)


def _column(form: Filled, i: int, how: HowWritten, wrong: Mistakes) -> dict[str, Any]:
    kind = form[f"type-{i}"]
    if kind not in KINDS:
        wrong.say(f"type-{i}", "not-offered")
        return {"type": "text"}
    made: dict[str, Any] = {"type": kind}
    if kind in BOUNDED and (bounds := _bounds(form, i, kind, how, wrong)) is not None:
        made["bounds"] = bounds
    if kind in LISTED and form[f"keys-{i}"].strip() and (keys := _keys(form, i, kind, how, wrong)):
        made["keys"] = keys
    return made


def _bounds(form: Filled, i: int, kind: str, how: HowWritten, wrong: Mistakes) -> list[Any] | None:
    texts = {place: form[f"{place}-{i}"].strip() for place in ("low", "high")}
    if not any(texts.values()):
        return None
    found: dict[str, Any] = {}
    for place, text in texts.items():
        if not text:
            wrong.say(f"{place}-{i}", f"{place}-too")
            continue
        try:
            found[place] = READ[kind](text, how)
        except Mistyped as mistake:
            wrong.add(f"{place}-{i}", mistake)
    if len(found) < 2:
        return None
    if found["low"] > found["high"]:
        wrong.say(f"low-{i}", "bounds-swapped", low=shown(found["low"]), high=shown(found["high"]))
    elif kind == "real" and found["low"] == found["high"]:
        wrong.say(f"low-{i}", "bounds-equal")
    elif kind in ("integer", "real") and max(map(abs, found.values())) > 2**60:
        wrong.say(f"high-{i}", "bounds-wide")
    return [found["low"], found["high"]]


def _keys(form: Filled, i: int, kind: str, how: HowWritten, wrong: Mistakes) -> list[Any]:
    place = f"keys-{i}"
    try:
        texts = listed(form[place])
        for text in texts:
            if any(ord(c) < 32 for c in text):
                raise Mistyped("list-odd", text=text[:40])
            if kind == "text" and how.encoding == "latin-1" and any(ord(c) > 255 for c in text):
                raise Mistyped("not-latin-1", text=text[:40])
        if kind == "text":
            return texts
        numbers = [whole(text) for text in texts]
        if max(map(abs, numbers)) > 2**60:
            raise Mistyped("bounds-wide")
        return numbers
    except Mistyped as mistake:
        wrong.add(place, mistake)
        return []
