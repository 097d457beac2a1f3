"""Dashboards: several questions for one charge, the budget split by weights or by wanted errors, tried on made-up rows.

Only the button that says so pays, and the form holds a key: sent twice, it buys once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import Response
from markupsafe import Markup

from curador import Table
from curador.errors import CuradorError, InvalidParameter
from curador.server.access.auth import Caller
from curador.server.bodies import BatchBody, PublishBody
from curador.server.console.forms import Filled, amount, filled, number_text
from curador.server.console.genuine import page_router
from curador.server.console.questions.built import FUNCTIONS, Built, Measured, name_text
from curador.server.console.questions.pricing import CONFIDENCES, affordable, confidence_of, wrong
from curador.server.console.questions.stage import drawable, drawn, rehearsed, rows_of
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.routes import asking
from curador.server.service import Buyer, sent
from curador.show.report.estimate import left, shares, undeclared_texts
from curador.show.words.say import say

router = page_router()

FIRST, MOST = 2, 12
"""How many questions the page has room for at first, and at most."""

LONGEST_TITLE = 200

B = TypeVar("B", bound=BatchBody)


@router.get("/dashboards", response_class=Response)
async def dashboards(visit: Visiting, caller: Buyer) -> Response:
    """An empty dashboard, with a first question."""
    private = [name for name, table in visit.serving.curator.tables.items() if not table.public]
    first = f"SELECT COUNT(*) AS n FROM {name_text(private[0])}" if private else ""
    epsilon = affordable(await visit.serving.work(lambda: visit.serving.remaining(caller)))
    given = {"epsilon": epsilon, "places": str(FIRST), "confidence": "0.95", "sql-0": first}
    given["name-0"] = visit.say("dashboards.first-name")
    form = Filled(given)
    return await _page(visit, caller, form)


@router.post("/dashboards", response_class=Response)
async def publish(visit: Visiting, caller: Buyer) -> Response:
    """Pay for all questions and show their release; or do one of the free things that other buttons say."""
    form = await filled(visit.request)
    if form["do"] == "more":
        return await _page(visit, caller, Filled({**form.values, "places": str(_places(form) + 1)}))
    if form["do"].startswith("build-"):
        return await _page(visit, caller, _written(visit, form, form["do"].removeprefix("build-")))
    if form["do"] not in ("pay", "anyway"):
        return await _page(visit, caller, form)
    try:
        body = _body(
            form, PublishBody, visit.language, because=form["because"], key=form["key"], anyway=form["do"] == "anyway"
        )
        found = sent(await asking.publish(body, visit.serving, caller))
    except CuradorError as error:
        place = str(error.facts.get("field", "")) or ("because" if error.code == "reason-needed" else "epsilon")
        return await _page(visit, caller, form.refused(place, error), status_of(error))
    return visit.to(f"/console/releases/{found['charge']}?bought={'again' if found['repeated'] else 'now'}")


@router.post("/dashboards/estimate", response_class=Response)
async def estimate(visit: Visiting, caller: Buyer) -> Response:
    """What all answers together would cost and how wrong each would be; free."""
    form = await filled(visit.request)
    return visit.page("_dashboards_estimate.html", **await _estimate(visit, caller, form))


@router.post("/dashboards/rehearsal", response_class=Response)
async def rehearsal(visit: Visiting, caller: Buyer) -> Response:
    """What the dashboard looks like, on made-up rows; free."""
    form = await filled(visit.request)
    return visit.page("_dashboards_rehearsal.html", **await _rehearsal(visit, caller, form))


# ---- parts -----------------------------------------------------------------------------------------------------------


def _places(form: Filled) -> int:
    text = form["places"]
    return min(max(int(text), 1), MOST) if text.isascii() and text.isdigit() and len(text) < 3 else FIRST


def _choices(tables: Mapping[str, Table]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Private tables and their columns, each with what stands for it in a form: names may have any characters."""
    private = [(name, table) for name, table in tables.items() if not table.public]
    return [
        (f"{i}.", name, [(f"{i}.{j}", column) for j, column in enumerate(table.columns)])
        for i, (name, table) in enumerate(private)
    ]


def _written(visit: Visit, form: Filled, place: str) -> Filled:
    """The form with the SQL of what was chosen for one question."""
    tables = visit.serving.curator.tables
    known = {code: (name, column) for _, name, columns in _choices(tables) for code, column in columns}
    known |= {code: (name, "") for code, name, _ in _choices(tables)}
    of, by = known.get(form[f"of-{place}"]), known.get(form[f"by-{place}"])
    try:
        if of is None or form[f"function-{place}"] not in FUNCTIONS:
            raise _chosen(place, "Choose what is measured.", "board-of")
        if by is not None and by[0] != of[0]:
            raise _chosen(place, "The groups are of another table.", "board-by", table=of[0])
        built = Built(of[0], (), () if by is None else (by[1],), (Measured(form[f"function-{place}"], of[1]),))
        return Filled({**form.values, f"sql-{place}": built.sql(tables).replace("\n", " ")})
    except CuradorError as error:
        return form.refused(f"of-{place}", error)


def _chosen(place: str, what: str, code: str, **facts: str) -> InvalidParameter:
    return InvalidParameter(what, fix="Choose one.", code=code, facts={"field": f"of-{place}", **facts})


def _names(form: Filled, language: str) -> dict[int, str]:
    """The names of the questions that are asked, by their places in the form."""
    asked = [k for k in range(_places(form)) if form[f"sql-{k}"].strip()]
    return {k: form[f"name-{k}"].strip() or say("dashboards.other-name", language, n=k + 1) for k in asked}


def _body(form: Filled, body: type[B], language: str, **more: Any) -> B:
    """The form as a body of the API.

    Fails: InvalidParameter that names the field in its facts, under "field".
    """
    names = _names(form, language)
    asked = list(names)
    if not asked:
        raise wrong("sql-0", "There is no question yet.", "Write SQL.")
    if twice := next((k for i, k in enumerate(asked) if names[k] in [names[j] for j in asked[:i]]), 0):
        raise InvalidParameter(
            f"Two questions are called {names[twice]!r}.",
            fix="Give one of them another short name.",
            code="name-twice",
            facts={"field": f"name-{twice}", "name": names[twice]},
        )
    confidence = confidence_of(form["confidence"])
    wanted = {
        names[k]: {"error": _number(form, f"error-{k}", many=True), "confidence": confidence}
        for k in asked
        if form[f"error-{k}"].strip()
    }
    weights = {names[k]: _number(form, f"weight-{k}") or "1" for k in asked if names[k] not in wanted}
    price = {name: _number(form, name) for name in ("epsilon", "delta")} if weights else {}
    if weights and not price["epsilon"]:
        raise wrong("epsilon", "There is no price yet.", "Write an epsilon, such as 0.1.")
    return form.read(
        body,
        questions={names[k]: form[f"sql-{k}"] for k in asked},
        title=form["title"].strip()[:LONGEST_TITLE],
        entries={names[k]: {"title": form[f"title-{k}"].strip()[:LONGEST_TITLE]} for k in asked},
        confidence=confidence,
        weights=weights or None,
        accuracies=wanted or None,
        language=language,
        **price,
        **more,
    )


def _number(form: Filled, name: str, *, many: bool = False) -> str:
    """A positive number of the form, refused next to its field; nothing where it is empty."""
    text = form[name].strip()
    text = text.removesuffix("%") if name.startswith("weight-") else text
    if text:
        amount(text, name, many=many)
    return number_text(text)


async def _page(visit: Visit, caller: Caller, form: Filled, status: int = 200) -> Response:
    found = await _estimate(visit, caller, form)
    tried = await _rehearsal(visit, caller, form) if form["do"] == "estimate" else {"rehearsal": None, "rows": ""}
    tables = [name for name, table in visit.serving.curator.tables.items() if not table.public]
    places, key = _places(form), visit.key()
    return visit.page(
        "dashboards.html",
        status,
        **{**found, **tried},
        form=form,
        places=places,
        most=MOST,
        tables=tables,
        choices=_choices(visit.serving.curator.tables),
        functions=list(FUNCTIONS),
        key=key,
        confidences=CONFIDENCES,
    )


async def _estimate(visit: Visit, caller: Caller, form: Filled) -> dict[str, Any]:
    try:
        body = _body(form, BatchBody, visit.language)
        found = sent(await asking.explain_batch(body, visit.serving, caller))
    except CuradorError as error:
        at = _culprit(_names(form, visit.language), error)
        nothing: dict[str, Any] = {"whole": "", "each": [], "undeclared": [], "remaining": (), "fits": None}
        return {**nothing, "refused": error, "refused_at": at}
    whole, each = shares(found, visit.language)
    said: dict[str, Any] = {"remaining": left(found["remaining"], visit.language), "fits": found["fits"]}
    notes = ((name, undeclared_texts(one["notes"], visit.language)) for name, one in found["questions"].items())
    said["undeclared"] = [f"{name}: {text}" for name, texts in notes for text in texts]
    return {"whole": whole, "each": each, **said, "refused": None}


def _culprit(names: Mapping[int, str], error: CuradorError) -> int:
    """Which question a refusal is about, counted from 1; 0 where it is about all."""
    field, question = str(error.facts.get("field", "")), error.facts.get("question")
    if named := re.fullmatch(r"[a-z]+-(\d{1,2})", field):
        return int(named[1]) + 1
    about = (k + 1 for k, name in names.items() if question == name or field.startswith(f"questions.{name}."))
    return next(about, 0) if len(names) > 1 else 0


async def _rehearsal(visit: Visit, caller: Caller, form: Filled) -> dict[str, Any]:
    serving = visit.serving
    try:
        body = _body(form, BatchBody, visit.language)
        found = sent(await asking.explain_batch(body, serving, caller))
        if not drawable(found["questions"].values()):
            return {"rehearsal": [], "rows": ""}
        rows = rows_of(serving.curator, body.rows)
        made = await serving.rehearse(
            lambda: rehearsed(serving.curator, rows, lambda stage: asking.rehearse_batch(stage, body))
        )
    except CuradorError:
        return {"rehearsal": [], "rows": ""}
    parts = made.releases.items()
    shown = await serving.work(lambda: [(made.title(name), Markup(drawn(one, visit.language))) for name, one in parts])
    return {"rehearsal": shown, "rows": f"{rows:,}"}
