"""A declared table is changed, or withdrawn: with what that costs said first, and never against the ledger.

What was spent stays spent, and under which budget a name and its rows are the ledger knows: a table that is changed,
withdrawn or declared again goes on where it was.  Whom it protects is changed by a decision that is recorded there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Response

from curador.curator.study.document import read_study_document
from curador.curator.study.edit import rewrite, without_entry
from curador.curator.study.file import read_study
from curador.errors import CuradorError, InvalidParameter
from curador.server.console.declaring.filled_in import form_of, source_form, unit_text
from curador.server.console.declaring.typed import Mistakes
from curador.server.console.declaring.written import read_source
from curador.server.console.forms import Filled, filled
from curador.server.console.genuine import page_router
from curador.server.console.visit import Visit, Visiting
from curador.server.console.wizard import Editing, Steps, form_page, opens, stepped, study_of
from curador.server.gate.problems import status_of
from curador.server.service import Holder

router = page_router()

Name = Annotated[str, Query(max_length=200)]


@router.get("/tables/change", response_class=Response)
async def change(visit: Visiting, caller: Holder, table: Name = "") -> Response:
    """The form as the table is declared now."""

    def made() -> Response:
        editing = _editing(visit, table)
        if editing is None:
            return visit.page("unchanged.html", table_name=table, because="public")
        try:
            wrong = Mistakes()
            form = Filled({**source_form(editing.settings), "name": table, "table": table})
            found = read_source(study_of(visit), form, set(), wrong, str(editing.settings["source"]))
            names = [] if found is None else [column.name for column in found.columns if column.usable]
            form = Filled({**form.values, **form_of(editing.settings, names)})
        except CuradorError as error:
            if error.code != "not-in-form":
                raise
            return visit.page("unchanged.html", table_name=table, because="form")
        return form_page(visit, form, Steps(found), wrong, editing=editing)

    return await visit.serving.work(made)


@router.post("/tables/change", response_class=Response)
async def changed(visit: Visiting, caller: Holder) -> Response:
    """The next step: the columns, the declaration in words, the study file written."""
    sent = await filled(visit.request)

    def made() -> Response:
        editing = _editing(visit, sent["table"])
        if editing is None:
            return visit.page("unchanged.html", table_name=sent["table"], because="public")
        form = Filled({**sent.values, "name": sent["table"]})
        return stepped(visit, form, replace(editing, because=sent["because"].strip()[:1000]))

    return await visit.serving.work(made)


def _editing(visit: Visit, table: str) -> Editing | None:
    """A private table as the study file declares it; None for a public one."""
    sections = read_study_document(study_of(visit)).get("tables", {})
    settings = sections.get(table) if isinstance(sections, Mapping) else None
    if not isinstance(settings, Mapping):
        raise InvalidParameter("There is no such table.", fix="Choose one.", code="no-such-private-table")
    if settings.get("public"):
        return None
    known = visit.serving.curator.ledger.registered(table, "")
    return Editing(table, settings, known.unit if known is not None and known.unit else unit_text(settings))


# ---- withdrawing -----------------------------------------------------------------------------------------------------


@router.get("/tables/withdraw", response_class=Response)
async def withdraw(visit: Visiting, caller: Holder, table: Name = "") -> Response:
    """What withdrawing means, before it is done."""
    return await visit.serving.work(lambda: _asked(visit, table))


@router.post("/tables/withdraw", response_class=Response)
async def withdrawn(visit: Visiting, caller: Holder) -> Response:
    """Take the table out of the study file."""
    form = await filled(visit.request)

    def made() -> Response:
        table = form["table"]
        try:
            _withdraw(visit, table)
        except CuradorError as error:
            return _asked(visit, table, error)
        return visit.to(f"/console/tables?{urlencode({'withdrawn': table})}")

    return await visit.serving.work(made)


def _withdraw(visit: Visit, table: str) -> None:
    study = study_of(visit)
    was = study.read_text(encoding="utf-8-sig")
    text = without_entry(was, ("tables", table))
    if isinstance(read_study(study).budget, Mapping) and not read_study(study).tables[table].public:
        text = without_entry(text, ("budget", table))
    opens(visit, study, text, known=True)
    rewrite(study, was, text)
    visit.serving.study.reopened()


def _asked(visit: Visit, table: str, error: CuradorError | None = None) -> Response:
    study = study_of(visit)
    tables = read_study(study).tables
    if table not in tables:
        raise InvalidParameter("There is no such table.", fix="Choose one.", code="no-such-private-table")
    source: Any = read_study_document(study)["tables"][table].get("source", "")
    last = len(tables) == 1 or (not tables[table].public and sum(not one.public for one in tables.values()) == 1)
    return visit.page(
        "withdraw.html",
        200 if error is None else status_of(error),
        table_name=table,
        source=source,
        last=last,
        public=tables[table].public,
        error=error,
    )
