"""A new table, declared step by step: where it is, whose rows they are, what is public about its columns.

Guarantee: of a CSV file the first line is read, if it is said to name the columns, of anything else the names and types
of columns; never a row.  The study file is shown before it is written, and one that would not open with this ledger is
not written.  Once it is, every process of the server serves the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from fastapi import Response

from curador import Curator
from curador.curator.study.draft import KINDS, MARKS, TableDraft, draft
from curador.curator.study.edit import checked, rewrite, with_entry
from curador.errors import CuradorError, InvalidParameter
from curador.server.console.forms import Filled, filled, number_text
from curador.server.console.genuine import page_router
from curador.server.console.questions.built import name_text
from curador.server.console.uploading import waiting_files
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import refused
from curador.server.service import Holder

router = page_router()

ADDRESS = "/tables/new"
MOST_COLUMNS = 500
FIRST_LINES = (("", "choose"), ("yes", "header-yes"), ("no", "header-no"))
BOUNDED = ("integer", "real", "date")
"""The types whose columns have bounds in the form; texts have keys, and a study file may state more by hand."""

USUAL_CSV = {"delimiter": ",", "names": None, "encoding": "utf-8", "decimal": None, "trim": False}
"""How CSV files are written unless a table says otherwise."""

FIELDS = {
    "csv-delimiter": "delimiter",
    "csv-encoding": "encoding",
    "csv-spaces": "trim",
    "csv-names-needed": "names",
    "csv-names-count": "names",
    "csv-header": "header",
    "header-like-values": "header",
}
AT_COLUMN = {"bounds-empty": "low", "bounds-whole": "low", "bounds-too-fine": "low", "keys-twice": "keys"}
"""Where refusals of the library stand in the form."""

NOT_A = {
    "integer": ("wizard-not-a-whole", "a whole number", "Write it as 5000, without points or spaces."),
    "real": ("wizard-not-a-number", "a number", "Write it as 5000.5, without marks between thousands."),
    "date": ("wizard-not-a-date", "a date", "Write it as 2025-12-31."),
}
CHECKED = 5
"""Columns whose readable values are counted by the question that is offered first."""


@dataclass(frozen=True)
class Steps:
    """What the page has found out so far: the columns, and the study file as it would be."""

    found: TableDraft | None = None
    section: str = ""
    written: bool = False
    served: bool = False


@router.get(ADDRESS, response_class=Response)
async def begin(visit: Visiting, caller: Holder) -> Response:
    """Where the rows are."""
    return _page(visit, Filled({"delimiter": ",", "unit": "", "neighbors": "add-remove"}), Steps())


@router.post(ADDRESS, response_class=Response)
async def go_on(visit: Visiting, caller: Holder) -> Response:
    """The next step: the columns, the study file to look at, the study file written."""
    form = await filled(visit.request)
    found: TableDraft | None = None
    try:
        study = _study(visit)
        found = await visit.serving.work(lambda: _drafted(study, form))
        if form["step"] == "columns":
            return _page(visit, form, Steps(found))
        shown = await visit.serving.work(lambda: _declared(visit, study, form, found, write=form["step"] == "write"))
    except CuradorError as error:
        return _page(visit, form.refused(_place(error, found), error), Steps(found), status_of(error))
    return _page(visit, form, shown)


def _page(visit: Visit, form: Filled, shown: Steps, status: int = 200) -> Response:
    kinds = [("", visit.say("tables.new-left-out")), *((kind, visit.say(f"tables.type-{kind}")) for kind in KINDS)]
    names = [] if shown.found is None else [column.name for column in shown.found.columns if column.usable]
    whose = [("", visit.say("tables.new-choose")), ("row", visit.say("tables.new-unit-row"))]
    return visit.page(
        "wizard.html",
        status,
        form=form,
        shown=shown,
        columns=[] if shown.found is None else list(enumerate(c for c in shown.found.columns if c.usable)),
        kinds=kinds,
        files=waiting_files(visit.serving.curator.study_file),
        most=f"{visit.serving.settings.upload / 2**20:,.0f} MiB",
        encodings=[("", "UTF-8"), ("latin-1", visit.say("tables.new-latin"))],
        decimals=[("", visit.say("tables.new-point")), (",", visit.say("tables.new-comma"))],
        trims=[("", visit.say("tables.new-keep")), ("yes", visit.say("tables.new-drop"))],
        check_sql=_check_sql(shown.found, form) if shown.served else "",
        units=[*whose, *((f"={n}", n) for n in names)],
        first_lines=[(x, visit.say(f"tables.new-{code}")) for x, code in FIRST_LINES],
        delimiters=[(mark, visit.say("tables.new-tab") if mark == "\t" else mark) for mark in MARKS],
    )


def _check_sql(found: TableDraft | None, form: Filled) -> str:
    """A question that shows whether the file reads as it was declared: how many values of each column there are."""
    assert found is not None
    usable = [c.name for i, c in enumerate(c for c in found.columns if c.usable) if form[f"type-{i}"]]
    counted = [f"COUNT({name_text(name)}) AS {name_text(name)}" for name in usable[:CHECKED]]
    return f"SELECT {', '.join(['COUNT(*) AS every_row', *counted])} FROM {name_text(found.name)}"


# ---- from a form to a declaration ------------------------------------------------------------------------------------


def _study(visit: Visit) -> Path:
    study = visit.serving.curator.study_file
    if study is None:
        raise refused("This study has no file.", "Declare the table where the curator is made.", "no-study-file")
    return study


def _drafted(study: Path, form: Filled) -> TableDraft:
    """The names of columns, and their types where the source declares them."""
    given = form["source"].strip()
    if given.lower().startswith(("postgresql://", "postgres://")):
        return _at("source", lambda: draft(given, name=form["name"] or None, folder=study.parent))
    root = study.parent.resolve()
    path = (root / given).resolve()
    if not given or not path.is_relative_to(root) or not path.is_file():
        raise _wrong(
            "source",
            "wizard-source",
            "There is no such file below the study's folder.",
            "Bring the file above, or write its path.",
        )
    csv: dict[str, object] | None = None
    if ".csv" in [suffix.lower() for suffix in path.suffixes]:
        if form["header"] not in ("yes", "no"):
            raise _wrong(
                "header", "wizard-header", "Does the first line name columns?", "Choose; nothing is read before."
            )
        csv = {"header": form["header"] != "no"}
        if form["delimiter"] not in ("", ","):
            csv["delimiter"] = form["delimiter"]
        if form["encoding"] == "latin-1":
            csv["encoding"] = "latin-1"
        if form["decimal"] in (".", ","):
            csv["decimal"] = form["decimal"]
        if form["trim"] == "yes":
            csv["trim"] = True
        if form["header"] == "no" and form["names"].strip(" ,"):
            csv["names"] = [name.strip() for name in form["names"].split(",") if name.strip()]
    found = _at("source", lambda: draft(str(path), name=form["name"].strip() or None, folder=root, csv=csv))
    if len(found.columns) > MOST_COLUMNS:
        raise _wrong(
            "source", "wizard-too-many", "This has too many columns for a form.", "Use the command line: curador init."
        )
    return found


def _at(field: str, make: Any) -> TableDraft:
    try:
        made: TableDraft = make()
        return made
    except InvalidParameter as error:
        facts = {**error.facts, "field": FIELDS.get(error.code, field)}
        raise InvalidParameter(error.what, fix=error.fix, code=error.code or "table-refused", facts=facts) from None


def _declared(visit: Visit, study: Path, form: Filled, found: TableDraft | None, *, write: bool) -> Steps:
    """The study file with the table, checked as a curator would open it; and written and served, if that is wanted."""
    assert found is not None
    was = study.read_text(encoding="utf-8-sig")
    text = with_entry(was, ("tables", found.name), _settings(form, found))
    stated = checked(study, text)
    ledger = visit.serving.curator.ledger if write else None  # which may know the table as somebody else's
    tables, budget = dict(stated.tables), stated.budget
    Curator(tables, budget, analysts=stated.analysts, policy=stated.policy, ledger=ledger).close()
    if not write:
        return Steps(found, text)
    rewrite(study, was, text)
    return Steps(found, text, True, found.name in visit.serving.study.reopened().tables)


def _settings(form: Filled, found: TableDraft) -> dict[str, Any]:
    if not form["unit"]:
        raise _wrong(
            "unit", "wizard-unit", "Whose is a row?", "Choose the row itself, or the column that says whose it is."
        )
    settings: dict[str, Any] = {"source": found.source}
    if found.csv is not None:
        written = {name: getattr(found.csv, name) for name in ("header", *USUAL_CSV)}
        usual = USUAL_CSV
        plain = {k: list(x) if isinstance(x, tuple) else x for k, x in written.items()}
        settings["csv"] = {k: x for k, x in plain.items() if k not in usual or x != usual[k]}
    settings["unit"] = form["unit"].removeprefix("=")
    settings["neighbors"] = "replace" if form["neighbors"] == "replace" else "add-remove"
    if form["unit"] != "row":
        groups, rows = (_count(form, field) for field in ("groups", "rows"))
        settings["contribution"] = {"groups": groups, "rows": rows}
    columns = {
        c.name: _column(form, i) for i, c in enumerate(c for c in found.columns if c.usable) if form[f"type-{i}"]
    }
    if not columns:
        raise _wrong("type-0", "wizard-no-columns", "No column is declared.", "Choose the type of at least one.")
    if form["unit"] != "row":
        columns.setdefault(form["unit"].removeprefix("="), {"type": "text"})
    settings["columns"] = columns
    return settings


def _count(form: Filled, field: str) -> int:
    text = form[field].strip()
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 10**6:
        raise _wrong(field, "wizard-count", "This is needed with an id.", "Write a whole number from 1 on.")
    return int(text)


def _column(form: Filled, number: int) -> Mapping[str, Any]:
    kind = form[f"type-{number}"]
    made: dict[str, Any] = {"type": kind}
    low, high, keys = (form[f"{name}-{number}"].strip() for name in ("low", "high", "keys"))
    if kind in BOUNDED and (low or high):
        made["bounds"] = [_bound(name, x, kind, number) for name, x in (("low", low), ("high", high))]
    if keys and kind != "text":
        raise _wrong(
            f"keys-{number}",
            "wizard-keys-of",
            "Keys are of columns of text.",
            "Leave them out, or choose the type text.",
        )
    if keys:
        made["keys"] = [key.strip() for key in re.split("[,;]", keys) if key.strip()]
    return made


def _bound(name: str, text: str, kind: str, number: int) -> int | float | date:
    field = f"{name}-{number}"
    if not text:
        raise _wrong(field, "wizard-bound-missing", "One of the two bounds is missing.", "Write both, or neither.")
    read: dict[str, Any] = {"integer": int, "real": lambda x: float(number_text(x)), "date": date.fromisoformat}
    try:
        made: int | float | date = read[kind](text)
        if isinstance(made, float) and not math.isfinite(made):
            raise ValueError
        return made
    except (ValueError, OverflowError):
        code, what, fix = NOT_A[kind]
        raise _wrong(field, code, f"{text[:40]} is not {what}.", fix, given=text[:40]) from None


def _wrong(field: str, code: str, what: str, fix: str, **facts: str) -> InvalidParameter:
    return InvalidParameter(what, fix=fix, code=code, facts={"field": field, **facts})


def _place(error: CuradorError, found: TableDraft | None) -> str:
    """The field next to which a refusal is shown; the empty name is the form as a whole."""
    if "field" in error.facts or error.code in ("name-taken", "name-too-long"):
        return str(error.facts.get("field", "name"))
    usable = [] if found is None else [column.name for column in found.columns if column.usable]
    column = error.facts.get("column")
    return f"{AT_COLUMN.get(error.code, 'type')}-{usable.index(column)}" if column in usable else ""
