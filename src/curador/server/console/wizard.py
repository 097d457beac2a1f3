"""A new table, declared step by step: where it is, whose rows they are, what is public about its columns.

Guarantee: of a CSV file the first line is read, if it is said to name the columns, of anything else the names and types
of columns; never a row.  The study file is shown before it is written, and one that would not open with this ledger is
not written.  Once it is, every process of the server serves the table.
"""

from __future__ import annotations

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
from curador.server.console.forms import Filled, filled
from curador.server.console.genuine import page_router
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
        return _page(visit, form.refused(_place(error), error), Steps(found), status_of(error))
    return _page(visit, form, shown)


def _page(visit: Visit, form: Filled, shown: Steps, status: int = 200) -> Response:
    kinds = [("", visit.say("tables.new-left-out")), *((kind, kind) for kind in KINDS)]
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
        units=[*whose, *((f"={n}", n) for n in names)],
        first_lines=[(x, visit.say(f"tables.new-{code}")) for x, code in FIRST_LINES],
        delimiters=[(mark, visit.say("tables.new-tab") if mark == "\t" else mark) for mark in MARKS],
    )


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
        raise _wrong("source", "There is no such file below the study's folder.", "Put it there, and write its path.")
    csv: dict[str, object] | None = None
    if ".csv" in [suffix.lower() for suffix in path.suffixes]:
        if form["header"] not in ("yes", "no"):
            raise _wrong("header", "Does the first line name the columns?", "Choose; nothing is read before.")
        csv = {"header": form["header"] != "no"}
        if form["delimiter"] not in ("", ","):
            csv["delimiter"] = form["delimiter"]
        if form["header"] == "no":
            csv["names"] = [name.strip() for name in form["names"].split(",") if name.strip()]
    found = _at("source", lambda: draft(str(path), name=form["name"].strip() or None, folder=root, csv=csv))
    if len(found.columns) > MOST_COLUMNS:
        raise _wrong("source", "This has too many columns for a form.", "Use the command line: curador init.")
    return found


def _at(field: str, make: Any) -> TableDraft:
    try:
        made: TableDraft = make()
        return made
    except InvalidParameter as error:
        raise InvalidParameter(error.what, fix=error.fix, code="table-refused", facts={"field": field}) from None


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
        raise _wrong("unit", "Whose is a row?", "Choose the row itself, or the column that says whose it is.")
    settings: dict[str, Any] = {"source": found.source}
    if found.csv is not None:
        written = {"header": found.csv.header, "delimiter": found.csv.delimiter, "names": found.csv.names}
        usual = {"delimiter": ",", "names": None}
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
        raise _wrong("type-0", "No column is declared.", "Choose the type of at least one.")
    if form["unit"] != "row":
        columns.setdefault(form["unit"].removeprefix("="), {"type": "text"})
    settings["columns"] = columns
    return settings


def _count(form: Filled, field: str) -> int:
    text = form[field].strip()
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 10**6:
        raise _wrong(field, "This is needed with an id.", "Write a whole number from 1 on.")
    return int(text)


def _column(form: Filled, number: int) -> Mapping[str, Any]:
    kind = form[f"type-{number}"]
    made: dict[str, Any] = {"type": kind}
    low, high, keys = (form[f"{name}-{number}"].strip() for name in ("low", "high", "keys"))
    if kind in BOUNDED and (low or high):
        made["bounds"] = [_bound(x, kind, number) for x in (low, high)]
    if kind == "text" and keys:
        made["keys"] = [key.strip() for key in keys.split(",")]
    return made


def _bound(text: str, kind: str, number: int) -> int | float | date:
    read: dict[str, Any] = {"integer": int, "real": float, "date": date.fromisoformat}
    try:
        made: int | float | date = read[kind](text)
        return made
    except ValueError:
        raise _wrong(
            f"low-{number}", "Bounds are two values of the column's type.", "Write both, or neither."
        ) from None


def _wrong(field: str, what: str, fix: str) -> InvalidParameter:
    return InvalidParameter(what, fix=fix, code="table-refused", facts={"field": field})


def _place(error: CuradorError) -> str:
    return str(error.facts.get("field", "name" if error.code == "name-taken" else ""))
