"""A table, declared step by step: where it is, whose rows they are, what is public about its columns.

Guarantee: of a CSV file the first line is read, if it is said to name the columns, of anything else the names and types
of columns; never a row.  What will be declared is shown in words before it is written, and a study file that would not
open with this ledger is not written.  Once it is, every process of the server serves the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Response

from curador import Curator
from curador.curator.study.draft import TableDraft
from curador.curator.study.edit import checked, rewrite, with_changed, with_entry
from curador.curator.study.file import Study, read_study
from curador.errors import CuradorError
from curador.server.console.declaring.declared import KINDS, LIMITS, Around, Declared, read_declared
from curador.server.console.declaring.filled_in import by_name, kept, unit_text
from curador.server.console.declaring.told import ToldTable, told
from curador.server.console.declaring.typed import Mistakes, Mistyped
from curador.server.console.declaring.written import (
    DATES,
    DELIMITERS,
    ENCODINGS,
    HEADERS,
    NUMBERS,
    USUAL,
    YES_WORDS,
    is_address,
    is_csv,
    read_source,
    read_written,
)
from curador.server.console.forms import Filled, filled
from curador.server.console.genuine import page_router
from curador.server.console.uploading import waiting_files
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import refused
from curador.server.service import Holder

router = page_router()

ADDRESS = "/tables/new"
BEGUN = {**USUAL, "unit": "", "neighbors": "add-remove"}


@dataclass(frozen=True)
class Steps:
    """What the page has found out so far: the columns, and the study file as it would be, in words and as it is."""

    found: TableDraft | None = None
    told: ToldTable | None = None
    text: str = ""
    written: bool = False
    served: bool = False


@dataclass(frozen=True)
class Editing:
    """A declared table that is changed: its section as it is, and the unit that the ledger knows it by."""

    name: str
    settings: Mapping[str, Any]
    unit: str
    because: str = ""


@router.get(ADDRESS, response_class=Response)
async def begin(visit: Visiting, caller: Holder) -> Response:
    """Where the rows are."""
    words = {"yes-words": YES_WORDS.get(visit.language, "")}
    sent = visit.request.query_params.get("source", "")  # of a form without scripts, which comes back here

    def page() -> Response:
        known = sent in waiting_files(visit.serving.curator.study_file)
        return form_page(visit, Filled({**BEGUN, **words, **({"source": sent} if known else {})}), Steps())

    return await visit.serving.work(page)


@router.post(ADDRESS, response_class=Response)
async def go_on(visit: Visiting, caller: Holder) -> Response:
    """The next step: the columns, the declaration in words, the study file written."""
    form = await filled(visit.request)
    return await visit.serving.work(lambda: stepped(visit, form))


def stepped(visit: Visit, form: Filled, editing: Editing | None = None) -> Response:
    """The page after a step: with every mistake, or one step further."""
    wrong, found = Mistakes(), None
    try:
        study = study_of(visit)
        stated = read_study(study)
        declared = str(editing.settings["source"]) if editing else ""
        found = read_source(study, form, set() if editing else {*stated.tables}, wrong, declared)
        if found is not None:
            names = [column.name for column in found.columns if column.usable]
            form = by_name(form, names, editing.settings if editing else {})
        if found is None or form["step"] == "columns":
            return form_page(visit, form, Steps(found), wrong, editing=editing)
        around = around_of(stated, editing)
        made = read_declared(form, found, read_written(form), around, wrong)
        if editing is not None:
            made = kept(made, editing.settings)
            if unit_text(made.settings) != editing.unit and not editing.because:
                wrong.say("because", "unit-reason")
        if wrong:
            return form_page(visit, form, Steps(found), wrong, editing=editing)
        shown = _declared(visit, study, made, found, around, editing, write=form["step"] == "write")
    except CuradorError as error:
        return form_page(visit, form.refused("", error), Steps(found), wrong, status_of(error), editing)
    return form_page(visit, form, shown, editing=editing)


def form_page(
    visit: Visit,
    form: Filled,
    shown: Steps,
    wrong: Mistakes | None = None,
    status: int = 200,
    editing: Editing | None = None,
) -> Response:
    """The form, with what was found out so far and what is wrong."""
    mistakes = Mistakes() if wrong is None else wrong
    columns = [] if shown.found is None else [c for c in shown.found.columns if c.usable]
    study = visit.serving.curator.study_file
    around = Around(None, False, True) if study is None else around_of(read_study(study), editing)
    return visit.page(
        "wizard.html",
        422 if mistakes and status == 200 else status,
        form=form,
        shown=shown,
        editing=editing,
        wrong={place: said(visit, mistake) for place, mistake in mistakes.fields.items()},
        summary=[(place, _of(visit, place, columns), said(visit, x)) for place, x in mistakes.fields.items()],
        first=bool({*FIRST_FIELDS} & {*mistakes.fields}),
        columns=list(enumerate(columns)),
        files=waiting_files(study),
        most=f"{visit.serving.settings.upload / 2**20:,.0f} MiB",
        around=around,
        is_csv=not form["source"] or (is_csv(form["source"]) and not is_address(form["source"])),
        choices=choices(visit, [column.name for column in columns]),
    )


FIRST_FIELDS = (
    *("source", "name", "header", "names", "delimiter", "encoding", "numbers", "dates", "spaces"),
    *("yes-words", "no-words"),
)
"""The fields of the first step."""


def choices(visit: Visit, names: list[str]) -> Mapping[str, list[tuple[str, str]]]:
    """What the lists of the form offer: pairs of a value and its text."""
    say = visit.say
    return {
        "header": [(x, say(f"tables.new-header-{x or 'choose'}")) for x in HEADERS],
        "delimiter": [(x, say(f"tables.new-mark-{i}")) for i, x in enumerate(DELIMITERS)],
        "encoding": [(x, say(f"tables.new-encoding-{x}")) for x in ENCODINGS],
        "numbers": [(x, x) for x in NUMBERS],
        "dates": [
            (x, say("tables.new-date-example", date=x, order=say(f"tables.new-order-{DATES[x][0]}"))) for x in DATES
        ],
        "spaces": [(x, say(f"tables.new-spaces-{x}")) for x in ("drop", "keep")],
        "unit": [
            ("", say("tables.new-choose")),
            ("row", say("tables.new-unit-row")),
            *((f"={name}", say("tables.new-unit-id", column=name)) for name in names),
        ],
        "neighbors": [(x, say(f"tables.new-{x}")) for x in ("add-remove", "replace")],
        "type": [("", say("tables.new-left-out")), *((kind, say(f"tables.type-{kind}")) for kind in KINDS)],
    }


def said(visit: Visit, mistake: Mistyped) -> str:
    """A mistake in the visitor's language."""
    if isinstance(refusal := mistake.facts.get("refusal"), CuradorError):
        told = visit.told(refusal)
        return visit.say(f"tables.wrong-{mistake.code}", what=told["what"], fix=told["fix"])
    return visit.say(f"tables.wrong-{mistake.code}", **mistake.facts)


def _of(visit: Visit, place: str, columns: list[Any]) -> str:
    """What a field is about: a column, or what its label says."""
    number = place.rpartition("-")[2]
    if number.isdecimal() and int(number) < len(columns):
        return str(columns[int(number)].name)
    return visit.say(f"tables.new-{place}")


# ---- what is written -------------------------------------------------------------------------------------------------


def study_of(visit: Visit) -> Path:
    """The study file; refused where there is none."""
    study = visit.serving.curator.study_file
    if study is None:
        raise refused("This study has no file.", "Declare the table where the curator is made.", "no-study-file")
    return study


def around_of(stated: Study, editing: Editing | None = None) -> Around:
    """What the study leaves to choose of a new table, or of one that is changed."""
    own = isinstance(stated.budget, Mapping)
    amounts = list(stated.budget.values()) if isinstance(stated.budget, Mapping) else [stated.budget]
    selects = any(getattr(amount, "delta", 0) for amount in amounts)
    if editing is not None:
        known = editing.settings.get("contribution") or {}
        limits = LIMITS if editing.unit == "row" else tuple(known)
        return Around(stated.tables[editing.name].neighbors.value, False, selects, limits)
    others = [t.neighbors.value for t in stated.tables.values() if not t.public]
    return Around(None if own or not others else others[0], own, selects)


def _declared(
    visit: Visit,
    study: Path,
    made: Declared,
    found: TableDraft,
    around: Around,
    editing: Editing | None,
    *,
    write: bool,
) -> Steps:
    """The study file with the table, checked as a curator would open it; and written and served, if that is wanted."""
    was = study.read_text(encoding="utf-8-sig")
    path = ("tables", made.name)
    text = with_entry(was, path, made.settings) if editing is None else with_changed(was, path, made.settings)
    if made.budget is not None:
        text = with_entry(text, ("budget", made.name), made.budget)
    words = told(visit, made, selects=around.selects or "delta" in (made.budget or {}))
    if not write:
        opens(visit, study, text, known=False)
        return Steps(found, words, text)
    with _redeclared(visit, made, editing):
        opens(visit, study, text, known=True)
        rewrite(study, was, text)
    return Steps(found, words, text, True, made.name in visit.serving.study.reopened().tables)


@contextmanager
def _redeclared(visit: Visit, made: Declared, editing: Editing | None) -> Iterator[None]:
    """Let the ledger know a table by another unit, with the reason; as before, where nothing could be written."""
    unit = unit_text(made.settings)
    if editing is None or unit == editing.unit:
        yield
        return
    ledger = visit.serving.curator.ledger
    ledger.redeclare(made.name, unit, because=editing.because)
    try:
        yield
    except CuradorError:
        ledger.redeclare(made.name, editing.unit, because="the study file was not written")
        raise


def opens(visit: Visit, study: Path, text: str, *, known: bool) -> None:
    """Refuse a text that would not open as the study file; with the ledger, which may know a table as another's."""
    stated = checked(study, text)
    ledger = visit.serving.curator.ledger if known else None
    tables, budget = dict(stated.tables), stated.budget
    Curator(tables, budget, analysts=stated.analysts, policy=stated.policy, ledger=ledger).close()
